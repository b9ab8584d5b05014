//! Decides if a list has ended, and if it is complete. Pure: everything it needs is counted by others.
//!
//! A token says where to continue, but tokens can be wrong: some form loops, some are missing. So the content decides.
//! A token that was seen before is followed as long as pages contain new records (some servers never change their
//! tokens), and an end is accepted if the counts agree with it.

use std::time::Duration;

use modoai_protocol::Datestamp;
use serde::{Deserialize, Serialize};

use crate::page::{PageReport, Purpose};
use crate::quirks::{self, Quirk};
use crate::state::Progress;

/// Empty pages in a row, each with a token, after which a list is treated as endless.
const MOST_EMPTY: u32 = 10;

/// Pages in a row without new records, after which a list is treated as a loop regardless of its tokens.
const MOST_STALE: u32 = 3;

/// Pages in a row that are either empty or contain nothing new, after which a list is treated as endless. Servers that
/// mix the two are not known, so this is far more than a working one needs.
const MOST_IDLE: u32 = 50;

/// Requests without new records that a run may send, and the additional number for each page or record that it fetched.
/// Lists that cannot be trusted are counted, divided and requested again, which returns nothing new and costs several
/// times as much as the list itself. A list that needs far more is endless, by error or to keep harvesters busy.
const IDLE_REQUESTS: u64 = 300;
const IDLE_REQUESTS_EACH: u64 = 20;

/// The duration of a failed request that counts as one more request.
const COSTLY: Duration = Duration::from_secs(30);

/// The results of the pages of a run, over all its lists and windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Yield {
    /// Pages with something that was not seen in this pass before.
    pub productive: u64,
    /// The cost of requests without new records: pages that contain none but announce more, parts of lists that are
    /// empty, and failures.
    pub idle: u64,
}

impl Yield {
    /// Counts a page. Returns false if the run should end. A page that announces no further one costs nothing more.
    pub fn take(&mut self, purpose: Purpose, page: &PageReport) -> bool {
        let is_idle = purpose != Purpose::One && !page.is_useful(purpose);
        self.productive += u64::from(purpose.makes_progress() && !is_idle);
        self.idle += u64::from(is_idle && page.token.as_deref().is_some_and(|token| !token.trim().is_empty()));
        self.is_enough()
    }

    /// Counts a record that was fetched by its identifier.
    pub fn gain(&mut self) {
        self.productive += 1;
    }

    /// Counts a request that returned nothing, and its duration.
    pub fn spend(&mut self, after: Duration) {
        self.idle += 1 + after.as_secs() / COSTLY.as_secs();
    }

    /// Returns true if the number of fetched pages and records justifies the cost of the run.
    pub fn is_enough(&self) -> bool {
        self.idle <= IDLE_REQUESTS + IDLE_REQUESTS_EACH * self.productive
    }
}

/// The next step after a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Request the next page, with this token.
    GoOn(String),
    /// The list has ended.
    Ended(How),
}

/// The end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// With an empty token, as the protocol requires.
    EmptyToken,
    /// Without a token: right for a list of one page, and often seen elsewhere.
    NoToken,
    /// The request with a token returned noRecordsMatch.
    NoRecords,
    /// A page returned its own token.
    SelfLoop,
    /// A token points back to an earlier page.
    Cycle,
    /// The pages continue, but all are empty.
    Empty,
    /// The pages continue, but are empty or contain nothing new.
    Idle,
}

impl How {
    /// Returns true if the server ended the list; false if the harvester stopped it.
    pub fn is_natural(self) -> bool {
        matches!(self, Self::EmptyToken | Self::NoToken | Self::NoRecords)
    }
}

/// The result of checking an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The list is complete.
    Complete,
    /// The list is complete, although the server made an error.
    Repaired(&'static Quirk),
    /// The list may be incomplete, for this reason: it must be checked by other requests.
    Doubtful(&'static Quirk),
}

impl Progress {
    /// Counts a page that was requested with the token `asked`, and returns the next step.
    pub fn take(&mut self, page: &PageReport, asked: Option<&str>) -> Step {
        let step = self.count(page, asked);
        self.ended = if let Step::Ended(how) = step { Some(how) } else { None };
        step
    }

    fn count(&mut self, page: &PageReport, asked: Option<&str>) -> Step {
        let (records, fresh) = (page.records, page.fresh);
        self.pages += 1;
        self.delivered += records;
        self.fresh += fresh;
        self.began = self.began.or(page.response_date.map(Datestamp::unix));
        self.size_varies |= self.size.zip(page.size).is_some_and(|(before, now)| before != now);
        self.size = self.size.max(page.size);
        self.span = match (self.span, page.span) {
            (Some((oldest, newest)), Some((first, last))) => Some((oldest.min(first), newest.max(last))),
            (known, told) => known.or(told),
        };
        self.fullest = self.fullest.max(records);
        if records > 0 {
            self.last = records;
        }
        let token = page.token.as_deref().map(str::trim);
        self.size_refuted |= self.size.is_some_and(|size| self.fresh > size);
        let Some(token) = token.filter(|token| !token.is_empty()) else {
            return Step::Ended(if token.is_some() { How::EmptyToken } else { How::NoToken });
        };
        self.empty = if records == 0 { self.empty + 1 } else { 0 };
        self.stale = if records > 0 && fresh == 0 { self.stale + 1 } else { 0 };
        self.idle = if fresh == 0 { self.idle + 1 } else { 0 };
        let itself = asked == Some(token);
        let hash = xxhash_rust::xxh3::xxh3_64(token.as_bytes());
        let back = self.milestone.is_some_and(|(milestone, _)| milestone == hash);
        if self.milestone.is_none_or(|(_, pages)| self.pages >= 2 * pages) {
            self.milestone = Some((hash, self.pages));
        }
        if self.stale > 0 && itself {
            return Step::Ended(How::SelfLoop);
        }
        if self.stale >= MOST_STALE || self.stale > 0 && back {
            return Step::Ended(How::Cycle);
        }
        if self.empty >= MOST_EMPTY || self.empty > 1 && (itself || back) {
            return Step::Ended(How::Empty);
        }
        if self.idle >= MOST_IDLE {
            return Step::Ended(How::Idle);
        }
        Step::GoOn(token.to_owned())
    }

    /// Returns the verdict on a list that ended in this way. A first harvest is checked more closely, because no later
    /// one will fetch the records that it misses.
    pub fn judge(&self, how: How, is_first: bool) -> Verdict {
        let repair = match how {
            How::EmptyToken | How::NoToken => None,
            How::NoRecords => Some(quirks::TOKEN_TO_NO_RECORDS),
            How::SelfLoop => Some(quirks::TOKEN_SELF_LOOP),
            How::Cycle => Some(quirks::TOKEN_CYCLE),
            How::Empty => Some(quirks::TOKEN_TO_EMPTY_PAGE),
            How::Idle => Some(quirks::TOKEN_CYCLE),
        };
        let believed = repair.map_or(Verdict::Complete, Verdict::Repaired);
        match self.credible_size() {
            Some(size) if self.fresh < size => Verdict::Doubtful(repair.unwrap_or(quirks::TOKEN_MISSING)),
            Some(_) if self.pages > 1 || !is_first => believed,
            _ if !how.is_natural() => Verdict::Doubtful(repair.unwrap_or(quirks::TOKEN_CYCLE)),
            _ if self.may_be_cut(how, is_first) => Verdict::Doubtful(repair.unwrap_or(quirks::TOKEN_MISSING)),
            _ => believed,
        }
    }

    /// Returns the announced size, unless more records were received.
    fn credible_size(&self) -> Option<u64> {
        self.size.filter(|_| !self.size_refuted)
    }

    /// Returns true if the announced size is larger than the number of records received.
    pub fn is_short(&self) -> bool {
        self.credible_size().is_some_and(|size| self.fresh < size)
    }

    /// Returns true if records may have moved from one page to another while the list was read, so that some are on
    /// none. Servers that page by offset lose a record for each one that disappears, or moves to the last page, from a
    /// page that was read before.
    ///
    /// A single page is consistent. For several pages, the size is the evidence: a list with as many records as the server
    /// has is complete, unless a record was added for each one that is missing. Then the list contains a record that is
    /// newer than its first page, by datestamps of `unit` seconds. If items are removed, the size must also have stayed the
    /// same.
    pub fn may_have_shifted(&self, keeps_deletions: bool, unit: i64) -> bool {
        let all_came = self.credible_size().is_some_and(|size| self.fresh == size);
        let nothing_added = self.span.zip(self.began).is_some_and(|((_, newest), began)| newest + unit <= began);
        self.pages > 1 && !(all_came && nothing_added && (keeps_deletions || !self.size_varies))
    }

    /// Returns true if a limit of the server may have ended the last page: it is full, or the only one and of a round
    /// size, or the only one of a first harvest.
    fn may_be_cut(&self, how: How, is_first: bool) -> bool {
        match self.pages {
            0 => false,
            1 if how != How::NoRecords => self.last > 0 && (is_first || self.last >= 5 && self.last.is_multiple_of(5)),
            _ => self.last > 0 && self.last == self.fullest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(records: u64, fresh: u64, token: Option<&str>, size: Option<u64>) -> PageReport {
        PageReport { records, fresh, token: token.map(str::to_owned), size, ..PageReport::default() }
    }

    /// Follows pages until the end; each is records, fresh ones, token.
    fn follow(pages: &[(u64, u64, Option<&str>)], size: Option<u64>) -> (Option<How>, Progress) {
        let mut progress = Progress::default();
        let mut asked = None;
        for (records, fresh, token) in pages {
            match progress.take(&page(*records, *fresh, *token, size), asked.as_deref()) {
                Step::GoOn(token) => asked = Some(token),
                Step::Ended(how) => return (Some(how), progress),
            }
        }
        (None, progress)
    }

    #[test]
    fn pages_that_are_empty_or_stale_in_turn_come_to_an_end() {
        let tokens: Vec<String> = (0..200).map(|number| number.to_string()).collect();
        let pages: Vec<_> =
            tokens.iter().enumerate().map(|(at, token)| (at as u64 % 2, 0, Some(token.as_str()))).collect();
        let (how, progress) = follow(&pages, None);
        assert_eq!((how, progress.pages), (Some(How::Idle), u64::from(MOST_IDLE)));
        assert_eq!(progress.judge(How::Idle, false), Verdict::Doubtful(quirks::TOKEN_CYCLE));
    }

    #[test]
    fn a_run_that_brings_nothing_new_ends_and_a_long_one_does_not() {
        let idle = page(5, 0, Some("more"), None);
        let (last, news) = (page(5, 0, Some(""), None), PageReport { news: 1, ..idle.clone() });
        let idle_pages = |run: &mut Yield| (1..).find(|_| !run.take(Purpose::Keep, &idle)).expect("an end");
        let mut run = Yield::default();
        assert_eq!(idle_pages(&mut run), IDLE_REQUESTS + 1);
        assert!(run.take(Purpose::Keep, &news), "something came after all");
        assert_eq!(idle_pages(&mut run), IDLE_REQUESTS_EACH);
        let mut run = Yield::default();
        (0..IDLE_REQUESTS / 11).for_each(|_| run.spend(Duration::from_secs(300)));
        assert!(run.is_enough(), "a few that took long");
        run.spend(Duration::from_secs(300));
        assert!(!run.is_enough());
        run.gain();
        assert!(run.is_enough(), "a record was got");
        let mut run = Yield::default();
        assert!((0..10_000).all(|_| run.take(Purpose::Keep, &last)), "many lists of one page");
        let compared = page(5, 5, Some("more"), None);
        assert!((0..10_000).all(|_| run.take(Purpose::Compare, &compared)), "a long list of identifiers");
        assert!((0..10_000).all(|_| run.take(Purpose::One, &idle)), "records by name");
    }

    #[test]
    fn ends_are_believed_if_the_counts_agree() {
        let whole = [(3, 3, Some("a")), (3, 3, Some("b")), (3, 3, Some(""))];
        let (how, progress) = follow(&whole, Some(9));
        assert_eq!(how, Some(How::EmptyToken));
        assert_eq!(progress.judge(How::EmptyToken, false), Verdict::Complete);
        let (_, short) = follow(&whole, Some(10));
        assert_eq!(short.judge(How::EmptyToken, false), Verdict::Doubtful(quirks::TOKEN_MISSING));
        assert_eq!(short.judge(How::NoRecords, false), Verdict::Doubtful(quirks::TOKEN_TO_NO_RECORDS));
        let (how, cut) = follow(&[(3, 3, Some("a")), (3, 3, None)], None);
        assert_eq!(cut.judge(how.expect("an end"), false), Verdict::Doubtful(quirks::TOKEN_MISSING));
        let (how, cut) = follow(&whole, None);
        assert_eq!(
            cut.judge(how.expect("an end"), false),
            Verdict::Doubtful(quirks::TOKEN_MISSING),
            "a full last page"
        );
        let (how, emptied) = follow(&[(3, 3, Some("a")), (3, 3, Some("b")), (0, 0, Some(""))], None);
        assert_eq!(emptied.judge(how.expect("an end"), false), Verdict::Doubtful(quirks::TOKEN_MISSING));
        let (how, single) = follow(&[(7, 7, None)], None);
        assert_eq!(single.judge(how.expect("an end"), false), Verdict::Complete);
        assert_eq!(single.judge(how.expect("an end"), true), Verdict::Doubtful(quirks::TOKEN_MISSING));
        let (how, lied) = follow(&[(3, 3, Some("a")), (3, 3, None)], Some(3));
        assert_eq!(
            lied.judge(how.expect("an end"), false),
            Verdict::Doubtful(quirks::TOKEN_MISSING),
            "3 of 3, and more"
        );
        let (how, ended) = follow(&[(3, 3, Some("a")), (2, 2, None)], None);
        assert_eq!(ended.judge(how.expect("an end"), false), Verdict::Complete);
    }

    #[test]
    fn lists_of_several_pages_are_whole_only_by_their_size() {
        let pages = [(3, 3, Some("a")), (3, 3, Some("b")), (1, 1, Some(""))];
        let quiet = |progress: Progress| Progress { span: Some((1, 99)), began: Some(100), ..progress };
        let counted = quiet(follow(&pages, Some(7)).1);
        let uncounted = quiet(follow(&pages, None).1);
        let single = follow(&[(7, 7, None)], None).1;
        let shifted = |progress: &Progress| (progress.may_have_shifted(true, 1), progress.may_have_shifted(false, 1));
        assert_eq!(shifted(&counted), (false, false), "nothing was added, so nothing can have been removed");
        assert_eq!(shifted(&uncounted), (true, true));
        assert_eq!(shifted(&single), (false, false));
        let varies = Progress { size_varies: true, ..counted.clone() };
        assert_eq!(shifted(&varies), (false, true), "something was removed");
        let added = Progress { span: Some((1, 100)), ..counted.clone() };
        assert_eq!(shifted(&added), (true, true), "something was added, and may replace what was lost");
        assert!(counted.may_have_shifted(true, 86_400), "the newest day had not ended");
    }

    #[test]
    fn circles_are_noticed_and_steady_tokens_followed() {
        let itself = [(3, 3, Some("a")), (3, 3, Some("a")), (3, 0, Some("a"))];
        assert_eq!(follow(&itself, None).0, Some(How::SelfLoop));
        let two = [(3, 3, Some("a")), (3, 3, Some("b")), (3, 0, Some("a")), (3, 0, Some("b")), (3, 0, Some("a"))];
        assert!(matches!(follow(&two, None).0, Some(How::Cycle)));
        let steady = [(3, 3, Some("s")), (3, 3, Some("s")), (3, 3, Some("s")), (1, 1, Some(""))];
        assert_eq!(follow(&steady, None).0, Some(How::EmptyToken));
        let names: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let empty: Vec<_> = names.iter().map(|name| (0, 0, Some(name.as_str()))).collect();
        assert_eq!(follow(&empty, None).0, Some(How::Empty));
        let fresh_tokens: Vec<_> =
            names.iter().enumerate().map(|(n, name)| (3, if n < 3 { 3 } else { 0 }, Some(name.as_str()))).collect();
        let (how, progress) = follow(&fresh_tokens, Some(9));
        assert_eq!(how, Some(How::Cycle));
        assert_eq!(progress.judge(How::Cycle, false), Verdict::Repaired(quirks::TOKEN_CYCLE));
    }
}
