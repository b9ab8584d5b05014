//! Queries of a catalogue: the selection of items, the detail of each, and the state of the whole.

use std::ops::RangeInclusive;
use std::sync::Arc;

use modoai_protocol::{Datestamp, Range, SetSpec};

use crate::item::Item;

/// Where a catalogue stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// A random number given at birth: item numbers mean nothing in another catalogue.
    pub epoch: u64,
    /// A secret given at birth, from which tokens are sealed.
    pub secret: [u8; 32],
    /// Grows when a memo changes ([`MemoryWriter::set_memo`](super::roles::MemoryWriter::set_memo)): whoever made something of one looks again.
    pub revision: i64,
    /// Whether the first filling is complete. Until then lists would be short and stamps not yet trustworthy.
    pub ready: bool,
    /// Everything that changed before this moment is visible, and every later change will be stamped at or after it:
    /// the responseDate of an answer.
    pub as_of: Datestamp,
    /// The newest datestamp in the catalogue: lists end here, however long they take.
    pub newest: Option<Datestamp>,
    /// A lower bound of all datestamps, for Identify.
    pub earliest: Option<Datestamp>,
}

/// Which items.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'a> {
    /// Only items that have, or had, a stored record in the format of this prefix.
    pub format: Option<&'a str>,
    /// Only this set and its descendants.
    pub set: Option<&'a SetSpec>,
    /// Only these datestamps.
    pub range: Range,
}

impl Selected<'static> {
    /// Everything.
    pub const ALL: Self = Self { format: None, set: None, range: Range::ALL };
}

/// Which items, and where to begin.
#[derive(Clone, Debug)]
pub struct PageQuery<'a> {
    /// Of these. With a format, an item is deleted if its record in that format is gone, and as old as that record is.
    pub selection: Selected<'a>,
    /// Begin after this key.
    pub after: Option<(Datestamp, i64)>,
    /// At most so many.
    pub limit: usize,
    /// What is wanted of each.
    pub detail: Detail,
}

/// How much of an item is wanted. The rest is left empty: lists are read by the million, and every column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What stands in a header: number, name, datestamp, whether it is gone and a secret, and its sets.
    Header,
    /// That, and media type, fingerprint and title.
    Description,
    /// Everything about a file.
    Whole,
    /// What stands in a header, and the stored record in the format that was asked for.
    Stored,
    /// What stands in a header, and the record that an archive's formats are made of.
    Record,
}

/// Which facts are missed, and of which items.
#[derive(Clone, Debug)]
pub struct Unread<'a> {
    /// The title, of items of these media types.
    pub titles_of: &'a [&'a str],
    /// The digests, of items of these sizes.
    pub digests_of: RangeInclusive<u64>,
}

impl Unread<'_> {
    /// Whether such a fact is missed of an item.
    pub fn holds(&self, item: &Item) -> bool {
        let untitled = item.facts.title.is_none() && self.titles_of.contains(&&*item.media_type);
        untitled || (item.facts.digests.is_none() && self.digests_of.contains(&item.fingerprint.size))
    }
}

/// What people call a set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetTitle {
    /// The set.
    pub set: Arc<SetSpec>,
    /// Its name.
    pub title: String,
    /// What belongs into it.
    pub description: Option<String>,
}
