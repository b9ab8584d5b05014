//! Politeness per host: places, pauses and holds decide when a request may be sent.
//!
//! A host is a name without its port, because all ports share the load of one machine. Requests to a host queue in
//! order of arrival. A request with a place waits until the pause after the previous request is over and no hold is in
//! force, and keeps the place until the body is read or dropped. Hosts do not wait for each other, unless the limit of
//! places for all hosts is reached.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The longest hold that a request waits for; it equals [`Patience::longest_wait`](crate::Patience::longest_wait).
pub(crate) const LONGEST_HOLD: Duration = Duration::from_secs(300);

/// The longest pause that a host can require.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// The number of hosts that are remembered before the idle ones are forgotten.
const REMEMBERED: usize = 1024;

/// Every host with requests in progress or recent requests.
pub(crate) struct Hosts {
    per_host: usize,
    delay: Duration,
    /// The places for all hosts, if that number is limited.
    in_all: Option<Arc<Semaphore>>,
    known: Mutex<Known>,
    waited: AtomicU64,
}

struct Known {
    hosts: HashMap<String, Arc<Host>>,
    /// The number of hosts at which idle ones are forgotten next.
    tidy_at: usize,
}

struct Host {
    places: Places,
    times: Mutex<Times>,
}

struct Places {
    first: Arc<Semaphore>,
    beside: Arc<Semaphore>,
}

/// The queue of a request at a host. A request that is made while another response of the same host is still being
/// read, and holds its place, would wait for itself without a second queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The queue of ordinary requests.
    First,
    /// The queue of requests that are made while a response is read.
    Beside,
}

struct Times {
    /// The time at which the last request began or, if it has ended, ended; `None` before the first.
    last: Option<Instant>,
    /// The minimum pause after it: the configured one, or the one that this host requires.
    pause: Duration,
    /// The end of the hold, as wall-clock time, because a hold outlives the process.
    hold: Option<SystemTime>,
}

impl Times {
    /// Returns the end of the pause after the last request.
    fn rested(&self) -> Option<Instant> {
        self.last.map(|last| last + self.pause)
    }
}

/// The host is on hold for longer than a request waits.
#[derive(Debug)]
pub(crate) struct OnHold(pub(crate) SystemTime);

/// A place at a host. Dropping it admits the next request, after the pause.
pub(crate) struct Place {
    host: Arc<Host>,
    _permit: OwnedSemaphorePermit,
    _in_all: Option<OwnedSemaphorePermit>,
}

impl Drop for Place {
    fn drop(&mut self) {
        // The pause also counts from the end: a host that needs ten seconds for a page gets its pause after them.
        self.host.times().last = Some(Instant::now());
    }
}

impl Hosts {
    pub(crate) fn new(per_host: usize, in_all: Option<usize>, delay: Duration) -> Self {
        let known = Known { hosts: HashMap::new(), tidy_at: REMEMBERED };
        let in_all = in_all.map(|places| Arc::new(Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS))));
        // With zero places, requests would wait without end.
        Self {
            per_host: per_host.clamp(1, Semaphore::MAX_PERMITS),
            delay,
            in_all,
            known: Mutex::new(known),
            waited: AtomicU64::new(0),
        }
    }

    /// Waits for a place, the pause and the hold, in this order.
    pub(crate) async fn turn(&self, name: &str, lane: Lane) -> Result<Place, OnHold> {
        let host = self.host(name);
        let began = Instant::now();
        // Also checked before queueing: a request that would be rejected after the wait is rejected now.
        host.hold_in_reach()?;
        let places = match lane {
            Lane::First => &host.places.first,
            Lane::Beside => &host.places.beside,
        };
        let permit = Arc::clone(places).acquire_owned().await.expect("the semaphore is never closed");
        let in_all = loop {
            // Taken last and released before a wait, so that requests that wait for one host do not delay those to
            // another.
            let in_all = match &self.in_all {
                Some(places) if lane == Lane::First => {
                    Some(Arc::clone(places).acquire_owned().await.expect("the semaphore is never closed"))
                }
                _ => None,
            };
            let Some(wait) = host.next_wait()? else { break in_all };
            drop(in_all);
            tracing::debug!(host = name, ?wait, "waiting for a turn");
            tokio::time::sleep(wait).await;
        };
        let waited = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.waited.fetch_add(waited, Ordering::Relaxed);
        Ok(Place { host, _permit: permit, _in_all: in_all })
    }

    /// Sends nothing to this host before `until`. A hold is never shortened.
    pub(crate) fn hold(&self, name: &str, until: SystemTime) {
        if until <= SystemTime::now() {
            return;
        }
        let host = self.host(name);
        let mut times = host.times();
        times.hold = times.hold.max(Some(until));
    }

    /// Increases the pause between requests to this host. A pause is never shortened; it is forgotten with the host,
    /// when the last request was longer ago than that and memory is needed.
    pub(crate) fn slow_down(&self, name: &str, pause: Duration) {
        let host = self.host(name);
        let mut times = host.times();
        times.pause = times.pause.max(pause.min(LONGEST_PAUSE));
    }

    /// Returns the end of the hold of this host, if it is on hold.
    pub(crate) fn held_until(&self, name: &str) -> Option<SystemTime> {
        let host = self.known().hosts.get(&folded(name)).cloned()?;
        host.hold()
    }

    /// Returns the time that all requests have waited for their turns.
    pub(crate) fn waited(&self) -> Duration {
        Duration::from_millis(self.waited.load(Ordering::Relaxed))
    }

    fn host(&self, name: &str) -> Arc<Host> {
        let mut known = self.known();
        if known.hosts.len() >= known.tidy_at {
            // Holders of places and waiting requests also hold the host. The count under this lock is exact enough,
            // since new holders are created only here.
            known.hosts.retain(|_, host| Arc::strong_count(host) > 1 || host.is_busy());
            known.tidy_at = (known.hosts.len() * 2).max(REMEMBERED);
        }
        let host = known.hosts.entry(folded(name)).or_insert_with(|| {
            let times = Times { last: None, pause: self.delay, hold: None };
            let places = || Arc::new(Semaphore::new(self.per_host));
            Arc::new(Host { places: Places { first: places(), beside: places() }, times: Mutex::new(times) })
        });
        Arc::clone(host)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host {
    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the hold, if it is in force.
    fn hold(&self) -> Option<SystemTime> {
        self.times().hold.filter(|until| *until > SystemTime::now())
    }

    /// Returns the rest of the hold, or `None`; a hold that is too long is an error.
    fn hold_in_reach(&self) -> Result<Option<Duration>, OnHold> {
        let Some(until) = self.hold() else { return Ok(None) };
        match until.duration_since(SystemTime::now()) {
            Ok(rest) if rest > LONGEST_HOLD => Err(OnHold(until)),
            Ok(rest) => Ok(Some(rest)),
            Err(_) => Ok(None),
        }
    }

    /// Returns the remaining wait, or takes the turn and returns `None`. Called again after every wait, because holds
    /// may have been added meanwhile.
    fn next_wait(&self) -> Result<Option<Duration>, OnHold> {
        if let Some(rest) = self.hold_in_reach()? {
            // More than zero, so that a clock that rounds down does not cause a busy loop.
            return Ok(Some(rest.max(Duration::from_millis(1))));
        }
        let mut times = self.times();
        let now = Instant::now();
        if let Some(rested) = times.rested().filter(|rested| *rested > now) {
            return Ok(Some(rested - now));
        }
        // With several places, the starts of requests are also spaced.
        times.last = Some(now);
        Ok(None)
    }

    fn is_busy(&self) -> bool {
        self.hold().is_some() || self.times().rested().is_some_and(|rested| rested > Instant::now())
    }
}

/// Returns the host's name in the form for comparison.
fn folded(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon(seconds: u64) -> SystemTime {
        SystemTime::now() + Duration::from_secs(seconds)
    }

    #[tokio::test]
    async fn one_at_a_time_and_in_order() {
        let hosts = Arc::new(Hosts::new(1, None, Duration::ZERO));
        let first = hosts.turn("a", Lane::First).await.expect("free");
        let (sender, mut order) = tokio::sync::mpsc::unbounded_channel();
        for number in 0..3 {
            let (hosts, sender) = (Arc::clone(&hosts), sender.clone());
            tokio::spawn(async move {
                let _place = hosts.turn("A.", Lane::First).await.expect("free at some time");
                sender.send(number).expect("heard");
            });
            tokio::task::yield_now().await;
        }
        assert!(order.try_recv().is_err(), "the place is taken");
        let _other = hosts.turn("b", Lane::First).await.expect("another host waits for nobody");
        drop(first);
        for number in 0..3 {
            assert_eq!(order.recv().await, Some(number));
        }
    }

    #[tokio::test]
    async fn whoever_holds_a_place_can_ask_beside_and_is_held_all_the_same() {
        let hosts = Hosts::new(1, None, Duration::ZERO);
        let _place = hosts.turn("a", Lane::First).await.expect("free");
        drop(hosts.turn("a", Lane::Beside).await.expect("free, too"));
        hosts.hold("a", soon(86_400));
        assert!(hosts.turn("a", Lane::Beside).await.is_err());
    }

    #[tokio::test]
    async fn the_pause_counts_from_the_end() {
        let pause = Duration::from_millis(60);
        let hosts = Hosts::new(1, None, pause);
        let place = hosts.turn("a", Lane::First).await.expect("free");
        tokio::time::sleep(pause * 2).await;
        drop(place);
        let ended = Instant::now();
        let _place = hosts.turn("a", Lane::First).await.expect("free");
        assert!(ended.elapsed() >= pause);
        assert!(hosts.waited() >= pause);
    }

    #[tokio::test]
    async fn several_places_start_apart() {
        let pause = Duration::from_millis(40);
        let hosts = Hosts::new(3, None, pause);
        let began = Instant::now();
        let _places = (
            hosts.turn("a", Lane::First).await,
            hosts.turn("a", Lane::First).await,
            hosts.turn("a", Lane::First).await,
        );
        assert!(began.elapsed() >= 2 * pause);
    }

    #[tokio::test]
    async fn a_host_that_asks_for_more_time_has_it() {
        let pause = Duration::from_millis(60);
        let hosts = Hosts::new(2, None, Duration::ZERO);
        drop(hosts.turn("a", Lane::First).await.expect("free"));
        hosts.slow_down("A", pause);
        hosts.slow_down("a", pause / 2);
        let began = Instant::now();
        let _first = hosts.turn("a", Lane::First).await.expect("free");
        let _second = hosts.turn("a", Lane::First).await.expect("free");
        assert!(began.elapsed() >= pause + pause / 2, "{:?}", began.elapsed());
        // The other hosts keep their pause, or this would take an hour.
        hosts.slow_down("a", Duration::from_secs(3600));
        let others = async { (hosts.turn("b", Lane::First).await, hosts.turn("b", Lane::First).await) };
        let _others = tokio::time::timeout(Duration::from_secs(60), others).await.expect("at once");
    }

    #[tokio::test]
    async fn places_in_all_are_counted_over_hosts() {
        let hosts = Arc::new(Hosts::new(5, Some(2), Duration::ZERO));
        let first = hosts.turn("a", Lane::First).await.expect("free");
        let _second = hosts.turn("b", Lane::First).await.expect("free");
        let third = tokio::spawn({
            let hosts = Arc::clone(&hosts);
            async move { hosts.turn("c", Lane::First).await.expect("free at some time") }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!third.is_finished(), "all places are taken");
        let _beside = hosts.turn("a", Lane::Beside).await.expect("not counted");
        drop(first);
        third.await.expect("no panic");
    }

    #[tokio::test]
    async fn who_waits_for_a_host_keeps_nobody_from_another() {
        let hosts = Arc::new(Hosts::new(1, Some(1), Duration::ZERO));
        hosts.hold("held", soon(100));
        let waiting = tokio::spawn({
            let hosts = Arc::clone(&hosts);
            async move { hosts.turn("held", Lane::First).await.map(drop) }
        });
        tokio::task::yield_now().await;
        for _ in 0..3 {
            drop(hosts.turn("free", Lane::First).await.expect("free"));
        }
        waiting.abort();
    }

    #[tokio::test]
    async fn holds_are_kept_and_never_shortened() {
        let hosts = Hosts::new(1, None, Duration::ZERO);
        let later = soon(86_400);
        hosts.hold("Example.ORG", later);
        hosts.hold("example.org", soon(5));
        assert_eq!(hosts.held_until("example.org."), Some(later));
        assert_eq!(hosts.held_until("example.com"), None);
        assert!(matches!(hosts.turn("example.org", Lane::First).await, Err(OnHold(until)) if until == later));
        hosts.hold("past.example", SystemTime::UNIX_EPOCH);
        assert_eq!(hosts.held_until("past.example"), None);
    }

    #[tokio::test]
    async fn a_short_hold_is_waited_through() {
        let hosts = Hosts::new(1, None, Duration::ZERO);
        let until = SystemTime::now() + Duration::from_millis(80);
        hosts.hold("a", until);
        let _place = hosts.turn("a", Lane::First).await.expect("after the hold");
        assert!(SystemTime::now() >= until);
    }

    #[tokio::test]
    async fn idle_hosts_are_forgotten_and_others_are_not() {
        let hosts = Hosts::new(1, None, Duration::ZERO);
        hosts.hold("held", soon(1000));
        let _place = hosts.turn("asked", Lane::First).await.expect("free");
        for number in 0..5 * REMEMBERED {
            drop(hosts.turn(&number.to_string(), Lane::First).await.expect("free"));
        }
        let known = hosts.known();
        assert!(known.hosts.len() <= REMEMBERED + 2, "{}", known.hosts.len());
        assert!(known.hosts.contains_key("held") && known.hosts.contains_key("asked"));
    }
}
