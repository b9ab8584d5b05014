//! Removes the files of pages that were rolled back: the record may have been deleted when the page is requested again,
//! and then nothing else would ever remove its file.
//!
//! A page that is rolled back is requested again immediately. Its files stay until that page is complete, because large
//! resources then need not be fetched again; files that were not received again are removed. If the process was killed
//! within a page, only the claims of that page are known: its files are removed when the mirror is opened. Only files
//! that have not been modified since they were written are removed.

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

    /// Marks the files that are new in this page as unconfirmed: they must be received again, or are removed.
    pub(super) fn doubt_claims(&mut self) -> Result<(), SinkError> {
        let Self { claims, index, .. } = self;
        claims.each(|key, _| index.doubt(key))?;
        index.commit()?;
        claims.clear()
    }

    /// Removes the files that were not received again.
    pub(super) fn remove_doubted(&mut self) -> Result<(), SinkError> {
        while let Some(key) = self.index.doubted()? {
            if let (Some(entry), Some(path)) = (self.index.at(&key)?, Path::from_bytes(&key)) {
                let is_ours = self.tree.look(&path).is_ok_and(|seen| entry.is_as(seen));
                if is_ours {
                    done(&path, self.tree.remove(&path))?;
                }
                self.index.remove(&key)?;
                // A record with the same bytes that was received again has replaced the file, so these shares are obsolete.
                while let Some(share) = self.index.heir(&key, &entry.digest)? {
                    self.index.unshare(&key, &share.identifier)?;
                }
            }
            self.index.trust(&key)?;
        }
        Ok(())
    }
}

/// Logs a warning for a file that could not be removed. It stays: it was complete, and no longer belongs to a record.
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
