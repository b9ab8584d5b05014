//! Comparing on request: what is stored with what was written, and all identifiers with what is here.

use std::sync::atomic::Ordering;

use modoai_protocol::ErrorCode;

use super::settle::{Halves, MOST_SINGLES};
use super::{HarvestError, Stop, Trouble, Work, lost};
use crate::ask::Question;
use crate::desk::Desk;
use crate::gauge::Gauge;
use crate::quirks;
use crate::record::{Header, Novelty};
use crate::sink::{Inspected, Origin};
use crate::state::{List, OpenWindow, Sight};
use crate::summary::Gap;
use crate::window::Window;

/// Vanished items that are passed on as deletions in one commit.
const VANISHED_AT_ONCE: usize = 1000;

/// So many of what has vanished are asked for by name before that is believed.
const ASKED_FOR: usize = 10;

impl Work {
    /// Lets the sink compare what it has stored with what was written. What is not as it was is noted as missing, to be got
    /// one by one; if that is too much, everything is listed again.
    pub(super) async fn inspect(&mut self) -> Result<(), Stop> {
        let (mut after, mut altered) = (String::new(), 0);
        loop {
            if self.talk.stop.load(Ordering::Relaxed) {
                return Err(self.stop(Trouble::Interrupted));
            }
            self.talk.gauge.say(format!("comparing stored records, {altered} modified"));
            let mut desk = self.desk.take().ok_or_else(|| lost("the state of the harvest is in use"))?;
            let inspecting = tokio::task::spawn_blocking(move || {
                let inspected = note_altered(&mut desk, &after);
                (desk, inspected)
            });
            let (desk, inspected) = inspecting.await.map_err(|error| lost(&error.to_string()))?;
            self.desk = Some(desk);
            let Some(Inspected { last, altered: found }) = inspected? else { break };
            (after, altered) = (last, altered + found.len() as u64);
        }
        if altered > MOST_SINGLES {
            self.state()?.start_over()?;
        }
        Ok(())
    }

    /// Compares all identifiers with what is here: what is new is got, what has vanished is passed on as deleted.
    pub(super) async fn verify(&mut self, sets: &[String]) -> Result<(), Stop> {
        let window = self.options.window;
        let first = self.state()?.fresh_number()?;
        let (mut whole, mut unproven) = (true, false);
        for set in sets {
            let list = self.state()?.list(set, window)?;
            let pass = OpenWindow::new(self.state()?.fresh_number()?, window, set);
            match self.listed_whole(&list, pass).await? {
                Halves::NoMore => {}
                Halves::More => whole = false,
                Halves::Unknown => unproven = true,
            }
        }
        self.get_missing().await?;
        // Only a list of everything can tell that something is in no list.
        let all_sets = sets.iter().any(String::is_empty);
        let selected = all_sets || self.state()?.lists()?.iter().all(|list| sets.contains(&list.set));
        let is_everything = window == Window::ALL && selected;
        // A list that has all that is here agrees with the harvest, and nothing can vanish by it.
        whole &= !unproven || is_everything && self.state()?.unlisted(first, 1)?.is_empty();
        if whole && is_everything {
            whole = self.have_vanished(first).await?;
        }
        if !whole {
            let reason = "failed to list all identifiers; deletions are unknown".to_owned();
            self.gaps.push(Gap { what: "list".to_owned(), reason, ..Gap::default() });
            return Ok(());
        }
        if is_everything {
            self.pass_on_vanished(first).await?;
        }
        Ok(())
    }

    /// Lists all identifiers of a list, and tells whether there are more. An end that is not believed is looked at as
    /// that of a list of records is.
    async fn listed_whole(&mut self, list: &List, pass: OpenWindow) -> Result<Halves, Stop> {
        let Some(count) = self.follow(list, pass.clone()).await? else { return Ok(Halves::More) };
        // Whoever has lost everything is more likely to be renewing an index.
        let is_void = count.progress.fresh == 0 && list.set.is_empty() && list.window == Window::ALL;
        if is_void && self.state()?.counts()?.0 > 0 {
            return Ok(Halves::More);
        }
        if self.is_whole(&count, None) {
            return Ok(Halves::NoMore);
        }
        if !count.how.is_natural() {
            return Ok(Halves::More);
        }
        let (is_short, unknown) = (count.progress.is_short(), count.unknown);
        Ok(match self.halves(list, &OpenWindow { progress: count.progress, ..pass }, unknown).await? {
            Halves::Unknown if is_short => Halves::More,
            halves => halves,
        })
    }

    /// Whether what was not listed since is really gone.
    async fn have_vanished(&mut self, pass: i64) -> Result<bool, Stop> {
        let unlisted = self.state()?.unlisted(pass, VANISHED_AT_ONCE)?;
        self.are_gone(&unlisted).await
    }

    /// Whether these records are gone: some of them are asked for by name.
    pub(super) async fn are_gone(&mut self, unlisted: &[String]) -> Result<bool, Stop> {
        for identifier in unlisted.iter().step_by(unlisted.len().div_ceil(ASKED_FOR).max(1)) {
            let question = Question::Record { identifier: identifier.clone(), prefix: self.prefix.clone() };
            let response = match self.talk.describe(&question).await {
                Ok(response) => response,
                Err(trouble) if trouble.calls_for_less() => return Ok(false),
                Err(trouble) => return Err(self.stop(trouble)),
            };
            let gone = [Some(ErrorCode::IdDoesNotExist), Some(ErrorCode::CannotDisseminateFormat)];
            let is_gone = response.errors.iter().any(|(code, _)| gone.contains(&ErrorCode::from_name(code)))
                || response.records.iter().any(|record| record.deleted);
            if !is_gone {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sinks may block, so this is done where that is allowed.
    async fn pass_on_vanished(&mut self, pass: i64) -> Result<(), HarvestError> {
        loop {
            let gone = self.state()?.unlisted(pass, VANISHED_AT_ONCE)?;
            if gone.is_empty() {
                return Ok(());
            }
            let origin = self.origin();
            let mut desk = self.desk.take().ok_or_else(|| lost("the state of the harvest is in use"))?;
            let telling = tokio::task::spawn_blocking(move || {
                let told = tell_deletions(&mut desk, &origin, &gone, pass);
                (desk, told.map(|()| gone))
            });
            let (desk, told) = telling.await.map_err(|error| lost(&error.to_string()))?;
            self.desk = Some(desk);
            for identifier in told? {
                self.talk.repairs.note(quirks::VANISHED, &identifier);
            }
        }
    }
}

/// Compares a stretch of what is stored, and notes what is not as it was.
fn note_altered(desk: &mut Desk, after: &str) -> Result<Option<Inspected>, HarvestError> {
    let inspected = desk.sink.inspect(after)?;
    let altered = inspected.iter().flat_map(|inspected| &inspected.altered);
    desk.state.begin()?;
    for (identifier, reason) in altered {
        desk.state.miss(identifier, reason, 0)?;
        desk.state.doubt(identifier)?;
    }
    desk.state.commit()?;
    Ok(inspected)
}

/// Passes these items on as deleted, in one commit.
fn tell_deletions(desk: &mut Desk, origin: &Origin, gone: &[String], pass: i64) -> Result<(), HarvestError> {
    desk.state.begin()?;
    desk.sink.page(origin)?;
    for identifier in gone {
        let (identifier, datestamp) = (identifier.clone(), origin.harvested.to_string());
        let stamp = Some(origin.harvested.unix());
        desk.state.note(&Sight { identifier: &identifier, hash: 0, stamp, gone: true, window: pass }, pass)?;
        // What is gone is not missed any more, whatever was wrong with it.
        desk.state.found(&identifier)?;
        desk.sink.record(&Header { identifier, datestamp, sets: Vec::new(), deleted: true })?;
        desk.sink.end(Novelty::Changed)?;
    }
    let mark = desk.sink.commit()?;
    desk.state.set_mark(&mark)?;
    desk.unsynced = true;
    desk.state.commit()?;
    Gauge::add(&desk.gauge.deleted, gone.len() as u64);
    Ok(())
}
