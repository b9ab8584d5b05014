//! TLS and HTTP/2: certificates that change, and the limits of plain HTTP for clients that speak them.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use modoai_server::ServerSettings;
use modoai_testkit::waiting::wait_until;
use rcgen::CertifiedKey;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::bench::{Bench, Folder, Reply};

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A certificate for this machine, in the two files that the server reads.
struct Pair {
    der: CertificateDer<'static>,
    certificate: String,
    key: String,
}

impl Pair {
    fn new() -> Self {
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        Self { der: cert.der().clone(), certificate: cert.pem(), key: signing_key.serialize_pem() }
    }

    fn write(&self, folder: &Path) {
        fs::write(folder.join("certificate.pem"), &self.certificate).expect("written");
        fs::write(folder.join("key.pem"), &self.key).expect("written");
    }

    fn serve(&self, folder: Folder, adjust: impl FnOnce(&mut ServerSettings)) -> Bench {
        self.write(&folder.outside(""));
        folder.serve(|settings, outside| {
            settings.tls_certificate = outside.join("certificate.pem");
            settings.tls_key = outside.join("key.pem");
            adjust(settings);
        })
    }

    /// A connection that trusts nothing but this certificate.
    fn connect(&self, bench: &Bench, protocol: &str) -> io::Result<Stream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config = builder.expect("versions").with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let name = ServerName::try_from("localhost").expect("a name");
        let mut connection = ClientConnection::new(Arc::new(config), name).expect("a connection");
        let mut socket = bench.connect();
        connection.complete_io(&mut socket)?;
        assert_eq!(connection.alpn_protocol(), Some(protocol.as_bytes()));
        Ok(StreamOwned::new(connection, socket))
    }
}

/// A client of HTTP/2 that speaks in single frames.
struct Frames(Stream);

const HEADERS: u8 = 1;
const DATA: u8 = 0;
const END_STREAM: u8 = 1;

struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

impl Frames {
    /// Opens a connection on which each response may send so many bytes without being asked for more.
    fn open(mut stream: Stream, window: u32) -> Self {
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").expect("sent");
        let mut settings = vec![0, 4];
        settings.extend(window.to_be_bytes());
        let mut frames = Self(stream);
        frames.send(4, 0, 0, &settings);
        frames
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, flags];
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.0.write_all(&frame).expect("sent");
    }

    fn get(&mut self, stream: u32, path: &str) {
        // In HPACK: GET and https from its table, the path and the host written out.
        let mut block = vec![0x82, 0x87, 0x04, u8::try_from(path.len()).expect("short")];
        block.extend(path.as_bytes());
        block.extend([0x01, 9]);
        block.extend(b"localhost");
        self.send(HEADERS, 4 | END_STREAM, stream, &block);
    }

    /// The next frame; None at the end of the connection.
    fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(Frame { kind: head[3], flags: head[4], stream, payload })
    }

    /// The first byte of the headers of a response, which for 200 is the place of ":status: 200" in HPACK's table.
    fn status(&mut self, stream: u32) -> u8 {
        loop {
            let frame = self.read().expect("a response");
            if frame.kind == HEADERS && frame.stream == stream {
                return frame.payload[0];
            }
        }
    }

    fn body(&mut self, stream: u32) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let frame = self.read().expect("the rest of the response");
            if frame.kind == DATA && frame.stream == stream {
                body.extend(frame.payload);
                if frame.flags & END_STREAM != 0 {
                    return body;
                }
            }
        }
    }

    fn is_closed(&mut self) {
        while self.read().is_some() {}
    }
}

const OK: u8 = 0x88;

#[test]
fn both_versions_of_http_serve_the_same_files_and_lists() {
    let pair = Pair::new();
    let bench = pair.serve(Folder::new(&[("a.txt", "hello")]), |_| {});
    let mut plain = pair.connect(&bench, "http/1.1").expect("a handshake");
    plain.write_all(b"GET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("sent");
    let mut bytes = Vec::new();
    plain.read_to_end(&mut bytes).expect("a close that is announced");
    let reply = Reply::parse(&bytes);
    assert_eq!((reply.status, reply.text()), (200, "hello"));

    let mut frames = Frames::open(pair.connect(&bench, "h2").expect("a handshake"), 1 << 20);
    for (stream, path) in [(1, "/a.txt"), (3, "/modoai?verb=ListRecords&metadataPrefix=oai_dc")] {
        frames.get(stream, path);
        assert_eq!(frames.status(stream), OK, "{path}");
        let body = String::from_utf8(frames.body(stream)).expect("text");
        assert!(body == "hello" || body.contains("/a.txt</identifier>"), "{body}");
        assert!(stream == 1 || body.contains(&format!("https://{}/a.txt", bench.address)), "{body}");
    }
}

#[test]
fn plain_http_on_a_tls_port_is_answered_with_what_to_do() {
    let bench = Pair::new().serve(Folder::new(&[]), |_| {});
    let reply = bench.get("/");
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("https://"), "{}", reply.text());
}

#[test]
fn slow_handshakes_and_idle_connections_are_given_up() {
    let pair = Pair::new();
    let bench = pair.serve(Folder::new(&[("a", "x")]), |settings| settings.stall_timeout = Duration::from_secs(1));
    let (mut silent, mut half) = (bench.connect(), bench.connect());
    half.write_all(&[0x16, 3, 1, 2, 0, 1]).expect("the beginning of a greeting");
    // Whether the server says goodbye or not: it closes.
    let _ = silent.read_to_end(&mut Vec::new());
    let _ = half.read_to_end(&mut Vec::new());
    let mut idle = Frames::open(pair.connect(&bench, "h2").expect("a handshake"), 1 << 20);
    idle.is_closed();
    let mut used = Frames::open(pair.connect(&bench, "h2").expect("a handshake"), 1 << 20);
    used.get(1, "/a");
    assert_eq!(used.body(1), b"x");
    used.is_closed();
}

#[test]
fn a_client_that_takes_nothing_of_a_response_is_given_up() {
    let pair = Pair::new();
    for size in [10, 10_000_000] {
        let folder = Folder::new(&[]);
        folder.put("large", &vec![b'a'; size]);
        let bench = pair.serve(folder, |settings| settings.stall_timeout = Duration::from_secs(1));
        let mut frames = Frames::open(pair.connect(&bench, "h2").expect("a handshake"), 0);
        frames.get(1, "/large");
        assert_eq!(frames.status(1), OK);
        frames.is_closed();
    }
}

#[test]
fn requests_of_one_connection_count_as_connections() {
    let pair = Pair::new();
    let folder = Folder::new(&[]);
    folder.put("large", &[b'a'; 500_000]);
    let bench = pair.serve(folder, |settings| settings.max_connections_per_address = 2);
    let mut frames = Frames::open(pair.connect(&bench, "h2").expect("a handshake"), 0);
    frames.get(1, "/large");
    assert_eq!(frames.status(1), OK);
    frames.get(3, "/large");
    assert_eq!(frames.status(3), OK);
    frames.get(5, "/large");
    assert_ne!(frames.status(5), OK, "503: two requests are in progress");
    // The client takes everything, and may have more.
    for stream in [0, 1, 3] {
        frames.send(8, 0, stream, &1_000_000_u32.to_be_bytes());
    }
    let mut ended = 0;
    while ended < 2 {
        let frame = frames.read().expect("the rest of the responses");
        ended += u32::from(frame.kind == DATA && frame.flags & END_STREAM != 0);
    }
    let mut stream = 5;
    wait_until("there is room for another request", || {
        stream += 2;
        frames.get(stream, "/large");
        frames.status(stream) == OK
    });
}

#[test]
fn a_changed_certificate_is_used_and_a_broken_one_is_not() {
    let (first, second) = (Pair::new(), Pair::new());
    let bench = first.serve(Folder::new(&[]), |_| {});
    assert!(first.connect(&bench, "h2").is_ok());
    second.write(&bench.folder.outside(""));
    wait_until("the new certificate is used", || second.connect(&bench, "h2").is_ok());
    assert!(first.connect(&bench, "h2").is_err());
    fs::write(bench.folder.outside("key.pem"), &first.key).expect("written");
    std::thread::sleep(Duration::from_secs(3));
    assert!(second.connect(&bench, "h2").is_ok(), "the key is not that of the certificate, so nothing changes");
    first.write(&bench.folder.outside(""));
    wait_until("the next certificate is used", || first.connect(&bench, "http/1.1").is_ok());
}
