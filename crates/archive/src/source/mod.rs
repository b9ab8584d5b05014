//! The sources of records.
//!
//! Reading has two steps, because most entries of a second import have not changed: a [`Source`] splits its input into
//! raw [`Entry`]s, one after the other; a [`Reading`] parses one of them, on any thread. If the bytes of an entry are
//! unchanged, only its identifier is parsed.

mod abs;
pub mod arxiv;
mod authors;
mod csv;
mod input;
mod jsonl;
mod kind;
mod lines;
mod options;
mod plain;
mod static_repository;
mod whole;
mod xml;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use modoai_repository::catalogue::stored::StoredFormat;

use crate::record::Record;

pub use kind::{Kind, OpenError, Opened, open};
pub use options::{DatestampFrom, Options, Paths};

/// An input that is split into entries, in order and in bounded memory.
pub trait Source: Send {
    /// Returns the next entry; `None` at the end. An error ends the reading: the rest of the input is unknown, so no
    /// document may be deleted as missing. A bad part of the input (too long a line, an unreadable file) is not such an
    /// error but an entry with a [`Fault`].
    fn next(&mut self) -> io::Result<Option<Entry>>;

    /// Returns the number of bytes that have been read, and the total, for the display of progress.
    fn progress(&self) -> (u64, Option<u64>);
}

/// A piece of input that should be one record.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The position, for messages.
    pub place: Place,
    /// The bytes, or the reason why they are missing.
    pub bytes: Result<Vec<u8>, Fault>,
}

/// The position of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Arc<PathBuf>,
    /// The first line, counted from 1; 0 if the whole file is the entry.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file.display()),
            line => write!(f, "{}:{line}", self.file.display()),
        }
    }
}

/// An error in an entry: a sentence for the person who repairs it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

/// A reader of the entries of a source.
pub trait Reading: Send + Sync {
    /// Returns only the identifier, as cheaply as possible: as in the input, without the archive's prefix.
    fn identifier(&self, bytes: &[u8], place: &Place) -> Result<String, Fault>;

    /// Returns the whole record.
    fn read(&self, bytes: &[u8], place: &Place) -> Result<Content, Fault>;

    /// Identifies this reader and its options: when the fingerprint changes, every entry is read again.
    fn fingerprint(&self) -> u64;
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// The record.
    pub record: Record,
    /// Metadata that is sent as received, by format. It replaces the output of a crosswalk with the same prefix.
    pub given: Vec<Given>,
}

/// Metadata in one format that is sent as received.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The format.
    pub format: Arc<StoredFormat>,
    /// One element that is complete by itself: well-formed, with all its namespaces declared, without XML declaration
    /// and DOCTYPE.
    pub xml: Vec<u8>,
}
