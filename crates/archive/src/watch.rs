//! Waits until a source changes.
//!
//! An event of the kernel only triggers an import, which itself determines the changes. So a burst of events counts as
//! one. Where events are not available for all directories, or are known to get lost, imports run at intervals.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use inotify::{Inotify, WatchMask};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The events for files that are created, moved, deleted or written.
const EVENTS: WatchMask = WatchMask::CREATE
    .union(WatchMask::MOVE)
    .union(WatchMask::DELETE)
    .union(WatchMask::CLOSE_WRITE)
    .union(WatchMask::MOVE_SELF)
    .union(WatchMask::DELETE_SELF);

/// The minimum time without events before an import starts, so that a program can write several files.
const QUIET: Duration = Duration::from_secs(1);

/// The maximum delay of an import while events continue.
const PATIENCE: Duration = Duration::from_secs(15);

/// The interval of imports in any case: some events get lost, and network file systems have none.
const NOW_AND_THEN: Duration = Duration::from_secs(15 * 60);

/// The interval of imports if not every directory can be watched.
const OFTEN: Duration = Duration::from_secs(30);

/// The files and directories that are watched.
#[derive(Debug)]
pub struct Watch {
    inputs: Vec<PathBuf>,
    inotify: Inotify,
    is_complete: bool,
}

impl Watch {
    /// Starts to watch files and directories.
    pub fn on(inputs: &[PathBuf]) -> io::Result<Self> {
        let mut watch = Self { inputs: inputs.to_vec(), inotify: Inotify::init()?, is_complete: true };
        watch.look_around();
        Ok(watch)
    }

    /// Waits until something has changed and no further event follows for a moment, or until the interval has ended.
    pub fn wait(&mut self) -> io::Result<()> {
        let longest = if self.is_complete { NOW_AND_THEN } else { OFTEN };
        if self.heard_within(longest)? {
            let since = Instant::now();
            while since.elapsed() < PATIENCE && self.heard_within(QUIET)? {}
        }
        self.look_around();
        Ok(())
    }

    /// Returns true if any event occurs within this time. All pending events are consumed together.
    fn heard_within(&mut self, longest: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(longest).map_err(io::Error::other)?;
        let mut wanted = [PollFd::from_borrowed_fd(self.inotify.as_fd(), PollFlags::IN)];
        match poll(&mut wanted, Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            // A signal that did not end the process.
            Err(rustix::io::Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let mut events = [0; 16 * 1024];
        self.inotify.read_events(&mut events).map(|_| true)
    }

    /// Watches every present directory. One that is already watched stays so.
    fn look_around(&mut self) {
        self.is_complete = true;
        for input in self.inputs.clone() {
            if input.is_dir() {
                self.add_below(&input);
            } else {
                // A file that is replaced by renaming is another file, so its directory is watched.
                let folder = input.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
                self.add(folder);
            }
        }
    }

    fn add_below(&mut self, folder: &Path) {
        self.add(folder);
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            // Symbolic links are not followed: they could form loops.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !is_hidden(&entry.file_name()) {
                self.add_below(&entry.path());
            }
        }
    }

    fn add(&mut self, folder: &Path) {
        if let Err(error) = self.inotify.watches().add(folder, EVENTS) {
            tracing::debug!(folder = %folder.display(), %error, "cannot be watched, and is looked at often instead");
            self.is_complete = false;
        }
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_in_a_new_folder_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut watch = Watch::on(&[folder.path().to_owned()]).expect("watched");
        assert!(!watch.heard_within(Duration::from_millis(50)).expect("nothing"));
        fs::create_dir(folder.path().join("a")).expect("a folder");
        assert!(watch.heard_within(Duration::from_secs(10)).expect("heard"));
        watch.look_around();
        fs::write(folder.path().join("a/b"), "x").expect("a file");
        assert!(watch.heard_within(Duration::from_secs(10)).expect("heard"));
    }
}
