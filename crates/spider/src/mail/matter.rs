//! Findings as messages tell them: cleaned once, shared by everybody who is told.

use jiff::Timestamp;

use super::ledger::key;
use super::text::address_of;
use crate::foreign::one_line;
use crate::results::{Document, Finding, Referenced};
use crate::verdict::Verdict;

/// What is told, in the order of messages; the number of each is its place in a tally.
pub(super) const KINDS: [Verdict; 5] =
    [Verdict::Broken, Verdict::Fragment, Verdict::Moved, Verdict::Changed, Verdict::Expiring];

/// The place of a verdict in a tally.
pub(super) fn place_of(verdict: Verdict) -> usize {
    KINDS.iter().position(|kind| *kind == verdict).expect("only these are offered to anybody")
}

/// A finding, made fit for a message.
#[derive(Debug, PartialEq)]
pub(super) struct Matter {
    pub(super) key: u64,
    pub(super) page: String,
    pub(super) title: String,
    pub(super) verdict: Verdict,
    /// With its fragment; empty if the page itself is the matter.
    pub(super) target: String,
    pub(super) reason: String,
    pub(super) element: &'static str,
    pub(super) line: u32,
    pub(super) text: String,
    pub(super) since: Option<Timestamp>,
    pub(super) to: Option<String>,
    pub(super) permanent: bool,
}

impl Matter {
    pub(super) fn of_finding(key: u64, finding: &Finding) -> Self {
        let mut target = address_of(&finding.target);
        if let Some(fragment) = &finding.fragment {
            target.push('#');
            target.push_str(&address_of(fragment));
        }
        Self {
            key,
            page: address_of(&finding.page),
            title: one_line(finding.title.as_deref().unwrap_or_default(), 120),
            verdict: finding.verdict,
            target,
            reason: one_line(&finding.reason, 200),
            element: finding.element,
            line: finding.line,
            text: one_line(&finding.text, 120),
            since: finding.since,
            to: finding.to.as_deref().map(address_of),
            permanent: finding.permanent,
        }
    }

    pub(super) fn of_document(key: u64, document: &Document, verdict: Verdict, when: Timestamp) -> Self {
        Self {
            key,
            page: address_of(&document.url),
            title: one_line(document.title.as_deref().unwrap_or_default(), 120),
            verdict,
            target: String::new(),
            reason: String::new(),
            element: "",
            line: 0,
            text: String::new(),
            since: Some(when),
            to: None,
            permanent: false,
        }
    }

    pub(super) fn of_target(key: u64, document: &Document, reference: &Referenced, when: Timestamp) -> Self {
        Self {
            target: address_of(&reference.target),
            element: reference.kind.name(),
            line: reference.line,
            text: one_line(&reference.text, 120),
            ..Self::of_document(key, document, Verdict::Changed, when)
        }
    }
}

/// The key of a change or an expiry has its moment in it, because the next one is news; and no page, because it is the same
/// news whoever links to it.
pub(super) fn moment_key(url: &str, when: Timestamp, verdict: Verdict) -> u64 {
    key("", url, Some(&when.to_string()), verdict)
}
