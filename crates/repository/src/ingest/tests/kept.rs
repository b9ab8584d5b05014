//! A running keeper notices.

use super::*;

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
    assert_eq!(facts("page.html").digests, None, "too large to be hashed ahead");
    assert_eq!(facts("small").title, None, "no title to be read");
    // And again when they change, or when there are more of them.
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

/// A kept site of so many files in one folder and one beside it, compared once.
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
    // To read all of it would take most of an hour.
    large.set_len(8 << 40).expect("a hole");
    drop(large);
    let keeper = bench.keeper_of(bench.reconciler(), u64::MAX);
    until_live(&bench, &["large"]);
    std::thread::sleep(Duration::from_millis(100));
    bench.put("small", b"x");
    until_live(&bench, &["large", "small"]);
    drop(keeper);
}

#[test]
fn a_keeper_that_fails_says_so() {
    let bench = Bench::new();
    bench.put("a", b"x");
    let spy = Spy { writer: bench.writer(), commits: Arc::default(), most: 0 };
    let keeper = bench.keeper_of(bench.reconciler_with(Box::new(spy)), 10);
    let status = keeper.status();
    bench.until("an end told", || status.suspended().is_some_and(|reason| reason.contains("no longer kept")));
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
