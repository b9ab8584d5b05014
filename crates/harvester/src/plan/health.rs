//! Servers that are down, or report for a while that they have nothing.

use modoai_protocol::Datestamp;

use super::Op;
use super::dates::never;
use super::decision::Decision;
use super::facts::{Facts, Lacking};
use super::recount::MAX_SAMPLES;
use crate::habits::DateStyle;
use crate::quirks;
use crate::state::OpenWindow;
use crate::window::Window;

/// The number of windows that are divided one after the other, although none of them returned a record. Between a whole
/// list and its days are this many levels.
const MAX_DIVIDED_IN_VAIN: u32 = 3;

/// The lists that a server is able to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// Something.
    Works,
    /// Identifiers, and no records.
    NoRecords,
    /// Nothing.
    Down,
}

impl Facts {
    /// Finds out what can be listed at all, however short. Where nothing can, to divide a list would only make one gap a hundred;
    /// where identifiers can and records cannot, parts of a list would fail as the whole does. Requested once after every page
    /// that was received.
    pub(super) fn health(&mut self, set: &str) -> Lacking<Health> {
        if self.learnt.health_known {
            return Ok(Health::Works);
        }
        let lately = Window { from: Some(Datestamp::from_unix(self.now.unix() - 86_400)), until: None };
        let mut health = Health::Down;
        for (headers_only, window) in [(false, never()), (false, lately), (true, Window::ALL)] {
            if self.probe(self.first_page(headers_only, set, window))?.is_ok() {
                let no_records = headers_only && !self.options.headers_only;
                health = if no_records { Health::NoRecords } else { Health::Works };
                break;
            }
        }
        self.learnt.health_known = true;
        Ok(health)
    }

    /// Returns true if dividing did not help before, so that requests by identifier are cheaper.
    pub(super) fn is_dividing_in_vain(&self) -> bool {
        self.learnt.divided_in_vain > MAX_DIVIDED_IN_VAIN && !self.options.headers_only
    }

    /// Decides about a window that is empty; none if it is to be requested in another way. The server may not understand dates, or
    /// not respond without them; or it may be renewing its index. Looked into once per run; a server that promises to be
    /// prompt is trusted.
    pub(super) fn empty_list(&mut self, open: &OpenWindow) -> Lacking<Option<Decision>> {
        if self.identity.prompt || self.habits.dates != DateStyle::AsPromised {
            // Both dates are sent because identifiers are listed with them.
            let is_refuted = self.is_first && self.habits.dates == DateStyle::Always && self.habits.dates_proven;
            let is_whole = open.window == Window::ALL && open.set.is_empty() && !self.identity.prompt;
            let why = "the server returned an empty list of records, but lists identifiers";
            return Ok(Some(if is_refuted && is_whole { Decision::gap(why) } else { Decision::complete() }));
        }
        let holds_records = !self.is_first && self.number(Op::ItemCount)? > 0;
        if holds_records && self.learnt.in_outage.is_none() && open.window != Window::ALL && self.lists_any(open)? {
            let why = "the server returned an empty list of records, but lists identifiers";
            let is_repeated = std::mem::replace(&mut self.learnt.empty_refuted, true);
            return Ok(is_repeated.then(|| Decision::gap(why)));
        }
        let (is_outage, other) = match self.learnt.in_outage {
            Some(known) => (known && holds_records, None),
            None => self.look_into_empty_list(open, holds_records)?,
        };
        self.learnt.in_outage.get_or_insert(is_outage);
        if let Some((style, quirk)) = other {
            self.habits.dates = style;
            self.repairs.note(quirk, &open.window.to_string());
            return Ok(None);
        }
        if is_outage && self.has_lost_everything()? {
            self.learnt.is_emptied = true;
            return Ok(Some(Decision::complete()));
        }
        let why = "the server returned an empty list, but this harvest already has records from it";
        Ok(Some(if is_outage { Decision::gap(why) } else { Decision::complete() }))
    }

    /// Returns true if identifiers of a window are listed. An index that is renewed returns empty lists for a moment.
    fn lists_any(&self, open: &OpenWindow) -> Lacking<bool> {
        let found = self.describe(self.first_page(true, &open.set, open.window))?;
        Ok(found.as_ref().as_ref().is_ok_and(|response| !response.records.is_empty()))
    }

    /// Returns true if the server returns none of the stored records by their identifiers, either. That is only trusted of a few
    /// records, all of which are requested: an index that is renewed has none for a while.
    fn has_lost_everything(&mut self) -> Lacking<bool> {
        let stored = self.store(Op::Unlisted { pass: i64::MAX, limit: MAX_SAMPLES + 1 })?.names()?.clone();
        Ok(stored.len() <= MAX_SAMPLES && self.are_deleted(&stored)?)
    }

    /// Returns true if the server is in an outage; or another way to write dates, and the reason.
    fn look_into_empty_list(&mut self, open: &OpenWindow, holds_records: bool) -> Lacking<(bool, Option<OtherDates>)> {
        let is_all = open.window == Window::ALL;
        let found = self.finds(&open.set, DateStyle::Always)?;
        let looked_into = match found {
            Some(true) if is_all => (false, Some((DateStyle::Always, quirks::DATES_REQUIRED))),
            // There are records, and dates that hold all of them find none.
            Some(false) if holds_records => match self.finds(&open.set, DateStyle::AsPromised)? {
                Some(true) if !is_all && !self.is_selective() => {
                    (false, Some((DateStyle::Never, quirks::DATES_REFUSED)))
                }
                // A set may lose its last record; a repository hardly.
                Some(false) if !open.set.is_empty() => (self.finds("", DateStyle::AsPromised)? != Some(true), None),
                _ => (true, None),
            },
            _ => (false, None),
        };
        self.habits.dates_proven |= found == Some(true);
        Ok(looked_into)
    }
}

/// Another way to write dates, and the quirk that calls for it.
type OtherDates = (DateStyle, &'static quirks::Quirk);
