//! One process at a time, by a lock on a file next to the database. The kernel frees the lock of a process that ends.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::DatabaseError;

/// An exclusive lock. Dropping it unlocks the file, also while a child process that has just been forked still has a copy
/// of the descriptor.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Locks an open file, whose path is for messages, without waiting.
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
        // It would also end with the last copy of the descriptor.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}
