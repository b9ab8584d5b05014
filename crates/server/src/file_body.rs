//! A file, or a part of one, as the body of a response.
//!
//! Exactly the announced number of bytes is sent, and all of them from one state of the file: if it shrinks or is
//! written to meanwhile, the body ends with an error. Chunks are read on blocking threads, one ahead of the client, so
//! a slow client costs two chunks of memory and no thread.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use modoai_repository::host::Representation;
use modoai_repository::item::Fingerprint;
use modoai_repository::site::folder;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::body::Body;

/// Large enough that system calls and thread changes do not matter, small enough for a thousand clients.
const CHUNK: u64 = 128 * 1024;

/// The unsent part of a file.
#[derive(Debug)]
pub(crate) struct FileBody {
    source: Arc<Source>,
    /// The bytes that have not been sent.
    unsent: Range<u64>,
    next: Next,
}

#[derive(Debug)]
enum Next {
    Ready(Bytes),
    Reading(JoinHandle<io::Result<Bytes>>),
    Failed,
}

#[derive(Debug)]
struct Source {
    file: File,
    state: Fingerprint,
    /// The offset after the last byte that is sent.
    end: u64,
}

/// Returns the body for these bytes of a file, with the first chunk read. Blocks.
pub(crate) fn open(representation: Representation, bytes: Range<u64>) -> io::Result<Body> {
    let Representation { file, fingerprint, .. } = representation;
    let source = Source { file, state: fingerprint, end: bytes.end };
    let first = source.read(bytes.start)?;
    if first.len() as u64 == bytes.end - bytes.start {
        return Ok(Body::Whole(first));
    }
    Ok(Body::File(FileBody { source: Arc::new(source), unsent: bytes, next: Next::Ready(first) }))
}

impl FileBody {
    pub(crate) fn remaining(&self) -> u64 {
        self.unsent.end - self.unsent.start
    }

    pub(crate) fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.unsent.is_empty() {
            return Poll::Ready(None);
        }
        let chunk = match std::mem::replace(&mut self.next, Next::Failed) {
            Next::Ready(chunk) => Ok(chunk),
            Next::Reading(mut reading) => match Pin::new(&mut reading).poll(context) {
                Poll::Pending => {
                    self.next = Next::Reading(reading);
                    return Poll::Pending;
                }
                Poll::Ready(result) => result.unwrap_or_else(|panic| Err(io::Error::other(panic))),
            },
            Next::Failed => Err(io::Error::other("failed to read the file")),
        };
        if let Ok(chunk) = &chunk {
            self.unsent.start += chunk.len() as u64;
            if !self.unsent.is_empty() {
                let (source, at) = (self.source.clone(), self.unsent.start);
                self.next = Next::Reading(spawn_blocking(move || source.read(at)));
            }
        }
        Poll::Ready(Some(chunk))
    }
}

impl Source {
    /// Reads the next chunk. The last one is returned only if the file is unchanged.
    fn read(&self, at: u64) -> io::Result<Bytes> {
        let length = CHUNK.min(self.end - at) as usize;
        let mut buffer = Vec::with_capacity(length);
        while buffer.len() < length {
            let position = at + buffer.len() as u64;
            match rustix::io::pread(&self.file, spare_capacity(&mut buffer), position) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the file was truncated while it was sent",
                    ));
                }
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        buffer.truncate(length);
        if at + length as u64 == self.end {
            // Not the change time: a file that is replaced or removed keeps its bytes for processes that have it open.
            let now = folder::fingerprint_of(&self.file)?;
            if (now.size, now.modified) != (self.state.size, self.state.modified) {
                return Err(io::Error::other("the file was modified while it was sent"));
            }
        }
        Ok(buffer.into())
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    fn representation(file: &File) -> Representation {
        let fingerprint = folder::fingerprint_of(file).expect("a state");
        Representation { headers: Vec::new(), file: file.try_clone().expect("a file"), fingerprint }
    }

    #[tokio::test]
    async fn exactly_the_bytes_asked_for_are_sent() {
        let bytes: Vec<u8> = (0..5 * CHUNK / 2).map(|index| (index % 251) as u8).collect();
        let file = tempfile::tempfile().expect("a file");
        io::Write::write_all(&mut &file, &bytes).expect("written");
        let size = bytes.len() as u64;
        for range in [0..size, 0..0, 0..1, 7..CHUNK, 0..CHUNK, 1..CHUNK + 1, 3..CHUNK + 4, size - 1..size] {
            let expected = &bytes[range.start as usize..range.end as usize];
            let body = open(representation(&file), range).expect("readable");
            assert!(body.collect().await.expect("complete").to_bytes() == expected);
        }
    }

    #[tokio::test]
    async fn a_file_that_changes_is_not_completed() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(10 * CHUNK).expect("sized");
        let shrunk = open(representation(&file), 0..10 * CHUNK).expect("readable");
        let written = open(representation(&file), 0..5 * CHUNK).expect("readable");
        file.set_len(7 * CHUNK).expect("sized");
        shrunk.collect().await.expect_err("bytes are missing");
        written.collect().await.expect_err("bytes are of two states");
    }
}
