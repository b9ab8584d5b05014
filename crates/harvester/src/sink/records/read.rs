//! Reads stored records: the latest version of each, all versions, or one record by its identifier.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::index::{Index, Reach};
use super::previous::Previous;
use super::scan::{Scan, Step};
use super::write::RecordSink;
use super::{Damage, SEGMENTS, START, Spot, names, read_mark};
use crate::sink::gathered::Gathered;
use crate::sink::log::Position;
use crate::sink::{Origin, SINKS, SinkError};
use crate::state::State;

/// Reads a directory of records. It returns only what was committed when it was opened, also during a harvest.
pub struct Reader {
    folder: PathBuf,
    segments: Vec<Reach>,
    index: Index,
    /// Damage that is known without reading: missing segments and truncated ones.
    known_damages: Vec<Damage>,
    /// Converted records of an earlier version.
    _converted: Option<TempDir>,
}

/// An item in a directory of records.
pub enum Found<'a> {
    /// A record, and its origin.
    Record(&'a mut Gathered, &'a Origin),
    /// Data that has become unreadable, and was skipped.
    Damage(Damage),
}

impl Reader {
    /// Opens the directory of a harvest. An index that is incomplete is completed. Records of an earlier version, which the
    /// next harvest converts, are converted to a temporary directory.
    pub fn open(dir: &Path) -> Result<Self, SinkError> {
        let mark = mark(dir);
        let parsed = mark.as_deref().and_then(read_mark);
        let is_current = parsed.is_some() || (mark.is_none() && !names().list(&dir.join(SEGMENTS))?.is_empty());
        let previous = if is_current { None } else { Previous::open(dir, mark.as_deref())? };
        let Some(previous) = previous else { return Self::open_current(dir, parsed) };
        let path = std::env::temp_dir();
        let converted = tempfile::tempdir().map_err(SinkError::io("create a directory in", &path))?;
        let mut sink = RecordSink::open_at(converted.path(), START)?;
        let damages = previous.copy_to(&mut sink)?;
        drop(sink);
        let reader = Self::open_current(converted.path(), None)?;
        Ok(Self { known_damages: damages, _converted: Some(converted), ..reader })
    }

    fn open_current(dir: &Path, mark: Option<Position>) -> Result<Self, SinkError> {
        let folder = dir.join(SEGMENTS);
        let existing = names().list(&folder)?;
        let mut segments = existing.clone();
        // Whatever is beyond the mark is not committed.
        if let Some(end) = mark {
            segments.retain(|&(number, _)| number < end.file || (number == end.file && end.length > 0));
            if let Some(last) = segments.last_mut().filter(|last| last.0 == end.file) {
                last.1 = last.1.min(end.length);
            }
        }
        let opened = Index::open(&folder).and_then(|mut index| {
            let mut known = index.covered()?;
            let is_ahead = known.last() > segments.last();
            known.extend(mark.map(|end| (end.file, end.length)));
            let known_damages = shortened(&folder, &existing, &known);
            if is_ahead || !known_damages.is_empty() {
                // The index on disk is unchanged: it contains data that is not committed yet, or is the only record of what
                // is missing.
                index = Index::temporary(&folder)?;
            }
            index.complete(&segments, &folder)?;
            Ok((index, known_damages))
        });
        let (index, known_damages) = opened.or_else(|error| {
            // Usually the directory is not writable.
            tracing::debug!(%error, "failed to complete the index; using a temporary one");
            let mut index = Index::temporary(&folder)?;
            index.complete(&segments, &folder)?;
            Ok::<_, SinkError>((index, Vec::new()))
        })?;
        Ok(Self { folder, segments, index, known_damages, _converted: None })
    }

    /// Returns the latest version of every record, in the order in which they were written, including deleted records.
    pub fn latest(&mut self) -> Result<Records<'_>, SinkError> {
        self.index.note_superseded()?;
        Ok(self.records(Course::Latest(&self.index)))
    }

    /// Returns every version of every record, in the order in which they were written.
    pub fn versions(&mut self) -> Records<'_> {
        self.records(Course::All)
    }

    /// Returns the latest version of one record, or all versions, latest first.
    pub fn find(&mut self, identifier: &str, all: bool) -> Result<Records<'_>, SinkError> {
        let spots = self.index.find(identifier)?;
        Ok(self.records(Course::Spots { identifier: identifier.to_owned(), spots, all }))
    }

    fn records<'a>(&'a self, course: Course<'a>) -> Records<'a> {
        let told = self.known_damages.iter().rev().cloned().collect();
        let record = Gathered::new(&std::env::temp_dir());
        Records { scan: Scan::new(&self.folder, &self.segments), course, told, record, origin: None }
    }
}

/// An iterator over records.
pub struct Records<'a> {
    scan: Scan,
    course: Course<'a>,
    /// Damage to report before anything is read, last first.
    told: Vec<Damage>,
    record: Gathered,
    origin: Option<Origin>,
}

/// The selected records, and the way to find them.
enum Course<'a> {
    All,
    Latest(&'a Index),
    Spots { identifier: String, spots: Vec<Spot>, all: bool },
}

impl Records<'_> {
    /// Returns the next record, or the next damage; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend; a record may be too large to be given")]
    pub fn next(&mut self) -> Result<Option<Found<'_>>, SinkError> {
        if let Some(damage) = self.told.pop() {
            return Ok(Some(Found::Damage(damage)));
        }
        loop {
            let step = match &mut self.course {
                Course::Spots { spots, .. } => match spots.pop() {
                    Some(spot) => self.scan.jump(spot)?,
                    None => Step::End,
                },
                _ => self.scan.advance()?,
            };
            match step {
                Step::Damage(damage) => return Ok(Some(Found::Damage(damage))),
                Step::End => return Ok(None),
                Step::Line => {}
            }
            if let Course::Latest(index) = &self.course
                && index.is_superseded(self.scan.spot())?
            {
                continue;
            }
            let origin = match self.scan.read(&mut self.record)? {
                Ok(origin) => origin,
                Err(damage) => return Ok(Some(Found::Damage(damage))),
            };
            if let Course::Spots { identifier, spots, all } = &mut self.course {
                if self.record.header().identifier != *identifier {
                    continue;
                }
                if !*all {
                    spots.clear();
                }
            }
            return Ok(Some(Found::Record(&mut self.record, self.origin.insert(origin))));
        }
    }
}

/// Returns the mark of the harvest in a directory, if it has one.
fn mark(dir: &Path) -> Option<String> {
    let state = State::look(dir).ok()?;
    let sink = state.contract().ok()??.sink;
    if sink == SINKS[0].name { state.mark().ok()? } else { None }
}

/// Returns the data that is known to have existed and is no longer in the segments.
fn shortened(folder: &Path, segments: &[Reach], known: &[Reach]) -> Vec<Damage> {
    let missing = |&(number, length): &Reach| {
        let found = segments.iter().find(|found| found.0 == number).map_or(0, |found| found.1);
        let path = folder.join(names().name(number));
        let reason = "it was truncated".to_owned();
        (found < length).then(|| Damage { path, offset: found, length: length - found, reason })
    };
    let mut damages: Vec<Damage> = known.iter().filter_map(missing).collect();
    damages.dedup_by(|later, earlier| later.path == earlier.path);
    damages
}
