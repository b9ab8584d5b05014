//! Records the new files of a page that is not complete yet.
//!
//! The index is updated when a page is complete, but files are put in place one by one. If the process ends in between,
//! the mirror contains files that the index treats as foreign, and that no record may ever request again. Therefore
//! each path is written down before its file is put there, with the digest that distinguishes it from a file that
//! another program may put there later: one short write, which survives the process.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::sink::SinkError;

const NAME: &str = "mirror.claims";

/// The length of a SHA-256 digest.
const DIGEST: usize = 32;

/// The file of claims: a sequence of path, zero byte (which no path contains), and digest.
pub(super) struct Claims {
    file: File,
    path: PathBuf,
    is_empty: bool,
}

impl Claims {
    /// Opens the file in the directory `own`, which is at `path`.
    pub(super) fn open(own: &OwnedFd, path: &Path) -> Result<Self, SinkError> {
        let path = path.join(NAME);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(own, NAME, flags, Mode::from_raw_mode(0o600)).map(File::from);
        let file = file.map_err(|error| SinkError::io("open", &path)(error.into()))?;
        Ok(Self { file, path, is_empty: false })
    }

    /// Records that a file with this digest is about to be put at this path.
    pub(super) fn add(&mut self, path: &[u8], digest: &[u8]) -> Result<(), SinkError> {
        self.is_empty = false;
        // One write, so that a claim is not torn.
        self.file.write_all(&[path, b"\0", digest].concat()).map_err(self.failed("write"))
    }

    /// Passes each claim that was added since the last [`Claims::clear`] to `take`.
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
                // An incomplete claim was never followed by its file.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(self.failed("read")(error)),
            }
            path.clear();
        }
        Ok(())
    }

    /// Removes all claims: the page is over, and the index contains its files.
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
