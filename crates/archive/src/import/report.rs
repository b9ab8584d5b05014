//! The report of an import, and the problems that it found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::source::{Fault, Place};

/// The results of an import. Every entry that was read is counted once: new, changed, unchanged, missing, restored, bad
/// or duplicate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The number of entries of the source.
    pub read: u64,
    /// The number of new documents.
    pub new: u64,
    /// The number of changed documents.
    pub changed: u64,
    /// The number of unchanged documents.
    pub unchanged: u64,
    /// The number of documents that are missing from the source, or marked there as deleted.
    pub gone: u64,
    /// The number of documents that had been deleted before.
    pub back: u64,
    /// The number of invalid entries.
    pub bad: u64,
    /// The number of entries with the identifier of an earlier entry that was imported.
    pub duplicates: u64,
    /// The number of imported entries with a date that cannot be parsed; it is kept as text.
    pub remarks: u64,
    /// The formats that some of the imported entries do not have, by prefix.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lacking: BTreeMap<String, Lacking>,
    /// The rules of sets that match no record, each with its number and field. Known if every record was evaluated: in
    /// the first import, and after a change of the configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle_rules: Vec<String>,
    /// The number of documents that changed because a crosswalk or a rule of sets did.
    pub recast: u64,
    /// The formats that were removed: all records are reported as deleted in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<String>,
    /// The number of documents that are missing from the source, and were kept nevertheless.
    pub spared: u64,
    /// The reason why they were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spared_because: Option<Spared>,
    /// True if the catalogue now equals the source, except for bad entries.
    pub complete: bool,
}

/// Records that do not have a format.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// The number of records.
    pub records: u64,
    /// The fields that the format requires, and that some of these records do not have.
    pub fields: BTreeSet<String>,
}

/// The reason why documents that are missing from the source were kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spared {
    /// They are too many: more likely the source is damaged.
    TooMany,
    /// Entries without a readable identifier could be these documents.
    Unidentified,
}

/// A receiver of problems with entries.
pub trait Complaints {
    /// Reports an invalid entry.
    fn bad(&mut self, place: &Place, fault: &Fault);

    /// Reports an entry that was imported, but not all of it could be read.
    fn remark(&mut self, place: &Place, fault: &Fault);
}

/// The progress of an import, for display.
#[derive(Debug, Default)]
pub struct Progress {
    /// The number of entries, or stored records, that have been processed.
    pub done: AtomicU64,
    /// The number of bytes of the source that have been read.
    pub bytes: AtomicU64,
    /// The total; 0 if unknown.
    pub total: AtomicU64,
}

impl Progress {
    pub(crate) fn read(&self, (bytes, total): (u64, Option<u64>)) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
    }

    pub(crate) fn dealt_with(&self, entries: u64) {
        self.done.fetch_add(entries, Ordering::Relaxed);
    }
}
