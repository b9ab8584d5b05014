//! Time that a server spends on items that are hidden from a requester, in all of its processes.
//!
//! Passing over hidden items returns nothing, so budgets of records and bytes do not limit it. Each requester has a budget
//! of time for it, which its parallel requests share. The processes share a file in memory that the first one makes and
//! the others inherit. If two processes write at the same moment, one of the two amounts is lost: this is a bound on
//! cost, not an account.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use crate::gcra::{Micros, Rate, SECOND};
use crate::pace::now;

/// One microsecond becomes available every 6, and 10 seconds may be saved.
const RATE: Rate = Rate { units: 1, period: 6, burst: 60 * SECOND };

/// The number of budgets. A requester is identified by a number below this, and two with the same number share a
/// budget.
const PLACES: u64 = 4096;

/// The budgets of all requesters.
#[derive(Debug)]
pub struct Effort {
    states: File,
}

impl Effort {
    /// Creates the shared file. Call it before a process forks, so that its children share it.
    pub fn new() -> io::Result<Self> {
        let states = File::from(memfd_create("modoai effort", MemfdFlags::CLOEXEC)?);
        ftruncate(&states, PLACES * 8)?;
        Ok(Self { states })
    }

    /// Charges time to the budget of a requester. Returns true if the budget is used up.
    pub fn spend(&self, requester: impl Hash, time: Duration) -> bool {
        self.spend_at(requester, time, now())
    }

    fn spend_at(&self, requester: impl Hash, time: Duration, now: Micros) -> bool {
        let mut hasher = DefaultHasher::new();
        requester.hash(&mut hasher);
        let place = hasher.finish() % PLACES * 8;
        let mut state = [0; 8];
        if self.states.read_exact_at(&mut state, place).is_err() {
            return false;
        }
        let mut state = u64::from_le_bytes(state);
        RATE.charge(&mut state, now, u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        // Eight bytes in memory can be written; if not, only the limits of each request apply.
        let _ = self.states.write_all_at(&state.to_le_bytes(), place);
        RATE.ready_at(state) > now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_requests_share_a_budget_that_recovers_and_others_have_their_own() {
        let effort = Effort::new().expect("memory");
        let (second, now) = (Duration::from_secs(1), 1_000 * SECOND);
        let accepted = (0..20).take_while(|_| !effort.spend_at("192.0.2.1", second, now)).count();
        assert_eq!(accepted, 9, "the tenth second is the last");
        assert!(!effort.spend_at("192.0.2.2", second, now));
        assert!(effort.spend_at("192.0.2.1", Duration::ZERO, now));
        assert!(!effort.spend_at("192.0.2.1", Duration::ZERO, now + SECOND));
        assert!(effort.spend_at("192.0.2.1", second, now + SECOND), "only a sixth of a second has recovered");
    }
}
