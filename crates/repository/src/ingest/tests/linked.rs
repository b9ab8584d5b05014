//! A name that is a symbolic link changes with its target.

use std::os::unix::fs::symlink;
use std::sync::atomic::AtomicBool;

use super::*;

/// Creates a link below the root.
fn link(bench: &Bench, target: &str, at: &str) {
    symlink(target, bench.root().join(at)).expect("a link");
}

fn rename(bench: &Bench, from: &str, to: &str) {
    fs::rename(bench.root().join(from), bench.root().join(to)).expect("renamed");
}

fn soon(bench: &Bench, expected: &[&str]) {
    until_live(bench, expected);
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
    let changed =
        |items: &BTreeMap<String, Item>| items.iter().all(|(name, item)| item.fingerprint != before[name].fingerprint);
    bench.until("every name of a file changes with it", || changed(&bench.items()));
}

#[test]
fn a_folder_moved_away_or_in_changes_every_link_through_it() {
    let bench = Bench::new();
    bench.put("a/x.txt", b"x");
    bench.put("c/y.txt", b"x");
    link(&bench, "a", "link");
    link(&bench, "a/x.txt", "lx.txt");
    link(&bench, "link/x.txt", "ly.txt");
    let _keeper = bench.keeper();
    until_live(&bench, &["a/x.txt", "c/y.txt", "link/x.txt", "lx.txt", "ly.txt"]);
    rename(&bench, "a", "b");
    soon(&bench, &["b/x.txt", "c/y.txt"]);
    rename(&bench, "c", "a");
    soon(&bench, &["a/y.txt", "b/x.txt", "link/y.txt"]);
    bench.put("a/x.txt", b"x");
    soon(&bench, &["a/x.txt", "a/y.txt", "b/x.txt", "link/x.txt", "link/y.txt", "lx.txt", "ly.txt"]);
    // The link itself is changed.
    link(&bench, "b", "other");
    rename(&bench, "other", "link");
    soon(&bench, &["a/x.txt", "a/y.txt", "b/x.txt", "link/x.txt", "lx.txt", "ly.txt"]);
    fs::remove_dir_all(bench.root().join("b")).expect("removed");
    soon(&bench, &["a/x.txt", "a/y.txt", "lx.txt"]);
}

#[test]
fn a_link_that_leads_nowhere_leads_somewhere_later() {
    let bench = Bench::new();
    bench.put("a", b"x");
    link(&bench, "not/yet/there", "before");
    let _keeper = bench.keeper();
    until_live(&bench, &["a"]);
    link(&bench, ".hidden/folder", "while");
    soon(&bench, &["a"]);
    bench.put("not/yet/there", b"x");
    soon(&bench, &["a", "before", "not/yet/there"]);
    bench.put(".hidden/folder/file", b"x");
    soon(&bench, &["a", "before", "not/yet/there", "while/file"]);
}

#[test]
fn a_hidden_file_is_watched_where_a_link_shows_it() {
    let bench = Bench::new();
    bench.put(".data/deep/file", b"x");
    link(&bench, ".data/deep/file", "shown");
    link(&bench, ".data/deep", "folder");
    let _keeper = bench.keeper();
    until_live(&bench, &["folder/file", "shown"]);
    let before = bench.items();
    bench.put(".data/deep/file", b"changed");
    let changed = |name: &str| bench.items()[name].fingerprint != before[name].fingerprint;
    bench.until("both changed", || changed("shown") && changed("folder/file"));
    rename(&bench, ".data/deep", ".data/away");
    soon(&bench, &[]);
    rename(&bench, ".data/away", ".data/deep");
    soon(&bench, &["folder/file", "shown"]);
    // Other directories at the same paths are watched separately.
    rename(&bench, ".data", ".gone");
    soon(&bench, &[]);
    bench.put(".data/deep/file", b"new");
    soon(&bench, &["folder/file", "shown"]);
    bench.put(".data/deep/more", b"x");
    soon(&bench, &["folder/file", "folder/more", "shown"]);
    fs::remove_file(bench.root().join(".data/deep/file")).expect("removed");
    soon(&bench, &["folder/more"]);
}

#[test]
fn a_linked_folder_is_there_as_long_as_the_doorkeeper_lets_the_walk_in() {
    let bench = Bench::new();
    bench.put("a", b"x");
    bench.put_beside("out/deep/file", b"x");
    link(&bench, "../out", "link");
    let settings = SiteSettings { follow_links: Links::Anywhere, ..SiteSettings::default() };
    let is_open = Arc::new(AtomicBool::new(false));
    let door = is_open.clone();
    let site = Site::open(&bench.root(), &settings, &[]).expect("a site");
    let site = Arc::new(site.with_doorkeeper(Box::new(move |_| door.load(Ordering::Relaxed))));
    let keeper = bench.keeper_of(bench.reconciler_of(&site), true);
    let status = keeper.status();
    bench.until("settled", || status.is_settled());
    soon(&bench, &["a"]);
    is_open.store(true, Ordering::Relaxed);
    keeper.look_at("link");
    soon(&bench, &["a", "link/deep/file"]);
    // If only a part behind the link is scanned, the doorkeeper is called, too.
    is_open.store(false, Ordering::Relaxed);
    bench.put_beside("out/deep/er/file", b"x");
    bench.put("b", b"x");
    bench.until("the other change", || bench.live().contains(&"b".to_owned()));
    assert!(!bench.live().contains(&"link/deep/er/file".to_owned()));
    keeper.look_at("link");
    soon(&bench, &["a", "b"]);
}
