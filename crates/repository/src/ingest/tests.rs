//! The catalogue follows the folder, whatever happens to the folder.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use modoai_protocol::{Datestamp, Range};

use super::{IngestError, Keeper, Pace, Part, Reconciler};
use crate::catalogue::sqlite::Sqlite;
use crate::catalogue::{Catalogue, Learned, PageQuery, system_clock};
use crate::formats::steady::digests_of;
use crate::item::{Facts, Item};
use crate::site::{Site, SiteSettings};

/// A folder with a catalogue.
struct Bench {
    folder: tempfile::TempDir,
    _state: tempfile::TempDir,
    catalogue: Arc<Sqlite>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let state = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("root")).expect("a root");
        let catalogue = Arc::new(Sqlite::open(state.path(), system_clock()).expect("a catalogue"));
        Self { folder, _state: state, catalogue }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("folders");
        fs::write(path, bytes).expect("a file");
    }

    fn reconciler(&self) -> Reconciler {
        let site = Site::open(&self.root(), &SiteSettings::default(), &[]).expect("a site");
        Reconciler::new(Arc::new(site), self.catalogue.writer().expect("the only writer"), 50)
    }

    fn keeper(&self) -> Keeper {
        let pace = Pace { rescan: Duration::from_secs(3_600), digests_up_to: 10 };
        Keeper::start(self.reconciler(), self.catalogue.clone(), pace).expect("a keeper")
    }

    /// Looks at everything once, as `modoai index` does.
    fn index(&self) {
        self.reconciler().everything(&|_, _| {}).expect("an index");
    }

    fn items(&self) -> BTreeMap<String, Item> {
        let query = PageQuery { set: None, range: Range::ALL, after: None, limit: 1_000_000 };
        let items = self.catalogue.page(&query).expect("a page");
        items.into_iter().map(|item| (item.name.clone(), item)).collect()
    }

    fn live(&self) -> Vec<String> {
        self.items().into_values().filter(|item| !item.deleted).map(|item| item.name).collect()
    }

    fn stamp(&self, name: &str) -> Datestamp {
        self.items()[name].datestamp
    }
}

fn set_modified(path: &Path, when: SystemTime) {
    let file = File::options().write(true).open(path).expect("a file");
    file.set_times(FileTimes::new().set_modified(when)).expect("its time set");
}

fn ago(seconds: u64) -> SystemTime {
    SystemTime::now() - Duration::from_secs(seconds)
}

#[test]
fn a_first_index_stamps_with_modification_times_but_never_in_the_future() {
    let bench = Bench::new();
    bench.put("old", b"x");
    bench.put("new", b"x");
    set_modified(&bench.root().join("old"), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
    set_modified(&bench.root().join("new"), SystemTime::now() + Duration::from_secs(1_000_000));
    bench.index();
    assert_eq!(bench.stamp("old").to_string(), "2001-09-09T01:46:40Z");
    assert!(bench.stamp("new") <= system_clock()());
}

#[test]
fn no_trick_with_times_hides_a_change() {
    let bench = Bench::new();
    bench.put("file", b"first");
    let path = bench.root().join("file");
    let past = ago(1_000_000);
    set_modified(&path, past);
    bench.index();
    let before = bench.stamp("file");
    // As `cp -p` or `rsync -a --inplace` would: same size, same modification time, other bytes.
    fs::write(&path, b"other").expect("a change");
    set_modified(&path, past);
    // And a file from the past, as `tar x` makes it.
    bench.put("unpacked", b"x");
    set_modified(&bench.root().join("unpacked"), past);
    bench.index();
    assert!(bench.stamp("file") > before);
    assert!(bench.stamp("unpacked") > before);
}

#[test]
fn a_change_of_permissions_is_no_change_where_digests_prove_it() {
    let bench = Bench::new();
    bench.put("file", b"bytes");
    let path = bench.root().join("file");
    set_modified(&path, ago(1_000));
    bench.index();
    let item = &bench.items()["file"];
    let digests = digests_of(&mut File::open(&path).expect("a file")).expect("its digests");
    let facts = Facts { title: None, digests: Some(digests) };
    let learned = Learned { number: item.number, fingerprint: item.fingerprint, facts };
    bench.catalogue.learn(&[learned]).expect("learnt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("permissions");
    bench.index();
    let after = &bench.items()["file"];
    assert_eq!(after.datestamp, item.datestamp);
    assert_ne!(after.fingerprint, item.fingerprint);
    assert_eq!(after.facts.digests, Some(digests));
}

#[test]
fn renamed_and_removed_things_leave_tombstones() {
    let bench = Bench::new();
    for path in ["a/1.txt", "a/2.txt", "b.txt", "c"] {
        bench.put(path, b"x");
    }
    bench.index();
    fs::rename(bench.root().join("a"), bench.root().join("z")).expect("renamed");
    fs::remove_file(bench.root().join("b.txt")).expect("removed");
    fs::remove_file(bench.root().join("c")).expect("removed");
    bench.put("c/inside", b"a folder where a file was");
    bench.index();
    assert_eq!(bench.live(), ["c/inside", "z/1.txt", "z/2.txt"]);
    let tombstone = &bench.items()["a/1.txt"];
    assert!(tombstone.deleted && tombstone.sets[0].as_str() == "mime:text:plain");
}

#[test]
fn a_missing_or_empty_root_is_not_a_thousand_deletions() {
    let bench = Bench::new();
    bench.put("a", b"x");
    bench.index();
    let mut reconciler = bench.reconciler();
    let (root, away) = (bench.root(), bench.folder.path().join("away"));
    fs::rename(&root, &away).expect("moved away");
    assert!(matches!(reconciler.everything(&|_, _| {}), Err(IngestError::Root(_))));
    fs::create_dir(&root).expect("an empty mount point");
    assert!(matches!(reconciler.everything(&|_, _| {}), Err(IngestError::Emptied { live: 1 })));
    assert_eq!(bench.live(), ["a"]);
    reconciler.believing_all().everything(&|_, _| {}).expect("believed when told to");
    assert!(bench.live().is_empty());
}

#[test]
fn most_of_a_site_gone_at_once_is_not_believed() {
    let bench = Bench::new();
    for number in 0..2_100 {
        bench.put(&format!("disk/{number}"), b"x");
    }
    bench.put("home", b"x");
    bench.index();
    fs::remove_dir_all(bench.root().join("disk")).expect("removed");
    let refused = bench.reconciler().everything(&|_, _| {});
    assert!(matches!(refused, Err(IngestError::Vanished { share: 50, live: 2_101 })), "{refused:?}");
    assert_eq!(bench.live().len(), 2_101);
    // The same seen as it happens is believed: there are events for it.
    bench.reconciler().reconcile(&Part::Name("disk".to_owned()), &|_, _| {}).expect("followed");
    assert_eq!(bench.live(), ["home"]);
}

/// Waits until the catalogue lists exactly these, and says how long it took.
fn until_live(bench: &Bench, expected: &[&str]) -> Duration {
    let start = Instant::now();
    loop {
        let live = bench.live();
        if live == expected {
            return start.elapsed();
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{live:?} is not {expected:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_kept_catalogue_shows_every_change_within_a_second() {
    let bench = Bench::new();
    let root = bench.root();
    bench.put("a", b"x");
    let keeper = bench.keeper();
    until_live(&bench, &["a"]);
    let soon = |expected: &[&str]| {
        let took = until_live(&bench, expected);
        assert!(took < Duration::from_secs(1), "{expected:?} took {took:?}");
    };
    bench.put("b", b"x");
    soon(&["a", "b"]);
    bench.put("deep/er/c", b"x");
    soon(&["a", "b", "deep/er/c"]);
    bench.put("deep/er/d", b"x");
    soon(&["a", "b", "deep/er/c", "deep/er/d"]);
    fs::rename(root.join("deep"), root.join("moved")).expect("renamed");
    soon(&["a", "b", "moved/er/c", "moved/er/d"]);
    // The moved folder is still watched, under its new name.
    bench.put("moved/er/e", b"x");
    fs::remove_file(root.join("moved/er/c")).expect("removed");
    soon(&["a", "b", "moved/er/d", "moved/er/e"]);
    // Moved out of the site, and back in.
    fs::rename(root.join("moved"), bench.folder.path().join("outside")).expect("moved out");
    soon(&["a", "b"]);
    fs::rename(bench.folder.path().join("outside"), root.join("moved")).expect("moved in");
    soon(&["a", "b", "moved/er/d", "moved/er/e"]);
    fs::remove_dir_all(root.join("moved")).expect("removed");
    soon(&["a", "b"]);
    // Atomic replacement changes the file without it ever being away.
    let before = bench.items()["a"].fingerprint;
    bench.put(".a.new", b"replaced");
    fs::rename(root.join(".a.new"), root.join("a")).expect("replaced");
    let start = Instant::now();
    while bench.items()["a"].fingerprint == before {
        assert!(start.elapsed() < Duration::from_secs(1), "a replaced file must be seen to change");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(bench.items().values().all(|item| !item.name.contains(".a.new")));
    drop(keeper);
}

#[test]
fn files_are_read_ahead_of_whoever_needs_to_know_them() {
    let bench = Bench::new();
    bench.put("page.html", b"<title>Read ahead</title>");
    bench.put("small", b"x");
    let _keeper = bench.keeper();
    let facts = |name: &str| bench.items().get(name).map(|item| item.facts.clone()).unwrap_or_default();
    let start = Instant::now();
    while facts("page.html").title.as_deref() != Some("Read ahead") || facts("small").digests.is_none() {
        assert!(start.elapsed() < Duration::from_secs(5), "both should have been read");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(facts("page.html").digests, None, "too large to be hashed ahead");
    assert_eq!(facts("small").title, None, "no title to be read");
}

#[test]
fn a_link_changes_with_what_it_leads_to() {
    let bench = Bench::new();
    bench.put("real/file", b"x");
    symlink("real/file", bench.root().join("by-file")).expect("a link");
    symlink("real", bench.root().join("by-folder")).expect("a link");
    let _keeper = bench.keeper();
    until_live(&bench, &["by-file", "by-folder/file", "real/file"]);
    let before = bench.items();
    bench.put("real/file", b"changed");
    let start = Instant::now();
    let changed =
        |items: &BTreeMap<String, Item>| items.iter().all(|(name, item)| item.fingerprint != before[name].fingerprint);
    while !changed(&bench.items()) {
        assert!(start.elapsed() < Duration::from_secs(2), "every name of a file changes with it");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_root_that_goes_away_suspends_and_coming_back_resumes() {
    let bench = Bench::new();
    bench.put("a", b"x");
    let keeper = bench.keeper();
    let status = keeper.status();
    until_live(&bench, &["a"]);
    let (root, away) = (bench.root(), bench.folder.path().join("away"));
    let wait_for = |suspended: bool| {
        let start = Instant::now();
        while status.suspended().is_some() != suspended {
            assert!(start.elapsed() < Duration::from_secs(5), "suspended should be {suspended}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    fs::rename(&root, &away).expect("moved away");
    wait_for(true);
    assert_eq!(bench.live(), ["a"], "nothing is deleted");
    fs::create_dir(&root).expect("an empty mount point");
    std::thread::sleep(Duration::from_millis(1_300));
    assert_eq!(bench.live(), ["a"], "nothing is deleted");
    fs::remove_dir(&root).expect("removed");
    fs::write(away.join("b"), b"x").expect("a file");
    fs::rename(&away, &root).expect("moved back");
    wait_for(false);
    until_live(&bench, &["a", "b"]);
    bench.put("c", b"x");
    until_live(&bench, &["a", "b", "c"]);
}
