//! Referenced objects that changed within the days that a task asks for: leaves and targets outside, which have no entry of their
//! own. Each is reported once, on the first page that refers to it: it is news about the target, and the page needs no repair.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};

use super::Survey;
use super::judge::Judged;
use crate::results::ReportError;
use crate::table::codec::{Kept, KeptTarget};
use crate::verdict::Verdict;

impl Survey {
    /// Returns the date on which the target of a reference changed, if it is within the window of the page's tasks and not in
    /// `seen` yet.
    pub(super) fn changed_reference(
        &self,
        page: u32,
        kept: &Kept<'_>,
        judged: &Judged,
        of: Option<usize>,
        seen: &mut HashSet<u32>,
    ) -> Result<Option<Timestamp>, ReportError> {
        let (KeptTarget::Node { id, .. }, Verdict::Good) = (kept.target, judged.verdict) else { return Ok(None) };
        let Some(window) = self.change_window(page, of).filter(|_| !seen.contains(&id)) else { return Ok(None) };
        let node = self.web.node(id);
        // Documents inside are reported themselves.
        if node.is_document() && of.is_none_or(|task| self.web.sets.has(node.reach, task)) {
            return Ok(None);
        }
        seen.insert(id);
        Ok(self.target(id)?.changed.filter(|at| self.is_within(*at, window)))
    }

    /// Returns the number of days within which changes are reported on a page, by one of its tasks or by all of them.
    pub(super) fn change_window(&self, page: u32, of: Option<usize>) -> Option<u32> {
        let tasks = self.web.sets.tasks(self.web.node(page).reach).filter(|task| of.is_none_or(|of| of == *task));
        tasks.filter_map(|task| self.plan.tasks[task].change_window.or(self.plan.tasks[task].tell.changed)).max()
    }

    /// Returns true if a date is at most so many days before the run.
    pub(super) fn is_within(&self, at: Timestamp, days: u32) -> bool {
        self.run.began.duration_since(at) <= SignedDuration::from_hours(i64::from(days) * 24)
    }
}
