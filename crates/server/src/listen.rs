//! Connections: accepting them, refusing them, and ending them well.
//!
//! Whatever arrives costs bounded memory: a fixed number of connections, each with a bounded request head, bounded
//! buffers and a deadline for everything the client has to do. One connection too many is told so; when even telling
//! becomes too much, it is just closed. No address may have all connections, unless it is that of a proxy.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::handler::Handler;
use crate::log::Logged;
use crate::origin::Shares;
use crate::settings::ServerSettings;
use crate::stall::Stall;

/// A request head, and what waits to be sent on a connection, is at most about this long.
const MAX_BUFFER: usize = 64 * 1024;

/// Browsers send about 20 header fields, proxies a few more.
const MAX_HEADERS: usize = 64;

/// Connections that are being told that there are too many.
const MAX_REFUSALS: usize = 64;

/// How long a closed connection may still send what is thrown away. Without this, a client that is sending would find
/// its connection reset before it has read why.
const LINGER: Duration = Duration::from_secs(2);

/// Pause when the system has no more sockets to give.
const EXHAUSTED: Duration = Duration::from_millis(100);

const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nConnection: close\r\n\
    Content-Security-Policy: default-src 'none'; sandbox\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Type: text/plain; charset=utf-8\r\nContent-Length: 42\r\n\r\nThere are too many connections right now.\n";

const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\
    Content-Security-Policy: default-src 'none'; sandbox\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Type: text/plain; charset=utf-8\r\nContent-Length: 37\r\n\r\nThe request took too long to arrive.\n";

/// Serves until `shutdown` is ready, then lets requests in flight finish for a while.
pub(crate) async fn serve(
    listener: TcpListener,
    handler: Arc<Handler>,
    settings: &ServerSettings,
    shutdown: impl Future<Output = ()>,
) {
    let slots = Arc::new(Semaphore::new(settings.max_connections));
    let shares = Shares::new(settings.connections_of_one_address());
    let is_proxy = |peer| settings.trusted_proxies.iter().any(|network| network.contains(peer));
    let refusals = Arc::new(Semaphore::new(MAX_REFUSALS));
    let (stop, stopped) = watch::channel(false);
    let (header_timeout, patience) = (settings.header_timeout, settings.stall_timeout);
    let mut tasks = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let (socket, peer) = tokio::select! {
            () = &mut shutdown => break,
            Some(_) = tasks.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok((socket, peer)) => (socket, peer.ip().to_canonical()),
                Err(error) => {
                    pause_after(&error).await;
                    continue;
                }
            },
        };
        let share = if is_proxy(peer) { Ok(None) } else { shares.of(peer).try_acquire_owned().map(Some) };
        let slot = share.and_then(|share| Ok((share, slots.clone().try_acquire_owned()?)));
        if let Ok(slot) = slot {
            let service = Connection { handler: handler.clone(), peer };
            let stopped = stopped.clone();
            tasks.spawn(async move {
                converse(Stall::new(socket, patience), service, header_timeout, stopped).await;
                drop(slot);
            });
        } else if let Ok(refusal) = refusals.clone().try_acquire_owned() {
            tracing::debug!(%peer, "too many connections");
            tasks.spawn(async move {
                dismiss(socket, TOO_MANY).await;
                drop(refusal);
            });
        }
    }
    drop(listener);
    stop.send_replace(true);
    let finished = timeout(settings.grace, async { while tasks.join_next().await.is_some() {} }).await;
    if finished.is_err() {
        tracing::warn!(connections = tasks.len(), "stopping although requests are in flight");
    }
}

/// An error of accepting is about one connection, or about the whole process having no descriptors left. The latter
/// passes when others close theirs, and must not become a busy loop meanwhile.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if !matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted) {
        tracing::error!(%error, "a connection could not be accepted");
        sleep(EXHAUSTED).await;
    }
}

/// Answers the requests of one connection, one after the other.
async fn converse(socket: Stall, service: Connection, header_timeout: Duration, mut stopped: watch::Receiver<bool>) {
    // Without this, small responses wait for the acknowledgement of earlier ones. It fails only on a dead socket.
    let _ = socket.socket().set_nodelay(true);
    let peer = service.peer;
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(socket), service);
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
    let socket = parts.io.into_inner().into_socket();
    match result {
        Ok(()) => dismiss(socket, b"").await,
        // Silence between two requests needs no comment.
        Err(error) if error.is_timeout() && !parts.read_buf.is_empty() => dismiss(socket, TOO_SLOW).await,
        Err(error) if error.is_parse() => dismiss(socket, b"").await,
        // Whatever else went wrong, the client shall notice: an unfinished response must not look finished.
        Err(error) => tracing::debug!(%peer, %error, "a connection ended early"),
    }
}

/// Says a last word, and closes once the client has had a chance to read it.
async fn dismiss(mut socket: TcpStream, last_word: &[u8]) {
    let farewell = async {
        socket.write_all(last_word).await?;
        socket.shutdown().await?;
        let mut thrown_away = [0; 4096];
        while socket.read(&mut thrown_away).await? > 0 {}
        io::Result::Ok(())
    };
    // Whether or not it was heard, the connection is over.
    let _ = timeout(LINGER, farewell).await;
}

/// The service of one connection.
struct Connection {
    handler: Arc<Handler>,
    peer: IpAddr,
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
        for word in [TOO_MANY, TOO_SLOW] {
            let text = std::str::from_utf8(word).expect("ASCII");
            let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
            assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{text}");
            for (name, value) in modoai_repository::ANSWER_HEADERS {
                let header = format!("\r\n{}: {value}\r\n", name.to_str().expect("ASCII"));
                assert!(head.contains(&header), "{header} in {text}");
            }
        }
    }
}
