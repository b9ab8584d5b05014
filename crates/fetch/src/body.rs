//! The body of a response: decoded, in pieces of bounded size, with a reliable distinction between complete and
//! truncated.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use url::Url;

use crate::client::Counters;
use crate::decode::{Decoder, Step, Surprise};
use crate::error::{FetchError, Wait};
use crate::host::Place;
use crate::manners::Manners;

/// The part of a response body that was not read yet.
///
/// The place at the host is held until the end is reached, reading fails, or this is dropped: a body that is kept and
/// not read delays all other requests to the host.
pub struct Body {
    response: reqwest::Response,
    url: Url,
    decoder: Decoder,
    /// Bytes that were received and not decoded yet.
    input: Bytes,
    wire_bytes: u64,
    /// The length of the body as sent, if the server has declared it.
    announced: Option<u64>,
    state: State,
    first_byte_timeout: Duration,
    idle_timeout: Duration,
    pace: Pace,
    counters: Arc<Counters>,
    place: Option<Place>,
}

/// The beginning of a body, or all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadTo {
    /// The bytes, at most as many as the limit.
    pub bytes: Bytes,
    /// True if they are the whole body.
    pub is_whole: bool,
}

/// The transfer rate of a body. Only time spent waiting for the server counts: a caller that reads slowly is not the
/// server's failure.
struct Pace {
    /// The interval in which the rate is measured.
    stretch: Duration,
    /// The minimum number of bytes to be received in that interval.
    least: u64,
    waited: Duration,
    came: u64,
}

impl Pace {
    fn of(manners: &Manners) -> Self {
        let least = manners.least_rate as f64 * manners.first_byte_timeout.as_secs_f64();
        Self { stretch: manners.first_byte_timeout, least: least as u64, waited: Duration::ZERO, came: 0 }
    }

    /// Counts a piece. Returns true if the rate is sufficient.
    fn keeps_up(&mut self, waited: Duration, came: usize) -> bool {
        self.waited += waited;
        self.came += came as u64;
        if self.waited < self.stretch {
            return true;
        }
        let enough = self.came >= self.least;
        (self.waited, self.came) = (Duration::ZERO, 0);
        enough
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// More bytes may follow.
    Open,
    /// The server has sent everything; the caller has not read all of it.
    Draining,
    /// The caller has read everything.
    Ended,
    /// Reading failed and cannot continue.
    Failed,
}

impl Body {
    pub(crate) fn new(
        response: reqwest::Response,
        url: Url,
        decoder: Decoder,
        manners: &Manners,
        counters: Arc<Counters>,
        place: Place,
    ) -> Self {
        Self {
            announced: response.content_length(),
            response,
            url,
            decoder,
            input: Bytes::new(),
            wire_bytes: 0,
            state: State::Open,
            first_byte_timeout: manners.first_byte_timeout,
            idle_timeout: manners.idle_timeout,
            pace: Pace::of(manners),
            counters,
            place: Some(place),
        }
    }

    /// Marks the body as absent and frees its place.
    #[must_use]
    pub(crate) fn none(mut self) -> Self {
        self.state = State::Ended;
        self.place = None;
        self
    }

    /// Returns the next piece, decoded, of at most 256 KB; `None` only at the true end of the body. A body without an
    /// encoding is passed on unchanged and is not copied. After an error, nothing more can be read.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, FetchError> {
        // Decoding a large piece of input can take long without a point at which this task yields to others.
        tokio::task::consume_budget().await;
        let next = self.next().await;
        if next.as_ref().map_or(true, Option::is_none) {
            self.state = if next.is_ok() { State::Ended } else { State::Failed };
            self.place = None;
        }
        next
    }

    /// Returns the rest of the body if it is not longer than `limit` bytes.
    pub async fn read_to_end(mut self, limit: usize) -> Result<Vec<u8>, FetchError> {
        let mut all = Vec::new();
        while let Some(piece) = self.chunk().await? {
            if piece.len() > limit - all.len() {
                return Err(FetchError::TooLarge { url: self.url.into(), limit });
            }
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// Returns the error for a body that exceeds the limit.
    pub fn too_large(self, limit: usize) -> FetchError {
        FetchError::TooLarge { url: self.url.into(), limit }
    }

    /// Returns the first `limit` bytes of the rest, or all of it if it is shorter. A body in one piece is not copied.
    pub async fn read_to(mut self, limit: usize) -> Result<ReadTo, FetchError> {
        let Some(mut first) = self.chunk().await? else {
            return Ok(ReadTo { bytes: Bytes::new(), is_whole: true });
        };
        if first.len() > limit {
            return Ok(ReadTo { bytes: first.split_to(limit), is_whole: false });
        }
        let Some(second) = self.chunk().await? else {
            return Ok(ReadTo { bytes: first, is_whole: true });
        };
        // The declared length avoids repeated growth; a wrong one costs no more than the limit.
        let announced = self.announced.map_or(0, |length| usize::try_from(length).unwrap_or(limit));
        let mut all = Vec::with_capacity(announced.min(limit).max(first.len() + second.len().min(limit - first.len())));
        all.extend_from_slice(&first);
        drop(first);
        let mut next = Some(second);
        while let Some(piece) = next {
            let room = limit - all.len();
            if piece.len() > room {
                all.extend_from_slice(&piece[..room]);
                return Ok(ReadTo { bytes: all.into(), is_whole: false });
            }
            all.extend_from_slice(&piece);
            next = self.chunk().await?;
        }
        Ok(ReadTo { bytes: all.into(), is_whole: true })
    }

    /// Returns the number of bytes of the body that were received so far, as sent.
    pub fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }

    /// Returns the differences between the body and its Content-Encoding. The list is complete at the end of the body.
    pub fn surprises(&self) -> &[Surprise] {
        &self.decoder.surprises
    }

    async fn next(&mut self) -> Result<Option<Bytes>, FetchError> {
        loop {
            match self.state {
                State::Ended => return Ok(None),
                State::Failed => return Err(self.cut_short()),
                State::Open | State::Draining => {}
            }
            let last = self.state == State::Draining;
            let step = self.decoder.step(&mut self.input, last).map_err(|error| FetchError::Decoding {
                url: self.url.to_string(),
                coding: error.coding,
                reason: error.reason,
            })?;
            match step {
                Step::Piece(piece) => return Ok(Some(piece)),
                Step::Ended { whole: true } => return Ok(None),
                Step::Ended { whole: false } => return Err(self.cut_short()),
                Step::NeedsMore => self.receive().await?,
            }
        }
    }

    /// Waits for more bytes from the server.
    async fn receive(&mut self) -> Result<(), FetchError> {
        let (limit, what) = match self.wire_bytes {
            0 => (self.first_byte_timeout, Wait::FirstByte),
            _ => (self.idle_timeout, Wait::NextByte),
        };
        let more = async {
            loop {
                match self.response.chunk().await {
                    // HTTP/2 allows empty frames. They do not show that the server is working.
                    Ok(Some(bytes)) if bytes.is_empty() => {}
                    received => return received,
                }
            }
        };
        let asked = Instant::now();
        let Ok(received) = tokio::time::timeout(limit, more).await else {
            return Err(FetchError::TimedOut { what, url: self.url.to_string() });
        };
        match received.map_err(|error| FetchError::in_the_body(error, &self.url, self.wire_bytes))? {
            Some(bytes) => {
                // The first byte has a separate limit.
                let waited = if self.wire_bytes == 0 { Duration::ZERO } else { asked.elapsed() };
                if !self.pace.keeps_up(waited, bytes.len()) {
                    return Err(FetchError::TimedOut { what: Wait::MoreThanATrickle, url: self.url.to_string() });
                }
                self.wire_bytes += bytes.len() as u64;
                self.counters.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                self.input = match self.input.is_empty() {
                    true => bytes,
                    // Only a few bytes: too few to detect the encoding.
                    false => [&self.input[..], &bytes].concat().into(),
                };
            }
            None => self.state = State::Draining,
        }
        Ok(())
    }

    fn cut_short(&self) -> FetchError {
        FetchError::CutShort { url: self.url.to_string(), received: self.wire_bytes, source: None }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body")
            .field("url", &self.url.as_str())
            .field("wire_bytes", &self.wire_bytes)
            .finish_non_exhaustive()
    }
}
