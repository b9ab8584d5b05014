//! What the provider asks its host.
//!
//! The provider never opens files by itself. It asks: would a plain GET of this resource by this requester return
//! exactly these bytes with status 200, and with which headers? The standalone server answers from its own static-file
//! rules, the Apache module by a full probe request. So nothing is ever listed that a GET would not give.
//!
//! A `Host` is made for one request and speaks for one requester.

use std::borrow::Cow;
use std::fs::File;
use std::io;

use crate::audience::Audience;
use crate::item::{Fingerprint, Item};

/// A site as one requester sees it.
pub trait Host {
    /// Whether the site can be asked at all: an unmounted document root is an outage, not a million deletions.
    fn ready(&self) -> io::Result<()> {
        Ok(())
    }

    /// Whether this requester may see every resource, so that counts need not look at each.
    fn sees_all(&self) -> bool;

    /// How many items may be asked about one by one merely to tell a number: as many as take no time worth mentioning.
    fn patience(&self) -> u64;

    /// A name for what this requester may see: two with the same name see the same. Asked only where not everything is
    /// seen.
    fn view(&self) -> String;

    /// Whether a GET of this item by this requester would return it. Asked for every item of every list, and also for
    /// tombstones, whose existence is as private as the resource was.
    fn sees(&self, item: &Item) -> io::Result<bool>;

    /// Whether a GET of this item by this requester, who sees it, returns another state of the file than the catalogue
    /// knows, or another file: what the catalogue says of it must then not be told.
    fn has_changed(&self, item: &Item) -> bool {
        let _ = item;
        false
    }

    /// Returns true if access rules can be deleted together with an item. Then the deletion of an item that was never public
    /// is reported to the audiences that the item was listed for (decision 016), and [`sees`](Self::sees) decides only where
    /// these were not recorded.
    fn has_audiences(&self) -> bool {
        false
    }

    /// The audiences to record when an item is listed for this requester. The secret is the key of their digests.
    fn audiences(&self, _item: &Item, _secret: &[u8; 32]) -> io::Result<Vec<Audience>> {
        Ok(Vec::new())
    }

    /// Returns true if this requester belongs to one of the audiences that an item was listed for.
    fn belongs_to(&self, _item: &Item, _secret: &[u8; 32]) -> io::Result<bool> {
        Ok(false)
    }

    /// What a GET of this item by this requester returns; `None` if that is not status 200 with a file's bytes.
    fn get(&self, item: &Item) -> io::Result<Option<Representation>>;
}

/// The host of a catalogue of records: there are no files, and everybody sees everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct CatalogueHost;

impl Host for CatalogueHost {
    fn sees_all(&self) -> bool {
        true
    }

    fn patience(&self) -> u64 {
        u64::MAX
    }

    fn view(&self) -> String {
        String::new()
    }

    fn sees(&self, _item: &Item) -> io::Result<bool> {
        Ok(true)
    }

    fn get(&self, _item: &Item) -> io::Result<Option<Representation>> {
        Ok(None)
    }
}

/// What a GET returns: headers and bytes that belong to one opening of one file.
#[derive(Debug)]
pub struct Representation {
    /// Every header of the response, hop-by-hop ones and Date aside, in the order they are sent.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The open file.
    pub file: File,
    /// The file's state when it was opened.
    pub fingerprint: Fingerprint,
}

impl Representation {
    /// The media type that its headers give, without parameters and in lower case.
    pub(crate) fn media_type(&self) -> Option<String> {
        let (_, value) = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("Content-Type"))?;
        value.split(';').next().map(|text| text.trim().to_ascii_lowercase())
    }
}
