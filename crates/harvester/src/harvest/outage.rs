//! Servers that are down, or say for a while that they have nothing.

use modoai_protocol::Datestamp;

use super::dates::NEVER;
use super::{HarvestError, Work};
use crate::ask::Question;
use crate::clock;
use crate::habits::DateStyle;
use crate::quirks;
use crate::state::OpenWindow;
use crate::window::Window;

/// What a server is able to list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// Something.
    Works,
    /// Identifiers, and no records.
    NoRecords,
    /// Nothing.
    Down,
}

/// What follows from a list's being empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nothing {
    /// It is.
    Believed,
    /// It is to be asked for in another way.
    AskOtherwise,
    /// It cannot be.
    Outage,
}

impl Work {
    /// What can be listed at all, however short. Where nothing can, to divide a list would only make one gap a hundred; where
    /// identifiers can and records cannot, parts of a list would fail as the whole does. Asked once after every page that
    /// came.
    pub(super) async fn health(&mut self, set: &str) -> Health {
        if std::mem::replace(&mut self.looked_down, true) {
            return Health::Works;
        }
        let never = Window { from: None, until: Some(Datestamp::from_unix(NEVER)) };
        let lately = Window { from: Some(Datestamp::from_unix(clock::now().unix() - 86_400)), until: None };
        for (headers_only, window) in [(false, never), (false, lately), (true, Window::ALL)] {
            let (prefix, set) = (self.prefix.clone(), Some(set.to_owned()));
            let question = Question::List { headers_only, prefix, set, window, loose: false, token: None };
            if self.talk.probe(&question).await.is_ok() {
                return if headers_only && !self.options.headers_only { Health::NoRecords } else { Health::Works };
            }
        }
        Health::Down
    }

    /// Nothing was found. The server may not understand dates, or not answer without them; or it may be renewing its index.
    /// Looked into once per run; a server that promises to be prompt is believed.
    pub(super) async fn doubt_nothing(&mut self, open: &OpenWindow) -> Result<Nothing, HarvestError> {
        if self.identity.prompt || self.talk.habits.dates != DateStyle::AsPromised {
            return Ok(Nothing::Believed);
        }
        let holds_records = !self.is_first && self.state()?.counts()?.0 > 0;
        match self.in_outage {
            Some(true) if holds_records => return Ok(Nothing::Outage),
            Some(_) => return Ok(Nothing::Believed),
            None => {}
        }
        let doubt = self.look_into(open, holds_records).await;
        self.in_outage = Some(doubt == Nothing::Outage);
        Ok(doubt)
    }

    async fn look_into(&mut self, open: &OpenWindow, holds_records: bool) -> Nothing {
        let is_all = open.window == Window::ALL;
        let found = self.finds(&open.set, DateStyle::Always).await;
        self.talk.habits.dates_proven |= found == Some(true);
        let (style, quirk) = match found {
            Some(true) if is_all => (DateStyle::Always, quirks::DATES_REQUIRED),
            // There are records, and dates that hold all of them find none.
            Some(false) if holds_records => match self.finds(&open.set, DateStyle::AsPromised).await {
                Some(true) if !is_all && !self.is_selective() => (DateStyle::Never, quirks::DATES_REFUSED),
                // A set may lose its last record; a repository hardly.
                Some(false) if !open.set.is_empty() && self.finds("", DateStyle::AsPromised).await == Some(true) => {
                    return Nothing::Believed;
                }
                _ => return Nothing::Outage,
            },
            _ => return Nothing::Believed,
        };
        self.talk.habits.dates = style;
        self.talk.repairs.note(quirk, &open.window.to_string());
        Nothing::AskOtherwise
    }

    /// Whether a list of everything, asked for in this way, has anything; `None` if there is no answer.
    async fn finds(&mut self, set: &str, style: DateStyle) -> Option<bool> {
        let question = self.first_page(set, Window::ALL);
        let before = std::mem::replace(&mut self.talk.habits.dates, style);
        let found = self.talk.describe(&question).await;
        self.talk.habits.dates = before;
        found.ok().map(|response| !response.records.is_empty())
    }
}
