//! Executes what the planner decides: requests, pages into state and sink, changes of the state; and reports the results.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use modoai_fetch::Url;
use modoai_protocol::{Datestamp, Verb};

use super::requests::Requests;
use super::storage;
use super::{HarvestError, OpenSink, Opening, Options, Trouble, lost};
use crate::clock;
use crate::desk::Desk;
use crate::limits::Budget;
use crate::page::{Order, PageReport, Purpose};
use crate::plan::{Action, Attempts, End, Op, PageRequest, Planner, Report};
use crate::sink::{Origin, SinkError, Source};
use crate::state::{Identity, State};
use crate::world::{Clock, Transport};

/// A run in progress.
pub(super) struct Driver<T, C> {
    pub(super) options: Options,
    pub(super) planner: Planner,
    pub(super) requests: Requests<T, C>,
    pub(super) budget: Arc<Budget>,
    /// The state, as long as the sink is not open.
    pub(super) closed: Option<Closed<T>>,
    /// State and sink, except while another thread uses them.
    pub(super) desk: Option<Box<Desk>>,
}

/// The state, and how the sink is opened.
pub(super) struct Closed<T> {
    pub(super) state: State,
    pub(super) is_durable: bool,
    pub(super) open: Option<OpenSink<T>>,
}

impl<T: Transport, C: Clock> Driver<T, C> {
    pub(super) fn now(&self) -> Datestamp {
        clock::of(self.requests.clock.now())
    }

    /// Runs until nothing is left to do. Returns the reason if the run ends earlier.
    pub(super) async fn drive(&mut self) -> Result<Option<End>, HarvestError> {
        loop {
            let report = match self.planner.next(self.now()) {
                Action::Document { url, verb, attempts } => {
                    if verb == Verb::Identify && attempts != Attempts::Once {
                        self.requests.gauge.say("requesting Identify");
                    }
                    Report::Document(Arc::new(self.requests.document(&url, verb, attempts).await))
                }
                Action::Page { url, request, attempts } => {
                    Report::Page(Arc::new(self.page(&url, *request, attempts).await))
                }
                Action::Links => Report::Links(self.requests.links().await),
                Action::Store(Op::Open(identity)) => {
                    self.open(*identity).await?;
                    Report::Done
                }
                Action::Store(op) => self.store(op).await?,
                Action::End(end) => return Ok(end),
            };
            self.planner.take(report, std::mem::take(&mut self.requests.cost));
        }
    }

    async fn page(&mut self, url: &Url, request: PageRequest, attempts: Attempts) -> Result<PageReport, Trouble> {
        let PageRequest { question, list, pass, window, purpose } = request;
        let gauge = &self.requests.gauge;
        match purpose {
            Purpose::Keep | Purpose::Headers => {
                gauge.expected.store(window.progress.size.unwrap_or_default(), Ordering::Relaxed);
                gauge.received.store(window.progress.delivered, Ordering::Relaxed);
                gauge.say(format!("listing {}", window.window));
            }
            Purpose::Compare | Purpose::Again => gauge.say(format!("comparing identifiers of {}", window.window)),
            Purpose::One => gauge.say(format!("fetching {}", question.identifier())),
        }
        let facts = self.planner.facts();
        let order = Order {
            verb: question.verb(),
            origin: self.origin(),
            granularity: (!facts.identity.granularity.is_empty()).then_some(facts.granularity),
            list,
            pass,
            asked: self.now(),
            window,
            purpose,
        };
        let report = self.requests.page(&mut self.desk, &order, url, attempts).await?;
        // Error responses have a responseDate, too, and an empty list is an error response.
        if let (false, true, Some(list), Some(desk)) =
            (report.errors.is_empty(), purpose.makes_progress(), list, self.desk.as_mut())
        {
            desk.state.began(list, report.response_date.unwrap_or(order.asked).min(order.asked))?;
        }
        Ok(report)
    }

    fn origin(&self) -> Origin {
        let facts = self.planner.facts();
        Origin {
            base_url: facts.contract.base_url.clone(),
            prefix: facts.contract.prefix.clone(),
            schema: facts.identity.schema.clone(),
            namespace: facts.identity.namespace.clone(),
            harvested: self.now(),
        }
    }

    /// Reads or changes stored data. Long operations run on a thread for blocking work.
    async fn store(&mut self, op: Op) -> Result<Report, HarvestError> {
        let mut desk = self.desk.take().ok_or_else(|| lost("the state of the harvest is in use"))?;
        let (origin, stop) = (self.origin(), Arc::clone(&self.requests.stop));
        let is_long = matches!(op, Op::Inspect | Op::Delete { .. } | Op::CompletePass { .. });
        let perform = move || {
            let performed = storage::perform(&mut desk, op, &origin, &stop);
            (desk, performed)
        };
        let (desk, performed) = if is_long { blocking(perform).await? } else { perform() };
        self.desk = Some(desk);
        let (report, repairs) = performed?;
        self.requests.cost.repairs.merge(repairs);
        Ok(report)
    }

    /// Opens the sink for the source that was identified.
    async fn open(&mut self, identity: Identity) -> Result<(), HarvestError> {
        let Some(Closed { state, is_durable, open }) = &mut self.closed else {
            return Err(lost("the sink is already open").into());
        };
        let contract = &self.planner.facts().contract;
        state.agree(contract, self.options.moved)?;
        state.set_identity(&identity)?;
        state.set_slug(&self.options.slug)?;
        let slug = self.options.slug.clone();
        let source = Source { base_url: contract.base_url.clone(), name: identity.name, slug };
        // An earlier run may have left unsynced data; and a new sink must be finished even if it receives no records.
        let unsynced = state.unsynced()?.is_some() || state.mark()?.is_none();
        let opening = Opening {
            distrusted: !*is_durable && !storage::survived(state)?,
            mark: state.mark()?,
            source,
            transport: self.requests.transport.clone(),
            gauge: Arc::clone(&self.requests.gauge),
            budget: Arc::clone(&self.budget),
            options: self.options.sink.clone(),
        };
        let open = open.take().ok_or_else(|| lost("the sink is already open"))?;
        let (sink, begun) = blocking(move || open(opening)).await??;
        if let Some(mark) = begun {
            state.set_mark(&mark)?;
        }
        if let Some(catalogue) = &self.options.sink.catalogue {
            state.set_catalogue(catalogue)?;
        }
        let starts_over = sink.must_start_over();
        if let Some(reason) = &starts_over {
            tracing::warn!("{reason}; starting a full harvest");
            state.start_over()?;
        }
        state.clear_errors()?;
        let unsynced = unsynced || starts_over.is_some();
        let (gauge, budget) = (Arc::clone(&self.requests.gauge), Arc::clone(&self.budget));
        if let Some(Closed { state, .. }) = self.closed.take() {
            self.desk = Some(Box::new(Desk { state, sink, gauge, budget, unsynced }));
        }
        Ok(())
    }
}

/// Runs what may block on a thread for that.
async fn blocking<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Result<T, SinkError> {
    tokio::task::spawn_blocking(run).await.map_err(|panic| lost(&panic.to_string()))
}
