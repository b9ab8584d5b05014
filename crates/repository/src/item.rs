//! What the catalogue remembers about one resource of a site.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use modoai_protocol::{Datestamp, SetSpec};

use crate::audience::Audience;
use crate::catalogue::stored::{Body, Holding};

/// One resource, present or gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its number in the catalogue: never reused, and the same for as long as the catalogue lives.
    pub number: i64,
    /// Its identifier without the part all identifiers share: for a site, the percent-encoded path below the root.
    pub name: String,
    /// When it last changed, as the catalogue saw it.
    pub datestamp: Datestamp,
    /// Whether it is gone. A tombstone keeps its name, sets and datestamp.
    pub deleted: bool,
    /// Whether its existence is a secret.
    pub publicity: Publicity,
    /// The audiences it was listed for while it was not public.
    pub listed_for: ListedFor,
    /// The narrowest sets it belongs to; wider ones follow from these.
    pub sets: Arc<[Arc<SetSpec>]>,
    /// Its media type without parameters, such as `text/html`.
    pub media_type: Arc<str>,
    /// Which state of the file this describes.
    pub fingerprint: Fingerprint,
    /// What has been read out of that state so far.
    pub facts: Facts,
    /// The formats it has, or had, stored records in. None for a file, which is described when it is asked for.
    pub formats: Arc<[Holding]>,
    /// Its stored record in the format that was asked for.
    pub body: Option<Body>,
}

/// Whether everybody could GET a resource, as far as anyone has found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Publicity {
    /// Nobody has, or it never could be had by everybody: only the host can tell who may know of it.
    #[default]
    Untold,
    /// Everybody could at the last look. That it was there is no secret when it is gone.
    Public,
    /// Everybody could once, and at the last look no longer. To whoever cannot GET it now, it is deleted.
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

/// One state of a file. Two equal fingerprints of the same path mean the same bytes: the inode's change time cannot be
/// set by programs, so `cp -p`, `touch -d` and `rsync -a` do not deceive it.
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

/// Kernels stamp changes with the time of their last clock tick, so two writes within a tick look like one. A state older
/// than this is told apart from every later one.
pub const TICK: Duration = Duration::from_millis(20);

impl Fingerprint {
    /// Whether the file changed so recently that it could change again and look the same.
    pub fn is_fresh(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = u64::try_from(self.changed).map(Duration::from_nanos).unwrap_or_default();
        now.checked_sub(changed).is_some_and(|age| age < TICK)
    }

    /// The modification time in whole seconds.
    pub fn modified_at(&self) -> Datestamp {
        Datestamp::from_unix(self.modified.div_euclid(1_000_000_000))
    }
}

/// What takes reading a file to know. It is found out when it is first needed, and then remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The title the file carries; empty if it was looked for and there is none.
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
