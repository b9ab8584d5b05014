//! Determines what a path already contains: the owner of the file, and if the file is unmodified.

use super::Mirror;
use super::index::{Entry, Share};
use super::path::{Path, WebUrl};
use super::tree::{Seen, Undone};
use crate::sink::SinkError;

/// The state of a path before a resource is written to it.
pub(super) struct Before {
    /// The entry of the file in the index, if it was written or found there before.
    pub(super) entry: Option<Entry>,
    /// True if the file matches the entry.
    pub(super) intact: bool,
    pub(super) whose: Whose,
}

/// The owner of an existing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The record itself, or no file exists: it may be replaced.
    Own,
    /// Not this mirror: the file is not replaced, and joins the mirror only if it has the same bytes.
    Foreign,
    /// The record with this identifier: the file is not replaced, and is shared only if it has the same bytes.
    Anothers(String),
}

impl Mirror {
    /// Returns the state of a path, and if the record may replace the file.
    pub(super) fn before(&mut self, identifier: &str, url: &str, path: &Path, key: &[u8]) -> Result<Before, Undone> {
        let entry = self.index.at(key)?;
        let mut whose = Whose::Own;
        if let Some(entry) = &entry
            && entry.identifier != identifier
        {
            let same = WebUrl::split(&entry.url).zip(WebUrl::split(url)).is_some_and(|(one, other)| one.is(&other));
            // A record of a page that was rolled back may never be received again.
            if !same && !self.index.is_doubted(key)? {
                whose = Whose::Anothers(entry.identifier.clone());
            }
        }
        if entry.is_none()
            && self.folds
            && let Some(other) = self.index.alike(key)?
        {
            let other = String::from_utf8_lossy(&other).into_owned();
            let reason = format!("'{}' and '{other}' are the same file on this file system", path.display());
            return Err(Undone::Refused(reason));
        }
        let seen = self.tree.look(path)?;
        match (entry, seen) {
            (Some(entry), seen) => {
                let intact = entry.is_as(seen);
                Ok(Before { entry: Some(entry), intact, whose })
            }
            (None, Seen::Nothing | Seen::Folder) => Ok(Before { entry: None, intact: false, whose: Whose::Own }),
            (None, seen) => self.foreign(identifier, url, path, seen),
        }
    }

    /// Handles a file that this mirror did not write, or that its index has lost.
    fn foreign(&mut self, identifier: &str, url: &str, path: &Path, seen: Seen) -> Result<Before, Undone> {
        if self.is_forgetful {
            // It may be a file from this mirror, or the only copy of another file.
            tracing::warn!(path = path.display(), "moving an unknown file to .modoai/deleted");
            self.put_aside(path)?;
            return Ok(Before { entry: None, intact: false, whose: Whose::Own });
        }
        let Seen::File { size, modified } = seen else { return Err(Whose::Foreign.refusal(path)) };
        let digest = self.tree.digest(path).map_err(|_| Whose::Foreign.refusal(path))?;
        let (identifier, url, etag) = (identifier.to_owned(), url.to_owned(), None);
        let entry = Entry { path: path.to_bytes(), identifier, url, etag, size, modified, digest };
        Ok(Before { entry: Some(entry), intact: true, whose: Whose::Foreign })
    }

    /// Returns the difference between a file and its entry, if any. The whole file is read. If only the modification
    /// time differs, it is set again.
    pub(super) fn alteration(&mut self, entry: &Entry) -> Result<Option<String>, SinkError> {
        let Some(path) = Path::from_bytes(&entry.path) else { return Ok(None) };
        let is = |what: &str| Ok(Some(format!("its file '{}' {what}", path.display())));
        let (size, modified) = match self.tree.look(&path) {
            Ok(Seen::File { size, modified }) => (size, modified),
            Ok(Seen::Nothing) => return is("no longer exists"),
            Ok(Seen::Folder | Seen::Other) => return is("is no longer a regular file"),
            Err(Undone::Refused(reason)) => return Ok(Some(reason)),
            Err(Undone::Failed(error)) => return Err(error),
        };
        match self.tree.digest(&path) {
            Ok(digest) if size == entry.size && digest == entry.digest => {}
            Ok(_) => return is("was modified"),
            Err(error) => return is(&format!("cannot be read: {error}")),
        }
        if modified == entry.modified {
            return Ok(None);
        }
        match self.tree.touch(&path, entry.modified) {
            Ok(()) => Ok(None),
            Err(Undone::Refused(reason)) => Ok(Some(reason)),
            Err(Undone::Failed(error)) => Err(error),
        }
    }

    /// Returns the difference between the digest of another record's file and that of this record's resource, if any.
    /// The bytes on the disk are compared when the owner of the file is inspected.
    pub(super) fn estrangement(&self, share: &Share) -> Result<Option<String>, SinkError> {
        let path = String::from_utf8_lossy(&share.path);
        Ok(match self.index.at(&share.path)? {
            None => Some(format!("its file '{path}' no longer exists")),
            Some(entry) if entry.digest.is_empty() || entry.digest == share.digest => None,
            Some(entry) => Some(format!("its file '{path}' now contains the record '{}'", entry.identifier)),
        })
    }
}

impl Entry {
    /// Returns true if size and modification time are those of the file as written.
    pub(super) fn is_as(&self, seen: Seen) -> bool {
        !self.digest.is_empty() && seen == Seen::File { size: self.size, modified: self.modified }
    }
}

impl Before {
    /// Returns true if the path contains these bytes.
    pub(super) fn holds(&self, sha256: &[u8]) -> bool {
        self.intact && self.entry.as_ref().is_some_and(|entry| entry.digest == sha256)
    }
}

impl Whose {
    /// Returns the reason for a refusal: only the record's own files are replaced.
    pub(super) fn refusal(&self, path: &Path) -> Undone {
        let path = path.display();
        Undone::Refused(match self {
            Self::Anothers(owner) => format!("'{path}' belongs to the record '{owner}'"),
            Self::Own | Self::Foreign => format!("'{path}' already exists and was not written by this mirror"),
        })
    }
}
