//! The state that all accounts share: the lists in progress, and the queue of accounts that found no room.
//!
//! A list in progress holds a [`Lease`]. It ends with the list or with its process. If it is unknown whether the
//! process runs (another container), it ends when it has not been renewed for a while.

use std::sync::OnceLock;

use rustix::process::{Pid, getpid, test_kill_process};

use crate::account::{Arrival, turnover};
use crate::gcra::{Micros, SECOND};

/// The number of leases that can be stored, and so the maximum number of lists in progress.
pub(crate) const MAX_LISTS: usize = 500;

/// The duration of a lease that is not renewed; it is renewed nine times as often. A client that takes nothing for this
/// long has already been disconnected.
pub(crate) const LEASE_TERM: Micros = 180 * SECOND;

/// The state that all accounts share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Site {
    /// The latest time that an account that found no room was assigned in Retry-After.
    pub(crate) queue: Micros,
    /// The average duration of a list.
    pub(crate) time: Micros,
    pub(crate) leases: Leases,
}

/// Lists in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leases(pub(crate) Vec<Lease>);

/// One list in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    /// The account that holds the lease.
    pub(crate) account: u64,
    pub(crate) number: u64,
    pub(crate) process: u32,
    /// The namespace in which the process number is valid.
    pub(crate) namespace: u32,
    pub(crate) until: Micros,
}

impl Site {
    /// Returns true if a list does not fit now. While accounts wait for room, an account whose last list began less
    /// than the current waiting time ago also waits; otherwise those that are served would keep all the room.
    pub(crate) fn is_crowded(&mut self, arrival: &Arrival<'_>, last_list: Micros) -> bool {
        let Arrival { now, lists_at_once, .. } = *arrival;
        let wait = self.queue.saturating_sub(now);
        let is_early = last_list > 0 && last_list.saturating_add(wait) > now;
        is_early || self.leases.count(now, lists_at_once) >= lists_at_once
    }

    /// The time at which one more account will find room.
    pub(crate) fn enqueue(&mut self, now: Micros, lists_at_once: usize) -> Micros {
        self.queue = self.queue.max(now + SECOND).saturating_add(self.interval(lists_at_once));
        self.queue
    }

    /// The time from one list to the next that all processes together can serve.
    pub(crate) fn interval(&self, lists_at_once: usize) -> Micros {
        turnover(self.time, lists_at_once)
    }

    /// Includes the time that one more list took.
    pub(crate) fn learn(&mut self, time: Micros) {
        self.time = if self.time == 0 { time } else { self.time - self.time / 8 + time / 8 };
    }
}

impl Leases {
    /// Returns the number of leases held. Processes are checked only if the number reaches `limit`.
    pub(crate) fn count(&mut self, now: Micros, limit: usize) -> usize {
        if self.0.len() >= limit {
            self.0.retain(|lease| lease.until > now && !lease.has_ended());
        }
        self.0.len()
    }

    /// Returns the number of leases that one account holds.
    pub(crate) fn count_of(&self, now: Micros, account: u64) -> usize {
        let is_held = |lease: &&Lease| lease.account == account && lease.until > now && !lease.has_ended();
        self.0.iter().filter(is_held).count()
    }

    /// Takes a lease, or renews it. Beyond [`MAX_LISTS`] nothing is stored: the only consequence is one list too many
    /// in progress.
    pub(crate) fn hold(&mut self, now: Micros, account: u64, number: u64) {
        let until = now + LEASE_TERM;
        if let Some(lease) = self.0.iter_mut().find(|lease| lease.number == number) {
            lease.until = until;
        } else if self.0.len() < MAX_LISTS {
            self.0.push(Lease { account, number, process: own_process(), namespace: own_namespace(), until });
        }
    }

    pub(crate) fn release(&mut self, number: u64) {
        self.0.retain(|lease| lease.number != number);
    }
}

impl Lease {
    /// Returns true if its process certainly runs no longer.
    fn has_ended(&self) -> bool {
        if self.process == own_process() || self.namespace != own_namespace() || self.namespace == 0 {
            return false;
        }
        // A process of another user exists, too: only ESRCH means that it has ended.
        Pid::from_raw(self.process.cast_signed())
            .is_none_or(|process| test_kill_process(process) == Err(rustix::io::Errno::SRCH))
    }
}

/// Not cached: the process may have been forked.
fn own_process() -> u32 {
    getpid().as_raw_nonzero().get().cast_unsigned()
}

/// The kernel's number for this namespace of processes; 0 if it is unknown.
fn own_namespace() -> u32 {
    static NAMESPACE: OnceLock<u32> = OnceLock::new();
    *NAMESPACE.get_or_init(|| {
        let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let digits: String = link.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap_or(0) as u32
    })
}
