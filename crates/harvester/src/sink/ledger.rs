//! Stores the data that a sink needs in addition to its output: a SQLite file in modoai's folder.
//!
//! Changes are gathered in a transaction that ends with the page, so the changes of a page are stored completely or not
//! at all.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use modoai_state::{DatabaseError, Files, Journal, Layout};
use rusqlite::{Connection, OptionalExtension as _};

use super::SinkError;

/// The table that every ledger has in addition to its own: facts by name.
macro_rules! with_facts {
    ($tables:literal) => {
        concat!($tables, " CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;")
    };
}
pub(super) use with_facts;

pub(super) type Outcome<T> = Result<T, SinkError>;

/// A file that is open.
pub(super) struct Ledger {
    connection: Connection,
    path: PathBuf,
}

impl Ledger {
    /// Opens the ledger, or creates it with these migrations. Returns true if it was created. The folder's path must
    /// not contain symbolic links.
    pub(super) fn open(folder: &Path, name: &str, migrations: &'static [&'static str]) -> Outcome<(Self, bool)> {
        let layout = Layout {
            application_id: 0,
            migrations,
            journal: Journal::Wal,
            // Changes that are lost if the machine stops are written again; a sink with stricter guarantees syncs
            // separately.
            settings: "PRAGMA synchronous = NORMAL;",
            patience: Duration::from_secs(5),
            files: Files::PrivateWithoutLinks,
        };
        let path = folder.join(name);
        let (connection, version) = layout.open(&path)?;
        Ok((Self { connection, path }, version == 0))
    }

    /// Begins a transaction: later changes are lost unless they are committed.
    pub(super) fn begin(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { self.run("BEGIN IMMEDIATE") } else { Ok(()) }
    }

    pub(super) fn commit(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { Ok(()) } else { self.run("COMMIT") }
    }

    pub(super) fn roll_back(&self) -> Outcome<()> {
        if self.connection.is_autocommit() { Ok(()) } else { self.run("ROLLBACK") }
    }

    /// Returns a fact, if it is stored.
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

/// For `map_err`: what an error of SQLite means.
pub(super) fn failing(activity: &'static str, path: &Path) -> impl FnOnce(rusqlite::Error) -> SinkError {
    let path = path.to_path_buf();
    move |error| DatabaseError::of(activity, &path)(error).into()
}

impl From<DatabaseError> for SinkError {
    fn from(error: DatabaseError) -> Self {
        let reason = error.to_string();
        match error {
            DatabaseError::Damaged { path, source } => Self::Damaged { path, reason: source.to_string() },
            DatabaseError::Io { activity, path, source } => Self::Io { activity, path, source },
            DatabaseError::Engine { activity, path, source } => {
                Self::Io { activity, path, source: io::Error::other(source) }
            }
            DatabaseError::Busy { path } | DatabaseError::Foreign { path } | DatabaseError::Newer { path, .. } => {
                Self::Io { activity: "open", path, source: io::Error::other(reason) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &[&str] = &[with_facts!("CREATE TABLE thing (name TEXT PRIMARY KEY) WITHOUT ROWID;")];

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
