//! A finished run as reports and mail read it. The table implements [`Results`]; tests of reports bring their own.
//!
//! A web may have a million URLs, so nothing here is handed out as a whole: documents and findings are visited one by one.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use crate::reference::Kind;
use crate::report::words::number;
use crate::task::Task;
use crate::verdict::{Outcome, Verdict};

/// What can go wrong while results are read or written down.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store could not be read.
    #[error("failed to read the results")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The report could not be written.
    #[error("failed to write {what}")]
    Write {
        /// Which file or stream.
        what: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A template or a serialiser refused.
    #[error("failed to create {what}")]
    Render {
        /// Of what.
        what: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Whether there is more to visit.
pub type Visit = Result<(), ReportError>;

/// A finished run, or one that was cut short.
pub trait Results {
    /// The run itself.
    fn run(&self) -> &Run;

    /// The infostructures, in the order of the tasks.
    fn infostructures(&self) -> &[Infostructure];

    /// Visits the documents of one infostructure in the order of their URLs, each with its references in the order of the
    /// document.
    fn documents(&self, of: usize, visit: &mut dyn FnMut(&Document, &[Referenced]) -> Visit) -> Visit;

    /// Visits the findings of one infostructure, or of all of them (each page once, however many infostructures have it), page
    /// by page in the order of URLs, within a page in the order of the document. `Good` is never among them.
    fn findings(&self, of: Option<usize>, visit: &mut dyn FnMut(&Finding) -> Visit) -> Visit;

    /// Visits findings of earlier runs that this run does not have, page by page.
    fn earlier(&self, of: Option<usize>, visit: &mut dyn FnMut(&Earlier) -> Visit) -> Visit;
}

/// The run itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Run {
    /// Its number in the table, from 1.
    pub number: u64,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// When the run before began, if there was one.
    pub before: Option<Timestamp>,
    /// The reason why the run ended early, if it did.
    pub cut_short: Option<String>,
    /// Why pages of the tasks could not be read, the most frequent reason first.
    pub unread: Vec<Unread>,
    /// The settings that apply to all tasks, by name.
    pub settings: Vec<(&'static str, String)>,
    /// What is worth knowing: limits that were reached, tops that have moved, oddities of the task file.
    pub remarks: Vec<String>,
    /// What was counted.
    pub summary: Summary,
}

impl Run {
    /// Why the run is incomplete, for people; none if it is complete.
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

/// What was counted: of a run, or of one infostructure.
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
    /// Bytes of bodies that came.
    pub bytes: u64,
    /// Distinct broken targets: URLs without fragments, and mail addresses.
    pub broken: u64,
    /// Distinct fragments that lead nowhere.
    pub fragments: u64,
    /// Distinct targets that have moved, for good or for now.
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
    /// The pages that could not be read, as a share of all pages; none if all were read.
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

/// One infostructure: what one task traversed.
#[derive(Clone, Debug, PartialEq)]
pub struct Infostructure {
    /// The task.
    pub task: Task,
    /// What was counted in it (requests and bytes are those of the run).
    pub summary: Summary,
}

/// A document of an infostructure.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its number in the table, the same in every run: good for anchors within an index.
    pub node: u32,
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// Who owns it: the map of owners says so, or else the header of its answer, or else the document itself.
    pub owner: Option<String>,
    /// What came of testing it.
    pub outcome: Outcome,
    /// The status of its answer.
    pub status: Option<u16>,
    /// Its media type.
    pub media_type: Option<String>,
    /// Its length, if known.
    pub bytes: Option<u64>,
    /// When it was last modified, by its own account.
    pub last_modified: Option<Timestamp>,
    /// When it expires, by its own account.
    pub expires: Option<Timestamp>,
    /// When its content was last seen to be another than before.
    pub changed: Option<Timestamp>,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// How many links away from the nearest top.
    pub depth: u32,
    /// Whether it changed within the task's window.
    pub is_changed: bool,
    /// Whether it expires within the task's window.
    pub is_expiring: bool,
}

impl Document {
    /// A document that is there, and of which no more is known.
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

/// A reference of a document, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Referenced {
    /// By which element.
    pub kind: Kind,
    /// On which line; 0 where lines mean nothing.
    pub line: u32,
    /// What a reader sees of it.
    pub text: String,
    /// Where it leads, without a fragment; as written if it cannot be followed.
    pub target: String,
    /// The fragment.
    pub fragment: Option<String>,
    /// The target's number in the table.
    pub node: Option<u32>,
    /// Whether the target is a document of the same infostructure, and has an entry of its own in the index.
    pub is_inside: bool,
    /// What became of it.
    pub verdict: Verdict,
    /// True if it was not tested because the settings say so: external, to be avoided, or beyond a limit.
    pub is_skipped: bool,
    /// The status of the last answer, if there was one.
    pub status: Option<u16>,
    /// In words, if all is not well.
    pub reason: Option<String>,
    /// The new address, if it has moved.
    pub to: Option<String>,
    /// Whether the move is for good. Moves that only add a slash, or `https`, are told by [`is_small_move`](Self::is_small_move).
    pub is_permanent: bool,
    /// Whether the move is only one of a final slash, or from http to https.
    pub is_small_move: bool,
    /// Since when it has been so, if it is not well.
    pub since: Option<Timestamp>,
    /// Title of the target, if it was read.
    pub title: Option<String>,
    /// When the target was last modified.
    pub last_modified: Option<Timestamp>,
}

impl Referenced {
    /// A good reference to somewhere outside, of which no more is known.
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

/// What somebody has to look at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The page that has the link; for `changed` and `expiring`, the document itself.
    pub page: String,
    /// The title of that page.
    pub title: Option<String>,
    /// Where the link leads, without a fragment; as written if it cannot be followed. For `changed` and `expiring`, the
    /// document itself.
    pub target: String,
    /// The fragment.
    pub fragment: Option<String>,
    /// What is the matter.
    pub verdict: Verdict,
    /// The status of the last answer, if there was one.
    pub status: Option<u16>,
    /// In words.
    pub reason: String,
    /// By which element.
    pub element: &'static str,
    /// On which line.
    pub line: u32,
    /// What a reader sees of it.
    pub text: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Whether the run before did not have it.
    pub is_new: bool,
    /// The new address, if it has moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Whether the move is for good.
    pub permanent: bool,
    /// Who owns the page.
    pub owner: Option<String>,
    /// The names of the infostructures that have the page.
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
    /// Since when it had been so.
    pub since: Option<Timestamp>,
    /// Why this run does not have it.
    pub state: State,
}

/// What became of an earlier finding.
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
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchecked => "unchecked",
            Self::Fixed => "fixed",
            Self::Removed => "removed",
        }
    }
}
