//! The traversal: tests the URLs of all tasks in one pass, each URL at most once.
//!
//! The *planner* (`plan`) decides, without network, clock and files. This file is the *driver*: it executes the actions
//! of the planner, and passes the results back.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the driver: requests, the table, the observer |
//! | `plan` | the planner |
//! | `visit` | tests one URL |
//! | `local` | serves a site from a directory |
//! | `outcome` | derives the outcome of a URL from a response |
//! | `observe` | passes the resources themselves to an observer |

mod local;
mod observe;
mod options;
mod outcome;
pub(crate) mod plan;
pub(crate) mod visit;

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use modoai_fetch::{Client, FetchError, Gate, Start, Traffic};
use tokio::task::JoinSet;

use crate::table::{Begun, Table, TableError};
use crate::task::{OwnersError, Plan};
use crate::verdict::Reason;
pub use local::{Folder, Found, LocalSite};
pub use observe::{Observer, Sight};
pub use options::Options;
pub use plan::Progress;
use plan::web::Web;
use plan::{Action, Now, Planner, READER, Report, Stored};
use visit::{Visited, Visitor};

/// The time for which robots.txt may be used without fetching it again, by RFC 9309.
pub(crate) const ROBOTS_LIVE: SignedDuration = SignedDuration::from_hours(24);

/// A traversal in progress.
pub struct Traversal {
    pub(crate) planner: Planner,
    pub(crate) table: Table,
    visitor: Arc<Visitor>,
    observer: Option<Box<dyn Observer>>,
    /// The number of URLs that the table has.
    stored_names: u32,
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
            let number = web.number(known.url);
            is_damaged |= number != known.id;
            let Some((run, outcome, status, form)) = known.test else { return };
            let node = web.node_mut(number);
            node.is_known = true;
            node.is_recent = run == begun.number && plan::is_settled(&outcome);
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
        let stored_names = web.names.len();
        let planner = Planner::new(plan, options, begun, web, fastrand::Rng::new())?;
        Ok(Self { planner, table, visitor: Arc::new(visitor), observer: None, stored_names })
    }

    /// Adds an observer to a traversal. [`Options::bodies`] limits the bytes that it receives.
    #[must_use]
    pub fn observed_by(mut self, observer: Box<dyn Observer>) -> Self {
        self.planner.is_observed = true;
        self.observer = Some(observer);
        self
    }

    /// Returns the traffic sent and received.
    pub fn traffic(&self) -> Traffic {
        self.visitor.client.traffic()
    }

    /// Returns the run in progress.
    pub fn begun(&self) -> Begun {
        self.planner.run
    }

    /// Returns true if a limit kept documents from being read, so that resources may be missing.
    pub fn is_cut(&self) -> bool {
        self.planner.is_cut()
    }

    /// Runs until everything is tested or `stop` is ready. Returns the reason if it ended early.
    pub async fn run(
        &mut self,
        stop: impl Future<Output = String>,
        watch: &mut dyn FnMut(&Progress),
    ) -> Result<Option<String>, TableError> {
        let mut stop = pin!(stop);
        let mut visits = JoinSet::new();
        let mut nodes = HashMap::new();
        loop {
            let action = self.planner.next(present());
            let until = match action {
                Action::Fetch(job) => {
                    let node = job.node;
                    let visit = visits.spawn(Arc::clone(&self.visitor).go(*job));
                    nodes.insert(visit.id(), node);
                    continue;
                }
                Action::Wait(until) => until,
                Action::End => {
                    self.close()?;
                    return Ok(None);
                }
                action => {
                    self.access(action)?;
                    continue;
                }
            };
            self.store_names()?;
            self.table.tick()?;
            watch(&Progress { traffic: self.traffic(), ..self.planner.progress() });
            let wait = until.map_or(MAX_WAIT, |at| at.saturating_duration_since(Instant::now()));
            tokio::select! {
                biased;
                why = &mut stop => {
                    visits.abort_all();
                    self.close()?;
                    return Ok(Some(why));
                }
                Some(ended) = visits.join_next_with_id() => {
                    let (id, visited) = match ended {
                        Ok((id, visited)) => (id, Some(visited)),
                        Err(error) => (error.id(), None),
                    };
                    let Some(node) = nodes.remove(&id) else { continue };
                    // A visit that panics is an internal error and does not indicate a problem of the URL.
                    let failed = || Visited::not_asked(node, Reason::Garbled("internal error".into()));
                    self.planner.take(Report::Visited(Box::new(visited.unwrap_or_else(failed))), present());
                }
                () = tokio::time::sleep(wait.clamp(MIN_WAIT, MAX_WAIT)) => {}
            }
        }
    }

    /// Executes an action on the table or the observer.
    fn access(&mut self, action: Action) -> Result<(), TableError> {
        let report = match action {
            Action::Load(number) => Report::Stored(number, self.stored(number)?.map(Box::new)),
            Action::LoadReferences(number) => Report::References(number, self.table.references(number)?),
            Action::StoreTest(number, test) => {
                self.store_names()?;
                return self.table.record(number, &test);
            }
            Action::StorePage { node, is_partial, references, anchors } => {
                return self.table.keep_page(node, READER, is_partial, &references, &anchors);
            }
            Action::StoreHold(host, until) => return self.table.keep_hold(&host, until),
            Action::Show(number, sight) => {
                if let Some(observer) = &mut self.observer {
                    observer.saw(self.planner.web.names.name(number), *sight);
                }
                return Ok(());
            }
            Action::Fetch(_) | Action::Wait(_) | Action::End => return Ok(()),
        };
        self.planner.take(report, present());
        Ok(())
    }

    /// Reads what is stored of a URL.
    fn stored(&mut self, number: u32) -> Result<Option<Stored>, TableError> {
        let Some(test) = self.table.test(number)? else { return Ok(None) };
        let has_page = self.table.has_page(number, READER)?;
        let is_home = self.planner.web.node(number).is_home();
        let url = self.planner.web.names.name(number);
        let is_held = self.observer.as_mut().is_none_or(|observer| !is_home || observer.has(url));
        Ok(Some(Stored { test, has_page, is_held }))
    }

    /// Adds new URLs to the table. Tests refer to them, so they come first.
    fn store_names(&mut self) -> Result<(), TableError> {
        let Planner { web, run, .. } = &self.planner;
        while self.stored_names < web.names.len() {
            self.table.add(self.stored_names, web.names.name(self.stored_names), run.began)?;
            self.stored_names += 1;
        }
        Ok(())
    }

    /// Stores host data for the next run: robots.txt, and which start URLs are public. Commits everything.
    fn close(&mut self) -> Result<(), TableError> {
        self.store_names()?;
        self.visitor.client.public_starts().iter().try_for_each(|host| self.table.keep_public(host))?;
        let news = self.visitor.gate.as_ref().map(Gate::news).unwrap_or_default();
        news.iter().try_for_each(|remembered| self.table.keep_robots(remembered))?;
        self.table.commit()
    }
}

/// The limits of the wait for a result, after which the planner decides again.
const MIN_WAIT: Duration = Duration::from_millis(1);
const MAX_WAIT: Duration = Duration::from_secs(1);

fn present() -> Now {
    Now { instant: Instant::now(), date: Timestamp::now() }
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
