//! The interface between the provider and the server of a site.
//!
//! The provider never opens files by itself. It queries the host: would a plain GET of this resource by this requester
//! return exactly these bytes with status 200, and with which headers? The standalone server applies its own
//! static-file rules, the Apache module runs a full internal request. A list therefore never contains a resource that a
//! GET would not return.
//!
//! A `Host` is created for one request and decides for the requester of this request.

use std::borrow::Cow;
use std::fs::File;
use std::io;

use crate::audience::Audience;
use crate::item::{Fingerprint, Item};

/// A site as one requester sees it.
pub trait Host {
    /// Returns an error if the site is unavailable: an unmounted document root is an outage, not a million deletions.
    fn ready(&self) -> io::Result<()> {
        Ok(())
    }

    /// Returns true if this requester may see every resource, so that counts need not check each item.
    fn sees_all(&self) -> bool;

    /// Returns the maximum number of items to check one by one for a count: as many as cause no noticeable delay.
    fn patience(&self) -> u64;

    /// Returns a name for the view of this requester: two requesters with the same name see the same items. Called only if
    /// [`sees_all`](Self::sees_all) returns false.
    fn view(&self) -> String;

    /// Returns true if a GET of this item by this requester would return it. Called for every item of every list, and also
    /// for tombstones, whose existence is as private as the resource was.
    fn sees(&self, item: &Item) -> io::Result<bool>;

    /// Returns true if a GET of this item by this requester, who sees it, returns another state of the file than the
    /// catalogue has, or another file: the catalogue's entry must then not be disclosed.
    fn has_changed(&self, item: &Item) -> bool {
        let _ = item;
        false
    }

    /// Returns true if access rules can be deleted together with an item. Then the deletion of an item that was never
    /// public is reported to the audiences that the item was listed for (decision 016), and [`sees`](Self::sees)
    /// decides only if these were not recorded.
    fn has_audiences(&self) -> bool {
        false
    }

    /// Returns the audiences to record when an item is listed for this requester. The secret is the key of their digests.
    fn audiences(&self, _item: &Item, _secret: &[u8; 32]) -> io::Result<Vec<Audience>> {
        Ok(Vec::new())
    }

    /// Returns true if this requester belongs to one of the audiences that an item was listed for.
    fn belongs_to(&self, _item: &Item, _secret: &[u8; 32]) -> io::Result<bool> {
        Ok(false)
    }

    /// Returns the response to a GET of this item by this requester; `None` if it is not status 200 with the bytes of a
    /// file.
    fn get(&self, item: &Item) -> io::Result<Option<Representation>>;
}

/// The host of a catalogue of records, which has no files, and whose items all requesters can see.
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

/// The response to a GET: headers and bytes that belong to one opening of one file.
#[derive(Debug)]
pub struct Representation {
    /// The headers of the response, except hop-by-hop headers and Date, in the order in which they are sent.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The open file.
    pub file: File,
    /// The file's state when it was opened.
    pub fingerprint: Fingerprint,
}

impl Representation {
    /// Returns the media type in the headers, without parameters and in lower case.
    pub(crate) fn media_type(&self) -> Option<String> {
        let (_, value) = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("Content-Type"))?;
        value.split(';').next().map(|text| text.trim().to_ascii_lowercase())
    }
}
