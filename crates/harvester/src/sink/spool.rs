//! Buffers bytes that are in transit: a few in memory, more in a temporary file.
//!
//! The content of a record may not be stored under its name before the record is known to be complete and valid, and it
//! may be larger than memory. Temporary files are in a separate directory on the same disk, so that they can be renamed
//! into place. Files that a killed process left there are removed when the directory is opened.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};

use super::SinkError;
use crate::didl::{Algorithm, Digest, Hasher};

/// The number of bytes kept in memory: most files of most sites are smaller.
const IN_MEMORY: usize = 1024 * 1024;

/// A function that receives bytes in pieces.
pub(super) type Take<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), SinkError>;

/// Opens a directory in a directory, and nothing outside it: a link in its place is an error.
pub(super) fn open_folder(parent: impl AsFd, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// Opens a directory, and creates it if it is missing.
pub(super) fn make_folder(parent: impl AsFd, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    match open_folder(&parent, name) {
        Err(rustix::io::Errno::NOENT) => {
            // Another process may have created it in the meantime.
            match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => open_folder(parent, name),
                Err(error) => Err(error),
            }
        }
        opened => opened,
    }
}

/// Makes a created or renamed file survive a power failure.
pub(super) fn sync_folder(folder: &Path) -> Result<(), SinkError> {
    let synced = File::open(folder).and_then(|opened| opened.sync_all());
    synced.map_err(SinkError::io("sync", folder))
}

/// The directory of temporary files.
pub(super) struct Scratch {
    folder: Arc<OwnedFd>,
    path: PathBuf,
    next: AtomicU64,
}

impl Scratch {
    /// Opens `tmp` in the directory `own`, which is at `path`, and empties it.
    pub(super) fn open(own: impl AsFd, path: &Path) -> Result<Self, SinkError> {
        let path = path.join("tmp");
        let opened = || -> io::Result<OwnedFd> {
            let folder = make_folder(own, b"tmp")?;
            rustix::fs::fchmod(&folder, Mode::RWXU)?;
            for entry in rustix::fs::Dir::read_from(&folder)? {
                let entry = entry?;
                if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                    rustix::fs::unlinkat(&folder, entry.file_name(), AtFlags::empty())?;
                }
            }
            Ok(folder)
        };
        let folder = opened().map_err(SinkError::io("empty the directory of temporary files", &path))?;
        Ok(Self { folder: Arc::new(folder), path, next: AtomicU64::new(0) })
    }

    fn create(&self) -> Result<Temporary, SinkError> {
        let name = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        // Never executable, and never writable for others, regardless of the umask.
        let file = rustix::fs::openat(&self.folder, &name, flags, Mode::from_raw_mode(0o644))
            .map_err(|error| SinkError::io("create a temporary file in", &self.path)(error.into()))?;
        Ok(Temporary { folder: self.folder.clone(), name, file: File::from(file), kept: false })
    }

    fn error(&self) -> impl FnOnce(io::Error) -> SinkError {
        SinkError::io("write a temporary file in", &self.path)
    }
}

/// A temporary file. It is deleted when this is dropped, unless it was renamed.
pub(super) struct Temporary {
    folder: Arc<OwnedFd>,
    name: String,
    /// The file itself.
    pub(super) file: File,
    kept: bool,
}

impl Temporary {
    /// Returns its directory, and its name there.
    pub(super) fn place(&self) -> (&OwnedFd, &str) {
        (&self.folder, &self.name)
    }

    /// Marks the file as renamed, so that it is not deleted.
    pub(super) fn kept(mut self) {
        self.kept = true;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // A file that cannot be removed here is removed when the directory is opened again.
            let _ = rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Buffered bytes.
pub(super) struct Spool {
    memory: Vec<u8>,
    file: Option<Temporary>,
    length: u64,
    algorithm: Algorithm,
    hasher: Hasher,
    /// A second digest of the same bytes.
    also: Option<(Algorithm, Hasher)>,
}

impl Spool {
    /// Returns an empty spool, which digests its bytes by this algorithm.
    pub(super) fn new(algorithm: Algorithm) -> Self {
        Self { memory: Vec::new(), file: None, length: 0, algorithm, hasher: Hasher::new(algorithm), also: None }
    }

    /// Adds a second digest algorithm.
    pub(super) fn also(self, algorithm: Algorithm) -> Self {
        Self { also: Some((algorithm, Hasher::new(algorithm))), ..self }
    }

    /// Returns the number of bytes.
    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Returns the number of bytes in memory.
    pub(super) fn in_memory(&self) -> u64 {
        self.memory.len() as u64
    }

    /// Moves all bytes to the file.
    pub(super) fn unload(&mut self, scratch: &Scratch) -> Result<(), SinkError> {
        self.file(scratch).map(drop)
    }

    /// Removes all bytes.
    pub(super) fn clear(&mut self) {
        self.memory.clear();
        (self.file, self.length, self.hasher) = (None, 0, Hasher::new(self.algorithm));
        self.also = self.also.take().map(|(algorithm, _)| (algorithm, Hasher::new(algorithm)));
    }

    /// Adds bytes.
    pub(super) fn push(&mut self, bytes: &[u8], scratch: &Scratch) -> Result<(), SinkError> {
        self.hasher.update(bytes);
        if let Some((_, hasher)) = &mut self.also {
            hasher.update(bytes);
        }
        self.length += bytes.len() as u64;
        if self.file.is_none() && self.memory.len() + bytes.len() <= IN_MEMORY {
            self.memory.extend_from_slice(bytes);
            return Ok(());
        }
        let file = self.file(scratch)?;
        file.write_all(bytes).map_err(scratch.error())
    }

    /// Returns the digest of all bytes.
    pub(super) fn digest(&self) -> Digest {
        self.hasher.clone().finish()
    }

    /// Returns the second digest.
    pub(super) fn second_digest(&self) -> Option<Digest> {
        self.also.as_ref().map(|(_, hasher)| hasher.clone().finish())
    }

    /// Returns the difference between this digest and that of the bytes, if any.
    pub(super) fn contradicts(&mut self, stated: &Digest, scratch: &Scratch) -> Result<Option<String>, SinkError> {
        let found = match self.second_digest().filter(|digest| digest.algorithm == stated.algorithm) {
            Some(found) => found,
            None if stated.algorithm == self.algorithm => self.digest(),
            None => {
                let mut hasher = Hasher::new(stated.algorithm);
                self.read(scratch, &mut |bytes| {
                    hasher.update(bytes);
                    Ok(())
                })?;
                hasher.finish()
            }
        };
        Ok((found != *stated).then(|| format!("the digest of the bytes is {found}, but the record states {stated}")))
    }

    /// Passes all bytes to `take`, from the first, in pieces.
    pub(super) fn read(&mut self, scratch: &Scratch, take: Take<'_>) -> Result<(), SinkError> {
        let Some(temporary) = &mut self.file else { return take(&self.memory) };
        temporary.file.seek(SeekFrom::Start(0)).map_err(scratch.error())?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match temporary.file.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => take(&buffer[..length])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(scratch.error()(error)),
            }
        }
    }

    /// Moves all bytes to a file, and returns it.
    pub(super) fn into_file(mut self, scratch: &Scratch) -> Result<Temporary, SinkError> {
        self.file(scratch)?;
        self.file.ok_or_else(|| scratch.error()(io::ErrorKind::NotFound.into()))
    }

    fn file(&mut self, scratch: &Scratch) -> Result<&mut File, SinkError> {
        let temporary = match self.file.take() {
            Some(temporary) => temporary,
            None => {
                let mut temporary = scratch.create()?;
                temporary.file.write_all(&self.memory).map_err(scratch.error())?;
                self.memory = Vec::new();
                temporary
            }
        };
        Ok(&mut self.file.insert(temporary).file)
    }
}
