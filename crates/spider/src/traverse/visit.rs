//! Tests one URL: applies robots.txt, sends HEAD or GET, and extracts the references of a document.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use modoai_fetch::{
    Ask, Client, FetchError, Fetched, Gate, HeaderMap, HeaderName, HeaderValue, Kind, Permission, Robots, Unknown, Url,
    Wait,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use xxhash_rust::xxh3::xxh3_64;

use super::outcome::{self, Conclusion};
use super::plan::{FetchJob, Method};
use super::{LocalSite, Options, local};
use crate::extract::{self, Page, Source};
use crate::verdict::{Fault, Outcome, Reason};

/// The number of bodies that are read concurrently, regardless of the number of connections, and the memory for each.
/// Larger bodies wait for one of a few large places. Five hundred connections therefore cannot exhaust the memory.
const MAX_READERS: usize = 64;
const SMALL_BODY: usize = 64 * 1024;
const MAX_LARGE_BODIES: usize = 4;
/// The maximum time for a complete body, and the minimum bytes per second for a body in a large place: a slow server
/// must not block the others.
const BODY_TIMEOUT: Duration = Duration::from_secs(300);
const MIN_RATE: f64 = 10_000.0;
/// The time after which the rate is checked.
const RATE_CHECKED_AFTER: Duration = Duration::from_secs(10);
/// The maximum number of bytes that are read of a body that is not needed, so that its connection can be reused.
const MAX_DISCARDED: usize = 256 * 1024;

/// The result of a visit.
#[derive(Debug)]
pub(crate) struct Visited {
    pub(crate) node: u32,
    pub(crate) conclusion: Conclusion,
    pub(crate) status: Option<u16>,
    pub(crate) headers: HeaderMap,
    pub(crate) read: Option<Read>,
    /// The body, if an observer wants it.
    pub(crate) kept: Option<Taken>,
    pub(crate) wait: Option<Duration>,
    /// True if HEAD reported it as missing, which GET might not.
    pub(crate) is_missing_by_head: bool,
    /// The host's robots.txt, which may list sitemaps.
    pub(crate) robots: Option<Arc<Robots>>,
}

/// The contents of a document that was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) page: Page,
    pub(crate) digest: u64,
    pub(crate) bytes: u64,
    pub(crate) is_whole: bool,
    /// The large place, which is released when the contents have been stored.
    pub(crate) _place: Option<OwnedSemaphorePermit>,
}

/// Sends the requests of a traversal.
pub(crate) struct Visitor {
    pub(crate) client: Client,
    /// The cache of robots.txt; `None` if robots.txt is ignored.
    pub(crate) gate: Option<Gate>,
    /// The site that is read from a directory, if any.
    local: Option<LocalSite>,
    page_limit: usize,
    /// The maximum number of bytes read of a leaf, if an observer wants it.
    bodies: Option<usize>,
    readers: Semaphore,
    large: Arc<Semaphore>,
}

impl Visitor {
    pub(crate) fn new(client: Client, options: &Options) -> Self {
        let gate = options.robots.then(|| Gate::new(client.clone()));
        let Options { page_limit, bodies, .. } = *options;
        let local = options.local.clone();
        let (readers, large) = (Semaphore::new(MAX_READERS), Arc::new(Semaphore::new(MAX_LARGE_BODIES)));
        Self { client, gate, local, page_limit, bodies, readers, large }
    }

    /// Tests a URL, and returns a result in any case.
    pub(crate) async fn go(self: Arc<Self>, job: FetchJob) -> Visited {
        let node = job.node;
        if let Some(local) = self.local.as_ref().filter(|local| local.has(&job.url)) {
            return self.read_local(local.clone(), job).await;
        }
        let robots = match &self.gate {
            Some(gate) => gate.robots(&job.url).await.map(Some),
            None => Ok(None),
        };
        let robots = match robots {
            Ok(robots) => robots,
            Err(error) => return Visited::failed(node, &error),
        };
        if let Some(robots) = &robots
            && let Some(conclusion) = refusal(robots, &job).await
        {
            return Visited { robots: Some(Arc::clone(robots)), ..Visited::without_answer(node, conclusion) };
        }
        match self.attempt(job).await {
            Ok(visited) => Visited { robots, ..visited },
            Err(error) => Visited { robots, ..Visited::failed(node, &error) },
        }
    }

    async fn attempt(&self, job: FetchJob) -> Result<Visited, FetchError> {
        if job.method == Method::Head {
            let answer = self.client.get(job.ask(Ask::head(job.url.clone()))).await;
            match answer {
                Ok(answer) if is_believed(answer.status) => return Ok(job.visited(answer, None)),
                // The host's other responses decide whether this one is reliable.
                Ok(answer) if matches!(answer.status, 404 | 410) => {
                    return Ok(Visited { is_missing_by_head: true, ..job.visited(answer, None) });
                }
                // Some servers respond to HEAD with an error, with nonsense, or never: only GET is reliable.
                Ok(answer) => tracing::debug!(url = %job.url, status = answer.status, "HEAD may be wrong: sending GET"),
                Err(error @ (FetchError::Resolve { .. } | FetchError::Connect { .. } | FetchError::Held { .. })) => {
                    return Err(error);
                }
                Err(error) => tracing::debug!(url = %job.url, %error, "HEAD failed: sending GET"),
            }
        }
        let answer = self.client.get(job.ask(Ask::new(job.url.clone()))).await?;
        if job.method != Method::Read || !(200..300).contains(&answer.status) {
            return self.unread(&job, answer).await;
        }
        self.read(&job, answer).await
    }

    /// Reads a document and extracts its contents.
    async fn read(&self, job: &FetchJob, mut answer: Fetched) -> Result<Visited, FetchError> {
        let charset = answer.charset().map(str::to_owned);
        let media_type = answer.content_type().map(str::to_ascii_lowercase);
        if !job.is_sitemap && !extract::is_read(media_type.as_deref(), &job.url) {
            return self.unread(job, answer).await;
        }
        let links: Vec<String> = text_headers(&answer.headers, "link");
        // Held until the document is processed, since its bytes stay in memory until then.
        let _reader = self.readers.acquire().await.ok();
        let Taken { bytes: body, is_whole, mut place } = self.body(&mut answer, self.page_limit).await?;
        if job.is_sitemap && place.is_none() {
            // A compressed sitemap may be much larger when it is decompressed.
            place = Arc::clone(&self.large).acquire_owned().await.ok();
        }
        let kept = self.bodies.map(|_| Taken { bytes: body.clone(), is_whole, place: None });
        let bytes = body.len() as u64;
        let (url, is_sitemap, limit) = (job.url.clone(), job.is_sitemap, self.page_limit);
        let work = move || {
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            let (media_type, charset) = (media_type.as_deref(), charset.as_deref());
            let source = Source { url: &url, media_type, charset, links: &links, body: &body };
            extracted(&source, is_sitemap, limit)
        };
        // Extracting a document of a few kilobytes takes less time than waking another thread.
        let (page, is_unpacked, digest) = if bytes < SMALL_BODY as u64 && !is_sitemap {
            work()
        } else {
            let Ok(read) = tokio::task::spawn_blocking(work).await else {
                // The extraction does not panic; if it did, that would be an internal error and not a problem of the
                // document.
                let reason = Reason::Garbled("internal error".into());
                return Ok(Visited::without_answer(job.node, Conclusion::certain(Outcome::NotTested(reason))));
            };
            read
        };
        let is_whole = is_whole && is_unpacked;
        Ok(Visited { kept, ..job.visited(answer, Some(Read { page, digest, bytes, is_whole, _place: place })) })
    }

    /// Reads a file of the local site.
    async fn read_local(&self, local: LocalSite, job: FetchJob) -> Visited {
        // Few files are read at a time, since each may have the maximum size of a page.
        let place = Arc::clone(&self.large).acquire_owned().await.ok();
        let (node, limit) = (job.node, self.page_limit);
        let work = move || -> std::io::Result<Visited> {
            let media_type = |answer: &local::Answer| {
                let value = answer.headers.get("content-type")?.to_str().ok()?;
                Some(value.split(';').next().unwrap_or(value).trim().to_ascii_lowercase())
            };
            let is_read = job.method == Method::Read;
            let answer = local.answer(&job.url, job.etag.as_deref(), is_read.then_some(limit))?;
            let outcome = match (answer.status, &answer.location) {
                (_, Some(to)) => Outcome::Moved { permanent: true, to: to.as_str().into() },
                (200 | 304, None) => Outcome::Good,
                (status, None) => Outcome::Broken(Fault::Status(status)),
            };
            let media_type = media_type(&answer);
            let is_read = is_read && answer.status == 200 && extract::is_read(media_type.as_deref(), &job.url);
            let read = is_read.then(|| {
                let (url, body) = (&job.url, &answer.body);
                // The server that will send it may declare another charset, or none; the document's own declaration
                // applies to both.
                let source = Source { url, media_type: media_type.as_deref(), charset: None, links: &[], body };
                let (page, is_unpacked, digest) = extracted(&source, job.is_sitemap, limit);
                let is_whole = answer.is_whole && is_unpacked;
                Read { page, digest, bytes: body.len() as u64, is_whole, _place: place }
            });
            let (status, headers) = (Some(answer.status), answer.headers);
            Ok(Visited { status, headers, read, ..Visited::without_answer(node, Conclusion::certain(outcome)) })
        };
        let failed = |error: &dyn std::fmt::Display| {
            Visited::not_asked(node, Reason::Garbled(format!("failed to read the file: {error}").into()))
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(visited)) => visited,
            Ok(Err(error)) => failed(&error),
            Err(error) => failed(&error),
        }
    }

    /// Processes a response whose body is not extracted. The body is read if it is short, or if an observer wants it.
    async fn unread(&self, job: &FetchJob, mut answer: Fetched) -> Result<Visited, FetchError> {
        let kept = match self.bodies {
            Some(most) if job.is_home && matches!(answer.status, 200 | 203) => {
                Some(self.body(&mut answer, most).await?)
            }
            _ => None,
        };
        Ok(Visited { kept, ..job.visited_unread(answer).await })
    }

    /// Reads the body, up to a limit.
    async fn body(&self, answer: &mut Fetched, limit: usize) -> Result<Taken, FetchError> {
        let mut all = Vec::new();
        let mut first = Bytes::new();
        let mut place = None;
        let mut waited = Duration::ZERO;
        loop {
            let began = Instant::now();
            let Some(piece) = answer.body.chunk().await? else { break };
            waited += began.elapsed();
            let is_slow =
                place.is_some() && waited > RATE_CHECKED_AFTER && all.len() as f64 / waited.as_secs_f64() < MIN_RATE;
            if is_slow || waited > BODY_TIMEOUT {
                return Err(FetchError::TimedOut { what: Wait::MoreThanATrickle, url: answer.url.to_string() });
            }
            if all.is_empty() && first.is_empty() {
                first = piece;
                continue;
            }
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            let room = limit.saturating_sub(all.len());
            if piece.len() > room {
                all.extend_from_slice(&piece[..room]);
                return Ok(Taken { bytes: all.into(), is_whole: false, place });
            }
            all.extend_from_slice(&piece);
            if all.len() > SMALL_BODY && place.is_none() {
                place = Arc::clone(&self.large).acquire_owned().await.ok();
            }
        }
        Ok(Taken { bytes: if all.is_empty() { first } else { all.into() }, is_whole: true, place })
    }
}

/// A body, or the beginning of one.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) bytes: Bytes,
    pub(crate) is_whole: bool,
    /// Held while the body is in memory.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

impl Visited {
    pub(crate) fn without_answer(node: u32, conclusion: Conclusion) -> Self {
        let headers = HeaderMap::new();
        Self {
            node,
            conclusion,
            status: None,
            headers,
            read: None,
            kept: None,
            wait: None,
            is_missing_by_head: false,
            robots: None,
        }
    }

    /// Returns a result for a URL that was not requested, with the reason.
    pub(crate) fn not_asked(node: u32, reason: Reason) -> Self {
        Self::without_answer(node, Conclusion::certain(Outcome::NotTested(reason)))
    }

    /// Returns a result for a "not found" response to HEAD that was accepted.
    pub(crate) fn by_head(node: u32, status: u16) -> Self {
        let conclusion = Conclusion::certain(Outcome::Broken(Fault::Status(status)));
        Self { status: Some(status), is_missing_by_head: true, ..Self::without_answer(node, conclusion) }
    }

    fn failed(node: u32, error: &FetchError) -> Self {
        let wait = match error {
            FetchError::Held { until, .. } => until.duration_since(std::time::SystemTime::now()).ok(),
            _ => None,
        };
        Self { wait, ..Self::without_answer(node, outcome::of_error(error)) }
    }
}

/// Returns a conclusion if robots.txt forbids the request or is unavailable.
async fn refusal(robots: &Robots, job: &FetchJob) -> Option<Conclusion> {
    let permission = robots.allows_url(&job.url);
    if permission == Permission::Unknown(Unknown::Failed(Kind::NoSuchHost)) && !has_address(&job.url).await {
        return Some(Conclusion { outcome: Outcome::Broken(Fault::NoSuchHost), is_final: false });
    }
    outcome::of_robots(permission, robots.crawl_delay(), job.is_home)
}

/// Returns true if the host of a URL has an address.
async fn has_address(url: &Url) -> bool {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    tokio::net::lookup_host((host, port)).await.is_ok_and(|mut addresses| addresses.next().is_some())
}

impl FetchJob {
    fn ask(&self, ask: Ask) -> Ask {
        let mut ask = ask.unfollowed();
        let mut send = |name: &'static str, value: &Option<String>| {
            if let Some(value) = value.as_deref().and_then(|value| HeaderValue::from_str(value).ok()) {
                ask.headers.push((HeaderName::from_static(name), value));
            }
        };
        send("if-none-match", &self.etag);
        send("if-modified-since", &self.modified);
        if let Some(referer) = &self.referer {
            ask.headers.push((HeaderName::from_static("referer"), referer.clone()));
        }
        ask
    }

    fn visited(&self, answer: Fetched, read: Option<Read>) -> Visited {
        let conclusion = outcome::of_answer(&answer, self.is_home, self.is_action);
        let wait = answer.retry_after();
        Visited {
            node: self.node,
            conclusion,
            status: Some(answer.status),
            headers: answer.headers,
            read,
            kept: None,
            wait,
            is_missing_by_head: false,
            robots: None,
        }
    }

    /// Processes a response whose body is not needed: reads the body if it is short.
    async fn visited_unread(&self, mut answer: Fetched) -> Visited {
        let mut left = MAX_DISCARDED;
        while let Ok(Some(piece)) = answer.body.chunk().await {
            let Some(rest) = left.checked_sub(piece.len()) else { break };
            left = rest;
        }
        self.visited(answer, None)
    }
}

/// Extracts a document. Returns the page, true if all of it was read, and the hash of its bytes.
fn extracted(source: &Source<'_>, is_sitemap: bool, limit: usize) -> (Page, bool, u64) {
    let (page, is_whole) =
        if is_sitemap { extract::extract_sitemap(source, limit) } else { (extract::extract(source), true) };
    (page, is_whole, xxh3_64(source.body))
}

/// Returns true if GET would have the same status as HEAD: success, redirects, and refusals of the client.
fn is_believed(status: u16) -> bool {
    matches!(status, 200..=399 | 401 | 407 | 429)
}

/// Returns the values of a header that are valid text.
fn text_headers(headers: &HeaderMap, name: &'static str) -> Vec<String> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
}
