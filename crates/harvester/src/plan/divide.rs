//! Windows that a server cannot deliver: requested in parts, by time, one by one, by sets.

use modoai_protocol::Datestamp;

use super::Op;
use super::decision::{Decision, fetched_one_by_one, noted};
use super::facts::{Facts, Lacking};
use super::health::Health;
use super::records::MAX_FETCHED;
use super::window::Failure;
use crate::ask::sent_granularity;
use crate::habits::DateStyle;
use crate::page::Purpose;
use crate::quirks;
use crate::state::{List, OpenWindow};
use crate::window::{Window, read_date};

use super::end::Halves;

/// Datestamps before this are rare enough to be left to the first window, which has no lower end.
const LONG_AGO: i64 = 788_918_400; // 1995-01-01

impl Facts {
    /// Replaces a window by smaller ones; if it cannot be divided, its records are fetched one by one; if that fails,
    /// it is given up. If dividing did not help before, or cannot help, records are fetched by identifier first.
    pub(super) fn divide(
        &mut self,
        list: &List,
        open: &OpenWindow,
        failure: &Failure,
        health: Health,
        in_vain: bool,
    ) -> Lacking<Decision> {
        let Failure { quirk, why } = failure;
        let no_records = health == Health::NoRecords;
        if no_records || in_vain {
            if self.by_identifier(list, open)? {
                let quirk = if no_records { quirks::NO_RECORDS } else { quirks::BAD_RECORD };
                return Ok(Decision::complete().noting(quirk, &noted(open, why)));
            }
            if no_records {
                return Ok(Decision::gap(why));
            }
        }
        let parts = self.parts(open)?;
        if (parts.is_empty() || open.window.is_short()) && self.one_by_one(list, open)? {
            return Ok(fetched_one_by_one(open, quirk, why));
        }
        if parts.is_empty() {
            return self.by_sets(open, failure);
        }
        Ok(Decision::divided(open, parts).noting(quirk, &noted(open, why)))
    }

    /// The parts of a window by time; none if it cannot be divided.
    pub(super) fn parts(&mut self, open: &OpenWindow) -> Lacking<Vec<Window>> {
        if self.habits.dates == DateStyle::Never || !self.heeds_dates(&open.set)? {
            return Ok(Vec::new());
        }
        let now = self.now;
        let earliest = read_date(&self.identity.earliest).filter(|date| now.unix() - date.unix() > 86_400);
        // No record is older than the earliest datestamp, if the server reports that correctly; if a window up to there
        // has too many records, it does not.
        let earliest =
            earliest.filter(|date| open.window.until.is_none_or(|until| until.unix() - date.unix() > 366 * 86_400));
        let form = sent_granularity(self.granularity, self.habits.dates);
        if let Some(parts) = open.progress.span.and_then(|span| open.window.split_around(span, form)) {
            return Ok(parts);
        }
        Ok(open.window.split((earliest.unwrap_or(Datestamp::from_unix(LONG_AGO)), now), form))
    }

    /// Divides a window by sets, as the last resort. Records in no set are not listed that way; so if such records
    /// exist, or if that is unknown, the window stays a gap.
    fn by_sets(&mut self, open: &OpenWindow, Failure { quirk, why }: &Failure) -> Lacking<Decision> {
        let sets = if open.set.is_empty() { self.sets()?.to_vec() } else { Vec::new() };
        if sets.is_empty() {
            return Ok(Decision::gap(why).noting(quirks::BAD_RECORD, &noted(open, why)));
        }
        let every_record_is_in_a_set = matches!(self.learnt.in_sets, (1.., 0));
        let decision = if every_record_is_in_a_set { Decision::complete() } else { Decision::gap(why) };
        let parts = sets.into_iter().map(|set| (open.window, set)).collect();
        Ok(Decision { parts, ..decision.noting(quirk, &noted(open, why)) })
    }

    /// Fetches the records of a window by their identifiers, regardless of their number; those that are too many for this run
    /// are noted, and left to the next. Returns true if all of them could be listed.
    fn by_identifier(&mut self, list: &List, open: &OpenWindow) -> Lacking<bool> {
        let Some(count) = self.count_as(list, open, Purpose::Compare)? else { return Ok(false) };
        let whole = self.is_whole(&count, open.progress.size)
            || count.how.is_natural() && {
                let unknown = count.found.overlooked();
                let progress = count.progress;
                let (short, counted) = (progress.is_short(), OpenWindow { progress, ..open.clone() });
                match self.halves(list, &counted, unknown)? {
                    Halves::NoMore => true,
                    Halves::Unknown => !short,
                    Halves::More => false,
                }
            };
        self.fetch_missing()?;
        Ok(whole)
    }

    /// Fetches the records of a window by their identifiers, if they are not too many. Returns true if that was possible; what
    /// could not be fetched is noted.
    pub(super) fn one_by_one(&mut self, list: &List, open: &OpenWindow) -> Lacking<bool> {
        let Some(count) = self.count(list, open)? else { return Ok(false) };
        let missing = self.number(Op::MissingCount)?.cast_unsigned();
        if !self.is_whole(&count, open.progress.size) || missing > MAX_FETCHED {
            return Ok(false);
        }
        self.fetch_missing()?;
        Ok(true)
    }
}
