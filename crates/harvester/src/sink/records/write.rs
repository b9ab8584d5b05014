//! Writes records: fills frames with lines, commits pages, and opens folders in every state that a harvest can leave.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

use super::index::{BATCH, Entry, Index};
use super::line::write_line;
use super::previous::Previous;
use super::{FRAME, MARK, SEGMENTS, START, Spot, names, read_mark};
use crate::record::{Header, Novelty};
use crate::sink::gathered::Gathered;
use crate::sink::log::{AppendLog, Position};
use crate::sink::spool::sync_folder;
use crate::sink::{Kept, Origin, Part, Sink, SinkError};
use crate::state::OWN_FOLDER;

/// The size at which a segment is closed at the end of a page. Small enough to be moved, large enough that a hundred
/// million records need a hundred files.
const ROLL: u64 = 1 << 30;
/// The compression level. With 100,000 records of synthetic Dublin Core, level 3 takes a tenth longer, and the files
/// are hardly smaller.
const LEVEL: i32 = 1;

/// The sink that writes records.
pub struct RecordSink {
    log: AppendLog,
    compressor: Compressor<'static>,
    index: Index,
    /// The lines of the frame that is being filled.
    content: Vec<u8>,
    origin: Option<Origin>,
    /// The current record. It is written only after it is known to be new or changed.
    pub(super) record: Gathered,
    /// Entries that are not in the index yet; the first `settled` of them are committed.
    entries: Vec<Entry>,
    settled: usize,
    /// The size at which the next segment is started.
    roll: u64,
    has_converted: bool,
}

impl RecordSink {
    /// Opens the directory of a harvest. Data beyond the mark is removed. Without a mark, segments belong to a harvest
    /// whose state was lost and whose records were not: their directory is renamed, never deleted. The data of an
    /// earlier version is converted.
    pub fn open(dir: &Path, mark: Option<&str>) -> Result<Self, SinkError> {
        let folder = dir.join(SEGMENTS);
        let Some(text) = mark else {
            put_aside(dir, &folder)?;
            return Self::open_at(dir, START);
        };
        if let Some(at) = read_mark(text) {
            let sink = Self::open_at(dir, at)?;
            // They were converted, and the mark of that was stored.
            Previous::remove_segments(&folder)?;
            return Ok(sink);
        }
        let previous = Previous::open(dir, mark)?.ok_or_else(|| SinkError::Damaged {
            path: folder.clone(),
            reason: format!("invalid position {text:?} in the state"),
        })?;
        tracing::info!(dir = %dir.display(), "converting the records of an earlier version");
        Index::remove(&folder)?;
        let mut sink = Self::open_at(dir, START)?;
        let damages = previous.copy_to(&mut sink)?;
        Previous::keep(&damages)?;
        for damage in damages {
            tracing::warn!(%damage, "some records could not be converted");
        }
        sink.has_converted = true;
        Ok(sink)
    }

    /// Opens the log at a position, and removes everything beyond it.
    pub(super) fn open_at(dir: &Path, at: Position) -> Result<Self, SinkError> {
        let folder = dir.join(SEGMENTS);
        let log = AppendLog::open(&folder, names(), at, &dir.join(OWN_FOLDER))?;
        let mut index = Index::open(&folder)?;
        index.cut((at.file, at.length))?;
        for damage in index.complete(&names().list(&folder)?, &folder)? {
            tracing::warn!(%damage, "some records can no longer be read");
        }
        let mut compressor = Compressor::new(LEVEL).map_err(SinkError::io("compress for", &log.path()))?;
        let checked = compressor.set_parameter(CParameter::ChecksumFlag(true));
        checked.map_err(SinkError::io("compress for", &log.path()))?;
        Ok(Self {
            log,
            compressor,
            index,
            content: Vec::with_capacity(FRAME),
            origin: None,
            record: Gathered::new(dir),
            entries: Vec::new(),
            settled: 0,
            roll: ROLL,
            has_converted: false,
        })
    }

    /// Writes the record that was read into `record`, and commits it with others.
    pub(super) fn store(&mut self, origin: Origin) -> Result<(), SinkError> {
        self.origin = Some(origin);
        self.end(Novelty::New)?;
        if self.entries.len() >= BATCH { self.commit().map(drop) } else { Ok(()) }
    }

    /// Writes this many bytes of the content, which are complete lines, as a frame.
    fn close_frame(&mut self, length: usize) -> Result<(), SinkError> {
        if length == 0 {
            return Ok(());
        }
        let lines = &self.content[..length];
        let frame = self.compressor.compress(lines).map_err(SinkError::io("compress for", &self.log.path()))?;
        self.content.drain(..length);
        let written = self.log.write_all(&frame);
        written.map_err(SinkError::io("write to", &self.log.path()))
    }

    /// Writes the record, and returns its position.
    fn write(&mut self) -> Result<Spot, SinkError> {
        let origin = self.origin.as_ref().ok_or_else(|| SinkError::Internal("a record without a page".to_owned()))?;
        let mut start = self.content.len();
        if self.record.len() <= FRAME as u64 {
            let written = write_line(&mut self.record, origin, &mut self.content);
            written.map_err(|error| SinkError::io("write to", &self.log.path())(error))?;
            if start > 0 && self.content.len() > FRAME {
                self.close_frame(start)?;
                start = 0;
            }
            return Ok(self.spot(start));
        }
        let origin = origin.clone();
        self.close_frame(start)?;
        let spot = self.spot(0);
        let Self { log, record, .. } = self;
        let path = log.path();
        let written = || -> io::Result<()> {
            let mut encoder = zstd::Encoder::new(log, LEVEL)?;
            encoder.include_checksum(true)?;
            write_line(record, &origin, &mut encoder)?;
            encoder.finish().map(drop)
        };
        written().map_err(SinkError::io("write to", &path))?;
        Ok(spot)
    }

    /// Returns the position of a line of the frame that is being filled.
    fn spot(&self, within: usize) -> Spot {
        let Position { file, length } = self.log.end();
        Spot { segment: file, frame: length, within: u32::try_from(within).expect("a frame is a few megabytes") }
    }

    /// Writes the committed entries to the index.
    fn write_index(&mut self) -> Result<(), SinkError> {
        if self.settled > 0 {
            let Position { file, length } = self.log.committed();
            self.index.add(&mut self.entries[..self.settled], &[(file, length)])?;
            self.entries.drain(..self.settled);
            self.settled = 0;
        }
        Ok(())
    }
}

impl Sink for RecordSink {
    fn has_converted(&self) -> bool {
        self.has_converted
    }

    fn page(&mut self, origin: &Origin) -> Result<(), SinkError> {
        self.origin = Some(origin.clone());
        Ok(())
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        self.record.begin(header).map_err(|error| SinkError::io("buffer a record for", &self.log.path())(error))
    }

    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError> {
        self.record.part(part, namespaces.iter().copied());
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        self.record.bytes(bytes).map_err(|error| SinkError::io("buffer a record for", &self.log.path())(error))
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        self.record.part_end();
        Ok(())
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        if novelty != Novelty::Same {
            let spot = self.write()?;
            self.entries.push(Entry::new(&self.record.header().identifier, spot));
        }
        Ok(Kept::Yes)
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        self.close_frame(self.content.len())?;
        let at = self.log.commit()?;
        self.settled = self.entries.len();
        if self.settled >= BATCH || at.length >= self.roll {
            self.write_index()?;
        }
        if at.length >= self.roll {
            self.log.roll()?;
        }
        Ok(format!("{MARK}{}", self.log.commit()?))
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.content.clear();
        self.entries.truncate(self.settled);
        self.log.roll_back()
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.write_index()
    }
}

impl Drop for RecordSink {
    fn drop(&mut self) {
        // Otherwise the next process that opens the index has to do it.
        if let Err(error) = self.write_index() {
            tracing::debug!(%error, "failed to update the index");
        }
    }
}

/// Renames a directory that contains records.
fn put_aside(dir: &Path, folder: &Path) -> Result<(), SinkError> {
    if !folder.exists() || (names().list(folder)?.is_empty() && Previous::open(dir, None)?.is_none()) {
        return Ok(());
    }
    let free =
        |name: &PathBuf| matches!(fs::symlink_metadata(name), Err(error) if error.kind() == io::ErrorKind::NotFound);
    let aside = (1_u32..).map(|number| dir.join(format!("{SEGMENTS}.{number}"))).find(free);
    let aside = aside.expect("some number is free");
    fs::rename(folder, &aside).map_err(SinkError::io("rename", folder))?;
    sync_folder(dir)?;
    tracing::warn!(aside = %aside.display(), "found segments without the state of their harvest; renamed the directory");
    Ok(())
}

#[cfg(test)]
mod tests {
    use modoai_protocol::Datestamp;

    use super::super::{Damage, Found, Reader};
    use super::*;

    fn send_page(sink: &mut RecordSink, identifier: &str) -> String {
        let text = || "x".to_owned();
        let harvested = Datestamp::from_unix(0);
        let origin = Origin { base_url: text(), prefix: text(), schema: text(), namespace: text(), harvested };
        sink.page(&origin).expect("taken");
        sink.record(&Header { identifier: identifier.to_owned(), ..Header::default() }).expect("taken");
        sink.end(Novelty::New).expect("taken");
        sink.commit().expect("committed")
    }

    fn read(dir: &Path) -> (Vec<String>, Vec<Damage>) {
        let mut reader = Reader::open(dir).expect("a folder of records");
        let mut records = reader.latest().expect("an index");
        let (mut identifiers, mut damages) = (Vec::new(), Vec::new());
        while let Some(found) = records.next().expect("readable") {
            match found {
                Found::Record(record, _) => identifiers.push(record.header().identifier.clone()),
                Found::Damage(damage) => damages.push(damage),
            }
        }
        (identifiers, damages)
    }

    #[test]
    fn segments_follow_each_other_and_none_vanishes_unnoticed() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut sink = RecordSink::open(dir.path(), None).expect("opened");
        sink.roll = 1;
        let marks = ["a", "b", "a", "c"].map(|identifier| send_page(&mut sink, identifier));
        assert_eq!(read_mark(&marks[3]), Some(Position { file: 5, length: 0 }), "{marks:?}");
        drop(sink);
        let names = |found: &[&str]| (found.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), Vec::new());
        assert_eq!(read(dir.path()), names(&["b", "a", "c"]));
        // The last commit was not stored.
        let mut sink = RecordSink::open(dir.path(), Some(&marks[2])).expect("opened");
        assert_eq!(read(dir.path()), names(&["b", "a"]));
        send_page(&mut sink, "d");
        drop(sink);
        assert_eq!(read(dir.path()), names(&["b", "a", "d"]));
        let lost = dir.path().join(SEGMENTS).join(super::names().name(2));
        fs::remove_file(&lost).expect("it was there");
        let (found, damages) = read(dir.path());
        assert_eq!(found, ["a", "d"]);
        assert_eq!(damages.iter().map(|damage| &damage.path).collect::<Vec<_>>(), [&lost]);
    }
}
