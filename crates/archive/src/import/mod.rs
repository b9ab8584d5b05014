//! Imports a source into a catalogue, and updates the catalogue from it.
//!
//! An import may be killed at any moment and started again: existing documents are recognised by their bytes, so
//! nothing is done twice, and documents that are missing from the source are only deleted when all of it has been read.
//!
//! | file | content |
//! |---|---|
//! | `stream` | threads, order, and the entries found |
//! | `clerk` | processing of one entry |
//! | `draft` | the stored data of one document |
//! | `stamp` | the date of the last change of a document, by its record |
//! | `gone` | documents that are missing from the source |
//! | `digests` | digests of documents' files |
//! | `recast` | the effects of a change of crosswalks or rules |
//! | `sources` | the options of each source |
//! | `report` | the report |

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

use modoai_protocol::MaxDeleted;
use modoai_repository::catalogue::{Catalogue, CatalogueError, CatalogueKind, SetTitle, Writer};
use xxhash_rust::xxh3::xxh3_64;

pub use report::{Complaints, Lacking, Progress, Report, Spared};

use crate::crosswalk::CrosswalkError;
use crate::source::{Fault, Options, Reading, Source};
use crate::terms::{Archive, Terms, TermsError};

/// The options of an import.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The name of the source. Each source has its own documents, and only those can be missing from it.
    pub source: String,
    /// The options for reading the source. The catalogue stores them.
    pub reading: Options,
    /// True if the source contains only new and changed documents: missing ones are not deleted.
    pub only_update: bool,
    /// The share of a source's documents that one import may delete.
    pub max_deleted: MaxDeleted,
    /// True if the import only reports its effects, and changes nothing.
    pub dry_run: bool,
    /// A directory for large documents until they are stored.
    pub spool: PathBuf,
}

/// The reason why an import ended early. Changes written until then remain.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The source cannot be read further.
    #[error("failed to read the source")]
    Source(#[source] io::Error),
    /// A local I/O error.
    #[error("failed to prepare records")]
    Io(#[from] io::Error),
    /// A failure of the catalogue.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The terms are invalid.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// A crosswalk fails on a record that is already stored.
    #[error("failed to generate the formats of {name}")]
    Recast {
        /// The record.
        name: String,
        /// The cause.
        source: CrosswalkError,
    },
    /// A rule of sets fails on a record that is already stored.
    #[error("failed to determine the sets of {name}")]
    Sets {
        /// The record.
        name: String,
        /// The cause.
        source: Fault,
    },
}

/// One import.
pub struct Import<'a> {
    /// The catalogue to write to.
    pub catalogue: Arc<dyn Catalogue>,
    /// The archive, with its terms.
    pub archive: &'a Archive,
    /// The options.
    pub options: ImportOptions,
    /// The progress.
    pub progress: &'a Progress,
}

impl Import<'_> {
    /// Imports a whole source.
    pub fn run(
        &self,
        source: Box<dyn Source>,
        reading: &dyn Reading,
        complaints: &mut dyn Complaints,
    ) -> Result<Report, ImportError> {
        let mut report = Report::default();
        let mut writer = self.writer()?;
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

    /// Only applies the terms to the documents that are already stored.
    pub fn recast(&self) -> Result<Report, ImportError> {
        let mut report = Report::default();
        let mut writer = self.writer()?;
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

    /// The writer of the catalogue. A dry run does not even store that it is that of an archive.
    fn writer(&self) -> Result<Box<dyn Writer>, CatalogueError> {
        if self.options.dry_run {
            CatalogueKind::Archive.check(self.catalogue.kind()?)?;
            return self.catalogue.writer();
        }
        self.catalogue.writer_for(CatalogueKind::Archive)
    }

    /// Returns the number of the source, a hash of its name.
    fn source(&self) -> u64 {
        xxh3_64(self.options.source.as_bytes())
    }

    /// Stores the terms in the catalogue, and updates all records to them. Returns true if it has evaluated every
    /// stored record.
    fn agree(&self, writer: &mut dyn Writer, report: &mut Report) -> Result<bool, ImportError> {
        let terms = self.archive.terms();
        let Some(held) = Terms::held(&*self.catalogue)? else {
            if !self.options.dry_run {
                terms.hold(writer)?;
            }
            return Ok(false);
        };
        // More than one, if the terms changed again before all records had been evaluated.
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
        // Terms that fail on a record are rejected before they take effect.
        report.recast = self.recast_all(None, &before)?;
        if self.options.dry_run {
            return Ok(true);
        }
        // The new terms take effect before the first record gets a new datestamp: a client that harvests in between
        // receives a changed record with its old datestamp, and later again with its new one. In the opposite order it
        // would miss a change.
        Terms::remember_former(&former, writer)?;
        terms.hold(writer)?;
        report.recast = self.recast_all(Some(&mut *writer), &before)?;
        Terms::remember_former(&[], writer)?;
        Ok(true)
    }

    /// Writes the names of sets to the catalogue.
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
