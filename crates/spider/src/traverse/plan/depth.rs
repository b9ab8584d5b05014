//! Propagates tasks and depths along references that were followed before, once no document is queued or in progress.

use super::Planner;
use super::action::Action;
use super::discover::Way;
use super::web::NONE;

/// The limit of the number of links between a top and a document.
#[derive(Default)]
pub(super) struct DepthLimit {
    /// True if documents beyond the limit were left out.
    pub(super) is_exceeded: bool,
    /// The number of documents when depths were last measured.
    measured: u64,
}

impl DepthLimit {
    /// Returns a sentence if documents were left out.
    pub(super) fn remark(&self, depth: u16) -> Option<String> {
        self.is_exceeded
            .then(|| format!("documents more than {depth} links from the start page were tested, but not read"))
    }
}

impl Planner {
    /// Propagates tasks and depths that documents have received since their references were followed.
    pub(super) fn propagate(&mut self) {
        while let Some(from) = self.web.next_stirred() {
            let node = *self.web.node(from);
            if node.is_unfollowed {
                self.web.node_mut(from).is_unfollowed = false;
                self.actions.push_back(Action::LoadReferences(from));
                continue;
            }
            // A redirect does not count as a step from the top.
            let step = u16::from(node.redirect == NONE);
            for target in self.web.edges(from) {
                self.discover(target, Way::to_document(from, node.reach, node.depth.saturating_add(step)));
            }
        }
    }

    /// Measures the depths of documents again, if some were left out because of their depth. Responses arrive in any
    /// order, so a longer path may have been found before a shorter one.
    pub(super) fn measure_depth(&mut self) {
        if !self.depth.is_exceeded || self.depth.measured == self.progress.pages {
            return;
        }
        self.depth.measured = self.progress.pages;
        self.depth.is_exceeded = false;
        let mut is_seen = vec![false; self.web.nodes.len()];
        let mut level: Vec<u32> =
            (0..self.web.nodes.len() as u32).filter(|node| self.web.node(*node).depth == 0).collect();
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            // A redirect does not count as a step from the top, so its target belongs to the same level.
            while let Some(from) = level.pop() {
                if std::mem::replace(&mut is_seen[from as usize], true) {
                    continue;
                }
                let node = *self.web.node(from);
                let is_redirect = node.redirect != NONE;
                let depth = if is_redirect { depth } else { depth + 1 };
                for target in self.web.edges(from) {
                    self.discover(target, Way::to_document(from, node.reach, depth));
                    if is_redirect { level.push(target) } else { next.push(target) }
                }
            }
            level = next;
            depth += 1;
        }
    }
}
