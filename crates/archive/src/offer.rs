//! The formats that an archive offers: its crosswalks, what came as XML and goes out as it came, and packages of files.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use modoai_protocol::xml::XmlWriter;
use modoai_repository::catalogue::{Catalogue, Detail, Standing};
use modoai_repository::formats::{self, Format, Formats, Has, Subject};
use modoai_repository::item::Item;
use modoai_repository::{ArchiveFormats, Failure};

use crate::crosswalk::{Crosswalk, Crosswalks};
use crate::dossier::Dossier;
use crate::record::Record;
use crate::terms::{Archive, TERMS, Terms, TermsError};

/// The formats of the archive in a catalogue, made anew when its terms change.
#[derive(Default)]
pub struct Offer {
    made: Mutex<Option<Made>>,
}

/// What was made of the terms, and when.
struct Made {
    epoch: u64,
    revision: i64,
    /// Formats that records came in: more can come with every record.
    stored: usize,
    formats: Formats,
}

impl Offer {
    /// The offer of a catalogue, if it is that of an archive. Broken terms are told here, before anybody asks.
    pub fn of(catalogue: &dyn Catalogue) -> Result<Option<(Self, Terms)>, TermsError> {
        let Some(terms) = Terms::remembered(catalogue, TERMS)? else { return Ok(None) };
        Archive::compile(terms.clone())?;
        Ok(Some((Self::default(), terms)))
    }
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
        let failure = |error: TermsError| Failure::Io(io::Error::other(error));
        let terms = Terms::remembered(catalogue, TERMS).map_err(failure)?;
        let terms = terms.ok_or_else(|| Failure::Io(io::Error::other("the catalogue has no terms of an archive")))?;
        let archive = Archive::compile(terms).map_err(failure)?;
        let crosswalked = (0..archive.crosswalks.all().len()).map(|index| {
            Arc::new(Crosswalked { crosswalks: Arc::clone(&archive.crosswalks), index }) as Arc<dyn Format>
        });
        let as_they_came = stored.iter().filter(|format| archive.crosswalks.get(&format.prefix).is_none());
        let formats: Formats = crosswalked.chain(as_they_came.cloned().map(formats::stored)).collect();
        let (epoch, revision, stored) = (standing.epoch, standing.revision, stored.len());
        *made = Some(Made { epoch, revision, stored, formats: Arc::clone(&formats) });
        Ok(formats)
    }
}

/// A format that a crosswalk makes.
struct Crosswalked {
    crosswalks: Arc<Crosswalks>,
    index: usize,
}

impl Crosswalked {
    fn crosswalk(&self) -> &Crosswalk {
        &self.crosswalks.all()[self.index]
    }

    /// Whether every record has it.
    fn is_for_all(&self) -> bool {
        self.crosswalk().definition().requires.is_empty()
    }
}

impl Format for Crosswalked {
    fn prefix(&self) -> &str {
        &self.crosswalk().definition().prefix
    }

    fn namespace(&self) -> &str {
        &self.crosswalk().definition().namespace
    }

    fn schema(&self, _base_url: &str) -> String {
        self.crosswalk().definition().schema.clone()
    }

    fn detail(&self) -> Detail {
        Detail::Record
    }

    fn needs_get(&self, _item: &Item) -> bool {
        false
    }

    fn is_bulky(&self) -> bool {
        true
    }

    fn list(&self) -> Option<&str> {
        if self.is_for_all() { None } else { Some(self.prefix()) }
    }

    fn has(&self, item: &Item) -> Has {
        if self.is_for_all() { Has::Yes } else { formats::holds(item, self.prefix()) }
    }

    fn write(&self, mut subject: Subject<'_>, xml: &mut XmlWriter<'_>) -> io::Result<()> {
        let identifier = &subject.item.name;
        let dossier = Dossier::new(subject.record()?);
        xml.raw("<metadata>");
        match dossier.given(self.prefix()).or_else(|| dossier.ready(self.prefix())) {
            Some(ready) => xml.verbatim(ready),
            None => {
                let record: Record = serde_json::from_slice(dossier.record()?)?;
                let described = self.crosswalks.describe(Arc::new(record), identifier);
                let mut rendered = Vec::new();
                self.crosswalk().write(&described, &mut rendered).map_err(io::Error::other)?;
                xml.verbatim(&rendered)
            }
        };
        xml.raw("</metadata>").verbatim(dossier.about());
        Ok(())
    }
}
