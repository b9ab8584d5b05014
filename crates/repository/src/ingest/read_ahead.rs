//! Reads titles and digests before they are requested.
//!
//! A first index reads no files, so that it is fast. The first harvester would then wait for every page to be opened
//! and every file to be hashed; and as long as digests are unknown, a change of permissions cannot be distinguished
//! from a change of bytes. So files are read meanwhile, in small steps, by a separate thread: a large file must not
//! delay the detection of changes. Files that change are read again by their names, since a search among all files
//! would take long.
//!
//! Digests of [large](super::large) files come last, one file at a time. A record has no digests until they are known:
//! no list waits for them (decision 019). Between two steps of a large file, the thread reads the smaller files that
//! have changed.

use std::io;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::keeper::Status;
use super::large::{Backlog, Hashing, Progress, backlogs};
use super::read::Reader;
use crate::catalogue::{Catalogue, Learned};
use crate::item::Item;
use crate::site::Site;

/// The approximate duration of one step, unless a single file takes longer.
const SLICE: Duration = Duration::from_millis(50);

/// The nice value of the thread: about a tenth of the processor time of a thread that serves requests, and a low
/// priority for the disk, which follows from it. Not the lowest: the thread holds the lock of the catalogue while it
/// writes.
const NICE: i32 = 10;

/// Number of attempts to store the digests of a large file, and the interval between them: the catalogue drops facts while it
/// is busy.
const OFFERS: usize = 60;
const OFFER_AGAIN: Duration = Duration::from_secs(1);

/// Reads what is unknown about the items in a catalogue, until it is dropped.
pub(super) struct ReadAhead {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

/// The instructions to the thread.
#[derive(Default)]
struct Signal {
    stop: AtomicBool,
    wanted: Mutex<Wanted>,
    said: Condvar,
}

/// The items to read.
#[derive(Default)]
struct Wanted {
    /// The names of items to read.
    names: Vec<String>,
    /// True if any item may lack data.
    everything: bool,
}

/// The maximum number of waiting names; if there are more, all items are searched.
const MOST_NAMES: usize = 20_000;

impl ReadAhead {
    /// Starts the thread. Files are hashed only with `digests`. Nothing is read before the first
    /// [`rewind`](Self::rewind), or while the site is suspended.
    pub(super) fn start(
        site: Arc<Site>,
        catalogue: Arc<dyn Catalogue>,
        digests: bool,
        status: Arc<Status>,
    ) -> io::Result<Self> {
        let signal = Arc::new(Signal::default());
        let reading = Reading { site, catalogue, digests, status, signal: signal.clone() };
        let thread = std::thread::Builder::new().name("read-ahead".to_owned()).spawn(move || reading.run())?;
        Ok(Self { signal, thread: Some(thread) })
    }

    /// Restarts from the first item: some items may not have been read yet.
    pub(super) fn rewind(&self) {
        *self.signal.wanted() = Wanted { names: Vec::new(), everything: true };
        self.signal.said.notify_all();
    }

    /// Adds this number of changed items, with these names if those are all.
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
            // The panic message has been printed already, and the only effect is that files are read later.
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
    digests: bool,
    status: Arc<Status>,
    signal: Arc<Signal>,
}

impl Reading {
    fn run(&self) {
        // On Linux, this affects only the present thread. If it fails, pauses still limit the processor time.
        let _ = rustix::process::nice(NICE);
        let Self { site, catalogue, digests, signal, .. } = self;
        let reader = Reader { site, catalogue: &**catalogue, digests: *digests, stop: &signal.stop };
        let mut large = backlogs();
        while let Some(Wanted { names, everything }) = self.wait(&large) {
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
            if *digests {
                large.iter_mut().for_each(|backlog| backlog.add(&reader, &names, everything));
            }
            if self.status.suspended().is_some() {
                // Once the site can be read again, all items are searched.
                large = backlogs();
            }
            if let Some(backlog) = large.iter_mut().find(|backlog| !backlog.is_empty()) {
                let start = Instant::now();
                self.hash_some(&reader, backlog);
                self.rest(start.elapsed());
            }
        }
    }

    /// Repeats an operation as long as it has a result, and pauses for as long as each took, so that reading ahead does
    /// not slow down the site.
    fn at_leisure(&self, mut go: impl FnMut() -> Option<i64>) {
        loop {
            let start = Instant::now();
            let done = go();
            if done.is_none() || self.status.suspended().is_some() || self.rest(start.elapsed()) {
                return;
            }
        }
    }

    /// Waits until there is more to read; returns `None` if it is time to stop.
    fn wait(&self, large: &[Backlog]) -> Option<Wanted> {
        let idle =
            |wanted: &mut Wanted| wanted.is_nothing() && large.iter().all(Backlog::is_empty) && !self.is_stopped();
        let waited = self.signal.said.wait_while(self.signal.wanted(), idle);
        let wanted = std::mem::take(&mut *waited.unwrap_or_else(PoisonError::into_inner));
        (!self.is_stopped()).then_some(wanted)
    }

    /// Pauses; returns true if it is time to stop.
    fn rest(&self, time: Duration) -> bool {
        let rested = self.signal.said.wait_timeout_while(self.signal.wanted(), time, |_| !self.is_stopped());
        drop(rested);
        self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.signal.stop.load(Ordering::Relaxed)
    }

    /// Reads some of the files. Returns the number of the last one; `None` if none are left. Files that cannot be read
    /// or stored now are skipped, and are read when they are needed.
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

    /// Continues with the large file that is being read, or starts the next one. A file that cannot be read, or that
    /// changes meanwhile, gets no digests in this step.
    fn hash_some(&self, reader: &Reader<'_>, backlog: &mut Backlog) {
        let begin = |item| Hashing::begin(reader.site, &item).ok().flatten();
        let hashing = backlog.hashing.take().or_else(|| backlog.next(reader).and_then(begin));
        match hashing.map(|hashing| hashing.step(Instant::now() + SLICE)) {
            Some(Ok(Progress::Unfinished(hashing))) => backlog.hashing = Some(hashing),
            Some(Ok(Progress::Done(name, learned))) => self.keep(reader, &name, &learned),
            Some(Ok(Progress::Changed) | Err(_)) | None => {}
        }
    }

    /// Stores the digests of a large file, unless it has changed.
    fn keep(&self, reader: &Reader<'_>, name: &str, learned: &Learned) {
        for _ in 0..OFFERS {
            if let Err(error) = self.catalogue.learn(slice::from_ref(learned)) {
                tracing::debug!(%error, "failed to store the digests of {name}");
                return;
            }
            let is_missed =
                reader.undigested(name, &(0..=u64::MAX)).is_some_and(|item| item.fingerprint == learned.fingerprint);
            if !is_missed || self.rest(OFFER_AGAIN) {
                return;
            }
        }
    }
}
