//! What a mirror knows of its files: whose they are, and what they were when they were written.

use std::path::Path;

use rusqlite::{OptionalExtension as _, Row, params};

use crate::sink::ledger::{Ledger, Outcome};

const TABLES: &str = "
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
    CREATE INDEX IF NOT EXISTS file_folded ON file (folded);";

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
    ledger: Ledger,
}

impl Index {
    /// Opened or made. The folder's path must not have links in it.
    pub(super) fn open(folder: &Path) -> Outcome<Self> {
        let (ledger, _) = Ledger::open(folder, "mirror.sqlite", TABLES)?;
        Ok(Self { ledger })
    }

    /// Files are still whose they were, but may have other bytes than were written: each is to be written again.
    pub(super) fn distrust(&self) -> Outcome<()> {
        self.ledger
            .write(|connection| connection.execute("UPDATE file SET digest = x'', etag = NULL, modified = -1", []))
    }

    /// What follows is forgotten unless it is committed.
    pub(super) fn begin(&self) -> Outcome<()> {
        self.ledger.begin()
    }

    pub(super) fn commit(&self) -> Outcome<()> {
        self.ledger.commit()
    }

    /// The file at a path.
    pub(super) fn at(&self, path: &[u8]) -> Outcome<Option<Entry>> {
        let sql = "SELECT path, identifier, url, etag, size, modified, digest FROM file WHERE path = ?";
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_row([path], entry).optional())
    }

    /// The files of a record.
    pub(super) fn of(&self, identifier: &str) -> Outcome<Vec<Entry>> {
        let sql = "SELECT path, identifier, url, etag, size, modified, digest FROM file WHERE identifier = ?";
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_map([identifier], entry)?.collect())
    }

    /// Another file whose name differs in case only.
    pub(super) fn alike(&self, path: &[u8]) -> Outcome<Option<Vec<u8>>> {
        let sql = "SELECT path FROM file WHERE folded = ? AND path <> ?";
        self.ledger.read(|connection| {
            connection.prepare_cached(sql)?.query_row(params![folded(path), path], |row| row.get(0)).optional()
        })
    }

    pub(super) fn put(&self, entry: &Entry) -> Outcome<()> {
        let sql = "INSERT OR REPLACE INTO file (path, folded, identifier, url, etag, size, modified, digest)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        let size = i64::try_from(entry.size).unwrap_or(i64::MAX);
        let Entry { path, identifier, url, etag, modified, digest, .. } = entry;
        let row = params![path, folded(path), identifier, url, etag, size, modified, digest];
        self.ledger.write(|connection| connection.prepare_cached(sql)?.execute(row))
    }

    pub(super) fn remove(&self, path: &[u8]) -> Outcome<()> {
        self.ledger.write(|connection| connection.execute("DELETE FROM file WHERE path = ?", [path]))
    }

    /// What the mirror stands for, once that is known.
    pub(super) fn site(&self) -> Outcome<Option<String>> {
        self.ledger.fact("site")
    }

    pub(super) fn set_site(&self, site: &str) -> Outcome<()> {
        self.ledger.set_fact("site", site)
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
