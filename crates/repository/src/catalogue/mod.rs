//! The catalogue: what the site holds, what it held, and when that changed.
//!
//! Its items are files of a site ([`Change::Put`]), which are described when they are asked for, records that came as
//! XML ([`Change::Store`]), in one or more formats, or documents of an archive ([`Change::Describe`]), whose formats are
//! made of one record.
//!
//! One trait, so that nothing above it knows which engine is below. Three promises matter more than speed:
//!
//! 1. **A change never hides.** The datestamp of a change is not earlier than any [`Standing::as_of`] handed out before
//!    the change became visible, whatever the clock does. A harvester that next asks from that moment on misses nothing.
//! 2. **Deletions are remembered for ever.** A tombstone keeps its name, sets and datestamp.
//! 3. **A page costs the same at any depth**, also when a million items share one datestamp.
//!
//! Both traits are synchronous: httpd's threads call them directly, the standalone server from blocking threads.

pub mod location;
pub mod sqlite;
pub mod stored;

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use modoai_protocol::{Datestamp, Range, SetSpec};

use self::stored::{Packed, StoredFormat};
use crate::audience::Listing;
use crate::item::{Digests, Facts, Fingerprint, Item, Publicity};

/// Tells the time. Passed in, so that tests can step it backwards.
pub type Clock = Arc<dyn Fn() -> Datestamp + Send + Sync>;

/// The machine's clock.
pub fn system_clock() -> Clock {
    Arc::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Datestamp::from_unix(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    })
}

/// Reading. Any number of threads and processes at once, also while a [`Writer`] writes.
pub trait Catalogue: Send + Sync {
    /// Where the catalogue stands now. Ask this *before* reading what an answer is made of.
    fn standing(&self) -> Result<Standing, CatalogueError>;

    /// The items selected, ordered by (datestamp, number), beginning after `after`; at most `limit`. Tombstones are
    /// items like any other. Costs the same at any depth.
    fn page(&self, query: &PageQuery<'_>) -> Result<Vec<Item>, CatalogueError>;

    /// How many items (tombstones included) a selection holds. Must not scan the selection.
    fn count(&self, selection: Selected<'_>) -> Result<u64, CatalogueError>;

    /// The item of that name, present or gone.
    fn item(&self, name: &str) -> Result<Option<Item>, CatalogueError>;

    /// The same with [`Detail::Stored`] or [`Detail::Record`]. With a format, it is deleted if it is gone in that format,
    /// and its datestamp is that of its record there.
    fn item_with(&self, name: &str, format: Option<&str>, detail: Detail) -> Result<Option<Item>, CatalogueError>;

    /// What the items of these names were last made of; `None` for a name that was never met.
    fn states(&self, names: &[&str]) -> Result<Vec<Option<State>>, CatalogueError>;

    /// Items that are gone, or that are not, with [`Detail::Record`] and their states, in the order of their numbers,
    /// beginning after the item numbered `after`; at most `limit`.
    fn described(&self, gone: bool, after: i64, limit: usize) -> Result<Vec<Item>, CatalogueError>;

    /// What [`Writer::set_memo`] was last given under this key.
    fn memo(&self, key: &str) -> Result<Option<Vec<u8>>, CatalogueError>;

    /// One piece of a large record; `None` if the record has changed meanwhile or there are no more.
    fn piece(&self, body: i64, place: i64) -> Result<Option<Vec<u8>>, CatalogueError>;

    /// The formats of stored records, in the order they were first met.
    fn formats(&self) -> Result<Vec<Arc<StoredFormat>>, CatalogueError>;

    /// Sets that were given names ([`Writer::name_set`]).
    fn set_titles(&self) -> Result<Vec<SetTitle>, CatalogueError>;

    /// Sets (wider ones included) with at least one item that is not gone, in order of their specs.
    fn sets(&self) -> Result<Vec<Arc<SetSpec>>, CatalogueError>;

    /// The number of items that are not deleted: of each set that has any, and of all together under the empty spec. Must
    /// not scan the items.
    fn live_counts(&self) -> Result<HashMap<String, u64>, CatalogueError>;

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

    /// Records durably for which audiences items were listed. Any process may call it, also while a [`Writer`] writes. Above
    /// the limit of audiences, only [`ListedFor::and_others`](crate::item::ListedFor::and_others) is recorded.
    fn record_audiences(&self, listed: &[Listing]) -> Result<(), CatalogueError>;

    /// The one who may write. A second writer, in whatever process, gets [`CatalogueError::Locked`].
    fn writer(&self) -> Result<Box<dyn Writer>, CatalogueError>;
}

/// Writing: one writer at a time.
pub trait Writer: Send {
    /// Items that are not gone, whose names begin with `prefix` and are greater than `after` in byte order; at most
    /// `limit`, in byte order of their names.
    fn known(&mut self, prefix: &str, after: &str, limit: usize) -> Result<Vec<Known>, CatalogueError>;

    /// The items that are not gone and were last seen with one of these inodes, by inode. May take a pass over all items.
    fn names_of_inodes(&mut self, inodes: &BTreeSet<u64>) -> Result<Vec<(u64, String)>, CatalogueError>;

    /// How many items are not gone.
    fn live(&mut self) -> Result<u64, CatalogueError>;

    /// Makes all these changes visible at once and durably, or none.
    ///
    /// While the catalogue is being filled for the first time ([`Standing::ready`] is false), an item's datestamp is
    /// its modification time, but never later than now. Afterwards every change is stamped with the moment it becomes
    /// visible, never earlier than any stamp or [`Standing::as_of`] before it.
    ///
    /// Returns the places of the changes that were left out, because the item is another source's (decision 009).
    fn apply(&mut self, changes: &[Change]) -> Result<Vec<usize>, CatalogueError>;

    /// What people call a set, and what belongs into it. Does not make it exist: that takes an item in it.
    fn name_set(&mut self, set: &SetSpec, title: &str, description: Option<&str>) -> Result<(), CatalogueError>;

    /// Remembers something under a key for whoever makes formats of records, or forgets it. The catalogue's
    /// [`Standing::revision`] moves.
    fn set_memo(&mut self, key: &str, value: Option<&[u8]>) -> Result<(), CatalogueError>;

    /// Declares the first filling complete: the catalogue becomes ready. Harmless when it already is.
    fn complete(&mut self) -> Result<(), CatalogueError>;

    /// The folders, by their names with a slash at the end, and the paths of mount points around added roots, that
    /// [`set_mounts`](Self::set_mounts) was last given.
    fn mounts(&mut self) -> Result<BTreeSet<String>, CatalogueError>;

    /// Remembers on which folders something is mounted, so that a later look, in whatever process, can tell a folder
    /// without its disk from an emptied one.
    fn set_mounts(&mut self, folders: &BTreeSet<String>) -> Result<(), CatalogueError>;
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

/// Where a catalogue stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// A random number given at birth: item numbers mean nothing in another catalogue.
    pub epoch: u64,
    /// A secret given at birth, from which tokens are sealed.
    pub secret: [u8; 32],
    /// Grows when a memo changes ([`Writer::set_memo`]): whoever made something of one looks again.
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

/// What the catalogue believes about an item, for comparison with what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The item's number.
    pub number: i64,
    /// The item's name.
    pub name: String,
    /// Its media type.
    pub media_type: Arc<str>,
    /// The narrowest sets it belongs to.
    pub sets: Arc<[Arc<SetSpec>]>,
    /// Whether its existence is a secret.
    pub publicity: Publicity,
    /// Its last known state.
    pub fingerprint: Fingerprint,
    /// What is known of that state.
    pub facts: Facts,
}

/// One difference between the site and the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// An item is new, changed, or back. Facts are kept if they are about the fingerprint it has
    /// now; a title only if the media type is the same.
    Put {
        /// Its name.
        name: String,
        /// Its state.
        fingerprint: Fingerprint,
        /// Its media type without parameters.
        media_type: Arc<str>,
        /// The narrowest sets it belongs to.
        sets: Vec<Arc<SetSpec>>,
        /// Whether its existence is a secret.
        publicity: Publicity,
    },
    /// An item has a record, or has none any more, in one format. What it has in other formats stays, and is stamped only
    /// if the item is in other sets now: each format has a datestamp of its own. A record that is there already, by its
    /// digest and in the same sets, is not stamped. The first set of an item is whose it is: as
    /// long as the item is not gone, changes by others are ignored, so that two who both have it do not take turns.
    Store {
        /// Its name.
        name: String,
        /// The narrowest sets it belongs to. A tombstone keeps those it had.
        sets: Vec<Arc<SetSpec>>,
        /// The format of the record.
        format: Arc<StoredFormat>,
        /// The record; `None` if it is gone. That something is gone which never was here is remembered, too.
        record: Option<Packed>,
    },
    /// A document of an archive is new, changed, or back; or gone, and remembered as such even if it never was here. One
    /// that is as it was, by the digest of its record, its sets and its formats, is not stamped; what it was made of is
    /// remembered. While the catalogue is filled for the first time, the datestamp is the one that is given.
    Describe(Box<Description>),
    /// An item has a new fingerprint but the same bytes: remembered, not stamped. Facts are kept.
    Same {
        /// Its number.
        number: i64,
        /// Its state.
        fingerprint: Fingerprint,
    },
    /// An item is gone. Deleting what is not there or already gone changes nothing.
    Delete {
        /// Its name.
        name: String,
    },
}

impl Change {
    /// The name of the item it is about, or nothing where only its number is known.
    pub fn name(&self) -> &str {
        match self {
            Self::Put { name, .. } | Self::Store { name, .. } | Self::Delete { name } => name,
            Self::Describe(description) => &description.name,
            Self::Same { .. } => "",
        }
    }
}

/// The memo that makes a catalogue that of an archive: on what terms its records are served.
pub const ARCHIVE_TERMS: &str = "archive";

/// A document of an archive on its way into the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// The narrowest sets it belongs to. A tombstone keeps those it had.
    pub sets: Vec<Arc<SetSpec>>,
    /// When it last changed where it comes from.
    pub datestamp: Datestamp,
    /// What it was made of, in whatever way the importer uses the numbers.
    pub state: Fingerprint,
    /// The record that its formats are made of; `None` if it is gone.
    pub record: Option<Packed>,
    /// The formats that not every item has, and this one does: each with what is stored in it, or with nothing if it is
    /// made of the record, too.
    pub forms: Vec<(Arc<StoredFormat>, Option<Packed>)>,
    /// Formats that it could have and does not: it is gone in them, whether or not it ever had them.
    pub gone_in: Vec<Arc<StoredFormat>>,
    /// Formats that every item has by now: it is on no list of theirs any more.
    pub unlisted: Vec<Arc<StoredFormat>>,
    /// Whether it is stamped.
    pub restamp: Restamp,
}

impl Description {
    /// Everything that is to be stored.
    pub fn bodies(&self) -> impl Iterator<Item = &Packed> {
        self.record.iter().chain(self.forms.iter().filter_map(|(_, body)| body.as_ref()))
    }
}

/// When a document that is there already is stamped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restamp {
    /// If it was gone, if its sets or formats change, or if what is stored of it does, by digest.
    #[default]
    IfChanged,
    /// Not even if something changes: to harvesters it is the same as before.
    Never,
    /// In any case: something else that its formats are made of has changed.
    Always,
}

/// What an item was last made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The item's number.
    pub number: i64,
    /// Whether it is gone.
    pub deleted: bool,
    /// As the importer gave it.
    pub state: Fingerprint,
}

/// Facts about one state of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The item's number.
    pub number: i64,
    /// The state the facts are about.
    pub fingerprint: Fingerprint,
    /// What was found out; `None` leaves what is known.
    pub facts: Facts,
}

/// Why the catalogue could not do it.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// Another process writes.
    #[error("the catalogue {place} is being written by another process")]
    Locked {
        /// Which catalogue.
        place: String,
    },
    /// The engine failed.
    #[error("failed to {activity} in the catalogue {place}")]
    Engine {
        /// Which catalogue.
        place: String,
        /// What was being done.
        activity: &'static str,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file is not a catalogue, or one from a newer version.
    #[error("{place} is not a catalogue that this version can read: {reason}")]
    Foreign {
        /// Which file.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
}
