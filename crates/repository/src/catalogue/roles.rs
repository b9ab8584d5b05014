//! The roles of a catalogue: the traits that an engine implements, one for each kind of user.
//!
//! | trait | used by |
//! |---|---|
//! | [`Lists`] | responses |
//! | [`Records`] | responses with stored records |
//! | [`Memory`] | hosts that open a catalogue, and formats of archives |
//! | [`Imports`] | imports |
//! | [`Learner`] | background reading, and hosts that record audiences |
//! | [`Changes`] | all writers |
//! | [`Inventory`] | comparisons with a site or a crawl |
//! | [`MemoryWriter`] | all writers |
//!
//! Datestamps and [`Standing::as_of`](super::Standing::as_of) come from the clock of the engine, under its lock, and
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

/// Lists of items, and lookups of one item.
pub trait Lists {
    /// Returns the state of the catalogue. Call it *before* you read the content of a response.
    fn standing(&self) -> Result<Standing, CatalogueError>;

    /// Returns the selected items, ordered by (datestamp, number), beginning after `after`; at most `limit`. Tombstones
    /// are included. The cost is the same at any depth.
    fn page(&self, query: &PageQuery<'_>) -> Result<Vec<Item>, CatalogueError>;

    /// Returns the number of selected items, tombstones included. Must not scan the selection.
    fn count(&self, selection: Selected<'_>) -> Result<u64, CatalogueError>;

    /// Returns the item with that name, deleted or not.
    fn item(&self, name: &str) -> Result<Option<Item>, CatalogueError>;

    /// Returns the sets, wider ones included, with at least one item that is not deleted, in order of their specs.
    fn sets(&self) -> Result<Vec<Arc<SetSpec>>, CatalogueError>;

    /// Returns the number of items that are not deleted: for each set that has any, and for the whole catalogue under
    /// the empty spec. Must not scan the items.
    fn live_counts(&self) -> Result<HashMap<String, u64>, CatalogueError>;
}

/// Records that were received as XML, and those that the formats of an archive are generated from.
pub trait Records {
    /// Returns the item with that name and [`Detail::Stored`] or [`Detail::Record`]. With a format, its deletion and
    /// its datestamp are those of its record in that format.
    fn item_with(&self, name: &str, format: Option<&str>, detail: Detail) -> Result<Option<Item>, CatalogueError>;

    /// Returns one piece of a large record; `None` if the record has changed meanwhile or has no further pieces.
    fn piece(&self, body: i64, place: i64) -> Result<Option<Vec<u8>>, CatalogueError>;

    /// Returns the formats of stored records, in the order of their first use.
    fn formats(&self) -> Result<Vec<Arc<StoredFormat>>, CatalogueError>;
}

/// The kind of a catalogue, values under keys, and the names of sets.
pub trait Memory {
    /// Returns the kind of the catalogue; `None` if nothing was ever written to it.
    fn kind(&self) -> Result<Option<CatalogueKind>, CatalogueError>;

    /// Returns the last value of [`MemoryWriter::set_memo`] for this key.
    fn memo(&self, key: &str) -> Result<Option<Vec<u8>>, CatalogueError>;

    /// Returns the sets that have names ([`MemoryWriter::name_set`]).
    fn set_titles(&self) -> Result<Vec<SetTitle>, CatalogueError>;
}

/// The documents that an import compares its input with.
pub trait Imports {
    /// Returns the documents with these names as the last import left them; `None` for an unknown name. Call it after
    /// [`Catalogue::writer`](super::Catalogue::writer), which migrates older catalogues.
    fn imported(&self, names: &[&str]) -> Result<Vec<Option<Imported>>, CatalogueError>;

    /// Returns the names of documents from a source that are not deleted, beginning after `after`; at most `limit`, in
    /// byte order. Call it after [`Catalogue::writer`](super::Catalogue::writer).
    fn names_from(&self, source: u64, after: &str, limit: usize) -> Result<Vec<String>, CatalogueError>;

    /// Returns items with [`Detail::Record`], only deleted ones or only others, in the order of their numbers,
    /// beginning after the item with the number `after`; at most `limit`.
    fn described(&self, gone: bool, after: i64, limit: usize) -> Result<Vec<Item>, CatalogueError>;
}

/// Facts about items that are computed while the items are served. Datestamps do not change.
pub trait Learner {
    /// Returns items that are not deleted and lack a fact, beginning after the item with the number `after`; at most
    /// `limit`, in order of their numbers.
    fn unread(&self, wanted: &Unread<'_>, after: i64, limit: usize) -> Result<Vec<Item>, CatalogueError>;

    /// Stores facts about items, each only if the item still has that fingerprint. Facts are a cache: if the catalogue
    /// is busy, they may be dropped without an error. Datestamps do not change.
    fn learn(&self, facts: &[Learned]) -> Result<(), CatalogueError>;

    /// Returns the digests of a file of a document, by its path below the archive's directory of files, and the state
    /// of the file when they were computed.
    fn file_digests(&self, path: &str) -> Result<Option<(Fingerprint, Digests)>, CatalogueError>;

    /// Stores the digests of one state of a file of a document, under the conditions of [`learn`](Self::learn).
    fn learn_file(&self, path: &str, state: &Fingerprint, digests: &Digests) -> Result<(), CatalogueError>;

    /// Records durably the audiences that items were listed for. Any process may call it, even while a
    /// [`Writer`](super::Writer) writes. Above the limit of audiences, only
    /// [`ListedFor::and_others`](crate::item::ListedFor::and_others) is recorded.
    fn record_audiences(&self, listed: &[Listing]) -> Result<(), CatalogueError>;
}

/// Changes of items.
pub trait Changes {
    /// Applies all these changes, visibly and durably, in one step; or none of them.
    ///
    /// During the first filling of the catalogue ([`Standing::ready`] is false), the datestamp of an item is its
    /// modification time, but never later than now. Afterwards each change is stamped with the moment at which it
    /// becomes visible, never earlier than any stamp or [`Standing::as_of`] before it.
    ///
    /// Returns the indexes of the changes that were ignored because the item belongs to another source (decision 009).
    fn apply(&mut self, changes: &[Change]) -> Result<Vec<usize>, CatalogueError>;

    /// Returns the number of items that are not deleted.
    fn live(&mut self) -> Result<u64, CatalogueError>;

    /// Ends the first filling: the catalogue becomes ready. Does nothing if it already is.
    fn complete(&mut self) -> Result<(), CatalogueError>;
}

/// The items of a site or a crawl, for comparison with the files or pages that exist.
pub trait Inventory {
    /// Returns items that are not deleted, whose names begin with `prefix` and are greater than `after` in byte order;
    /// at most `limit`, in byte order of their names.
    fn known(&mut self, prefix: &str, after: &str, limit: usize) -> Result<Vec<Known>, CatalogueError>;

    /// Returns the items that are not deleted and were last seen with one of these inodes, by inode. May scan all
    /// items.
    fn names_of_inodes(&mut self, inodes: &BTreeSet<u64>) -> Result<Vec<(u64, String)>, CatalogueError>;

    /// Returns the last value of [`set_mounts`](Self::set_mounts): the directories, by their names with a slash at the
    /// end, and the paths of mount points around added roots.
    fn mounts(&mut self) -> Result<BTreeSet<String>, CatalogueError>;

    /// Stores the directories that are mount points, so that a later scan, in any process, can distinguish a directory
    /// whose disk is not mounted from an emptied one.
    fn set_mounts(&mut self, folders: &BTreeSet<String>) -> Result<(), CatalogueError>;
}

/// Changes of the kind, of values under keys, and of the names of sets.
pub trait MemoryWriter {
    /// Sets the kind of the catalogue permanently, or returns [`CatalogueError::OtherKind`] if it has another.
    fn claim(&mut self, kind: CatalogueKind) -> Result<(), CatalogueError>;

    /// Sets the name and the description of a set. A set is listed only if it has an item.
    fn name_set(&mut self, set: &SetSpec, title: &str, description: Option<&str>) -> Result<(), CatalogueError>;

    /// Stores a value under a key for the code that generates formats, or removes it. [`Standing::revision`] grows.
    fn set_memo(&mut self, key: &str, value: Option<&[u8]>) -> Result<(), CatalogueError>;
}
