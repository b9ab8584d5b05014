//! Follows the references of a document, new or stored, and redirects.

use modoai_fetch::{Robots, Url};

use super::Planner;
use super::action::{Action, Method};
use super::discover::Way;
use super::web::{MAX_HOPS, NONE};
use crate::anchors::Fragment;
use crate::extract::Page;
use crate::reference::{Leads, Target};
use crate::table::codec::{self, KeptTarget, Packer};
use crate::traverse::visit::Read;
use crate::verdict::{Fault, Outcome};

impl Planner {
    /// Stores the contents of a document that was read, and follows its references.
    pub(super) fn follow_page(&mut self, number: u32, owner: Option<&str>, read: Read) {
        self.apply_owner(number, owner);
        let Page { references, anchors, left_out, .. } = read.page;
        let is_followed = self.web.mark_followed(number);
        let way = self.way_from(number);
        let mut packer = Packer::default();
        let mut edges = Vec::new();
        for reference in &references {
            let mut target = None;
            if let Target::Web { url, fragment } = &reference.target {
                let to = self.web.number(url);
                target = Some(to);
                if is_followed {
                    self.follow(to, way, reference.kind.leads(), fragment.as_deref(), &mut edges);
                }
            }
            packer.push(reference, target);
        }
        self.web.keep_edges(number, edges);
        // Compression into memory fails only if memory is exhausted; such a page is read again in the next run.
        let (references, anchors) = (packer.finish().unwrap_or_default(), anchors.to_bytes());
        let is_partial = !read.is_whole || left_out > 0;
        self.actions.push_back(Action::StorePage { node: number, is_partial, references, anchors });
    }

    /// Continues with a document whose stored contents apply: follows its references.
    pub(super) fn follow_unchanged(&mut self, number: u32, owner: Option<&str>) {
        if self.web.node(number).method != Method::Read {
            return;
        }
        self.progress.pages += 1;
        self.apply_owner(number, owner);
        if self.web.mark_followed(number) {
            self.actions.push_back(Action::LoadReferences(number));
        } else {
            self.web.keep_edges(number, Vec::new());
        }
    }

    /// Follows the references of a document that the table has.
    pub(super) fn follow_stored(&mut self, number: u32, stored: Option<&[u8]>) {
        let Some(stored) = stored else { return };
        let way = self.way_from(number);
        let mut edges = Vec::new();
        let bytes = codec::unpack(stored);
        for reference in codec::references(&bytes) {
            if let KeptTarget::Node { id, fragment } = reference.target
                && (id as usize) < self.web.nodes.len()
            {
                self.follow(id, way, reference.kind.leads(), fragment, &mut edges);
            }
        }
        // The only edge of a redirect is its target.
        if self.web.node(number).redirect == NONE {
            self.web.keep_edges(number, edges);
        }
    }

    fn way_from(&self, number: u32) -> Way {
        let node = self.web.node(number);
        Way::to_document(number, node.reach, node.depth.saturating_add(1))
    }

    /// Follows a reference. Its target becomes an edge if tasks and depths may have to be propagated to it later.
    fn follow(&mut self, to: u32, way: Way, leads: Leads, fragment: Option<&str>, edges: &mut Vec<u32>) {
        if let Some(fragment) = fragment {
            self.web.wanted.insert((to, Fragment::new(fragment)));
        }
        let way = Way { leads, has_fragment: fragment.is_some(), ..way };
        // The sitemaps of an index have the permissions of the index.
        if leads == Leads::ToSitemap && self.web.node(way.from).is_sitemap {
            self.discover_sitemap(to, way);
        } else {
            self.discover(to, way);
        }
        if leads.is_read() && !self.web.node(to).scope.is_empty() {
            edges.push(to);
        }
    }

    /// Queues the sitemaps that robots.txt lists. They are read for every task that has a URL of the host.
    pub(super) fn follow_robots(&mut self, number: u32, robots: &Robots) {
        let node = *self.web.node(number);
        if !self.options.sitemaps || robots.sitemaps().is_empty() || node.reach.is_empty() || node.is_foreign {
            return;
        }
        let before = self.hosts.sitemaps.get(&node.host).copied().unwrap_or_default();
        let tasks = self.web.sets.union(before, node.reach);
        if tasks == before {
            return;
        }
        self.hosts.sitemaps.insert(node.host, tasks);
        let way = Way { leads: Leads::ToSitemap, ..Way::to_document(number, tasks, 1) };
        for mut sitemap in robots.sitemaps().iter().filter_map(|text| Url::parse(text).ok()) {
            // Credentials must not appear in reports. Removing them cannot fail in a URL that has them.
            let _ = (sitemap.set_username(""), sitemap.set_password(None));
            let sitemap = self.web.number(sitemap.as_str());
            self.discover_sitemap(sitemap, way);
        }
    }

    /// Processes a redirect: its target is a separate URL.
    pub(super) fn follow_redirect(&mut self, number: u32, to: &str) {
        let (to, part) = to.split_once('#').unwrap_or((to, ""));
        let target = self.web.number(to);
        if !part.is_empty() {
            self.web.redirected_to.insert(number, part.into());
        }
        let node = self.web.node_mut(number);
        let hops = node.hops.saturating_add(1);
        if hops > MAX_HOPS {
            node.code = Outcome::Broken(Fault::RedirectLoop).to_code().0;
            return;
        }
        node.redirect = target;
        let node = *node;
        self.move_tops(number, target);
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
        self.discover(target, way);
    }

    /// Moves the tasks that start at a URL to the target of its redirect.
    fn move_tops(&mut self, number: u32, target: u32) {
        let node = *self.web.node(number);
        let tasks: Vec<usize> = self.web.sets.tasks(node.reach).collect();
        let (from, to) = (self.web.names.name(number), self.web.names.name(target));
        let Ok(to) = Url::parse(to) else { return };
        let remarks = self.scopes.move_tops(&tasks, from, &to, matches!(node.status, 301 | 308));
        if remarks.is_empty() {
            return;
        }
        self.remarks.extend(remarks);
        // The move may change which tasks contain a URL; few URLs are known at this time.
        for node in 0..self.web.nodes.len() as u32 {
            if self.web.node(node).host != NONE {
                self.locate(node);
            }
        }
    }

    /// Applies the owner of a document: tasks by owner keep the document or drop it. The owner rules override the page,
    /// since the owner in a page often originates in a template.
    fn apply_owner(&mut self, number: u32, in_page: Option<&str>) {
        let Ok(url) = Url::parse(self.web.names.name(number)) else { return };
        let owner = self.scopes.owners.of(&url).or(in_page);
        let node = *self.web.node(number);
        let scopes = &self.scopes;
        let kept: Vec<usize> =
            self.web.sets.tasks(node.scope).filter(|task| scopes.includes(*task, &url, owner)).collect();
        if node.is_foreign && !kept.is_empty() {
            self.budgets.foreign.owned(node.host);
        }
        let scope = self.web.sets.of(kept);
        let reach = self.web.sets.meet(node.reach, scope);
        let node = self.web.node_mut(number);
        (node.scope, node.reach) = (scope, reach);
    }
}
