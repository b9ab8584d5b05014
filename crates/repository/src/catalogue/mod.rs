//! The catalogue: what the site holds, what it held, and when that changed.
//!
//! Its items are files of a site ([`Change::Put`]), which are described when they are asked for, records that came as
//! XML ([`Change::Store`]), in one or more formats, or documents of an archive ([`Change::Describe`]), whose formats are
//! made of one record.
//!
//! Nothing above this module knows which engine is below: [`open`] does. An engine implements the traits of [`roles`], and
//! [`Catalogue`] and [`Writer`] are all of them together. Three promises matter more than speed:
//!
//! 1. **A change never hides.** The datestamp of a change is not earlier than any [`Standing::as_of`] handed out before
//!    the change became visible, whatever the clock does. A harvester that next asks from that moment on misses nothing.
//! 2. **Deletions are remembered for ever.** A tombstone keeps its name, sets and datestamp.
//! 3. **A page costs the same at any depth**, also when a million items share one datestamp.
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

/// A catalogue. Any number of threads and processes read it at once, also while a [`Writer`] writes.
pub trait Catalogue: Lists + Records + Memory + Imports + Learner + Send + Sync {
    /// Returns true as long as this catalogue is at its location: false if it was deleted or replaced by another one, which
    /// must then be opened anew.
    fn is_in_place(&self) -> bool;

    /// The one who may write. A second writer, in whatever process, gets [`CatalogueError::Locked`].
    fn writer(&self) -> Result<Box<dyn Writer>, CatalogueError>;

    /// The one who may write a catalogue of this kind.
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

/// The one who may write a catalogue.
pub trait Writer: Changes + Inventory + MemoryWriter + Send {}

impl<T: Changes + Inventory + MemoryWriter + Send> Writer for T {}

/// Why the catalogue could not do it.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// Another process writes.
    #[error("the catalogue {place} is being written by another process")]
    Locked {
        /// Which catalogue.
        place: String,
    },
    /// It holds something else.
    #[error("the catalogue contains {}; {} a separate catalogue", found.contents(), wanted.needs())]
    OtherKind {
        /// What it holds.
        found: CatalogueKind,
        /// What was to be written.
        wanted: CatalogueKind,
    },
    /// The engine failed.
    #[error("failed to {activity} in the catalogue {place}")]
    Engine {
        /// Which catalogue.
        place: String,
        /// What was being done.
        activity: &'static str,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It can only be read, and is to be filled or upgraded first.
    #[error("the catalogue {place} cannot be read yet: {reason}")]
    NotReady {
        /// Which catalogue.
        place: String,
        /// What it lacks.
        reason: String,
    },
    /// The file is not a catalogue, or one from a newer version.
    #[error("{place} is not a catalogue that this version can read: {reason}")]
    Foreign {
        /// Which file.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
}
