//! Where accounts are kept: in one file that all processes of a site share, or, if that cannot be, in memory.
//!
//! The file has room for a fixed number of accounts of a fixed size; who has not been seen for longest makes way. A
//! decision takes a lock, a few small reads and writes, and some microseconds. There is nothing to be repaired after a
//! crash: a lock ends with its process, and an account that does not match its checksum begins anew, which is in its
//! owner's favour. Nothing is ever forced to the disk: after a power cut, budgets may be some seconds old.
//!
//! Time is the ledger's own ([`clock`]), so that nobody is locked out when the machine's clock is set.

mod clock;
mod ending;
mod file;
mod page;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::account::leases::Leases;
use crate::account::{Account, SECOND};
use clock::Clock;
pub(crate) use clock::{Ticks, since_boot};
pub(crate) use ending::{EndedList, Ending};
use file::File;

/// Lists of one account whose end is waited for.
pub(crate) const MOST_LISTS_OF_ONE: usize = 24;

/// Lists of all together.
pub(crate) const MOST_LISTS: usize = 500;

/// Accounts that are kept if there is no file.
const MOST_IN_MEMORY: usize = 4096;

/// After a failure the file is left alone for a while: whoever asks must not wait for it each time. A machine may just
/// be very busy, so that this is short at first, and doubles as long as nothing changes.
const FIRST_REST: u64 = SECOND / 20;
const LONGEST_REST: u64 = 5 * SECOND;

/// Endings that are kept until the file can be written again. Of more, the eldest are lost.
const MOST_OWED: usize = 4096;

/// Endings that are made up for at once.
const MADE_UP_AT_ONCE: usize = 64;

/// What concerns all accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) clock: Clock,
    /// Until when room has been promised away.
    pub(crate) horizon: u64,
    /// How long a list takes, in microseconds.
    pub(crate) time: u64,
    /// Lists under way.
    pub(crate) leases: Leases,
}

/// All accounts.
pub(crate) struct Ledger {
    state: Mutex<State>,
    ticks: Ticks,
}

struct State {
    file: Option<File>,
    /// Since the file could last be used.
    trouble: Option<Trouble>,
    /// What could not be written to the file.
    owed: VecDeque<Ending>,
    site: Site,
    accounts: HashMap<u64, Account>,
}

/// Why the file is not used.
struct Trouble {
    /// Not to be tried again before, by the kernel's count.
    until: u64,
    /// How long it was left alone.
    rest: u64,
    /// Endings that could not be kept.
    lost: u64,
}

impl Ledger {
    /// Opens the ledger in a file, or makes it. Without one, or where that is impossible, accounts are those of this
    /// process.
    pub(crate) fn open(path: Option<&Path>, ticks: Ticks) -> Self {
        let file = path.and_then(|path| match File::open(path) {
            Ok(file) => Some(file),
            Err(error) => {
                let path = path.display();
                tracing::warn!(%path, %error, "budgets of harvesters cannot be kept, and hold for each process alone");
                None
            }
        });
        let owed = VecDeque::new();
        let state = State { file, trouble: None, owed, site: Site::default(), accounts: HashMap::new() };
        Self { state: Mutex::new(state), ticks }
    }

    /// Does something with what concerns all, and with one account. Nobody else does anything meanwhile, in any
    /// process.
    pub(crate) fn visit<R>(&self, key: Option<u64>, act: impl FnOnce(u64, &mut Site, &mut Account) -> R) -> R {
        let (mut state, ticks) = (self.lock(), (self.ticks)());
        match state.in_file(ticks, key, act) {
            Ok(result) => result,
            Err(act) => state.in_memory(ticks, key, act),
        }
    }

    /// Notes the end of an answer: now, or as soon as the file can be had again.
    pub(crate) fn end(&self, ending: Ending) {
        let (mut state, ticks) = (self.lock(), (self.ticks)());
        let key = Some(ending.key);
        let apply = |now: u64, site: &mut Site, account: &mut Account| ending.apply(now, site, account);
        match state.in_file(ticks, key, apply) {
            // It may have begun when the file could not be had.
            Ok(()) => state.forget_list(&ending),
            Err(apply) => {
                state.in_memory(ticks, key, apply);
                if state.file.is_some() {
                    state.owe(ending);
                }
            }
        }
    }

    /// What the kernel counts.
    pub(crate) fn ticks(&self) -> u64 {
        (self.ticks)()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Whoever panicked left numbers behind, each of them good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let ticks = (self.ticks)();
        let State { file, owed, .. } = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = file {
            // The last chance; there is nobody left to tell if it is missed.
            while !owed.is_empty() && make_up(file, owed, ticks).is_ok() {}
        }
    }
}

impl State {
    /// Does something in the file; gives it back if that cannot be had.
    fn in_file<R, A>(&mut self, ticks: u64, key: Option<u64>, act: A) -> Result<R, A>
    where
        A: FnOnce(u64, &mut Site, &mut Account) -> R,
    {
        let Self { file, trouble, owed, .. } = self;
        let Some(file) = file else { return Err(act) };
        if trouble.as_ref().is_some_and(|trouble| ticks < trouble.until) {
            return Err(act);
        }
        let made_up = make_up(file, owed, ticks);
        let visit = match made_up.and_then(|()| file.visit(key, ticks)) {
            Ok(visit) => visit,
            Err(error) => {
                rest(trouble, ticks, &error);
                return Err(act);
            }
        };
        let (result, ended) = visit.act(act);
        match ended {
            Err(error) => rest(trouble, ticks, &error),
            Ok(()) => {
                if let Some(Trouble { lost, .. }) = trouble.take() {
                    tracing::info!("budgets of harvesters are kept again; {lost} answers were not charged");
                }
            }
        }
        Ok(result)
    }

    /// Does something for this process alone.
    fn in_memory<R>(&mut self, ticks: u64, key: Option<u64>, act: impl FnOnce(u64, &mut Site, &mut Account) -> R) -> R {
        let Self { site, accounts, .. } = self;
        let now = site.clock.read(ticks);
        if accounts.len() >= MOST_IN_MEMORY && key.is_some_and(|key| !accounts.contains_key(&key)) {
            // Whoever has neither promises nor lists under way loses least; then, everybody does.
            accounts.retain(|_, account| !account.promises.0.is_empty() || !account.leases.0.is_empty());
            if accounts.len() >= MOST_IN_MEMORY {
                accounts.clear();
            }
        }
        match key {
            Some(key) => act(now, site, accounts.entry(key).or_default()),
            None => act(now, site, &mut Account::default()),
        }
    }

    /// Keeps an ending for later.
    fn owe(&mut self, ending: Ending) {
        if self.owed.len() >= MOST_OWED {
            self.owed.pop_front();
            if let Some(trouble) = &mut self.trouble {
                trouble.lost += 1;
            }
        }
        self.owed.push_back(ending);
    }

    /// A list has ended that may have begun in memory.
    fn forget_list(&mut self, ending: &Ending) {
        let Some(EndedList { number, .. }) = ending.list else { return };
        self.site.leases.give_back(number);
        if let Some(account) = self.accounts.get_mut(&ending.key) {
            account.leases.give_back(number);
        }
    }
}

/// Writes what could not be written before, or a part of it.
fn make_up(file: &File, owed: &mut VecDeque<Ending>, ticks: u64) -> io::Result<()> {
    for _ in 0..MADE_UP_AT_ONCE {
        let Some(ending) = owed.front() else { break };
        let ((), ended) =
            file.visit(Some(ending.key), ticks)?.act(|now, site, account| ending.apply(now, site, account));
        // Rather lost than charged twice: nobody knows how much of it was written.
        owed.pop_front();
        ended?;
    }
    Ok(())
}

/// Leaves the file alone for a while, and says so when it begins.
fn rest(trouble: &mut Option<Trouble>, ticks: u64, error: &io::Error) {
    if trouble.is_none() {
        tracing::warn!(%error, "budgets of harvesters cannot be kept at the moment, and hold for each process alone");
    }
    let rest = trouble.as_ref().map_or(FIRST_REST, |trouble| (trouble.rest * 2).min(LONGEST_REST));
    let lost = trouble.as_ref().map_or(0, |trouble| trouble.lost);
    *trouble = Some(Trouble { until: ticks.saturating_add(rest), rest, lost });
}

#[cfg(test)]
mod tests;
