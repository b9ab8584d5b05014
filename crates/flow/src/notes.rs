//! Notes about those who were told to wait and come back at once.
//!
//! Each of their requests gets a promise of its own, because it may be another client behind the same address; but the
//! ledger need not be asked for each. Whoever has been turned away many times in a row is promised many times in
//! advance, more and more of them, and those are handed out from here: the more one asks, the less one costs.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::account::SECOND;
use crate::account::promises::{Grant, Ticket};

/// Those who are remembered. More than this are asked for in the ledger.
const MOST: usize = 4096;

/// So many are turned away one by one: a few clients behind one address are no reason to promise what nobody will use.
const ONE_BY_ONE: u32 = 16;

/// Never more promises than this in advance.
const MOST_AT_ONCE: u32 = 64;

/// How often a time that is nobody's own is told before the ledger is asked again.
const SHARED: u32 = 1_000;

/// What one did before this is forgotten.
const REMEMBERED: u64 = 60 * SECOND;

/// Somebody who asks: on which account, which of those who share it, and when, by the kernel's count of microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guest {
    pub(crate) name: (u64, Ticket),
    pub(crate) at: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<HashMap<(u64, Ticket), Note>>);

#[derive(Debug)]
struct Note {
    /// Before this, no promise to anybody of this name is due, in any process.
    until: u64,
    /// How often they were turned away.
    times: u32,
    /// Promised in advance: the next time, from one to the next, how many.
    next: u64,
    pace: u64,
    left: u32,
}

impl Notes {
    /// How long somebody must wait who has been told to wait before, if that can be said without the ledger.
    pub(crate) fn turn_away(&self, guest: Guest) -> Option<Duration> {
        let mut notes = self.lock();
        let note = notes.get_mut(&guest.name).filter(|note| guest.at < note.until)?;
        note.hand_out(guest.at)
    }

    /// How long somebody must wait whom the ledger has turned away, if there is still a time that was promised in
    /// advance.
    pub(crate) fn spare(&self, guest: Guest) -> Option<Duration> {
        self.lock().get_mut(&guest.name)?.hand_out(guest.at)
    }

    /// How many promises to ask for.
    pub(crate) fn wanted(&self, guest: Guest) -> u32 {
        match self.lock().get(&guest.name) {
            Some(note) if note.times >= ONE_BY_ONE => (note.times / 4).min(MOST_AT_ONCE),
            _ => 1,
        }
    }

    /// Notes what was promised: the first of it to this one, the others in advance. `ledger_now` is now, in the
    /// ledger's time.
    pub(crate) fn granted(&self, guest: Guest, ledger_now: u64, grant: &Grant) {
        let mut notes = self.lock();
        if notes.len() >= MOST {
            notes.retain(|_, note| note.until > guest.at);
            if notes.len() >= MOST {
                return;
            }
        }
        let moment = |at: u64| guest.at + at.saturating_sub(ledger_now);
        let fresh = Note { until: guest.at, times: 0, next: guest.at, pace: 0, left: 0 };
        let note = notes.entry(guest.name).or_insert(fresh);
        if guest.at.saturating_sub(note.until) > REMEMBERED {
            note.times = 0;
        }
        note.times = note.times.saturating_add(1);
        note.pace = grant.pace;
        (note.next, note.left) = match grant.count {
            0 => (moment(grant.first), SHARED),
            count => (moment(grant.first + grant.pace), count - 1),
        };
        if grant.count == 0 {
            note.pace = 0;
        }
    }

    /// Notes that no promise to anybody of this name is due before `wait` is over.
    pub(crate) fn nothing_before(&self, guest: Guest, wait: u64) {
        if let Some(note) = self.lock().get_mut(&guest.name) {
            note.until = guest.at + wait;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(u64, Ticket), Note>> {
        // Whoever panicked left plain numbers behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Note {
    fn hand_out(&mut self, now: u64) -> Option<Duration> {
        if self.left == 0 || self.next <= now {
            return None;
        }
        let wait = Duration::from_micros(self.next - now);
        self.next += self.pace;
        self.left -= 1;
        self.times = self.times.saturating_add(1);
        Some(wait)
    }
}
