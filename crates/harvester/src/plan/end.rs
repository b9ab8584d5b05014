//! Decides about unverified ends. A list that stops short of its announced size, on a full page, or in a circle may be
//! complete or not; an independent list of identifiers decides, or smaller windows do.

use modoai_protocol::Datestamp;

use super::count::Count;
use super::decision::{Decision, noted};
use super::facts::{Facts, Lacking};
use super::recount::RecountTask;
use super::{Op, Task};
use crate::ask::sent_granularity;
use crate::ending::{How, Step, Verdict};
use crate::habits::DateStyle;
use crate::page::{PageReport, Purpose};
use crate::quirks;
use crate::state::{List, OpenWindow};
use crate::window::Window;

/// The result of comparing the halves of a list with the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halves {
    /// The same.
    NoMore,
    /// More: the whole was cut off.
    More,
    /// The list has no halves, or they could not be read.
    Unknown,
}

impl Facts {
    /// Decides whether a window that ended is complete.
    pub(super) fn settle(&mut self, list: &List, open: &OpenWindow, how: How) -> Lacking<Decision> {
        let quirk = match self.verdict(&open.progress, how, self.is_first) {
            Verdict::Complete => return self.unless_shifted_or_cut(list, open, how, Decision::complete()),
            Verdict::Repaired(quirk) => {
                let complete = Decision::complete().noting(quirk, &open.window);
                return self.unless_shifted_or_cut(list, open, how, complete);
            }
            Verdict::Doubtful(quirk) => quirk,
        };
        let is_short = open.progress.is_short();
        let (fresh, size) = (open.progress.fresh, open.progress.size);
        let count = self.count(list, open)?;
        // Records that are newer than the list are not expected in it.
        let listed = count.as_ref().map_or(0, Count::due);
        // Identifiers that were listed and are not stored have been noted as missing, and will be fetched. A size may be outdated
        // if the identifiers have another one.
        let announced = |count: &Count| size.filter(|_| is_short && count.progress.size.is_none());
        let proven = count.as_ref().is_some_and(|count| self.is_whole(count, announced(count)));
        if proven && (is_short || listed > fresh) {
            let complete = Decision::complete();
            return Ok(if listed > fresh { complete.noting(quirk, &open.window) } else { complete });
        }
        let found = count.as_ref().map(|count| count.found).unwrap_or_default();
        let unknown = found.overlooked();
        let has_moved = open.progress.pages > 1 && (found.moved > 0 || found.lost > 0 || listed < fresh);
        let counted = count.map(|count| count.how);
        if how.is_natural() && counted.is_some_and(How::is_natural) && listed <= fresh {
            if is_short && !open.set.is_empty() && self.size_of(open, "")? == size {
                return Ok(Decision::complete().noting(quirks::SIZE_OF_STORE, &open.window));
            }
            match (self.halves(list, open, unknown)?, is_short) {
                // The halves contain no more records than the whole. So the list is complete, whatever the announced
                // size.
                (Halves::NoMore, true) => {
                    let complete = Decision::complete();
                    let is_wrong = self.size_of(open, &open.set)?.is_none_or(|now| Some(now) == size);
                    return Ok(if is_wrong { complete.noting(quirks::SIZE_WRONG, &open.window) } else { complete });
                }
                (Halves::NoMore | Halves::Unknown, false) if has_moved => {
                    return self.unless_shifted(list, open, Decision::complete());
                }
                (Halves::NoMore | Halves::Unknown, false) => return Ok(Decision::complete()),
                (Halves::More, _) | (Halves::Unknown, true) => {}
            }
        }
        let why = match size.filter(|_| is_short) {
            Some(size) => format!("received {fresh} of {size} records"),
            None => format!("cannot verify that the list is complete after {fresh} records: {}", quirk.name),
        };
        let parts = self.parts(open)?;
        // If both lists continue without an end, their parts do, too.
        let is_endless = |how| matches!(how, How::Empty | How::Idle);
        if parts.is_empty() || is_endless(how) && counted.is_some_and(is_endless) {
            return Ok(Decision::gap(why));
        }
        Ok(Decision::divided(open, parts).noting(quirk, &noted(open, &why)))
    }

    /// The end is trusted, if no record was lost between two pages and no limit cut the list.
    fn unless_shifted_or_cut(
        &mut self,
        list: &List,
        open: &OpenWindow,
        how: How,
        complete: Decision,
    ) -> Lacking<Decision> {
        let complete = self.unless_shifted(list, open, complete)?;
        if let Some(overlooked) = self.beyond_limit(list, open, how)? {
            let parts = self.parts(open)?;
            if !parts.is_empty() {
                let why = "lists of its parts contain more records than the list of the whole";
                let divided = Decision::divided(open, parts);
                let is_error = overlooked > 0;
                return Ok(if is_error { divided.noting(quirks::DEEP_PAGING, &noted(open, why)) } else { divided });
            }
        }
        Ok(complete)
    }

    /// The end is trusted, if no record was lost between two pages.
    fn unless_shifted(&self, list: &List, open: &OpenWindow, complete: Decision) -> Lacking<Decision> {
        // If a server promises that its datestamps are those of visibility, it does not page by offset.
        let keeps_deletions = self.identity.deleted_record == "persistent";
        if self.identity.prompt || !open.progress.may_have_shifted(keeps_deletions, self.granularity.unit()) {
            return Ok(complete);
        }
        let proven = *self.task(Task::Recount(RecountTask::new(list, open)))?.proven()?;
        let why = "not proven complete: the list has several pages and no reliable size, and a second list of it differs or fails";
        Ok(if proven { complete } else { Decision::gap(why) })
    }

    /// Returns the number of records found that a first list of several pages lacks, if a limit may have cut it. Some servers end every list after ten thousand records, and
    /// announce no more than that; what such a list has not brought is looked for at its ends and in its middle.
    fn beyond_limit(&mut self, list: &List, open: &OpenWindow, how: How) -> Lacking<Option<u64>> {
        let Some((oldest, newest)) = open.progress.span else { return Ok(None) };
        let trusted = self.identity.prompt || !self.is_first || self.habits.dates == DateStyle::Never;
        if trusted || open.progress.pages < 2 || !how.is_natural() {
            return Ok(None);
        }
        let date = |unix| Some(Datestamp::from_unix(unix));
        let Window { from, until } = open.window;
        let spots = [
            Window { from: date(newest), until },
            Window { from, until: date(oldest) },
            Window { from: date(oldest + (newest - oldest) / 2), until },
        ];
        // The list of a part may contain records that are newer than the part.
        for window in
            spots.into_iter().filter(|spot| spot.from.zip(spot.until).is_none_or(|(from, until)| from <= until))
        {
            let number = self.number(Op::NewNumber(window))?;
            let mut spot = OpenWindow::new(number, window, &open.set);
            spot.progress.began = open.progress.began;
            let page = self.page(self.list_request(list, &spot, Purpose::Compare))?;
            // Records that are new have been noted as missing; a page full of them is more than that.
            let has_more = |page: &PageReport| page.found.unknown > 0 && matches!(page.step, Some(Step::GoOn(_)));
            if let Ok(page) = &*page
                && (page.found.overlooked() > 0 || has_more(page))
            {
                return Ok(Some(page.found.overlooked()));
            }
        }
        Ok(None)
    }

    /// Compares the two halves of what was received with the whole. A list that was cut off has more to give when it is
    /// requested in halves. What the whole has and cannot be fetched, `unknown` in number, is not more.
    pub(super) fn halves(&mut self, list: &List, open: &OpenWindow, unknown: u64) -> Lacking<Halves> {
        let Some((oldest, newest)) = open.progress.span else { return Ok(Halves::Unknown) };
        if self.habits.dates == DateStyle::Never {
            return Ok(Halves::Unknown);
        }
        let unit = sent_granularity(self.granularity, self.habits.dates).unit();
        let middle = (oldest + (newest - oldest) / 2).div_euclid(unit) * unit;
        // If all records have the same datestamp, both sides are empty; whether more records have it is unknown.
        let one_moment = newest - middle < unit;
        let (end, start) = if one_moment { (middle - 1, middle + unit) } else { (middle + unit - 1, middle + unit) };
        let below = Window { from: open.window.from, until: Some(Datestamp::from_unix(end)) };
        let above = Window { from: Some(Datestamp::from_unix(start)), until: open.window.until };
        let (mut listed, mut missing) = (0, 0);
        for half in [below, above] {
            if half.from.zip(half.until).is_some_and(|(from, until)| from > until) {
                continue;
            }
            let window = OpenWindow { window: half, ..open.clone() };
            let Some(count) = self.count(list, &window)? else {
                return Ok(Halves::More);
            };
            let (how, due) = (count.how, count.due());
            if count.progress.span.is_some_and(|span| !half.holds(span)) && !self.heeds_dates(&open.set)? {
                return Ok(Halves::Unknown);
            }
            missing += count.found.overlooked();
            if !how.is_natural() || missing > unknown {
                return Ok(Halves::More);
            }
            listed += due;
        }
        // Some of it in both halves: they are not halves, and prove nothing.
        let prove_nothing = one_moment || listed > open.progress.fresh;
        Ok(if prove_nothing { Halves::Unknown } else { Halves::NoMore })
    }

    /// The size that is announced now for the same window of a set.
    fn size_of(&self, open: &OpenWindow, set: &str) -> Lacking<Option<u64>> {
        let response = self.describe(self.first_page(true, set, open.window))?;
        let token = response.as_ref().as_ref().ok().and_then(|response| response.token.as_ref());
        Ok(token.and_then(|token| token.size.as_ref()?.trim().parse().ok()))
    }
}
