//! The catalogue follows all changes of the directory.

mod described;
mod kept;
mod linked;
mod rooted;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use modoai_protocol::{Datestamp, SetSpec};
use modoai_testkit::waiting::{wait_for, wait_until};

use super::{IngestError, Keeper, Pace, Part, Reconciler, read_everything};
use crate::catalogue::roles::{Changes, Inventory, MemoryWriter};
use crate::catalogue::sqlite::system_clock;
use crate::catalogue::{
    Access, Catalogue, CatalogueError, CatalogueKind, Change, Detail, Known, Learned, Location, PageQuery, Selected,
    Writer, open,
};
use crate::formats::steady::digests_of;
use crate::item::{Facts, Item};
use crate::site::folder::Folder;
use crate::site::{Links, Root, Site, SiteSettings};

/// A directory with a catalogue.
struct Bench {
    folder: tempfile::TempDir,
    _state: tempfile::TempDir,
    catalogue: Arc<dyn Catalogue>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let state = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("root")).expect("a root");
        let catalogue = open(&Location::at(state.path()), Access::Write).expect("a catalogue");
        Self { folder, _state: state, catalogue }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        self.put_beside(&format!("root/{path}"), bytes);
    }

    /// Writes a file that is not below the root.
    fn put_beside(&self, path: &str, bytes: &[u8]) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("folders");
        fs::write(path, bytes).expect("a file");
    }

    fn reconciler(&self) -> Reconciler {
        self.reconciler_with(self.writer())
    }

    fn reconciler_with(&self, writer: Box<dyn Writer>) -> Reconciler {
        let site = Site::open(&self.root(), &SiteSettings::default(), &[]).expect("a site");
        Reconciler::new(Arc::new(site), writer, 50)
    }

    /// Returns a site of the root and of these paths outside it, at these prefixes.
    fn site_with(&self, added: &[(&str, &str)]) -> Arc<Site> {
        let added = added.iter().map(|(prefix, path)| ((*prefix).to_owned(), self.folder.path().join(path)));
        let roots = std::iter::once((String::new(), self.root())).chain(added);
        let roots = roots.map(|(prefix, path)| Root { prefix, path }).collect();
        Arc::new(Site::open_roots(roots, &SiteSettings::default(), &[]).expect("a site"))
    }

    fn reconciler_of(&self, site: &Arc<Site>) -> Reconciler {
        Reconciler::new(site.clone(), self.writer(), 50)
    }

    fn writer(&self) -> Box<dyn Writer> {
        self.catalogue.writer().expect("the only writer")
    }

    fn keeper(&self) -> Keeper {
        self.keeper_of(self.reconciler(), true)
    }

    fn keeper_of(&self, reconciler: Reconciler, digests: bool) -> Keeper {
        let pace = Pace { rescan: Duration::from_secs(3_600), digests, access_files: Vec::new() };
        Keeper::start(reconciler, self.catalogue.clone(), pace).expect("a keeper")
    }

    /// Scans everything once, as `modoai index` does.
    fn index(&self) {
        self.reconciler().everything(&|_, _| {}).expect("an index");
    }

    fn items(&self) -> BTreeMap<String, Item> {
        let query = PageQuery { selection: Selected::ALL, after: None, limit: 1_000_000, detail: Detail::Whole };
        let items = self.catalogue.page(&query).expect("a page");
        items.into_iter().map(|item| (item.name.clone(), item)).collect()
    }

    fn live(&self) -> Vec<String> {
        self.items().into_values().filter(|item| !item.deleted).map(|item| item.name).collect()
    }

    /// Renames something outside the root.
    fn rename_beside(&self, from: &str, to: &str) {
        fs::rename(self.folder.path().join(from), self.folder.path().join(to)).expect("renamed");
    }

    /// Waits until the condition is true.
    #[track_caller]
    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        wait_until(what, is_so);
    }

    fn stamp(&self, name: &str) -> Datestamp {
        self.items()[name].datestamp
    }
}

/// Waits until the catalogue lists exactly these names.
#[track_caller]
fn until_live(bench: &Bench, expected: &[&str]) {
    wait_for(&format!("{expected:?} are listed"), || {
        let live = bench.live();
        if live == expected { Ok(()) } else { Err(format!("listed: {live:?}")) }
    });
}

/// A writer that counts its commits, and panics if it exceeds this number.
struct Spy {
    writer: Box<dyn Writer>,
    commits: Arc<AtomicUsize>,
    most: usize,
}

impl Changes for Spy {
    fn apply(&mut self, changes: &[Change]) -> Result<Vec<usize>, CatalogueError> {
        assert!(self.commits.fetch_add(1, Ordering::Relaxed) < self.most, "one commit too many");
        self.writer.apply(changes)
    }

    fn live(&mut self) -> Result<u64, CatalogueError> {
        self.writer.live()
    }

    fn complete(&mut self) -> Result<(), CatalogueError> {
        self.writer.complete()
    }
}

impl Inventory for Spy {
    fn known(&mut self, prefix: &str, after: &str, limit: usize) -> Result<Vec<Known>, CatalogueError> {
        self.writer.known(prefix, after, limit)
    }

    fn names_of_inodes(&mut self, inodes: &BTreeSet<u64>) -> Result<Vec<(u64, String)>, CatalogueError> {
        self.writer.names_of_inodes(inodes)
    }

    fn mounts(&mut self) -> Result<BTreeSet<String>, CatalogueError> {
        self.writer.mounts()
    }

    fn set_mounts(&mut self, folders: &BTreeSet<String>) -> Result<(), CatalogueError> {
        self.writer.set_mounts(folders)
    }
}

impl MemoryWriter for Spy {
    fn claim(&mut self, kind: CatalogueKind) -> Result<(), CatalogueError> {
        self.writer.claim(kind)
    }

    fn name_set(&mut self, set: &SetSpec, title: &str, description: Option<&str>) -> Result<(), CatalogueError> {
        self.writer.name_set(set, title, description)
    }

    fn set_memo(&mut self, key: &str, value: Option<&[u8]>) -> Result<(), CatalogueError> {
        self.writer.set_memo(key, value)
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
fn media_types_follow_the_settings_in_both_directions() {
    let bench = Bench::new();
    bench.put("note.foo", b"text");
    let index_with = |types: &[(&str, &str)]| {
        let types = types.iter().map(|(extension, media_type)| ((*extension).to_owned(), (*media_type).to_owned()));
        let settings = SiteSettings { types: types.collect(), ..SiteSettings::default() };
        let site = Arc::new(Site::open(&bench.root(), &settings, &[]).expect("a site"));
        Reconciler::new(site, bench.writer(), 50).everything(&|_, _| {}).expect("an index");
        bench.items()["note.foo"].media_type.to_string()
    };
    assert_eq!(index_with(&[]), "text/plain");
    assert_eq!(index_with(&[("foo", "text/x-foo")]), "text/x-foo");
    assert_eq!(index_with(&[]), "text/plain");
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
    // As by `cp -p` or `rsync -a --inplace`: same size, same modification time, other bytes.
    fs::write(&path, b"other").expect("a change");
    set_modified(&path, past);
    // A file from the past, as `tar x` creates it.
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
    reconciler.accepting_deletions().everything(&|_, _| {}).expect("believed when told to");
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
    assert!(matches!(refused, Err(IngestError::TooManyDeletions { share: 50, live: 2_101 })), "{refused:?}");
    assert_eq!(bench.live().len(), 2_101);
    // The same deletion is accepted if it is observed as an event.
    bench.reconciler().reconcile(&[Part::Name("disk".to_owned())], &|_, _| {}).expect("followed");
    assert_eq!(bench.live(), ["home"]);
}

#[test]
fn many_parts_are_one_commit() {
    let bench = Bench::new();
    bench.put("a", b"x");
    bench.index();
    fs::remove_file(bench.root().join("a")).expect("removed");
    for number in 0..100 {
        bench.put(&format!("b/{number}"), b"x");
    }
    let commits = Arc::new(AtomicUsize::new(0));
    let spy = Spy { writer: bench.writer(), commits: commits.clone(), most: usize::MAX };
    let names = (0..100).map(|number| format!("b/{number}")).chain(["a".to_owned(), "nowhere".to_owned()]);
    let parts: Vec<Part> = names.map(Part::Name).collect();
    let tally = bench.reconciler_with(Box::new(spy)).reconcile(&parts, &|_, _| {}).expect("followed");
    assert_eq!((tally.put, tally.deleted), (100, 1));
    assert_eq!((bench.live().len(), commits.load(Ordering::Relaxed)), (100, 1));
}

#[test]
fn an_unmounted_disk_is_no_deletion_although_it_was_mounted_before_the_start() {
    let bench = Bench::new();
    for path in ["disk/a", "disk/deep/b", "disks/c"] {
        bench.put(path, b"x");
    }
    bench.index();
    bench.writer().set_mounts(&BTreeSet::from(["disk/".to_owned()])).expect("remembered");
    for path in ["disk/a", "disk/deep/b", "disks/c"] {
        fs::remove_file(bench.root().join(path)).expect("removed");
    }
    bench.put("disk/new", b"x");
    bench.index();
    assert_eq!(bench.live(), ["disk/a", "disk/deep/b", "disk/new"]);
    // It is not accepted either if only that part is scanned; and the mount point is still remembered.
    bench.reconciler().reconcile(&[Part::Name("disk".to_owned())], &|_, _| {}).expect("followed");
    bench.index();
    assert_eq!(bench.live().len(), 3);
    bench.reconciler().accepting_deletions().everything(&|_, _| {}).expect("believed when told to");
    assert_eq!(bench.live(), ["disk/new"]);
    assert!(bench.writer().mounts().expect("mounts").is_empty(), "an ordinary folder from now on");
}

#[test]
fn a_disk_that_is_mounted_is_remembered() {
    let bench = Bench::new();
    // Tests cannot mount a file system, but a link to another device looks the same.
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    fs::write(elsewhere.path().join("a"), b"x").expect("a file");
    fs::create_dir(elsewhere.path().join("inner")).expect("a folder");
    std::os::unix::fs::symlink(elsewhere.path(), bench.root().join("disk")).expect("a link");
    let settings = SiteSettings { follow_links: Links::Anywhere, ..SiteSettings::default() };
    let site = Arc::new(Site::open(&bench.root(), &settings, &[]).expect("a site"));
    Reconciler::new(site, bench.writer(), 50).everything(&|_, _| {}).expect("an index");
    if device(elsewhere.path()) != device(&bench.root()) {
        assert_eq!(bench.writer().mounts().expect("mounts"), BTreeSet::from(["disk/".to_owned()]));
    }
    assert_eq!(bench.live(), ["disk/a"]);
}

#[test]
fn a_disk_that_goes_during_the_walk_is_no_deletion() {
    let bench = Bench::new();
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    if device(elsewhere.path()) == device(&bench.root()) {
        return;
    }
    let (disk, other) = (bench.root().join("disk"), bench.folder.path().join("mount point"));
    fs::create_dir(&other).expect("a folder");
    fs::write(elsewhere.path().join("a"), b"x").expect("a file");
    std::os::unix::fs::symlink(elsewhere.path(), &disk).expect("a link");
    bench.put("before", b"x");
    let settings = SiteSettings { follow_links: Links::Anywhere, ..SiteSettings::default() };
    let site = Arc::new(Site::open(&bench.root(), &settings, &[]).expect("a site"));
    let mut reconciler = Reconciler::new(site, bench.writer(), 50);
    reconciler.everything(&|_, _| {}).expect("an index");
    let unmount = |_: &Folder, name: &str| {
        if name.is_empty() {
            fs::remove_file(&disk).expect("removed");
            std::os::unix::fs::symlink(&other, &disk).expect("a link");
        }
    };
    reconciler.reconcile(&[Part::Everything], &unmount).expect("an index");
    assert_eq!(bench.live(), ["before", "disk/a"]);
}

fn device(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::dev(&fs::metadata(path).expect("a file"))
}
