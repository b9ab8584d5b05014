//! The catalogue's entry for one resource of a site.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use modoai_protocol::{Datestamp, SetSpec};

use crate::audience::Audience;
use crate::catalogue::stored::{Body, Holding};

/// One resource, deleted or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The number of the item in the catalogue. It is never reused, and never changes during the lifetime of the
    /// catalogue.
    pub number: i64,
    /// The identifier without the prefix that all identifiers share: for a site, the percent-encoded path below the
    /// root.
    pub name: String,
    /// The date of its last change, as recorded by the catalogue.
    pub datestamp: Datestamp,
    /// True if it is deleted. A tombstone keeps its name, sets and datestamp.
    pub deleted: bool,
    /// The result of checking whether anonymous clients can GET it.
    pub publicity: Publicity,
    /// The audiences it was listed for while it was not public.
    pub listed_for: ListedFor,
    /// The narrowest sets it belongs to; wider ones follow from these.
    pub sets: Arc<[Arc<SetSpec>]>,
    /// Its media type without parameters, such as `text/html`.
    pub media_type: Arc<str>,
    /// The state of the file that this entry describes.
    pub fingerprint: Fingerprint,
    /// The known facts about that state.
    pub facts: Facts,
    /// The formats of its stored records, deleted ones included. Empty for a file, whose records are generated on
    /// request.
    pub formats: Arc<[Holding]>,
    /// Its stored record in the requested format.
    pub body: Option<Body>,
}

/// The result of checking whether anonymous clients can GET a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Publicity {
    /// No check has found it public. Only the host can decide which requesters may know of it.
    #[default]
    Untold,
    /// It was public at the last check. If it is deleted, the deletion is reported to every requester.
    Public,
    /// It was public once, but not at the last check. It is reported as deleted to requesters that cannot GET it now.
    Withdrawn,
}

/// The audiences that an item was listed for (decision 016).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedFor {
    /// The recorded audiences.
    pub audiences: Arc<[Arc<Audience>]>,
    /// True if there may be others: the catalogue had the item before it recorded audiences, or the limit was reached.
    pub and_others: bool,
}

/// One state of a file. Two equal fingerprints of the same path mean the same bytes: programs cannot set the change
/// time of the inode, so `cp -p`, `touch -d` and `rsync -a` cannot hide a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Length in bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970.
    pub modified: i64,
    /// Change time of the inode, nanoseconds since 1970.
    pub changed: i64,
    /// Inode number.
    pub inode: u64,
}

/// Kernels record changes with the time of their last clock tick, so two writes within one tick cannot be
/// distinguished. A state older than this is distinguishable from every later one.
pub const TICK: Duration = Duration::from_millis(20);

impl Fingerprint {
    /// Returns true if the file changed so recently that a further change could leave the fingerprint the same.
    pub fn is_fresh(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = u64::try_from(self.changed).map(Duration::from_nanos).unwrap_or_default();
        now.checked_sub(changed).is_some_and(|age| age < TICK)
    }

    /// Returns the modification time in whole seconds.
    pub fn modified_at(&self) -> Datestamp {
        Datestamp::from_unix(self.modified.div_euclid(1_000_000_000))
    }
}

/// Facts that require reading the file. They are computed when they are first needed, and then stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The title in the file; empty if the file has no title.
    pub title: Option<String>,
    /// Its digests.
    pub digests: Option<Digests>,
}

/// Digests of a file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digests {
    /// SHA-256.
    pub sha256: [u8; 32],
    /// MD5, for the many archives whose inventories still use it.
    pub md5: [u8; 16],
}
