//! Symbolic links show their targets, and a link to a parent directory does not publish the whole file system.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::*;

/// Returns a site whose links may point anywhere.
fn anywhere(roots: &[(&str, &Path)]) -> Site {
    let root = |(prefix, path): &(&str, &Path)| Root { prefix: (*prefix).to_owned(), path: path.to_path_buf() };
    let settings = SiteSettings { follow_links: Links::Anywhere, ..SiteSettings::default() };
    Site::open_roots(roots.iter().map(root).collect(), &settings, &[]).expect("a site")
}

/// Returns the site with a doorkeeper that refuses these directories, and the names for which it was called.
fn kept(site: Site, refused: &[&str]) -> (Site, Arc<Mutex<Vec<String>>>) {
    let refused: Vec<String> = refused.iter().map(|name| (*name).to_owned()).collect();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let note = asked.clone();
    let doorkeeper = move |name: &str| {
        note.lock().expect("no panic").push(name.to_owned());
        !refused.iter().any(|refused| refused == name)
    };
    (site.with_doorkeeper(Box::new(doorkeeper)), asked)
}

/// Returns the names of calls since the last time, in order.
fn asked_since(asked: &Mutex<Vec<String>>) -> Vec<String> {
    let mut names = std::mem::take(&mut *asked.lock().expect("no panic"));
    names.sort();
    names
}

fn link(target: impl AsRef<Path>, at: impl AsRef<Path>) {
    symlink(target, at).expect("a link");
}

/// Returns the names found in the directory of this name.
fn walked_in(site: &Site, folder_name: &str) -> Vec<String> {
    let mut names = Vec::new();
    let result: io::Result<()> = walk(site, folder_name, &|_, _| {}, &mut |step| {
        names.extend(if let Step::File(met) = step { Some(met.name) } else { None });
        Ok(())
    });
    result.expect("a readable tree");
    names
}

fn is_there(site: &Site, name: &str) -> bool {
    let had = site.get(name).expect("readable").is_some();
    assert_eq!(matches!(site.find(&format!("/{name}")), Ok(Found::File(..))), had, "{name}");
    had
}

#[test]
fn the_doorkeeper_is_asked_once_of_every_linked_folder_and_of_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |path: &str| folder.path().join(path);
    for path in ["main/plain/deep/a", "out/b", "out/inner/c", "far/d"] {
        put(folder.path(), path, b"x");
    }
    link(at("out"), at("main/open"));
    link(at("out"), at("main/sh ut"));
    link(at("out/b"), at("main/file"));
    link(at("far"), at("out/inner/on"));
    let (site, asked) = kept(anywhere(&[("", &at("main"))]), &["sh%20ut/"]);
    let open = ["open/b", "open/inner/c", "open/inner/on/d"];
    assert_eq!(walked(&site), [&["file"], &open[..], &["plain/deep/a"]].concat());
    assert_eq!(asked_since(&asked), ["open/", "open/inner/on/", "sh%20ut/"]);
    // Called again in the next walk, also for links above the part that a walk reads.
    assert_eq!(walked_in(&site, "open/inner/"), ["open/inner/c", "open/inner/on/d"]);
    assert_eq!(asked_since(&asked), ["open/", "open/inner/on/"]);
    assert!(walked_in(&site, "sh%20ut/inner/on/").is_empty());
    assert_eq!(asked_since(&asked), ["sh%20ut/"], "nothing behind a closed door");
    // The doorkeeper applies to the walk, not to a GET.
    assert!(is_there(&site, "sh%20ut/inner/c"));
    assert!(asked_since(&asked).is_empty());
}

#[test]
fn a_refused_folder_does_not_take_those_of_other_roots_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |path: &str| folder.path().join(path);
    for path in ["main/x/y/far", "near/e", "out/y/secret", "deep/f"] {
        put(folder.path(), path, b"x");
    }
    link(at("out"), at("near/y"));
    link(at("out"), at("near/z"));
    link(at("near"), at("alias"));
    let (site, asked) =
        kept(anywhere(&[("", &at("main")), ("x", &at("alias")), ("x/z/y/g", &at("deep"))]), &["x/y/", "x/z/"]);
    assert_eq!(walked(&site), ["x/e", "x/y/far", "x/z/y/g/f"]);
    assert_eq!(asked_since(&asked), ["x/y/", "x/z/"], "an added root is no linked folder");
    drop(fs::remove_file(at("near/y")));
    link(at("out/y"), at("near/y"));
    let site = anywhere(&[("", &at("main")), ("x", &at("alias"))]);
    assert_eq!(walked(&site), ["x/e", "x/y/far", "x/y/secret", "x/z/y/secret"], "without a doorkeeper all are entered");
}

#[test]
fn what_the_kernel_makes_up_is_never_entered() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "a", b"x");
    let at = |path: &str| folder.path().join(path);
    for (target, name) in [("/proc", "proc"), ("/proc/self", "self"), ("/proc/sys/kernel", "kernel"), ("/sys", "sys")] {
        link(target, at(name));
    }
    // Another device, but an ordinary file system.
    let disk = tempfile::tempdir_in("/dev/shm");
    if let Ok(disk) = &disk {
        put(disk.path(), "inner/file", b"x");
        link(disk.path(), at("disk"));
    }
    let site = anywhere(&[("", folder.path())]);
    let expected = if disk.is_ok() { &["a", "disk/inner/file"][..] } else { &["a"] };
    assert_eq!(walked(&site), expected);
    assert!(expected.iter().all(|name| is_there(&site, name)));
    for name in ["proc/version", "proc/sys/kernel/ostype", "self/status", "kernel/ostype", "sys/kernel/uevent_seqnum"] {
        assert!(!is_there(&site, name), "{name}");
    }
    assert!(matches!(site.find("/proc/"), Ok(Found::Nothing)));
}

#[test]
fn folders_that_link_to_each_other_have_a_bounded_number_of_paths() {
    let root = tempfile::tempdir().expect("a folder");
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for folder in names {
        put(root.path(), &format!("{folder}/file"), b"x");
        for other in names {
            link(format!("../{other}"), root.path().join(folder).join(format!("to-{other}")));
        }
    }
    let site = site(root.path());
    let walked = walked(&site);
    // Eight directories, and from each up to four of the seven others in any order.
    assert_eq!(walked.len(), 8 * (1 + 7 + 7 * 6 + 7 * 6 * 5 + 7 * 6 * 5 * 4));
    let (last, beyond) = ("a/to-b/to-c/to-d/to-e/file", "a/to-b/to-c/to-d/to-e/to-f/file");
    assert!(walked.iter().any(|name| name == last) && is_there(&site, last));
    assert!(!is_there(&site, beyond));
    assert!(matches!(site.find("/a/to-b/to-c/to-d/to-e/to-f/"), Ok(Found::Nothing)));
    // A linked file is not a directory.
    link("../e/file", root.path().join("e/to-file"));
    assert!(is_there(&site, "a/to-b/to-c/to-d/to-e/to-file"));
}

/// Returns the files of a tree with links, computed by a slow and simple method. `within` are the real paths of the
/// directories around it.
fn model(
    path: &Path,
    name: &str,
    links: usize,
    within: &mut Vec<PathBuf>,
    refused: &str,
    found: &mut BTreeSet<String>,
) {
    let real = path.canonicalize().expect("a folder");
    if within.contains(&real) || links > 4 {
        return;
    }
    within.push(real);
    for entry in fs::read_dir(path).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{name}{}", entry.file_name().to_str().expect("text"));
        let is_link = entry.path().is_symlink();
        if entry.path().is_file() {
            found.insert(name);
        } else if entry.path().is_dir() && !(is_link && name.ends_with(refused)) {
            model(&entry.path(), &(name + "/"), links + usize::from(is_link), within, refused, found);
        }
    }
    within.pop();
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..4).prop_map(|path| path.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// For any directories and links among them, the walk equals that of a simple model, and GET agrees.
    #[test]
    fn links_are_followed_as_a_simple_model_does(
        files in prop::collection::vec(path(), 1..8),
        links in prop::collection::vec((path(), path()), 0..7),
        is_kept in any::<bool>(),
    ) {
        let root = tempfile::tempdir().expect("a folder");
        for path in &files {
            put(root.path(), &format!("{path}/file"), b"x");
        }
        for (at, target) in links {
            // Some paths exist already, or have no parent directory; those links are skipped.
            let _ = symlink(root.path().join(target), root.path().join(at));
        }
        let site = site(root.path());
        let mut all = BTreeSet::new();
        model(root.path(), "", 0, &mut Vec::new(), "none", &mut all);
        for name in &all {
            prop_assert!(is_there(&site, name), "{}", name);
        }
        let refused = if is_kept { "b" } else { "none" };
        let site = site.with_doorkeeper(Box::new(move |name| !name.trim_end_matches('/').ends_with(refused)));
        let mut expected = BTreeSet::new();
        model(root.path(), "", 0, &mut Vec::new(), refused, &mut expected);
        prop_assert_eq!(walked(&site), expected.into_iter().collect::<Vec<_>>());
    }
}
