//! Where accounts are kept: in one file that all processes of a site share, or, if that cannot be, in memory.
//!
//! The file has room for a fixed number of accounts of a fixed size; who has not been seen for longest makes way. A
//! decision takes a lock, a few small reads and writes, and some microseconds. There is nothing to be repaired after a
//! crash: a lock ends with its process, and an account that does not match its checksum begins anew, which is in its
//! owner's favour. Nothing is ever forced to the disk: after a power cut, budgets may be some seconds old.
//!
//! Time is the ledger's own ([`clock`]), so that nobody is locked out when the machine's clock is set.

mod clock;
mod file;
mod page;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::account::Account;
use crate::account::leases::Leases;
use clock::Clock;
pub(crate) use clock::{Ticks, since_boot};
use file::File;

/// Lists of one account whose end is waited for.
pub(crate) const MOST_LISTS_OF_ONE: usize = 24;

/// Lists of all together.
pub(crate) const MOST_LISTS: usize = 500;

/// Accounts that are kept if there is no file.
const MOST_IN_MEMORY: usize = 4096;

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
    /// Whether it has been said that the file cannot be used.
    is_said: bool,
    site: Site,
    accounts: HashMap<u64, Account>,
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
        let state = State { file, is_said: false, site: Site::default(), accounts: HashMap::new() };
        Self { state: Mutex::new(state), ticks }
    }

    /// Does something with what concerns all, and with one account. Nobody else does anything meanwhile, in any
    /// process.
    pub(crate) fn visit<R>(&self, key: Option<u64>, act: impl FnOnce(u64, &mut Site, &mut Account) -> R) -> R {
        let mut state = self.lock();
        let State { file, is_said, site, accounts } = &mut *state;
        let ticks = (self.ticks)();
        if let Some(file) = file {
            match file.visit(key, ticks) {
                Ok(mut visit) => {
                    let result = act(visit.now, &mut visit.site, &mut visit.account);
                    if let Err(error) = visit.end() {
                        say(is_said, &error);
                    }
                    return result;
                }
                Err(error) => say(is_said, &error),
            }
        }
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

    /// What the kernel counts.
    pub(crate) fn ticks(&self) -> u64 {
        (self.ticks)()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Whoever panicked left numbers behind, each of them good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn say(is_said: &mut bool, error: &io::Error) {
    if !*is_said {
        tracing::warn!(%error, "budgets of harvesters cannot be kept at the moment, and hold for each process alone");
        *is_said = true;
    }
}

#[cfg(test)]
mod tests;
