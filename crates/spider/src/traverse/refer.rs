//! Classifies and schedules a newly discovered URL: the tasks that contain it, the method of testing it, and its turn.

use modoai_fetch::{HeaderValue, Url};

use super::frontier::Turn;
use super::opaque::{is_opaque, is_svg};
use super::sets::SetId;
use super::visit::{FetchJob, Method, Visited};
use super::web::{NONE, Stage};
use super::{LocalSite, Traversal};
use crate::extract::Form;
use crate::reference::Leads;
use crate::table::TableError;
use crate::task::{Action, Scope, Scoping};
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

impl Traversal {
    /// Queues the top of a task.
    pub(super) fn begin_task(&mut self, task: usize) -> Result<(), TableError> {
        let mut top = self.plan.tasks[task].top.clone();
        top.set_fragment(None);
        let number = self.number(top.as_str())?;
        let tasks = self.web.sets.of([task]);
        let way = Way { from: NONE, leads: Leads::ToDocument, tasks, depth: 0, has_fragment: false };
        self.come_upon(number, way);
        Ok(())
    }

    /// Queues all documents of a directory, for all tasks.
    pub(super) fn begin_folder(&mut self, local: &LocalSite) -> Result<(), TableError> {
        let tasks = self.web.sets.of(0..self.plan.tasks.len());
        let way = Way { from: NONE, leads: Leads::ToDocument, tasks, depth: 0, has_fragment: false };
        for url in local.documents.iter().filter_map(|path| local.base.join(path).ok()) {
            let number = self.number(url.as_str())?;
            self.come_upon(number, way);
        }
        Ok(())
    }

    /// Returns the number of a URL, and adds new URLs to the table.
    pub(super) fn number(&mut self, url: &str) -> Result<u32, TableError> {
        let (number, is_new) = self.web.number(url);
        if is_new {
            self.table.add(number, url, self.begun.began)?;
        }
        Ok(number)
    }

    /// Processes a reference to a URL, which may be known already.
    pub(super) fn come_upon(&mut self, number: u32, way: Way) {
        if self.web.node(number).host == NONE {
            self.prepare(number);
        }
        if self.web.node(number).host == NONE {
            // Every name was a URL when it was stored. A name that cannot be parsed means that the table was edited.
            let node = self.web.node_mut(number);
            (node.stage, node.code) = (Stage::Done, Outcome::Broken(Fault::NoSuchHost).to_code().0);
            return;
        }
        // Fragments of a drawing are checked in the drawing, regardless of the kind of reference.
        let is_wanted = way.leads.is_read() || way.has_fragment && is_svg(self.web.names.name(number));
        let mut tasks = SetId::EMPTY;
        if is_wanted {
            let (scope, reach) = (self.web.node(number).scope, self.web.node(number).reach);
            tasks = self.web.sets.meet(way.tasks, scope);
            if way.depth > self.options.max_depth {
                self.is_cut_by_depth |= self.web.sets.union(reach, tasks) != reach;
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
                if self.method(number) == Method::Read {
                    self.enqueue(number);
                }
            }
            Stage::Waiting | Stage::UnderWay | Stage::Done => {}
        }
    }

    /// Determines the tasks and the host of a URL.
    pub(super) fn prepare(&mut self, number: u32) {
        let Ok(url) = Url::parse(self.web.names.name(number)) else { return };
        let origin = url.origin().ascii_serialization();
        let next = self.hosts.len() as u32;
        let host = *self.hosts.entry(origin).or_insert(next);
        let owner = self.owners.of(&url);
        let mut tasks = Vec::new();
        let mut is_foreign = true;
        for (task, scoper) in self.scopers.iter().enumerate() {
            // The top of a task belongs to it, regardless of its name or owner.
            let scoping = match scoper.scoping(&url, owner) {
                _ if self.is_top_of(task, url.as_str()) => Scoping::Inside,
                scoping => scoping,
            };
            if scoping != Scoping::Outside {
                tasks.push(task);
                is_foreign &= scoping == Scoping::AskElsewhere;
            }
        }
        let scope = self.web.sets.of(tasks);
        let node = self.web.node_mut(number);
        (node.host, node.scope, node.is_foreign) = (host, scope, is_foreign);
    }

    pub(super) fn is_top_of(&self, task: usize, url: &str) -> bool {
        self.plan.tasks[task].top.as_str().split('#').next() == Some(url)
    }

    /// Applies the owner of a document: tasks by owner keep the document or drop it.
    pub(super) fn settle_owner(&mut self, number: u32, url: &Url, owner: Option<&str>) {
        let node = *self.web.node(number);
        let kept: Vec<usize> = self
            .web
            .sets
            .tasks(node.scope)
            .filter(|task| {
                self.plan.tasks[*task].scope != Scope::Owner
                    || self.is_top_of(*task, url.as_str())
                    || self.scopers[*task].scoping(url, Some(owner.unwrap_or_default())) == Scoping::Inside
            })
            .collect();
        if node.is_foreign && !kept.is_empty() {
            self.foreign.owned(node.host);
        }
        let scope = self.web.sets.of(kept);
        let reach = self.web.sets.meet(node.reach, scope);
        let node = self.web.node_mut(number);
        (node.scope, node.reach) = (scope, reach);
    }

    /// Returns the method of testing a URL, by what is known of it so far.
    pub(super) fn method(&self, number: u32) -> Method {
        let node = self.web.node(number);
        let url = self.web.names.name(number);
        let is_leaf = self.restrictions.action(url, self.begun.began) == Some(Action::Leaf);
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

    /// Queues a URL, unless no request is allowed.
    pub(super) fn enqueue(&mut self, number: u32) {
        if self.web.node(number).is_recent {
            self.web.node_mut(number).stage = Stage::Waiting;
            self.recalled.push_back(number);
            return;
        }
        let method = self.method(number);
        let action = self.restrictions.action(self.web.names.name(number), self.begun.began);
        let node = self.web.node_mut(number);
        let is_outside = !node.is_home();
        let skipped = if action == Some(Action::Avoid) {
            Some(Reason::Avoided)
        } else if is_outside && !self.options.external {
            Some(Reason::Outside)
        } else {
            None
        };
        if let Some(reason) = skipped {
            // What an earlier run has read there does not apply to this one.
            (node.stage, node.code, node.status) = (Stage::Done, Outcome::NotTested(reason).to_code().0, 0);
            node.form = Form::Other;
            return;
        }
        let turn = turn_of(method, is_outside);
        (node.stage, node.method, node.turn) = (Stage::Waiting, method, turn);
        let host = node.host;
        self.frontier.push(number, host, turn);
    }

    /// Returns the job for a URL whose turn has arrived, or `None` if its turn has changed in the meantime.
    pub(super) fn job(&mut self, number: u32, turn: Turn) -> Result<Option<FetchJob>, TableError> {
        let node = *self.web.node(number);
        if node.stage != Stage::Waiting || node.turn != turn {
            self.frontier.done(node.host, turn);
            return Ok(None);
        }
        let Ok(url) = Url::parse(self.web.names.name(number)) else {
            self.frontier.done(node.host, turn);
            return Ok(None);
        };
        if let Some((_, reason)) = self.silences.get(&node.host).filter(|_| self.is_given_up(number)) {
            let reason = reason.clone();
            self.settle(Visited::not_asked(number, reason))?;
            return Ok(None);
        }
        if turn == Turn::Document && !self.is_served(number, turn) {
            return Ok(None);
        }
        // In the meantime, the host may have shown that its HEAD responses are reliable.
        if node.method == Method::Get && self.is_head_believed(number) {
            let said = Visited::by_head(number, node.status);
            self.settle(said)?;
            return Ok(None);
        }
        let (mut etag, mut modified) = (None, None);
        if node.is_known
            && let Some(test) = self.table.test(number)?
            && test.outcome == Outcome::Good
            && !(node.method == Method::Read && self.is_unread(number, &test)?)
            && self.may_be_same(number)
        {
            (etag, modified) = (test.etag, test.modified);
        }
        let referer = (node.referer != NONE).then(|| self.web.names.name(node.referer));
        // The URL of an https document is not sent over http.
        let referer = referer.filter(|from| !(from.starts_with("https:") && url.scheme() == "http"));
        let referer = referer.and_then(|url| HeaderValue::from_str(url).ok());
        let node = self.web.node_mut(number);
        node.stage = Stage::UnderWay;
        node.attempts = node.attempts.saturating_add(1);
        Ok(Some(FetchJob {
            node: number,
            url,
            method: node.method,
            referer,
            etag,
            modified,
            is_home: node.is_home(),
            is_action: node.is_action,
            is_sitemap: node.is_sitemap,
        }))
    }

    /// Propagates tasks and depths that documents have received since their references were followed.
    pub(super) fn pass_on(&mut self) -> Result<(), TableError> {
        while let Some(from) = self.web.next_stirred() {
            let node = *self.web.node(from);
            if node.is_nobodys {
                self.follow_kept(from)?;
                continue;
            }
            // A redirect does not count as a step from the top.
            let step = u16::from(node.redirect == NONE);
            for target in self.web.edges(from) {
                let way = Way {
                    from,
                    leads: Leads::ToDocument,
                    tasks: node.reach,
                    depth: node.depth.saturating_add(step),
                    has_fragment: false,
                };
                self.come_upon(target, way);
            }
        }
        Ok(())
    }

    /// Measures the depths of documents again, if some were left out because of their depth. Responses arrive in any
    /// order, so a longer path may have been found before a shorter one.
    pub(super) fn measure_depth(&mut self) {
        if !self.is_cut_by_depth || self.measured == self.progress.pages {
            return;
        }
        self.measured = self.progress.pages;
        self.is_cut_by_depth = false;
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
                    let way = Way { from, leads: Leads::ToDocument, tasks: node.reach, depth, has_fragment: false };
                    self.come_upon(target, way);
                    if is_redirect { level.push(target) } else { next.push(target) }
                }
            }
            level = next;
            depth += 1;
        }
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
