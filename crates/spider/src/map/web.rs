//! Selects the contents of a map: the pages of an infostructure, the links between them, and broken ends.
//!
//! A browser must hold all of it, so its size is limited, and the rest is counted. Pages near the top and pages with
//! problems have precedence.

use std::collections::HashMap;

use crate::foreign::{Printable, cut, one_line};
use crate::results::{Document, Referenced, ReportError, Results, Visit};
use crate::targets::Targets;
use crate::verdict::{Outcome, Verdict};

use super::document_index::DocumentIndex;

/// The limits of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Pages. A browser draws 20,000 dots easily; users cannot see more.
    pub(crate) pages: usize,
    /// Links between pages: about two megabytes of the file.
    pub(crate) links: usize,
    /// References with problems that are listed for one page.
    pub(crate) problems_of_a_page: usize,
    /// The same, for all pages.
    pub(crate) problems: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pages: 20_000, links: 1_500_000, problems_of_a_page: 60, problems: 100_000 }
    }
}

/// The length at which titles are cut.
const LONGEST_TEXT: usize = 160;

/// The part of an infostructure that a map shows.
#[derive(Debug, Default)]
pub(crate) struct Web {
    /// In the order of their URLs.
    pub(crate) pages: Vec<Page>,
    /// The pages that each page links to: distinct, in order, never the page itself.
    pub(crate) links: Vec<Vec<u32>>,
    /// Distinct targets with problems.
    pub(crate) ends: Vec<End>,
    /// Owners, those with most pages first.
    pub(crate) owners: Vec<String>,
    /// The number of pages that are left out.
    pub(crate) pages_left_out: usize,
    /// The number of links between these pages that are left out.
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
    /// The worst problem of the page or its own links.
    pub(crate) verdict: Verdict,
    /// True if the page itself is broken, and not only a link on it.
    pub(crate) is_gone: bool,
    /// The page from which it is reached: one link nearer to the top, and in the nearest directory if several are.
    pub(crate) parent: Option<u32>,
    /// The number of pages here that link to it.
    pub(crate) links_in: u32,
    pub(crate) problems: Vec<Problem>,
    /// The number of references with problems that are left out.
    pub(crate) problems_left_out: usize,
}

/// A reference with a problem.
#[derive(Debug)]
pub(crate) struct Problem {
    /// Index in [`Web::ends`].
    pub(crate) end: u32,
    pub(crate) line: u32,
    pub(crate) element: &'static str,
    pub(crate) text: String,
}

/// A target with a problem.
#[derive(Debug)]
pub(crate) struct End {
    /// The URL with its fragment.
    pub(crate) url: String,
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    pub(crate) to: Option<String>,
    /// The date.
    pub(crate) since: Option<String>,
    /// True if most pages link to it.
    pub(crate) is_site_wide: bool,
}

impl Page {
    /// Returns the number of references with that verdict, without those on most pages.
    pub(crate) fn count(&self, ends: &[End], verdict: Verdict) -> usize {
        let is_own = |end: &End| end.verdict == verdict && !end.is_site_wide;
        self.problems.iter().filter(|problem| is_own(&ends[problem.end as usize])).count()
    }

    /// Returns the name that is displayed.
    pub(crate) fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.url)
    }
}

impl Web {
    /// Reads an infostructure, in two passes over its documents.
    pub(crate) fn read(results: &dyn Results, of: usize, limits: Limits) -> Result<Self, ReportError> {
        let targets = Targets::gather(results, Some(of))?;
        let (mut web, documents) = Self::read_pages(results, of, &targets, limits)?;
        web.read_links(results, of, &documents, &targets, limits)?;
        web.find_parents();
        web.sort_owners();
        Ok(web)
    }

    /// Reads the pages in the first pass. If there are too many, those with problems have precedence, then those near
    /// the top.
    fn read_pages(
        results: &dyn Results,
        of: usize,
        targets: &Targets,
        limits: Limits,
    ) -> Result<(Self, DocumentIndex), ReportError> {
        let mut counts: Vec<usize> = Vec::new();
        results.documents(of, &mut |document, references| {
            let rank = rank(document, references, targets);
            if counts.len() <= rank {
                counts.resize(rank + 1, 0);
            }
            counts[rank] += 1;
            Ok(())
        })?;
        // The number of pages of each rank to keep: all, then some, then none.
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
        let mut documents = DocumentIndex::default();
        let mut owners: HashMap<String, usize> = HashMap::new();
        results.documents(of, &mut |document, references| {
            let Some(room) = kept.get_mut(rank(document, references, targets)).filter(|room| **room > 0) else {
                return Ok(());
            };
            *room -= 1;
            documents.add(document, number(web.pages.len()));
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
        Ok((web, documents))
    }

    /// Reads the references in the second pass.
    fn read_links(
        &mut self,
        results: &dyn Results,
        of: usize,
        documents: &DocumentIndex,
        targets: &Targets,
        limits: Limits,
    ) -> Visit {
        self.links = vec![Vec::new(); self.pages.len()];
        let mut ends: HashMap<(String, Verdict), u32> = HashMap::new();
        let (mut links, mut problems, mut at) = (0, 0, 0);
        results.documents(of, &mut |document, references| {
            // Documents are visited in the same order as in the first pass; those that were left out are skipped.
            if self.pages.get(at).is_none_or(|page| page.node != document.node) {
                return Ok(());
            }
            let page = &mut self.pages[at];
            let mut leads: Vec<u32> = references
                .iter()
                .filter_map(|reference| documents.at(reference))
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
                // The fragment identifies the target only if it is missing.
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
        // By the depth of the page with the link, then by the common prefix of the URLs.
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

/// Returns true if a reference is a finding, and not only skipped by the settings.
pub(crate) fn is_finding(reference: &Referenced) -> bool {
    reference.verdict != Verdict::Good && !reference.is_skipped
}

/// Returns the worst problem of a page or of its links. Links on most pages, links that were not tested and
/// temporary redirects do not count.
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

/// All verdicts, the worst first; the page's script identifies them by their positions.
pub(crate) const WORST_FIRST: [Verdict; 7] = [
    Verdict::Broken,
    Verdict::Fragment,
    Verdict::Moved,
    Verdict::Expiring,
    Verdict::Changed,
    Verdict::NotTested,
    Verdict::Good,
];

/// Returns its position in [`WORST_FIRST`].
pub(crate) fn badness(verdict: Verdict) -> usize {
    WORST_FIRST.iter().position(|other| *other == verdict).expect("every verdict is in the list")
}

/// Returns the rank for keeping: pages with problems first, then by depth. Beyond 200 links, depth makes no difference.
fn rank(document: &Document, references: &[Referenced], targets: &Targets) -> usize {
    let is_well = badness(standing(document, references, targets)) > badness(Verdict::Moved);
    let depth = document.depth.min(200) as usize;
    if depth == 0 { 0 } else { usize::from(is_well) * 200 + depth }
}

/// Returns text for display: one line of limited length.
pub(crate) fn presentable(text: &str) -> String {
    one_line(text, LONGEST_TEXT)
}

/// Returns a URL for display.
fn presentable_url(url: &str) -> String {
    Printable(&cut(url, 2_000)).to_string()
}

/// Returns the number of equal bytes of two URLs, up to the last common slash.
fn shared_folders(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b);
    same.enumerate().filter(|(_, (byte, _))| *byte == b'/').last().map_or(0, |(place, _)| place)
}

/// Converts a count, which [`Limits`] keeps far below the maximum.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
