//! A host that determines the media types of files is queried when its decisions may have changed.

use std::borrow::Cow;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::*;
use crate::site::describe::{Describer, Description};
use crate::site::folder::fingerprint_of;
use crate::site::walk::Met;

/// Returns the configured description.
#[derive(Default)]
struct Told {
    media_type: Mutex<String>,
    elsewhere: Mutex<BTreeMap<String, PathBuf>>,
    asked: Mutex<Vec<String>>,
}

impl Told {
    fn new(media_type: &str) -> Arc<Self> {
        let told = Self::default();
        told.say(media_type);
        Arc::new(told)
    }

    fn say(&self, media_type: &str) {
        *self.media_type.lock().expect("not poisoned") = media_type.to_owned();
    }

    fn point(&self, name: &str, file: &Path) {
        self.elsewhere.lock().expect("not poisoned").insert(name.to_owned(), file.to_owned());
    }

    /// Returns the names for which it was queried since the last call.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("not poisoned"))
    }
}

impl Describer for Told {
    fn at_a_glance(&self, _name: &str) -> Option<Cow<'static, str>> {
        None
    }

    fn look(&self, met: &Met) -> io::Result<Option<Description>> {
        self.asked.lock().expect("not poisoned").push(met.name.clone());
        let elsewhere = self.elsewhere.lock().expect("not poisoned").get(&met.name).cloned();
        let is_other = |path: &PathBuf| {
            let there = File::open(path).and_then(|file| fingerprint_of(&file));
            there.is_ok_and(|there| there.inode != met.fingerprint.inode)
        };
        let media_type = self.media_type.lock().expect("not poisoned").clone();
        Ok(Some(Description { media_type, elsewhere: elsewhere.filter(is_other), is_public: None }))
    }
}

fn keeper(bench: &Bench, reconciler: Reconciler, told: &Arc<Told>) -> Keeper {
    let access_files = vec![".htaccess".to_owned()];
    let pace = Pace { rescan: Duration::from_secs(3_600), digests: false, access_files };
    let keeper = Keeper::start(reconciler.described_by(told.clone()), bench.catalogue.clone(), pace);
    let keeper = keeper.expect("a keeper");
    let status = keeper.status();
    bench.until("settled", || status.is_settled());
    keeper
}

fn media_type(bench: &Bench, name: &str) -> String {
    bench.items().get(name).map(|item| item.media_type.to_string()).unwrap_or_default()
}

/// Waits until files are old enough to be settled.
fn wait_a_moment() {
    std::thread::sleep(Duration::from_millis(50));
}

#[test]
fn the_describer_is_asked_about_all_files_at_first_and_then_about_new_ones() {
    let bench = Bench::new();
    bench.put("a.html", b"x");
    bench.put("b/c", b"x");
    set_modified(&bench.root().join("b/c"), ago(1_000));
    wait_a_moment();
    let told = Told::new("text/x-one");
    let mut reconciler = bench.reconciler().described_by(told.clone());
    reconciler.everything(&|_, _| {}).expect("an index");
    assert_eq!(told.asked(), ["a.html", "b/c"]);
    assert_eq!(media_type(&bench, "a.html"), "text/x-one");
    told.say("text/x-two");
    bench.put("new", b"x");
    wait_a_moment();
    reconciler.everything(&|_, _| {}).expect("an index");
    assert_eq!(told.asked(), ["new"]);
    let before = bench.stamp("b/c");
    reconciler.reconcile(&[Part::Name("b".to_owned())], &|_, _| {}).expect("a look");
    assert_eq!(told.asked(), [""; 0]);
    reconciler.reconcile(&[Part::Anew("b".to_owned())], &|_, _| {}).expect("a look");
    assert_eq!(told.asked(), ["b/c"]);
    assert_eq!((media_type(&bench, "a.html"), media_type(&bench, "b/c")), ("text/x-one".into(), "text/x-two".into()));
    assert!(bench.stamp("b/c") > before);
    drop(reconciler);
    // After a start, all descriptions may have changed.
    bench.reconciler().described_by(told.clone()).everything(&|_, _| {}).expect("an index");
    assert_eq!(told.asked(), ["a.html", "b/c", "new"]);
    assert_eq!(media_type(&bench, "a.html"), "text/x-two");
}

#[test]
fn whoever_comes_beforehand_spares_the_other_the_reading_and_decides_nothing() {
    let bench = Bench::new();
    bench.put("a.html", b"<title>A</title>");
    bench.put("b.txt", b"x");
    let modified = ago(1_000);
    for name in ["a.html", "b.txt"] {
        set_modified(&bench.root().join(name), modified);
    }
    wait_a_moment();
    let mut first = bench.reconciler();
    let tally = first.beforehand(&|_, _| {}).expect("an index");
    assert_eq!((tally.files, tally.put), (2, 2));
    drop(first);
    let site = Site::open(&bench.root(), &SiteSettings::default(), &[]).expect("a site");
    let read = read_everything(&site, &*bench.catalogue, true, &AtomicBool::new(false), &AtomicU64::new(0));
    assert_eq!(read.expect("everything is read"), 2);
    assert!(!bench.catalogue.standing().expect("a standing").ready);
    let told = Told::new("text/html");
    bench.reconciler().described_by(told.clone()).everything(&|_, _| {}).expect("an index");
    assert_eq!(told.asked(), ["a.html", "b.txt"]);
    assert!(bench.catalogue.standing().expect("a standing").ready);
    let items = bench.items();
    let (a, b) = (&items["a.html"], &items["b.txt"]);
    assert_eq!(a.facts.title.as_deref(), Some("A"), "nothing new is said of it");
    assert_eq!((&*b.media_type, b.facts.title.as_deref()), ("text/html", None), "what was wrong is put right");
    assert!(a.facts.digests.is_some() && b.facts.digests.is_some(), "no byte is read twice");
    let modified = modified.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs();
    for item in [a, b] {
        assert_eq!(item.datestamp.unix().unsigned_abs(), modified, "no correction is a change");
    }
}

#[test]
fn an_access_file_that_comes_changes_or_goes_has_its_folder_described_anew() {
    let bench = Bench::new();
    for path in ["root/top", "root/a/b", "root/a/deep/c", "root/z/d", "docs/e", "art/icon"] {
        bench.put_beside(path, b"x");
    }
    wait_a_moment();
    let told = Told::new("text/x-0");
    let site = bench.site_with(&[("docs", "docs"), ("icon", "art/icon")]);
    let _keeper = keeper(&bench, bench.reconciler_of(&site), &told);
    let all = ["a/b", "a/deep/c", "docs/e", "icon", "top", "z/d"];
    bench.until("all files", || bench.live() == all);
    let mut count = 0;
    let mut described = |names: &[&str], change: &dyn Fn()| {
        wait_a_moment();
        let before: Vec<String> = all.iter().map(|name| media_type(&bench, name)).collect();
        count += 1;
        let now = format!("text/x-{count}");
        told.say(&now);
        change();
        bench.until("described anew", || names.iter().all(|name| media_type(&bench, name) == now));
        for (name, before) in all.iter().zip(before) {
            assert!(names.contains(name) || media_type(&bench, name) == before, "{name} was not to be asked about");
        }
    };
    described(&["a/b", "a/deep/c"], &|| bench.put("a/.htaccess", b"ForceType"));
    described(&["a/b", "a/deep/c"], &|| bench.put("a/.htaccess", b"ForceType text/plain"));
    described(&["a/deep/c"], &|| bench.put("a/deep/.htaccess", b"x"));
    described(&["a/b", "a/deep/c"], &|| bench.rename_beside("root/a/.htaccess", "root/a/off"));
    described(&["docs/e"], &|| bench.put_beside("docs/.htaccess", b"x"));
    described(&["icon"], &|| bench.put_beside("art/.htaccess", b"x"));
    described(&["docs/e"], &|| {
        fs::remove_file(bench.folder.path().join("docs/.htaccess")).expect("removed");
    });
    described(&all, &|| bench.put(".htaccess", b"x"));
    assert!(bench.live().iter().all(|name| !name.contains("htaccess")));
}

#[test]
fn a_name_that_stands_for_another_file_changes_with_that_file() {
    let bench = Bench::new();
    bench.put("page", b"the file met");
    bench.put("plain", b"x");
    bench.put_beside("real/page", b"elsewhere");
    wait_a_moment();
    let told = Told::new("text/x-one");
    let real = bench.folder.path().join("real/page");
    told.point("page", &real);
    told.point("plain", &bench.folder.path().join("nowhere"));
    let running = keeper(&bench, bench.reconciler(), &told);
    let size = |name: &str| bench.items()[name].fingerprint.size;
    bench.until("the other file", || size("page") == 9);
    assert_eq!(size("plain"), 1, "what is not there stands for nothing");
    wait_a_moment();
    bench.put_beside("real/page", b"changed elsewhere");
    // The file was just written, so it is scanned, and may be stamped, once more.
    let state = File::open(&real).and_then(|file| fingerprint_of(&file)).expect("a file");
    bench.until("its change", || bench.items()["page"].fingerprint == state);
    // The file that was found first has no effect now.
    let before = bench.stamp("page");
    bench.put("page", b"changed here");
    bench.put("last", b"x");
    bench.until("a later change", || bench.live() == ["last", "page", "plain"]);
    wait_a_moment();
    assert_eq!((size("page"), bench.stamp("page")), (17, before));
    drop(running);
    // A restart finds the same files, without a change.
    let again = keeper(&bench, bench.reconciler(), &told);
    wait_a_moment();
    assert_eq!((size("page"), bench.stamp("page")), (17, before));
    drop(again);
    fs::remove_file(&real).expect("removed");
    let _keeper = keeper(&bench, bench.reconciler(), &told);
    assert_eq!(size("page"), 12, "there is nothing elsewhere any more");
}
