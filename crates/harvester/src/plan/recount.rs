//! A list of several pages is compared with a second list: a server that pages by offset skips a record for each one that is
//! removed, or moves to the last page, while the list is read.

use modoai_protocol::ErrorCode;

use super::facts::{Facts, Lacking};
use super::{Op, Report, Step};
use crate::ask::Question;
use crate::page::Purpose;
use crate::quirks;
use crate::state::{List, OpenWindow};

/// Comparisons of a list with another in the same way until they agree.
const MAX_ROUNDS: u32 = 3;

/// The number of records of a list and missing from another that are looked up, to request some by identifier.
const MAX_UNLISTED: usize = 1000;

/// The number of records that are requested by identifier before their deletion is trusted.
pub(super) const MAX_SAMPLES: usize = 10;

/// Lists a window again, and fetches what was lost between its pages, until nothing is. Its report is true if that
/// proves the list complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecountTask {
    list: List,
    open: OpenWindow,
    purpose: Purpose,
    round: u32,
    /// True if a round found lost records: the server pages by offset.
    lost: bool,
}

impl RecountTask {
    pub(super) fn new(list: &List, open: &OpenWindow) -> Self {
        Self { list: list.clone(), open: open.clone(), purpose: Purpose::Compare, round: 0, lost: false }
    }
}

/// The result of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// Both lists agree.
    Agrees,
    /// Records changed or were deleted between the two lists, and none is known to be lost. Each of them may have moved a record
    /// to a page that was read before, in both lists.
    Moved,
    /// This number of records was on no page; they have been fetched.
    Lost(u64),
    /// They cannot be compared.
    Fails,
}

impl Facts {
    pub(super) fn recounting(&mut self, task: &mut RecountTask) -> Lacking<Step> {
        if self.learnt.identifiers_listed == Some(false) && task.purpose == Purpose::Compare {
            (task.purpose, task.round) = (Purpose::Again, 0);
            return Ok(Step::Next);
        }
        let by_records = task.purpose == Purpose::Again;
        if by_records && self.options.headers_only {
            return Ok(Step::Done(Report::Proven(false)));
        }
        let (round, next) = match task.round < MAX_ROUNDS {
            true => self.round(task)?,
            // A busy server that never lost a record pages by the last record, and not by offset.
            false if !task.lost => return Ok(Step::Done(Report::Proven(true))),
            false => (Round::Fails, None),
        };
        if let Some(next) = next {
            task.open = next;
        }
        match round {
            Round::Agrees => return Ok(Step::Done(Report::Proven(true))),
            Round::Moved => task.round += 1,
            Round::Lost(lost) => {
                task.lost = true;
                let example = format!("{}: {lost} records were not on any page", task.open.window);
                self.repairs.add(quirks::LIST_SHIFTED, lost, &example);
                task.round += 1;
            }
            Round::Fails if by_records => return Ok(Step::Done(Report::Proven(false))),
            Round::Fails => {
                self.lists_identifiers(&task.open.set)?;
                (task.purpose, task.round) = (Purpose::Again, 0);
            }
        }
        Ok(Step::Next)
    }

    /// Compares the list with another. Also returns that one, to compare a third with it.
    pub(super) fn round(&mut self, task: &RecountTask) -> Lacking<(Round, Option<OpenWindow>)> {
        let RecountTask { list, open, .. } = task;
        let Some(count) = self.count_as(list, open, task.purpose)? else { return Ok((Round::Fails, None)) };
        // A list that lacks what still exists is shorter than the one that it is compared with. To look for what it lacks
        // takes long, so that is done only if the counts do not agree.
        let agrees = count.progress.fresh.saturating_sub(count.found.unknown) >= open.progress.fresh;
        let unlisted = match agrees {
            true => Vec::new(),
            false => self
                .store(Op::LastSeen { window: open.number, until: open.window.until, limit: MAX_UNLISTED })?
                .names()?
                .clone(),
        };
        let ended = count.how.is_natural() || self.is_whole(&count, None);
        if !ended || !self.are_deleted(&unlisted)? {
            return Ok((Round::Fails, None));
        }
        // If no record of the list changed or was deleted before it was listed again, none can have moved during it.
        let has_repeated = task.round == 0 && open.progress.delivered > open.progress.fresh;
        let moved = !unlisted.is_empty() || count.found.moved > 0 || has_repeated;
        if count.found.lost == 0 && !moved {
            return Ok((Round::Agrees, None));
        }
        self.fetch_missing()?;
        let round = if count.found.lost > 0 { Round::Lost(count.found.lost) } else { Round::Moved };
        let mut next = OpenWindow { number: count.number, ..open.clone() };
        next.progress.fresh = count.progress.fresh;
        Ok((round, Some(next)))
    }

    /// Returns true if records that were not listed no longer exist: some of them are requested by identifier.
    pub(super) fn are_deleted(&mut self, unlisted: &[String]) -> Lacking<bool> {
        for identifier in unlisted.iter().step_by(unlisted.len().div_ceil(MAX_SAMPLES).max(1)) {
            let prefix = self.contract.prefix.clone();
            let document = self.describe(Question::Record { identifier: identifier.clone(), prefix })?;
            let document = self.unless_it_stops(document)?;
            let deleted = [Some(ErrorCode::IdDoesNotExist), Some(ErrorCode::CannotDisseminateFormat)];
            let is_deleted = match &*document {
                Ok(response) => {
                    response.errors.iter().any(|(code, _)| deleted.contains(&ErrorCode::from_name(code)))
                        || response.records.iter().any(|record| record.deleted)
                }
                Err(_) => false,
            };
            if !is_deleted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
