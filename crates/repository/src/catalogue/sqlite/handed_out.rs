//! The latest moment handed out as `as_of`, by whatever process.
//!
//! If the clock is set back, only this memory keeps a change from being stamped earlier than what a harvester was
//! already told. It is a tiny file beside the database and not a row in it, because readers note a moment every second
//! and must not wait for the writer to do so. Its content need not survive a power cut: stamps in the database do.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, flock};

/// The latest moment handed out.
pub(super) struct HandedOut {
    /// What this process has noted: spares all but one look at the file each second.
    noted: AtomicI64,
    /// None if this process may not write there; then it speaks only for itself.
    file: Mutex<Option<File>>,
}

impl HandedOut {
    /// Opens the file, or makes it if this process may.
    pub(super) fn open(path: &Path, may_make: bool) -> Self {
        let file = File::options().read(true).write(true).create(may_make).truncate(false).open(path);
        let file = file.inspect_err(|error| tracing::debug!(%error, path = %path.display(), "moments stay private"));
        Self { noted: AtomicI64::new(i64::MIN), file: Mutex::new(file.ok()) }
    }

    /// Notes a moment before it is handed out. Once this returns, every writer sees it.
    pub(super) fn note(&self, moment: i64) {
        if self.noted.load(Ordering::SeqCst) < moment {
            self.latest_with(moment);
            self.noted.fetch_max(moment, Ordering::SeqCst);
        }
    }

    /// The latest moment noted by anyone.
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

/// Raises the moment in the file to at least this one, and tells what it then is.
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
