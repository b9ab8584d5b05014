//! Responses that are not OAI-PMH: a status, one sentence, and the delay until a retry.
//!
//! A failure is status 503 with Retry-After if the same request may succeed later: the site or the catalogue is out of
//! reach, or the catalogue waits for an import. It is status 500 if it cannot: the catalogue is damaged or not a
//! catalogue, or the response could not be generated. A harvester waits after 503, and most give up after 500.

use std::borrow::Cow;
use std::error::Error as _;
use std::ffi::CStr;
use std::io;

use modoai_repository::{Failure, with_causes};
use tracing::Level;

use crate::headers::{UNPERSONAL, VARY};

/// An error as an HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorResponse {
    /// The status.
    pub status: u16,
    /// The sentence for a human reader, for hosts that write the body.
    pub sentence: Cow<'static, str>,
    /// Retry-After in whole seconds, the only form that all harvesters understand.
    pub retry_after: Option<u64>,
}

/// The cause of an [`io::Error`] by which a [`Host`](modoai_repository::host::Host) says that the requester's credentials are
/// wrong: a shortened list must not pass for the whole one.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the credentials of the request are wrong")]
pub struct WrongCredentials;

impl ErrorResponse {
    /// The body of a POST has another media type.
    pub const NOT_A_FORM: Self = Self::new(415, "Send the arguments as application/x-www-form-urlencoded.");
    /// The body of a POST is longer than any form.
    pub const TOO_LARGE: Self = Self::new(413, "The form data is too large.");
    /// The body of a POST ends early.
    pub const INCOMPLETE: Self = Self::new(400, "The form data is incomplete.");
    /// The body of a POST does not arrive.
    pub const TIMED_OUT: Self = Self::new(408, "Timed out waiting for the form data.");

    const fn new(status: u16, sentence: &'static str) -> Self {
        Self { status, sentence: Cow::Borrowed(sentence), retry_after: None }
    }

    /// Returns status 503. Zero seconds become one.
    pub fn unavailable(sentence: impl Into<Cow<'static, str>>, seconds: u64) -> Self {
        Self { status: 503, sentence: sentence.into(), retry_after: Some(seconds.max(1)) }
    }

    /// The response to a request that failed before anything was sent.
    pub fn of(failure: &Failure) -> Self {
        if has_wrong_credentials(failure) {
            return Self::new(401, "A user name and password are required.");
        }
        let Some(retry_after) = failure.retry_after() else {
            return Self::new(500, "Internal server error. See the server log for details.");
        };
        let sentence = match failure {
            Failure::Unavailable { reason, .. } => sentence(reason),
            _ => "The repository is temporarily unavailable.".to_owned(),
        };
        Self::unavailable(sentence, retry_after.as_secs())
    }

    /// The headers, besides those of all responses and those of the body.
    pub fn headers(&self) -> Vec<(&'static CStr, Cow<'static, str>)> {
        let retry_after = self.retry_after.map(|seconds| (c"Retry-After", seconds.to_string().into()));
        [(c"Vary", VARY.into()), (c"Cache-Control", UNPERSONAL.into())].into_iter().chain(retry_after).collect()
    }
}

/// Returns the message for the error log. None if the host has already logged why credentials are wrong.
pub fn message(failure: &Failure) -> Option<(Level, String)> {
    match failure {
        Failure::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            Some((Level::DEBUG, "a client closed the connection before the response was complete".to_owned()))
        }
        Failure::Io(error) if error.kind() == io::ErrorKind::TimedOut => Some((Level::WARN, error.to_string())),
        Failure::Unavailable { .. } if failure.source().is_none() => Some((Level::INFO, failure.to_string())),
        failure if has_wrong_credentials(failure) => None,
        failure => Some((Level::ERROR, format!("failed to respond to a request: {}", with_causes(failure)))),
    }
}

fn has_wrong_credentials(failure: &Failure) -> bool {
    let Failure::Io(error) = failure else { return false };
    matches!(error.get_ref(), Some(cause) if cause.is::<WrongCredentials>())
}

/// Returns a reason as a sentence.
fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use modoai_repository::catalogue::CatalogueError;

    use super::*;

    #[test]
    fn failure_is_503_if_the_same_request_can_succeed_later() {
        let place = || "catalogue.sqlite".to_owned();
        let not_ready = CatalogueError::NotReady { place: place(), reason: "it is empty".to_owned() };
        let engine = CatalogueError::Engine { place: place(), activity: "read", source: "disk I/O error".into() };
        let foreign = CatalogueError::Foreign { place: place(), reason: "it is malformed".to_owned() };
        let wrong = io::Error::new(io::ErrorKind::PermissionDenied, WrongCredentials);
        for (failure, status, retry_after, level) in [
            (Failure::outage("the server has no repository", None), 503, Some(60), Level::INFO),
            (
                Failure::outage("the site is unavailable", Some(io::ErrorKind::NotFound.into())),
                503,
                Some(60),
                Level::ERROR,
            ),
            (CatalogueError::Locked { place: place() }.into(), 503, Some(60), Level::ERROR),
            (not_ready.into(), 503, Some(60), Level::ERROR),
            (engine.into(), 503, Some(60), Level::ERROR),
            (foreign.into(), 500, None, Level::ERROR),
            (io::Error::from(io::ErrorKind::TimedOut).into(), 503, Some(60), Level::WARN),
            (io::Error::from(io::ErrorKind::PermissionDenied).into(), 500, None, Level::ERROR),
            (io::Error::from(io::ErrorKind::BrokenPipe).into(), 500, None, Level::DEBUG),
        ] {
            let response = ErrorResponse::of(&failure);
            assert_eq!((response.status, response.retry_after), (status, retry_after), "{failure:?}");
            assert_eq!(message(&failure).map(|(level, _)| level), Some(level), "{failure:?}");
        }
        let wrong = Failure::from(wrong);
        assert_eq!((ErrorResponse::of(&wrong).status, message(&wrong)), (401, None));
    }

    #[test]
    fn reason_becomes_a_sentence() {
        let failure = Failure::outage("the site is away", None);
        assert_eq!(ErrorResponse::of(&failure), ErrorResponse::unavailable("The site is away.", 60));
        assert_eq!(ErrorResponse::unavailable("Busy.", 0).retry_after, Some(1));
    }
}
