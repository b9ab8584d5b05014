//! Windows that a server cannot deliver: asked for in parts, by time, one by one, by sets.

use modoai_protocol::Datestamp;

use super::outage::Health;
use super::windows::Fate;
use super::{HarvestError, Stop, Work};
use crate::ask::{Question, sent_granularity};
use crate::clock;
use crate::habits::DateStyle;
use crate::quirks::{self, Quirk};
use crate::state::{List, OpenWindow, Progress};
use crate::window::{Window, read_date};

/// Datestamps before this are rare enough to be left to the first window, which has no lower end.
const LONG_AGO: i64 = 788_918_400; // 1995-01-01

/// Windows that are divided one after the other, although none of them brought a record. So many levels separate a whole from
/// its days.
const MOST_IN_VAIN: u32 = 3;

impl Work {
    /// Replaces a window by smaller ones; if it cannot be divided, its records are got one by one; if that fails, it is
    /// given up.
    pub(super) async fn divide(
        &mut self,
        list: &List,
        open: OpenWindow,
        quirk: &'static Quirk,
        why: &str,
    ) -> Result<Fate, Stop> {
        let health = self.health(&open.set).await;
        if health == Health::Down {
            self.state()?.give_up(open.number, why)?;
            return Ok(Fate::Down);
        }
        // Where dividing did not help before, records by name are the cheaper remedy, and the only one where it cannot.
        self.divided_in_vain += 1;
        if health == Health::NoRecords || self.divided_in_vain > MOST_IN_VAIN && !self.options.headers_only {
            if self.by_name(list, &open).await? {
                let quirk = if health == Health::NoRecords { quirks::NO_RECORDS } else { quirks::BAD_RECORD };
                self.talk.repairs.note(quirk, &format!("{}: {why}", open.window));
                return Ok(self.close_window(&open, None)?);
            }
            if health == Health::NoRecords {
                self.state()?.give_up(open.number, why)?;
                return Ok(Fate::GivenUp);
            }
        }
        let parts = self.parts(&open).await;
        if (parts.is_empty() || open.window.is_short()) && self.one_by_one(list, &open).await? {
            self.talk.repairs.note(quirk, &format!("{}: {why}", open.window));
            if quirk != quirks::BAD_RECORD {
                self.talk.repairs.note(quirks::BAD_RECORD, &open.window.to_string());
            }
            return Ok(self.close_window(&open, None)?);
        }
        if parts.is_empty() {
            return self.by_sets(list, open, quirk, why).await;
        }
        tracing::info!("requesting {} in {} smaller date ranges: {why}", open.window, parts.len());
        Ok(self.divide_into(list, &open, parts, quirk, why)?)
    }

    pub(super) fn divide_into(
        &mut self,
        list: &List,
        open: &OpenWindow,
        parts: Vec<Window>,
        quirk: &'static Quirk,
        why: &str,
    ) -> Result<Fate, HarvestError> {
        self.talk.repairs.note(quirk, &format!("{}: {why}", open.window));
        let parts: Vec<_> = parts.into_iter().map(|part| (part, open.set.clone())).collect();
        self.replace(list, open, &parts)?;
        Ok(Fate::Divided)
    }

    /// What a window can be divided into by time.
    pub(super) async fn parts(&mut self, open: &OpenWindow) -> Vec<Window> {
        if self.talk.habits.dates == DateStyle::Never || !self.heeds_dates(&open.set).await {
            return Vec::new();
        }
        let now = clock::now();
        let long_ago = Datestamp::from_unix(LONG_AGO);
        let earliest = read_date(&self.identity.earliest).filter(|date| now.unix() - date.unix() > 86_400);
        // Nothing is earlier than the earliest, if the server is right; if a window up to there has too many records, it
        // is not.
        let earliest =
            earliest.filter(|date| open.window.until.is_none_or(|until| until.unix() - date.unix() > 366 * 86_400));
        let form = sent_granularity(self.talk.granularity, self.talk.habits.dates);
        open.window.split((earliest.unwrap_or(long_ago), now), form)
    }

    /// What was announced before a list was divided must have come when its parts are complete. If it has not, the list is
    /// a gap, unless its identifiers say otherwise.
    pub(super) async fn compare_with_announced(&mut self, list: &List) -> Result<(), Stop> {
        let known = self.state()?.list(&list.set, list.window)?;
        let Some(announced) = known.announced else { return Ok(()) };
        let came = self.state()?.seen_since(known.first_window)?;
        if came >= announced || !self.state()?.windows(list.number)?.is_empty() {
            return Ok(());
        }
        let mut whole = OpenWindow::new(known.first_window, list.window, &list.set);
        whole.progress.size = Some(announced);
        if self.one_by_one(list, &whole).await? {
            return Ok(());
        }
        let number = self.state()?.add_window(list.number, list.window, &list.set, &Progress::default())?;
        let why = format!("received {came} of {announced} records, in smaller date ranges");
        Ok(self.state()?.give_up(number, &why)?)
    }

    /// The last resort: sets. Records in no set cannot be seen that way; so if there are such records, or if that is not
    /// known, the window is named as missing all the same.
    async fn by_sets(&mut self, list: &List, open: OpenWindow, quirk: &'static Quirk, why: &str) -> Result<Fate, Stop> {
        let sets = if open.set.is_empty() { self.sets().await } else { Vec::new() };
        if sets.is_empty() {
            self.talk.repairs.note(quirks::BAD_RECORD, &format!("{}: {why}", open.window));
            self.state()?.give_up(open.number, why)?;
            return Ok(Fate::GivenUp);
        }
        self.talk.repairs.note(quirk, &format!("{}: {why}", open.window));
        let parts: Vec<_> = sets.into_iter().map(|set| (open.window, set)).collect();
        if matches!(self.in_sets, (1.., 0)) {
            self.replace(list, &open, &parts)?;
            return Ok(Fate::Divided);
        }
        self.state()?.give_up(open.number, why)?;
        for (window, set) in parts {
            self.state()?.add_window(list.number, window, &set, &Progress::default())?;
        }
        Ok(Fate::Divided)
    }

    /// Every set. Those in others are listed too: not every server counts their records as the wider set's.
    pub(super) async fn sets(&mut self) -> Vec<String> {
        const MOST_PAGES: usize = 1000;
        const MOST_BYTES: usize = 64 << 20;
        let mut sets = Vec::new();
        let mut size = 0;
        let mut token = None;
        for _ in 0..MOST_PAGES {
            let Ok(response) = self.talk.describe(&Question::Sets { token: token.clone() }).await else { break };
            sets.extend(response.sets.iter().map(|set| set.spec.trim().to_owned()));
            size += response.sets.iter().map(|set| set.spec.len() + size_of::<String>()).sum::<usize>();
            let next = response.token.map(|token| token.value).filter(|next| !next.is_empty());
            if next.is_none() || next == token || size > MOST_BYTES {
                break;
            }
            token = next;
        }
        sets.sort();
        sets.dedup();
        sets
    }

    fn replace(&mut self, list: &List, open: &OpenWindow, parts: &[(Window, String)]) -> Result<(), HarvestError> {
        let progress = Progress::default();
        let whole = open.progress.is_pass && !open.progress.size_refuted;
        let state = self.state()?;
        state.begin()?;
        if let Some(size) = open.progress.size.filter(|_| whole) {
            state.announce(list.number, size)?;
        }
        state.close_window(open.number)?;
        for (part, set) in parts {
            state.add_window(list.number, *part, set, &progress)?;
        }
        Ok(state.commit()?)
    }
}
