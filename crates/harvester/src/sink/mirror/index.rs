//! What a mirror knows of its files: whose they are, and what they were when they were written.

use std::cell::Cell;
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
    -- Further records that have the very bytes of a file, which is another record's.
    CREATE TABLE IF NOT EXISTS share (
        path       BLOB NOT NULL,
        identifier TEXT NOT NULL,
        url        TEXT NOT NULL,
        digest     BLOB NOT NULL,
        PRIMARY KEY (path, identifier)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS share_identifier ON share (identifier);
    -- Files of pages that were taken back: if they do not come again, they go.
    CREATE TABLE IF NOT EXISTS doubt (path BLOB PRIMARY KEY) WITHOUT ROWID;";

/// Only on a disk that takes names for one which differ in case is it asked who else has a name; an index that nobody asks
/// would cost a first mirror one write in three.
const NAMES: [&str; 2] =
    ["DROP INDEX IF EXISTS file_folded", "CREATE INDEX IF NOT EXISTS file_folded ON file (folded)"];

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
    /// SHA-256; empty if nobody knows what is there now.
    pub(super) digest: Vec<u8>,
}

/// `mirror.sqlite`.
pub(super) struct Index {
    ledger: Ledger,
    /// Whether any file was doubted; hardly ever, and then there is one question less for each file.
    has_doubts: Cell<bool>,
    /// The same of shares.
    has_shares: Cell<bool>,
}

/// A record has the bytes of another record's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) path: Vec<u8>,
    pub(super) identifier: String,
    pub(super) url: String,
    /// Of the bytes it had.
    pub(super) digest: Vec<u8>,
}

impl Index {
    /// Opened, or made; tells whether it was made. The folder's path must not have links in it. On some disks, names that
    /// differ in case only are one.
    pub(super) fn open(folder: &Path, folds: bool) -> Outcome<(Self, bool)> {
        let (ledger, is_new) = Ledger::open(folder, "mirror.sqlite", TABLES)?;
        ledger.write(|connection| connection.execute(NAMES[usize::from(folds)], []))?;
        let any = "SELECT EXISTS (SELECT 1 FROM doubt), EXISTS (SELECT 1 FROM share)";
        let (has_doubts, has_shares) =
            ledger.read(|connection| connection.query_row(any, [], |row| Ok((row.get(0)?, row.get(1)?))))?;
        Ok((Self { ledger, has_doubts: Cell::new(has_doubts), has_shares: Cell::new(has_shares) }, is_new))
    }

    /// Files are still whose they were, but may have other bytes than were written: each is to be written again.
    pub(super) fn distrust(&self) -> Outcome<()> {
        self.ledger.write(|connection| connection.execute("UPDATE file SET digest = x'', etag = NULL", []))
    }

    /// The same of one file.
    pub(super) fn distrust_at(&self, path: &[u8]) -> Outcome<()> {
        let update = "UPDATE file SET digest = x'', etag = NULL WHERE path = ?";
        self.ledger.write(|connection| connection.prepare_cached(update)?.execute([path]))
    }

    /// The page of this file was taken back.
    pub(super) fn doubt(&self, path: &[u8]) -> Outcome<()> {
        self.has_doubts.set(true);
        let insert = "INSERT OR IGNORE INTO doubt VALUES (?)";
        self.ledger.write(|connection| connection.prepare_cached(insert)?.execute([path]))
    }

    /// Whether that is so.
    pub(super) fn is_doubted(&self, path: &[u8]) -> Outcome<bool> {
        if !self.has_doubts.get() {
            return Ok(false);
        }
        self.ledger.read(|connection| connection.prepare_cached("SELECT 1 FROM doubt WHERE path = ?")?.exists([path]))
    }

    /// Any file of which that is so.
    pub(super) fn doubted(&self) -> Outcome<Option<Vec<u8>>> {
        let any = "SELECT path FROM doubt LIMIT 1";
        self.ledger.read(|connection| connection.prepare_cached(any)?.query_row([], |row| row.get(0)).optional())
    }

    /// It came again, or is gone.
    pub(super) fn trust(&self, path: &[u8]) -> Outcome<()> {
        let delete = "DELETE FROM doubt WHERE path = ?";
        self.ledger.write(|connection| connection.prepare_cached(delete)?.execute([path]))
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

    /// Records that have files, after the one given, in order of their identifiers; at most `limit`.
    pub(super) fn identifiers(&self, after: &str, limit: usize) -> Outcome<Vec<String>> {
        let sql = "SELECT identifier FROM file WHERE identifier > ?1
            UNION SELECT identifier FROM share WHERE identifier > ?1 ORDER BY identifier LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.ledger.read(|connection| {
            connection.prepare_cached(sql)?.query_map(params![after, limit], |row| row.get(0))?.collect()
        })
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

    /// This record has the bytes of a file that is another's.
    pub(super) fn share(&self, share: &Share) -> Outcome<()> {
        self.has_shares.set(true);
        let Share { path, identifier, url, digest } = share;
        let sql = "INSERT OR REPLACE INTO share (path, identifier, url, digest) VALUES (?, ?, ?, ?)";
        let row = params![path, identifier, url, digest];
        self.ledger.write(|connection| connection.prepare_cached(sql)?.execute(row))
    }

    /// It has them no more, or has the file.
    pub(super) fn unshare(&self, path: &[u8], identifier: &str) -> Outcome<()> {
        if !self.has_shares.get() {
            return Ok(());
        }
        let sql = "DELETE FROM share WHERE path = ? AND identifier = ?";
        self.ledger.write(|connection| connection.prepare_cached(sql)?.execute(params![path, identifier]))
    }

    /// What a record has of others.
    pub(super) fn shares_of(&self, identifier: &str) -> Outcome<Vec<Share>> {
        if !self.has_shares.get() {
            return Ok(Vec::new());
        }
        let sql = "SELECT path, identifier, url, digest FROM share WHERE identifier = ?";
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_map([identifier], share)?.collect())
    }

    /// Any other record that has these bytes of a file.
    pub(super) fn heir(&self, path: &[u8], digest: &[u8]) -> Outcome<Option<Share>> {
        if !self.has_shares.get() {
            return Ok(None);
        }
        let sql = "SELECT path, identifier, url, digest FROM share WHERE path = ? AND digest = ? LIMIT 1";
        let row = params![path, digest];
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_row(row, share).optional())
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

fn share(row: &Row<'_>) -> rusqlite::Result<Share> {
    Ok(Share { path: row.get(0)?, identifier: row.get(1)?, url: row.get(2)?, digest: row.get(3)? })
}

/// How a file system that does not tell cases apart may see a path.
fn folded(path: &[u8]) -> String {
    String::from_utf8_lossy(path).to_lowercase()
}
