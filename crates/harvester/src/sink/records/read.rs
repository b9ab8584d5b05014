//! Reads stored records: the latest version of each, all versions, or one record by its identifier.

use std::path::{Path, PathBuf};

use super::index::{Index, Reach};
use super::scan::{Record, Scan, Step};
use super::segment::{SegmentReader, list, path_of};
use super::{Damage, SEGMENTS, Spot};
use crate::sink::SinkError;

/// Reads a directory of records. It returns only what was committed when it was opened, also during a harvest.
pub struct Reader {
    folder: PathBuf,
    segments: Vec<Reach>,
    index: Index,
    /// Damage that is known without reading: missing segments and truncated ones.
    shortened: Vec<Damage>,
}

/// An item in a directory of records.
pub enum Found<'a> {
    /// A record.
    Record(Record<'a>),
    /// Data that has become unreadable, and was skipped.
    Damage(Damage),
}

impl Reader {
    /// Opens the directory of a harvest. An index that is incomplete is completed.
    pub fn open(dir: &Path) -> Result<Self, SinkError> {
        let folder = dir.join(SEGMENTS);
        let found = list(&folder)?;
        let opened = Index::open(&folder).and_then(|mut index| {
            let covered = index.covered()?;
            let segments = committed(&folder, &found, &covered)?;
            let shortened = shortened(&folder, &segments, &covered);
            if shortened.is_empty() {
                index.complete(&segments, &folder)?;
            } else {
                // The index on disk is unchanged, because it is the only record of what is missing.
                index = Index::temporary(&folder)?;
                index.complete(&segments, &folder)?;
            }
            Ok(Self { folder: folder.clone(), segments, index, shortened })
        });
        opened.or_else(|error| {
            // Usually the directory is not writable.
            tracing::debug!(%error, "the index cannot be completed; a temporary one is made");
            let segments = committed(&folder, &found, &[])?;
            let mut index = Index::temporary(&folder)?;
            index.complete(&segments, &folder)?;
            Ok(Self { folder, segments, index, shortened: Vec::new() })
        })
    }

    /// Returns the latest version of every record, in the order in which they were written, including deleted records.
    pub fn latest(&mut self) -> Result<Records<'_>, SinkError> {
        self.index.note_superseded()?;
        let superseded = Superseded { index: &self.index, ahead: Vec::new(), next: Some(Spot::default()) };
        Ok(self.records(Course::Latest(superseded)))
    }

    /// Returns every version of every record, in the order in which they were written.
    pub fn versions(&mut self) -> Records<'_> {
        self.records(Course::All)
    }

    /// Returns the latest version of one record.
    pub fn find(&mut self, identifier: &str) -> Result<Records<'_>, SinkError> {
        self.course_to(identifier, true)
    }

    /// Returns all versions of one record, latest first.
    pub fn find_versions(&mut self, identifier: &str) -> Result<Records<'_>, SinkError> {
        self.course_to(identifier, false)
    }

    fn course_to(&self, identifier: &str, latest: bool) -> Result<Records<'_>, SinkError> {
        let spots = self.index.find(identifier)?;
        Ok(self.records(Course::Spots { identifier: identifier.to_owned(), spots, latest }))
    }

    fn records<'a>(&'a self, course: Course<'a>) -> Records<'a> {
        let told = self.shortened.iter().rev().cloned().collect();
        Records { scan: Scan::new(&self.folder, &self.segments), course, told }
    }
}

/// An iterator over records.
pub struct Records<'a> {
    scan: Scan,
    course: Course<'a>,
    /// Damage to report before anything is read, last first.
    told: Vec<Damage>,
}

/// The selected records, and the way to find them.
enum Course<'a> {
    All,
    Latest(Superseded<'a>),
    Spots { identifier: String, spots: Vec<Spot>, latest: bool },
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
                Step::Record => {}
            }
            let spot = self.scan.spot();
            let wanted = match &mut self.course {
                Course::All => true,
                Course::Latest(superseded) => !superseded.has(spot)?,
                Course::Spots { identifier, spots, latest } => {
                    let wanted = self.scan.header().identifier == *identifier;
                    if wanted && *latest {
                        spots.clear();
                    }
                    wanted
                }
            };
            if wanted {
                return Ok(Some(Found::Record(self.scan.record())));
            }
        }
    }
}

/// Versions that are not the latest, read in step with the segments.
struct Superseded<'a> {
    index: &'a Index,
    /// The next of them, last first.
    ahead: Vec<Spot>,
    /// The position from which more may follow.
    next: Option<Spot>,
}

impl Superseded<'_> {
    /// Returns true if the version at this position is superseded. Positions must be passed in ascending order.
    fn has(&mut self, spot: Spot) -> Result<bool, SinkError> {
        const MANY: usize = 4096;
        loop {
            while let Some(&first) = self.ahead.last() {
                if first >= spot {
                    return Ok(first == spot);
                }
                self.ahead.pop();
            }
            let Some(next) = self.next else { return Ok(false) };
            self.ahead = self.index.superseded(next.max(spot), MANY)?;
            let full = self.ahead.len() == MANY;
            self.next = self.ahead.last().filter(|_| full).map(|last| Spot { within: last.within + 1, ..*last });
            self.ahead.reverse();
        }
    }
}

/// Returns the committed length of each segment. All but the last are complete.
fn committed(folder: &Path, found: &[Reach], covered: &[Reach]) -> Result<Vec<Reach>, SinkError> {
    let mut segments = found.to_vec();
    while let Some(last) = segments.last_mut() {
        let known = covered.iter().find(|known| known.0 == last.0 && known.1 <= last.1);
        let from = known.map_or(0, |known| known.1);
        last.1 = SegmentReader::open(path_of(folder, last.0), last.1)?.committed(from)?.length;
        if last.1 > 0 {
            break;
        }
        // The segment was started, and nothing is committed yet.
        segments.pop();
    }
    Ok(segments)
}

/// Returns the data that is in the index and no longer in the segments.
fn shortened(folder: &Path, segments: &[Reach], covered: &[Reach]) -> Vec<Damage> {
    let missing = |&(number, length): &Reach| {
        let found = segments.iter().find(|found| found.0 == number).map_or(0, |found| found.1);
        let reason = "it was truncated".to_owned();
        (found < length).then(|| Damage {
            path: path_of(folder, number),
            offset: found,
            length: length - found,
            reason,
        })
    };
    covered.iter().filter_map(missing).collect()
}
