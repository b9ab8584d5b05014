//! Reads what the sinks `records` and `jsonl` of earlier versions wrote, so that it can be converted.
//!
//! `jsonl` wrote [lines](super::line) to `DIR/records.jsonl`. `records` wrote `DIR/segments/000001.modoai` and so on: zstd
//! frames with checksums and at most 8 MiB of content, and frames between them that decompressors skip. The content is
//! fields: a letter, the size of the value in decimal digits, a colon, the value, a line feed. `U P S N H` are the origin
//! of the records that follow; `r` begins a record, with its identifier; `d`, `s`, `x` are its datestamp, a set, its
//! deletion; `m` and `a` begin a part; `n` is a namespace declaration of it (`PREFIX=URI`), `b` more of its bytes; `e` ends
//! the record. Frames begin with an origin, except those that continue a record.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use modoai_protocol::Datestamp;

use super::line::read_line;
use super::scan::{find_frame, read_frame};
use super::write::RecordSink;
use super::{Damage, SEGMENTS};
use crate::record::Header;
use crate::sink::log::{FileNames, expect_length};
use crate::sink::{Origin, Part, Sink as _, SinkError};
use crate::state::OWN_FOLDER;

/// The maximum size of a frame's content.
const MAX_CONTENT: usize = 8 << 20;
/// The beginning of frames that do not continue a record: the field of the base URL.
const ORIGIN: &[u8] = b"U";

/// The data of a folder that an earlier version wrote.
pub(super) enum Previous {
    /// Segments in order, each with the length that is committed.
    Segments(Vec<(PathBuf, u64)>),
    /// `records.jsonl`, with the length that is committed.
    Lines(PathBuf, u64),
}

impl Previous {
    /// Returns the data that a mark of an earlier version describes: `SEGMENT:LENGTH:RECORDS`, or `LENGTH` of the lines,
    /// also with a hash after it; `None` for other marks. Without a mark, returns the segments in the folder, if any. The
    /// file that was written last must not be shorter; nothing is changed here.
    pub(super) fn open(dir: &Path, mark: Option<&str>) -> Result<Option<Self>, SinkError> {
        let (folder, own) = (dir.join(SEGMENTS), dir.join(OWN_FOLDER));
        let path_of = |number| folder.join(names().name(number));
        let numbers: Vec<Option<u64>> = mark.iter().flat_map(|mark| mark.split(':')).map(|n| n.parse().ok()).collect();
        let last = match *numbers.as_slice() {
            [] => None,
            [Some(length)] | [Some(length), _] => {
                let path = dir.join("records.jsonl");
                expect_length(&path, length, &[&path, &own])?;
                return Ok(Some(Self::Lines(path, length)));
            }
            [Some(segment), Some(length), Some(_)] => {
                // A segment that was just started has no file yet; the previous one has.
                let number = if length > 0 { segment } else { segment.saturating_sub(1) };
                Some((u32::try_from(number).unwrap_or(u32::MAX), length))
            }
            _ => return Ok(None),
        };
        if let Some((number, length)) = last.filter(|last| last.0 > 0) {
            expect_length(&path_of(number), length, &[&own])?;
        }
        let found = if folder.exists() { names().list(&folder)? } else { Vec::new() };
        let Some((count, _)) = last.or(found.last().copied()) else { return Ok(None) };
        let size = |number| found.iter().find(|found| found.0 == number).map_or(0, |found| found.1);
        let end = |number| match last {
            Some((last, length)) if last == number && length > 0 => length,
            _ => size(number),
        };
        Ok(Some(Self::Segments((1..=count).map(|number| (path_of(number), end(number))).collect())))
    }

    /// Deletes the segments in a folder, which were converted.
    pub(super) fn remove_segments(folder: &Path) -> Result<(), SinkError> {
        for (number, _) in names().list(folder)? {
            let path = folder.join(names().name(number));
            fs::remove_file(&path).map_err(SinkError::io("delete", &path))?;
        }
        Ok(())
    }

    /// Copies all records to a sink, and commits them. Returns the parts that cannot be read.
    pub(super) fn copy_to(&self, sink: &mut RecordSink) -> Result<Vec<Damage>, SinkError> {
        let mut damages = Vec::new();
        match self {
            Self::Lines(path, length) => {
                let file = File::open(path).map_err(SinkError::io("open", path))?;
                let mut lines = BufReader::new(file.take(*length));
                while !lines.fill_buf().map_err(SinkError::io("read", path))?.is_empty() {
                    let origin = read_line(&mut lines, &mut sink.record).map_err(SinkError::io("convert", path))?;
                    sink.store(origin)?;
                }
            }
            Self::Segments(segments) => {
                let origin = Origin {
                    base_url: String::new(),
                    prefix: String::new(),
                    schema: String::new(),
                    namespace: String::new(),
                    harvested: Datestamp::MIN,
                };
                let mut copy = SegmentCopy { sink, origin, header: None, is_open: false };
                for (path, end) in segments {
                    copy.segment(path, *end, &mut damages)?;
                }
            }
        }
        sink.commit()?;
        sink.finish()?;
        Ok(damages)
    }

    /// Keeps segments with unreadable parts under another name, because they are deleted when the conversion is known to
    /// be stored.
    pub(super) fn keep(damages: &[Damage]) -> Result<(), SinkError> {
        for Damage { path, .. } in damages.iter().filter(|damage| damage.path.exists()) {
            fs::copy(path, path.with_extension("modoai.damaged")).map_err(SinkError::io("copy", path))?;
        }
        Ok(())
    }
}

fn names() -> FileNames {
    FileNames { prefix: String::new(), digits: 6, suffix: ".modoai" }
}

/// Copies the records of segments.
struct SegmentCopy<'a> {
    sink: &'a mut RecordSink,
    origin: Origin,
    /// The header of the current record, until its first part.
    header: Option<Header>,
    /// True if the record continues in the next frame.
    is_open: bool,
}

impl SegmentCopy<'_> {
    /// Copies a segment.
    fn segment(&mut self, path: &Path, end: u64, damages: &mut Vec<Damage>) -> Result<(), SinkError> {
        let (mut offset, mut content) = (0, Vec::new());
        let mut note = |offset, next, reason: &str| {
            damages.push(Damage { path: path.to_path_buf(), offset, length: next - offset, reason: reason.to_owned() });
        };
        if !path.exists() {
            note(0, 0, "it no longer exists");
            return Ok(());
        }
        while offset < end {
            let read = read_frame(path, offset, MAX_CONTENT, &mut content).ok().filter(|next| *next <= end);
            let next = match read {
                Some(next) if self.fields(&content)?.is_some() => next,
                _ => {
                    self.is_open = false;
                    let next = find_frame(path, offset + 1, end, ORIGIN).map_err(SinkError::io("read", path))?;
                    note(offset, next, "a frame cannot be read");
                    next
                }
            };
            offset = next;
        }
        Ok(())
    }

    /// Copies the content of a frame. Returns `None` if a field is invalid.
    fn fields(&mut self, mut content: &[u8]) -> Result<Option<()>, SinkError> {
        while !content.is_empty() {
            let Some((letter, value, rest)) = field(content) else { return Ok(None) };
            let copied =
                if letter == b'e' && self.is_open { self.end().map(Some)? } else { self.field(letter, value)? };
            if copied.is_none() {
                return Ok(None);
            }
            content = rest;
        }
        Ok(Some(()))
    }

    fn field(&mut self, letter: u8, value: &[u8]) -> Result<Option<()>, SinkError> {
        let text = || std::str::from_utf8(value).ok().map(str::to_owned);
        if matches!(letter, b'm' | b'a') {
            self.begin()?;
        }
        let record = &mut self.sink.record;
        let mut copied = || -> Option<io::Result<()>> {
            match (letter, &mut self.header) {
                (b'm' | b'a' | b'n' | b'b', _) if !self.is_open => return None,
                (b'U', _) => self.origin.base_url = text()?,
                (b'P', _) => self.origin.prefix = text()?,
                (b'S' | b'N', _) => {}
                (b'H', _) => self.origin.harvested = Datestamp::parse(&text()?)?,
                (b'r', header) => {
                    *header = Some(Header { identifier: text()?, ..Header::default() });
                    self.is_open = true;
                }
                (b'd', Some(header)) => header.datestamp = text()?,
                (b's', Some(header)) => header.sets.push(text()?),
                (b'x', Some(header)) => header.deleted = true,
                (b'm', _) => record.part(Part::Metadata, []),
                (b'a', _) => record.part(Part::About, []),
                (b'n', _) => {
                    let text = text()?;
                    let (prefix, uri) = text.split_once('=')?;
                    record.declare(prefix.to_owned(), uri.to_owned());
                }
                (b'b', _) => return Some(record.bytes(value)),
                _ => return None,
            }
            Some(Ok(()))
        };
        let failed = |error| SinkError::Io { activity: "buffer", path: "a record".into(), source: error };
        copied().transpose().map_err(failed)
    }

    /// Ends the header or the part before.
    fn begin(&mut self) -> Result<(), SinkError> {
        match self.header.take() {
            Some(header) => self.sink.record(&header),
            None => self.sink.part_end(),
        }
    }

    fn end(&mut self) -> Result<(), SinkError> {
        self.begin()?;
        self.is_open = false;
        self.sink.store(self.origin.clone())
    }
}

/// Returns the letter and the value of the first field, and what follows it.
fn field(content: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let colon = memchr::memchr(b':', &content[..content.len().min(11)])?;
    let size: usize = std::str::from_utf8(content.get(1..colon)?).ok()?.parse().ok()?;
    let value = content.get(colon + 1..(colon + 1).checked_add(size)?)?;
    let rest = content[colon + 1 + size..].strip_prefix(b"\n")?;
    Some((content[0], value, rest))
}
