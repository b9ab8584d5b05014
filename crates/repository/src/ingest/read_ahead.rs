//! Titles and digests, read before anybody asks.
//!
//! A first index reads no files, so that it is fast. The first harvester would then wait for every page to be opened and
//! every file to be hashed; and as long as digests are not known, a change of permissions cannot be told from a change of
//! bytes. So files are read meanwhile, a little at a time, by a thread of its own: a large file must keep nobody from
//! noticing changes.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::keeper::Status;
use super::read::Reader;
use crate::catalogue::Catalogue;
use crate::site::Site;

/// One go takes about so long, unless a single file takes longer.
const SLICE: Duration = Duration::from_millis(50);

/// Reads what is not yet known of the items in a catalogue, until it is dropped.
pub(super) struct ReadAhead {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

/// What is said to the thread.
#[derive(Default)]
struct Signal {
    stop: AtomicBool,
    /// Whether there may be items not looked at yet.
    more: Mutex<bool>,
    said: Condvar,
}

impl ReadAhead {
    /// Files up to the size `digests_up_to` are hashed. Nothing is read before the first [`rewind`](Self::rewind), nor
    /// while the site cannot be believed.
    pub(super) fn start(
        site: Arc<Site>,
        catalogue: Arc<dyn Catalogue>,
        digests_up_to: u64,
        status: Arc<Status>,
    ) -> io::Result<Self> {
        let signal = Arc::new(Signal::default());
        let reading = Reading { site, catalogue, digests_up_to, status, signal: signal.clone() };
        let thread = std::thread::Builder::new().name("read-ahead".to_owned()).spawn(move || reading.run())?;
        Ok(Self { signal, thread: Some(thread) })
    }

    /// Begins anew: there may be items not looked at yet.
    pub(super) fn rewind(&self) {
        *self.signal.more.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.signal.said.notify_all();
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        let more = self.signal.more.lock().unwrap_or_else(PoisonError::into_inner);
        self.signal.stop.store(true, Ordering::Relaxed);
        drop(more);
        self.signal.said.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic has been printed where it happened, and only means that files are read later.
            let _ = thread.join();
        }
    }
}

struct Reading {
    site: Arc<Site>,
    catalogue: Arc<dyn Catalogue>,
    digests_up_to: u64,
    status: Arc<Status>,
    signal: Arc<Signal>,
}

impl Reading {
    fn run(&self) {
        while self.wait() {
            let mut after = Some(i64::MIN);
            while let Some(number) = after {
                let start = Instant::now();
                after = self.read_some(number).filter(|_| self.status.suspended().is_none());
                // As long at rest as at work: reading ahead must not be noticed.
                if after.is_some() && self.rest(start.elapsed()) {
                    return;
                }
            }
        }
    }

    /// Waits until there is more to read; false if it is time to stop.
    fn wait(&self) -> bool {
        let idle = |more: &mut bool| !*more && !self.is_stopped();
        let more = self.signal.more.lock().unwrap_or_else(PoisonError::into_inner);
        let mut more = self.signal.said.wait_while(more, idle).unwrap_or_else(PoisonError::into_inner);
        *more = false;
        !self.is_stopped()
    }

    /// Does nothing for some time; true if it is time to stop.
    fn rest(&self, time: Duration) -> bool {
        let more = self.signal.more.lock().unwrap_or_else(PoisonError::into_inner);
        let rested = self.signal.said.wait_timeout_while(more, time, |_| !self.is_stopped());
        drop(rested);
        self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.signal.stop.load(Ordering::Relaxed)
    }

    /// Reads some files after the item of this number, and tells the last one's; none if there are none left. What cannot
    /// be read or remembered now is left to whoever needs it.
    fn read_some(&self, after: i64) -> Option<i64> {
        let start = Instant::now();
        let Self { site, catalogue, digests_up_to, signal, .. } = self;
        let reader = Reader { site, catalogue: &**catalogue, digests_up_to: *digests_up_to, stop: &signal.stop };
        let items = reader.unread(after).unwrap_or_default();
        let mut last = None;
        let mut learned = Vec::new();
        for item in &items {
            learned.extend(reader.read(item).ok().flatten());
            last = Some(item.number);
            if self.is_stopped() || start.elapsed() > SLICE {
                break;
            }
        }
        if let Err(error) = self.catalogue.learn(&learned) {
            tracing::debug!(%error, "what was read could not be remembered");
        }
        last
    }
}
