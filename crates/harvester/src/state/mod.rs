//! The state of a harvest, which survives from page to page, from run to run, and if the process is killed.
//!
//! One SQLite file in `.modoai` inside the folder that is harvested into. Everything a page changes (items, the token
//! of the next page, the sink's mark) changes in one transaction; so whenever the process ends, the next one continues
//! after the last complete page.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | opening, transactions, the source |
//! | `items` | what was received |
//! | `lists` | selections, and the windows that are not yet proven complete |
//! | `notes` | missing records, repairs, pauses that servers requested, runs |

mod items;
mod lists;
mod notes;

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs::{DirBuilder, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use modoai_repository::catalogue::{Location, LocationError};
use modoai_state::{DatabaseError, Files, Journal, Layout, Lock, private_file};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use crate::habits::Habits;
pub use items::{Listed, Seen, Sight};
pub use lists::{Change, List, OpenWindow, Progress};
pub use notes::{Missing, Repair, Run, Wait};

/// modoai's folder in every folder that is harvested into.
pub const OWN_FOLDER: &str = ".modoai";

/// The database in it.
const FILE: &str = "harvest.sqlite";

/// The tables.
const LAYOUT: Layout = Layout {
    application_id: 0,
    migrations: &[
        include_str!("001-state.sql"),
        include_str!("002-catalogue.sql"),
        include_str!("003-missing.sql"),
        include_str!("004-sink.sql"),
    ],
    // A commit is one write, and survives the process. The sinks write the data of a commit to disk before; if the
    // machine stops, the last commits may be lost, and are harvested again.
    journal: Journal::Wal,
    // A page's items are adjacent, so that a few megabytes of cache are enough; sinks have separate caches.
    settings: "PRAGMA locking_mode = NORMAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4096;",
    patience: Duration::from_secs(30),
    files: Files::PrivateNotLinked,
};

/// The settings of a connection that is the only one.
const SETTINGS_ALONE: &str = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4096;";

/// The stored state of a harvest.
pub struct State {
    connection: Connection,
    path: PathBuf,
    /// Held for as long as the harvest runs: two simultaneous harvests would undo each other's pages.
    lock: Option<Lock>,
}

/// The source, sink and format of a folder, which never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The URL of the repository.
    pub base_url: String,
    /// The name of the sink.
    pub sink: String,
    /// The metadata format.
    pub prefix: String,
}

/// The properties that the server reported in Identify and ListMetadataFormats.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// repositoryName.
    pub name: String,
    /// The baseURL of its Identify response.
    pub base_url: String,
    /// The earliestDatestamp of its Identify response.
    pub earliest: String,
    /// The deletedRecord of its Identify response.
    pub deleted_record: String,
    /// The granularity of its Identify response.
    pub granularity: String,
    /// True if it promises that its datestamps are those of visibility, so that windows need not overlap.
    pub prompt: bool,
    /// The URL of the schema of the harvested format.
    pub schema: String,
    /// The namespace of the harvested format.
    pub namespace: String,
}

/// The reason why the state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Another harvest into the folder is running.
    #[error("another harvest into {} is running", dir.display())]
    Busy {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder contains no harvest.
    #[error("no harvest found in {}", dir.display())]
    Absent {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder contains another harvest.
    #[error("{} already contains {found}; cannot add {wanted}", dir.display())]
    Other {
        /// The folder.
        dir: PathBuf,
        /// The harvest that the folder already contains.
        found: String,
        /// The harvest that the user requested.
        wanted: String,
        /// True if they would be equal if the repository had moved.
        moved: bool,
    },
    /// The location of the catalogue is in a format of a newer version.
    #[error("failed to read the location of the catalogue in {}", path.display())]
    Catalogue {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: LocationError,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

type Result<T> = std::result::Result<T, StateError>;

impl State {
    /// Opens or creates the state of a folder, for one harvest at a time.
    pub fn open(dir: &Path) -> Result<Self> {
        let own = dir.join(OWN_FOLDER);
        std::fs::create_dir_all(dir).map_err(DatabaseError::io("create", dir))?;
        // The state contains identifiers of records that only the credentials of this harvest may read.
        DirBuilder::new().recursive(true).mode(0o700).create(&own).map_err(DatabaseError::io("create", &own))?;
        // The folder of an earlier version is restricted, too, unless it belongs to another user.
        let _ = std::fs::set_permissions(&own, Permissions::from_mode(0o700));
        let lock_path = own.join("lock");
        let lock = private_file(&lock_path, true).map_err(DatabaseError::io("create", &lock_path))?;
        let lock = Lock::take(lock, &lock_path).map_err(|error| match error {
            DatabaseError::Busy { .. } => StateError::Busy { dir: dir.to_path_buf() },
            error => error.into(),
        })?;
        Self::connect(&LAYOUT, &own.join(FILE), Some(lock))
    }

    /// Opens the state of a folder for reading, also while a harvest runs.
    pub fn look(dir: &Path) -> Result<Self> {
        let path = dir.join(OWN_FOLDER).join(FILE);
        if !path.exists() {
            return Err(StateError::Absent { dir: dir.to_path_buf() });
        }
        // Several processes at one file share memory, for which a full disk may have no room. A single process needs
        // none; where a harvest runs, the memory already exists.
        let present = Layout { files: Files::Shared, ..LAYOUT };
        let alone = Layout { settings: SETTINGS_ALONE, ..present };
        Self::connect(&present, &path, None).or_else(|error| Self::connect(&alone, &path, None).map_err(|_| error))
    }

    /// Creates a state in memory.
    pub fn in_memory() -> Result<Self> {
        let path = PathBuf::from(":memory:");
        Ok(Self { connection: LAYOUT.in_memory(&path)?, path, lock: None })
    }

    /// Opens a state in memory that all states of this name in the process share. It exists until the last of them is dropped.
    pub fn shared_in_memory(name: &str) -> Result<Self> {
        let layout = Layout { files: Files::Shared, journal: Journal::Rollback, ..LAYOUT };
        Self::connect(&layout, Path::new(&format!("file:/{name}?vfs=memdb")), None)
    }

    fn connect(layout: &Layout, path: &Path, lock: Option<Lock>) -> Result<Self> {
        let (connection, _) = layout.open(path)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self { connection, path: path.to_path_buf(), lock })
    }

    /// Returns the folder that is harvested into.
    pub(crate) fn dir(&self) -> &Path {
        self.path.parent().and_then(Path::parent).unwrap_or(&self.path)
    }

    /// Runs statements. Their errors contain the path of the file.
    fn sql<T>(&self, run: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        run(&self.connection).map_err(|error| DatabaseError::of("read or write", &self.path)(error).into())
    }

    /// Begins a transaction.
    pub fn begin(&mut self) -> Result<()> {
        self.sql(|sql| sql.execute_batch("BEGIN IMMEDIATE"))
    }

    /// Commits everything since `begin`.
    pub fn commit(&mut self) -> Result<()> {
        self.sql(|sql| sql.execute_batch("COMMIT"))
    }

    /// Rolls back everything since `begin`.
    pub fn roll_back(&mut self) -> Result<()> {
        self.sql(|sql| if sql.is_autocommit() { Ok(()) } else { sql.execute_batch("ROLLBACK") })
    }

    /// Returns the source, sink and format of this folder, if they were ever set.
    pub fn contract(&self) -> Result<Option<Contract>> {
        self.sql(|sql| {
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Contract { base_url: row.get(0)?, sink: row.get(1)?, prefix: row.get(2)? })
            };
            sql.query_row("SELECT base_url, sink, prefix FROM source", [], row).optional()
        })
    }

    /// Sets the source, sink and format of this folder, or compares them with the stored ones. If two harvests were mixed
    /// in one folder, neither would be complete; but if `may_move`, the base URL may differ, and is replaced.
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

    /// Returns the short name of the source, if it has one.
    pub fn slug(&self) -> Result<Option<String>> {
        let slug: Option<Option<String>> =
            self.sql(|sql| sql.query_row("SELECT slug FROM source", [], |row| row.get(0)).optional())?;
        Ok(slug.flatten())
    }

    /// Sets the short name of the source.
    pub fn set_slug(&mut self, slug: &str) -> Result<()> {
        self.sql(|sql| sql.execute("UPDATE source SET slug = ?", [slug]).map(drop))
    }

    /// Returns the catalogue that is written from this folder, if one was chosen.
    pub fn catalogue(&self) -> Result<Option<Location>> {
        let text: Option<Option<Vec<u8>>> =
            self.sql(|sql| sql.query_row("SELECT catalogue FROM source", [], |row| row.get(0)).optional())?;
        let Some(text) = text.flatten() else { return Ok(None) };
        let location = Location::parse(OsStr::from_bytes(&text))
            .map_err(|source| StateError::Catalogue { path: self.path.clone(), source })?;
        let near = |path: &Path| self.dir().join(path);
        let Ok(location) =
            location.resolved(|path| Ok::<_, Infallible>(near(path).canonicalize().unwrap_or(near(path))));
        Ok(Some(location))
    }

    /// Stores the location of the catalogue, independent of the folder in which the next run is started. A catalogue
    /// next to this folder, or in it, is stored as a relative path, so that both can be moved together.
    pub fn set_catalogue(&mut self, location: &Location) -> Result<()> {
        let full = location.path().canonicalize().map_err(DatabaseError::io("find", location.path()))?;
        let near = self.dir().canonicalize().ok().and_then(|dir| {
            let within = full.strip_prefix(&dir).ok().map(Path::to_path_buf);
            let beside = || Some(Path::new("..").join(full.strip_prefix(dir.parent()?).ok()?));
            within.or_else(beside)
        });
        let text = Location::at(near.unwrap_or(full)).to_text();
        self.sql(|sql| sql.execute("UPDATE source SET catalogue = ?", [text.as_bytes()]).map(drop))
    }

    /// Returns the properties that the server reported in the last run.
    pub fn identity(&self) -> Result<Option<Identity>> {
        let text: Option<Option<String>> =
            self.sql(|sql| sql.query_row("SELECT identity FROM source", [], |row| row.get(0)).optional())?;
        Ok(text.flatten().and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Stores the properties that the server reported.
    pub fn set_identity(&mut self, identity: &Identity) -> Result<()> {
        let text = serde_json::to_string(identity).unwrap_or_default();
        self.sql(|sql| sql.execute("UPDATE source SET identity = ?", [text]).map(drop))
    }

    /// Returns the stored habits of the server.
    pub fn habits(&self) -> Result<Habits> {
        let text: Option<String> =
            self.sql(|sql| sql.query_row("SELECT habits FROM source", [], |row| row.get(0)).optional())?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Stores the habits of the server.
    pub fn set_habits(&mut self, habits: &Habits) -> Result<()> {
        let text = serde_json::to_string(habits).unwrap_or_default();
        self.sql(|sql| sql.execute("UPDATE source SET habits = ?", [text]).map(drop))
    }

    /// Returns the boot ID under which commits were made that no sync has followed.
    pub fn unsynced(&self) -> Result<Option<String>> {
        let boot: Option<Option<String>> =
            self.sql(|sql| sql.query_row("SELECT unsynced FROM source", [], |row| row.get(0)).optional())?;
        Ok(boot.flatten())
    }

    /// Stores that boot ID; none if everything was synced.
    pub fn set_unsynced(&mut self, boot: Option<&str>) -> Result<()> {
        self.sql(|sql| sql.execute("UPDATE source SET unsynced = ?", [boot]).map(drop))
    }

    /// Deletes the items and lists, so that everything is requested again.
    pub fn start_over(&mut self) -> Result<()> {
        self.sql(|sql| {
            sql.execute_batch(
                "BEGIN IMMEDIATE; DELETE FROM item; DELETE FROM window;
                 UPDATE list SET watermark = NULL, first_date = NULL, completed = NULL; COMMIT;",
            )
        })
    }

    /// Returns the mark that the sink returned at the last commit.
    pub fn mark(&self) -> Result<Option<String>> {
        let mark: Option<Option<String>> =
            self.sql(|sql| sql.query_row("SELECT mark FROM source", [], |row| row.get(0)).optional())?;
        Ok(mark.flatten())
    }

    /// Stores the mark that the sink returned.
    pub fn set_mark(&mut self, mark: &str) -> Result<()> {
        self.sql(|sql| sql.execute("UPDATE source SET mark = ?", [mark]).map(drop))
    }
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
        state.set_catalogue(&Location::at(&near)).expect("noted");
        drop(state);
        std::fs::rename(&old, &new).expect("moved");
        let mut state = State::open(&new.join("a")).expect("the same state");
        assert_eq!(state.catalogue().expect("readable"), Some(Location::at(new.join("all.sqlite"))), "moved together");
        state.set_catalogue(&Location::at(&far)).expect("noted");
        drop(state);
        std::fs::rename(&new, &old).expect("moved");
        let state = State::open(&old.join("a")).expect("the same state");
        assert_eq!(state.catalogue().expect("readable"), Some(Location::at(far)), "not moved");
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
