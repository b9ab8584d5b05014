//! Sends the requests that the planner decides on: as many attempts as are allowed, one response.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use modoai_fetch::{Ask, FetchError, Fetched, HeaderName, HeaderValue, Next, Patience, Url};
use modoai_protocol::xml::Response;
use modoai_protocol::xml::reader::ReadError;
use modoai_protocol::{ErrorCode, Verb};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::trouble::{Trouble, bot_wall, is_challenge};
use super::{body, links, lost};
use crate::desk::Desk;
use crate::gauge::Gauge;
use crate::mend::{Mender, Remedies};
use crate::page::{Order, PageError, PageReport};
use crate::plan::{Attempts, Cost};
use crate::quirks;
use crate::window::read_date;
use crate::world::{Clock, Pieces, Transport};

/// Bytes of a web page that are searched for links.
const MAX_PAGE: usize = 256 * 1024;

/// Requests to one server.
pub(super) struct Requests<T, C> {
    pub(super) transport: T,
    pub(super) clock: C,
    pub(super) base_url: Url,
    pub(super) patience: Patience,
    pub(super) gauge: Arc<Gauge>,
    /// Repairs that responses of this server need, as the mender writes them.
    pub(super) remedies: String,
    /// Set when the user stops the run.
    pub(super) stop: Arc<AtomicBool>,
    pub(super) dice: fastrand::Rng,
    /// Sent with every request, to the host of the base URL only.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// The cost of the action in progress.
    pub(super) cost: Cost,
}

/// Attempts at a request after one failed every time.
const FEW_ATTEMPTS: u32 = 3;

/// The reason that an attempt failed, and the wait that the server requested.
type Failure = (Trouble, Option<Duration>);

impl<T: Transport, C: Clock> Requests<T, C> {
    /// Requests a small document.
    pub(super) async fn document(&mut self, url: &Url, verb: Verb, attempts: Attempts) -> Result<Response, Trouble> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let began = self.clock.now();
            let failure = match self.document_once(url, verb).await {
                Ok(response) => return Ok(response),
                Err((trouble, _)) if attempts == Attempts::Once => return Err(trouble),
                Err(failure) => failure,
            };
            self.wait(verb, attempt, attempts, began, failure).await?;
        }
    }

    async fn document_once(&mut self, url: &Url, verb: Verb) -> Result<Response, Failure> {
        let fetched = self.get(url).await?;
        self.read_document(fetched, verb).await
    }

    /// Reads a response that is not a list; of a list, one that is an error by its status.
    async fn read_document(&mut self, fetched: Fetched<T::Body>, verb: Verb) -> Result<Response, Failure> {
        let (status, charset) = (fetched.status, fetched.charset().map(str::to_owned));
        let label = fetched.content_type().map(str::to_owned);
        let (body, broken) = self.whole(fetched).await?;
        let response = match (self.read_whole(&body, charset.as_deref()), broken) {
            (Ok(response), None) => response,
            (Ok(response), Some(_)) => {
                self.cost.repairs.note(quirks::LENGTH_WRONG, verb.as_str());
                response
            }
            (Err(_), Some(broken)) if status < 400 => return Err((broken.into(), None)),
            (Err(error), _) => return Err((refused(status, &body, error), None)),
        };
        if status >= 400 && response.errors.is_empty() {
            return Err((Trouble::Status(status), None));
        }
        self.check_label(label);
        self.known_errors(status, &response.errors)?;
        Ok(response)
    }

    /// Requests a page of records, and stores them with `desk`.
    pub(super) async fn page(
        &mut self,
        desk: &mut Option<Box<Desk>>,
        order: &Order,
        url: &Url,
        attempts: Attempts,
    ) -> Result<PageReport, Trouble> {
        let remedies_before = self.remedies.clone();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let began = self.clock.now();
            let failure = match self.page_once(desk, order, url).await {
                Ok(report) => return Ok(report),
                Err(failure) => failure,
            };
            if let Err(trouble) = self.wait(order.verb, attempt, attempts, began, failure).await {
                // A repair that did not help here would slow down the pages that need none.
                self.remedies = remedies_before;
                return Err(trouble);
            }
        }
    }

    async fn page_once(
        &mut self,
        desk: &mut Option<Box<Desk>>,
        order: &Order,
        url: &Url,
    ) -> Result<PageReport, Failure> {
        let mut unreadable_at_first: Option<Trouble> = None;
        loop {
            let fetched = self.get(url).await?;
            let (status, charset) = (fetched.status, fetched.charset().map(str::to_owned));
            let label = fetched.content_type().map(str::to_owned);
            if !(200..300).contains(&status) {
                let response = self.read_document(fetched, order.verb).await?;
                if response.errors.is_empty() {
                    return Err((Trouble::Status(status), None));
                }
                let response_date = read_date(&response.response_date);
                return Ok(PageReport { response_date, errors: response.errors, ..PageReport::default() });
            }
            let remedies = Remedies::from_text(&self.remedies);
            let mender = (!remedies.is_empty()).then(|| Mender::new(remedies, charset.as_deref()));
            let error = match self.stream(desk, order, fetched, mender).await {
                Ok(report) => {
                    self.check_label(label);
                    self.known_errors(status, &report.errors)?;
                    // If nothing had to be repaired after all, the first response was an accident.
                    if let Some(trouble) = unreadable_at_first.filter(|_| !report.mended) {
                        self.cost.repairs.note(trouble.quirk(), &trouble.to_string());
                    }
                    return Ok(report);
                }
                Err(error) => error,
            };
            // A page that can be repaired is requested again immediately, with the repair enabled.
            let PageError::Unreadable(unreadable) = &error else { return Err((error.into(), None)) };
            match Remedies::for_fault(&unreadable.fault, remedies) {
                Some(more) => self.remedies = more.to_text(),
                None => return Err((error.into(), None)),
            }
            unreadable_at_first.get_or_insert_with(|| error.into());
        }
    }

    /// Reads a response into `desk` as it arrives.
    async fn stream(
        &mut self,
        desk: &mut Option<Box<Desk>>,
        order: &Order,
        mut fetched: Fetched<T::Body>,
        mender: Option<Mender>,
    ) -> Result<PageReport, PageError> {
        let own = desk.take().ok_or_else(|| lost("the state of the harvest is in use"))?;
        let order = order.clone();
        if let Some((pieces, broken)) = fetched.body.in_memory() {
            let batches = std::iter::once(Ok(pieces)).chain(broken.map(Err));
            let (own, result) = read(own, &order, mender, batches);
            *desk = Some(own);
            return result;
        }
        let (sender, mut receiver) = mpsc::channel(1);
        let reading = tokio::task::spawn_blocking(move || {
            read(own, &order, mender, std::iter::from_fn(|| receiver.blocking_recv()))
        });
        // A separate task runs where the connection runs, and need not be woken up by another thread for every piece.
        // The set ends it if this future is dropped.
        let mut receiving = JoinSet::new();
        receiving.spawn(body::receive(fetched.body, sender));
        let received = tokio::select! {
            received = receiving.join_next() => received,
            () = stopped(&self.stop) => None,
        };
        drop(receiving);
        let (own, result) = reading.await.map_err(|error| lost(&error.to_string()))?;
        *desk = Some(own);
        let body = received.ok_or(PageError::Interrupted)?.map_err(|error| lost(&error.to_string()))?;
        Gauge::add(&self.gauge.bytes, body.wire_bytes());
        for surprise in body.surprises() {
            self.cost.repairs.note(quirks::CODING_MISLABELLED, &format!("{surprise:?}"));
        }
        result
    }

    /// Returns the whole body of a response that is not a list, and the error that truncated it; or the failure.
    async fn whole(&self, fetched: Fetched<T::Body>) -> Result<(Vec<u8>, Option<FetchError>), Failure> {
        tokio::select! {
            body = body::whole(fetched.body, &fetched.url) => body.map_err(|error| (error.into(), None)),
            () = stopped(&self.stop) => Err((Trouble::Interrupted, None)),
        }
    }

    /// A request with the headers that the user wants to send. They are not sent to other hosts.
    fn ask_for(&self, url: Url) -> Ask {
        let headers = self.headers.iter().cloned();
        headers.fold(Ask::new(url), |ask, (name, value)| ask.header(name, value))
    }

    /// Links to repositories on the page that is at the base URL, if a page is there.
    pub(super) async fn links(&mut self) -> Vec<Url> {
        let Ok(mut fetched) = self.transport.get(self.ask_for(self.base_url.clone())).await else { return Vec::new() };
        let mut page = Vec::new();
        while page.len() < MAX_PAGE {
            match fetched.body.chunk().await {
                Ok(Some(piece)) => page.extend_from_slice(&piece),
                Ok(None) => break,
                Err(_) => return Vec::new(),
            }
        }
        links::oai_links(&String::from_utf8_lossy(&page), &fetched.url)
    }

    /// Sends one request. A response that cannot be OAI-PMH, by its status or headers alone, is an error.
    async fn get(&mut self, url: &Url) -> Result<Fetched<T::Body>, Failure> {
        if self.stop.load(Ordering::Relaxed) {
            return Err((Trouble::Interrupted, None));
        }
        tracing::debug!(%url, "sending request");
        let asked = self.clock.now();
        let fetched = tokio::select! {
            fetched = self.transport.get(self.ask_for(url.clone())) => fetched.map_err(|error| match error {
                FetchError::Held { until, .. } => {
                    (Trouble::Postponed(until.duration_since(asked).unwrap_or_default()), None)
                }
                error => (error.into(), None),
            })?,
            () = stopped(&self.stop) => return Err((Trouble::Interrupted, None)),
        };
        tracing::debug!(status = fetched.status, after = ?self.clock.now().duration_since(asked).unwrap_or_default(), "received response");
        if let Some(hop) = fetched.hops.first() {
            self.cost.repairs.note(
                quirks::BASE_URL_MOVED,
                &format!("{} redirects to {}", without_query(&hop.from), without_query(&fetched.url)),
            );
        }
        if let Some(sign) = bot_wall(&fetched) {
            return Err((Trouble::BotWall(sign), None));
        }
        if matches!(fetched.status, 429 | 503) {
            let (status, wait) = (fetched.status, fetched.retry_after());
            // If a server requests a pause, the same data must not be requested in a hundred parts; after other
            // failures it may.
            let asks = status == 429 || wait.is_some();
            return Err((if asks { Trouble::Busy(status) } else { Trouble::Status(status) }, wait));
        }
        Ok(fetched)
    }

    /// Notes a response with a Content-Type that is not XML.
    fn check_label(&mut self, label: Option<String>) {
        if let Some(label) = label.filter(|label| !label.contains("xml")) {
            self.cost.repairs.note(quirks::CONTENT_TYPE, &label);
        }
    }

    /// Waits before the next attempt, or returns the reason why there is none. Failed attempts are counted, except
    /// where the server requested a pause.
    async fn wait(
        &mut self,
        verb: Verb,
        attempt: u32,
        attempts: Attempts,
        began: SystemTime,
        (trouble, asked): Failure,
    ) -> Result<(), Trouble> {
        if !matches!(trouble, Trouble::Busy(_) | Trouble::Postponed(_) | Trouble::Interrupted) {
            self.cost.failed.push(self.clock.now().duration_since(began).unwrap_or_default());
        }
        // A name that fails to resolve for the first request is misspelt; one that fails later may resolve again.
        let is_misspelt = matches!(&trouble, Trouble::Unreachable(error) if error.is_no_such_host());
        if !trouble.is_transient() || is_misspelt && Gauge::read(&self.gauge.requests) == 0 {
            return Err(trouble);
        }
        if attempts == Attempts::UntilPage && matches!(trouble, Trouble::WebPage(_)) {
            self.cost.repairs.note(trouble.quirk(), &trouble.to_string());
            return Err(trouble);
        }
        let is_busy = matches!(trouble, Trouble::Busy(_));
        let most = if attempts == Attempts::Few && !is_busy { FEW_ATTEMPTS } else { u32::MAX };
        let patience = Patience { attempts: self.patience.attempts.min(most), ..self.patience };
        match patience.next(attempt, asked, &mut self.dice) {
            Next::GiveUp => Err(trouble),
            Next::Postpone(wait) => Err(Trouble::Postponed(wait)),
            Next::Wait(wait) => {
                self.cost.repairs.note(trouble.quirk(), &trouble.to_string());
                // The client reports a pause that the server requested.
                if asked.is_none() {
                    tracing::info!(
                        "{verb}: {trouble}; retrying in {:.1} s (attempt {} of {})",
                        wait.as_secs_f64(),
                        attempt + 1,
                        patience.attempts
                    );
                }
                self.gauge.say(format!("waiting {} s: {trouble}", wait.as_secs()));
                tokio::select! {
                    () = self.clock.sleep(wait) => Ok(()),
                    () = stopped(&self.stop) => Err(Trouble::Interrupted),
                }
            }
        }
    }

    /// Reads a whole document, and repairs it if necessary.
    fn read_whole(&mut self, body: &[u8], charset: Option<&str>) -> Result<Response, ReadError> {
        let mut remedies = Remedies::from_text(&self.remedies);
        loop {
            let mut mender = Mender::new(remedies, charset);
            let mut mended = Vec::with_capacity(body.len());
            if !remedies.is_empty() {
                mender.push(body, &mut |bytes| mended.extend_from_slice(bytes));
                mender.finish(&mut |bytes| mended.extend_from_slice(bytes));
            }
            let bytes = if remedies.is_empty() { body } else { &mended };
            let is_lenient = mender.reads_any_namespace();
            let read = if is_lenient { Response::read_leniently(bytes) } else { Response::read(bytes) };
            let error = match read {
                Ok(response) => {
                    if is_lenient && Response::read(bytes).is_err() {
                        self.cost.repairs.note(quirks::NAMESPACE, "");
                    }
                    for (quirk, count) in mender.repairs() {
                        self.cost.repairs.add(quirk, count, "");
                    }
                    return Ok(response);
                }
                Err(error) => error,
            };
            remedies = Remedies::for_fault(&error.fault, remedies).ok_or(error)?;
        }
    }

    /// Accepts protocol errors that OAI-PMH defines as responses; others are failures.
    fn known_errors(&mut self, status: u16, errors: &[(String, String)]) -> Result<(), Failure> {
        let Some((code, message)) = errors.first() else { return Ok(()) };
        if ErrorCode::from_name(code).is_none() {
            let trouble = Trouble::Unknown { code: code.clone(), message: message.clone() };
            return Err((trouble, None));
        }
        if status >= 400 {
            self.cost.repairs.note(quirks::ERROR_WITH_STATUS, &format!("{code} with status {status}"));
        }
        Ok(())
    }
}

/// Reads a page, and discards it if that fails.
fn read(
    mut desk: Box<Desk>,
    order: &Order,
    mender: Option<Mender>,
    batches: impl Iterator<Item = body::Batch>,
) -> (Box<Desk>, Result<PageReport, PageError>) {
    let result = body::read(&mut desk, order, mender, batches);
    let undone = if result.is_err() { desk.roll_back() } else { Ok(()) };
    (desk, undone.and(result))
}

/// Returns when the stop flag is set.
async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Classifies a body that is not an OAI-PMH response, by its status.
fn refused(status: u16, body: &[u8], error: ReadError) -> Trouble {
    if is_challenge(body) {
        return Trouble::BotWall(format!("a challenge with status {status}"));
    }
    if status >= 400 { Trouble::Status(status) } else { PageError::Unreadable(error).into() }
}

fn without_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}
