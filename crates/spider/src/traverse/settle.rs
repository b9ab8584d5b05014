//! What came of a visit: into the table, and on to its references.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use modoai_fetch::{HeaderMap, Next, Patience, Url};

use super::Traversal;
use super::refer::{Way, turn_of};
use super::visit::{Look, Read, Visited};
use super::web::{NONE, Stage};
use crate::anchors::Fragment;
use crate::extract::{self, Form, Page};
use crate::reference::{Leads, Target};
use crate::table::codec::{self, KeptTarget, Packer};
use crate::table::{TableError, Test};
use crate::task::Scoper;
use crate::verdict::{Fault, Outcome, Reason};

/// The version of the extraction. Whoever changes what is found in documents adds one, and pages are read again.
const READER: u32 = 1;
/// One redirect after the other: more than any browser follows.
const MOST_HOPS: u8 = 20;
/// When silence becomes a verdict: so many runs in a row, over so long a time.
const MISSED_RUNS: u32 = 3;
const MISSED_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How many more attempts a server gets that says when to come back.
const MORE_ATTEMPTS_WHEN_BUSY: u32 = 3;

/// Whether a result needs no second look when an interrupted run goes on.
pub(super) fn is_settled(outcome: &Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::NotTested(
            Reason::TimedOut
                | Reason::Connection(_)
                | Reason::Busy(_)
                | Reason::ServerTrouble(_)
                | Reason::Garbled(_)
                | Reason::Interrupted
                | Reason::RobotsUnknown
        )
    )
}

impl Traversal {
    /// Settles what came of a visit, or has it made again later.
    pub(super) fn settle(&mut self, visited: Visited) -> Result<(), TableError> {
        let number = visited.node;
        let node = *self.web.node(number);
        let turn = turn_of(node.look, node.scope.is_empty());
        self.frontier.done(node.host, turn);
        if let Some(robots) = &visited.robots
            && self.mapped.insert(node.host)
        {
            self.come_upon_sitemaps(number, robots.sitemaps())?;
        }
        if !visited.conclusion.is_final && self.is_put_off(&visited)? {
            return Ok(());
        }
        if visited.is_hearsay && self.is_doubted(&visited) {
            return Ok(());
        }
        self.learn_of_head(&visited);
        self.progress.tested += 1;
        let outcome = self.record(&visited)?;
        let node = self.web.node_mut(number);
        (node.stage, node.code, node.status) = (Stage::Done, outcome.to_code().0, visited.status.unwrap_or(0));
        match outcome {
            Outcome::Moved { to, .. } => return self.follow_redirect(number, &to),
            Outcome::Broken(_) => self.progress.broken += 1,
            Outcome::Good | Outcome::NotTested(_) => {}
        }
        if visited.status == Some(304) {
            node.status = 200;
            return self.go_on_with_kept(number);
        }
        let Some(read) = visited.read else { return self.look_again(number, &visited.headers) };
        self.progress.pages += 1;
        self.go_on_with(number, &visited.headers, read)
    }

    /// The site maps that robots.txt names: read for the tasks that have the URL which led there.
    fn come_upon_sitemaps(&mut self, number: u32, sitemaps: &[String]) -> Result<(), TableError> {
        let node = *self.web.node(number);
        let way = Way { from: number, leads: Leads::ToSource, tasks: node.reach, depth: 1, has_fragment: false };
        if node.reach.is_empty() {
            return Ok(());
        }
        for sitemap in sitemaps.iter().filter_map(|text| Url::parse(text).ok()) {
            let sitemap = self.number(sitemap.as_str())?;
            self.come_upon(sitemap, way)?;
        }
        Ok(())
    }

    /// Whether a doubtful answer is asked for again, later.
    fn is_put_off(&mut self, visited: &Visited) -> Result<bool, TableError> {
        let node = *self.web.node(visited.node);
        let is_busy = matches!(visited.conclusion.outcome, Outcome::NotTested(Reason::Busy(_)));
        let attempts = self.options.attempts + if is_busy { MORE_ATTEMPTS_WHEN_BUSY } else { 0 };
        let patience = Patience { attempts, most: Duration::from_secs(20), ..Patience::default() };
        match patience.next(node.attempts.into(), visited.wait, &mut self.dice) {
            Next::Wait(wait) => {
                let at = Instant::now() + wait;
                if is_busy {
                    self.frontier.hold(node.host, at);
                }
                self.web.node_mut(visited.node).stage = Stage::Waiting;
                self.frontier.push_later(visited.node, node.host, turn_of(node.look, node.scope.is_empty()), at);
                Ok(true)
            }
            Next::Postpone(wait) => {
                let host = Url::parse(self.web.names.name(visited.node)).ok();
                let until = Timestamp::now() + SignedDuration::try_from(wait).unwrap_or(SignedDuration::from_hours(1));
                if let Some(host) = host.as_ref().and_then(Url::host_str) {
                    self.table.keep_hold(host, until)?;
                }
                Ok(false)
            }
            Next::GiveUp => Ok(false),
        }
    }

    /// Writes the test into the table, beside what was known. Returns the outcome, which may have become one by long silence.
    fn record(&mut self, visited: &Visited) -> Result<Outcome, TableError> {
        let now = Timestamp::now();
        let known = self.web.node(visited.node).is_known;
        let old = if known { self.table.test(visited.node)? } else { None };
        let is_unchanged = visited.status == Some(304);
        let mut test = match (&old, is_unchanged) {
            (Some(old), true) => Test { run: self.begun.number, at: now, outcome: Outcome::Good, ..old.clone() },
            _ => self.fresh(visited, old.as_ref(), now),
        };
        let is_missed = matches!(
            test.outcome,
            Outcome::NotTested(
                Reason::TimedOut | Reason::Connection(_) | Reason::Garbled(_) | Reason::ServerTrouble(_)
            )
        );
        test.missed = if is_missed { old.as_ref().map_or(0, |old| old.missed) + 1 } else { 0 };
        test.since = match &old {
            Some(old) if class(&old.outcome) == class(&test.outcome) || (is_missed && old.missed > 0) => old.since,
            _ => now,
        };
        if is_missed && test.missed >= MISSED_RUNS && test.at.duration_since(test.since) >= MISSED_FOR {
            test.outcome = Outcome::Broken(Fault::Unreachable);
        }
        self.table.record(visited.node, &test)?;
        let node = self.web.node_mut(visited.node);
        node.is_known = true;
        node.form = test.form;
        Ok(test.outcome)
    }

    fn fresh(&self, visited: &Visited, old: Option<&Test>, now: Timestamp) -> Test {
        let headers = &visited.headers;
        let page = visited.read.as_ref().map(|read| &read.page);
        let etag = text(headers, "etag");
        let modified = text(headers, "last-modified");
        let length = || text(headers, "content-length").and_then(|length| length.parse().ok());
        let bytes = visited.read.as_ref().map(|read| read.bytes).or_else(length);
        let digest = visited.read.as_ref().map(|read| read.digest);
        let is_changed = old.is_some_and(|old| match (old.digest, digest) {
            (Some(before), Some(now)) => before != now,
            _ => {
                old.outcome == Outcome::Good
                    && visited.conclusion.outcome == Outcome::Good
                    && (&old.etag, &old.modified, old.bytes) != (&etag, &modified, bytes)
            }
        });
        let expires = page.and_then(|page| page.expires.as_deref().and_then(date));
        Test {
            run: self.begun.number,
            at: now,
            outcome: visited.conclusion.outcome.clone(),
            status: visited.status,
            etag,
            modified,
            expires: expires.or_else(|| text(headers, "expires").as_deref().and_then(date)),
            media_type: text(headers, "content-type"),
            bytes,
            owner: text(headers, "owner").or_else(|| page.and_then(|page| page.owner.as_deref().map(str::to_owned))),
            title: page.and_then(|page| page.title.as_deref().map(str::to_owned)),
            form: page.map_or(Form::Other, |page| page.form),
            digest,
            changed: if is_changed { Some(now) } else { old.and_then(|old| old.changed) },
            since: now,
            missed: 0,
        }
    }

    /// A redirect: its target is a URL of its own.
    fn follow_redirect(&mut self, number: u32, to: &str) -> Result<(), TableError> {
        let target = self.number(to)?;
        let node = self.web.node_mut(number);
        let hops = node.hops.saturating_add(1);
        node.redirect = target;
        if hops > MOST_HOPS {
            node.code = Outcome::Broken(Fault::RedirectLoop).to_code().0;
            return Ok(());
        }
        let node = *node;
        self.move_top(number, target);
        self.web.keep_edges(number, vec![target]);
        let onward = self.web.node_mut(target);
        onward.hops = onward.hops.max(hops);
        let leads = if node.is_wanted { Leads::ToDocument } else { Leads::ToPart };
        let way = Way { from: node.referer, leads, tasks: node.reach, depth: node.depth, has_fragment: node.is_quoted };
        self.come_upon(target, way)
    }

    /// Where the top of a task has moved, the task goes along: whoever asks for example.org means www.example.org, too.
    fn move_top(&mut self, number: u32, target: u32) {
        let tasks: Vec<usize> = self.web.sets.tasks(self.web.node(number).reach).collect();
        let Ok(to) = Url::parse(self.web.names.name(target)) else { return };
        let mut is_moved = false;
        for task in tasks {
            if self.is_top_of(task, self.web.names.name(number)) {
                let moved = &mut self.plan.tasks[task];
                self.remarks.push(format!("the top {} of {} has moved to {to}", moved.top, moved.name));
                moved.top = to.clone();
                self.scopers[task] = Scoper::new(moved);
                is_moved = true;
            }
        }
        // Whose a URL is has changed with that; few are known as yet.
        if is_moved {
            for node in 0..self.web.nodes.len() as u32 {
                if self.web.node(node).host != NONE {
                    self.prepare(node);
                }
            }
        }
    }

    /// A leaf was tested; if it turns out to be a document of some task, it is read after all.
    fn look_again(&mut self, number: u32, headers: &HeaderMap) -> Result<(), TableError> {
        let node = self.web.node_mut(number);
        let is_html = text(headers, "content-type").is_some_and(|media| media.starts_with("text/html"));
        if node.look != Look::Read && node.code == 0 && node.is_wanted && !node.reach.is_empty() && is_html {
            node.is_promising = true;
            // What is a leaf by somebody's word stays one, whatever it turns out to be.
            if self.look(number) == Look::Read {
                return self.enqueue(number);
            }
        }
        Ok(())
    }

    /// A document was read: keeps what it says, and goes on to its references.
    fn go_on_with(&mut self, number: u32, headers: &HeaderMap, read: Read) -> Result<(), TableError> {
        let url = Url::parse(self.web.names.name(number)).ok();
        if let Some(url) = &url {
            // Whoever keeps the map of owners knows better than a template that every page was made from.
            let said = text(headers, "owner");
            let owner = self.owners.of(url).or(said.as_deref()).or(read.page.owner.as_deref());
            let owner = owner.map(str::to_owned);
            self.settle_owner(number, url, owner.as_deref());
        }
        let Page { references, anchors, .. } = read.page;
        let is_followed = self.is_followed(number);
        let way = self.way_from(number);
        let mut packer = Packer::default();
        let mut edges = Vec::new();
        for reference in &references {
            let mut target = None;
            if let Target::Web { url, fragment } = &reference.target {
                let to = self.number(url)?;
                target = Some(to);
                if is_followed {
                    self.refer(to, way, reference.kind.leads(), fragment.as_deref(), &mut edges)?;
                }
            }
            packer.push(reference, target);
        }
        self.web.keep_edges(number, edges);
        // Compression into memory fails for want of memory only; such a page is read again next time.
        let refs = packer.finish().unwrap_or_default();
        self.table.keep_page(number, READER, !read.is_whole, &refs, &anchors.to_bytes())
    }

    /// A document has not changed: goes on to the references that were kept.
    fn go_on_with_kept(&mut self, number: u32) -> Result<(), TableError> {
        if self.web.node(number).look != Look::Read {
            return Ok(());
        }
        self.progress.pages += 1;
        if let (Ok(url), Some(test)) = (Url::parse(self.web.names.name(number)), self.table.test(number)?) {
            let owner = self.owners.of(&url).map(str::to_owned).or(test.owner);
            self.settle_owner(number, &url, owner.as_deref());
        }
        if !self.is_followed(number) {
            self.web.keep_edges(number, Vec::new());
            return Ok(());
        }
        self.follow_kept(number)
    }

    /// Whether the references of a document are followed: not if it turns out to be nobody's, or was read for its anchors
    /// only. A task that comes upon it later makes up for that.
    fn is_followed(&mut self, number: u32) -> bool {
        let node = self.web.node_mut(number);
        node.is_nobodys = node.reach.is_empty();
        !node.is_nobodys
    }

    /// Goes on to the references that the table has of a document.
    pub(super) fn follow_kept(&mut self, number: u32) -> Result<(), TableError> {
        self.web.node_mut(number).is_nobodys = false;
        let Some(packed) = self.table.references(number)? else { return Ok(()) };
        let way = self.way_from(number);
        let mut edges = Vec::new();
        let bytes = codec::unpack(&packed);
        for kept in codec::references(&bytes) {
            if let KeptTarget::Node { id, fragment } = kept.target
                && (id as usize) < self.web.nodes.len()
            {
                self.refer(id, way, kept.kind.leads(), fragment, &mut edges)?;
            }
        }
        self.web.keep_edges(number, edges);
        Ok(())
    }

    /// What this very run has tested before it was interrupted is not tested again.
    pub(super) fn recall(&mut self, number: u32) -> Result<(), TableError> {
        let look = self.look(number);
        let node = *self.web.node(number);
        let test = self.table.test(number)?;
        if look == Look::Read
            && node.code == 0
            && let Some(test) = &test
            && self.is_unread(number, test)?
        {
            self.web.node_mut(number).is_recent = false;
            return self.enqueue(number);
        }
        let node = self.web.node_mut(number);
        (node.stage, node.look) = (Stage::Done, look);
        self.progress.tested += 1;
        match test.map(|test| test.outcome) {
            Some(Outcome::Moved { to, .. }) => self.follow_redirect(number, &to),
            Some(Outcome::Broken(_)) => {
                self.progress.broken += 1;
                Ok(())
            }
            _ => self.go_on_with_kept(number),
        }
    }

    /// Whether a document was tested and not read, or by another version of the reader: then it must come whole.
    pub(super) fn is_unread(&self, number: u32, test: &Test) -> Result<bool, TableError> {
        let media_type = test.media_type.as_deref().map(|text| text.split(';').next().unwrap_or(text).trim());
        let media_type = media_type.map(str::to_ascii_lowercase);
        let url = Url::parse(self.web.names.name(number));
        let may_be_read = url.is_ok_and(|url| extract::is_read(media_type.as_deref(), &url));
        Ok(may_be_read && !self.table.has_page(number, READER)?)
    }

    fn way_from(&self, number: u32) -> Way {
        let node = self.web.node(number);
        let depth = node.depth.saturating_add(1);
        Way { from: number, leads: Leads::ToDocument, tasks: node.reach, depth, has_fragment: false }
    }

    fn refer(
        &mut self,
        to: u32,
        way: Way,
        leads: Leads,
        fragment: Option<&str>,
        edges: &mut Vec<u32>,
    ) -> Result<(), TableError> {
        if let Some(fragment) = fragment {
            self.wanted.insert((to, Fragment::new(fragment)));
        }
        self.come_upon(to, Way { leads, has_fragment: fragment.is_some(), ..way })?;
        if matches!(leads, Leads::ToDocument | Leads::ToSource) && !self.web.node(to).scope.is_empty() {
            edges.push(to);
        }
        Ok(())
    }
}

/// What stays the same as long as "since" does.
fn class(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Good => 0,
        Outcome::Broken(_) => 1,
        Outcome::Moved { .. } => 2,
        Outcome::NotTested(_) => 3,
    }
}

/// A header, as far as it is text.
fn text(headers: &HeaderMap, name: &'static str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// A date as HTTP writes it, or as people do in documents.
fn date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    httpdate::parse_http_date(text)
        .ok()
        .and_then(|date| Timestamp::try_from(date).ok())
        .or_else(|| text.parse().ok())
        .or_else(|| {
            text.parse::<jiff::civil::Date>()
                .ok()?
                .to_zoned(jiff::tz::TimeZone::UTC)
                .ok()
                .map(|zoned| zoned.timestamp())
        })
}
