//! One copy of robots.txt per origin, asked for once however many want to know, and kept for a day at most.
//!
//! What was learnt can be handed to a store and given back in the next run. Origins that could not be asked are not: whether
//! they can be is to be found out anew.

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

/// How long a copy is used.
const LIFE: Duration = Duration::from_secs(24 * 3600);
/// How far in the future a copy may have been made: clocks are set right now and then.
const CLOCKS_DIFFER: Duration = Duration::from_secs(300);
/// How many redirects are followed.
const HOPS: usize = 5;
/// What all copies may take in memory. Most are a kilobyte; beyond this, the largest is forgotten, and asked for again if it
/// is needed.
const MOST_KEPT: usize = 32 * 1024 * 1024;
/// What a copy takes in memory beside its rules.
const EACH: usize = 512;
/// What may wait to be taken to the store.
const MOST_NEWS: usize = 16 * 1024 * 1024;
/// How long one waits before asking again, if the connection failed.
const BREATH: Duration = Duration::from_secs(1);

/// Tells who may go where, for all origins.
pub struct Gate {
    client: Client,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    copies: HashMap<Origin, Arc<OnceCell<Copy>>>,
    /// What they take in memory.
    weight: usize,
    news: Vec<Remembered>,
    news_bytes: usize,
}

#[derive(Clone)]
struct Copy {
    robots: Arc<Robots>,
    fetched_at: SystemTime,
}

/// An origin's robots.txt as it was answered, to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// Whose. As text it is a URL, from which [`Origin::of`] makes it again.
    pub origin: Origin,
    /// The last status, after redirects.
    pub status: u16,
    /// What was answered, if that counts: no more than 500 KiB and a little.
    pub body: Bytes,
    /// When.
    pub fetched_at: SystemTime,
}

impl Remembered {
    /// Whether it may still be used.
    pub fn is_fresh(&self, now: SystemTime) -> bool {
        is_fresh(self.fetched_at, now)
    }
}

impl Gate {
    /// With nothing known yet. Rules are those for the client's agent; its pauses are where Crawl-delay is kept.
    pub fn new(client: Client) -> Self {
        Self { client, known: Mutex::default() }
    }

    /// What the robots.txt of a URL's origin says; it is asked for if that is not known. How far apart requests are to be
    /// is told to the client.
    ///
    /// An origin that cannot be asked is an answer, too ([`Robots::unknown`]), and stays one. Only what says nothing of it
    /// is an error, and tried again by the next who asks: a host on hold, and a failure of our own.
    pub async fn robots(&self, url: &Url) -> Result<Arc<Robots>, FetchError> {
        let Some(origin) = Origin::of(url) else {
            let url = without_userinfo(url).into();
            return Err(FetchError::InvalidUrl { url, reason: "not an HTTP URL with a host" });
        };
        let cell = self.cell(&origin);
        let copy = cell.get_or_try_init(|| self.learn(&origin, url)).await?;
        if let (Some(pause), Some(host)) = (copy.robots.crawl_delay(), url.host_str()) {
            // Said each time: the client forgets hosts that nobody asks for long.
            self.client.slow_down(host, pause);
        }
        Ok(Arc::clone(&copy.robots))
    }

    /// Takes back what was kept, if it may still be used.
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

    /// What was learnt since this was asked last, to be kept. What is not taken for long may be missing: it is then asked
    /// for again in the next run.
    pub fn news(&self) -> Vec<Remembered> {
        let mut known = self.known();
        known.news_bytes = 0;
        std::mem::take(&mut known.news)
    }

    /// Where the copy of an origin is, or will be.
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
            // The client waits as long as it was asked to, if that can be sat through.
            asked = self.ask(url).await;
        }
        if let Err(error) = &asked
            && matches!(error.kind(), Kind::Unreachable | Kind::Refused | Kind::CutShort | Kind::Resolver)
        {
            // All of an origin hangs on this, so one failure is not the last word.
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
                // Callers report what they could not fetch, and without a network this happens for every host.
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

    /// The last status after redirects, and the body if it counts.
    async fn ask(&self, url: &Url) -> Result<(u16, Bytes), FetchError> {
        let mut at = without_userinfo(url);
        at.set_path("/robots.txt");
        at.set_query(None);
        let mut hops = 0;
        loop {
            let answer = self.client.get(Ask::new(at).unfollowed()).await?;
            let (status, location) = (answer.status, answer.location());
            let counts = (200..300).contains(&status);
            // Of any other page the end is read for the sake of the connection only, and may be missing.
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

    /// Forgets the largest until the rest can be carried.
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
