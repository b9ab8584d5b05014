//! Those who look at a site, in whichever process: whether there are any right now, so that lists can give way to them.
//!
//! A list runs in one process, and readers in all of them. What they share is a file in memory that the first process
//! makes and the others inherit. It holds one time, the last at which somebody got something: a process that is killed
//! leaves nothing in it that would be wrong later.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::time::{ClockId, clock_gettime};

/// Whoever has just got something will want the next. Long enough for those who have to wait for it: if lists took
/// the processors, nobody would be seen any more.
const JUST_NOW: Duration = Duration::from_millis(100);

/// A process says so no more often than this: it would do so with every request of a busy site.
const TOLD_EVERY: Duration = Duration::from_millis(4);

/// Those who look at a site.
#[derive(Debug)]
pub struct Readers {
    last: File,
    /// When this process said so last.
    told: AtomicU64,
}

impl Readers {
    /// Nobody yet. To be made before there are other processes.
    pub fn new() -> io::Result<Self> {
        let last = File::from(memfd_create("modoai readers", MemfdFlags::CLOEXEC)?);
        Ok(Self { last, told: AtomicU64::new(0) })
    }

    /// Somebody got something.
    pub fn one_more(&self) {
        let now = milliseconds();
        if Duration::from_millis(now.saturating_sub(self.told.load(Ordering::Relaxed))) >= TOLD_EVERY {
            self.told.store(now, Ordering::Relaxed);
            // A file in memory that is eight bytes long can be written to; if not, lists do not give way.
            let _ = self.last.write_at(&now.to_le_bytes(), 0);
        }
    }

    /// Whether somebody got something a moment ago.
    pub fn are_there(&self) -> bool {
        let mut last = [0; 8];
        let is_told = self.last.read_exact_at(&mut last, 0).is_ok();
        is_told && Duration::from_millis(milliseconds().saturating_sub(u64::from_le_bytes(last))) < JUST_NOW
    }
}

/// A clock that all processes share and nobody sets. It may lag some milliseconds, and costs next to nothing.
fn milliseconds() -> u64 {
    let time = clock_gettime(ClockId::MonotonicCoarse);
    let whole = u64::try_from(time.tv_sec).unwrap_or(0) * 1_000;
    whole + u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_there_for_a_moment() {
        let readers = Readers::new().expect("memory");
        assert!(!readers.are_there());
        // Whether it is still the same moment is up to the machine: somebody has to be seen once.
        let is_seen = (0..1_000).any(|_| {
            readers.one_more();
            readers.are_there()
        });
        assert!(is_seen);
        std::thread::sleep(JUST_NOW * 3);
        assert!(!readers.are_there());
    }
}
