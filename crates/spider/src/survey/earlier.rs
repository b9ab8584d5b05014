//! Finds findings of earlier runs that this run does not have: fixed, removed, or on pages that were not read.

use std::collections::{HashMap, HashSet};

use super::tally::Open;
use super::{Survey, place_of, store};
use crate::results::{ReportError, State};
use crate::table::Past;
use crate::table::codec;
use crate::targets::subject;
use crate::traverse::plan::web::{Method, Node, Stage};
use crate::verdict::Verdict;

impl Survey {
    /// Finds earlier findings that this run does not have. An unreadable page, or a target that could not be tested,
    /// does not prove a repair: such findings stay open.
    pub(super) fn find_earlier(&mut self, open: &Open) -> Result<(), ReportError> {
        let is_trouble = |node: &Node| node.is_wanted && !node.scope.is_empty() && node.is_troubled();
        let is_whole = self.run.cut_short.is_none()
            && self.unread.is_empty()
            && !self.is_cut
            && self.begun.is_like_the_last
            && !self.web.nodes.iter().any(is_trouble);
        let mut gone = Vec::new();
        self.table.gone(self.begun.number, |past| gone.push(past)).map_err(store)?;
        gone.retain(|past| {
            (past.page as usize) < self.web.nodes.len()
                && !open.places.contains(&place_of(past.page, &past.target, past.fragment.as_deref()))
        });
        gone.sort_by(|a, b| {
            let page = |past: &Past| self.web.names.name(past.page);
            page(a).cmp(page(b)).then_with(|| a.target.cmp(&b.target))
        });
        let mut earlier = Vec::with_capacity(gone.len());
        for of_page in gone.chunk_by(|a, b| a.page == b.page) {
            let page = of_page[0].page;
            let node = self.web.node(page);
            let is_read = node.is_good() && node.method == Method::Read && !node.reach.is_empty();
            let is_known = match node.stage {
                Stage::Done if node.is_good() => is_read || is_whole,
                Stage::Done => !node.is_untested(),
                // A page that this run has not found is removed with certainty only if every page was read.
                Stage::Past => is_whole,
                Stage::Waiting | Stage::UnderWay => false,
            };
            let linked = if is_read && is_known { self.places_on(page)? } else { HashSet::new() };
            for past in of_page {
                let place = place_of(past.page, &past.target, past.fragment.as_deref());
                let is_itself = is_read && past.target == self.web.names.name(page);
                let state = match is_known {
                    false => State::Unchecked,
                    true if is_itself || linked.contains(&place) => State::Fixed,
                    true => State::Removed,
                };
                earlier.push((past.clone(), state));
            }
        }
        self.earlier = earlier;
        let counts: Vec<[u64; 3]> = std::iter::once(None)
            .chain((0..self.infostructures.len()).map(Some))
            .zip(&open.subjects)
            .map(|(of, subjects)| self.count_earlier(of, subjects))
            .collect();
        let summaries =
            std::iter::once(&mut self.run.summary).chain(self.infostructures.iter_mut().map(|of| &mut of.summary));
        for (summary, [unchecked, fixed, removed]) in summaries.zip(counts) {
            (summary.unchecked, summary.fixed, summary.removed) = (unchecked, fixed, removed);
        }
        Ok(())
    }

    /// Returns the references of a page, by the hash of page, target and fragment.
    fn places_on(&self, page: u32) -> Result<HashSet<u64>, ReportError> {
        let Some(packed) = self.table.references(page).map_err(store)? else { return Ok(HashSet::new()) };
        let bytes = codec::unpack(&packed);
        let places = codec::references(&bytes).map(|kept| {
            let (target, fragment) = self.named(&kept.target);
            place_of(page, &target, fragment)
        });
        Ok(places.collect())
    }

    /// Returns the number of targets that are unchecked, fixed and removed. A target about which another page still has
    /// a finding is not counted.
    fn count_earlier(&self, of: Option<usize>, open: &HashSet<u64>) -> [u64; 3] {
        let mut states: HashMap<u64, State> = HashMap::new();
        for (past, state) in self.earlier_of(of) {
            let key = subject(past.verdict, &past.target, past.fragment.as_deref());
            if !open.contains(&key) {
                let known = states.entry(key).or_insert(*state);
                *known = (*known).min(*state);
            }
        }
        [State::Unchecked, State::Fixed, State::Removed]
            .map(|state| states.values().filter(|known| **known == state).count() as u64)
    }

    /// Returns the earlier findings of a task, or of all. Links that could not be tested are excluded, since users do
    /// not repair them.
    pub(super) fn earlier_of(&self, of: Option<usize>) -> impl Iterator<Item = &(Past, State)> {
        self.earlier.iter().filter(move |(past, _)| {
            let reach = self.web.node(past.page).reach;
            past.verdict != Verdict::NotTested && of.is_none_or(|task| self.web.sets.has(reach, task))
        })
    }
}
