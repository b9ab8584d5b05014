//! Decides about a URL whose turn has arrived: it is requested, its result follows from others, or it is queued again.

use std::time::Duration;

use modoai_fetch::{HeaderValue, Url};

use super::Planner;
use super::action::{Action, FetchJob, Method, Now, Stored};
use super::budget::Admission;
use super::frontier::Turn;
use super::sets::SetId;
use super::web::{NONE, Stage};
use crate::traverse::visit::Visited;
use crate::verdict::{Outcome, Reason};

/// The delay before checking again whether a reserved place was used.
const POSTPONED_FOR: Duration = Duration::from_millis(20);

impl Planner {
    /// Decides whether work on a URL begins, now that its turn has arrived.
    pub(super) fn admit(&mut self, number: u32, turn: Turn, now: Now) -> Admission {
        let node = *self.web.node(number);
        let admission = if node.stage != Stage::Waiting || node.turn != turn {
            Admission::Obsolete
        } else if turn == Turn::Document && self.hosts.given_up(node.host, node.is_home()).is_none() {
            self.reserve(number)
        } else {
            Admission::Admitted
        };
        if admission != Admission::Admitted {
            self.frontier.done(node.host, turn);
        }
        match admission {
            Admission::Admitted => self.web.node_mut(number).stage = Stage::UnderWay,
            Admission::Obsolete => {}
            Admission::Postponed => self.frontier.push_later(number, node.host, turn, now.instant + POSTPONED_FOR),
            Admission::Leaf => self.enqueue(number),
            Admission::Similar => self.web.exclude(number, &Outcome::NotTested(Reason::Similar)),
        }
        admission
    }

    /// Requests a URL of which this is stored, unless its result follows from others.
    pub(super) fn dispatch(&mut self, number: u32, stored: Option<Box<Stored>>, now: Now) {
        let node = *self.web.node(number);
        let known = if let Some(reason) = self.hosts.given_up(node.host, node.is_home()) {
            Visited::not_asked(number, reason.clone())
        } else if node.method == Method::Get && self.head.is_trusted(number, node.host, self.web.names.name(number)) {
            // In the meantime, the host has shown that its HEAD responses are reliable.
            Visited::by_head(number, node.status)
        } else {
            return self.request(number, stored);
        };
        self.frontier.done(node.host, node.turn);
        self.conclude(known, stored, now);
    }

    /// Reserves a place for a document in every task that contains it and is not full, and removes it from tasks that
    /// are full.
    fn reserve(&mut self, number: u32) -> Admission {
        let node = *self.web.node(number);
        // A document that is read only for its anchors counts for no task.
        if node.reach.is_empty() {
            return Admission::Admitted;
        }
        // A document that is requested again has been counted.
        let is_counted = node.attempts > 0;
        if node.is_foreign && !is_counted && !self.budgets.foreign.admit(node.host) {
            let node = self.web.node_mut(number);
            (node.scope, node.reach) = (SetId::EMPTY, SetId::EMPTY);
            return Admission::Leaf;
        }
        let tasks: Vec<usize> = self.web.sets.tasks(node.reach).collect();
        let open = self.budgets.open(&tasks);
        if open.len() < tasks.len() {
            self.web.node_mut(number).reach = self.web.sets.of(open.iter().copied());
        }
        self.budgets.reserve(&open, self.web.names.name(number), is_counted)
    }

    fn request(&mut self, number: u32, stored: Option<Box<Stored>>) {
        let node = self.web.node_mut(number);
        node.attempts = node.attempts.saturating_add(1);
        let (node, text) = (*node, self.web.names.name(number));
        // Only URLs are queued.
        let Ok(url) = Url::parse(text) else { return self.frontier.done(node.host, node.turn) };
        let is_valid = |it: &&Stored| it.test.outcome == Outcome::Good && it.suffices(text, &node, node.method);
        let validators = stored.as_deref().filter(is_valid).map(|it| (it.test.etag.clone(), it.test.modified.clone()));
        let (etag, modified) = validators.unwrap_or_default();
        let referer = (node.referer != NONE).then(|| self.web.names.name(node.referer));
        // The URL of an https document is not sent over http.
        let referer = referer.filter(|from| !(from.starts_with("https:") && url.scheme() == "http"));
        let referer = referer.and_then(|url| HeaderValue::from_str(url).ok());
        let (is_home, is_action, is_sitemap) = (node.is_home(), node.is_action, node.is_sitemap);
        let method = node.method;
        let job = FetchJob { node: number, url, method, referer, etag, modified, is_home, is_action, is_sitemap };
        self.in_progress.insert(number, stored);
        self.actions.push_back(Action::Fetch(Box::new(job)));
    }
}
