//! What an archive remembers: which payload of which URI is where, so that the same bytes are not stored twice.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use super::archive::Position;
use crate::sink::SinkError;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS payload (
        uri    TEXT PRIMARY KEY,
        digest BLOB NOT NULL,
        record TEXT NOT NULL,
        date   TEXT NOT NULL,
        file   INTEGER NOT NULL,
        offset INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    PRAGMA user_version = 1;";

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
    connection: Connection,
    path: PathBuf,
}

type Outcome<T> = Result<T, SinkError>;

impl Index {
    /// Opened, or made; tells which.
    pub(super) fn open(folder: &Path) -> Outcome<(Self, bool)> {
        let path = folder.join("warc.sqlite");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let open = || -> rusqlite::Result<(Connection, bool)> {
            let connection = Connection::open_with_flags(&path, flags)?;
            let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
            connection.execute_batch(SCHEMA)?;
            Ok((connection, version == 0))
        };
        match open() {
            Ok((connection, is_new)) => Ok((Self { connection, path }, is_new)),
            Err(error) => Err(SinkError::Damaged { path, reason: error.to_string() }),
        }
    }

    /// What follows is forgotten unless it is committed.
    pub(super) fn begin(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { self.run("BEGIN IMMEDIATE") } else { Ok(()) }
    }

    /// Up to this position the archive is whole.
    pub(super) fn commit(&self, at: Position) -> Outcome<()> {
        self.begin()?;
        let done = self.connection.execute("INSERT OR REPLACE INTO fact VALUES ('end', ?)", [at.to_text()]);
        done.map_err(self.damaged())?;
        self.run("COMMIT")
    }

    pub(super) fn roll_back(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { Ok(()) } else { self.run("ROLLBACK") }
    }

    /// Up to where the archive was whole when last committed.
    pub(super) fn end(&self) -> Outcome<Option<Position>> {
        let sql = "SELECT value FROM fact WHERE name = 'end'";
        let text: Option<String> =
            self.connection.query_row(sql, [], |row| row.get(0)).optional().map_err(self.damaged())?;
        Ok(text.as_deref().and_then(Position::from_text))
    }

    /// Forgets what is beyond a position: it was cut off.
    pub(super) fn cut(&self, at: Position) -> Outcome<()> {
        let sql = "DELETE FROM payload WHERE file > ?1 OR (file = ?1 AND offset >= ?2)";
        let done = self.connection.execute(sql, params![at.file, number(at.length)]);
        done.map(drop).map_err(self.damaged())?;
        self.commit(at)
    }

    /// The payload that was stored last for a URI.
    pub(super) fn stored(&self, uri: &str) -> Outcome<Option<Stored>> {
        let sql = "SELECT digest, record, date FROM payload WHERE uri = ?";
        let row = |row: &rusqlite::Row<'_>| Ok(Stored { digest: row.get(0)?, record: row.get(1)?, date: row.get(2)? });
        let found = self.connection.prepare_cached(sql).and_then(|mut ask| ask.query_row([uri], row).optional());
        found.map_err(self.damaged())
    }

    /// A payload was stored at a position.
    pub(super) fn store(&self, uri: &str, stored: &Stored, at: Position) -> Outcome<()> {
        let sql = "INSERT OR REPLACE INTO payload (uri, digest, record, date, file, offset) VALUES (?, ?, ?, ?, ?, ?)";
        let row = params![uri, stored.digest, stored.record, stored.date, at.file, number(at.length)];
        let done = self.connection.prepare_cached(sql).and_then(|mut put| put.execute(row));
        done.map(drop).map_err(self.damaged())
    }

    fn run(&self, sql: &str) -> Outcome<()> {
        self.connection.execute_batch(sql).map_err(self.damaged())
    }

    fn damaged(&self) -> impl FnOnce(rusqlite::Error) -> SinkError {
        let path = self.path.clone();
        move |error| SinkError::Damaged { path, reason: error.to_string() }
    }
}

fn number(length: u64) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
