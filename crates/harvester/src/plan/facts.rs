//! The facts that the planner knows, and the needs that a step reports if a fact is missing.

use std::sync::Arc;
use std::time::Duration;

use modoai_protocol::xml::Response;
use modoai_protocol::{Datestamp, ErrorCode};

use super::dates::DateTrial;
use super::{Action, Attempts, Cost, DocumentRequest, End, Op, PageRequest, Report, Task};
use crate::ask::Question;
use crate::ending::Yield;
use crate::habits::Habits;
use crate::harvest::{HarvestError, Options, Trouble};
use crate::page::{PageReport, Purpose};
use crate::repairs::Repairs;
use crate::state::{Contract, Identity, List, OpenWindow};
use crate::summary::Gap;
use crate::window::{Granularity, Window};

/// The facts about the server and the run.
pub(crate) struct Facts {
    pub(crate) options: Options,
    pub(crate) contract: Contract,
    /// The Identify response of an earlier run.
    pub(super) known: Option<Identity>,
    pub(crate) identity: Identity,
    pub(crate) granularity: Granularity,
    pub(crate) habits: Habits,
    pub(crate) repairs: Repairs,
    pub(crate) gaps: Vec<Gap>,
    /// The lists of this run.
    pub(crate) lists: Vec<i64>,
    /// The results of the requests of this run, and their cost.
    pub(super) effort: Yield,
    /// Records and deletions that were received in this run.
    pub(super) received: u64,
    /// Nothing of the list was ever complete, so its ends are checked more closely.
    pub(super) is_first: bool,
    /// Gaps of an earlier pass are tried again: no watermark follows from that.
    pub(super) retrying: bool,
    /// The properties of the server that this run has found.
    pub(super) learnt: Learnt,
    /// The time at which the step began.
    pub(super) now: Datestamp,
    /// The reports to the step in progress.
    pub(super) answers: Answers,
}

/// The properties of a server that a run finds by requests, so that each is requested only once.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// Records of this run that are in a set, and that are in none.
    pub(super) in_sets: (u64, u64),
    /// Trials of other ways to write dates.
    pub(super) date_trial: DateTrial,
    /// True if the server returns empty lists although it has records; none until that was checked.
    pub(super) in_outage: Option<bool>,
    /// True if an empty list was requested again, because its identifiers are not empty.
    pub(super) empty_refuted: bool,
    /// True if the server lists nothing, and returns none of the stored records.
    pub(super) is_emptied: bool,
    /// True if the server selects by dates; none until that was checked.
    pub(super) dates_heeded: Option<bool>,
    /// True if identifiers can be listed; none until that was checked.
    pub(super) identifiers_listed: Option<bool>,
    /// True if the health of the server was checked since the last page.
    pub(super) health_known: bool,
    /// True if a token that needs encoding was accepted in the current encoding.
    pub(super) token_style_proven: bool,
    /// Windows that were divided or given up since ListRecords returned records.
    pub(super) divided_in_vain: u32,
    /// True if a request failed every time, and no page since contained new records.
    pub(super) given_up: bool,
}

/// Reports by what they were needed for.
pub(super) type Answers = Vec<(Need, Report)>;

/// The missing fact or operation of a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Need {
    Document(DocumentRequest),
    Page(Box<PageRequest>),
    Links,
    Store(Op),
    Task(Box<Task>),
}

/// The reason that a step did not finish.
pub(super) enum Pause {
    /// It lacks something.
    Need(Box<Need>),
    /// The run ends.
    End(Box<End>),
}

impl Pause {
    /// A defect of the planner or of the driver.
    pub(super) fn internal(what: &str) -> Self {
        Self::End(Box::new(End::Stopped(Trouble::Internal(what.to_owned()))))
    }
}

impl From<HarvestError> for Pause {
    fn from(error: HarvestError) -> Self {
        Self::End(Box::new(End::Failed(error)))
    }
}

/// A result that may still be lacking.
pub(super) type Lacking<T> = Result<T, Pause>;

impl Facts {
    pub(super) fn new(options: Options, contract: Contract, known: Option<Identity>, habits: Habits) -> Self {
        Self {
            options,
            contract,
            known,
            identity: Identity::default(),
            granularity: Granularity::Seconds,
            habits,
            repairs: Repairs::default(),
            gaps: Vec::new(),
            lists: Vec::new(),
            effort: Yield::default(),
            received: 0,
            is_first: true,
            retrying: false,
            learnt: Learnt::default(),
            now: Datestamp::from_unix(0),
            answers: Answers::default(),
        }
    }

    /// Returns the report on a need; a pause if it is still missing.
    pub(super) fn known(&self, need: Need) -> Lacking<&Report> {
        let found = self.answers.iter().find(|(known, _)| *known == need);
        found.map(|(_, report)| report).ok_or_else(|| Pause::Need(Box::new(need)))
    }

    pub(super) fn document(&self, request: DocumentRequest) -> Lacking<Arc<Result<Response, Trouble>>> {
        self.known(Need::Document(request))?.document().cloned()
    }

    /// A document that the server should be able to return.
    pub(super) fn describe(&self, question: Question) -> Lacking<Arc<Result<Response, Trouble>>> {
        self.document(DocumentRequest { question, at: None, dates: None, attempts: None })
    }

    /// A document that is requested once, to see whether the server returns it.
    pub(super) fn probe(&self, question: Question) -> Lacking<Arc<Result<Response, Trouble>>> {
        self.document(DocumentRequest { question, at: None, dates: None, attempts: Some(Attempts::Once) })
    }

    /// A page of a list. An error that ends the run does so.
    pub(super) fn page(&mut self, request: PageRequest) -> Lacking<Arc<Result<PageReport, Trouble>>> {
        let is_listing = request.purpose != Purpose::One;
        let page = match self.known(Need::Page(Box::new(request))) {
            Err(Pause::Need(_)) if is_listing && !self.effort.is_enough() => {
                return Err(self.stop(Trouble::Endless(self.effort.idle)));
            }
            known => Arc::clone(known?.page()?),
        };
        self.unless_it_stops(page)
    }

    /// A result, unless it is an error that ends the run.
    pub(super) fn unless_it_stops<T>(&mut self, result: Arc<Result<T, Trouble>>) -> Lacking<Arc<Result<T, Trouble>>> {
        if result.as_ref().as_ref().err().is_none_or(Trouble::calls_for_less) {
            return Ok(result);
        }
        self.answers.clear();
        let trouble = Arc::into_inner(result).and_then(Result::err);
        Err(trouble.map_or_else(|| Pause::internal("a result is in use"), |trouble| self.stop(trouble)))
    }

    /// Returns the report on an operation on the stored state.
    pub(super) fn store(&self, op: Op) -> Lacking<&Report> {
        self.known(Need::Store(op))
    }

    pub(super) fn number(&self, op: Op) -> Lacking<i64> {
        self.store(op)?.number().copied()
    }

    /// The result of a task.
    pub(super) fn task(&self, task: Task) -> Lacking<&Report> {
        self.known(Need::Task(Box::new(task)))
    }

    /// Ends the run early.
    pub(super) fn stop(&self, trouble: Trouble) -> Pause {
        Pause::End(Box::new(End::Stopped(trouble)))
    }

    pub(super) fn document_action(&self, request: &DocumentRequest) -> Action {
        let habits = Habits { dates: request.dates.unwrap_or(self.habits.dates), ..self.habits.clone() };
        let base_url = request.at.as_ref().unwrap_or(&self.options.base_url);
        let url = request.question.url(base_url, self.granularity, &habits, self.now);
        let attempts = request.attempts.unwrap_or_else(|| self.attempts());
        Action::Document { url, verb: request.question.verb(), attempts }
    }

    pub(super) fn page_action(&self, request: Box<PageRequest>) -> Action {
        let url = request.question.url(&self.options.base_url, self.granularity, &self.habits, self.now);
        Action::Page { url, request, attempts: self.attempts() }
    }

    fn attempts(&self) -> Attempts {
        if self.learnt.given_up { Attempts::Few } else { Attempts::All }
    }

    /// Returns the request for a page of a list, or for its identifiers.
    pub(super) fn list_request(&self, list: &List, open: &OpenWindow, purpose: Purpose) -> PageRequest {
        let question = Question::List {
            headers_only: !matches!(purpose, Purpose::Keep | Purpose::Again),
            prefix: self.contract.prefix.clone(),
            set: (!open.set.is_empty()).then(|| open.set.clone()),
            window: open.window,
            // Only parts overlap: the end that the user chose is the end. Identifiers are counted, so each only once.
            loose: purpose.makes_progress() && open.window.until != list.window.until,
            token: open.token.clone(),
        };
        let of_pass = (!self.retrying).then_some(list.number);
        PageRequest { question, list: of_pass, pass: list.first_window, window: open.clone(), purpose }
    }

    /// The first page of a list in its plainest form.
    pub(super) fn first_page(&self, headers_only: bool, set: &str, window: Window) -> Question {
        let (prefix, set) = (self.contract.prefix.clone(), Some(set.to_owned()));
        Question::List { headers_only, prefix, set, window, loose: false, token: None }
    }

    /// Returns true if the user wants some dates and no others: then they cannot be left out.
    pub(super) fn is_selective(&self) -> bool {
        self.options.window != Window::ALL
    }

    /// Accounts for a result before any step sees it: the budget, and what a page proves.
    pub(super) fn account(&mut self, need: Option<&Need>, report: Report, cost: Cost) -> Report {
        cost.failed.into_iter().for_each(|time| self.effort.spend(time));
        self.repairs.merge(cost.repairs);
        let failure = match &report {
            Report::Document(document) => document.as_ref().as_ref().err(),
            Report::Page(page) => page.as_ref().as_ref().err(),
            _ => None,
        };
        let repeated = match need {
            Some(Need::Document(DocumentRequest { attempts: Some(Attempts::Once), .. })) => false,
            Some(Need::Document(DocumentRequest { attempts: Some(Attempts::UntilPage), .. })) => {
                !matches!(failure, Some(Trouble::WebPage(_)))
            }
            _ => true,
        };
        self.learnt.given_up |= repeated && failure.is_some_and(Trouble::is_transient);
        match (need, &report) {
            (Some(Need::Page(request)), Report::Page(page)) => match &**page {
                Ok(page) if !self.take_page(request, page) => {
                    Report::Page(Arc::new(Err(Trouble::Endless(self.effort.idle))))
                }
                _ => report,
            },
            _ => report,
        }
    }

    /// Counts a page. Returns false if the run has spent too much on pages without new records.
    fn take_page(&mut self, request: &PageRequest, page: &PageReport) -> bool {
        let purpose = request.purpose;
        self.learnt.given_up &= !page.is_useful(purpose);
        self.received += page.kept;
        self.repairs.merge(page.repairs.clone());
        if purpose == Purpose::One {
            if page.errors.is_empty() {
                self.effort.gain();
            }
            return true;
        }
        self.learnt.health_known = false;
        if page.records > 0 && matches!(purpose, Purpose::Keep | Purpose::Again) {
            self.learnt.divided_in_vain = 0;
        }
        // Parts of a list that are empty are the cost of dividing it.
        if !page.errors.is_empty() && purpose.makes_progress() && !request.window.progress.is_pass {
            self.effort.spend(Duration::ZERO);
        }
        self.effort.take(purpose, page)
    }
}

/// Returns true for the error code of an empty list.
pub(super) fn is_no_records_match(code: &str) -> bool {
    ErrorCode::from_name(code) == Some(ErrorCode::NoRecordsMatch)
}
