//! Changes of a catalogue, and the items that writers compare with their source.

use std::sync::Arc;

use modoai_protocol::{Datestamp, SetSpec};

use super::stored::{Packed, StoredFormat};
use crate::item::{Facts, Fingerprint, Publicity};

/// One difference between the site and the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// An item is new, changed, or restored. Facts are kept if they are about its current fingerprint; a title only if
    /// the media type is the same.
    Put {
        /// Its name.
        name: String,
        /// Its state.
        fingerprint: Fingerprint,
        /// Its media type without parameters.
        media_type: Arc<str>,
        /// The narrowest sets it belongs to.
        sets: Vec<Arc<SetSpec>>,
        /// The visibility of the item to clients.
        publicity: Publicity,
    },
    /// An item has a record in one format, or no longer has one. Its records in other formats stay. They are stamped
    /// only if the sets of the item have changed, because each format has a separate datestamp. A record with the same
    /// digest and the same sets as the stored one is not stamped. The first set of an item identifies its source: until
    /// the item is deleted, changes by other sources are ignored, so that two sources with the same item do not
    /// overwrite each other.
    Store {
        /// Its name.
        name: String,
        /// The narrowest sets it belongs to. A tombstone keeps those it had.
        sets: Vec<Arc<SetSpec>>,
        /// The format of the record.
        format: Arc<StoredFormat>,
        /// The record; `None` if it is deleted. The deletion of an unknown record is remembered, too.
        record: Option<Packed>,
    },
    /// A document of an archive is new, changed, restored, or deleted. The deletion of an unknown document is
    /// remembered, too. A document whose record (by its digest), sets and formats are the stored ones is not stamped;
    /// its import state is remembered. During the first filling of the catalogue, the datestamp is the given one.
    Describe(Box<Description>),
    /// An item has a new fingerprint but the same bytes: remembered, not stamped. Facts are kept.
    Same {
        /// Its number.
        number: i64,
        /// Its state.
        fingerprint: Fingerprint,
    },
    /// An item is deleted. The deletion of an unknown or deleted item changes nothing.
    Delete {
        /// Its name.
        name: String,
    },
}

impl Change {
    /// Returns the name of the item; `None` if only its number is known.
    pub fn name(&self) -> &str {
        match self {
            Self::Put { name, .. } | Self::Store { name, .. } | Self::Delete { name } => name,
            Self::Describe(description) => &description.name,
            Self::Same { .. } => "",
        }
    }
}

/// A document of an archive to be stored in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// The narrowest sets it belongs to. A tombstone keeps those it had.
    pub sets: Vec<Arc<SetSpec>>,
    /// The date of its last change at its source; `None` if it is unknown.
    pub datestamp: Option<Datestamp>,
    /// The state that the import remembers; `None` keeps the stored state.
    pub state: Option<ImportState>,
    /// The record that its formats are generated from; `None` if the document is deleted.
    pub record: Option<Packed>,
    /// The formats of this document that not every item has, each with its stored record; `None` if the format is
    /// generated from the document's record, too.
    pub forms: Vec<(Arc<StoredFormat>, Option<Packed>)>,
    /// Formats that the document could have and does not have: it is reported as deleted in them, even if it never had
    /// them.
    pub gone_in: Vec<Arc<StoredFormat>>,
    /// Formats that every item now has: the document is removed from their lists.
    pub unlisted: Vec<Arc<StoredFormat>>,
    /// The rule for its datestamp.
    pub restamp: Restamp,
}

impl Description {
    /// Returns all records to be stored.
    pub fn bodies(&self) -> impl Iterator<Item = &Packed> {
        self.record.iter().chain(self.forms.iter().filter_map(|(_, body)| body.as_ref()))
    }
}

/// The rule for a new datestamp of a known document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restamp {
    /// Stamped if it was deleted, or if its sets, its formats or, by digest, its stored records change.
    #[default]
    IfChanged,
    /// Not stamped, even if something changes: for harvesters, it is the same.
    Never,
    /// Always stamped: another input of its formats has changed.
    Always,
}

/// The state of a document that an import remembers, to recognise the document in the next input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportState {
    /// Hash of the name of the source that it is from.
    pub source: u64,
    /// Hash of the entry that it was made of, and of the way in which that was read.
    pub entry: u64,
    /// True if it also depends on files, so that its entry is read in every import.
    pub reads_files: bool,
}

/// A document as the last import left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// True if it is deleted.
    pub deleted: bool,
    /// The state that the import remembers; `None` if another kind of writer stored the document.
    pub state: Option<ImportState>,
}

/// The catalogue's entry for an item, for comparison with the current file or page.
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
    /// The visibility of the item to clients.
    pub publicity: Publicity,
    /// Its last known state.
    pub fingerprint: Fingerprint,
    /// The known facts about that state.
    pub facts: Facts,
}

/// Facts about one state of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The item's number.
    pub number: i64,
    /// The state the facts are about.
    pub fingerprint: Fingerprint,
    /// The new facts; `None` keeps the stored value.
    pub facts: Facts,
}
