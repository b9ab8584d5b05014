//! There and back: a mirror is the site, byte for byte and second for second; what an aggregator was told, it tells.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use modoai_testkit::apache::{self, Mpm};
use modoai_testkit::endpoint::{Endpoint, Script};
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::{self, TestSite};
use modoai_testkit::waiting::wait_for;

use super::Harvest;
use super::stored::{self, Line};

#[test]
fn a_mirror_of_modoai_serve_is_the_site() {
    let folder = TestSite::default();
    site::varied(folder.path(), 2_006, 300).expect("room for it");
    site::awkward(folder.path()).expect("a file system that takes any bytes");
    site::remove_unmirrored(folder.path()).expect("a site");
    let server = Server::of(folder.path());
    mirror_twice(&format!("{}/modoai", server.url()), &folder);
}

#[test]
fn a_mirror_of_apache_is_the_site() {
    if apache::is_missing() {
        return;
    }
    let folder = TestSite::default();
    site::varied(folder.path(), 2_007, 150).expect("room for it");
    site::remove_unmirrored(folder.path()).expect("a site");
    open_to_all(folder.path());
    let httpd = apache::Launch::new(Mpm::Event).site_at(folder.path()).start();
    httpd.wait_for_index(&mut httpd.client());
    mirror_twice(&format!("{}/modoai", httpd.url()), &folder);
    httpd.expect_clean_log(&[]);
}

#[test]
fn a_mirror_has_the_times_of_files_from_before_1970() {
    let folder = TestSite::with(&[("small.txt", "small"), ("large.txt", &"large".repeat(1_000))]);
    let then = SystemTime::UNIX_EPOCH - Duration::from_secs(315_619_200);
    for name in ["small.txt", "large.txt"] {
        let file = fs::File::options().append(true).open(folder.at(name)).expect("a file");
        file.set_modified(then).expect("a date it can have");
    }
    let server = Launch::of(folder.path()).set("by_value_limit", "100").start();
    let mirror = tempfile::tempdir().expect("a folder");
    let url = format!("{}/modoai", server.url());
    for _ in 0..2 {
        Harvest::new(&url, mirror.path(), "mirror").with(["--verify"]).complete();
        for name in ["small.txt", "large.txt"] {
            let file = fs::metadata(mirror.path().join(name)).expect("a file");
            assert_eq!(file.modified().expect("a time"), then, "{name}");
        }
    }
}

/// Mirrors a site, changes it, and mirrors what has changed.
fn mirror_twice(url: &str, folder: &TestSite) {
    let mirror = tempfile::tempdir().expect("a folder");
    let harvest = || Harvest::new(url, mirror.path(), "mirror").complete();
    harvest();
    assert_eq!(stored::difference(folder.path(), mirror.path()), None);

    let files = site::files_below(folder.path()).expect("readable");
    folder.replace(&files[0], "something else");
    folder.date(&files[1], Duration::from_secs(1_234_567_890));
    folder.remove(&files[2]);
    folder.write("quite/new/file.txt", "new");
    open_to_all(folder.path());
    wait_for("the mirror is the site again", || {
        harvest();
        stored::difference(folder.path(), mirror.path()).map_or(Ok(()), Err)
    });
    // Once the server has seen all that happened, nothing is done any more.
    wait_for("nothing is left to be done", || {
        let idle = harvest();
        if idle.report["records"] == 0 { Ok(()) } else { Err(idle.said) }
    });
    assert_eq!(stored::difference(folder.path(), mirror.path()), None);
}

/// httpd runs as somebody else, who must be able to read.
pub(super) fn open_to_all(folder: &Path) {
    let done = std::process::Command::new("chmod").arg("-R").arg("a+rX").arg(folder).status();
    assert!(done.expect("chmod is everywhere").success());
}

#[test]
fn an_aggregator_tells_what_it_was_told() {
    let endpoint = Endpoint::start(Script::default());
    aggregate(endpoint.url());
}

#[test]
fn an_aggregator_of_a_site_tells_what_it_was_told() {
    let folder = TestSite::default();
    site::varied(folder.path(), 2_008, 60).expect("room for it");
    let server = Server::of(folder.path());
    aggregate(&format!("{}/modoai", server.url()));
}

/// Harvests a repository into lines and into a catalogue, serves that, harvests it into lines, and compares.
fn aggregate(url: &str) {
    let [direct, kept, indirect] = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    Harvest::new(url, direct.path(), "jsonl").with(["--format", "oai_dc"]).complete();
    Harvest::new(url, kept.path(), "catalogue").with(["--format", "oai_dc"]).complete();
    let server = Launch::of_catalogue(kept.path().join("catalogue.sqlite")).start();
    let aggregator = format!("{}/modoai", server.url());
    Harvest::new(&aggregator, indirect.path(), "jsonl").with(["--format", "oai_dc"]).complete();

    let sorted = |folder: &Path| {
        let mut lines = stored::lines(folder);
        lines.sort();
        lines
    };
    let (told, retold) = (sorted(direct.path()), sorted(indirect.path()));
    let essence = |line: &Line| (line.identifier.clone(), line.deleted, line.metadata.clone());
    assert_eq!(told.iter().map(essence).collect::<Vec<_>>(), retold.iter().map(essence).collect::<Vec<_>>());
    for (told, retold) in told.iter().zip(&retold).filter(|(told, _)| !told.deleted) {
        let provenance = retold.abouts.iter().map(|about| String::from_utf8_lossy(about));
        let ours = provenance.into_iter().find(|about| about.contains("originDescription")).expect("provenance");
        for part in [url, &told.identifier, &told.datestamp, "altered=\"false\""] {
            assert!(ours.contains(&part.replace('&', "&amp;")), "{part} is not in {ours}");
        }
        for about in &told.abouts {
            assert!(retold.abouts.contains(about), "{} is lost", String::from_utf8_lossy(about));
        }
    }
}
