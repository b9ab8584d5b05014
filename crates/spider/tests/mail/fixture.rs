//! A run that was never made, and a route that keeps what it is given.

use std::collections::HashSet;

use jiff::Timestamp;
use lettre::message::Mailbox;
use modoai_spider::mail::route::Refused;
use modoai_spider::mail::{Delivery, Letter, Route, RouteError, SqliteLedger, deliver};
use modoai_spider::reference::Kind;
use modoai_spider::results::{
    Document, Earlier, Finding, Infostructure, Referenced, Results, Run, State, Summary, Visit,
};
use modoai_spider::task::{Scope, Task, Tell};
use modoai_spider::verdict::Verdict;
use rusqlite::Connection;

pub(super) fn moment(text: &str) -> Timestamp {
    text.parse().expect("a moment")
}

/// When everything here happens.
pub(super) fn now() -> Timestamp {
    moment("2026-11-16T06:00:00Z")
}

/// Broken links, and nothing else.
pub(super) fn broken() -> Tell {
    Tell { broken: true, ..Tell::default() }
}

/// A run with these results.
#[derive(Clone, Default)]
pub(super) struct Made {
    pub(super) run: Run,
    pub(super) webs: Vec<Infostructure>,
    pub(super) findings: Vec<Finding>,
    pub(super) documents: Vec<(usize, Document, Vec<Referenced>)>,
    pub(super) earlier: Vec<Earlier>,
    pub(super) people: Vec<(String, Vec<String>)>,
}

impl Made {
    /// A run over webs of these names, addresses and wishes.
    pub(super) fn new(tasks: &[(&str, &[&str], Tell)]) -> Self {
        let run = Run { number: 3, began: moment("2026-11-16T03:00:00Z"), ended: now(), ..Run::default() };
        let webs = tasks
            .iter()
            .map(|(name, addresses, tell)| Infostructure {
                task: Task {
                    index_url: Some(format!("https://example.org/index/{name}.html").parse().expect("a URL")),
                    index_title: Some(format!("All of {}", name.to_uppercase())),
                    addresses: addresses.iter().map(|&address| address.to_owned()).collect(),
                    tell: tell.clone(),
                    ..Task::new(*name, Scope::Site, "https://example.org/".parse().expect("a URL"))
                },
                summary: Summary { pages: 312, links: 4_210, fixed: 2, ..Summary::default() },
            })
            .collect();
        Self { run, webs, ..Self::default() }
    }

    /// With this finding in the web of that name.
    pub(super) fn with(mut self, web: &str, page: &str, target: &str, verdict: Verdict) -> Self {
        self.findings.push(finding(web, page, target, verdict));
        self
    }

    pub(super) fn person(mut self, owner: &str, addresses: &[&str]) -> Self {
        self.people.push((owner.to_owned(), addresses.iter().map(|&address| address.to_owned()).collect()));
        self
    }

    /// Delivers it.
    pub(super) fn deliver(&self, route: &mut dyn Route, table: &Connection) -> Delivery {
        self.deliver_at(route, table, now())
    }

    pub(super) fn deliver_at(&self, route: &mut dyn Route, table: &Connection, now: Timestamp) -> Delivery {
        let mut ledger = SqliteLedger::open(table).expect("a ledger");
        deliver(self, &self.people, route, &mut ledger, now).expect("readable results")
    }
}

/// A finding in the web of that name.
pub(super) fn finding(web: &str, page: &str, target: &str, verdict: Verdict) -> Finding {
    let (target, fragment) = target.split_once('#').map_or((target, None), |(url, part)| (url, Some(part.to_owned())));
    Finding {
        page: format!("https://example.org/{page}"),
        title: Some(format!("The {page} page")),
        target: target.to_owned(),
        fragment,
        verdict,
        status: (verdict == Verdict::Broken).then_some(404),
        reason: match verdict {
            Verdict::Broken => "404 not found",
            Verdict::Fragment => "fragment not found in the page",
            Verdict::Moved => "moved permanently",
            _ => "timeout",
        }
        .to_owned(),
        element: "a href",
        line: 12,
        text: "our paper".to_owned(),
        since: Some(moment("2026-11-12T03:00:00Z")),
        is_new: true,
        to: (verdict == Verdict::Moved).then(|| "https://new.example/".to_owned()),
        permanent: verdict == Verdict::Moved,
        owner: None,
        tasks: vec![web.to_owned()],
    }
}

/// The same finding, of an earlier run.
pub(super) fn earlier(finding: &Finding, state: State) -> Earlier {
    Earlier {
        page: finding.page.clone(),
        target: finding.target.clone(),
        fragment: finding.fragment.clone(),
        verdict: finding.verdict,
        since: finding.since,
        state,
    }
}

pub(super) fn document(url: &str) -> Document {
    Document {
        title: Some("A document".to_owned()),
        first_seen: moment("2020-01-01T00:00:00Z"),
        ..Document::new(1, url)
    }
}

pub(super) fn referenced(target: &str) -> Referenced {
    Referenced::new(Kind::Anchor, 7, "elsewhere", target)
}

impl Results for Made {
    fn run(&self) -> &Run {
        &self.run
    }

    fn infostructures(&self) -> &[Infostructure] {
        &self.webs
    }

    fn documents(&self, of: usize, visit: &mut dyn FnMut(&Document, &[Referenced]) -> Visit) -> Visit {
        self.documents.iter().filter(|(web, ..)| *web == of).try_for_each(|(_, document, links)| visit(document, links))
    }

    fn findings(&self, of: Option<usize>, visit: &mut dyn FnMut(&Finding) -> Visit) -> Visit {
        let is_in = |finding: &&Finding| of.is_none_or(|of| finding.tasks.contains(&self.webs[of].task.name));
        self.findings.iter().filter(is_in).try_for_each(visit)
    }

    fn earlier(&self, _: Option<usize>, visit: &mut dyn FnMut(&Earlier) -> Visit) -> Visit {
        self.earlier.iter().try_for_each(visit)
    }
}

/// A route that keeps messages, and refuses some addresses.
pub(super) struct Kept {
    sender: Mailbox,
    pub(super) refuses: HashSet<String>,
    pub(super) letters: Vec<(Vec<String>, String, Vec<u8>)>,
}

impl Default for Kept {
    fn default() -> Self {
        let sender = "The spider <spider@example.org>".parse().expect("an address");
        Self { sender, refuses: HashSet::new(), letters: Vec::new() }
    }
}

impl Kept {
    /// The one message that must have come.
    pub(super) fn only(&self) -> (&[String], &str, super::received::Parts) {
        let [(to, subject, bytes)] = &self.letters[..] else { panic!("{} messages", self.letters.len()) };
        (to, subject, super::received::Parts::read(bytes))
    }
}

impl Route for Kept {
    fn sender(&self) -> &Mailbox {
        &self.sender
    }

    fn name(&self) -> String {
        "a box".to_owned()
    }

    fn send(&mut self, letter: &Letter) -> Result<Vec<Refused>, RouteError> {
        let to: Vec<_> = letter.to.iter().map(|mailbox| mailbox.email.to_string()).collect();
        let refused: Vec<_> = to
            .iter()
            .filter(|to| self.refuses.contains(*to))
            .map(|to| (to.clone(), "no such box".to_owned()))
            .collect();
        if refused.len() < to.len() {
            self.letters.push((to, letter.subject.clone(), letter.message.formatted()));
        }
        Ok(refused)
    }
}
