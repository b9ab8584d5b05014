//! Coming upon a URL: whose it is, how it is looked at, and when its turn is.

use modoai_fetch::{HeaderValue, Url};

use super::frontier::Turn;
use super::opaque::{is_opaque, is_svg};
use super::sets::SetId;
use super::visit::{Errand, Look, Visited};
use super::web::{NONE, Stage};
use super::{LocalSite, Traversal};
use crate::extract::Form;
use crate::reference::Leads;
use crate::table::TableError;
use crate::task::{Action, Scope, Scoping};
use crate::verdict::{Fault, Outcome, Reason};

/// How one comes upon a URL.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// From which document.
    pub(super) from: u32,
    /// By what kind of reference.
    pub(super) leads: Leads,
    /// The tasks that have the document.
    pub(super) tasks: SetId,
    /// How many links from the nearest top.
    pub(super) depth: u16,
    /// Whether some part of it is referred to.
    pub(super) has_fragment: bool,
}

impl Traversal {
    /// The top of a task.
    pub(super) fn begin_task(&mut self, task: usize) -> Result<(), TableError> {
        let mut top = self.plan.tasks[task].top.clone();
        top.set_fragment(None);
        let number = self.number(top.as_str())?;
        let tasks = self.web.sets.of([task]);
        let way = Way { from: NONE, leads: Leads::ToDocument, tasks, depth: 0, has_fragment: false };
        self.come_upon(number, way);
        Ok(())
    }

    /// All documents of a folder, for all tasks.
    pub(super) fn begin_folder(&mut self, local: &LocalSite) -> Result<(), TableError> {
        let tasks = self.web.sets.of(0..self.plan.tasks.len());
        let way = Way { from: NONE, leads: Leads::ToDocument, tasks, depth: 0, has_fragment: false };
        for url in local.documents.iter().filter_map(|path| local.base.join(path).ok()) {
            let number = self.number(url.as_str())?;
            self.come_upon(number, way);
        }
        Ok(())
    }

    /// The number of a URL; the table learns of new ones.
    pub(super) fn number(&mut self, url: &str) -> Result<u32, TableError> {
        let (number, is_new) = self.web.number(url);
        if is_new {
            self.table.add(number, url, self.begun.began)?;
        }
        Ok(number)
    }

    /// One comes upon a URL, perhaps again.
    pub(super) fn come_upon(&mut self, number: u32, way: Way) {
        if self.web.node(number).host == NONE {
            self.prepare(number);
        }
        if self.web.node(number).host == NONE {
            // Every name was a URL once; one that is none any more comes from a table that somebody has edited.
            let node = self.web.node_mut(number);
            (node.stage, node.code) = (Stage::Done, Outcome::Broken(Fault::NoSuchHost).to_code().0);
            return;
        }
        // The parts of a drawing are looked up in it, by whatever it is referred to.
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
            // What looked like a leaf may turn out to be a document.
            Stage::Waiting | Stage::Done
                if node.look != Look::Read && (node.stage == Stage::Waiting || node.is_good()) =>
            {
                if self.look(number) == Look::Read {
                    self.enqueue(number);
                }
            }
            Stage::Waiting | Stage::UnderWay | Stage::Done => {}
        }
    }

    /// Finds out whose a URL would be, and on which host it is.
    pub(super) fn prepare(&mut self, number: u32) {
        let Ok(url) = Url::parse(self.web.names.name(number)) else { return };
        let origin = url.origin().ascii_serialization();
        let next = self.hosts.len() as u32;
        let host = *self.hosts.entry(origin).or_insert(next);
        let owner = self.owners.of(&url);
        let mut tasks = Vec::new();
        let mut is_foreign = true;
        for (task, scoper) in self.scopers.iter().enumerate() {
            // Whatever its name or its owner, the top of a task is part of it.
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

    /// The owner of a document is known: tasks by owner keep it or do not.
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
            self.strangers.owned(node.host);
        }
        let scope = self.web.sets.of(kept);
        let reach = self.web.sets.meet(node.reach, scope);
        let node = self.web.node_mut(number);
        (node.scope, node.reach) = (scope, reach);
    }

    /// How a URL is looked at, by all that is known of it.
    pub(super) fn look(&self, number: u32) -> Look {
        let node = self.web.node(number);
        let url = self.web.names.name(number);
        let is_leaf = self.restrictions.action(url, self.begun.began) == Some(Action::Leaf);
        let is_home = node.is_home();
        let is_read_outside = self.options.external_fragments && node.is_quoted && !is_home;
        // Whoever wants the resources themselves is not served by their headers.
        let is_kept = self.options.bodies.is_some() && is_home && !node.is_action;
        if is_kept && (is_leaf || !node.is_wanted) || node.is_ornament && is_home && !is_leaf {
            Look::Get
        } else if is_leaf || !node.is_wanted {
            Look::Head
        } else if !node.reach.is_empty() && (!is_opaque(url) || node.is_promising || node.is_sitemap) || is_read_outside
        {
            Look::Read
        } else if is_kept {
            Look::Get
        } else {
            Look::Head
        }
    }

    /// Gives a URL its turn, unless nothing is to be asked.
    pub(super) fn enqueue(&mut self, number: u32) {
        if self.web.node(number).is_recent {
            self.web.node_mut(number).stage = Stage::Waiting;
            self.recalled.push_back(number);
            return;
        }
        let look = self.look(number);
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
            // What an earlier run has read there is nothing of this one.
            (node.stage, node.code, node.status) = (Stage::Done, Outcome::NotTested(reason).to_code().0, 0);
            node.form = Form::Other;
            return;
        }
        let turn = turn_of(look, is_outside);
        (node.stage, node.look, node.turn) = (Stage::Waiting, look, turn);
        let host = node.host;
        self.frontier.push(number, host, turn);
    }

    /// What is to be done about a URL whose turn has come; nothing, if it has got another turn meanwhile.
    pub(super) fn errand(&mut self, number: u32, turn: Turn) -> Result<Option<Errand>, TableError> {
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
        // In the meantime, the host may have shown that its answers to HEAD can be believed.
        if node.look == Look::Get && self.is_head_believed(number) {
            let said = Visited::by_head(number, node.status);
            self.settle(said)?;
            return Ok(None);
        }
        let (mut etag, mut modified) = (None, None);
        if node.is_known
            && let Some(test) = self.table.test(number)?
            && test.outcome == Outcome::Good
            && !(node.look == Look::Read && self.is_unread(number, &test)?)
            && self.may_be_same(number)
        {
            (etag, modified) = (test.etag, test.modified);
        }
        let referer = (node.referer != NONE).then(|| self.web.names.name(node.referer));
        // What is told in confidence is not repeated in the open.
        let referer = referer.filter(|from| !(from.starts_with("https:") && url.scheme() == "http"));
        let referer = referer.and_then(|url| HeaderValue::from_str(url).ok());
        let node = self.web.node_mut(number);
        node.stage = Stage::UnderWay;
        node.attempts = node.attempts.saturating_add(1);
        Ok(Some(Errand {
            node: number,
            url,
            look: node.look,
            referer,
            etag,
            modified,
            is_home: node.is_home(),
            is_action: node.is_action,
            is_sitemap: node.is_sitemap,
        }))
    }

    /// Passes on what documents have learnt since their references were followed.
    pub(super) fn pass_on(&mut self) -> Result<(), TableError> {
        while let Some(from) = self.web.next_stirred() {
            let node = *self.web.node(from);
            if node.is_nobodys {
                self.follow_kept(from)?;
                continue;
            }
            // A redirect is no step away from the top.
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

    /// Measures anew how far documents are from the top, if some were left out for that. Answers come in any order, so a longer
    /// way may have been found before a shorter one.
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
            // A redirect is no step away from the top, so what it leads to is still of this level.
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

/// When it is the turn of what is looked at in this way.
fn turn_of(look: Look, is_outside: bool) -> Turn {
    match (look, is_outside) {
        (Look::Read, _) => Turn::Document,
        (Look::Head | Look::Get, true) => Turn::Outside,
        (Look::Head | Look::Get, false) => Turn::Last,
    }
}
