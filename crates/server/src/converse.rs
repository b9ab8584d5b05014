//! Serves one connection: the TLS handshake, then HTTP/1.1 or HTTP/2, and an end that the client notices.
//!
//! Everything a client has to do has a deadline: the handshake and the head of each request ([`Deadlines::head`]), and
//! taking bytes ([`Deadlines::stall`]). In HTTP/2, where neither shows at the socket, [`Streams`] watches the requests;
//! each request beyond the first of a connection takes a place among the connections, so the limits hold for both
//! versions.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{interval, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::handler::Handler;
use crate::listen::Limits;
use crate::log::Logged;
use crate::reply;
use crate::stall::Stall;
use crate::streams::{Activity, Streams};
use crate::tls::HTTP_2;

/// A request head, and what waits to be sent on a connection, is at most about this long.
const MAX_BUFFER: u32 = 64 * 1024;

/// Browsers send about 20 header fields, proxies a few more.
const MAX_HEADERS: usize = 64;

/// Requests at the same time on one HTTP/2 connection: what RFC 9113 recommends at least. All but one of them need a
/// place among the connections.
const MAX_STREAMS: u32 = 100;

/// The time between two checks of an HTTP/2 connection.
const CHECK: Duration = Duration::from_secs(1);

/// The time for which a closed connection may still send data, which is discarded. Without this, a client that is
/// sending would find its connection reset before it has read why.
const LINGER: Duration = Duration::from_secs(2);

pub(crate) const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nConnection: close\r\n\
    Content-Security-Policy: default-src 'none'; sandbox\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Type: text/plain; charset=utf-8\r\nContent-Length: 35\r\n\r\nToo many connections. Retry later.\n";

const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\
    Content-Security-Policy: default-src 'none'; sandbox\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Type: text/plain; charset=utf-8\r\nContent-Length: 35\r\n\r\nTimed out waiting for the request.\n";

const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\
    Content-Security-Policy: default-src 'none'; sandbox\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Type: text/plain; charset=utf-8\r\nContent-Length: 45\r\n\r\nThis port requires TLS: use an https:// URL.\n";

/// The deadlines of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadlines {
    /// For the TLS handshake, and for the head of a request.
    pub(crate) head: Duration,
    /// Without taking a byte of a response.
    pub(crate) stall: Duration,
}

/// The service of one connection.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) handler: Arc<Handler>,
    pub(crate) peer: IpAddr,
    pub(crate) is_proxy: bool,
    pub(crate) limits: Arc<Limits>,
}

/// Responds to the requests of one connection.
pub(crate) async fn converse(
    socket: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    connection: Connection,
    deadlines: Deadlines,
    mut stopped: watch::Receiver<bool>,
) {
    // Without this, small responses wait for the acknowledgement of earlier ones. It fails only on a dead socket.
    let _ = socket.set_nodelay(true);
    let Some(tls) = tls else {
        return http_1(Stall::new(socket, deadlines.stall), connection, deadlines, stopped).await;
    };
    let peer = connection.peer;
    let greeted = tokio::select! {
        greeted = timeout(deadlines.head, handshake(socket, tls, deadlines.stall)) => greeted,
        _ = stopped.wait_for(|stopped| *stopped) => return,
    };
    match greeted {
        Ok(Ok(Some(stream))) if stream.get_ref().1.alpn_protocol() == Some(HTTP_2) => {
            http_2(stream, connection, deadlines, stopped).await;
        }
        Ok(Ok(Some(stream))) => http_1(stream, connection, deadlines, stopped).await,
        Ok(Ok(None)) => {}
        Ok(Err(error)) => tracing::debug!(%peer, %error, "the TLS handshake failed"),
        Err(_) => tracing::debug!(%peer, "the TLS handshake took too long"),
    }
}

/// Performs the TLS handshake. None if the client speaks plain HTTP, and has received an error response.
async fn handshake(
    socket: TcpStream,
    tls: Arc<ServerConfig>,
    patience: Duration,
) -> io::Result<Option<TlsStream<Stall>>> {
    let mut first = [0];
    socket.peek(&mut first).await?;
    // No TLS record begins with a letter, and every method of HTTP does.
    if first[0].is_ascii_alphabetic() {
        dismiss(socket, NOT_TLS).await;
        return Ok(None);
    }
    TlsAcceptor::from(tls).accept(Stall::new(socket, patience)).await.map(Some)
}

/// Responds to requests one after the other.
async fn http_1<S>(socket: S, connection: Connection, deadlines: Deadlines, mut stopped: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let peer = connection.peer;
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(deadlines.head)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER as usize)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(socket), connection);
    let mut is_stopping = false;
    let result = loop {
        tokio::select! {
            result = poll_fn(|context| connection.poll_without_shutdown(context)) => break result,
            _ = stopped.wait_for(|stopped| *stopped), if !is_stopping => {
                is_stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    let parts = connection.into_parts();
    let socket = parts.io.into_inner();
    match result {
        Ok(()) => dismiss(socket, b"").await,
        // Silence between two requests is not logged.
        Err(error) if error.is_timeout() && !parts.read_buf.is_empty() => dismiss(socket, TOO_SLOW).await,
        Err(error) if error.is_parse() => dismiss(socket, b"").await,
        // After any other error the client must notice: an unfinished response must not look complete.
        Err(error) => tracing::debug!(%peer, %error, "a connection ended early"),
    }
}

/// Responds to several requests at the same time.
async fn http_2<S>(socket: S, connection: Connection, deadlines: Deadlines, mut stopped: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (peer, streams) = (connection.peer, Streams::new());
    let service = {
        let streams = streams.clone();
        service_fn(move |request| connection.clone().stream(streams.clone(), request))
    };
    let mut connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_BUFFER)
        .max_send_buf_size(MAX_BUFFER as usize)
        .serve_connection(TokioIo::new(socket), service);
    let mut checks = interval(CHECK.min(deadlines.head).min(deadlines.stall));
    let mut is_stopping = false;
    let result = loop {
        tokio::select! {
            result = &mut connection => break result,
            _ = stopped.wait_for(|stopped| *stopped), if !is_stopping => {
                is_stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            _ = checks.tick() => match streams.activity(Instant::now()) {
                Activity::Stalled(time) if time > deadlines.stall => {
                    return tracing::debug!(%peer, "the client takes no more bytes");
                }
                // The connection was closed gracefully, the client has had time to read the buffers, and it has not
                // disconnected.
                Activity::Idle(time) if time > deadlines.head + deadlines.stall => return,
                Activity::Idle(time) if time > deadlines.head && !is_stopping => {
                    is_stopping = true;
                    Pin::new(&mut connection).graceful_shutdown();
                }
                _ => {}
            },
        }
    };
    if let Err(error) = result {
        tracing::debug!(%peer, %error, "a connection ended early");
    }
}

/// Sends a last response, and closes once the client has had a chance to read it.
pub(crate) async fn dismiss(mut socket: impl AsyncRead + AsyncWrite + Unpin, last_word: &[u8]) {
    let farewell = async {
        socket.write_all(last_word).await?;
        socket.shutdown().await?;
        let mut thrown_away = [0; 4096];
        while socket.read(&mut thrown_away).await? > 0 {}
        io::Result::Ok(())
    };
    // The connection ends, whether the client has read it or not.
    let _ = timeout(LINGER, farewell).await;
}

impl Connection {
    /// Responds to a request of HTTP/2.
    async fn stream(self, streams: Arc<Streams>, request: Request<Incoming>) -> Result<Response<Logged>, Infallible> {
        let (mut stream, is_first) = streams.begin();
        if !is_first {
            match self.limits.take(self.peer, self.is_proxy) {
                Ok(slot) => stream.hold(slot),
                Err(_) => {
                    let response = reply::come_back("Too many connections. Retry later.", 10);
                    return Ok(response.map(|body| Logged::new(body, None).on(stream)));
                }
            }
        }
        Ok(self.handler.handle(self.peer, request).await.map(|body| body.on(stream)))
    }
}

impl Service<Request<Incoming>> for Connection {
    type Response = Response<Logged>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Logged>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let (handler, peer) = (self.handler.clone(), self.peer);
        Box::pin(async move { Ok(handler.handle(peer, request).await) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_have_the_length_they_announce() {
        for word in [TOO_MANY, TOO_SLOW, NOT_TLS] {
            let text = std::str::from_utf8(word).expect("ASCII");
            let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
            assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{text}");
            for (name, value) in modoai_endpoint::ANSWER_HEADERS {
                let header = format!("\r\n{}: {value}\r\n", name.to_str().expect("ASCII"));
                assert!(head.contains(&header), "{header} in {text}");
            }
        }
    }
}
