//! The nearest of several roots laid over each other determines the file of a name.

use std::collections::BTreeSet;

use modoai_testkit::effort::effort;

use super::*;

fn laid_over(roots: &[(&str, &Path)]) -> Site {
    let root = |(prefix, path): &(&str, &Path)| Root { prefix: (*prefix).to_owned(), path: path.to_path_buf() };
    Site::open_roots(roots.iter().map(root).collect(), &SiteSettings::default(), &[]).expect("a site")
}

fn text_of(site: &Site, item_name: &str) -> Option<String> {
    use std::io::Read as _;
    let mut representation = site.get(item_name).expect("readable")?;
    let mut text = String::new();
    representation.file.read_to_string(&mut text).expect("text");
    Some(text)
}

/// Returns the names that could not be read.
fn unknown(site: &Site) -> Vec<String> {
    let mut names = Vec::new();
    let result: io::Result<()> = walk(site, "", &|_, _| {}, &mut |step| {
        if let Step::Unknown { name, .. } = step {
            names.push(name);
        }
        Ok(())
    });
    result.expect("a main root, or none");
    names
}

#[test]
fn the_nearest_root_decides_on_a_file_and_all_have_a_say_in_folders() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |path: &str| folder.path().join(path);
    for path in ["main/a/x", "main/a/both/far", "main/a/only", "main/b", "alias/x", "alias/both", "alias/sub/y", "one"]
    {
        put(folder.path(), path, path.as_bytes());
    }
    let site = laid_over(&[
        ("", &at("main")),
        ("a", &at("alias")),
        ("a", &at("alias")),
        ("a/sub/odd", &at("one")),
        ("a/both/deep/er", &at("alias/sub")),
    ]);
    let expected = [
        ("a/both", "alias/both"),
        ("a/both/deep/er/y", "alias/sub/y"),
        ("a/both/far", "main/a/both/far"),
        ("a/only", "main/a/only"),
        ("a/sub/odd", "one"),
        ("a/sub/y", "alias/sub/y"),
        ("a/x", "alias/x"),
        ("b", "main/b"),
    ];
    assert_eq!(walked(&site), expected.map(|(name, _)| name));
    for (name, text) in expected {
        assert_eq!(text_of(&site, name).as_deref(), Some(text), "{name}");
        assert!(matches!(site.find(&format!("/{name}")), Ok(Found::File(found, _)) if found == name), "{name}");
    }
    // A directory in a near root hides a file in a distant one.
    fs::create_dir(at("alias/only")).expect("a folder");
    assert!(!walked(&site).contains(&"a/only".to_owned()) && text_of(&site, "a/only").is_none());
    assert!(matches!(site.find("/a/only"), Ok(Found::Folder(None))));
}

#[test]
fn a_deep_root_implies_the_folders_it_is_in() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "docs/index.html", b"docs");
    put(folder.path(), "start", b"start");
    let (docs, start) = (folder.path().join("docs"), folder.path().join("start"));
    let site = laid_over(&[("x/y/docs", &docs), ("x/index.html", &start)]);
    site.ready().expect("a site without a main root");
    assert!(site.root().is_none());
    assert_eq!(walked(&site), ["x/index.html", "x/y/docs/index.html"]);
    assert!(matches!(site.find("/"), Ok(Found::Folder(None))));
    assert!(matches!(site.find("/x/"), Ok(Found::Folder(Some((name, _)))) if name == "x/index.html"));
    assert!(matches!(site.find("/x/y"), Ok(Found::Folder(None))));
    assert!(matches!(site.find("/x/y/docs/"), Ok(Found::Folder(Some((name, _)))) if name == "x/y/docs/index.html"));
    for nothing in ["/x/z", "/x/y/docs/a", "/x/index.html/", "/x/index.html/a", "/a"] {
        assert!(matches!(site.find(nothing), Ok(Found::Nothing)), "{nothing}");
    }
    let mut below = Vec::new();
    let result: io::Result<()> = walk(&site, "x/y", &|_, _| {}, &mut |step| {
        below.extend(if let Step::File(met) = step { Some(met.name) } else { None });
        Ok(())
    });
    result.expect("a folder");
    assert_eq!(below, ["x/y/docs/index.html"]);
    assert!(site.would_serve(&docs.join("not yet")) && !site.would_serve(folder.path()));
}

#[test]
fn an_added_root_may_be_missing_but_not_in_doubt() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "main/added/far", b"x");
    put(folder.path(), "main/z", b"x");
    let (main, added) = (folder.path().join("main"), folder.path().join("added"));
    let site = laid_over(&[("", &main), ("added", &added)]);
    assert_eq!(walked(&site), ["added/far", "z"]);
    put(folder.path(), "added/near", b"x");
    assert_eq!(walked(&site), ["added/far", "added/near", "z"]);
    fs::rename(&added, folder.path().join("away")).expect("moved away");
    // A loop of links is an error: its target is not known to be missing, for any user.
    symlink(&added, &added).expect("a link");
    assert_eq!(unknown(&site), ["added"]);
    assert!(site.get("added/near").is_err() && site.get("added/far").is_err());
    assert!(matches!(site.get("z"), Ok(Some(_))), "the rest is there");
    let mut nearby = Nearby::default();
    assert!(site.get_near(&mut nearby, "added/near").is_err() && site.get_near(&mut nearby, "added/near").is_err());
    fs::remove_file(&added).expect("removed");
    assert!(matches!(site.get_near(&mut nearby, "added/far"), Ok(Some(_))));
    drop(fs::remove_dir_all(&main));
    assert!(site.ready().is_err() && walk::<io::Error>(&site, "", &|_, _| {}, &mut |_| Ok(())).is_err());
}

#[test]
fn a_name_stands_for_the_file_it_was_last_pointed_to() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in ["main/a", "main/b", "first", "second"] {
        put(folder.path(), path, path.as_bytes());
    }
    let site = laid_over(&[("", &folder.path().join("main"))]);
    assert!(site.point("a", &folder.path().join("first")) && site.point("new/name", &folder.path().join("first")));
    assert_eq!(walked(&site), ["a", "b", "new/name"]);
    assert_eq!(text_of(&site, "a").as_deref(), Some("first"));
    assert!(site.point("a", &folder.path().join("second")) && !site.point("a", &folder.path().join("second")));
    assert_eq!(text_of(&site, "a").as_deref(), Some("second"));
    fs::remove_file(folder.path().join("second")).expect("removed");
    assert_eq!(text_of(&site, "a").as_deref(), Some("main/a"));
    assert!(!site.point("", Path::new("/")) && !site.point("..", Path::new("/")));
}

#[test]
fn links_stay_inside_their_own_root_which_may_itself_be_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in ["main/a", "other/b"] {
        put(folder.path(), path, b"x");
    }
    let at = |path: &str| folder.path().join(path);
    symlink(at("other"), at("alias")).expect("a link");
    symlink("b", at("other/inside")).expect("a link");
    symlink(at("main/a"), at("other/across")).expect("a link");
    symlink(at("other/b"), at("main/across")).expect("a link");
    assert_eq!(walked(&laid_over(&[("", &at("main")), ("o", &at("alias"))])), ["a", "o/b", "o/inside"]);
}

#[test]
fn thousands_of_roots_are_quick() {
    let folder = tempfile::tempdir().expect("a folder");
    put(folder.path(), "main/a", b"x");
    let mut roots = vec![Root { prefix: String::new(), path: folder.path().join("main") }];
    // Few directories, because creating thousands takes longer than the tested operation.
    let home = |number: usize| format!("home/{}/public", number % 50);
    (0..50).for_each(|number| put(folder.path(), &format!("{}/page", home(number)), b"x"));
    for number in 0..5_000 {
        let path = folder.path().join(home(number));
        roots.push(Root { prefix: format!("~{number}"), path });
    }
    let ((), effort) = effort(|| {
        let site = Site::open_roots(roots, &SiteSettings::default(), &[]).expect("a site");
        let names = walked(&site);
        assert_eq!(names.len(), 5_001);
        let mut nearby = Nearby::default();
        assert!(names.iter().all(|name| matches!(site.get_near(&mut nearby, name), Ok(Some(_)))));
    });
    // Scanning every root for every name would take minutes.
    assert!(effort.as_secs() < 30, "took {effort:?} of a processor");
}

/// A root of the model: the segments of its prefix, and its path.
type Placed = (Vec<String>, PathBuf);

/// Returns the files of a site, computed by a slow and simple method.
fn model(roots: &[Placed]) -> BTreeMap<String, u64> {
    use std::os::unix::fs::MetadataExt as _;
    let mut candidates = BTreeSet::new();
    for (prefix, path) in roots {
        gather(path, &mut prefix.clone(), &mut candidates);
    }
    // The sort is stable: roots of the same prefix keep their order.
    let mut nearest_first: Vec<&Placed> = roots.iter().collect();
    nearest_first.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
    let file_of = |name: &[String]| {
        let there = nearest_first.iter().find_map(|(prefix, path)| {
            let rest = name.strip_prefix(&prefix[..])?;
            fs::metadata(rest.iter().fold(path.clone(), |at, segment| at.join(segment))).ok()
        })?;
        there.is_file().then(|| there.ino())
    };
    let encode =
        |name: &[String]| name.iter().map(|segment| name::encode_segment(segment.as_bytes())).collect::<Vec<_>>();
    candidates.iter().filter_map(|name| Some((encode(name).join("/"), file_of(name)?))).collect()
}

fn gather(path: &Path, name: &mut Vec<String>, found: &mut BTreeSet<Vec<String>>) {
    if path.is_file() {
        found.insert(name.clone());
    }
    for entry in fs::read_dir(path).into_iter().flatten() {
        let entry = entry.expect("an entry");
        name.push(entry.file_name().into_string().expect("text"));
        gather(&entry.path(), name, found);
        name.pop();
    }
}

fn path() -> impl Strategy<Value = Vec<String>> {
    let segment = prop::sample::select(vec!["a", "b", "a-b", "a b", "a0", "é"]);
    prop::collection::vec(segment.prop_map(str::to_owned), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// For any directories, files and missing entries at any prefixes.
    #[test]
    fn the_walk_is_what_a_simple_model_says(
        files in prop::collection::vec((0..4_usize, path()), 0..40),
        roots in prop::collection::vec((path(), 0..4_usize, path()), 0..8),
        has_main in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |tree: usize, path: &[String]| path.iter().fold(folder.path().join(tree.to_string()), |at, segment| at.join(segment));
        for tree in 0..4 {
            fs::create_dir(at(tree, &[])).expect("a tree");
        }
        for (tree, path) in files {
            // Some paths collide; those are skipped.
            let path = at(tree, &path);
            if fs::create_dir_all(path.parent().expect("below the folder")).is_ok() && !path.is_dir() {
                let _ = fs::write(&path, b"x");
            }
        }
        let mut placed: Vec<Placed> = roots.into_iter().filter(|(prefix, ..)| !prefix.is_empty())
            .map(|(prefix, tree, path)| (prefix, at(tree, &path))).collect();
        placed.extend(has_main.then(|| (Vec::new(), at(0, &[]))));
        let given = placed.iter().map(|(prefix, path)| {
            let segments: Vec<Vec<u8>> = prefix.iter().map(|segment| segment.as_bytes().to_vec()).collect();
            Root { prefix: name::encode(&segments), path: path.clone() }
        });
        let site = Site::open_roots(given.collect(), &SiteSettings::default(), &[]).expect("a site");
        let expected = model(&placed);
        let mut met = Vec::new();
        let result: io::Result<()> = walk(&site, "", &|_, _| {}, &mut |step| match step {
            Step::File(file) => {
                met.push(file);
                Ok(())
            }
            Step::Withheld(_) | Step::LeavesRoot(_) => Ok(()),
            Step::Unknown { error, .. } => Err(error),
        });
        result.expect("a readable tree");
        prop_assert!(met.is_sorted_by(|a, b| a.name < b.name), "sorted, and each name once");
        let found: BTreeMap<String, u64> = met.iter().map(|met| (met.name.clone(), met.fingerprint.inode)).collect();
        prop_assert_eq!(&found, &expected);
        for met in &met {
            let opened = site.get(&met.name).expect("readable").expect("there");
            prop_assert_eq!(opened.fingerprint, met.fingerprint);
            let had = matches!(site.find(&format!("/{}", met.name)), Ok(Found::File(_, had)) if had.fingerprint == met.fingerprint);
            prop_assert!(had, "{} is listed but cannot be had", met.name);
            let mut alone = Vec::new();
            let segments = name::decode(&met.name).expect("a name");
            alone.extend(site.sight(&segments).expect("no trouble").file);
            prop_assert_eq!(alone, [met.fingerprint]);
        }
    }
}
