//! Limits the number of documents that each task reads. A document counts once it was read; a document that is being
//! read reserves a place.

use std::time::{Duration, Instant};

use modoai_fetch::Url;

use super::frontier::Turn;
use super::sets::SetId;
use super::visit::Visited;
use super::web::Stage;
use super::{Options, Traversal};
use crate::extract::Form;
use crate::task::Task;
use crate::verdict::{Outcome, Reason};

/// The limit of documents for a task without a configured limit.
pub(crate) const MOST: u64 = 100_000;

/// The delay before checking again whether a reserved place was used.
const SOON: Duration = Duration::from_millis(20);

/// The documents that a task has read, and its limit.
pub(super) struct PageBudget {
    limit: Option<u64>,
    read: u64,
    kept: u64,
}

impl PageBudget {
    /// Creates the count of a task that has read nothing yet.
    pub(super) fn new(task: &Task, options: &Options) -> Self {
        let limit = match (task.max_pages, options.max_pages) {
            (Some(own), Some(general)) if general > 0 => Some(own.min(general)),
            (Some(own), _) => Some(own),
            (None, general) => Some(general.unwrap_or(MOST)).filter(|limit| *limit > 0),
        };
        Self { limit, read: 0, kept: 0 }
    }

    /// Returns the limit of documents, if one is set.
    pub(super) fn limit(&self) -> Option<u64> {
        self.limit
    }

    fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.read >= limit)
    }

    fn has_room(&self) -> bool {
        self.limit.is_none_or(|limit| self.read + self.kept < limit)
    }
}

impl Traversal {
    /// Reserves a place for a document in every task that contains it and is not full, and removes it from tasks that
    /// are full. If it cannot be read now, it is queued again: as a leaf if all tasks are full, or later if places may
    /// become free.
    pub(super) fn is_served(&mut self, number: u32, turn: Turn) -> bool {
        let node = *self.web.node(number);
        // A document that is read only for its anchors counts for no task.
        if node.reach.is_empty() {
            return true;
        }
        if node.is_foreign && node.attempts == 0 && !self.foreign.admit(node.host) {
            // It is tested like any other external link.
            let node = self.web.node_mut(number);
            (node.scope, node.reach) = (SetId::EMPTY, SetId::EMPTY);
            let host = node.host;
            self.frontier.done(host, turn);
            self.enqueue(number);
            return false;
        }
        let tasks: Vec<usize> = self.web.sets.tasks(node.reach).collect();
        let (hungry, full): (Vec<_>, Vec<_>) = tasks.iter().partition(|task| !self.budgets[**task].is_full());
        if !full.is_empty() {
            self.is_cut_by_pages = true;
            self.web.node_mut(number).reach = self.web.sets.of(hungry.iter().copied());
        }
        if hungry.is_empty() {
            self.frontier.done(node.host, turn);
            self.enqueue(number);
            return false;
        }
        if !hungry.iter().any(|task| self.budgets[*task].has_room()) {
            self.frontier.done(node.host, turn);
            self.frontier.push_later(number, node.host, turn, Instant::now() + SOON);
            return false;
        }
        // A document that is requested again has been counted.
        if node.attempts == 0
            && let Ok(url) = Url::parse(self.web.names.name(number))
            && !self.similar.admit(&url)
        {
            self.frontier.done(node.host, turn);
            let node = self.web.node_mut(number);
            (node.stage, node.code, node.status) = (Stage::Done, Outcome::NotTested(Reason::Similar).to_code().0, 0);
            node.form = Form::Other;
            return false;
        }
        for task in hungry {
            self.budgets[task].kept += 1;
        }
        true
    }

    /// Counts the document that a visit has read, and releases the places that were reserved for it.
    pub(super) fn give_back(&mut self, visited: &Visited) {
        let node = self.web.node(visited.node);
        if node.turn != Turn::Document {
            return;
        }
        let is_read = visited.read.is_some() || visited.status == Some(304);
        for task in self.web.sets.tasks(node.reach) {
            let budget = &mut self.budgets[task];
            budget.kept = budget.kept.saturating_sub(1);
            budget.read += u64::from(is_read);
        }
    }
}
