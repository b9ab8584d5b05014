//! What a sink remembers beside what it writes: a SQLite file in the folder that is ours.
//!
//! Changes are gathered in a transaction that ends with the page, so a page is remembered whole or not at all.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};

use super::SinkError;
use crate::state::private_file;

/// What every ledger has beside its own tables: facts of which there is one each.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    PRAGMA user_version = 1;";

pub(super) type Outcome<T> = Result<T, SinkError>;

/// A file that is open.
pub(super) struct Ledger {
    connection: Connection,
    path: PathBuf,
}

impl Ledger {
    /// Opened, or made with these tables; tells whether it was made. The folder's path must not have links in it.
    pub(super) fn open(folder: &Path, name: &str, tables: &str) -> Outcome<(Self, bool)> {
        let path = folder.join(name);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        // If this fails, SQLite fails, too, and says why.
        let _ = private_file(&path);
        let open = || -> rusqlite::Result<(Connection, bool)> {
            let connection = Connection::open_with_flags(&path, flags)?;
            let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            // What is lost with the machine is written again; a sink that promises more syncs by itself.
            connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
            connection.execute_batch(tables)?;
            connection.execute_batch(SCHEMA)?;
            Ok((connection, version == 0))
        };
        match open() {
            Ok((connection, is_new)) => Ok((Self { connection, path }, is_new)),
            Err(error) => Err(failing("open", &path)(error)),
        }
    }

    /// What follows is forgotten unless it is committed.
    pub(super) fn begin(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { self.run("BEGIN IMMEDIATE") } else { Ok(()) }
    }

    pub(super) fn commit(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { Ok(()) } else { self.run("COMMIT") }
    }

    pub(super) fn roll_back(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { Ok(()) } else { self.run("ROLLBACK") }
    }

    /// A fact, if it is known.
    pub(super) fn fact(&self, name: &str) -> Outcome<Option<String>> {
        self.read(|connection| {
            let mut ask = connection.prepare_cached("SELECT value FROM fact WHERE name = ?")?;
            ask.query_row([name], |row| row.get(0)).optional()
        })
    }

    pub(super) fn set_fact(&self, name: &str, value: &str) -> Outcome<()> {
        self.write(|connection| {
            let mut put = connection.prepare_cached("INSERT OR REPLACE INTO fact VALUES (?, ?)")?;
            put.execute([name, value])
        })
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Outcome<T> {
        read(&self.connection).map_err(failing("read", &self.path))
    }

    /// Changes rows; how many does not matter.
    pub(super) fn write(&self, write: impl FnOnce(&Connection) -> rusqlite::Result<usize>) -> Outcome<()> {
        write(&self.connection).map(drop).map_err(failing("write", &self.path))
    }

    fn run(&self, sql: &str) -> Outcome<()> {
        self.connection.execute_batch(sql).map_err(failing("write", &self.path))
    }
}

/// For `map_err`: a file that is no database any more is damaged; a full disk or a file that someone else has locked is
/// not, and to say so would make people delete what is good.
pub(super) fn failing(activity: &'static str, path: &Path) -> impl FnOnce(rusqlite::Error) -> SinkError {
    let path = path.to_path_buf();
    move |error| {
        if is_damage(&error) {
            return SinkError::Damaged { path, reason: error.to_string() };
        }
        SinkError::Io { activity, path, source: io::Error::other(error) }
    }
}

/// Whether an error says that the file is not what it was.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "CREATE TABLE IF NOT EXISTS thing (name TEXT PRIMARY KEY) WITHOUT ROWID;";

    #[test]
    fn what_is_committed_stays_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("a path without links");
        let (ledger, is_new) = Ledger::open(&path, "a.sqlite", TABLES).expect("made");
        assert!(is_new);
        ledger.begin().expect("begun");
        ledger.begin().expect("begun already");
        ledger.set_fact("end", "1").expect("set");
        ledger.commit().expect("committed");
        ledger.begin().expect("begun");
        ledger.set_fact("end", "2").expect("set");
        ledger.write(|connection| connection.execute("INSERT INTO thing VALUES ('a')", [])).expect("written");
        ledger.roll_back().expect("rolled back");
        ledger.commit().expect("nothing to commit");
        drop(ledger);
        let (ledger, is_new) = Ledger::open(&path, "a.sqlite", TABLES).expect("opened");
        assert!(!is_new);
        assert_eq!(ledger.fact("end").expect("read").as_deref(), Some("1"));
        assert_eq!(ledger.fact("beginning").expect("read"), None);
    }

    #[test]
    fn only_what_is_no_database_is_called_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("a path without links");
        std::fs::write(path.join("a.sqlite"), "this is a letter to someone, and no database at all\n".repeat(100))
            .expect("written");
        assert!(matches!(Ledger::open(&path, "a.sqlite", TABLES), Err(SinkError::Damaged { .. })));
        assert!(matches!(Ledger::open(&path.join("missing"), "a.sqlite", TABLES), Err(SinkError::Io { .. })));
        std::os::unix::fs::symlink("elsewhere", path.join("b.sqlite")).expect("a link");
        assert!(matches!(Ledger::open(&path, "b.sqlite", TABLES), Err(SinkError::Io { .. })));
    }
}
