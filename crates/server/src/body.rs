//! Bodies of responses, and the writer through which a blocking thread fills one.
//!
//! A body that cannot be completed ends with an error, never with a clean end: hyper then drops the connection with the
//! length or the last chunk missing, and the client detects it. Memory per response is bounded by a few chunks; a slow
//! client slows its writer down, and one that disconnects makes it fail immediately.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::file_body::FileBody;

/// Bytes per chunk of a streamed answer. What fits into one is sent with its Content-Length. Each costs two threads a
/// wake-up, so it is large; but below 128 KB, from where on the allocator asks the kernel for every one.
const CHUNK: usize = 120 * 1024;

/// Chunks that may wait for the client.
const WAITING: usize = 4;

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Body {
    Empty,
    Whole(Bytes),
    File(FileBody),
    Stream(mpsc::Receiver<Part>),
}

/// A message of a writer. A channel that closes before the end was announced means that the writer failed.
#[derive(Debug)]
pub(crate) enum Part {
    Chunk(Bytes),
    End,
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let part = match &mut *self {
            Self::Empty => return Poll::Ready(None),
            Self::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = Self::Empty;
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            Self::File(file) => return file.poll_chunk(context).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data))),
            Self::Stream(parts) => ready!(parts.poll_recv(context)),
        };
        match part {
            Some(Part::Chunk(chunk)) => Poll::Ready(Some(Ok(Frame::data(chunk)))),
            Some(Part::End) => {
                *self = Self::Empty;
                Poll::Ready(None)
            }
            None => Poll::Ready(Some(Err(io::Error::other("the response could not be completed")))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Whole(bytes) => bytes.is_empty(),
            Self::File(_) | Self::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::File(file) => SizeHint::with_exact(file.remaining()),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// A turn at computing. It is released while the writer waits for its client, so that slow clients hold threads, which
/// are cheap, but not the turns of others.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turn {
    pub(crate) async fn take(turns: Arc<Semaphore>) -> Self {
        let permit = turns.clone().acquire_owned().await.ok();
        Self { turns, permit }
    }

    /// Returns a turn that is waited for on the thread that needs it: where threads can run out, a request that waits
    /// for a thread must not hold what the others are waiting for.
    pub(crate) fn later(turns: Arc<Semaphore>) -> Self {
        Self { turns, permit: None }
    }

    fn wait(&mut self) {
        self.permit = Handle::current().block_on(self.turns.clone().acquire_owned()).ok();
    }

    fn pause<T>(&mut self, wait: impl FnOnce() -> T) -> T {
        self.permit = None;
        let result = wait();
        self.wait();
        result
    }
}

/// Fills a body from a blocking thread. The body is returned with its first full chunk, or when it is finished; until
/// then the response can still become an error. Dropping the writer unfinished aborts the body.
#[derive(Debug)]
pub(crate) struct Writer {
    turn: Turn,
    start: Option<oneshot::Sender<Body>>,
    parts: Option<mpsc::Sender<Part>>,
    buffer: Vec<u8>,
}

impl Writer {
    pub(crate) fn new(turn: Turn) -> (Self, oneshot::Receiver<Body>) {
        let (start, started) = oneshot::channel();
        (Self { turn, start: Some(start), parts: None, buffer: Vec::new() }, started)
    }

    /// Waits for a turn that was left for later. Fails if the client has disconnected.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.turn.wait();
        if self.start.as_ref().is_some_and(oneshot::Sender::is_closed) { Err(gone()) } else { Ok(()) }
    }

    /// Completes the body.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        // Nothing is left to compute.
        self.turn.permit = None;
        let rest = Bytes::from(std::mem::take(&mut self.buffer));
        match self.start.take() {
            Some(start) if rest.is_empty() => start.send(Body::Empty).map_err(|_| gone()),
            Some(start) => start.send(Body::Whole(rest)).map_err(|_| gone()),
            None => {
                let parts = self.parts.take().ok_or_else(gone)?;
                let chunk = (!rest.is_empty()).then_some(Part::Chunk(rest));
                chunk.into_iter().chain([Part::End]).try_for_each(|part| parts.blocking_send(part).map_err(|_| gone()))
            }
        }
    }

    fn send_buffer(&mut self) -> io::Result<()> {
        if let Some(start) = self.start.take() {
            let (sender, receiver) = mpsc::channel(WAITING);
            self.parts = Some(sender);
            start.send(Body::Stream(receiver)).map_err(|_| gone())?;
        }
        let chunk = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK));
        self.send(Part::Chunk(chunk.into()))
    }

    fn send(&mut self, part: Part) -> io::Result<()> {
        let parts = self.parts.as_ref().ok_or_else(gone)?;
        match parts.try_send(part) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(_)) => Err(gone()),
            Err(TrySendError::Full(part)) => self.turn.pause(|| parts.blocking_send(part)).map_err(|_| gone()),
        }
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() == CHUNK {
            self.send_buffer()?;
        }
        let taken = bytes.len().min(CHUNK - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// Chunks are sent when they are full: the flushes of a response would only make them smaller.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client closed the connection")
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    async fn filled(fill: impl FnOnce(Writer) -> io::Result<()> + Send + 'static) -> Option<io::Result<Bytes>> {
        let (writer, started) = Writer::new(Turn::take(Arc::new(Semaphore::new(1))).await);
        let task = tokio::task::spawn_blocking(move || fill(writer));
        let body = started.await.ok();
        let bytes = match body {
            Some(body) => Some(body.collect().await.map(http_body_util::Collected::to_bytes)),
            None => None,
        };
        task.await.expect("no panic").ok();
        bytes
    }

    #[tokio::test]
    async fn everything_written_arrives() {
        for size in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 20 * CHUNK + 7] {
            let bytes: Vec<u8> = (0..size).map(|index| index as u8).collect();
            let expected = bytes.clone();
            let arrived = filled(move |mut writer| {
                writer.write_all(&bytes)?;
                writer.finish()
            });
            assert!(arrived.await.expect("started").expect("complete") == expected, "{size} bytes");
        }
    }

    #[tokio::test]
    async fn an_unfinished_body_ends_with_an_error() {
        let early = filled(|mut writer| writer.write_all(b"a few bytes"));
        assert!(early.await.is_none(), "nothing was started, so the response can still say why");
        let late = filled(|mut writer| writer.write_all(&[0; 3 * CHUNK]));
        late.await.expect("started").expect_err("aborted");
    }

    #[tokio::test]
    async fn whoever_has_nothing_left_to_compute_needs_no_turn() {
        let turns = Arc::new(Semaphore::new(1));
        let (mut writer, started) = Writer::new(Turn::take(turns.clone()).await);
        let task = tokio::task::spawn_blocking(move || {
            writer.write_all(&[0; WAITING * CHUNK + 1])?;
            writer.finish()
        });
        let body = started.await.expect("started");
        // The last part waits for this client, and another request holds the turn for that time.
        let _theirs = turns.acquire().await.expect("a turn");
        let bytes = body.collect().await.expect("complete").to_bytes();
        assert_eq!(bytes.len(), WAITING * CHUNK + 1);
        task.await.expect("no panic").expect("sent");
    }

    #[tokio::test]
    async fn nothing_is_computed_for_those_who_have_left() {
        let (mut writer, started) = Writer::new(Turn::later(Arc::new(Semaphore::new(1))));
        drop(started);
        let begun = tokio::task::spawn_blocking(move || writer.begin()).await.expect("no panic");
        assert_eq!(begun.expect_err("nobody is there").kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn a_client_that_leaves_stops_the_writer() {
        let turns = Arc::new(Semaphore::new(1));
        let (mut writer, started) = Writer::new(Turn::take(turns.clone()).await);
        let task = tokio::task::spawn_blocking(move || writer.write_all(&vec![0; 100 * CHUNK]));
        let body = started.await.expect("started");
        // The writer waits for this client now; another one gets its turn meanwhile.
        drop(turns.acquire().await.expect("a turn"));
        drop(body);
        let error = task.await.expect("no panic").expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
