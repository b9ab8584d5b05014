//! Groups findings by target: each target once, with the pages that link to it.
//!
//! One broken link in a template is one thing to repair, regardless of the number of pages. Reports therefore begin
//! with targets, and omit links on most pages from the lists of each page ([`Targets::is_site_wide`]). All reports
//! count targets, so that totals agree.
//!
//! Memory grows with the number of distinct targets that have a finding, not with the number of links.

use std::collections::HashMap;

use jiff::Timestamp;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::results::{Finding, ReportError, Results};
use crate::verdict::Verdict;

/// The number of pages that are kept for each target.
const FIRST: usize = 10;
/// The number of pages below which nothing is site-wide: a small site has no relevant template.
const FEWEST: u64 = 10;

/// Returns the number that all findings about the same target share. A missing fragment is identified by its URL and
/// fragment; a broken or moved target by its URL alone.
pub(crate) fn subject(verdict: Verdict, target: &str, fragment: Option<&str>) -> u64 {
    let text = match fragment.filter(|_| verdict == Verdict::Fragment) {
        Some(fragment) => format!("{target}#{fragment}"),
        None => target.to_owned(),
    };
    xxh3_64_with_seed(text.as_bytes(), verdict as u64)
}

/// Returns true if a link on this number of pages is part of the site's template: it is on more than half of all pages.
pub(crate) fn is_on_most(pages: u64, all: u64) -> bool {
    pages >= FEWEST && pages * 2 > all
}

/// A target, and the pages that link to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The first finding about it, which has its URL, verdict and reason.
    pub first: Finding,
    /// The earliest date of these findings.
    pub since: Option<Timestamp>,
    /// True if no earlier run had a finding about it.
    pub is_new: bool,
    /// The number of links.
    pub links: u64,
    /// The number of pages with these links.
    pub pages: u64,
    /// True if most pages have the link.
    pub is_site_wide: bool,
    /// The first pages that have the link.
    pub places: Vec<Place>,
    /// The page of the last finding.
    last: u64,
}

/// A link to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The page.
    pub page: String,
    /// Its title.
    pub title: Option<String>,
    /// The owner of the page.
    pub owner: Option<String>,
    /// The line of the link; 0 if unknown.
    pub line: u32,
}

impl Target {
    fn new(finding: &Finding) -> Self {
        Self {
            first: finding.clone(),
            since: finding.since,
            is_new: finding.is_new,
            links: 0,
            pages: 0,
            is_site_wide: false,
            places: Vec::new(),
            last: 0,
        }
    }

    /// Returns the URL, with its fragment if only that is missing.
    pub fn url(&self) -> String {
        match self.first.fragment.as_deref().filter(|_| self.first.verdict == Verdict::Fragment) {
            Some(fragment) => format!("{}#{fragment}", self.first.target),
            None => self.first.target.clone(),
        }
    }

    fn add(&mut self, finding: &Finding) {
        self.links += 1;
        self.is_new &= finding.is_new;
        self.since = self.since.min(finding.since).or(self.since).or(finding.since);
        let page = xxh3_64_with_seed(finding.page.as_bytes(), 0);
        if self.pages > 0 && self.last == page {
            return;
        }
        self.pages += 1;
        self.last = page;
        if self.places.len() < FIRST {
            self.places.push(Place {
                page: finding.page.clone(),
                title: finding.title.clone(),
                owner: finding.owner.clone(),
                line: finding.line,
            });
        }
    }
}

/// The findings of a run, or of one infostructure, by target.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    all: Vec<Target>,
    by_subject: HashMap<u64, usize>,
    documents: u64,
}

impl Targets {
    /// Groups the findings of one infostructure, or of all: the most serious verdict first, then the target on most pages.
    pub fn gather(results: &dyn Results, of: Option<usize>) -> Result<Self, ReportError> {
        let of_task = of.and_then(|of| results.infostructures().get(of));
        let summary = of_task.map_or(&results.run().summary, |infostructure| &infostructure.summary);
        let mut targets = Self { documents: summary.pages, ..Self::default() };
        results.findings(of, &mut |finding| {
            let key = subject(finding.verdict, &finding.target, finding.fragment.as_deref());
            let next = targets.all.len();
            let at = *targets.by_subject.entry(key).or_insert(next);
            if at == next {
                targets.all.push(Target::new(finding));
            }
            targets.all[at].add(finding);
            Ok(())
        })?;
        for target in &mut targets.all {
            target.is_site_wide = is_on_most(target.pages, targets.documents);
        }
        Ok(targets)
    }

    /// Returns all targets with a finding, in the order in which they were found.
    pub fn all(&self) -> &[Target] {
        &self.all
    }

    /// Returns the targets of one verdict, those on most pages first.
    pub fn of(&self, verdict: Verdict) -> Vec<&Target> {
        let mut of: Vec<&Target> = self.all.iter().filter(|target| target.first.verdict == verdict).collect();
        of.sort_by_key(|target| std::cmp::Reverse(target.pages));
        of
    }

    /// Returns the number of documents, of which [`Target::pages`] is a part.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns true if a finding about this target exists.
    pub fn has(&self, verdict: Verdict, target: &str, fragment: Option<&str>) -> bool {
        self.by_subject.contains_key(&subject(verdict, target, fragment))
    }

    /// Returns true if most pages have this link.
    pub fn is_site_wide(&self, verdict: Verdict, target: &str, fragment: Option<&str>) -> bool {
        let at = self.by_subject.get(&subject(verdict, target, fragment));
        at.is_some_and(|at| self.all[*at].is_site_wide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::Fixture;

    #[test]
    fn a_link_on_most_pages_is_one_target() {
        let templated = Fixture::templated(3_000);
        let targets = Targets::gather(&templated, None).expect("made up");
        let [dead, own] = &targets.of(Verdict::Broken)[..] else { panic!("{:?}", targets.of(Verdict::Broken)) };
        assert_eq!((dead.pages, dead.links, dead.is_site_wide), (2_990, 2_990, true));
        assert_eq!((own.pages, own.is_site_wide), (1, false));
        assert_eq!(dead.places.len(), FIRST);
    }

    #[test]
    fn fragments_count_only_where_they_are_missing() {
        let first = Fixture::small().findings[0].clone();
        let with = |verdict, fragment: &str| Finding { verdict, fragment: Some(fragment.to_owned()), ..first.clone() };
        let findings = vec![
            with(Verdict::Broken, "a"),
            with(Verdict::Broken, "b"),
            with(Verdict::Fragment, "a"),
            with(Verdict::Fragment, "b"),
        ];
        let targets = Targets::gather(&Fixture { findings, ..Fixture::small() }, None).expect("made up");
        assert_eq!((targets.of(Verdict::Broken).len(), targets.of(Verdict::Fragment).len()), (1, 2));
        assert_eq!((targets.all()[0].links, targets.all()[0].pages), (2, 1));
    }

    #[test]
    fn half_of_a_small_site_is_no_template() {
        assert!(is_on_most(10, 10) && is_on_most(11, 20) && is_on_most(2_990, 3_000));
        assert!(!is_on_most(9, 9) && !is_on_most(10, 20) && !is_on_most(50, 3_000));
    }
}
