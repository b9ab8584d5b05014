//! The segments of an archive: numbered files of gzip members, one member per record.
//!
//! A run never changes what earlier runs wrote: its first record begins a new segment, and the next segment begins when
//! that one is full.

use std::path::Path;

use super::gzip::{Compressor, Effort};
use crate::sink::SinkError;
use crate::sink::log::{AppendLog, FileNames, Position};
use crate::sink::spool::Take;
use crate::state::OWN_FOLDER;

/// The size at which the next file begins, as archives commonly agree.
const ROLL_AT: u64 = 1_000_000_000;

/// An archive that is written.
pub(super) struct Archive {
    pub(super) log: AppendLog,
    compressor: Compressor,
    /// The first segment that this run may write to.
    pub(super) first: u32,
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
    /// Opens an archive at a position. Segments beyond it are removed, with their CDXJ files.
    pub(super) fn open(dir: &Path, name: &str, at: Position) -> Result<Self, SinkError> {
        let log = AppendLog::open(dir, segments(name), at, &dir.join(OWN_FOLDER))?;
        for (number, _) in indexes(name).list(dir)? {
            if number > at.file || (number == at.file && at.length == 0) {
                let path = dir.join(indexes(name).name(number));
                std::fs::remove_file(&path).map_err(SinkError::io("delete", &path))?;
            }
        }
        let first = if at.length == 0 { at.file } else { at.file.saturating_add(1) };
        Ok(Self { log, compressor: Compressor::new(), first, roll_at: ROLL_AT })
    }

    /// Returns the number after the last existing file.
    pub(super) fn next_free(dir: &Path, name: &str) -> Result<u32, SinkError> {
        Ok(segments(name).list(dir)?.last().map_or(0, |(last, _)| last.saturating_add(1)))
    }

    /// Begins the next segment if this one is full, or was written by an earlier run. Returns true if the segment is
    /// empty: its first record must describe it.
    pub(super) fn roll(&mut self) -> Result<bool, SinkError> {
        if self.log.end().length >= self.roll_at || self.log.end().file < self.first {
            self.log.roll()?;
        }
        Ok(self.log.end().length == 0)
    }

    /// Appends a record: its head, and its block as `block` writes it.
    pub(super) fn append(
        &mut self,
        head: &str,
        effort: Effort,
        block: &mut dyn FnMut(Take<'_>) -> Result<(), SinkError>,
    ) -> Result<Member, SinkError> {
        let path = self.log.path();
        let failed = || SinkError::io("write", &path);
        let Self { log, compressor, .. } = self;
        let at = log.end();
        compressor.begin(effort, log).map_err(failed())?;
        compressor.push(head.as_bytes(), log).map_err(failed())?;
        block(&mut |bytes| compressor.push(bytes, log).map_err(failed()))?;
        compressor.push(b"\r\n\r\n", log).map_err(failed())?;
        let length = compressor.finish(log).map_err(failed())?;
        Ok(Member { at, length })
    }
}

/// The names of the segments of an archive.
pub(super) fn segments(name: &str) -> FileNames {
    FileNames { prefix: format!("{name}-"), digits: 5, suffix: ".warc.gz" }
}

/// The names of their CDXJ files.
pub(super) fn indexes(name: &str) -> FileNames {
    FileNames { suffix: ".cdxj", ..segments(name) }
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
        let numbers = || -> Vec<u32> {
            segments("a").list(dir.path()).expect("a list").into_iter().map(|(number, _)| number).collect()
        };
        let mut archive = Archive::open(dir.path(), "a", Position::default()).expect("an archive");
        archive.roll_at = 60;
        let first: Vec<bool> = ["one", "two", "three", "four"].map(|text| write(&mut archive, text)).into();
        assert_eq!(first, [true, false, true, false]);
        let end = archive.log.commit().expect("a disk");
        assert_eq!((end.file, numbers().len()), (1, 2));
        std::fs::write(dir.path().join("a-1.warc.gz"), "someone else's").expect("a file");
        for name in ["a-00000.cdxj", "a-00001.cdxj"] {
            std::fs::write(dir.path().join(name), "").expect("a file");
        }

        let length = std::fs::metadata(dir.path().join("a-00000.warc.gz")).expect("a file").len();
        let back = Position { file: 0, length };
        let mut archive = Archive::open(dir.path(), "a", back).expect("an archive");
        assert_eq!(numbers(), [0]);
        assert!(dir.path().join("a-00000.cdxj").exists() && !dir.path().join("a-00001.cdxj").exists());
        let before = std::fs::read(dir.path().join("a-00000.warc.gz")).expect("a file");
        assert!(write(&mut archive, "five"), "a run begins a segment of its own");
        assert!(!write(&mut archive, "six"));
        archive.log.roll_back().expect("a way back");
        assert_eq!(std::fs::read(dir.path().join("a-00000.warc.gz")).expect("a file"), before);
        assert!(write(&mut archive, "seven"), "after a way back, too");
        assert_eq!(Archive::next_free(dir.path(), "a").expect("a list"), 2);
    }
}
