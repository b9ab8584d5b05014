//! Import worker: looks up each entry and parses it only if its bytes have changed.
//!
//! Workers only read the catalogue, so an import can use one for each processor; a single writer stores their results.

use std::io;
use std::path::Path;

use modoai_repository::catalogue::stored::{Body, Packed, Place as Stored, StoredFormat, Unpacker};
use modoai_repository::catalogue::{Catalogue, Description, Detail, ImportState, Imported, Restamp};
use modoai_repository::item::Item;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

use super::draft::{Lack, Packing};
use super::{ImportError, stamp};
use crate::record::Record;
use crate::source::{Content, Entry, Fault, Place, Reading};
use crate::terms::Archive;

/// An import worker.
pub(super) struct Clerk<'a> {
    archive: &'a Archive,
    reading: &'a dyn Reading,
    catalogue: &'a dyn Catalogue,
    /// The number of the source.
    source: u64,
    packer: Packing,
    unpacker: Unpacker,
}

/// The result for an entry.
pub(super) struct Finding {
    pub(super) place: Place,
    /// A hash of the document's name; `None` if the name cannot be read.
    pub(super) name: Option<u64>,
    pub(super) verdict: Verdict,
    pub(super) notes: Notes,
}

/// Notes for the report about an entry that is imported.
#[derive(Default)]
pub(super) struct Notes {
    /// Dates that cannot be parsed.
    pub(super) remark: Option<Fault>,
    /// Formats that the record does not have, and the fields that they require.
    pub(super) lacking: Vec<Lack>,
}

/// The action for an entry.
pub(super) enum Verdict {
    /// The entry and its document are unchanged.
    Unchanged,
    /// The stored document is the same, but its entry was parsed again and its import state is updated.
    Remade(Box<Description>),
    New(Box<Description>),
    Changed(Box<Description>),
    Back(Box<Description>),
    /// The entry deletes the document; `None` if the document is already deleted.
    Gone(Option<Box<Description>>),
    Bad(Fault),
}

/// An entry with a readable name.
struct Named {
    name: String,
    /// The hash of its bytes, and of the options with which they are read.
    digest: u64,
}

impl<'a> Clerk<'a> {
    pub(super) fn new(
        archive: &'a Archive,
        reading: &'a dyn Reading,
        catalogue: &'a dyn Catalogue,
        source: u64,
        spool: &Path,
    ) -> io::Result<Self> {
        let (packer, unpacker) = (Packing::new(spool)?, Unpacker::new()?);
        Ok(Self { archive, reading, catalogue, source, packer, unpacker })
    }

    /// Processes entries. An error is about the catalogue or this machine, not about the entries.
    pub(super) fn look(&mut self, entries: Vec<Entry>) -> Result<Vec<Finding>, ImportError> {
        let named: Vec<Result<Named, Fault>> = entries.iter().map(|entry| self.named(entry)).collect();
        let names: Vec<&str> = named.iter().flatten().map(|named| named.name.as_str()).collect();
        let mut states = self.catalogue.imported(&names)?.into_iter();
        let mut findings = Vec::with_capacity(entries.len());
        for (entry, named) in entries.into_iter().zip(named) {
            let (name, (verdict, notes)) = match named {
                Err(fault) => (None, (Verdict::Bad(fault), Notes::default())),
                Ok(named) => {
                    let state = states.next().flatten();
                    let bytes = entry.bytes.unwrap_or_default();
                    (Some(hash(&named.name)), self.judge(&named, state, &bytes, &entry.place)?)
                }
            };
            findings.push(Finding { place: entry.place, name, verdict, notes });
        }
        Ok(findings)
    }

    fn named(&self, entry: &Entry) -> Result<Named, Fault> {
        let bytes = entry.bytes.as_ref().map_err(Clone::clone)?;
        let name = self.archive.identifier(&self.reading.identifier(bytes, &entry.place)?)?;
        Ok(Named { name, digest: xxh3_64_with_seed(bytes, self.reading.fingerprint()) })
    }

    fn judge(
        &mut self,
        named: &Named,
        known: Option<Imported>,
        bytes: &[u8],
        place: &Place,
    ) -> Result<(Verdict, Notes), ImportError> {
        // A document that was deleted because it had no entry is restored; one that its entry deletes stays deleted.
        if let Some(Imported { deleted: false, state }) = known {
            let state = state.filter(|state| state.source == self.source);
            if state.is_some_and(|state| state.entry == named.digest && !state.reads_files) {
                return Ok((Verdict::Unchanged, Notes::default()));
            }
            if state.is_none() {
                let what = format!("{} is already in the archive, from another source", named.name);
                return Ok((Verdict::Bad(Fault(what)), Notes::default()));
            }
        }
        let content = match self.reading.read(bytes, place) {
            Ok(content) => content,
            Err(fault) => return Ok((Verdict::Bad(fault), Notes::default())),
        };
        let remark = if content.record.deleted { None } else { stamp::unreadable(&content.record) };
        let (description, lacking) = match self.describe(named, content)? {
            Ok((description, lacking)) => (Box::new(description), lacking),
            Err(fault) => return Ok((Verdict::Bad(fault), Notes::default())),
        };
        let is_gone = description.record.is_none();
        let verdict = match known {
            Some(Imported { deleted: true, .. }) if is_gone => Verdict::Gone(None),
            _ if is_gone => Verdict::Gone(Some(description)),
            None => Verdict::New(description),
            Some(Imported { deleted: true, .. }) => Verdict::Back(description),
            Some(_) if self.is_as_it_was(&description)? => Verdict::Remade(description),
            Some(_) => Verdict::Changed(description),
        };
        Ok((verdict, Notes { remark, lacking }))
    }

    /// Returns the document as it will be stored, and the formats that it will not have.
    fn describe(
        &mut self,
        named: &Named,
        content: Content,
    ) -> Result<Result<(Description, Vec<Lack>), Fault>, ImportError> {
        let Content { mut record, given } = content;
        // A deletion is valid even if the entry has other errors.
        let is_gone = record.deleted;
        let judged =
            self.look_at_files(&mut record).and_then(|()| Ok((self.archive.sets.of(&record)?, stamp::of(&record)?)));
        let (sets, datestamp) = match judged {
            Ok(judged) => judged,
            Err(_) if is_gone => (Vec::new(), None),
            Err(fault) => return Ok(Err(fault)),
        };
        let reads_files = !record.files.is_empty();
        let state = ImportState { source: self.source, entry: named.digest, reads_files };
        let mut description = Description {
            name: named.name.clone(),
            sets,
            datestamp,
            state: Some(state),
            record: None,
            forms: Vec::new(),
            gone_in: Vec::new(),
            unlisted: Vec::new(),
            restamp: Restamp::IfChanged,
        };
        if is_gone {
            return Ok(Ok((description, Vec::new())));
        }
        let mut draft = match self.archive.draft(&named.name, record, &given) {
            Ok(draft) => draft,
            Err(error) => return Ok(Err(Fault(error.to_string()))),
        };
        for (format, whole) in draft.as_they_came.drain(..) {
            draft.forms.push((format, Some(self.packer.pack(&whole)?)));
        }
        let packed = self.packer.pack(draft.dossier.bytes())?;
        description.record = Some(packed);
        description.forms = draft.forms;
        Ok(Ok((description, draft.lacking)))
    }

    /// Adds the state of a document's files to its record, so that a changed file changes the document.
    fn look_at_files(&self, record: &mut Record) -> Result<(), Fault> {
        let Some(packages) = &self.archive.packages else { return Ok(()) };
        for file in &mut record.files {
            let state = packages.state_of(&file.path);
            let state = state.map_err(|error| Fault(format!("failed to read its file {:?}: {error}", file.path)))?;
            file.state = Some(state);
        }
        Ok(())
    }

    /// Returns true if everything to be stored of a document is already stored.
    fn is_as_it_was(&mut self, description: &Description) -> Result<bool, ImportError> {
        let stored = self.catalogue.item_with(&description.name, None, Detail::Record)?;
        let Some(Item { body: Some(body), sets, formats, .. }) = stored else { return Ok(false) };
        let Some(packed) = &description.record else { return Ok(false) };
        let has = |format: &StoredFormat| formats.iter().any(|held| !held.gone && held.format.prefix == format.prefix);
        let held = formats.iter().filter(|held| !held.gone).count();
        let forms = &description.forms;
        let same_forms = held == forms.len() && forms.iter().all(|(format, _)| has(format));
        let same_sets = sets.iter().eq(description.sets.iter());
        if !same_forms || !same_sets || !self.is_same(&body, packed)? {
            return Ok(false);
        }
        for (format, form) in forms {
            let Some(form) = form else { continue };
            let stored = self.catalogue.item_with(&description.name, Some(&format.prefix), Detail::Stored)?;
            match stored.and_then(|item| item.body) {
                Some(body) if self.is_same(&body, form)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Returns true if the same bytes are already stored. Of records in pieces, it compares only the size: the result
    /// only affects the number of changed documents, and the catalogue compares digests.
    fn is_same(&mut self, stored: &Body, packed: &Packed) -> Result<bool, ImportError> {
        let same_size = stored.size == packed.size;
        Ok(match &stored.packed {
            Stored::Here(bytes) if same_size => xxh3_128(self.unpacker.unpack(bytes)?).to_le_bytes() == packed.digest,
            _ => same_size,
        })
    }
}

/// Returns a hash that represents a name in the set of names found in the source.
pub(super) fn hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}
