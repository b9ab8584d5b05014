//! Filling a catalogue from a source, and keeping it equal to it.
//!
//! An import may be killed at any moment and begun again: what is there already is recognised by its bytes, so nothing
//! is done twice, and what is not in the source any more is only deleted when all of it has been read.
//!
//! | file | what it knows |
//! |---|---|
//! | `stream` | threads, order, and what was met |
//! | `clerk` | what becomes of one entry |
//! | `draft` | what is stored of one document |
//! | `stamp` | when a document last changed, by its own account |
//! | `gone` | what is not in the source any more |
//! | `digests` | digests of documents' files |
//! | `recast` | what a change of crosswalks or rules changes |
//! | `sources` | how each source is read |
//! | `report` | what is told about it |

mod clerk;
mod digests;
mod draft;
mod gone;
mod recast;
mod report;
pub(crate) mod sources;
mod stamp;
mod stream;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use modoai_protocol::Datestamp;
use modoai_repository::catalogue::{Catalogue, CatalogueError, SetTitle, Writer};
use xxhash_rust::xxh3::xxh3_64;

pub use report::{Complaints, Lacking, Progress, Report, Spared};

use crate::crosswalk::CrosswalkError;
use crate::source::{Fault, Options, Reading, Source};
use crate::terms::{Archive, Terms, TermsError};

/// How an import goes about it.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// What the source is called. Each has its own documents, and only those can be missed in it.
    pub source: String,
    /// How it is read. The catalogue remembers it.
    pub reading: Options,
    /// The source only holds what is new or changed: nothing that is missing is gone.
    pub only_update: bool,
    /// Which share of a source's documents may be gone at once.
    pub most_gone: f64,
    /// Find out what would be done, and do nothing.
    pub dry_run: bool,
    /// A folder where large documents wait until they are stored.
    pub spool: PathBuf,
}

/// Why an import ended early. What was written until then stays.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The source cannot be read on.
    #[error("failed to read the source")]
    Source(#[source] io::Error),
    /// This machine failed.
    #[error("failed to prepare records")]
    Io(#[from] io::Error),
    /// The catalogue failed.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The terms are broken.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// A crosswalk fails on a record that is stored already.
    #[error("failed to generate the formats of {name}")]
    Recast {
        /// Which record.
        name: String,
        /// Why.
        source: CrosswalkError,
    },
    /// A rule of sets fails on a record that is stored already.
    #[error("failed to determine the sets of {name}")]
    Sets {
        /// Which record.
        name: String,
        /// Why.
        source: Fault,
    },
    /// The catalogue holds something else.
    #[error("the catalogue contains {0}; an archive needs a separate catalogue")]
    Foreign(&'static str),
}

/// One import.
pub struct Import<'a> {
    /// Where to.
    pub catalogue: Arc<dyn Catalogue>,
    /// On what terms.
    pub archive: &'a Archive,
    /// How.
    pub options: ImportOptions,
    /// How far it is.
    pub progress: &'a Progress,
    /// The time.
    pub now: Datestamp,
}

impl Import<'_> {
    /// Takes in a whole source.
    pub fn run(
        &self,
        source: Box<dyn Source>,
        reading: &dyn Reading,
        complaints: &mut dyn Complaints,
    ) -> Result<Report, ImportError> {
        let mut report = Report::default();
        let mut writer = self.catalogue.writer()?;
        let was_ready = self.catalogue.standing()?.ready;
        let all_evaluated = self.agree(&mut *writer, &mut report)?;
        if !self.options.dry_run {
            self.remember_source(&mut *writer)?;
        }
        let met = self.take(&mut *writer, source, reading, &mut report, complaints)?;
        self.bury(&mut *writer, &met, &mut report)?;
        if !self.options.dry_run {
            self.name_sets(&mut *writer)?;
            writer.complete()?;
        }
        if all_evaluated || (!was_ready && report.unchanged == 0) {
            report.idle_rules = self.archive.sets.idle();
        }
        report.complete = report.spared == 0;
        Ok(report)
    }

    /// Only makes the terms hold, for what is there already.
    pub fn recast(&self) -> Result<Report, ImportError> {
        let mut report = Report::default();
        let mut writer = self.catalogue.writer()?;
        if self.agree(&mut *writer, &mut report)? {
            report.idle_rules = self.archive.sets.idle();
        }
        if !self.options.dry_run {
            self.remember_source(&mut *writer)?;
            self.name_sets(&mut *writer)?;
        }
        report.complete = true;
        Ok(report)
    }

    /// Which source it is, as a number.
    fn source(&self) -> i64 {
        // The bits are what counts.
        xxh3_64(self.options.source.as_bytes()) as i64
    }

    /// Sees to it that the catalogue's terms are these, and that every record in it is by them. Returns true if every stored
    /// record was evaluated for that.
    fn agree(&self, writer: &mut dyn Writer, report: &mut Report) -> Result<bool, ImportError> {
        let terms = self.archive.terms();
        let Some(held) = Terms::held(&*self.catalogue)? else {
            if writer.live()? > 0 {
                let of_records = !self.catalogue.formats()?.is_empty();
                return Err(ImportError::Foreign(if of_records { "harvested records" } else { "the files of a site" }));
            }
            if !self.options.dry_run {
                terms.hold(writer)?;
            }
            return Ok(false);
        };
        // More than one, if somebody changed their mind before all records had been looked at.
        let mut former = Terms::former(&*self.catalogue)?;
        if held != *terms {
            former.retain(|before| *before != held);
            former.push(held);
        } else if former.is_empty() {
            return Ok(false);
        }
        let before = former.iter().cloned().map(Archive::compile).collect::<Result<Vec<_>, _>>()?;
        if self.catalogue.standing()?.ready {
            let mut withdrawn: Vec<_> = before.iter().flat_map(Archive::prefixes).collect();
            withdrawn.retain(|prefix| !self.archive.prefixes().any(|offered| offered == *prefix));
            withdrawn.sort_unstable();
            withdrawn.dedup();
            report.withdrawn = withdrawn.into_iter().map(str::to_owned).collect();
        }
        // Terms that fail on a record are refused before they hold.
        report.recast = self.recast_all(None, &before)?;
        if self.options.dry_run {
            return Ok(true);
        }
        // The new terms hold before the first record is stamped by them: whoever harvests in between gets a changed
        // record with its old stamp, and again with its new one. The other way round a change would be missed.
        Terms::remember_former(&former, writer)?;
        terms.hold(writer)?;
        report.recast = self.recast_all(Some(&mut *writer), &before)?;
        Terms::remember_former(&[], writer)?;
        Ok(true)
    }

    /// Tells the catalogue what sets are called.
    pub(super) fn name_sets(&self, writer: &mut dyn Writer) -> Result<(), ImportError> {
        let known = self.catalogue.set_titles()?;
        for set in self.archive.sets.named() {
            let is_so = |known: &SetTitle| {
                *known.set == set.spec && known.title == set.name && known.description == set.description
            };
            if !known.iter().any(is_so) {
                writer.name_set(&set.spec, &set.name, set.description.as_deref())?;
            }
        }
        Ok(())
    }
}
