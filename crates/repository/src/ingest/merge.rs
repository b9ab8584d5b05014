//! Compares the site with the catalogue.
//!
//! The walk reports existing files in byte order of names; the merge fetches the known names in the same order and
//! records the differences. New and changed files may be written while the walk continues. Deletions are written at the
//! end, when it is known if their number is plausible.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use modoai_protocol::MaxDeleted;

use super::hard_links::Changed;
use super::reconcile::{IngestError, Part, Reconciler, Tally};
use crate::catalogue::{Change, Known};
use crate::item::Publicity;
use crate::site::walk::{Met, Step};

/// The number of rows per query of the catalogue.
const KNOWN_ROWS: usize = 2_000;

/// The number of changes per transaction: enough that a first index is bound by neither commits nor memory.
const BATCH: usize = 20_000;

/// The maximum number of changed files that are listed. A caller that needs more scans everything.
const MOST_NAMED: usize = 10_000;

/// A change time that no file has: an entry with it differs from the file at the next comparison.
const UNSETTLED: i64 = i64::MIN;

/// A comparison in progress.
pub(super) struct Merge<'a> {
    reconciler: &'a mut Reconciler,
    part: &'a Part,
    /// Known names of the part that are not compared yet, and the source of further ones.
    known: VecDeque<Known>,
    stage: KnownStage,
    changes: Vec<Change>,
    gone: Vec<String>,
    /// Files, and directories whose files, must not be treated as deleted.
    guarded: Vec<String>,
    live: u64,
    tally: Tally,
    /// Changed files that have other names.
    linked: Vec<Changed>,
}

/// The order of known names is byte order: for a name, first the file of that name, then the content of the directory
/// of that name.
enum KnownStage {
    File,
    Below { prefix: String, after: String },
    Done,
}

impl<'a> Merge<'a> {
    /// Starts a comparison. `live` is the number of known items, if everything is to be compared. Files in the
    /// `guarded` directories are never treated as deleted.
    pub(super) fn new(reconciler: &'a mut Reconciler, guarded: Vec<String>, live: u64) -> Self {
        let (known, changes, gone) = (VecDeque::new(), Vec::new(), Vec::new());
        let (part, stage, tally) = (&Part::Everything, KnownStage::Done, Tally::default());
        let linked = Vec::new();
        Self { reconciler, part, known, stage, changes, gone, guarded, live, tally, linked }
    }

    /// Starts a part.
    pub(super) fn begin(&mut self, part: &'a Part) {
        self.part = part;
        self.stage = match part {
            Part::Everything => KnownStage::Below { prefix: String::new(), after: String::new() },
            Part::Name(_) | Part::Anew(_) => KnownStage::File,
        };
    }

    /// Compares the next item of the walk.
    pub(super) fn step(&mut self, step: Step) -> Result<(), IngestError> {
        if self.reconciler.stop.load(Ordering::Relaxed) {
            return Err(IngestError::Stopped);
        }
        match step {
            Step::File(met) => self.file(met),
            Step::Withheld(name) => {
                self.tally.withheld += 1;
                self.tally.withheld_example.get_or_insert(name);
                Ok(())
            }
            Step::LeavesRoot(name) => {
                self.tally.outside_links += 1;
                self.tally.outside_link_example.get_or_insert(name);
                Ok(())
            }
            Step::Unknown { name, error } if name.is_empty() => Err(IngestError::Root(error)),
            Step::Unknown { name, error } => {
                tracing::warn!(%name, %error, "failed to read a file or directory; keeping its catalogue entries");
                self.tally.unknown += 1;
                self.guarded.push(name);
                Ok(())
            }
        }
    }

    fn file(&mut self, mut met: Met) -> Result<(), IngestError> {
        self.tally.files += 1;
        self.reconciler.seen.fetch_add(1, Ordering::Relaxed);
        while let Some(known) = self.next_known_before(&met.name)? {
            self.absent(known)?;
        }
        let known = match self.known.front() {
            Some(front) if front.name == met.name => self.known.pop_front(),
            _ => None,
        };
        if known.as_ref().is_some_and(|known| known.fingerprint == met.fingerprint && self.has_same_kind(known)) {
            return Ok(());
        }
        let (media_type, is_public) = match self.reconciler.describe(&mut met, &mut self.tally) {
            Ok(Some(description)) => description,
            // Deleted in the meantime: the next comparison handles it.
            Ok(None) => return Ok(()),
            Err(error) => {
                tracing::warn!(file = %met.name, %error, "failed to read a file; keeping its catalogue entry");
                return Ok(());
            }
        };
        let publicity = publicity(known.as_ref().map(|known| known.publicity).unwrap_or_default(), is_public);
        let sets = self.reconciler.sets_of(&met.name, &media_type);
        let is_listed_alike =
            |known: &Known| known.media_type == media_type && known.publicity == publicity && *known.sets == *sets;
        let known = known.filter(is_listed_alike);
        if known.as_ref().is_some_and(|known| known.fingerprint == met.fingerprint) {
            return Ok(());
        }
        if met.fingerprint.is_fresh() {
            self.tally.unsettled.push(met.name.clone());
            met.fingerprint.changed = UNSETTLED;
        }
        match known {
            Some(known) if known.fingerprint == met.fingerprint => Ok(()),
            Some(known) if self.reconciler.same_bytes(&known, &met) => {
                self.change(Change::Same { number: known.number, fingerprint: met.fingerprint })
            }
            _ => {
                self.tally.put += 1;
                let Met { name, fingerprint } = met;
                if *self.part != Part::Everything {
                    if self.tally.named.len() < MOST_NAMED {
                        self.tally.named.push(name.clone());
                    }
                    self.linked.extend(self.reconciler.links_of(&name, &fingerprint));
                }
                self.change(Change::Put { name, fingerprint, media_type, sets, publicity })
            }
        }
    }

    /// Returns true if an unchanged file need not be examined: files keep their fingerprint when a setting changes their
    /// media type or their sets.
    fn has_same_kind(&mut self, known: &Known) -> bool {
        let asked = self.reconciler.asks_content || matches!(self.part, Part::Anew(_));
        let told = self.reconciler.describer.at_a_glance(&known.name);
        told.map_or(!asked, |told| *told == *known.media_type)
            && *self.reconciler.sets_of(&known.name, &known.media_type) == *known.sets
    }

    fn absent(&mut self, known: Known) -> Result<(), IngestError> {
        if is_in_any(&self.guarded, &known.name) {
            return Ok(());
        }
        self.gone.push(known.name);
        let max_deleted = self.reconciler.max_deleted;
        if *self.part == Part::Everything && !max_deleted.allows(self.gone.len() as u64, self.live) {
            return Err(IngestError::TooManyDeletions { share: max_deleted.percent(), live: self.live });
        }
        Ok(())
    }

    fn change(&mut self, change: Change) -> Result<(), IngestError> {
        self.changes.push(change);
        if self.changes.len() < BATCH { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<(), IngestError> {
        // If the comparison of bytes was interrupted, its result is invalid.
        if self.reconciler.stop.load(Ordering::Relaxed) {
            return Err(IngestError::Stopped);
        }
        self.reconciler.writer.apply(&self.changes)?;
        self.changes.clear();
        Ok(())
    }

    /// Ends a part: its remaining known names are missing from the site.
    pub(super) fn end(&mut self) -> Result<(), IngestError> {
        let emptied = *self.part == Part::Everything && self.tally.files == 0 && self.live > 0;
        if emptied && self.reconciler.max_deleted != MaxDeleted::ALL {
            return Err(IngestError::Emptied { live: self.live });
        }
        while let Some(known) = self.next_known()? {
            self.absent(known)?;
        }
        Ok(())
    }

    /// Excludes these directories from deletions, too.
    pub(super) fn guard(&mut self, folders: Vec<String>) {
        self.gone.retain(|name| !is_in_any(&folders, name));
        self.guarded.extend(folders);
    }

    /// Writes the remaining changes. Returns the result, the directories in which nothing was deleted, and the changed
    /// files that have other names.
    pub(super) fn finish(mut self) -> Result<(Tally, Vec<String>, Vec<Changed>), IngestError> {
        self.tally.deleted = self.gone.len() as u64;
        for name in std::mem::take(&mut self.gone) {
            self.change(Change::Delete { name })?;
        }
        self.write()?;
        Ok((self.tally, self.guarded, self.linked))
    }

    /// Returns the next known name, if it is before this one.
    fn next_known_before(&mut self, name: &str) -> Result<Option<Known>, IngestError> {
        self.fetch_known()?;
        match self.known.front() {
            Some(front) if front.name.as_str() < name => Ok(self.known.pop_front()),
            _ => Ok(None),
        }
    }

    fn next_known(&mut self) -> Result<Option<Known>, IngestError> {
        self.fetch_known()?;
        Ok(self.known.pop_front())
    }

    fn fetch_known(&mut self) -> Result<(), IngestError> {
        while self.known.is_empty() {
            let writer = &mut self.reconciler.writer;
            match (&mut self.stage, self.part) {
                (KnownStage::File, Part::Name(name) | Part::Anew(name)) => {
                    let first = writer.known(name, "", 1)?;
                    self.known.extend(first.into_iter().filter(|known| known.name == *name));
                    self.stage = KnownStage::Below { prefix: format!("{name}/"), after: String::new() };
                }
                (KnownStage::Below { prefix, after }, _) => {
                    let rows = writer.known(prefix, after, KNOWN_ROWS)?;
                    match rows.last() {
                        Some(last) if rows.len() == KNOWN_ROWS => *after = last.name.clone(),
                        _ => self.stage = KnownStage::Done,
                    }
                    self.known.extend(rows);
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Returns the publicity of an item after it was examined.
fn publicity(before: Publicity, is_public: Option<bool>) -> Publicity {
    match (before, is_public) {
        (before, None) => before,
        (_, Some(true)) => Publicity::Public,
        (Publicity::Untold, Some(false)) => Publicity::Untold,
        (Publicity::Public | Publicity::Withdrawn, Some(false)) => Publicity::Withdrawn,
    }
}

fn is_in_any(guarded: &[String], name: &str) -> bool {
    // A name without a slash at its end may be that of a file or of a directory.
    let rest = |guard: &String| {
        name.strip_prefix(guard.as_str()).map(|rest| guard.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
    };
    guarded.iter().any(|guard| rest(guard) == Some(true))
}
