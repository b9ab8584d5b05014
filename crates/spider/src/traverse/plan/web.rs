//! The web in memory: every URL once, with the tasks that contain it, its distance from a top, and its result.
//!
//! A document is requested once, regardless of the number of tasks that contain it. Membership in a task is propagated
//! along references, to the targets in the scope of the same task. References between documents are therefore kept
//! here, encoded compactly: if another task reaches a document later, its membership is propagated without another request.

use std::collections::{HashMap, HashSet};

pub(crate) use super::action::Method;
use super::frontier::Turn;
use super::names::Names;
use super::sets::{SetId, Sets};
use crate::anchors::Fragment;
use crate::extract::Form;
use crate::table::codec::{push_number, take_number};
use crate::verdict::Outcome;

/// The number that means "no node".
pub(crate) const NONE: u32 = u32::MAX;
/// The maximum number of consecutive redirects: more than any browser follows.
pub(crate) const MAX_HOPS: u8 = 20;

/// The stage of a URL in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Known from an earlier run, and not found in this one.
    Past,
    /// Queued.
    Waiting,
    /// In progress.
    UnderWay,
    /// Tested, or excluded from testing.
    Done,
}

/// A URL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The tasks whose scope includes it.
    pub(crate) scope: SetId,
    /// The tasks that contain it.
    pub(crate) reach: SetId,
    /// The document in which it was first found.
    pub(crate) referer: u32,
    /// The target of its redirect.
    pub(crate) redirect: u32,
    /// The host in the frontier.
    pub(crate) host: u32,
    /// The number of links from the nearest top.
    pub(crate) depth: u16,
    /// The status of its response; 0 without a response.
    pub(crate) status: u16,
    /// The code of its outcome.
    pub(crate) code: u8,
    pub(crate) form: Form,
    pub(crate) stage: Stage,
    pub(crate) method: Method,
    /// Its present or last turn in the frontier.
    pub(crate) turn: Turn,
    pub(crate) attempts: u8,
    /// True if no task names its host, and an Owner task must read it to find its owner.
    pub(crate) is_foreign: bool,
    /// True if something refers to it as a document, or as another resource that is read.
    pub(crate) is_wanted: bool,
    /// True if something refers to it as a sitemap.
    pub(crate) is_sitemap: bool,
    /// True if only style sheets refer to it.
    pub(crate) is_ornament: bool,
    /// True if all references to it send data to it.
    pub(crate) is_action: bool,
    /// True if a reference to it has a fragment.
    pub(crate) is_quoted: bool,
    /// True if its response shows that it is a document, contrary to its extension.
    pub(crate) is_promising: bool,
    /// True if the table has a test of it.
    pub(crate) is_known: bool,
    /// True if that test belongs to this run, which was interrupted.
    pub(crate) is_recent: bool,
    /// True if its references were not followed, because no task contains it.
    pub(crate) is_unfollowed: bool,
    /// True if its redirect sets a cookie.
    pub(crate) sets_cookie: bool,
    /// The number of consecutive redirects before it.
    pub(crate) hops: u8,
}

impl Node {
    /// Creates a node that has not been tested.
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
            method: Method::Head,
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
            is_unfollowed: false,
            sets_cookie: false,
            hops: 0,
        }
    }

    /// Returns true if it is on a site that is maintained, and not a document of another host that may belong to an
    /// owner.
    pub(crate) fn is_home(&self) -> bool {
        !self.scope.is_empty() && !self.is_foreign
    }

    /// Returns true if the test succeeded.
    pub(crate) fn is_good(&self) -> bool {
        self.stage == Stage::Done && self.code == 0
    }

    /// Returns true if it was to be tested, and could not be.
    pub(crate) fn is_untested(&self) -> bool {
        self.stage == Stage::Done && self.code >= 40
    }

    /// Returns true if it could not be tested for a temporary reason.
    pub(crate) fn is_troubled(&self) -> bool {
        self.stage == Stage::Done && matches!(self.code, 41 | 46..=48 | 51 | 53 | 54)
    }

    /// Returns true if it is a document that users read.
    pub(crate) fn is_document(&self) -> bool {
        self.stage == Stage::Done && matches!(self.form, Form::Html | Form::Markdown) && !self.reach.is_empty()
    }
}

/// The web of all URLs.
#[derive(Default)]
pub(crate) struct Web {
    pub(crate) names: Names,
    pub(crate) nodes: Vec<Node>,
    pub(crate) sets: Sets,
    /// The documents that each document refers to, encoded compactly.
    edges: HashMap<u32, Box<[u8]>>,
    /// The fragments that documents refer to, with the URLs of their targets.
    pub(crate) wanted: HashSet<(u32, Fragment)>,
    /// The fragments in the targets of redirects, which override those of links.
    pub(crate) redirected_to: HashMap<u32, Box<str>>,
    /// Documents with tasks or depths to propagate.
    stirred: Vec<u32>,
}

impl Web {
    pub(crate) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    pub(crate) fn node_mut(&mut self, number: u32) -> &mut Node {
        &mut self.nodes[number as usize]
    }

    /// Returns the URL's number.
    pub(crate) fn number(&mut self, url: &str) -> u32 {
        let (number, is_new) = self.names.number(url);
        if is_new {
            self.nodes.push(Node::unknown());
        }
        number
    }

    /// Excludes a URL from testing, for this reason. What an earlier run has read there does not apply to this one.
    pub(super) fn exclude(&mut self, number: u32, outcome: &Outcome) {
        let node = self.node_mut(number);
        (node.stage, node.code, node.status) = (Stage::Done, outcome.to_code().0, 0);
        node.form = Form::Other;
    }

    /// Returns true if the references of a document are followed. They are not if no task contains it, or if it was
    /// read only for its anchors. If a task reaches it later, its stored references are followed then.
    pub(super) fn mark_followed(&mut self, number: u32) -> bool {
        let node = self.node_mut(number);
        node.is_unfollowed = node.reach.is_empty();
        !node.is_unfollowed
    }

    /// Returns the number of a known URL.
    pub(crate) fn find(&self, url: &str) -> Option<u32> {
        self.names.find(url)
    }

    /// Stores the documents that a document refers to.
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

    /// Returns the documents that a document refers to.
    pub(crate) fn edges(&self, from: u32) -> Vec<u32> {
        let mut rest: &[u8] = self.edges.get(&from).map_or(&[], |bytes| bytes);
        let mut before = 0;
        std::iter::from_fn(|| {
            before += take_number(&mut rest)? as u32;
            Some(before)
        })
        .collect()
    }

    /// Adds tasks to a node, or reduces its depth. Returns true if anything has changed.
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

    /// Returns a document with tasks or depths to propagate.
    pub(crate) fn next_stirred(&mut self) -> Option<u32> {
        self.stirred.pop()
    }

    /// Returns true if a redirect in a loop sets cookies.
    pub(crate) fn is_cookie_circle(&self, number: u32) -> bool {
        let mut at = number;
        for _ in 0..MAX_HOPS {
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

    /// Returns the end of a chain of redirects, and notes whether all of them are permanent. Returns `None` for a loop.
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
            if end.hops > u32::from(MAX_HOPS) {
                return None;
            }
        }
    }
}

/// The end of a chain of redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) node: u32,
    /// The URL that links should have: the target of the permanent redirects at the beginning of the chain.
    pub(crate) replacement: Option<u32>,
    pub(crate) hops: u32,
    /// The redirect whose target has the fragment that applies, if any.
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
