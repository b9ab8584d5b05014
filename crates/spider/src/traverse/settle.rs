//! Stores the result of a visit and schedules its references.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use modoai_fetch::{HeaderMap, Next, Patience, Robots, Url};

use super::Traversal;
use super::record::text;
use super::refer::Way;
use super::sets::SetId;
use super::visit::{Method, Read, Visited};
use super::web::{MOST_HOPS, NONE, Stage};
use crate::anchors::Fragment;
use crate::extract::Page;
use crate::reference::{Leads, Target};
use crate::table::TableError;
use crate::table::codec::Packer;
use crate::task::{Owners, Scope, Scoper};
use crate::verdict::{Fault, Outcome, Reason};

/// The version of the extraction. If you change what is extracted from documents, increase it, and pages are read
/// again.
pub(super) const READER: u32 = 2;
/// The number of additional attempts for a server that sends `Retry-After`.
const MORE_ATTEMPTS_WHEN_BUSY: u32 = 3;

/// Returns true if a resumed run need not test a URL with this outcome again.
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
    /// Stores the result of a visit, or schedules another attempt.
    pub(super) fn settle(&mut self, visited: Visited) -> Result<(), TableError> {
        let number = visited.node;
        let node = *self.web.node(number);
        self.frontier.done(node.host, node.turn);
        if let Some(robots) = &visited.robots {
            self.heed(number, robots)?;
        }
        if !visited.conclusion.is_final && self.is_put_off(&visited)? {
            return Ok(());
        }
        if visited.is_missing_by_head && self.is_doubted(&visited) {
            return Ok(());
        }
        self.learn_of_head(&visited);
        self.give_back(&visited);
        self.learn_of_silence(&visited);
        self.progress.tested += 1;
        let outcome = self.record(&visited)?;
        let node = self.web.node_mut(number);
        (node.stage, node.code, node.status) = (Stage::Done, outcome.to_code().0, visited.status.unwrap_or(0));
        if self.show(number, &outcome, Some(&visited))? {
            self.go_on_with_kept(number)?;
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
        if visited.status == Some(304) {
            node.status = 200;
            return self.go_on_with_kept(number);
        }
        let Some(read) = visited.read else {
            self.look_again(number, &visited.headers);
            return Ok(());
        };
        self.progress.pages += 1;
        self.go_on_with(number, &visited.headers, read)
    }

    /// Applies the crawl delay of robots.txt and queues the sitemaps that it lists. They are read for every task that
    /// has a URL of the host.
    fn heed(&mut self, number: u32, robots: &Robots) -> Result<(), TableError> {
        let node = *self.web.node(number);
        if let Some(pause) = robots.crawl_delay() {
            self.frontier.pace(node.host, pause);
        }
        if !self.options.sitemaps || robots.sitemaps().is_empty() || node.reach.is_empty() || node.is_foreign {
            return Ok(());
        }
        let before = self.mapped.get(&node.host).copied().unwrap_or_default();
        let tasks = self.web.sets.union(before, node.reach);
        if tasks == before {
            return Ok(());
        }
        self.mapped.insert(node.host, tasks);
        let way = Way { from: number, leads: Leads::ToSitemap, tasks, depth: 1, has_fragment: false };
        for mut sitemap in robots.sitemaps().iter().filter_map(|text| Url::parse(text).ok()) {
            // Credentials must not appear in reports. Removing them cannot fail in a URL that has them.
            let _ = (sitemap.set_username(""), sitemap.set_password(None));
            let sitemap = self.number(sitemap.as_str())?;
            self.admit_sitemap(sitemap, tasks);
            self.come_upon(sitemap, way);
        }
        Ok(())
    }

    /// Allows tasks to read a sitemap regardless of its location: a tree may have pages in a sitemap outside the tree.
    fn admit_sitemap(&mut self, number: u32, tasks: SetId) {
        if self.web.node(number).host == NONE {
            self.prepare(number);
        }
        let scope = self.web.sets.union(self.web.node(number).scope, tasks);
        self.web.node_mut(number).scope = scope;
    }

    /// Counts missing responses per host: requests to a host that does not respond must end.
    fn learn_of_silence(&mut self, visited: &Visited) {
        let node = self.web.node(visited.node);
        match &visited.conclusion.outcome {
            Outcome::NotTested(
                reason @ (Reason::TimedOut | Reason::Connection(_) | Reason::Busy(_) | Reason::Garbled(_)),
            ) if !self.is_given_up(visited.node) => {
                let silence = self.silences.entry(node.host).or_insert((0, reason.clone()));
                *silence = (silence.0 + 1, reason.clone());
            }
            Outcome::NotTested(_) => {}
            _ => _ = self.silences.remove(&node.host),
        }
    }

    /// Returns true if the requests to a host have failed too often. Hosts that are maintained have a higher limit.
    pub(super) fn is_given_up(&self, number: u32) -> bool {
        let node = self.web.node(number);
        let enough = if node.is_home() { 12 } else { 3 };
        self.silences.get(&node.host).is_some_and(|(times, _)| *times >= enough)
    }

    /// Schedules a retry after a result that is not final. Returns true if it did.
    fn is_put_off(&mut self, visited: &Visited) -> Result<bool, TableError> {
        let node = *self.web.node(visited.node);
        let is_busy = matches!(visited.conclusion.outcome, Outcome::NotTested(Reason::Busy(_)));
        let attempts = self.options.attempts + if is_busy { MORE_ATTEMPTS_WHEN_BUSY } else { 0 };
        let patience = Patience { attempts, most: Duration::from_secs(20), ..Patience::default() };
        match patience.next(node.attempts.into(), visited.wait, &mut self.dice) {
            Next::Wait(wait) => {
                let at = Instant::now() + wait;
                // 429 concerns the client; 503 may concern this page only.
                if matches!(visited.status, Some(429)) {
                    self.frontier.hold(node.host, at);
                }
                self.web.node_mut(visited.node).stage = Stage::Waiting;
                self.frontier.push_later(visited.node, node.host, node.turn, at);
                Ok(true)
            }
            Next::Postpone(_) if visited.status == Some(503) => Ok(false),
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

    /// Processes a redirect: its target is a separate URL.
    pub(super) fn follow_redirect(&mut self, number: u32, to: &str) -> Result<(), TableError> {
        let (to, part) = to.split_once('#').unwrap_or((to, ""));
        let target = self.number(to)?;
        if !part.is_empty() {
            self.web.redirected_to.insert(number, part.into());
        }
        let node = self.web.node_mut(number);
        let hops = node.hops.saturating_add(1);
        if hops > MOST_HOPS {
            node.code = Outcome::Broken(Fault::RedirectLoop).to_code().0;
            return Ok(());
        }
        node.redirect = target;
        let node = *node;
        self.move_top(number, target);
        self.web.keep_edges(number, vec![target]);
        let onward = self.web.node_mut(target);
        onward.hops = onward.hops.max(hops);
        let leads = match node {
            _ if node.is_sitemap => Leads::ToSitemap,
            _ if node.is_wanted => Leads::ToDocument,
            _ if node.is_action => Leads::ToAction,
            _ if node.is_ornament => Leads::ToOrnament,
            _ => Leads::ToPart,
        };
        let way = Way { from: node.referer, leads, tasks: node.reach, depth: node.depth, has_fragment: node.is_quoted };
        self.come_upon(target, way);
        Ok(())
    }

    /// Moves a task if its top has moved permanently or within the same site: a task for example.org includes
    /// www.example.org.
    fn move_top(&mut self, number: u32, target: u32) {
        let node = *self.web.node(number);
        let tasks: Vec<usize> = self.web.sets.tasks(node.reach).collect();
        let Ok(to) = Url::parse(self.web.names.name(target)) else { return };
        let mut is_moved = false;
        for task in tasks {
            let moved = &mut self.plan.tasks[task];
            if moved.top.as_str().split('#').next() != Some(self.web.names.name(number))
                || !may_move(&moved.top, &to, moved.scope, matches!(node.status, 301 | 308))
            {
                continue;
            }
            self.remarks.push(format!("the start page {} of {} has moved to {to}", moved.top, moved.name));
            moved.top = to.clone();
            self.scopers[task] = Scoper::new(moved);
            is_moved = true;
        }
        if !is_moved {
            return;
        }
        // Paths of owner rules are relative to the tops. The rules were valid before, so they still are.
        if let Ok(owners) = Owners::new(&self.plan) {
            self.owners = owners;
        }
        // The move may change which tasks contain a URL; few URLs are known at this time.
        for node in 0..self.web.nodes.len() as u32 {
            if self.web.node(node).host != NONE {
                self.prepare(node);
            }
        }
    }

    /// Reads a tested leaf if it is a document of a task after all, or if a document reference to it was found in the
    /// meantime.
    fn look_again(&mut self, number: u32, headers: &HeaderMap) {
        let node = self.web.node_mut(number);
        if node.method == Method::Read || !node.is_good() {
            return;
        }
        node.is_promising = text(headers, "content-type").is_some_and(|media| media.starts_with("text/html"));
        if self.method(number) == Method::Read {
            self.enqueue(number);
        }
    }

    /// Stores the contents of a document that was read, and follows its references.
    fn go_on_with(&mut self, number: u32, headers: &HeaderMap, read: Read) -> Result<(), TableError> {
        let url = Url::parse(self.web.names.name(number)).ok();
        if let Some(url) = &url {
            // The owner rules override the page, since the owner in a page often originates in a template.
            let said = text(headers, "owner");
            let owner = self.owners.of(url).or(said.as_deref()).or(read.page.owner.as_deref());
            let owner = owner.map(str::to_owned);
            self.settle_owner(number, url, owner.as_deref());
        }
        let Page { references, anchors, left_out, .. } = read.page;
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
                    self.refer(to, way, reference.kind.leads(), fragment.as_deref(), &mut edges);
                }
            }
            packer.push(reference, target);
        }
        self.web.keep_edges(number, edges);
        // Compression into memory fails only if memory is exhausted; such a page is read again in the next run.
        let refs = packer.finish().unwrap_or_default();
        self.table.keep_page(number, READER, !read.is_whole || left_out > 0, &refs, &anchors.to_bytes())
    }

    /// Returns true if the references of a document are followed. They are not if no task contains it, or if it was
    /// read only for its anchors. If a task reaches it later, its stored references are followed then.
    pub(super) fn is_followed(&mut self, number: u32) -> bool {
        let node = self.web.node_mut(number);
        node.is_nobodys = node.reach.is_empty();
        !node.is_nobodys
    }

    pub(super) fn way_from(&self, number: u32) -> Way {
        let node = self.web.node(number);
        let depth = node.depth.saturating_add(1);
        Way { from: number, leads: Leads::ToDocument, tasks: node.reach, depth, has_fragment: false }
    }

    pub(super) fn refer(&mut self, to: u32, way: Way, leads: Leads, fragment: Option<&str>, edges: &mut Vec<u32>) {
        if let Some(fragment) = fragment {
            self.wanted.insert((to, Fragment::new(fragment)));
        }
        // The sitemaps of an index have the permissions of the index.
        if leads == Leads::ToSitemap && self.web.node(way.from).is_sitemap {
            self.admit_sitemap(to, way.tasks);
        }
        self.come_upon(to, Way { leads, has_fragment: fragment.is_some(), ..way });
        if leads.is_read() && !self.web.node(to).scope.is_empty() {
            edges.push(to);
        }
    }
}

/// Returns true if a task moves with its top: if the redirect is permanent, or if the target is on the same site. A
/// tree never becomes larger, and a redirect to a login page does not create a new site.
fn may_move(from: &Url, to: &Url, scope: Scope, is_permanent: bool) -> bool {
    let host = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    let folder = |url: &Url| url.path().rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"));
    let is_same_site = host(from) == host(to) && from.port() == to.port();
    let is_wider = scope == Scope::Tree && folder(from) != folder(to) && folder(from).starts_with(&folder(to));
    (is_permanent || is_same_site) && !is_wider
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tops_move_along_and_never_astray() {
        let may = |from: &str, to: &str, scope, is_permanent| {
            may_move(&Url::parse(from).expect("a URL"), &Url::parse(to).expect("a URL"), scope, is_permanent)
        };
        assert!(may("http://example.org/", "https://www.example.org/", Scope::Site, false));
        assert!(may("http://example.org/", "https://example.net/", Scope::Site, true));
        assert!(!may("http://example.org/", "https://login.example.net/", Scope::Site, false));
        assert!(may("http://a/docs", "http://a/docs/", Scope::Tree, true), "smaller is allowed");
        assert!(!may("http://a/docs/", "http://a/login", Scope::Tree, false));
        assert!(!may("http://a/docs/", "http://a/", Scope::Tree, true));
    }
}
