//! Writes records: fills frames, commits pages, and cuts off uncommitted data.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::index::{BATCH, Entry, Index};
use super::mark::Mark;
use super::segment::{COMMITTED, CONTINUES, FRAME, SegmentReader, SegmentWriter, list, path_of};
use super::{SEGMENTS, Spot, envelope};
use crate::record::{Header, Novelty};
use crate::sink::spool::sync_folder;
use crate::sink::{Kept, Origin, Part, Sink, SinkError};
use crate::state::OWN_FOLDER;

/// The size at which a segment is closed at the end of a page. Small enough to be moved, large enough that a hundred
/// million records need a hundred files.
const ROLL: u64 = 1 << 30;
/// The maximum length of a header and of the namespace declarations of a part: the response parser allows less.
const MOST_HEADER: usize = 2 << 20;

/// The sink that writes records.
pub struct RecordSink {
    segment: SegmentWriter,
    index: Index,
    /// The frame that is being filled, and the number of records in it. It begins with `origin`.
    content: Vec<u8>,
    begun: u32,
    /// The fields for the origin of the records of this page.
    origin: Vec<u8>,
    open: Option<OpenRecord>,
    /// A buffer for the next identifier.
    spare: String,
    /// Entries that are not in the index yet; the first `settled` of them are committed.
    entries: Vec<Entry>,
    settled: usize,
    /// The committed length of the segment.
    committed: u64,
    /// The size at which the next segment is started.
    roll: u64,
    /// The number of records that were stored, and how many of them are committed.
    count: u64,
    committed_count: u64,
}

/// The record that is being written.
struct OpenRecord {
    identifier: String,
    deleted: bool,
    /// The offset in the content of its first byte of this frame.
    start: usize,
    /// The frame in which it began, if that had to be written before the record was complete. It contains nothing else.
    spilled: Option<Spot>,
    /// The offset of the piece of bytes that is being written.
    piece: Option<usize>,
    /// The reason why it cannot be stored.
    refused: Option<String>,
}

impl RecordSink {
    /// Opens the directory of a harvest. Data beyond the mark is cut off.
    ///
    /// At most one commit can be beyond a mark: one whose mark was never stored. Without a mark, committed data
    /// belongs to a harvest whose state was lost and whose records were not: its segments are renamed, never deleted.
    pub fn open(dir: &Path, mark: Option<&str>) -> Result<Self, SinkError> {
        let folder = dir.join(SEGMENTS);
        let mark = match mark {
            Some(text) => Mark::parse(text).ok_or_else(|| SinkError::Damaged {
                path: folder.clone(),
                reason: format!("invalid position {text:?} in the state"),
            })?,
            None => {
                put_aside(dir, &folder)?;
                Mark { segment: 1, length: 0, records: 0 }
            }
        };
        find_end(dir, &folder, mark)?;
        fs::create_dir_all(&folder).map_err(SinkError::io("create the directory", &folder))?;
        // First, so that the index never contains more than the segments.
        let mut index = Index::open(&folder)?;
        index.cut((mark.segment, mark.length))?;
        for (number, _) in list(&folder)? {
            if number > mark.segment || (number == mark.segment && mark.length == 0) {
                let path = path_of(&folder, number);
                fs::remove_file(&path).map_err(SinkError::io("delete", &path))?;
            }
        }
        let segment = SegmentWriter::open(&folder, mark.segment, mark.length)?;
        for damage in index.complete(&list(&folder)?, &folder)? {
            tracing::warn!(%damage, "some records can no longer be read");
        }
        Ok(Self {
            segment,
            index,
            content: Vec::with_capacity(2 * FRAME),
            begun: 0,
            origin: Vec::new(),
            open: None,
            spare: String::new(),
            entries: Vec::new(),
            settled: 0,
            committed: mark.length,
            roll: ROLL,
            count: mark.records,
            committed_count: mark.records,
        })
    }

    fn open_record(&mut self) -> &mut OpenRecord {
        self.open.as_mut().expect("a record begins before its parts and its end")
    }

    /// Writes the present frame, if it contains a record.
    fn close_frame(&mut self, flags: u32) -> Result<(), SinkError> {
        if self.begun > 0 || flags != 0 {
            let content = if self.begun > 0 || flags & CONTINUES != 0 { self.content.as_slice() } else { &[] };
            self.segment.append(content, flags, self.begun)?;
        }
        self.content.clear();
        self.begun = 0;
        Ok(())
    }

    /// Writes the part of a record that has arrived, because the record is too large for a frame.
    fn spill(&mut self) -> Result<(), SinkError> {
        self.close_piece();
        let origin = self.origin.len();
        let open = self.open.as_mut().expect("a record is being written");
        if open.spilled.is_some() {
            self.segment.append(&self.content, CONTINUES, 0)?;
        } else {
            if open.start > origin {
                // It gets separate frames, so that they can be cut off if the record is discarded.
                self.segment.append(&self.content[..open.start], 0, self.begun)?;
                self.content.drain(origin..open.start);
            }
            let within = u32::try_from(origin).expect("an origin is short");
            open.spilled = Some(Spot { segment: self.segment.number(), frame: self.segment.length(), within });
            self.segment.append(&self.content, 0, 1)?;
        }
        open.start = 0;
        self.begun = 0;
        self.content.clear();
        Ok(())
    }

    fn spill_if_large(&mut self) -> Result<(), SinkError> {
        let start = self.open_record().start;
        if self.content.len() - start >= FRAME { self.spill() } else { Ok(()) }
    }

    fn close_piece(&mut self) {
        if let Some(from) = self.open.as_mut().and_then(|open| open.piece.take()) {
            envelope::close_bytes(&mut self.content, from);
        }
    }

    /// Removes what was written of a record.
    fn forget(&mut self, open: &OpenRecord) -> Result<(), SinkError> {
        match open.spilled {
            Some(spot) => {
                self.content.clear();
                self.begun = 0;
                self.segment.cut(spot.frame)
            }
            None => {
                self.content.truncate(open.start);
                Ok(())
            }
        }
    }

    /// Writes the committed entries to the index.
    fn write_index(&mut self) -> Result<(), SinkError> {
        if self.settled > 0 {
            let reach = (self.segment.number(), self.committed);
            self.index.add(&mut self.entries[..self.settled], &[reach])?;
            self.entries.drain(..self.settled);
            self.settled = 0;
        }
        Ok(())
    }
}

impl Sink for RecordSink {
    fn page(&mut self, origin: &Origin) -> Result<(), SinkError> {
        self.close_frame(0)?;
        self.origin.clear();
        envelope::put_origin(&mut self.origin, origin);
        Ok(())
    }

    fn record(&mut self, header: &Header) -> Result<(), SinkError> {
        if self.content.is_empty() {
            self.content.extend_from_slice(&self.origin);
        }
        let start = self.content.len();
        envelope::put_header(&mut self.content, header);
        let size = self.content.len() - start;
        let refused = (size > MOST_HEADER).then(|| format!("its header is too large ({size} bytes)"));
        let mut identifier = std::mem::take(&mut self.spare);
        identifier.clear();
        identifier.push_str(&header.identifier);
        self.open =
            Some(OpenRecord { identifier, deleted: header.deleted, start, spilled: None, piece: None, refused });
        Ok(())
    }

    fn part(&mut self, part: Part, namespaces: &[(&str, &str)]) -> Result<(), SinkError> {
        let size: usize = namespaces.iter().map(|(prefix, uri)| prefix.len() + uri.len()).sum();
        let open = self.open_record();
        if size > MOST_HEADER {
            open.refused = Some(format!("its namespace declarations are too large ({size} bytes)"));
        }
        if open.refused.is_some() {
            return Ok(());
        }
        self.spill_if_large()?;
        envelope::put_part(&mut self.content, part, namespaces);
        Ok(())
    }

    fn bytes(&mut self, mut bytes: &[u8]) -> Result<(), SinkError> {
        if self.open_record().refused.is_some() {
            return Ok(());
        }
        while !bytes.is_empty() {
            self.spill_if_large()?;
            let open = self.open.as_mut().expect("a part was begun");
            let room = FRAME - (self.content.len() - open.start);
            open.piece.get_or_insert_with(|| envelope::open_bytes(&mut self.content));
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.content.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    fn part_end(&mut self) -> Result<(), SinkError> {
        self.close_piece();
        Ok(())
    }

    fn end(&mut self, novelty: Novelty) -> Result<Kept, SinkError> {
        let mut open = self.open.take().expect("a record begins before it ends");
        let kept = match open.refused.take() {
            Some(reason) => {
                self.forget(&open)?;
                Kept::No(reason)
            }
            None if novelty == Novelty::Same => {
                self.forget(&open)?;
                Kept::Yes
            }
            None => {
                envelope::put(&mut self.content, envelope::END, b"");
                let spot = open.spilled.unwrap_or_else(|| Spot {
                    segment: self.segment.number(),
                    frame: self.segment.length(),
                    within: u32::try_from(open.start).expect("a frame is a few megabytes"),
                });
                self.entries.push(Entry::new(&open.identifier, spot, open.deleted));
                self.count += 1;
                if open.spilled.is_some() {
                    self.close_frame(CONTINUES)?;
                } else {
                    self.begun += 1;
                    if self.content.len() >= FRAME {
                        self.close_frame(0)?;
                    }
                }
                Kept::Yes
            }
        };
        self.spare = open.identifier;
        Ok(kept)
    }

    fn abandon(&mut self) -> Result<(), SinkError> {
        match self.open.take() {
            Some(open) => self.forget(&open),
            None => Ok(()),
        }
    }

    fn commit(&mut self) -> Result<String, SinkError> {
        if self.begun > 0 || self.segment.file_length() > self.committed {
            self.close_frame(COMMITTED)?;
            self.segment.sync()?;
            self.committed = self.segment.file_length();
            self.committed_count = self.count;
            self.settled = self.entries.len();
        }
        let mut mark = Mark { segment: self.segment.number(), length: self.committed, records: self.count };
        if self.settled >= BATCH {
            self.write_index()?;
        }
        if self.committed >= self.roll {
            self.write_index()?;
            self.segment.roll();
            self.committed = 0;
            mark = Mark { segment: self.segment.number(), length: 0, ..mark };
        }
        Ok(mark.to_string())
    }

    fn roll_back(&mut self) -> Result<(), SinkError> {
        self.open = None;
        self.content.clear();
        self.begun = 0;
        self.entries.truncate(self.settled);
        self.count = self.committed_count;
        self.segment.cut(self.committed)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.write_index()?;
        self.segment.sync()
    }
}

impl Drop for RecordSink {
    fn drop(&mut self) {
        // Otherwise the next process that opens the index has to do it.
        if let Err(error) = self.write_index() {
            tracing::debug!(%error, "the index stays behind");
        }
    }
}

/// Checks that the committed data exists, before anything is created or cut off.
fn find_end(dir: &Path, folder: &Path, mark: Mark) -> Result<(), SinkError> {
    // A segment that was just started has no file; the previous segment has one.
    let number = if mark.length > 0 { mark.segment } else { mark.segment.saturating_sub(1) };
    if number == 0 {
        return Ok(());
    }
    let path = path_of(folder, number);
    // When a harvest starts over, existing segments are renamed.
    let altered = |reason| SinkError::altered(&path, reason, &[&dir.join(OWN_FOLDER)]);
    match fs::metadata(&path) {
        Ok(found) if found.len() >= mark.length => Ok(()),
        Ok(found) => Err(altered(format!("it must have at least {} bytes and has {}", mark.length, found.len()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(altered("it no longer exists".to_owned())),
        Err(error) => Err(SinkError::io("read", &path)(error)),
    }
}

/// Renames a directory that contains committed data.
fn put_aside(dir: &Path, folder: &Path) -> Result<(), SinkError> {
    if !folder.exists() {
        return Ok(());
    }
    let mut is_empty = true;
    for (number, size) in list(folder)? {
        is_empty &= SegmentReader::open(path_of(folder, number), size)?.committed(0)?.commits == 0;
    }
    if is_empty {
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
                Found::Record(record) => identifiers.push(record.header().identifier.clone()),
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
        assert!(marks[3].starts_with("5:0:4"), "{marks:?}");
        drop(sink);
        let names = |found: &[&str]| (found.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), Vec::new());
        assert_eq!(read(dir.path()), names(&["b", "a", "c"]));
        // The last commit was not stored.
        let mut sink = RecordSink::open(dir.path(), Some(&marks[2])).expect("opened");
        assert_eq!(read(dir.path()), names(&["b", "a"]));
        send_page(&mut sink, "d");
        drop(sink);
        assert_eq!(read(dir.path()), names(&["b", "a", "d"]));
        let lost = path_of(&dir.path().join(SEGMENTS), 2);
        fs::remove_file(&lost).expect("it was there");
        let (found, damages) = read(dir.path());
        assert_eq!(found, ["a", "d"]);
        assert_eq!(damages.iter().map(|damage| &damage.path).collect::<Vec<_>>(), [&lost]);
    }
}
