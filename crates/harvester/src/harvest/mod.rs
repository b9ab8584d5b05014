//! The harvest of one repository, into a folder or into a sink of the caller's.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | what a caller configures, and the run from its beginning to its summary |
//! | `options`, `trouble` | the options of a harvest, and the errors of a request or a run |
//! | `driver` | executes what the planner (`plan`) decides |
//! | `requests`, `body`, `links` | one request, as many attempts as are allowed; its body; links on a web page |
//! | `storage` | operations of the planner on state and sink |
//! | `result` | the end of a run: its stored results, and the summary |
//!
//! The guarantees: a page is stored only with all of its records and the token of the next; what is not proven complete is
//! requested again by the next run; and what could not be fetched is reported.

mod body;
mod driver;
mod links;
mod options;
mod requests;
mod result;
mod storage;
mod trouble;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use modoai_fetch::{Client, Start, Url};
use modoai_repository::catalogue::Location;

use crate::clock;
use crate::gauge::Gauge;
use crate::habits::Habits;
use crate::limits::Budget;
use crate::plan::{Cost, Planner};
use crate::sink::{Place, Sink, SinkError, SinkKind, SinkOptions, Source};
use crate::state::{Contract, State};
use crate::summary::Summary;
use crate::world::{Clock, SystemClock, Transport};
use driver::{Closed, Driver};
pub use options::{HarvestError, Options, distinct_slug, slug};
use requests::Requests;
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
/// let records = sink::named("records").expect("a built-in sink");
/// let summary = Harvest::new(Client::new(Manners::default())?, options).into_folder("example.org".as_ref(), records).await?;
/// assert!(summary.complete, "{:?}", summary.missing);
/// # Ok(())
/// # }
/// ```
pub struct Harvest<T = Client, C = SystemClock> {
    transport: T,
    clock: C,
    options: Options,
    gauge: Arc<Gauge>,
    stop: Arc<AtomicBool>,
    budget: Option<Arc<Budget>>,
}

impl Harvest {
    /// Creates a harvest that no other thread observes or stops.
    pub fn new(client: Client, options: Options) -> Self {
        Self::in_world(client, SystemClock, options)
    }

    /// Harvests into a folder, through one of the sinks.
    pub async fn into_folder(self, dir: &Path, kind: &'static SinkKind) -> Result<Summary, HarvestError> {
        let state = State::open(dir)?;
        let dir = dir.to_path_buf();
        let open = Box::new(move |opening: Opening<Client>| {
            let Opening { mark, distrusted, source, transport, gauge, budget, options } = opening;
            // While a page is read its host is in use; requests for the resources of its records must not wait for
            // that.
            let client = transport.beside();
            let (dir, source, options) = (&dir, &source, &options);
            let place = Place { dir, mark: mark.as_deref(), distrusted, source, client, gauge, budget, options };
            let mut sink = (kind.open)(place)?;
            // From here on the stored data belongs to this harvest, even if no page is ever received completely.
            let begun = if mark.is_none() || sink.has_converted() { Some(sink.commit()?) } else { None };
            Ok((sink, begun))
        });
        self.run(state, Target { sink: kind.name, format: kind.format, durable: kind.durable, open }).await
    }
}

impl<T: Transport, C: Clock> Harvest<T, C> {
    /// Creates a harvest with a network and a clock of the caller.
    pub fn in_world(transport: T, clock: C, options: Options) -> Self {
        Self { transport, clock, options, gauge: Arc::default(), stop: Arc::default(), budget: None }
    }

    /// The same, reporting its progress to `gauge`.
    pub fn watched_by(self, gauge: Arc<Gauge>) -> Self {
        Self { gauge, ..self }
    }

    /// The same, ending as soon as possible when the flag is set: what was committed is kept, and the next run
    /// continues.
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// The same within a budget that several harvests share.
    pub fn within(self, budget: Arc<Budget>) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// Harvests into a sink of the caller. `name` identifies it, and `format` is requested if the options select none.
    /// The state is stored in `dir`, and in memory if there is none.
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

    /// The same with a state and a sink that outlive the run: the sink is opened with the mark of its last commit, and has
    /// to discard what was written after it.
    pub async fn into_kept(
        self,
        state: State,
        name: &'static str,
        format: &str,
        open: impl FnOnce(Option<&str>) -> Box<dyn Sink> + Send + 'static,
    ) -> Result<Summary, HarvestError> {
        let open = Box::new(move |opening: Opening<T>| Ok((open(opening.mark.as_deref()), None)));
        self.run(state, Target { sink: name, format, durable: true, open }).await
    }

    async fn run(self, mut state: State, target: Target<'_, T>) -> Result<Summary, HarvestError> {
        let Self { transport, clock, mut options, gauge, stop, budget } = self;
        let now = clock::of(clock.now());
        let run = state.begin_run(now)?;
        if options.sink.catalogue.is_none() {
            options.sink.catalogue = state.catalogue()?;
        }
        let budget = budget.unwrap_or_else(|| {
            let mut places = vec![state.dir().to_path_buf()];
            places.extend(options.sink.catalogue.as_ref().map(Location::directory));
            Arc::new(Budget::new(options.limits, places, 0))
        });
        if let Some(slug) = state.slug()? {
            options.slug = slug;
        }
        let known = state.contract()?;
        let prefix = options.format.clone().or(known.as_ref().map(|known| known.prefix.clone()));
        let prefix = prefix.unwrap_or_else(|| target.format.to_owned());
        let contract = Contract { base_url: options.base_url.to_string(), sink: target.sink.to_owned(), prefix };
        if let Some(wait) = state.wait(host(&options.base_url), now)? {
            return result::postponed(&mut state, run, &contract, &gauge, &wait, now);
        }
        let identity = if known.as_ref() == Some(&contract) { state.identity()? } else { None };
        let habits = state.habits()?;
        let requests = Requests {
            transport: restricted(transport, &options, &habits)?.counting(Arc::clone(&gauge.requests)),
            clock,
            base_url: options.base_url.clone(),
            patience: options.patience,
            gauge,
            remedies: habits.remedies.clone(),
            stop,
            dice: fastrand::Rng::new(),
            headers: options.headers.clone(),
            cost: Cost::default(),
        };
        let planner = Planner::new(options.clone(), contract, identity, habits);
        let closed = Some(Closed { state, is_durable: target.durable, open: Some(target.open) });
        let mut driver = Driver { options, planner, requests, budget, closed, desk: None };
        let end = driver.drive().await;
        driver.close(run, end)
    }
}

/// Restricts requests to public addresses and the host of the base URL, unless everything is allowed.
fn restricted<T: Transport>(transport: T, options: &Options, habits: &Habits) -> Result<T, HarvestError> {
    if options.allow_private {
        return Ok(transport);
    }
    let was_public = habits.public_host.as_deref() == options.base_url.host_str();
    let restricted = transport.restricted_to(Start { url: options.base_url.clone(), was_public });
    restricted
        .map_err(|error| HarvestError::NoRepository { url: host(&options.base_url).to_owned(), source: error.into() })
}

/// The sink of a harvest.
struct Target<'a, T> {
    sink: &'static str,
    format: &'a str,
    durable: bool,
    open: OpenSink<T>,
}

/// Opens a sink for a source. One that was never opened before, or has converted its data, comes with its new mark.
type OpenSink<T> = Box<dyn FnOnce(Opening<T>) -> Result<(Box<dyn Sink>, Option<String>), SinkError> + Send>;

/// The arguments for opening a sink, which are known only after the server has identified itself.
struct Opening<T> {
    mark: Option<String>,
    distrusted: bool,
    source: Source,
    transport: T,
    gauge: Arc<Gauge>,
    budget: Arc<Budget>,
    options: SinkOptions,
}

/// An internal error: the sink and the state were lost.
fn lost(why: &str) -> SinkError {
    SinkError::Internal(why.to_owned())
}

fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}
