//! The sets that are visible to requesters with limited access.
//!
//! Determining them requires a search for a visible item in every set, which takes long if many items are hidden. So
//! the result is cached for every view, until the catalogue changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use modoai_protocol::{Datestamp, Range, SetSpec};

use crate::catalogue::{Detail, PageQuery, Selected};
use crate::error::Failure;
use crate::repository::Visit;

/// The maximum number of cached views; sites have few combinations of protected areas.
const MOST_VIEWS: usize = 100;

/// The number of items per query in the search for a visible one.
const CHUNK: usize = 500;

/// The limit for a set, as a multiple of the limit for counting items.
const WORTH: u64 = 10;

/// The cached results.
#[derive(Debug, Default)]
pub(crate) struct SetsSeen(Mutex<Views>);

/// Sets by the name of a view, with the newest datestamp at the time of the search.
type Views = HashMap<String, (Datestamp, Vec<Arc<SetSpec>>)>;

impl SetsSeen {
    /// Returns the sets in which the requester sees at least one item.
    pub(crate) fn of(&self, visit: &Visit<'_>) -> Result<Vec<Arc<SetSpec>>, Failure> {
        // Every later change is stamped at or after `as_of`: if the newest datestamp is older, it will not stay the
        // newest.
        let tellable = visit.standing.newest.filter(|newest| *newest < visit.standing.as_of);
        let Some(newest) = tellable else { return find(visit) };
        let view = visit.host.view();
        if let Some((known_at, sets)) = self.lock().get(&view)
            && *known_at == newest
        {
            return Ok(sets.clone());
        }
        let sets = find(visit)?;
        let mut views = self.lock();
        if views.len() >= MOST_VIEWS {
            views.clear();
        }
        views.insert(view, (newest, sets.clone()));
        Ok(sets)
    }

    fn lock(&self) -> MutexGuard<'_, Views> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find(visit: &Visit<'_>) -> Result<Vec<Arc<SetSpec>>, Failure> {
    let mut seen = Vec::new();
    for set in visit.repository.catalogue.sets()? {
        if has_visible_item(visit, &set)? {
            seen.push(set);
        }
    }
    Ok(seen)
}

/// Returns true if the set has a visible item. After many hidden items, the rest is assumed to be visible: listing an
/// empty set does no harm, but omitting a set would hide its items.
fn has_visible_item(visit: &Visit<'_>, set: &SetSpec) -> Result<bool, Failure> {
    let mut after = None;
    let mut looked_at = 0;
    while looked_at / WORTH <= visit.host.patience() {
        let selection = Selected { format: None, set: Some(set), range: Range::ALL };
        let query = PageQuery { selection, after, limit: CHUNK, detail: Detail::Header };
        let items = visit.repository.catalogue.page(&query)?;
        for item in &items {
            if !item.deleted && visit.host.sees(item)? {
                return Ok(true);
            }
        }
        looked_at += items.len() as u64;
        match items.last() {
            Some(last) if items.len() == CHUNK => after = Some((last.datestamp, last.number)),
            _ => return Ok(false),
        }
    }
    Ok(true)
}
