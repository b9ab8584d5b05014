//! How far a harvest is, for whoever looks at it from another thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Counters that only grow, and what is being done.
#[derive(Debug, Default)]
pub struct Gauge {
    /// Records that are new or changed.
    pub records: AtomicU64,
    /// Deletions.
    pub deleted: AtomicU64,
    /// Records that were here already.
    pub unchanged: AtomicU64,
    /// Records and deletions that were left to somebody else, who keeps them.
    pub elsewhere: AtomicU64,
    /// Bytes received.
    pub bytes: AtomicU64,
    /// Requests sent, redirects included. The client counts them.
    pub requests: Arc<AtomicU64>,
    /// Records received of the list that is being harvested.
    pub received: AtomicU64,
    /// How many that list holds, if the server tells; else 0.
    pub expected: AtomicU64,
    activity: Mutex<String>,
}

impl Gauge {
    /// Says what is being done.
    pub fn say(&self, activity: impl Into<String>) {
        if let Ok(mut said) = self.activity.lock() {
            *said = activity.into();
        }
    }

    /// What is being done.
    pub fn activity(&self) -> String {
        self.activity.lock().map(|said| said.clone()).unwrap_or_default()
    }

    /// Adds to a counter.
    pub(crate) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }

    /// Reads a counter.
    pub fn read(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}
