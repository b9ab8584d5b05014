//! The table of every URL that was ever tested: one SQLite file, kept between runs.
//!
//! Tests of one moment are committed together twice a second, so kill -9 costs half a second of work; the next run goes on
//! from there. Conditional requests, "since when" and "what is new" all come out of this table.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | opening, runs, commits |
//! | `urls` | URLs and what came of testing them; pages |
//! | `history` | what was wrong before |
//! | `manners` | robots.txt, hosts on hold, public hosts |
//! | `codec` | the references of a page as bytes |

pub(crate) mod codec;
mod history;
mod manners;
mod urls;

use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

pub(crate) use history::Past;
pub(crate) use urls::Test;
pub use urls::Tested;

/// The first bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The layout of the file.
const VERSION: i64 = 1;
/// How much work kill -9 may cost.
const COMMIT_EVERY: Duration = Duration::from_millis(500);
/// How long an interrupted run can be resumed. Later, what it saw is old, and conditional requests are cheap.
const RESUMED_WITHIN: i64 = 24 * 3600;

/// The table.
pub struct Table {
    db: Connection,
    path: PathBuf,
    committed: Instant,
    /// Held for as long as the run lasts: two at once would overwrite each other.
    _lock: Option<Lock>,
}

/// A run that has begun, or goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its number.
    pub number: u32,
    /// When it began.
    pub began: Timestamp,
    /// When the run before began.
    pub before: Option<Timestamp>,
    /// Whether it was interrupted and goes on now.
    pub is_resumed: bool,
    /// Whether the last run that came to its end had the same to do, so that the two can be compared.
    pub is_like_the_last: bool,
}

/// Why the table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Another run is at it.
    #[error("another run is using {}", path.display())]
    Busy {
        /// Which file.
        path: PathBuf,
    },
    /// From a newer version, or not ours.
    #[error("{} was written by another version of modoai", path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
    },
    /// Somebody has changed it.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
    },
    /// The folder or the file cannot be written.
    #[error("failed to open {}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// SQLite failed.
    #[error("failed to write the table {}", path.display())]
    Engine {
        /// Which file.
        path: PathBuf,
        /// Why it failed.
        source: rusqlite::Error,
    },
}

impl TableError {
    /// Returns true if the file is damaged, so that only a new one helps.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            Self::Damaged { .. } => true,
            Self::Engine { source, .. } => match source {
                // A value of another type than the layout has.
                rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..) => true,
                source => matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase)),
            },
            Self::Busy { .. } | Self::Foreign { .. } | Self::Io { .. } => false,
        }
    }
}

type Result<T> = std::result::Result<T, TableError>;

/// An exclusive lock. Dropping it unlocks the file, also while a child process that has just been forked still holds a copy
/// of the descriptor.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // It would also end with the last copy of the descriptor.
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
    }
}

impl Table {
    /// Opens or creates a table, for one run at a time.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |source| TableError::Io { path: path.to_path_buf(), source };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            // It names pages and owners that others need not know.
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
        }
        let mut lock_path = path.as_os_str().to_owned();
        lock_path.push(".lock");
        let private = |path: &Path| File::options().write(true).create(true).truncate(false).mode(0o600).open(path);
        let lock = private(Path::new(&lock_path)).map_err(io)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).map_err(
            |error| match error {
                rustix::io::Errno::WOULDBLOCK => TableError::Busy { path: path.to_path_buf() },
                error => io(error.into()),
            },
        )?;
        let engine = |source| TableError::Engine { path: path.to_path_buf(), source };
        // SQLite gives its log the same rights as the file.
        private(path).map_err(io)?;
        let db = Connection::open(path).map_err(engine)?;
        Self::prepared(db, path.to_path_buf(), Some(Lock(lock)))
    }

    /// Moves a damaged table out of the way, so that the next run starts a new one. Returns its new path. A file that is not an
    /// SQLite database stays where it is: it may be somebody's document.
    pub fn set_aside(path: &Path) -> Result<PathBuf> {
        let io = |source| TableError::Io { path: path.to_path_buf(), source };
        let with = |end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let mut head = [0; MAGIC.len()];
        std::io::Read::read_exact(&mut File::open(path).map_err(io)?, &mut head).map_err(io)?;
        if head != *MAGIC {
            return Err(TableError::Foreign { path: path.to_path_buf() });
        }
        let aside = with(".damaged");
        std::fs::rename(path, &aside).map_err(io)?;
        // They belong to the damaged file, and would damage the new one.
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(with(end));
        }
        Ok(aside)
    }

    /// A table that nobody keeps. It is on disc all the same, since webs may be larger than memory.
    pub fn temporary() -> Result<Self> {
        let path = PathBuf::from("(a temporary table)");
        let db = Connection::open("").map_err(|source| TableError::Engine { path: path.clone(), source })?;
        Self::prepared(db, path, None)
    }

    fn prepared(db: Connection, path: PathBuf, lock: Option<Lock>) -> Result<Self> {
        let prepare = || -> rusqlite::Result<i64> {
            db.pragma_update(None, "journal_mode", "WAL")?;
            db.pragma_update(None, "synchronous", "NORMAL")?;
            db.pragma_update(None, "cache_size", -8192)?;
            db.query_row("PRAGMA user_version", [], |row| row.get(0))
        };
        let engine = |source| TableError::Engine { path: path.clone(), source };
        match prepare().map_err(engine)? {
            0 => {
                let sql = format!("BEGIN; {} PRAGMA user_version = {VERSION}; COMMIT;", include_str!("schema.sql"));
                db.execute_batch(&sql).map_err(engine)?;
            }
            VERSION => {}
            _ => return Err(TableError::Foreign { path }),
        }
        // Tables of earlier versions have none.
        let public_host = "CREATE TABLE IF NOT EXISTS public_host (host TEXT PRIMARY KEY) WITHOUT ROWID";
        db.execute_batch(&format!("{public_host}; BEGIN")).map_err(engine)?;
        Ok(Self { db, path, committed: Instant::now(), _lock: lock })
    }

    /// Begins a run, or goes on with the last one if that was interrupted, not long ago, in the same work.
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
        self.kept(|db| {
            let sql = "INSERT INTO run (number, plan, began) VALUES (?1, ?2, ?3)";
            db.execute(sql, params![number, plan as i64, now.as_millisecond()])
        })?;
        self.commit()?;
        let (before, is_like_the_last) = self.before(number, plan)?;
        Ok(Begun { number, began: now, before, is_resumed: false, is_like_the_last })
    }

    /// When the last run before this one began that came to its end, and whether it had the same to do.
    fn before(&self, number: u32, plan: u64) -> Result<(Option<Timestamp>, bool)> {
        self.kept(|db| {
            let sql =
                "SELECT began, plan FROM run WHERE number < ?1 AND ended IS NOT NULL ORDER BY number DESC LIMIT 1";
            let last = db.query_row(sql, [number], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?))).optional()?;
            Ok((last.map(|(began, _)| timestamp(began)), last.is_some_and(|(_, of)| of == plan as i64)))
        })
    }

    /// When the last run that has seen everything began.
    pub fn last_whole(&self) -> Result<Option<Timestamp>> {
        let sql = "SELECT max(began) FROM run WHERE ended IS NOT NULL";
        let began = self.kept(|db| db.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)))?;
        Ok(began.map(timestamp))
    }

    /// Ends a run that has seen everything.
    pub fn end(&mut self, run: u32, summary: &str, now: Timestamp) -> Result<()> {
        self.kept(|db| {
            let sql = "UPDATE run SET ended = ?2, summary = ?3 WHERE number = ?1";
            db.execute(sql, params![run, now.as_millisecond(), summary])
        })?;
        self.commit()
    }

    /// Commits if it is time to.
    pub fn tick(&mut self) -> Result<()> {
        if self.committed.elapsed() >= COMMIT_EVERY { self.commit() } else { Ok(()) }
    }

    /// Makes everything so far survive.
    pub fn commit(&mut self) -> Result<()> {
        self.rest()?;
        self.kept(|db| db.execute_batch("BEGIN"))
    }

    /// The same, and leaves it at that: others may keep something of their own in the same file now.
    pub fn rest(&mut self) -> Result<()> {
        self.committed = Instant::now();
        self.kept(|db| if db.is_autocommit() { Ok(()) } else { db.execute_batch("COMMIT") })
    }

    /// What to say if the table does not fit together.
    pub(crate) fn damaged(&self) -> TableError {
        TableError::Damaged { path: self.path.clone() }
    }

    /// The connection, for what is kept beside the table and by others.
    pub fn connection(&self) -> &Connection {
        &self.db
    }

    fn kept<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.db).map_err(|source| TableError::Engine { path: self.path.clone(), source })
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // Whatever is not committed now is tested again; there is nobody to tell.
        let _ = self.rest();
    }
}

/// A time of the store. One that no calendar has is the beginning of all times.
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
        assert!(matches!(Table::set_aside(&notes), Err(TableError::Foreign { .. })));
        assert!(notes.exists());
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
