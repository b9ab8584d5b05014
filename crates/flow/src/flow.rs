//! Admission control: decides whether a request may run now, and otherwise when the client may retry.
//!
//! A host calls [`Flow::admit`] before it does any work, keeps the [`Permit`] while the response is being written, and
//! charges what was sent with [`Permit::settle`].

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use modoai_harvest_log::{FOLDER, Log, LogEntry};
use modoai_protocol::{Listing, Request};
use modoai_repository::Allowance;
use rustix::rand::{GetRandomFlags, getrandom};
use xxhash_rust::xxh3::xxh3_64;

use crate::account::{Arrival, Verdict, micros};
use crate::client::{Client, Party};
use crate::gcra::{Micros, SECOND};
use crate::ledger::{Clock, Ledger, since_boot};
use crate::pace::{Pace, Processors};
use crate::settings::{Budget, FlowSettings};
use crate::site::{LEASE_TERM, MAX_LISTS};

/// The maximum time that a decision waits for another process that holds the ledger, and the same for the end of a
/// response.
const DECISION_PATIENCE: Duration = Duration::from_millis(20);
const SETTLE_PATIENCE: Duration = Duration::from_secs(1);

/// The kind of a request, as far as flow control is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestClass {
    /// A page of a list: every limit applies.
    List,
    /// The first page of a list in a browser: every limit but the delay between lists, so that people can click.
    ListForPeople,
    /// One record: the hourly budgets.
    Record,
    /// Identify, ListMetadataFormats and errors: no limit but the delay between requests.
    Free,
}

impl RequestClass {
    /// Classifies a request. A client that follows resumptionTokens is a harvester, regardless of the media types it
    /// accepts: crawlers accept HTML, too.
    pub fn of(request: Option<&Request>, for_people: bool) -> Self {
        match request {
            None | Some(Request::Identify | Request::ListMetadataFormats { .. }) => Self::Free,
            Some(Request::GetRecord { .. }) => Self::Record,
            Some(Request::List { listing: Listing::Select(_), .. } | Request::ListSets { token: None })
                if for_people =>
            {
                Self::ListForPeople
            }
            Some(Request::List { .. } | Request::ListSets { .. }) => Self::List,
        }
    }

    /// Returns true for pages of lists.
    pub fn is_list(self) -> bool {
        matches!(self, Self::List | Self::ListForPeople)
    }
}

/// The reason and the delay of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Retry-After, at least 1.
    pub seconds: u64,
    /// True if the account's own budget is used up; otherwise, too many lists of all harvesters are in progress.
    pub is_own: bool,
    /// True if the account was assigned a time earlier, and that time has not passed.
    pub is_early: bool,
}

impl Refusal {
    /// The body of the response.
    pub fn sentence(&self) -> &'static str {
        if self.is_own {
            "Rate limit exceeded. Retry after the time given in Retry-After."
        } else {
            "The repository is busy. Retry after the time given in Retry-After."
        }
    }
}

/// Flow control of one repository.
pub struct Flow {
    settings: FlowSettings,
    ledger: Ledger,
    log: Option<Arc<Log>>,
    processors: Arc<Processors>,
    lists_at_once: usize,
    next_lease: AtomicU64,
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flow").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Flow {
    /// Opens the ledger and the log next to a catalogue. `suits` is the number of lists in progress that suits the host.
    pub fn beside(catalogue: &Path, settings: FlowSettings, suits: usize, processors: Arc<Processors>) -> Arc<Self> {
        let mut ledger = catalogue.as_os_str().to_owned();
        ledger.push("-flow");
        let log = catalogue.parent().map(|folder| Arc::new(Log::open(folder.join(FOLDER))));
        Self::new(settings, Some(Path::new(&ledger)), log, suits, processors, since_boot())
    }

    /// Returns flow control of this process alone, without a log.
    pub fn alone(settings: FlowSettings, suits: usize) -> Arc<Self> {
        Self::new(settings, None, None, suits, Arc::new(Processors::new()), since_boot())
    }

    pub(crate) fn new(
        mut settings: FlowSettings,
        file: Option<&Path>,
        log: Option<Arc<Log>>,
        suits: usize,
        processors: Arc<Processors>,
        clock: Clock,
    ) -> Arc<Self> {
        let lists_at_once = match settings.lists_at_once {
            0 => suits.clamp(1, MAX_LISTS),
            configured => configured,
        };
        // One harvester cannot take all the room.
        settings.budget.lists = settings.budget.lists.min((lists_at_once * 3 / 4).max(1));
        let mut seed = [0; 8];
        // Without random numbers, leases of two processes could have the same number, and one would end the other's.
        let _ = getrandom(&mut seed, GetRandomFlags::empty());
        let next_lease = AtomicU64::new(u64::from_le_bytes(seed));
        Arc::new(Self { settings, ledger: Ledger::open(file, clock), log, processors, lists_at_once, next_lease })
    }

    /// The entry of a request in the harvest log, if there is one. `request` is `None` if the request is not valid.
    pub fn log_entry(&self, client: &Client<'_>, request: Option<&Request>) -> Option<LogEntry> {
        let account = || Party::of(client, &self.settings).name;
        self.log.as_ref().map(|log| LogEntry::new(log.clone(), account(), client.agent, request))
    }

    /// Returns the processors, to which a host reports readers.
    pub fn processors(&self) -> &Processors {
        &self.processors
    }

    /// Decides whether a request may begin. Takes some microseconds.
    pub fn admit(self: &Arc<Self>, client: &Client<'_>, class: RequestClass) -> Result<Permit, Refusal> {
        let crowded = Refusal { seconds: 1, is_own: false, is_early: false };
        self.decide(client, class, false).map_err(|refusal| refusal.unwrap_or(crowded))
    }

    /// The same for a request that can wait for room: `Err(None)` asks it to try again when a list has ended.
    pub fn admit_or_wait(
        self: &Arc<Self>,
        client: &Client<'_>,
        class: RequestClass,
    ) -> Result<Permit, Option<Refusal>> {
        self.decide(client, class, true)
    }

    fn decide(
        self: &Arc<Self>,
        client: &Client<'_>,
        class: RequestClass,
        can_wait: bool,
    ) -> Result<Permit, Option<Refusal>> {
        let Party { budget, key, .. } = Party::of(client, &self.settings);
        if !budget.concerns(class) {
            return Ok(Permit { flow: self.clone(), budget, key: None, lease: None, begun: Instant::now() });
        }
        let key = xxh3_64(key.as_bytes());
        let number = self.next_lease.fetch_add(1, Ordering::Relaxed);
        self.ledger.update(key, DECISION_PATIENCE, |now, site, account| {
            let arrival = Arrival { now, class, budget: &budget, key, lists_at_once: self.lists_at_once };
            let verdict = account.admit(&arrival, site);
            match verdict {
                Verdict::Admitted => {
                    let lease = class.is_list().then(|| Lease { number, renewed: Instant::now(), pace: self.pace() });
                    if lease.is_some() {
                        site.leases.hold(now, key, number);
                    }
                    Ok(Permit { flow: self.clone(), budget, key: Some(key), lease, begun: Instant::now() })
                }
                // While other accounts queue, only requests whose assigned time has passed wait here; more would not
                // find room in time.
                Verdict::Crowded if can_wait && (account.is_due(now) || site.queue <= now) => Err(None),
                Verdict::Crowded | Verdict::NotBefore(_) => {
                    let is_early = account.queue > now;
                    let at = account.enqueue(&arrival, site, verdict);
                    let (seconds, is_own) = (seconds(at.saturating_sub(now)), verdict != Verdict::Crowded);
                    Err(Some(Refusal { seconds, is_own, is_early }))
                }
            }
        })
    }

    /// Charges a request that is refused, and the processor time that the decision took, to the share of lists. Returns
    /// the pause before the refusal is sent: clients that ignore refusals must not take the processors from readers.
    pub fn refused(&self, used: Duration) -> Duration {
        Duration::from_micros(self.processors.refused(micros(used), self.settings.list_share))
    }

    fn pace(&self) -> Pace {
        Pace::new(self.processors.clone(), self.settings.list_share)
    }
}

/// The right to send one response. Dropping it ends the response.
pub struct Permit {
    flow: Arc<Flow>,
    budget: Budget,
    /// None if nothing is to be charged, or everything has been.
    key: Option<u64>,
    lease: Option<Lease>,
    begun: Instant,
}

/// A list in progress.
struct Lease {
    number: u64,
    renewed: Instant,
    pace: Pace,
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Permit").field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl Permit {
    /// Pauses for the processor time of earlier lists. Call it on the thread that generates a list, before it begins.
    pub fn begin(&mut self) {
        self.wrote(0);
    }

    /// Pauses while readers need the processors, and renews the lease. Call it after each write of a list.
    pub fn wrote(&mut self, bytes: usize) {
        let (Some(lease), Some(key)) = (&mut self.lease, self.key) else { return };
        lease.pace.wrote(bytes);
        if micros(lease.renewed.elapsed()) >= LEASE_TERM / 9 {
            lease.renewed = Instant::now();
            let number = lease.number;
            self.flow.ledger.update(key, SETTLE_PATIENCE, |now, site, _| site.leases.hold(now, key, number));
        }
    }

    /// The most that this request may send: the hourly budget of its account.
    pub fn allowance(&self) -> Allowance {
        Allowance { records: self.budget.records, bytes: self.budget.bytes }
    }

    /// Charges the records and bytes sent, and ends the lease. Call it before the last bytes are sent: a client that
    /// has a page may request the next one immediately, and must find this one charged.
    pub fn settle(&mut self, records: u64, bytes: u64) {
        let Some(key) = self.key.take() else { return };
        let mut lease = self.lease.take();
        if let Some(lease) = &mut lease {
            // The next list waits for what this one has used since its last step.
            lease.pace.charge();
        }
        let time = micros(self.begun.elapsed());
        self.flow.ledger.update(key, SETTLE_PATIENCE, |now, site, account| {
            account.charge(now, &self.budget, records, bytes);
            if let Some(lease) = lease {
                site.leases.release(lease.number);
                if bytes > 0 {
                    account.typical.learn(records, bytes, time);
                    site.learn(time);
                }
            }
        });
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.settle(0, 0);
    }
}

/// Whole seconds, rounded up.
fn seconds(wait: Micros) -> u64 {
    wait.div_ceil(SECOND).max(1)
}

#[cfg(test)]
mod tests;
