//! Finds pages that were to be read and could not be: start pages, and other pages of the tasks. Such a run is
//! incomplete, regardless of its findings. Also detects that the network is unavailable.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Survey;
use crate::extract::Form;
use crate::results::Unread;
use crate::traverse::plan::web::{Method, Node, Stage};
use crate::verdict::{Outcome, Reason};

impl Survey {
    /// Finds the tasks whose top cannot be read. They have no findings, which must not be mistaken for a good result.
    pub(super) fn find_dead_tops(&mut self) {
        for (task, of) in self.plan.tasks.iter().enumerate() {
            let top = of.top.as_str().split('#').next().unwrap_or_default();
            let Some(number) = self.web.find(top) else { continue };
            let end = self.final_node(number);
            let node = self.web.node(end);
            if node.is_good() && node.form != Form::Other {
                continue;
            }
            let outcome = match self.outcome(end) {
                Outcome::Good => "it is not a document".to_owned(),
                outcome => outcome.to_string(),
            };
            self.run.remarks.push(format!("failed to read the start page {top} of {}: {outcome}", of.name));
            self.dead_tops.push((task, number));
        }
    }

    /// Finds the pages that the tasks were to read and could not, and the reasons. The run is incomplete without them:
    /// their links, and pages that only they link to, are unknown.
    pub(super) fn find_unread(&mut self) {
        let mut unread: BTreeMap<u32, String> = BTreeMap::new();
        for (number, node) in (0..).zip(&self.web.nodes) {
            // A page on another host may belong to another owner.
            let is_own = node.is_home() && !node.reach.is_empty();
            let is_to_be_read = node.stage == Stage::Done && node.method == Method::Read && is_own;
            match self.outcome_in_memory(number) {
                Outcome::NotTested(Reason::Avoided | Reason::Outside) => {}
                Outcome::NotTested(reason) if is_to_be_read => _ = unread.insert(number, reason.in_general()),
                _ => {}
            }
        }
        for (_, top) in &self.dead_tops {
            let end = self.final_node(*top);
            match self.outcome_in_memory(end) {
                Outcome::Good => _ = unread.insert(end, "it is not a document".to_owned()),
                Outcome::NotTested(reason) => _ = unread.insert(end, reason.in_general()),
                // The report lists it as broken.
                Outcome::Broken(_) | Outcome::Moved { .. } => {}
            }
        }
        let mut reasons: HashMap<String, u64> = HashMap::new();
        for (page, reason) in unread {
            *reasons.entry(reason).or_default() += 1;
            self.unread.push(page);
        }
        let mut unread: Vec<Unread> = reasons.into_iter().map(|(reason, pages)| Unread { reason, pages }).collect();
        unread.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.reason.cmp(&b.reason)));
        self.run.unread = unread;
    }

    /// Returns the node where the redirects of a node end; the node itself if they are a loop.
    pub(super) fn final_node(&self, number: u32) -> u32 {
        self.web.end_of(number).map_or(number, |end| end.node)
    }

    /// Adds one remark if the network is unavailable, because every link to other hosts fails then.
    pub(super) fn remark_network(&mut self) {
        let outside = || self.web.nodes.iter().filter(|node| node.stage == Stage::Done && node.scope.is_empty());
        let has_failed = |node: &&Node| matches!(node.code, 11 | 41 | 46 | 47);
        let hosts: HashSet<u32> = outside().filter(has_failed).map(|node| node.host).collect();
        let is_reached = outside().any(|node| node.status != 0);
        if hosts.len() > 1 && !is_reached {
            let hosts = hosts.len();
            self.run
                .remarks
                .push(format!("none of {hosts} external hosts could be reached: check the network connection"));
        }
    }
}
