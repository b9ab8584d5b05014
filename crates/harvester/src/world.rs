//! The world around a harvest: network and time, as traits.
//!
//! A harvest needs no more of the network than [`Transport`], and no more of the time than [`Clock`]; what is stored goes
//! through a [`Sink`](crate::sink::Sink) and the [`State`](crate::state::State). A simulation implements both, and runs the real
//! planner and driver without sockets and in virtual time.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use modoai_fetch::{Ask, Body, Client, FetchError, Fetched, Start, Surprise};

/// Sends requests.
pub trait Transport: Clone + Send + Sync + 'static {
    /// The body of a response.
    type Body: Pieces;

    /// Sends one request, and returns the response as soon as its headers were received.
    fn get(&self, ask: Ask) -> impl Future<Output = Result<Fetched<Self::Body>, FetchError>> + Send;

    /// The same, restricted to public addresses and to where the harvest starts.
    fn restricted_to(&self, _start: Start) -> Result<Self, FetchError> {
        Ok(self.clone())
    }

    /// The same, counting the requests that it sends in this counter, redirects included. Without it, none are counted.
    fn counting(&self, _sent: Arc<AtomicU64>) -> Self {
        self.clone()
    }

    /// The host where the harvest starts, if its address is public.
    fn public_host(&self) -> Option<String> {
        None
    }
}

/// A body, in pieces.
pub trait Pieces: Send + 'static {
    /// The next piece; none at the end. After an error, no piece follows.
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, FetchError>> + Send;

    /// All pieces, and the error that ends them, if they are in memory already: a page is then read without another thread.
    fn in_memory(&mut self) -> Option<(Vec<Bytes>, Option<FetchError>)> {
        None
    }

    /// The number of bytes received so far, as sent.
    fn wire_bytes(&self) -> u64;

    /// Differences between the body and its labels; complete at the end.
    fn surprises(&self) -> &[Surprise] {
        &[]
    }
}

/// A clock: the present, and waits.
pub trait Clock: Clone + Send + Sync + 'static {
    /// The present.
    fn now(&self) -> SystemTime;

    /// Returns after that time.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// The clock of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(time)
    }
}

impl Transport for Client {
    type Body = Body;

    fn get(&self, ask: Ask) -> impl Future<Output = Result<Fetched, FetchError>> + Send {
        Client::get(self, ask)
    }

    fn restricted_to(&self, start: Start) -> Result<Self, FetchError> {
        Client::restricted_to(self, [start])
    }

    fn counting(&self, sent: Arc<AtomicU64>) -> Self {
        Client::counting(self, sent)
    }

    fn public_host(&self) -> Option<String> {
        self.public_starts().into_iter().next()
    }
}

impl Pieces for Body {
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, FetchError>> + Send {
        Body::chunk(self)
    }

    fn wire_bytes(&self) -> u64 {
        Body::wire_bytes(self)
    }

    fn surprises(&self) -> &[Surprise] {
        Body::surprises(self)
    }
}
