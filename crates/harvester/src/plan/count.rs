//! Lists that are only compared with what is stored: of identifiers or, where these cannot be listed, of records.

use super::dates::never;
use super::facts::{Facts, Lacking, is_no_records_match};
use super::records::FetchTask;
use super::{Op, Report, Step, Task};
use crate::ending::{How, Step as Ending, Verdict};
use crate::page::{Differences, Purpose};
use crate::quirks;
use crate::state::{List, OpenWindow, Progress};

/// The result of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    pub(super) how: How,
    pub(super) progress: Progress,
    pub(super) found: Differences,
    /// The number of the pass.
    pub(super) number: i64,
}

impl Count {
    /// The number of its items that the compared list should have contained.
    pub(super) fn due(&self) -> u64 {
        self.progress.fresh.saturating_sub(self.found.recent)
    }
}

/// Follows a list until it ends. Items that are not stored are noted as missing, or stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CountTask {
    list: List,
    /// The window, without a number until it has one.
    pub(super) pass: OpenWindow,
    pub(super) purpose: Purpose,
    found: Differences,
}

impl Facts {
    pub(super) fn counting(&mut self, task: &mut CountTask) -> Lacking<Step> {
        if task.pass.number == 0 {
            task.pass.number = self.number(Op::NewNumber(task.pass.window))?;
            return Ok(Step::Next);
        }
        let CountTask { list, pass, purpose, found } = task;
        let page = self.page(self.list_request(list, pass, *purpose))?;
        let Ok(page) = &*page else { return Ok(Step::Done(Report::Count(None))) };
        let number = pass.number;
        let count = |how, found, progress: &Progress| {
            Step::Done(Report::Count(Some(Count { how, progress: progress.clone(), found, number })))
        };
        if let Some((code, _)) = page.errors.first() {
            return Ok(match is_no_records_match(code) {
                true => count(How::NoRecords, *found, &pass.progress),
                false => Step::Done(Report::Count(None)),
            });
        }
        found.add(page.found);
        pass.progress = page.progress.clone();
        Ok(match &page.step {
            Some(Ending::GoOn(token)) => {
                pass.token = Some(token.clone());
                Step::Next
            }
            Some(Ending::Ended(how)) => count(*how, *found, &pass.progress),
            None => Step::Done(Report::Count(None)),
        })
    }

    /// Lists a window again from its start, in one way; none if that fails.
    pub(super) fn count_as(&self, list: &List, open: &OpenWindow, purpose: Purpose) -> Lacking<Option<Count>> {
        let mut pass = OpenWindow::new(0, open.window, &open.set);
        pass.progress.began = open.progress.began;
        let task = CountTask { list: list.clone(), pass, purpose, found: Differences::default() };
        self.task(Task::Count(task))?.count().cloned()
    }

    /// Lists the identifiers of a window again; its records, where no identifiers can be listed. None if that fails.
    pub(super) fn count(&mut self, list: &List, open: &OpenWindow) -> Lacking<Option<Count>> {
        if self.learnt.identifiers_listed != Some(false) {
            let counted = self.count_as(list, open, Purpose::Compare)?;
            if counted.is_some() || self.options.headers_only || self.lists_identifiers(&open.set)? {
                return Ok(counted);
            }
        }
        self.count_as(list, open, Purpose::Again)
    }

    /// Returns true if any list of identifiers can be fetched, however short. Requested once per run.
    pub(super) fn lists_identifiers(&mut self, set: &str) -> Lacking<bool> {
        if let Some(listed) = self.learnt.identifiers_listed {
            return Ok(listed);
        }
        let probed = self.probe(self.first_page(true, set, never()))?;
        if let Err(trouble) = &*probed {
            self.repairs.note(quirks::NO_IDENTIFIERS, &trouble.to_string());
        }
        Ok(*self.learnt.identifiers_listed.insert(probed.is_ok()))
    }

    /// Requests every record that is noted as missing.
    pub(super) fn fetch_missing(&self) -> Lacking<()> {
        self.task(Task::Fetch(FetchTask::default())).map(drop)
    }

    /// Decides if the end of a list is trusted. If a server promises that its datestamps are those of visibility, it
    /// is, unless the server announced more records and did not end the list as the protocol requires: records that change
    /// during the list leave it, and the next list contains them.
    pub(super) fn verdict(&self, progress: &Progress, how: How, is_first: bool) -> Verdict {
        let is_regular = how == How::EmptyToken || how.is_natural() && !progress.is_short();
        let promised = self.identity.prompt && is_regular;
        if promised { Verdict::Complete } else { progress.judge(how, is_first) }
    }

    /// Returns true if a list is complete, given the size that was announced elsewhere.
    pub(super) fn is_whole(&self, count: &Count, announced: Option<u64>) -> bool {
        let progress = Progress { size: count.progress.size.max(announced), ..count.progress.clone() };
        !matches!(self.verdict(&progress, count.how, false), Verdict::Doubtful(_))
    }
}
