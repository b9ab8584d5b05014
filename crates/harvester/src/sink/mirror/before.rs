//! What is at a path already: whose it is, and whether it is still what was written.

use super::Mirror;
use super::index::{Entry, Share};
use super::path::{Path, WebUrl};
use super::tree::{Seen, Undone};
use crate::sink::SinkError;

/// What there was before.
pub(super) struct Before {
    /// What was written there, or was found there.
    pub(super) entry: Option<Entry>,
    /// Whether it is there as the entry says.
    pub(super) intact: bool,
    pub(super) whose: Whose,
}

/// Whose a file is that is there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The record's own, or there is none: it may be replaced.
    Own,
    /// Not this mirror's: it is not replaced, and becomes ours only if it is the same.
    Foreign,
    /// That of the record with this identifier: it is not replaced, and shared only if it is the same.
    Anothers(String),
}

impl Mirror {
    /// What is at a path, and whether it is the record's to replace.
    pub(super) fn before(&mut self, identifier: &str, url: &str, path: &Path, key: &[u8]) -> Result<Before, Undone> {
        let entry = self.index.at(key)?;
        let mut whose = Whose::Own;
        if let Some(entry) = &entry
            && entry.identifier != identifier
        {
            let same = WebUrl::split(&entry.url).zip(WebUrl::split(url)).is_some_and(|(one, other)| one.is(&other));
            // One that came in a page that was taken back may never come again.
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

    /// Something is at a path that this mirror did not write, or does not remember.
    fn foreign(&mut self, identifier: &str, url: &str, path: &Path, seen: Seen) -> Result<Before, Undone> {
        if self.is_forgetful {
            // It may be what is left of a file of ours, or somebody's only copy.
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

    /// In which way a file is not as it was written, if it is not. All of it is read. Where only its modification time is
    /// another, that is set again.
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

    /// In which way a file that is another record's has not the bytes of this one, if it has not. Whether they are on the
    /// disk is asked when its owner's turn comes.
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
    /// Whether what is there can be what was written.
    pub(super) fn is_as(&self, seen: Seen) -> bool {
        !self.digest.is_empty() && seen == Seen::File { size: self.size, modified: self.modified }
    }
}

impl Before {
    /// Whether these are the bytes that are there.
    pub(super) fn holds(&self, sha256: &[u8]) -> bool {
        self.intact && self.entry.as_ref().is_some_and(|entry| entry.digest == sha256)
    }
}

impl Whose {
    /// Nothing is replaced that is not the record's own.
    pub(super) fn refusal(&self, path: &Path) -> Undone {
        let path = path.display();
        Undone::Refused(match self {
            Self::Anothers(owner) => format!("'{path}' belongs to the record '{owner}'"),
            Self::Own | Self::Foreign => format!("'{path}' already exists and was not written by this mirror"),
        })
    }
}
