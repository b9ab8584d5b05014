//! Where records go. Adding a sink is a file here and a row of [`SINKS`].
//!
//! A sink is told what arrives as it arrives, in pieces, because a record may be larger than memory. It runs on a blocking
//! thread, one page after the other. What makes a harvest survive `kill -9` is [`Sink::commit`]: the mark it returns is
//! stored in one transaction with the token of the next page, and a sink that is opened with a mark cuts off whatever
//! lies beyond it.

mod catalogue;
pub mod container;
pub mod gathered;
pub mod jsonl;
mod ledger;
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

use crate::gauge::Gauge;
use crate::limits::{Budget, Reached};
use crate::record::{Header, Novelty};

/// Every sink.
pub const SINKS: &[SinkKind] = &[
    SinkKind {
        name: "records",
        about: "compressed segments with every record as received; read with `modoai records`",
        format: "oai_dc",
        durable: true,
        open: records::open,
    },
    SinkKind {
        name: "mirror",
        about: "the files of the site, byte for byte (needs oai_didl)",
        format: "oai_didl",
        durable: false,
        open: mirror::open,
    },
    SinkKind {
        name: "jsonl",
        about: "one JSON object per record and line",
        format: "oai_dc",
        durable: true,
        open: jsonl::open,
    },
    SinkKind {
        name: "warc",
        about: "WARC 1.1 web archive files with a CDXJ index",
        format: "oai_didl",
        durable: true,
        open: warc::open,
    },
    SinkKind {
        name: "catalogue",
        about: "a catalogue for `modoai serve --catalogue` (aggregator)",
        format: "oai_dc",
        durable: false,
        open: catalogue::open,
    },
];

/// Why a sink starts over that found its directory without what earlier runs stored.
pub(crate) const STORED_IS_MISSING: &str = "the records of earlier runs are missing";

/// What the reasons have in common why a mirror does not write resources because of their names.
pub(crate) const NOT_WRITTEN: &str = "cannot be written as a file";

/// The sink of that name.
pub fn named(name: &str) -> Option<&'static SinkKind> {
    SINKS.iter().find(|kind| kind.name == name)
}

/// One row of [`SINKS`].
pub struct SinkKind {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// The metadata format it is made for.
    pub format: &'static str,
    /// Whether a commit survives the machine, and not only the process. Syncing thousands of files for every page would
    /// take longer than harvesting them again after the rare power cut.
    pub durable: bool,
    /// Opens it.
    pub open: fn(Place<'_>) -> Result<Box<dyn Sink>, SinkError>,
}

/// What a sink is opened with.
pub struct Place<'a> {
    /// The folder it may write to.
    pub dir: &'a Path,
    /// What the last commit that was stored returned; `None` if there was none, not even that of an opening: then nothing
    /// that is there was written by this harvest. Whatever is beyond it never happened.
    pub mark: Option<&'a str>,
    /// The machine went down before the last commits were safe: whatever is there may be something else.
    pub distrusted: bool,
    /// Whose records will come.
    pub source: &'a Source,
    /// For what records only refer to.
    pub client: modoai_fetch::Client,
    /// Where that is counted.
    pub gauge: Arc<Gauge>,
    /// How much may be stored.
    pub budget: Arc<Budget>,
    /// What the user chose.
    pub options: &'a SinkOptions,
}

/// A repository that is harvested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Where it is asked.
    pub base_url: String,
    /// What it calls itself.
    pub name: String,
    /// A short name made of letters, digits, dots and dashes, unlike that of any other source of the same run.
    pub slug: String,
}

/// What a user can choose about sinks.
#[derive(Clone, Debug, Default)]
pub struct SinkOptions {
    /// Put what was deleted aside instead of deleting it.
    pub keep_deleted: bool,
    /// The catalogue to write, if it is not the folder's own: many sources can share one. The folder remembers it.
    pub catalogue: Option<PathBuf>,
    /// Let a mirror write names that begin with a dot. Web servers, git and shells read settings from such files.
    pub allow_dotfiles: bool,
}

/// Where a page of records comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Where it was asked for.
    pub base_url: String,
    /// The metadata format asked for.
    pub prefix: String,
    /// Where the schema of that format is.
    pub schema: String,
    /// The namespace of that format.
    pub namespace: String,
    /// When the page was made, by the server's clock if it told.
    pub harvested: Datestamp,
}

/// What holds the bytes that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The record's metadata.
    Metadata,
    /// Something about the metadata.
    About,
}

impl Part {
    /// The name of the element that holds it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::About => "about",
        }
    }
}

/// Whether a record was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was, or there was no need.
    Yes,
    /// It could not be, for this reason. It is named as missing, and tried again next time; the harvest goes on.
    No(String),
}

/// A stretch of what is stored, compared with what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// The identifier of the last record that was looked at.
    pub last: String,
    /// Identifiers of records of which something is not as it was written, and why. What is given again is written again.
    pub altered: Vec<(String, String)>,
}

/// Takes records. Calls come in this order: `page (record (part bytes* part_end)* (end | abandon))* commit`. A `roll_back` may
/// come anywhere, also where no page has begun; what follows it is a new page. A sink that is opened without a mark is
/// told to `commit` at once, before any page.
pub trait Sink: Send {
    /// Why everything must be harvested again, if it must: not all is here that was here at the mark it was opened with, or
    /// it has another form now. Asked once, before anything else. A sink that cannot live with less refuses to be opened
    /// instead.
    fn must_start_over(&self) -> Option<String> {
        None
    }
    /// Compares what is stored of records with what was written, in the order of their identifiers, beginning after the one
    /// given; `None` if there are no more. Comes between pages. A sink that keeps nothing that can be altered unnoticed has
    /// nothing to compare.
    fn inspect(&mut self, _after: &str) -> Result<Option<Inspected>, SinkError> {
        Ok(None)
    }
    /// A page begins.
    fn page(&mut self, origin: &Origin) -> Result<(), SinkError>;
    /// A record begins.
    fn record(&mut self, header: &Header) -> Result<(), SinkError>;
    /// The record's metadata or an about container begins. The namespace declarations (prefix, empty for the default, and
    /// URI) are those that its one element inherits and does not replace.
    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError>;
    /// More of the part's one element, exactly as it was received.
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError>;
    /// The part is complete.
    fn part_end(&mut self) -> Result<(), SinkError>;
    /// The record is complete. One that is the same as before may be forgotten.
    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError>;
    /// Identifiers of records of this page that were taken, and turned out to be kept by somebody else: nothing is missing,
    /// and nothing of them is here. Asked after each record and after the commit; each is told once.
    fn elsewhere(&mut self) -> Vec<String> {
        Vec::new()
    }
    /// The record that began will not be completed.
    fn abandon(&mut self) -> Result<(), SinkError>;
    /// The page is complete. From here on it survives the end of this process, whatever ends it. Returns the mark that
    /// [`Place::mark`] will be.
    fn commit(&mut self) -> Result<String, SinkError>;
    /// Forgets everything since the last commit, unless getting it once more does no harm.
    fn roll_back(&mut self) -> Result<(), SinkError>;
    /// A list is complete: everything committed is to survive the machine, too.
    fn finish(&mut self) -> Result<(), SinkError>;
}

/// Why a sink cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The disk, most often.
    #[error("failed to {activity} {}", path.display())]
    Io {
        /// What was being done.
        activity: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// What is there is not what was left there.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// In which way.
        reason: String,
    },
    /// What is there is not what was left there, and nothing can be added to it.
    #[error("{} was modified outside of this harvest: {reason}; restore it, or remove {anew} to harvest everything again", path.display())]
    Altered {
        /// Which file.
        path: PathBuf,
        /// In which way.
        reason: String,
        /// What is to be removed to begin anew.
        anew: String,
    },
    /// What is there was not written by this harvest, and would be lost.
    #[error("{} already exists and was not written by this harvest", path.display())]
    NotOurs {
        /// Which file.
        path: PathBuf,
    },
    /// The catalogue failed.
    #[error("failed to write the catalogue")]
    Catalogue(#[from] modoai_repository::catalogue::CatalogueError),
    /// A limit was reached. What was committed stays, and the next run goes on.
    #[error(transparent)]
    Limit(#[from] Reached),
    /// A defect of ours: neither the disk nor the server is at fault.
    #[error("internal error: {0} (please report this)")]
    Internal(String),
}

impl SinkError {
    /// A file is not as it was left; without all of these, the harvest begins anew.
    fn altered(path: &Path, reason: String, anew: &[&Path]) -> Self {
        let anew = anew.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ");
        Self::Altered { path: path.to_path_buf(), reason, anew }
    }

    /// For `map_err`: what was being done, to what.
    pub fn io(activity: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { activity, path: path.to_path_buf(), source }
    }
}
