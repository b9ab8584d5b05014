//! Decides about unverified ends. A list that stops short of its announced size, on a full page, or in a circle may be
//! complete or not; an independent list of identifiers decides, or smaller windows do.

use modoai_protocol::Datestamp;

use super::count::Count;
use super::decision::{Decision, noted};
use super::facts::{Facts, Lacking};
use super::recount::RecountTask;
use super::{Op, Task};
use crate::ask::sent_granularity;
use crate::ending::{How, Verdict};
use crate::habits::DateStyle;
use crate::page::Purpose;
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
        let listed = count.as_ref().map_or(0, |count| count.progress.fresh);
        // Identifiers that were listed and are not stored have been noted as missing, and will be fetched.
        let proven = count.as_ref().is_some_and(|count| self.is_whole(count, size.filter(|_| is_short)));
        if proven && (is_short || listed > fresh) {
            return Ok(Decision::complete().noting(quirk, &open.window));
        }
        let unknown = count.as_ref().map_or(0, |count| count.unknown);
        let counted = count.map(|count| count.how);
        if how.is_natural() && counted.is_some_and(How::is_natural) && listed <= fresh {
            if is_short && !open.set.is_empty() && self.size_of_store(open)? == size {
                return Ok(Decision::complete().noting(quirks::SIZE_OF_STORE, &open.window));
            }
            match (self.halves(list, open, unknown)?, is_short) {
                // The halves contain no more records than the whole. So the list is complete, whatever the announced
                // size.
                (Halves::NoMore, true) => return Ok(Decision::complete().noting(quirks::SIZE_WRONG, &open.window)),
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
        // If a server promises that its datestamps are those of visibility, it does not page by offset.
        let keeps_deletions = self.identity.deleted_record == "persistent";
        let may_have_shifted = !self.identity.prompt && open.progress.may_have_shifted(keeps_deletions);
        let proven = !may_have_shifted || self.is_proven_by_recount(list, open)?;
        if self.is_cut(list, open, how)? {
            let parts = self.parts(open)?;
            if !parts.is_empty() {
                let why = "lists of its parts contain more records than the list of the whole";
                return Ok(Decision::divided(open, parts).noting(quirks::DEEP_PAGING, &noted(open, why)));
            }
        }
        let why = "not proven complete: the list has several pages and no reliable size, and a second list of it differs or fails";
        Ok(if proven { complete } else { Decision::gap(why) })
    }

    fn is_proven_by_recount(&self, list: &List, open: &OpenWindow) -> Lacking<bool> {
        self.task(Task::Recount(RecountTask::new(list, open)))?.proven().copied()
    }

    /// Returns true if a limit cut a first list of several pages. Some servers end every list after ten thousand records, and
    /// announce no more than that; what such a list has not brought is looked for at its ends and in its middle.
    fn is_cut(&mut self, list: &List, open: &OpenWindow, how: How) -> Lacking<bool> {
        let Some((oldest, newest)) = open.progress.span else { return Ok(false) };
        let trusted = self.identity.prompt || !self.is_first || self.habits.dates == DateStyle::Never;
        if trusted || open.progress.pages < 2 || !how.is_natural() {
            return Ok(false);
        }
        let date = |unix| Some(Datestamp::from_unix(unix));
        let Window { from, until } = open.window;
        let spots = [
            Window { from: date(newest), until },
            Window { from, until: date(oldest) },
            Window { from: date(oldest + (newest - oldest) / 2), until },
        ];
        for window in spots {
            let number = self.number(Op::NewNumber(window))?;
            let spot = OpenWindow::new(number, window, &open.set);
            let page = self.page(self.list_request(list, &spot, Purpose::Compare))?;
            if page.as_ref().as_ref().is_ok_and(|page| page.unknown > 0) {
                return Ok(true);
            }
        }
        Ok(false)
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
            let Some(Count { how, progress, unknown: more, .. }) = self.count(list, &window)? else {
                return Ok(Halves::More);
            };
            if progress.span.is_some_and(|span| !half.holds(span)) && !self.heeds_dates(&open.set)? {
                return Ok(Halves::Unknown);
            }
            missing += more;
            if !how.is_natural() || missing > unknown {
                return Ok(Halves::More);
            }
            listed += progress.fresh;
        }
        // Some of it in both halves: they are not halves, and prove nothing.
        let prove_nothing = one_moment || listed > open.progress.fresh;
        Ok(if prove_nothing { Halves::Unknown } else { Halves::NoMore })
    }

    /// The size that is announced for the same window without a set.
    fn size_of_store(&self, open: &OpenWindow) -> Lacking<Option<u64>> {
        let response = self.describe(self.first_page(true, "", open.window))?;
        let token = response.as_ref().as_ref().ok().and_then(|response| response.token.as_ref());
        Ok(token.and_then(|token| token.size.as_ref()?.trim().parse().ok()))
    }
}
