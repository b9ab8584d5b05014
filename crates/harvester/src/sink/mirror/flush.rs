//! Writes files to the disk in the background while the next pages arrive.
//!
//! A mirror is durable when it ends, not page by page, so the whole of it would be written out at the end while nothing
//! else happens. [`Flusher::begin`] starts that early, on a separate thread; [`Flusher::finish`] writes out the rest.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;

/// A background flush begins when the mirror has written this many bytes since the last one began. Less than that is
/// written out within milliseconds at the end.
const MIN_FLUSH_BYTES: u64 = 8 << 20;

/// Flushes the file system of one directory.
pub(super) struct Flusher {
    root: Arc<OwnedFd>,
    unflushed: u64,
    running: Option<JoinHandle<io::Result<()>>>,
}

impl Flusher {
    pub(super) fn new(root: Arc<OwnedFd>) -> Self {
        Self { root, unflushed: 0, running: None }
    }

    /// Counts bytes that were written.
    pub(super) fn wrote(&mut self, bytes: u64) {
        self.unflushed += bytes;
    }

    /// Begins a flush in the background if enough was written and none is running. Returns the error of the last one.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        if self.unflushed < MIN_FLUSH_BYTES || self.running.as_ref().is_some_and(|running| !running.is_finished()) {
            return Ok(());
        }
        self.wait()?;
        self.unflushed = 0;
        let root = self.root.clone();
        let thread = std::thread::Builder::new().name("flush".to_owned());
        // Without a thread, everything is written out at the end.
        self.running = thread.spawn(move || flush(&root)).ok();
        Ok(())
    }

    /// Flushes everything that was written, and waits for it.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.wait()?;
        flush(&self.root)
    }

    fn wait(&mut self) -> io::Result<()> {
        let ended = self.running.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| ended.unwrap_or_else(|_| Err(io::Error::other("the flush thread panicked"))))
    }
}

fn flush(root: &OwnedFd) -> io::Result<()> {
    Ok(rustix::fs::syncfs(root)?)
}
