//! The mirror: exactly the site, and never anything outside its folder.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::thread::JoinHandle;

use modoai_harvester::record::Novelty;
use modoai_harvester::sink::{Kept, SinkOptions};
use modoai_testkit::process::Launch;
use modoai_testkit::site::{self, TestSite, files_below};
use modoai_testkit::waiting::wait_for;
use proptest::prelude::*;
use tempfile::TempDir;

use super::feeding::{BASE_URL, Desk, Made, header};

fn open(dir: &Path) -> Desk {
    Desk::open("mirror", dir, None, BASE_URL, &SinkOptions::default())
}

fn refusal(kept: Kept) -> String {
    match kept {
        Kept::No(reason) => reason,
        Kept::Yes => panic!("it was kept"),
    }
}

/// The records of which something is not as it was written.
fn altered(desk: &mut Desk) -> Vec<String> {
    let (mut after, mut altered) = (String::new(), Vec::new());
    while let Some(found) = desk.sink.inspect(&after).expect("inspected") {
        (after, altered) = (found.last, [altered, found.altered].concat());
    }
    altered.into_iter().map(|(identifier, _)| identifier).collect()
}

/// The files of a mirror, without what it keeps for itself.
fn files(mirror: &Path) -> Vec<String> {
    let files = files_below(mirror).expect("a folder").into_iter().filter(|file| !file.starts_with(".modoai"));
    files.map(|file| file.to_string_lossy().into_owned()).collect()
}

/// Why two folders differ, if they do.
fn difference(site: &Path, mirror: &Path) -> Option<String> {
    let mut names = files_below(mirror).expect("a mirror");
    names.retain(|name| !name.starts_with(".modoai"));
    let expected = files_below(site).expect("a site");
    if names != expected {
        return Some(format!("{expected:?} became {names:?}"));
    }
    expected.into_iter().find_map(|name| {
        let (here, there) = (site.join(&name), mirror.join(&name));
        let bytes = fs::read(&here).expect("a file") != fs::read(&there).expect("a file");
        let dates = fs::metadata(here).expect("a file").mtime() != fs::metadata(there).expect("a file").mtime();
        (bytes || dates).then(|| format!("{} differs", name.display()))
    })
}

#[test]
fn a_mirror_is_exactly_the_site_by_value_and_by_reference() {
    for by_value_limit in ["1G", "100"] {
        let (site, mirror) = (TestSite::default(), TempDir::new().expect("a folder"));
        site::awkward(site.path()).expect("a site");
        site::varied(site.path(), 7, 60).expect("a site");
        site::remove_unmirrored(site.path()).expect("a site");
        let server = Launch::of(site.path()).set("by_value_limit", by_value_limit).set("ignore", "[\"!.*\"]").start();
        let base_url = format!("{}/modoai", server.url());
        let mut desk = Desk::open("mirror", mirror.path(), None, &base_url, &SinkOptions::default());
        let (refused, _) = desk.harvest(server.url(), "oai_didl", Novelty::New);
        assert!(refused.is_empty(), "{refused:?}");
        assert_eq!(difference(site.path(), mirror.path()), None);

        site.write("a&b.txt", "changed");
        site.write("new folder/new file.html", "new");
        site.remove("deep/er/and deeper/file.txt");
        wait_for("the mirror is the site again", || {
            let (refused, _) = desk.harvest(server.url(), "oai_didl", Novelty::Changed);
            assert!(refused.is_empty(), "{refused:?}");
            difference(site.path(), mirror.path()).map_or(Ok(()), Err)
        });
        assert!(!mirror.path().join("deep").exists());
        desk.sink.finish().expect("a finish");
    }
}

#[test]
fn what_contradicts_its_record_is_not_kept() {
    let mirror = TempDir::new().expect("a folder");
    let mut desk = open(mirror.path());
    let url = "http://site.example/a.txt";
    assert_eq!(desk.put(url, b"good"), Kept::Yes);
    let good = Made::new(url, b"good");
    let digest = Made { digest: Made::new(url, b"other").digest, ..good.clone() };
    let length = Made { headers: vec![("Content-Length", "5".to_owned())], ..good.clone() };
    let base64 = Made { value: Some("Z29v*A==".to_owned()), ..good.clone() };
    let md5 =
        Made { headers: vec![("Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg==".to_owned())], digest: None, ..good.clone() };
    for (made, reason) in [(digest, "SHA-256"), (length, "the record states 5"), (base64, "base64"), (md5, "MD5")] {
        let refused = refusal(desk.give(&header(url), &made.to_xml(), 7, Novelty::Changed));
        assert!(refused.contains(reason), "{refused}");
    }
    assert!(refusal(desk.give(&header(url), "<dc/>", 7, Novelty::Changed)).contains("not DIDL"));
    assert!(refusal(desk.give(&header(url), "", 7, Novelty::Changed)).contains("no resource"));
    assert_eq!(fs::read(mirror.path().join("a.txt")).expect("a file"), b"good");
    assert_eq!(files_below(&mirror.path().join(".modoai/tmp")).expect("a folder").len(), 0);
}

#[test]
fn deletions_take_files_and_empty_folders_with_them() {
    for keep_deleted in [false, true] {
        let mirror = TempDir::new().expect("a folder");
        let options = SinkOptions { keep_deleted, ..SinkOptions::default() };
        let mut desk = Desk::open("mirror", mirror.path(), None, BASE_URL, &options);
        for name in ["a/b/c.txt", "a/d.txt"] {
            assert_eq!(desk.put(&format!("http://site.example/{name}"), name.as_bytes()), Kept::Yes);
        }
        for _ in 0..2 {
            assert_eq!(desk.delete("http://site.example/a/b/c.txt"), Kept::Yes);
        }
        assert_eq!(desk.delete("http://site.example/never"), Kept::Yes);
        assert_eq!(files(mirror.path()), ["a/d.txt"]);
        assert!(!mirror.path().join("a/b").exists());
        // It comes back and goes again, and its folder was a file meanwhile.
        assert_eq!(desk.put("http://site.example/a/b", b"file"), Kept::Yes);
        assert_eq!(desk.delete("http://site.example/a/b"), Kept::Yes);
        assert_eq!(desk.put("http://site.example/a/b/c.txt", b"again"), Kept::Yes);
        assert_eq!(desk.delete("http://site.example/a/b/c.txt"), Kept::Yes);
        assert_eq!(desk.delete("http://site.example/a/d.txt"), Kept::Yes);
        assert_eq!(files(mirror.path()), Vec::<String>::new());
        assert!(!mirror.path().join("a").exists());
        let own = files_below(&mirror.path().join(".modoai")).expect("a folder");
        let own = own.iter().map(|file| file.to_string_lossy());
        let aside: Vec<_> = own.filter(|file| file.starts_with("deleted")).collect();
        // Nothing that was put aside replaces anything.
        let expected = ["deleted-2/a/b", "deleted-3/a/b/c.txt", "deleted/a/b/c.txt", "deleted/a/d.txt"];
        if keep_deleted {
            assert_eq!(aside.iter().collect::<BTreeSet<_>>(), expected.map(Cow::Borrowed).iter().collect());
        } else {
            assert!(aside.is_empty(), "{aside:?}");
        }
    }
}

#[test]
fn what_is_unchanged_is_not_written_again() {
    let mirror = TempDir::new().expect("a folder");
    let mut desk = open(mirror.path());
    let url = "http://site.example/a.txt";
    desk.put(url, b"good");
    let file = mirror.path().join("a.txt");
    let first = fs::metadata(&file).expect("a file");
    assert_eq!(first.mtime(), 1_704_103_200);
    let mut made = Made::new(url, b"good");
    made.headers[0].1 = "Mon, 01 Jan 2024 11:00:00 GMT".to_owned();
    assert_eq!(desk.give(&header(url), &made.to_xml(), 50, Novelty::Changed), Kept::Yes);
    let touched = fs::metadata(&file).expect("a file");
    assert_eq!((first.ino(), 1_704_106_800), (touched.ino(), touched.mtime()));
    // Someone damaged it: the same record mends it, after a restart too.
    desk.commit();
    drop(desk);
    let mut desk = open(mirror.path());
    fs::write(&file, "damage").expect("a file");
    assert_eq!(desk.give(&header(url), &made.to_xml(), 50, Novelty::Same), Kept::Yes);
    assert_eq!(fs::read(&file).expect("a file"), b"good");
}

#[test]
fn files_and_folders_of_one_name_are_told_apart() {
    let mirror = TempDir::new().expect("a folder");
    let mut desk = open(mirror.path());
    assert_eq!(desk.put("http://site.example/a", b"1"), Kept::Yes);
    assert!(refusal(desk.put("http://site.example/a/b", b"2")).contains("its parent directory is a file"));
    assert_eq!(desk.put("http://site.example/c/d", b"3"), Kept::Yes);
    assert!(refusal(desk.put("http://site.example/c", b"4")).contains("a directory has the same name"));
    // Two records, one file: whose it is, stays. The same URL in other words takes over.
    assert_eq!(desk.put("http://site.example/", b"5"), Kept::Yes);
    assert!(refusal(desk.put("http://site.example/index.html", b"6")).contains("belongs to the record"));
    assert_eq!(desk.put("https://site.example/%61", b"7"), Kept::Yes);
    assert_eq!(desk.delete("http://site.example/a"), Kept::Yes);
    assert_eq!(fs::read(mirror.path().join("a")).expect("a file"), b"7");
    // What differs in the fragment only has one name, and is two resources.
    assert_eq!(desk.put("http://site.example/f#one", b"8"), Kept::Yes);
    for other in ["http://site.example/f#two", "http://site.example/f"] {
        assert!(refusal(desk.put(other, b"9")).contains("'f' belongs to the record 'http://site.example/f#one'"));
    }
    assert_eq!(desk.put("https://site.example/%66#one", b"8"), Kept::Yes);
    assert_eq!(files(mirror.path()), ["a", "c/d", "f", "index.html"]);
}

#[test]
fn records_with_the_same_bytes_share_a_file_that_goes_with_the_last_of_them() {
    let mirror = TempDir::new().expect("a folder");
    let file = mirror.path().join("dir/index.html");
    let content = || fs::read_to_string(&file).ok();
    let [folder, index] = ["http://site.example/dir/", "http://site.example/dir/index.html"];
    let mut desk = open(mirror.path());
    let same_of = |desk: &mut Desk, bytes: &[u8]| {
        // Nothing is asked, because nobody would answer.
        let made = Made { value: None, digest: None, ..Made::new(index, bytes) };
        desk.give(&header(index), &made.to_xml(), 999, Novelty::Same)
    };
    for first_to_go in [folder, index] {
        let last = if first_to_go == folder { index } else { folder };
        for bytes in [&b"1"[..], b"2"] {
            // Both change, one after the other.
            assert_eq!(desk.put(folder, bytes), Kept::Yes);
            assert_eq!(desk.put(index, bytes), Kept::Yes);
            assert_eq!(same_of(&mut desk, bytes), Kept::Yes);
        }
        desk.commit();
        assert_eq!(altered(&mut desk), Vec::<String>::new());
        assert_eq!(desk.delete(first_to_go), Kept::Yes);
        assert_eq!(content().as_deref(), Some("2"));
        // What is left is the file's only record, and may change it.
        assert_eq!(desk.put(last, b"3"), Kept::Yes);
        assert_eq!(content().as_deref(), Some("3"));
        desk.commit();
        assert_eq!(altered(&mut desk), Vec::<String>::new());
        assert_eq!(desk.delete(last), Kept::Yes);
        assert_eq!(content(), None);
    }
    // One changes and the other does not: what is not there any more is found.
    assert_eq!(desk.put(folder, b"1"), Kept::Yes);
    assert_eq!(desk.put(index, b"1"), Kept::Yes);
    assert!(refusal(desk.put(index, b"2")).contains("belongs to the record 'http://site.example/dir/'"));
    assert_eq!(desk.put(folder, b"2"), Kept::Yes);
    assert!(matches!(same_of(&mut desk, b"1"), Kept::No(_)));
    desk.commit();
    assert_eq!(altered(&mut desk), [index]);
    // The owner goes, and has nothing to leave to anybody.
    assert_eq!(desk.delete(folder), Kept::Yes);
    assert_eq!(content(), None);
    desk.commit();
    assert_eq!(altered(&mut desk), [index]);
    assert_eq!(desk.put(index, b"1"), Kept::Yes);
    desk.commit();
    drop(desk);
    let mut desk = open(mirror.path());
    assert_eq!(altered(&mut desk), Vec::<String>::new());
    // In a page that is taken back: whoever comes again has the file.
    assert_eq!(desk.put("http://site.example/b/", b"b"), Kept::Yes);
    assert_eq!(desk.put("http://site.example/b/index.html", b"b"), Kept::Yes);
    assert_eq!(desk.put("http://site.example/c/", b"c"), Kept::Yes);
    assert_eq!(desk.put("http://site.example/c/index.html", b"c"), Kept::Yes);
    desk.sink.roll_back().expect("a way back");
    desk.page();
    assert_eq!(desk.put("http://site.example/b/index.html", b"b"), Kept::Yes);
    desk.commit();
    desk.sink.finish().expect("a finish");
    assert_eq!(files(mirror.path()), ["b/index.html", "dir/index.html"]);
    assert_eq!(altered(&mut desk), Vec::<String>::new());
    assert_eq!(desk.delete("http://site.example/b/index.html"), Kept::Yes);
    assert_eq!(files(mirror.path()), ["dir/index.html"]);
}

#[test]
fn links_are_replaced_or_refused_and_never_followed() {
    let (outside, mirror) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
    fs::write(outside.path().join("target"), "untouched").expect("a file");
    symlink(outside.path(), mirror.path().join("folder")).expect("a link");
    symlink(outside.path().join("target"), mirror.path().join("file")).expect("a link");
    let mut desk = open(mirror.path());
    assert!(refusal(desk.put("http://site.example/folder/x", b"1")).contains("a symbolic link"));
    assert!(refusal(desk.put("http://site.example/file", b"2")).contains("not written by this mirror"));
    assert!(mirror.path().join("file").is_symlink());
    assert_eq!(fs::read(outside.path().join("target")).expect("a file"), b"untouched");
    assert_eq!(files_below(outside.path()).expect("a folder").len(), 1);
    // Planted later, where a file was.
    desk.put("http://site.example/b/c", b"3");
    desk.put("http://site.example/d", b"4");
    fs::remove_file(mirror.path().join("d")).expect("a file");
    symlink(outside.path().join("target"), mirror.path().join("d")).expect("a link");
    assert_eq!(desk.put("http://site.example/d", b"5"), Kept::Yes);
    assert!(!mirror.path().join("d").is_symlink());
    assert_eq!(fs::read(outside.path().join("target")).expect("a file"), b"untouched");
    desk.commit();
    drop(desk);
    fs::remove_dir_all(mirror.path().join("b")).expect("a folder");
    symlink(outside.path(), mirror.path().join("b")).expect("a link");
    let mut desk = open(mirror.path());
    fs::write(outside.path().join("c"), "untouched").expect("a file");
    assert_eq!(desk.delete("http://site.example/b/c"), Kept::Yes);
    assert!(outside.path().join("c").exists());
}

#[test]
fn files_may_be_older_than_the_calendar_of_computers() {
    let mirror = TempDir::new().expect("a folder");
    let mut desk = open(mirror.path());
    let mut made = Made::new("http://site.example/old", b"old");
    made.headers[0].1 = "Fri, 01 Jan 1960 00:00:00 GMT".to_owned();
    for _ in 0..2 {
        assert_eq!(desk.give(&header(&made.url), &made.to_xml(), 50, Novelty::Changed), Kept::Yes);
        assert_eq!(fs::metadata(mirror.path().join("old")).expect("a file").mtime(), -315_619_200);
    }
    assert_eq!(desk.sink.inspect("").expect("inspected").expect("one").altered, []);
}

#[test]
fn what_somebody_else_put_there_is_not_replaced() {
    let mirror = TempDir::new().expect("a folder");
    fs::create_dir_all(mirror.path().join("a")).expect("a folder");
    fs::write(mirror.path().join("a/precious"), "mine").expect("a file");
    fs::write(mirror.path().join("same"), "the same").expect("a file");
    let inode = fs::metadata(mirror.path().join("same")).expect("a file").ino();
    let mut desk = open(mirror.path());
    for _ in 0..2 {
        let refused = refusal(desk.put("http://site.example/a/precious", b"theirs"));
        assert!(refused.contains("'a/precious' already exists"), "{refused}");
    }
    let referred = Made { value: None, ..Made::new("http://site.example/a/precious", b"theirs") };
    let refused = refusal(desk.give(&header(&referred.url), &referred.to_xml(), 999, Novelty::Same));
    assert!(refused.contains("already exists"), "not even fetched: {refused}");
    assert_eq!(desk.delete("http://site.example/a/precious"), Kept::Yes);
    assert_eq!(fs::read(mirror.path().join("a/precious")).expect("a file"), b"mine");
    // What is the same becomes the mirror's, with the time that it has there.
    assert_eq!(desk.put("http://site.example/same", b"the same"), Kept::Yes);
    let same = fs::metadata(mirror.path().join("same")).expect("a file");
    assert_eq!((same.ino(), same.mtime()), (inode, 1_704_103_200));
    assert_eq!(desk.put("http://site.example/same", b"another"), Kept::Yes);
    assert_eq!(desk.delete("http://site.example/same"), Kept::Yes);
    assert_eq!(files(mirror.path()), ["a/precious"]);
}

#[test]
fn what_a_killed_process_put_there_goes_unless_it_is_somebody_elses_now() {
    let mirror = TempDir::new().expect("a folder");
    let mut desk = open(mirror.path());
    assert_eq!(desk.put("http://site.example/known", b"old"), Kept::Yes);
    desk.commit();
    for name in ["a", "b/c", "mine"] {
        assert_eq!(desk.put(&format!("http://site.example/{name}"), name.as_bytes()), Kept::Yes);
    }
    assert_eq!(desk.put("http://site.example/known", b"new"), Kept::Yes);
    // No commit: of this page only the files remain, and nobody knows whether these records come again.
    drop(desk);
    fs::write(mirror.path().join("mine"), "not theirs").expect("a file");
    let mut desk = open(mirror.path());
    assert_eq!(files(mirror.path()), ["known", "mine"]);
    assert!(!mirror.path().join("b").exists());
    assert_eq!(desk.put("http://site.example/a", b"2"), Kept::Yes);
    assert_eq!(desk.put("http://site.example/known", b"new"), Kept::Yes);
    assert!(refusal(desk.put("http://site.example/mine", b"mine")).contains("already exists"));
    assert_eq!(fs::read(mirror.path().join("mine")).expect("a file"), b"not theirs");
    assert_eq!(desk.delete("http://site.example/a"), Kept::Yes);
    fs::write(mirror.path().join("a"), "mine").expect("a file");
    assert!(refusal(desk.put("http://site.example/a", b"3")).contains("already exists"));
}

#[test]
fn what_a_page_left_that_was_taken_back_goes_unless_it_comes_again() {
    for restarted in [false, true] {
        let mirror = TempDir::new().expect("a folder");
        let url = |name: &str| format!("http://site.example/{name}");
        fs::write(mirror.path().join("same"), "same").expect("a file");
        let mut desk = open(mirror.path());
        assert_eq!(desk.put(&url("old"), b"1"), Kept::Yes);
        desk.commit();
        for name in ["gone/a", "again", "same", "edited"] {
            assert_eq!(desk.put(&url(name), name.as_bytes()), Kept::Yes);
        }
        assert_eq!(desk.put(&url("old"), b"2"), Kept::Yes);
        desk.sink.roll_back().expect("a way back");
        // The page is asked for again, perhaps by the next run: nothing that is large is to be fetched again.
        desk.sink.finish().expect("a finish");
        assert_eq!(files(mirror.path()), ["again", "edited", "gone/a", "old", "same"]);
        let inode = fs::metadata(mirror.path().join("again")).expect("a file").ino();
        fs::write(mirror.path().join("edited"), "by somebody").expect("a file");
        if restarted {
            drop(desk);
            desk = open(mirror.path());
        }
        desk.page();
        assert_eq!(desk.put(&url("again"), b"again"), Kept::Yes);
        // Once more, and this time it breaks off later.
        desk.sink.roll_back().expect("a way back");
        desk.page();
        assert_eq!(desk.put(&url("again"), b"again"), Kept::Yes);
        assert_eq!(fs::metadata(mirror.path().join("again")).expect("a file").ino(), inode);
        desk.commit();
        desk.sink.finish().expect("a finish");
        assert_eq!(files(mirror.path()), ["again", "edited", "old", "same"]);
        assert!(!mirror.path().join("gone").exists());
        assert_eq!(fs::read(mirror.path().join("old")).expect("a file"), b"2", "whose record comes again");
        assert_eq!(desk.sink.inspect("").expect("inspected").expect("some").altered, []);
        // What is looked through is not to have any of it either.
        assert_eq!(desk.put(&url("gone/a"), b"a"), Kept::Yes);
        desk.sink.roll_back().expect("a way back");
        desk.sink.inspect("").expect("inspected");
        assert_eq!(files(mirror.path()), ["again", "edited", "old", "same"]);
    }
}

#[test]
fn every_file_that_is_not_as_it_was_written_is_found() {
    let mirror = TempDir::new().expect("a folder");
    let mut desk = open(mirror.path());
    let url = |number: usize| format!("http://site.example/f/{number:03}");
    let file = |number: usize| mirror.path().join(format!("f/{number:03}"));
    for number in 0..150 {
        assert_eq!(desk.put(&url(number), b"good"), Kept::Yes);
    }
    desk.sink.commit().expect("a commit");
    let times = fs::metadata(file(0)).expect("a file").modified().expect("a time");
    let date = |number: usize, to| fs::File::options().append(true).open(file(number)).expect("it").set_modified(to);
    fs::remove_file(file(3)).expect("a file");
    fs::write(file(64), "longer").expect("a file");
    // As long as it was, and as old: only its bytes tell.
    fs::write(file(100), "evil").expect("a file");
    date(100, times).expect("dated");
    fs::remove_file(file(149)).expect("a file");
    symlink("000", file(149)).expect("a link");
    date(120, std::time::SystemTime::now()).expect("dated");
    let wrong = [3, 64, 100, 149];
    assert_eq!(altered(&mut desk), wrong.map(url));
    assert_eq!(altered(&mut desk), wrong.map(url), "until they are written again");
    assert_eq!(fs::metadata(file(120)).expect("a file").modified().expect("a time"), times, "set again");
    desk.page();
    for number in wrong {
        let made = Made::new(&url(number), b"good").to_xml();
        assert_eq!(desk.give(&header(&url(number)), &made, 999, Novelty::Same), Kept::Yes);
        assert_eq!(fs::read(file(number)).expect("a file"), b"good");
    }
    desk.sink.commit().expect("a commit");
    assert_eq!(desk.sink.inspect("").expect("inspected").expect("some").altered, []);
}

#[test]
fn what_a_killed_process_left_is_cleared_away() {
    let mirror = TempDir::new().expect("a folder");
    let mut desk = open(mirror.path());
    desk.put("http://site.example/kept", b"1");
    desk.commit();
    // Large enough for a temporary file; never completed.
    let made = Made::new("http://site.example/large", &vec![7; 3_000_000]).to_xml();
    desk.sink.record(&header("http://site.example/large")).expect("a record");
    desk.sink.part(modoai_harvester::sink::Part::Metadata, &[]).expect("a part");
    desk.sink.bytes(&made.as_bytes()[..made.len() - 100]).expect("bytes");
    let scratch = mirror.path().join(".modoai/tmp");
    assert_eq!(files_below(&scratch).expect("a folder").len(), 1);
    desk.sink.abandon().expect("no more of it");
    assert_eq!(files_below(&scratch).expect("a folder").len(), 0);
    drop(desk);
    fs::write(scratch.join("0"), "left over").expect("a file");
    let mut desk = open(mirror.path());
    assert_eq!(files_below(&scratch).expect("a folder").len(), 0);
    assert_eq!(desk.put("http://site.example/large", &vec![7; 3_000_000]), Kept::Yes);
    assert_eq!(files(mirror.path()), ["kept", "large"]);
}

/// Answers one connection after the other with these bytes, and returns the requests.
fn serve(answers: Vec<Vec<u8>>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let thread = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().expect("a connection");
            let (mut request, mut byte) = (Vec::new(), [0]);
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
                request.push(byte[0]);
            }
            stream.write_all(&answer).expect("a client that listens");
            requests.push(String::from_utf8_lossy(&request).to_ascii_lowercase());
        }
        requests
    });
    (url, thread)
}

#[test]
fn what_is_only_referred_to_is_fetched_resumed_and_compared() {
    let content: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).take(2_500_000).collect();
    let head = "ETag: \"v1\"\r\nLast-Modified: Mon, 01 Jan 2024 10:00:00 GMT\r\nConnection: close\r\n";
    let all = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{head}\r\n", content.len()).into_bytes();
    let rest = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1500000-{}/{}\r\nContent-Length: 1000000\r\n{head}\r\n",
        content.len() - 1,
        content.len()
    );
    let (url, server) = serve(vec![
        // Cut short, then taken up where it was cut.
        [all.as_slice(), &content[..1_500_000]].concat(),
        [rest.as_bytes(), &content[1_500_000..]].concat(),
        format!("HTTP/1.1 304 Not Modified\r\n{head}\r\n").into_bytes(),
        [all.as_slice(), &[vec![1], content[1..].to_vec()].concat()].concat(),
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec(),
    ]);
    let mirror = TempDir::new().expect("a folder");
    let mut desk = Desk::open("mirror", mirror.path(), None, &format!("{url}/modoai"), &SinkOptions::default());
    let (file, address) = (mirror.path().join("large.bin"), format!("{url}/large.bin"));
    let made = Made { value: None, ..Made::new(&address, &content) };
    assert_eq!(desk.give(&header(&address), &made.to_xml(), 999, Novelty::New), Kept::Yes);
    assert!(fs::read(&file).expect("a file") == content);
    assert_eq!(fs::metadata(&file).expect("a file").mtime(), 1_704_103_200);

    // The digest is the one that is there: nothing is asked. Without one, it is asked whether anything changed.
    assert_eq!(desk.give(&header(&address), &made.to_xml(), 999, Novelty::Changed), Kept::Yes);
    let silent = Made { digest: None, ..made.clone() };
    assert_eq!(desk.give(&header(&address), &silent.to_xml(), 999, Novelty::Same), Kept::Yes);
    assert_eq!(desk.give(&header(&address), &silent.to_xml(), 999, Novelty::Changed), Kept::Yes);
    // What comes is not what the record says: the old file stays.
    let other = Made { value: None, ..Made::new(&address, &[content.clone(), vec![0]].concat()) };
    let refused = refusal(desk.give(&header(&address), &other.to_xml(), 999, Novelty::Changed));
    assert!(refused.contains("the record states"), "{refused}");
    assert!(fs::read(&file).expect("a file") == content);
    let gone = Made { value: None, ..Made::new(&format!("{url}/gone"), b"") };
    assert!(refusal(desk.give(&header(&gone.url), &gone.to_xml(), 999, Novelty::New)).contains("404"));

    let requests = server.join().expect("a server that ends");
    assert!(requests[1].contains("range: bytes=1500000-") && requests[1].contains("if-range: \"v1\""), "{requests:?}");
    assert!(requests[2].contains("if-none-match: \"v1\""), "{requests:?}");
}

/// Pieces that names of strangers may be made of.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = vec![
        "..",
        ".",
        "/",
        "//",
        "%2e%2e",
        "%2E.",
        "%2f",
        "%5c",
        "\\",
        "%00",
        "\0",
        "\n",
        "a",
        "b",
        "B",
        "canary",
        "link",
        ".modoai",
        ".MODOAI.",
        "tmp",
        "mirror.sqlite",
        "CON",
        "nul.txt",
        "COM1",
        " ",
        "%",
        "%zz",
        "%c3%28",
        "é",
        "?",
        "#",
        ":",
        "~",
        "C:",
        "http://site.example/",
        "http://other.example/",
        "http://..",
        "https://site.example:443/",
        "file:///",
        "oai:x:",
        "@",
        "%0d%0a",
        "\u{202e}",
        "x.",
        "x ",
    ];
    let piece = prop_oneof![
        8 => prop::sample::select(pieces).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
        1 => (200_usize..300).prop_map(|length| "x".repeat(length)),
    ];
    (any::<bool>(), prop::collection::vec(piece, 0..8))
        .prop_map(|(is_url, pieces)| format!("{}{}", if is_url { "http://site.example/" } else { "" }, pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_name_leads_outside(names in prop::collection::vec(hostile(), 1..12), keep_deleted in any::<bool>()) {
        let around = TempDir::new().expect("a folder");
        let (canary, mirror) = (around.path().join("canary"), around.path().join("mirror"));
        fs::create_dir_all(&canary).expect("a folder");
        fs::create_dir_all(mirror.join("a")).expect("a folder");
        fs::write(canary.join("a"), "alive").expect("a file");
        symlink(&canary, mirror.join("link")).expect("a link");
        symlink("../canary", mirror.join("b")).expect("a link");
        symlink("../../canary/a", mirror.join("a/a")).expect("a link");
        let options = SinkOptions { keep_deleted, ..SinkOptions::default() };
        let mut desk = Desk::open("mirror", &mirror, None, BASE_URL, &options);
        for name in &names {
            // XML carries no such characters; identifiers of broken servers do.
            let url = if name.contains(['\0', '\u{fffe}', '\u{ffff}']) { "" } else { name };
            let made = Made::new(url, name.as_bytes());
            let kept = desk.give(&header(name), &made.to_xml(), 100, Novelty::New);
            let own = Made { url: String::new(), ..made };
            let own = own.to_xml().replace(" ref=\"\"", "");
            desk.give(&header(name), &own, 100, Novelty::New);
            if kept == Kept::Yes && name.len() % 2 == 0 {
                desk.delete(name);
            }
        }
        desk.commit();
        desk.sink.finish().expect("a finish");
        prop_assert_eq!(fs::read(canary.join("a")).expect("a file"), b"alive");
        prop_assert_eq!(files_below(&canary).expect("a folder").len(), 1);
        let mut there: Vec<_> = fs::read_dir(around.path()).expect("a folder").map(|entry| entry.expect("one").file_name()).collect();
        there.sort();
        prop_assert_eq!(there, ["canary", "mirror"]);
        // What the mirror keeps for itself holds nothing that a record chose.
        for file in files_below(&mirror.join(".modoai")).expect("a folder") {
            let name = file.to_string_lossy().into_owned();
            prop_assert!(name.starts_with("mirror.") || name.starts_with("deleted"), "{}", name);
        }
    }
}
