//! The names of all sets of a server.

use super::facts::{Facts, Lacking};
use super::{Report, Step, Task};
use crate::ask::Question;

/// Pages of ListSets that are followed.
const MAX_PAGES: u32 = 1000;

/// Memory for the names.
const MAX_BYTES: usize = 64 << 20;

/// Follows ListSets to its last page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SetsTask {
    sets: Vec<String>,
    bytes: usize,
    pages: u32,
    token: Option<String>,
}

impl Facts {
    /// Every set. Those in others are listed too: not every server counts their records as the wider set's.
    pub(super) fn sets(&self) -> Lacking<&[String]> {
        self.task(Task::Sets(SetsTask::default()))?.names().map(Vec::as_slice)
    }

    pub(super) fn listing_sets(&mut self, task: &mut SetsTask) -> Lacking<Step> {
        let document = self.describe(Question::Sets { token: task.token.clone() })?;
        let mut next = None;
        if let Ok(response) = &*document {
            task.sets.extend(response.sets.iter().map(|set| set.spec.trim().to_owned()));
            task.bytes += response.sets.iter().map(|set| set.spec.len() + size_of::<String>()).sum::<usize>();
            next = response.token.as_ref().map(|token| token.value.clone()).filter(|next| !next.is_empty());
        }
        task.pages += 1;
        if next.is_none() || next == task.token || task.bytes > MAX_BYTES || task.pages == MAX_PAGES {
            task.sets.sort();
            task.sets.dedup();
            return Ok(Step::Done(Report::Names(std::mem::take(&mut task.sets))));
        }
        task.token = next;
        Ok(Step::Next)
    }
}
