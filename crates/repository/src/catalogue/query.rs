//! Queries of a catalogue: the selection of items, the detail of each, and the state of the whole.

use std::ops::RangeInclusive;
use std::sync::Arc;

use modoai_protocol::{Datestamp, Range, SetSpec};

use crate::item::Item;

/// The state of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// A random number chosen at creation: item numbers are not valid in another catalogue.
    pub epoch: u64,
    /// A secret chosen at creation: the key of resumption tokens and of the digests of audiences.
    pub secret: [u8; 32],
    /// A number that grows when a memo changes ([`MemoryWriter::set_memo`](super::roles::MemoryWriter::set_memo)):
    /// values derived from memos must then be computed again.
    pub revision: i64,
    /// True if the first filling is complete. Before that, lists are incomplete and datestamps are not reliable.
    pub ready: bool,
    /// The `responseDate` of a response: every change before this moment is visible, and every later change is stamped
    /// with this moment or a later one.
    pub as_of: Datestamp,
    /// The newest datestamp in the catalogue. Lists end here, regardless of how long they take.
    pub newest: Option<Datestamp>,
    /// A lower bound of all datestamps, for Identify.
    pub earliest: Option<Datestamp>,
}

/// A selection of items.
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
    /// All items.
    pub const ALL: Self = Self { format: None, set: None, range: Range::ALL };
}

/// A query for one page of a selection.
#[derive(Clone, Debug)]
pub struct PageQuery<'a> {
    /// The selection. With a format, the deletion and the datestamp are those of the record in that format.
    pub selection: Selected<'a>,
    /// The page begins after this key.
    pub after: Option<(Datestamp, i64)>,
    /// The maximum number of items.
    pub limit: usize,
    /// The columns to read.
    pub detail: Detail,
}

/// The columns to read for each item; the others stay empty. Lists have millions of items, so every column adds to
/// their cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The fields of a header: number, name, datestamp, sets, deletion, and visibility.
    Header,
    /// The fields of a header, and media type, fingerprint and title.
    Description,
    /// All fields of a file.
    Whole,
    /// The fields of a header, and the stored record in the requested format.
    Stored,
    /// The fields of a header, and the record that the formats of an archive are generated from.
    Record,
}

/// A query for items with missing facts.
#[derive(Clone, Debug)]
pub struct Unread<'a> {
    /// Items of these media types that have no title.
    pub titles_of: &'a [&'a str],
    /// Items of these sizes that have no digests.
    pub digests_of: RangeInclusive<u64>,
}

impl Unread<'_> {
    /// Returns true if one of these facts is missing from the item.
    pub fn holds(&self, item: &Item) -> bool {
        let untitled = item.facts.title.is_none() && self.titles_of.contains(&&*item.media_type);
        untitled || (item.facts.digests.is_none() && self.digests_of.contains(&item.fingerprint.size))
    }
}

/// The name of a set for humans.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetTitle {
    /// The set.
    pub set: Arc<SetSpec>,
    /// Its name.
    pub title: String,
    /// A description of its items.
    pub description: Option<String>,
}
