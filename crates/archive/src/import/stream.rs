//! Moves entries from a source to the catalogue. One thread splits the source into entries, workers process them, and
//! this module takes the results in the order of the source and writes them.
//!
//! All queues between the threads are bounded, so a slow disk slows reading down and memory does not fill up.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use modoai_repository::catalogue::stored::Pieces;
use modoai_repository::catalogue::{Catalogue, Change, Writer};

use super::clerk::{Clerk, Finding, Verdict};
use super::draft::Lack;
use super::report::{Complaints, Progress, Report};
use super::{Import, ImportError};
use crate::source::{Entry, Fault, Reading, Source};

/// The number of entries that are processed together.
const ENTRIES: usize = 1024;

/// A limit in bytes, for large entries.
const BYTES: usize = 8 << 20;

/// The number of changes that become visible together.
const CHANGES: usize = 8 * 1024;

/// The same while nothing is visible yet. Each batch is written to the catalogue sorted by datestamp, as lists are, so
/// the fewer batches there are, the fewer places a list is read from.
const CHANGES_OF_FILLING: usize = 32 * 1024;

/// A limit for the compressed bytes to be stored.
const STORED: u64 = 128 << 20;

/// A limit for the bodies that wait in files.
const SPOOLED: usize = 200;

/// Some neighbouring entries, and the number of entries before them.
type Batch = (u64, Vec<Entry>);

/// The results of some neighbouring entries.
type Findings = (u64, Result<Vec<Finding>, ImportError>);

/// The entries that were found in a source.
#[derive(Default)]
pub(super) struct Met {
    /// Hashes of the names of all documents that were found, including invalid ones.
    pub(super) names: HashSet<u64>,
    /// The names for which all entries so far were bad: a good one is still accepted.
    refused: HashSet<u64>,
    /// The number of these documents that are in the catalogue now, and not deleted.
    pub(super) live: u64,
    /// The number of entries without a readable identifier.
    pub(super) unidentified: u64,
}

/// Takes results in order, and writes the changes.
struct Taker<'a> {
    import: &'a Import<'a>,
    writer: &'a mut dyn Writer,
    dry: bool,
    changes: Vec<Change>,
    /// The number of changes that are collected.
    most: usize,
    /// The number of bytes that wait in memory to be stored.
    stored: u64,
    /// The number of bodies that wait in files.
    spooled: usize,
    met: Met,
    report: &'a mut Report,
    complaints: &'a mut dyn Complaints,
}

impl Import<'_> {
    /// Imports a whole source.
    pub(super) fn take(
        &self,
        writer: &mut dyn Writer,
        source: Box<dyn Source>,
        reading: &dyn Reading,
        report: &mut Report,
        complaints: &mut dyn Complaints,
    ) -> Result<Met, ImportError> {
        let clerks = thread::available_parallelism().map_or(1, usize::from);
        let mut taker = Taker {
            import: self,
            writer,
            dry: self.options.dry_run,
            changes: Vec::new(),
            most: if self.catalogue.standing()?.ready { CHANGES } else { CHANGES_OF_FILLING },
            stored: 0,
            spooled: 0,
            met: Met::default(),
            report,
            complaints,
        };
        thread::scope(|scope| {
            let (batches, to_look_at) = sync_channel(clerks);
            let (findings, to_take) = sync_channel(clerks);
            let reader = scope.spawn(|| cut(source, &batches_into(batches), self.progress));
            let to_look_at = Arc::new(Mutex::new(to_look_at));
            for _ in 0..clerks {
                let (to_look_at, findings) = (Arc::clone(&to_look_at), findings.clone());
                scope.spawn(move || self.clerk(reading, &to_look_at, &findings));
            }
            // The workers hold the only other ends, so both sides notice when the other ends.
            drop((to_look_at, findings));
            take_in_order(&to_take, |findings| {
                self.progress.dealt_with(findings.len() as u64);
                taker.take(findings)
            })?;
            taker.write()?;
            let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            read.map_err(ImportError::Source)
        })?;
        Ok(taker.met)
    }

    fn clerk(&self, reading: &dyn Reading, to_look_at: &Mutex<Receiver<Batch>>, findings: &SyncSender<Findings>) {
        let catalogue: &dyn Catalogue = &*self.catalogue;
        let clerk = Clerk::new(self.archive, reading, catalogue, self.source(), &self.options.spool);
        let mut clerk = clerk.map_err(ImportError::from);
        loop {
            let next = to_look_at.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((before, entries)) = next else { return };
            let found = match &mut clerk {
                Ok(clerk) => clerk.look(entries),
                Err(error) => {
                    Err(std::mem::replace(error, ImportError::Source(io::Error::other("an import thread failed"))))
                }
            };
            if findings.send((before, found)).is_err() {
                return;
            }
        }
    }
}

/// Splits a source into batches, until it ends or the receiver ends.
fn cut(mut source: Box<dyn Source>, batches: &dyn Fn(Batch) -> bool, progress: &Progress) -> io::Result<()> {
    let mut before = 0;
    loop {
        let (mut entries, mut bytes) = (Vec::with_capacity(ENTRIES), 0);
        while entries.len() < ENTRIES && bytes < BYTES {
            let Some(entry) = source.next()? else { break };
            bytes += entry.bytes.as_ref().map_or(0, Vec::len);
            entries.push(entry);
        }
        progress.read(source.progress());
        let count = entries.len() as u64;
        if count == 0 || !batches((before, entries)) {
            return Ok(());
        }
        before += count;
    }
}

/// Returns a function that sends batches, and returns false when the receiver has ended.
fn batches_into(batches: SyncSender<Batch>) -> impl Fn(Batch) -> bool {
    move |batch| batches.send(batch).is_ok()
}

/// Takes results in the order of the source, regardless of which worker was faster.
fn take_in_order(
    findings: &Receiver<Findings>,
    mut take: impl FnMut(Vec<Finding>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut waiting = BTreeMap::new();
    let mut taken = 0;
    for (before, found) in findings {
        waiting.insert(before, found?);
        while let Some(found) = waiting.remove(&taken) {
            taken += found.len() as u64;
            take(found)?;
        }
    }
    Ok(())
}

impl Met {
    /// Registers an entry. Of several entries for a document only the first good one counts.
    fn admits(&mut self, name: Option<u64>, verdict: &Verdict) -> bool {
        let Some(name) = name else {
            self.unidentified += 1;
            return true;
        };
        let is_first = self.names.insert(name);
        match verdict {
            Verdict::Bad(_) if is_first => self.refused.insert(name),
            Verdict::Bad(_) => self.refused.contains(&name),
            _ => is_first || self.refused.remove(&name),
        }
    }
}

impl Taker<'_> {
    fn take(&mut self, findings: Vec<Finding>) -> Result<(), ImportError> {
        for finding in findings {
            self.report.read += 1;
            self.take_one(finding);
            if self.changes.len() >= self.most || self.stored >= STORED || self.spooled >= SPOOLED {
                self.write()?;
            }
        }
        Ok(())
    }

    fn take_one(&mut self, finding: Finding) {
        let Finding { place, name, verdict, notes } = finding;
        if !self.met.admits(name, &verdict) {
            self.report.duplicates += 1;
            self.complaints.bad(&place, &Fault("an earlier entry has the same identifier".to_owned()));
            return;
        }
        let report = &mut *self.report;
        if let Some(remark) = notes.remark {
            report.remarks += 1;
            self.complaints.remark(&place, &remark);
        }
        for Lack { prefix, fields } in notes.lacking {
            let lacking = report.lacking.entry(prefix).or_default();
            lacking.records += 1;
            lacking.fields.extend(fields);
        }
        let (count, description) = match verdict {
            Verdict::Unchanged => (&mut report.unchanged, None),
            Verdict::Remade(description) => (&mut report.unchanged, Some(description)),
            Verdict::New(description) => (&mut report.new, Some(description)),
            Verdict::Changed(description) => (&mut report.changed, Some(description)),
            Verdict::Back(description) => (&mut report.back, Some(description)),
            Verdict::Gone(None) => {
                report.unchanged += 1;
                return;
            }
            Verdict::Gone(Some(description)) => {
                report.gone += 1;
                self.changes.push(Change::Describe(description));
                return;
            }
            Verdict::Bad(fault) => {
                report.bad += 1;
                self.complaints.bad(&place, &fault);
                return;
            }
        };
        *count += 1;
        self.met.live += 1;
        if let Some(description) = description {
            for body in description.bodies() {
                match &body.pieces {
                    Pieces::One(bytes) => self.stored += bytes.len() as u64,
                    Pieces::Spooled { .. } => self.spooled += 1,
                }
            }
            self.changes.push(Change::Describe(description));
        }
    }

    fn write(&mut self) -> Result<(), ImportError> {
        if !self.dry {
            // Written before the changes, because after a kill the next import does not find these sets again.
            self.import.name_sets(&mut *self.writer)?;
            self.writer.apply(&self.changes)?;
        }
        self.changes.clear();
        (self.stored, self.spooled) = (0, 0);
        Ok(())
    }
}
