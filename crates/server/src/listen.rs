//! Accepts connections, and refuses those beyond the limits.
//!
//! All clients together cost bounded memory: a fixed number of connections, each with a bounded request head, bounded
//! buffers and a deadline for everything the client has to do ([`crate::converse`]). A connection beyond the limit gets
//! 503; if too many of those are open, it is closed. One address cannot take all connections, unless it is a proxy's.
//! With TLS, connections beyond the limit are closed: a handshake would cost more than the response is worth.

use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::converse::{Connection, Deadlines, TOO_MANY, converse, dismiss};
use crate::handler::Handler;
use crate::origin::Shares;
use crate::settings::ServerSettings;
use crate::tls::Certificate;

/// The maximum number of connections that are being refused because too many are open.
const MAX_REFUSALS: usize = 64;

/// The time for requests in progress to finish when the server is stopped. Service managers kill a process that needs much
/// longer.
const GRACE: Duration = Duration::from_secs(10);

/// The pause when the system has no free descriptors.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// The number of connections, in total and of one address.
#[derive(Debug)]
pub(crate) struct Limits {
    slots: Arc<Semaphore>,
    shares: Shares,
}

/// A place among the connections, held until the connection ends. Proxies have no share.
pub(crate) type Slot = [Option<OwnedSemaphorePermit>; 2];

impl Limits {
    /// A place for a connection, or for a further request on an HTTP/2 connection.
    pub(crate) fn take(&self, peer: IpAddr, is_proxy: bool) -> Result<Slot, TryAcquireError> {
        let share = if is_proxy { None } else { Some(self.shares.of(peer).try_acquire_owned()?) };
        Ok([share, Some(self.slots.clone().try_acquire_owned()?)])
    }
}

/// Serves until `shutdown` is ready, then lets requests in flight finish for a while.
pub(crate) async fn serve(
    listener: TcpListener,
    handler: Arc<Handler>,
    settings: &ServerSettings,
    certificate: Option<Certificate>,
    shutdown: impl Future<Output = ()>,
) {
    let limits = Arc::new(Limits {
        slots: Arc::new(Semaphore::new(settings.max_connections)),
        shares: Shares::new(settings.connections_of_one_address()),
    });
    let is_proxy = |peer| settings.trusted_proxies.iter().any(|network| network.contains(peer));
    let refusals = Arc::new(Semaphore::new(MAX_REFUSALS));
    let (stop, stopped) = watch::channel(false);
    let deadlines = Deadlines { head: settings.head_timeout(), stall: settings.stall_timeout };
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
        let is_proxy = is_proxy(peer);
        if let Ok(slot) = limits.take(peer, is_proxy) {
            let connection = Connection { handler: handler.clone(), peer, is_proxy, limits: limits.clone() };
            let (stopped, tls) = (stopped.clone(), certificate.as_ref().map(Certificate::config));
            tasks.spawn(async move {
                converse(socket, tls, connection, deadlines, stopped).await;
                drop(slot);
            });
            continue;
        }
        tracing::debug!(%peer, "too many connections");
        if certificate.is_none()
            && let Ok(refusal) = refusals.clone().try_acquire_owned()
        {
            tasks.spawn(async move {
                dismiss(socket, TOO_MANY).await;
                drop(refusal);
            });
        }
    }
    drop(listener);
    stop.send_replace(true);
    let finished = timeout(GRACE, async { while tasks.join_next().await.is_some() {} }).await;
    if finished.is_err() {
        tracing::warn!(connections = tasks.len(), "stopping with requests in progress");
    }
}

/// Pauses after an error of accepting. The error is about one connection, or means that the process has no free
/// descriptors. The latter ends when others close theirs, and must not become a busy loop meanwhile.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if !matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted) {
        tracing::error!(%error, "failed to accept a connection");
        sleep(EXHAUSTED).await;
    }
}
