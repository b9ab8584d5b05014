//! The thread that keeps a catalogue current.
//!
//! Looks at everything once, then listens; looks at everything again when the kernel lost track, when a folder could not
//! be watched, and every so often in any case. While the site cannot be believed (its root is gone or empty) it is
//! *suspended*: the catalogue stays as it is, and whoever asks is told why. When there is nothing else to do, files are
//! read ahead of the first harvester who wants to know what is in them.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use super::reader::Reader;
use super::reconcile::{IngestError, Part, Reconciler};
use super::watch::Watch;
use crate::catalogue::Catalogue;
use crate::site::folder::Folder;

/// Changes are gathered until nothing has happened for this long …
const QUIET: Duration = Duration::from_millis(60);

/// … but not longer than this, so that a file that is written all the time is still seen to change.
const PATIENCE: Duration = Duration::from_millis(300);

/// How soon a site that could not be read is looked at again.
const RETRY: Duration = Duration::from_secs(1);

/// How often everything is looked at where not every folder can be watched.
const UNWATCHED: Duration = Duration::from_secs(60);

/// Keeps a catalogue current until it is stopped or dropped.
pub struct Keeper {
    stop: Arc<AtomicBool>,
    waker: UnixStream,
    status: Arc<Status>,
    thread: Option<JoinHandle<()>>,
}

/// How much a keeper does unasked.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Everything is looked at again after this time at the latest.
    pub rescan: Duration,
    /// Files up to this size are hashed ahead.
    pub digests_up_to: u64,
}

/// What the keeper tells others.
#[derive(Debug, Default)]
pub struct Status {
    suspended: Mutex<Option<String>>,
    settled: AtomicBool,
}

impl Status {
    /// Why the site cannot be believed at the moment, if so.
    pub fn suspended(&self) -> Option<String> {
        self.suspended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether everything has been looked at once since the start.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }
}

impl Keeper {
    /// Starts keeping.
    pub fn start(reconciler: Reconciler, catalogue: Arc<dyn Catalogue>, pace: Pace) -> io::Result<Self> {
        let (waker, wakened) = UnixStream::pair()?;
        wakened.set_nonblocking(true)?;
        let stop = reconciler.stopper();
        let status = Arc::new(Status::default());
        let watch = Watch::new().inspect_err(|error| {
            tracing::warn!(%error, "changes cannot be noticed as they happen; relying on rescans");
        });
        let keeping = Keeping {
            reader: Reader::new(reconciler.site().clone(), catalogue, pace.digests_up_to),
            reconciler,
            watch: watch.ok(),
            wakened,
            stop: stop.clone(),
            status: status.clone(),
            rescan: pace.rescan,
            parts: BTreeSet::from([Part::Everything]),
            next_rescan: Instant::now(),
        };
        let thread = std::thread::Builder::new().name("keeper".to_owned()).spawn(move || keeping.run())?;
        Ok(Self { stop, waker, status, thread: Some(thread) })
    }

    /// What it has to tell.
    pub fn status(&self) -> Arc<Status> {
        self.status.clone()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // If the thread has ended there is nobody to wake.
        let _ = self.waker.write(&[0]);
        if let Some(thread) = self.thread.take() {
            // A panic has been printed where it happened.
            let _ = thread.join();
        }
    }
}

struct Keeping {
    reader: Reader,
    reconciler: Reconciler,
    watch: Option<Watch>,
    wakened: UnixStream,
    stop: Arc<AtomicBool>,
    status: Arc<Status>,
    rescan: Duration,
    /// What to look at.
    parts: BTreeSet<Part>,
    next_rescan: Instant,
}

impl Keeping {
    fn run(mut self) {
        while !self.stop.load(Ordering::Relaxed) {
            if self.parts.contains(&Part::Everything) || Instant::now() >= self.next_rescan {
                self.parts.clear();
                self.look_at_everything();
            } else {
                self.look_at_parts();
            }
            self.listen();
        }
    }

    fn look_at_everything(&mut self) {
        let started = Instant::now();
        match self.look(&Part::Everything) {
            Ok(()) => {
                self.status.settled.store(true, Ordering::Release);
                self.reader.rewind();
                if self.suspend(None).is_some() {
                    tracing::info!("the site can be read again");
                }
                let watched = self.watch.as_ref().is_some_and(Watch::is_complete);
                let pause = if watched { self.rescan } else { self.rescan.min(UNWATCHED) };
                // A site so large that looking takes long is not looked at all the time.
                self.next_rescan = Instant::now() + pause.max(started.elapsed() * 10);
            }
            Err(IngestError::Stopped) => {}
            Err(error @ (IngestError::Root(_) | IngestError::Emptied { .. })) => {
                let reason = with_causes(&error);
                if self.suspend(Some(reason.clone())).as_ref() != Some(&reason) {
                    tracing::error!(
                        "{reason}; the catalogue is kept as it is until the site is back (if it is meant to be empty, stop \
                         and run `modoai index` with --accept-deletions)"
                    );
                }
                self.next_rescan = Instant::now() + RETRY;
            }
            Err(error) => self.troubled(&error, self.rescan.min(UNWATCHED)),
        }
    }

    fn look_at_parts(&mut self) {
        for part in std::mem::take(&mut self.parts) {
            match self.look(&part) {
                Ok(()) => {}
                Err(IngestError::Stopped) => return,
                Err(error) => {
                    // Whatever it is, looking at everything finds out.
                    tracing::debug!(error = %with_causes(&error), "a change could not be followed");
                    self.next_rescan = Instant::now();
                    return;
                }
            }
        }
    }

    fn look(&mut self, part: &Part) -> Result<(), IngestError> {
        let watch = self.watch.as_ref();
        if let (Part::Name(name), Some(watch)) = (part, watch) {
            // If a folder of this name is still there, it is watched anew by looking at it.
            watch.forget(&format!("{name}/"));
        }
        let on_folder = |folder: &Folder, name: &str| {
            if let Some(watch) = watch {
                watch.add(folder, name);
            }
        };
        let tally = match part {
            Part::Everything => self.reconciler.everything(&on_folder)?,
            Part::Name(_) => self.reconciler.reconcile(part, &on_folder)?,
        };
        if let Some(watch) = watch {
            watch.add_links(tally.links);
        }
        if tally.put + tally.deleted > 0 {
            tracing::debug!(?part, put = tally.put, deleted = tally.deleted, "the catalogue has changed");
        }
        self.parts.extend(tally.unsettled.into_iter().map(Part::Name));
        Ok(())
    }

    /// Waits until something has changed and a little longer, or until it is time to look at everything.
    fn listen(&mut self) {
        let quiet_by = |since: Instant| since + PATIENCE;
        let mut first = (!self.parts.is_empty()).then(Instant::now);
        while !self.stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            let until = match first {
                Some(since) if now >= quiet_by(since) => return,
                Some(since) => QUIET.min(quiet_by(since) - now),
                None if now >= self.next_rescan => return,
                // As long at rest as at work: reading ahead must not be noticed.
                None => self.read_ahead().unwrap_or(self.next_rescan - now),
            };
            let happened = self.wait(until);
            if let Some(watch) = &mut self.watch
                && let Err(error) = watch.collect(self.reconciler.site(), &mut self.parts)
            {
                tracing::warn!(%error, "changes cannot be noticed as they happen any more; relying on rescans");
                self.watch = None;
                self.next_rescan = Instant::now();
            }
            match first {
                Some(_) if !happened => return,
                None if !self.parts.is_empty() => first = Some(Instant::now()),
                _ => {}
            }
        }
    }

    /// Reads some files, if any are left to read and the site can be believed, and tells how long that took.
    fn read_ahead(&mut self) -> Option<Duration> {
        let start = Instant::now();
        (self.status.suspended().is_none() && self.reader.read_some()).then(|| start.elapsed())
    }

    /// Whether something happened before the time was up.
    fn wait(&mut self, time: Duration) -> bool {
        let time =
            Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() };
        let mut fds = vec![PollFd::new(&self.wakened, PollFlags::IN)];
        if let Some(watch) = &self.watch {
            fds.push(PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN));
        }
        let happened = rustix::event::poll(&mut fds, Some(&time)).is_ok_and(|count| count > 0);
        let _ = self.wakened.read(&mut [0; 16]);
        happened
    }

    fn suspend(&self, reason: Option<String>) -> Option<String> {
        std::mem::replace(&mut *self.status.suspended.lock().unwrap_or_else(PoisonError::into_inner), reason)
    }

    fn troubled(&mut self, error: &IngestError, pause: Duration) {
        tracing::error!("{}; trying again in {} s", with_causes(error), pause.as_secs());
        self.next_rescan = Instant::now() + pause;
    }
}

/// An error and what caused it, on one line.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
