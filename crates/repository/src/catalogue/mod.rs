//! The catalogue: the current and deleted items of a site, and the dates of their changes.
//!
//! Its items are files of a site ([`Change::Put`]), whose records are generated on request; records that were received
//! as XML ([`Change::Store`]), in one or more formats; or documents of an archive ([`Change::Describe`]), whose formats
//! are generated from one record.
//!
//! Only [`open`] selects an engine; no other code depends on one. An engine implements the traits of [`roles`], and
//! [`Catalogue`] and [`Writer`] combine them. Three guarantees have priority over speed:
//!
//! 1. **A harvester receives every change.** The datestamp of a change is not earlier than any [`Standing::as_of`] returned
//!    before the change became visible, regardless of the clock. An incremental harvest from that moment includes the change.
//! 2. **Deletions are recorded permanently.** A tombstone keeps its name, sets and datestamp.
//! 3. **Every page of a list costs the same**, even if a million items have the same datestamp.
//!
//! All traits are synchronous: httpd's threads call them directly, the standalone server from blocking threads.

mod change;
mod kind;
pub mod location;
mod open;
mod query;
pub mod roles;
pub mod sqlite;
pub mod stored;

pub use self::change::{Change, Description, ImportState, Imported, Known, Learned, Restamp};
pub use self::kind::CatalogueKind;
pub use self::location::{Location, LocationError};
pub use self::open::{Access, Presence, check, open};
pub use self::query::{Detail, PageQuery, Selected, SetTitle, Standing, Unread};
use self::roles::{Changes, Imports, Inventory, Learner, Lists, Memory, MemoryWriter, Records};

/// A catalogue. Any number of threads and processes can read it concurrently, even while a [`Writer`] writes.
pub trait Catalogue: Lists + Records + Memory + Imports + Learner + Send + Sync {
    /// Returns true as long as this catalogue is at its location: false if it was deleted or replaced by another one.
    /// Open the new one then.
    fn is_in_place(&self) -> bool;

    /// Returns the only writer. A second writer, in any process, gets [`CatalogueError::Locked`].
    fn writer(&self) -> Result<Box<dyn Writer>, CatalogueError>;

    /// Returns the only writer of a catalogue of this kind.
    fn writer_for(&self, kind: CatalogueKind) -> Result<Box<dyn Writer>, CatalogueError> {
        let found = self.kind()?;
        kind.check(found)?;
        let mut writer = self.writer()?;
        if found.is_none() {
            writer.claim(kind)?;
        }
        Ok(writer)
    }
}

/// The only writer of a catalogue.
pub trait Writer: Changes + Inventory + MemoryWriter + Send {}

impl<T: Changes + Inventory + MemoryWriter + Send> Writer for T {}

/// The error of an operation on a catalogue.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// Another process writes.
    #[error("the catalogue {place} is being written by another process")]
    Locked {
        /// The catalogue.
        place: String,
    },
    /// The catalogue is of another kind.
    #[error("the catalogue contains {}; {} a separate catalogue", found.contents(), wanted.needs())]
    OtherKind {
        /// The kind of the catalogue.
        found: CatalogueKind,
        /// The kind to be written.
        wanted: CatalogueKind,
    },
    /// The engine failed.
    #[error("failed to {activity} in the catalogue {place}")]
    Engine {
        /// The catalogue.
        place: String,
        /// The operation that failed.
        activity: &'static str,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The catalogue is opened read-only, and a writer must fill or migrate it first.
    #[error("the catalogue {place} cannot be read yet: {reason}")]
    NotReady {
        /// The catalogue.
        place: String,
        /// The missing step.
        reason: String,
    },
    /// The file is not a catalogue, or was written by a newer version.
    #[error("{place} is not a catalogue that this version can read: {reason}")]
    Foreign {
        /// The file.
        place: String,
        /// The reason.
        reason: String,
    },
}
