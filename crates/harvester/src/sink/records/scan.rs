//! Reads records in the order in which they were written, one at a time, without holding a large one in memory.
//!
//! A record is returned only after all its frames were checked, so that no caller receives an incomplete one. Damage is
//! reported with its position, and reading continues behind it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use modoai_protocol::Datestamp;

use super::envelope::{self, Extent};
use super::index::Reach;
use super::segment::{LABEL, SegmentReader, path_of};
use super::{Damage, Spot};
use crate::record::Header;
use crate::sink::{Origin, Part, SinkError};

/// The result of advancing.
pub(super) enum Step {
    /// A record, available from [`Scan::record`].
    Record,
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
    reader: Option<SegmentReader>,
    /// The frame that is being read, its offset, and the offset of the next one.
    content: Vec<u8>,
    frame: u64,
    next: u64,
    /// The offset of the next record in the frame.
    position: usize,
    /// The frame and the offset of the next record, if the present one spans frames.
    behind: Option<(u64, usize)>,
    /// True if frames that continue a record belong to one that was already reported as lost.
    lost: bool,
    header: Header,
    origin: Origin,
    spot: Spot,
    /// The offset up to which the parts of the present record were read.
    cursor: usize,
}

impl Scan {
    pub(super) fn new(folder: &Path, segments: &[Reach]) -> Self {
        let nowhere = String::new;
        Self {
            folder: folder.to_path_buf(),
            segments: segments.to_vec(),
            current: 0,
            reader: None,
            content: Vec::new(),
            frame: 0,
            next: 0,
            position: 0,
            behind: None,
            lost: false,
            header: Header::default(),
            origin: Origin {
                base_url: nowhere(),
                prefix: nowhere(),
                schema: nowhere(),
                namespace: nowhere(),
                harvested: Datestamp::MIN,
            },
            spot: Spot::default(),
            cursor: 0,
        }
    }

    /// Starts at this position instead of at the first segment. It must be the start of a frame or of a segment.
    pub(super) fn start_at(&mut self, (segment, length): Reach) {
        self.current = self.segments.partition_point(|&(number, _)| number < segment);
        let found = self.segments.get(self.current).is_some_and(|&(number, _)| number == segment);
        self.next = if found { length } else { 0 };
        self.reader = None;
        self.content.clear();
        (self.position, self.behind) = (0, None);
    }

    /// Advances to the next record.
    pub(super) fn advance(&mut self) -> Result<Step, SinkError> {
        if let Some((frame, position)) = self.behind.take() {
            self.next = frame;
            if let Err(damage) = self.load_continuing(true)? {
                self.content.clear();
                self.position = 0;
                return Ok(Step::Damage(damage));
            }
            self.position = position;
        }
        while self.position >= self.content.len() {
            if let Some(step) = self.load()? {
                return Ok(step);
            }
        }
        self.take()
    }

    /// Jumps to the record at this position.
    pub(super) fn jump(&mut self, spot: Spot) -> Result<Step, SinkError> {
        self.start_at((spot.segment, spot.frame));
        self.lost = false;
        match self.load()? {
            None if self.spot_of_frame() == (spot.segment, spot.frame) => {
                self.position = spot.within as usize;
                self.take()
            }
            Some(Step::Damage(damage)) => Ok(Step::Damage(damage)),
            _ => {
                let path = path_of(&self.folder, spot.segment);
                let reason = "the index lists a record that does not exist".to_owned();
                Ok(Step::Damage(Damage { path, offset: spot.frame, length: 0, reason }))
            }
        }
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the position of the present record.
    pub(super) fn spot(&self) -> Spot {
        self.spot
    }

    /// Returns the present record. Call it only after [`Step::Record`].
    pub(super) fn record(&mut self) -> Record<'_> {
        Record { scan: self }
    }

    fn spot_of_frame(&self) -> (u32, u64) {
        (self.segments.get(self.current).map_or(0, |&(number, _)| number), self.frame)
    }

    /// Loads the next frame in which a record begins. Returns a step only if there is damage, or the end.
    fn load(&mut self) -> Result<Option<Step>, SinkError> {
        loop {
            let Some(&(number, end)) = self.segments.get(self.current) else { return Ok(Some(Step::End)) };
            if self.reader.is_none() {
                self.reader = Some(SegmentReader::open(path_of(&self.folder, number), end)?);
            }
            let reader = self.reader.as_mut().expect("it was opened above");
            if self.next == 0 {
                self.next = LABEL as u64;
                if !reader.title()? {
                    return Ok(Some(Step::Damage(reader.damage(0, LABEL as u64, "it is not a segment"))));
                }
            }
            if self.next >= end {
                (self.reader, self.current, self.next, self.lost) = (None, self.current + 1, 0, false);
                continue;
            }
            let offset = self.next;
            let Some(label) = reader.label(offset)? else {
                self.next = reader.resume(offset)?;
                self.lost = true;
                let damage = reader.damage(offset, self.next, "a frame label is missing");
                return Ok(Some(Step::Damage(damage)));
            };
            self.next = label.next(offset);
            if label.continues() {
                while let Some(label) = reader.label(self.next)?.filter(|label| label.continues()) {
                    self.next = label.next(self.next);
                }
                if self.lost {
                    continue;
                }
                let damage = reader.damage(offset, self.next, "the beginning of a record is missing");
                return Ok(Some(Step::Damage(damage)));
            }
            self.lost = false;
            if let Err(damage) = reader.inflate(offset, label, &mut self.content)? {
                self.content.clear();
                self.lost = true;
                return Ok(Some(Step::Damage(damage)));
            }
            self.frame = offset;
            let Some(position) = envelope::read_origin(&self.content, &mut self.origin) else {
                return Ok(Some(Step::Damage(self.senseless())));
            };
            self.position = position;
            return Ok(None);
        }
    }

    /// Makes the record at `position` the present one.
    fn take(&mut self) -> Result<Step, SinkError> {
        let within = u32::try_from(self.position).expect("a frame is a few megabytes");
        self.spot = Spot { segment: self.segments[self.current].0, frame: self.frame, within };
        let Some(parts) = envelope::read_header(&self.content, self.position, &mut self.header) else {
            return Ok(Step::Damage(self.senseless()));
        };
        self.cursor = parts;
        match envelope::extent(&self.content, parts) {
            Some(Extent::Ends(position)) => self.position = position,
            None => return Ok(Step::Damage(self.senseless())),
            Some(Extent::GoesOn) => {
                // All its frames are checked before the first is returned.
                let first = self.frame;
                let shown = match self.find_end()? {
                    Ok(behind) => {
                        self.behind = Some(behind);
                        self.next = first;
                        self.load_continuing(false)?
                    }
                    Err(damage) => Err(damage),
                };
                if let Err(damage) = shown {
                    self.content.clear();
                    (self.position, self.behind, self.lost) = (0, None, true);
                    let reason = format!("{}; the record {} cannot be read", damage.reason, self.header.identifier);
                    return Ok(Step::Damage(Damage { reason, ..damage }));
                }
            }
        }
        Ok(Step::Record)
    }

    /// Returns the frame in which the present record ends, and the offset of the end in it.
    fn find_end(&mut self) -> Result<Result<(u64, usize), Damage>, SinkError> {
        loop {
            let offset = self.next;
            if let Err(damage) = self.load_continuing(true)? {
                return Ok(Err(damage));
            }
            match envelope::extent(&self.content, 0) {
                Some(Extent::Ends(position)) => return Ok(Ok((offset, position))),
                Some(Extent::GoesOn) => {}
                None => return Ok(Err(self.senseless())),
            }
        }
    }

    /// Loads the next frame. `continues` is true if that frame must continue a record, and false if it must not.
    fn load_continuing(&mut self, continues: bool) -> Result<Result<(), Damage>, SinkError> {
        let reader = self.reader.as_mut().expect("a frame was read from it");
        let offset = self.next;
        let label = reader.label(offset)?.filter(|label| label.continues() == continues);
        let Some(label) = label else {
            return Ok(Err(reader.damage(self.frame, offset, "the end of a record is missing")));
        };
        (self.frame, self.next) = (offset, label.next(offset));
        reader.inflate(offset, label, &mut self.content)
    }

    /// Discards the present frame, whose content is invalid.
    fn senseless(&mut self) -> Damage {
        self.content.clear();
        self.position = 0;
        self.lost = true;
        let reader = self.reader.as_ref().expect("a frame was read from it");
        reader.damage(self.frame, self.next, "a frame has invalid fields")
    }

    /// Returns the next field of the present record: its letter, and where its value begins and ends. Continues in the
    /// next frame if necessary.
    fn field(&mut self) -> Result<(u8, usize, usize), SinkError> {
        while self.cursor >= self.content.len() {
            if let Err(damage) = self.load_continuing(true)? {
                return Err(damage.into());
            }
            self.cursor = 0;
        }
        match envelope::field(&self.content, self.cursor) {
            Some(field) => Ok((field.letter, field.at, field.next)),
            None => Err(self.senseless().into()),
        }
    }
}

/// A record as received.
pub struct Record<'a> {
    scan: &'a mut Scan,
}

impl Record<'_> {
    /// Returns its header.
    pub fn header(&self) -> &Header {
        &self.scan.header
    }

    /// Returns its origin.
    pub fn origin(&self) -> &Origin {
        &self.scan.origin
    }

    /// Returns its metadata or an about container, in the order of arrival. Unread bytes of the previous part are
    /// skipped.
    pub fn next_part(&mut self) -> Result<Option<StoredPart<'_>>, SinkError> {
        let part = loop {
            let (letter, _, next) = self.scan.field()?;
            let part = match letter {
                // The end is not passed, so that further calls return the same.
                envelope::END => return Ok(None),
                envelope::METADATA => Some(Part::Metadata),
                envelope::ABOUT => Some(Part::About),
                _ => None,
            };
            self.scan.cursor = next;
            if let Some(part) = part {
                break part;
            }
        };
        let mut namespaces = Vec::new();
        loop {
            let (letter, at, next) = self.scan.field()?;
            if letter != envelope::NAMESPACE {
                break;
            }
            match envelope::read_namespace(&self.scan.content[at..next - 1]) {
                Some(namespace) => namespaces.push(namespace),
                None => return Err(self.scan.senseless().into()),
            }
            self.scan.cursor = next;
        }
        Ok(Some(StoredPart { part, namespaces, scan: &mut *self.scan, piece: (0, 0) }))
    }
}

/// A part of a record. Reading it returns the exact bytes received.
pub struct StoredPart<'a> {
    /// The kind of the part.
    pub part: Part,
    /// The namespace declarations that it inherits: prefix (empty for the default) and URI.
    pub namespaces: Vec<(String, String)>,
    scan: &'a mut Scan,
    /// The unread rest of the present piece, as offsets in the frame.
    piece: (usize, usize),
}

impl Read for StoredPart<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.piece.0 == self.piece.1 {
            let (letter, at, next) = self.scan.field().map_err(io::Error::other)?;
            if letter != envelope::BYTES {
                return Ok(0);
            }
            self.piece = (at, next - 1);
            self.scan.cursor = next;
        }
        let size = out.len().min(self.piece.1 - self.piece.0);
        out[..size].copy_from_slice(&self.scan.content[self.piece.0..self.piece.0 + size]);
        self.piece.0 += size;
        Ok(size)
    }
}
