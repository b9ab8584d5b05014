//! Failures of this server, as opposed to errors in a request. They are never reported as OAI errors: a host responds
//! with status 500 or 503 and logs the cause.

use std::io;
use std::time::Duration;

use crate::catalogue::CatalogueError;

/// The value of Retry-After if the cause does not provide one.
const LATER: Duration = Duration::from_secs(60);

/// The failure of a request.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The repository is temporarily unavailable; a later request can succeed.
    #[error("{reason}")]
    Unavailable {
        /// The reason for the message.
        reason: String,
        /// The time to wait before the next request.
        retry_after: Duration,
        /// The underlying error, if any.
        #[source]
        cause: Option<io::Error>,
    },
    /// The catalogue could not be read.
    #[error("failed to read the catalogue")]
    Catalogue(#[from] CatalogueError),
    /// The host failed, or the response could not be sent.
    #[error("failed to generate the response")]
    Io(#[from] io::Error),
}

impl Failure {
    /// Returns a failure because of an outage of unknown duration.
    pub fn outage(reason: impl Into<String>, cause: Option<io::Error>) -> Self {
        Self::Unavailable { reason: reason.into(), retry_after: LATER, cause }
    }

    /// Returns the time after which the same request may succeed; `None` if it cannot before the catalogue or the
    /// program is replaced.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unavailable { retry_after, .. } => Some(*retry_after),
            Self::Catalogue(CatalogueError::Foreign { .. }) => None,
            Self::Catalogue(_) => Some(LATER),
            Self::Io(error) => (error.kind() == io::ErrorKind::TimedOut).then_some(LATER),
        }
    }
}
