//! One list: what an earlier run left open, and then what changed since; window by window.

use modoai_protocol::Datestamp;

use super::decision::Fate;
use super::facts::{Facts, Lacking, Pause};
use super::window::WindowTask;
use super::{Op, Report, Step, Task};
use crate::harvest::{HarvestError, Trouble};
use crate::quirks;
use crate::state::{Change, List, OpenWindow, Progress};
use crate::window::Window;

/// Windows that fail one after the other before the server is considered down.
const MAX_FAILURES: u32 = 3;

/// A window with fewer records was divided more than necessary.
const SMALL: u64 = 200;

/// The largest number of windows that are joined.
const MAX_JOINED: usize = 64;

/// The time by which incremental harvests reach back, in seconds, if a server does not promise that its datestamps are
/// those of visibility: indexes that are renewed by night are common.
const OVERLAP: u64 = 86_400;

/// Updates one list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListTask {
    set: String,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// The list is looked up.
    Open,
    /// The windows of an earlier run are checked.
    Resume,
    /// A new pass begins, if there is anything to request.
    Begin,
    /// The pass was started.
    Begun,
    /// The next window is chosen, until none is left that was not given up.
    Windows(Pass),
    /// A window is harvested.
    Window(Pass, Box<OpenWindow>),
    /// No window is left, and what was received is compared with what was announced.
    Compare(Pass),
    /// The pass is noted as complete.
    Complete(Pass),
}

/// A pass over a list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pass {
    list: List,
    /// An earlier run began it, and another follows.
    is_resumed: bool,
    /// It only tries again what an earlier pass gave up: no watermark follows from it.
    retries: bool,
    /// Windows that are joined, because the last ones were small.
    stride: usize,
    /// Windows given up in a row.
    failures: u32,
}

impl ListTask {
    pub(super) fn new(set: &str) -> Self {
        Self { set: set.to_owned(), state: State::Open }
    }
}

impl Facts {
    pub(super) fn list(&mut self, task: &mut ListTask) -> Lacking<Step> {
        let pass = |list, is_resumed, retries| Pass { list, is_resumed, retries, stride: 1, failures: 0 };
        task.state = match &mut task.state {
            State::Open => {
                let window = self.options.window;
                let known =
                    self.store(Op::Lists)?.lists()?.iter().find(|list| list.set == task.set && list.window == window);
                let is_first = known.is_none_or(|list| list.watermark.is_none());
                if is_first && !task.set.is_empty() {
                    self.expect_set(&task.set)?;
                }
                self.is_first = is_first;
                self.check_date_style(&task.set)?;
                State::Resume
            }
            State::Resume => {
                let list = self.stored_list(&task.set)?;
                let has_windows = self.number(Op::OpenWindows(list.number))? > 0;
                self.lists.push(list.number);
                // A pass that was started and has no windows left was killed before it was noted as complete. One that was
                // interrupted is continued, and its start becomes the watermark. Gaps of an earlier pass are tried again, and no
                // watermark follows from that.
                let retries = list.first_date.is_none() && list.watermark.is_some();
                let resumes = has_windows || list.first_date.is_some();
                if resumes { State::Windows(pass(list, true, retries)) } else { State::Begin }
            }
            State::Begin => {
                let list = self.stored_list(&task.set)?;
                let Some(window) = self.next_pass(&list) else { return Ok(Step::Done(Report::Done)) };
                self.store(Op::BeginPass { list: list.number, window, set: task.set.clone() })?;
                State::Begun
            }
            State::Begun => State::Windows(pass(self.stored_list(&task.set)?, false, false)),
            State::Windows(pass) => {
                self.retrying = pass.retries;
                match self.next_window(pass)? {
                    Some(_) if self.is_limit_reached() => return Err(self.limit()),
                    Some(open) => State::Window(pass.clone(), Box::new(open)),
                    None => {
                        self.retrying = false;
                        if pass.retries { State::Begin } else { State::Compare(pass.clone()) }
                    }
                }
            }
            State::Window(pass, open) => {
                let window = WindowTask::new(pass.list.clone(), (**open).clone());
                let (stride, failures) = match *self.task(Task::Window(window))?.fate()? {
                    Fate::Closed(records) if records < SMALL => ((pass.stride * 2).min(MAX_JOINED), 0),
                    Fate::Closed(_) => (1, 0),
                    Fate::Divided => (1, pass.failures),
                    Fate::GivenUp => (1, pass.failures + 1),
                    Fate::Down => (1, MAX_FAILURES),
                };
                let next = Pass { stride, failures, ..pass.clone() };
                if failures < MAX_FAILURES {
                    State::Windows(next)
                } else {
                    let why = "not requested: the previous date ranges failed".to_owned();
                    self.store(Op::GiveUpAll { list: pass.list.number, why })?;
                    self.retrying = false;
                    // Gaps of an earlier pass do not prevent a new one.
                    if !pass.retries {
                        return Ok(Step::Done(Report::Done));
                    }
                    State::Begin
                }
            }
            State::Compare(pass) => {
                self.compare_with_announced(&pass.list)?;
                State::Complete(pass.clone())
            }
            State::Complete(pass) => {
                // The list may be empty because of an outage, and requesting everything again costs little if the
                // repository really is empty.
                let list = &pass.list;
                let may_be_void = list.watermark.is_none() || self.learnt.is_emptied;
                let is_void = may_be_void && self.number(Op::SeenSince(list.first_window))? == 0;
                self.store(Op::CompletePass { list: list.number, is_void })?;
                if !pass.is_resumed {
                    return Ok(Step::Done(Report::Done));
                }
                State::Begin
            }
        };
        Ok(Step::Next)
    }

    /// The stored list of that set.
    pub(super) fn stored_list(&self, set: &str) -> Lacking<List> {
        let found = self.store(Op::List { set: set.to_owned(), window: self.options.window })?.lists()?;
        found.first().cloned().ok_or_else(|| Pause::internal("the list is missing"))
    }

    /// Returns the dates of a new pass; none if nothing is to be requested.
    fn next_pass(&self, list: &List) -> Option<Window> {
        let overlap = match self.options.overlap {
            Some(overlap) => overlap.as_secs(),
            None if self.identity.prompt => 0,
            None if self.repairs.has(quirks::LOCAL_TIME) => 2 * OVERLAP,
            None => OVERLAP,
        };
        let overlap = i64::try_from(overlap).unwrap_or(i64::MAX);
        // A watermark in the future would hide everything until then.
        let watermark = list.watermark.map(|date| date.min(self.now));
        let since = watermark.map(|date| Datestamp::from_unix(date.unix().saturating_sub(overlap)));
        let window = Window { from: list.window.from.max(since), until: list.window.until };
        let is_empty = window.from.zip(window.until).is_some_and(|(from, until)| from > until);
        (!is_empty).then_some(window)
    }

    /// A set that does not exist is a mistake, and not an empty list.
    fn expect_set(&self, set: &str) -> Lacking<()> {
        const MAX_SHOWN: usize = 20;
        let sets = self.sets()?;
        let within = |known: &String| known == set || known.strip_prefix(set).is_some_and(|rest| rest.starts_with(':'));
        if sets.is_empty() || sets.iter().any(within) {
            return Ok(());
        }
        let (url, more) = (self.options.base_url.to_string(), if sets.len() > MAX_SHOWN { ", …" } else { "" });
        let offered = sets.iter().take(MAX_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ") + more;
        Err(HarvestError::Set { url, set: set.to_owned(), nearest: nearest(set, sets), offered }.into())
    }

    /// The next window, joined with those that follow it if the last ones were small.
    fn next_window(&self, pass: &Pass) -> Lacking<Option<OpenWindow>> {
        let list = pass.list.number;
        let mut next = self.store(Op::NextWindows { list, limit: pass.stride })?.windows()?.iter();
        let Some(mut first) = next.next().cloned() else { return Ok(None) };
        if first.token.is_some() {
            return Ok(Some(first));
        }
        let mut closed = vec![first.number];
        for open in next {
            let together = first.window.joined(open.window).filter(|_| open.set == first.set && open.token.is_none());
            let Some(together) = together else { break };
            first.window = together;
            closed.push(open.number);
        }
        if closed.len() > 1 {
            let added = vec![(first.window, first.set.clone(), first.progress.clone())];
            first.number = self.number(Op::Change(Change { list, closed, added, ..Change::default() }))?;
        }
        Ok(Some(first))
    }

    /// Compares the records of the parts of a list with the size that was announced before it was divided. If fewer were
    /// received, the list is a gap, unless its identifiers say otherwise.
    fn compare_with_announced(&mut self, pass: &List) -> Lacking<()> {
        let list = self.stored_list(&pass.set)?;
        let Some(announced) = list.announced else { return Ok(()) };
        let received = self.number(Op::SeenSince(list.first_window))?.cast_unsigned();
        if received >= announced || self.number(Op::OpenWindows(list.number))? > 0 {
            return Ok(());
        }
        let mut whole = OpenWindow::new(list.first_window, list.window, &list.set);
        whole.progress.size = Some(announced);
        if self.one_by_one(pass, &whole)? {
            return Ok(());
        }
        let added = vec![(list.window, list.set.clone(), Progress::default())];
        let number = self.number(Op::Change(Change { list: list.number, added, ..Change::default() }))?;
        let why = format!("received {received} of {announced} records, in smaller date ranges");
        self.store(Op::Change(Change { list: list.number, given_up: Some((number, why)), ..Change::default() }))?;
        Ok(())
    }

    /// Returns true if as many records were received as the user wants in this run.
    pub(super) fn is_limit_reached(&self) -> bool {
        self.options.limit.is_some_and(|limit| self.received >= limit)
    }

    pub(super) fn limit(&self) -> Pause {
        self.stop(Trouble::Limit(self.options.limit.unwrap_or_default()))
    }
}

/// The known name that is most like one that is unknown.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let score = |other: &String| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let best = known.iter().map(|other| (score(other), other)).max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(score, _)| *score > 0.4).map(|(_, other)| other.clone())
}
