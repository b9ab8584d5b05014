//! Deletes files, or moves them to `.modoai/deleted`.

use super::Mirror;
use super::index::{Entry, Share};
use super::path::Path;
use super::tree::{Tree, Undone};
use crate::sink::SinkError;
use crate::sink::spool::make_folder;

/// The number of directories for moved files: a file may be deleted twice, and a directory may have been a file.
const ASIDE: usize = 100;

impl Mirror {
    /// Deletes a file or moves it, unless another record has the same bytes: then that record inherits the file.
    pub(super) fn discard(&mut self, key: &[u8]) -> Result<(), Undone> {
        if let Some(entry) = self.index.at(key)?
            && let Some(Share { identifier, url, .. }) = self.index.heir(key, &entry.digest)?
        {
            self.index.unshare(key, &identifier)?;
            return Ok(self.index.put(&Entry { identifier, url, ..entry })?);
        }
        if let Some(path) = Path::from_bytes(key) {
            if self.keep_deleted {
                self.put_aside(&path)?;
            } else {
                self.tree.remove(&path)?;
            }
        }
        Ok(self.index.remove(key)?)
    }

    /// Moves a file out of the mirror, to the first directory without a file of that name.
    pub(super) fn put_aside(&mut self, path: &Path) -> Result<(), Undone> {
        for number in 1..=ASIDE {
            let name = if number == 1 { "deleted".to_owned() } else { format!("deleted-{number}") };
            let full = self.own_path.join(&name);
            let folder = make_folder(&self.own, name.as_bytes())
                .map_err(|error| SinkError::io("create the directory", &full)(error.into()))?;
            if self.tree.retire(path, &mut Tree::new(folder, full))? {
                return Ok(());
            }
        }
        Err(Undone::Refused(format!("'{}' was already moved to .modoai {ASIDE} times", path.display())))
    }
}
