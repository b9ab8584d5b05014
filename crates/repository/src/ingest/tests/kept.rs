//! A running keeper detects changes.

use std::io::{self, Write as _};
use std::time::Instant;

use super::super::large::{Hashing, LARGE, Progress};
use super::*;
use crate::item::TICK;

#[test]
fn a_kept_catalogue_shows_every_change_soon() {
    let bench = Bench::new();
    let root = bench.root();
    bench.put("a", b"x");
    let keeper = bench.keeper();
    until_live(&bench, &["a"]);
    let soon = |expected: &[&str]| until_live(&bench, expected);
    bench.put("b", b"x");
    soon(&["a", "b"]);
    bench.put("deep/er/c", b"x");
    soon(&["a", "b", "deep/er/c"]);
    bench.put("deep/er/d", b"x");
    soon(&["a", "b", "deep/er/c", "deep/er/d"]);
    fs::rename(root.join("deep"), root.join("moved")).expect("renamed");
    soon(&["a", "b", "moved/er/c", "moved/er/d"]);
    // The moved directory is still watched, under its new name.
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
    // Atomic replacement changes the file, which is never missing.
    let before = bench.items()["a"].fingerprint;
    bench.put(".a.new", b"replaced");
    fs::rename(root.join(".a.new"), root.join("a")).expect("replaced");
    bench.until("a replaced file is seen to change", || bench.items()["a"].fingerprint != before);
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
    bench.until("both have been read", || {
        facts("page.html").title.as_deref() == Some("Read ahead") && facts("small").digests.is_some()
    });
    assert!(facts("page.html").digests.is_some(), "both at once");
    assert_eq!(facts("small").title, None, "no title to be read");
    // And again when they change, or when further ones are added.
    let before = facts("small").digests;
    bench.put("page.html", b"<title>Read again, later</title>");
    bench.put("small", b"y");
    for number in 0..50 {
        bench.put(&format!("new/{number}"), b"z");
    }
    bench.until("all have been read", || {
        facts("page.html").title.as_deref() == Some("Read again, later")
            && facts("small").digests.is_some_and(|digests| Some(digests) != before)
            && (0..50).all(|number| facts(&format!("new/{number}")).digests.is_some())
    });
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
        bench.until(&format!("suspended is {suspended}"), || status.suspended().is_some() == suspended);
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

#[test]
fn thousands_of_new_files_are_shown_soon() {
    let bench = Bench::new();
    let _keeper = bench.keeper();
    bench.put("a", b"x");
    until_live(&bench, &["a"]);
    for number in 0..4_000 {
        bench.put(&format!("new/{number}"), b"x");
    }
    bench.until("every new file", || bench.catalogue.count(Selected::ALL).expect("a count") == 4_001);
}

/// Returns a watched site with this number of files in one directory and one outside it, scanned once.
fn kept_with_disk(files: usize) -> (Bench, Keeper) {
    let bench = Bench::new();
    for number in 0..files {
        bench.put(&format!("disk/{number}"), b"x");
    }
    bench.put("home", b"x");
    bench.index();
    let keeper = bench.keeper();
    let status = keeper.status();
    bench.until("settled", || status.is_settled());
    (bench, keeper)
}

#[test]
fn deletions_seen_as_they_happen_are_believed_however_many() {
    let (bench, keeper) = kept_with_disk(6_000);
    let status = keeper.status();
    fs::remove_dir_all(bench.root().join("disk")).expect("removed");
    until_live(&bench, &["home"]);
    assert!(status.suspended().is_none());
}

#[test]
fn a_large_file_keeps_nobody_waiting() {
    let bench = Bench::new();
    let large = File::create(bench.root().join("large")).expect("a file");
    // Reading all of it would take most of an hour.
    large.set_len(8 << 40).expect("a hole");
    drop(large);
    let keeper = bench.keeper_of(bench.reconciler(), true);
    until_live(&bench, &["large"]);
    std::thread::sleep(Duration::from_millis(100));
    bench.put("small", b"x");
    until_live(&bench, &["large", "small"]);
    let is_hashed = |name: &str| bench.items().get(name).is_some_and(|item| item.facts.digests.is_some());
    bench.put("middle", &vec![b'x'; usize::try_from(LARGE).expect("a small number") + 1]);
    bench.until("smaller files are hashed", || is_hashed("small") && is_hashed("middle"));
    assert!(!is_hashed("large"));
    drop(keeper);
}

#[test]
fn digests_of_large_files_follow_changes_and_move_no_datestamp() {
    let bench = Bench::new();
    let size = usize::try_from(LARGE).expect("a small number") + 1;
    bench.put("a", &vec![b'a'; size]);
    // A file that was written a moment ago is scanned twice.
    std::thread::sleep(2 * TICK);
    let keeper = bench.keeper();
    let of = |name: &str| bench.items().get(name).and_then(|item| item.facts.digests);
    let expected = |byte: u8| Some(digests_of(&mut io::Cursor::new(vec![byte; size])).expect("memory"));
    let listed = |name: &str| bench.items().get(name).map(|item| item.datestamp);
    until_live(&bench, &["a"]);
    let datestamp = listed("a");
    bench.until("digests of a file that was there", || of("a") == expected(b'a'));
    assert_eq!(listed("a"), datestamp);
    bench.put("a", &vec![b'b'; size]);
    bench.put("b", &vec![b'c'; size]);
    bench.until("digests of files that changed or came", || of("a") == expected(b'b') && of("b") == expected(b'c'));
    // Large files are not compared: the new state is a change, and hashed again.
    let (before, path) = (bench.items()["b"].fingerprint, bench.root().join("b"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("other permissions");
    bench.until("digests of the new state", || bench.items()["b"].fingerprint != before && of("b") == expected(b'c'));
    drop(keeper);
}

#[test]
fn file_that_changes_while_it_is_hashed_yields_no_digests() {
    let bench = Bench::new();
    bench.put("a", &vec![b'a'; 3 << 20]);
    bench.index();
    let site = bench.site_with(&[]);
    let path = bench.root().join("a");
    type Change = fn(&Path) -> io::Result<()>;
    let changes: [Change; 3] = [
        |path| fs::OpenOptions::new().write(true).open(path)?.write_all(b"b"),
        |path| fs::OpenOptions::new().append(true).open(path)?.write_all(b"b"),
        |path| fs::remove_file(path),
    ];
    for change in changes {
        std::thread::sleep(2 * TICK);
        bench.index();
        let item = bench.items()["a"].clone();
        let hashing = Hashing::begin(&site, &item).expect("a file").expect("as it is known");
        let Progress::Unfinished(hashing) = hashing.step(Instant::now()).expect("read") else { panic!("too short") };
        change(&path).expect("changed");
        let ended = hashing.step(Instant::now() + Duration::from_secs(60)).expect("read");
        assert!(matches!(ended, Progress::Changed));
    }
}

#[test]
fn a_keeper_that_fails_says_so() {
    let bench = Bench::new();
    bench.put("a", b"x");
    let spy = Spy { writer: bench.writer(), commits: Arc::default(), most: 0 };
    let keeper = bench.keeper_of(bench.reconciler_with(Box::new(spy)), true);
    let status = keeper.status();
    bench.until("an end told", || status.suspended().is_some_and(|reason| reason.contains("no longer updated")));
}

#[test]
fn a_keeper_that_is_stopped_says_nothing() {
    let bench = Bench::new();
    let keeper = bench.keeper();
    let status = keeper.status();
    drop(keeper);
    assert_eq!(status.suspended(), None);
}

#[test]
fn a_site_that_is_back_but_for_most_of_it_is_not_suspended() {
    let (bench, keeper) = kept_with_disk(1_100);
    let status = keeper.status();
    let (root, away) = (bench.root(), bench.folder.path().join("away"));
    fs::rename(&root, &away).expect("moved away");
    bench.until("suspended", || status.suspended().is_some());
    fs::rename(away.join("disk"), bench.folder.path().join("lost")).expect("moved away");
    fs::rename(&away, &root).expect("moved back");
    bench.until("not suspended", || status.suspended().is_none());
    assert_eq!(bench.live().len(), 1_101, "nothing is deleted");
}
