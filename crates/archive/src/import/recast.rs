//! Applies a change of crosswalks or rules to the stored records.
//!
//! The formats and sets of every stored record are determined twice, by the former terms and by the present ones. Only
//! a record with different results gets a new datestamp. If a format becomes one that every record has, or ceases to be
//! one, records change lists, and only those that thereby enter or leave a list get a new datestamp. After a format is
//! removed, no record has it: all of them are deleted in it, because deletions are reported permanently.

use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use modoai_repository::catalogue::stored::{Body, Pieces, StoredFormat, Unpacker};
use modoai_repository::catalogue::{Change, Description, Detail, Restamp, Writer};
use modoai_repository::item::Item;

use super::draft::Packing;
use super::{Import, ImportError};
use crate::crosswalk::{Crosswalk, CrosswalkError, Definition};
use crate::dossier::Dossier;
use crate::record::Record;
use crate::source::Given;
use crate::terms::Archive;

/// The number of records evaluated together.
const TOGETHER: usize = 1024;

/// The number of changes written together.
const CHANGES: usize = 4 * 1024;

/// A limit for large bodies that wait in files.
const SPOOLED: usize = 100;

impl Import<'_> {
    /// Evaluates every record, sets a new datestamp for those whose results differ, and returns their number. Without a
    /// writer it only counts.
    pub(super) fn recast_all(
        &self,
        mut writer: Option<&mut dyn Writer>,
        before: &[Archive],
    ) -> Result<u64, ImportError> {
        let mut lists = Lists::compare(before, self.archive, self.catalogue.formats()?);
        if self.catalogue.standing()?.ready {
            lists.withdraw(before, self.archive);
        }
        let mut stamped = 0;
        for gone in [false, true] {
            let mut after = i64::MIN;
            let mut changes = Vec::new();
            // A tombstone only changes lists.
            while !(gone && lists.rare.is_empty()) {
                let items = self.catalogue.described(gone, after, TOGETHER)?;
                let is_last = items.len() < TOGETHER;
                if let Some(last) = items.last() {
                    after = last.number;
                    changes.extend(self.recast_some(before, &lists, &items)?);
                    self.progress.dealt_with(items.len() as u64);
                }
                let bodies = changes.iter().flat_map(Description::bodies);
                let spooled = bodies.filter(|body| matches!(body.pieces, Pieces::Spooled { .. })).count();
                if is_last || changes.len() >= CHANGES || spooled >= SPOOLED {
                    stamped += changes.iter().filter(|change| change.restamp == Restamp::Always).count() as u64;
                    let some = changes.drain(..).map(|change| Change::Describe(Box::new(change))).collect::<Vec<_>>();
                    if let Some(writer) = &mut writer {
                        writer.apply(&some)?;
                    }
                }
                if is_last {
                    break;
                }
            }
        }
        Ok(stamped)
    }

    /// Distributes the work among the processors.
    fn recast_some(&self, before: &[Archive], lists: &Lists, items: &[Item]) -> Result<Vec<Description>, ImportError> {
        let shares = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            let shares: Vec<_> = items
                .chunks(items.len().div_ceil(shares))
                .map(|share| scope.spawn(move || Recaster::new(self, before, lists)?.all(share)))
                .collect();
            let mut changes = Vec::new();
            for share in shares {
                changes.extend(share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(changes)
        })
    }
}

/// The formats that get separate lists, and those that lose them.
struct Lists {
    /// Every record had these formats, and not every record has them now.
    rare: Vec<Arc<StoredFormat>>,
    /// Not every record had these formats, and now all have.
    common: Vec<Arc<StoredFormat>>,
    /// Formats that have, or had, separate lists.
    known: Vec<Arc<StoredFormat>>,
}

impl Lists {
    fn compare(before: &[Archive], now: &Archive, known: Vec<Arc<StoredFormat>>) -> Self {
        let was = |prefix: &str, for_all: bool| {
            let former = before.iter().filter_map(|before| before.crosswalks.get(prefix));
            former.map(Crosswalk::definition).any(|definition| definition.is_for_all() == for_all)
        };
        // Former terms have no crosswalk to the format, and yet records are on its list: the crosswalk was removed, or
        // the records were received as XML.
        let was_left = |prefix: &str| {
            known.iter().any(|known| known.prefix == prefix)
                && before.iter().any(|before| before.crosswalks.get(prefix).is_none())
        };
        let formats = |for_all: bool| {
            let now = now.crosswalks.all().iter().map(Crosswalk::definition);
            let changed = now.filter(|now| {
                now.is_for_all() == for_all && (was(&now.prefix, !for_all) || for_all && was_left(&now.prefix))
            });
            changed.map(|definition| Arc::new(definition.format())).collect()
        };
        Self { rare: formats(false), common: formats(true), known }
    }

    /// Marks every record as deleted in the formats that it had and that were removed. Not before a client could have
    /// harvested them.
    fn withdraw(&mut self, before: &[Archive], now: &Archive) {
        let former = before.iter().flat_map(|before| before.crosswalks.all()).map(Crosswalk::definition);
        for definition in former.filter(|former| former.is_for_all() && now.crosswalks.get(&former.prefix).is_none()) {
            if self.rare.iter().all(|rare| rare.prefix != definition.prefix) {
                self.rare.push(Arc::new(definition.format()));
            }
        }
    }
}

struct Recaster<'a> {
    import: &'a Import<'a>,
    before: &'a [Archive],
    now: &'a Archive,
    lists: &'a Lists,
    packing: Packing,
    unpacker: Unpacker,
}

impl<'a> Recaster<'a> {
    fn new(import: &'a Import<'a>, before: &'a [Archive], lists: &'a Lists) -> io::Result<Self> {
        let packing = Packing::new(&import.options.spool)?;
        Ok(Self { import, before, now: import.archive, lists, packing, unpacker: Unpacker::new()? })
    }

    fn all(mut self, items: &[Item]) -> Result<Vec<Description>, ImportError> {
        let mut changes = Vec::new();
        for item in items {
            changes.extend(if item.deleted { Some(self.relisted(item)) } else { self.recast(item)? });
        }
        Ok(changes)
    }

    /// Returns a tombstone, also on the lists of formats that every record had when it was deleted.
    fn relisted(&self, item: &Item) -> Description {
        Description {
            name: item.name.clone(),
            sets: Vec::new(),
            datestamp: Some(item.datestamp),
            state: None,
            record: None,
            forms: Vec::new(),
            gone_in: self.lists.rare.clone(),
            unlisted: Vec::new(),
            restamp: Restamp::Never,
        }
    }

    fn recast(&mut self, item: &Item) -> Result<Option<Description>, ImportError> {
        let Some(body) = &item.body else { return Ok(None) };
        let stored = self.unpack(body)?;
        let dossier = Dossier::new(&stored);
        let record: Record = serde_json::from_slice(dossier.record()?).map_err(io::Error::from)?;
        let failing = |source| ImportError::Recast { name: item.name.clone(), source };
        let differs = self.differs(&item.name, &record, dossier).map_err(failing)?;
        let unset = |source| ImportError::Sets { name: item.name.clone(), source };
        let sets = self.now.sets.of(&record).map_err(unset)?;
        let given = self.given(item, dossier)?;
        let mut draft = self.now.draft(&item.name, record, &given).map_err(failing)?;
        let mut prefixes: Vec<&str> = draft.forms.iter().map(|(format, _)| format.prefix.as_str()).collect();
        prefixes.extend(draft.as_they_came.iter().map(|(format, _)| format.prefix.as_str()));
        let moved = !sets.iter().eq(item.sets.iter());
        let (relisted, comes_or_goes) = self.compare_lists(item, &prefixes);
        let stamp = differs || moved || comes_or_goes;
        if !stamp && !relisted && draft.dossier.bytes() == stored {
            return Ok(None);
        }
        let is_rare = |format: &&Arc<StoredFormat>| !prefixes.contains(&format.prefix.as_str());
        let gone_in = self.lists.rare.iter().filter(is_rare).cloned().collect();
        for (format, whole) in draft.as_they_came.drain(..) {
            draft.forms.push((format, Some(self.packing.pack(&whole)?)));
        }
        let packed = self.packing.pack(draft.dossier.bytes())?;
        Ok(Some(Description {
            name: item.name.clone(),
            sets,
            datestamp: Some(item.datestamp),
            state: None,
            record: Some(packed),
            forms: draft.forms,
            gone_in,
            unlisted: self.lists.common.clone(),
            restamp: if stamp { Restamp::Always } else { Restamp::Never },
        }))
    }

    /// Returns two flags: true if a record changes lists of formats, and true if it thereby enters or leaves one. `now`
    /// are the formats that it has and not every record has.
    fn compare_lists(&self, item: &Item, now: &[&str]) -> (bool, bool) {
        let held = |prefix: &str| item.formats.iter().find(|held| held.format.prefix == prefix).map(|held| !held.gone);
        let among = |formats: &[Arc<StoredFormat>], prefix: &str| formats.iter().any(|format| format.prefix == prefix);
        let (mut relisted, mut comes_or_goes) = (false, false);
        for prefix in now {
            // On a list that did not exist before, the record is either unchanged or was never visible.
            let is_news = match held(prefix) {
                Some(was) => !was,
                None => !among(&self.lists.rare, prefix) && self.was_offered(prefix),
            };
            relisted |= held(prefix) != Some(true);
            comes_or_goes |= is_news;
        }
        for held in item.formats.iter().filter(|held| !now.contains(&held.format.prefix.as_str())) {
            let is_common = among(&self.lists.common, &held.format.prefix);
            relisted |= is_common || !held.gone;
            comes_or_goes |= is_common == held.gone;
        }
        for format in self.lists.rare.iter().filter(|format| !now.contains(&format.prefix.as_str())) {
            let is_known = held(&format.prefix).is_some();
            relisted |= !is_known;
            comes_or_goes |= !is_known;
        }
        let lacks = |format: &&Arc<StoredFormat>| held(&format.prefix).is_none();
        comes_or_goes |= self.lists.common.iter().any(|format| lacks(&format));
        (relisted, comes_or_goes)
    }

    fn was_offered(&self, prefix: &str) -> bool {
        self.before.iter().any(|before| before.crosswalks.get(prefix).is_some())
            || self.lists.known.iter().any(|known| known.prefix == prefix)
    }

    /// Returns true if the output in a format that already existed differs now.
    fn differs(&self, name: &str, record: &Record, dossier: Dossier<'_>) -> Result<bool, CrosswalkError> {
        if self.before.iter().any(|before| before.terms.edition != self.now.terms.edition) {
            return Ok(true);
        }
        let record = Arc::new(record.clone());
        let now = self.now.crosswalks.describe(Arc::clone(&record), name);
        let mut is = Vec::new();
        self.now.crosswalks.write_about(&now, &mut is)?;
        if is != dossier.about() {
            return Ok(true);
        }
        for crosswalk in self.now.crosswalks.all() {
            let prefix = &crosswalk.definition().prefix;
            // A format that is sent as received does not depend on the crosswalk.
            if dossier.given(prefix).is_some() || !crosswalk.suits(&record) {
                continue;
            }
            let former = self.before.iter().filter(|before| self.makes_otherwise(before, crosswalk.definition()));
            let former: Vec<&Archive> = former.collect();
            if former.is_empty() {
                continue;
            }
            is.clear();
            crosswalk.write(&now, &mut is)?;
            if let Some(ready) = dossier.ready(prefix) {
                if ready != is {
                    return Ok(true);
                }
                continue;
            }
            for before in former {
                let Some(crosswalk) = before.crosswalks.get(prefix).filter(|former| former.suits(&record)) else {
                    continue;
                };
                let mut was = Vec::new();
                let written = crosswalk.write(&before.crosswalks.describe(Arc::clone(&record), name), &mut was);
                // A template that failed on the record must not block a better one: any output is a change.
                if written.is_err() || was != is {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns true if those terms generated a format by another template, or with other constants.
    fn makes_otherwise(&self, before: &Archive, now: &Definition) -> bool {
        let Some(former) = before.crosswalks.get(&now.prefix).map(Crosswalk::definition) else { return false };
        former.template != now.template || before.terms.constants != self.now.terms.constants
    }

    /// Returns the formats that are sent as received.
    fn given(&mut self, item: &Item, dossier: Dossier<'_>) -> Result<Vec<Given>, ImportError> {
        let mut given = Vec::new();
        for (prefix, xml) in dossier.all_given() {
            let made_by = [self.now].into_iter().chain(self.before);
            let definition = made_by.filter_map(|archive| archive.crosswalks.get(prefix)).next();
            if let Some(definition) = definition.map(Crosswalk::definition) {
                given.push(Given { format: Arc::new(definition.format()), xml: xml.to_vec() });
            }
        }
        for held in item.formats.iter().filter(|held| !held.gone) {
            let prefix = &held.format.prefix;
            let stored = self.import.catalogue.item_with(&item.name, Some(prefix), Detail::Stored)?;
            let Some(Item { body: Some(body), .. }) = stored else { continue };
            let whole = self.unpack(&body)?;
            given.push(Given { format: Arc::clone(&held.format), xml: metadata_of(&whole).to_vec() });
        }
        Ok(given)
    }

    fn unpack(&mut self, body: &Body) -> Result<Vec<u8>, ImportError> {
        let mut whole = Vec::new();
        self.unpacker.each(body, &*self.import.catalogue, |bytes| {
            whole.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(whole)
    }
}

/// Returns the content of the metadata element, without the `about` containers.
fn metadata_of(whole: &[u8]) -> &[u8] {
    const END: &[u8] = b"</metadata>";
    let inner = whole.strip_prefix(b"<metadata>").unwrap_or(whole);
    let end = inner.windows(END.len()).rposition(|window| window == END).unwrap_or(inner.len());
    &inner[..end]
}
