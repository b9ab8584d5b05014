//! The table of every URL that was ever tested: one SQLite file, kept between runs.
//!
//! Tests are committed together twice a second, so kill -9 costs half a second of work, and the next run resumes from
//! there. Conditional requests, "since when" and "what is new" are based on this table.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | opening, runs, commits |
//! | `urls` | URLs and their test results; pages |
//! | `history` | findings of earlier runs |
//! | `manners` | robots.txt, hosts on hold, public hosts |
//! | `codec` | the encoding of a page's references |

pub(crate) mod codec;
mod history;
mod manners;
mod urls;

use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use modoai_state::{DatabaseError, Files, Journal, Layout, Lock, private_file};
use rusqlite::{Connection, OptionalExtension as _, params};

pub(crate) use history::Past;
pub(crate) use urls::Test;
pub use urls::Tested;

/// The first bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The tables.
const LAYOUT: Layout = Layout {
    application_id: 0,
    migrations: &[include_str!("001-table.sql"), include_str!("002-public-hosts.sql")],
    journal: Journal::Wal,
    settings: "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192;",
    patience: Duration::from_secs(5),
    files: Files::Private,
};
/// How much work kill -9 may cost.
const COMMIT_EVERY: Duration = Duration::from_millis(500);
/// The number of seconds after which an interrupted run is not resumed: its results are too old then, and conditional
/// requests are cheap.
const RESUMED_WITHIN: i64 = 24 * 3600;

/// The table.
pub struct Table {
    db: Connection,
    path: PathBuf,
    committed: Instant,
    /// Held during a run: two runs at the same time would overwrite each other's results.
    _lock: Option<Lock>,
}

/// A run that was started or resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its number.
    pub number: u32,
    /// The time of its start.
    pub began: Timestamp,
    /// The start of the previous run.
    pub before: Option<Timestamp>,
    /// True if it was interrupted and is resumed.
    pub is_resumed: bool,
    /// True if the last complete run had the same plan, so that the two can be compared.
    pub is_like_the_last: bool,
}

/// The reason why the table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Another run is using it.
    #[error("another run is using {}", path.display())]
    Busy {
        /// The path of the table.
        path: PathBuf,
    },
    /// The content does not fit together.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The path of the table.
        path: PathBuf,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl TableError {
    /// Returns true if the file is damaged, so that only a new one helps.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Database(error) => error.is_damage(),
            Self::Busy { .. } => false,
        }
    }
}

type Result<T> = std::result::Result<T, TableError>;

impl Table {
    /// Opens or creates a table, for one run at a time.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            // It names pages and owners that others need not know.
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(DatabaseError::io("create", folder))?;
        }
        let mut lock_path = path.as_os_str().to_owned();
        lock_path.push(".lock");
        let lock_path = Path::new(&lock_path);
        let lock = private_file(lock_path, false).map_err(DatabaseError::io("create", lock_path))?;
        let lock = Lock::take(lock, lock_path).map_err(|error| match error {
            DatabaseError::Busy { .. } => TableError::Busy { path: path.to_path_buf() },
            error => error.into(),
        })?;
        let (db, _) = LAYOUT.open(path)?;
        Self::begun(db, path.to_path_buf(), Some(lock))
    }

    /// Moves a damaged table aside, so that the next run starts a new one. Returns its new path. A file that is not an
    /// SQLite database is not moved: it may be a user's document.
    pub fn set_aside(path: &Path) -> Result<PathBuf> {
        let with = |end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let mut head = [0; MAGIC.len()];
        let read = File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head));
        read.map_err(DatabaseError::io("read", path))?;
        if head != *MAGIC {
            return Err(DatabaseError::Foreign { path: path.to_path_buf() }.into());
        }
        let aside = with(".damaged");
        std::fs::rename(path, &aside).map_err(DatabaseError::io("rename", path))?;
        // They belong to the damaged file, and would damage the new one.
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(with(end));
        }
        Ok(aside)
    }

    /// Creates a temporary table. It is on disk nevertheless, since a web may be larger than memory.
    pub fn temporary() -> Result<Self> {
        let path = PathBuf::from("(a temporary table)");
        Self::begun(LAYOUT.temporary(&path)?, path, None)
    }

    fn begun(db: Connection, path: PathBuf, lock: Option<Lock>) -> Result<Self> {
        let table = Self { db, path, committed: Instant::now(), _lock: lock };
        table.kept(|db| db.execute_batch("BEGIN"))?;
        Ok(table)
    }

    /// Starts a run, or resumes the last one if that was interrupted recently with the same plan.
    pub fn begin(&mut self, plan: u64, now: Timestamp) -> Result<Begun> {
        let last = self.kept(|db| {
            db.query_row("SELECT number, plan, began, ended FROM run ORDER BY number DESC LIMIT 1", [], |row| {
                Ok((row.get::<_, u32>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, row.get::<_, Option<i64>>(3)?))
            })
            .optional()
        })?;
        if let Some((number, of, began, None)) = last
            && of == plan as i64
            && now.as_second() - began / 1000 < RESUMED_WITHIN
        {
            let (before, is_like_the_last) = self.before(number, plan)?;
            return Ok(Begun { number, began: timestamp(began), before, is_resumed: true, is_like_the_last });
        }
        let number = last.map_or(1, |(number, ..)| number + 1);
        let sql = "INSERT INTO run (number, plan, began) VALUES (?1, ?2, ?3)";
        self.write(sql, params![number, plan as i64, now.as_millisecond()])?;
        self.commit()?;
        let (before, is_like_the_last) = self.before(number, plan)?;
        Ok(Begun { number, began: now, before, is_resumed: false, is_like_the_last })
    }

    /// Returns the start of the last complete run that precedes this one, and true if it had the same plan.
    fn before(&self, number: u32, plan: u64) -> Result<(Option<Timestamp>, bool)> {
        self.kept(|db| {
            let sql =
                "SELECT began, plan FROM run WHERE number < ?1 AND ended IS NOT NULL ORDER BY number DESC LIMIT 1";
            let last = db.query_row(sql, [number], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?))).optional()?;
            Ok((last.map(|(began, _)| timestamp(began)), last.is_some_and(|(_, of)| of == plan as i64)))
        })
    }

    /// Returns the start of the last complete run.
    pub fn last_whole(&self) -> Result<Option<Timestamp>> {
        let sql = "SELECT max(began) FROM run WHERE ended IS NOT NULL";
        let began = self.kept(|db| db.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)))?;
        Ok(began.map(timestamp))
    }

    /// Ends a complete run.
    pub fn end(&mut self, run: u32, summary: &str, now: Timestamp) -> Result<()> {
        let sql = "UPDATE run SET ended = ?2, summary = ?3 WHERE number = ?1";
        self.write(sql, params![run, now.as_millisecond(), summary])?;
        self.commit()
    }

    /// Commits if the interval has passed.
    pub fn tick(&mut self) -> Result<()> {
        if self.committed.elapsed() >= COMMIT_EVERY { self.commit() } else { Ok(()) }
    }

    /// Commits all changes so far, and begins a new transaction.
    pub fn commit(&mut self) -> Result<()> {
        self.rest()?;
        self.kept(|db| db.execute_batch("BEGIN"))
    }

    /// Commits all changes so far without a new transaction, so that others can write to the same file.
    pub fn rest(&mut self) -> Result<()> {
        self.committed = Instant::now();
        self.kept(|db| if db.is_autocommit() { Ok(()) } else { db.execute_batch("COMMIT") })
    }

    /// Creates the error for inconsistent contents.
    pub(crate) fn damaged(&self) -> TableError {
        TableError::Damaged { path: self.path.clone() }
    }

    /// Returns the connection, for other data in the same file.
    pub fn connection(&self) -> &Connection {
        &self.db
    }

    fn write(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<()> {
        self.kept(|db| db.prepare_cached(sql)?.execute(parameters)).map(drop)
    }

    fn kept<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.db).map_err(|error| DatabaseError::of("read or write", &self.path)(error).into())
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // Uncommitted results are tested again; a destructor cannot report an error.
        let _ = self.rest();
    }
}

/// Converts a time of the store. An invalid one becomes the Unix epoch.
fn timestamp(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn damaged_table_is_set_aside_and_other_files_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("web.table");
        drop(Table::open(&path).expect("opened"));
        let mut bytes = std::fs::read(&path).expect("readable");
        bytes[100..].fill(0xff);
        std::fs::write(&path, bytes).expect("written");
        let error = Table::open(&path).err().expect("it is damaged");
        assert!(error.is_damage(), "{error:?}");
        assert_eq!(Table::set_aside(&path).expect("moved"), folder.path().join("web.table.damaged"));
        drop(Table::open(&path).expect("a new one"));
        let notes = folder.path().join("notes.txt");
        std::fs::write(&notes, "somebody's notes about something else").expect("written");
        assert!(Table::open(&notes).is_err_and(|error| error.is_damage()), "it is not a database");
        assert!(matches!(Table::set_aside(&notes), Err(TableError::Database(DatabaseError::Foreign { .. }))));
        assert!(notes.exists());
    }

    #[test]
    fn table_of_version_1_is_upgraded_and_a_newer_one_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("web.table");
        let first = format!("{} PRAGMA user_version = 1;", include_str!("001-table.sql"));
        Connection::open(&path).and_then(|db| db.execute_batch(&first)).expect("a table of version 1");
        let table = Table::open(&path).expect("upgraded");
        let hosts = table.kept(|db| db.query_row("SELECT count(*) FROM public_host", [], |row| row.get::<_, i64>(0)));
        assert_eq!(hosts.expect("readable"), 0);
        table.kept(|db| db.execute_batch("COMMIT; PRAGMA user_version = 99")).expect("written");
        drop(table);
        let error = Table::open(&path).err().expect("it is newer");
        assert!(matches!(error, TableError::Database(DatabaseError::Newer { found: 99, .. })), "{error:?}");
        assert!(!error.is_damage());
    }

    #[test]
    fn an_interrupted_run_goes_on_and_a_finished_one_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("web.table");
        let now = Timestamp::from_second(1_800_000_000).expect("a time");
        let hour = jiff::SignedDuration::from_hours(1);
        let first = Table::open(&path).expect("opened").begin(7, now).expect("begun");
        assert_eq!((first.number, first.is_resumed, first.before), (1, false, None));
        let mut table = Table::open(&path).expect("opened");
        assert!(matches!(Table::open(&path), Err(TableError::Busy { .. })));
        let again = table.begin(7, now + hour).expect("begun");
        assert_eq!((again.number, again.is_resumed, again.began), (1, true, now));
        assert_eq!(table.begin(8, now + hour).expect("begun").number, 2, "other work is another run");
        table.end(2, "{}", now + hour).expect("ended");
        let third = table.begin(8, now + 2 * hour).expect("begun");
        assert_eq!((third.number, third.is_resumed, third.before), (3, false, Some(now + hour)));
        assert_eq!(table.begin(8, now + 30 * hour).expect("begun").number, 4, "what it saw is old");
    }
}
