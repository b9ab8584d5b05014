//! Titles and digests, read when there is nothing else to do.
//!
//! A first index reads no files, so that it is fast. The first harvester would then wait for every page to be opened and
//! every file to be hashed; and as long as digests are not known, a change of permissions cannot be told from a change of
//! bytes. So files are read meanwhile, a little at a time.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalogue::{Catalogue, Learned, Unread};
use crate::formats::steady::digests_of;
use crate::item::{Facts, Item};
use crate::site::folder::fingerprint_of;
use crate::site::{Site, title};

/// One go takes about so long, unless a single file takes longer.
const SLICE: Duration = Duration::from_millis(50);

/// Items asked for at once: more than one go can read.
const ITEMS: usize = 2_000;

/// Reads what is not yet known of the items in a catalogue.
pub(super) struct Reader {
    site: Arc<Site>,
    catalogue: Arc<dyn Catalogue>,
    /// Files up to this size are hashed.
    digests_up_to: u64,
    /// The last item looked at; none when all have been.
    after: Option<i64>,
}

impl Reader {
    pub(super) fn new(site: Arc<Site>, catalogue: Arc<dyn Catalogue>, digests_up_to: u64) -> Self {
        Self { site, catalogue, digests_up_to, after: None }
    }

    /// Begins anew: there may be items not looked at yet.
    pub(super) fn rewind(&mut self) {
        self.after = Some(i64::MIN);
    }

    /// Reads some files; false if there are none left. What cannot be read or remembered now is left to whoever needs it.
    pub(super) fn read_some(&mut self) -> bool {
        let Some(after) = self.after else { return false };
        let start = Instant::now();
        let wanted = Unread { titles_of: title::MEDIA_TYPES, digests_up_to: self.digests_up_to };
        let items = self.catalogue.unread(&wanted, after, ITEMS).unwrap_or_default();
        self.after = None;
        let mut learned = Vec::new();
        for item in &items {
            learned.extend(self.read(item).ok().flatten());
            self.after = Some(item.number);
            if start.elapsed() > SLICE {
                break;
            }
        }
        if let Err(error) = self.catalogue.learn(&learned) {
            tracing::debug!(%error, "what was read could not be remembered");
        }
        self.after.is_some()
    }

    fn read(&self, item: &Item) -> io::Result<Option<Learned>> {
        let Some(mut representation) = self.site.get(&item.name)? else { return Ok(None) };
        let fingerprint = representation.fingerprint;
        // What is being written to would be read for nothing.
        if fingerprint != item.fingerprint || fingerprint.is_fresh() {
            return Ok(None);
        }
        let facts = self.facts(item, &mut representation.file)?;
        let held_still = fingerprint_of(&representation.file)? == fingerprint;
        Ok(held_still.then_some(Learned { number: item.number, fingerprint, facts }))
    }

    fn facts(&self, item: &Item, file: &mut File) -> io::Result<Facts> {
        let title = if title::is_in(&item.media_type) { Some(title::of(file)?) } else { None };
        let digests = if item.fingerprint.size <= self.digests_up_to { Some(digests_of(file)?) } else { None };
        Ok(Facts { title, digests })
    }
}
