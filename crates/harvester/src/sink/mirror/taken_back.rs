//! Files of pages that never became true: the record may be gone when the page is asked for again, and then nothing else
//! would ever remove its file.
//!
//! A page that is rolled back is asked for again at once. Its files stay until that has come to its end, because what is
//! large need not be fetched again then; those that did not come again go. Of a page in which the process was killed
//! nothing is known but what was claimed: its files go when the mirror is opened. Only what is as it was written goes.

use super::Mirror;
use super::path::Path;
use super::tree::{Seen, Undone};
use crate::sink::SinkError;

impl Mirror {
    /// Removes the files that a killed process put in place and never committed.
    pub(super) fn clear_claims(&mut self) -> Result<(), SinkError> {
        let Self { claims, index, tree, .. } = self;
        claims.each(|key, digest| {
            let Some(path) = Path::from_bytes(key) else { return Ok(()) };
            if index.at(key)?.is_some() {
                return Ok(());
            }
            let is_file = matches!(tree.look(&path), Ok(Seen::File { .. }));
            if is_file && tree.digest(&path).is_ok_and(|found| found == digest) {
                return done(&path, tree.remove(&path));
            }
            Ok(())
        })?;
        claims.clear()
    }

    /// The files that are new in this page are to come again, or to go.
    pub(super) fn doubt_claims(&mut self) -> Result<(), SinkError> {
        let Self { claims, index, .. } = self;
        claims.each(|key, _| index.doubt(key))?;
        index.commit()?;
        claims.clear()
    }

    /// Removes the files that did not come again.
    pub(super) fn remove_doubted(&mut self) -> Result<(), SinkError> {
        while let Some(key) = self.index.doubted()? {
            if let (Some(entry), Some(path)) = (self.index.at(&key)?, Path::from_bytes(&key)) {
                let is_ours = self.tree.look(&path).is_ok_and(|seen| entry.is_as(seen));
                if is_ours {
                    done(&path, self.tree.remove(&path))?;
                }
                self.index.remove(&key)?;
                // Whoever came again has taken it over.
                while let Some(share) = self.index.heir(&key, &entry.digest)? {
                    self.index.unshare(&key, &share.identifier)?;
                }
            }
            self.index.trust(&key)?;
        }
        Ok(())
    }
}

/// A file that cannot be removed stays: it was complete, and is nobody's any more.
fn done(path: &Path, removed: Result<(), Undone>) -> Result<(), SinkError> {
    match removed {
        Ok(()) => Ok(()),
        Err(Undone::Failed(error)) => Err(error),
        Err(Undone::Refused(reason)) => {
            tracing::warn!(path = path.display(), "failed to remove a file of an interrupted page: {reason}");
            Ok(())
        }
    }
}
