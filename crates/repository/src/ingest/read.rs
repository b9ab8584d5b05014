//! Reads from files what the catalogue does not know yet: titles and digests.
//!
//! They are read [ahead](super::read_ahead) of harvesters, in small steps; or in one run, before a huge site is first
//! served.

use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::large::{Hashing, LARGE, Progress, backlogs};
use crate::catalogue::{Catalogue, CatalogueError, Learned, Unread};
use crate::formats::steady::digests_of;
use crate::item::{Facts, Item};
use crate::site::folder::fingerprint_of;
use crate::site::{Site, title};

/// The number of items per query: more than one step of reading ahead can read.
const ITEMS: usize = 2_000;

/// The time for which a large file is read before the stop flag is checked.
const STEP: Duration = Duration::from_millis(200);

/// Reads everything that is unknown about the items in a catalogue, as fast as the machine can. Returns the number of
/// items read. Files are hashed only with `digests`. Setting `stop` to true ends it early; `progress` counts the items.
/// Files that cannot be read, or that change meanwhile, are skipped; they are read when they are needed.
pub fn read_everything(
    site: &Site,
    catalogue: &dyn Catalogue,
    digests: bool,
    stop: &AtomicBool,
    progress: &AtomicU64,
) -> Result<u64, CatalogueError> {
    let reader = Reader { site, catalogue, digests, stop };
    let (mut after, mut count) = (i64::MIN, 0);
    while !stop.load(Ordering::Relaxed) {
        let items = reader.unread(after)?;
        let Some(last) = items.last() else { break };
        after = last.number;
        let learned = reader.read_all(&items, progress);
        catalogue.learn(&learned)?;
        count += learned.len() as u64;
    }
    for mut large in backlogs() {
        large.add(&reader, &[], digests);
        while !stop.load(Ordering::Relaxed)
            && let Some(item) = large.next(&reader)
        {
            let learned = reader.read_large(&item).ok().flatten();
            catalogue.learn(learned.as_slice())?;
            count += u64::from(learned.is_some());
            progress.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(count)
}

/// Reads files of a site.
pub(super) struct Reader<'a> {
    pub(super) site: &'a Site,
    pub(super) catalogue: &'a dyn Catalogue,
    pub(super) digests: bool,
    pub(super) stop: &'a AtomicBool,
}

impl Reader<'_> {
    /// Returns some items after the one with this number that lack anything except the digests of a large file.
    pub(super) fn unread(&self, after: i64) -> Result<Vec<Item>, CatalogueError> {
        self.catalogue.unread(&self.wanted(), after, ITEMS)
    }

    /// Returns the item of this name, if it lacks anything except the digests of a large file.
    pub(super) fn unread_by_name(&self, name: &str) -> Option<Item> {
        self.by_name(name, &self.wanted())
    }

    /// Returns the next item of these sizes without digests, after the one with this number.
    pub(super) fn next_undigested(
        &self,
        after: i64,
        sizes: &RangeInclusive<u64>,
    ) -> Result<Option<Item>, CatalogueError> {
        let wanted = Unread { titles_of: &[], digests_of: sizes.clone() };
        Ok(self.catalogue.unread(&wanted, after, 1)?.pop())
    }

    /// Returns the item of this name, if it is of these sizes and without digests.
    pub(super) fn undigested(&self, name: &str, sizes: &RangeInclusive<u64>) -> Option<Item> {
        self.by_name(name, &Unread { titles_of: &[], digests_of: sizes.clone() })
    }

    fn by_name(&self, name: &str, wanted: &Unread<'_>) -> Option<Item> {
        let item = self.catalogue.item(name).ok().flatten();
        item.filter(|item| !item.deleted && wanted.holds(item))
    }

    fn wanted(&self) -> Unread<'static> {
        let digests_of = if self.digests { 0..=LARGE } else { RangeInclusive::new(1, 0) };
        Unread { titles_of: title::MEDIA_TYPES, digests_of }
    }

    /// Returns the digests of a large file, computed without pauses.
    fn read_large(&self, item: &Item) -> io::Result<Option<Learned>> {
        let mut hashing = Hashing::begin(self.site, item)?;
        while !self.stop.load(Ordering::Relaxed)
            && let Some(begun) = hashing.take()
        {
            match begun.step(Instant::now() + STEP)? {
                Progress::Unfinished(further) => hashing = Some(further),
                Progress::Done(_, learned) => return Ok(Some(learned)),
                Progress::Changed => {}
            }
        }
        Ok(None)
    }

    /// Returns the facts in an item's file, if the file does not change meanwhile.
    pub(super) fn read(&self, item: &Item) -> io::Result<Option<Learned>> {
        let Some(representation) = self.site.get(&item.name)? else { return Ok(None) };
        let fingerprint = representation.fingerprint;
        // A file that is being written would have to be read again.
        if fingerprint != item.fingerprint || fingerprint.is_fresh() {
            return Ok(None);
        }
        let mut file = representation.file;
        let facts = self.facts(item, &mut file)?;
        let held_still = fingerprint_of(&file)? == fingerprint;
        Ok(held_still.then_some(Learned { number: item.number, fingerprint, facts }))
    }

    /// Returns the facts in the files of these items, read by as many threads as the machine has cores.
    fn read_all(&self, items: &[Item], progress: &AtomicU64) -> Vec<Learned> {
        let (next, learned) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                let read = self.read(item).ok().flatten();
                learned.lock().unwrap_or_else(PoisonError::into_inner).extend(read);
                progress.fetch_add(1, Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(work);
            }
            work();
        });
        learned.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn facts(&self, item: &Item, file: &mut File) -> io::Result<Facts> {
        let title = if title::is_in(&item.media_type) { Some(title::of(file)?) } else { None };
        let mut stoppable = Stoppable { file, stop: self.stop };
        let digests = self
            .wanted()
            .digests_of
            .contains(&item.fingerprint.size)
            .then(|| digests_of(&mut stoppable))
            .transpose()?;
        Ok(Facts { title, digests })
    }
}

/// A file whose reads fail once `stop` is set, so that stopping need not wait for the end of a large file.
pub(super) struct Stoppable<'a> {
    pub(super) file: &'a File,
    pub(super) stop: &'a AtomicBool,
}

impl io::Read for Stoppable<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(room)
    }
}
