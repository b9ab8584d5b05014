//! Stores records as received: compressed, append-only, with all versions, and with an index that finds each of them.
//!
//! A file per page or per record makes large harvests slow to read; a database makes them slow to write. This is a log:
//! `DIR/segments/000001.modoai`, `000002.modoai` and so on, and next to them `index.sqlite`, which contains the
//! position of each record and can be deleted at any time. The present form is 1.
//!
//! # Segments
//!
//! A segment is a sequence of zstd frames, so that `zstd -dc 000001.modoai` prints its whole content. It begins with a
//! frame that decompressors skip: the bytes `5D 2A 4D 18`, the size 24, the text `modoai records, form 1.` and a line
//! feed. A sequence of labels and frames follows. A label is a skipped frame, too; numbers are little-endian:
//!
//! | bytes | meaning |
//! |---|---|
//! | 0–3 | `5D 2A 4D 18` |
//! | 4–7 | 24 |
//! | 8–11 | size of the compressed frame that follows; 0 if none does |
//! | 12–15 | size of its content, at most 8 MiB |
//! | 16–19 | 1: the frame continues a record that began in the previous frame; 2: this frame and everything before it are committed; or their sum |
//! | 20–23 | number of records that begin in the frame |
//! | 24–31 | xxh3 (64 bits) of bytes 0–23, seeded with the label's offset in the file |
//!
//! Each frame has zstd's own checksum. Data after the last committed frame of the last segment is ignored.
//!
//! # Content
//!
//! The content of a frame is fields: a letter, the size of the value in decimal digits, a colon, the value, a line
//! feed. A frame that does not continue a record begins with the origin of its records. A field is never divided
//! between frames. If a record is larger than a frame, the bytes of a part are divided into several fields.
//!
//! | letter | value |
//! |---|---|
//! | `U` `P` `S` `N` `H` | base URL; metadata prefix, its schema and its namespace; response date of the page |
//! | `r` | a record begins: its identifier |
//! | `d` | its datestamp, as the server wrote it |
//! | `s` | a set it is in |
//! | `x` | empty: it is deleted |
//! | `m`, `a` | empty: its metadata begins, or an about container |
//! | `n` | a namespace declaration that the part inherits: prefix (empty for the default), `=`, URI |
//! | `b` | more of the part, exactly as received |
//! | `e` | empty: the record ends |

mod envelope;
mod index;
mod mark;
mod read;
mod scan;
mod segment;
mod write;

use std::fmt;
use std::path::PathBuf;

pub use read::{Found, Reader, Records};
pub use scan::{Record, StoredPart};
pub use write::RecordSink;

use super::{Place, Sink, SinkError};

/// The directory of segments, in the directory of a harvest.
const SEGMENTS: &str = "segments";

/// The position of a version of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    segment: u32,
    /// The offset of its frame's label.
    frame: u64,
    /// The offset of the record in the content of the frame.
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

impl From<Damage> for SinkError {
    fn from(damage: Damage) -> Self {
        let reason = format!("{} (bytes {} to {})", damage.reason, damage.offset, damage.offset + damage.length);
        Self::Damaged { path: damage.path, reason }
    }
}

/// Opens the sink, as in [`SINKS`](super::SINKS).
pub(super) fn open(Place { dir, mark, .. }: Place<'_>) -> Result<Box<dyn Sink>, SinkError> {
    Ok(Box::new(RecordSink::open(dir, mark)?))
}
