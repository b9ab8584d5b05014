//! What happens to servers: restarts, crashes, clients that leave, files that change while they are read, disks that are
//! full. The site is served all the while, no answer is ever wrong, and the log says what a webmaster must know.

use std::fs;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modoai_protocol::xml::Response;
use modoai_testkit::apache::{self, Httpd, Launch, Mpm, machine};
use modoai_testkit::http::{Client, Get as _, Persistent, encode};
use modoai_testkit::waiting::next_second;

use super::listed;
use crate::oai;

/// A server with so many small files and these directives, indexed.
fn serving(mpm: Mpm, files: usize, directives: &str) -> Httpd {
    let launch = Launch::new(mpm).ordinary_site().text(directives);
    for number in 0..files {
        launch.write(format!("docs/{}/{number}.txt", number % 5), format!("file {number}"));
    }
    let httpd = launch.start();
    httpd.wait_for_index(&mut httpd.client());
    assert_eq!(listed(&mut httpd.client()).len(), files);
    httpd
}

/// Ends the threads of a test, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn graceful_restarts_under_load_spoil_no_answer() {
    if apache::is_missing() {
        return;
    }
    let httpd = serving(Mpm::Event, 100, "OAIPageSize 40");
    let (stop, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let _stop = Stop(&stop);
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = httpd.client();
                while !stop.load(Ordering::Relaxed) {
                    // Three pages; a list begun with one generation of children goes on with the next.
                    assert_eq!(listed(&mut client).len(), 100);
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for _ in 0..3 {
            let before = answers.load(Ordering::Relaxed);
            httpd.graceful();
            httpd.wait("lists are still given", || answers.load(Ordering::Relaxed) > before + 3);
        }
    });
    httpd.write("docs/new/after.txt", "new");
    let mut client = httpd.client();
    httpd.wait("a new file is noticed after restarts", || listed(&mut client).contains("new/after.txt"));
    httpd.expect_clean_log(&[]);
}

#[test]
fn a_graceful_restart_brings_a_new_configuration_into_the_index() {
    if apache::is_missing() {
        return;
    }
    let httpd = serving(Mpm::Worker, 3, "IncludeOptional more*.conf");
    httpd.write("more/x.txt", "more");
    let mut client = httpd.client();
    let more = "Alias /more \"${SITE}/more\"\n<Directory \"${SITE}/more\">\nRequire all granted\n</Directory>\n";
    httpd.write("more.conf", more);
    httpd.graceful();
    httpd.wait("what an alias shows is listed", || listed(&mut client).contains("more/x.txt"));
    httpd.write("more/y.txt", "more");
    httpd.wait("what comes later, too", || listed(&mut client).contains("more/y.txt"));
    fs::remove_file(httpd.path().join("more.conf")).expect("a configuration");
    httpd.graceful();
    httpd.wait("what is served no more is listed no more", || listed(&mut client).len() == 3);
    httpd.expect_clean_log(&[]);
}

#[test]
fn restarts_cut_answers_but_never_make_them_wrong() {
    if apache::is_missing() {
        return;
    }
    let httpd = serving(Mpm::Worker, 100, "");
    let (stop, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let _stop = Stop(&stop);
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = httpd.client();
                while !stop.load(Ordering::Relaxed) {
                    // A connection may be refused or cut; whatever is a whole answer must be right.
                    if let Ok(answer) = client.get("/modoai?verb=ListRecords&metadataPrefix=oai_didl") {
                        assert_eq!(answer.status, 200, "{}", answer.text());
                        assert_eq!(Response::read(&answer.body).expect("well-formed").records.len(), 100);
                        answers.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        for _ in 0..3 {
            let before = answers.load(Ordering::Relaxed);
            httpd.restart();
            httpd.wait("answers are given again", || answers.load(Ordering::Relaxed) > before + 3);
        }
    });
    httpd.write("docs/new/after.txt", "new");
    let mut client = httpd.client();
    httpd.wait("a new file is noticed after restarts", || listed(&mut client).contains("new/after.txt"));
    httpd.expect_clean_log(&[]);
}

#[test]
fn what_changed_while_httpd_was_down_is_told_when_it_is_up_again() {
    if apache::is_missing() {
        return;
    }
    let mut httpd = serving(Mpm::Event, 10, "");
    let date = oai::ask(&mut httpd.client(), "verb=Identify").answer.response_date;
    httpd.stop();
    next_second();
    fs::remove_file(httpd.path().join("docs/0/0.txt")).expect("a file to delete");
    httpd.write("docs/1/1.txt", "changed");
    httpd.write("docs/new.txt", "new");
    httpd.start_again();
    let mut client = httpd.client();
    // What is known is told at once; what is new, when it has been found.
    let answer = client.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
    assert!(matches!(answer.status, 200 | 503), "{}: {}", answer.status, answer.text());
    httpd.wait_for_index(&mut client);
    let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={date}");
    let name = |identifier: &str| identifier.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    let expected = [("0/0.txt", true), ("1/1.txt", false), ("new.txt", false)];
    httpd.wait("the changes are told", || {
        let records = oai::harvest(&mut client, &query);
        let late = records.iter().filter(|record| record.datestamp > date);
        let mut found: Vec<(String, bool)> = late.map(|record| (name(&record.identifier), record.deleted)).collect();
        found.sort();
        found == expected.map(|(name, deleted)| (name.to_owned(), deleted))
    });
    httpd.expect_clean_log(&[]);
}

#[test]
fn killed_children_of_prefork_are_replaced_and_another_one_keeps_the_index() {
    if apache::is_missing() {
        return;
    }
    kill_children(Mpm::Prefork);
}

#[test]
fn killed_children_of_event_are_replaced_and_another_one_keeps_the_index() {
    if apache::is_missing() {
        return;
    }
    kill_children(Mpm::Event);
}

fn kill_children(mpm: Mpm) {
    let httpd = serving(mpm, 20, "");
    // The child that is killed may be the one that answers.
    let mut client = Persistent(httpd.client());
    let lock = index_file(&httpd, "catalogue.sqlite-lock");
    let mut indexing = None;
    httpd.wait("a child holds the lock", || {
        indexing = httpd.lock_holder(&lock);
        indexing.is_some()
    });
    httpd.kill_child(indexing.expect("one was found"));
    httpd.write("docs/after the crash.txt", "new");
    // A list that the killed child was giving counts as one under way until it is missed.
    let mut is_listed = |name: &str| {
        let answer = client.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
        assert!(matches!(answer.status, 200 | 503), "{}: {}", answer.status, answer.text());
        let page = (answer.status == 200).then(|| Response::read(&answer.body).expect("well-formed"));
        page.map(|page| page.records.iter().any(|record| !record.deleted && record.identifier.ends_with(name)))
    };
    let name = "after%20the%20crash.txt";
    httpd.wait("a change after the crash is noticed", || is_listed(name) == Some(true));
    // Then all of them, one after the other.
    for pid in httpd.children() {
        httpd.kill_child(pid);
        httpd.wait("a list is given", || is_listed(name) == Some(true));
    }
    fs::remove_file(httpd.path().join("docs/after the crash.txt")).expect("a file to delete");
    httpd.wait("a deletion is noticed", || is_listed(name) == Some(false));
    httpd.expect_clean_log(&[]);
}

#[test]
fn clients_that_leave_in_the_middle_of_an_answer_do_no_harm() {
    if apache::is_missing() {
        return;
    }
    // A list whose client has left is under way until somebody notices: there is room for all of them.
    let room = "OAIListsAtOnce 24\nOAIListsPerHarvester 0";
    let launch = Launch::new(Mpm::Event).ordinary_site().text("OAIPageBytes 100M").text(room);
    for number in 0..60 {
        launch.write(format!("docs/{number}.bin"), vec![b'x'; 200_000]);
    }
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let mut children = httpd.children();
    for read in [0, 1, 1_000, 100_000, 5_000_000] {
        for _ in 0..3 {
            let mut stream = client.connect().expect("a connection");
            let request = "GET /modoai?verb=ListRecords&metadataPrefix=oai_didl HTTP/1.1\r\nHost: x\r\n\r\n";
            stream.write_all(request.as_bytes()).expect("a request");
            let mut beginning = Vec::new();
            Read::take(&mut stream, read).read_to_end(&mut beginning).expect("the beginning of an answer");
            let status = String::from_utf8_lossy(&beginning[..beginning.len().min(40)]).into_owned();
            assert_eq!(beginning.len() as u64, read, "{status}");
        }
    }
    // Whoever stays gets everything.
    let whole = oai::ask(&mut client, "verb=ListRecords&metadataPrefix=oai_didl");
    assert_eq!(whole.answer.records.len(), 60);
    let mut still = httpd.children();
    children.sort_unstable();
    still.sort_unstable();
    assert_eq!(still, children, "no child has died");
    httpd.expect_clean_log(&[]);
}

#[test]
fn a_panic_is_an_error_of_one_request_and_of_nothing_else() {
    if apache::is_missing() {
        return;
    }
    let httpd = serving(Mpm::Event, 3, "");
    let mut client = httpd.client();
    let mut children = httpd.children();
    for _ in 0..3 {
        // Builds for tests have this verb.
        assert_eq!(client.get("/modoai?verb=Panic").expect("an answer").status, 500);
        assert_eq!(listed(&mut client).len(), 3);
    }
    let mut still = httpd.children();
    children.sort_unstable();
    still.sort_unstable();
    assert_eq!(still, children, "no child has died");
    assert_eq!(httpd.error_log().matches("(please report this)").count(), 3);
    httpd.expect_clean_log(&["(please report this)"]);
}

#[test]
fn what_changes_between_list_and_record_is_told_as_it_is_now() {
    if apache::is_missing() {
        return;
    }
    let httpd = serving(Mpm::Event, 3, "");
    let mut client = httpd.client();
    let record = |client: &mut Client, name: &str| {
        let id = encode(format!("{}/{name}", httpd.url()));
        oai::ask(client, &format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={id}")).answer
    };
    let package = |answer: &Response| {
        let metadata = answer.records[0].metadata.as_ref().expect("a package");
        String::from_utf8(metadata.bytes.clone()).expect("UTF-8")
    };
    // At once, before anyone can have noticed; in place, and by another file.
    for (round, content) in ["longer than it was before", "short", "", "by another file"].into_iter().enumerate() {
        let path = httpd.path().join("docs/0/0.txt");
        if round == 3 {
            httpd.write("docs/.new", content);
            fs::rename(httpd.path().join("docs/.new"), &path).expect("a file to replace");
        } else {
            fs::write(&path, content).expect("a file to change");
        }
        let package = package(&record(&mut client, "0/0.txt"));
        let value =
            package.split_once(" encoding=\"base64\">").and_then(|(_, rest)| rest.split_once('<')).expect("by value");
        assert_eq!(STANDARD.decode(value.0).expect("base64"), content.as_bytes(), "round {round}");
        assert!(package.contains(&format!("Content-Length\">{}<", content.len())), "round {round}: {package}");
    }
    fs::remove_file(httpd.path().join("docs/1/1.txt")).expect("a file to delete");
    let gone = record(&mut client, "1/1.txt");
    let told = gone.errors.iter().any(|(code, _)| code == "idDoesNotExist") || gone.records[0].deleted;
    assert!(told, "{gone:?}");
    httpd.expect_clean_log(&[]);
}

#[test]
fn an_index_directory_that_cannot_be_written_is_said_clearly_and_the_site_is_served() {
    if apache::is_missing() {
        return;
    }
    let launch = Launch::new(Mpm::Event).ordinary_site();
    launch.write("docs/a.txt", "a");
    let index = launch.path().join("index");
    // Root's, and the children are not root; or everybody's, and nobody may write.
    fs::remove_dir(&index).expect("an empty folder");
    fs::create_dir(&index).expect("a new folder");
    set_mode(&index, 0o555);
    let httpd = launch.start();
    let mut client = httpd.client();
    for _ in 0..20 {
        assert_eq!(client.get("/a.txt").expect("an answer").text(), "a");
        let answer = Client::new(&httpd.url()).get("/modoai?verb=Identify").expect("an answer");
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(answer.header("Retry-After").is_some_and(|value| value.parse::<u32>().is_ok()));
    }
    let directory = index.to_string_lossy().into_owned();
    let log = httpd.error_log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(&directory)).collect();
    assert!((1..=httpd.children().len() + 1).contains(&lines.len()), "once, by each child at most: {log}");
    httpd.expect_clean_log(&[&directory]);
    // Once it can be written, the repository is there without a restart.
    set_mode(&index, 0o777);
    httpd.wait_for_index(&mut client);
    assert_eq!(listed(&mut client).len(), 1);
}

/// A small disk, ended with the test. Needs the right to mount; where that is missing, it is said loudly.
struct Disk(PathBuf);

impl Disk {
    fn at(folder: &Path) -> Option<Self> {
        let owner = machine::run_user().map_or(String::new(), |user| format!(",uid={},gid={}", user.uid, user.gid));
        let options = format!("size=3m,mode=755{owner}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "none"]).arg(folder);
        if mount.output().is_ok_and(|done| done.status.success()) {
            return Some(Self(folder.to_owned()));
        }
        modoai_testkit::skipped("no right to mount");
        None
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let done = Command::new("umount").arg("--lazy").arg(&self.0).status();
        assert!(done.is_ok_and(|status| status.success()), "{} stays mounted", self.0.display());
    }
}

#[test]
fn a_full_disk_stops_the_index_and_nothing_else() {
    if apache::is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    set_mode(folder.path(), 0o755);
    let place = folder.path().join("index");
    fs::create_dir(&place).expect("a new folder");
    let Some(_disk) = Disk::at(&place) else { return };
    let httpd = serving(Mpm::Event, 50, &format!("OAIRescan 5s\nOAIIndexDir \"{}\"", place.display()));
    let mut client = httpd.client();
    let ballast = place.join("ballast");
    let full = fs::write(&ballast, vec![0; 4_000_000]);
    assert!(full.is_err(), "the disk is larger than it should be");
    for number in 0..3_000 {
        httpd.write(format!("docs/new/{number}.txt"), "x");
    }
    httpd.wait("the log says that the disk is full", || httpd.error_log().contains("full"));
    for _ in 0..10 {
        assert_eq!(client.get("/0/0.txt").expect("an answer").text(), "file 0");
        // What is known can still be told, or the repository asks to come back; nothing in between.
        let answer = client.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
        assert!(matches!(answer.status, 200 | 503), "{}: {}", answer.status, answer.text());
    }
    fs::remove_file(&ballast).expect("room again");
    httpd.wait("the new files are listed", || {
        let answer = client.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc").expect("an answer");
        answer.status == 200 && listed(&mut client).len() == 3_050
    });
    httpd.expect_clean_log(&["failed to write the catalogue", "failed to write the harvest log"]);
}

/// The file of this name in the index of the only server.
fn index_file(httpd: &Httpd, name: &str) -> PathBuf {
    let folders = fs::read_dir(httpd.path().join("index")).expect("an index").filter_map(Result::ok);
    let mut files = folders.map(|folder| folder.path().join(name));
    files.find(|file| file.exists()).expect("the file is there")
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions set");
}
