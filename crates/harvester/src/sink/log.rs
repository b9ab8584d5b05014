//! An append-only log in numbered files, for every sink that appends.
//!
//! Data counts when it is committed. Whatever a killed process left beyond its last commit is cut off when the log is
//! opened again, so no file has a torn end, and nothing that was committed is ever changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::{fmt, str::FromStr};

use rustix::fs::OFlags;

use super::SinkError;
use super::spool::sync_folder;

/// The size of the write buffer.
const BUFFER: usize = 128 * 1024;

/// A position in a log. As text, `FILE:LENGTH`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    /// The number of the file.
    pub(super) file: u32,
    /// The length of the file at this position.
    pub(super) length: u64,
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (file, length) = text.split_once(':').ok_or(())?;
        Ok(Self { file: file.parse().map_err(drop)?, length: length.parse().map_err(drop)? })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.length)
    }
}

/// The names of the files of a log: a prefix, the number with at least this many digits, and a suffix.
#[derive(Clone, Debug)]
pub(super) struct FileNames {
    pub(super) prefix: String,
    pub(super) digits: usize,
    pub(super) suffix: &'static str,
}

impl FileNames {
    pub(super) fn name(&self, number: u32) -> String {
        format!("{}{number:0digits$}{}", self.prefix, self.suffix, digits = self.digits)
    }

    /// Returns the existing files in order: number and size.
    pub(super) fn list(&self, dir: &Path) -> Result<Vec<(u32, u64)>, SinkError> {
        let list = || -> io::Result<Vec<(u32, u64)>> {
            let mut found = Vec::new();
            for entry in fs::read_dir(dir)? {
                let entry = entry?;
                let name = entry.file_name().into_string().unwrap_or_default();
                let digits = name.strip_prefix(&self.prefix).and_then(|rest| rest.strip_suffix(self.suffix));
                let number = digits.and_then(|digits| digits.parse().ok());
                if let Some(number) = number.filter(|&number| self.name(number) == name) {
                    found.push((number, entry.metadata()?.len()));
                }
            }
            found.sort_unstable();
            Ok(found)
        };
        list().map_err(SinkError::io("list the directory", dir))
    }
}

/// A log that is being written.
pub(super) struct AppendLog {
    dir: PathBuf,
    names: FileNames,
    file: Option<BufWriter<File>>,
    end: Position,
    committed: Position,
    /// True if the directory was not synced since a file was created.
    has_new_name: bool,
}

impl AppendLog {
    /// Opens a log at a position, and removes everything beyond it. If committed data is missing, nothing is changed, and
    /// the error advises removing `state`, after which the harvest starts over.
    pub(super) fn open(dir: &Path, names: FileNames, at: Position, state: &Path) -> Result<Self, SinkError> {
        let dir = dir.to_path_buf();
        let mut log = Self { dir, names, file: None, end: at, committed: at, has_new_name: false };
        if at.length > 0 {
            expect_length(&log.path(), at.length, &[state])?;
        }
        fs::create_dir_all(&log.dir).map_err(SinkError::io("create the directory", &log.dir))?;
        log.roll_back()?;
        Ok(log)
    }

    /// Returns the end of what was written.
    pub(super) fn end(&self) -> Position {
        self.end
    }

    /// Returns the end of what was committed.
    pub(super) fn committed(&self) -> Position {
        self.committed
    }

    /// Returns the name of the file that is being written.
    pub(super) fn file_name(&self) -> String {
        self.names.name(self.end.file)
    }

    /// Returns the path of the file that is being written.
    pub(super) fn path(&self) -> PathBuf {
        self.dir.join(self.file_name())
    }

    /// Starts the next file. Nothing is committed by this.
    pub(super) fn roll(&mut self) -> Result<(), SinkError> {
        self.sync()?;
        self.file = None;
        self.end = Position { file: self.end.file + 1, length: 0 };
        Ok(())
    }

    /// Commits everything that was written: it survives the end of the process and a power failure.
    pub(super) fn commit(&mut self) -> Result<Position, SinkError> {
        if self.end != self.committed {
            self.sync()?;
            self.committed = self.end;
        }
        Ok(self.committed)
    }

    /// Removes everything that is not committed.
    pub(super) fn roll_back(&mut self) -> Result<(), SinkError> {
        // Dropping the writer would write its buffer.
        if let Some(file) = self.file.take() {
            drop(file.into_parts());
        }
        let at = self.committed;
        self.end = at;
        for (number, _) in self.names.list(&self.dir)? {
            if number > at.file || (number == at.file && at.length == 0) {
                let path = self.dir.join(self.names.name(number));
                fs::remove_file(&path).map_err(SinkError::io("delete", &path))?;
            }
        }
        if at.length > 0 {
            let path = self.path();
            let file = self.open_file().map_err(SinkError::io("open", &path))?;
            file.get_ref().set_len(at.length).map_err(SinkError::io("shorten", &path))?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), SinkError> {
        let path = self.path();
        if let Some(file) = &mut self.file {
            file.flush().and_then(|()| file.get_ref().sync_data()).map_err(SinkError::io("sync", &path))?;
        }
        if std::mem::take(&mut self.has_new_name) { sync_folder(&self.dir) } else { Ok(()) }
    }

    /// Opens the file at the end of the log, and creates it if nothing was written to it.
    fn open_file(&mut self) -> io::Result<&mut BufWriter<File>> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
                let is_new = self.end.length == 0;
                let mut options = OpenOptions::new();
                let mut file = options.write(true).create_new(is_new).custom_flags(flags).open(self.path())?;
                file.seek(SeekFrom::Start(self.end.length))?;
                self.has_new_name |= is_new;
                BufWriter::with_capacity(BUFFER, file)
            }
        };
        Ok(self.file.insert(file))
    }
}

/// Checks that a file has at least this length. The error advises removing these paths, after which the harvest starts
/// over.
pub(super) fn expect_length(path: &Path, length: u64, anew: &[&Path]) -> Result<(), SinkError> {
    let altered = |reason| SinkError::altered(path, reason, anew);
    match fs::symlink_metadata(path) {
        Ok(found) if found.len() >= length => Ok(()),
        Ok(found) => Err(altered(format!("it must have at least {length} bytes and has {}", found.len()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(altered("it no longer exists".to_owned())),
        Err(error) => Err(SinkError::io("read", path)(error)),
    }
}

impl Write for AppendLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.open_file()?.write(bytes)?;
        self.end.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &Path, at: Position) -> Result<AppendLog, SinkError> {
        let names = FileNames { prefix: "a-".to_owned(), digits: 3, suffix: ".log" };
        AppendLog::open(dir, names, at, &dir.join("state"))
    }

    fn put(log: &mut AppendLog, text: &str) -> Position {
        log.write_all(text.as_bytes()).expect("a disk");
        log.end()
    }

    fn files(dir: &Path) -> Vec<(String, String)> {
        let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path());
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut files: Vec<_> = entries.map(|path| (name(&path), fs::read_to_string(&path).expect("a file"))).collect();
        files.sort();
        files
    }

    #[test]
    fn uncommitted_data_is_removed_by_roll_back_and_by_open() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut log = open(dir.path(), Position { file: 1, length: 0 }).expect("a log");
        put(&mut log, "one ");
        let first = log.commit().expect("a disk");
        put(&mut log, "two ");
        log.roll().expect("a disk");
        put(&mut log, "three ");
        log.roll_back().expect("a disk");
        assert_eq!(files(dir.path()), [("a-001.log".to_owned(), "one ".to_owned())]);
        put(&mut log, "four ");
        log.roll().expect("a disk");
        put(&mut log, "five");
        let last = log.commit().expect("a disk");
        assert_eq!(last.to_string().parse(), Ok(last));
        let [written, next] = [("a-001.log", "one four "), ("a-002.log", "five")].map(|(a, b)| (a.into(), b.into()));
        assert_eq!(files(dir.path()), [written, next]);

        // A file of another program with a similar name.
        fs::write(dir.path().join("a-2.log"), "other").expect("a file");
        put(&mut log, "torn");
        drop(log);
        drop(open(dir.path(), first).expect("a log"));
        let other = ("a-2.log".to_owned(), "other".to_owned());
        assert_eq!(files(dir.path()), [("a-001.log".to_owned(), "one ".to_owned()), other.clone()]);
        drop(open(dir.path(), Position { file: 1, length: 0 }).expect("a log"));
        assert_eq!(files(dir.path()), [other]);
    }

    #[test]
    fn missing_committed_data_is_an_error_and_changes_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("a-001.log"), "short").expect("a file");
        fs::write(dir.path().join("a-003.log"), "beyond").expect("a file");
        let before = files(dir.path());
        for at in [Position { file: 1, length: 6 }, Position { file: 2, length: 1 }] {
            assert!(matches!(open(dir.path(), at), Err(SinkError::Altered { .. })));
        }
        assert_eq!(files(dir.path()), before);
    }
}
