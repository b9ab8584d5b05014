//! The gate: who may come in now, and when the others may.
//!
//! A host asks before it does any work for a request, holds the [`Pass`] while the answer is under way, and says what
//! was sent. Whoever is told to wait is told the truth (`account::promises`). Of those who will not wait, most never
//! get as far as the ledger: a note in this process's memory is enough to turn them away.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use modoai_protocol::{Listing, Request};
use rustix::rand::{GetRandomFlags, getrandom};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::account::leases::Holder;
use crate::account::promises::Ticket;
use crate::account::{Account, Ask, SECOND, Verdict, micros};
use crate::ledger::{EndedList, Ending, Ledger, MOST_LISTS, MOST_LISTS_OF_ONE, Site, Ticks, since_boot};
use crate::log::{self, Log};
use crate::notes::{Guest, Notes};
use crate::settings::{Budget, FlowSettings};
use crate::who::{Asker, Party, Who};

/// A list that is sent for longer than this says that it is still there.
const RENEWED_EVERY: Duration = Duration::from_secs(20);

/// However fast lists are: those who come back do so at most so often. In microseconds.
const LEAST_PACE: u64 = 2_000;

/// Those who find no room come back after this at the earliest.
const ROOM_SOON: u64 = SECOND;

/// Room is promised no further ahead: then those who come back share times.
const FURTHEST: u64 = 900 * SECOND;

/// Those who are expected within this time find the room that is kept for them.
const SOON: u64 = SECOND;

/// Lists beyond the room that there is, for those who may have been promised one.
const SQUEEZED: usize = 32;

/// Times that one account holds in the queue of all. Beyond, its own times follow each other, and hold up nobody else:
/// whoever asks again and again without coming back would close the door for everybody.
const MOST_HELD: u64 = 64;

/// What a request costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page of a list: everything counts.
    List,
    /// One record, or the first page of a list for a person: only the hourly budgets count.
    Record,
    /// What every harvester needs to know first. Always answered.
    Free,
}

/// What somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errand {
    /// What it costs.
    pub kind: Kind,
    /// Told apart from others by this.
    number: u32,
}

impl Errand {
    /// What a request wants, if it is legal; `for_people` if the answer is to be a page that a person looks at. People
    /// look at the beginning of a list; whoever goes through one is treated as a harvester, because crawlers say that
    /// they want pages for people, too.
    pub fn of(request: Option<&Request>, for_people: bool) -> Self {
        let kind = match request {
            None | Some(Request::Identify | Request::ListMetadataFormats { .. }) => Kind::Free,
            Some(Request::GetRecord { .. }) => Kind::Record,
            Some(Request::List { listing: Listing::Select(_), .. } | Request::ListSets { token: None })
                if for_people =>
            {
                Kind::Record
            }
            Some(Request::List { .. } | Request::ListSets { .. }) => Kind::List,
        };
        let mut hash = Xxh3::new();
        if let Some(request) = request.filter(|_| kind != Kind::Free) {
            for (name, value) in request.arguments() {
                hash.update(name.as_bytes());
                hash.update(&[0]);
                hash.update(value.as_bytes());
                hash.update(&[0]);
            }
        }
        // Zero stands for any.
        Self { kind, number: (hash.digest() as u32).max(1) }
    }
}

/// Why somebody who can wait for a moment is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNow {
    /// It would be all right, but too many are under way. They may wait for a moment and ask again.
    Crowded,
    /// Come back.
    Later(Refusal),
}

impl From<Refusal> for NotNow {
    fn from(refusal: Refusal) -> Self {
        Self::Later(refusal)
    }
}

/// Not now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// After so many seconds, at least one.
    pub seconds: u64,
    /// Whether that is because of what this party has taken, and not because of others.
    pub is_own: bool,
}

impl Refusal {
    /// The reason, as a sentence for whoever looks.
    pub fn sentence(&self) -> &'static str {
        if self.is_own {
            "You have asked for much within a short time. Please come back when Retry-After says."
        } else {
            "The repository is busy. Please come back when Retry-After says."
        }
    }
}

/// Flow control for one repository.
pub struct Flow {
    settings: FlowSettings,
    ledger: Ledger,
    log: Option<Log>,
    notes: Notes,
    lists_at_once: usize,
    numbers: AtomicU64,
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flow").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Flow {
    /// Begins. Ledger and log are kept beside this catalogue; `suits` is how many lists at once suit the host.
    pub fn beside(catalogue: &Path, settings: FlowSettings, suits: usize) -> Arc<Self> {
        let mut ledger = catalogue.as_os_str().to_owned();
        ledger.push("-flow");
        let log = catalogue.parent().map(|folder| Log::open(folder.join(log::FOLDER)));
        Self::new(settings, Some(Path::new(&ledger)), log, suits, since_boot())
    }

    /// Begins, for this process alone, and without a log.
    pub fn alone(settings: FlowSettings, suits: usize) -> Arc<Self> {
        Self::new(settings, None, None, suits, since_boot())
    }

    fn new(mut settings: FlowSettings, file: Option<&Path>, log: Option<Log>, suits: usize, ticks: Ticks) -> Arc<Self> {
        let lists_at_once = match settings.lists_at_once {
            0 => suits.clamp(1, MOST_LISTS),
            given => given,
        };
        // Nobody in particular gets all the room that there is.
        settings.budget.lists = settings.budget.lists.min((lists_at_once * 3 / 4).max(1));
        let mut seed = [0; 8];
        // Zero is as good, but for two processes that begin at the same moment.
        let _ = getrandom(&mut seed, GetRandomFlags::empty());
        let numbers = AtomicU64::new(u64::from_le_bytes(seed));
        let ledger = Ledger::open(file, ticks);
        Arc::new(Self { settings, ledger, log, notes: Notes::default(), lists_at_once, numbers })
    }

    /// On whose account somebody is.
    pub fn who(&self, asker: &Asker<'_>) -> Who {
        Party::of(asker, &self.settings).who
    }

    /// Lists that may be under way at the same time.
    pub fn lists_at_once(&self) -> usize {
        self.lists_at_once
    }

    /// Where requests are noted.
    pub(crate) fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    /// Decides. Takes some microseconds, and does nothing else that costs anything.
    pub fn ask(self: &Arc<Self>, asker: &Asker<'_>, errand: Errand) -> Result<Pass, Refusal> {
        self.decide(asker, errand, None)
    }

    /// The same for somebody who can wait for a moment where there is no room.
    pub fn ask_patiently(self: &Arc<Self>, asker: &Asker<'_>, errand: Errand) -> Result<Pass, NotNow> {
        self.decide(asker, errand, Some(NotNow::Crowded))
    }

    /// Decides. Where there is no room, says `crowded`; without it, when to come back.
    fn decide<N: From<Refusal>>(
        self: &Arc<Self>,
        asker: &Asker<'_>,
        errand: Errand,
        crowded: Option<N>,
    ) -> Result<Pass, N> {
        let kind = errand.kind;
        let party = Party::of(asker, &self.settings);
        let is_hourly = party.budget.records > 0 || party.budget.bytes > 0;
        if kind == Kind::Free || (kind == Kind::Record && !is_hourly) {
            return Ok(Pass::new(self, &party, kind, None, 0));
        }
        let key = xxh3_64(party.key.as_bytes());
        let ticket = Ticket { address: address_number(asker), request: errand.number };
        let guest = Guest { name: (key, ticket), at: self.ledger.ticks() };
        if let Some(wait) = self.notes.turn_away(guest) {
            return Err(Refusal { seconds: seconds(wait), is_own: true }.into());
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        self.ledger.visit(Some(key), |now, site, account| {
            let room = kind != Kind::List || self.has_room(now, site);
            let squeeze = site.leases.0.len() < (self.lists_at_once + SQUEEZED).min(MOST_LISTS);
            let ask = Ask { now, kind, budget: &party.budget, ticket, room, squeeze };
            let verdict = account.ask(&ask);
            let ready_at = match verdict {
                Verdict::Admitted => {
                    if kind == Kind::List {
                        site.leases.give(now, number, MOST_LISTS);
                        account.leases.give(now, number, MOST_LISTS_OF_ONE);
                    }
                    let mut pass = Pass::new(self, &party, kind, Some(key), number);
                    (pass.is_squeezed_in, pass.under_way) = (!room, site.leases.0.len());
                    return Ok(pass);
                }
                Verdict::Crowded => match crowded {
                    Some(crowded) => return Err(crowded),
                    None => room_at(now, site, account),
                },
                Verdict::Later(ready_at) => ready_at,
            };
            let held = account.promises.held();
            let (due, made) = self.promise(guest, account, &ask, ready_at, self.pace(site));
            if verdict == Verdict::Crowded {
                self.reserve(now, site, u64::from(made).min(MOST_HELD.saturating_sub(held)));
            }
            let wait = Duration::from_micros(due.saturating_sub(now));
            Err(Refusal { seconds: seconds(wait), is_own: verdict != Verdict::Crowded }.into())
        })
    }

    /// Promises a time: one that was promised in advance, or a new one. Says how many are new.
    fn promise(&self, guest: Guest, account: &mut Account, ask: &Ask<'_>, ready_at: u64, pace: u64) -> (u64, u32) {
        let (due, made) = match self.notes.spare(guest) {
            Some(wait) => (ask.now + micros(wait), 0),
            None => {
                let grant = account.promise(ask, ready_at, pace, self.notes.wanted(guest));
                self.notes.granted(guest, ask.now, &grant);
                (grant.first, grant.count)
            }
        };
        let earliest = account.promises.earliest(ask.ticket).unwrap_or(due);
        self.notes.nothing_before(guest, earliest.saturating_sub(ask.now));
        (due, made)
    }

    /// Whether there is room for one more list that nobody was promised: beside those under way, and those who are
    /// expected soon. Not beside all who were promised something, since many of them will never come.
    fn has_room(&self, now: u64, site: &mut Site) -> bool {
        let expected = self.expected(now, site);
        let under_way = site.leases.0.len();
        // Looking for leases whose processes are gone is only worth it if it makes a difference.
        let under_way = if under_way + expected >= self.lists_at_once {
            site.leases.count(now, Holder::is_gone)
        } else {
            under_way
        };
        under_way + expected < self.lists_at_once
    }

    /// Those who are expected soon. However fast lists are, that is a quarter of the room at most.
    fn expected(&self, now: u64, site: &Site) -> usize {
        let soon = (site.time / 4).min(SOON);
        let count = site.horizon.saturating_sub(now).min(soon) / self.pace(site);
        usize::try_from(count).unwrap_or(usize::MAX).min(self.lists_at_once / 4)
    }

    /// Keeps the next room that there will be for so many.
    fn reserve(&self, now: u64, site: &mut Site, count: u64) {
        if count > 0 {
            let until = site.horizon.max(now + ROOM_SOON) + self.pace(site).saturating_mul(count);
            site.horizon = until.min(now + FURTHEST);
        }
    }

    /// The time from one list to the next that all processes together can bear.
    fn pace(&self, site: &Site) -> u64 {
        (site.time / self.lists_at_once.max(1) as u64).max(LEAST_PACE)
    }
}

/// An answer under way. Dropping it says that it has ended.
pub struct Pass {
    flow: Arc<Flow>,
    budget: Budget,
    key: Option<u64>,
    kind: Kind,
    number: u64,
    begun: Instant,
    renewed: Instant,
    under_way: usize,
    is_squeezed_in: bool,
    is_cut_short: bool,
    is_over: bool,
}

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pass").field("kind", &self.kind).field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl Pass {
    fn new(flow: &Arc<Flow>, party: &Party, kind: Kind, key: Option<u64>, number: u64) -> Self {
        let now = Instant::now();
        let flow = flow.clone();
        Self {
            flow,
            budget: party.budget,
            key,
            kind,
            number,
            begun: now,
            renewed: now,
            under_way: 0,
            is_squeezed_in: false,
            is_cut_short: false,
            is_over: key.is_none(),
        }
    }

    /// Lists that were under way, in all processes, when this one began: it and all others.
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    /// Whether there is no room for this list, and it was let in because that had been promised.
    pub fn is_squeezed_in(&self) -> bool {
        self.is_squeezed_in
    }

    /// Says that this list is only a small part of what it would be if nobody else wanted the processors.
    pub fn cut_short(&mut self) {
        self.is_cut_short = true;
    }

    /// Says that the answer is still under way. To be called often; it does little.
    pub fn still_here(&mut self) {
        if self.is_over || self.kind != Kind::List || self.renewed.elapsed() < RENEWED_EVERY {
            return;
        }
        self.renewed = Instant::now();
        let number = self.number;
        self.flow.ledger.visit(self.key, |now, site, account| {
            site.leases.renew(now, number, MOST_LISTS);
            account.leases.renew(now, number, MOST_LISTS_OF_ONE);
        });
    }

    /// Says what is sent, also if not all of it is, and ends. To be called before the last of it leaves: who has a page
    /// may ask for the next at once, and must find it booked.
    pub fn settle(&mut self, records: u64, bytes: u64) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let Some(key) = self.key else { return };
        let Self { budget, kind, number, .. } = *self;
        let time = micros(self.begun.elapsed());
        let list = (kind == Kind::List).then_some(EndedList { number, time, is_cut_short: self.is_cut_short });
        self.flow.ledger.end(Ending { key, budget, records, bytes, list });
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.settle(0, 0);
    }
}

/// When there will be room for one more of an account.
fn room_at(now: u64, site: &Site, account: &Account) -> u64 {
    let soon = now + ROOM_SOON;
    if account.promises.held() < MOST_HELD { site.horizon.max(soon) } else { soon }
}

/// Which of those who share an account: the address. Whatever else a request says about its sender can be changed with
/// every one.
fn address_number(asker: &Asker<'_>) -> u32 {
    let address = match asker.address.to_canonical() {
        std::net::IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        std::net::IpAddr::V6(address) => address.octets(),
    };
    // Zero stands for any.
    (xxh3_64(&address) as u32).max(1)
}

/// Whole seconds, never too few.
fn seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests;
