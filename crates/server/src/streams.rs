//! The requests of one HTTP/2 connection: which of them wait for the client, and since when.
//!
//! HTTP/1.1 has one request at a time, and its socket shows a client that sends or takes nothing. In HTTP/2 a client can
//! stop taking one response while the socket is busy with others, or keep a connection open without requests. So each
//! response reports here when it was last read from, and the connection checks periodically.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;

/// The requests in progress on one connection.
#[derive(Debug)]
pub(crate) struct Streams {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// By number: since when the client has taken nothing; None while the server has nothing to send.
    waiting: HashMap<u64, Option<Instant>>,
    next: u64,
    /// The end of the last request, or the beginning of the connection.
    idle_since: Instant,
}

/// The recent activity of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It has requests, and the client takes what is sent.
    Busy,
    /// No request for this long.
    Idle(Duration),
    /// The client has taken nothing of a response for this long.
    Stalled(Duration),
}

impl Streams {
    pub(crate) fn new() -> Arc<Self> {
        let state = State { waiting: HashMap::new(), next: 0, idle_since: Instant::now() };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// A request begins. Every request but the first needs a permit from elsewhere, see [`Stream::hold`].
    pub(crate) fn begin(self: &Arc<Self>) -> (Stream, bool) {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        let is_first = state.waiting.is_empty();
        state.waiting.insert(number, None);
        (Stream { streams: self.clone(), number, permits: None }, is_first)
    }

    pub(crate) fn activity(&self, now: Instant) -> Activity {
        let state = self.state();
        if state.waiting.is_empty() {
            return Activity::Idle(now.saturating_duration_since(state.idle_since));
        }
        let longest = state.waiting.values().flatten().min();
        longest.map_or(Activity::Busy, |since| Activity::Stalled(now.saturating_duration_since(*since)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in progress; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Stream {
    streams: Arc<Streams>,
    number: u64,
    /// The permits that the request holds until it ends.
    permits: Option<[Option<OwnedSemaphorePermit>; 2]>,
}

impl Stream {
    /// Keeps permits until the request ends.
    pub(crate) fn hold(&mut self, permits: [Option<OwnedSemaphorePermit>; 2]) {
        self.permits = Some(permits);
    }

    /// Notes that the client was sent something, and must take it.
    pub(crate) fn gave(&self) {
        self.set(Some(Instant::now()));
    }

    /// Notes that the client has taken everything, and the server has nothing to send yet.
    pub(crate) fn waits_for_server(&self) {
        self.set(None);
    }

    fn set(&self, waiting: Option<Instant>) {
        self.streams.state().waiting.insert(self.number, waiting);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut state = self.streams.state();
        state.waiting.remove(&self.number);
        state.idle_since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_response_counts() {
        let streams = Streams::new();
        let later = || Instant::now() + Duration::from_secs(100);
        assert!(matches!(streams.activity(later()), Activity::Idle(time) if time.as_secs() >= 99));
        let (first, is_first) = streams.begin();
        let (second, is_second_first) = streams.begin();
        assert!(is_first && !is_second_first);
        assert_eq!(streams.activity(later()), Activity::Busy);
        first.gave();
        second.gave();
        second.waits_for_server();
        assert!(matches!(streams.activity(later()), Activity::Stalled(time) if time.as_secs() >= 99));
        drop(first);
        assert_eq!(streams.activity(later()), Activity::Busy);
        drop(second);
        assert!(matches!(streams.activity(Instant::now()), Activity::Idle(_)));
    }
}
