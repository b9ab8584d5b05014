//! Servers that do not understand dates, refuse one way to write them, or do not answer without.

use modoai_protocol::Datestamp;

use super::Work;
use crate::ask::Question;
use crate::clock;
use crate::habits::DateStyle;
use crate::quirks;
use crate::state::OpenWindow;
use crate::window::{Granularity, Window, read_date};

/// No repository has anything of this day, whatever dates it goes by; but for files that claim to be as old.
pub(super) const NEVER: i64 = 86_399; // the end of 1970-01-01

impl Work {
    /// Dates were refused: another way to write them, if there is one left.
    pub(super) fn other_dates(&mut self, open: &OpenWindow) -> Option<DateStyle> {
        let dated = open.window != Window::ALL;
        let (style, quirk) = match (self.talk.habits.dates, self.talk.granularity) {
            (DateStyle::AsPromised, Granularity::Seconds) if dated => (DateStyle::Days, quirks::GRANULARITY_MIXED),
            (DateStyle::AsPromised, Granularity::Day) if dated => (DateStyle::Seconds, quirks::GRANULARITY_MIXED),
            (DateStyle::AsPromised, _) => (DateStyle::Always, quirks::DATES_REQUIRED),
            (DateStyle::Days | DateStyle::Seconds, _) if dated && !self.is_selective() => {
                (DateStyle::Never, quirks::DATES_REFUSED)
            }
            _ => return None,
        };
        self.talk.repairs.note(quirk, &open.window.to_string());
        Some(style)
    }

    /// Whether the user wants some dates and no others: then they cannot be left out.
    pub(super) fn is_selective(&self) -> bool {
        self.options.window != Window::ALL
    }

    /// The first page of a list in its plainest form.
    pub(super) fn first_page(&self, set: &str, window: Window) -> Question {
        let (prefix, set) = (self.prefix.clone(), Some(set.to_owned()));
        Question::List { headers_only: true, prefix, set, window, loose: false, token: None }
    }

    /// A way to write dates that was learnt in an earlier run may have been learnt in an outage.
    pub(super) async fn doubt_style(&mut self, set: &str) {
        let learnt = self.talk.habits.dates;
        if !matches!(learnt, DateStyle::Always | DateStyle::Never) {
            return;
        }
        let recent = Datestamp::from_unix(clock::now().unix() - 86_400);
        let window = match learnt {
            DateStyle::Never => Window { from: Some(recent), until: None },
            _ => Window::ALL,
        };
        self.talk.habits.dates = DateStyle::AsPromised;
        let question = self.first_page(set, window);
        let found = self.talk.probe(&question).await.is_ok_and(|response| !response.records.is_empty());
        if !found {
            self.talk.habits.dates = learnt;
        }
    }

    /// Whether a list that works in another way now works as promised, too: then it was not the dates that were wrong.
    pub(super) async fn was_an_outage(&mut self, open: &OpenWindow) -> bool {
        let tried = self.talk.habits.dates;
        if !self.date_trial {
            return false;
        }
        self.date_trial = false;
        self.talk.habits.dates = DateStyle::AsPromised;
        let question = self.first_page(&open.set, open.window);
        if self.talk.probe(&question).await.is_ok() {
            return true;
        }
        self.talk.habits.dates = tried;
        let quirk = if tried == DateStyle::Never { quirks::DATES_REFUSED } else { quirks::DATES_REQUIRED };
        self.talk.repairs.note(quirk, &open.window.to_string());
        false
    }

    /// A list failed at once: some servers want both dates, others none. Whether it is to be tried in another way.
    pub(super) fn try_other_dates(&mut self, open: &OpenWindow) -> bool {
        if open.token.is_some() || self.talk.habits.dates_proven || self.date_trials_over {
            return false;
        }
        let open_ended = open.window.from.is_none() || open.window.until.is_none();
        self.talk.habits.dates = match self.talk.habits.dates {
            DateStyle::AsPromised if open_ended => DateStyle::Always,
            DateStyle::AsPromised | DateStyle::Always if open.window != Window::ALL && !self.is_selective() => {
                DateStyle::Never
            }
            _ => {
                // That was not it.
                self.date_trials_over = true;
                DateStyle::AsPromised
            }
        };
        self.date_trial = !self.date_trials_over;
        self.date_trial
    }

    /// Whether dates make a difference. Where they do not, every part of a list is all of it, and to divide it would only
    /// make one gap a hundred. Records outside of what was asked for are no proof: some servers select by another date than
    /// they show. So it is asked what nobody can have; once per run is enough.
    pub(super) async fn heeds_dates(&mut self, set: &str) -> bool {
        if let Some(heeded) = self.dates_heeded {
            return heeded;
        }
        let question = self.first_page(set, Window { from: None, until: Some(Datestamp::from_unix(NEVER)) });
        let later = |text: &str| read_date(text).is_some_and(|date| date.unix() > NEVER + 86_400);
        let ignored = match self.talk.probe(&question).await {
            Ok(response) => response.records.iter().any(|record| later(&record.datestamp)),
            Err(_) => false,
        };
        if ignored {
            self.talk.repairs.note(quirks::DATES_REFUSED, "a list until 1970 returns all records");
        }
        self.dates_heeded = Some(!ignored);
        !ignored
    }
}
