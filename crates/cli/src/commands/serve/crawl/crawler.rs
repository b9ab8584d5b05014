//! The thread that crawls the site at regular intervals.
//!
//! It has a separate runtime, so that its writes do not delay responses.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use modoai_fetch::Client;
use modoai_harvester::limits::{Budget, Limits};
use modoai_repository::catalogue::Catalogue;
use modoai_repository::crawled::{Intake, Sent, Shelf, Taken, fit_headers};
use modoai_repository::with_causes;
use modoai_spider::results::Results as _;
use modoai_spider::survey::Survey;
use modoai_spider::table::Table;
use modoai_spider::task::Plan;
use modoai_spider::traverse::{BeginError, Observer, Options, Progress, Sight, Traversal};
use tokio::sync::watch;

use crate::commands::spider::table::set_aside;
use crate::config::shown;
use crate::error::CliError;

/// The interval before a failed crawl is repeated.
const RETRY: Duration = Duration::from_secs(600);

/// The interval between progress messages.
const NEWS: Duration = Duration::from_secs(30);

/// The configuration of the thread.
pub(super) struct Crawler {
    pub(super) plan: Plan,
    pub(super) options: Options,
    pub(super) client: Client,
    pub(super) table: PathBuf,
    pub(super) intake: Arc<Mutex<Intake>>,
    pub(super) catalogue: Arc<dyn Catalogue>,
    pub(super) shelf: Arc<Shelf>,
    /// The directory of the stored responses.
    pub(super) kept: PathBuf,
    pub(super) limits: Limits,
    pub(super) every: Duration,
    pub(super) status: Arc<Status>,
}

/// A running crawler.
pub(super) struct Crawling {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

/// The outcome of the last crawl, for other threads.
#[derive(Debug, Default)]
pub(super) struct Status(Mutex<State>);

/// The outcome of the last crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// No crawl has ended since the start.
    #[default]
    Begun,
    /// It was complete.
    Current,
    /// It failed, for this reason.
    Failed(String),
}

impl Status {
    pub(super) fn state(&self) -> State {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, state: State) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

impl Crawling {
    /// Stops the crawl; the next one continues from there.
    pub(super) async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = tokio::task::spawn_blocking(move || self.thread.join()).await;
    }
}

impl Crawler {
    pub(super) fn start(self) -> Result<Crawling, CliError> {
        let failed = |error| CliError::failed("failed to start crawling").because(error);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::Builder::new().name("crawler".to_owned());
        let thread = thread.spawn(move || runtime.block_on(self.keep_at_it(stopped))).map_err(failed)?;
        Ok(Crawling { stop, thread })
    }

    async fn keep_at_it(self, mut stopped: watch::Receiver<bool>) {
        let mut pause = self.until_due();
        loop {
            tokio::select! {
                _ = stopped.wait_for(|stopped| *stopped) => return,
                () = tokio::time::sleep(pause) => {}
            }
            let began = Instant::now();
            pause = match self.crawl(stopped.clone()).await {
                Ok(Some(taken)) => {
                    self.tell(&taken, began.elapsed());
                    self.status.set(State::Current);
                    self.every.saturating_sub(began.elapsed())
                }
                Ok(None) => return,
                Err(why) => {
                    tracing::error!("crawl failed: {why}");
                    self.status.set(State::Failed(why));
                    self.every.min(RETRY)
                }
            };
        }
    }

    /// Returns the time until the next crawl, so that frequent restarts do not cause frequent crawls.
    fn until_due(&self) -> Duration {
        let is_filled = self.catalogue.standing().is_ok_and(|standing| standing.ready);
        let last = Table::open(&self.table).and_then(|table| table.last_whole()).ok().flatten();
        let Some(last) = last.filter(|_| is_filled) else { return Duration::ZERO };
        let age = Duration::try_from(Timestamp::now().duration_since(last)).unwrap_or_default();
        let pause = self.every.saturating_sub(age);
        if !pause.is_zero() {
            self.status.set(State::Current);
        }
        pause
    }

    fn begin(&self, now: Timestamp) -> Result<Traversal, BeginError> {
        let table = Table::open(&self.table)?;
        Traversal::begin(self.plan.clone(), self.options.clone(), table, self.client.clone(), now)
    }

    /// Performs one crawl. Returns `None` if it was stopped.
    async fn crawl(&self, mut stopped: watch::Receiver<bool>) -> Result<Option<Taken>, String> {
        let now = Timestamp::now();
        let mut begun = self.begin(now);
        if let Err(BeginError::Table(error)) = &begun
            && error.is_damage()
        {
            // It contains only links and validators: responses are stored elsewhere.
            set_aside(&self.table).map_err(|error| with_causes(&error))?;
            begun = self.begin(now);
        }
        let traversal = begun.map_err(|error| with_causes(&error))?;
        let stored = size_below(&self.kept);
        let stored = stored.map_err(|error| format!("failed to read {}: {error}", shown(&self.kept)))?;
        let budget = Budget::new(self.limits, vec![self.kept.clone()], stored);
        budget.check_free().map_err(|reached| reached.to_string())?;
        let intake = || self.intake.lock().unwrap_or_else(PoisonError::into_inner);
        intake().begin();
        let (full, mut reached) = watch::channel(None);
        let onlooker = Onlooker { intake: self.intake.clone(), shelf: self.shelf.clone(), budget, full };
        let mut traversal = traversal.observed_by(Box::new(onlooker));
        let mut limit = reached.clone();
        let stop = async move {
            tokio::select! {
                _ = stopped.wait_for(|stopped| *stopped) => {}
                _ = limit.wait_for(Option::is_some) => {}
            }
            "stopped".to_owned()
        };
        let mut told = Instant::now();
        let mut watch = |progress: &Progress| {
            if told.elapsed() >= NEWS {
                told = Instant::now();
                let Progress { pages, tested, waiting, .. } = progress;
                tracing::info!("crawling: {pages} documents read, {tested} URLs seen, {waiting} waiting");
            }
        };
        let cut_short = traversal.run(stop, &mut watch).await.map_err(|error| with_causes(&error))?;
        if let Some(reached) = reached.borrow_and_update().clone() {
            // Stored responses are served, and nothing is treated as deleted.
            intake().finish(true).map_err(|error| with_causes(&error))?;
            return Err(reached);
        }
        if cut_short.is_some() {
            return Ok(None);
        }
        let is_cut = traversal.is_cut();
        let taken = intake().finish(is_cut).map_err(|error| with_causes(&error))?;
        // The run is closed in the table only now: if the process is killed before, the next one starts it again, with
        // the same result.
        let survey = Survey::of(traversal, None, true).map_err(|error| with_causes(&error))?;
        for remark in survey.run().remarks.iter().filter(|_| is_cut) {
            tracing::warn!("{remark}");
        }
        survey.close().map_err(|error| with_causes(&error))?;
        if taken.resources == 0 {
            let why = taken.reprieve.unwrap_or_else(|| "no resource could be fetched".to_owned());
            return Err(why);
        }
        Ok(Some(taken))
    }

    fn tell(&self, taken: &Taken, took: Duration) {
        let Taken { resources, put, deleted, untested, reprieve } = taken;
        let took = took.as_secs();
        tracing::info!(
            "crawled in {took} s: {resources} resources, {put} added or updated, {deleted} deleted, {untested} \
                not tested"
        );
        if let Some(why) = reprieve {
            tracing::warn!("deletions withheld for this crawl: {why}");
        }
    }
}

/// Passes the observations of the traversal to the intake, as long as disk space is available.
struct Onlooker {
    intake: Arc<Mutex<Intake>>,
    shelf: Arc<Shelf>,
    budget: Budget,
    /// Set when a limit is reached.
    full: watch::Sender<Option<String>>,
}

/// The approximate disk space for the headers of a resource.
const HEAD: u64 = 1024;

impl Onlooker {
    /// Returns true if a resource of this size may be stored in place of the existing one.
    fn has_room(&self, url: &str, size: u64) -> bool {
        let old = self.shelf.get(url).ok().flatten().map(|old| old.file.metadata().map_or(0, |file| file.len()));
        if let Err(reached) = self.budget.take(size + HEAD) {
            self.full.send_if_modified(|full| full.replace(reached.to_string()).is_none());
            return false;
        }
        self.budget.give_back(old.map_or(0, |old| old + HEAD));
        true
    }
}

impl Observer for Onlooker {
    fn has(&mut self, url: &str) -> bool {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner).has(url)
    }

    fn saw(&mut self, url: &str, sight: Sight) {
        let mut intake = self.intake.lock().unwrap_or_else(PoisonError::into_inner);
        match sight {
            Sight::Came { ref body, is_whole, .. }
                if !self.has_room(url, if is_whole { body.len() as u64 } else { 0 }) =>
            {
                intake.untested(url, false);
            }
            Sight::Came { headers, body, is_whole } => {
                let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
                let headers = fit_headers(headers, is_whole.then_some(body.len()));
                intake.keep(url, &Sent { headers: &headers, body: &body, is_whole });
            }
            Sight::Same => intake.same(url),
            Sight::Gone => intake.gone(url),
            Sight::Untested { is_blind } => intake.untested(url, is_blind),
        }
    }
}

/// Returns the size of all files below a directory.
fn size_below(folder: &Path) -> io::Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.metadata()?;
        size += if kind.is_dir() { size_below(&entry.path())? } else { kind.len() };
    }
    Ok(size)
}
