//! The index of a mirror: the owner of each file, and its properties when it was written.

use std::cell::Cell;
use std::path::Path;

use rusqlite::{OptionalExtension as _, Row, params};

use crate::sink::ledger::{Ledger, Outcome, with_facts};

/// The tables. Files of version 1 may lack those that were added without a new version.
const MIGRATIONS: &[&str] = &[TABLES, TABLES];

const TABLES: &str = with_facts!(
    "
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
    CREATE TABLE IF NOT EXISTS doubt (path BLOB PRIMARY KEY) WITHOUT ROWID;"
);

/// Only on a file system that ignores case are names searched that differ in case only; maintaining an unused index
/// would add one write in three to a first mirror.
const NAMES: [&str; 2] =
    ["DROP INDEX IF EXISTS file_folded", "CREATE INDEX IF NOT EXISTS file_folded ON file (folded)"];

/// A file of the mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The path as returned by [`Path::to_bytes`](super::path::Path::to_bytes).
    pub(super) path: Vec<u8>,
    /// The identifier of the record that contained it.
    pub(super) identifier: String,
    /// The name from which its path was derived.
    pub(super) url: String,
    pub(super) etag: Option<String>,
    pub(super) size: u64,
    /// Its modification time when it was written, in seconds since 1970.
    pub(super) modified: i64,
    /// SHA-256; empty if the present content of the file is unknown.
    pub(super) digest: Vec<u8>,
}

/// `mirror.sqlite`.
pub(super) struct Index {
    ledger: Ledger,
    /// True if any file is marked as unconfirmed. That is rare, and saves one query per file otherwise.
    has_doubts: Cell<bool>,
    /// True if any record shares another's file.
    has_shares: Cell<bool>,
}

/// A record whose bytes are those of another record's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) path: Vec<u8>,
    pub(super) identifier: String,
    pub(super) url: String,
    /// The digest of its bytes.
    pub(super) digest: Vec<u8>,
}

impl Index {
    /// Opens or creates the index; returns true if it was created. The path of the directory must not contain symbolic
    /// links. `folds` is true if the file system treats names that differ in case only as one.
    pub(super) fn open(folder: &Path, folds: bool) -> Outcome<(Self, bool)> {
        let (ledger, is_new) = Ledger::open(folder, "mirror.sqlite", MIGRATIONS)?;
        ledger.write(|connection| connection.execute(NAMES[usize::from(folds)], []))?;
        let any = "SELECT EXISTS (SELECT 1 FROM doubt), EXISTS (SELECT 1 FROM share)";
        let (has_doubts, has_shares) =
            ledger.read(|connection| connection.query_row(any, [], |row| Ok((row.get(0)?, row.get(1)?))))?;
        Ok((Self { ledger, has_doubts: Cell::new(has_doubts), has_shares: Cell::new(has_shares) }, is_new))
    }

    /// Marks all files as unverified: their owners stay, but their bytes may have changed, so each is to be written
    /// again.
    pub(super) fn distrust(&self) -> Outcome<()> {
        self.ledger.write(|connection| connection.execute("UPDATE file SET digest = x'', etag = NULL", []))
    }

    /// Marks one file as unverified.
    pub(super) fn distrust_at(&self, path: &[u8]) -> Outcome<()> {
        let update = "UPDATE file SET digest = x'', etag = NULL WHERE path = ?";
        self.ledger.write(|connection| connection.prepare_cached(update)?.execute([path]))
    }

    /// Marks a file as unconfirmed: its page was rolled back.
    pub(super) fn doubt(&self, path: &[u8]) -> Outcome<()> {
        self.has_doubts.set(true);
        let insert = "INSERT OR IGNORE INTO doubt VALUES (?)";
        self.ledger.write(|connection| connection.prepare_cached(insert)?.execute([path]))
    }

    /// Returns true if a file is unconfirmed.
    pub(super) fn is_doubted(&self, path: &[u8]) -> Outcome<bool> {
        if !self.has_doubts.get() {
            return Ok(false);
        }
        self.ledger.read(|connection| connection.prepare_cached("SELECT 1 FROM doubt WHERE path = ?")?.exists([path]))
    }

    /// Returns one of the unconfirmed files.
    pub(super) fn doubted(&self) -> Outcome<Option<Vec<u8>>> {
        let any = "SELECT path FROM doubt LIMIT 1";
        self.ledger.read(|connection| connection.prepare_cached(any)?.query_row([], |row| row.get(0)).optional())
    }

    /// Confirms a file: it was received again, or was deleted.
    pub(super) fn trust(&self, path: &[u8]) -> Outcome<()> {
        let delete = "DELETE FROM doubt WHERE path = ?";
        self.ledger.write(|connection| connection.prepare_cached(delete)?.execute([path]))
    }

    /// Begins a transaction: changes are lost unless they are committed.
    pub(super) fn begin(&self) -> Outcome<()> {
        self.ledger.begin()
    }

    pub(super) fn commit(&self) -> Outcome<()> {
        self.ledger.commit()
    }

    /// Returns the file at a path.
    pub(super) fn at(&self, path: &[u8]) -> Outcome<Option<Entry>> {
        let sql = "SELECT path, identifier, url, etag, size, modified, digest FROM file WHERE path = ?";
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_row([path], entry).optional())
    }

    /// Returns the files of a record.
    pub(super) fn of(&self, identifier: &str) -> Outcome<Vec<Entry>> {
        let sql = "SELECT path, identifier, url, etag, size, modified, digest FROM file WHERE identifier = ?";
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_map([identifier], entry)?.collect())
    }

    /// Returns identifiers of records that have files, in their order, after the one given; at most `limit`.
    pub(super) fn identifiers(&self, after: &str, limit: usize) -> Outcome<Vec<String>> {
        let sql = "SELECT identifier FROM file WHERE identifier > ?1
            UNION SELECT identifier FROM share WHERE identifier > ?1 ORDER BY identifier LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.ledger.read(|connection| {
            connection.prepare_cached(sql)?.query_map(params![after, limit], |row| row.get(0))?.collect()
        })
    }

    /// Returns another file whose name differs in case only.
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

    /// Stores that this record has the bytes of another record's file.
    pub(super) fn share(&self, share: &Share) -> Outcome<()> {
        self.has_shares.set(true);
        let Share { path, identifier, url, digest } = share;
        let sql = "INSERT OR REPLACE INTO share (path, identifier, url, digest) VALUES (?, ?, ?, ?)";
        let row = params![path, identifier, url, digest];
        self.ledger.write(|connection| connection.prepare_cached(sql)?.execute(row))
    }

    /// Removes a share: the record no longer has these bytes, or now owns the file.
    pub(super) fn unshare(&self, path: &[u8], identifier: &str) -> Outcome<()> {
        if !self.has_shares.get() {
            return Ok(());
        }
        let sql = "DELETE FROM share WHERE path = ? AND identifier = ?";
        self.ledger.write(|connection| connection.prepare_cached(sql)?.execute(params![path, identifier]))
    }

    /// Returns the shares of a record.
    pub(super) fn shares_of(&self, identifier: &str) -> Outcome<Vec<Share>> {
        if !self.has_shares.get() {
            return Ok(Vec::new());
        }
        let sql = "SELECT path, identifier, url, digest FROM share WHERE identifier = ?";
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_map([identifier], share)?.collect())
    }

    /// Returns another record that has these bytes of a file.
    pub(super) fn heir(&self, path: &[u8], digest: &[u8]) -> Outcome<Option<Share>> {
        if !self.has_shares.get() {
            return Ok(None);
        }
        let sql = "SELECT path, identifier, url, digest FROM share WHERE path = ? AND digest = ? LIMIT 1";
        let row = params![path, digest];
        self.ledger.read(|connection| connection.prepare_cached(sql)?.query_row(row, share).optional())
    }

    /// Returns the site that the mirror represents, once it is known.
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

/// Returns a path as a file system that ignores case compares it.
fn folded(path: &[u8]) -> String {
    String::from_utf8_lossy(path).to_lowercase()
}
