//! What sort of failure it was, for whoever must not blame others for what is ours.
//!
//! A name that does not exist is a fact about a link; a resolver that does not answer, or a machine without free files, is
//! not. What cannot be told apart is the milder one: nobody is to lose a link because we were in doubt.
//!
//! | kind | what is known |
//! |---|---|
//! | `NoSuchHost` | the resolver says that there is no such name, or none with an address |
//! | `Resolver` | the name could not be looked up for now |
//! | `Refused` | the host is there, and nobody listens at this port |
//! | `Unreachable` | no way there: no route, a proxy that will not, a connection that broke while it was made |
//! | `TimedOut` | nothing came in time, from the connection to the last byte |
//! | `Certificate` | the other side could not prove who it is |
//! | `Tls` | it does not speak TLS as we do |
//! | `CutShort` | the connection was lost before the answer was whole |
//! | `Garbled` | what came is not HTTP, or not what its encoding says |
//! | `RedirectLoop`, `RedirectNowhere` | redirects without end, or to where nobody can go |
//! | `TooLarge` | more than the caller can carry |
//! | `Held` | the host wants to be left alone; nothing was sent |
//! | `PrivateAddress` | the host has no public address, and was not named by the user; nothing was sent |
//! | `NotAskable` | not an HTTP URL |
//! | `Ours` | this machine has no files, ports or memory left, its network is down, or its settings are wrong |

use std::error::Error;
use std::io;

use crate::error::FetchError;

/// What sort of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// There is no host of this name.
    NoSuchHost,
    /// The name could not be looked up for now.
    Resolver,
    /// Nobody listens there.
    Refused,
    /// There is no way there.
    Unreachable,
    /// Nothing came in time.
    TimedOut,
    /// The other side could not prove who it is.
    Certificate,
    /// The other side does not speak TLS as we do.
    Tls,
    /// The connection was lost before the answer was whole.
    CutShort,
    /// What came makes no sense.
    Garbled,
    /// One redirect after the other.
    RedirectLoop,
    /// A redirect to where nobody can go.
    RedirectNowhere,
    /// More than the caller can carry.
    TooLarge,
    /// The host wants to be left alone.
    Held,
    /// The host is not on the public internet.
    PrivateAddress,
    /// Not an HTTP URL.
    NotAskable,
    /// It is this machine, or what it was told to be.
    Ours,
}

impl FetchError {
    /// What sort of failure it was.
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

    /// Whether it says nothing of the other side: this machine could not even ask.
    pub fn is_ours(&self) -> bool {
        self.kind() == Kind::Ours
    }
}

/// Everything beneath an error, also what hides in I/O errors.
pub(crate) fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner as &(dyn Error + 'static)),
        None => error.source(),
    })
}

/// Whether this machine has run out of what a connection needs.
pub(crate) fn is_exhausted(error: &(dyn Error + 'static)) -> bool {
    // Too many open files, in this process or in all; no buffers. They have no kind of their own, and not the same numbers
    // everywhere.
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

/// Whether a resolver said that there is no such name, or none with an address. The number that it says this with is lost
/// on the way to us; the words of glibc, musl, macOS and Windows are not, and are not translated for programs that never
/// ask for that. Any other words are a failure to look it up.
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
