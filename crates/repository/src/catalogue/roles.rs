//! The roles of a catalogue: the traits that an engine implements, one for each kind of user.
//!
//! | trait | used by |
//! |---|---|
//! | [`Lists`] | answers |
//! | [`Records`] | answers with stored records |
//! | [`Memory`] | hosts that open a catalogue, and formats of archives |
//! | [`Imports`] | imports |
//! | [`Learner`] | background reading, and hosts that record audiences |
//! | [`Changes`] | all writers |
//! | [`Inventory`] | comparisons with a site or a crawl |
//! | [`MemoryWriter`] | all writers |
//!
//! The engine keeps time: stamps and [`Standing::as_of`](super::Standing::as_of) come from its clock, under its lock, and
//! are never passed to it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use modoai_protocol::SetSpec;

use super::stored::StoredFormat;
use super::{
    CatalogueError, CatalogueKind, Change, Detail, Imported, Known, Learned, PageQuery, Selected, SetTitle, Standing,
    Unread,
};
use crate::audience::Listing;
use crate::item::{Digests, Fingerprint, Item};

/// Lists of items, and look-ups.
pub trait Lists {
    /// Where the catalogue stands now. Ask this *before* reading what an answer is made of.
    fn standing(&self) -> Result<Standing, CatalogueError>;

    /// The items selected, ordered by (datestamp, number), beginning after `after`; at most `limit`. Tombstones are
    /// items like any other. Costs the same at any depth.
    fn page(&self, query: &PageQuery<'_>) -> Result<Vec<Item>, CatalogueError>;

    /// How many items (tombstones included) a selection holds. Must not scan the selection.
    fn count(&self, selection: Selected<'_>) -> Result<u64, CatalogueError>;

    /// The item of that name, present or gone.
    fn item(&self, name: &str) -> Result<Option<Item>, CatalogueError>;

    /// Sets (wider ones included) with at least one item that is not gone, in order of their specs.
    fn sets(&self) -> Result<Vec<Arc<SetSpec>>, CatalogueError>;

    /// The number of items that are not deleted: of each set that has any, and of all together under the empty spec. Must
    /// not scan the items.
    fn live_counts(&self) -> Result<HashMap<String, u64>, CatalogueError>;
}

/// Records that were received as XML, and those that the formats of an archive are generated from.
pub trait Records {
    /// The item of that name with [`Detail::Stored`] or [`Detail::Record`]. With a format, it is deleted if it is gone in that format,
    /// and its datestamp is that of its record there.
    fn item_with(&self, name: &str, format: Option<&str>, detail: Detail) -> Result<Option<Item>, CatalogueError>;

    /// One piece of a large record; `None` if the record has changed meanwhile or there are no more.
    fn piece(&self, body: i64, place: i64) -> Result<Option<Vec<u8>>, CatalogueError>;

    /// The formats of stored records, in the order they were first met.
    fn formats(&self) -> Result<Vec<Arc<StoredFormat>>, CatalogueError>;
}

/// The kind of a catalogue, values under keys, and the names of sets.
pub trait Memory {
    /// The kind of the catalogue; `None` if nothing was ever written to it.
    fn kind(&self) -> Result<Option<CatalogueKind>, CatalogueError>;

    /// What [`MemoryWriter::set_memo`] was last given under this key.
    fn memo(&self, key: &str) -> Result<Option<Vec<u8>>, CatalogueError>;

    /// Sets that were given names ([`MemoryWriter::name_set`]).
    fn set_titles(&self) -> Result<Vec<SetTitle>, CatalogueError>;
}

/// The documents that an import compares its input with.
pub trait Imports {
    /// The documents of these names as the last import left them; `None` for an unknown name. Call it after
    /// [`Catalogue::writer`](super::Catalogue::writer), which migrates older catalogues.
    fn imported(&self, names: &[&str]) -> Result<Vec<Option<Imported>>, CatalogueError>;

    /// The names of documents from a source that are not deleted, beginning after `after`; at most `limit`, in byte order.
    /// Call it after [`Catalogue::writer`](super::Catalogue::writer).
    fn names_from(&self, source: u64, after: &str, limit: usize) -> Result<Vec<String>, CatalogueError>;

    /// Items that are gone, or that are not, with [`Detail::Record`], in the order of their numbers, beginning after the item
    /// numbered `after`; at most `limit`.
    fn described(&self, gone: bool, after: i64, limit: usize) -> Result<Vec<Item>, CatalogueError>;
}

/// Facts about items that are found out while they are served. Datestamps do not change.
pub trait Learner {
    /// Items that are not gone and of which something is not yet known, beginning after the item numbered `after`; at
    /// most `limit`, in order of their numbers.
    fn unread(&self, wanted: &Unread<'_>, after: i64, limit: usize) -> Result<Vec<Item>, CatalogueError>;

    /// Remembers facts about items, each only if the item still has that fingerprint. Facts are a cache: when the
    /// catalogue is busy they may be dropped, and that is not an error. Datestamps do not move.
    fn learn(&self, facts: &[Learned]) -> Result<(), CatalogueError>;

    /// The digests of a file of a document, by its path below the archive's directory of files, and the state that they are of.
    fn file_digests(&self, path: &str) -> Result<Option<(Fingerprint, Digests)>, CatalogueError>;

    /// Remembers the digests of one state of a file of a document, on the terms of [`learn`](Self::learn).
    fn learn_file(&self, path: &str, state: &Fingerprint, digests: &Digests) -> Result<(), CatalogueError>;

    /// Records durably for which audiences items were listed. Any process may call it, also while a
    /// [`Writer`](super::Writer) writes. Above the limit of audiences, only [`ListedFor::and_others`](crate::item::ListedFor::and_others) is recorded.
    fn record_audiences(&self, listed: &[Listing]) -> Result<(), CatalogueError>;
}

/// Changes of items.
pub trait Changes {
    /// Makes all these changes visible at once and durably, or none.
    ///
    /// While the catalogue is being filled for the first time ([`Standing::ready`] is false), an item's datestamp is
    /// its modification time, but never later than now. Afterwards every change is stamped with the moment it becomes
    /// visible, never earlier than any stamp or [`Standing::as_of`] before it.
    ///
    /// Returns the places of the changes that were left out, because the item is another source's (decision 009).
    fn apply(&mut self, changes: &[Change]) -> Result<Vec<usize>, CatalogueError>;

    /// How many items are not gone.
    fn live(&mut self) -> Result<u64, CatalogueError>;

    /// Declares the first filling complete: the catalogue becomes ready. Harmless when it already is.
    fn complete(&mut self) -> Result<(), CatalogueError>;
}

/// The items of a site or a crawl, for comparison with the files or pages that exist.
pub trait Inventory {
    /// Items that are not gone, whose names begin with `prefix` and are greater than `after` in byte order; at most
    /// `limit`, in byte order of their names.
    fn known(&mut self, prefix: &str, after: &str, limit: usize) -> Result<Vec<Known>, CatalogueError>;

    /// The items that are not gone and were last seen with one of these inodes, by inode. May take a pass over all items.
    fn names_of_inodes(&mut self, inodes: &BTreeSet<u64>) -> Result<Vec<(u64, String)>, CatalogueError>;

    /// The folders, by their names with a slash at the end, and the paths of mount points around added roots, that
    /// [`set_mounts`](Self::set_mounts) was last given.
    fn mounts(&mut self) -> Result<BTreeSet<String>, CatalogueError>;

    /// Remembers on which folders something is mounted, so that a later look, in whatever process, can tell a folder
    /// without its disk from an emptied one.
    fn set_mounts(&mut self, folders: &BTreeSet<String>) -> Result<(), CatalogueError>;
}

/// Changes of the kind, of values under keys, and of the names of sets.
pub trait MemoryWriter {
    /// Sets the kind of the catalogue permanently, or returns [`CatalogueError::OtherKind`] if it has another.
    fn claim(&mut self, kind: CatalogueKind) -> Result<(), CatalogueError>;

    /// What people call a set, and what belongs into it. Does not make it exist: that takes an item in it.
    fn name_set(&mut self, set: &SetSpec, title: &str, description: Option<&str>) -> Result<(), CatalogueError>;

    /// Remembers something under a key for whoever makes formats of records, or forgets it. The catalogue's
    /// [`Standing::revision`] moves.
    fn set_memo(&mut self, key: &str, value: Option<&[u8]>) -> Result<(), CatalogueError>;
}
