//! Inputs and outputs of the planner: what the driver executes, and what it reports.

use std::sync::Arc;
use std::time::Duration;

use modoai_fetch::Url;
use modoai_protocol::xml::Response;
use modoai_protocol::{Datestamp, Verb};

use super::count::Count;
use super::decision::Fate;
use super::facts::{Lacking, Pause};
use crate::ask::Question;
use crate::habits::DateStyle;
use crate::harvest::{HarvestError, Trouble};
use crate::page::{PageReport, Purpose};
use crate::repairs::Repairs;
use crate::state::{Change, Identity, List, Missing, OpenWindow};
use crate::window::Window;

/// An action of the driver.
#[derive(Debug)]
pub(crate) enum Action {
    /// Request a small document, and read it: [`Report::Document`].
    Document { url: Url, verb: Verb, attempts: Attempts },
    /// Request a page, and store it: [`Report::Page`].
    Page { url: Url, request: Box<PageRequest>, attempts: Attempts },
    /// Find links to repositories on the web page at the base URL: [`Report::Links`].
    Links,
    /// Read or change what is stored: the report that the operation names.
    Store(Op),
    /// End the run; if there is a reason, earlier than planned.
    End(Option<End>),
}

/// The reason that a run ended early.
#[derive(Debug)]
pub(crate) enum End {
    /// It stopped; what is missing is known.
    Stopped(Trouble),
    /// It failed.
    Failed(HarvestError),
}

/// The cost of an action, and the repairs during it.
#[derive(Debug, Default)]
pub(crate) struct Cost {
    /// The duration of each attempt that failed.
    pub(crate) failed: Vec<Duration>,
    pub(crate) repairs: Repairs,
}

/// The number of times a request is sent until it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempts {
    /// Once, to see whether the server understands it.
    Once,
    /// As often as the user configured, but a web page is reported immediately.
    UntilPage,
    /// A few times, because the request before failed every time.
    Few,
    /// As often as the user configured.
    All,
}

/// A request for a small document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentRequest {
    pub(crate) question: Question,
    /// Another base URL.
    pub(crate) at: Option<Url>,
    /// Another way to write dates.
    pub(crate) dates: Option<DateStyle>,
    /// The number of attempts; if none, the planner's setting for all requests.
    pub(crate) attempts: Option<Attempts>,
}

/// A request for a page of a list, or for a record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PageRequest {
    pub(crate) question: Question,
    /// The list whose pass this is; none if no watermark follows from it.
    pub(crate) list: Option<i64>,
    /// The number of the first window of the pass.
    pub(crate) pass: i64,
    /// The window before this page.
    pub(crate) window: OpenWindow,
    pub(crate) purpose: Purpose,
}

/// An operation on what is stored, and in brackets what it reports.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// Open the sink for the source that was identified (`Done`).
    Open(Box<Identity>),
    /// All lists of the folder (`Lists`).
    Lists,
    /// The list of that set and time, added if it is missing (`Lists`, with one).
    List { set: String, window: Window },
    /// The next windows of a list that were not given up (`Windows`).
    NextWindows { list: i64, limit: usize },
    /// The number of windows of a list that are not complete (`Number`).
    OpenWindows(i64),
    /// Change the windows of a list in one transaction (`Number`: that of the last window added).
    Change(Change),
    /// Give up every window of a list that is left (`Done`).
    GiveUpAll { list: i64, why: String },
    /// Begin a pass (`Done`).
    BeginPass { list: i64, window: Window, set: String },
    /// Sync the sink, and note that a pass is complete; its watermark stays if it `is_void` (`Done`).
    CompletePass { list: i64, is_void: bool },
    /// A number for another listing of this window (`Number`).
    NewNumber(Window),
    /// The number of items that exist (`Number`).
    ItemCount,
    /// The number of items seen in that pass or later (`Number`).
    SeenSince(i64),
    /// Items that were last seen in that window, with datestamps up to that one (`Names`).
    LastSeen { window: i64, until: Option<Datestamp>, limit: usize },
    /// Items that exist and were not seen since that pass (`Names`).
    Unlisted { pass: i64, limit: usize },
    /// The number of items that exist and were not seen since that pass (`Number`).
    UnlistedCount(i64),
    /// The number of missing records (`Number`).
    MissingCount,
    /// Missing records after that one, in order (`Missing`).
    Missing { after: String },
    /// A missing record does not exist in this format (`Done`).
    Found(String),
    /// A missing record was requested without success (`Done`).
    Tried { identifier: String, reason: String },
    /// Pass on as deleted what was not seen since that pass (`Done`).
    Delete { pass: i64 },
    /// Compare what the sink has stored with what was written, and note what was altered as missing (`Number`).
    Inspect,
    /// Forget everything, so that it is requested again (`Done`).
    StartOver,
}

/// The result of an action, or of a task.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    Document(Arc<Result<Response, Trouble>>),
    Page(Arc<Result<PageReport, Trouble>>),
    Links(Vec<Url>),
    Done,
    Number(i64),
    Names(Vec<String>),
    Lists(Vec<List>),
    Windows(Vec<OpenWindow>),
    Missing(Vec<Missing>),
    /// The result of a task: the count of a listing, if it could be read.
    Count(Option<Count>),
    /// The result of a task: true if a list is proven complete.
    Proven(bool),
    /// The result of a task: the outcome of a window.
    Fate(Fate),
}

/// Methods that return the value of a variant; any other variant is an internal error.
macro_rules! values {
    ($($method:ident: $variant:ident($type:ty);)+) => {
        impl Report {
            $(pub(super) fn $method(&self) -> Lacking<&$type> {
                match self {
                    Self::$variant(value) => Ok(value),
                    other => Err(Pause::internal(&format!("unexpected report {other:?}"))),
                }
            })+
        }
    };
}

values! {
    document: Document(Arc<Result<Response, Trouble>>);
    page: Page(Arc<Result<PageReport, Trouble>>);
    links: Links(Vec<Url>);
    number: Number(i64);
    names: Names(Vec<String>);
    lists: Lists(Vec<List>);
    windows: Windows(Vec<OpenWindow>);
    missing: Missing(Vec<Missing>);
    count: Count(Option<Count>);
    proven: Proven(bool);
    fate: Fate(Fate);
}
