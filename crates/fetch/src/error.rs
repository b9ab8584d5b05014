//! What can go wrong between asking and having. Messages name host and URL, never a secret.

use std::error::Error;
use std::io;
use std::time::SystemTime;

use url::Url;

/// What was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The connection.
    Connection,
    /// The first byte.
    FirstByte,
    /// The next byte of a body.
    NextByte,
    /// A body that comes at the least rate.
    MoreThanATrickle,
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connection => "a connection",
            Self::FirstByte => "the answer's first byte",
            Self::NextByte => "the answer's next byte",
            Self::MoreThanATrickle => "more than a trickle",
        })
    }
}

/// What lies beneath.
type Cause = Box<dyn Error + Send + Sync>;

/// Why there is no answer, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The host's name has no address.
    #[error("failed to find the address of {host}, for {url}")]
    Resolve {
        /// Whose.
        host: String,
        /// What was asked for.
        url: String,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// Nobody answers there, or the proxy will not let us.
    #[error("failed to connect to {host}, for {url}")]
    Connect {
        /// To whom.
        host: String,
        /// What was asked for.
        url: String,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// The other side could not prove who it is, or does not speak TLS as we do.
    #[error("no safe connection to {host}, for {url}: {reason}")]
    Tls {
        /// To whom.
        host: String,
        /// What was asked for.
        url: String,
        /// What TLS found wrong.
        reason: String,
    },
    /// It took too long.
    #[error("waited too long for {what} of {url}")]
    TimedOut {
        /// What was waited for.
        what: Wait,
        /// What was asked for.
        url: String,
    },
    /// The answer ended before its end.
    #[error("the answer from {url} ended after {received} bytes, before its end")]
    CutShort {
        /// What was asked for.
        url: String,
        /// How many bytes of the body came, as sent.
        received: u64,
        /// The cause, unless it is that nothing more came.
        #[source]
        source: Option<Cause>,
    },
    /// One redirect after the other.
    #[error("more than {limit} redirects, the last from {url}")]
    TooManyRedirects {
        /// Where we stopped.
        url: String,
        /// How many were followed.
        limit: usize,
    },
    /// A redirect that leads nowhere we could go.
    #[error("{url} redirects to {to:?}: {reason}")]
    BadRedirect {
        /// Who redirects.
        url: String,
        /// What it says.
        to: String,
        /// What is wrong with that.
        reason: &'static str,
    },
    /// More than the caller can carry.
    #[error("the answer from {url} is larger than {limit} bytes")]
    TooLarge {
        /// What was asked for.
        url: String,
        /// What can be carried.
        limit: usize,
    },
    /// The body is not what its encoding demands.
    #[error("failed to decode the answer from {url} as {coding}: {reason}")]
    Decoding {
        /// What was asked for.
        url: String,
        /// How it is encoded.
        coding: String,
        /// What is wrong.
        reason: String,
    },
    /// Not a URL that can be asked for.
    #[error("{url} cannot be asked for: {reason}")]
    InvalidUrl {
        /// What was asked for.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The host wants to be left alone for longer than one sits and waits. Nothing was sent.
    #[error("{host} wants to be left alone for now, so {url} was not asked for")]
    Held {
        /// Who.
        host: String,
        /// What was asked for.
        url: String,
        /// Until when.
        until: SystemTime,
    },
    /// What we were told to be cannot be.
    #[error("failed to prepare the HTTP client: {what}")]
    Setup {
        /// What does not work.
        what: String,
        /// The cause.
        #[source]
        source: Option<Cause>,
    },
    /// Anything else, such as an answer that is not HTTP.
    #[error("failed to get {url}")]
    Other {
        /// What was asked for.
        url: String,
        /// The cause.
        #[source]
        source: Cause,
    },
}

impl FetchError {
    /// Whether the same request may well succeed later. Where in doubt yes: an attempt costs little, a loss much.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::TimedOut { .. }
            | Self::CutShort { .. }
            | Self::Decoding { .. }
            | Self::Held { .. }
            | Self::Other { .. } => true,
            Self::Tls { .. }
            | Self::TooManyRedirects { .. }
            | Self::BadRedirect { .. }
            | Self::TooLarge { .. }
            | Self::InvalidUrl { .. }
            | Self::Setup { .. } => false,
        }
    }

    /// Whether it took too long.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// What went wrong before the headers were in. `url` has no user in it.
    pub(crate) fn before_the_answer(error: reqwest::Error, url: &Url) -> Self {
        let error = error.without_url();
        let host = url.host_str().unwrap_or_default().to_owned();
        let url = url.to_string();
        if let Some(reason) = tls_reason(&error) {
            return Self::Tls { host, url, reason };
        }
        if error.is_dns() {
            return Self::Resolve { host, url, source: error.into() };
        }
        if error.is_connect() {
            return match error.is_timeout() {
                true => Self::TimedOut { what: Wait::Connection, url },
                false => Self::Connect { host, url, source: error.into() },
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

    /// What went wrong while the body came.
    pub(crate) fn in_the_body(error: reqwest::Error, url: &Url, received: u64) -> Self {
        Self::CutShort { url: url.to_string(), received, source: Some(error.without_url().into()) }
    }
}

/// Everything beneath an error, also what hides in I/O errors.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner as &(dyn Error + 'static)),
        None => error.source(),
    })
}

/// What TLS found wrong, if it was TLS.
fn tls_reason(error: &reqwest::Error) -> Option<String> {
    causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>()).map(rustls::Error::to_string)
}

/// Whether the connection broke, as opposed to carrying what is not HTTP.
fn was_lost(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| {
        cause.downcast_ref::<io::Error>().is_some()
            || cause
                .downcast_ref::<hyper::Error>()
                .is_some_and(|error| error.is_incomplete_message() || error.is_canceled() || error.is_closed())
    })
}
