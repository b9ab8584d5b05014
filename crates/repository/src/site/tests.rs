//! The walk lists exactly the files that GET returns, also for unusual trees.

mod laid_over;
mod linked;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;

use super::folder::Folder;
use super::walk::{Step, walk};
use super::*;

fn site(root: &Path) -> Site {
    Site::open(root, &SiteSettings::default(), &["/modoai"]).expect("a folder")
}

fn walked(site: &Site) -> Vec<String> {
    let mut names = Vec::new();
    let result: io::Result<()> = walk(site, "", &|_, _| {}, &mut |step| {
        match step {
            Step::File(met) => names.push(met.name),
            Step::Withheld(_) | Step::LeavesRoot(_) => {}
            Step::Unknown { name, error } => panic!("{name}: {error}"),
        }
        Ok(())
    });
    result.expect("a readable tree");
    assert!(names.is_sorted(), "in byte order of names");
    names
}

fn put(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("below the root")).expect("room for folders");
    fs::write(path, bytes).expect("room for a file");
}

#[test]
fn order_is_that_of_full_names() {
    let root = tempfile::tempdir().expect("a folder");
    for path in ["a/b", "a-b", "a.b", "a b/c", "a0", "b/c/d", "b/c-d", "z", "é"] {
        put(root.path(), path, b"x");
    }
    let expected = ["%C3%A9", "a%20b/c", "a-b", "a.b", "a/b", "a0", "b/c-d", "b/c/d", "z"];
    assert_eq!(walked(&site(root.path())), expected);
}

#[test]
fn links_lead_nowhere_outside_and_never_in_circles() {
    let outside = tempfile::tempdir().expect("a folder");
    put(outside.path(), "secret", b"x");
    let root = tempfile::tempdir().expect("a folder");
    put(root.path(), "real/file", b"x");
    put(root.path(), "other/thing", b"x");
    let link = |target: &Path, name: &str| symlink(target, root.path().join(name)).expect("a link");
    link(&outside.path().join("secret"), "out-file");
    link(outside.path(), "out-folder");
    link(Path::new("real/file"), "in-file");
    link(Path::new("real"), "in-folder");
    link(&root.path().join("real"), "absolute");
    link(Path::new(".."), "real/up");
    link(Path::new("../other"), "real/across");
    link(Path::new("../real"), "other/back");
    link(Path::new("self"), "self");
    link(Path::new("nowhere"), "dangling");
    let site = site(root.path());
    let names = walked(&site);
    for name in ["in-file", "in-folder/file", "absolute/file", "real/file", "real/across/thing", "other/back/file"] {
        assert!(names.iter().any(|listed| listed == name), "{name} in {names:?}");
        assert!(matches!(site.find(&format!("/{name}")), Ok(Found::File(..))), "{name}");
    }
    for name in ["out-file", "out-folder/secret", "real/up/real/file", "real/across/back/file", "self", "dangling"] {
        assert!(!names.iter().any(|listed| listed == name), "{name} in {names:?}");
        assert!(matches!(site.find(&format!("/{name}")), Ok(Found::Nothing)), "{name}");
    }
    assert!(names.len() < 30, "finite: {names:?}");
}

#[test]
fn a_walk_through_thousands_of_folders_holds_few_of_them_open() {
    let root = tempfile::tempdir().expect("a folder");
    for number in 0..2_000 {
        put(root.path(), &format!("{number}/inner/file"), b"x");
    }
    let most = std::sync::atomic::AtomicUsize::new(0);
    let count = |_: &Folder, _: &str| {
        let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        most.fetch_max(open, std::sync::atomic::Ordering::Relaxed);
    };
    let mut files = 0;
    let result: io::Result<()> = walk(&site(root.path()), "", &count, &mut |step| {
        files += usize::from(matches!(step, Step::File(_)));
        Ok(())
    });
    result.expect("a readable tree");
    assert_eq!(files, 2_000);
    // Other tests of this process have open descriptors, too.
    let most = most.into_inner();
    assert!(most < 500, "{most} descriptors were open at once");
}

#[test]
fn a_change_of_permissions_changes_no_header() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = tempfile::tempdir().expect("a folder");
    put(root.path(), "file.txt", b"x");
    let site = site(root.path());
    let headers = || site.get("file.txt").expect("readable").expect("there").headers;
    let before = headers();
    fs::set_permissions(root.path().join("file.txt"), fs::Permissions::from_mode(0o640)).expect("permissions");
    assert_eq!(headers(), before);
}

#[test]
fn a_folder_has_an_index_and_a_pipe_is_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    put(root.path(), "a/index.html", b"<p>");
    put(root.path(), "b/c", b"");
    let made = std::process::Command::new("mkfifo").arg(root.path().join("pipe")).status().expect("mkfifo runs");
    assert!(made.success());
    let site = site(root.path());
    assert_eq!(walked(&site), ["a/index.html", "b/c"]);
    assert!(matches!(site.find("/a/"), Ok(Found::Folder(Some((name, _)))) if name == "a/index.html"));
    assert!(matches!(site.find("/a"), Ok(Found::Folder(Some(_)))));
    assert!(matches!(site.find("/b/"), Ok(Found::Folder(None))));
    for nothing in ["/pipe", "/b/c/", "/b/c/d", "/b//c", "/../a/index.html", "b/c", ""] {
        assert!(matches!(site.find(nothing), Ok(Found::Nothing)), "{nothing}");
    }
}

#[test]
fn headers_describe_the_open_file() {
    let root = tempfile::tempdir().expect("a folder");
    put(root.path(), "page.html", b"hello");
    let representation = site(root.path()).get("page.html").expect("readable").expect("there");
    let headers: BTreeMap<_, _> = representation.headers.into_iter().collect();
    assert_eq!(headers["Content-Type"], "text/html");
    assert_eq!(headers["Content-Length"], "5");
    assert!(headers["ETag"].starts_with('"') && headers["Last-Modified"].ends_with("GMT"));
}

#[test]
fn a_root_that_is_gone_is_an_error_and_not_an_empty_site() {
    let root = tempfile::tempdir().expect("a folder");
    put(root.path(), "a", b"x");
    let site = site(root.path());
    drop(root);
    assert!(site.find("/a").is_err());
    assert!(site.get("a").is_err());
    assert!(walk::<io::Error>(&site, "", &|_, _| {}, &mut |_| Ok(())).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// For any tree of files with any names, the listed names equal the names that GET finds, once each.
    #[test]
    fn listed_is_what_can_be_had(paths in prop::collection::vec(prop::collection::vec(segment(), 1..4), 0..40)) {
        let root = tempfile::tempdir().expect("a folder");
        for path in &paths {
            // Some paths collide with files; those are skipped.
            let path = path.iter().fold(root.path().to_owned(), |at, name| at.join(OsStr::from_bytes(name)));
            if fs::create_dir_all(path.parent().expect("below the root")).is_ok() && !path.is_dir() {
                let _ = fs::write(&path, b"x");
            }
        }
        let site = site(root.path());
        let listed = walked(&site);
        for name in &listed {
            let had = matches!(site.find(&format!("/{name}")), Ok(Found::File(found, _)) if found == *name);
            prop_assert!(had, "{} is listed but cannot be had", name);
        }
        let mut distinct = listed.clone();
        distinct.dedup();
        prop_assert_eq!(&listed, &distinct);
        // Every file that GET finds is in the list, too.
        for path in &paths {
            let name = name::encode(path);
            if let Ok(Found::File(found, _)) = site.find(&format!("/{name}")) {
                prop_assert!(listed.contains(&found), "{} not listed", found);
            }
        }
    }
}

/// Generates all kinds of file names that the kernel allows, including hidden and ignored ones.
fn segment() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(any::<u8>().prop_filter("legal", |byte| !matches!(byte, 0 | b'/')), 1..12);
    let words =
        prop::sample::select(vec!["a", "b", "a~", ".x", "index.html", "modoai", "é", "%41", "A", "a b", "x.swp"]);
    prop_oneof![bytes, words.prop_map(|word: &str| word.as_bytes().to_vec())]
        .prop_filter("a name", |name| !matches!(name.as_slice(), b"." | b".."))
}
