//! The embedded engine: the battery, and what is true of its files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use modoai_protocol::Datestamp;
use modoai_repository::catalogue::roles::Lists as _;
use modoai_repository::catalogue::sqlite::{Clock, Sqlite};
use modoai_repository::catalogue::{Access, Catalogue, CatalogueError, Detail, PageQuery, Selected};
use modoai_repository::item::ListedFor;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::battery::{self, HandClock, Place, apply, everything, filled, item, put};

struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Place for Directory {
    fn open(&self, clock: Clock) -> Result<Arc<dyn Catalogue>, CatalogueError> {
        Ok(Arc::new(Sqlite::open(self.path(), Access::Write, clock)?))
    }
}

battery::battery!(Directory::new());

/// Why a file was refused.
fn refusal(result: Result<impl Sized, CatalogueError>, file: &Path) -> String {
    match result {
        Err(CatalogueError::Foreign { place, reason } | CatalogueError::NotReady { place, reason }) => {
            assert_eq!(Path::new(&place), file);
            reason
        }
        Err(other) => panic!("refused for another reason: {other:?}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn a_path_is_a_directory_or_a_file() {
    let directory = Directory::new();
    let clock = HandClock::at(10_000);
    let file = directory.path().join("deep/down/site.db");
    for (path, created) in [
        (file.clone(), file.clone()),
        (file.clone(), file),
        (directory.path().join("x/y"), directory.path().join("x/y/catalogue.sqlite")),
        (directory.path().to_owned(), directory.path().join("catalogue.sqlite")),
    ] {
        Sqlite::open(&path, Access::Write, clock.clock()).expect("the catalogue opens");
        assert!(created.is_file(), "{}", created.display());
    }
}

#[test]
fn what_is_not_a_catalogue_is_refused_and_left_alone() {
    let directory = Directory::new();
    let clock = HandClock::at(10_000);

    let text = directory.path().join("text.txt");
    let words = "not a database, ".repeat(100);
    fs::write(&text, &words).expect("a file");
    refusal(Sqlite::open(&text, Access::Write, clock.clock()), &text);
    assert_eq!(fs::read_to_string(&text).expect("the file"), words);

    let other = directory.path().join("other.db");
    Connection::open(&other).and_then(|db| db.execute_batch("CREATE TABLE t (x)")).expect("a database");
    assert!(refusal(Sqlite::open(&other, Access::Write, clock.clock()), &other).contains("another program"));

    let newer = directory.path().join("newer.db");
    drop(Sqlite::open(&newer, Access::Write, clock.clock()).expect("the catalogue opens"));
    Connection::open(&newer).and_then(|db| db.execute_batch("PRAGMA user_version = 99")).expect("a database");
    assert!(refusal(Sqlite::open(&newer, Access::Write, clock.clock()), &newer).contains("version 99"));

    let nothing = directory.path().join("empty.db");
    fs::write(&nothing, "").expect("a file");
    Sqlite::open(&nothing, Access::Write, clock.clock()).expect("an empty file may become a catalogue");
}

#[test]
fn a_damaged_file_is_named() {
    let directory = Directory::new();
    let clock = HandClock::at(10_000);
    let changes: Vec<_> = (0..2000).map(|n| put(&format!("{n:04}"), n, &["x"])).collect();
    drop(filled(&directory, &clock, &changes));
    let file = directory.path().join("catalogue.sqlite");
    let mut bytes = fs::read(&file).expect("the file");
    bytes[8192..].fill(0xa5);
    fs::write(&file, bytes).expect("the file");
    let query = PageQuery { selection: Selected::ALL, after: None, limit: 5000, detail: Detail::Whole };
    refusal(Sqlite::open(&file, Access::Write, clock.clock()).and_then(|catalogue| catalogue.page(&query)), &file);
}

#[test]
fn an_announcement_holds_readers_back_until_the_next_writer_comes() {
    let directory = Directory::new();
    let clock = HandClock::at(10_000);
    let catalogue = filled(&directory, &clock, &[put("a", 1, &["x"])]);
    // What a writer leaves behind that was killed between announcing a change and making it.
    let killed = Connection::open(directory.path().join("catalogue.sqlite")).expect("the database");
    killed.execute("UPDATE standing SET pending = 15000", []).expect("an announcement");
    let as_of = || catalogue.standing().expect("a standing").as_of.unix();
    assert_eq!(as_of(), 10_000);
    clock.set(20_000);
    assert_eq!(as_of(), 15_000);
    drop(catalogue.writer().expect("nobody else writes"));
    assert_eq!(as_of(), 20_000);
}

#[test]
fn a_stamp_is_chosen_after_the_announcement() {
    let directory = Directory::new();
    // A clock that goes on with every look, so that nothing can happen at the same time.
    let ticks = std::sync::atomic::AtomicI64::new(10_000);
    let clock: Clock = Arc::new(move || Datestamp::from_unix(ticks.fetch_add(1, std::sync::atomic::Ordering::SeqCst)));
    let catalogue = directory.open(clock).expect("the catalogue opens");
    catalogue.writer().expect("nobody else writes").complete().expect("the filling completes");
    for _ in 0..10 {
        let promised = catalogue.standing().expect("a standing").as_of;
        apply(&*catalogue, &[put("a", 1, &["x"])]);
        assert!(item(&*catalogue, "a").datestamp > promised);
    }
}

#[test]
fn the_log_stays_for_readers_that_may_not_write() {
    let directory = Directory::new();
    let catalogue = filled(&directory, &HandClock::at(10_000), &[put("a", 1, &["x"])]);
    assert_eq!(everything(&*catalogue).len(), 1);
    drop(catalogue);
    // Neither whoever read last nor whoever only opened takes it away.
    for _ in 0..2 {
        for suffix in ["", "-wal", "-shm"] {
            assert!(directory.path().join(format!("catalogue.sqlite{suffix}")).exists(), "{suffix}");
        }
        drop(directory.opened(&HandClock::at(10_000)));
    }
}

/// The names in a directory, sorted.
fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn whoever_opens_to_read_makes_nothing_and_follows_those_who_write() {
    let directory = Directory::new();
    let clock = HandClock::at(10_000);
    for path in [directory.path().to_owned(), directory.path().join("deep/site.db")] {
        let error = Sqlite::open(&path, Access::Read, clock.clock()).err().expect("there is none");
        let said = modoai_repository::with_causes(&error);
        assert!(said.contains("No such file"), "{said}");
    }
    fs::write(directory.path().join("new.db"), "").expect("a new file");
    let new = directory.path().join("new.db");
    assert!(refusal(Sqlite::open(&new, Access::Read, clock.clock()), &new).contains("it is empty"));
    assert_eq!(names_in(directory.path()), ["new.db"]);

    let writing = filled(&directory, &clock, &[put("a", 1, &["x"])]);
    let reading = Sqlite::open(directory.path(), Access::Read, clock.clock()).expect("the catalogue opens");
    assert_eq!(everything(&reading).len(), 1);
    apply(&*writing, &[put("b", 1, &["x"])]);
    assert_eq!(everything(&reading).len(), 2);
    let error = reading.writer().err().expect("it was opened to read");
    assert!(modoai_repository::with_causes(&error).contains("it is opened read-only"), "{error}");
    // Its moments count for those who write, also if the clock is set back.
    clock.set(20_000);
    assert_eq!(reading.standing().expect("a standing").as_of.unix(), 20_000);
    clock.set(10_000);
    apply(&*writing, &[put("a", 2, &["x"])]);
    assert!(item(&reading, "a").datestamp.unix() >= 20_000);
}

#[test]
fn an_older_catalogue_is_not_upgraded_by_those_who_read() {
    let directory = Directory::new();
    let clock = HandClock::at(10_000);
    drop(filled(&directory, &clock, &[put("a", 1, &["x"])]));
    let file = directory.path().join("catalogue.sqlite");
    let older = Connection::open(&file).expect("the database");
    older.pragma_update(None, "user_version", 1).expect("a version");
    let reason = refusal(Sqlite::open(&file, Access::Read, clock.clock()), &file);
    assert!(reason.contains("modoai import"), "{reason}");
    assert_eq!(older.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)), Ok(1));
}

/// The migrations of version 6, the last one without audiences.
const VERSION_6: [&str; 6] = [
    include_str!("../../src/catalogue/sqlite/001-catalogue.sql"),
    include_str!("../../src/catalogue/sqlite/002-publicity.sql"),
    include_str!("../../src/catalogue/sqlite/003-stored.sql"),
    include_str!("../../src/catalogue/sqlite/004-descriptions.sql"),
    include_str!("../../src/catalogue/sqlite/005-archive.sql"),
    include_str!("../../src/catalogue/sqlite/006-stamps.sql"),
];

#[test]
fn upgrade_from_version_6_marks_existing_items_as_listed_for_unrecorded_audiences() {
    let directory = Directory::new();
    let clock = HandClock::at(10_000);
    let file = directory.path().join("catalogue.sqlite");
    let older = Connection::open(&file).expect("a database");
    older.execute_batch(&VERSION_6.concat()).expect("tables");
    older
        .execute_batch(
            "PRAGMA application_id = 0x6d6f6169; PRAGMA user_version = 6;
             UPDATE standing SET ready = 1;
             INSERT INTO media VALUES (1, 'text/html');
             INSERT INTO record (number, datestamp, deleted, media, size, modified, changed, inode, sets, name)
             VALUES (1, 5, 1, 1, 1, 1, 1, 1, '', 'gone'), (2, 6, 0, 1, 1, 1, 1, 1, '', 'here');
             INSERT INTO name VALUES ('gone', 1), ('here', 2);
             INSERT INTO member VALUES (0, 5, 1), (0, 6, 2);
             INSERT INTO counter VALUES (0, 0, 2);
             UPDATE setname SET live = 1 WHERE set_id = 0;",
        )
        .expect("rows");
    drop(older);
    let catalogue = directory.opened(&clock);
    assert_eq!(everything(&*catalogue).len(), 2);
    assert!(item(&*catalogue, "gone").listed_for.and_others && item(&*catalogue, "gone").deleted);
    assert!(item(&*catalogue, "here").listed_for.and_others);
    // Only items that existed before the upgrade keep the mark.
    apply(&*catalogue, &[put("new", 1, &["x"]), put("here", 2, &["x"])]);
    assert_eq!(item(&*catalogue, "new").listed_for, ListedFor::default());
    assert!(item(&*catalogue, "here").listed_for.and_others);
}
