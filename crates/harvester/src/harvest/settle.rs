//! Doubtful ends. A list that stops short of its announced size, on a full page, or in a circle may be complete or not;
//! an independent list of identifiers decides, or smaller windows do.

use modoai_protocol::{Datestamp, ErrorCode};

use super::dates::NEVER;
use super::windows::Fate;
use super::{Stop, Work};
use crate::ask::{Question, sent_granularity};
use crate::ending::{How, Step, Verdict};
use crate::habits::DateStyle;
use crate::page::Purpose;
use crate::quirks::{self, Quirk};
use crate::state::{List, OpenWindow, Progress};
use crate::window::Window;

/// Records that are got one by one for one window. More are had sooner by dividing it further.
pub(super) const MOST_SINGLES: u64 = 10_000;

/// How often a list is compared with another of the same until they agree.
const MOST_RECOUNTS: u32 = 3;

/// Records of a list that another one lacks are looked up, so many of them at most, to ask for some by name.
const MOST_UNLISTED: usize = 1000;

/// What the halves of a list hold, compared with the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halves {
    /// The same.
    NoMore,
    /// More: the whole was cut off.
    More,
    /// There are no halves.
    Unknown,
}

/// What a list of identifiers came to.
pub(super) struct Count {
    pub(super) how: How,
    pub(super) progress: Progress,
    /// How many of them are not here.
    pub(super) unknown: u64,
    /// How many of these should have come with the list that this is compared with.
    lost: u64,
}

impl Work {
    /// A window has come to its end: is it complete?
    pub(super) async fn settle(&mut self, list: &List, open: OpenWindow, how: How) -> Result<Fate, Stop> {
        let verdict = self.judge(&open.progress, how, self.is_first);
        let is_short = open.progress.is_short();
        let Verdict::Doubtful(quirk) = verdict else {
            let why = "lists of its parts contain more records than the list of the whole";
            let proven = !self.may_have_shifted(&open) || self.recount(list, &open).await?;
            if let Some(parts) = self.capped(list, &open, how).await? {
                return Ok(self.divide_into(list, &open, parts, quirks::DEEP_PAGING, why)?);
            }
            if !proven {
                let why = "not proven complete: the list has several pages and no reliable size, and a second list of it differs or fails";
                self.state()?.give_up(open.number, why)?;
                return Ok(Fate::GivenUp);
            }
            return Ok(self.close_window(&open, Some(verdict))?);
        };
        let (fresh, size) = (open.progress.fresh, open.progress.size);
        let count = self.count(list, &open).await?;
        let listed = count.as_ref().map_or(0, |count| count.progress.fresh);
        // Identifiers that were listed and are not here have been noted as missing, and will be got.
        let proven = count.as_ref().is_some_and(|count| self.is_whole(count, size.filter(|_| is_short)));
        if proven && (is_short || listed > fresh) {
            return self.believe(&open, quirk);
        }
        let unknown = count.as_ref().map_or(0, |count| count.unknown);
        let counted = count.map(|count| count.how);
        let agreed = how.is_natural() && counted.is_some_and(How::is_natural) && listed <= fresh;
        if agreed {
            if is_short && !open.set.is_empty() && self.size_of_store(&open).await == size {
                return self.believe(&open, quirks::SIZE_OF_STORE);
            }
            match (self.halves(list, &open, unknown).await?, is_short) {
                // The same, asked for in halves, is not more. So that is all, whatever the size.
                (Halves::NoMore, true) => return self.believe(&open, quirks::SIZE_WRONG),
                (Halves::NoMore | Halves::Unknown, false) => return Ok(self.close_window(&open, None)?),
                (Halves::More, _) | (Halves::Unknown, true) => {}
            }
        }
        let why = match size.filter(|_| is_short) {
            Some(size) => format!("received {fresh} of {size} records"),
            None => format!("cannot verify that the list is complete after {fresh} records: {}", quirk.name),
        };
        let parts = self.parts(&open).await;
        // Where both lists go on for ever, parts of them do, too.
        let is_endless = |how| matches!(how, How::Empty | How::Idle);
        let endless = is_endless(how) && counted.is_some_and(is_endless);
        if !parts.is_empty() && !endless {
            return Ok(self.divide_into(list, &open, parts, quirk, &why)?);
        }
        self.state()?.give_up(open.number, &why)?;
        Ok(Fate::GivenUp)
    }

    /// Some servers end every list after ten thousand records, and announce no more than that. What a first list of several
    /// pages has not brought is looked for at its ends and in its middle; if there is anything, these are its parts.
    async fn capped(&mut self, list: &List, open: &OpenWindow, how: How) -> Result<Option<Vec<Window>>, Stop> {
        let Some((oldest, newest)) = open.progress.span else { return Ok(None) };
        let trusted = self.identity.prompt || !self.is_first || self.talk.habits.dates == DateStyle::Never;
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
        for window in spots {
            let number = self.state()?.fresh_number()?;
            let spot = OpenWindow::new(number, window, &open.set);
            match self.list_page(list, &spot, Purpose::Compare).await {
                Ok(report) if report.unknown > 0 => return Ok(Some(self.parts(open).await).filter(|it| !it.is_empty())),
                Ok(_) => {}
                Err(trouble) if trouble.calls_for_less() => {}
                Err(trouble) => return Err(self.stop(trouble)),
            }
        }
        Ok(None)
    }

    /// Whether records may have been lost between the pages of a list. Whoever promises to be prompt does not page by offset.
    fn may_have_shifted(&self, open: &OpenWindow) -> bool {
        let keeps_deletions = self.identity.deleted_record == "persistent";
        !self.identity.prompt && open.progress.may_have_shifted(keeps_deletions)
    }

    /// Lists a window again, and gets what was lost between its pages, until nothing is. Whether that was possible.
    async fn recount(&mut self, list: &List, open: &OpenWindow) -> Result<bool, Stop> {
        let compare = (self.identifiers_listed != Some(false)).then_some(Purpose::Compare);
        let again = (!self.options.headers_only).then_some(Purpose::Again);
        for purpose in compare.into_iter().chain(again) {
            for _ in 0..MOST_RECOUNTS {
                let Some(count) = self.count_as(list, open, purpose).await? else { break };
                let ended = count.how.is_natural() || self.is_whole(&count, None);
                // A list that lacks what is still there is shorter than the one that it is compared with. To look for what it
                // lacks takes long, so that is done only if the counts do not agree.
                let agrees = count.progress.fresh.saturating_sub(count.unknown) >= open.progress.fresh;
                let unlisted =
                    if agrees { Vec::new() } else { self.state()?.last_seen_in(open.number, MOST_UNLISTED)? };
                if !ended || !self.are_gone(&unlisted).await? {
                    break;
                }
                if count.lost == 0 {
                    return Ok(true);
                }
                let example = format!("{}: {} records were not on any page", open.window, count.lost);
                self.talk.repairs.add(quirks::LIST_SHIFTED, count.lost, &example);
                self.get_missing().await?;
            }
            if purpose == Purpose::Compare {
                self.lists_identifiers(&open.set).await;
            }
        }
        Ok(false)
    }

    fn believe(&mut self, open: &OpenWindow, quirk: &'static Quirk) -> Result<Fate, Stop> {
        Ok(self.close_window(open, Some(Verdict::Repaired(quirk)))?)
    }

    /// Whether the two halves of what came hold, together, more than the whole. A list that was cut off has more to give when
    /// it is asked for half as much. What the whole has and cannot be had, `unknown` in number, is no more.
    pub(super) async fn halves(&mut self, list: &List, open: &OpenWindow, unknown: u64) -> Result<Halves, Stop> {
        let Some((oldest, newest)) = open.progress.span else { return Ok(Halves::Unknown) };
        if self.talk.habits.dates == DateStyle::Never {
            return Ok(Halves::Unknown);
        }
        let unit = sent_granularity(self.talk.granularity, self.talk.habits.dates).unit();
        let middle = (oldest + (newest - oldest) / 2).div_euclid(unit) * unit;
        // What is all of one moment has nothing on either side; whether there is more of that moment, nobody can tell.
        let one_moment = newest - middle < unit;
        let (end, start) = if one_moment { (middle - 1, middle + unit) } else { (middle + unit - 1, middle + unit) };
        let below = Window { from: open.window.from, until: Some(Datestamp::from_unix(end)) };
        let above = Window { from: Some(Datestamp::from_unix(start)), until: open.window.until };
        let (mut listed, mut not_here) = (0, 0);
        for half in [below, above] {
            if half.from.zip(half.until).is_some_and(|(from, until)| from > until) {
                continue;
            }
            let window = OpenWindow { window: half, ..open.clone() };
            let Some(count) = self.count(list, &window).await? else { return Ok(Halves::More) };
            let exceeded = count.progress.span.is_some_and(|span| !half.holds(span));
            if exceeded && !self.heeds_dates(&open.set).await {
                return Ok(Halves::Unknown);
            }
            not_here += count.unknown;
            if !count.how.is_natural() || not_here > unknown {
                return Ok(Halves::More);
            }
            listed += count.progress.fresh;
        }
        // Some of it in both halves: they are not halves, and prove nothing.
        let prove_nothing = one_moment || listed > open.progress.fresh;
        Ok(if prove_nothing { Halves::Unknown } else { Halves::NoMore })
    }

    /// Whether the end of a list is believed. That of a server that promises to be prompt is, unless it announced more:
    /// whoever makes that promise knows where lists end.
    fn judge(&self, progress: &Progress, how: How, is_first: bool) -> Verdict {
        let promised = self.identity.prompt && how.is_natural() && !progress.is_short();
        if promised { Verdict::Complete } else { progress.judge(how, is_first) }
    }

    /// Whether a list of identifiers is complete, given what was announced elsewhere.
    pub(super) fn is_whole(&self, count: &Count, announced: Option<u64>) -> bool {
        let progress = Progress { size: count.progress.size.max(announced), ..count.progress.clone() };
        !matches!(self.judge(&progress, count.how, false), Verdict::Doubtful(_))
    }

    /// The size that is told for the same window without a set.
    async fn size_of_store(&mut self, open: &OpenWindow) -> Option<u64> {
        let (prefix, window) = (self.prefix.clone(), open.window);
        let question = Question::List { headers_only: true, prefix, set: None, window, loose: false, token: None };
        let response = self.talk.describe(&question).await.ok()?;
        response.token?.size?.trim().parse().ok()
    }

    /// Lists the identifiers of a window; those that are not here are noted as missing. None if that list fails.
    async fn count(&mut self, list: &List, open: &OpenWindow) -> Result<Option<Count>, Stop> {
        let number = self.state()?.fresh_number()?;
        self.follow(list, from_start(open, number)).await
    }

    /// The same with lists of one kind.
    async fn count_as(&mut self, list: &List, open: &OpenWindow, purpose: Purpose) -> Result<Option<Count>, Stop> {
        let number = self.state()?.fresh_number()?;
        self.follow_as(list, from_start(open, number), purpose).await
    }

    /// Follows a list of identifiers to its end; of records, where no identifiers can be listed.
    pub(super) async fn follow(&mut self, list: &List, pass: OpenWindow) -> Result<Option<Count>, Stop> {
        if self.identifiers_listed != Some(false) {
            let counted = self.follow_as(list, pass.clone(), Purpose::Compare).await?;
            if counted.is_some() || self.options.headers_only || self.lists_identifiers(&pass.set).await {
                return Ok(counted);
            }
        }
        let number = self.state()?.fresh_number()?;
        self.follow_as(list, OpenWindow { number, ..pass }, Purpose::Again).await
    }

    /// Whether any list of identifiers can be had, however short. Asked once per run.
    async fn lists_identifiers(&mut self, set: &str) -> bool {
        if let Some(listed) = self.identifiers_listed {
            return listed;
        }
        let question = self.first_page(set, Window { from: None, until: Some(Datestamp::from_unix(NEVER)) });
        let probed = self.talk.probe(&question).await;
        if let Err(trouble) = &probed {
            self.talk.repairs.note(quirks::NO_IDENTIFIERS, &trouble.to_string());
        }
        *self.identifiers_listed.insert(probed.is_ok())
    }

    async fn follow_as(&mut self, list: &List, mut pass: OpenWindow, purpose: Purpose) -> Result<Option<Count>, Stop> {
        let (mut unknown, mut lost) = (0, 0);
        loop {
            self.talk.gauge.say(format!("comparing identifiers of {}", pass.window));
            let report = match self.list_page(list, &pass, purpose).await {
                Ok(report) => report,
                Err(trouble) if trouble.calls_for_less() => return Ok(None),
                Err(trouble) => return Err(self.stop(trouble)),
            };
            if let Some((code, _)) = report.errors.first() {
                let over = ErrorCode::from_name(code) == Some(ErrorCode::NoRecordsMatch);
                return Ok(over.then_some(Count { how: How::NoRecords, progress: pass.progress, unknown, lost }));
            }
            unknown += report.unknown;
            lost += report.lost;
            pass.progress = report.progress;
            match report.step {
                Some(Step::GoOn(token)) => pass.token = Some(token),
                Some(Step::Ended(how)) => return Ok(Some(Count { how, progress: pass.progress, unknown, lost })),
                None => return Ok(None),
            }
        }
    }

    /// Gets the records of a window one by one, however many they are; those that are too many for this run are noted, and
    /// left to the next. Whether all of them could be listed.
    pub(super) async fn by_name(&mut self, list: &List, open: &OpenWindow) -> Result<bool, Stop> {
        let number = self.state()?.fresh_number()?;
        let pass = from_start(open, number);
        let Some(count) = self.follow_as(list, pass.clone(), Purpose::Compare).await? else { return Ok(false) };
        let (unknown, how) = (count.unknown, count.how);
        let whole = self.is_whole(&count, open.progress.size) || {
            let pass = OpenWindow { progress: count.progress, ..pass };
            let short = pass.progress.is_short();
            how.is_natural()
                && match self.halves(list, &pass, unknown).await? {
                    Halves::NoMore => true,
                    Halves::Unknown => !short,
                    Halves::More => false,
                }
        };
        self.get_missing().await?;
        Ok(whole)
    }

    /// Gets the records of a window one by one. Whether that was possible; what could not be had is noted.
    pub(super) async fn one_by_one(&mut self, list: &List, open: &OpenWindow) -> Result<bool, Stop> {
        let Some(count) = self.count(list, open).await? else { return Ok(false) };
        if !self.is_whole(&count, open.progress.size) || self.state()?.missing_count()? > MOST_SINGLES {
            return Ok(false);
        }
        self.get_missing().await?;
        Ok(true)
    }
}

/// The same window, to be listed again from its start under another number.
fn from_start(open: &OpenWindow, number: i64) -> OpenWindow {
    let progress = Progress { began: open.progress.began, ..Progress::default() };
    OpenWindow { number, token: None, progress, ..open.clone() }
}
