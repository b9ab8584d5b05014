//! A list as windows: tokens are followed, and what turns out small is joined.

use std::time::Duration;

use modoai_protocol::{Datestamp, ErrorCode, Verb};

use super::outage::Nothing;
use super::{HarvestError, Stop, Trouble, Work};
use crate::ask::Question;
use crate::clock;
use crate::ending::{How, Step, Verdict};
use crate::gauge::Gauge;
use crate::habits::TokenStyle;
use crate::page::{Order, PageReport, Purpose};
use crate::quirks;
use crate::sink::Origin;
use crate::state::{List, OpenWindow, Progress};
use crate::window::{Granularity, Window, read_date};

/// Windows that fail one after the other before the server is taken to be down.
const MOST_FAILURES: u32 = 3;

/// A window with fewer records was divided more than necessary.
const SMALL: u64 = 200;

/// At most so many windows are joined.
const MOST_JOINED: usize = 64;

/// What became of a window.
pub(super) enum Fate {
    /// It is complete, with so many records.
    Closed(u64),
    /// It was replaced by smaller ones.
    Divided,
    /// It was given up for this run.
    GivenUp,
    /// It was given up, as all that is left has to be: the server is down.
    Down,
}

impl Work {
    /// Brings one list up to date: what an earlier run left open, and then what changed.
    pub(super) async fn list(&mut self, set: &str) -> Result<(), Stop> {
        let window = self.options.window;
        let known = self.state()?.lists()?.into_iter().find(|list| list.set == set && list.window == window);
        self.is_first = known.is_none_or(|list| list.watermark.is_none());
        if self.is_first {
            self.expect_set(set).await?;
        }
        let list = self.state()?.list(set, window)?;
        self.lists.push(list.number);
        self.doubt_style(set).await;
        // A pass that has begun and has no windows left was killed before it was noted as complete.
        if !self.state()?.windows(list.number)?.is_empty() || list.first_date.is_some() {
            // A pass that was interrupted is gone through to its end, and its beginning is what is known then. Gaps of an
            // earlier pass are tried again, and nothing follows from when that is done.
            let under_way = list.first_date.is_some() || list.watermark.is_none();
            self.retrying = !under_way;
            let answered = if under_way { self.pass(&list).await? } else { self.windows(&list).await? };
            self.retrying = false;
            if under_way && !answered {
                return Ok(());
            }
        }
        let list = self.state()?.list(set, window)?;
        if self.begin_pass(&list)? {
            let list = self.state()?.list(set, window)?;
            self.pass(&list).await?;
        }
        Ok(())
    }

    /// A set that does not exist is a mistake, and not an empty list.
    async fn expect_set(&mut self, set: &str) -> Result<(), Stop> {
        if set.is_empty() {
            return Ok(());
        }
        let sets = self.sets().await;
        let within = |known: &String| known == set || known.strip_prefix(set).is_some_and(|rest| rest.starts_with(':'));
        if sets.is_empty() || sets.iter().any(within) {
            return Ok(());
        }
        const SHOWN: usize = 20;
        let (url, more) = (self.options.base_url.to_string(), if sets.len() > SHOWN { ", …" } else { "" });
        let offered = sets.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ") + more;
        Err(HarvestError::Set { url, set: set.to_owned(), nearest: nearest(set, &sets), offered }.into())
    }

    /// Works through all windows of a pass. Whether the server was able to answer.
    async fn pass(&mut self, list: &List) -> Result<bool, Stop> {
        if !self.windows(list).await? {
            return Ok(false);
        }
        self.compare_with_announced(list).await?;
        if let Some(desk) = self.desk.as_mut() {
            desk.finish()?;
        }
        // Nothing at all may have come because of an outage, and to ask for everything again costs nothing if there is
        // nothing.
        let is_void = list.watermark.is_none() && self.state()?.seen_since(list.first_window)? == 0;
        self.state()?.complete_list(list.number, clock::now(), is_void)?;
        Ok(true)
    }

    /// Decides what a new pass asks for; whether there is anything to ask.
    fn begin_pass(&mut self, list: &List) -> Result<bool, HarvestError> {
        let overlap = i64::try_from(self.overlap().as_secs()).unwrap_or(i64::MAX);
        // A watermark in the future would hide everything until then.
        let watermark = list.watermark.map(|date| date.min(clock::now()));
        let since = watermark.map(|date| Datestamp::from_unix(date.unix().saturating_sub(overlap)));
        let window = Window { from: list.window.from.max(since), until: list.window.until };
        if window.from.zip(window.until).is_some_and(|(from, until)| from > until) {
            return Ok(false);
        }
        self.state()?.begin_pass(list.number, window, &list.set)?;
        Ok(true)
    }

    /// Works through the windows of a list until none is left that was not given up. Whether the server was able to answer.
    async fn windows(&mut self, list: &List) -> Result<bool, Stop> {
        let (mut stride, mut failures) = (1, 0);
        loop {
            let Some(open) = self.next_window(list, stride)? else { return Ok(true) };
            if self.is_limit_reached() {
                let limit = self.options.limit.unwrap_or_default();
                return Err(self.stop(Trouble::Limit(limit)));
            }
            match self.window(list, open).await? {
                Fate::Closed(records) => {
                    failures = 0;
                    stride = if records < SMALL { (stride * 2).min(MOST_JOINED) } else { 1 };
                }
                Fate::Divided => stride = 1,
                Fate::GivenUp => {
                    failures += 1;
                    stride = 1;
                }
                Fate::Down => failures = MOST_FAILURES,
            }
            if failures == MOST_FAILURES {
                for open in self.state()?.next_windows(list.number, usize::MAX)? {
                    self.state()?.give_up(open.number, "not requested: the previous date ranges failed")?;
                }
                return Ok(false);
            }
        }
    }

    /// The next window, joined with those that follow it if the last ones were small.
    fn next_window(&mut self, list: &List, stride: usize) -> Result<Option<OpenWindow>, HarvestError> {
        let state = self.state()?;
        let mut next = state.next_windows(list.number, stride)?.into_iter();
        let Some(mut first) = next.next() else { return Ok(None) };
        if first.token.is_some() {
            return Ok(Some(first));
        }
        let mut joined = Vec::new();
        for open in next {
            let together = first.window.joined(open.window).filter(|_| open.set == first.set && open.token.is_none());
            let Some(together) = together else { break };
            first.window = together;
            joined.push(open.number);
        }
        if !joined.is_empty() {
            state.begin()?;
            for number in joined.iter().chain([&first.number]) {
                state.close_window(*number)?;
            }
            first.number = state.add_window(list.number, first.window, &first.set, &first.progress)?;
            state.commit()?;
        }
        Ok(Some(first))
    }

    /// Follows a window from where it stands to its end.
    async fn window(&mut self, list: &List, mut open: OpenWindow) -> Result<Fate, Stop> {
        loop {
            let size = open.progress.size.unwrap_or_default();
            self.talk.gauge.expected.store(size, std::sync::atomic::Ordering::Relaxed);
            self.talk.gauge.received.store(open.progress.delivered, std::sync::atomic::Ordering::Relaxed);
            self.talk.gauge.say(format!("listing {}", open.window));
            let purpose = if self.options.headers_only { Purpose::Headers } else { Purpose::Keep };
            let report = match self.list_page(list, &open, purpose).await {
                Ok(report) => report,
                Err(trouble) if trouble.may_be_about_dates() && self.try_other_dates(&open) => continue,
                Err(trouble) if trouble.calls_for_less() => {
                    let quirk = if open.token.is_some() { quirks::DEEP_PAGING } else { trouble.quirk() };
                    return self.divide(list, open, quirk, &trouble.to_string()).await;
                }
                Err(trouble) => return Err(self.stop(trouble)),
            };
            if let Some((code, message)) = report.errors.first().cloned() {
                match self.listing_error(list, &mut open, &code, &message).await? {
                    Some(fate) => return Ok(fate),
                    None => continue,
                }
            }
            self.look_at(&open, &report);
            if open.token.is_none() && self.was_an_outage(&open).await {
                self.restart(list, &mut open)?;
                continue;
            }
            let asked = open.token.take();
            if asked.is_some_and(|token| needs_encoding(&token)) {
                self.token_style_proven = true;
            }
            open.progress = report.progress;
            match report.step {
                Some(Step::GoOn(_)) if self.is_limit_reached() => {
                    let limit = self.options.limit.unwrap_or_default();
                    return Err(self.stop(Trouble::Limit(limit)));
                }
                Some(Step::GoOn(token)) => open.token = Some(token),
                Some(Step::Ended(how)) => return self.settle(list, open, how).await,
                None => return Err(self.stop(Trouble::Internal("a page without a step".to_owned()))),
            }
        }
    }

    /// Whether as many records have come as the user wants in this run.
    fn is_limit_reached(&self) -> bool {
        let gauge = &self.talk.gauge;
        let counters = [&gauge.records, &gauge.deleted, &gauge.unchanged, &gauge.elsewhere];
        let came: u64 = counters.into_iter().map(Gauge::read).sum();
        self.options.limit.is_some_and(|limit| came >= limit)
    }

    /// Asks for a page of a list.
    pub(super) async fn list_page(
        &mut self,
        list: &List,
        open: &OpenWindow,
        purpose: Purpose,
    ) -> Result<PageReport, Trouble> {
        let headers_only = !matches!(purpose, Purpose::Keep | Purpose::Again);
        let question = Question::List {
            headers_only,
            prefix: self.prefix.clone(),
            set: (!open.set.is_empty()).then(|| open.set.clone()),
            window: open.window,
            // Only parts overlap: the end that the user said is the end. Identifiers are counted, so each only once.
            loose: purpose.makes_progress() && open.window.until != list.window.until,
            token: open.token.clone(),
        };
        let order = Order {
            verb: if headers_only { Verb::ListIdentifiers } else { Verb::ListRecords },
            origin: self.origin(),
            granularity: self.granularity(),
            list: (!self.retrying).then_some(list.number),
            pass: list.first_window,
            asked: clock::now(),
            window: open.clone(),
            purpose,
        };
        if !self.talk.effort.is_enough() {
            return Err(Trouble::Endless(self.talk.effort.idle));
        }
        let report = self.talk.page(&mut self.desk, &order, &question).await?;
        self.looked_down = false;
        if report.records > 0 && !headers_only {
            self.divided_in_vain = 0;
        }
        // Parts of a list that are empty are what dividing it costs.
        if !report.errors.is_empty() && purpose.makes_progress() && !open.progress.is_pass {
            self.talk.effort.spend(Duration::ZERO);
        }
        if !self.talk.effort.take(purpose, &report) {
            return Err(Trouble::Endless(self.talk.effort.idle));
        }
        // An error says when it was made, too, and an empty list is nothing but an error.
        if let (true, Some(list), Some(desk)) = (purpose.makes_progress(), order.list, self.desk.as_mut()) {
            desk.state.began(list, report.response_date.unwrap_or(order.asked).min(order.asked))?;
        }
        Ok(report)
    }

    /// The granularity that was promised, if the server said who it is.
    pub(super) fn granularity(&self) -> Option<Granularity> {
        (!self.identity.granularity.is_empty()).then_some(self.talk.granularity)
    }

    pub(super) fn origin(&self) -> Origin {
        Origin {
            base_url: self.options.base_url.to_string(),
            prefix: self.prefix.clone(),
            schema: self.identity.schema.clone(),
            namespace: self.identity.namespace.clone(),
            harvested: clock::now(),
        }
    }

    /// Cursors and sizes that do not add up are told; they decide nothing.
    fn look_at(&mut self, open: &OpenWindow, report: &PageReport) {
        let before = open.progress.delivered;
        let more = report.token.as_deref().is_some_and(|token| !token.is_empty());
        match (report.cursor, report.size) {
            (Some(cursor), Some(size)) if cursor == size && more => {
                self.talk.repairs.note(quirks::CURSOR_AT_SIZE, &format!("{cursor} of {size}"));
            }
            (Some(cursor), _) if cursor != before && open.progress.restarts == 0 => {
                self.talk.repairs.note(quirks::CURSOR_COUNTS_PAGES, &format!("cursor {cursor} after {before} records"));
            }
            _ => {}
        }
        if let (Some(oldest), Some(earliest)) = (report.progress.oldest(), read_date(&self.identity.earliest))
            && oldest < earliest
        {
            self.talk.repairs.note(quirks::EARLIEST_WRONG, &format!("{earliest}, but a record has {oldest}"));
        }
        let (named, unnamed) = report.in_sets;
        self.in_sets = (self.in_sets.0 + named, self.in_sets.1 + unnamed);
        self.talk.habits.dates_proven |= report.records > 0 && open.window != Window::ALL;
        if report.records == 0 && open.token.is_some() {
            self.talk.repairs.note(quirks::TOKEN_TO_EMPTY_PAGE, &open.window.to_string());
        }
    }

    /// What a protocol error in a list means: the fate of the window, or none if it is to be asked again.
    async fn listing_error(
        &mut self,
        list: &List,
        open: &mut OpenWindow,
        code: &str,
        message: &str,
    ) -> Result<Option<Fate>, Stop> {
        let refused = |work: &Self| {
            let url = work.options.base_url.to_string();
            HarvestError::Refused { url, code: code.to_owned(), message: message.to_owned() }
        };
        match ErrorCode::from_name(code) {
            Some(ErrorCode::NoRecordsMatch) if open.token.is_none() => match self.doubt_nothing(open).await? {
                Nothing::AskOtherwise => Ok(None),
                Nothing::Believed => Ok(Some(self.close_window(open, None)?)),
                Nothing::Outage => {
                    let reason = "the server returned an empty list, but this harvest already has records from it";
                    self.state()?.give_up(open.number, reason)?;
                    Ok(Some(Fate::GivenUp))
                }
            },
            Some(ErrorCode::NoRecordsMatch) => {
                self.talk.repairs.note(quirks::TOKEN_TO_NO_RECORDS, &open.window.to_string());
                self.settle(list, open.clone(), How::NoRecords).await.map(Some)
            }
            Some(ErrorCode::BadResumptionToken | ErrorCode::BadArgument) if open.token.is_some() => {
                self.refused_token(list, open, code).await
            }
            Some(ErrorCode::BadArgument) => match self.other_dates(open) {
                Some(style) => {
                    self.talk.habits.dates = style;
                    Ok(None)
                }
                None => Err(refused(self).into()),
            },
            Some(ErrorCode::NoSetHierarchy) => {
                Err(HarvestError::NoSets { url: self.options.base_url.to_string() }.into())
            }
            _ => Err(refused(self).into()),
        }
    }

    /// Begins a window again.
    fn restart(&mut self, list: &List, open: &mut OpenWindow) -> Result<(), HarvestError> {
        let Progress { restarts, is_pass, .. } = open.progress;
        let progress = Progress { restarts: restarts + 1, is_pass, ..Progress::default() };
        let state = self.state()?;
        state.begin()?;
        state.close_window(open.number)?;
        let number = state.add_window(list.number, open.window, &open.set, &progress)?;
        state.commit()?;
        *open = OpenWindow { number, token: None, progress, ..open.clone() };
        Ok(())
    }

    /// A token was refused: it may have to be written differently, or it has expired.
    async fn refused_token(&mut self, list: &List, open: &mut OpenWindow, code: &str) -> Result<Option<Fate>, Stop> {
        let token = open.token.clone().unwrap_or_default();
        if code == ErrorCode::BadArgument.as_str() && !self.talk.habits.prefix_with_token {
            self.talk.habits.prefix_with_token = true;
            self.talk.repairs.note(quirks::PREFIX_WITH_TOKEN, &token);
            return Ok(None);
        }
        if needs_encoding(&token) && !self.token_style_proven {
            if let Some(style) = self.talk.habits.token.next() {
                let quirk = match style {
                    TokenStyle::Raw => quirks::TOKEN_RAW,
                    TokenStyle::Encoded | TokenStyle::EncodedAlready => quirks::TOKEN_ENCODED_ALREADY,
                };
                self.talk.habits.token = style;
                self.talk.repairs.note(quirk, &token);
                return Ok(None);
            }
            self.talk.habits.token = TokenStyle::default();
        }
        self.talk.repairs.note(quirks::TOKEN_EXPIRED, &token);
        if open.progress.restarts == 0 {
            self.restart(list, open)?;
            return Ok(None);
        }
        self.divide(
            list,
            open.clone(),
            quirks::TOKEN_EXPIRED,
            "its resumption token expires before the end of the list",
        )
        .await
        .map(Some)
    }

    /// A window is complete.
    pub(super) fn close_window(&mut self, open: &OpenWindow, verdict: Option<Verdict>) -> Result<Fate, HarvestError> {
        if let Some(Verdict::Repaired(quirk)) = verdict {
            self.talk.repairs.note(quirk, &open.window.to_string());
        }
        self.state()?.close_window(open.number)?;
        Ok(Fate::Closed(open.progress.delivered))
    }
}

/// The known name that is most like one that is not known.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let score = |other: &String| strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let best = known.iter().map(|other| (score(other), other)).max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(score, _)| *score > 0.4).map(|(_, other)| other.clone())
}

/// Whether a token looks different when it is percent-encoded.
fn needs_encoding(token: &str) -> bool {
    !token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte))
}
