//! Titles and digests, read before anybody asks.
//!
//! A first index reads no files, so that it is fast. The first harvester would then wait for every page to be opened and
//! every file to be hashed; and as long as digests are not known, a change of permissions cannot be told from a change of
//! bytes. So files are read meanwhile, a little at a time, by a thread of its own: a large file must keep nobody from
//! noticing changes. Files that change are read again by their names, since it would take long to look for them among all.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::keeper::Status;
use super::read::Reader;
use crate::catalogue::Catalogue;
use crate::item::Item;
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
    wanted: Mutex<Wanted>,
    said: Condvar,
}

/// What may not be known yet.
#[derive(Default)]
struct Wanted {
    /// Of the items of these names.
    names: Vec<String>,
    /// Of any item.
    everything: bool,
}

/// Names that wait; if there are more, everything is looked through.
const MOST_NAMES: usize = 20_000;

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
        *self.signal.wanted() = Wanted { names: Vec::new(), everything: true };
        self.signal.said.notify_all();
    }

    /// So many items have changed, of these names if those are all.
    pub(super) fn changed(&self, count: u64, names: Vec<String>) {
        let mut wanted = self.signal.wanted();
        if count > names.len() as u64 || wanted.names.len() + names.len() > MOST_NAMES {
            *wanted = Wanted { names: Vec::new(), everything: true };
        } else if !wanted.everything {
            wanted.names.extend(names);
        }
        drop(wanted);
        self.signal.said.notify_all();
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        let wanted = self.signal.wanted();
        self.signal.stop.store(true, Ordering::Relaxed);
        drop(wanted);
        self.signal.said.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic has been printed where it happened, and only means that files are read later.
            let _ = thread.join();
        }
    }
}

impl Signal {
    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wanted {
    fn is_nothing(&self) -> bool {
        self.names.is_empty() && !self.everything
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
        let Self { site, catalogue, digests_up_to, signal, .. } = self;
        let reader = Reader { site, catalogue: &**catalogue, digests_up_to: *digests_up_to, stop: &signal.stop };
        while let Some(Wanted { names, everything }) = self.wait() {
            let mut named = names.iter().filter_map(|name| reader.unread_by_name(name));
            self.at_leisure(|| self.read_some(&reader, &mut named));
            if everything {
                let mut after = i64::MIN;
                self.at_leisure(|| {
                    let items = reader.unread(after).unwrap_or_default();
                    let last = self.read_some(&reader, &mut items.into_iter());
                    after = last.unwrap_or(after);
                    last
                });
            }
        }
    }

    /// Does something again and again, as long as something comes of it, and rests as long as it works: reading ahead must
    /// not be noticed.
    fn at_leisure(&self, mut go: impl FnMut() -> Option<i64>) {
        loop {
            let start = Instant::now();
            let done = go();
            if done.is_none() || self.status.suspended().is_some() || self.rest(start.elapsed()) {
                return;
            }
        }
    }

    /// Waits until there is more to read; none if it is time to stop.
    fn wait(&self) -> Option<Wanted> {
        let idle = |wanted: &mut Wanted| wanted.is_nothing() && !self.is_stopped();
        let waited = self.signal.said.wait_while(self.signal.wanted(), idle);
        let wanted = std::mem::take(&mut *waited.unwrap_or_else(PoisonError::into_inner));
        (!self.is_stopped()).then_some(wanted)
    }

    /// Does nothing for some time; true if it is time to stop.
    fn rest(&self, time: Duration) -> bool {
        let rested = self.signal.said.wait_timeout_while(self.signal.wanted(), time, |_| !self.is_stopped());
        drop(rested);
        self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.signal.stop.load(Ordering::Relaxed)
    }

    /// Reads some of the files, and tells the last one's number; none if there are none left. What cannot be read or
    /// remembered now is left to whoever needs it.
    fn read_some(&self, reader: &Reader<'_>, items: &mut dyn Iterator<Item = Item>) -> Option<i64> {
        let start = Instant::now();
        let mut last = None;
        let mut learned = Vec::new();
        while start.elapsed() < SLICE
            && !self.is_stopped()
            && let Some(item) = items.next()
        {
            learned.extend(reader.read(&item).ok().flatten());
            last = Some(item.number);
        }
        if let Err(error) = self.catalogue.learn(&learned) {
            tracing::debug!(%error, "what was read could not be remembered");
        }
        last
    }
}
