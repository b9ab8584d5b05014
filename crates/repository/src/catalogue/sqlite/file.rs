//! The database file: its path, opening and migration, its lock, and its errors.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use modoai_state::{DatabaseError, Files, Journal, Layout, Lock};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, FileControl, MAIN_DB, OpenFlags};

use crate::catalogue::{Access, CatalogueError, Location, Presence};

/// The name of the file in a directory.
pub(in crate::catalogue) const DEFAULT_NAME: &str = "catalogue.sqlite";

/// The tables. The application ID in the file header is "moai".
const LAYOUT: Layout = Layout {
    application_id: 0x6d6f_6169,
    migrations: &[
        include_str!("001-catalogue.sql"),
        include_str!("002-publicity.sql"),
        include_str!("003-stored.sql"),
        include_str!("004-descriptions.sql"),
        include_str!("005-archive.sql"),
        include_str!("006-stamps.sql"),
        include_str!("007-audiences.sql"),
        include_str!("008-files.sql"),
        concat!(include_str!("009-kind.sql"), "UPDATE standing SET kind = (", include_str!("infer-kind.sql"), ");"),
        include_str!("010-import-state.sql"),
    ],
    journal: Journal::Wal,
    // The settings depend on the role of the connection.
    settings: "",
    patience: PATIENCE,
    files: Files::Shared,
};

/// The oldest version that is read without a migration, so that a catalogue can be served before a writer migrates it.
const READABLE: usize = 7;

/// The query for the kind of a catalogue that does not store it.
pub(super) const INFER_KIND: &str = include_str!("infer-kind.sql");

/// The maximum time that a writer, or a process that creates the file, waits for a lock. No process holds the lock
/// longer than one batch.
const PATIENCE: Duration = Duration::from_secs(10);

/// The maximum time to wait before storing facts. It is short, because facts can be computed again.
const LEARNER_PATIENCE: Duration = Duration::from_millis(250);

/// The maximum length of the write-ahead log. Above it, the log is emptied even if the writer must wait for readers.
const LONG_LOG: u64 = 256 << 20;

/// Every SQLite database begins with this.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Checks the path of a catalogue. A file that cannot be read may be a catalogue.
pub(in crate::catalogue) fn check_file(path: &Path) -> Presence {
    let is_database = || {
        let mut start = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
        read.is_err() || start == MAGIC
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() > 0 && !is_database() => {
            Presence::Other("not a catalogue: create one with `modoai import`")
        }
        Ok(metadata) if metadata.is_file() || metadata.is_dir() => Presence::Possible,
        Ok(_) => Presence::Other("neither a file nor a directory"),
        Err(error) => Presence::Missing(error),
    }
}

/// The role of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Answers requests. Each thread can have one, so each must use little memory.
    Reader,
    /// Stores facts.
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
    access: Access,
}

impl DatabaseFile {
    /// Returns the file at a path: the path itself, or [`DEFAULT_NAME`] below it.
    pub(super) fn at(path: &Path, access: Access) -> Self {
        Self { path: Location::at(path).file(), access }
    }

    /// Returns the device and inode of the file, if it exists.
    pub(super) fn identity(&self) -> Option<(u64, u64)> {
        fs::metadata(&self.path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
    }

    /// Creates the file, or migrates one that is too old to be read, and rejects one of another kind. Other old files
    /// are migrated by the next writer.
    pub(super) fn prepare(&self) -> Result<(), CatalogueError> {
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory).map_err(self.failing_io("create the directory"))?;
        }
        let mut connection = self.open(OpenFlags::SQLITE_OPEN_CREATE).map_err(self.failing("open"))?;
        connection.busy_timeout(PATIENCE).map_err(self.failing("open"))?;
        let version = self.version(&connection)?;
        if version >= READABLE {
            return Ok(());
        }
        let _lock = if version > 0 { Some(self.lock()?) } else { None };
        let failing = self.failing("create the tables");
        // With 8 KB pages, filling is a quarter faster and the file an eighth smaller than with 4 KB; larger pages make
        // small changes expensive.
        connection.pragma_update(None, "page_size", 8192).map_err(&failing)?;
        LAYOUT.use_log(&connection).map_err(&failing)?;
        self.migrate(&mut connection)
    }

    /// Migrates the tables to the newest version. The caller holds the lock, unless the file is new.
    pub(super) fn migrate(&self, connection: &mut Connection) -> Result<(), CatalogueError> {
        if self.version(connection)? == LAYOUT.migrations.len() {
            return Ok(());
        }
        LAYOUT.migrate(connection, &self.path).map_err(|error| self.failed(error))
    }

    /// Checks that the file exists and can be read, without changing anything.
    pub(super) fn expect(&self) -> Result<(), CatalogueError> {
        // The operating system's error message is clearer than that of SQLite.
        File::open(&self.path).map_err(self.failing_io("open the file"))?;
        let connection = self.open(OpenFlags::empty()).map_err(self.failing("open"))?;
        if let Err(error) = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            && matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
        {
            let files = "its -wal and -shm files do not exist or are not readable, and this user cannot create them";
            return Err(self.failing_io("open the log")(io::Error::new(io::ErrorKind::PermissionDenied, files)));
        }
        match self.version(&connection)? {
            0 => Err(self.not_ready("it is empty".to_owned())),
            version if version < READABLE => Err(self.not_ready(format!(
                "it has version {version}, but version {READABLE} is required; upgrade it with `modoai import` or \
                    `modoai serve`"
            ))),
            _ => Ok(()),
        }
    }

    /// Opens a connection and configures it for its role.
    pub(super) fn connect(&self, role: Role) -> rusqlite::Result<Connection> {
        let connection = self.open(OpenFlags::empty())?;
        // With a memory map, an I/O error would be a signal and end the process, which may be httpd.
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
                // The setting is stored in the file, except in a copy created by `VACUUM INTO`.
                connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
                connection.set_prepared_statement_cache_capacity(64);
                connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
                // A batch with records of any size uses all of it: the rest is written to the log early.
                connection.pragma_update(None, "cache_size", -8 * 1024)?;
            }
        }
        Ok(connection)
    }

    /// Acquires the lock of the only writer and holds it until the handle is dropped. The kernel releases the lock of a
    /// process that dies.
    pub(super) fn lock(&self) -> Result<Lock, CatalogueError> {
        if self.access == Access::Read {
            return Err(self.failing_io("write")(io::Error::new(
                io::ErrorKind::ReadOnlyFilesystem,
                "it is opened read-only",
            )));
        }
        let path = self.beside("-lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(self.failing_io("open the lock file"))?;
        Lock::take(file, &path).map_err(|error| match error {
            DatabaseError::Busy { .. } => CatalogueError::Locked { place: self.place() },
            error => self.failed(error),
        })
    }

    /// Empties a log that has become long because the catalogue was always being read. Reads are short, so this is
    /// rare.
    pub(super) fn tend_log(&self, writer: &Connection) {
        if fs::metadata(self.beside("-wal")).is_ok_and(|log| log.len() > LONG_LOG) {
            let emptied = writer.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()));
            emptied.unwrap_or_else(|error| tracing::debug!(%error, "the log stays long"));
        }
    }

    /// Converts an error of SQLite.
    pub(super) fn failing(&self, activity: &'static str) -> impl Fn(rusqlite::Error) -> CatalogueError + '_ {
        move |error| match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => self.foreign(error.to_string()),
            _ => CatalogueError::Engine { place: self.place(), activity, source: error.into() },
        }
    }

    fn failing_io(&self, activity: &'static str) -> impl Fn(io::Error) -> CatalogueError + '_ {
        move |error| CatalogueError::Engine { place: self.place(), activity, source: error.into() }
    }

    /// Converts an error of the state database into that of a catalogue.
    fn failed(&self, error: DatabaseError) -> CatalogueError {
        let place = self.place();
        match error {
            DatabaseError::Newer { found, supported, .. } => {
                self.foreign(format!("it has version {found}, but the newest supported version is {supported}"))
            }
            DatabaseError::Foreign { .. } => self.foreign("it is a database of another program".to_owned()),
            DatabaseError::Damaged { source, .. } => self.foreign(source.to_string()),
            DatabaseError::Io { activity, source, .. } => {
                CatalogueError::Engine { place, activity, source: source.into() }
            }
            DatabaseError::Engine { activity, source, .. } => {
                CatalogueError::Engine { place, activity, source: source.into() }
            }
            error @ DatabaseError::Busy { .. } => {
                CatalogueError::Engine { place, activity: "wait for another process", source: error.into() }
            }
        }
    }

    fn foreign(&self, reason: String) -> CatalogueError {
        CatalogueError::Foreign { place: self.place(), reason }
    }

    fn not_ready(&self, reason: String) -> CatalogueError {
        CatalogueError::NotReady { place: self.place(), reason }
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the path of a file next to the database, whose name begins with that of the database.
    pub(super) fn beside(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    fn open(&self, flags: OpenFlags) -> rusqlite::Result<Connection> {
        // SQLite itself falls back to reading when the file may not be written. No mutex: two threads never use a
        // connection concurrently.
        let rights = match self.access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let flags = flags | rights | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        // Without a log file, a reader that may not write to the directory could not read. The last process that closes
        // the database keeps it.
        connection.file_control(Some(MAIN_DB), FileControl::PersistWal(&mut 1))?;
        Ok(connection)
    }

    /// Returns the number of migrations applied to the file; 0 for an empty file.
    fn version(&self, connection: &Connection) -> Result<usize, CatalogueError> {
        LAYOUT.version(connection, &self.path).map_err(|error| self.failed(error))
    }
}
