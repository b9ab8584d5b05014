//! Opens catalogues. No other module depends on the list of engines.

use std::io;
use std::sync::Arc;

use super::location::{Location, Target};
use super::sqlite::{Sqlite, check_file, system_clock};
use super::{Catalogue, CatalogueError};

/// The rights with which a catalogue is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading only. The catalogue must exist; nothing is created or changed, whatever the rights of the process are.
    Read,
    /// Reading and writing. What is missing is created.
    Write,
}

/// The state of a location, without opening it.
#[derive(Debug)]
pub enum Presence {
    /// A catalogue, or something that may become one.
    Possible,
    /// Nothing, or nothing that can be reached.
    Missing(io::Error),
    /// Something that is not a catalogue, with its description.
    Other(&'static str),
}

/// Opens the catalogue at a location.
pub fn open(location: &Location, access: Access) -> Result<Arc<dyn Catalogue>, CatalogueError> {
    match location.target() {
        Target::File(path) => Ok(Arc::new(Sqlite::open(path, access, system_clock())?)),
    }
}

/// Checks what is at a location without opening it, since opening may create files.
pub fn check(location: &Location) -> Presence {
    match location.target() {
        Target::File(path) => check_file(path),
    }
}
