//! Stores records as received, one JSON object per record and line: compressed, append-only, with all versions, and with
//! an index that finds each of them.
//!
//! A file per page or per record makes large harvests slow to read; a database makes them slow to write. This is a log:
//! `DIR/segments/000001.jsonl.zst`, `000002.jsonl.zst` and so on, and next to them `index.sqlite`, which contains the
//! position of each record and can be deleted at any time.
//!
//! A segment is a sequence of standard zstd frames with checksums, so `zstdcat` prints its [lines](line). A frame contains
//! complete lines: at most 1 MiB of them, or one line that is longer. A record is found by the offset of its frame and the
//! offset of its line in the content of the frame. Commits end with a frame. Lines are in the order in which records were
//! received. A record that changed has a further line; the last one counts.
//!
//! | file | contents |
//! |---|---|
//! | `line` | one record as a line |
//! | `write` | the sink |
//! | `scan` | frames and lines in their order, and the unreadable parts between them |
//! | `index` | positions by identifier |
//! | `read` | the latest version of each record, all versions, or one record |
//! | `previous` | the forms of earlier versions, which are converted |

mod index;
mod line;
mod previous;
mod read;
mod scan;
mod write;

use std::fmt;
use std::path::PathBuf;

pub use line::write_line;
pub use read::{Found, Reader, Records};
pub use write::RecordSink;

use super::log::{FileNames, Position};
use super::{Place, Sink, SinkError};

/// The directory of segments, in the directory of a harvest.
const SEGMENTS: &str = "segments";
/// The size at which a frame is closed: large enough to compress well, small enough that reading one record
/// decompresses little.
const FRAME: usize = 1 << 20;

/// Returns the names of segments.
fn names() -> FileNames {
    FileNames { prefix: String::new(), digits: 6, suffix: ".jsonl.zst" }
}

/// The position of the first record.
const START: Position = Position { file: 1, length: 0 };
/// The beginning of a mark, which is followed by the position of the commit. It differs from those of earlier versions.
const MARK: &str = "jsonl.zst:";

/// Returns the position in a mark; `None` for marks of earlier versions.
fn read_mark(text: &str) -> Option<Position> {
    text.strip_prefix(MARK)?.parse().ok()
}

/// The position of a version of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    segment: u32,
    /// The offset of its frame.
    frame: u64,
    /// The offset of its line in the content of the frame.
    within: u32,
}

/// An unreadable part of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The segment.
    pub path: PathBuf,
    /// Its offset.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The cause.
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, offset, length, reason } = self;
        write!(f, "{} is damaged: {reason} (bytes {offset} to {})", path.display(), offset + length)
    }
}

/// Opens the sink, as in [`SINKS`](super::SINKS).
pub(super) fn open(Place { dir, mark, .. }: Place<'_>) -> Result<Box<dyn Sink>, SinkError> {
    Ok(Box::new(RecordSink::open(dir, mark)?))
}
