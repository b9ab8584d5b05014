//! The embedded engine: one SQLite file in WAL mode.
//!
//! Any number of processes can read it, one process at a time can write it, and no process waits for a reader. SQLite
//! was chosen because the kernel releases the locks and snapshots of a killed reader, and because any SQLite tool can
//! read the file.
//!
//! | file | content |
//! |---|---|
//! | `file` | opening, migration, locking, and errors |
//! | `001-….sql` | the tables |
//! | `handed_out` | the latest moment that was returned to a harvester |
//! | `read` | the queries for responses |
//! | `memory` | the kind of the catalogue, values under keys, names of sets |
//! | `imported` | the state of documents that an import remembers |
//! | `learn` | storing facts |
//! | `audiences` | recording the audiences that items were listed for |
//! | `write` | the only writer, and the protocol that assigns datestamps |
//! | `batch` | applying one batch of changes to the tables |
//! | `fill` | the first filling, optimised for speed |
//! | `insert` | inserting many rows with few statements |
//! | `membership` | the items of each set with their datestamps, and their number per day |
//! | `names` | the numbers of set specs, media types and formats, for readers |
//! | `registry` | the same numbers, for the writer that assigns them |
//! | `store` | records that were received as XML |
//! | `describe` | documents of an archive |

mod audiences;
mod batch;
mod describe;
mod file;
mod fill;
mod handed_out;
mod imported;
mod insert;
mod learn;
mod membership;
mod memory;
mod names;
mod read;
mod registry;
mod store;
mod write;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use modoai_protocol::{Datestamp, SetSpec};
use rusqlite::{Connection, ErrorCode};

pub(super) use self::file::{DEFAULT_NAME, check_file};
use self::file::{DatabaseFile, Role};
use self::handed_out::HandedOut;
use self::names::KnownNames;
use self::write::SqliteWriter;
use super::roles::{Imports, Learner, Lists, Memory, Records};
use super::stored::StoredFormat;
use super::{
    Access, Catalogue, CatalogueError, CatalogueKind, Detail, Imported, Learned, PageQuery, Selected, SetTitle,
    Standing, Unread, Writer,
};
use crate::audience::Listing;
use crate::item::{Digests, Fingerprint, Item};

/// The number of idle readers to keep. More concurrent requests than this are rare, and each reader has a cache.
const IDLE_READERS: usize = 4;

/// A clock. It is a parameter, so that tests can set it back.
pub type Clock = Arc<dyn Fn() -> Datestamp + Send + Sync>;

/// Returns the clock of the machine.
pub fn system_clock() -> Clock {
    Arc::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Datestamp::from_unix(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    })
}

/// A catalogue in one SQLite file.
pub struct Sqlite {
    shared: Arc<Shared>,
    idle_readers: Mutex<Vec<Connection>>,
    learner: Mutex<Option<Connection>>,
}

/// The state that readers and the writer share.
struct Shared {
    file: DatabaseFile,
    /// Device and inode of the file when it was opened.
    identity: Option<(u64, u64)>,
    clock: Clock,
    handed_out: HandedOut,
    names: KnownNames,
}

impl Shared {
    fn now(&self) -> i64 {
        (self.clock)().unix()
    }
}

impl Sqlite {
    /// Opens the catalogue in a file, or in the file of the default name in a directory. For writing, creates missing
    /// parts of the path; a path that does not exist yet is a directory unless it has an extension. For reading, the
    /// catalogue must exist; it is never written to, and nothing is created next to it except the files that SQLite
    /// itself needs to read.
    pub fn open(path: &Path, access: Access, clock: Clock) -> Result<Self, CatalogueError> {
        let file = DatabaseFile::at(path, access);
        match access {
            Access::Read => file.expect()?,
            Access::Write => file.prepare()?,
        }
        // If a user who only reads created the file, the writer might have no permission to write it.
        let handed_out = HandedOut::open(&file.beside("-asof"), access == Access::Write);
        let identity = file.identity();
        let shared = Shared { file, identity, clock, handed_out, names: KnownNames::default() };
        Ok(Self { shared: Arc::new(shared), idle_readers: Mutex::default(), learner: Mutex::default() })
    }

    /// Runs a query with an idle reader, or a new one. A reader is kept for later only if the query succeeds.
    fn read<T>(
        &self,
        activity: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, CatalogueError> {
        let failing = self.shared.file.failing(activity);
        let idle = self.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => self.shared.file.connect(Role::Reader).map_err(&failing)?,
        };
        let result = work(&reader).map_err(&failing)?;
        let mut idle = self.idle_readers.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_READERS {
            idle.push(reader);
        }
        Ok(result)
    }

    /// Stores facts. Drops them without an error if the catalogue is busy or read-only.
    fn learn_by(&self, work: impl Fn(&mut Connection) -> rusqlite::Result<()>) -> Result<(), CatalogueError> {
        let mut learner = self.learner.lock().unwrap_or_else(PoisonError::into_inner);
        let learnt = match &mut *learner {
            Some(connection) => work(connection),
            none => self.shared.file.connect(Role::Learner).and_then(|connection| work(none.insert(connection))),
        };
        match learnt {
            Err(error) if is_no_time_to_learn(&error) => {
                tracing::debug!(%error, "facts dropped");
                Ok(())
            }
            learnt => learnt.map_err(self.shared.file.failing("store digests and titles")),
        }
    }
}

impl Lists for Sqlite {
    fn standing(&self) -> Result<Standing, CatalogueError> {
        // The order matters. The moment is noted before `pending` is read: if no change is pending then, the next
        // writer announces its change later, and only after that reads the clock and this note.
        let now = self.shared.now();
        self.shared.handed_out.note(now);
        let (mut standing, pending) = self.read("read the state", read::standing)?;
        standing.as_of = Datestamp::from_unix(pending.map_or(now, |pending| pending.min(now)));
        Ok(standing)
    }

    fn page(&self, query: &PageQuery<'_>) -> Result<Vec<Item>, CatalogueError> {
        self.read("list items", |reader| read::page(reader, &self.shared.names, query))
    }

    fn count(&self, selection: Selected<'_>) -> Result<u64, CatalogueError> {
        self.read("count items", |reader| read::count(reader, &self.shared.names, selection))
    }

    fn item(&self, name: &str) -> Result<Option<Item>, CatalogueError> {
        self.read("look up an item", |reader| read::item(reader, &self.shared.names, name))
    }

    fn sets(&self) -> Result<Vec<Arc<SetSpec>>, CatalogueError> {
        self.read("list sets", read::sets)
    }

    fn live_counts(&self) -> Result<HashMap<String, u64>, CatalogueError> {
        self.read("count items", read::live_counts)
    }
}

impl Records for Sqlite {
    fn item_with(&self, name: &str, format: Option<&str>, detail: Detail) -> Result<Option<Item>, CatalogueError> {
        self.read("look up a record", |reader| read::item_with(reader, &self.shared.names, name, format, detail))
    }

    fn piece(&self, body: i64, place: i64) -> Result<Option<Vec<u8>>, CatalogueError> {
        self.read("read a record", |reader| read::piece(reader, body, place))
    }

    fn formats(&self) -> Result<Vec<Arc<StoredFormat>>, CatalogueError> {
        self.read("list formats", |reader| {
            let names = self.shared.names.renewed(reader)?;
            let offered = names.formats().filter(|(_, format)| format.is_offered());
            Ok(offered.map(|(_, format)| Arc::clone(format)).collect())
        })
    }
}

impl Memory for Sqlite {
    fn kind(&self) -> Result<Option<CatalogueKind>, CatalogueError> {
        self.read("read the kind", memory::kind)
    }

    fn memo(&self, key: &str) -> Result<Option<Vec<u8>>, CatalogueError> {
        self.read("read a stored value", |reader| memory::memo(reader, key))
    }

    fn set_titles(&self) -> Result<Vec<SetTitle>, CatalogueError> {
        self.read("list the names of sets", memory::set_titles)
    }
}

impl Imports for Sqlite {
    fn imported(&self, names: &[&str]) -> Result<Vec<Option<Imported>>, CatalogueError> {
        self.read("look up imported documents", |reader| imported::imported(reader, names))
    }

    fn names_from(&self, source: u64, after: &str, limit: usize) -> Result<Vec<String>, CatalogueError> {
        self.read("list the documents of a source", |reader| imported::names_from(reader, source, after, limit))
    }

    fn described(&self, gone: bool, after: i64, limit: usize) -> Result<Vec<Item>, CatalogueError> {
        self.read("list records", |reader| read::described(reader, &self.shared.names, gone, after, limit))
    }
}

impl Learner for Sqlite {
    fn unread(&self, wanted: &Unread<'_>, after: i64, limit: usize) -> Result<Vec<Item>, CatalogueError> {
        self.read("list unread items", |reader| read::unread(reader, &self.shared.names, wanted, after, limit))
    }

    fn learn(&self, facts: &[Learned]) -> Result<(), CatalogueError> {
        if facts.is_empty() { Ok(()) } else { self.learn_by(|connection| learn::remember(connection, facts)) }
    }

    fn file_digests(&self, path: &str) -> Result<Option<(Fingerprint, Digests)>, CatalogueError> {
        self.read("look up digests", |reader| learn::of_file(reader, path))
    }

    fn learn_file(&self, path: &str, state: &Fingerprint, digests: &Digests) -> Result<(), CatalogueError> {
        self.learn_by(|connection| learn::remember_file(connection, path, state, digests))
    }

    fn record_audiences(&self, listed: &[Listing]) -> Result<(), CatalogueError> {
        if listed.is_empty() {
            return Ok(());
        }
        // Needed once for each item and audience, which is rare enough to open a connection each time.
        let connection = self.shared.file.connect(Role::Recorder);
        let recorded = connection.and_then(|mut connection| audiences::record(&mut connection, listed));
        recorded.map_err(self.shared.file.failing("record audiences"))
    }
}

impl Catalogue for Sqlite {
    fn is_in_place(&self) -> bool {
        self.shared.identity.is_some() && self.shared.file.identity() == self.shared.identity
    }

    fn writer(&self) -> Result<Box<dyn Writer>, CatalogueError> {
        Ok(Box::new(SqliteWriter::open(Arc::clone(&self.shared))?))
    }
}

/// Returns true if another process writes, or if this process may only read. Neither is reported as an error.
fn is_no_time_to_learn(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, ReadOnly};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | ReadOnly))
}
