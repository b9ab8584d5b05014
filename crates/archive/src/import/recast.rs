//! What a change of crosswalks or rules changes.
//!
//! Every record that is there is put into its formats and sets twice, by the former terms and by those that hold now. One
//! that comes out differently is stamped, and no other.

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use modoai_repository::catalogue::stored::{Body, Place, StoredFormat, Unpacker};
use modoai_repository::catalogue::{Change, Description, Detail, Restamp, Writer};
use modoai_repository::item::Item;

use super::draft::Packing;
use super::report::Report;
use super::{Import, ImportError};
use crate::crosswalk::CrosswalkError;
use crate::dossier::Dossier;
use crate::record::Record;
use crate::source::Given;
use crate::terms::Archive;

/// Records looked at together.
const TOGETHER: usize = 4 * 1024;

impl Import<'_> {
    /// Looks at every record, and stamps those that came out differently before.
    pub(super) fn recast_all(
        &self,
        writer: &mut dyn Writer,
        before: &Archive,
        report: &mut Report,
    ) -> Result<(), ImportError> {
        let mut after = i64::MIN;
        loop {
            let items = self.catalogue.described(after, TOGETHER)?;
            let Some(last) = items.last() else { return Ok(()) };
            after = last.number;
            let changes = self.recast_some(before, &items)?;
            let differs = |change: &&Change| matches!(change, Change::Describe(description) if description.restamp == Restamp::Always);
            report.recast += changes.iter().filter(differs).count() as u64;
            self.progress.dealt_with(items.len() as u64);
            if !self.options.dry_run {
                writer.apply(&changes)?;
            }
        }
    }

    /// Shares the work among the processors.
    fn recast_some(&self, before: &Archive, items: &[Item]) -> Result<Vec<Change>, ImportError> {
        let shares = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            let shares: Vec<_> = items
                .chunks(items.len().div_ceil(shares))
                .map(|share| scope.spawn(|| Recaster::new(self, before)?.all(share)))
                .collect();
            let mut changes = Vec::new();
            for share in shares {
                changes.extend(share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(changes)
        })
    }
}

struct Recaster<'a> {
    import: &'a Import<'a>,
    before: &'a Archive,
    now: &'a Archive,
    packing: Packing,
    unpacker: Unpacker,
}

impl<'a> Recaster<'a> {
    fn new(import: &'a Import<'a>, before: &'a Archive) -> io::Result<Self> {
        let packing = Packing::new(&import.options.spool)?;
        Ok(Self { import, before, now: import.archive, packing, unpacker: Unpacker::new()? })
    }

    fn all(mut self, items: &[Item]) -> Result<Vec<Change>, ImportError> {
        let mut changes = Vec::new();
        for item in items {
            changes.extend(self.recast(item)?.map(|description| Change::Describe(Box::new(description))));
        }
        Ok(changes)
    }

    fn recast(&mut self, item: &Item) -> Result<Option<Description>, ImportError> {
        let Some(body) = &item.body else { return Ok(None) };
        let stored = self.unpack(body)?;
        let dossier = Dossier::new(&stored);
        let record: Record = serde_json::from_slice(dossier.record()?).map_err(io::Error::from)?;
        let failing = |source| ImportError::Recast { name: item.name.clone(), source };
        let differs = self.differs(&item.name, &record, dossier).map_err(failing)?;
        let sets = self.now.sets.of(&record).map_err(|fault| io::Error::other(format!("{}: {fault}", item.name)))?;
        let given = self.given(item, dossier)?;
        let mut draft = self.now.draft(&item.name, record, &given).map_err(failing)?;
        let moved = !sets.iter().eq(item.sets.iter()) || !holds_just(item, &draft.forms, &draft.as_they_came);
        if !differs && !moved && draft.dossier.bytes() == stored {
            return Ok(None);
        }
        for (format, whole) in draft.as_they_came.drain(..) {
            draft.forms.push((format, Some(self.packing.pack(&whole)?)));
        }
        let packed = self.packing.pack(draft.dossier.bytes())?;
        let mut state = item.fingerprint;
        state.size = packed.size;
        Ok(Some(Description {
            name: item.name.clone(),
            sets,
            datestamp: item.datestamp,
            state,
            record: Some(packed),
            forms: draft.forms,
            restamp: if differs || moved { Restamp::Always } else { Restamp::IfMoved },
        }))
    }

    /// Whether a format that was there before comes out differently now.
    fn differs(&self, name: &str, record: &Record, dossier: Dossier<'_>) -> Result<bool, CrosswalkError> {
        let record = Arc::new(record.clone());
        let former = self.before.crosswalks.describe(Arc::clone(&record), name);
        let now = self.now.crosswalks.describe(Arc::clone(&record), name);
        let (mut was, mut is) = (Vec::new(), Vec::new());
        self.before.crosswalks.write_about(&former, &mut was)?;
        self.now.crosswalks.write_about(&now, &mut is)?;
        if was != is {
            return Ok(true);
        }
        for crosswalk in self.now.crosswalks.all() {
            let prefix = &crosswalk.definition().prefix;
            let Some(before) = self.before.crosswalks.get(prefix) else { continue };
            // What goes out as it came does not depend on the crosswalk.
            if dossier.given(prefix).is_some() || !before.suits(&record) || !crosswalk.suits(&record) {
                continue;
            }
            (was, is) = (Vec::new(), Vec::new());
            match dossier.ready(prefix) {
                Some(ready) => was.extend_from_slice(ready),
                None => before.write(&former, &mut was)?,
            }
            crosswalk.write(&now, &mut is)?;
            if was != is {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What goes out as it came.
    fn given(&mut self, item: &Item, dossier: Dossier<'_>) -> Result<Vec<Given>, ImportError> {
        let mut given = Vec::new();
        for crosswalk in self.now.crosswalks.all() {
            let definition = crosswalk.definition();
            if let Some(xml) = dossier.given(&definition.prefix) {
                given.push(Given { format: Arc::new(definition.format()), xml: xml.to_vec() });
            }
        }
        let held = item.formats.iter().filter(|held| !held.gone);
        for held in held.filter(|held| self.before.crosswalks.get(&held.format.prefix).is_none()) {
            let prefix = &held.format.prefix;
            let stored = self.import.catalogue.item_with(&item.name, Some(prefix), Detail::Stored)?;
            let Some(Item { body: Some(body), .. }) = stored else { continue };
            let whole = self.unpack(&body)?;
            given.push(Given { format: Arc::clone(&held.format), xml: metadata_of(&whole).to_vec() });
        }
        Ok(given)
    }

    fn unpack(&mut self, body: &Body) -> Result<Vec<u8>, ImportError> {
        let pieces = match &body.packed {
            Place::Here(bytes) => return Ok(self.unpacker.unpack(bytes)?.to_vec()),
            Place::Pieces(pieces) => *pieces,
        };
        let mut whole = Vec::new();
        let mut place = 0;
        while (whole.len() as u64) < body.size {
            let piece = self.import.catalogue.piece(pieces, place)?;
            let piece = piece.ok_or_else(|| io::Error::other("a stored record is not whole"))?;
            whole.extend_from_slice(self.unpacker.unpack(&piece)?);
            place += 1;
        }
        Ok(whole)
    }
}

/// Whether an item has these formats that not every item has, and no others.
fn holds_just<A, B>(item: &Item, forms: &[(Arc<StoredFormat>, A)], as_they_came: &[(Arc<StoredFormat>, B)]) -> bool {
    let mut wanted: Vec<&str> = forms.iter().map(|(format, _)| format.prefix.as_str()).collect();
    wanted.extend(as_they_came.iter().map(|(format, _)| format.prefix.as_str()));
    let mut held: Vec<&str> =
        item.formats.iter().filter(|held| !held.gone).map(|held| held.format.prefix.as_str()).collect();
    wanted.sort_unstable();
    held.sort_unstable();
    wanted == held
}

/// What stands between the tags of the metadata element, without what is said about it.
fn metadata_of(whole: &[u8]) -> &[u8] {
    let inner = whole.strip_prefix(b"<metadata>").unwrap_or(whole);
    let end = inner.windows(END.len()).rposition(|window| window == END).unwrap_or(inner.len());
    &inner[..end]
}

const END: &[u8] = b"</metadata>";
