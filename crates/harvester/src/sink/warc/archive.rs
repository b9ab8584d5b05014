//! The segments of an archive: numbered files of gzip members, one member per record.
//!
//! A run never changes what earlier runs wrote. It begins a separate segment with its first record, and the next segment
//! when that is full. Only whole records count: where a killed process left more than was committed, that is cut off when
//! the archive is opened again, so a segment never has a torn end.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::gzip::{Compressor, Effort};
use crate::sink::SinkError;
use crate::sink::spool::{Take, sync_folder};
use crate::state::OWN_FOLDER;

/// A file that has grown to this is followed by the next: what archives commonly agree on.
const ROLL_AT: u64 = 1_000_000_000;

/// A place in an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    /// The number of the file.
    pub(super) file: u32,
    /// The length of the file at this position.
    pub(super) length: u64,
}

impl Position {
    /// `NUMBER:LENGTH`.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let (file, length) = text.split_once(':')?;
        Some(Self { file: file.parse().ok()?, length: length.parse().ok()? })
    }

    pub(super) fn to_text(self) -> String {
        format!("{}:{}", self.file, self.length)
    }
}

/// An archive that is written.
pub(super) struct Archive {
    dir: PathBuf,
    name: String,
    file: Option<BufWriter<File>>,
    compressor: Compressor,
    at: Position,
    /// The first segment that this run may write to.
    first: u32,
    roll_at: u64,
}

/// A record in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Its start.
    pub(super) at: Position,
    /// Its compressed length.
    pub(super) length: u64,
}

impl Archive {
    /// Opened at a position; what is beyond it is cut off.
    pub(super) fn open(dir: &Path, name: &str, at: Position) -> Result<Self, SinkError> {
        let first = if at.length == 0 { at.file } else { at.file.saturating_add(1) };
        let (dir, name) = (dir.to_path_buf(), name.to_owned());
        let mut archive = Self { dir, name, file: None, compressor: Compressor::new(), at, first, roll_at: ROLL_AT };
        archive.cut(at)?;
        Ok(archive)
    }

    /// The number after the last file that is there.
    pub(super) fn next_free(dir: &Path, name: &str) -> Result<u32, SinkError> {
        Ok(numbers(dir, name)?.into_iter().max().map_or(0, |last| last.saturating_add(1)))
    }

    /// The end of what was written.
    pub(super) fn position(&self) -> Position {
        self.at
    }

    /// The number of the first segment that this run may write to.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// The name of the current segment.
    pub(super) fn file_name(&self) -> String {
        file_name(&self.name, self.at.file)
    }

    /// Begins the next segment if this one is full or an earlier run's. True if it is empty: its first record is to say what
    /// it is.
    pub(super) fn roll(&mut self) -> Result<bool, SinkError> {
        if self.at.length >= self.roll_at || self.at.file < self.first {
            self.sync()?;
            self.file = None;
            self.at = Position { file: self.at.file + 1, length: 0 };
        }
        Ok(self.at.length == 0)
    }

    /// Appends a record: its head, and its block as `block` writes it.
    pub(super) fn append(
        &mut self,
        head: &str,
        effort: Effort,
        block: &mut dyn FnMut(Take<'_>) -> Result<(), SinkError>,
    ) -> Result<Member, SinkError> {
        let path = self.path();
        let failed = || SinkError::io("write", &path);
        let mut file = match self.file.take() {
            Some(file) => file,
            None => BufWriter::with_capacity(128 * 1024, self.open_file().map_err(failed())?),
        };
        let compressor = &mut self.compressor;
        compressor.begin(effort, &mut file).map_err(failed())?;
        compressor.push(head.as_bytes(), &mut file).map_err(failed())?;
        block(&mut |bytes| compressor.push(bytes, &mut file).map_err(failed()))?;
        compressor.push(b"\r\n\r\n", &mut file).map_err(failed())?;
        let length = compressor.finish(&mut file).map_err(failed())?;
        self.file = Some(file);
        let member = Member { at: self.at, length };
        self.at.length += length;
        Ok(member)
    }

    /// Makes everything that was appended survive the process and a power failure.
    pub(super) fn sync(&mut self) -> Result<(), SinkError> {
        let path = self.path();
        if let Some(file) = &mut self.file {
            file.flush().and_then(|()| file.get_ref().sync_data()).map_err(SinkError::io("sync", &path))?;
        }
        Ok(())
    }

    /// The names of the files survive the machine, too.
    pub(super) fn sync_folder(&self) -> Result<(), SinkError> {
        sync_folder(&self.dir)
    }

    /// Cuts off everything beyond a position.
    pub(super) fn cut(&mut self, at: Position) -> Result<(), SinkError> {
        // Whatever the buffer holds is beyond; it is not to be written when it is dropped.
        if let Some(file) = self.file.take() {
            drop(file.into_parts());
        }
        self.at = at;
        for number in numbers(&self.dir, &self.name)? {
            let path = self.dir.join(file_name(&self.name, number));
            if number > at.file || (number == at.file && at.length == 0) {
                std::fs::remove_file(&path).map_err(SinkError::io("remove", &path))?;
                let index = self.dir.join(index_name(&self.name, number));
                match std::fs::remove_file(&index) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(SinkError::io("remove", &index)(error));
                    }
                    _ => {}
                }
            }
        }
        if at.length > 0 {
            let path = self.path();
            // Existing files are kept when an archive starts over.
            let altered = |reason| SinkError::altered(&path, reason, &[&self.dir.join(OWN_FOLDER)]);
            let file = match self.open_file() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(altered("it is missing".to_owned()));
                }
                opened => opened.map_err(SinkError::io("open", &path))?,
            };
            let length = file.metadata().map_err(SinkError::io("examine", &path))?.len();
            if length < at.length {
                return Err(altered(format!("it should hold at least {} bytes and holds {length}", at.length)));
            }
            file.set_len(at.length).map_err(SinkError::io("cut off", &path))?;
        }
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.dir.join(self.file_name())
    }

    /// Made only where nothing was written yet.
    fn open_file(&self) -> io::Result<File> {
        let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let (mut options, is_new) = (OpenOptions::new(), self.at.length == 0);
        let mut file = options.write(true).create(is_new).truncate(false).custom_flags(flags).open(self.path())?;
        file.seek(SeekFrom::Start(self.at.length))?;
        Ok(file)
    }
}

pub(super) fn file_name(name: &str, number: u32) -> String {
    format!("{name}-{number:05}.warc.gz")
}

/// The name of the CDXJ file of a segment.
pub(super) fn index_name(name: &str, number: u32) -> String {
    format!("{name}-{number:05}.cdxj")
}

/// The numbers of the archive's files that are there.
fn numbers(dir: &Path, name: &str) -> Result<Vec<u32>, SinkError> {
    let list = || -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let found = entry?.file_name().into_string().unwrap_or_default();
            let number = found.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
            let number = number.and_then(|rest| rest.strip_suffix(".warc.gz")).and_then(|digits| digits.parse().ok());
            numbers.extend(number.filter(|number| found == file_name(name, *number)));
        }
        Ok(numbers)
    };
    list().map_err(SinkError::io("list", dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(archive: &mut Archive, text: &str) -> bool {
        let is_first = archive.roll().expect("a file");
        archive.append(text, Effort::Deflate(1), &mut |out| out(b"block")).expect("a record");
        is_first
    }

    #[test]
    fn a_full_file_is_followed_by_the_next_and_cut_with_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut archive = Archive::open(dir.path(), "a", Position::default()).expect("an archive");
        archive.roll_at = 60;
        let first: Vec<bool> = ["one", "two", "three", "four"].map(|text| write(&mut archive, text)).into();
        assert_eq!(first, [true, false, true, false]);
        archive.sync().expect("a disk");
        let end = archive.position();
        assert_eq!((end.file, numbers(dir.path(), "a").expect("a list").len()), (1, 2));
        assert_eq!(Position::from_text(&end.to_text()), Some(end));
        std::fs::write(dir.path().join("a-1.warc.gz"), "someone else's").expect("a file");

        let length = std::fs::metadata(dir.path().join("a-00000.warc.gz")).expect("a file").len();
        let back = Position { file: 0, length };
        let mut archive = Archive::open(dir.path(), "a", back).expect("an archive");
        assert_eq!(numbers(dir.path(), "a").expect("a list"), [0]);
        let before = std::fs::read(dir.path().join("a-00000.warc.gz")).expect("a file");
        assert!(write(&mut archive, "five"), "a run begins a segment of its own");
        assert!(!write(&mut archive, "six"));
        assert_eq!(std::fs::read(dir.path().join("a-00000.warc.gz")).expect("a file"), before);
        archive.cut(back).expect("a way back");
        assert!(write(&mut archive, "seven"), "after a way back, too");
        assert_eq!(Archive::next_free(dir.path(), "a").expect("a list"), 2);
    }
}
