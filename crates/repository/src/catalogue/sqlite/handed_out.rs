//! The latest moment that any process has returned as `as_of`.
//!
//! If the clock is set back, only this value prevents a change from being stamped earlier than a moment that a
//! harvester has already received. It is stored in a small file next to the database and not in a table, because
//! readers note a moment every second and must not wait for the writer. The file need not survive a power failure: the
//! datestamps in the database do.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, flock};

/// The latest moment returned.
pub(super) struct HandedOut {
    /// The latest moment that this process has noted. With it, noting a moment accesses the file at most once in a second.
    noted: AtomicI64,
    /// `None` if this process may not write the file; the moment is then known only to this process.
    file: Mutex<Option<File>>,
}

impl HandedOut {
    /// Opens the file, or creates it if this process may.
    pub(super) fn open(path: &Path, may_make: bool) -> Self {
        let file = File::options().read(true).write(true).create(may_make).truncate(false).open(path);
        let file = file.inspect_err(|error| tracing::debug!(%error, path = %path.display(), "moments stay private"));
        Self { noted: AtomicI64::new(i64::MIN), file: Mutex::new(file.ok()) }
    }

    /// Notes a moment before it is returned. When this function returns, every writer sees the moment.
    pub(super) fn note(&self, moment: i64) {
        if self.noted.load(Ordering::SeqCst) < moment {
            self.latest_with(moment);
            self.noted.fetch_max(moment, Ordering::SeqCst);
        }
    }

    /// Returns the latest moment noted by any process.
    pub(super) fn latest(&self) -> i64 {
        let noted = self.noted.load(Ordering::SeqCst);
        self.latest_with(noted)
    }

    fn latest_with(&self, moment: i64) -> i64 {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &*file else { return moment };
        raise(file, moment).unwrap_or_else(|error| {
            tracing::debug!(%error, "moments stay private");
            moment
        })
    }
}

/// Raises the moment in the file to at least this one, and returns the result.
fn raise(file: &File, moment: i64) -> io::Result<i64> {
    flock(file, FlockOperation::LockExclusive)?;
    let raised = raise_locked(file, moment);
    flock(file, FlockOperation::Unlock)?;
    raised
}

fn raise_locked(file: &File, moment: i64) -> io::Result<i64> {
    let mut bytes = i64::MIN.to_le_bytes();
    match file.read_exact_at(&mut bytes, 0) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    let there = i64::from_le_bytes(bytes);
    if there < moment {
        file.write_all_at(&moment.to_le_bytes(), 0)?;
    }
    Ok(there.max(moment))
}
