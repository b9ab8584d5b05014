//! Finds records by identifier: a SQLite file next to the segments that can be deleted at any time.
//!
//! Every version of every record has a row, so that removing what was not committed is a deletion and never restores an
//! older version by guessing. Only readers need the index, therefore it follows the segments in large batches: a row
//! for each of a thousand records in random order touches a thousand pages of a large index, and a batch of a hundred
//! such pages hardly more. `covered` is the indexed length of each segment; a process that opens the index completes
//! it, and detects if a segment has become shorter.
//!
//! Identifiers are represented by 128 bits of xxh3. Looking up one identifier compares the identifier that is read at
//! the place as well.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use modoai_state::{DatabaseError, Files, Journal, Layout};
use rusqlite::{Connection, params};
use xxhash_rust::xxh3::xxh3_128;

use super::scan::{Scan, Step};
use super::{Damage, Spot};
use crate::sink::SinkError;
use crate::sink::ledger::failing;

const FILE: &str = "index.sqlite";
/// The number of rows in one transaction when the index is completed.
pub(super) const BATCH: usize = 32_768;

/// The tables. The number in the header is "mOai". Without a write-ahead log the index is one file, and can be deleted.
const LAYOUT: Layout = Layout {
    application_id: 0x6d4f_6169,
    migrations: &[TABLES],
    journal: Journal::Rollback,
    settings: "PRAGMA cache_size = -2048;",
    // As long as a batch may take on a slow disk.
    patience: Duration::from_secs(60),
    files: Files::Shared,
};

const TABLES: &str = "
    CREATE TABLE versions (
        high INTEGER NOT NULL, low INTEGER NOT NULL,
        segment INTEGER NOT NULL, frame INTEGER NOT NULL, within INTEGER NOT NULL,
        PRIMARY KEY (high, low, segment, frame, within)
    ) WITHOUT ROWID;
    CREATE TABLE covered (segment INTEGER PRIMARY KEY, length INTEGER NOT NULL);";

/// A version of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    high: i64,
    low: i64,
    spot: Spot,
}

impl Entry {
    pub(super) fn new(identifier: &str, spot: Spot) -> Self {
        let (high, low) = halves(identifier);
        Self { high, low, spot }
    }
}

fn halves(identifier: &str) -> (i64, i64) {
    let hash = xxh3_128(identifier.as_bytes());
    (((hash >> 64) as u64).cast_signed(), (hash as u64).cast_signed())
}

/// A segment and how much of it.
pub(super) type Reach = (u32, u64);

/// The index of a folder.
pub(super) struct Index {
    path: PathBuf,
    connection: Connection,
}

impl Index {
    /// Opens the index of a folder, or creates one. A file that is damaged, or not an index of modoai, is built again.
    pub(super) fn open(folder: &Path) -> Result<Self, SinkError> {
        let path = folder.join(FILE);
        let connection = match LAYOUT.open(&path) {
            Ok((connection, _)) => connection,
            Err(
                error @ (DatabaseError::Damaged { .. } | DatabaseError::Foreign { .. } | DatabaseError::Newer { .. }),
            ) => {
                tracing::warn!(index = %path.display(), %error, "failed to open the index of the segments; building it again");
                Self::remove(folder)?;
                LAYOUT.open(&path)?.0
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self { path, connection })
    }

    /// Creates an empty index, on disk, that is deleted when it is closed.
    pub(super) fn temporary(folder: &Path) -> Result<Self, SinkError> {
        let path = folder.join(FILE);
        Ok(Self { connection: LAYOUT.temporary(&path)?, path })
    }

    /// Deletes the index of a folder.
    pub(super) fn remove(folder: &Path) -> Result<(), SinkError> {
        for name in [FILE.to_owned(), format!("{FILE}-journal")] {
            let path = folder.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(SinkError::io("delete", &path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the indexed length of each segment.
    pub(super) fn covered(&self) -> Result<Vec<Reach>, SinkError> {
        let covered = || -> rusqlite::Result<Vec<Reach>> {
            let sql = "SELECT segment, length FROM covered ORDER BY segment";
            let reach = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
            self.connection.prepare_cached(sql)?.query_map([], reach)?.collect()
        };
        covered().map_err(failing("read", &self.path))
    }

    fn end(&self) -> Result<Reach, SinkError> {
        Ok(self.covered()?.last().copied().unwrap_or_default())
    }

    /// Adds versions; all there are in the segments up to `covered` are known now. Leaves the entries in another order.
    pub(super) fn add(&mut self, entries: &mut [Entry], covered: &[Reach]) -> Result<(), SinkError> {
        // In the order of the table: every page of it is touched once.
        entries.sort_unstable();
        self.write(|write| {
            let mut insert = write.prepare_cached("INSERT OR REPLACE INTO versions VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for entry in &*entries {
                let Spot { segment, frame, within } = entry.spot;
                insert.execute(params![entry.high, entry.low, segment, frame.cast_signed(), within])?;
            }
            covered.iter().try_for_each(|reach| cover(write, *reach))
        })
    }

    /// Forgets everything from this place on, if it has come that far.
    pub(super) fn cut(&mut self, reach: Reach) -> Result<(), SinkError> {
        if self.end()? <= reach {
            return Ok(());
        }
        self.write(|write| {
            write.execute(
                "DELETE FROM versions WHERE (segment, frame) >= (?1, ?2)",
                params![reach.0, reach.1.cast_signed()],
            )?;
            write.execute("DELETE FROM covered WHERE segment >= ?1", [reach.0])?;
            if reach.1 > 0 { cover(write, reach) } else { Ok(()) }
        })
    }

    /// Indexes everything between the covered lengths and the ends of the segments.
    pub(super) fn complete(&mut self, segments: &[Reach], folder: &Path) -> Result<Vec<Damage>, SinkError> {
        let mut damages = Vec::new();
        let covered = self.end()?;
        if segments.last().is_none_or(|&end| covered >= end) {
            return Ok(damages);
        }
        let mut scan = Scan::new(folder, segments);
        scan.start_at(covered);
        let mut entries = Vec::new();
        loop {
            match scan.advance()? {
                Step::Line => {
                    match scan.identifier() {
                        Ok(identifier) => entries.push(Entry::new(&identifier, scan.spot())),
                        Err(damage) => damages.push(damage),
                    }
                    if entries.len() == BATCH {
                        // Not covered yet: should this be interrupted, the same rows are written again.
                        self.add(&mut entries, &[])?;
                        entries.clear();
                    }
                }
                Step::Damage(damage) => damages.push(damage),
                Step::End => break,
            }
        }
        self.add(&mut entries, segments)?;
        Ok(damages)
    }

    /// The places of all versions of a record, oldest first. Identifiers that look alike may be among them.
    pub(super) fn find(&self, identifier: &str) -> Result<Vec<Spot>, SinkError> {
        let (high, low) = halves(identifier);
        let found = || -> rusqlite::Result<Vec<Spot>> {
            let sql = "SELECT segment, frame, within FROM versions WHERE high = ?1 AND low = ?2
                       ORDER BY segment, frame, within";
            self.connection.prepare_cached(sql)?.query_map([high, low], spot)?.collect()
        };
        found().map_err(failing("read", &self.path))
    }

    /// Notes which versions are not the latest of their record, for [`Index::is_superseded`].
    pub(super) fn note_superseded(&self) -> Result<(), SinkError> {
        let sql = "
            DROP TABLE IF EXISTS temp.superseded;
            CREATE TABLE temp.superseded (segment, frame, within, PRIMARY KEY (segment, frame, within)) WITHOUT ROWID;
            INSERT INTO temp.superseded
            SELECT segment, frame, within FROM (
                SELECT segment, frame, within, high = lead(high) OVER together AND low = lead(low) OVER together AS older
                FROM versions WINDOW together AS (ORDER BY high, low, segment, frame, within)
            ) WHERE older ORDER BY segment, frame, within;";
        self.connection.execute_batch(sql).map_err(failing("read", &self.path))
    }

    /// Returns true if the version at this position is not the latest of its record. In the order of positions, this is
    /// fast.
    pub(super) fn is_superseded(&self, Spot { segment, frame, within }: Spot) -> Result<bool, SinkError> {
        let found = || -> rusqlite::Result<bool> {
            let sql = "SELECT 1 FROM temp.superseded WHERE (segment, frame, within) = (?1, ?2, ?3)";
            self.connection.prepare_cached(sql)?.exists(params![segment, frame.cast_signed(), within])
        };
        found().map_err(failing("read", &self.path))
    }

    fn write(&mut self, change: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), SinkError> {
        let write = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            change(&transaction)?;
            transaction.commit()
        };
        write().map_err(failing("write", &self.path))
    }
}

fn cover(connection: &Connection, (segment, length): Reach) -> rusqlite::Result<()> {
    connection.execute("INSERT OR REPLACE INTO covered VALUES (?1, ?2)", params![segment, length.cast_signed()])?;
    Ok(())
}

fn spot(row: &rusqlite::Row<'_>) -> rusqlite::Result<Spot> {
    Ok(Spot { segment: row.get(0)?, frame: row.get::<_, i64>(1)?.cast_unsigned(), within: row.get(2)? })
}
