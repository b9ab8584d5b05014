//! Classifies failures, so that callers do not report a local problem as an error of the remote server.
//!
//! A name that does not exist is a fact about a link; a resolver that does not respond, or a machine without free
//! files, is not. Ambiguous failures get the milder class: no link may be lost because of an uncertain result.
//!
//! | kind | meaning |
//! |---|---|
//! | `NoSuchHost` | the resolver reported that the name does not exist, or has no address |
//! | `Resolver` | the name could not be resolved at this time |
//! | `Refused` | the host rejected the connection: no server listens on this port |
//! | `Unreachable` | connection failed: no route, a proxy that rejects, a connection that broke while it was opened |
//! | `TimedOut` | a timeout, from the connection to the last byte |
//! | `Certificate` | the server's certificate was rejected |
//! | `Tls` | the TLS handshake failed for another reason |
//! | `CutShort` | the connection was lost before the response was complete |
//! | `Garbled` | the response is not HTTP, or invalid in its encoding |
//! | `RedirectLoop`, `RedirectNowhere` | too many redirects, or an invalid target |
//! | `TooLarge` | larger than the caller's limit |
//! | `Held` | the host is on hold (Retry-After); nothing was sent |
//! | `PrivateAddress` | the host has no public address, and was not named by the user; nothing was sent |
//! | `NotAskable` | not an HTTP URL |
//! | `Ours` | this machine has no files, ports or memory left, its network is down, or its settings are wrong |

use std::error::Error;
use std::io;

use crate::error::FetchError;

/// The class of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The host name does not exist.
    NoSuchHost,
    /// The name could not be resolved at this time.
    Resolver,
    /// The host rejected the connection.
    Refused,
    /// The host is not reachable.
    Unreachable,
    /// A timeout.
    TimedOut,
    /// The server's certificate was rejected.
    Certificate,
    /// The TLS handshake failed.
    Tls,
    /// The connection was lost before the response was complete.
    CutShort,
    /// The response is invalid.
    Garbled,
    /// Too many redirects.
    RedirectLoop,
    /// A redirect with an invalid target.
    RedirectNowhere,
    /// A response larger than the caller's limit.
    TooLarge,
    /// The host is on hold.
    Held,
    /// The host is not on the public internet.
    PrivateAddress,
    /// Not an HTTP URL.
    NotAskable,
    /// A problem of this machine or of its settings.
    Ours,
}

impl FetchError {
    /// Returns the class of the failure.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Resolve { no_such_name: true, .. } => Kind::NoSuchHost,
            Self::Resolve { .. } => Kind::Resolver,
            Self::Connect { source, .. } if was_refused(source.as_ref()) => Kind::Refused,
            Self::Connect { .. } => Kind::Unreachable,
            Self::Exhausted { .. } | Self::Setup { .. } => Kind::Ours,
            Self::PrivateAddress { .. } => Kind::PrivateAddress,
            Self::Tls { is_certificate: true, .. } => Kind::Certificate,
            Self::Tls { .. } => Kind::Tls,
            Self::TimedOut { .. } => Kind::TimedOut,
            Self::CutShort { .. } => Kind::CutShort,
            Self::TooManyRedirects { .. } => Kind::RedirectLoop,
            Self::BadRedirect { .. } => Kind::RedirectNowhere,
            Self::TooLarge { .. } => Kind::TooLarge,
            Self::Decoding { .. } | Self::Other { .. } => Kind::Garbled,
            Self::InvalidUrl { .. } => Kind::NotAskable,
            Self::Held { .. } => Kind::Held,
        }
    }

    /// Returns true if the failure is local: this machine could not send the request.
    pub fn is_ours(&self) -> bool {
        self.kind() == Kind::Ours
    }
}

/// Returns all errors beneath an error, including those inside I/O errors.
pub(crate) fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner as &(dyn Error + 'static)),
        None => error.source(),
    })
}

/// Returns true if this machine has run out of a resource that connections need.
pub(crate) fn is_exhausted(error: &(dyn Error + 'static)) -> bool {
    // Too many open files, in this process or on the system; no buffers. These errors have no `ErrorKind`, and their
    // numbers differ between systems.
    const NUMBERS: &[i32] = if cfg!(windows) {
        &[10_024, 10_055]
    } else if cfg!(target_os = "linux") {
        &[23, 24, 105]
    } else {
        &[23, 24, 55]
    };
    io_errors(error).any(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::AddrNotAvailable | io::ErrorKind::NetworkDown | io::ErrorKind::OutOfMemory
        ) || error.raw_os_error().is_some_and(|number| NUMBERS.contains(&number))
    })
}

/// Returns true if a resolver reported that the name does not exist, or has no address. The error number does not reach
/// this code. The messages of glibc, musl, macOS and Windows do, and they are not translated for programs that never
/// set a locale. Any other message counts as a failed lookup.
pub(crate) fn is_no_such_name(error: &(dyn Error + 'static)) -> bool {
    const WORDS: [&str; 7] = [
        "Name or service not known",
        "No address associated with",
        "Name does not resolve",
        "Name has no usable address",
        "nodename nor servname provided",
        "No such host is known",
        "Address family for hostname not supported",
    ];
    io_errors(error).any(|error| {
        let said = error.to_string();
        WORDS.iter().any(|words| said.contains(words)) || matches!(error.raw_os_error(), Some(11_001 | 11_004))
    })
}

fn was_refused(error: &(dyn Error + 'static)) -> bool {
    io_errors(error).any(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

fn io_errors<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a io::Error> {
    causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_want_is_told_from_theirs() {
        for number in [23, 24] {
            assert!(is_exhausted(&io::Error::other(io::Error::from_raw_os_error(number))), "{number}");
        }
        assert!(is_exhausted(&io::Error::from(io::ErrorKind::AddrNotAvailable)), "no port is left");
        for kind in [io::ErrorKind::ConnectionRefused, io::ErrorKind::HostUnreachable, io::ErrorKind::ConnectionReset] {
            assert!(!is_exhausted(&io::Error::from(kind)), "{kind}");
        }
    }

    #[test]
    fn names_that_are_not_there_are_told_from_resolvers_that_are_not() {
        let said = |words: &str| io::Error::other(format!("failed to lookup address information: {words}"));
        assert!(is_no_such_name(&said("Name or service not known")));
        assert!(is_no_such_name(&said("Name does not resolve")));
        assert!(!is_no_such_name(&said("Temporary failure in name resolution")));
        assert!(!is_no_such_name(&said("Try again")));
        assert!(!is_no_such_name(&said("Non-recoverable failure in name resolution")));
    }
}
