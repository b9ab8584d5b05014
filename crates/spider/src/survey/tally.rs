//! Counts over references, of a run or of one task. Findings are counted by their [`subject`](crate::targets::subject):
//! one for each target, regardless of the number of pages.

use std::collections::{HashMap, HashSet};

use super::check::CheckResult;
use crate::results::Summary;
use crate::table::codec::KeptTarget;
use crate::verdict::Verdict;

/// The findings of this run.
#[derive(Default)]
pub(super) struct Open {
    /// Links, by the hash of page, target and fragment.
    pub(super) places: HashSet<u64>,
    /// Targets of the run, and of each task, by their subject.
    pub(super) subjects: Vec<HashSet<u64>>,
}

/// Counts over references.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) summary: Summary,
    pub(super) urls: HashSet<u32>,
    /// The verdict of each target with a finding, and whether it is new, by subject.
    pub(super) subjects: HashMap<u64, (Verdict, bool)>,
    pub(super) skipped: HashSet<u32>,
}

impl Tally {
    pub(super) fn add(&mut self, target: &KeptTarget<'_>, checked: &CheckResult, subject: Option<u64>, is_new: bool) {
        self.summary.links += 1;
        if let KeptTarget::Node { id, .. } = target {
            self.urls.insert(*id);
            if checked.is_skipped() {
                self.skipped.insert(*id);
            }
        }
        if let Some(key) = subject {
            self.note(key, checked.verdict, is_new);
        }
    }

    pub(super) fn note(&mut self, subject: u64, verdict: Verdict, is_new: bool) {
        self.subjects.entry(subject).or_insert((verdict, is_new)).1 &= is_new;
    }

    pub(super) fn fill(self, summary: &mut Summary) {
        let count = |of: Verdict| self.subjects.values().filter(|(verdict, _)| *verdict == of).count() as u64;
        *summary = Summary {
            requests: summary.requests,
            bytes: summary.bytes,
            urls: self.urls.len() as u64,
            broken: count(Verdict::Broken),
            fragments: count(Verdict::Fragment),
            moved: count(Verdict::Moved),
            not_tested: count(Verdict::NotTested),
            changed: count(Verdict::Changed),
            skipped: self.skipped.len() as u64,
            new: self.subjects.values().filter(|(_, is_new)| *is_new).count() as u64,
            ..self.summary
        };
    }
}

/// Returns the tallies of these tasks.
pub(super) fn each_of<'a>(
    each: &'a mut [Tally],
    tasks: &'a [usize],
) -> impl Iterator<Item = (&'a mut Tally, Option<usize>)> {
    let is_of = |(task, _): &(usize, &mut Tally)| tasks.contains(task);
    each.iter_mut().enumerate().filter(is_of).map(|(task, tally)| (tally, Some(task)))
}
