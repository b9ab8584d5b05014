//! The harvest of one repository: Identify, then every selected list, window by window, page by page.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the order of things, from Identify to the summary |
//! | `options` | what is to be harvested, and why it may come to nothing |
//! | `interview` | who the server is, and what can be right of what it says |
//! | `talk` | one question, as many attempts as patience allows |
//! | `trouble` | why a request came to nothing, and what that means |
//! | `windows` | a list as windows: following tokens, joining what is small |
//! | `divide` | windows that a server cannot deliver, in parts |
//! | `dates` | servers that do not understand dates, or want them |
//! | `settle` | doubtful ends: counting identifiers, and believing nobody |
//! | `singles` | records that are got one by one |
//!
//! The promises: a page is true only with all of its records and the token of the next; what is not proven complete is
//! asked for again by the next run; and what could not be had is named.

mod dates;
mod divide;
mod interview;
mod options;
mod outage;
mod settle;
mod singles;
mod talk;
mod trouble;
mod verify;
mod windows;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use modoai_fetch::{Client, Start, Url};
use modoai_protocol::{Datestamp, with_causes};

use crate::clock;
use crate::desk::Desk;
use crate::ending::Yield;
use crate::gauge::Gauge;
use crate::habits::Habits;
use crate::limits::Budget;
use crate::quirks;
use crate::repairs::Repairs;
use crate::sink::{NOT_WRITTEN, Place, Sink, SinkError, SinkKind, SinkOptions, Source};
use crate::state::{Contract, Identity, State, Wait};
use crate::summary::{Gap, NextRun, Summary, without_nested};
use crate::window::Granularity;
use interview::{Interview, identify};
pub use options::{HarvestError, Options, distinct_slug, slug};
use talk::Talk;
pub use trouble::Trouble;

/// The harvest of one repository.
///
/// ```no_run
/// use modoai_fetch::{Client, Manners, Url};
/// use modoai_harvester::harvest::{Harvest, Options};
/// use modoai_harvester::sink;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let options = Options::new(Url::parse("https://example.org/oai")?);
/// let records = sink::named("records").expect("a sink of ours");
/// let summary = Harvest::new(Client::new(Manners::default())?, options).into_folder("example.org".as_ref(), records).await?;
/// assert!(summary.complete, "{:?}", summary.missing);
/// # Ok(())
/// # }
/// ```
pub struct Harvest {
    client: Client,
    options: Options,
    gauge: Arc<Gauge>,
    stop: Arc<AtomicBool>,
    budget: Option<Arc<Budget>>,
}

/// A harvest that is under way.
struct Work {
    options: Options,
    sink: &'static str,
    talk: Talk,
    desk: Option<Box<Desk>>,
    identity: Identity,
    prefix: String,
    gaps: Vec<Gap>,
    /// What the server asked for, if that is longer than a run.
    not_before: Option<Datestamp>,
    /// The lists of this run.
    lists: Vec<i64>,
    /// Whether nothing of the list was ever complete, so that its ends are looked at closely.
    is_first: bool,
    /// Whether gaps of an earlier pass are tried again: no watermark follows from that.
    retrying: bool,
    /// Records of this run that name a set, and that name none.
    in_sets: (u64, u64),
    /// Whether other ways to write dates were tried in vain: once per run is enough.
    date_trials_over: bool,
    /// Whether another way to write dates is being tried.
    date_trial: bool,
    /// Whether the server says that it has nothing at all, if that was asked.
    in_outage: Option<bool>,
    /// Whether dates make a difference there, if that was asked.
    dates_heeded: Option<bool>,
    /// Whether identifiers can be listed there, if that was asked.
    identifiers_listed: Option<bool>,
    /// Whether it was asked since the last page whether the server is down.
    looked_down: bool,
    /// Whether a token that needs encoding was understood as it is sent now.
    token_style_proven: bool,
    /// Windows of records that were divided or given up since ListRecords brought something.
    divided_in_vain: u32,
}

/// Whether to go on after something went wrong.
enum Stop {
    /// The run ends here; what is missing was noted.
    Run,
    /// The run failed.
    Failed(HarvestError),
}

impl<E: Into<HarvestError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Gaps told one by one; the rest is counted.
const MOST_GAPS: usize = 1000;

/// How far incremental harvests reach back where a server does not promise that its datestamps are those of visibility:
/// indexes that are renewed by night are common.
const OVERLAP: Duration = Duration::from_secs(86_400);

impl Harvest {
    /// A harvest that nobody watches and nobody stops.
    pub fn new(client: Client, options: Options) -> Self {
        Self { client, options, gauge: Arc::default(), stop: Arc::default(), budget: None }
    }

    /// The same, telling how far it is.
    pub fn watched_by(self, gauge: Arc<Gauge>) -> Self {
        Self { gauge, ..self }
    }

    /// The same, ending as soon as it may when the flag is set: what was committed stays, and the next run goes on.
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// The same within a budget that several harvests share.
    pub fn within(self, budget: Arc<Budget>) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// Harvests into a folder, through one of the sinks.
    pub async fn into_folder(self, dir: &Path, kind: &'static SinkKind) -> Result<Summary, HarvestError> {
        let state = State::open(dir)?;
        let dir = dir.to_path_buf();
        let open = Box::new(move |opening: Opening| {
            let Opening { mark, distrusted, source, client, gauge, budget, options } = opening;
            let (dir, source, options) = (&dir, &source, &options);
            let place = Place { dir, mark: mark.as_deref(), distrusted, source, client, gauge, budget, options };
            let mut sink = (kind.open)(place)?;
            // From here on whatever is there is this harvest's own, also if no page is ever whole.
            let begun = if mark.is_none() { Some(sink.commit()?) } else { None };
            Ok((sink, begun))
        });
        self.run(state, Target { sink: kind.name, format: kind.format, durable: kind.durable, open }).await
    }

    /// Harvests into a sink of the caller's, known by that name, for which that format is asked if none is chosen. What
    /// is remembered is in `dir`; nothing is if there is none.
    pub async fn into_sink(
        self,
        dir: Option<&Path>,
        name: &'static str,
        format: &str,
        sink: Box<dyn Sink>,
    ) -> Result<Summary, HarvestError> {
        let state = dir.map_or_else(State::in_memory, State::open)?;
        let open = Box::new(move |_| Ok((sink, None)));
        self.run(state, Target { sink: name, format, durable: true, open }).await
    }

    async fn run(self, mut state: State, target: Target<'_>) -> Result<Summary, HarvestError> {
        let Self { client, mut options, gauge, stop, budget } = self;
        let Target { sink, format, durable, open } = target;
        let run = state.begin_run(clock::now())?;
        if options.sink.catalogue.is_none() {
            options.sink.catalogue = state.catalogue()?;
        }
        let budget = budget.unwrap_or_else(|| {
            let mut places = vec![state.dir().to_path_buf()];
            places.extend(options.sink.catalogue.as_ref().and_then(|file| file.parent()).map(Path::to_path_buf));
            Arc::new(Budget::new(options.limits, places, 0))
        });
        if let Some(slug) = state.slug()? {
            options.slug = slug;
        }
        let known = state.contract()?.map(|known| known.prefix);
        let prefix = options.format.clone().or(known).unwrap_or_else(|| format.to_owned());
        let contract = Contract { base_url: options.base_url.to_string(), sink: sink.to_owned(), prefix };
        if let Some(wait) = state.wait(host(&options.base_url), clock::now())? {
            return postponed(&mut state, run, &contract, &wait);
        }
        let habits = state.habits()?;
        let client = restricted(client, &options, &habits)?;
        let mut talk = Talk {
            client: client.clone(),
            base_url: options.base_url.clone(),
            granularity: Granularity::Seconds,
            habits,
            patience: options.patience,
            gauge: gauge.clone(),
            repairs: Repairs::default(),
            stop,
            dice: fastrand::Rng::new(),
            headers: options.headers.clone(),
            effort: Yield::default(),
            given_up: false,
            returns_pages: false,
        };
        let identity = match identify(&mut talk, &mut state, &contract, &options).await {
            Ok(identity) => identity,
            Err(Interview::Postponed(wait)) => {
                let wait = remember_wait(&mut state, &options, wait)?;
                return postponed(&mut state, run, &contract, &wait);
            }
            Err(Interview::Failed(error)) => return Err(failed(&mut state, run, &options, error)),
        };
        state.set_slug(&options.slug)?;
        let source = Source { base_url: contract.base_url, name: identity.name.clone(), slug: options.slug.clone() };
        // While a page is read its host is busy; what its records refer to must not wait for that.
        let client = client.beside();
        // An earlier run may have left something; and a sink that never had anything is to know that this is all.
        let unsynced = state.unsynced()?.is_some() || state.mark()?.is_none();
        let distrusted = !durable && !survived(&mut state)?;
        let (mark, gauge_of_sink) = (state.mark()?, gauge.clone());
        let opening = Opening {
            mark,
            distrusted,
            source,
            client,
            gauge: gauge_of_sink,
            budget: budget.clone(),
            options: options.sink.clone(),
        };
        let opened = tokio::task::spawn_blocking(move || open(opening)).await;
        let opened = opened.unwrap_or_else(|panic| Err(lost(&panic.to_string())));
        let (opened, begun) = opened.map_err(|error| failed(&mut state, run, &options, error.into()))?;
        if let Some(mark) = begun {
            state.set_mark(&mark)?;
        }
        if let Some(catalogue) = &options.sink.catalogue {
            state.set_catalogue(catalogue)?;
        }
        let starts_over = opened.must_start_over();
        if let Some(reason) = &starts_over {
            tracing::warn!("{reason}; starting a full harvest");
            state.start_over()?;
        }
        state.take_heart()?;
        let mut work = Work {
            options,
            sink,
            talk,
            desk: Some(Box::new(Desk {
                state,
                sink: opened,
                gauge,
                budget,
                unsynced: unsynced || starts_over.is_some(),
            })),
            identity,
            prefix: contract.prefix,
            gaps: Vec::new(),
            not_before: None,
            lists: Vec::new(),
            is_first: true,
            retrying: false,
            in_sets: (0, 0),
            date_trials_over: false,
            date_trial: false,
            in_outage: None,
            dates_heeded: None,
            identifiers_listed: None,
            looked_down: false,
            token_style_proven: false,
            divided_in_vain: 0,
        };
        let outcome = match work.everything().await {
            Ok(()) | Err(Stop::Run) => Ok(()),
            Err(Stop::Failed(error)) => Err(error),
        };
        let finished = work.finish();
        match outcome.and(finished) {
            Ok(()) => work.close(run),
            Err(error) => Err(work.fail(run, error)),
        }
    }
}

impl Work {
    /// Every list that is selected, then what is missing, then what has vanished.
    async fn everything(&mut self) -> Result<(), Stop> {
        if self.options.verify {
            self.inspect().await?;
        }
        if !self.options.identifiers.is_empty() {
            return self.get_chosen().await;
        }
        let sets = if self.options.sets.is_empty() { vec![String::new()] } else { self.options.sets.clone() };
        for set in &sets {
            self.list(set).await?;
        }
        self.get_missing().await?;
        if self.options.verify {
            self.verify(&sets).await?;
        }
        Ok(())
    }

    /// However the run went: what was committed is safe, and what was learnt is remembered.
    fn finish(&mut self) -> Result<(), HarvestError> {
        let desk = self.desk.as_mut().ok_or_else(|| lost("the state of the harvest is unavailable"))?;
        desk.state.roll_back()?;
        desk.finish()?;
        let state = &mut desk.state;
        state.set_unsynced(None)?;
        let public = self.talk.client.public_starts().into_iter().next();
        self.talk.habits.public_host = public.or(self.talk.habits.public_host.take());
        state.set_habits(&self.talk.habits)?;
        Ok(state.add_repairs(&self.talk.repairs.told())?)
    }

    /// The run failed: that is remembered, too.
    fn fail(&mut self, run: i64, error: HarvestError) -> HarvestError {
        match self.desk.as_mut() {
            Some(desk) => failed(&mut desk.state, run, &self.options, error),
            None => error,
        }
    }

    /// Ends the run: everything that is missing is told.
    fn close(&mut self, run: i64) -> Result<Summary, HarvestError> {
        let desk = self.desk.as_mut().ok_or_else(|| lost("the state of the harvest is unavailable"))?;
        let state = &mut desk.state;
        let repaired = self.talk.repairs.told();
        let mut missing = std::mem::take(&mut self.gaps);
        // Other selections of this folder have gaps and watermarks of their own, which `modoai status` tells.
        let mut lists = state.lists()?;
        lists.retain(|list| self.lists.contains(&list.number));
        let from = lists.iter().filter_map(|list| list.watermark).min();
        for list in lists {
            missing.extend(state.windows(list.number)?.into_iter().map(|open| Gap {
                what: "window".to_owned(),
                from: open.window.from.map(|date| date.to_string()),
                until: open.window.until.map(|date| date.to_string()),
                set: (!open.set.is_empty()).then_some(open.set),
                reason: open.trouble.unwrap_or_else(|| "not yet harvested".to_owned()),
                ..Gap::default()
            }));
        }
        let mut missing = without_nested(missing);
        let records = state.missing("", MOST_GAPS)?;
        let untold = state.missing_count()?.saturating_sub(records.len() as u64);
        missing.extend(records.into_iter().map(|record| Gap {
            what: "record".to_owned(),
            identifier: Some(record.identifier),
            reason: record.reason,
            ..Gap::default()
        }));
        if untold > 0 {
            let reason = format!("{untold} more records are missing; `modoai status` lists them");
            missing.push(Gap { what: "record".to_owned(), reason, ..Gap::default() });
        }
        let gauge = &desk.gauge;
        let summary = Summary {
            source: self.options.base_url.to_string(),
            sink: self.sink.to_owned(),
            format: self.prefix.clone(),
            records: Gauge::read(&gauge.records),
            deleted: Gauge::read(&gauge.deleted),
            unchanged: Gauge::read(&gauge.unchanged),
            elsewhere: Gauge::read(&gauge.elsewhere),
            refused: state.missing_because(NOT_WRITTEN)?,
            bytes: Gauge::read(&gauge.bytes),
            requests: Gauge::read(&gauge.requests),
            complete: missing.is_empty(),
            repaired,
            missing,
            next: NextRun {
                not_before: self.not_before.map(|date| date.to_string()),
                from: from.map(|date| date.to_string()),
            },
        };
        state.end_run(run, clock::now(), &json(&summary))?;
        Ok(summary)
    }

    fn state(&mut self) -> Result<&mut State, HarvestError> {
        Ok(&mut self.desk.as_mut().ok_or_else(|| lost("the state of the harvest is unavailable"))?.state)
    }

    /// Ends the run for a reason that is not the list's own.
    fn stop(&mut self, trouble: Trouble) -> Stop {
        let reason = match trouble {
            Trouble::Sink(SinkError::Limit(reached)) => reached.to_string(),
            Trouble::Sink(error) => return error.into(),
            Trouble::State(error) => return error.into(),
            Trouble::Postponed(wait) => match self.postpone(wait) {
                Ok(wait) => wait.reason,
                Err(error) => return error.into(),
            },
            trouble => trouble.to_string(),
        };
        self.gaps.push(Gap { what: "source".to_owned(), reason, ..Gap::default() });
        Stop::Run
    }

    fn postpone(&mut self, wait: Duration) -> Result<Wait, HarvestError> {
        let options = self.options.clone();
        let wait = remember_wait(self.state()?, &options, wait)?;
        self.not_before = Some(wait.until);
        Ok(wait)
    }

    /// How far back the next pass over a list reaches.
    fn overlap(&self) -> Duration {
        match self.options.overlap {
            Some(overlap) => overlap,
            None if self.identity.prompt => Duration::ZERO,
            None if self.talk.repairs.has(quirks::LOCAL_TIME) => 2 * OVERLAP,
            None => OVERLAP,
        }
    }
}

/// Restricts a client to public addresses and the host of the base URL, unless everything is allowed.
fn restricted(client: Client, options: &Options, habits: &Habits) -> Result<Client, HarvestError> {
    if options.allow_private {
        return Ok(client);
    }
    let was_public = habits.public_host.as_deref() == options.base_url.host_str();
    let restricted = client.restricted_to([Start { url: options.base_url.clone(), was_public }]);
    restricted
        .map_err(|error| HarvestError::NoRepository { url: host(&options.base_url).to_owned(), source: error.into() })
}

/// Where a harvest goes.
struct Target<'a> {
    sink: &'static str,
    format: &'a str,
    durable: bool,
    open: OpenSink,
}

/// Opens a sink for a source. One that was never opened before comes with its first mark.
pub(crate) type OpenSink = Box<dyn FnOnce(Opening) -> Result<(Box<dyn Sink>, Option<String>), SinkError> + Send>;

/// What is known only when the server has said who it is.
pub(crate) struct Opening {
    pub(crate) mark: Option<String>,
    pub(crate) distrusted: bool,
    pub(crate) source: Source,
    pub(crate) client: Client,
    pub(crate) gauge: Arc<Gauge>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) options: SinkOptions,
}

fn remember_wait(state: &mut State, options: &Options, wait: Duration) -> Result<Wait, HarvestError> {
    let until = clock::of(SystemTime::now() + wait);
    let reason = format!("the server requested a pause until {until} (Retry-After)");
    let wait = Wait { until, reason };
    state.roll_back()?;
    state.set_wait(host(&options.base_url), &wait)?;
    Ok(wait)
}

/// The summary of a run that must not ask anything.
fn postponed(state: &mut State, run: i64, contract: &Contract, wait: &Wait) -> Result<Summary, HarvestError> {
    let summary = Summary {
        source: contract.base_url.clone(),
        sink: contract.sink.clone(),
        format: contract.prefix.clone(),
        missing: vec![Gap { what: "source".to_owned(), reason: wait.reason.clone(), ..Gap::default() }],
        next: NextRun { not_before: Some(wait.until.to_string()), from: None },
        ..Summary::default()
    };
    state.end_run(run, clock::now(), &json(&summary))?;
    Ok(summary)
}

/// Remembers why a run failed, as far as that can be written down.
fn failed(state: &mut State, run: i64, options: &Options, error: HarvestError) -> HarvestError {
    let told = serde_json::json!({ "source": options.base_url.as_str(), "failed": with_causes(&error) });
    let noted = state.roll_back().and_then(|()| state.end_run(run, clock::now(), &told.to_string()));
    if let Err(also) = noted {
        tracing::warn!("failed to record the result of the run: {}", with_causes(&also));
    }
    error
}

/// Whether everything that was committed is there, although not all of it was synced. If the machine went down since,
/// nobody knows; then all of it is asked for again.
fn survived(state: &mut State) -> Result<bool, HarvestError> {
    // A number of the kernel's, made anew at every start. Elsewhere than on Linux there is none, and nothing to compare.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let survived = state.unsynced()?.is_none_or(|before| before == boot.trim());
    if !survived {
        tracing::warn!("the system stopped during the last harvest; comparing all records again");
        state.start_over()?;
    }
    state.set_unsynced(Some(boot.trim()))?;
    Ok(survived)
}

/// A defect of ours took the sink and the state with it.
fn lost(why: &str) -> SinkError {
    SinkError::Internal(why.to_owned())
}

fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

fn json(summary: &Summary) -> String {
    serde_json::to_string(summary).unwrap_or_default()
}
