//! What an archive remembers: which payload of which URI is where, so that the same bytes are not stored twice.

use std::path::Path;

use rusqlite::{OptionalExtension as _, Row, params};

use super::archive::Position;
use crate::sink::ledger::{Ledger, Outcome};

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS payload (
        uri    TEXT PRIMARY KEY,
        digest BLOB NOT NULL,
        record TEXT NOT NULL,
        date   TEXT NOT NULL,
        file   INTEGER NOT NULL,
        offset INTEGER NOT NULL
    ) WITHOUT ROWID;";

/// A payload that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// SHA-1.
    pub(super) digest: Vec<u8>,
    /// The identity of the record that holds it.
    pub(super) record: String,
    /// That record's date.
    pub(super) date: String,
}

/// `warc.sqlite`.
pub(super) struct Index {
    ledger: Ledger,
}

impl Index {
    /// Opened, or made; tells whether it was made.
    pub(super) fn open(folder: &Path) -> Outcome<(Self, bool)> {
        let (ledger, is_new) = Ledger::open(folder, "warc.sqlite", TABLES)?;
        Ok((Self { ledger }, is_new))
    }

    /// What follows is forgotten unless it is committed.
    pub(super) fn begin(&self) -> Outcome<()> {
        self.ledger.begin()
    }

    /// Up to this position the archive is whole.
    pub(super) fn commit(&self, at: Position) -> Outcome<()> {
        self.begin()?;
        self.ledger.set_fact("end", &at.to_text())?;
        self.ledger.commit()
    }

    pub(super) fn roll_back(&self) -> Outcome<()> {
        self.ledger.roll_back()
    }

    /// Up to where the archive was whole when last committed.
    pub(super) fn end(&self) -> Outcome<Option<Position>> {
        Ok(self.ledger.fact("end")?.as_deref().and_then(Position::from_text))
    }

    /// Forgets what is beyond a position: it was cut off.
    pub(super) fn cut(&self, at: Position) -> Outcome<()> {
        let sql = "DELETE FROM payload WHERE file > ?1 OR (file = ?1 AND offset >= ?2)";
        self.ledger.write(|connection| connection.execute(sql, params![at.file, number(at.length)]))?;
        self.commit(at)
    }

    /// The payload that was stored last for a URI.
    pub(super) fn stored(&self, uri: &str) -> Outcome<Option<Stored>> {
        let sql = "SELECT digest, record, date FROM payload WHERE uri = ?";
        let row = |row: &Row<'_>| Ok(Stored { digest: row.get(0)?, record: row.get(1)?, date: row.get(2)? });
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_row([uri], row).optional())
    }

    /// A payload was stored at a position.
    pub(super) fn store(&self, uri: &str, stored: &Stored, at: Position) -> Outcome<()> {
        let sql = "INSERT OR REPLACE INTO payload (uri, digest, record, date, file, offset) VALUES (?, ?, ?, ?, ?, ?)";
        let row = params![uri, stored.digest, stored.record, stored.date, at.file, number(at.length)];
        self.ledger.write(|connection| connection.prepare_cached(sql)?.execute(row))
    }
}

fn number(length: u64) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
