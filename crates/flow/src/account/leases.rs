//! Lists under way, counted so that the count is right again after any crash.
//!
//! Each list under way holds a lease. It ends when the list has ended; if its process is killed, as soon as somebody
//! looks; and if nobody can tell, because the process lives in another container, when it has not been renewed for a
//! while.

use std::sync::OnceLock;

use rustix::process::{Pid, getpid, test_kill_process};

use super::SECOND;

/// How long a lease lasts without being renewed. A client that takes nothing is given up earlier, so that whoever is
/// really sending has renewed by then.
pub(crate) const TERM: u64 = 180 * SECOND;

/// Leases that are held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leases(pub(crate) Vec<Lease>);

/// One list under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) number: u64,
    pub(crate) holder: Holder,
    pub(crate) until: u64,
}

/// The process that sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) process: u32,
    /// Within which the number of the process means something.
    pub(crate) container: u32,
}

impl Holder {
    /// This process. Asked anew each time: it may have been forked.
    pub(crate) fn own() -> Self {
        static CONTAINER: OnceLock<u32> = OnceLock::new();
        let container = *CONTAINER.get_or_init(|| {
            // A number of the kernel's that is different in every container; without it, only time tells.
            let link = std::fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned());
            let digits: String = link.unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
            digits.parse::<u64>().unwrap_or(0) as u32
        });
        Self { process: getpid().as_raw_nonzero().get().cast_unsigned(), container }
    }

    /// Whether it certainly runs no more.
    pub(crate) fn is_gone(self) -> bool {
        let own = Self::own();
        if self == own || self.container != own.container || own.container == 0 {
            return false;
        }
        let Some(process) = Pid::from_raw(self.process.cast_signed()) else { return true };
        // What belongs to somebody else is there, too.
        test_kill_process(process) == Err(rustix::io::Errno::SRCH)
    }
}

impl Leases {
    /// How many are held; those that have ended are dropped first.
    pub(crate) fn count(&mut self, now: u64, is_gone: impl Fn(Holder) -> bool) -> usize {
        self.0.retain(|lease| lease.until > now && !is_gone(lease.holder));
        self.0.len()
    }

    /// Gives one out. Beyond `most` it is not written down: then there is one list too many, and that is all.
    pub(crate) fn give(&mut self, now: u64, number: u64, most: usize) {
        if self.0.len() < most {
            self.0.push(Lease { number, holder: Holder::own(), until: now + TERM });
        }
    }

    /// Says that one is still held, and writes it down if it is not there: it may have been given where the ledger's
    /// file could not be had.
    pub(crate) fn renew(&mut self, now: u64, number: u64, most: usize) {
        match self.0.iter_mut().find(|lease| lease.number == number) {
            Some(lease) => lease.until = now + TERM,
            None => self.give(now, number, most),
        }
    }

    pub(crate) fn give_back(&mut self, number: u64) {
        self.0.retain(|lease| lease.number != number);
    }
}
