//! Changes of a catalogue, and the items that writers compare with their source.

use std::sync::Arc;

use modoai_protocol::{Datestamp, SetSpec};

use super::stored::{Packed, StoredFormat};
use crate::item::{Facts, Fingerprint, Publicity};

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

/// A document of an archive on its way into the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// The narrowest sets it belongs to. A tombstone keeps those it had.
    pub sets: Vec<Arc<SetSpec>>,
    /// When it last changed where it comes from; `None` if that is unknown.
    pub datestamp: Option<Datestamp>,
    /// What the import remembers of it; `None` leaves what is remembered.
    pub state: Option<ImportState>,
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

/// What an import remembers of a document, to recognise it in the next input.
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
    /// What the import remembers; `None` if something else has written it.
    pub state: Option<ImportState>,
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
