//! Segments: files of compressed frames, each with a label before it. The bytes are documented in [the parent
//! module](super).

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64_with_seed;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{CParameter, compress_bound};

use super::Damage;
use crate::sink::SinkError;
use crate::sink::spool::sync_folder;

/// The size at which a frame is closed: large enough to compress well, small enough that reading one record
/// decompresses little.
pub(super) const FRAME: usize = 1 << 20;
/// The maximum decompressed size of a frame, which bounds the memory of a reader. Twice [`FRAME`] is the usual maximum;
/// long headers and namespace declarations may add to it.
const MOST_INFLATED: usize = 8 * FRAME;
/// The compression level. With 100,000 records of synthetic Dublin Core, level 3 takes a tenth longer, and the files
/// are hardly smaller.
const LEVEL: i32 = 1;

pub(super) const LABEL: usize = 32;
/// One of the magic numbers that zstd gives to frames which decompressors skip.
const SKIPPED: [u8; 4] = 0x184d_2a5d_u32.to_le_bytes();
/// The size of the skipped content: a label without its magic number and this size.
const SKIPPED_SIZE: [u8; 4] = 24_u32.to_le_bytes();
const TITLE: &[u8; 24] = b"modoai records, form 1.\n";

/// The frame continues a record that began in an earlier frame.
pub(super) const CONTINUES: u32 = 1;
/// This frame and everything before it are committed.
pub(super) const COMMITTED: u32 = 2;

/// The label before a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Label {
    packed: u32,
    inflated: u32,
    pub(super) flags: u32,
    /// The number of records that begin in the frame.
    pub(super) records: u32,
}

impl Label {
    fn to_bytes(self, offset: u64) -> [u8; LABEL] {
        let mut bytes = [0; LABEL];
        bytes[..4].copy_from_slice(&SKIPPED);
        bytes[4..8].copy_from_slice(&SKIPPED_SIZE);
        for (at, number) in [(8, self.packed), (12, self.inflated), (16, self.flags), (20, self.records)] {
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        let check = xxh3_64_with_seed(&bytes[..24], offset);
        bytes[24..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Returns `None` unless the label is complete, and was written for this offset.
    fn parse(bytes: &[u8; LABEL], offset: u64) -> Option<Self> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let label = Self { packed: number(8), inflated: number(12), flags: number(16), records: number(20) };
        let sane = label.inflated as usize <= MOST_INFLATED && label.packed as usize <= compress_bound(MOST_INFLATED);
        (sane && label.to_bytes(offset) == *bytes).then_some(label)
    }

    pub(super) fn committed(self) -> bool {
        self.flags & COMMITTED != 0
    }

    pub(super) fn continues(self) -> bool {
        self.flags & CONTINUES != 0
    }

    /// Returns the offset of the next label.
    pub(super) fn next(self, offset: u64) -> u64 {
        offset + LABEL as u64 + u64::from(self.packed)
    }
}

/// Returns the path of a segment.
pub(super) fn path_of(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:06}.modoai"))
}

/// Returns the segments of a directory in order, with their sizes.
pub(super) fn list(folder: &Path) -> Result<Vec<(u32, u64)>, SinkError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(SinkError::io("list the directory", folder))? {
        let entry = entry.map_err(SinkError::io("list the directory", folder))?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".modoai")).and_then(|digits| digits.parse().ok());
        if let Some(number) = number {
            let facts = entry.metadata().map_err(SinkError::io("read", &entry.path()))?;
            found.push((number, facts.len()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Appends frames to a segment. The file is created with its first frame.
pub(super) struct SegmentWriter {
    folder: PathBuf,
    path: PathBuf,
    number: u32,
    file: Option<File>,
    length: u64,
    compressor: Compressor<'static>,
    /// A label and the frame after it, which are written together.
    packed: Vec<u8>,
}

impl SegmentWriter {
    /// Continues this segment at this length, which the file has at least; data beyond it is cut off.
    pub(super) fn open(folder: &Path, number: u32, length: u64) -> Result<Self, SinkError> {
        let path = path_of(folder, number);
        let mut compressor = Compressor::new(LEVEL).map_err(SinkError::io("compress for", &path))?;
        compressor.set_parameter(CParameter::ChecksumFlag(true)).map_err(SinkError::io("compress for", &path))?;
        let mut writer =
            Self { folder: folder.to_path_buf(), path, number, file: None, length: 0, compressor, packed: Vec::new() };
        if length > 0 {
            let file = File::options().write(true).read(true).open(&writer.path);
            let file = file.map_err(SinkError::io("open", &writer.path))?;
            writer.length = file.metadata().map_err(SinkError::io("read", &writer.path))?.len();
            writer.file = Some(file);
            writer.cut(length)?;
        }
        Ok(writer)
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the length written so far, which is the offset of the next frame.
    pub(super) fn length(&self) -> u64 {
        self.length.max(LABEL as u64)
    }

    /// Returns the length of the file; zero if it does not exist yet.
    pub(super) fn file_length(&self) -> u64 {
        self.length
    }

    /// Writes a frame. Without content it is a label only.
    pub(super) fn append(&mut self, content: &[u8], flags: u32, records: u32) -> Result<(), SinkError> {
        self.create()?;
        let needed = LABEL + compress_bound(content.len());
        if self.packed.len() < needed {
            self.packed.resize(needed, 0);
        }
        let size = if content.is_empty() {
            0
        } else {
            let compressed = self.compressor.compress_to_buffer(content, &mut self.packed[LABEL..]);
            compressed.map_err(SinkError::io("compress for", &self.path))?
        };
        let fits = |size: usize| u32::try_from(size).expect("a frame is a few megabytes");
        let label = Label { packed: fits(size), inflated: fits(content.len()), flags, records };
        self.packed[..LABEL].copy_from_slice(&label.to_bytes(self.length));
        self.write(LABEL + size)
    }

    /// Cuts off everything from `length` on.
    pub(super) fn cut(&mut self, length: u64) -> Result<(), SinkError> {
        if let Some(file) = &self.file
            && length < self.length
        {
            file.set_len(length).map_err(SinkError::io("shorten", &self.path))?;
            self.length = length;
        }
        Ok(())
    }

    /// Makes everything written survive a power failure.
    pub(super) fn sync(&self) -> Result<(), SinkError> {
        let Some(file) = &self.file else { return Ok(()) };
        file.sync_data().map_err(SinkError::io("sync", &self.path))
    }

    /// Starts a new segment with the next frame.
    pub(super) fn roll(&mut self) {
        self.number += 1;
        self.path = path_of(&self.folder, self.number);
        self.file = None;
        self.length = 0;
    }

    fn create(&mut self) -> Result<(), SinkError> {
        if self.file.is_none() {
            let file = File::options().write(true).read(true).create(true).truncate(true).open(&self.path);
            self.file = Some(file.map_err(SinkError::io("create", &self.path))?);
            sync_folder(&self.folder)?;
        }
        if self.length == 0 {
            self.packed.resize(self.packed.len().max(LABEL), 0);
            self.packed[..4].copy_from_slice(&SKIPPED);
            self.packed[4..8].copy_from_slice(&SKIPPED_SIZE);
            self.packed[8..LABEL].copy_from_slice(TITLE);
            self.write(LABEL)?;
        }
        Ok(())
    }

    fn write(&mut self, size: usize) -> Result<(), SinkError> {
        let file = self.file.as_ref().expect("it was created before anything is written");
        file.write_all_at(&self.packed[..size], self.length).map_err(SinkError::io("write to", &self.path))?;
        self.length += size as u64;
        Ok(())
    }
}

/// The committed part of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Committed {
    pub(super) length: u64,
    pub(super) commits: u32,
}

/// Reads the frames of a segment, up to the committed end.
pub(super) struct SegmentReader {
    path: PathBuf,
    file: File,
    end: u64,
    decompressor: Decompressor<'static>,
    packed: Vec<u8>,
}

impl SegmentReader {
    /// Opens a segment; nothing at or after `end` is read.
    pub(super) fn open(path: PathBuf, end: u64) -> Result<Self, SinkError> {
        let file = File::open(&path).map_err(SinkError::io("open", &path))?;
        let decompressor = Decompressor::new().map_err(SinkError::io("decompress", &path))?;
        Ok(Self { path, file, end, decompressor, packed: Vec::new() })
    }

    /// Returns true if the file begins with the title of a segment.
    pub(super) fn title(&self) -> Result<bool, SinkError> {
        let title = self.window(0, LABEL)?;
        Ok(title.len() == LABEL && title[..4] == SKIPPED && title[4..8] == SKIPPED_SIZE && title[8..] == *TITLE)
    }

    /// Returns the label at this offset, unless it is incomplete.
    pub(super) fn label(&self, offset: u64) -> Result<Option<Label>, SinkError> {
        let mut bytes = [0; LABEL];
        if offset + LABEL as u64 > self.end || self.read_at(&mut bytes, offset)? < LABEL {
            return Ok(None);
        }
        Ok(Label::parse(&bytes, offset).filter(|label| label.next(offset) <= self.end))
    }

    /// Decompresses the frame behind a label. The error is the cause of the failure.
    pub(super) fn inflate(
        &mut self,
        offset: u64,
        label: Label,
        content: &mut Vec<u8>,
    ) -> Result<Result<(), Damage>, SinkError> {
        content.clear();
        self.packed.resize(label.packed as usize, 0);
        let mut packed = std::mem::take(&mut self.packed);
        let read = self.read_at(&mut packed, offset + LABEL as u64);
        self.packed = packed;
        if label.packed == 0 {
            return Ok(Ok(()));
        }
        if read? < self.packed.len() {
            return Ok(Err(self.damage(offset, label.next(offset), "the file ends within a frame")));
        }
        content.reserve(label.inflated as usize);
        // The capacity of the vector is the limit, regardless of the size in the frame.
        let inflated = self.decompressor.decompress_to_buffer(&self.packed, content);
        Ok(match inflated {
            Ok(size) if size == label.inflated as usize => Ok(()),
            Ok(_) => Err(self.damage(offset, label.next(offset), "a frame does not match its label")),
            Err(_) => Err(self.damage(offset, label.next(offset), "a frame cannot be decompressed")),
        })
    }

    /// Returns the offset of the first whole label after an offset without a valid one; the end if none follows.
    pub(super) fn resume(&self, offset: u64) -> Result<u64, SinkError> {
        const WINDOW: usize = 256 * 1024;
        let mut from = offset + 1;
        while from < self.end {
            let window = self.window(from, WINDOW)?;
            for at in memmem::find_iter(&window, &SKIPPED) {
                let found = from + at as u64;
                if self.label(found)?.is_some() {
                    return Ok(found);
                }
            }
            if window.len() < WINDOW {
                break;
            }
            // The magic number may cross the border of two windows.
            from += (WINDOW - (SKIPPED.len() - 1)) as u64;
        }
        Ok(self.end)
    }

    /// Returns the committed part of the segment, reading from `from`, which is known to be committed.
    pub(super) fn committed(&self, from: u64) -> Result<Committed, SinkError> {
        let mut committed = Committed { length: from, commits: 0 };
        let mut offset = from.max(LABEL as u64);
        while offset < self.end {
            match self.label(offset)? {
                Some(label) => {
                    offset = label.next(offset);
                    if label.committed() {
                        committed = Committed { length: offset, commits: committed.commits + 1 };
                    }
                }
                None => offset = self.resume(offset)?,
            }
        }
        Ok(committed)
    }

    pub(super) fn damage(&self, offset: u64, next: u64, reason: impl Into<String>) -> Damage {
        Damage { path: self.path.clone(), offset, length: next.saturating_sub(offset), reason: reason.into() }
    }

    fn window(&self, offset: u64, size: usize) -> Result<Vec<u8>, SinkError> {
        let mut bytes = vec![0; size.min(usize::try_from(self.end.saturating_sub(offset)).unwrap_or(size))];
        let read = self.read_at(&mut bytes, offset)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Reads at an offset. Fewer bytes than requested are returned only at the end of the file.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<usize, SinkError> {
        let mut done = 0;
        while done < bytes.len() {
            match self.file.read_at(&mut bytes[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(SinkError::io("read", &self.path)(error)),
            }
        }
        Ok(done)
    }
}
