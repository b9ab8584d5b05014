//! One window: its pages are requested until it ends or fails, and then a decision is made.

use modoai_protocol::ErrorCode;

use super::dates::DateTrial;
use super::decision::Decision;
use super::facts::{Facts, Lacking};
use super::health::Health;
use super::{Report, Step};
use crate::ending::How;
use crate::ending::Step as Ending;
use crate::habits::TokenStyle;
use crate::harvest::{HarvestError, Trouble};
use crate::page::{PageReport, Purpose};
use crate::quirks::{self, Quirk};
use crate::state::{List, OpenWindow};
use crate::window::{Window, read_date};

/// Follows a window from where it was left to its last page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WindowTask {
    list: List,
    open: OpenWindow,
    state: State,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    /// The next page is requested.
    Listing,
    /// A page was received.
    Received(Box<PageReport>),
    /// The window is started again.
    Restart,
    /// The server returned an empty list.
    Empty,
    /// The list ended.
    Ended(How),
    /// A page cannot be delivered, or the token of the next expired.
    Failed(Failure),
    /// It is requested in another way.
    Dividing(Failure, Health, bool),
    /// It is clear what to do.
    Decided(Decision),
}

/// The reason that the server cannot deliver a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) quirk: &'static Quirk,
    pub(super) why: String,
}

impl WindowTask {
    pub(super) fn new(list: List, open: OpenWindow) -> Self {
        // A run that was killed while the end was checked is continued there.
        let state = open.progress.ended.map_or(State::Listing, State::Ended);
        Self { list, open, state }
    }
}

impl Facts {
    pub(super) fn window(&mut self, task: &mut WindowTask) -> Lacking<Step> {
        let WindowTask { list, open, state } = task;
        *state = match state {
            State::Listing => self.listing(list, open)?,
            State::Received(page) => {
                if open.token.is_none() && self.was_an_outage(open)? {
                    State::Restart
                } else {
                    self.received(open, page)?
                }
            }
            State::Restart => {
                *open = self.restart(list, open)?;
                State::Listing
            }
            State::Empty => self.empty_list(open)?.map_or(State::Listing, State::Decided),
            State::Ended(how) => State::Decided(self.settle(list, open, *how)?),
            State::Failed(failure) => match self.health(&open.set)? {
                Health::Down => State::Decided(Decision::down(&failure.why)),
                health => {
                    self.learnt.divided_in_vain += 1;
                    State::Dividing(failure.clone(), health, self.is_dividing_in_vain())
                }
            },
            State::Dividing(failure, health, in_vain) => {
                State::Decided(self.divide(list, open, failure, *health, *in_vain)?)
            }
            State::Decided(decision) => {
                return Ok(Step::Done(Report::Fate(self.carry_out(list, open, decision)?)));
            }
        };
        Ok(Step::Next)
    }

    fn listing(&mut self, list: &List, open: &OpenWindow) -> Lacking<State> {
        let purpose = if self.options.headers_only { Purpose::Headers } else { Purpose::Keep };
        let page = self.page(self.list_request(list, open, purpose))?;
        match &*page {
            Err(trouble) if trouble.may_be_about_dates() && self.try_other_dates(open) => Ok(State::Listing),
            Err(trouble) => {
                let quirk = if open.token.is_some() { quirks::DEEP_PAGING } else { trouble.quirk() };
                Ok(State::Failed(Failure { quirk, why: trouble.to_string() }))
            }
            Ok(page) => match page.errors.first() {
                Some((code, message)) => self.listing_error(open, code, message),
                None => {
                    self.check_page(open, page);
                    Ok(State::Received(Box::new(page.clone())))
                }
            },
        }
    }

    /// Continues with the next page, if there is one.
    fn received(&mut self, open: &mut OpenWindow, page: &PageReport) -> Lacking<State> {
        let requested = open.token.take();
        self.learnt.token_style_proven |= requested.is_some_and(|token| needs_encoding(&token));
        open.progress = page.progress.clone();
        match &page.step {
            Some(Ending::GoOn(_)) if self.is_limit_reached() => Err(self.limit()),
            Some(Ending::GoOn(token)) => {
                open.token = Some(token.clone());
                Ok(State::Listing)
            }
            Some(Ending::Ended(how)) => Ok(State::Ended(*how)),
            None => Err(self.stop(Trouble::Internal("a page without a step".to_owned()))),
        }
    }

    /// Notes cursors and sizes that do not add up; they decide nothing.
    fn check_page(&mut self, open: &OpenWindow, page: &PageReport) {
        let before = open.progress.delivered;
        let more = page.token.as_deref().is_some_and(|token| !token.is_empty());
        match (page.cursor, page.size) {
            (Some(cursor), Some(size)) if cursor == size && more => {
                self.repairs.note(quirks::CURSOR_AT_SIZE, &format!("{cursor} of {size}"));
            }
            (Some(cursor), _) if cursor != before && open.progress.restarts == 0 => {
                self.repairs.note(quirks::CURSOR_COUNTS_PAGES, &format!("cursor {cursor} after {before} records"));
            }
            _ => {}
        }
        if let (Some(oldest), Some(earliest)) = (page.progress.oldest(), read_date(&self.identity.earliest))
            && oldest < earliest
        {
            self.repairs.note(quirks::EARLIEST_WRONG, &format!("{earliest}, but a record has {oldest}"));
        }
        let (named, unnamed) = page.in_sets;
        self.learnt.in_sets = (self.learnt.in_sets.0 + named, self.learnt.in_sets.1 + unnamed);
        self.habits.dates_proven |= page.records > 0 && open.window != Window::ALL;
        // An empty last page without a token is right if the rest of the list was deleted in the meantime.
        let is_needless = more || page.size.max(open.progress.size) == Some(before);
        if page.records == 0 && open.token.is_some() && is_needless {
            self.repairs.note(quirks::TOKEN_TO_EMPTY_PAGE, &open.window.to_string());
        }
    }

    /// The meaning of a protocol error in a list.
    fn listing_error(&mut self, open: &OpenWindow, code: &str, message: &str) -> Lacking<State> {
        let url = self.contract.base_url.clone();
        let error = ErrorCode::from_name(code);
        match (error, &open.token) {
            (Some(ErrorCode::NoRecordsMatch), None) => return Ok(State::Empty),
            (Some(ErrorCode::NoRecordsMatch), Some(_)) => {
                self.repairs.note(quirks::TOKEN_TO_NO_RECORDS, &open.window.to_string());
                return Ok(State::Ended(How::NoRecords));
            }
            (Some(ErrorCode::BadResumptionToken | ErrorCode::BadArgument), Some(token)) => {
                return Ok(self.refused_token(open, token, error == Some(ErrorCode::BadArgument)));
            }
            (Some(ErrorCode::BadArgument), None) if self.learnt.date_trial == DateTrial::Trying => {
                // The dates are those of the trial, and the failure before is not about dates.
                let failed = State::Failed(Failure { quirk: quirks::UNSTABLE, why: format!("{code}: {message}") });
                return Ok(if self.try_other_dates(open) { State::Listing } else { failed });
            }
            (Some(ErrorCode::BadArgument), None) if self.use_other_dates(open) => return Ok(State::Listing),
            (Some(ErrorCode::NoSetHierarchy), _) => return Err(HarvestError::NoSets { url }.into()),
            _ => {}
        }
        Err(HarvestError::Refused { url, code: code.to_owned(), message: message.to_owned() }.into())
    }

    /// A token was refused: it may have to be written differently, or it has expired.
    fn refused_token(&mut self, open: &OpenWindow, token: &str, is_argument: bool) -> State {
        if is_argument && !self.habits.prefix_with_token {
            self.habits.prefix_with_token = true;
            self.repairs.note(quirks::PREFIX_WITH_TOKEN, token);
            return State::Listing;
        }
        if needs_encoding(token) && !self.learnt.token_style_proven {
            if let Some(style) = self.habits.token.next() {
                let quirk = match style {
                    TokenStyle::Raw => quirks::TOKEN_RAW,
                    TokenStyle::Encoded | TokenStyle::EncodedAlready => quirks::TOKEN_ENCODED_ALREADY,
                };
                self.habits.token = style;
                self.repairs.note(quirk, token);
                return State::Listing;
            }
            self.habits.token = TokenStyle::default();
        }
        self.repairs.note(quirks::TOKEN_EXPIRED, token);
        if open.progress.restarts == 0 {
            return State::Restart;
        }
        let why = "its resumption token expires before the end of the list".to_owned();
        State::Failed(Failure { quirk: quirks::TOKEN_EXPIRED, why })
    }
}

/// Returns true if a token looks different when it is percent-encoded.
fn needs_encoding(token: &str) -> bool {
    !token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte))
}
