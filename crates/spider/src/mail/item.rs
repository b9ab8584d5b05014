//! The entries of a message: a target or a document, once, with the first pages that link to it. Untrusted text is
//! sanitised here.

use jiff::Timestamp;

use super::ledger::key;
use super::text::address_of;
use crate::foreign::one_line;
use crate::results::{Document, Finding, Referenced};
use crate::verdict::Verdict;

/// The verdicts that messages report, in the order of messages; the position of each is its index in a tally.
pub(super) const KINDS: [Verdict; 5] =
    [Verdict::Broken, Verdict::Fragment, Verdict::Moved, Verdict::Changed, Verdict::Expiring];

/// The maximum number of pages that a message lists for a target.
const PLACES: usize = 3;

/// Returns the index of a verdict in a tally.
pub(super) fn place_of(verdict: Verdict) -> usize {
    KINDS.iter().position(|kind| *kind == verdict).expect("only these are offered to anybody")
}

/// A target or a document that a message lists.
#[derive(Debug, PartialEq)]
pub(super) struct MailItem {
    pub(super) verdict: Verdict,
    /// The URL, with its fragment if only the fragment is missing.
    pub(super) url: String,
    pub(super) reason: String,
    pub(super) since: Option<Timestamp>,
    pub(super) to: Option<String>,
    pub(super) permanent: bool,
    /// The first pages that link to it; empty for a document that changed or expires.
    pub(super) places: Vec<Place>,
    /// The number of pages that link to it.
    pub(super) pages: u64,
    /// The number of these pages that are not in the ledger for the address.
    pub(super) new_pages: u64,
    /// The ledger's keys of all these links.
    pub(super) keys: Vec<u64>,
    /// The page of the last link.
    last: Option<String>,
}

/// A page, and the link on it.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    pub(super) page: String,
    pub(super) title: String,
    pub(super) element: &'static str,
    pub(super) line: u32,
    pub(super) text: String,
}

impl MailItem {
    pub(super) fn of_finding(finding: &Finding) -> Self {
        let mut url = address_of(&finding.target);
        if let Some(fragment) = finding.fragment.as_deref().filter(|_| finding.verdict == Verdict::Fragment) {
            url.push('#');
            url.push_str(&address_of(fragment));
        }
        Self {
            reason: one_line(&finding.reason, 200),
            to: finding.to.as_deref().map(address_of),
            permanent: finding.permanent,
            ..Self::new(finding.verdict, url, finding.since)
        }
    }

    /// Creates the item of a document, or of a target, that changed or expires at that time.
    pub(super) fn of_moment(verdict: Verdict, url: &str, when: Timestamp) -> Self {
        Self::new(verdict, address_of(url), Some(when))
    }

    fn new(verdict: Verdict, url: String, since: Option<Timestamp>) -> Self {
        Self {
            verdict,
            url,
            reason: String::new(),
            since,
            to: None,
            permanent: false,
            places: Vec::new(),
            pages: 0,
            new_pages: 0,
            keys: Vec::new(),
            last: None,
        }
    }

    /// Adds a link. Links must be added page by page.
    pub(super) fn add(&mut self, key: u64, place: &From<'_>, is_new: bool) {
        self.keys.push(key);
        if self.last.as_deref() == Some(place.page()) {
            return;
        }
        self.last = Some(place.page().to_owned());
        self.pages += 1;
        self.new_pages += u64::from(is_new);
        if self.places.len() < PLACES {
            self.places.extend(place.cleaned());
        }
    }
}

/// The origin of a finding, from which an item is created only if a message has space for it.
pub(super) enum From<'a> {
    Finding(&'a Finding),
    Link(&'a Document, &'a Referenced),
    /// The document itself.
    Itself(&'a Document),
}

impl From<'_> {
    fn page(&self) -> &str {
        match self {
            Self::Finding(finding) => &finding.page,
            Self::Link(document, _) | Self::Itself(document) => &document.url,
        }
    }

    fn cleaned(&self) -> Option<Place> {
        let (title, element, line, text) = match self {
            Self::Finding(finding) => (&finding.title, finding.element, finding.line, &finding.text),
            Self::Link(document, link) => (&document.title, link.kind.name(), link.line, &link.text),
            Self::Itself(_) => return None,
        };
        Some(Place {
            page: address_of(self.page()),
            title: one_line(title.as_deref().unwrap_or_default(), 120),
            element,
            line,
            text: one_line(text, 120),
        })
    }
}

/// Returns the key of a change or an expiry. It contains the time, because the next change is new; and no page, because
/// it is the same event for all pages that link to the document.
pub(super) fn moment_key(url: &str, when: Timestamp, verdict: Verdict) -> u64 {
    key("", url, Some(&when.to_string()), verdict)
}
