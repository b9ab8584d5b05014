//! The state of an archive: the location of the latest payload of each URI, so that the same bytes are not stored twice, and
//! the lines of its CDXJ files.

use std::path::Path;

use rusqlite::{OptionalExtension as _, Row, params};

use super::archive::Member;
use crate::sink::SinkError;
use crate::sink::ledger::{Ledger, Outcome, with_facts};
use crate::sink::log::Position;
use crate::sink::spool::Take;

/// The tables. Files of version 1 may lack those that were added without a new version.
const MIGRATIONS: &[&str] = &[TABLES, TABLES];

const TABLES: &str = with_facts!(
    "
    CREATE TABLE IF NOT EXISTS payload (
        uri    TEXT PRIMARY KEY,
        digest BLOB NOT NULL,
        record TEXT NOT NULL,
        date   TEXT NOT NULL,
        file   INTEGER NOT NULL,
        offset INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS capture (
        file   INTEGER NOT NULL,
        line   TEXT NOT NULL,
        offset INTEGER NOT NULL,
        PRIMARY KEY (file, line)
    ) WITHOUT ROWID;"
);

/// The form of the records. The first one had pages as `resource` records, and OAI records as `metadata` records under the
/// same URI, which indexers put in their place.
const FORM: &str = "2";

/// A payload that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// SHA-1.
    pub(super) digest: Vec<u8>,
    /// The identity of the record that contains it.
    pub(super) record: String,
    /// That record's date.
    pub(super) date: String,
}

/// `warc.sqlite`.
pub(super) struct Index {
    ledger: Ledger,
}

impl Index {
    /// Opens it, or creates it; returns true if it was created.
    pub(super) fn open(folder: &Path) -> Outcome<(Self, bool)> {
        let (ledger, is_new) = Ledger::open(folder, "warc.sqlite", MIGRATIONS)?;
        Ok((Self { ledger }, is_new))
    }

    /// Begins a transaction: changes are lost unless they are committed.
    pub(super) fn begin(&self) -> Outcome<()> {
        self.ledger.begin()
    }

    /// Up to this position the archive is whole, and in the form of today.
    pub(super) fn commit(&self, at: Position) -> Outcome<()> {
        self.begin()?;
        self.ledger.set_fact("form", FORM)?;
        self.set_end(at)
    }

    fn set_end(&self, at: Position) -> Outcome<()> {
        self.begin()?;
        self.ledger.set_fact("end", &at.to_string())?;
        self.ledger.commit()
    }

    /// Returns true if the archive was last written by a version that wrote records in another form.
    pub(super) fn has_other_form(&self) -> Outcome<bool> {
        Ok(self.ledger.fact("form")?.as_deref() != Some(FORM))
    }

    /// Removes all stored payloads, so that no record refers to them.
    pub(super) fn forget_payloads(&self) -> Outcome<()> {
        self.ledger.write(|connection| connection.execute("DELETE FROM payload", []))
    }

    pub(super) fn roll_back(&self) -> Outcome<()> {
        self.ledger.roll_back()
    }

    /// Up to where the archive was whole when last committed.
    pub(super) fn end(&self) -> Outcome<Option<Position>> {
        Ok(self.ledger.fact("end")?.and_then(|text| text.parse().ok()))
    }

    /// Forgets what is beyond a position: it was cut off.
    pub(super) fn cut(&self, at: Position) -> Outcome<()> {
        // Looking for such rows takes longer than a harvest that finds nothing new.
        if self.end()? == Some(at) {
            return Ok(());
        }
        for table in ["payload", "capture"] {
            let sql = format!("DELETE FROM {table} WHERE file > ?1 OR (file = ?1 AND offset >= ?2)");
            self.ledger.write(|connection| connection.execute(&sql, params![at.file, number(at.length)]))?;
        }
        self.set_end(at)
    }

    /// Up to where the CDXJ files list the archive.
    pub(super) fn listed(&self) -> Outcome<Option<Position>> {
        Ok(self.ledger.fact("listed")?.and_then(|text| text.parse().ok()))
    }

    pub(super) fn set_listed(&self, at: Position) -> Outcome<()> {
        self.ledger.set_fact("listed", &at.to_string())
    }

    /// Remembers a line of the CDXJ file of a segment.
    pub(super) fn add_line(&self, line: &str, member: &Member) -> Outcome<()> {
        let sql = "INSERT OR REPLACE INTO capture (line, file, offset) VALUES (?, ?, ?)";
        let row = params![line, member.at.file, number(member.at.length)];
        self.ledger.write(|connection| connection.prepare_cached(sql)?.execute(row))
    }

    /// The first segment with captures that has at least this number.
    pub(super) fn captured(&self, least: u32) -> Outcome<Option<u32>> {
        let sql = "SELECT min(file) FROM capture WHERE file >= ?";
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_row([least], |row| row.get(0)))
    }

    /// The lines of the CDXJ file of a segment in the order of their bytes.
    pub(super) fn lines(&self, file: u32, take: Take<'_>) -> Result<(), SinkError> {
        let mut taken = Ok(());
        self.ledger.read(|connection| {
            let mut ask = connection.prepare_cached("SELECT line FROM capture WHERE file = ? ORDER BY line")?;
            let mut rows = ask.query([file])?;
            while taken.is_ok()
                && let Some(row) = rows.next()?
            {
                let line = row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?;
                taken = take(line).and_then(|()| take(b"\n"));
            }
            Ok(())
        })?;
        taken
    }

    /// The payload that was stored last for a URI.
    pub(super) fn stored(&self, uri: &str) -> Outcome<Option<Stored>> {
        let sql = "SELECT digest, record, date FROM payload WHERE uri = ?";
        let row = |row: &Row<'_>| Ok(Stored { digest: row.get(0)?, record: row.get(1)?, date: row.get(2)? });
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_row([uri], row).optional())
    }

    /// A payload was stored in a record.
    pub(super) fn store(&self, uri: &str, stored: &Stored, member: &Member) -> Outcome<()> {
        let sql = "INSERT OR REPLACE INTO payload (uri, digest, record, date, file, offset) VALUES (?, ?, ?, ?, ?, ?)";
        let row = params![uri, stored.digest, stored.record, stored.date, member.at.file, number(member.at.length)];
        self.ledger.write(|connection| connection.prepare_cached(sql)?.execute(row))
    }
}

fn number(length: u64) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
