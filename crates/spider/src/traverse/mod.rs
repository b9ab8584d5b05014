//! The traversal: tests the URLs of all tasks in one pass, each URL at most once.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the main loop: starts visits, settles their results, ends the run |
//! | `refer` | classifies and schedules a newly discovered URL |
//! | `settle` | stores the result of a visit and schedules its references |
//! | `record` | compares a result with the previous one: since when, whether changed |
//! | `cache` | reuses stored results: unchanged documents, and the first part of an interrupted run |
//! | `visit` | tests one URL |
//! | `local` | serves a site from a directory |
//! | `observe` | passes the resources themselves to an observer |
//! | `outcome` | derives the outcome of a URL from a response |
//! | `budget` | limits the documents of a task |
//! | `similar` | limits the documents with similar URLs |
//! | `head` | decides whether HEAD is reliable |
//! | `foreign` | limits the documents read on other hosts to find their owners |
//! | `web` | the URLs in memory, and the tasks that contain them |
//! | `frontier` | the queue of URLs, by host |
//! | `names`, `sets` | compact storage of a million URLs, and of sets of tasks |
//! | `opaque` | recognises URLs that are probably no documents |

mod budget;
mod cache;
mod foreign;
mod frontier;
mod head;
mod local;
mod names;
mod observe;
mod opaque;
mod options;
mod outcome;
mod record;
mod refer;
mod sets;
mod settle;
mod similar;
pub(crate) mod visit;
pub(crate) mod web;

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use modoai_fetch::{Client, FetchError, Gate, Start, Traffic};
use tokio::task::JoinSet;

use crate::anchors::Fragment;
use crate::table::{Begun, Table, TableError};
use crate::task::{Owners, OwnersError, Plan, Restrictions, Scoper};
use crate::verdict::Reason;
pub(crate) use budget::MOST as MOST_DOCUMENTS;
use budget::PageBudget;
use foreign::ForeignHosts;
use frontier::Frontier;
use head::HeadReliability;
pub use local::{Folder, Found, LocalSite};
pub use observe::{Observer, Sight};
pub use options::Options;
use sets::SetId;
use similar::Similar;
use visit::{Visited, Visitor};
use web::Web;

/// The time for which robots.txt may be used without fetching it again, by RFC 9309.
pub(crate) const ROBOTS_LIVE: SignedDuration = SignedDuration::from_hours(24);

/// The maximum number of concurrent requests to one host, regardless of the configured number: more gain nothing, and
/// each takes memory.
const MOST_PER_HOST: usize = 128;

/// A traversal in progress.
pub struct Traversal {
    pub(crate) plan: Plan,
    pub(crate) options: Options,
    pub(crate) table: Table,
    pub(crate) web: Web,
    pub(crate) begun: Begun,
    /// The fragments that documents refer to, with the URLs of their targets.
    pub(crate) wanted: HashSet<(u32, Fragment)>,
    pub(crate) remarks: Vec<String>,
    frontier: Frontier,
    scopers: Vec<Scoper>,
    restrictions: Restrictions,
    pub(crate) owners: Owners,
    hosts: HashMap<String, u32>,
    visitor: Arc<Visitor>,
    /// The number of documents of each task, and of places reserved for it.
    budgets: Vec<PageBudget>,
    progress: Progress,
    pub(crate) is_cut_by_depth: bool,
    /// The number of documents when depths were last measured.
    measured: u64,
    pub(crate) is_cut_by_pages: bool,
    similar: Similar,
    foreign: ForeignHosts,
    head: HeadReliability,
    /// The number of consecutive failed requests per host, and the reason for the last failure.
    silences: HashMap<u32, (u32, Reason)>,
    /// Hosts whose sitemaps are known, and the tasks that read them.
    mapped: HashMap<u32, SetId>,
    /// URLs that this run had tested before it was interrupted, and has found again.
    recalled: VecDeque<u32>,
    observer: Option<Box<dyn Observer>>,
    dice: fastrand::Rng,
}

/// The reason why a traversal cannot start.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// The table cannot be used.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The client cannot be restricted to public addresses.
    #[error(transparent)]
    Client(#[from] FetchError),
    /// A pattern of the owner rules is invalid.
    #[error("invalid owner rules")]
    Owners(#[from] OwnersError),
}

/// The progress of a traversal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Documents read, or known to be unchanged.
    pub pages: u64,
    /// URLs tested.
    pub tested: u64,
    /// URLs that are queued.
    pub waiting: u64,
    /// Broken ones among those tested.
    pub broken: u64,
    /// The traffic sent and received.
    pub traffic: Traffic,
}

impl Traversal {
    /// Starts a run, or resumes an interrupted one with the same plan.
    pub fn begin(
        plan: Plan,
        options: Options,
        mut table: Table,
        client: Client,
        now: Timestamp,
    ) -> Result<Self, BeginError> {
        let begun = table.begin(fingerprint(&plan, &options), now)?;
        let mut web = Web::default();
        let mut is_damaged = false;
        table.load(|known| {
            let (number, _) = web.number(known.url);
            is_damaged |= number != known.id;
            let Some((run, outcome, status, form)) = known.test else { return };
            let node = web.node_mut(number);
            node.is_known = true;
            node.is_recent = run == begun.number && settle::is_settled(&outcome);
            (node.code, node.status, node.form) = (outcome.to_code().0, status, form);
        })?;
        // Numbers are assigned in order. If one is missing, a row was deleted from the table, and references no longer
        // match.
        if is_damaged {
            return Err(table.damaged().into());
        }
        table.holds(now, |host, until| client.hold(host, until.into()))?;
        let client = restricted(client, &plan, &options, &table)?;
        let visitor = Visitor::new(client, &options);
        if let Some(gate) = &visitor.gate {
            let age = plan.robots_age.unwrap_or(ROBOTS_LIVE).min(ROBOTS_LIVE);
            table.robots(now - age, |remembered| gate.remember(remembered))?;
        }
        Ok(Self {
            frontier: Frontier::new(options.per_host.min(MOST_PER_HOST)),
            scopers: plan.tasks.iter().map(Scoper::new).collect(),
            restrictions: Restrictions::new(&plan.restrictions),
            owners: Owners::new(&plan)?,
            hosts: HashMap::new(),
            visitor: Arc::new(visitor),
            budgets: plan.tasks.iter().map(|task| PageBudget::new(task, &options)).collect(),
            remarks: plan.remarks.clone(),
            wanted: HashSet::new(),
            progress: Progress::default(),
            is_cut_by_depth: false,
            measured: 0,
            is_cut_by_pages: false,
            foreign: ForeignHosts::default(),
            similar: Similar::new(options.max_similar),
            head: HeadReliability::default(),
            silences: HashMap::new(),
            mapped: HashMap::new(),
            recalled: VecDeque::new(),
            observer: None,
            dice: fastrand::Rng::new(),
            plan,
            options,
            table,
            web,
            begun,
        })
    }

    /// Returns the traffic sent and received.
    pub fn traffic(&self) -> Traffic {
        self.visitor.client.traffic()
    }

    /// Returns the run in progress.
    pub fn begun(&self) -> Begun {
        self.begun
    }

    /// Runs until everything is tested or `stop` is ready. Returns the reason if it ended early.
    pub async fn run(
        &mut self,
        stop: impl Future<Output = String>,
        watch: &mut dyn FnMut(&Progress),
    ) -> Result<Option<String>, TableError> {
        let mut stop = pin!(stop);
        let mut visits = JoinSet::new();
        let mut under_way = HashMap::new();
        match self.options.local.clone() {
            Some(local) => self.begin_folder(&local)?,
            None => (0..self.plan.tasks.len()).try_for_each(|task| self.begin_task(task))?,
        }
        loop {
            self.table.tick()?;
            while let Some(number) = self.recalled.pop_front() {
                self.recall(number)?;
            }
            if self.frontier.is_out_of_documents() {
                self.pass_on()?;
                self.measure_depth();
            }
            let now = Instant::now();
            while visits.len() < self.options.connections.max(1)
                && let Some((node, turn)) = self.frontier.next(now)
            {
                if let Some(job) = self.job(node, turn)? {
                    let visit = visits.spawn(Arc::clone(&self.visitor).go(job));
                    under_way.insert(visit.id(), node);
                }
            }
            self.progress.waiting = (self.frontier.waiting() + visits.len()) as u64;
            self.progress.traffic = self.visitor.client.traffic();
            watch(&self.progress);
            if visits.is_empty() && self.frontier.waiting() == 0 && self.recalled.is_empty() {
                self.keep_hosts()?;
                self.table.commit()?;
                self.remark_limits();
                return Ok(None);
            }
            let wake = self.frontier.wake(now).map_or(Duration::from_secs(1), |at| at.saturating_duration_since(now));
            tokio::select! {
                biased;
                why = &mut stop => {
                    visits.abort_all();
                    self.keep_hosts()?;
                    self.table.commit()?;
                    return Ok(Some(why));
                }
                Some(ended) = visits.join_next_with_id() => {
                    let (id, visited) = match ended {
                        Ok((id, visited)) => (id, Some(visited)),
                        Err(error) => (error.id(), None),
                    };
                    let Some(node) = under_way.remove(&id) else { continue };
                    // A visit that panics is an internal error and does not indicate a problem of the URL.
                    let failed = || Visited::not_asked(node, Reason::Garbled("internal error".into()));
                    self.settle(visited.unwrap_or_else(failed))?;
                }
                () = tokio::time::sleep(wake.clamp(Duration::from_millis(1), Duration::from_secs(1))) => {}
            }
        }
    }

    /// Stores host data for the next run: robots.txt, and which start URLs are public.
    fn keep_hosts(&self) -> Result<(), TableError> {
        self.visitor.client.public_starts().iter().try_for_each(|host| self.table.keep_public(host))?;
        let news = self.visitor.gate.as_ref().map(Gate::news).unwrap_or_default();
        news.iter().try_for_each(|remembered| self.table.keep_robots(remembered))
    }

    fn remark_limits(&mut self) {
        if self.is_cut_by_depth {
            let depth = self.options.max_depth;
            self.remarks
                .push(format!("documents more than {depth} links from the start page were tested, but not read"));
        }
        if self.is_cut_by_pages {
            let limit = self.budgets.iter().filter_map(PageBudget::limit).min().unwrap_or_default();
            let what = format!(
                "reached the limit of {limit} documents (--max-pages): further documents were tested, but not read"
            );
            self.remarks.push(what);
        }
        self.remarks.extend(self.similar.remarks());
        self.remarks.extend(self.foreign.remark());
    }
}

/// Restricts a client to public addresses and the hosts of the tops, unless everything is allowed.
fn restricted(client: Client, plan: &Plan, options: &Options, table: &Table) -> Result<Client, BeginError> {
    if options.allow_private {
        return Ok(client);
    }
    let mut starts = Vec::with_capacity(plan.tasks.len());
    // Serving a directory under the name of a host does not mean that the host may be trusted.
    for task in plan.tasks.iter().filter(|_| options.local.is_none()) {
        let was_public = table.was_public(task.top.host_str().unwrap_or_default())?;
        starts.push(Start { url: task.top.clone(), was_public });
    }
    Ok(client.restricted_to(starts)?)
}

/// Returns a hash of the plan and its limits: only a run with the same hash can be resumed.
fn fingerprint(plan: &Plan, options: &Options) -> u64 {
    let tasks: Vec<_> = plan
        .tasks
        .iter()
        .map(|task| (&task.name, task.scope, task.top.as_str(), &task.exclude, task.any_host))
        .collect();
    let Options { external, external_fragments, max_depth, max_pages, max_similar, robots, .. } = options;
    let limits = (external, external_fragments, max_depth, max_pages, max_similar, robots);
    let restrictions: Vec<_> = plan.restrictions.iter().map(|it| (it.action, &it.prefix, it.until)).collect();
    let text = format!("{tasks:?} {limits:?} {restrictions:?} {:?}", plan.owners);
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}
