//! A server over a temporary folder, and a client that hides nothing.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use modoai_flow::{Flow, FlowSettings};
use modoai_repository::catalogue::{Access, Location, open};
use modoai_repository::ingest::Reconciler;
use modoai_repository::site::{SITE_SETTINGS, Site, SiteSettings};
use modoai_repository::{Repository, Settings};
use modoai_server::{Areas, Current, ENCODINGS, HEALTH_PATH, Health, LISTS_AT_ONCE, Served, Server, ServerSettings};
use modoai_settings::load;
use modoai_testkit::waiting::PATIENCE;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// A folder to be served.
pub(crate) struct Folder {
    temporary: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self { temporary: tempfile::tempdir().expect("a folder") };
        fs::create_dir(folder.root()).expect("a root");
        for (path, text) in files {
            folder.put(path, text.as_bytes());
        }
        folder
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.temporary.path().join("root")
    }

    /// A place that is not served.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }

    pub(crate) fn put(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("folders");
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// Serves the folder with these settings of the site.
    pub(crate) fn serve_site(self, text: &str) -> Bench {
        let mut settings = SiteSettings::default();
        load(text, Path::new(""), &mut (SITE_SETTINGS, &mut settings)).expect("good settings");
        self.serve_with(&settings, |_, _| {})
    }

    /// Serves the folder as it is now.
    pub(crate) fn serve(self, adjust: impl FnOnce(&mut ServerSettings, &Path)) -> Bench {
        self.serve_with(&SiteSettings::default(), adjust)
    }

    fn serve_with(self, site: &SiteSettings, adjust: impl FnOnce(&mut ServerSettings, &Path)) -> Bench {
        let mut settings = ServerSettings { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Default::default() };
        adjust(&mut settings, self.temporary.path());
        let runtime = Runtime::new().expect("a runtime");
        let server = runtime.block_on(Server::bind(settings.clone())).expect("a socket");
        let address = server.address();

        let reserved = [settings.base_path.as_str(), HEALTH_PATH];
        let site = Arc::new(Site::open(&self.root(), site, &reserved).expect("a site"));
        let catalogue = open(&Location::at(self.outside("state")), Access::Write).expect("a catalogue");
        let writer = catalogue.writer().expect("the only writer");
        Reconciler::new(site.clone(), writer, 100).everything(&|_, _| {}).expect("an index");
        let repository = Repository::new(catalogue, Settings::default(), &server.base_url(), &server.site_url())
            .with_compressions(ENCODINGS);
        let health = Arc::new(Mutex::new(Health::Current));
        let served = Served {
            site: Some(site),
            shelf: None,
            repository: Current::new(repository),
            areas: Current::new(Areas::open(&settings.area).expect("good password files")),
            flow: Flow::alone(FlowSettings::default(), LISTS_AT_ONCE),
            health: Arc::new({
                let health = health.clone();
                move || health.lock().expect("not poisoned").clone()
            }),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let running = runtime.spawn(server.run(served, async {
            let _ = stopped.await;
        }));
        Bench { folder: self, address, health, stop: Some(stop), running: Some(running), runtime }
    }
}

/// A running server.
pub(crate) struct Bench {
    pub(crate) folder: Folder,
    pub(crate) address: SocketAddr,
    pub(crate) health: Arc<Mutex<Health>>,
    stop: Option<oneshot::Sender<()>>,
    running: Option<tokio::task::JoinHandle<()>>,
    runtime: Runtime,
}

impl Bench {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Folder::new(files).serve(|_, _| {})
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).expect("a connection");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        socket
    }

    /// A request on a connection of its own.
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut request = format!("{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        self.raw(&format!("{request}\r\n{body}"))
    }

    pub(crate) fn get(&self, target: &str) -> Reply {
        self.ask("GET", target, &[], "")
    }

    pub(crate) fn get_with(&self, target: &str, headers: &[(&str, &str)]) -> Reply {
        self.ask("GET", target, headers, "")
    }

    pub(crate) fn post(&self, target: &str, media_type: &str, body: &str) -> Reply {
        let length = body.len().to_string();
        self.ask("POST", target, &[("Content-Type", media_type), ("Content-Length", &length)], body)
    }

    /// Sends these bytes and reads until the server closes.
    pub(crate) fn raw(&self, request: &str) -> Reply {
        let mut socket = self.connect();
        // The server may refuse before it has taken everything.
        let _ = socket.write_all(request.as_bytes());
        Reply::read(&mut socket)
    }

    /// Tells the server to stop, as a signal would.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until it has stopped.
    pub(crate) fn join(&mut self) {
        let running = self.running.take().expect("joined once");
        self.runtime.block_on(running).expect("no panic");
    }
}

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether the body has its announced length, or its last chunk.
    pub(crate) is_whole: bool,
}

impl Reply {
    pub(crate) fn read(socket: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        match socket.read_to_end(&mut bytes) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("{error}: {bytes:?}"),
            _ => Self::parse(&bytes),
        }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no response: {:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").expect("a header");
            (name.to_ascii_lowercase(), value.to_owned())
        };
        let headers: Vec<_> = lines.map(header).collect();
        let mut reply =
            Self { status: status.expect("a status"), headers, body: bytes[end + 4..].to_vec(), is_whole: true };
        if reply.header("transfer-encoding") == Some("chunked") {
            (reply.body, reply.is_whole) = unchunk(&reply.body);
        } else if let Some(length) = reply.header("content-length") {
            reply.is_whole = length.parse() == Ok(reply.body.len());
        }
        reply
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    /// Headers that say something about the resource: neither the moment nor the connection.
    pub(crate) fn lasting_headers(&self) -> Vec<(String, String)> {
        let passing = ["date", "connection", "transfer-encoding"];
        self.headers.iter().filter(|(name, _)| !passing.contains(&name.as_str())).cloned().collect()
    }
}

fn unchunk(mut bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).expect("text");
        let size = usize::from_str_radix(size, 16).expect("a size");
        let chunk = &bytes[end + 2..];
        if size == 0 {
            return (body, chunk == b"\r\n");
        }
        body.extend_from_slice(&chunk[..size.min(chunk.len())]);
        let Some(rest) = chunk.get(size + 2..) else { break };
        bytes = rest;
    }
    (body, false)
}
