//! `kill -9` is a normal event: whenever a harvest is killed, starting it again until it is complete leaves exactly what an
//! undisturbed one leaves.

use std::path::Path;
use std::time::{Duration, Instant};

use modoai_testkit::dice::Dice;
use modoai_testkit::endpoint::{Endpoint, Holdings, Script};
use modoai_testkit::process::Server;
use modoai_testkit::site::{self, TestSite};

use super::Harvest;
use super::stored::{self, Line};

/// How often each harvest is killed; all tests here together kill more than a hundred times.
const KILLS: u32 = 15;

/// How often the harvest of an archive is killed: a segment that is torn and not repaired cannot be read to its end.
const KILLS_OF_AN_ARCHIVE: u32 = 50;

#[test]
fn lines_of_json() {
    kill_at_random(1, &endpoint(), "jsonl", |folder| {
        let mut lines = stored::lines(folder);
        lines.sort();
        lines
    });
}

#[test]
fn records() {
    kill_at_random(2, &endpoint(), "records", stored::records);
}

#[test]
fn a_catalogue() {
    kill_at_random(3, &endpoint(), "catalogue", |folder| {
        let server = modoai_testkit::process::Launch::of_catalogue(folder.join("catalogue.sqlite")).start();
        let harvested = tempfile::tempdir().expect("a folder");
        Harvest::new(&format!("{}/modoai", server.url()), harvested.path(), "jsonl").complete();
        let mut lines: Vec<Line> = stored::lines(harvested.path());
        for line in &mut lines {
            // When a record came is not when it came in another harvest.
            line.datestamp.clear();
            line.abouts.clear();
        }
        lines.sort();
        lines
    });
}

#[test]
fn warc_of_plain_records() {
    kill_at_random(4, &endpoint(), "warc --format oai_dc", stored::warc);
}

#[test]
fn a_mirror_of_a_site() {
    let (_site, server) = site();
    kill_at_random(5, &Source::Site(server), "mirror", stored::tree);
}

#[test]
fn warc_of_a_site() {
    let (_site, server) = site();
    kill_so_often(KILLS_OF_AN_ARCHIVE, 6, &Source::Site(server), "warc", stored::warc);
}

#[test]
fn records_of_a_site() {
    let (_site, server) = site();
    kill_at_random(7, &Source::Site(server), "records", stored::records);
}

/// What is harvested.
enum Source {
    Site(Server),
    Endpoint(Endpoint),
}

impl Source {
    fn url(&self) -> String {
        match self {
            Self::Site(server) => format!("{}/modoai", server.url()),
            Self::Endpoint(endpoint) => endpoint.url().to_owned(),
        }
    }
}

/// Many small pages, none of them quick: there is time to be killed in each.
fn endpoint() -> Source {
    let script = Script::of(Holdings::of(120)).pages_of(4).reply(|visit, reply| {
        if visit.is_list() {
            reply.delay = Duration::from_millis(3);
        }
    });
    Source::Endpoint(Endpoint::start(script))
}

/// A site of a few hundred files, and its server.
fn site() -> (TestSite, Server) {
    let folder = TestSite::default();
    site::varied(folder.path(), 4_711, 400).expect("room for it");
    site::remove_unmirrored(folder.path()).expect("a site");
    let server = Server::of(folder.path());
    (folder, server)
}

/// Harvests undisturbed, then in folders in which the harvest is killed again and again.
fn kill_at_random<T: PartialEq + std::fmt::Debug>(seed: u64, source: &Source, sink: &str, read: impl Fn(&Path) -> T) {
    kill_so_often(KILLS, seed, source, sink, read);
}

fn kill_so_often<T: PartialEq + std::fmt::Debug>(
    least: u32,
    seed: u64,
    source: &Source,
    sink: &str,
    read: impl Fn(&Path) -> T,
) {
    let mut words = sink.split(' ');
    let sink = words.next().expect("a sink");
    let more: Vec<&str> = words.collect();
    let harvest = |folder: &Path| Harvest::new(&source.url(), folder, sink).with(&more);
    let undisturbed = tempfile::tempdir().expect("a folder");
    let start = Instant::now();
    harvest(undisturbed.path()).complete();
    let time = start.elapsed();
    let expected = read(undisturbed.path());

    let mut dice = Dice::new(seed);
    let mut kills = 0;
    while kills < least {
        let folder = tempfile::tempdir().expect("a folder");
        let mut moments = Vec::new();
        loop {
            let moment = time.mul_f64(dice.share());
            moments.push(moment);
            let mut child = harvest(folder.path()).start();
            std::thread::sleep(moment);
            let ended = child.try_wait().expect("our own child").is_some();
            child.kill().expect("killed, or ended by itself");
            child.wait().expect("it has ended");
            kills += 1;
            if ended || moments.len() > least as usize {
                break;
            }
        }
        // Whatever state it was left in, one more run makes it whole.
        harvest(folder.path()).complete();
        assert!(
            read(folder.path()) == expected,
            "seed {seed}, {sink}, killed after {moments:?}: not what it should be"
        );
    }
}
