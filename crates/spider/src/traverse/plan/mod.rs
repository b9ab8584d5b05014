//! Decides what a traversal does next: a pure state machine without clock, network, files or threads.
//!
//! [`Planner::next`] returns an [`Action`]: a URL to test, something to read from the table or to store in it, or the end.
//! The driver (`traverse/mod.rs`) executes it, and passes the result to [`Planner::take`] as a [`Report`]. Nothing else
//! is an input except the time, so tests replace the driver and let years pass.
//!
//! A URL goes through these files in this order, and none of them calls an earlier one:
//!
//! | file | what it decides |
//! |---|---|
//! | `mod`, `action` | inputs and outputs; the next action |
//! | `dispatch` | a URL whose turn has arrived: request, known result, or another turn |
//! | `cache` | stored results: conditional requests, and the first part of an interrupted run |
//! | `settle`, `record` | a result: final or not; the test that is stored, since when it applies |
//! | `follow` | references, new or stored; redirects; owners; sitemaps of robots.txt |
//! | `depth` | tasks and depths that documents receive later |
//! | `discover` | the tasks that contain a URL, the method of testing it, its turn |
//!
//! Each of these types has one responsibility, and knows none of the others:
//!
//! | type | what it knows |
//! |---|---|
//! | `Web` (`web`, `names`, `sets`) | every URL once, with its tasks, its distance from a top, and its result |
//! | `Scopes` | the tasks, their owners, the restrictions of prefixes |
//! | `Frontier` | the queue of URLs, by host |
//! | `Hosts` | numbers, failures and sitemaps of hosts |
//! | `Budgets` (`budget`, `similar`, `foreign`) | the limits of documents: of tasks, with similar URLs, on other hosts |
//! | `DepthLimit` (`depth`) | whether documents were left out because of their depth |
//! | `HeadReliability` (`head`) | the hosts whose HEAD responses can be trusted |
//! | `opaque` | URLs that are probably no documents |

mod action;
mod budget;
mod cache;
mod depth;
mod discover;
mod dispatch;
mod follow;
mod foreign;
mod frontier;
mod head;
mod hosts;
mod names;
mod opaque;
mod record;
mod scopes;
mod sets;
mod settle;
mod similar;
#[cfg(test)]
mod tests;
pub(crate) mod web;

use std::collections::{HashMap, VecDeque};

use modoai_fetch::Traffic;

use super::Options;
use crate::table::Begun;
use crate::task::{OwnersError, Plan};
pub use action::Sight;
pub(crate) use action::{Action, FetchJob, Method, Now, Report, Stored};
pub(crate) use budget::MAX_DOCUMENTS;
use budget::{Admission, Budgets};
pub(crate) use cache::{READER, is_settled};
use depth::DepthLimit;
use frontier::Frontier;
use head::HeadReliability;
use hosts::Hosts;
pub(crate) use scopes::Scopes;
use web::{Stage, Web};

/// The maximum number of concurrent requests to one host, regardless of the configured number: more gain nothing, and
/// each takes memory.
const MAX_PER_HOST: usize = 128;

/// The planner of one run.
pub(crate) struct Planner {
    pub(crate) options: Options,
    pub(crate) run: Begun,
    pub(crate) web: Web,
    pub(crate) scopes: Scopes,
    pub(crate) remarks: Vec<String>,
    /// True if an observer receives the results.
    pub(crate) is_observed: bool,
    frontier: Frontier,
    hosts: Hosts,
    budgets: Budgets,
    depth: DepthLimit,
    head: HeadReliability,
    progress: Progress,
    /// URLs that this run had tested before it was interrupted, and has found again.
    recalled: VecDeque<u32>,
    /// The URLs that are requested, and what is stored of each.
    in_progress: HashMap<u32, Option<Box<Stored>>>,
    /// Actions that precede the next request.
    actions: VecDeque<Action>,
    dice: fastrand::Rng,
}

/// The progress of a traversal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Documents read, or known to be unchanged.
    pub pages: u64,
    /// URLs tested.
    pub tested: u64,
    /// URLs that are queued.
    pub waiting: u64,
    /// Broken ones among those tested.
    pub broken: u64,
    /// The traffic sent and received.
    pub traffic: Traffic,
}

impl Planner {
    /// Creates the planner of a run, with the URLs of earlier runs.
    pub(crate) fn new(
        plan: Plan,
        options: Options,
        run: Begun,
        web: Web,
        dice: fastrand::Rng,
    ) -> Result<Self, OwnersError> {
        let mut planner = Self {
            frontier: Frontier::new(options.per_host.min(MAX_PER_HOST)),
            hosts: Hosts::default(),
            budgets: Budgets::new(&plan.tasks, &options),
            depth: DepthLimit::default(),
            head: HeadReliability::default(),
            progress: Progress::default(),
            remarks: plan.remarks.clone(),
            scopes: Scopes::new(plan, run.began)?,
            is_observed: false,
            recalled: VecDeque::new(),
            in_progress: HashMap::new(),
            actions: VecDeque::new(),
            options,
            run,
            web,
            dice,
        };
        planner.discover_tops();
        Ok(planner)
    }

    /// Returns the next action.
    pub(crate) fn next(&mut self, now: Now) -> Action {
        loop {
            if let Some(action) = self.actions.pop_front() {
                return action;
            }
            if let Some(number) = self.recalled.pop_front() {
                if self.web.node(number).stage == Stage::Waiting {
                    return Action::Load(number);
                }
                continue;
            }
            if self.frontier.is_out_of_documents() {
                self.propagate();
                if !self.actions.is_empty() {
                    continue;
                }
                self.measure_depth();
            }
            if self.in_progress.len() < self.options.connections.max(1)
                && let Some((number, turn)) = self.frontier.next(now.instant)
            {
                if self.admit(number, turn, now) == Admission::Admitted {
                    if self.web.node(number).is_known {
                        return Action::Load(number);
                    }
                    self.dispatch(number, None, now);
                }
                continue;
            }
            if !self.recalled.is_empty() {
                continue;
            }
            if self.in_progress.is_empty() && self.frontier.waiting() == 0 {
                self.remarks.extend(self.depth.remark(self.options.max_depth));
                self.remarks.extend(self.budgets.remarks());
                return Action::End;
            }
            return Action::Wait(self.frontier.wake(now.instant));
        }
    }

    /// Takes the result of an action.
    pub(crate) fn take(&mut self, report: Report, now: Now) {
        match report {
            Report::Visited(visited) => {
                if let Some(stored) = self.in_progress.remove(&visited.node) {
                    self.settle(*visited, stored, now);
                }
            }
            Report::Stored(number, stored) if self.web.node(number).is_recent => self.recall(number, stored),
            Report::Stored(number, stored) => self.dispatch(number, stored, now),
            Report::References(number, references) => self.follow_stored(number, references.as_deref()),
        }
    }

    /// Returns the progress, except the traffic.
    pub(crate) fn progress(&self) -> Progress {
        Progress { waiting: (self.frontier.waiting() + self.in_progress.len()) as u64, ..self.progress }
    }

    /// Returns true if a limit kept documents from being read, so that resources may be missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.depth.is_exceeded || self.budgets.is_cut()
    }
}
