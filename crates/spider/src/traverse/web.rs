//! The web in memory: every URL once, which tasks have it, how far from a top it is, and what became of it.
//!
//! A document is requested once, however many tasks have it. That a task has it is passed on along its references: to the
//! targets that are in the scope of the same task. References between documents are therefore kept here, packed; a document
//! that another task comes upon later passes that on without being asked for, or read, again.

use std::collections::HashMap;

use super::frontier::Turn;
use super::names::Names;
use super::sets::{SetId, Sets};
pub(crate) use super::visit::Look;
use crate::extract::Form;
use crate::table::codec::{push_number, take_number};

/// No node.
pub(crate) const NONE: u32 = u32::MAX;
/// One redirect after the other: more than any browser follows.
pub(crate) const MOST_HOPS: u8 = 20;

/// How far a URL has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Known from an earlier run, and not come upon in this one.
    Past,
    /// To be tested.
    Waiting,
    /// Being tested.
    UnderWay,
    /// Tested, or known not to be.
    Done,
}

/// One URL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The tasks that would have it.
    pub(crate) scope: SetId,
    /// The tasks that have it.
    pub(crate) reach: SetId,
    /// The document that led to it first.
    pub(crate) referer: u32,
    /// Where it redirects to.
    pub(crate) redirect: u32,
    /// The host in the frontier.
    pub(crate) host: u32,
    /// How many links from the nearest top.
    pub(crate) depth: u16,
    /// The status of its answer; 0 for none.
    pub(crate) status: u16,
    /// The number of its outcome.
    pub(crate) code: u8,
    pub(crate) form: Form,
    pub(crate) stage: Stage,
    pub(crate) look: Look,
    /// When its turn is, or was.
    pub(crate) turn: Turn,
    pub(crate) attempts: u8,
    /// True if its host is one that nobody named, and an Owner task has to ask whose it is.
    pub(crate) is_foreign: bool,
    /// Whether something refers to it as a document, or as something that is read.
    pub(crate) is_wanted: bool,
    /// True if something refers to it as a sitemap.
    pub(crate) is_sitemap: bool,
    /// Whether a style sheet needs it, and nobody else refers to it.
    pub(crate) is_ornament: bool,
    /// Whether all that refers to it wants to send something to it.
    pub(crate) is_action: bool,
    /// Whether somebody refers to a part of it.
    pub(crate) is_quoted: bool,
    /// Whether it is a document after all, whatever its name says.
    pub(crate) is_promising: bool,
    /// Whether the table has a test of it.
    pub(crate) is_known: bool,
    /// Whether that test is of this very run, which was interrupted.
    pub(crate) is_recent: bool,
    /// Whether its references were left alone, because no task has it.
    pub(crate) is_nobodys: bool,
    /// Whether it sets a cookie while it redirects.
    pub(crate) sets_cookie: bool,
    /// How many redirects led to it, one after the other.
    pub(crate) hops: u8,
}

impl Node {
    /// As nobody knows it.
    pub(crate) fn unknown() -> Self {
        Self {
            scope: SetId::EMPTY,
            reach: SetId::EMPTY,
            referer: NONE,
            redirect: NONE,
            host: NONE,
            depth: u16::MAX,
            status: 0,
            code: u8::MAX,
            form: Form::Other,
            stage: Stage::Past,
            look: Look::Head,
            turn: Turn::Last,
            attempts: 0,
            is_foreign: false,
            is_wanted: false,
            is_sitemap: false,
            is_ornament: true,
            is_action: true,
            is_quoted: false,
            is_promising: false,
            is_known: false,
            is_recent: false,
            is_nobodys: false,
            sets_cookie: false,
            hops: 0,
        }
    }

    /// Returns true if it is on a site that is maintained, and not a document of another host that may belong to an owner.
    pub(crate) fn is_home(&self) -> bool {
        !self.scope.is_empty() && !self.is_foreign
    }

    /// Whether it is there.
    pub(crate) fn is_good(&self) -> bool {
        self.stage == Stage::Done && self.code == 0
    }

    /// Whether it was to be tested, and could not be.
    pub(crate) fn is_untested(&self) -> bool {
        self.stage == Stage::Done && self.code >= 40
    }

    /// Whether that was for a reason that may be another tomorrow.
    pub(crate) fn is_troubled(&self) -> bool {
        self.stage == Stage::Done && matches!(self.code, 41 | 46..=48 | 51 | 53 | 54)
    }

    /// Whether it is a document that readers go to.
    pub(crate) fn is_document(&self) -> bool {
        self.stage == Stage::Done && matches!(self.form, Form::Html | Form::Markdown) && !self.reach.is_empty()
    }
}

/// The web.
#[derive(Default)]
pub(crate) struct Web {
    pub(crate) names: Names,
    pub(crate) nodes: Vec<Node>,
    pub(crate) sets: Sets,
    /// For each document, the documents that it refers to, packed.
    edges: HashMap<u32, Box<[u8]>>,
    /// The fragments that redirects lead to, which count more than those of links.
    pub(crate) redirected_to: HashMap<u32, Box<str>>,
    /// Documents that have something to pass on.
    stirred: Vec<u32>,
}

impl Web {
    pub(crate) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    pub(crate) fn node_mut(&mut self, number: u32) -> &mut Node {
        &mut self.nodes[number as usize]
    }

    /// The URL's number, and whether it is new to the table too.
    pub(crate) fn number(&mut self, url: &str) -> (u32, bool) {
        let (number, is_new) = self.names.number(url);
        if is_new {
            self.nodes.push(Node::unknown());
        }
        (number, is_new)
    }

    /// The number of a URL that is known.
    pub(crate) fn find(&self, url: &str) -> Option<u32> {
        self.names.find(url)
    }

    /// Keeps the documents that a document refers to.
    pub(crate) fn keep_edges(&mut self, from: u32, mut to: Vec<u32>) {
        to.sort_unstable();
        to.dedup();
        let mut bytes = Vec::with_capacity(to.len() * 2);
        let mut before = 0;
        for number in to {
            push_number(&mut bytes, u64::from(number - before));
            before = number;
        }
        self.edges.insert(from, bytes.into());
    }

    /// The documents that a document refers to.
    pub(crate) fn edges(&self, from: u32) -> Vec<u32> {
        let mut rest: &[u8] = self.edges.get(&from).map_or(&[], |bytes| bytes);
        let mut before = 0;
        std::iter::from_fn(|| {
            before += take_number(&mut rest)? as u32;
            Some(before)
        })
        .collect()
    }

    /// More tasks have a node, or it is nearer to a top than was known. Tells whether anything is new.
    pub(crate) fn grow(&mut self, number: u32, tasks: SetId, depth: u16) -> bool {
        let node = self.nodes[number as usize];
        let reach = self.sets.union(node.reach, tasks);
        let depth = node.depth.min(depth);
        if reach == node.reach && depth == node.depth {
            return false;
        }
        let node = self.node_mut(number);
        (node.reach, node.depth) = (reach, depth);
        if node.stage == Stage::Done && self.edges.contains_key(&number) {
            self.stirred.push(number);
        }
        true
    }

    /// A document that has something to pass on.
    pub(crate) fn next_stirred(&mut self) -> Option<u32> {
        self.stirred.pop()
    }

    /// Whether a circle of redirects sets cookies on its way round.
    pub(crate) fn is_cookie_circle(&self, number: u32) -> bool {
        let mut at = number;
        for _ in 0..MOST_HOPS {
            let node = self.node(at);
            if node.sets_cookie {
                return true;
            }
            if node.redirect == NONE {
                return false;
            }
            at = node.redirect;
        }
        false
    }

    /// Where a node leads at last, and whether all the way is for good. A circle leads nowhere.
    pub(crate) fn end_of(&self, number: u32) -> Option<End> {
        let mut end = End { node: number, replacement: None, hops: 0, part_by: None };
        let mut is_permanent = true;
        loop {
            let node = self.node(end.node);
            if node.redirect == NONE {
                return Some(end);
            }
            is_permanent &= matches!(node.status, 301 | 308);
            if self.redirected_to.contains_key(&end.node) {
                end.part_by = Some(end.node);
            }
            end.node = node.redirect;
            end.hops += 1;
            if is_permanent {
                end.replacement = Some(end.node);
            }
            if end.hops > u32::from(MOST_HOPS) {
                return None;
            }
        }
    }
}

/// Where redirects end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) node: u32,
    /// The address that links should have: as far as moves are for good.
    pub(crate) replacement: Option<u32>,
    pub(crate) hops: u32,
    /// The redirect that says which part of it is meant, if one does.
    pub(crate) part_by: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_has_is_passed_on() {
        let mut web = Web::default();
        for url in ["a", "b", "c"] {
            web.number(url);
        }
        web.keep_edges(0, vec![2, 1, 2]);
        assert_eq!(web.edges(0), [1, 2]);
        web.node_mut(0).stage = Stage::Done;
        let one = web.sets.of([0]);
        assert!(web.grow(0, one, 3));
        assert_eq!((web.next_stirred(), web.next_stirred()), (Some(0), None));
        assert!(!web.grow(0, one, 3));
        assert!(web.grow(0, one, 1), "nearer than was known");
        assert!(web.grow(1, one, 1));
        assert_eq!((web.next_stirred(), web.next_stirred()), (Some(0), None), "what is not read passes nothing on");
    }

    #[test]
    fn redirects_end_or_lead_nowhere() {
        let mut web = Web::default();
        for url in ["a", "b", "c", "d"] {
            web.number(url);
        }
        for (from, to, status) in [(0, 1, 301), (1, 2, 302)] {
            let node = web.node_mut(from);
            (node.redirect, node.status) = (to, status);
        }
        assert_eq!(web.end_of(0), Some(End { node: 2, replacement: Some(1), hops: 2, part_by: None }));
        assert_eq!(web.end_of(1), Some(End { node: 2, replacement: None, hops: 1, part_by: None }));
        web.node_mut(3).redirect = 3;
        assert_eq!(web.end_of(3), None);
    }
}
