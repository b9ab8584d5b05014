//! A lock for one process at a time, on a file next to the database. The kernel releases the lock of a process that
//! ends.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::DatabaseError;

/// An exclusive lock. Dropping it unlocks the file, even while a child process that has just been forked still has a
/// copy of the descriptor.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Locks an open file without waiting. Its path is used in messages.
    pub fn take(file: File, path: &Path) -> Result<Self, DatabaseError> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self(file)),
            Err(Errno::WOULDBLOCK) => Err(DatabaseError::Busy { path: path.to_path_buf() }),
            Err(error) => Err(DatabaseError::io("lock", path)(error.into())),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Unlocked explicitly: otherwise the lock would last until the last copy of the descriptor is closed.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}
