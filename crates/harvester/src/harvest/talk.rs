//! Asking a server: one question, as many attempts as patience allows, one answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use modoai_fetch::{Ask, Body, Client, FetchError, Fetched, HeaderName, HeaderValue, Next, Patience, Url};
use modoai_protocol::ErrorCode;
use modoai_protocol::xml::Response;
use modoai_protocol::xml::reader::ReadError;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::lost;
use super::trouble::{Trouble, bot_wall, is_challenge};
use crate::ask::Question;
use crate::desk::Desk;
use crate::ending::Yield;
use crate::gauge::Gauge;
use crate::habits::Habits;
use crate::mend::{Mender, Remedies};
use crate::page::{Order, PageError, PageReader, PageReport};
use crate::quirks;
use crate::repairs::Repairs;
use crate::window::{Granularity, read_date};

/// Answers that are not lists are read whole; none is that long.
const LONGEST_DESCRIPTION: usize = 8 << 20;

/// Of a web page, so much is searched for links.
const LONGEST_PAGE: usize = 256 * 1024;

/// So many bytes are gathered for the reader while it is busy. Each time it is handed something, two threads may have to
/// be woken up; with less, that would be a good part of the work.
const BATCH: usize = 512 * 1024;

/// A conversation with one server.
pub(super) struct Talk {
    pub(super) client: Client,
    pub(super) base_url: Url,
    pub(super) granularity: Granularity,
    pub(super) habits: Habits,
    pub(super) patience: Patience,
    pub(super) gauge: Arc<Gauge>,
    pub(super) repairs: Repairs,
    /// Set when somebody says stop.
    pub(super) stop: Arc<AtomicBool>,
    pub(super) dice: fastrand::Rng,
    /// What is sent with every request, to the host of the base URL only.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// What the requests of this run brought, and what they cost.
    pub(super) effort: Yield,
    /// Whether a question was given up: then the next ones are asked less often, until an answer brings something.
    pub(super) given_up: bool,
    /// True while a web page is reported immediately instead of requesting the same again.
    pub(super) returns_pages: bool,
}

/// Attempts at a question after one was given up.
const FEWER_ATTEMPTS: u32 = 3;

impl Talk {
    /// Asks something that is answered in one small document.
    pub(super) async fn describe(&mut self, question: &Question) -> Result<Response, Trouble> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let asked = Instant::now();
            let (trouble, wait) = match self.describe_once(question).await {
                Ok(response) => return Ok(response),
                Err(failed) => failed,
            };
            self.failed(&trouble, asked);
            self.wait(question, attempt, trouble, wait).await?;
        }
    }

    async fn describe_once(&mut self, question: &Question) -> Result<Response, (Trouble, Option<Duration>)> {
        let fetched = self.get(question).await?;
        let (status, charset) = (fetched.status, fetched.charset().map(str::to_owned));
        let label = fetched.content_type().map(str::to_owned);
        let (body, broken) = self.whole(fetched).await?;
        let response = match (self.read_whole(&body, charset.as_deref()), broken) {
            (Ok(response), None) => response,
            (Ok(response), Some(_)) => {
                self.repairs.note(quirks::LENGTH_WRONG, question.verb().as_str());
                response
            }
            (Err(_), Some(broken)) => return Err((broken.into(), None)),
            (Err(error), None) => return Err((refused(status, &body, error), None)),
        };
        if status >= 400 && response.errors.is_empty() {
            return Err((Trouble::Status(status), None));
        }
        self.look_at_label(label);
        self.known_errors(status, &response.errors)?;
        Ok(response)
    }

    /// Asks for a page of records, which the desk keeps.
    pub(super) async fn page(
        &mut self,
        desk: &mut Option<Box<Desk>>,
        order: &Order,
        question: &Question,
    ) -> Result<PageReport, Trouble> {
        let remedies_before = self.habits.remedies.clone();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let asked = Instant::now();
            let (trouble, wait) = match self.page_once(desk, order, question).await {
                Ok(mut report) => {
                    self.given_up &= !report.is_useful(order.purpose);
                    self.repairs.merge(std::mem::take(&mut report.repairs));
                    return Ok(report);
                }
                Err(failed) => failed,
            };
            self.failed(&trouble, asked);
            if let Err(trouble) = self.wait(question, attempt, trouble, wait).await {
                // What did not help here shall not slow down the pages that need no help.
                self.habits.remedies = remedies_before;
                return Err(trouble);
            }
        }
    }

    async fn page_once(
        &mut self,
        desk: &mut Option<Box<Desk>>,
        order: &Order,
        question: &Question,
    ) -> Result<PageReport, (Trouble, Option<Duration>)> {
        let mut unreadable_at_first: Option<Trouble> = None;
        loop {
            let fetched = self.get(question).await?;
            let (status, charset) = (fetched.status, fetched.charset().map(str::to_owned));
            let label = fetched.content_type().map(str::to_owned);
            if !(200..300).contains(&status) {
                let (body, _) = self.whole(fetched).await?;
                let read = self.read_whole(&body, charset.as_deref());
                let response = read.map_err(|error| (refused(status, &body, error), None))?;
                if response.errors.is_empty() {
                    return Err((Trouble::Status(status), None));
                }
                self.look_at_label(label);
                self.known_errors(status, &response.errors)?;
                let response_date = read_date(&response.response_date);
                return Ok(PageReport { response_date, errors: response.errors, ..PageReport::default() });
            }
            let remedies = Remedies::from_text(&self.habits.remedies);
            let mender = (!remedies.is_empty()).then(|| Mender::new(remedies, charset.as_deref()));
            let error = match self.stream(desk, order, fetched, mender).await {
                Ok(report) => {
                    self.look_at_label(label);
                    self.known_errors(status, &report.errors)?;
                    // If nothing had to be mended after all, the first answer was an accident.
                    if let Some(trouble) = unreadable_at_first.filter(|_| !report.mended) {
                        self.repairs.note(trouble.quirk(), &trouble.to_string());
                    }
                    return Ok(report);
                }
                Err(error) => error,
            };
            // A page that can be mended is asked for again at once, with the remedy in place.
            let PageError::Unreadable(unreadable) = &error else { return Err((error.into(), None)) };
            match Remedies::for_fault(&unreadable.fault, remedies) {
                Some(more) => self.habits.remedies = more.to_text(),
                None => return Err((error.into(), None)),
            }
            unreadable_at_first.get_or_insert_with(|| error.into());
        }
    }

    /// Lets the desk read an answer as it arrives.
    async fn stream(
        &mut self,
        desk: &mut Option<Box<Desk>>,
        order: &Order,
        fetched: Fetched,
        mender: Option<Mender>,
    ) -> Result<PageReport, PageError> {
        let mut own = desk.take().ok_or_else(|| lost("the state of the harvest is in use"))?;
        let (sender, receiver) = mpsc::channel(1);
        let order = order.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let result = read(&mut own, &order, mender, receiver);
            let undone = if result.is_err() { own.roll_back() } else { Ok(()) };
            (own, undone.and(result))
        });
        // A task of its own runs where the connection runs, and need not be woken up by another thread for every piece.
        // The set ends it should this one be dropped.
        let mut receiving = JoinSet::new();
        receiving.spawn(receive(fetched.body, sender));
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
            self.repairs.note(quirks::CODING_MISLABELLED, &format!("{surprise:?}"));
        }
        result
    }

    /// The whole body of an answer that is not a list; or what came of it, and how it broke off.
    async fn whole(&self, fetched: Fetched) -> Result<(Vec<u8>, Option<FetchError>), (Trouble, Option<Duration>)> {
        tokio::select! {
            body = received(fetched.body) => body.map_err(|error| (error.into(), None)),
            () = stopped(&self.stop) => Err((Trouble::Interrupted, None)),
        }
    }

    /// Asks something once, to see whether that works.
    pub(super) async fn probe(&mut self, question: &Question) -> Result<Response, Trouble> {
        self.describe_once(question).await.map_err(|(trouble, _)| trouble)
    }

    /// A request with the headers that the user wants to send. They are not sent to other hosts.
    fn ask_for(&self, url: Url) -> Ask {
        let headers = self.headers.iter().cloned();
        headers.fold(Ask::new(url), |ask, (name, value)| ask.header(name, value))
    }

    /// Links to repositories on the page that is at the base URL, if a page is there.
    pub(super) async fn links(&mut self) -> Vec<Url> {
        let Ok(fetched) = self.client.get(self.ask_for(self.base_url.clone())).await else { return Vec::new() };
        let base = fetched.url.clone();
        let Ok(page) = fetched.body.read_to(LONGEST_PAGE).await else { return Vec::new() };
        oai_links(&String::from_utf8_lossy(&page.bytes), &base)
    }

    /// Sends one request. What is no answer by its status or headers alone is told apart here.
    async fn get(&mut self, question: &Question) -> Result<Fetched, (Trouble, Option<Duration>)> {
        if self.stop.load(Ordering::Relaxed) {
            return Err((Trouble::Interrupted, None));
        }
        let url = question.url(&self.base_url, self.granularity, &self.habits);
        tracing::debug!(%url, "asking");
        let asked = Instant::now();
        let fetched = tokio::select! {
            fetched = self.client.get(self.ask_for(url.clone())) => fetched.map_err(|error| (error.into(), None))?,
            () = stopped(&self.stop) => return Err((Trouble::Interrupted, None)),
        };
        Gauge::add(&self.gauge.requests, 1);
        tracing::debug!(status = fetched.status, after = ?asked.elapsed(), "answered");
        if let Some(hop) = fetched.hops.first() {
            self.repairs.note(
                quirks::BASE_URL_MOVED,
                &format!("{} redirects to {}", without_query(&hop.from), without_query(&fetched.url)),
            );
        }
        if let Some(sign) = bot_wall(&fetched) {
            return Err((Trouble::BotWall(sign), None));
        }
        if matches!(fetched.status, 429 | 503) {
            let (status, wait) = (fetched.status, fetched.retry_after());
            // Who asks for patience must not be asked for the same in a hundred parts; who merely fails may be.
            let asks = status == 429 || wait.is_some();
            return Err((if asks { Trouble::Busy(status) } else { Trouble::Status(status) }, wait));
        }
        Ok(fetched)
    }

    /// Tells of an answer that is one, whatever it is labelled.
    fn look_at_label(&mut self, label: Option<String>) {
        if let Some(label) = label.filter(|label| !label.contains("xml")) {
            self.repairs.note(quirks::CONTENT_TYPE, &label);
        }
    }

    /// Counts a request that failed. Who asks for patience gets it.
    fn failed(&mut self, trouble: &Trouble, asked: Instant) {
        if !matches!(trouble, Trouble::Busy(_) | Trouble::Postponed(_) | Trouble::Interrupted) {
            self.effort.spend(asked.elapsed());
        }
    }

    /// Waits before the next attempt, or passes on why there will be none.
    async fn wait(
        &mut self,
        question: &Question,
        attempt: u32,
        trouble: Trouble,
        asked: Option<Duration>,
    ) -> Result<(), Trouble> {
        // A name that does not exist at first is misspelt; one that vanishes meanwhile may come back.
        let is_misspelt = matches!(&trouble, Trouble::Unreachable(error) if error.is_no_such_host());
        if !trouble.is_transient() || is_misspelt && Gauge::read(&self.gauge.requests) == 0 {
            return Err(trouble);
        }
        if self.returns_pages && matches!(trouble, Trouble::WebPage(_)) {
            self.repairs.note(trouble.quirk(), &trouble.to_string());
            return Err(trouble);
        }
        let asks = matches!(trouble, Trouble::Busy(_));
        let attempts = if self.given_up && !asks { FEWER_ATTEMPTS } else { u32::MAX };
        let patience = Patience { attempts: self.patience.attempts.min(attempts), ..self.patience };
        match patience.next(attempt, asked, &mut self.dice) {
            Next::GiveUp => {
                self.given_up = true;
                Err(trouble)
            }
            Next::Postpone(wait) => Err(Trouble::Postponed(wait)),
            Next::Wait(wait) => {
                self.repairs.note(trouble.quirk(), &trouble.to_string());
                let next = attempt + 1;
                tracing::info!(
                    "{}: {trouble}; retrying in {:.1} s (attempt {next} of {})",
                    question.verb(),
                    wait.as_secs_f64(),
                    patience.attempts
                );
                self.gauge.say(format!("waiting {} s: {trouble}", wait.as_secs()));
                tokio::select! {
                    () = tokio::time::sleep(wait) => Ok(()),
                    () = stopped(&self.stop) => Err(Trouble::Interrupted),
                }
            }
        }
    }

    /// Reads a whole document, mended if need be.
    fn read_whole(&mut self, body: &[u8], charset: Option<&str>) -> Result<Response, ReadError> {
        let mut remedies = Remedies::from_text(&self.habits.remedies);
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
                        self.repairs.note(quirks::NAMESPACE, "");
                    }
                    for (quirk, count) in mender.repairs() {
                        self.repairs.add(quirk, count, "");
                    }
                    return Ok(response);
                }
                Err(error) => error,
            };
            remedies = Remedies::for_fault(&error.fault, remedies).ok_or(error)?;
        }
    }

    /// Protocol errors that the protocol knows are answers; others are troubles.
    fn known_errors(&mut self, status: u16, errors: &[(String, String)]) -> Result<(), (Trouble, Option<Duration>)> {
        let Some((code, message)) = errors.first() else { return Ok(()) };
        if ErrorCode::from_name(code).is_none() {
            let trouble = Trouble::Unknown { code: code.clone(), message: message.clone() };
            return Err((trouble, None));
        }
        if status >= 400 {
            self.repairs.note(quirks::ERROR_WITH_STATUS, &format!("{code} with status {status}"));
        }
        Ok(())
    }
}

/// Reads a body to its end, or to where it breaks off.
async fn received(mut body: Body) -> Result<(Vec<u8>, Option<FetchError>), FetchError> {
    let mut all = Vec::new();
    loop {
        match body.chunk().await {
            Ok(Some(piece)) if piece.len() > LONGEST_DESCRIPTION - all.len() => {
                return Err(body.too_large(LONGEST_DESCRIPTION));
            }
            Ok(Some(piece)) => all.extend_from_slice(&piece),
            Ok(None) => return Ok((all, None)),
            Err(broken @ FetchError::CutShort { .. }) => return Ok((all, Some(broken))),
            Err(error) => return Err(error),
        }
    }
}

/// Pieces of an answer, in order; or how it broke off.
type Batch = Result<Vec<Bytes>, FetchError>;

/// Hands over what comes at once if the reader waits for it, and in larger batches if it does not.
async fn receive(mut body: Body, reader: mpsc::Sender<Batch>) -> Body {
    let (mut pieces, mut size) = (Vec::new(), 0);
    let broken = loop {
        match body.chunk().await {
            Ok(Some(piece)) => {
                size += piece.len();
                pieces.push(piece);
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
        let room = if size < BATCH { reader.try_reserve().ok() } else { reader.reserve().await.ok() };
        match room {
            Some(room) => room.send(Ok(std::mem::take(&mut pieces))),
            None if reader.is_closed() => return body,
            None => continue,
        }
        size = 0;
    };
    // If the reader has gone, it has said why.
    let _ = reader.send(Ok(pieces)).await;
    if let Some(error) = broken {
        let _ = reader.send(Err(error)).await;
    }
    body
}

fn read(
    desk: &mut Desk,
    order: &Order,
    mender: Option<Mender>,
    mut batches: mpsc::Receiver<Batch>,
) -> Result<PageReport, PageError> {
    let mut page = PageReader::new(desk, order, mender)?;
    while let Some(batch) = batches.blocking_recv() {
        match batch {
            Ok(pieces) => pieces.iter().try_for_each(|piece| page.push(piece))?,
            // A document that is whole is one, whatever its body was announced to be. If it is not, nothing is kept.
            Err(broken @ FetchError::CutShort { .. }) => {
                page.breaks_off();
                return page.finish().map_err(|error| match error {
                    PageError::Unreadable(_) | PageError::Nothing { .. } => broken.into(),
                    other => other,
                });
            }
            Err(error) => return Err(error.into()),
        }
    }
    page.finish()
}

/// Returns when somebody says stop.
async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// A body that is no answer, with its status.
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

/// The links of a web page whose URLs speak of OAI, on the same host and without a query, each once.
fn oai_links(page: &str, base: &Url) -> Vec<Url> {
    const MOST: usize = 5;
    let mut links: Vec<Url> = Vec::new();
    for rest in page.split("href=").skip(1) {
        let Some(quote) = rest.chars().next().filter(|first| matches!(first, '"' | '\'')) else { continue };
        let Some(value) = rest[1..].split(quote).next() else { continue };
        let Ok(mut url) = base.join(&value.replace("&amp;", "&")) else { continue };
        let is_oai =
            url.path().to_ascii_lowercase().contains("oai") || url.query().is_some_and(|it| it.contains("verb="));
        url.set_query(None);
        url.set_fragment(None);
        if is_oai && url.origin() == base.origin() && !links.contains(&url) {
            links.push(url);
        }
        if links.len() == MOST {
            break;
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_repositories_are_found_on_a_page() {
        let base = Url::parse("https://example.org/about/").expect("a URL");
        let page = "<a href=\"/oai?verb=Identify\">OAI</a> <a href='../OAI2#x'>2</a> <a href=\"/help\">no</a>\
                    <a href=\"https://elsewhere.example/oai\">no</a> <a href=\"/oai\">again</a> <a href=";
        let found: Vec<_> = oai_links(page, &base).into_iter().map(String::from).collect();
        assert_eq!(found, ["https://example.org/oai", "https://example.org/OAI2"]);
    }
}
