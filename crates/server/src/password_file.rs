//! A password file that is read again when it changes.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::htpasswd::{HtpasswdError, Users};

/// The interval at which a file is checked for changes.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A password file and its state when it was last read.
#[derive(Debug)]
pub(crate) struct PasswordFile {
    path: PathBuf,
    users: Arc<Users>,
    stamp: Option<Stamp>,
    generation: u64,
    looked: Instant,
}

/// The state of a file: whatever changes it changes this.
pub(crate) type Stamp = (i64, i64, i64, i64, u64, u64);

/// The state of the file of this name; None if there is none.
pub(crate) fn stamp_of(path: &Path) -> Option<Stamp> {
    std::fs::metadata(path).ok().as_ref().map(stamp)
}

fn stamp(metadata: &Metadata) -> Stamp {
    let (modified, changed) = (metadata.mtime(), metadata.ctime());
    (modified, metadata.mtime_nsec(), changed, metadata.ctime_nsec(), metadata.size(), metadata.ino())
}

impl PasswordFile {
    pub(crate) fn read(path: PathBuf) -> Result<Self, HtpasswdError> {
        // The stamp is taken first: a change while reading shows as a change afterwards.
        let stamp = stamp_of(&path);
        let users = Arc::new(Users::read(&path)?);
        Ok(Self { path, users, stamp, generation: 0, looked: Instant::now() })
    }

    /// The users as of now, and a number that changes when they do.
    pub(crate) fn users(&mut self) -> (Arc<Users>, u64) {
        if self.looked.elapsed() >= LOOK_AGAIN {
            self.look_now();
        }
        (self.users.clone(), self.generation)
    }

    pub(crate) fn look_now(&mut self) {
        self.looked = Instant::now();
        let stamp = stamp_of(&self.path);
        if stamp != self.stamp {
            self.reread(stamp);
        }
    }

    fn reread(&mut self, stamp: Option<Stamp>) {
        match Users::read(&self.path) {
            Ok(users) => {
                tracing::info!(path = %self.path.display(), "reloaded the password file");
                self.users = Arc::new(users);
            }
            // The file is being edited: the previous users stay until it is complete again.
            Err(error @ HtpasswdError::Line { .. }) => tracing::error!("{error}; keeping the previous users"),
            Err(error) => {
                tracing::error!("{error}; all logins are refused");
                self.users = Arc::default();
            }
        }
        self.stamp = stamp;
        self.generation += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_once_the_file_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("users");
        let write = |text: &str| std::fs::write(&path, text).expect("written");
        write("alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=");
        let mut file = PasswordFile::read(path.clone()).expect("a good file");
        let mut knows = |user: &str| {
            file.look_now();
            file.users().0.verify(user, b"secret")
        };
        assert!(knows("alice") && !knows("bob"));
        write("bob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=");
        assert!(!knows("alice") && knows("bob"));
        write("half a li");
        assert!(knows("bob"), "someone is editing the file");
        std::fs::remove_file(&path).expect("removed");
        assert!(!knows("bob"), "without the file nobody can log in");
    }
}
