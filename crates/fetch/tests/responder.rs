//! A server that says exactly what a test wants it to say, right or wrong, byte by byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use modoai_fetch::{Ask, Client, Manners, Url};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What is said in reply, piece by piece.
#[derive(Clone, Default)]
pub(crate) struct Reply {
    parts: Vec<Part>,
}

#[derive(Clone)]
enum Part {
    Bytes(Vec<u8>),
    Pause(Duration),
    Close,
}

impl Reply {
    /// A whole answer, with its length.
    pub(crate) fn new(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let length = body.as_ref().len().to_string();
        Self::head(status, &[headers, &[("Content-Length", &length)]].concat()).then(body)
    }

    /// The head of an answer and nothing more.
    pub(crate) fn head(status: u16, headers: &[(&str, &str)]) -> Self {
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        Self::default().then(format!("HTTP/1.1 {status} So\r\n{lines}\r\n"))
    }

    pub(crate) fn then(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.parts.push(Part::Bytes(bytes.as_ref().to_vec()));
        self
    }

    pub(crate) fn then_pause(mut self, pause: Duration) -> Self {
        self.parts.push(Part::Pause(pause));
        self
    }

    pub(crate) fn then_close(mut self) -> Self {
        self.parts.push(Part::Close);
        self
    }
}

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The head, as text.
    pub(crate) head: String,
    /// Which connection it came on.
    pub(crate) connection: usize,
}

impl Seen {
    /// The request line's target.
    pub(crate) fn target(&self) -> &str {
        self.head.split(' ').nth(1).expect("a request line")
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

type Answer = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

/// The server, until it is dropped.
pub(crate) struct Responder {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    scheme: &'static str,
    task: JoinHandle<()>,
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Responder {
    pub(crate) async fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen(None, Arc::new(answer)).await
    }

    pub(crate) async fn start_tls(tls: TlsAcceptor, answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen(Some(tls), Arc::new(answer)).await
    }

    /// The same reply to everything.
    pub(crate) async fn always(reply: Reply) -> Self {
        Self::start(move |_| reply.clone()).await
    }

    async fn listen(tls: Option<TlsAcceptor>, answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let log = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            for connection in 0.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (log, answer, tls) = (Arc::clone(&log), Arc::clone(&answer), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, connection, &log, &answer).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, connection, &log, &answer).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, seen, scheme, task }
    }

    /// A URL here, by address.
    pub(crate) fn url(&self, path: &str) -> Url {
        self.at("127.0.0.1", path)
    }

    /// A URL here, by another name.
    pub(crate) fn at(&self, host: &str, path: &str) -> Url {
        Url::parse(&format!("{}://{host}:{}{path}", self.scheme, self.address.port())).expect("a URL")
    }

    /// What was asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("not poisoned").clone()
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    connection: usize,
    log: &Mutex<Vec<Seen>>,
    answer: &Answer,
) {
    while let Some(head) = read_head(&mut stream).await {
        let request = Seen { head, connection };
        log.lock().expect("not poisoned").push(request.clone());
        for part in answer(&request).parts {
            match part {
                Part::Pause(pause) => tokio::time::sleep(pause).await,
                Part::Close => {
                    let _ = stream.shutdown().await;
                    return;
                }
                Part::Bytes(bytes) => {
                    if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// A request's head, or none at the end of the connection.
pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// A port at which nobody listens. It is nobody else's as long as the socket is kept.
pub(crate) fn closed_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    let port = socket.local_addr().expect("an address").port();
    (socket, port)
}

/// A client with usual manners.
pub(crate) fn client() -> Client {
    Client::new(Manners::default()).expect("a client")
}

/// Asks for a URL and reads all of the body.
pub(crate) async fn read(client: &Client, url: Url) -> Result<Vec<u8>, modoai_fetch::FetchError> {
    client.get(Ask::new(url)).await?.body.read_to_end(1 << 24).await
}
