//! Promises: when those who were turned away may come back, and will be let in.
//!
//! An account may be shared by many: a university behind one address, the machines of a harvester. So a promise is made
//! to a *ticket*, an address and what it asks for: whoever else comes, at whatever time, cannot use it up. Every
//! refusal is a promise of its own, since several clients may be behind one address: a ticket has a *run* of times in
//! an even pace, and whoever comes takes the earliest that is due. If all wait as they were told, each finds one: by
//! any moment there have come at most as many as have times before it.
//!
//! One case is left: somebody comes by chance, at the right moment, from the same address, and for the very same thing.
//! So whoever redeems a promise leaves some *spares* for those who may have been meant. They may exceed what is
//! allowed, as promises do, but not by any number: no account has more than 24 lists under way because of them. A
//! client that is alone behind its address has no use for them: it does not ask again for what it has.
//!
//! A client that does not wait, but asks again and again, makes the runs of its own address longer, and those of no
//! other: it is told to wait longer and longer, but no more than an hour, or 24 lists, beyond what its budget asks for.
//! Then it is told the last of its times again; whoever has none of their own, behind the same address, still gets one.
//! Times that nobody came for are forgotten after a while.

use super::SECOND;

/// How much too late one may come. Then the promise is forgotten, and one is treated as anybody.
pub(crate) const GRACE: u64 = 60 * SECOND;

/// How much too early one may come: clocks and seconds are not quite the same everywhere.
const LENIENCE: u64 = SECOND / 4;

/// Promises to one address reach no further than this beyond what its budget asks for, or for a few lists at its pace.
const FURTHEST: u64 = 3_600 * SECOND;

/// Runs of an account. Beyond, all share one.
pub(crate) const MOST_RUNS: usize = 80;

/// Runs of one address. Beyond, all it asks for shares one.
const MOST_OF_ONE: usize = 24;

/// How many besides the one who redeems a promise may have been meant.
const SPARES: u32 = 32;

/// For how long they are kept: whoever waits as told comes within moments.
const SPARE_TIME: u64 = 5 * SECOND;

/// One of those who share an account, as what was asked for: two numbers, of which 0 stands for any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ticket {
    pub(crate) address: u32,
    pub(crate) request: u32,
}

impl Ticket {
    /// The tickets that this one may use, its own first.
    fn ways(self) -> [Self; 3] {
        [self, Self { request: 0, ..self }, Self::default()]
    }
}

/// What was promised on an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Promises(pub(crate) Vec<Run>);

/// Times promised to one ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) ticket: Ticket,
    /// The earliest.
    pub(crate) first: u64,
    /// From one to the next.
    pub(crate) pace: u64,
    pub(crate) count: u32,
    pub(crate) spares: u32,
    /// Until when the spares are good.
    pub(crate) spare_until: u64,
}

/// What somebody was promised just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The earliest time.
    pub(crate) first: u64,
    /// From one to the next.
    pub(crate) pace: u64,
    /// How many; none: this time has been promised already, to this ticket or to those that share a place with it.
    pub(crate) count: u32,
}

impl Run {
    fn last(&self) -> u64 {
        self.first + self.pace * u64::from(self.count.saturating_sub(1))
    }

    fn is_due(&self, now: u64) -> bool {
        self.count > 0 && self.first <= now + LENIENCE
    }

    /// Forgets the earliest ones.
    fn skip(&mut self, count: u32) {
        self.first += self.pace * u64::from(count);
        self.count -= count;
    }

    fn expire(&mut self, now: u64) {
        let late = now.saturating_sub(GRACE).saturating_sub(self.first);
        let over = if self.pace == 0 && late > 0 { u64::MAX } else { late.div_ceil(self.pace.max(1)) };
        self.skip(u32::try_from(over).unwrap_or(u32::MAX).min(self.count));
        if self.spare_until < now {
            self.spares = 0;
        }
    }

    fn redeem(&mut self, now: u64) {
        if self.is_due(now) {
            self.spares = SPARES;
            self.spare_until = now + SPARE_TIME;
            self.skip(1);
        } else {
            self.spares -= 1;
        }
    }
}

impl Promises {
    /// Forgets what nobody came for.
    pub(crate) fn expire(&mut self, now: u64) {
        for run in &mut self.0 {
            run.expire(now);
        }
        self.0.retain(|run| run.count > 0 || run.spares > 0);
    }

    /// Uses up the earliest promise that is due, if there is one. What is left over counts only where one more can be
    /// squeezed in.
    pub(crate) fn redeem(&mut self, now: u64, ticket: Ticket, squeeze: bool) -> bool {
        for way in ticket.ways() {
            let good = |run: &&mut Run| run.ticket == way && (run.is_due(now) || (squeeze && run.spares > 0));
            // What is due comes before what is left over.
            let found = self.0.iter_mut().filter(good).min_by_key(|run| (!run.is_due(now), run.first));
            if let Some(run) = found {
                run.redeem(now);
                return true;
            }
            // Whoever has times of their own does not take what those without share.
            if self.0.iter().any(|run| run.ticket == way && run.count > 0) {
                return false;
            }
        }
        false
    }

    /// The earliest time that somebody with this ticket could come in by a promise.
    pub(crate) fn earliest(&self, ticket: Ticket) -> Option<u64> {
        let own = |way: Ticket| self.0.iter().filter(move |run| run.ticket == way);
        let way = ticket.ways().into_iter().find(|way| own(*way).next().is_some())?;
        own(way).map(|run| if run.spares > 0 { 0 } else { run.first.saturating_sub(LENIENCE) }).min()
    }

    /// Makes `count` promises, from `ready_at` on, behind those of the same address, and behind the next of each other
    /// address. What is told is always a time that is kept, if only among others.
    pub(crate) fn make(&mut self, now: u64, ticket: Ticket, ready_at: u64, pace: u64, count: u32) -> Grant {
        let ready_at = ready_at.max(now);
        let of_address = |run: &&Run| run.ticket.address == ticket.address && run.count > 0;
        let own_last = self.0.iter().filter(of_address).map(Run::last).max();
        let furthest = ready_at.saturating_add(FURTHEST.max(pace.saturating_mul(MOST_OF_ONE as u64)));
        let is_far = own_last.is_some_and(|last| last > furthest);
        let others = self.others_before(ticket.address, now);
        let after_own = own_last.map_or(0, |last| last + pace);
        let first = whole_seconds(now, after_own.max(ready_at + others * pace));
        let is_full = self.0.iter().filter(of_address).count() >= MOST_OF_ONE || self.open().count() + 1 >= MOST_RUNS;
        let place = self.place_for(ticket);
        // Others of the same address may have gone too far: whoever has nothing yet gets one time all the same.
        let count = if is_far { 1 } else { count };
        if let Some(run) =
            self.0.iter_mut().filter(|run| run.ticket == place && run.count > 0).max_by_key(|run| run.last())
        {
            // A run goes on evenly; where more is owed than when it began, another one begins.
            let is_even = run.last() + run.pace + SECOND >= first;
            if is_far || (is_full && !is_even) {
                return Grant { first: run.last(), pace: 0, count: 0 };
            }
            if is_even {
                let first = run.last() + run.pace;
                run.count = run.count.saturating_add(count);
                return Grant { first, pace: run.pace, count };
            }
        }
        if self.0.len() >= MOST_RUNS {
            self.forget_spares();
        }
        self.0.push(Run { ticket: place, first, pace, count, spares: 0, spare_until: 0 });
        Grant { first, pace, count }
    }

    /// Times that are still to come.
    pub(crate) fn held(&self) -> u64 {
        self.0.iter().map(|run| u64::from(run.count)).sum()
    }

    /// Runs with times that are still to come.
    fn open(&self) -> impl Iterator<Item = &Run> {
        self.0.iter().filter(|run| run.count > 0)
    }

    /// Makes room: spares are a kindness.
    fn forget_spares(&mut self) {
        let spent = self.0.iter().enumerate().filter(|(_, run)| run.count == 0);
        if let Some((eldest, _)) = spent.min_by_key(|(_, run)| run.spare_until) {
            self.0.swap_remove(eldest);
        }
    }

    /// How many other addresses have a time that is still to come.
    fn others_before(&self, address: u32, now: u64) -> u64 {
        let mut others: Vec<u32> = self.0.iter().filter(|run| run.first > now).map(|run| run.ticket.address).collect();
        others.sort_unstable();
        others.dedup();
        others.into_iter().filter(|other| *other != address).count() as u64
    }

    /// The ticket under which something can be kept: its own, or one that is shared. Who has times of their own gets no
    /// others, because those come first when they come back.
    fn place_for(&self, ticket: Ticket) -> Ticket {
        let [own, of_address, anybody] = ticket.ways();
        let is_there = |way: Ticket| self.open().any(|run| run.ticket == way);
        let of_one = self.open().filter(|run| run.ticket.address == ticket.address).count();
        let open = self.open().count();
        // Two places are kept for those who share, the last of them for anybody.
        if is_there(own) || (of_one < MOST_OF_ONE && open + 2 < MOST_RUNS) {
            own
        } else if is_there(of_address) || open + 1 < MOST_RUNS {
            of_address
        } else {
            anybody
        }
    }
}

/// What is told is whole seconds. So is what is promised, and whoever waits that long comes just when it is due.
fn whole_seconds(now: u64, at: u64) -> u64 {
    now + at.saturating_sub(now).div_ceil(SECOND) * SECOND
}
