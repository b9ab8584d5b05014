//! Stores accounts: in one file that all processes of a repository share or, if that is impossible, in the memory of
//! this process.
//!
//! A decision locks the file and makes two small reads and at most two small writes. Nothing is forced to the disk and
//! nothing has to be repaired: a lock ends with its process, and a lost write means a budget that is some seconds old.
//! Time is the kernel's count since the machine was started, so setting the clock has no effect; after a restart of the
//! machine, all accounts start from scratch.

mod file;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::account::Account;
use crate::gcra::{Micros, SECOND};
use crate::site::Site;
use file::File;

/// The maximum number of accounts in memory; beyond that, all of them start from scratch.
const MAX_IN_MEMORY: usize = 4096;

/// The time now. A function, so that tests can supply their own.
pub(crate) type Clock = Box<dyn Fn() -> Micros + Send + Sync>;

/// All accounts.
pub(crate) struct Ledger {
    state: Mutex<State>,
    clock: Clock,
}

struct State {
    file: Option<File>,
    /// The time of the next attempt to use the file, after one has failed.
    retry_at: Option<Micros>,
    site: Site,
    accounts: HashMap<u64, Account>,
}

impl Ledger {
    pub(crate) fn open(path: Option<&Path>, clock: Clock) -> Self {
        let file = path.and_then(|path| {
            File::open(path)
                .inspect_err(|error| {
                    let path = path.display();
                    tracing::warn!(
                        "failed to open the flow control file {path}: {error}; limits apply to each process separately"
                    );
                })
                .ok()
        });
        let state = State { file, retry_at: None, site: Site::default(), accounts: HashMap::new() };
        Self { state: Mutex::new(state), clock }
    }

    /// Changes the shared state and one account, exclusively among all processes. `patience` is the maximum time to
    /// wait for a process that holds the file.
    pub(crate) fn update<R>(
        &self,
        key: u64,
        patience: Duration,
        change: impl FnOnce(Micros, &mut Site, &mut Account) -> R,
    ) -> R {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = (self.clock)();
        let State { file, retry_at, site, accounts } = &mut *state;
        if let Some(file) = file.as_ref().filter(|_| retry_at.is_none_or(|at| at <= now)) {
            match file.read(key, patience) {
                Ok(mut page) => {
                    // The time before the wait for the lock would be earlier than what another process has stored meanwhile.
                    let now = (self.clock)();
                    let result = change(now, &mut page.site, &mut page.account);
                    note(retry_at, now, page.write(now));
                    return result;
                }
                Err(error) => note(retry_at, now, Err(error)),
            }
        }
        if accounts.len() >= MAX_IN_MEMORY && !accounts.contains_key(&key) {
            accounts.clear();
        }
        change(now, site, accounts.entry(key).or_default())
    }
}

/// Logs the first failure and the first success after it.
fn note(retry_at: &mut Option<Micros>, now: Micros, result: io::Result<()>) {
    match (result, &retry_at) {
        (Ok(()), None) => {}
        (Ok(()), Some(_)) => {
            tracing::info!("the flow control file is usable again");
            *retry_at = None;
        }
        (Err(error), before) => {
            if before.is_none() {
                tracing::warn!("failed to use the flow control file: {error}; limits apply to each process separately");
            }
            // Not immediately, because every request would wait for it.
            *retry_at = Some(now + SECOND);
        }
    }
}

/// The kernel's count since the machine was started, sleep included.
pub(crate) fn since_boot() -> Clock {
    Box::new(|| {
        let time = clock_gettime(ClockId::Boottime);
        time.tv_sec.cast_unsigned() * SECOND + time.tv_nsec.cast_unsigned() / 1_000
    })
}

#[cfg(test)]
mod tests;
