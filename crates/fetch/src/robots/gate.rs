//! A cache of robots.txt: one copy per origin, fetched once for all callers, and kept for a day at most.
//!
//! Copies can be stored and restored in the next run. Origins without a response are not stored: the next run checks
//! them again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::sync::OnceCell;
use url::Url;

use super::{LIMIT, Robots};
use crate::client::Client;
use crate::credentials::{Origin, without_userinfo};
use crate::error::FetchError;
use crate::exchange::Ask;
use crate::kind::Kind;

/// The lifetime of a copy.
const LIFE: Duration = Duration::from_secs(24 * 3600);
/// The maximum time in the future at which a copy may have been fetched: clocks are sometimes corrected.
const CLOCKS_DIFFER: Duration = Duration::from_secs(300);
/// The maximum number of redirects that are followed.
const HOPS: usize = 5;
/// The memory limit for all copies. Most need a kilobyte; beyond the limit, the largest is forgotten, and fetched again
/// if it is needed.
const MOST_KEPT: usize = 32 * 1024 * 1024;
/// The memory that a copy needs in addition to its rules.
const EACH: usize = 512;
/// The limit for copies that wait to be stored.
const MOST_NEWS: usize = 16 * 1024 * 1024;
/// The delay before the retry after a failed connection.
const BREATH: Duration = Duration::from_secs(1);

/// Decides by robots.txt which URLs may be requested, for all origins.
pub struct Gate {
    client: Client,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    copies: HashMap<Origin, Arc<OnceCell<Copy>>>,
    /// The memory that the copies need.
    weight: usize,
    news: Vec<Remembered>,
    news_bytes: usize,
}

#[derive(Clone)]
struct Copy {
    robots: Arc<Robots>,
    fetched_at: SystemTime,
}

/// The robots.txt of an origin as received, to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The origin. Its text form is a URL, from which [`Origin::of`] restores it.
    pub origin: Origin,
    /// The last status, after redirects.
    pub status: u16,
    /// The body of a successful response, of 500 KiB and one byte at most; otherwise empty.
    pub body: Bytes,
    /// The time of the response.
    pub fetched_at: SystemTime,
}

impl Remembered {
    /// Returns true if the copy may still be used.
    pub fn is_fresh(&self, now: SystemTime) -> bool {
        is_fresh(self.fetched_at, now)
    }
}

impl Gate {
    /// Creates an empty cache. Rules are those for the client's agent; the client enforces Crawl-delay.
    pub fn new(client: Client) -> Self {
        Self { client, known: Mutex::default() }
    }

    /// Returns the rules of a URL's origin, and fetches its robots.txt if they are not known. The client receives the
    /// pause between requests.
    ///
    /// An origin that is not reachable is a result as well ([`Robots::unknown`]), and remains one. Only failures that
    /// say nothing about the origin are errors, and the next call retries them: a host on hold, and a local failure.
    pub async fn robots(&self, url: &Url) -> Result<Arc<Robots>, FetchError> {
        let Some(origin) = Origin::of(url) else {
            let url = without_userinfo(url).into();
            return Err(FetchError::InvalidUrl { url, reason: "not an HTTP URL with a host" });
        };
        let cell = self.cell(&origin);
        let copy = cell.get_or_try_init(|| self.learn(&origin, url)).await?;
        if let (Some(pause), Some(host)) = (copy.robots.crawl_delay(), url.host_str()) {
            // Repeated each time, because the client forgets hosts without recent requests.
            self.client.slow_down(host, pause);
        }
        Ok(Arc::clone(&copy.robots))
    }

    /// Restores a stored copy, if it may still be used.
    pub fn remember(&self, remembered: Remembered) {
        if !remembered.is_fresh(SystemTime::now()) {
            return;
        }
        let robots = Robots::from_answer(remembered.status, &remembered.body, self.client.product());
        let copy = Copy { robots: Arc::new(robots), fetched_at: remembered.fetched_at };
        let mut known = self.known();
        known.forget(&remembered.origin);
        known.weight += copy.weight();
        known.copies.insert(remembered.origin, Arc::new(OnceCell::new_with(Some(copy))));
        known.tidy();
    }

    /// Returns the copies fetched since the last call, to be stored. If it is not called for a long time, some may be
    /// missing; the next run fetches them again.
    pub fn news(&self) -> Vec<Remembered> {
        let mut known = self.known();
        known.news_bytes = 0;
        std::mem::take(&mut known.news)
    }

    /// Returns the cell that holds the copy of an origin, or will hold it.
    fn cell(&self, origin: &Origin) -> Arc<OnceCell<Copy>> {
        let mut known = self.known();
        let is_old = |copy: &Copy| !is_fresh(copy.fetched_at, SystemTime::now());
        if known.copies.get(origin).is_some_and(|cell| cell.get().is_some_and(is_old)) {
            known.forget(origin);
        }
        Arc::clone(known.copies.entry(origin.clone()).or_default())
    }

    async fn learn(&self, origin: &Origin, url: &Url) -> Result<Copy, FetchError> {
        let mut asked = self.ask(url).await;
        let is_held = || url.host_str().is_some_and(|host| self.client.held_until(host).is_some());
        if matches!(asked, Ok((429, _))) && is_held() {
            // The client waits for the hold of the host, if it is short enough.
            asked = self.ask(url).await;
        }
        if let Err(error) = &asked
            && matches!(error.kind(), Kind::Unreachable | Kind::Refused | Kind::CutShort | Kind::Resolver)
        {
            // The result applies to the whole origin, so a failure is confirmed by a retry.
            tracing::debug!(%origin, %error, "asking for robots.txt once more");
            tokio::time::sleep(BREATH).await;
            asked = self.ask(url).await;
        }
        let fetched_at = SystemTime::now();
        let (robots, news) = match asked {
            Ok((status, body)) => {
                let robots = Robots::from_answer(status, &body, self.client.product());
                let news = Remembered { origin: origin.clone(), status, body, fetched_at };
                let is_known = robots.unknown().is_none();
                (robots, is_known.then_some(news))
            }
            Err(error) if matches!(error.kind(), Kind::Held | Kind::Ours) => return Err(error),
            Err(error) => {
                // Callers report the URLs that they could not fetch, and without a network this happens for every host.
                tracing::debug!(%origin, %error, "failed to fetch robots.txt; nothing is requested from this host");
                (Robots::unreachable(error.kind()), None)
            }
        };
        let copy = Copy { robots: Arc::new(robots), fetched_at };
        let mut known = self.known();
        known.weight += copy.weight();
        if let Some(news) = news.filter(|news| known.news_bytes + news.body.len() + EACH <= MOST_NEWS) {
            known.news_bytes += news.body.len() + EACH;
            known.news.push(news);
        }
        known.tidy();
        Ok(copy)
    }

    /// Returns the last status after redirects, and the body of a successful response.
    async fn ask(&self, url: &Url) -> Result<(u16, Bytes), FetchError> {
        let mut at = without_userinfo(url);
        at.set_path("/robots.txt");
        at.set_query(None);
        let mut hops = 0;
        loop {
            let answer = self.client.get(Ask::new(at).unfollowed()).await?;
            let (status, location) = (answer.status, answer.location());
            let counts = (200..300).contains(&status);
            // The bodies of other responses are read only so that the connection can be reused, and may be incomplete.
            let body = answer.body.read_to(LIMIT + 1).await;
            let body = if counts { body?.bytes } else { Bytes::new() };
            match location {
                Some(Ok(to)) if hops < HOPS => at = to,
                _ => return Ok((status, body)),
            }
            hops += 1;
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("origins", &self.known().copies.len()).finish_non_exhaustive()
    }
}

impl Known {
    fn forget(&mut self, origin: &Origin) {
        if let Some(copy) = self.copies.remove(origin).as_deref().and_then(OnceCell::get) {
            self.weight = self.weight.saturating_sub(copy.weight());
        }
    }

    /// Forgets the largest copies until the rest is within the limit.
    fn tidy(&mut self) {
        while self.weight > MOST_KEPT {
            let weights = self.copies.iter().filter_map(|(origin, cell)| Some((origin, cell.get()?.weight())));
            let Some(largest) = weights.max_by_key(|(_, weight)| *weight).map(|(origin, _)| origin.clone()) else {
                return;
            };
            self.forget(&largest);
        }
    }
}

impl Copy {
    fn weight(&self) -> usize {
        self.robots.weight() + EACH
    }
}

fn is_fresh(fetched_at: SystemTime, now: SystemTime) -> bool {
    match now.duration_since(fetched_at) {
        Ok(age) => age < LIFE,
        Err(ahead) => ahead.duration() <= CLOCKS_DIFFER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manners::Manners;

    #[test]
    fn a_copy_lives_for_a_day() {
        let now = SystemTime::now();
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        assert!(is_fresh(now, now) && is_fresh(now - hours(23), now));
        assert!(!is_fresh(now - hours(24), now) && !is_fresh(now + hours(1), now));
        assert!(is_fresh(now + Duration::from_secs(1), now), "a clock was set back a little");
    }

    #[test]
    fn whoever_says_too_much_is_forgotten_first() {
        let gate = Gate::new(Client::new(Manners::default()).expect("a client"));
        let remembered = |host: &str, body: Bytes| Remembered {
            origin: Origin::of(&Url::parse(&format!("http://{host}/")).expect("a URL")).expect("an origin"),
            status: 200,
            body,
            fetched_at: SystemTime::now(),
        };
        let much = Bytes::from(format!("User-agent: *\n{}", "Disallow: /x\n".repeat(30_000)));
        gate.remember(remembered("small.example", Bytes::from_static(b"User-agent: *\nDisallow: /\n")));
        for number in 0..30 {
            gate.remember(remembered(&format!("host{}.example", number % 20), much.clone()));
        }
        let known = gate.known();
        assert!(known.weight <= MOST_KEPT && known.copies.len() < 21, "{} in {}", known.weight, known.copies.len());
        let weight: usize = known.copies.values().filter_map(|cell| cell.get()).map(Copy::weight).sum();
        assert_eq!(known.weight, weight);
        assert!(known.copies.keys().any(|origin| origin.to_string().contains("small")));
    }
}
