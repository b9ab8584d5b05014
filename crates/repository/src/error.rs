//! What is our fault and not the harvester's. Never shown as an OAI error: a host turns it into status 500 or 503 and
//! logs its cause.

use std::io;
use std::time::Duration;

use crate::catalogue::CatalogueError;

/// When to ask again, where the cause does not tell.
const LATER: Duration = Duration::from_secs(60);

/// Why a request could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Not now; it is worth asking again after a while.
    #[error("{reason}")]
    Unavailable {
        /// What the matter is.
        reason: String,
        /// When to ask again.
        retry_after: Duration,
        /// What made it so, if it was an error.
        #[source]
        cause: Option<io::Error>,
    },
    /// The catalogue could not be read.
    #[error("failed to read the catalogue")]
    Catalogue(#[from] CatalogueError),
    /// The host could not be asked, or the answer could not be sent.
    #[error("failed to generate the response")]
    Io(#[from] io::Error),
}

impl Failure {
    /// What is needed is out of reach, nobody knows for how long.
    pub fn outage(reason: impl Into<String>, cause: Option<io::Error>) -> Self {
        Self::Unavailable { reason: reason.into(), retry_after: LATER, cause }
    }

    /// When the same request may succeed; none if it cannot before somebody replaces the catalogue, or the program.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unavailable { retry_after, .. } => Some(*retry_after),
            Self::Catalogue(CatalogueError::Foreign { .. }) => None,
            Self::Catalogue(_) => Some(LATER),
            Self::Io(error) => (error.kind() == io::ErrorKind::TimedOut).then_some(LATER),
        }
    }
}
