//! The errors of the HTTP client. Messages contain host and URL, never a secret. [`FetchError::kind`] classifies an
//! error, and [`FetchError::is_ours`] separates local failures from those of the remote server.

use std::error::Error;
use std::io;
use std::time::SystemTime;

use url::Url;

use crate::kind::{causes, is_exhausted, is_no_such_name};
use crate::reach::NotAllowed;

/// The event that was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The connection.
    Connection,
    /// The first byte.
    FirstByte,
    /// The next byte of a body.
    NextByte,
    /// A body at the minimum rate.
    MoreThanATrickle,
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connection => "a connection",
            Self::FirstByte => "the first byte of the response",
            Self::NextByte => "the next byte of the response",
            Self::MoreThanATrickle => "a faster response",
        })
    }
}

/// The underlying error.
type Cause = Box<dyn Error + Send + Sync>;

/// The reason why a response is missing or incomplete.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The host's name has no address.
    #[error("failed to resolve {host} for {url}")]
    Resolve {
        /// The host.
        host: String,
        /// The requested URL.
        url: String,
        /// True if the resolver reported that the name does not exist, false if the lookup failed.
        no_such_name: bool,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// The host has no public address, and was not named by the user. Nothing was sent.
    #[error("skipped {url}: {host} has no public address, and connecting to its private address is not allowed")]
    PrivateAddress {
        /// The host.
        host: String,
        /// The requested URL.
        url: String,
    },
    /// This machine has no files, ports or memory left for a connection, or no network.
    #[error("failed to connect to {host} for {url}: local connection limit reached")]
    Exhausted {
        /// The host.
        host: String,
        /// The requested URL.
        url: String,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// The connection failed: no server responds there, or the proxy rejects the request.
    #[error("failed to connect to {host} for {url}")]
    Connect {
        /// The host.
        host: String,
        /// The requested URL.
        url: String,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// The TLS handshake failed: the certificate was rejected, or the server supports no common version or cipher.
    #[error("TLS handshake with {host} failed for {url}: {reason}")]
    Tls {
        /// The host.
        host: String,
        /// The requested URL.
        url: String,
        /// The problem that TLS reported.
        reason: String,
        /// True if the certificate is the problem.
        is_certificate: bool,
    },
    /// A timeout.
    #[error("timed out waiting for {what} from {url}")]
    TimedOut {
        /// The event that was waited for.
        what: Wait,
        /// The requested URL.
        url: String,
    },
    /// The response was truncated.
    #[error("the response from {url} was truncated after {received} bytes")]
    CutShort {
        /// The requested URL.
        url: String,
        /// The number of bytes of the body that were received, as sent.
        received: u64,
        /// The cause, unless the server only stopped sending.
        #[source]
        source: Option<Cause>,
    },
    /// More redirects than the limit.
    #[error("more than {limit} redirects, the last from {url}")]
    TooManyRedirects {
        /// The URL of the last redirect.
        url: String,
        /// The maximum number of redirects.
        limit: usize,
    },
    /// A redirect to an invalid target.
    #[error("{url} redirects to {to:?}: {reason}")]
    BadRedirect {
        /// The URL that redirects.
        url: String,
        /// The target as sent.
        to: String,
        /// The problem with the target.
        reason: &'static str,
    },
    /// A response larger than the caller's limit.
    #[error("the response from {url} is larger than {limit} bytes")]
    TooLarge {
        /// The requested URL.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The body is invalid in its encoding.
    #[error("failed to decode the response from {url} as {coding}: {reason}")]
    Decoding {
        /// The requested URL.
        url: String,
        /// The encoding.
        coding: String,
        /// The problem.
        reason: String,
    },
    /// A URL that cannot be requested.
    #[error("cannot request {url}: {reason}")]
    InvalidUrl {
        /// The URL.
        url: String,
        /// The problem.
        reason: &'static str,
    },
    /// The host is on hold (Retry-After) for longer than the client waits. Nothing was sent.
    #[error("skipped {url}: {host} asked clients to wait (Retry-After)")]
    Held {
        /// The host.
        host: String,
        /// The requested URL.
        url: String,
        /// The end of the hold.
        until: SystemTime,
    },
    /// The client cannot be created with these settings.
    #[error("failed to prepare the HTTP client: {what}")]
    Setup {
        /// The problem.
        what: String,
        /// The cause.
        #[source]
        source: Option<Cause>,
    },
    /// Any other failure, such as a response that is not HTTP.
    #[error("failed to fetch {url}")]
    Other {
        /// The requested URL.
        url: String,
        /// The cause.
        #[source]
        source: Cause,
    },
}

impl FetchError {
    /// Returns true if there was a connection, so that a request was sent.
    pub(crate) fn is_connected(&self) -> bool {
        let is_connecting = |what: &Wait| matches!(what, Wait::Connection);
        !matches!(self, Self::Resolve { .. } | Self::Connect { .. } | Self::Exhausted { .. } | Self::Tls { .. })
            && !matches!(self, Self::PrivateAddress { .. })
            && !matches!(self, Self::TimedOut { what, .. } if is_connecting(what))
    }

    /// Returns true if the same request may succeed later. Unclear cases count as transient: an attempt costs little,
    /// a loss much.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::Exhausted { .. }
            | Self::TimedOut { .. }
            | Self::CutShort { .. }
            | Self::Decoding { .. }
            | Self::Held { .. }
            | Self::Other { .. } => true,
            Self::Tls { .. }
            | Self::PrivateAddress { .. }
            | Self::TooManyRedirects { .. }
            | Self::BadRedirect { .. }
            | Self::TooLarge { .. }
            | Self::InvalidUrl { .. }
            | Self::Setup { .. } => false,
        }
    }

    /// Returns true if the host does not exist: its name is wrong, and waiting does not help.
    pub fn is_no_such_host(&self) -> bool {
        matches!(self, Self::Resolve { no_such_name: true, .. })
    }

    /// Returns true for a timeout.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// Converts an error that occurred before the headers were received. `url` contains no user.
    pub(crate) fn before_the_answer(error: reqwest::Error, url: &Url) -> Self {
        let error = error.without_url();
        let host = url.host_str().unwrap_or_default().to_owned();
        let url = url.to_string();
        if let Some(tls) = causes(&error).find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
            let is_certificate = matches!(tls, rustls::Error::InvalidCertificate(_));
            return Self::Tls { host, url, reason: tls.to_string(), is_certificate };
        }
        if causes(&error).any(<dyn Error>::is::<NotAllowed>) {
            return Self::PrivateAddress { host, url };
        }
        if (error.is_dns() || error.is_connect()) && is_exhausted(&error) {
            return Self::Exhausted { host, url, source: error.into() };
        }
        if error.is_dns() {
            // RFC 6761: names with this ending never exist, so an unreachable resolver makes no difference.
            let no_such_name = is_no_such_name(&error) || host.ends_with(".invalid");
            return Self::Resolve { host, url, no_such_name, source: error.into() };
        }
        if error.is_connect() {
            return match error.is_timeout() {
                true => Self::TimedOut { what: Wait::Connection, url },
                false => Self::Connect { host, url, source: system_error(error) },
            };
        }
        if error.is_timeout() {
            return Self::TimedOut { what: Wait::FirstByte, url };
        }
        if was_lost(&error) {
            return Self::CutShort { url, received: 0, source: Some(error.into()) };
        }
        Self::Other { url, source: error.into() }
    }

    /// Converts an error that occurred while the body was received.
    pub(crate) fn in_the_body(error: reqwest::Error, url: &Url, received: u64) -> Self {
        Self::CutShort { url: url.to_string(), received, source: Some(error.without_url().into()) }
    }
}

/// Returns true if the connection broke, and false if the server sent something other than HTTP.
fn was_lost(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| {
        cause.downcast_ref::<io::Error>().is_some()
            || cause
                .downcast_ref::<hyper::Error>()
                .is_some_and(|error| error.is_incomplete_message() || error.is_canceled() || error.is_closed())
    })
}

/// Returns the error of the operating system beneath an error, if it has one: the layers above it add nothing for a
/// reader.
fn system_error(error: reqwest::Error) -> Cause {
    let number = causes(&error).find_map(|cause| cause.downcast_ref::<io::Error>()?.raw_os_error());
    number.map_or_else(|| error.into(), |number| io::Error::from_raw_os_error(number).into())
}
