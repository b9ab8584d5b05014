//! Executes a case: its runs, one after the other, with the same repository, state and store.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use modoai_fetch::Url;
use modoai_harvester::harvest::{Harvest, HarvestError, Options};
use modoai_harvester::limits::{Budget, Limits};
use modoai_harvester::state::State;
use modoai_harvester::summary::Summary;
use tokio::runtime::Runtime;

use crate::case::{Case, Run};
use crate::oracle::{self, Complaint};
use crate::server::Server;
use crate::store::{Store, StoreSink, lock};
use crate::truth::Truth;
use crate::world::{Events, Network, Ticks};

/// How a run ended.
pub enum End {
    /// By itself.
    Summary(Box<Summary>),
    /// With an error: exit status 1.
    Failed(HarvestError),
    /// It was killed.
    Killed,
    /// It sent requests without an end.
    Endless,
}

/// The result of a run, and all that it can be compared with.
pub struct Outcome<'a> {
    /// The case.
    pub case: &'a Case,
    /// The number of the run, from 1 on.
    pub number: usize,
    /// The end of the run.
    pub end: End,
    /// The content of the repository at the end.
    pub truth: Truth,
    /// What is stored at the end.
    pub store: Arc<Mutex<Store>>,
    /// The time at the end.
    pub now: i64,
    /// Requests.
    pub requests: u64,
    /// Virtual seconds.
    pub seconds: u64,
}

/// The figures of a case.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Runs.
    pub runs: u64,
    /// Runs that were complete.
    pub complete: u64,
    /// Runs that were incomplete.
    pub incomplete: u64,
    /// Runs that ended with an error.
    pub failed: u64,
    /// Runs that were killed.
    pub killed: u64,
    /// Requests.
    pub requests: u64,
    /// Failures of requests that the server injected.
    pub injected: u64,
}

impl Figures {
    /// Adds the figures of another case.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.complete += other.complete;
        self.incomplete += other.incomplete;
        self.failed += other.failed;
        self.killed += other.killed;
        self.requests += other.requests;
        self.injected += other.injected;
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, complete, incomplete, failed, killed, requests, injected } = self;
        write!(
            f,
            "{runs} harvests ({complete} complete, {incomplete} incomplete, {failed} failed, {killed} killed), \
             {requests} requests, {injected} faults"
        )
    }
}

/// What executes cases on one thread.
pub struct Simulator {
    runtime: Runtime,
}

/// The number of the next state in memory.
static STATES: AtomicU64 = AtomicU64::new(0);

impl Simulator {
    /// Creates a simulator.
    ///
    /// # Panics
    ///
    /// If no runtime can be created.
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        Self { runtime: runtime.expect("a runtime") }
    }

    /// Executes a case. Returns its figures, and the first complaint. The log receives a line per request and run.
    ///
    /// # Panics
    ///
    /// If the state in memory cannot be opened.
    pub fn execute(&self, case: &Case, log: Option<&mut Vec<String>>) -> (Figures, Result<(), Complaint>) {
        let clock = Ticks::default();
        let server = Arc::new(Mutex::new(Server::new(case, clock.clone())));
        let store = Arc::new(Mutex::new(Store::default()));
        let name = format!("simulation-{}", STATES.fetch_add(1, Ordering::Relaxed));
        let _keeper = State::shared_in_memory(&name).expect("a state");
        lock(&server).log = log.is_some().then(Vec::new);
        fastrand::seed(case.seed);
        let mut figures = Figures::default();
        let mut result = Ok(());
        // A last run in peace shows whether everything is brought in the end.
        let calm = Run { pause: 100_000, ..Run::default() };
        for (index, run) in case.runs.iter().chain([&calm]).enumerate() {
            clock.pass(Duration::from_secs(run.pause.into()));
            if index == case.runs.len() {
                lock(&server).calm();
            }
            lock(&server).begin_run(&run.changes);
            let began = clock.elapsed();
            let events = Events::killing_at(run.kill);
            let clock = clock.during(Arc::clone(&events));
            let sent = Arc::new(AtomicU64::new(0));
            let network = Network { server: Arc::clone(&server), events: Arc::clone(&events), sent };
            let end = self.harvest(case, &name, &clock, network, &store, &events);
            let (truth, requests, injected) = {
                let server = lock(&server);
                (server.truth.clone(), server.requests.1.into(), server.injected)
            };
            let outcome = Outcome {
                case,
                number: index + 1,
                end,
                truth,
                store: Arc::clone(&store),
                now: clock.unix(),
                requests,
                seconds: (clock.elapsed() - began) / 1000,
            };
            figures.runs += 1;
            figures.requests += requests;
            figures.injected = injected;
            match &outcome.end {
                End::Summary(summary) if summary.complete => figures.complete += 1,
                End::Summary(_) => figures.incomplete += 1,
                End::Failed(_) => figures.failed += 1,
                End::Killed => figures.killed += 1,
                End::Endless => {}
            }
            if let Some(log) = &mut lock(&server).log {
                log.push(format!("--- run {}: {}", index + 1, told(&outcome.end)));
            }
            result = oracle::check(&outcome);
            if result.is_err() {
                break;
            }
        }
        if let Some(log) = log {
            *log = lock(&server).log.take().unwrap_or_default();
        }
        (figures, result)
    }

    fn harvest(
        &self,
        case: &Case,
        name: &str,
        clock: &Ticks,
        network: Network,
        store: &Arc<Mutex<Store>>,
        events: &Arc<Events>,
    ) -> End {
        let mut options = Options::new(Url::parse("http://sim.example/oai").expect("a URL"));
        options.proposes = false;
        options.allow_private = true;
        if case.one_set {
            options.sets = vec!["a".to_owned()];
        }
        let budget = Arc::new(Budget::new(Limits::default(), Vec::new(), 0));
        let harvest = Harvest::in_world(network, clock.clone(), options).within(budget);
        let state = State::shared_in_memory(name).expect("a state");
        let sink = {
            let (store, events) = (Arc::clone(store), Arc::clone(events));
            move |mark: Option<&str>| {
                let sink: Box<dyn modoai_harvester::sink::Sink> = Box::new(StoreSink::open(store, events, mark));
                sink
            }
        };
        let ended = self.runtime.block_on(caught(harvest.into_kept(state, "simulation", "oai_dc", sink)));
        let is = |flag: &std::sync::atomic::AtomicBool| flag.load(Ordering::Relaxed);
        match ended {
            _ if is(&events.killed) => End::Killed,
            _ if is(&events.endless) => End::Endless,
            Some(Ok(summary)) => End::Summary(Box::new(summary)),
            Some(Err(error)) => End::Failed(error),
            None => End::Failed(HarvestError::NoSuchHost { host: "panic".to_owned() }),
        }
    }
}

impl Default for Simulator {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs a future. If it panics, everything that it holds is dropped, and the result is `None`.
async fn caught<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = Box::pin(future);
    std::future::poll_fn(move |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Some),
        Err(_) => Poll::Ready(None),
    })
    .await
}

/// The end of a run in a line.
fn told(end: &End) -> String {
    match end {
        End::Summary(summary) => {
            let repaired: Vec<String> =
                summary.repaired.iter().map(|repair| format!("{} {}", repair.count, repair.quirk)).collect();
            let missing: Vec<String> = summary.missing.iter().map(ToString::to_string).collect();
            let Summary { records, deleted, unchanged, requests, complete, .. } = &**summary;
            format!(
                "complete: {complete}, {requests} requests, {records} records, {deleted} deleted, {unchanged} unchanged; \
                 repaired: {repaired:?}; missing: {missing:?}"
            )
        }
        End::Failed(error) => {
            format!("failed: {error} ({:?})", std::error::Error::source(error).map(ToString::to_string))
        }
        End::Killed => "killed".to_owned(),
        End::Endless => "endless".to_owned(),
    }
}
