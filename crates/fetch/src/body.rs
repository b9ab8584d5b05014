//! A body as it comes: in bounded pieces, decoded, with an end that can be believed.

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

/// The rest of an answer, still on its way.
///
/// The place at the host is held until the end is reached, something fails, or this is dropped: a body that is kept and not
/// read keeps everybody else waiting.
pub struct Body {
    response: reqwest::Response,
    url: Url,
    decoder: Decoder,
    /// Came from the wire and waits to be decoded.
    input: Bytes,
    wire_bytes: u64,
    /// How long the body is on the wire, if that was said.
    announced: Option<u64>,
    state: State,
    first_byte_timeout: Duration,
    idle_timeout: Duration,
    pace: Pace,
    counters: Arc<Counters>,
    place: Option<Place>,
}

/// What was read of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadTo {
    /// The bytes, no more than were allowed.
    pub bytes: Bytes,
    /// Whether they are all there is.
    pub is_whole: bool,
}

/// How fast a body comes. Only what is waited for counts: whoever reads slowly must not blame the server.
struct Pace {
    /// How long one waits before judging.
    stretch: Duration,
    /// How many bytes have to come in that time.
    least: u64,
    waited: Duration,
    came: u64,
}

impl Pace {
    fn of(manners: &Manners) -> Self {
        let least = manners.least_rate as f64 * manners.first_byte_timeout.as_secs_f64();
        Self { stretch: manners.first_byte_timeout, least: least as u64, waited: Duration::ZERO, came: 0 }
    }

    /// Counts a piece. Whether the server is still worth waiting for.
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
    /// More may come.
    Open,
    /// The wire is at its end; what was read is not all handed out.
    Draining,
    /// All is handed out.
    Ended,
    /// It went wrong, and there is no way on.
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

    /// An answer without a body, which needs no place any more.
    #[must_use]
    pub(crate) fn none(mut self) -> Self {
        self.state = State::Ended;
        self.place = None;
        self
    }

    /// The next piece, decoded, of at most 256 KB; none at the true end and only there. A body without an encoding is
    /// handed on as it came, without a copy. After an error there is nothing more to come.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, FetchError> {
        // Decoding one large piece of input can go on for long without waiting for anything; others want to work too.
        tokio::task::consume_budget().await;
        let next = self.next().await;
        if next.as_ref().map_or(true, Option::is_none) {
            self.state = if next.is_ok() { State::Ended } else { State::Failed };
            self.place = None;
        }
        next
    }

    /// All that is left, if it is no more than `limit` bytes.
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

    /// The error that there is more than was allowed.
    pub fn too_large(self, limit: usize) -> FetchError {
        FetchError::TooLarge { url: self.url.into(), limit }
    }

    /// The first `limit` bytes of what is left, or all if it is less. A body in one piece is not copied.
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
        // What is announced spares growing again and again; what is announced falsely costs no more than the limit.
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

    /// How many bytes of the body have come so far, as sent.
    pub fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }

    /// In what the body is not as it was labelled. Complete at the end.
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

    /// Waits for more from the wire.
    async fn receive(&mut self) -> Result<(), FetchError> {
        let (limit, what) = match self.wire_bytes {
            0 => (self.first_byte_timeout, Wait::FirstByte),
            _ => (self.idle_timeout, Wait::NextByte),
        };
        let more = async {
            loop {
                match self.response.chunk().await {
                    // HTTP/2 allows empty frames. They are no sign of life.
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
                // The first byte has a limit of its own.
                let waited = if self.wire_bytes == 0 { Duration::ZERO } else { asked.elapsed() };
                if !self.pace.keeps_up(waited, bytes.len()) {
                    return Err(FetchError::TimedOut { what: Wait::MoreThanATrickle, url: self.url.to_string() });
                }
                self.wire_bytes += bytes.len() as u64;
                self.counters.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                self.input = match self.input.is_empty() {
                    true => bytes,
                    // A few bytes only: too few to tell what they are.
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
