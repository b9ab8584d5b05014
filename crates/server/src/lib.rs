//! The standalone HTTP host: a folder as a web site, and its repository at `/modoai`; or the repository of a catalogue
//! alone.
//!
//! ```text
//! listen   connections: limits, shutdown
//!   └ converse   one connection: TLS, HTTP/1.1 or HTTP/2, deadlines
//!   └ handler   one request: /healthz, the repository, the site
//!       ├ endpoint   the repository: bodies, encodings, threads   (area, origin: who asks; folder_host: what they see)
//!       │  └ lists   pages of lists: which requests get one now
//!       └ site       files: conditions, ranges, redirects
//! ```
//!
//! Async code ends at the handler: answers and files are read by blocking threads, a bounded number of chunks ahead of the
//! client.

mod area;
mod body;
mod condition;
mod converse;
mod current;
mod encoding;
mod endpoint;
mod file_body;
mod folder_host;
mod handler;
mod htpasswd;
mod listen;
mod lists;
mod log;
mod origin;
mod password_file;
mod range;
mod reply;
mod settings;
mod site;
mod stall;
mod streams;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use modoai_flow::Flow;
use modoai_harvest_log::LogFile;
use modoai_repository::Repository;
use modoai_repository::crawled::Shelf;
use modoai_repository::site::Site;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpSocket};

pub use area::{Areas, Requester};
pub use current::Current;
pub use encoding::ENCODINGS;
pub use folder_host::FolderHost;
pub use htpasswd::HtpasswdError;
pub use log::ACCESS_TARGET;
pub use settings::{AREA_SETTINGS, AccessLog, AreaSettings, LogFormat, SERVER_SETTINGS, ServerSettings};
pub use tls::{Certificate, TlsError};

/// The path of the health check, for load balancers.
pub const HEALTH_PATH: &str = "/healthz";

/// The maximum number of lists in progress, if the settings contain none. Most of them wait for their clients; each
/// holds a thread.
pub const LISTS_AT_ONCE: usize = 256;

/// Connections that may wait to be accepted. With fewer, a burst makes clients wait a second before they try again.
const BACKLOG: u32 = 4096;

/// The state of the catalogue compared with the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It has been compared with the site, by the rules the server was started with, and follows its changes.
    Current,
    /// It is from before the server was started; the comparison is in progress.
    Behind,
    /// It is being filled for the first time.
    Filling,
    /// The site is in an unreliable state, for this reason.
    Suspended(String),
}

/// The site, the repository and the rules that a server serves.
#[derive(Clone)]
pub struct Served {
    /// The folder; opened with the repository's path and [`HEALTH_PATH`] reserved. None for a catalogue of records, or
    /// of a crawled site that another server publishes.
    pub site: Option<Arc<Site>>,
    /// The documents that a crawl has stored of a site that another server publishes.
    pub shelf: Option<Arc<Shelf>>,
    /// The repository of the site, for [`Server::base_url`] and [`Server::site_url`].
    pub repository: Current<Repository>,
    /// The areas that need a password.
    pub areas: Current<Areas>,
    /// The limits of each harvester.
    pub flow: Arc<Flow>,
    /// Returns the present state of the catalogue; called on a blocking thread, with every request.
    pub health: Arc<dyn Fn() -> Health + Send + Sync>,
}

/// A server that has its socket but serves nothing yet. Its URLs are already fixed, so that the repository can be
/// created for them, and a port in use is detected before a large site is indexed.
pub struct Server {
    listener: TcpListener,
    settings: ServerSettings,
    address: SocketAddr,
    certificate: Option<Certificate>,
}

/// The reason why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("failed to listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The access log cannot be written.
    #[error("failed to open the access log {}", path.display())]
    AccessLog {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Server {
    /// Checks the files that the settings name, without listening.
    pub fn check(settings: &ServerSettings) -> Result<(), StartError> {
        open_files(settings).map(|_| ())
    }

    /// Opens the files that the settings name, and binds the socket.
    pub async fn bind(settings: ServerSettings) -> Result<Self, StartError> {
        let certificate = open_files(&settings)?;
        let listen = |source| StartError::Listen { address: settings.listen, source };
        let listener = Self::listen(&settings).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { listener, settings, address, certificate })
    }

    fn listen(settings: &ServerSettings) -> io::Result<TcpListener> {
        let socket = if settings.listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // A restart must not wait for the last connections of the previous server.
        socket.set_reuseaddr(true)?;
        socket.bind(settings.listen)?;
        socket.listen(BACKLOG)
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as a URL.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.settings.scheme(), self.address)
    }

    /// The certificate, to be reloaded while the server runs.
    pub fn certificate(&self) -> Option<Certificate> {
        self.certificate.clone()
    }

    /// The public URL of the site, with a slash at the end.
    pub fn site_url(&self) -> String {
        self.settings.site_url(self.address)
    }

    /// The public URL of the repository.
    pub fn base_url(&self) -> String {
        self.settings.base_url(self.address)
    }

    /// Serves until `shutdown` is ready; then accepts nothing new, and gives requests in flight some time to finish.
    pub async fn run(self, served: Served, shutdown: impl Future<Output = ()>) {
        raise_limit_of_open_files();
        let serves = |path| served.site.as_ref().is_some_and(|site| site.would_serve(path));
        for file in self.settings.secret_files().filter(|file| serves(file)) {
            tracing::warn!("{} is inside the site and is served with it; move it out of the directory", file.display());
        }
        let handler = match handler::Handler::new(served, &self.settings, &self.site_url()) {
            Ok(handler) => handler,
            Err(error) => return tracing::error!(%error, "failed to start the server: cannot create threads"),
        };
        let followed = self.certificate.clone().map(|certificate| tokio::spawn(certificate.follow()));
        listen::serve(self.listener, Arc::new(handler), &self.settings, self.certificate, shutdown).await;
        if let Some(following) = followed {
            following.abort();
        }
    }
}

fn open_files(settings: &ServerSettings) -> Result<Option<Certificate>, StartError> {
    if let AccessLog::File(path) = &settings.access_log {
        let opened = LogFile::new("access log", path).open();
        opened.map_err(|source| StartError::AccessLog { path: path.clone(), source })?;
    }
    Ok(Certificate::open(&settings.tls_certificate, &settings.tls_key)?)
}

/// Raises the limit of open files: a connection and its file are two descriptors, and the usual limit of 1024 is a soft
/// one.
fn raise_limit_of_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}
