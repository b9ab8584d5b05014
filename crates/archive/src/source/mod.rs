//! Where records come from.
//!
//! Reading is in two steps, because most of what a second import reads has not changed: a [`Source`] cuts its input
//! into raw [`Entry`]s, one after the other; a [`Reading`] makes sense of one, on whatever thread. Of an entry whose
//! bytes are as they were last time only the identifier is ever read.

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

/// Input that is cut into entries, in order and in bounded memory.
pub trait Source: Send {
    /// The next entry; `None` at the end. An error ends the reading: what comes later is unknown, so nothing that was
    /// not met may be taken for gone. A part of the input that is no entry (too long a line, a file that cannot be
    /// read) is not such an error but an entry with a [`Fault`].
    fn next(&mut self) -> io::Result<Option<Entry>>;

    /// How many bytes have been read, and how many there are, for the display of progress.
    fn progress(&self) -> (u64, Option<u64>);
}

/// A piece of input that should be one record.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it stands, for messages.
    pub place: Place,
    /// Its bytes, or why there are none.
    pub bytes: Result<Vec<u8>, Fault>,
}

/// Where an entry stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In which file.
    pub file: Arc<PathBuf>,
    /// From which line on, counted from 1; 0 if the whole file is the entry.
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

/// What is wrong with an entry: a sentence for whoever has to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

/// How the entries of a source are read.
pub trait Reading: Send + Sync {
    /// The identifier alone, as cheaply as can be: as it stands in the input, without the archive's prefix.
    fn identifier(&self, bytes: &[u8], place: &Place) -> Result<String, Fault>;

    /// The whole record.
    fn read(&self, bytes: &[u8], place: &Place) -> Result<Content, Fault>;

    /// Tells this way of reading from all others, options included: when it changes, every entry is read again.
    fn fingerprint(&self) -> u64;
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// The record.
    pub record: Record,
    /// Metadata that goes out as it came, by format. It takes the place of what a crosswalk of the same prefix would
    /// make.
    pub given: Vec<Given>,
}

/// Metadata in one format that goes out as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The format.
    pub format: Arc<StoredFormat>,
    /// One element that stands on its own: well-formed, with every namespace it uses declared, no XML declaration, no
    /// DOCTYPE.
    pub xml: Vec<u8>,
}
