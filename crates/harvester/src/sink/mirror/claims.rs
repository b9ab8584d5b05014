//! Files of a page that is not complete yet: paths at which none was before.
//!
//! The index learns of a page when that is complete, files are put in place one by one. If the process ends in between,
//! there are files of ours that the index calls somebody else's, and that no record may ever ask for again. So each path is
//! written down before its file is put there, with the digest that tells it from what somebody else may put there later:
//! one short write, which survives the process.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::sink::SinkError;

const NAME: &str = "mirror.claims";

/// A SHA-256.
const DIGEST: usize = 32;

/// The file of claims: again and again a path, a zero, which no path has in it, and a digest.
pub(super) struct Claims {
    file: File,
    path: PathBuf,
    is_empty: bool,
}

impl Claims {
    /// In the folder `own`, which is at `path`.
    pub(super) fn open(own: &OwnedFd, path: &Path) -> Result<Self, SinkError> {
        let path = path.join(NAME);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(own, NAME, flags, Mode::from_raw_mode(0o600)).map(File::from);
        let file = file.map_err(|error| SinkError::io("open", &path)(error.into()))?;
        Ok(Self { file, path, is_empty: false })
    }

    /// A file with this digest is about to be put at this path.
    pub(super) fn add(&mut self, path: &[u8], digest: &[u8]) -> Result<(), SinkError> {
        self.is_empty = false;
        // In one piece.
        self.file.write_all(&[path, b"\0", digest].concat()).map_err(self.failed("write"))
    }

    /// All that were added since they were cleared.
    pub(super) fn each(
        &mut self,
        mut take: impl FnMut(&[u8], &[u8]) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        self.file.seek(SeekFrom::Start(0)).map_err(self.failed("read"))?;
        let mut left = BufReader::new(&self.file);
        let (mut path, mut digest) = (Vec::new(), [0; DIGEST]);
        while left.read_until(0, &mut path).map_err(self.failed("read"))? > 0 {
            path.pop();
            match left.read_exact(&mut digest) {
                Ok(()) => take(&path, &digest)?,
                // One that breaks off was never followed by its file.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(self.failed("read")(error)),
            }
            path.clear();
        }
        Ok(())
    }

    /// The page is over, and the index knows of its files whatever there is to know.
    pub(super) fn clear(&mut self) -> Result<(), SinkError> {
        if !std::mem::replace(&mut self.is_empty, true) {
            self.file.set_len(0).map_err(self.failed("empty"))?;
        }
        Ok(())
    }

    fn failed(&self, activity: &'static str) -> impl FnOnce(io::Error) -> SinkError {
        SinkError::io(activity, &self.path)
    }
}
