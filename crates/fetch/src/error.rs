//! What can go wrong between asking and having. Messages name host and URL, never a secret. Of what sort a failure is, and
//! whether it says anything of the other side, is told by [`FetchError::kind`].

use std::error::Error;
use std::io;
use std::time::SystemTime;

use url::Url;

use crate::kind::{causes, is_exhausted, is_no_such_name};
use crate::reach::NotAllowed;

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
            Self::FirstByte => "the first byte of the response",
            Self::NextByte => "the next byte of the response",
            Self::MoreThanATrickle => "a faster response",
        })
    }
}

/// What lies beneath.
type Cause = Box<dyn Error + Send + Sync>;

/// Why there is no answer, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The host's name has no address.
    #[error("failed to resolve {host} for {url}")]
    Resolve {
        /// Whose.
        host: String,
        /// What was asked for.
        url: String,
        /// Whether the resolver says that there is no such name, as opposed to saying nothing.
        no_such_name: bool,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// The host has no public address, and was not named by the user. Nothing was sent.
    #[error("skipped {url}: {host} has no public address, and connecting to its private address is not allowed")]
    PrivateAddress {
        /// Which.
        host: String,
        /// What was asked for.
        url: String,
    },
    /// This machine has no files, ports or memory left for a connection, or no network.
    #[error("failed to connect to {host} for {url}: local connection limit reached")]
    Exhausted {
        /// To whom.
        host: String,
        /// What was asked for.
        url: String,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// Nobody answers there, or the proxy will not let us.
    #[error("failed to connect to {host} for {url}")]
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
    #[error("TLS handshake with {host} failed for {url}: {reason}")]
    Tls {
        /// To whom.
        host: String,
        /// What was asked for.
        url: String,
        /// What TLS found wrong.
        reason: String,
        /// Whether that is the certificate.
        is_certificate: bool,
    },
    /// It took too long.
    #[error("timed out waiting for {what} from {url}")]
    TimedOut {
        /// What was waited for.
        what: Wait,
        /// What was asked for.
        url: String,
    },
    /// The answer ended before its end.
    #[error("the response from {url} was truncated after {received} bytes")]
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
    #[error("the response from {url} is larger than {limit} bytes")]
    TooLarge {
        /// What was asked for.
        url: String,
        /// What can be carried.
        limit: usize,
    },
    /// The body is not what its encoding demands.
    #[error("failed to decode the response from {url} as {coding}: {reason}")]
    Decoding {
        /// What was asked for.
        url: String,
        /// How it is encoded.
        coding: String,
        /// What is wrong.
        reason: String,
    },
    /// Not a URL that can be asked for.
    #[error("cannot request {url}: {reason}")]
    InvalidUrl {
        /// What was asked for.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The host wants to be left alone for longer than one sits and waits. Nothing was sent.
    #[error("skipped {url}: {host} asked clients to wait (Retry-After)")]
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
    #[error("failed to fetch {url}")]
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

    /// Whether the host does not exist: its name is wrong, and waiting does not help.
    pub fn is_no_such_host(&self) -> bool {
        matches!(self, Self::Resolve { no_such_name: true, .. })
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
            // RFC 6761: no resolver knows names that end in this way, and one that cannot be reached need not be asked.
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

    /// What went wrong while the body came.
    pub(crate) fn in_the_body(error: reqwest::Error, url: &Url, received: u64) -> Self {
        Self::CutShort { url: url.to_string(), received, source: Some(error.without_url().into()) }
    }
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

/// The error of the operating system beneath an error, if there is one: the layers above it add nothing for a reader.
fn system_error(error: reqwest::Error) -> Cause {
    let number = causes(&error).find_map(|cause| cause.downcast_ref::<io::Error>()?.raw_os_error());
    number.map_or_else(|| error.into(), |number| io::Error::from_raw_os_error(number).into())
}
