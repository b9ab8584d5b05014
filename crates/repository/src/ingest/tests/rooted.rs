//! Added roots are watched like the main one, and may be created and removed.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::super::large::LARGE;
use super::*;

fn soon(bench: &Bench, expected: &[&str]) {
    until_live(bench, expected);
}

/// Returns a bench with a keeper of these roots.
fn kept(added: &[(&str, &str)], files: &[&str]) -> (Bench, Keeper) {
    let bench = Bench::new();
    files.iter().for_each(|path| bench.put_beside(path, b"x"));
    let keeper = bench.keeper_of(bench.reconciler_of(&bench.site_with(added)), true);
    let status = keeper.status();
    bench.until("settled", || status.is_settled());
    (bench, keeper)
}

#[test]
fn an_added_root_is_followed_through_its_loss_and_its_return() {
    let (bench, keeper) = kept(&[("x/docs", "docs")], &["root/a", "docs/b", "docs/deep/c"]);
    soon(&bench, &["a", "x/docs/b", "x/docs/deep/c"]);
    bench.put_beside("docs/deep/d", b"x");
    soon(&bench, &["a", "x/docs/b", "x/docs/deep/c", "x/docs/deep/d"]);
    bench.rename_beside("docs", "away");
    soon(&bench, &["a"]);
    assert_eq!(keeper.status().suspended(), None);
    bench.put_beside("away/e", b"x");
    bench.rename_beside("away", "docs");
    soon(&bench, &["a", "x/docs/b", "x/docs/deep/c", "x/docs/deep/d", "x/docs/e"]);
    // It is watched again.
    bench.put_beside("docs/deep/f", b"x");
    fs::remove_file(bench.folder.path().join("docs/b")).expect("removed");
    soon(&bench, &["a", "x/docs/deep/c", "x/docs/deep/d", "x/docs/deep/f", "x/docs/e"]);
    fs::remove_dir_all(bench.folder.path().join("docs")).expect("removed");
    soon(&bench, &["a"]);
    bench.put_beside("docs/g", b"x");
    soon(&bench, &["a", "x/docs/g"]);
    // It is also watched after a scan of its parent directory.
    bench.put("x/h", b"x");
    soon(&bench, &["a", "x/docs/g", "x/h"]);
    bench.rename_beside("docs", "away");
    soon(&bench, &["a", "x/h"]);
    bench.rename_beside("away", "docs");
    soon(&bench, &["a", "x/docs/g", "x/h"]);
}

#[test]
fn a_root_that_was_never_there_is_noticed_when_it_comes() {
    let (bench, _keeper) = kept(&[("~alice", "home/alice/public")], &["root/a"]);
    bench.put_beside("home/bob/public/b", b"x");
    bench.put_beside("home/alice/private", b"x");
    soon(&bench, &["a"]);
    bench.put_beside("home/alice/public/page", b"x");
    soon(&bench, &["a", "~alice/page"]);
    // Regardless of which directory in its path is renamed.
    bench.rename_beside("home/alice", "home/gone");
    soon(&bench, &["a"]);
    bench.rename_beside("home/gone", "home/alice");
    soon(&bench, &["a", "~alice/page"]);
}

#[test]
fn a_root_behind_a_link_changes_with_the_link() {
    let bench = Bench::new();
    for path in ["root/a", "v1/one", "v2/two"] {
        bench.put_beside(path, b"x");
    }
    symlink("v1", bench.folder.path().join("current")).expect("a link");
    symlink("one", bench.folder.path().join("v1/by-link")).expect("a link");
    let _keeper = bench.keeper_of(bench.reconciler_of(&bench.site_with(&[("v", "current")])), true);
    until_live(&bench, &["a", "v/by-link", "v/one"]);
    let before = bench.items()["v/by-link"].fingerprint;
    bench.put_beside("v1/one", b"changed");
    bench.until("the link's file changed", || bench.items()["v/by-link"].fingerprint != before);
    symlink("v2", bench.folder.path().join("next")).expect("a link");
    bench.rename_beside("next", "current");
    soon(&bench, &["a", "v/two"]);
    bench.put_beside("v2/three", b"x");
    soon(&bench, &["a", "v/three", "v/two"]);
}

#[test]
fn a_single_file_is_followed() {
    let (bench, _keeper) = kept(&[("favicon.ico", "art/icon"), ("deep/odd", "art/other")], &["root/a", "art/icon"]);
    soon(&bench, &["a", "favicon.ico"]);
    let changes = |what: &str, change: &dyn Fn()| {
        let before = bench.items()["favicon.ico"].fingerprint;
        change();
        bench.until(what, || bench.items()["favicon.ico"].fingerprint != before);
    };
    changes("written", &|| bench.put_beside("art/icon", b"changed"));
    changes("replaced", &|| {
        bench.put_beside("art/new", b"replaced");
        bench.rename_beside("art/new", "art/icon");
    });
    changes("written after that", &|| bench.put_beside("art/icon", b"changed again"));
    fs::remove_file(bench.folder.path().join("art/icon")).expect("removed");
    soon(&bench, &["a"]);
    bench.put_beside("art/icon", b"back");
    bench.put_beside("art/other", b"new");
    soon(&bench, &["a", "deep/odd", "favicon.ico"]);
    changes("written once more", &|| bench.put_beside("art/icon", b"changed for good"));
}

#[test]
fn a_folder_of_two_names_changes_under_both() {
    let (bench, _keeper) =
        kept(&[("one", "docs"), ("two", "docs"), ("main", "root/inner")], &["docs/a", "root/inner/b"]);
    soon(&bench, &["inner/b", "main/b", "one/a", "two/a"]);
    bench.put_beside("docs/deep/c", b"x");
    bench.put("inner/d", b"x");
    soon(&bench, &["inner/b", "inner/d", "main/b", "main/d", "one/a", "one/deep/c", "two/a", "two/deep/c"]);
    let before = bench.items();
    bench.put_beside("docs/deep/c", b"changed");
    let changed = |name: &str| bench.items()[name].fingerprint != before[name].fingerprint;
    bench.until("both changed", || changed("one/deep/c") && changed("two/deep/c"));
    fs::remove_dir_all(bench.folder.path().join("docs/deep")).expect("removed");
    soon(&bench, &["inner/b", "inner/d", "main/b", "main/d", "one/a", "two/a"]);
}

#[test]
fn folders_of_one_name_in_two_roots_are_both_watched() {
    let (bench, _keeper) = kept(&[("docs", "docs")], &["root/docs/in/a", "docs/in/b"]);
    soon(&bench, &["docs/in/a", "docs/in/b"]);
    bench.put_beside("docs/in/c", b"x");
    bench.put("docs/in/d", b"x");
    soon(&bench, &["docs/in/a", "docs/in/b", "docs/in/c", "docs/in/d"]);
    // The file below it becomes visible again.
    bench.put("docs/in/b", b"under it");
    bench.rename_beside("docs", "away");
    soon(&bench, &["docs/in/a", "docs/in/b", "docs/in/d"]);
    assert_eq!(bench.items()["docs/in/b"].fingerprint.size, 8);
}

#[test]
fn a_root_that_cannot_be_read_is_no_deletion() {
    let bench = Bench::new();
    for path in ["root/a", "docs/b", "docs/deep/c"] {
        bench.put_beside(path, b"x");
    }
    let site = bench.site_with(&[("x/docs", "docs")]);
    let docs = bench.folder.path().join("docs");
    let look = |parts: &[Part]| {
        let tally = bench.reconciler_of(&site).reconcile(parts, &|_, _| {}).expect("a look");
        (tally.unknown, tally.deleted)
    };
    bench.reconciler_of(&site).everything(&|_, _| {}).expect("an index");
    bench.rename_beside("docs", "away");
    // A loop of links is an error: its target is not known to be missing, for any user.
    symlink(&docs, &docs).expect("a link");
    fs::remove_file(bench.root().join("a")).expect("removed");
    bench.put("z", b"x");
    assert_eq!(look(&[Part::Name("x".to_owned())]), (1, 0));
    assert_eq!(look(&[Part::Name("x/docs/b".to_owned())]), (1, 0));
    assert_eq!(look(&[Part::Everything]), (1, 1));
    assert_eq!(bench.live(), ["x/docs/b", "x/docs/deep/c", "z"]);
    fs::remove_file(&docs).expect("removed");
    assert_eq!(look(&[Part::Everything]), (0, 2));
    assert_eq!(bench.live(), ["z"]);
}

#[test]
fn a_disk_behind_a_root_is_remembered_and_its_loss_is_no_deletion() {
    let bench = Bench::new();
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    if device(elsewhere.path()) == device(&bench.root()) {
        return;
    }
    fs::write(elsewhere.path().join("b"), b"x").expect("a file");
    bench.put("a", b"x");
    // Tests cannot mount a file system, but a link to another device looks the same.
    let disk = bench.folder.path().join("disk");
    symlink(elsewhere.path(), &disk).expect("a link");
    let site = bench.site_with(&[("disk", "disk"), ("same", "root")]);
    let look = || bench.reconciler_of(&site).everything(&|_, _| {}).expect("an index");
    look();
    // The directory for temporary files may be on a separate file system; that mount is remembered by its path.
    let mut mounts = bench.writer().mounts().expect("mounts");
    mounts.retain(|name| !name.starts_with('/'));
    assert_eq!(mounts, BTreeSet::from(["disk/".to_owned()]));
    fs::remove_file(&disk).expect("unmounted");
    fs::create_dir(&disk).expect("the mount point");
    look();
    assert_eq!(bench.live(), ["a", "disk/b", "same/a"]);
    fs::remove_dir(&disk).expect("removed");
    symlink(elsewhere.path(), &disk).expect("mounted again");
    fs::remove_file(elsewhere.path().join("b")).expect("removed");
    look();
    assert_eq!(bench.live(), ["a", "same/a"]);
}

#[test]
fn a_site_may_have_added_roots_only() {
    let bench = Bench::new();
    bench.put_beside("docs/a", b"x");
    let root = Root { prefix: "x/docs".to_owned(), path: bench.folder.path().join("docs") };
    let site = Arc::new(Site::open_roots(vec![root], &SiteSettings::default(), &[]).expect("a site"));
    let keeper = bench.keeper_of(bench.reconciler_of(&site), true);
    soon(&bench, &["x/docs/a"]);
    bench.put_beside("docs/b", b"x");
    soon(&bench, &["x/docs/a", "x/docs/b"]);
    assert_eq!(keeper.status().suspended(), None);
}

#[test]
fn a_name_that_is_pointed_elsewhere_is_looked_at_when_told() {
    let bench = Bench::new();
    bench.put("a", b"x");
    bench.put_beside("real", b"x");
    let site = bench.site_with(&[]);
    let keeper = bench.keeper_of(bench.reconciler_of(&site), true);
    until_live(&bench, &["a"]);
    site.point("other/name", &bench.folder.path().join("real"));
    keeper.look_at("other/name");
    soon(&bench, &["a", "other/name"]);
    bench.put_beside("real", b"changed");
    bench.until("its change", || bench.items()["other/name"].fingerprint.size == 7);
    keeper.look_at("");
    keeper.look_at("nowhere");
    bench.put("b", b"x");
    soon(&bench, &["a", "b", "other/name"]);
}

#[test]
fn thousands_of_added_roots_are_kept() {
    let homes: Vec<(String, String)> =
        (0..15_000).map(|number| (format!("~{number}"), format!("home/{number}/public"))).collect();
    let added: Vec<(&str, &str)> = homes.iter().map(|(prefix, path)| (prefix.as_str(), path.as_str())).collect();
    // Most have no pages.
    let files: Vec<String> = homes.iter().step_by(100).map(|(_, path)| format!("{path}/page")).collect();
    // Scanning every root for every other one would exceed the timeout of this test.
    let (bench, _keeper) = kept(&added, &files.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(bench.live().len(), 150);
    bench.put_beside("home/1001/public/page", b"x");
    bench.until("a new home", || bench.items().contains_key("~1001/page"));
}

#[test]
fn everything_can_be_read_at_once() {
    let bench = Bench::new();
    for number in 0..50 {
        bench.put(&format!("{number}.html"), b"<title>Read</title>");
    }
    bench.put("large", &vec![b'x'; usize::try_from(LARGE).expect("a small number") + 1]);
    bench.put_beside("docs/small", b"x");
    let site = bench.site_with(&[("docs", "docs")]);
    bench.reconciler_of(&site).everything(&|_, _| {}).expect("an index");
    let progress = AtomicU64::new(0);
    let read =
        |stop: bool| read_everything(&site, &*bench.catalogue, true, &AtomicBool::new(stop), &progress).expect("read");
    assert_eq!(read(true), 0);
    assert_eq!(read(false), 52);
    assert_eq!(progress.load(Ordering::Relaxed), 52);
    let items = bench.items();
    assert_eq!(items["7.html"].facts.title.as_deref(), Some("Read"));
    assert!(items["docs/small"].facts.digests.is_some() && items["large"].facts.digests.is_some());
    assert_eq!(read(false), 0);
}
