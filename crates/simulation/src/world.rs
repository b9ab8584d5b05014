//! What the harvester sees of a simulation: a transport without sockets, a clock that only moves when requests or waits take
//! time, and kills.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use modoai_fetch::{Ask, FetchError, Fetched, HeaderMap, HeaderValue};
use modoai_harvester::world::{Clock, Pieces, Transport};

use crate::server::Server;
use crate::store::lock;
use crate::truth::BEGINNING;

/// Requests of one run after which it is considered endless.
pub const ENDLESS: u64 = 4000;

/// The events of a run at which it can be killed.
#[derive(Debug, Default)]
pub struct Events {
    count: AtomicU64,
    kill: u64,
    /// True if the run was killed.
    pub killed: AtomicBool,
    /// True if the run did not end by itself.
    pub endless: AtomicBool,
}

impl Events {
    /// Events of which the one of that number kills the run.
    pub fn killing_at(kill: Option<u16>) -> Arc<Self> {
        Arc::new(Self { kill: kill.map_or(u64::MAX, u64::from), ..Self::default() })
    }

    /// An event. A kill unwinds the harvest from here, without running any more of it.
    pub fn happen(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) + 1 == self.kill {
            self.killed.store(true, Ordering::Relaxed);
            std::panic::resume_unwind(Box::new("killed"));
        }
    }

    fn give_up(&self) {
        self.endless.store(true, Ordering::Relaxed);
        std::panic::resume_unwind(Box::new("endless"));
    }
}

/// Virtual time, in milliseconds since the beginning of the case.
#[derive(Clone, Default)]
pub struct Ticks {
    time: Arc<AtomicU64>,
    events: Arc<Events>,
}

impl Ticks {
    /// The same time, for a run with these events.
    pub fn during(&self, events: Arc<Events>) -> Self {
        Self { time: Arc::clone(&self.time), events }
    }

    /// Time passes.
    pub fn pass(&self, time: Duration) {
        self.time.fetch_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Milliseconds since the beginning.
    pub fn elapsed(&self) -> u64 {
        self.time.load(Ordering::Relaxed)
    }

    /// The time in seconds since 1970.
    pub fn unix(&self) -> i64 {
        BEGINNING + (self.elapsed() / 1000).cast_signed()
    }
}

impl Clock for Ticks {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(BEGINNING.cast_unsigned()) + Duration::from_millis(self.elapsed())
    }

    async fn sleep(&self, time: Duration) {
        self.events.happen();
        self.pass(time);
    }
}

/// The body of a response: its pieces, and the error that ends it.
pub struct Rest(Vec<Bytes>, Option<FetchError>, u64);

impl Pieces for Rest {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchError> {
        match self.0.is_empty() {
            false => Ok(Some(self.0.remove(0))),
            true => self.1.take().map_or(Ok(None), Err),
        }
    }

    fn in_memory(&mut self) -> Option<(Vec<Bytes>, Option<FetchError>)> {
        Some((std::mem::take(&mut self.0), self.1.take()))
    }

    fn wire_bytes(&self) -> u64 {
        self.2
    }
}

/// A response of the simulated server.
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Retry-After, in seconds.
    pub retry_after: Option<u32>,
    /// Content-Type.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
    /// The error that ends the body.
    pub broken: Option<FetchError>,
}

/// The network.
#[derive(Clone)]
pub struct Network {
    /// The server.
    pub server: Arc<Mutex<Server>>,
    /// The events of the run.
    pub events: Arc<Events>,
    /// The number of requests of the run, as the harvester counts them.
    pub sent: Arc<AtomicU64>,
}

impl Transport for Network {
    type Body = Rest;

    async fn get(&self, ask: Ask) -> Result<Fetched<Rest>, FetchError> {
        self.events.happen();
        if self.sent.fetch_add(1, Ordering::Relaxed) > ENDLESS {
            self.events.give_up();
        }
        let reply = lock(&self.server).respond(&ask.url)?;
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(reply.content_type));
        if let Some(seconds) = reply.retry_after {
            headers.insert("retry-after", HeaderValue::from(seconds));
        }
        let length = reply.body.len() as u64;
        let body = Rest(vec![reply.body.into()], reply.broken, length);
        // The response is on its way.
        self.events.happen();
        Ok(Fetched { status: reply.status, headers, url: ask.url, hops: Vec::new(), body })
    }

    fn counting(&self, sent: Arc<AtomicU64>) -> Self {
        Self { sent, ..self.clone() }
    }
}
