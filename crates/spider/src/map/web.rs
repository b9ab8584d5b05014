//! What a map shows of an infostructure: its pages, the links between them, and the ends that lead nowhere.
//!
//! A browser has to hold all of it, so there are limits, and what lies beyond them is counted and told. Pages near the top
//! and pages with something wrong come first.

use std::collections::HashMap;

use crate::foreign::{Printable, cut, one_line};
use crate::results::{Document, Referenced, ReportError, Results, Visit};
use crate::targets::Targets;
use crate::verdict::{Outcome, Verdict};

use super::residents::Residents;

/// How much is shown at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Pages. A browser draws 20,000 dots without effort; people do not see more.
    pub(crate) pages: usize,
    /// Links between pages: about two megabytes of the file.
    pub(crate) links: usize,
    /// References listed for one page, of those with which something is the matter.
    pub(crate) problems_of_a_page: usize,
    /// The same, for all pages.
    pub(crate) problems: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pages: 20_000, links: 1_500_000, problems_of_a_page: 60, problems: 100_000 }
    }
}

/// Titles longer than this are no titles.
const LONGEST_TEXT: usize = 160;

/// An infostructure, as far as a map shows it.
#[derive(Debug, Default)]
pub(crate) struct Web {
    /// In the order of their URLs.
    pub(crate) pages: Vec<Page>,
    /// Where the links of each page lead: distinct pages, in order, never the page itself.
    pub(crate) links: Vec<Vec<u32>>,
    /// Distinct targets with which something is the matter.
    pub(crate) ends: Vec<End>,
    /// Owners, those with most pages first.
    pub(crate) owners: Vec<String>,
    /// Pages that there are, but not here.
    pub(crate) pages_left_out: usize,
    /// Links between pages here that are not told.
    pub(crate) links_left_out: usize,
}

/// A page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) node: u32,
    pub(crate) url: String,
    pub(crate) title: Option<String>,
    /// Index in [`Web::owners`].
    pub(crate) owner: Option<usize>,
    pub(crate) depth: u32,
    /// The worst of what is the matter with it and with its own links.
    pub(crate) verdict: Verdict,
    /// Whether the page itself is broken, and not only a link of it.
    pub(crate) is_gone: bool,
    /// The page from which one gets here: one link nearer to the top, and in the nearest folder if there are several.
    pub(crate) parent: Option<u32>,
    /// How many pages here link to it.
    pub(crate) links_in: u32,
    pub(crate) problems: Vec<Problem>,
    /// References with which something is the matter, and which are not among the problems.
    pub(crate) problems_left_out: usize,
}

/// A reference with which something is the matter.
#[derive(Debug)]
pub(crate) struct Problem {
    /// Index in [`Web::ends`].
    pub(crate) end: u32,
    pub(crate) line: u32,
    pub(crate) element: &'static str,
    pub(crate) text: String,
}

/// A target with which something is the matter.
#[derive(Debug)]
pub(crate) struct End {
    /// With its fragment.
    pub(crate) url: String,
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    pub(crate) to: Option<String>,
    /// The day.
    pub(crate) since: Option<String>,
    /// True if most pages link to it.
    pub(crate) is_site_wide: bool,
}

impl Page {
    /// How many of its own references are of that verdict: those on most pages do not count.
    pub(crate) fn count(&self, ends: &[End], verdict: Verdict) -> usize {
        let is_own = |end: &End| end.verdict == verdict && !end.is_site_wide;
        self.problems.iter().filter(|problem| is_own(&ends[problem.end as usize])).count()
    }

    /// What people call it.
    pub(crate) fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.url)
    }
}

impl Web {
    /// Reads an infostructure, in two passes over its documents.
    pub(crate) fn read(results: &dyn Results, of: usize, limits: Limits) -> Result<Self, ReportError> {
        let targets = Targets::gather(results, Some(of))?;
        let (mut web, residents) = Self::read_pages(results, of, &targets, limits)?;
        web.read_links(results, of, &residents, &targets, limits)?;
        web.find_parents();
        web.sort_owners();
        Ok(web)
    }

    /// The first pass: which pages there are. If there are too many, those with something wrong are kept before others, and
    /// those near the top before those far from it.
    fn read_pages(
        results: &dyn Results,
        of: usize,
        targets: &Targets,
        limits: Limits,
    ) -> Result<(Self, Residents), ReportError> {
        let mut counts: Vec<usize> = Vec::new();
        results.documents(of, &mut |document, references| {
            let rank = rank(document, references, targets);
            if counts.len() <= rank {
                counts.resize(rank + 1, 0);
            }
            counts[rank] += 1;
            Ok(())
        })?;
        // How many of each rank are kept: all, then some, then none.
        let mut room = limits.pages;
        let total: usize = counts.iter().sum();
        let mut kept: Vec<usize> = counts
            .iter()
            .map(|count| {
                let kept = room.min(*count);
                room -= kept;
                kept
            })
            .collect();

        let mut web = Self::default();
        let mut residents = Residents::default();
        let mut owners: HashMap<String, usize> = HashMap::new();
        results.documents(of, &mut |document, references| {
            let Some(room) = kept.get_mut(rank(document, references, targets)).filter(|room| **room > 0) else {
                return Ok(());
            };
            *room -= 1;
            residents.add(document, number(web.pages.len()));
            let owner = document.owner.as_deref().map(|name| {
                let next = owners.len();
                *owners.entry(presentable(name)).or_insert(next)
            });
            web.pages.push(Page {
                node: document.node,
                url: document.url.clone(),
                title: document.title.as_deref().map(presentable).filter(|title| !title.is_empty()),
                owner,
                depth: document.depth,
                verdict: standing(document, references, targets),
                is_gone: matches!(document.outcome, Outcome::Broken(_)),
                parent: None,
                links_in: 0,
                problems: Vec::new(),
                problems_left_out: 0,
            });
            Ok(())
        })?;
        web.owners = vec![String::new(); owners.len()];
        for (name, index) in owners {
            web.owners[index] = name;
        }
        web.pages_left_out = total.saturating_sub(web.pages.len());
        Ok((web, residents))
    }

    /// The second pass: where their references lead.
    fn read_links(
        &mut self,
        results: &dyn Results,
        of: usize,
        residents: &Residents,
        targets: &Targets,
        limits: Limits,
    ) -> Visit {
        self.links = vec![Vec::new(); self.pages.len()];
        let mut ends: HashMap<(String, Verdict), u32> = HashMap::new();
        let (mut links, mut problems, mut at) = (0, 0, 0);
        results.documents(of, &mut |document, references| {
            // Documents come in the same order as before; those that were left out are passed by.
            if self.pages.get(at).is_none_or(|page| page.node != document.node) {
                return Ok(());
            }
            let page = &mut self.pages[at];
            let mut leads: Vec<u32> = references
                .iter()
                .filter_map(|reference| residents.at(reference))
                .filter(|to| *to as usize != at)
                .collect();
            leads.sort_unstable();
            leads.dedup();
            let fit = leads.len().min(limits.links - links);
            self.links_left_out += leads.len() - fit;
            leads.truncate(fit);
            links += fit;
            self.links[at] = leads;

            for reference in references.iter().filter(|reference| is_finding(reference)) {
                if page.problems.len() >= limits.problems_of_a_page || problems >= limits.problems {
                    page.problems_left_out += 1;
                    continue;
                }
                problems += 1;
                // Only where a part is missing does the fragment make another target.
                let fragment = reference.fragment.as_deref();
                let url = match fragment.filter(|_| reference.verdict == Verdict::Fragment) {
                    Some(fragment) => format!("{}#{fragment}", reference.target),
                    None => reference.target.clone(),
                };
                let end = *ends.entry((url, reference.verdict)).or_insert_with_key(|(url, verdict)| {
                    self.ends.push(End {
                        url: presentable_url(url),
                        verdict: *verdict,
                        reason: presentable(reference.reason.as_deref().unwrap_or(verdict.name())),
                        to: reference.to.as_deref().map(presentable_url),
                        since: reference.since.map(|since| since.strftime("%F").to_string()),
                        is_site_wide: targets.is_site_wide(*verdict, &reference.target, fragment),
                    });
                    number(self.ends.len() - 1)
                });
                page.problems.push(Problem {
                    end,
                    line: reference.line,
                    element: reference.kind.name(),
                    text: presentable(&reference.text),
                });
            }
            at += 1;
            Ok(())
        })
    }

    fn find_parents(&mut self) {
        // By which link, and how near: the depth of the page it is on, then how much of the URLs is the same.
        let mut best: Vec<Option<(u32, std::cmp::Reverse<usize>, u32)>> = vec![None; self.pages.len()];
        for (from, leads) in self.links.iter().enumerate() {
            let page = &self.pages[from];
            for &to in leads {
                let child = &self.pages[to as usize];
                let candidate = (page.depth, std::cmp::Reverse(shared_folders(&page.url, &child.url)), number(from));
                let best = &mut best[to as usize];
                if page.depth < child.depth && best.is_none_or(|best| candidate < best) {
                    *best = Some(candidate);
                }
            }
        }
        for (page, best) in self.pages.iter_mut().zip(best) {
            page.parent = best.map(|(_, _, from)| from);
        }
        for to in self.links.iter().flatten() {
            self.pages[*to as usize].links_in += 1;
        }
    }

    fn sort_owners(&mut self) {
        let mut counts = vec![0_usize; self.owners.len()];
        for owner in self.pages.iter().filter_map(|page| page.owner) {
            counts[owner] += 1;
        }
        let mut order: Vec<usize> = (0..self.owners.len()).collect();
        order.sort_by(|a, b| counts[*b].cmp(&counts[*a]).then_with(|| self.owners[*a].cmp(&self.owners[*b])));
        let mut place = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new;
        }
        self.owners = order.into_iter().map(|old| std::mem::take(&mut self.owners[old])).collect();
        for page in &mut self.pages {
            page.owner = page.owner.map(|old| place[old]);
        }
    }
}

/// Returns true if a reference is a finding, and not merely skipped by the settings.
pub(crate) fn is_finding(reference: &Referenced) -> bool {
    reference.verdict != Verdict::Good && !reference.is_skipped
}

/// What is to be said of a page at one glance: the worst of what is the matter with it and with its own links. A link on most
/// pages says nothing of any one of them; nor does a link that was not tested, or a temporary redirect.
pub(crate) fn standing(document: &Document, references: &[Referenced], targets: &Targets) -> Verdict {
    let own = match &document.outcome {
        Outcome::Broken(_) => Verdict::Broken,
        Outcome::Moved { permanent: true, .. } => Verdict::Moved,
        Outcome::NotTested(_) => Verdict::NotTested,
        _ if document.is_expiring => Verdict::Expiring,
        _ if document.is_changed => Verdict::Changed,
        _ => Verdict::Good,
    };
    let of_links = references.iter().map(|reference| match reference.verdict {
        verdict if targets.is_site_wide(verdict, &reference.target, reference.fragment.as_deref()) => Verdict::Good,
        Verdict::Moved if reference.is_permanent && !reference.is_small_move => Verdict::Moved,
        verdict @ (Verdict::Broken | Verdict::Fragment) => verdict,
        _ => Verdict::Good,
    });
    of_links.chain([own]).min_by_key(|verdict| badness(*verdict)).unwrap_or(Verdict::Good)
}

/// The order in which verdicts are named, the worst first; also the numbers by which the page knows them.
pub(crate) const WORST_FIRST: [Verdict; 7] = [
    Verdict::Broken,
    Verdict::Fragment,
    Verdict::Moved,
    Verdict::Expiring,
    Verdict::Changed,
    Verdict::NotTested,
    Verdict::Good,
];

/// Its place among [`WORST_FIRST`].
pub(crate) fn badness(verdict: Verdict) -> usize {
    WORST_FIRST.iter().position(|other| *other == verdict).expect("every verdict is in the list")
}

/// Ranks for keeping: what has something wrong before the rest, then by depth. Far is far: beyond 200 links, no difference is made.
fn rank(document: &Document, references: &[Referenced], targets: &Targets) -> usize {
    let is_well = badness(standing(document, references, targets)) > badness(Verdict::Moved);
    let depth = document.depth.min(200) as usize;
    if depth == 0 { 0 } else { usize::from(is_well) * 200 + depth }
}

/// Text as it can be shown: one line, of a length that makes sense.
pub(crate) fn presentable(text: &str) -> String {
    one_line(text, LONGEST_TEXT)
}

/// A URL as it can be shown.
fn presentable_url(url: &str) -> String {
    Printable(&cut(url, 2_000)).to_string()
}

/// How many bytes of two URLs are the same, up to the last slash that both have.
fn shared_folders(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b);
    same.enumerate().filter(|(_, (byte, _))| *byte == b'/').last().map_or(0, |(place, _)| place)
}

/// Counts here are far below four thousand million: [`Limits`] sees to it.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
