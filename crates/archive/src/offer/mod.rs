//! The formats that an archive offers: its crosswalks, formats that were received as XML, and packages of files.

mod crosswalked;
mod packaged;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use modoai_repository::catalogue::{Catalogue, Standing};
use modoai_repository::formats::{self, Format, Formats};
use modoai_repository::{ArchiveFormats, Failure};

use self::crosswalked::Crosswalked;
use self::packaged::Packaged;
use crate::terms::{Archive, Terms, TermsError};

/// The formats of the archive in a catalogue, created again when its terms change.
#[derive(Default)]
pub struct Offer {
    made: Mutex<Option<Made>>,
}

/// The formats that were created from the terms, and their revision.
struct Made {
    epoch: u64,
    revision: i64,
    /// The number of formats in which records were received: any record can add one.
    stored: usize,
    formats: Formats,
}

impl Offer {
    /// Returns the formats of a catalogue, if it is that of an archive. Invalid terms are reported here, before the
    /// first request.
    pub fn of(catalogue: &dyn Catalogue) -> Result<Option<(Self, Terms)>, TermsError> {
        let Some(terms) = Terms::held(catalogue)? else { return Ok(None) };
        Archive::compile(terms.clone())?;
        Ok(Some((Self::default(), terms)))
    }
}

/// Returns the formats that these terms generate.
fn made_by(archive: &Archive) -> impl Iterator<Item = Arc<dyn Format>> {
    let crosswalks = &archive.crosswalks;
    let crosswalked = (0..crosswalks.all().len())
        .map(|index| Arc::new(Crosswalked { crosswalks: Arc::clone(crosswalks), index }) as Arc<dyn Format>);
    let packaged = archive.terms.files.clone();
    crosswalked
        .chain(packaged.map(|root| Arc::new(Packaged { crosswalks: Arc::clone(crosswalks), root }) as Arc<dyn Format>))
}

impl ArchiveFormats for Offer {
    fn as_of(&self, standing: &Standing, catalogue: &dyn Catalogue) -> Result<Formats, Failure> {
        let stored = catalogue.formats()?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made
            && (made.epoch, made.revision, made.stored) == (standing.epoch, standing.revision, stored.len())
        {
            return Ok(Arc::clone(&made.formats));
        }
        let terms = Terms::held(catalogue)?;
        let terms = terms.ok_or_else(|| Failure::Io(io::Error::other("the catalogue has no archive definition")))?;
        let archive = Archive::compile(terms)?;
        let mut formats: Vec<Arc<dyn Format>> = made_by(&archive).collect();
        let add = |formats: &mut Vec<Arc<dyn Format>>, format: Arc<dyn Format>| {
            if formats.iter().all(|known| known.prefix() != format.prefix()) {
                formats.push(format);
            }
        };
        // Until every record has been processed again, some are still on lists of formats that only the former terms
        // have.
        for former in Terms::former(catalogue)? {
            let former = Archive::compile(former)?;
            for format in made_by(&former).filter(|format| format.list().is_some()) {
                add(&mut formats, format);
            }
        }
        // Formats that were received as XML, and removed formats, in which all records are deleted.
        for format in &stored {
            add(&mut formats, formats::stored(Arc::clone(format)));
        }
        let formats: Formats = formats.into();
        let (epoch, revision, stored) = (standing.epoch, standing.revision, stored.len());
        *made = Some(Made { epoch, revision, stored, formats: Arc::clone(&formats) });
        Ok(formats)
    }
}

/// The format of packages, for the catalogue.
pub(crate) use packaged::format as packages;

/// Its prefix.
pub(crate) use packaged::PREFIX as PACKAGES;
