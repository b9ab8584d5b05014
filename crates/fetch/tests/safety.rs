//! TLS: who is believed, and HTTP/2 within it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use modoai_fetch::{Ask, Client, Credential, FetchError, Manners, Origin, Secret, Trust, Url};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsAcceptor;

use crate::responder::{Reply, Responder, client, read};

/// A certificate for loopback that nobody has signed but itself: as PEM, and to serve with.
pub(crate) fn certificate(alpn: &[&[u8]]) -> (String, TlsAcceptor) {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    served(&rcgen::CertificateParams::new(names).expect("parameters"), alpn)
}

fn served(parameters: &rcgen::CertificateParams, alpn: &[&[u8]]) -> (String, TlsAcceptor) {
    let signing_key = rcgen::KeyPair::generate().expect("a key");
    let cert = parameters.self_signed(&signing_key).expect("a certificate");
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .expect("a certificate and its key");
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
    (cert.pem(), TlsAcceptor::from(Arc::new(config)))
}

/// A client that believes this certificate too.
pub(crate) fn trusting(pem: &str, manners: Manners) -> Client {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), pem).expect("written");
    Client::new(Manners { trust: Trust::Also(file.path().to_owned()), ..manners }).expect("a client")
}

#[tokio::test]
async fn strangers_are_refused_unless_told_otherwise() {
    let (pem, tls) = certificate(&[b"http/1.1"]);
    let server = Responder::start_tls(tls, |_| Reply::new(200, &[], "safe")).await;
    let error = read(&client(), server.url("/")).await.expect_err("self-signed");
    assert!(matches!(error, FetchError::Tls { .. }) && !error.is_transient(), "{error:?}");
    assert_eq!(read(&trusting(&pem, Manners::default()), server.url("/")).await.expect("known"), b"safe");
    let anyone = Client::new(Manners { trust: Trust::Anyone, ..Manners::default() }).expect("a client");
    assert_eq!(read(&anyone, server.url("/")).await.expect("anyone"), b"safe");
}

/// What `openssl req -x509` makes is an authority.
#[tokio::test]
async fn self_signed_authority_is_trusted_as_the_certificate_of_a_server() {
    let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("parameters");
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let (pem, tls) = served(&parameters, &[]);
    let server = Responder::start_tls(tls, |_| Reply::new(200, &[], "safe")).await;
    let client = trusting(&pem, Manners::default());
    assert_eq!(read(&client, server.at("localhost", "/")).await.expect("known"), b"safe");
    let error = read(&client, server.url("/")).await.expect_err("another name");
    assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
    let (other, _) = certificate(&[]);
    let error = read(&trusting(&other, Manners::default()), server.at("localhost", "/")).await.expect_err("not known");
    assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
}

#[tokio::test]
async fn the_name_has_to_fit() {
    let (pem, tls) = certificate(&[]);
    let server = Responder::start_tls(tls, |_| Reply::new(200, &[], "safe")).await;
    let client = trusting(&pem, Manners::default());
    assert_eq!(read(&client, server.at("localhost", "/")).await.expect("named"), b"safe");
    let error = read(&client, server.at("ip6-localhost.localhost", "/")).await.expect_err("not named");
    assert!(
        matches!(error, FetchError::Tls { .. } | FetchError::Resolve { .. } | FetchError::Connect { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn certificates_that_are_none_are_told() {
    for trust in [Trust::Also("/nowhere/at/all.pem".into()), Trust::Also("/dev/null".into())] {
        assert!(matches!(Client::new(Manners { trust, ..Manners::default() }), Err(FetchError::Setup { .. })));
    }
}

#[tokio::test]
async fn plain_text_where_tls_was_expected() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await.expect("written");
        // Whatever was said is heard first, so that closing does not cut off the reply.
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    });
    let url = Url::parse(&format!("https://127.0.0.1:{port}/")).expect("a URL");
    let error = read(&client(), url).await.expect_err("no TLS there");
    assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
    server.await.expect("no panic");
}

#[tokio::test]
async fn secrets_do_not_go_from_safe_to_unsafe() {
    let (pem, tls) = certificate(&[]);
    let plain = Responder::always(Reply::new(200, &[], "plain")).await;
    let to = plain.url("/").to_string();
    let safe = Responder::start_tls(tls, move |_| Reply::new(302, &[("Location", &to)], "")).await;
    let secret =
        |url| Credential { origin: Origin::of(&url).expect("an origin"), secret: Secret::Bearer("abc".into()) };
    let credentials = vec![secret(safe.url("/")), secret(plain.url("/"))];
    let client = trusting(&pem, Manners { credentials, ..Manners::default() });
    assert_eq!(client.get(Ask::new(safe.url("/"))).await.expect("an answer").status, 200);
    assert!(safe.seen()[0].header("Authorization").is_some());
    assert!(plain.seen()[0].header("Authorization").is_none(), "even one of its own, on this way");
    client.get(Ask::new(plain.url("/"))).await.expect("an answer");
    assert!(plain.seen()[1].header("Authorization").is_some());
}

#[tokio::test]
async fn an_end_without_farewell_is_cut_short() {
    // TLS tells an end from a cut even where HTTP cannot: here the connection breaks without the closing alert.
    let (pem, tls) = certificate(&[]);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        let mut stream = tls.accept(stream).await.expect("a handshake");
        crate::responder::read_head(&mut stream).await.expect("a request");
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nhalf").await.expect("written");
        stream.flush().await.expect("written");
    });
    let url = Url::parse(&format!("https://127.0.0.1:{port}/")).expect("a URL");
    let error = read(&trusting(&pem, Manners::default()), url).await.expect_err("cut short");
    assert!(matches!(error, FetchError::CutShort { received: 4, .. }), "{error:?}");
    server.await.expect("no panic");
}

/// A body over HTTP/2 that breaks off after its first piece, or does not.
struct Piecemeal {
    pieces: Vec<&'static [u8]>,
    /// When it breaks off; the headers are to be on their way by then.
    breaks_off: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl hyper::body::Body for Piecemeal {
    type Data = bytes::Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Self::Data>, Self::Error>>> {
        if let Some(piece) = self.pieces.pop() {
            return Poll::Ready(Some(Ok(hyper::body::Frame::data(bytes::Bytes::from_static(piece)))));
        }
        match &mut self.breaks_off {
            None => Poll::Ready(None),
            Some(moment) => {
                moment.as_mut().poll(context).map(|()| Some(Err(std::io::Error::other("the disk is gone"))))
            }
        }
    }
}

#[tokio::test]
async fn http_2_is_spoken_where_it_is_offered() {
    let (pem, tls) = certificate(&[b"h2"]);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        let stream = tls.accept(stream).await.expect("a handshake");
        let service = hyper::service::service_fn(async |request: hyper::Request<_>| {
            let soon = || Box::pin(tokio::time::sleep(Duration::from_secs(1)));
            let breaks_off = (request.uri().path() == "/broken").then(soon);
            let _: hyper::body::Incoming = request.into_body();
            Ok::<_, Infallible>(hyper::Response::new(Piecemeal { pieces: vec![b"two", b"one "], breaks_off }))
        });
        let executor = hyper_util::rt::TokioExecutor::new();
        let served = hyper::server::conn::http2::Builder::new(executor);
        let _ = served.serve_connection(hyper_util::rt::TokioIo::new(stream), service).await;
    });
    let client = trusting(&pem, Manners::default());
    let url = Url::parse(&format!("https://localhost:{port}/")).expect("a URL");
    for _ in 0..2 {
        assert_eq!(read(&client, url.clone()).await.expect("a body, on the one connection"), b"one two");
    }
    let error = read(&client, url.join("/broken").expect("a URL")).await.expect_err("cut short");
    assert!(matches!(error, FetchError::CutShort { received: 7, .. }), "{error:?}");
    server.abort();
}
