//! Sinks, which store records. To add one, add a file here and a row to [`SINKS`].
//!
//! A sink receives records as they arrive, in pieces, because a record may be larger than memory. It runs on a blocking
//! thread, one page after the other. [`Sink::commit`] lets a harvest survive `kill -9`: the mark that it returns is
//! stored in one transaction with the token of the next page, and a sink that is opened with a mark cuts off all data
//! beyond it.

mod catalogue;
pub mod container;
pub mod gathered;
mod ledger;
mod log;
mod mirror;
pub mod records;
mod reference;
mod resources;
mod spool;
mod warc;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use modoai_protocol::Datestamp;
use modoai_repository::catalogue::Location;

use crate::gauge::Gauge;
use crate::limits::{Budget, Reached};
use crate::record::{Header, Novelty};

/// Every sink.
pub const SINKS: &[SinkKind] = &[
    SinkKind {
        name: "records",
        former_name: Some("jsonl"),
        about: "one JSON object per record and line, in compressed segments; read with `modoai records` or `zstdcat`",
        format: "oai_dc",
        durable: true,
        open: records::open,
    },
    SinkKind {
        name: "mirror",
        former_name: None,
        about: "the files of the site, byte for byte (needs oai_didl)",
        format: "oai_didl",
        durable: false,
        open: mirror::open,
    },
    SinkKind {
        name: "warc",
        former_name: None,
        about: "WARC 1.1 web archive files with a CDXJ index",
        format: "oai_didl",
        durable: true,
        open: warc::open,
    },
    SinkKind {
        name: "catalogue",
        former_name: None,
        about: "a catalogue for `modoai serve --catalogue` (aggregator)",
        format: "oai_dc",
        durable: false,
        open: catalogue::open,
    },
];

/// The reason for starting over if a sink finds its directory without the data of earlier runs.
pub(crate) const STORED_IS_MISSING: &str = "the records of earlier runs are missing";

/// The common part of the reasons why a mirror does not write resources because of their names.
pub(crate) const NOT_WRITTEN: &str = "cannot be written as a file";

/// Returns the sink with this name.
pub fn named(name: &str) -> Option<&'static SinkKind> {
    SINKS.iter().find(|kind| kind.name == name || kind.former_name == Some(name))
}

/// One row of [`SINKS`].
pub struct SinkKind {
    /// Its name on the command line.
    pub name: &'static str,
    /// The name of an earlier sink that it replaces. It is accepted on the command line.
    pub former_name: Option<&'static str>,
    /// Its description, in a few words.
    pub about: &'static str,
    /// Its default metadata format.
    pub format: &'static str,
    /// True if a commit survives a power failure, and not only the process. Syncing thousands of files for every page
    /// would take longer than harvesting them again after the rare power failure.
    pub durable: bool,
    /// The function that opens it.
    pub open: fn(Place<'_>) -> Result<Box<dyn Sink>, SinkError>,
}

/// The arguments for opening a sink.
pub struct Place<'a> {
    /// The directory that it may write to.
    pub dir: &'a Path,
    /// The mark of the last commit that was stored; `None` if none was stored, not even that of an opening. Without a
    /// mark, no existing data was written by this harvest. Data beyond the mark is not committed.
    pub mark: Option<&'a str>,
    /// True if the machine went down before the last commits were safe: the existing data may have changed.
    pub distrusted: bool,
    /// The repository whose records are stored.
    pub source: &'a Source,
    /// The client that fetches referenced resources.
    pub client: modoai_fetch::Client,
    /// The counter of those transfers.
    pub gauge: Arc<Gauge>,
    /// The limit on stored data.
    pub budget: Arc<Budget>,
    /// The options that the user set.
    pub options: &'a SinkOptions,
}

/// A repository that is harvested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Its base URL.
    pub base_url: String,
    /// Its name, as Identify reports it.
    pub name: String,
    /// A short name of letters, digits, dots and dashes, different from that of any other source of the same run.
    pub slug: String,
}

/// The options for sinks that users can set.
#[derive(Clone, Debug, Default)]
pub struct SinkOptions {
    /// Move deleted files aside instead of deleting them.
    pub keep_deleted: bool,
    /// The catalogue to write, if it is not the folder's own: many sources can share one. The folder remembers it.
    pub catalogue: Option<Location>,
    /// Let a mirror write names that begin with a dot. Web servers, git and shells read settings from such files.
    pub allow_dotfiles: bool,
}

/// The origin of a page of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The base URL that was requested.
    pub base_url: String,
    /// The metadata format that was requested.
    pub prefix: String,
    /// The location of the schema of that format.
    pub schema: String,
    /// The namespace of that format.
    pub namespace: String,
    /// The response date of the page by the server's clock, if the response has one.
    pub harvested: Datestamp,
}

/// The container of the bytes that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The record's metadata.
    Metadata,
    /// A statement about the metadata.
    About,
}

impl Part {
    /// Returns the name of the element.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::About => "about",
        }
    }
}

/// The result of storing a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was stored, or that was not necessary.
    Yes,
    /// It could not be stored, for this reason. The record is reported as missing and tried again in the next run; the
    /// harvest continues.
    No(String),
}

/// A range of stored records, compared with what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// The identifier of the last record that was checked.
    pub last: String,
    /// Identifiers of records of which a file has changed since it was written, with the difference. When such a record
    /// is received again, it is written again.
    pub altered: Vec<(String, String)>,
}

/// Stores records. Calls are in this order: `page (record (part bytes* part_end)* (end | abandon))* commit`. A
/// `roll_back` is allowed anywhere, also before a page; a new page follows it. A sink that is opened without a mark is
/// committed immediately, before any page.
pub trait Sink: Send {
    /// Returns the reason why everything must be harvested again, if it must: data that existed at the mark is missing,
    /// or has another form now. Called once, before all other methods. A sink that requires its earlier data refuses to
    /// be opened instead.
    fn must_start_over(&self) -> Option<String> {
        None
    }
    /// Returns true if the sink has converted the data of an earlier version, so that the mark it was opened with no longer
    /// describes its data. It is then committed immediately, before any page.
    fn has_converted(&self) -> bool {
        false
    }
    /// Compares stored records with what was written, in the order of their identifiers, beginning after the one given;
    /// returns `None` at the end. Called between pages. A sink whose data cannot be altered unnoticed compares nothing.
    fn inspect(&mut self, _after: &str) -> Result<Option<Inspected>, SinkError> {
        Ok(None)
    }
    /// Starts a page.
    fn page(&mut self, origin: &Origin) -> Result<(), SinkError>;
    /// Starts a record.
    fn record(&mut self, header: &Header) -> Result<(), SinkError>;
    /// Starts the record's metadata or an about container. The namespace declarations (prefix, empty for the default,
    /// and URI) are those that its one element inherits and does not replace.
    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError>;
    /// Adds bytes of the part's one element, exactly as received.
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError>;
    /// Completes the part.
    fn part_end(&mut self) -> Result<(), SinkError>;
    /// Completes the record. A record that has not changed since the last harvest may be discarded.
    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError>;
    /// Returns identifiers of records of this page that were accepted but turned out to belong to another source:
    /// nothing is missing, and this sink has not stored them. Called after each record and after the commit; each
    /// identifier is returned once.
    fn elsewhere(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// Discards the record that was started: it will not be completed.
    fn abandon(&mut self) -> Result<(), SinkError>;
    /// Commits the page, so that it survives the end of this process, however it ends. Returns the mark for
    /// [`Place::mark`].
    fn commit(&mut self) -> Result<String, SinkError>;
    /// Discards everything since the last commit, unless receiving it again does no harm.
    fn roll_back(&mut self) -> Result<(), SinkError>;
    /// Completes a list: everything committed must now survive a power failure, too.
    fn finish(&mut self) -> Result<(), SinkError>;
}

/// The reason why a sink cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// An I/O error, usually of the disk.
    #[error("failed to {activity} {}", path.display())]
    Io {
        /// The operation that failed.
        activity: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The stored data differs from what this harvest left there.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The difference.
        reason: String,
    },
    /// The stored data differs from what this harvest left there, and nothing can be added to it.
    #[error("{} was modified outside of this harvest: {reason}; restore it, or remove {anew} to harvest everything again", path.display())]
    Altered {
        /// The file.
        path: PathBuf,
        /// The difference.
        reason: String,
        /// The paths to remove before starting over.
        anew: String,
    },
    /// An error of the catalogue.
    #[error("failed to write the catalogue")]
    Catalogue(#[from] modoai_repository::catalogue::CatalogueError),
    /// A limit was reached. Committed data stays, and the next run continues.
    #[error(transparent)]
    Limit(#[from] Reached),
    /// An internal error: a bug in modoai, not an error of the disk or the server.
    #[error("internal error: {0} (please report this)")]
    Internal(String),
}

impl SinkError {
    /// Returns the error for a file that has changed; if all of these paths are removed, the harvest starts over.
    fn altered(path: &Path, reason: String, anew: &[&Path]) -> Self {
        let anew = anew.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ");
        Self::Altered { path: path.to_path_buf(), reason, anew }
    }

    /// For `map_err`: the operation and its object.
    pub fn io(activity: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { activity, path: path.to_path_buf(), source }
    }
}
