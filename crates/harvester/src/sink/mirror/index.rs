//! What a mirror knows of its files: whose they are, and what they were when they were written.

use std::path::{Path as FilePath, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use crate::sink::SinkError;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS file (
        path       BLOB PRIMARY KEY,
        folded     TEXT NOT NULL,
        identifier TEXT NOT NULL,
        url        TEXT NOT NULL,
        etag       TEXT,
        size       INTEGER NOT NULL,
        modified   INTEGER NOT NULL,
        digest     BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS file_identifier ON file (identifier);
    CREATE INDEX IF NOT EXISTS file_folded ON file (folded);
    CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    PRAGMA user_version = 1;";

/// A file of the mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// As [`Path::to_bytes`](super::path::Path::to_bytes) has it.
    pub(super) path: Vec<u8>,
    /// Of the record it came with.
    pub(super) identifier: String,
    /// The name that its path was made of.
    pub(super) url: String,
    pub(super) etag: Option<String>,
    pub(super) size: u64,
    /// Its modification time when it was written, in seconds since 1970.
    pub(super) modified: i64,
    /// SHA-256.
    pub(super) digest: Vec<u8>,
}

/// `mirror.sqlite`.
pub(super) struct Index {
    connection: Connection,
    path: PathBuf,
}

type Outcome<T> = Result<T, SinkError>;

impl Index {
    /// Opened or made. The folder's path must not have links in it.
    pub(super) fn open(folder: &FilePath) -> Outcome<Self> {
        let path = folder.join("mirror.sqlite");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open_with_flags(&path, flags)?;
            // What is lost with the machine is written again; `finish` syncs the whole disk.
            connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
            connection.execute_batch(SCHEMA)?;
            Ok(connection)
        };
        match open() {
            Ok(connection) => Ok(Self { connection, path }),
            Err(error) => Err(damaged(&path, &error)),
        }
    }

    /// Files are still whose they were, but may have other bytes than were written: each is to be written again.
    pub(super) fn distrust(&self) -> Outcome<()> {
        self.run("UPDATE file SET digest = x'', etag = NULL, modified = -1")
    }

    /// What follows is forgotten unless it is committed.
    pub(super) fn begin(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { self.run("BEGIN IMMEDIATE") } else { Ok(()) }
    }

    pub(super) fn commit(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { Ok(()) } else { self.run("COMMIT") }
    }

    /// The file at a path.
    pub(super) fn at(&self, path: &[u8]) -> Outcome<Option<Entry>> {
        let sql = "SELECT path, identifier, url, etag, size, modified, digest FROM file WHERE path = ?";
        let found = self.connection.prepare_cached(sql).and_then(|mut ask| ask.query_row([path], entry).optional());
        found.map_err(|error| damaged(&self.path, &error))
    }

    /// The files of a record.
    pub(super) fn of(&self, identifier: &str) -> Outcome<Vec<Entry>> {
        let sql = "SELECT path, identifier, url, etag, size, modified, digest FROM file WHERE identifier = ?";
        let found = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut ask| ask.query_map([identifier], entry)?.collect::<rusqlite::Result<Vec<_>>>());
        found.map_err(|error| damaged(&self.path, &error))
    }

    /// Another file whose name differs in case only.
    pub(super) fn alike(&self, path: &[u8]) -> Outcome<Option<Vec<u8>>> {
        let sql = "SELECT path FROM file WHERE folded = ? AND path <> ?";
        let found = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut ask| ask.query_row(params![folded(path), path], |row| row.get(0)).optional());
        found.map_err(|error| damaged(&self.path, &error))
    }

    pub(super) fn put(&self, entry: &Entry) -> Outcome<()> {
        let sql = "INSERT OR REPLACE INTO file (path, folded, identifier, url, etag, size, modified, digest)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        let size = i64::try_from(entry.size).unwrap_or(i64::MAX);
        let Entry { path, identifier, url, etag, modified, digest, .. } = entry;
        let row = params![path, folded(path), identifier, url, etag, size, modified, digest];
        let done = self.connection.prepare_cached(sql).and_then(|mut put| put.execute(row));
        done.map(drop).map_err(|error| damaged(&self.path, &error))
    }

    pub(super) fn remove(&self, path: &[u8]) -> Outcome<()> {
        let done = self.connection.execute("DELETE FROM file WHERE path = ?", [path]);
        done.map(drop).map_err(|error| damaged(&self.path, &error))
    }

    /// What the mirror stands for, once that is known.
    pub(super) fn site(&self) -> Outcome<Option<String>> {
        let sql = "SELECT value FROM fact WHERE name = 'site'";
        self.connection.query_row(sql, [], |row| row.get(0)).optional().map_err(|error| damaged(&self.path, &error))
    }

    pub(super) fn set_site(&self, site: &str) -> Outcome<()> {
        let done = self.connection.execute("INSERT OR REPLACE INTO fact VALUES ('site', ?)", [site]);
        done.map(drop).map_err(|error| damaged(&self.path, &error))
    }

    fn run(&self, sql: &str) -> Outcome<()> {
        self.connection.execute_batch(sql).map_err(|error| damaged(&self.path, &error))
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        path: row.get(0)?,
        identifier: row.get(1)?,
        url: row.get(2)?,
        etag: row.get(3)?,
        size: u64::try_from(row.get::<_, i64>(4)?).unwrap_or_default(),
        modified: row.get(5)?,
        digest: row.get(6)?,
    })
}

/// How a file system that does not tell cases apart may see a path.
fn folded(path: &[u8]) -> String {
    String::from_utf8_lossy(path).to_lowercase()
}

fn damaged(path: &FilePath, error: &rusqlite::Error) -> SinkError {
    SinkError::Damaged { path: path.to_path_buf(), reason: error.to_string() }
}
