//! A kind of state database, and opening a file of this kind: rights, settings, version, migrations.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::DatabaseError;

/// A kind of database.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Number in the header of files of this kind; 0 for kinds that were introduced without one.
    pub application_id: i32,
    /// Migration n results in version n + 1; the first creates the tables. Only ever add to this list.
    pub migrations: &'static [&'static str],
    /// The kind of journal.
    pub journal: Journal,
    /// Settings of each connection, as SQL.
    pub settings: &'static str,
    /// Time to wait for other connections.
    pub patience: Duration,
    /// The rights of the file, and whether it may be a link.
    pub files: Files,
}

/// The kind of journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journal {
    /// A write-ahead log. A commit is one write, and readers do not wait for writers.
    Wal,
    /// A rollback journal: one file when nothing is written, so that it can be deleted at any time.
    Rollback,
}

/// The rights of a new file, and whether its path may contain links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// With the usual rights of this process.
    Shared,
    /// Only its owner may read it.
    Private,
    /// The same, and a symbolic link in its place is an error.
    PrivateNotLinked,
    /// The same, and no symbolic link may be in its path at all.
    PrivateWithoutLinks,
}

impl Layout {
    /// Opens a database, and creates or migrates it. Also returns the version that it had; 0 for a new one.
    pub fn open(&self, path: &Path) -> Result<(Connection, usize), DatabaseError> {
        if self.files != Files::Shared {
            private_file(path, self.files != Files::Private).map_err(DatabaseError::io("create", path))?;
        }
        let links = match self.files {
            Files::PrivateWithoutLinks => OpenFlags::SQLITE_OPEN_NOFOLLOW,
            _ => OpenFlags::empty(),
        };
        let rights = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags(path, rights | links | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        self.prepare(connection, path)
    }

    /// Creates a database on disk that is deleted when it is closed. The path is used in messages.
    pub fn temporary(&self, path: &Path) -> Result<Connection, DatabaseError> {
        Ok(self.prepare(Connection::open(""), path)?.0)
    }

    /// Creates a database in memory. The path is used in messages.
    pub fn in_memory(&self, path: &Path) -> Result<Connection, DatabaseError> {
        Ok(self.prepare(Connection::open_in_memory(), path)?.0)
    }

    fn prepare(
        &self,
        connection: rusqlite::Result<Connection>,
        path: &Path,
    ) -> Result<(Connection, usize), DatabaseError> {
        let mut connection = connection.map_err(DatabaseError::of("open", path))?;
        connection.busy_timeout(self.patience).map_err(DatabaseError::of("open", path))?;
        // Settings are applied first, because some take effect only before the first access. They change nothing in the
        // file.
        connection.execute_batch(self.settings).map_err(DatabaseError::of("open", path))?;
        // Checked before anything is changed: it may be a file of another program.
        let version = self.version(&connection, path)?;
        if self.journal == Journal::Wal {
            self.use_log(&connection).map_err(DatabaseError::of("open", path))?;
        }
        if version < self.migrations.len() {
            self.migrate(&mut connection, path)?;
        }
        Ok((connection, version))
    }

    /// Switches to a write-ahead log, which is stored in the file. SQLite does not wait for other connections here.
    pub fn use_log(&self, connection: &Connection) -> rusqlite::Result<()> {
        let since = Instant::now();
        loop {
            match connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())) {
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                        && since.elapsed() < self.patience =>
                {
                    std::thread::sleep(self.patience / 1000);
                }
                changed => return changed,
            }
        }
    }

    /// Returns the number of migrations applied to a database; 0 for an empty file.
    pub fn version(&self, connection: &Connection, path: &Path) -> Result<usize, DatabaseError> {
        let facts = "SELECT (SELECT application_id FROM pragma_application_id),
                            (SELECT user_version FROM pragma_user_version),
                            (SELECT count(*) FROM sqlite_schema)";
        let read = connection
            .query_row(facts, [], |row| Ok((row.get::<_, i32>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)));
        let (application, version, tables) = read.map_err(DatabaseError::of("read the version of", path))?;
        let foreign = || DatabaseError::Foreign { path: path.to_path_buf() };
        match usize::try_from(version).map_err(|_| foreign())? {
            0 if tables == 0 && application == 0 => Ok(0),
            0 => Err(foreign()),
            _ if application != self.application_id => Err(foreign()),
            version if version <= self.migrations.len() => Ok(version),
            found => Err(DatabaseError::Newer {
                path: path.to_path_buf(),
                found: found as i64,
                supported: self.migrations.len(),
            }),
        }
    }

    /// Migrates a database to the newest version, in one transaction. Another process may do the same at the same time.
    pub fn migrate(&self, connection: &mut Connection, path: &Path) -> Result<(), DatabaseError> {
        let failed = || DatabaseError::of("create the tables of", path);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed())?;
        for migration in &self.migrations[self.version(&transaction, path)?..] {
            transaction.execute_batch(migration).map_err(failed())?;
        }
        transaction.pragma_update(None, "application_id", self.application_id).map_err(failed())?;
        transaction.pragma_update(None, "user_version", self.migrations.len() as i64).map_err(failed())?;
        transaction.commit().map_err(failed())
    }
}

/// Opens a file that only its owner may read, and creates it if it is missing; SQLite gives its log the same rights. If it
/// must not be a link, a symbolic link in its place is an error.
pub fn private_file(path: &Path, not_linked: bool) -> io::Result<File> {
    let flags = if not_linked { rustix::fs::OFlags::NOFOLLOW.bits().cast_signed() } else { 0 };
    File::options().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::Lock;

    const FIRST: &str = "CREATE TABLE a (x)";
    const LAYOUT: Layout = Layout {
        application_id: 7,
        migrations: &[FIRST],
        journal: Journal::Wal,
        settings: "PRAGMA cache_size = -1024",
        patience: Duration::from_millis(50),
        files: Files::PrivateNotLinked,
    };
    const NEXT: Layout =
        Layout { migrations: &[FIRST, "ALTER TABLE a ADD COLUMN y; INSERT INTO a VALUES (1, 2)"], ..LAYOUT };

    #[test]
    fn older_database_is_migrated_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sqlite");
        assert_eq!(LAYOUT.open(&path).expect("created").1, 0);
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
        assert_eq!(LAYOUT.open(&path).expect("opened").1, 1);
        assert_eq!(NEXT.open(&path).expect("migrated").1, 1);
        let (connection, version) = NEXT.open(&path).expect("opened");
        let rows: i64 = connection.query_row("SELECT count(*) FROM a", [], |row| row.get(0)).expect("a count");
        assert_eq!((version, rows), (2, 1));
        drop(connection);
        let error = LAYOUT.open(&path).expect_err("it is newer");
        assert!(matches!(error, DatabaseError::Newer { found: 2, supported: 1, .. }), "{error:?}");
    }

    #[test]
    fn file_of_another_program_is_refused_and_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = folder.path().join("text");
        fs::write(&text, "a letter, and not a database\n".repeat(100)).expect("written");
        let error = LAYOUT.open(&text).expect_err("not a database");
        assert!(matches!(error, DatabaseError::Damaged { .. }) && error.is_damage(), "{error:?}");
        let other = folder.path().join("other.sqlite");
        Connection::open(&other).and_then(|db| db.execute_batch("CREATE TABLE b (z)")).expect("a database");
        let bytes = fs::read(&other).expect("readable");
        assert!(matches!(LAYOUT.open(&other), Err(DatabaseError::Foreign { .. })));
        assert_eq!(fs::read(&other).expect("readable"), bytes);
        let link = folder.path().join("link.sqlite");
        symlink(folder.path().join("elsewhere"), &link).expect("a link");
        assert!(matches!(LAYOUT.open(&link), Err(DatabaseError::Io { .. })));
        assert!(!folder.path().join("elsewhere").exists());
        assert!(
            Layout { files: Files::Private, ..LAYOUT }.open(&link).is_ok(),
            "links are allowed where they are wanted"
        );
    }

    #[test]
    fn database_in_use_is_busy_and_not_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sqlite");
        let rollback = Layout { journal: Journal::Rollback, ..LAYOUT };
        let (connection, _) = rollback.open(&path).expect("created");
        connection.execute_batch("BEGIN EXCLUSIVE").expect("locked");
        let error = rollback.open(&path).expect_err("another connection has it");
        assert!(matches!(error, DatabaseError::Busy { .. }), "{error:?}");
        let lock = || Lock::take(private_file(&folder.path().join("lock"), true).expect("a file"), &path);
        let held = lock().expect("nobody else has it");
        assert!(matches!(lock(), Err(DatabaseError::Busy { .. })));
        drop(held);
        lock().expect("free again");
        assert_eq!(rollback.temporary(&path).expect("created").path(), Some(""));
    }
}
