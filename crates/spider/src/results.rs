//! The interface through which reports and mail read a finished run. The table implements [`Results`]; tests of reports
//! have their own implementations.
//!
//! A web may have a million URLs, so no method returns all of them: documents and findings are visited one by one.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use crate::reference::Kind;
use crate::report::words::number;
use crate::task::Task;
use crate::verdict::{Outcome, Verdict};

/// An error in reading results or writing a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store could not be read.
    #[error("failed to read the results")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The report could not be written.
    #[error("failed to write {what}")]
    Write {
        /// The file or stream.
        what: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A template or a serialiser failed.
    #[error("failed to create {what}")]
    Render {
        /// The output that was created.
        what: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The result of a visitor; an error ends the visit.
pub type Visit = Result<(), ReportError>;

/// A finished or interrupted run.
pub trait Results {
    /// Returns the run itself.
    fn run(&self) -> &Run;

    /// Returns the infostructures, in the order of the tasks.
    fn infostructures(&self) -> &[Infostructure];

    /// Visits the documents of one infostructure in the order of their URLs, each with its references in the order of the
    /// document.
    fn documents(&self, of: usize, visit: &mut dyn FnMut(&Document, &[Referenced]) -> Visit) -> Visit;

    /// Visits the findings of one infostructure, or of all of them (each page once, regardless of the number of
    /// infostructures), page by page in the order of URLs, within a page in the order of the document. `Good` is never
    /// among them.
    fn findings(&self, of: Option<usize>, visit: &mut dyn FnMut(&Finding) -> Visit) -> Visit;

    /// Visits findings of earlier runs that this run does not have, page by page.
    fn earlier(&self, of: Option<usize>, visit: &mut dyn FnMut(&Earlier) -> Visit) -> Visit;
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Run {
    /// Its number in the table, from 1.
    pub number: u64,
    /// The time of its start.
    pub began: Timestamp,
    /// The time of its end.
    pub ended: Timestamp,
    /// The start of the previous run, if one exists.
    pub before: Option<Timestamp>,
    /// The reason why the run ended early, if it did.
    pub cut_short: Option<String>,
    /// The reasons why pages of the tasks could not be read, the most frequent first.
    pub unread: Vec<Unread>,
    /// The settings that apply to all tasks, by name.
    pub settings: Vec<(&'static str, String)>,
    /// Remarks: limits that were reached, tops that have moved, unusual contents of the task file.
    pub remarks: Vec<String>,
    /// The counts.
    pub summary: Summary,
}

impl Run {
    /// Returns the reason why the run is incomplete, for display; `None` if it is complete.
    pub fn incomplete(&self) -> Option<String> {
        let cut_short = self.cut_short.as_ref().map(|why| format!("the run stopped early: {why}"));
        let unread = self.summary.share_unread().map(|share| {
            let mut reasons: Vec<String> = self.unread.iter().take(REASONS).map(Unread::to_string).collect();
            let rest: u64 = self.unread.iter().skip(REASONS).map(|unread| unread.pages).sum();
            if rest > 0 {
                reasons.push(format!("other reasons ({rest})"));
            }
            if reasons.is_empty() { share } else { format!("{share}: {}", reasons.join(", ")) }
        });
        let gaps: Vec<String> = cut_short.into_iter().chain(unread).collect();
        (!gaps.is_empty()).then(|| gaps.join("; "))
    }
}

/// The number of reasons that [`Run::incomplete`] lists.
const REASONS: usize = 3;

/// One reason why pages could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// The reason, without details that differ from page to page.
    pub reason: String,
    /// The number of pages.
    pub pages: u64,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pages {
            1 => f.write_str(&self.reason),
            pages => write!(f, "{} ({})", self.reason, number(pages)),
        }
    }
}

/// The counts of a run, or of one infostructure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Documents that were read.
    pub pages: u64,
    /// Pages that were to be read and could not be.
    pub unread: u64,
    /// References in them.
    pub links: u64,
    /// Distinct http and https URLs, without fragments: the start page, and what documents refer to.
    pub urls: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Bytes of bodies that were received.
    pub bytes: u64,
    /// Distinct broken targets: URLs without fragments, and mail addresses.
    pub broken: u64,
    /// Distinct missing fragments.
    pub fragments: u64,
    /// Distinct targets that have moved, permanently or temporarily.
    pub moved: u64,
    /// Distinct targets that could not be tested.
    pub not_tested: u64,
    /// Distinct targets that were skipped by the settings: external, to be avoided, or beyond a limit.
    pub skipped: u64,
    /// Documents, and other targets of links, that changed within the task's window.
    pub changed: u64,
    /// Documents that expire within the task's window.
    pub expiring: u64,
    /// Distinct targets that no earlier run had a finding about.
    pub new: u64,
    /// Distinct targets of earlier findings that work now.
    pub fixed: u64,
    /// Distinct targets of earlier findings that nothing links to now: the links or their pages were removed.
    pub removed: u64,
    /// Distinct targets of earlier findings on pages that were not read this time.
    pub unchecked: u64,
}

impl Summary {
    /// Returns the pages that could not be read, as a share of all pages; `None` if all were read.
    pub fn share_unread(&self) -> Option<String> {
        let Self { pages, unread, .. } = *self;
        let all = pages + unread;
        let per_mille = (unread * 1000).checked_div(all).unwrap_or_default().max(1);
        (unread > 0).then(|| {
            let share = format!("{}.{}", per_mille / 10, per_mille % 10);
            let share = share.trim_end_matches(".0");
            format!("{} of {} pages ({share}%) could not be read", number(unread), number(all))
        })
    }
}

/// One infostructure: the documents of one task.
#[derive(Clone, Debug, PartialEq)]
pub struct Infostructure {
    /// The task.
    pub task: Task,
    /// Its counts (requests and bytes are those of the run).
    pub summary: Summary,
}

/// A document of an infostructure.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its number in the table, the same in every run, and suitable for anchors within an index.
    pub node: u32,
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// Its owner: by the owner rules, or else by a header of its response, or else by the document itself.
    pub owner: Option<String>,
    /// The outcome of its test.
    pub outcome: Outcome,
    /// The status of its response.
    pub status: Option<u16>,
    /// Its media type.
    pub media_type: Option<String>,
    /// Its length, if known.
    pub bytes: Option<u64>,
    /// The date of its last modification, as its server reports it.
    pub last_modified: Option<Timestamp>,
    /// The date of its expiry, as its server reports it.
    pub expires: Option<Timestamp>,
    /// The date when a change of its content was last observed.
    pub changed: Option<Timestamp>,
    /// The date when it was first seen.
    pub first_seen: Timestamp,
    /// The number of links from the nearest top.
    pub depth: u32,
    /// True if it changed within the task's window.
    pub is_changed: bool,
    /// True if it expires within the task's window.
    pub is_expiring: bool,
}

impl Document {
    /// Creates a document that exists, without further data.
    pub fn new(node: u32, url: impl Into<String>) -> Self {
        Self {
            node,
            url: url.into(),
            title: None,
            owner: None,
            outcome: Outcome::Good,
            status: Some(200),
            media_type: None,
            bytes: None,
            last_modified: None,
            expires: None,
            changed: None,
            first_seen: Timestamp::UNIX_EPOCH,
            depth: 0,
            is_changed: false,
            is_expiring: false,
        }
    }
}

/// A reference of a document, and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Referenced {
    /// The kind of reference.
    pub kind: Kind,
    /// The line; 0 without lines.
    pub line: u32,
    /// The visible text.
    pub text: String,
    /// The target, without a fragment; as written if it cannot be followed.
    pub target: String,
    /// The fragment.
    pub fragment: Option<String>,
    /// The target's number in the table.
    pub node: Option<u32>,
    /// True if the target is a document of the same infostructure, with a separate entry in the index.
    pub is_inside: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// True if the settings exclude it from testing: external, to be avoided, or beyond a limit.
    pub is_skipped: bool,
    /// The status of the last response, if one was received.
    pub status: Option<u16>,
    /// The reason in words, unless the verdict is good.
    pub reason: Option<String>,
    /// The new address, if it has moved.
    pub to: Option<String>,
    /// True if the move is permanent. Moves that only add a slash, or `https`, are marked by
    /// [`is_small_move`](Self::is_small_move).
    pub is_permanent: bool,
    /// True if the move only changes a final slash, or http to https.
    pub is_small_move: bool,
    /// The date since when the problem exists.
    pub since: Option<Timestamp>,
    /// The title of the target, if it was read.
    pub title: Option<String>,
    /// The date when the target was last modified.
    pub last_modified: Option<Timestamp>,
}

impl Referenced {
    /// Creates a good reference to an external target, without further data.
    pub fn new(kind: Kind, line: u32, text: impl Into<String>, target: impl Into<String>) -> Self {
        Self {
            kind,
            line,
            text: text.into(),
            target: target.into(),
            fragment: None,
            node: None,
            is_inside: false,
            verdict: Verdict::Good,
            is_skipped: false,
            status: Some(200),
            reason: None,
            to: None,
            is_permanent: false,
            is_small_move: false,
            since: None,
            title: None,
            last_modified: None,
        }
    }
}

/// A problem that an owner has to check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The page with the link; for `changed` and `expiring`, the document itself.
    pub page: String,
    /// The title of that page.
    pub title: Option<String>,
    /// The target of the link, without a fragment; as written if it cannot be followed. For `changed` and `expiring`,
    /// the document itself.
    pub target: String,
    /// The fragment.
    pub fragment: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The status of the last response, if one was received.
    pub status: Option<u16>,
    /// The reason in words.
    pub reason: String,
    /// The element of the link.
    pub element: &'static str,
    /// The line of the link.
    pub line: u32,
    /// The visible text of the link.
    pub text: String,
    /// The date since when it exists.
    pub since: Option<Timestamp>,
    /// True if the previous run did not have it.
    pub is_new: bool,
    /// The new address, if it has moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// True if the move is permanent.
    pub permanent: bool,
    /// The owner of the page.
    pub owner: Option<String>,
    /// The names of the infostructures that contain the page.
    pub tasks: Vec<String>,
}

/// A finding of an earlier run that this run does not have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Earlier {
    /// The page that has, or had, the link.
    pub page: String,
    /// The URL of the target.
    pub target: String,
    /// The fragment.
    pub fragment: Option<String>,
    /// The verdict of the earlier run.
    pub verdict: Verdict,
    /// The date since when it had existed.
    pub since: Option<Timestamp>,
    /// The reason why this run does not have it.
    pub state: State,
}

/// The state of an earlier finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The page was not read this time, so the finding stays open.
    Unchecked,
    /// The page still has the link, and it works.
    Fixed,
    /// The link, or the page, was removed.
    Removed,
}

impl State {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchecked => "unchecked",
            Self::Fixed => "fixed",
            Self::Removed => "removed",
        }
    }
}
