//! Which sets requesters see who do not see everything.
//!
//! Finding that out takes looking for a visible item in every set, and where much is hidden that is long. So it is
//! remembered for every view there is, until the catalogue changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use modoai_protocol::{Datestamp, Range, SetSpec};

use crate::catalogue::{Detail, PageQuery, Selected};
use crate::error::Failure;
use crate::repository::Visit;

/// Views remembered; there are few combinations of areas that people have passwords for.
const MOST_VIEWS: usize = 100;

/// Items asked for at once while looking for a visible one.
const CHUNK: usize = 500;

/// A set is worth so many times the patience that a number is worth.
const WORTH: u64 = 10;

/// What has been found out.
#[derive(Debug, Default)]
pub(crate) struct SetsSeen(Mutex<Views>);

/// Sets by the name of a view, with the newest datestamp when they were found.
type Views = HashMap<String, (Datestamp, Vec<Arc<SetSpec>>)>;

impl SetsSeen {
    /// The sets in which the visitor sees at least one item.
    pub(crate) fn of(&self, visit: &Visit<'_>) -> Result<Vec<Arc<SetSpec>>, Failure> {
        // Every change from now on is stamped at or after `as_of`: if the newest is older, it will not stay the newest.
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

/// Where very much is hidden the rest is taken for visible: a set that turns out to be empty does no harm, and one that
/// is left out would hide what is in it.
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
