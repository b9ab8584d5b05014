//! Fetches resources that a record only references, because they are too large to be sent by value.

use std::sync::Arc;
use std::time::SystemTime;

use modoai_fetch::{
    Ask, Body, Client, FetchError, Fetched, HeaderMap, HeaderName, HeaderValue, Hop, Next, Patience, Url,
};
use modoai_protocol::{Datestamp, with_causes};
use tokio::runtime::Handle;

use super::SinkError;
use super::spool::{Scratch, Spool};
use crate::clock;
use crate::gauge::Gauge;
use crate::limits::{Budget, size};

/// The known properties of a stored resource.
#[derive(Clone, Copy, Default)]
pub(super) struct Known<'a> {
    pub(super) etag: Option<&'a str>,
    pub(super) modified: Option<SystemTime>,
    /// The Content-Encoding that a GET has, according to its record: the resource is then the coded bytes.
    pub(super) coding: Option<&'a str>,
}

/// The result of a GET.
pub(super) enum Got {
    /// The bytes, which are now in the spool.
    Whole(Box<Response>),
    /// Not modified.
    Unchanged,
}

/// The response whose body is in the spool.
#[derive(Clone, Debug)]
pub(super) struct Response {
    /// The time of the request.
    pub(super) requested: Datestamp,
    /// The redirects before it.
    pub(super) hops: Vec<Hop>,
    /// The URL after all redirects.
    pub(super) url: Url,
    pub(super) status: u16,
    /// The headers of the first response, if the rest of the body was requested later.
    pub(super) headers: HeaderMap,
}

/// The validators in the response.
#[derive(Clone, Debug, Default)]
pub(super) struct Validators {
    pub(super) etag: Option<String>,
    pub(super) modified: Option<Datestamp>,
}

/// Parses a date of HTTP in any of its three forms; files may be older than the range of the system's calendar.
pub(super) fn http_date(text: &str) -> Option<Datestamp> {
    httpdate::parse_http_date(text).ok().map(clock::of).or_else(|| Datestamp::from_http_date(text))
}

/// The reason why an attempt failed.
enum Trouble {
    /// A temporary error.
    Passing(String, Option<std::time::Duration>),
    /// A permanent error.
    Lasting(String),
    /// An error of the disk.
    Sink(SinkError),
}

impl From<FetchError> for Trouble {
    fn from(error: FetchError) -> Self {
        let reason = with_causes(&error);
        if error.is_transient() { Self::Passing(reason, None) } else { Self::Lasting(reason) }
    }
}

impl From<SinkError> for Trouble {
    fn from(error: SinkError) -> Self {
        Self::Sink(error)
    }
}

/// Fetches resources for a sink.
pub(super) struct Getter {
    client: Client,
    gauge: Arc<Gauge>,
    budget: Arc<Budget>,
    /// The runtime that runs the requests.
    runtime: Option<Handle>,
}

impl Getter {
    /// Captures the present runtime, so it must be called where sinks are opened.
    pub(super) fn new(client: Client, gauge: Arc<Gauge>, budget: Arc<Budget>) -> Self {
        Self { client, gauge, budget, runtime: Handle::try_current().ok() }
    }

    /// Returns the client.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Fetches a resource into the spool, unless it has not changed. If a connection breaks, the download is resumed,
    /// provided that the server's validators identify the resource. The inner error is the reason for a failure.
    pub(super) fn get(
        &self,
        url: &str,
        known: Known<'_>,
        spool: &mut Spool,
        scratch: &Scratch,
    ) -> Result<Result<Got, String>, SinkError> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(self.try_to_get(url, known, spool, scratch)),
            None => Ok(Err(format!("the record only refers to '{url}', and this harvest does not fetch references"))),
        }
    }

    async fn try_to_get(
        &self,
        url: &str,
        known: Known<'_>,
        spool: &mut Spool,
        scratch: &Scratch,
    ) -> Result<Result<Got, String>, SinkError> {
        let Ok(target) = Url::parse(url) else { return Ok(Err(format!("invalid URL '{url}'"))) };
        let patience = Patience::default();
        let mut dice = fastrand::Rng::new();
        let mut begun = None;
        for attempt in 1.. {
            match self.attempt_once(&target, known, &mut begun, spool, scratch).await {
                Ok(got) => return Ok(Ok(got)),
                Err(Trouble::Sink(error)) => return Err(error),
                Err(Trouble::Lasting(reason)) => return Ok(Err(reason)),
                Err(Trouble::Passing(reason, wait)) => match patience.next(attempt, wait, &mut dice) {
                    Next::Wait(pause) => {
                        tracing::debug!(url, reason, "trying again");
                        tokio::time::sleep(pause).await;
                    }
                    Next::Postpone(_) | Next::GiveUp => return Ok(Err(reason)),
                },
            }
        }
        Ok(Err(format!("failed to fetch '{url}'")))
    }

    async fn attempt_once(
        &self,
        url: &Url,
        known: Known<'_>,
        begun: &mut Option<Response>,
        spool: &mut Spool,
        scratch: &Scratch,
    ) -> Result<Got, Trouble> {
        // The unmodified bytes: a download that is compressed for transfer cannot be resumed.
        let mut ask = Ask::new(url.clone());
        ask.decode = false;
        let ask = ask.header(HeaderName::from_static("accept-encoding"), HeaderValue::from_static("identity"));
        let resume = begun.as_ref().and_then(|begun| begun.validators().condition()).filter(|_| spool.len() > 0);
        let ask = match &resume {
            None => {
                self.discard(spool);
                ask.since(known.etag, known.modified)
            }
            Some(condition) => {
                let range =
                    HeaderValue::from_str(&format!("bytes={}-", spool.len())).map_err(|_| lasting(url, "range"))?;
                ask.header(HeaderName::from_static("range"), range)
                    .header(HeaderName::from_static("if-range"), condition.clone())
            }
        };
        let requested = clock::now();
        let mut answer = self.client.get(ask).await?;
        match answer.status {
            // Compressed although identity was requested: these are not the bytes.
            200 if coding(&answer)
                .is_some_and(|coding| known.coding.is_none_or(|told| !told.eq_ignore_ascii_case(coding))) =>
            {
                return Err(lasting(url, "the response is compressed, although identity was requested"));
            }
            200 => {
                self.discard(spool);
                *begun = Some(Response {
                    requested,
                    hops: std::mem::take(&mut answer.hops),
                    url: answer.url.clone(),
                    status: answer.status,
                    headers: answer.headers.clone(),
                });
            }
            206 if resume.is_some() && begins_at(&answer) == Some(spool.len()) => {}
            304 if resume.is_none() => return Ok(Got::Unchanged),
            206 | 304 | 416 => {
                *begun = None;
                return Err(Trouble::Passing(format!("GET {url}: received a range that was not requested"), None));
            }
            status @ (429 | 500..) => {
                return Err(Trouble::Passing(format!("GET {url}: HTTP {status}"), answer.retry_after()));
            }
            status => return Err(lasting(url, &format!("HTTP {status}"))),
        }
        if length(&answer).is_some_and(|length| length > self.budget.limits().size.saturating_sub(spool.len())) {
            return Err(self.too_large(url));
        }
        let received = self.receive(url, &mut answer.body, spool, scratch).await;
        Gauge::add(&self.gauge.bytes, answer.body.wire_bytes());
        received?;
        begun
            .take()
            .map(|begun| Got::Whole(Box::new(begun)))
            .ok_or_else(|| lasting(url, "a part that was not asked for"))
    }

    async fn receive(&self, url: &Url, body: &mut Body, spool: &mut Spool, scratch: &Scratch) -> Result<(), Trouble> {
        while let Some(bytes) = body.chunk().await? {
            if spool.len() + bytes.len() as u64 > self.budget.limits().size {
                self.discard(spool);
                return Err(self.too_large(url));
            }
            self.budget.take(bytes.len() as u64).map_err(SinkError::from)?;
            spool.push(&bytes, scratch)?;
        }
        Ok(())
    }

    fn discard(&self, spool: &mut Spool) {
        self.budget.give_back(spool.len());
        spool.clear();
    }

    fn too_large(&self, url: &Url) -> Trouble {
        lasting(url, &format!("the resource is larger than {} (--max-size)", size(self.budget.limits().size)))
    }
}

fn length(answer: &Fetched) -> Option<u64> {
    answer.headers.get("content-length")?.to_str().ok()?.trim().parse().ok()
}

fn lasting(url: &Url, what: &str) -> Trouble {
    Trouble::Lasting(format!("GET {url}: {what}"))
}

fn coding(answer: &Fetched) -> Option<&str> {
    let coding = answer.headers.get("content-encoding")?.to_str().ok()?.trim();
    (!coding.is_empty() && !coding.eq_ignore_ascii_case("identity")).then_some(coding)
}

/// Returns the offset at which the part in a response with status 206 begins.
fn begins_at(answer: &Fetched) -> Option<u64> {
    let range = answer.headers.get("content-range")?.to_str().ok()?.trim();
    range.strip_prefix("bytes")?.trim_start().split('-').next()?.parse().ok()
}

impl Response {
    pub(super) fn validators(&self) -> Validators {
        let text = |name| self.headers.get(name).and_then(|value| value.to_str().ok());
        Validators { etag: text("etag").map(str::to_owned), modified: text("last-modified").and_then(http_date) }
    }
}

impl Validators {
    /// Returns the validator for a range request. A weak entity tag does not guarantee identical bytes.
    fn condition(&self) -> Option<HeaderValue> {
        let etag = self.etag.as_deref().filter(|etag| !etag.starts_with("W/"));
        let text = etag.map(str::to_owned).or_else(|| self.modified.map(Datestamp::to_http_date))?;
        HeaderValue::from_str(&text).ok()
    }
}
