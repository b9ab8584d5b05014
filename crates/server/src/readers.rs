//! Those who look at the site: whether there are any right now, so that lists can give way to them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Whoever has just got something will want the next.
const JUST_NOW: Duration = Duration::from_millis(10);

/// Those who look at the site.
pub(crate) struct Readers {
    now: AtomicUsize,
    /// When the last one was done, in microseconds since `since`.
    last: AtomicU64,
    since: Instant,
}

impl Default for Readers {
    fn default() -> Self {
        Self { now: AtomicUsize::new(0), last: AtomicU64::new(0), since: Instant::now() }
    }
}

/// Somebody looks at the site.
pub(crate) struct Reading<'a>(&'a Readers);

impl Readers {
    pub(crate) fn begin(&self) -> Reading<'_> {
        self.now.fetch_add(1, Ordering::Relaxed);
        Reading(self)
    }

    /// Whether somebody does, or did a moment ago.
    pub(crate) fn are_there(&self) -> bool {
        let last = Duration::from_micros(self.last.load(Ordering::Relaxed));
        let is_recent = !last.is_zero() && self.since.elapsed().saturating_sub(last) < JUST_NOW;
        is_recent || self.now.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.0.last.store(now, Ordering::Relaxed);
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}
