//! Reads the lines of segments in their order.
//!
//! A line is returned only after the checksum of its frame was verified. Damage is reported with its position, and
//! reading continues at the next frame.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use memchr::{memchr, memmem};

use super::index::Reach;
use super::line::{OPENING, read_identifier, read_line};
use super::{Damage, FRAME, Spot, names};
use crate::sink::gathered::Gathered;
use crate::sink::{Origin, SinkError};

/// The beginning of every frame.
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// The largest window of a frame, as a power of two: it limits the memory that a damaged frame can request.
const MAX_WINDOW: u32 = 23;

/// The result of advancing.
pub(super) enum Step {
    /// A line, available from [`Scan::read`].
    Line,
    /// Unreadable data, which was skipped.
    Damage(Damage),
    /// The end.
    End,
}

/// Reads segments in order.
pub(super) struct Scan {
    folder: PathBuf,
    segments: Vec<Reach>,
    /// The index of the segment that is being read.
    current: usize,
    /// The offset of the next frame.
    next: u64,
    /// The offset of the present frame, and its content. Of a longer line, the content is only the beginning.
    frame: u64,
    content: Vec<u8>,
    /// The present line in the content.
    line: Range<usize>,
}

impl Scan {
    pub(super) fn new(folder: &Path, segments: &[Reach]) -> Self {
        let (folder, segments) = (folder.to_path_buf(), segments.to_vec());
        Self { folder, segments, current: 0, next: 0, frame: 0, content: Vec::new(), line: 0..0 }
    }

    /// Starts at this frame instead of at the first one.
    pub(super) fn start_at(&mut self, (segment, offset): Reach) {
        self.current = self.segments.partition_point(|&(number, _)| number < segment);
        let found = self.segments.get(self.current).is_some_and(|&(number, _)| number == segment);
        self.next = if found { offset } else { 0 };
        self.content.clear();
        self.line = 0..0;
    }

    /// Advances to the next line.
    pub(super) fn advance(&mut self) -> Result<Step, SinkError> {
        if self.line.end == self.content.len() {
            loop {
                match self.segments.get(self.current) {
                    None => return Ok(Step::End),
                    Some(&(_, end)) if self.next < end => break,
                    Some(_) => (self.current, self.next) = (self.current + 1, 0),
                }
            }
            if let Some(damage) = self.load()? {
                return Ok(Step::Damage(damage));
            }
        }
        Ok(self.take(self.line.end))
    }

    /// Jumps to the line at this position.
    pub(super) fn jump(&mut self, spot: Spot) -> Result<Step, SinkError> {
        self.start_at((spot.segment, spot.frame));
        if self.segments.get(self.current).is_some_and(|&(number, end)| number == spot.segment && spot.frame < end) {
            return match self.load()? {
                None => Ok(self.take(spot.within as usize)),
                Some(damage) => Ok(Step::Damage(damage)),
            };
        }
        let path = self.folder.join(names().name(spot.segment));
        Ok(Step::Damage(Damage { path, offset: spot.frame, length: 0, reason: NO_LINE.to_owned() }))
    }

    /// Returns the position of the present line.
    pub(super) fn spot(&self) -> Spot {
        let within = u32::try_from(self.line.start).unwrap_or(u32::MAX);
        Spot { segment: self.segments[self.current].0, frame: self.frame, within }
    }

    /// Returns the identifier of the present line.
    pub(super) fn identifier(&self) -> Result<String, Damage> {
        read_identifier(&mut &self.content[self.line.clone()]).map_err(|error| self.damage(&error.to_string()))
    }

    /// Reads the record of the present line.
    pub(super) fn read(&self, record: &mut Gathered) -> Result<Result<Origin, Damage>, SinkError> {
        let read = if self.content.len() > FRAME {
            open_frame(&self.path(), self.frame).and_then(|frame| read_line(&mut BufReader::new(frame), record))
        } else {
            read_line(&mut &self.content[self.line.clone()], record)
        };
        match read {
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) => {
                Ok(Err(self.damage(&error.to_string())))
            }
            read => read.map(Ok).map_err(SinkError::io("read a record from", &self.path())),
        }
    }

    /// Makes the line that begins here the present one.
    fn take(&mut self, from: usize) -> Step {
        let rest = self.content.get(from..).unwrap_or_default();
        if !rest.starts_with(OPENING) {
            self.line = self.content.len()..self.content.len();
            return Step::Damage(self.damage(NO_LINE));
        }
        let length = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        self.line = from..from + length;
        Step::Line
    }

    /// Loads and checks the next frame.
    fn load(&mut self) -> Result<Option<Damage>, SinkError> {
        let (_, end) = self.segments[self.current];
        self.frame = self.next;
        self.line = 0..0;
        let path = self.path();
        let reason = match read_frame(&path, self.frame, FRAME, &mut self.content) {
            Ok(next) if next <= end => {
                self.next = next;
                return Ok(None);
            }
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => "a frame cannot be decompressed",
            _ => "the file ends within a frame",
        };
        self.content.clear();
        self.next = find_frame(&path, self.frame + 1, end, OPENING).map_err(SinkError::io("read", &path))?;
        Ok(Some(self.damage(reason)))
    }

    fn path(&self) -> PathBuf {
        self.folder.join(names().name(self.segments[self.current].0))
    }

    fn damage(&self, reason: &str) -> Damage {
        let length = self.next.saturating_sub(self.frame);
        Damage { path: self.path(), offset: self.frame, length, reason: reason.to_owned() }
    }
}

const NO_LINE: &str = "the index lists a record that does not exist";

/// Opens the frame at this offset.
fn open_frame(path: &Path, offset: u64) -> io::Result<zstd::Decoder<'static, BufReader<File>>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut decoder = zstd::Decoder::with_buffer(BufReader::with_capacity(128 * 1024, file))?.single_frame();
    decoder.window_log_max(MAX_WINDOW)?;
    Ok(decoder)
}

/// Reads the content of a frame, and checks all of it. Of a longer content than `most`, only the beginning is returned.
/// Returns the offset of the next frame.
pub(super) fn read_frame(path: &Path, offset: u64, most: usize, content: &mut Vec<u8>) -> io::Result<u64> {
    content.clear();
    let mut frame = open_frame(path, offset)?;
    (&mut frame).take(most as u64 + 1).read_to_end(content)?;
    io::copy(&mut frame, &mut io::sink())?;
    frame.finish().stream_position()
}

/// Returns the offset of the first frame at or after `from` whose content begins like this; `end` if none follows.
pub(super) fn find_frame(path: &Path, mut from: u64, end: u64, beginning: &[u8]) -> io::Result<u64> {
    const WINDOW: usize = 256 * 1024;
    let file = File::open(path)?;
    let mut window = vec![0; WINDOW];
    let mut found = vec![0; beginning.len()];
    while from < end {
        let most = usize::try_from(end - from).map_or(WINDOW, |left| left.min(WINDOW));
        let size = file.read_at(&mut window[..most], from)?;
        for at in memmem::find_iter(&window[..size], &MAGIC) {
            let offset = from + at as u64;
            let read = open_frame(path, offset).and_then(|mut frame| frame.read_exact(&mut found));
            if read.is_ok() && found == beginning {
                return Ok(offset);
            }
        }
        if size < MAGIC.len() {
            break;
        }
        // The magic number may cross the border of two windows.
        from += (size - (MAGIC.len() - 1)) as u64;
    }
    Ok(end)
}
