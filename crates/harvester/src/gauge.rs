//! The progress of a harvest, for display by another thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Counters that only grow, and the current activity.
#[derive(Debug, Default)]
pub struct Gauge {
    /// Records that are new or changed.
    pub records: AtomicU64,
    /// Deletions.
    pub deleted: AtomicU64,
    /// Records that were already stored.
    pub unchanged: AtomicU64,
    /// Records and deletions that another source keeps.
    pub elsewhere: AtomicU64,
    /// Bytes received.
    pub bytes: AtomicU64,
    /// Requests sent, redirects included. The client counts them.
    pub requests: Arc<AtomicU64>,
    /// Records received of the list that is being harvested.
    pub received: AtomicU64,
    /// The size of that list, if the server announces it; else 0.
    pub expected: AtomicU64,
    activity: Mutex<String>,
}

impl Gauge {
    /// Sets the current activity.
    pub fn say(&self, activity: impl Into<String>) {
        if let Ok(mut said) = self.activity.lock() {
            *said = activity.into();
        }
    }

    /// Returns the current activity.
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
