//! Paths at which files are put that the index does not know yet.
//!
//! The index learns of a page when that is complete, files are put in place one by one. If the process ends in between,
//! there are files of ours that the index calls somebody else's, and the mirror touches nothing that is somebody else's. So
//! each path is written down before its file is put there: one short write, which survives the process.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::index::Index;
use crate::sink::SinkError;

const NAME: &str = "mirror.claims";

/// The file of claims.
pub(super) struct Claims {
    file: File,
    path: PathBuf,
    is_empty: bool,
}

impl Claims {
    /// In the folder `own`, which is at `path`. What was left there goes into the index.
    pub(super) fn open(own: &OwnedFd, path: &Path, index: &Index) -> Result<Self, SinkError> {
        let path = path.join(NAME);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(own, NAME, flags, Mode::from_raw_mode(0o666)).map(File::from);
        let file = file.map_err(|error| SinkError::io("open", &path)(error.into()))?;
        let mut claims = Self { file, path, is_empty: false };
        index.begin()?;
        let mut left = BufReader::new(&claims.file);
        let mut claim = Vec::new();
        while left.read_until(0, &mut claim).map_err(claims.failed("read"))? > 0 {
            // One that breaks off was never followed by its file.
            if claim.pop() == Some(0) {
                index.claim(&claim)?;
            }
            claim.clear();
        }
        index.commit()?;
        claims.clear()?;
        Ok(claims)
    }

    /// A file is about to be put at this path.
    pub(super) fn add(&mut self, path: &[u8]) -> Result<(), SinkError> {
        self.is_empty = false;
        // In one piece. No path has a zero in it.
        self.file.write_all(&[path, b"\0"].concat()).map_err(self.failed("write"))
    }

    /// The index knows them all.
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
