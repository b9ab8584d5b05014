//! What lies where a harvest goes: what it wrote itself may be lost, put back or altered meanwhile; what it did not write is
//! not touched.

use std::fs;
use std::path::Path;
use std::process::Command;

use modoai_testkit::endpoint::{Endpoint, Holdings, Script};
use modoai_testkit::process::{Launch, Server, binary};
use modoai_testkit::site::TestSite;

use super::{Harvest, stored};

/// How many records a catalogue tells of; nothing if it does not answer yet.
fn told(catalogue: &Path) -> Option<usize> {
    let question = "verb=ListIdentifiers&metadataPrefix=oai_dc";
    let done = Command::new(binary()).args(["ask", "--catalogue"]).arg(catalogue).arg(question).output();
    let answer = String::from_utf8(done.expect("the command runs").stdout).expect("an answer is UTF-8");
    answer.contains("<ListIdentifiers>").then(|| answer.matches("<header").count())
}

/// Copies a catalogue, with what lies beside it.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        if entry.file_name().to_string_lossy().starts_with("catalogue.sqlite") {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

#[test]
fn a_catalogue_that_is_not_what_it_was_is_filled_anew() {
    let endpoint = Endpoint::start(Script::default());
    let [folder, kept] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let catalogue = folder.path().join("catalogue.sqlite");
    let harvest = || Harvest::new(endpoint.url(), folder.path(), "catalogue").complete();
    harvest();
    let before = told(&catalogue).expect("a list");
    copy(folder.path(), kept.path());
    endpoint.change(Holdings::add);
    harvest();
    assert_eq!(told(&catalogue), Some(before + 1));

    copy(kept.path(), folder.path());
    assert_eq!(told(&catalogue), Some(before), "an older copy was put back");
    harvest();
    assert_eq!(told(&catalogue), Some(before + 1));
    assert_eq!(harvest().report["records"], 0, "and that was all");

    for name in ["", "-wal", "-shm", "-asof", "-lock"] {
        let _ = fs::remove_file(folder.path().join(format!("catalogue.sqlite{name}")));
    }
    harvest();
    assert_eq!(told(&catalogue), Some(before + 1), "it was removed");

    let other = kept.path().join("other.sqlite");
    Harvest::new(endpoint.url(), folder.path(), "catalogue")
        .with(["--catalogue".as_ref(), other.as_os_str()])
        .complete();
    assert_eq!(told(&other), Some(before + 1), "another one is chosen");
}

#[test]
fn a_mirror_whose_files_were_removed_or_altered_is_made_good_by_verify() {
    let site = TestSite::with(&[("f1.txt", "one"), ("f2.txt", "two"), ("d/f3.txt", "three"), ("d/f4.txt", "four")]);
    let server = Launch::of(site.path()).set("by_value_limit", "4").start();
    let url = format!("{}/modoai", server.url());
    let folder = tempfile::tempdir().expect("a folder");
    let harvest = || Harvest::new(&url, folder.path(), "mirror").with(["--verify"]).complete();
    harvest();
    assert_eq!(stored::difference(site.path(), folder.path()), None);

    fs::remove_dir_all(folder.path().join("d")).expect("a folder");
    fs::write(folder.path().join("f2.txt"), "too").expect("a file");
    let repaired = harvest();
    assert_eq!(stored::difference(site.path(), folder.path()), None);
    assert_eq!(repaired.report["records"], 3, "{}", repaired.said);
    assert_eq!(harvest().report["records"], 0, "and that was all");

    // What the mirror knows of its files is lost, too: all of it is compared, and nothing is written twice.
    for name in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(folder.path().join(format!(".modoai/mirror.sqlite{name}")));
    }
    harvest();
    fs::remove_file(folder.path().join("f1.txt")).expect("a file");
    harvest();
    assert_eq!(stored::difference(site.path(), folder.path()), None);
}

#[test]
fn what_a_harvest_did_not_write_stays_as_it_is() {
    let site = TestSite::with(&[("index.html", "theirs"), ("b.txt", "bytes")]);
    let server = Server::of(site.path());
    let url = format!("{}/modoai", server.url());
    let [mirror, lines] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    fs::write(mirror.path().join("index.html"), "precious").expect("a file");
    let ended = Harvest::new(&url, mirror.path(), "mirror").run().expect("an end");
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    let [missing] = ended.missing() else { panic!("{}", ended.said) };
    assert!(missing["identifier"].as_str().is_some_and(|name| name.ends_with("/index.html")), "{missing}");
    assert!(
        missing["reason"].as_str().is_some_and(|reason| reason.contains("not written by this mirror")),
        "{missing}"
    );
    assert_eq!(fs::read(mirror.path().join("index.html")).expect("a file"), b"precious");
    assert_eq!(fs::read(mirror.path().join("b.txt")).expect("a file"), b"bytes");
    fs::remove_file(mirror.path().join("index.html")).expect("a file");
    Harvest::new(&url, mirror.path(), "mirror").complete();
    assert_eq!(stored::difference(site.path(), mirror.path()), None);

    let file = lines.path().join("records.jsonl");
    fs::write(&file, "{\"my\":\"data\"}\n").expect("a file");
    let harvest = || Harvest::new(&url, lines.path(), "jsonl");
    harvest().complete();
    assert_eq!(fs::read(&file).expect("a file"), b"{\"my\":\"data\"}\n");
    assert_eq!(stored::lines(lines.path()).len(), 2);

    // The site's own catalogue is not an aggregator's.
    let ended = Harvest::new(&url, lines.path().join("c").as_path(), "catalogue");
    let ended = ended.with(["--catalogue".as_ref(), server.state().as_os_str()]).run().expect("an end");
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    assert!(ended.said.contains("the catalogue contains the files of a site"), "{}", ended.said);
}
