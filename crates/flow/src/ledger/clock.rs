//! The ledger's own time: microseconds that only ever grow.
//!
//! The kernel counts since the machine was started, and nobody can set that. After the next start it counts from
//! nothing again; then the ledger goes on from the last time it knows, and adds what the wall clock says has passed, if
//! that can be believed. All that a wrong clock can do is to make a wait shorter.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::account::micros;

/// Who tells how long it has been since the machine was started, in microseconds.
pub(crate) type Ticks = Box<dyn Fn() -> u64 + Send + Sync>;

/// More than this is not believed to have passed while the machine was off: longer, nobody is asked to wait.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// Differences between processors, generously.
const SKEW: u64 = 1_000_000;

/// Where the ledger's time is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// What is added to the kernel's count.
    pub(crate) offset: u64,
    /// The last time that was read.
    pub(crate) last: u64,
    /// What the wall clock showed then, in microseconds since 1970.
    pub(crate) wall: u64,
}

impl Clock {
    /// The time now.
    pub(crate) fn read(&mut self, ticks: u64) -> u64 {
        let wall = wall();
        let mut now = ticks.saturating_add(self.offset);
        if now.saturating_add(SKEW) < self.last {
            let passed = wall.saturating_sub(self.wall).min(micros(LONGEST));
            now = self.last + passed;
            self.offset = now.saturating_sub(ticks);
        }
        self.last = self.last.max(now);
        self.wall = wall;
        self.last
    }
}

/// What the kernel says.
pub(crate) fn since_boot() -> Ticks {
    Box::new(|| {
        let time = clock_gettime(ClockId::Boottime);
        time.tv_sec.cast_unsigned() * 1_000_000 + time.tv_nsec.cast_unsigned() / 1_000
    })
}

fn wall() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, micros)
}
