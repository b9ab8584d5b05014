//! One party's account: what it may take, what it has been promised, what it has under way.
//!
//! All of it is arithmetic over a time that is passed in, in microseconds of the ledger's own clock; where accounts are
//! kept is the ledger's business. The rules:
//!
//! 1. Whoever holds a promise that is due is admitted, whatever else is the matter.
//! 2. Whoever holds none is admitted if the delay is over, the hourly budgets are not used up, and there is room.
//! 3. Everybody else is promised a time ([`promises`]).
//!
//! What an answer has cost is known when it has been sent. So a budget may be overdrawn by what was under way, and is
//! waited for until it is paid back.

pub(crate) mod bucket;
pub(crate) mod leases;
pub(crate) mod promises;

use crate::flow::Kind;
use crate::ledger::MOST_LISTS_OF_ONE;
use crate::settings::Budget;
use bucket::Bucket;
use leases::{Holder, Leases};
use promises::{Grant, Promises, Ticket};

pub(crate) const SECOND: u64 = 1_000_000;

/// A delay is owed for at most so many lists that were promised beside each other.
const MOST_DELAYS: u64 = 64;

/// How long one waits for a list to end, if nothing is known about how long they take.
const SHORT: u64 = SECOND;

/// An account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// When the delay after the last list is over.
    pub(crate) free_at: u64,
    pub(crate) records: Bucket,
    pub(crate) bytes: Bucket,
    pub(crate) typical: Typical,
    pub(crate) leases: Leases,
    pub(crate) promises: Promises,
}

/// What a list of this party is like: the last ones count most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Typical {
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// How long it takes.
    pub(crate) time: u64,
}

/// Somebody asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) now: u64,
    pub(crate) kind: Kind,
    pub(crate) budget: &'a Budget,
    /// Which of those who share the account.
    pub(crate) ticket: Ticket,
    /// Whether there is room for one more, among all.
    pub(crate) room: bool,
    /// Whether one more can be squeezed in, who may have been promised it.
    pub(crate) squeeze: bool,
}

/// What they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Come in.
    Admitted,
    /// It would be all right, but there is no room.
    Crowded,
    /// Not before this time.
    Later(u64),
}

impl Account {
    /// Whether somebody may come in now.
    pub(crate) fn ask(&mut self, ask: &Ask<'_>) -> Verdict {
        let Ask { now, kind, budget, ticket, room, squeeze } = *ask;
        self.heed(now, budget);
        self.promises.expire(now);
        let squeeze = kind != Kind::List || (squeeze && self.leases.0.len() < MOST_LISTS_OF_ONE);
        let is_promised = self.promises.redeem(now, ticket, squeeze);
        if !is_promised {
            let ready_at = self.ready_at(ask);
            if ready_at > now {
                return Verdict::Later(ready_at);
            }
            if !room && kind == Kind::List {
                return Verdict::Crowded;
            }
        }
        if kind == Kind::List {
            self.free_at = self.free_at.max(now) + micros(budget.delay);
        }
        Verdict::Admitted
    }

    /// Promises somebody `count` times, not before `ready_at`.
    pub(crate) fn promise(&mut self, ask: &Ask<'_>, ready_at: u64, least_pace: u64, count: u32) -> Grant {
        let pace = self.pace(ask).max(least_pace);
        self.promises.make(ask.now, ask.ticket, ready_at, pace, count)
    }

    /// Notes what was sent.
    pub(crate) fn charge(&mut self, now: u64, budget: &Budget, records: u64, bytes: u64) {
        self.heed(now, budget);
        self.records.charge(now, records);
        self.bytes.charge(now, bytes);
    }

    /// When somebody without a promise could come in, by what is known now.
    fn ready_at(&mut self, ask: &Ask<'_>) -> u64 {
        let Ask { now, kind, budget, .. } = *ask;
        let paid_at = self.records.ready_at().max(self.bytes.ready_at());
        if kind != Kind::List {
            return paid_at;
        }
        let ended_at = if self.is_full(now, budget) { now + self.turnover(budget).max(SHORT) } else { 0 };
        paid_at.max(self.free_at).max(ended_at)
    }

    /// Whether this party has as many lists under way as it may.
    fn is_full(&mut self, now: u64, budget: &Budget) -> bool {
        budget.lists > 0 && self.leases.count(now, Holder::is_gone) >= budget.lists
    }

    /// The time from one list to the next at which this party stays within its budget.
    fn pace(&self, ask: &Ask<'_>) -> u64 {
        let Ask { kind, budget, .. } = *ask;
        let earned = self.records.cost(self.typical.records).max(self.bytes.cost(self.typical.bytes));
        match kind {
            Kind::List => earned.max(micros(budget.delay)).max(self.turnover(budget)),
            Kind::Record | Kind::Free => earned,
        }
    }

    /// How often a list ends when as many as may be are under way.
    fn turnover(&self, budget: &Budget) -> u64 {
        self.typical.time / (budget.lists.max(1) as u64)
    }

    /// The operator may have changed the limits since.
    fn heed(&mut self, now: u64, budget: &Budget) {
        self.records.heed(now, budget.records);
        self.bytes.heed(now, budget.bytes);
        let most = now.saturating_add(micros(budget.delay).saturating_mul(MOST_DELAYS));
        self.free_at = self.free_at.min(most);
    }
}

impl Typical {
    /// Learns from one more.
    pub(crate) fn learn(&mut self, records: u64, bytes: u64, time: u64) {
        let mixed = |old: u64, new: u64| if old == 0 { new } else { old - old / 4 + new / 4 };
        self.records = mixed(self.records, records);
        self.bytes = mixed(self.bytes, bytes);
        self.time = mixed(self.time, time);
    }
}

pub(crate) fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests;
