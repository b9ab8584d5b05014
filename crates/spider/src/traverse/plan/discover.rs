//! Classifies and schedules a URL that a reference refers to: the tasks that contain it, the method of testing it, and
//! its turn.

use modoai_fetch::Url;

use super::Planner;
use super::action::Method;
use super::frontier::Turn;
use super::opaque::{is_opaque, is_svg};
use super::sets::SetId;
use super::web::{NONE, Stage};
use crate::reference::Leads;
use crate::task::Action as Restriction;
use crate::verdict::{Fault, Outcome, Reason};

/// The reference by which a URL was found.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// The document that contains the reference.
    pub(super) from: u32,
    /// The kind of reference.
    pub(super) leads: Leads,
    /// The tasks that contain the document.
    pub(super) tasks: SetId,
    /// The number of links from the nearest top.
    pub(super) depth: u16,
    /// True if the reference has a fragment.
    pub(super) has_fragment: bool,
}

impl Way {
    /// The way to a document of these tasks.
    pub(super) fn to_document(from: u32, tasks: SetId, depth: u16) -> Self {
        Self { from, leads: Leads::ToDocument, tasks, depth, has_fragment: false }
    }
}

impl Planner {
    /// Queues the tops of all tasks; if a directory is traversed, all of its documents for all tasks.
    pub(super) fn discover_tops(&mut self) {
        let (tasks, sets) = (&self.scopes.plan.tasks, &mut self.web.sets);
        let tops: Vec<(Url, SetId)> = match &self.options.local {
            Some(local) => {
                let all = sets.of(0..tasks.len());
                local.documents.iter().filter_map(|path| Some((local.base.join(path).ok()?, all))).collect()
            }
            None => (0..).zip(tasks).map(|(number, task)| (task.top.clone(), sets.of([number]))).collect(),
        };
        for (mut top, tasks) in tops {
            top.set_fragment(None);
            let number = self.web.number(top.as_str());
            self.discover(number, Way::to_document(NONE, tasks, 0));
        }
    }

    /// Queues a sitemap of the tasks, which they may read regardless of its location: a tree may have pages in a
    /// sitemap outside the tree.
    pub(super) fn discover_sitemap(&mut self, number: u32, way: Way) {
        self.prepare(number);
        let scope = self.web.sets.union(self.web.node(number).scope, way.tasks);
        self.web.node_mut(number).scope = scope;
        self.discover(number, way);
    }

    /// Processes a reference to a URL, which may be known already.
    pub(super) fn discover(&mut self, number: u32, way: Way) {
        self.prepare(number);
        if self.web.node(number).host == NONE {
            // Every name was a URL when it was stored. A name that cannot be parsed means that the table was edited.
            self.web.exclude(number, &Outcome::Broken(Fault::NoSuchHost));
            return;
        }
        // Fragments of a drawing are checked in the drawing, regardless of the kind of reference.
        let is_wanted = way.leads.is_read() || way.has_fragment && is_svg(self.web.names.name(number));
        let mut tasks = SetId::EMPTY;
        if is_wanted {
            let (scope, reach) = (self.web.node(number).scope, self.web.node(number).reach);
            tasks = self.web.sets.meet(way.tasks, scope);
            if way.depth > self.options.max_depth {
                self.depth.is_exceeded |= self.web.sets.union(reach, tasks) != reach;
                tasks = SetId::EMPTY;
            }
        }
        self.web.grow(number, tasks, way.depth);
        let node = self.web.node_mut(number);
        node.is_wanted |= is_wanted;
        node.is_sitemap |= way.leads == Leads::ToSitemap;
        node.is_ornament &= way.leads == Leads::ToOrnament && !is_wanted;
        node.is_action &= way.leads == Leads::ToAction;
        node.is_quoted |= way.has_fragment && is_wanted;
        match node.stage {
            Stage::Past => {
                node.referer = way.from;
                self.enqueue(number);
            }
            // A URL that was treated as a leaf may turn out to be a document.
            Stage::Waiting | Stage::Done
                if node.method != Method::Read && (node.stage == Stage::Waiting || node.is_good()) =>
            {
                self.enqueue_document(number);
            }
            Stage::Waiting | Stage::UnderWay | Stage::Done => {}
        }
    }

    /// Determines the tasks and the host of a URL that has none yet.
    fn prepare(&mut self, number: u32) {
        if self.web.node(number).host == NONE {
            self.locate(number);
        }
    }

    /// Determines the tasks and the host of a URL.
    pub(super) fn locate(&mut self, number: u32) {
        let Ok(url) = Url::parse(self.web.names.name(number)) else { return };
        let (tasks, is_foreign) = self.scopes.tasks_of(&url);
        let scope = self.web.sets.of(tasks);
        let host = self.hosts.number(&url);
        let node = self.web.node_mut(number);
        (node.host, node.scope, node.is_foreign) = (host, scope, is_foreign);
    }

    /// Returns the method of testing a URL, by what is known of it so far.
    pub(super) fn method(&self, number: u32) -> Method {
        let node = self.web.node(number);
        let url = self.web.names.name(number);
        let is_leaf = self.scopes.restriction(url) == Some(Restriction::Leaf);
        let is_home = node.is_home();
        let is_read_outside = self.options.external_fragments && node.is_quoted && !is_home;
        // An observer of the resources needs more than their headers.
        let is_kept = self.options.bodies.is_some() && is_home && !node.is_action;
        if is_kept && (is_leaf || !node.is_wanted) || node.is_ornament && is_home && !is_leaf {
            Method::Get
        } else if is_leaf || !node.is_wanted {
            Method::Head
        } else if !node.reach.is_empty() && (!is_opaque(url) || node.is_promising || node.is_sitemap) || is_read_outside
        {
            Method::Read
        } else if is_kept {
            Method::Get
        } else {
            Method::Head
        }
    }

    /// Queues a URL if it is to be read as a document.
    pub(super) fn enqueue_document(&mut self, number: u32) {
        if self.method(number) == Method::Read {
            self.enqueue(number);
        }
    }

    /// Queues a URL, unless no request is allowed.
    pub(super) fn enqueue(&mut self, number: u32) {
        if self.web.node(number).is_recent {
            self.web.node_mut(number).stage = Stage::Waiting;
            self.recalled.push_back(number);
            return;
        }
        let is_outside = !self.web.node(number).is_home();
        if self.scopes.restriction(self.web.names.name(number)) == Some(Restriction::Avoid) {
            self.web.exclude(number, &Outcome::NotTested(Reason::Avoided));
        } else if is_outside && !self.options.external {
            self.web.exclude(number, &Outcome::NotTested(Reason::Outside));
        } else {
            let method = self.method(number);
            let node = self.web.node_mut(number);
            (node.stage, node.method, node.turn) = (Stage::Waiting, method, turn_of(method, is_outside));
            self.frontier.push(number, node.host, node.turn);
        }
    }

    /// Queues a URL again, to be tested with GET after all others.
    pub(super) fn enqueue_get(&mut self, number: u32) {
        let node = self.web.node_mut(number);
        (node.stage, node.method) = (Stage::Waiting, Method::Get);
        self.frontier.push(number, node.host, node.turn);
    }
}

/// Returns the turn for a method of testing.
fn turn_of(method: Method, is_outside: bool) -> Turn {
    match (method, is_outside) {
        (Method::Read, _) => Turn::Document,
        (Method::Head | Method::Get, true) => Turn::Outside,
        (Method::Head | Method::Get, false) => Turn::Last,
    }
}
