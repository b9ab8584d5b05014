//! Reads and writes the files of a mirror, and nothing outside it.
//!
//! Every operation is relative to the handle of a directory that was opened from the mirror's root name by name,
//! without following a link. An attacker may create links in the directory: they are never followed, and a file that
//! replaces a link replaces the link itself.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;

use super::flush::Flusher;
use super::path::Path;
use crate::didl::{Algorithm, Hasher};
use crate::sink::SinkError;
use crate::sink::spool::{Temporary, make_folder, open_folder};

/// The number of directory handles kept open: enough for a traversal in order, far below any limit on open files.
const HANDLES: usize = 128;

/// The directory of a mirror.
pub(super) struct Tree {
    root: Arc<OwnedFd>,
    path: PathBuf,
    handles: HashMap<Vec<u8>, Arc<OwnedFd>>,
    flusher: Flusher,
}

/// The reason why an operation was not performed.
pub(super) enum Undone {
    /// The operation is impossible for this file.
    Refused(String),
    /// No further operation is possible.
    Failed(SinkError),
}

impl From<SinkError> for Undone {
    fn from(error: SinkError) -> Self {
        Self::Failed(error)
    }
}

/// The type of the entry under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The entry does not exist.
    Nothing,
    /// A file; `modified` is in seconds since 1970.
    File { size: u64, modified: i64 },
    /// A directory.
    Folder,
    /// A link, or another type of entry.
    Other,
}

impl Tree {
    /// Opens the tree below this directory, which is at `path`.
    pub(super) fn new(root: OwnedFd, path: PathBuf) -> Self {
        let root = Arc::new(root);
        Self { flusher: Flusher::new(root.clone()), root, path, handles: HashMap::new() }
    }

    /// Returns the entry with this name.
    pub(super) fn look(&mut self, path: &Path) -> Result<Seen, Undone> {
        let found = self.folder(path.folders(), false);
        let found = found.and_then(|folder| rustix::fs::statat(&*folder, path.name(), AtFlags::SYMLINK_NOFOLLOW));
        match found {
            Ok(found) => Ok(match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => {
                    Seen::File { size: u64::try_from(found.st_size).unwrap_or_default(), modified: found.st_mtime }
                }
                FileType::Directory => Seen::Folder,
                _ => Seen::Other,
            }),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG) => Ok(Seen::Nothing),
            Err(error) => Err(self.undone("read", path, error)),
        }
    }

    /// Returns the SHA-256 of a file.
    pub(super) fn digest(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let folder = self.folder(path.folders(), false)?;
        let mut file = File::from(rustix::fs::openat(&*folder, path.name(), flags, Mode::empty())?);
        let mut hasher = Hasher::new(Algorithm::Sha256);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(hasher.finish().bytes),
                Ok(length) => hasher.update(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Renames a temporary file of this size into place.
    pub(super) fn put(&mut self, path: &Path, temporary: Temporary, size: u64) -> Result<(), Undone> {
        let placed = match self.rename(path, &temporary) {
            // Another process removed a directory that is still held open.
            Err(Errno::NOENT) => {
                self.handles.clear();
                self.rename(path, &temporary)
            }
            placed => placed,
        };
        placed.map_err(|error| self.undone("write", path, error))?;
        temporary.kept();
        self.flusher.wrote(size);
        Ok(())
    }

    fn rename(&mut self, path: &Path, temporary: &Temporary) -> rustix::io::Result<()> {
        let folder = self.folder(path.folders(), true)?;
        let (scratch, name) = temporary.place();
        match rustix::fs::renameat(scratch, name, &*folder, path.name()) {
            // An empty directory has this name: its files were deleted.
            Err(Errno::ISDIR) => {
                rustix::fs::unlinkat(&*folder, path.name(), AtFlags::REMOVEDIR).map_err(|_| Errno::ISDIR)?;
                self.handles.clear();
                rustix::fs::renameat(scratch, name, &*folder, path.name())
            }
            renamed => renamed,
        }
    }

    /// Sets the modification time of a file.
    pub(super) fn touch(&mut self, path: &Path, modified: i64) -> Result<(), Undone> {
        let times = times(modified);
        let folder = self.folder(path.folders(), false);
        folder
            .and_then(|folder| rustix::fs::utimensat(&*folder, path.name(), &times, AtFlags::SYMLINK_NOFOLLOW))
            .map_err(|error| self.undone("set the modification time of", path, error))
    }

    /// Removes a file, and the directories that are then empty. A missing file is not an error.
    pub(super) fn remove(&mut self, path: &Path) -> Result<(), Undone> {
        let removed = self.folder(path.folders(), false);
        match removed.and_then(|folder| rustix::fs::unlinkat(&*folder, path.name(), AtFlags::empty())) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ISDIR) => self.prune(path),
            Err(error) => Err(self.undone("remove", path, error)),
        }
    }

    /// Moves a file to the same place in another tree, unless one exists there. Returns true if the file was moved.
    pub(super) fn retire(&mut self, path: &Path, to: &mut Self) -> Result<bool, Undone> {
        let from = match self.folder(path.folders(), false) {
            Ok(folder) => folder,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(true),
            Err(error) => return Err(self.undone("open the directory of", path, error)),
        };
        let moved = to
            .folder(path.folders(), true)
            .and_then(|to| rustix::fs::renameat_with(&*from, path.name(), &*to, path.name(), RenameFlags::NOREPLACE));
        match moved {
            Ok(()) | Err(Errno::NOENT) => self.prune(path).map(|()| true),
            Err(Errno::EXIST | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP) => Ok(false),
            Err(error) => Err(self.undone("move", path, error)),
        }
    }

    /// Starts to write files to the disk in the background, if enough of them were written.
    pub(super) fn begin_sync(&mut self) -> Result<(), SinkError> {
        self.flusher.begin().map_err(SinkError::io("sync", &self.path))
    }

    /// Writes all files to the disk, so that they survive a power failure.
    pub(super) fn sync(&mut self) -> Result<(), SinkError> {
        self.flusher.finish().map_err(SinkError::io("sync", &self.path))
    }

    /// Removes the directories of a path that are empty, innermost first.
    fn prune(&mut self, path: &Path) -> Result<(), Undone> {
        let mut folders = path.folders();
        while let Some((name, outer)) = folders.split_last() {
            let removed = self.folder(outer, false);
            match removed.and_then(|parent| rustix::fs::unlinkat(&*parent, name.as_slice(), AtFlags::REMOVEDIR)) {
                Ok(()) => drop(self.handles.remove(&folders.join(&b'/'))),
                // Already removed: the next one may be empty for the same reason.
                Err(Errno::NOENT) => {}
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR | Errno::LOOP | Errno::BUSY) => break,
                Err(error) => return Err(self.undone("remove the directory of", path, error)),
            }
            folders = outer;
        }
        Ok(())
    }

    /// Returns the handle of a directory.
    fn folder(&mut self, names: &[Vec<u8>], create: bool) -> rustix::io::Result<Arc<OwnedFd>> {
        let mut depth = names.len();
        let mut folder = loop {
            if depth == 0 {
                break self.root.clone();
            }
            if let Some(known) = self.handles.get(&names[..depth].join(&b'/')) {
                break known.clone();
            }
            depth -= 1;
        };
        for depth in depth..names.len() {
            let open = if create {
                make_folder(folder.as_fd(), &names[depth])
            } else {
                open_folder(folder.as_fd(), &names[depth])
            };
            folder = Arc::new(open?);
            if self.handles.len() == HANDLES {
                self.handles.clear();
            }
            self.handles.insert(names[..=depth].join(&b'/'), folder.clone());
        }
        Ok(folder)
    }

    /// Classifies an error: as one of this file, or as one of the disk.
    fn undone(&self, activity: &'static str, path: &Path, error: Errno) -> Undone {
        let reason = match error {
            Errno::NOTDIR | Errno::LOOP => "its parent directory is a file or a symbolic link",
            Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST => "a directory has the same name",
            Errno::NAMETOOLONG => "the name is too long for this file system",
            Errno::INVAL | Errno::ILSEQ => "the file system does not allow this name",
            Errno::ACCESS | Errno::PERM => "permission denied",
            _ => {
                use std::os::unix::ffi::OsStringExt as _;
                let full = self.path.join(std::ffi::OsString::from_vec(path.to_bytes()));
                return Undone::Failed(SinkError::io(activity, &full)(error.into()));
            }
        };
        Undone::Refused(format!("failed to {activity} '{}': {reason}", path.display()))
    }
}

/// Sets the modification time of an open file.
pub(super) fn date(file: &File, modified: i64) -> io::Result<()> {
    Ok(rustix::fs::futimens(file, &times(modified))?)
}

/// Returns both times as whole seconds since 1970, the precision of HTTP.
fn times(modified: i64) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: modified, tv_nsec: 0 },
    }
}
