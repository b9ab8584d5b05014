//! Servers that do not understand dates, refuse one way to write them, or do not respond without.

use std::sync::Arc;

use modoai_protocol::Datestamp;
use modoai_protocol::xml::Response;

use super::facts::{Facts, Lacking};
use super::{Attempts, DocumentRequest};
use crate::habits::DateStyle;
use crate::harvest::Trouble;
use crate::quirks;
use crate::state::OpenWindow;
use crate::window::{Granularity, Window, read_date};

/// No repository has records of this day in any of its dates, except for files with a date of 1970.
const NEVER: i64 = 86_399; // the end of 1970-01-01

/// A window that is empty everywhere.
pub(super) fn never() -> Window {
    Window { from: None, until: Some(Datestamp::from_unix(NEVER)) }
}

/// Trials of other ways to write dates, after a list failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DateTrial {
    /// The way in use is not in doubt.
    #[default]
    None,
    /// Another way is being tried.
    Trying,
    /// Nothing helped: once per run is enough.
    Over,
}

impl Facts {
    /// The first page of a list, requested once with dates written in that way.
    fn probe_dates(&self, set: &str, window: Window, dates: DateStyle) -> Lacking<Arc<Result<Response, Trouble>>> {
        let question = self.first_page(true, set, window);
        self.document(DocumentRequest { question, at: None, dates: Some(dates), attempts: Some(Attempts::Once) })
    }

    /// Handles refused dates. Returns true if the server may accept another form of dates.
    pub(super) fn use_other_dates(&mut self, open: &OpenWindow) -> bool {
        let dated = open.window != Window::ALL;
        let (style, quirk) = match (self.habits.dates, self.granularity) {
            (DateStyle::AsPromised, Granularity::Seconds) if dated => (DateStyle::Days, quirks::GRANULARITY_MIXED),
            (DateStyle::AsPromised, Granularity::Day) if dated => (DateStyle::Seconds, quirks::GRANULARITY_MIXED),
            (DateStyle::AsPromised, _) => (DateStyle::Always, quirks::DATES_REQUIRED),
            (DateStyle::Days | DateStyle::Seconds, _) if dated && !self.is_selective() => {
                (DateStyle::Never, quirks::DATES_REFUSED)
            }
            _ => return false,
        };
        self.repairs.note(quirk, &open.window.to_string());
        self.habits.dates = style;
        true
    }

    /// Checks the form of dates that an earlier run stored: the cause may have been an outage.
    pub(super) fn check_date_style(&mut self, set: &str) -> Lacking<()> {
        let window = match self.habits.dates {
            DateStyle::Never => Window { from: Some(Datestamp::from_unix(self.now.unix() - 86_400)), until: None },
            DateStyle::Always => Window::ALL,
            _ => return Ok(()),
        };
        let probed = self.probe_dates(set, window, DateStyle::AsPromised)?;
        if probed.as_ref().as_ref().is_ok_and(|response| !response.records.is_empty()) {
            self.habits.dates = DateStyle::AsPromised;
        }
        Ok(())
    }

    /// Returns true if a list that works with another form of dates now works with the promised form, too: then the
    /// dates were not the cause.
    pub(super) fn was_an_outage(&mut self, open: &OpenWindow) -> Lacking<bool> {
        if self.learnt.date_trial != DateTrial::Trying {
            return Ok(false);
        }
        let works = self.probe_dates(&open.set, open.window, DateStyle::AsPromised)?.is_ok();
        self.learnt.date_trial = DateTrial::None;
        if works {
            self.habits.dates = DateStyle::AsPromised;
        } else {
            let is_never = self.habits.dates == DateStyle::Never;
            let quirk = if is_never { quirks::DATES_REFUSED } else { quirks::DATES_REQUIRED };
            self.repairs.note(quirk, &open.window.to_string());
        }
        Ok(works)
    }

    /// A list failed on its first page: some servers want both dates, others none. Returns true if it is to be requested in
    /// another way.
    pub(super) fn try_other_dates(&mut self, open: &OpenWindow) -> bool {
        if open.token.is_some() || self.habits.dates_proven || self.learnt.date_trial == DateTrial::Over {
            return false;
        }
        let open_ended = open.window.from.is_none() || open.window.until.is_none();
        (self.habits.dates, self.learnt.date_trial) = match self.habits.dates {
            DateStyle::AsPromised if open_ended => (DateStyle::Always, DateTrial::Trying),
            DateStyle::AsPromised | DateStyle::Always if open.window != Window::ALL && !self.is_selective() => {
                (DateStyle::Never, DateTrial::Trying)
            }
            _ => (DateStyle::AsPromised, DateTrial::Over),
        };
        self.learnt.date_trial == DateTrial::Trying
    }

    /// Returns true if the server selects by dates. If it does not, every part of a list is the whole list, and
    /// dividing it would only turn one gap into a hundred. Records outside of the requested dates prove nothing, because
    /// some servers select by another date than they show. So a window is requested that is empty everywhere; once per
    /// run is enough.
    pub(super) fn heeds_dates(&mut self, set: &str) -> Lacking<bool> {
        if let Some(heeded) = self.learnt.dates_heeded {
            return Ok(heeded);
        }
        let later = |text: &str| read_date(text).is_some_and(|date| date.unix() > NEVER + 86_400);
        let probed = self.probe(self.first_page(true, set, never()))?;
        let ignored = match &*probed {
            Ok(response) => response.records.iter().any(|record| later(&record.datestamp)),
            Err(_) => false,
        };
        if ignored {
            self.repairs.note(quirks::DATES_REFUSED, "a list until 1970 returns all records");
        }
        self.learnt.dates_heeded = Some(!ignored);
        Ok(!ignored)
    }

    /// Returns true if a list of everything, requested with dates written in that way, has anything; `None` if it fails.
    pub(super) fn finds(&self, set: &str, dates: DateStyle) -> Lacking<Option<bool>> {
        let question = self.first_page(true, set, Window::ALL);
        let found = self.document(DocumentRequest { question, at: None, dates: Some(dates), attempts: None })?;
        Ok(found.as_ref().as_ref().ok().map(|response| !response.records.is_empty()))
    }
}
