//! What an import did, and what it has to complain about.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::source::{Fault, Place};

/// What an import did. Every entry that was read is counted once: new, changed, unchanged, back, gone, bad or double.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Entries of the source.
    pub read: u64,
    /// Documents that were never here.
    pub new: u64,
    /// Documents that are not as they were.
    pub changed: u64,
    /// Documents that are as they were.
    pub unchanged: u64,
    /// Documents that are not in the source any more, or are said there to be deleted.
    pub gone: u64,
    /// Documents that were gone.
    pub back: u64,
    /// Entries that made no sense.
    pub bad: u64,
    /// Entries with an identifier that an earlier one had, and had been taken with.
    pub duplicates: u64,
    /// Imported entries with a date that cannot be parsed; it is kept as text.
    pub remarks: u64,
    /// Formats that some of the imported entries do not have, by prefix.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lacking: BTreeMap<String, Lacking>,
    /// Rules of sets that match no record, each with its number and field. Known if every record was evaluated: in the first
    /// import, and after a change of the configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle_rules: Vec<String>,
    /// Documents that changed because a crosswalk or a rule of sets did.
    pub recast: u64,
    /// Formats that are no more: what records had in them is told as deleted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<String>,
    /// Documents that are not in the source, and were kept nevertheless.
    pub spared: u64,
    /// Why they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spared_because: Option<Spared>,
    /// Whether the catalogue now holds what the source does, bad entries aside.
    pub complete: bool,
}

/// Records without a format.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// Number of records.
    pub records: u64,
    /// Fields that the format requires, and that some of these records do not have.
    pub fields: BTreeSet<String>,
}

/// Why documents that are not in the source were kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spared {
    /// They are too many: more likely the source is damaged.
    TooMany,
    /// Entries without a readable identifier could be theirs.
    Unidentified,
}

/// Somebody to complain to about entries.
pub trait Complaints {
    /// An entry makes no sense.
    fn bad(&mut self, place: &Place, fault: &Fault);

    /// An entry is taken, but not all of it can be read.
    fn remark(&mut self, place: &Place, fault: &Fault);
}

/// How far an import is, for whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Entries, or stored records, that have been dealt with.
    pub done: AtomicU64,
    /// Bytes of the source that have been read.
    pub bytes: AtomicU64,
    /// How many there are; 0 if nobody knows.
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
