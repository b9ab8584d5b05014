//! Decides about the result of a test: it is stored and its references are followed, or the URL is tested again.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use modoai_fetch::{Next, Patience, Url};

use super::Planner;
use super::action::{Action, Method, Now, Sight, Stored};
use super::frontier::Turn;
use super::record::{combined, text};
use super::web::Stage;
use crate::table::Test;
use crate::traverse::visit::Visited;
use crate::verdict::{Fault, Outcome, Reason};

/// The number of additional attempts for a server that sends `Retry-After`.
const MORE_ATTEMPTS_WHEN_BUSY: u32 = 3;
/// The time for which a document that was never read may be assumed to link to others.
const BLIND_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The decision about another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    /// The result is final.
    No,
    /// The URL is requested again at this time.
    At(Instant),
    /// The result is final, and the host receives no requests before this date, which is too late for this run.
    HostAfter(Timestamp),
}

impl Planner {
    /// Processes the result of a request: it is final, or the URL is requested again.
    pub(super) fn settle(&mut self, mut visited: Visited, stored: Option<Box<Stored>>, now: Now) {
        let number = visited.node;
        let node = *self.web.node(number);
        if node.turn == Turn::Document {
            // Another attempt reserves the places again.
            let is_read = visited.read.is_some() || visited.status == Some(304);
            self.budgets.release(self.web.sets.tasks(node.reach), is_read);
        }
        self.frontier.done(node.host, node.turn);
        if let Some(robots) = visited.robots.take() {
            if let Some(pause) = robots.crawl_delay() {
                self.frontier.pace(node.host, pause);
            }
            self.follow_robots(number, &robots);
        }
        match self.retry(&visited, now) {
            Retry::At(at) => {
                // 429 concerns the client; 503 may concern this page only.
                if visited.status == Some(429) {
                    self.frontier.hold(node.host, at);
                }
                self.web.node_mut(number).stage = Stage::Waiting;
                return self.frontier.push_later(number, node.host, node.turn, at);
            }
            Retry::HostAfter(until) => {
                let url = Url::parse(self.web.names.name(number)).ok();
                let host = url.as_ref().and_then(Url::host_str);
                self.actions.extend(host.map(|host| Action::StoreHold(host.into(), until)));
            }
            Retry::No => {}
        }
        if visited.is_missing_by_head {
            self.head.record_missing(number, &visited.headers);
            if !self.head.is_trusted(number, node.host, self.web.names.name(number)) {
                self.web.node_mut(number).status = visited.status.unwrap_or(0);
                return self.enqueue_get(number);
            }
        }
        self.conclude(visited, stored, now);
    }

    /// Stores a final result, and follows the references.
    pub(super) fn conclude(&mut self, mut visited: Visited, stored: Option<Box<Stored>>, now: Now) {
        let number = visited.node;
        let node = *self.web.node(number);
        for number in self.head.record(&visited, node.method, node.host, self.web.names.name(number)) {
            self.enqueue_get(number);
        }
        self.hosts.record(node.host, node.is_home(), &visited.conclusion.outcome);
        self.progress.tested += 1;
        let (old, has_page) = stored.map_or((None, false), |stored| (Some(stored.test), stored.has_page));
        let test = combined(&visited, old.as_ref(), self.run.number, now.date);
        let status = visited.status;
        let node = self.web.node_mut(number);
        (node.is_known, node.form, node.stage) = (true, test.form, Stage::Done);
        (node.code, node.status) = (test.outcome.to_code().0, status.unwrap_or(0));
        let (outcome, owner) = (test.outcome.clone(), test.owner.clone());
        let is_unread = self.show(number, &test, Some(&mut visited), has_page);
        self.actions.push_back(Action::StoreTest(number, Box::new(test)));
        if is_unread {
            self.follow_unchanged(number, owner.as_deref());
        }
        let node = self.web.node_mut(number);
        match outcome {
            Outcome::Moved { to, .. } => {
                node.sets_cookie = visited.headers.contains_key("set-cookie");
                return self.follow_redirect(number, &to);
            }
            Outcome::Broken(_) => self.progress.broken += 1,
            Outcome::Good | Outcome::NotTested(_) => {}
        }
        if status == Some(304) {
            node.status = 200;
            self.follow_unchanged(number, owner.as_deref());
        } else if let Some(read) = visited.read {
            self.progress.pages += 1;
            self.follow_page(number, owner.as_deref(), read);
        } else if node.method != Method::Read && node.is_good() {
            // A tested leaf is read if it is a document of a task after all, or if a document reference to it was found
            // in the meantime.
            let media_type = text(&visited.headers, "content-type");
            node.is_promising = media_type.is_some_and(|media_type| media_type.starts_with("text/html"));
            self.enqueue_document(number);
        }
    }

    fn retry(&mut self, visited: &Visited, now: Now) -> Retry {
        if visited.conclusion.is_final {
            return Retry::No;
        }
        let is_busy = matches!(visited.conclusion.outcome, Outcome::NotTested(Reason::Busy(_)));
        let attempts = self.options.attempts + if is_busy { MORE_ATTEMPTS_WHEN_BUSY } else { 0 };
        let patience = Patience { attempts, most: Duration::from_secs(20), ..Patience::default() };
        match patience.next(self.web.node(visited.node).attempts.into(), visited.wait, &mut self.dice) {
            Next::Wait(wait) => Retry::At(now.instant + wait),
            // 503 may concern this page only.
            Next::Postpone(wait) if visited.status != Some(503) => Retry::HostAfter(now.date_after(wait)),
            Next::Postpone(_) | Next::GiveUp => Retry::No,
        }
    }

    /// Reports the result of a URL to the observer. If the URL was tested before the run was interrupted, only its
    /// outcome is available. Returns true if the stored references of the document are to be followed.
    pub(super) fn show(&mut self, number: u32, test: &Test, visited: Option<&mut Visited>, has_page: bool) -> bool {
        let node = *self.web.node(number);
        if !self.is_observed || !node.is_home() || node.is_action {
            return false;
        }
        let status = visited.as_ref().and_then(|visited| visited.status);
        let is_recalled = visited.is_none();
        let received = visited.and_then(|visited| Some((visited.kept.take()?, visited.headers.clone())));
        let sight = match (&test.outcome, received) {
            (Outcome::Good, Some((taken, headers))) => {
                Sight::Came { headers, body: taken.bytes, is_whole: taken.is_whole }
            }
            (Outcome::Good, None) if is_recalled || status == Some(304) => Sight::Same,
            (Outcome::Broken(Fault::Status(404 | 410)) | Outcome::Moved { permanent: true, .. }, _) => Sight::Gone,
            _ => Sight::Untested { is_blind: node.method == Method::Read && !has_page && is_blind(test) },
        };
        let is_untested = matches!(sight, Sight::Untested { .. });
        self.actions.push_back(Action::Show(number, Box::new(sight)));
        is_untested
    }
}

/// Returns true if a later visit may find the references of a document that was never read.
fn is_blind(test: &Test) -> bool {
    let is_permanent = matches!(
        test.outcome,
        Outcome::Good
            | Outcome::Moved { .. }
            | Outcome::NotTested(Reason::Robots(_) | Reason::Login(_) | Reason::Refused(_))
            | Outcome::Broken(Fault::Status(..500) | Fault::RedirectLoop | Fault::RedirectNowhere)
    );
    !is_permanent && test.at.duration_since(test.since) < BLIND_FOR
}
