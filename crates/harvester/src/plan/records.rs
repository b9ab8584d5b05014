//! Records that are requested by identifier, because a list could not deliver them or the user chose them.

use modoai_protocol::ErrorCode;

use super::facts::{Facts, Lacking};
use super::{Op, PageRequest, Report, Step};
use crate::ask::Question;
use crate::page::Purpose;
use crate::state::{Missing, OpenWindow};
use crate::summary::Gap;
use crate::window::Window;

/// Records that are fetched one by one for one window. More are fetched sooner by dividing it further.
pub(super) const MAX_FETCHED: u64 = 10_000;

/// Records that are requested in a row; the rest is left to the next run.
const MAX_REQUESTED: u32 = 20_000;

/// A record that was requested so often without success is listed as missing, but requested only with `--verify`.
const MAX_TRIES: u32 = 5;

/// Failures in a row after which the rest is left to the next run.
const MAX_FAILURES: u32 = 20;

/// Requests every record that is noted as missing, once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FetchTask {
    /// The number of the pass; none yet.
    number: Option<i64>,
    /// Records that were looked up, the next one last.
    batch: Vec<Missing>,
    /// The last record that was looked up.
    after: String,
    requested: u32,
    failures: u32,
}

/// Requests the records that the user chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChosenTask {
    number: Option<i64>,
    next: usize,
}

/// The reason that a record was not fetched, and whether the server responded.
type Failure = (bool, String);

impl Facts {
    pub(super) fn fetching(&mut self, task: &mut FetchTask) -> Lacking<Step> {
        let Some(number) = task.number else {
            if self.number(Op::MissingCount)? == 0 {
                return Ok(Step::Done(Report::Done));
            }
            task.number = Some(self.number(Op::NewNumber(Window::ALL))?);
            return Ok(Step::Next);
        };
        let Some(missing) = task.batch.last() else {
            let batch = self.store(Op::Missing { after: task.after.clone() })?.missing()?;
            let Some(last) = batch.last() else { return Ok(Step::Done(Report::Done)) };
            task.after.clone_from(&last.identifier);
            // A record that was received without an identifier cannot be requested by it.
            let is_due = |missing: &&Missing| !missing.nameless && (missing.tries < MAX_TRIES || self.options.verify);
            task.batch = batch.iter().rev().filter(is_due).cloned().collect();
            return Ok(Step::Next);
        };
        if task.requested == MAX_REQUESTED {
            return Ok(Step::Done(Report::Done));
        }
        let responded = match self.record(number, &missing.identifier)? {
            Ok(()) => true,
            Err((responded, reason)) => {
                self.store(Op::Tried { identifier: missing.identifier.clone(), reason })?;
                responded
            }
        };
        task.batch.pop();
        task.requested += 1;
        task.failures = if responded { 0 } else { task.failures + 1 };
        Ok(if task.failures == MAX_FAILURES { Step::Done(Report::Done) } else { Step::Next })
    }

    /// A record that cannot be fetched is missing from this run only.
    pub(super) fn fetching_chosen(&mut self, task: &mut ChosenTask) -> Lacking<Step> {
        let Some(number) = task.number else {
            let has_lists = !self.store(Op::Lists)?.lists()?.is_empty();
            task.number = Some(if has_lists { self.number(Op::NewNumber(Window::ALL))? } else { 0 });
            return Ok(Step::Next);
        };
        let Some(identifier) = self.options.identifiers.get(task.next).cloned() else {
            return Ok(Step::Done(Report::Done));
        };
        if let Err((_, reason)) = self.record(number, &identifier)? {
            let (what, identifier) = ("record".to_owned(), Some(identifier));
            self.gaps.push(Gap { what, identifier, reason, ..Gap::default() });
        }
        task.next += 1;
        Ok(Step::Next)
    }

    /// Requests one record.
    fn record(&mut self, pass: i64, identifier: &str) -> Lacking<Result<(), Failure>> {
        let prefix = self.contract.prefix.clone();
        // A record that is fetched by identifier is newer than any list.
        let page = self.page(PageRequest {
            question: Question::Record { identifier: identifier.to_owned(), prefix },
            list: None,
            pass,
            window: OpenWindow::new(pass, Window::ALL, ""),
            purpose: Purpose::One,
        })?;
        let errors = match &*page {
            Ok(page) => &page.errors,
            Err(trouble) => return Ok(Err((false, trouble.to_string()))),
        };
        match errors.first() {
            None => Ok(Ok(())),
            // It exists, and not in this format, so it is not missing.
            Some((code, _)) if ErrorCode::from_name(code) == Some(ErrorCode::CannotDisseminateFormat) => {
                self.store(Op::Found(identifier.to_owned()))?;
                Ok(Ok(()))
            }
            Some((code, message)) => Ok(Err((true, format!("{code}: {message}")))),
        }
    }
}
