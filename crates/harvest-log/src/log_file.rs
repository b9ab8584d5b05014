//! A log file: lines are appended, each with one write, and requests never fail because of the log.
//!
//! Any number of processes append to the same file. Rotation is left to logrotate: if the file of that name has been
//! replaced or is missing, it is opened again, so no signal is needed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time between two checks of the name, and the pause after a failure.
const LOOKUP: Duration = Duration::from_secs(1);

/// A file that lines are appended to.
#[derive(Debug)]
pub struct LogFile {
    /// The name of the log in messages: `harvest log`.
    label: &'static str,
    path: PathBuf,
    /// `None` before the first line and after a failure.
    file: Option<File>,
    looked_up: Option<Instant>,
    /// The number of lines that could not be written since the last success.
    lost: u64,
}

impl LogFile {
    /// Returns the log of this name. The file is created with the first line, so that processes after a fork share no
    /// handle.
    pub fn new(label: &'static str, path: impl Into<PathBuf>) -> Self {
        Self { label, path: path.into(), file: None, looked_up: None, lost: 0 }
    }

    /// Appends a line, which ends with a line feed. A failure is logged once, and lines are lost until it is repaired.
    pub fn write(&mut self, line: &[u8]) {
        let written = self.append(line);
        let (label, path) = (self.label, self.path.display());
        match written {
            Ok(()) if self.lost > 0 => {
                tracing::info!("the {label} {path} is writable again; {} lines are missing", self.lost);
                self.lost = 0;
            }
            Ok(()) => {}
            Err(error) => {
                if self.lost == 0 {
                    tracing::warn!("failed to write the {label} {path}: {error}; requests are not affected");
                }
                self.file = None;
                self.lost += 1;
            }
        }
    }

    /// Opens the file unless it is the one that is open.
    pub fn open(&mut self) -> io::Result<()> {
        let inode = |metadata: io::Result<std::fs::Metadata>| metadata.ok().map(|it| (it.dev(), it.ino()));
        let open = self.file.as_ref().and_then(|file| inode(file.metadata()));
        if open.is_none() || open != inode(self.path.metadata()) {
            let folder = self.path.parent().unwrap_or(Path::new(""));
            DirBuilder::new().recursive(true).mode(0o750).create(folder)?;
            self.file = Some(OpenOptions::new().append(true).create(true).mode(0o640).open(&self.path)?);
        }
        Ok(())
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.looked_up.is_none_or(|at| at.elapsed() >= LOOKUP) {
            self.looked_up = Some(Instant::now());
            self.open()?;
        }
        let Some(file) = &mut self.file else { return Err(io::ErrorKind::NotConnected.into()) };
        // In one write: lines of other processes could be inserted between several writes.
        if file.write(line)? == line.len() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    /// Makes the next write check the name again.
    #[cfg(test)]
    pub(crate) fn forget_lookup(&mut self) {
        self.looked_up = None;
    }

    #[cfg(test)]
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }
}
