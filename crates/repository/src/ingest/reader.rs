//! Titles, read when there is nothing else to do.
//!
//! A first index reads no files, so that it is fast; the first harvester of `oai_dc` would then wait for every HTML page to
//! be opened. So the titles are read meanwhile, a few at a time. Digests are not: they take the whole of every file, and
//! are worth that only when someone asks.

use std::sync::Arc;

use crate::catalogue::{Catalogue, Learned};
use crate::item::{Facts, Item};
use crate::site::{Site, title};

/// Pages read in one go: some tens of milliseconds.
const SOME: usize = 1_000;

/// Reads titles of what is in the catalogue, once through.
pub(super) struct Reader {
    site: Arc<Site>,
    catalogue: Arc<dyn Catalogue>,
    /// The last item looked at; none when all have been.
    after: Option<i64>,
}

impl Reader {
    pub(super) fn new(site: Arc<Site>, catalogue: Arc<dyn Catalogue>) -> Self {
        Self { site, catalogue, after: Some(i64::MIN) }
    }

    /// Reads some titles; false if there are none left. What cannot be read or remembered now is left to whoever needs it.
    pub(super) fn read_some(&mut self) -> bool {
        let Some(after) = self.after else { return false };
        let items = self.catalogue.untitled(title::MEDIA_TYPES, after, SOME).unwrap_or_default();
        let learned: Vec<Learned> = items.iter().filter_map(|item| self.title_of(item)).collect();
        if let Err(error) = self.catalogue.learn(&learned) {
            tracing::debug!(%error, "titles could not be remembered");
        }
        self.after = items.last().map(|item| item.number);
        self.after.is_some()
    }

    fn title_of(&self, item: &Item) -> Option<Learned> {
        let representation = self.site.get(&item.name).ok()??;
        let title = title::of(&representation.file).ok()?;
        let facts = Facts { title: Some(title), digests: None };
        Some(Learned { number: item.number, fingerprint: representation.fingerprint, facts })
    }
}
