//! The thread that keeps a catalogue current.
//!
//! It scans the whole site once and then waits for events. It scans the whole site again when the kernel has lost
//! events, when a directory could not be watched, and at a regular interval in any case. While the state of the site is
//! implausible (its root is missing or empty), the site is *suspended*: the catalogue is not changed, and requests for
//! the status return the reason.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use modoai_protocol::with_causes;
use rustix::event::{PollFd, PollFlags, Timespec};

use super::parts::{Gathered, Parts};
use super::read_ahead::ReadAhead;
use super::reconcile::{IngestError, Part, Reconciler, Tally};
use super::watch::Watch;
use crate::catalogue::Catalogue;
use crate::site::folder::Folder;

/// Changes are collected until nothing has happened for this long …
const QUIET: Duration = Duration::from_millis(60);

/// … but not longer than this, so that changes of a file that is written continuously are detected.
const PATIENCE: Duration = Duration::from_millis(300);

/// The interval between attempts to read a site that could not be read.
const RETRY: Duration = Duration::from_secs(1);

/// The interval between rescans if some directory cannot be watched.
const UNWATCHED: Duration = Duration::from_secs(60);

/// The maximum pause, so that a sum with the present time cannot overflow.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Keeps a catalogue current until it is stopped or dropped.
pub struct Keeper {
    stop: Arc<AtomicBool>,
    waker: UnixStream,
    wishes: Arc<Mutex<Vec<String>>>,
    status: Arc<Status>,
    thread: Option<JoinHandle<()>>,
}

/// The scheduled work of a keeper.
#[derive(Clone, Debug)]
pub struct Pace {
    /// The maximum time between two rescans.
    pub rescan: Duration,
    /// True if files are hashed in advance.
    pub digests: bool,
    /// Names of files, such as `.htaccess`, that determine the description of the other files in their directory. When
    /// one of them is created, changed or deleted, every file in its directory is described again; and if any such
    /// names are given, every file at every rescan.
    pub access_files: Vec<String>,
}

/// The state of the keeper, for other threads.
#[derive(Debug, Default)]
pub struct Status {
    suspended: Mutex<Option<String>>,
    settled: AtomicBool,
}

impl Status {
    /// Returns the reason why the site is suspended, if it is.
    pub fn suspended(&self) -> Option<String> {
        self.suspended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the reason, or none if the site is readable. Returns the previous reason.
    fn suspend(&self, reason: Option<String>) -> Option<String> {
        std::mem::replace(&mut *self.suspended.lock().unwrap_or_else(PoisonError::into_inner), reason)
    }

    /// Returns true if everything has been scanned once since the start.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }
}

impl Keeper {
    /// Starts the thread.
    pub fn start(reconciler: Reconciler, catalogue: Arc<dyn Catalogue>, pace: Pace) -> io::Result<Self> {
        let (waker, wakened) = UnixStream::pair()?;
        wakened.set_nonblocking(true)?;
        let stop = reconciler.stopper();
        let status = Arc::new(Status::default());
        let keeping = Keeping::new(reconciler, catalogue, pace, wakened, status.clone())?;
        let wishes = keeping.wishes.clone();
        let thread = std::thread::Builder::new().name("keeper".to_owned()).spawn(move || keeping.run())?;
        Ok(Self { stop, waker, wishes, status, thread: Some(thread) })
    }

    /// Has the file or directory of this name scanned soon: it may have changed without an event in its directory, as
    /// after [`Site::point`](crate::site::Site::point).
    pub fn look_at(&self, name: &str) {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
        // If the buffer is full, or the thread has ended, waking it is unnecessary.
        let _ = (&self.waker).write(&[0]);
    }

    /// Returns its state.
    pub fn status(&self) -> Arc<Status> {
        self.status.clone()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // If the thread has ended, this fails and has no effect.
        let _ = self.waker.write(&[0]);
        if let Some(thread) = self.thread.take() {
            // The panic message has been printed already.
            let _ = thread.join();
        }
    }
}

/// Reports that the keeper's thread has ended unexpectedly.
struct Farewell {
    stop: Arc<AtomicBool>,
    status: Arc<Status>,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        if !self.stop.load(Ordering::Relaxed) {
            self.status
                .suspend(Some("internal error: the catalogue is no longer updated (please report this)".to_owned()));
        }
    }
}

struct Keeping {
    read_ahead: ReadAhead,
    reconciler: Reconciler,
    watch: Option<Watch>,
    wakened: UnixStream,
    /// Names that other threads want scanned.
    wishes: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    status: Arc<Status>,
    rescan: Duration,
    /// True if files exist that determine the description of others.
    has_access_files: bool,
    /// The parts to scan.
    parts: Parts,
    next_rescan: Instant,
    /// The site's directory, resolved: a link to it may change.
    root: Option<Arc<Path>>,
    /// The numbers of withheld files and of links out of the site in the last report.
    skipped: (u64, u64),
}

impl Keeping {
    fn new(
        reconciler: Reconciler,
        catalogue: Arc<dyn Catalogue>,
        pace: Pace,
        wakened: UnixStream,
        status: Arc<Status>,
    ) -> io::Result<Self> {
        let site = reconciler.site();
        let has_access_files = !pace.access_files.is_empty();
        let watch = Watch::new(site.clone(), pace.access_files).inspect_err(|error| {
            tracing::warn!(%error, "file watching is unavailable; using periodic rescans only");
        });
        Ok(Self {
            read_ahead: ReadAhead::start(site.clone(), catalogue, pace.digests, status.clone())?,
            watch: watch.ok(),
            wakened,
            wishes: Arc::default(),
            stop: reconciler.stopper(),
            status,
            rescan: pace.rescan,
            has_access_files,
            parts: Parts::default(),
            next_rescan: Instant::now(),
            root: site.root(),
            skipped: (0, 0),
            reconciler,
        })
    }

    fn run(mut self) {
        let _farewell = Farewell { stop: self.stop.clone(), status: self.status.clone() };
        while !self.stop.load(Ordering::Relaxed) {
            let Gathered { parts, everything, anew } = self.parts.take();
            // Before any part is scanned: changes in the directory that the link pointed to earlier are irrelevant.
            let is_elsewhere = self.follow_root();
            if anew {
                self.reconciler.ask_anew();
            }
            if !parts.is_empty() {
                self.look_at_parts(&parts);
            }
            if everything || is_elsewhere || Instant::now() >= self.next_rescan {
                self.look_at_everything();
            }
            self.listen();
        }
    }

    /// Updates the site's directory; returns true if it has changed.
    fn follow_root(&mut self) -> bool {
        let root = self.reconciler.site().follow_root();
        if root == self.root {
            return false;
        }
        if let Some(watch) = &self.watch {
            watch.forget_all();
        }
        if let Some(root) = &root {
            tracing::info!("the directory of the site is now {}", root.display());
        }
        self.root = root;
        true
    }

    fn look_at_everything(&mut self) {
        let started = Instant::now();
        self.reconciler.site().find_roots();
        // A host with such files may change its decisions in ways that cannot be watched: by a file around the root, a
        // list of groups, the time of day.
        if self.has_access_files {
            self.reconciler.ask_anew();
        }
        match self.look(&[Part::Everything]) {
            Ok(()) => {
                self.status.settled.store(true, Ordering::Release);
                self.read_ahead.rewind();
                self.believe();
                let watched = self.watch.as_ref().is_some_and(Watch::is_complete);
                let pause = if watched { self.rescan } else { self.rescan.min(UNWATCHED) };
                // The pause is proportional to the duration of a rescan, so that a very large site is not rescanned
                // continuously.
                self.next_rescan = after(pause.max(started.elapsed().saturating_mul(10)));
            }
            Err(IngestError::Stopped) => {}
            Err(error @ (IngestError::Root(_) | IngestError::Emptied { .. })) => {
                let reason = with_causes(&error);
                if self.status.suspend(Some(reason.clone())).as_ref() != Some(&reason) {
                    tracing::error!(
                        "{reason}; keeping the catalogue unchanged until the site is available again (if the \
                            deletions are intended, stop the server and run `modoai index` with --accept-deletions)"
                    );
                }
                self.next_rescan = after(RETRY);
            }
            Err(error) => {
                // Existing files can be read, whatever is missing.
                if matches!(error, IngestError::TooManyDeletions { .. }) {
                    self.believe();
                }
                let pause = self.rescan.min(UNWATCHED);
                tracing::error!("{}; retrying in {} s", with_causes(&error), pause.as_secs());
                self.next_rescan = after(pause);
            }
        }
    }

    fn look_at_parts(&mut self, parts: &[Part]) {
        match self.look(parts) {
            Ok(()) => {
                if self.watch.as_ref().is_some_and(|watch| !watch.is_complete()) {
                    self.next_rescan = self.next_rescan.min(after(UNWATCHED));
                }
            }
            Err(IngestError::Stopped) => {}
            Err(error) => {
                // A rescan of everything corrects any error.
                tracing::debug!(error = %with_causes(&error), "a change could not be followed");
                if parts.iter().any(|part| matches!(part, Part::Anew(_))) {
                    self.reconciler.ask_anew();
                }
                self.next_rescan = Instant::now();
            }
        }
    }

    fn look(&mut self, parts: &[Part]) -> Result<(), IngestError> {
        let watch = self.watch.as_ref();
        if let Some(watch) = watch {
            for part in parts {
                match part {
                    Part::Everything => watch.begin_anew(),
                    Part::Name(name) | Part::Anew(name) => watch.begin_anew_at(name),
                }
            }
        }
        let on_folder = |folder: &Folder, name: &str| {
            if let Some(watch) = watch {
                watch.add(folder, name);
            }
        };
        let tally = match parts {
            [Part::Everything] => self.reconciler.everything(&on_folder)?,
            parts => self.reconciler.reconcile(parts, &on_folder)?,
        };
        if tally.put + tally.deleted > 0 {
            let parts = parts.len();
            tracing::debug!(parts, put = tally.put, deleted = tally.deleted, "the catalogue has changed");
        }
        if parts.contains(&Part::Everything) {
            let skipped = (tally.withheld, tally.outside_links);
            let before = std::mem::replace(&mut self.skipped, skipped);
            if skipped.0 != before.0 {
                report_withheld(&tally);
            }
            if skipped.1 != before.1 {
                report_outside_links(&tally);
            }
        }
        if tally.put > 0 && !parts.contains(&Part::Everything) {
            self.read_ahead.changed(tally.put, tally.named);
        }
        // Reading a pointed name watches its target, which may have changed meanwhile.
        let further = tally.unsettled.into_iter().chain(tally.pointed).chain(tally.linked);
        further.for_each(|name| self.parts.add(name));
        Ok(())
    }

    fn believe(&self) {
        if self.status.suspend(None).is_some() {
            tracing::info!("the site is available again");
        }
    }

    /// Waits until something has changed and a little longer, or until the next rescan is due.
    fn listen(&mut self) {
        let quiet_by = |since: Instant| since + PATIENCE;
        let mut first = (!self.parts.is_empty()).then(Instant::now);
        while !self.stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            let until = match first {
                Some(since) if now >= quiet_by(since) => return,
                Some(since) => QUIET.min(quiet_by(since) - now),
                None if now >= self.next_rescan => return,
                None => self.next_rescan - now,
            };
            let happened = self.wait(until);
            if let Some(watch) = &mut self.watch
                && let Err(error) = watch.collect(&mut self.parts)
            {
                tracing::warn!(%error, "file watching stopped; using periodic rescans only");
                self.watch = None;
                self.next_rescan = Instant::now();
            }
            let wishes = std::mem::take(&mut *self.wishes.lock().unwrap_or_else(PoisonError::into_inner));
            wishes.into_iter().filter(|name| !name.is_empty()).for_each(|name| self.parts.add(name));
            match first {
                Some(_) if !happened => return,
                None if !self.parts.is_empty() => first = Some(Instant::now()),
                _ => {}
            }
        }
    }

    /// Returns true if an event occurred before the timeout.
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
}

/// Logs one line if a site holds files that no web server sends unprocessed. They indicate that another server with
/// separate rules was meant to serve the directory.
fn report_withheld(tally: &Tally) {
    if let Some(example) = &tally.withheld_example {
        tracing::warn!(
            "{} files or directories look like server-side code, keys, configuration, databases or backups, such as {example}: they \
             are neither served nor listed (setting 'withhold'). If another web server serves this directory, modoai does not apply its access rules; see \"Behind a proxy\" in the guide",
            tally.withheld
        );
    }
}

/// Logs one line if a site has links that lead out of it: otherwise the owner of a site made of links finds an empty
/// list without a reason.
fn report_outside_links(tally: &Tally) {
    if let Some(example) = &tally.outside_link_example {
        let skipped = match tally.outside_links {
            1 => format!("1 symbolic link that points outside of the directory, {example}; to serve and list it"),
            many => {
                format!(
                    "{many} symbolic links that point outside of the directory, such as {example}; to serve and list them"
                )
            }
        };
        tracing::warn!("skipped {skipped}, set follow_links = \"anywhere\"");
    }
}

/// Returns the time after a pause.
fn after(pause: Duration) -> Instant {
    Instant::now() + pause.min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Access, Location, open};
    use crate::site::{Site, SiteSettings};

    #[test]
    fn running_out_of_watches_at_any_look_brings_the_rescan_forward() {
        let (root, state) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        std::fs::write(root.path().join("a"), b"x").expect("a file");
        let site = Site::open(root.path(), &SiteSettings::default(), &[]).expect("a site");
        let catalogue = open(&Location::at(state.path()), Access::Write).expect("a catalogue");
        let reconciler = Reconciler::new(Arc::new(site), catalogue.writer().expect("the only writer"), 50);
        // A pause so long that its end cannot be represented.
        let pace = Pace { rescan: Duration::MAX, digests: false, access_files: Vec::new() };
        let (_waker, wakened) = UnixStream::pair().expect("a pair");
        let status = Arc::new(Status::default());
        let mut keeping = Keeping::new(reconciler, catalogue, pace, wakened, status.clone()).expect("a keeper");
        keeping.look_at_everything();
        assert!(status.is_settled());
        keeping.look_at_parts(&[Part::Name("a".to_owned())]);
        assert!(keeping.next_rescan > after(UNWATCHED * 1_000));
        keeping.watch.as_ref().expect("a watch").run_out();
        keeping.look_at_parts(&[Part::Name("a".to_owned())]);
        assert!(keeping.next_rescan <= after(UNWATCHED));
    }
}
