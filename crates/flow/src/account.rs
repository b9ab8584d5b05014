//! One harvester's account: a timestamp for each budget, and the time assigned to the last client that was refused.
//!
//! Pure: the time is an argument, and the ledger decides where accounts are stored. [`Account::admit`] decides,
//! [`Account::charge`] charges what was sent. The cost of a response is known only when it has been sent; until then, a
//! list in progress counts as a typical one. A budget may be exceeded by the difference; the next request waits until
//! that is paid back.

use crate::flow::RequestClass;
use crate::gcra::{HOUR, Micros, Rate, SECOND};
use crate::settings::Budget;
use crate::site::Site;

/// The tolerance for late clients. Retry-After has whole seconds, and requests take a moment to arrive: clients that
/// were assigned different fractions of a second return together, after their times. While clients wait, and this long
/// after, this much unused time is credited.
const LATE: Micros = 2 * SECOND;

/// The number of clients of one account that get separate times. Further clients get the last of these times.
const MAX_WAITING: u64 = 1_000;

/// The stored state of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// The budget that the timestamps belong to, as a hash.
    pub(crate) terms: u64,
    /// States of [`Rate`]s: the delay between lists, the delay between requests, records and bytes per hour.
    pub(crate) list: Micros,
    pub(crate) request: Micros,
    pub(crate) records: Micros,
    pub(crate) bytes: Micros,
    /// The latest time that a client of this account was assigned in Retry-After.
    pub(crate) queue: Micros,
    /// The time at which the last list was admitted.
    pub(crate) last_list: Micros,
    /// A typical list: records, bytes, and how long it takes.
    pub(crate) typical: Typical,
}

/// A typical list. Its size follows the largest of the last lists: clients that wait for an assigned time are all
/// admitted only if none of the lists before them takes more than expected, and the last page of a list is shorter than
/// the others. Its time is an average, because one slow client says little about the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Typical {
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) time: Micros,
}

/// A request that flow control admits or refuses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) now: Micros,
    pub(crate) class: RequestClass,
    pub(crate) budget: &'a Budget,
    /// The key of the account.
    pub(crate) key: u64,
    pub(crate) lists_at_once: usize,
}

/// The decision about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The request may begin.
    Admitted,
    /// Too many lists of all harvesters are in progress.
    Crowded,
    /// The account's own budgets accept it from this time on.
    NotBefore(Micros),
}

impl Account {
    /// Decides on a request, and charges immediately what an admitted request uses.
    pub(crate) fn admit(&mut self, arrival: &Arrival<'_>, site: &mut Site) -> Verdict {
        let Arrival { now, class, budget, .. } = *arrival;
        self.apply(now, budget);
        let ready_at = self.ready_at(arrival, site);
        if ready_at > self.turn(arrival) {
            return Verdict::NotBefore(ready_at);
        }
        if class.is_list() {
            let last_list = if self.is_due(now) { 0 } else { self.last_list };
            if site.is_crowded(arrival, last_list) {
                return Verdict::Crowded;
            }
            self.last_list = now;
        }
        let since = if self.queue + LATE > now { now.saturating_sub(LATE) } else { now };
        if class == RequestClass::List {
            list_rate(budget).charge(&mut self.list, since, 1);
        }
        request_rate(budget).charge(&mut self.request, since, 1);
        Verdict::Admitted
    }

    /// Returns true if the assigned time of a client of this account has passed, and no list has been admitted since.
    pub(crate) fn is_due(&self, now: Micros) -> bool {
        self.last_list < self.queue && self.queue <= now
    }

    /// Returns the time at which the budgets must accept a list for it to be admitted now. While clients wait, that is
    /// the latest of their assigned times that has passed. A client whose time has passed is admitted. A client that
    /// continues without having been refused is admitted only if the next client that waits will still find its budget.
    fn turn(&self, arrival: &Arrival<'_>) -> Micros {
        let Arrival { now, class, .. } = *arrival;
        match self.interval(arrival) {
            interval @ 1.. if class.is_list() && self.queue > now => {
                self.queue.saturating_sub((self.queue - now).div_ceil(interval).saturating_mul(interval))
            }
            _ => now,
        }
    }

    /// Returns the time that a refused client is assigned: when its request becomes acceptable, after the clients of
    /// this account that were assigned a time earlier.
    pub(crate) fn enqueue(&mut self, arrival: &Arrival<'_>, site: &mut Site, verdict: Verdict) -> Micros {
        let Arrival { now, lists_at_once, .. } = *arrival;
        let is_waiting = self.queue > now;
        let (ready_at, interval) = match verdict {
            // The queue of all harvesters has one place for each account, so a client that does not wait cannot fill it.
            Verdict::Crowded if !is_waiting => (site.enqueue(now, lists_at_once), 0),
            Verdict::Crowded => (now + SECOND, site.interval(lists_at_once)),
            Verdict::NotBefore(ready_at) => (ready_at, 0),
            Verdict::Admitted => (now, 0),
        };
        let interval = self.interval(arrival).max(interval);
        let behind = if is_waiting { self.queue.saturating_add(interval) } else { 0 };
        let last = ready_at.saturating_add(interval.saturating_mul(MAX_WAITING));
        self.queue = behind.max(ready_at).min(last);
        self.queue
    }

    /// Charges the records and bytes sent.
    pub(crate) fn charge(&mut self, now: Micros, budget: &Budget, records: u64, bytes: u64) {
        self.apply(now, budget);
        Rate::hourly(budget.records).charge(&mut self.records, now, records);
        Rate::hourly(budget.bytes).charge(&mut self.bytes, now, bytes);
    }

    /// The time from which the account's own budgets accept a request.
    fn ready_at(&self, arrival: &Arrival<'_>, site: &Site) -> Micros {
        let Arrival { now, class, budget, key, .. } = *arrival;
        let mut ready_at = request_rate(budget).ready_at(self.request);
        let in_progress = site.leases.count_of(now, key);
        if class != RequestClass::Free {
            // Lists in progress will be charged when they end; until then they count as typical ones.
            let hourly = |units: u64, state: Micros, typical: u64| {
                let rate = Rate::hourly(units);
                rate.ready_at(state.saturating_add(rate.cost(typical.saturating_mul(in_progress as u64))))
            };
            ready_at = ready_at.max(hourly(budget.records, self.records, self.typical.records));
            ready_at = ready_at.max(hourly(budget.bytes, self.bytes, self.typical.bytes));
        }
        if class == RequestClass::List {
            ready_at = ready_at.max(list_rate(budget).ready_at(self.list));
        }
        if class.is_list() && budget.lists > 0 && in_progress >= budget.lists {
            ready_at = ready_at.max(now + SECOND);
        }
        ready_at
    }

    /// The time from one list to the next at which all clients of this account stay within its budget.
    fn interval(&self, arrival: &Arrival<'_>) -> Micros {
        let Arrival { class, budget, .. } = *arrival;
        let Typical { records, bytes, time } = self.typical;
        let rates = Rate::hourly(budget.records).cost(records).max(Rate::hourly(budget.bytes).cost(bytes));
        let rates = rates.max(request_rate(budget).cost(1));
        match class {
            RequestClass::List => rates.max(list_rate(budget).cost(1)).max(turnover(time, budget.lists)),
            _ => rates,
        }
    }

    /// After a change of the settings, the use under the old ones counts at most as a full new budget.
    fn apply(&mut self, now: Micros, budget: &Budget) {
        let terms = budget.hash();
        if terms != self.terms {
            self.terms = terms;
            self.records = self.records.min(now + HOUR);
            self.bytes = self.bytes.min(now + HOUR);
            self.list = self.list.min(now + list_rate(budget).cost(1));
            self.request = self.request.min(now + request_rate(budget).cost(1));
            self.queue = 0;
        }
    }
}

impl Typical {
    /// Includes one more list.
    pub(crate) fn learn(&mut self, records: u64, bytes: u64, time: Micros) {
        let largest = |old: u64, new: u64| if new > old { new } else { old - (old - new) / 16 };
        *self = Self {
            records: largest(self.records, records),
            bytes: largest(self.bytes, bytes),
            time: if self.time == 0 { time } else { self.time - self.time / 4 + time / 4 },
        };
    }
}

/// Returns the mean time between the ends of two lists if this many are in progress. At most this many lists end per
/// second, because clients return at whole seconds.
pub(crate) fn turnover(time: Micros, lists: usize) -> Micros {
    if lists == 0 { 0 } else { time.max(SECOND) / lists as u64 }
}

fn list_rate(budget: &Budget) -> Rate {
    Rate::every(micros(budget.list_delay))
}

fn request_rate(budget: &Budget) -> Rate {
    Rate::every(micros(budget.request_delay))
}

pub(crate) fn micros(time: std::time::Duration) -> Micros {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX / 4)
}

#[cfg(test)]
mod tests;
