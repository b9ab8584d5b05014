//! The database file: where it is, opening and upgrading it, its lock, and what its errors mean.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, FileControl, MAIN_DB, OpenFlags, TransactionBehavior};
use rustix::fs::FlockOperation;

use crate::catalogue::CatalogueError;

/// The file's name when only a directory was given.
const DEFAULT_NAME: &str = "catalogue.sqlite";

/// Marks the file as ours in the SQLite header: "moai".
const APPLICATION_ID: i32 = 0x6d6f_6169;

/// Migration n leads to `user_version` n + 1. Only ever add to this list.
const MIGRATIONS: &[&str] = &[
    include_str!("001-catalogue.sql"),
    include_str!("002-publicity.sql"),
    include_str!("003-stored.sql"),
    include_str!("004-descriptions.sql"),
    include_str!("005-archive.sql"),
    include_str!("006-stamps.sql"),
    include_str!("007-audiences.sql"),
    include_str!("008-files.sql"),
];

/// How long a writer, or whoever creates the file, waits for others. Nobody holds the database longer than one batch.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long remembering a fact may wait: facts can be found out again.
const LEARNER_PATIENCE: Duration = Duration::from_millis(250);

/// A write-ahead log longer than this is emptied even if readers have to be waited for.
const LONG_LOG: u64 = 256 << 20;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Answers requests; there are as many as there are threads, so each must be small.
    Reader,
    /// Remembers facts.
    Learner,
    /// Records audiences.
    Recorder,
    /// Applies changes.
    Writer,
}

/// A catalogue's file.
#[derive(Clone, Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// Nothing is ever written to it, whatever the rights of this process are.
    only_read: bool,
}

/// An exclusive lock. Dropping it unlocks the file, also while a child process that has just been forked still holds a copy
/// of the descriptor.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // It would also end with the last copy of the descriptor.
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
    }
}

impl DatabaseFile {
    /// The file at a path: the path itself, or [`DEFAULT_NAME`] below it. A path that does not exist yet means a
    /// directory unless it has an extension.
    pub(super) fn at(path: &Path) -> Self {
        let is_directory = path.is_dir() || (!path.exists() && path.extension().is_none());
        let path = if is_directory { path.join(DEFAULT_NAME) } else { path.to_owned() };
        Self { path, only_read: false }
    }

    /// The same file, never to be written by this process.
    pub(super) fn only_read(self) -> Self {
        Self { only_read: true, ..self }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates or upgrades the file where needed, and refuses one that is not ours.
    pub(super) fn prepare(&self) -> Result<(), CatalogueError> {
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory).map_err(self.failing_io("create the directory"))?;
        }
        let create = self.open(OpenFlags::SQLITE_OPEN_CREATE).map_err(self.failing("open"))?;
        create.busy_timeout(PATIENCE).map_err(self.failing("open"))?;
        if self.version(&create)? < MIGRATIONS.len() {
            self.upgrade(create)?;
        }
        Ok(())
    }

    /// Makes sure that the file is there and of this version, and changes nothing.
    pub(super) fn expect(&self) -> Result<(), CatalogueError> {
        // The system's own word for what is wrong is clearer than SQLite's.
        File::open(&self.path).map_err(self.failing_io("open the file"))?;
        let connection = self.open(OpenFlags::empty()).map_err(self.failing("open"))?;
        if let Err(error) = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            && matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
        {
            let files = "its -wal and -shm files do not exist or are not readable, and this user cannot create them";
            return Err(self.failing_io("open the log")(io::Error::new(io::ErrorKind::PermissionDenied, files)));
        }
        match self.version(&connection)? {
            0 => Err(self.foreign("it is empty".to_owned())),
            version if version < MIGRATIONS.len() => Err(self.foreign(format!(
                "it has version {version}, but version {} is required; upgrade it with `modoai import` or \
                    `modoai serve`",
                MIGRATIONS.len()
            ))),
            _ => Ok(()),
        }
    }

    /// A new connection, set up for its role.
    pub(super) fn connect(&self, role: Role) -> rusqlite::Result<Connection> {
        let connection = self.open(OpenFlags::empty())?;
        // An I/O error under a memory map would be a signal and end the process, which may be httpd.
        connection.pragma_update(None, "mmap_size", 0)?;
        connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        match role {
            Role::Reader => {
                connection.busy_timeout(PATIENCE)?;
                connection.pragma_update(None, "query_only", true)?;
                connection.pragma_update(None, "cache_size", -8 * 1024)?;
            }
            Role::Learner => {
                connection.busy_timeout(LEARNER_PATIENCE)?;
                connection.pragma_update(None, "synchronous", "NORMAL")?;
                connection.pragma_update(None, "cache_size", -1024)?;
            }
            Role::Recorder => {
                connection.busy_timeout(PATIENCE)?;
                connection.pragma_update(None, "synchronous", "FULL")?;
                connection.pragma_update(None, "cache_size", -1024)?;
            }
            Role::Writer => {
                connection.busy_timeout(PATIENCE)?;
                // It lasts, but a copy made by `VACUUM INTO` comes without it.
                connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
                connection.set_prepared_statement_cache_capacity(64);
                connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
                // All of it is used where a batch holds records of any size: what does not fit goes to the log early.
                connection.pragma_update(None, "cache_size", -8 * 1024)?;
            }
        }
        Ok(connection)
    }

    /// Becomes the only writer for as long as the handle lives. The kernel frees the lock of a process that dies.
    pub(super) fn lock(&self) -> Result<Lock, CatalogueError> {
        if self.only_read {
            return Err(self.failing_io("write")(io::Error::new(
                io::ErrorKind::ReadOnlyFilesystem,
                "it is opened read-only",
            )));
        }
        let file = File::options().create(true).truncate(false).write(true).open(self.beside("-lock"));
        let file = file.map_err(self.failing_io("open the lock file"))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(CatalogueError::Locked { place: self.place() }),
            Err(errno) => Err(self.failing_io("lock")(errno.into())),
        }
    }

    /// Empties a log that has become long because there was always someone reading. Short reads make that rare.
    pub(super) fn tend_log(&self, writer: &Connection) {
        if fs::metadata(self.beside("-wal")).is_ok_and(|log| log.len() > LONG_LOG) {
            let emptied = writer.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()));
            emptied.unwrap_or_else(|error| tracing::debug!(%error, "the log stays long"));
        }
    }

    /// Turns an engine's error into ours.
    pub(super) fn failing(&self, activity: &'static str) -> impl Fn(rusqlite::Error) -> CatalogueError + '_ {
        move |error| match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => self.foreign(error.to_string()),
            _ => CatalogueError::Engine { place: self.place(), activity, source: error.into() },
        }
    }

    fn failing_io(&self, activity: &'static str) -> impl Fn(io::Error) -> CatalogueError + '_ {
        move |error| CatalogueError::Engine { place: self.place(), activity, source: error.into() }
    }

    fn foreign(&self, reason: String) -> CatalogueError {
        CatalogueError::Foreign { place: self.place(), reason }
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// A path beside the database, named after it.
    pub(super) fn beside(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    fn open(&self, flags: OpenFlags) -> rusqlite::Result<Connection> {
        // SQLite itself falls back to reading when the file may not be written. No mutex: a connection is never used by
        // two threads at once.
        let rights = if self.only_read { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
        let flags = flags | rights | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        // Without a log file a reader that may not write to the directory could not read. Whoever closes last keeps it.
        connection.file_control(Some(MAIN_DB), FileControl::PersistWal(&mut 1))?;
        Ok(connection)
    }

    /// How many migrations the file has seen; 0 for an empty file.
    fn version(&self, connection: &Connection) -> Result<usize, CatalogueError> {
        let facts = "SELECT (SELECT application_id FROM pragma_application_id),
                            (SELECT user_version FROM pragma_user_version),
                            (SELECT count(*) FROM sqlite_schema)";
        let read = connection
            .query_row(facts, [], |row| Ok((row.get::<_, i32>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)));
        match read.map_err(self.failing("read the version"))? {
            (0, 0, 0) => Ok(0),
            (APPLICATION_ID, version, _) => match usize::try_from(version) {
                Ok(version) if version <= MIGRATIONS.len() => Ok(version),
                _ => Err(self.foreign(format!(
                    "it has version {version}, but the newest supported version is {}",
                    MIGRATIONS.len()
                ))),
            },
            _ => Err(self.foreign("it is a database of another program".to_owned())),
        }
    }

    fn upgrade(&self, mut connection: Connection) -> Result<(), CatalogueError> {
        let failing = self.failing("create the tables");
        // 8 KB: a quarter faster to fill and an eighth smaller than 4 KB; larger pages make small changes dear.
        connection.pragma_update(None, "page_size", 8192).map_err(&failing)?;
        // SQLite does not wait for others here: two processes may be creating the same catalogue.
        let mut attempts = 0;
        while let Err(error) = connection.pragma_update(None, "journal_mode", "WAL") {
            attempts += 1;
            if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) || attempts > 1000 {
                return Err(failing(error));
            }
            std::thread::sleep(PATIENCE / 1000);
        }
        let create = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failing)?;
        for migration in &MIGRATIONS[self.version(&create)?..] {
            create.execute_batch(migration).map_err(&failing)?;
        }
        create.pragma_update(None, "application_id", APPLICATION_ID).map_err(&failing)?;
        create.pragma_update(None, "user_version", MIGRATIONS.len() as i64).map_err(&failing)?;
        create.commit().map_err(&failing)
    }
}
