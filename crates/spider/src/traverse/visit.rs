//! One URL, tested: robots.txt, HEAD or GET, and what the document says.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use modoai_fetch::{
    Ask, Client, FetchError, Fetched, Gate, HeaderMap, HeaderName, HeaderValue, Permission, Robots, Unknown, Url, Wait,
};
use tokio::sync::Semaphore;
use xxhash_rust::xxh3::xxh3_64;

use super::outcome::{self, Conclusion};
use crate::extract::{self, Page, Source};
use crate::verdict::{Fault, Outcome, Reason};

/// How many bodies are read at once, whatever the number of connections; the others wait on the line. And what each may have
/// in memory: larger ones wait for one of a few large places. So five hundred connections cannot fill the memory.
const READ_AT_ONCE: usize = 64;
const SMALL: usize = 64 * 1024;
const LARGE_AT_ONCE: usize = 4;
/// How long a body may take in all: whoever trickles must not keep the others from being read.
const LONGEST_BODY: Duration = Duration::from_secs(300);
/// How much of a document that is not read is taken off the line for the sake of its connection.
const WORTH_READING: usize = 256 * 1024;

/// How a URL is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// HEAD; GET if that is not answered well.
    Head,
    /// GET, and what it says.
    Read,
    /// GET, but not to read it.
    Get,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) struct Errand {
    pub(crate) node: u32,
    pub(crate) url: Url,
    pub(crate) look: Look,
    pub(crate) referer: Option<HeaderValue>,
    pub(crate) etag: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) is_home: bool,
    pub(crate) is_action: bool,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Visited {
    pub(crate) node: u32,
    pub(crate) conclusion: Conclusion,
    pub(crate) status: Option<u16>,
    pub(crate) headers: HeaderMap,
    pub(crate) read: Option<Read>,
    pub(crate) wait: Option<Duration>,
    /// Whether HEAD said that it is not there, which GET might not.
    pub(crate) is_hearsay: bool,
    /// What the host's robots.txt says, which may name site maps.
    pub(crate) robots: Option<Arc<Robots>>,
}

/// What was read of a document.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) page: Page,
    pub(crate) digest: u64,
    pub(crate) bytes: u64,
    pub(crate) is_whole: bool,
}

/// Who goes on errands.
pub(crate) struct Visitor {
    pub(crate) client: Client,
    /// Who knows robots.txt; none if nobody is asked.
    pub(crate) gate: Option<Gate>,
    page_limit: usize,
    readers: Semaphore,
    large: Semaphore,
}

impl Visitor {
    pub(crate) fn new(client: Client, page_limit: usize, robots: bool) -> Self {
        let gate = robots.then(|| Gate::new(client.clone()));
        Self { client, gate, page_limit, readers: Semaphore::new(READ_AT_ONCE), large: Semaphore::new(LARGE_AT_ONCE) }
    }

    /// Goes, and comes back with an answer whatever happens.
    pub(crate) async fn go(self: Arc<Self>, errand: Errand) -> Visited {
        let node = errand.node;
        let robots = match &self.gate {
            Some(gate) => gate.robots(&errand.url).await.map(Some),
            None => Ok(None),
        };
        let robots = match robots {
            Ok(robots) => robots,
            Err(error) => return Visited::failed(node, &error),
        };
        if let Some(conclusion) = robots.as_ref().and_then(|robots| refusal(robots, &errand.url)) {
            return Visited { robots, ..Visited::without_answer(node, conclusion) };
        }
        match self.attempt(errand).await {
            Ok(visited) => Visited { robots, ..visited },
            Err(error) => Visited { robots, ..Visited::failed(node, &error) },
        }
    }

    async fn attempt(&self, errand: Errand) -> Result<Visited, FetchError> {
        if errand.look == Look::Head {
            let answer = self.client.get(errand.ask(Ask::head(errand.url.clone()))).await;
            match answer {
                Ok(answer) if is_believed(answer.status) => return Ok(errand.visited(answer, None)),
                // Whether that is the truth, the host's other answers will tell.
                Ok(answer) if matches!(answer.status, 404 | 410) => {
                    return Ok(Visited { is_hearsay: true, ..errand.visited(answer, None) });
                }
                // Some answer HEAD with an error, with nonsense, or never: only GET knows.
                Ok(answer) => tracing::debug!(url = %errand.url, status = answer.status, "HEAD may lie: asking by GET"),
                Err(error @ (FetchError::Resolve { .. } | FetchError::Connect { .. } | FetchError::Held { .. })) => {
                    return Err(error);
                }
                Err(error) => tracing::debug!(url = %errand.url, %error, "HEAD failed: asking by GET"),
            }
        }
        let answer = self.client.get(errand.ask(Ask::new(errand.url.clone()))).await?;
        if errand.look != Look::Read || !(200..300).contains(&answer.status) {
            return Ok(errand.visited_unread(answer).await);
        }
        self.read(&errand, answer).await
    }

    /// Reads a document and what it says.
    async fn read(&self, errand: &Errand, mut answer: Fetched) -> Result<Visited, FetchError> {
        let charset = answer.charset().map(str::to_owned);
        let media_type = answer.content_type().map(str::to_ascii_lowercase);
        if !extract::is_read(media_type.as_deref(), &errand.url) {
            return Ok(errand.visited_unread(answer).await);
        }
        let links: Vec<String> = text_headers(&answer.headers, "link");
        // Held until the document is read, since until then its bytes are in memory.
        let _reader = self.readers.acquire().await.ok();
        let body = tokio::time::timeout(LONGEST_BODY, self.body(&mut answer)).await;
        let (body, is_whole) = body.unwrap_or_else(|_| {
            Err(FetchError::TimedOut { what: Wait::MoreThanATrickle, url: errand.url.to_string() })
        })?;
        let bytes = body.len() as u64;
        let url = errand.url.clone();
        let work = move || {
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            let source = Source {
                url: &url,
                media_type: media_type.as_deref(),
                charset: charset.as_deref(),
                links: &links,
                body: &body,
            };
            (extract::extract(&source), xxh3_64(&body))
        };
        // Documents of a few kilobytes are read faster than another thread is woken.
        let (page, digest) = if bytes < SMALL as u64 {
            work()
        } else {
            let Ok(read) = tokio::task::spawn_blocking(work).await else {
                // The reader does not panic; if it did, that is our failure and says nothing of the document.
                let reason = Reason::Garbled("we could not read it".into());
                return Ok(Visited::without_answer(errand.node, Conclusion::certain(Outcome::NotTested(reason))));
            };
            read
        };
        Ok(errand.visited(answer, Some(Read { page, digest, bytes, is_whole })))
    }

    /// The body, up to the limit.
    async fn body(&self, answer: &mut Fetched) -> Result<(Bytes, bool), FetchError> {
        let mut all = Vec::new();
        let mut first = Bytes::new();
        let mut place = None;
        while let Some(piece) = answer.body.chunk().await? {
            if all.is_empty() && first.is_empty() {
                first = piece;
                continue;
            }
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            let room = self.page_limit.saturating_sub(all.len());
            if piece.len() > room {
                all.extend_from_slice(&piece[..room]);
                return Ok((all.into(), false));
            }
            all.extend_from_slice(&piece);
            if all.len() > SMALL && place.is_none() {
                // Whoever has the place gives it back when its document is in: nobody waits while holding another's.
                place = self.large.acquire().await.ok();
            }
        }
        Ok(if all.is_empty() { (first, true) } else { (all.into(), true) })
    }
}

impl Visited {
    fn without_answer(node: u32, conclusion: Conclusion) -> Self {
        let headers = HeaderMap::new();
        Self { node, conclusion, status: None, headers, read: None, wait: None, is_hearsay: false, robots: None }
    }

    /// What was not asked for, for this reason.
    pub(crate) fn not_asked(node: u32, reason: Reason) -> Self {
        Self::without_answer(node, Conclusion::certain(Outcome::NotTested(reason)))
    }

    /// What HEAD said, and can be believed.
    pub(crate) fn by_head(node: u32, status: u16) -> Self {
        let conclusion = Conclusion::certain(Outcome::Broken(Fault::Status(status)));
        Self { status: Some(status), is_hearsay: true, ..Self::without_answer(node, conclusion) }
    }

    fn failed(node: u32, error: &FetchError) -> Self {
        let wait = match error {
            FetchError::Held { until, .. } => until.duration_since(std::time::SystemTime::now()).ok(),
            _ => None,
        };
        Self { wait, ..Self::without_answer(node, outcome::of_error(error)) }
    }
}

/// Why robots.txt keeps us away, if it does.
fn refusal(robots: &Robots, url: &Url) -> Option<Conclusion> {
    match robots.allows_url(url) {
        Permission::Allowed => None,
        Permission::Forbidden { line, rule } => {
            let rule = format!("{rule}, line {line}").into();
            Some(Conclusion::certain(Outcome::NotTested(Reason::Robots(rule))))
        }
        Permission::Unknown(Unknown::Status(_)) => Some(Conclusion::certain(Outcome::NotTested(Reason::RobotsUnknown))),
        // Nobody answers there, whatever one asks for; that says as much of the URL as of robots.txt.
        Permission::Unknown(Unknown::Failed(kind)) => {
            let Conclusion { outcome, .. } = outcome::of_kind(kind, "not even robots.txt could be had".to_owned());
            Some(Conclusion::certain(outcome))
        }
    }
}

impl Errand {
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
            wait,
            is_hearsay: false,
            robots: None,
        }
    }

    /// An answer whose body does not matter: taken off the line if it is short.
    async fn visited_unread(&self, mut answer: Fetched) -> Visited {
        let mut left = WORTH_READING;
        while let Ok(Some(piece)) = answer.body.chunk().await {
            let Some(rest) = left.checked_sub(piece.len()) else { break };
            left = rest;
        }
        self.visited(answer, None)
    }
}

/// Whether an answer to HEAD is that of GET: good news, redirects, and requests to go away.
fn is_believed(status: u16) -> bool {
    matches!(status, 200..=399 | 401 | 407 | 429)
}

/// The values of a header, as far as they are text.
fn text_headers(headers: &HeaderMap, name: &'static str) -> Vec<String> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
}
