//! What is our fault and not the harvester's. Never shown as an OAI error: a host turns it into status 500 or 503 and
//! logs its cause.

use std::io;
use std::time::Duration;

use crate::catalogue::CatalogueError;

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
