//! What a harvest remembers between two pages, two runs, and two lives of the process.
//!
//! One SQLite file in `.modoai` inside the folder that is harvested into. Everything a page changes (items, the token of
//! the next page, the sink's mark) changes in one transaction; so whenever the process ends, the next one goes on from
//! the last page that was whole.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | opening, transactions, the source |
//! | `items` | what was received |
//! | `lists` | selections, and the windows that are not yet proven complete |
//! | `notes` | what is missing, what was repaired, who asked to be left alone, runs |

mod items;
mod lists;
mod notes;

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use crate::habits::Habits;
pub use items::{Seen, Sight};
pub use lists::{Change, List, OpenWindow, Progress};
pub use notes::{Missing, Repair, Run, Wait};

/// The folder of our own in every folder that is harvested into.
pub const OWN_FOLDER: &str = ".modoai";

const VERSION: i64 = 3;

/// What brings a state of each version to the next, beginning with the first.
const MIGRATIONS: &[&str] = &[
    "ALTER TABLE source ADD COLUMN slug TEXT; ALTER TABLE source ADD COLUMN catalogue BLOB;
     ALTER TABLE item ADD COLUMN elsewhere INTEGER NOT NULL DEFAULT 0;",
    "ALTER TABLE missing ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;",
];

/// What a harvest remembers.
pub struct State {
    connection: Connection,
    path: PathBuf,
    /// Held for as long as the harvest runs: two at once would undo each other's pages.
    lock: Option<Lock>,
}

/// What is harvested into a folder, once and for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Where the repository is asked.
    pub base_url: String,
    /// Where records go.
    pub sink: String,
    /// In which format.
    pub prefix: String,
}

/// What a server said about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// repositoryName.
    pub name: String,
    /// baseURL, as it says.
    pub base_url: String,
    /// earliestDatestamp, as it says.
    pub earliest: String,
    /// deletedRecord, as it says.
    pub deleted_record: String,
    /// granularity, as it says.
    pub granularity: String,
    /// Whether it promises that its datestamps are those of visibility, so that windows need not overlap.
    pub prompt: bool,
    /// Where the schema of the harvested format is.
    pub schema: String,
    /// The namespace of the harvested format.
    pub namespace: String,
}

/// Why the state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Another harvest is at it.
    #[error("another harvest into {} is running", dir.display())]
    Busy {
        /// Into which folder.
        dir: PathBuf,
    },
    /// There is none.
    #[error("no harvest found in {}", dir.display())]
    Absent {
        /// Which folder.
        dir: PathBuf,
    },
    /// From a newer version.
    #[error("{} was written by a newer version of modoai", path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
    },
    /// The folder is used for something else.
    #[error("{} already contains {found}; cannot add {wanted}", dir.display())]
    Other {
        /// Which folder.
        dir: PathBuf,
        /// What it holds.
        found: String,
        /// What was to go there.
        wanted: String,
        /// Whether it would be the same, if the repository had moved.
        moved: bool,
    },
    /// The folder cannot be written.
    #[error("failed to {activity} {}", path.display())]
    Io {
        /// What was being done.
        activity: &'static str,
        /// To what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// SQLite failed.
    #[error("failed to write the state in {}", path.display())]
    Engine {
        /// Which file.
        path: PathBuf,
        /// Why it failed.
        source: rusqlite::Error,
    },
}

type Result<T> = std::result::Result<T, StateError>;

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

impl State {
    /// Opens or creates the state of a folder, for one harvest at a time.
    pub fn open(dir: &Path) -> Result<Self> {
        let own = dir.join(OWN_FOLDER);
        let io = |activity, path: &Path| {
            let path = path.to_path_buf();
            move |source| StateError::Io { activity, path, source }
        };
        std::fs::create_dir_all(dir).map_err(io("create", dir))?;
        // It names records that only the credentials of this harvest may read.
        DirBuilder::new().recursive(true).mode(0o700).create(&own).map_err(io("create", &own))?;
        // One of an earlier version is closed, too, unless it belongs to another user.
        let _ = std::fs::set_permissions(&own, Permissions::from_mode(0o700));
        let lock_path = own.join("lock");
        let lock = private_file(&lock_path).map_err(io("create", &lock_path))?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| StateError::Busy { dir: dir.to_path_buf() })?;
        let path = own.join("harvest.sqlite");
        private_file(&path).map_err(io("create", &path))?;
        let mut state = Self::connect(&path, Some(Lock(lock)), "NORMAL")?;
        state.migrate()?;
        Ok(state)
    }

    /// Opens the state of a folder to look at it, also while a harvest runs.
    pub fn look(dir: &Path) -> Result<Self> {
        let path = dir.join(OWN_FOLDER).join("harvest.sqlite");
        if !path.exists() {
            return Err(StateError::Absent { dir: dir.to_path_buf() });
        }
        let look = |locking| {
            let mut state = Self::connect(&path, None, locking)?;
            state.migrate()?;
            Ok(state)
        };
        // Several processes at one file share memory, for which a full disk may have no room. One that is alone needs
        // none; where a harvest runs, it is there already.
        look("NORMAL").or_else(|error| look("EXCLUSIVE").map_err(|_| error))
    }

    /// A state that is forgotten with the process.
    pub fn in_memory() -> Result<Self> {
        let path = PathBuf::from(":memory:");
        let connection =
            Connection::open_in_memory().map_err(|source| StateError::Engine { path: path.clone(), source })?;
        let mut state = Self { connection, path, lock: None };
        state.migrate()?;
        Ok(state)
    }

    fn connect(path: &Path, lock: Option<Lock>, locking: &str) -> Result<Self> {
        let engine = |source| StateError::Engine { path: path.to_path_buf(), source };
        let connection = Connection::open(path).map_err(engine)?;
        connection.busy_timeout(Duration::from_secs(30)).map_err(engine)?;
        // With a write-ahead log a commit is one write, and survives the process. The sinks see to it that what a commit
        // promises is on disk before; if the machine goes down, the last commits may be lost, and are harvested again.
        // A page's items lie together, so that a few megabytes of cache are enough; sinks have caches of their own.
        connection
            .execute_batch(&format!(
                "PRAGMA locking_mode = {locking}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                 PRAGMA cache_size = -4096;"
            ))
            .map_err(engine)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self { connection, path: path.to_path_buf(), lock })
    }

    fn migrate(&mut self) -> Result<()> {
        let version: i64 = self.sql(|sql| sql.query_row("PRAGMA user_version", [], |row| row.get(0)))?;
        let steps = match version {
            VERSION => return Ok(()),
            0 => include_str!("state.sql").to_owned(),
            1..VERSION => {
                MIGRATIONS.iter().zip(1..).filter(|(_, from)| *from >= version).map(|(step, _)| *step).collect()
            }
            _ => return Err(StateError::Newer { path: self.path.clone() }),
        };
        // Somebody else may do the same at this moment.
        self.sql(|sql| {
            sql.execute_batch("BEGIN IMMEDIATE")?;
            let now: i64 = sql.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if now == version {
                sql.execute_batch(&format!("{steps} PRAGMA user_version = {VERSION};"))?;
            }
            sql.execute_batch("COMMIT")
        })
    }

    /// The folder that is harvested into.
    pub(crate) fn dir(&self) -> &Path {
        self.path.parent().and_then(Path::parent).unwrap_or(&self.path)
    }

    /// Runs statements, and says which file it was if they fail.
    fn sql<T>(&self, run: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        run(&self.connection).map_err(|source| StateError::Engine { path: self.path.clone(), source })
    }

    /// Begins a transaction.
    pub fn begin(&mut self) -> Result<()> {
        self.sql(|sql| sql.execute_batch("BEGIN IMMEDIATE"))
    }

    /// Makes everything since `begin` true.
    pub fn commit(&mut self) -> Result<()> {
        self.sql(|sql| sql.execute_batch("COMMIT"))
    }

    /// Makes everything since `begin` undone.
    pub fn roll_back(&mut self) -> Result<()> {
        self.sql(|sql| if sql.is_autocommit() { Ok(()) } else { sql.execute_batch("ROLLBACK") })
    }

    /// What is harvested into this folder, if that was ever agreed upon.
    pub fn contract(&self) -> Result<Option<Contract>> {
        self.sql(|sql| {
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Contract { base_url: row.get(0)?, sink: row.get(1)?, prefix: row.get(2)? })
            };
            sql.query_row("SELECT base_url, sink, prefix FROM source", [], row).optional()
        })
    }

    /// Agrees on what is harvested into this folder. Mixing two things in one folder would make neither of them complete;
    /// but a repository that `may_move` is the same elsewhere.
    pub fn agree(&mut self, wanted: &Contract, may_move: bool) -> Result<()> {
        let Some(found) = self.contract()? else {
            let values = params![wanted.base_url, wanted.sink, wanted.prefix];
            let insert = "INSERT INTO source (only, base_url, sink, prefix) VALUES (1, ?, ?, ?)";
            return self.sql(|sql| sql.execute(insert, values).map(drop));
        };
        if found == *wanted {
            return Ok(());
        }
        let moved = found == Contract { base_url: found.base_url.clone(), ..wanted.clone() };
        if moved && may_move {
            return self.sql(|sql| sql.execute("UPDATE source SET base_url = ?", [&wanted.base_url]).map(drop));
        }
        let dir = self.dir().to_path_buf();
        let told = |contract: &Contract| format!("{} of {} as {}", contract.prefix, contract.base_url, contract.sink);
        Err(StateError::Other { dir, found: told(&found), wanted: told(wanted), moved })
    }

    /// The short name of the source, if it was ever given one.
    pub fn slug(&self) -> Result<Option<String>> {
        let slug: Option<Option<String>> =
            self.sql(|sql| sql.query_row("SELECT slug FROM source", [], |row| row.get(0)).optional())?;
        Ok(slug.flatten())
    }

    /// Gives the source its short name.
    pub fn set_slug(&mut self, slug: &str) -> Result<()> {
        self.sql(|sql| sql.execute("UPDATE source SET slug = ?", [slug]).map(drop))
    }

    /// The catalogue that is written from this folder, if one was chosen.
    pub fn catalogue(&self) -> Result<Option<PathBuf>> {
        let path: Option<Option<Vec<u8>>> =
            self.sql(|sql| sql.query_row("SELECT catalogue FROM source", [], |row| row.get(0)).optional())?;
        let path = path.flatten().map(|path| self.dir().join(OsStr::from_bytes(&path)));
        Ok(path.map(|path| path.canonicalize().unwrap_or(path)))
    }

    /// Remembers it, whatever folder the next run is started in. One that lies beside this folder, or in it, is found from
    /// there, so that they can be moved together.
    pub fn set_catalogue(&mut self, path: &Path) -> Result<()> {
        let full = path.canonicalize().map_err(|source| StateError::Io {
            activity: "find",
            path: path.to_path_buf(),
            source,
        })?;
        let near = self.dir().canonicalize().ok().and_then(|dir| {
            let within = full.strip_prefix(&dir).ok().map(Path::to_path_buf);
            let beside = || Some(Path::new("..").join(full.strip_prefix(dir.parent()?).ok()?));
            within.or_else(beside)
        });
        let bytes = near.as_ref().unwrap_or(&full).as_os_str().as_bytes();
        self.sql(|sql| sql.execute("UPDATE source SET catalogue = ?", [bytes]).map(drop))
    }

    /// What the server said about itself, last time.
    pub fn identity(&self) -> Result<Option<Identity>> {
        let text: Option<Option<String>> =
            self.sql(|sql| sql.query_row("SELECT identity FROM source", [], |row| row.get(0)).optional())?;
        Ok(text.flatten().and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Remembers what the server said about itself.
    pub fn set_identity(&mut self, identity: &Identity) -> Result<()> {
        let text = serde_json::to_string(identity).unwrap_or_default();
        self.sql(|sql| sql.execute("UPDATE source SET identity = ?", [text]).map(drop))
    }

    /// What was learnt about the server.
    pub fn habits(&self) -> Result<Habits> {
        let text: Option<String> =
            self.sql(|sql| sql.query_row("SELECT habits FROM source", [], |row| row.get(0)).optional())?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Remembers what was learnt about the server.
    pub fn set_habits(&mut self, habits: &Habits) -> Result<()> {
        let text = serde_json::to_string(habits).unwrap_or_default();
        self.sql(|sql| sql.execute("UPDATE source SET habits = ?", [text]).map(drop))
    }

    /// Which life of the machine commits were made in that no sync has followed.
    pub fn unsynced(&self) -> Result<Option<String>> {
        let boot: Option<Option<String>> =
            self.sql(|sql| sql.query_row("SELECT unsynced FROM source", [], |row| row.get(0)).optional())?;
        Ok(boot.flatten())
    }

    /// Remembers that; none if everything is safe.
    pub fn set_unsynced(&mut self, boot: Option<&str>) -> Result<()> {
        self.sql(|sql| sql.execute("UPDATE source SET unsynced = ?", [boot]).map(drop))
    }

    /// Forgets what was received, so that all of it is asked for again.
    pub fn start_over(&mut self) -> Result<()> {
        self.sql(|sql| {
            sql.execute_batch(
                "BEGIN IMMEDIATE; DELETE FROM item; DELETE FROM window;
                 UPDATE list SET watermark = NULL, first_date = NULL, completed = NULL; COMMIT;",
            )
        })
    }

    /// What the sink returned at the last commit.
    pub fn mark(&self) -> Result<Option<String>> {
        let mark: Option<Option<String>> =
            self.sql(|sql| sql.query_row("SELECT mark FROM source", [], |row| row.get(0)).optional())?;
        Ok(mark.flatten())
    }

    /// Remembers what the sink returned.
    pub fn set_mark(&mut self, mark: &str) -> Result<()> {
        self.sql(|sql| sql.execute("UPDATE source SET mark = ?", [mark]).map(drop))
    }
}

/// A file that only its owner may read, made if it is missing; SQLite gives its log the same rights. A link in its place is an
/// error.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    File::options().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_one_thing_and_one_harvest_at_a_time() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(matches!(State::look(dir.path()), Err(StateError::Absent { .. })));
        let contract =
            Contract { base_url: "http://a/".to_owned(), sink: "records".to_owned(), prefix: "oai_dc".to_owned() };
        let mut state = State::open(dir.path()).expect("a new state");
        state.agree(&contract, false).expect("a first agreement");
        state.agree(&contract, false).expect("the same agreement");
        let other = Contract { sink: "mirror".to_owned(), ..contract.clone() };
        assert!(matches!(state.agree(&other, true), Err(StateError::Other { moved: false, .. })));
        let contract = Contract { base_url: "https://a/".to_owned(), ..contract };
        assert!(matches!(state.agree(&contract, false), Err(StateError::Other { moved: true, .. })));
        state.agree(&contract, true).expect("the same, elsewhere");
        assert!(matches!(State::open(dir.path()), Err(StateError::Busy { .. })));
        let seen = State::look(dir.path()).expect("looking is always allowed");
        assert_eq!(seen.contract().expect("readable"), Some(contract));
        drop(state);
        State::open(dir.path()).expect("free again");
    }

    #[test]
    fn a_catalogue_is_found_again() {
        let place = tempfile::tempdir().expect("a folder");
        let place = place.path().canonicalize().expect("it is there");
        let (old, new, far) = (place.join("old"), place.join("new"), place.join("far.sqlite"));
        std::fs::create_dir_all(old.join("a")).expect("a folder");
        let near = old.join("all.sqlite");
        std::fs::write(&near, "").expect("a file");
        std::fs::write(&far, "").expect("a file");
        let mut state = State::open(&old.join("a")).expect("a new state");
        let [base_url, sink, prefix] = ["http://a/", "catalogue", "oai_dc"].map(str::to_owned);
        state.agree(&Contract { base_url, sink, prefix }, false).expect("a first agreement");
        assert_eq!(state.catalogue().expect("readable"), None);
        state.set_catalogue(&near).expect("noted");
        drop(state);
        std::fs::rename(&old, &new).expect("moved");
        let mut state = State::open(&new.join("a")).expect("the same state");
        assert_eq!(state.catalogue().expect("readable"), Some(new.join("all.sqlite")), "moved together");
        state.set_catalogue(&far).expect("noted");
        drop(state);
        std::fs::rename(&new, &old).expect("moved");
        let state = State::open(&old.join("a")).expect("the same state");
        assert_eq!(state.catalogue().expect("readable"), Some(far), "not moved");
    }

    #[test]
    fn states_of_earlier_versions_are_understood() {
        let second = "ALTER TABLE missing DROP COLUMN seen;";
        let first = "ALTER TABLE source DROP COLUMN slug; ALTER TABLE source DROP COLUMN catalogue;
                     ALTER TABLE item DROP COLUMN elsewhere;";
        for (version, undone) in [(2, second.to_owned()), (1, format!("{second} {first}"))] {
            let dir = tempfile::tempdir().expect("a folder");
            drop(State::open(dir.path()).expect("a new state"));
            let path = dir.path().join(OWN_FOLDER).join("harvest.sqlite");
            let undone = format!("{undone} PRAGMA user_version = {version};");
            Connection::open(path).and_then(|sql| sql.execute_batch(&undone)).expect("as it was");
            assert_eq!(State::look(dir.path()).and_then(|state| state.catalogue()).expect("readable"), None);
            let counts = State::look(dir.path()).and_then(|state| state.elsewhere()).expect("readable");
            assert_eq!(counts, (0, 0));
            let mut state = State::open(dir.path()).expect("a state");
            assert_eq!(state.miss("a", "why", 7).expect("noted"), None);
            assert_eq!(state.miss("a", "why", 8).expect("noted"), Some(7));
        }
    }
}
