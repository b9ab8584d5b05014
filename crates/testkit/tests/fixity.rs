//! Digests of files that records contain by reference only: computed in the background, stored with the state of the file,
//! and never waited for.

use std::fs::File;
use std::time::Duration;

use modoai_protocol::xml::document::Record;
use modoai_testkit::apache::{self, Mpm};
use modoai_testkit::http::Get;
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;
use modoai_testkit::waiting::wait_until;
use sha2::{Digest as _, Sha256};

use crate::oai;

/// More than the size above which files are hashed in steps.
const LARGE: usize = (8 << 20) + 12_345;

/// To read it would take hours. A hole: it takes no room.
const HUGE: u64 = 1 << 40;

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn metadata(record: &Record) -> &str {
    std::str::from_utf8(&record.metadata.as_ref().expect("a live record").bytes).expect("UTF-8")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}

/// The length and the SHA-256 in the record of a file.
fn stated(record: &Record) -> (usize, Option<String>) {
    let text = metadata(record);
    let length = between(text, "<header name=\"Content-Length\">", "<").expect("a length");
    (length.parse().expect("a number"), between(text, "\"SHA-256\">", "<").map(str::to_owned))
}

/// The record of a file in the complete list.
fn record(client: &mut impl Get, name: &str) -> Record {
    let records = oai::harvest(client, "verb=ListRecords&metadataPrefix=oai_didl");
    let ends = |record: &Record| record.identifier.ends_with(&format!("/{name}"));
    records.into_iter().find(ends).unwrap_or_else(|| panic!("{name} is not listed"))
}

/// Waits for the digest of a state of `large.bin`. Meanwhile, digest and length are never of two different states.
fn wait_for_digest(client: &mut impl Get, states: &[&[u8]], expected: &[u8]) -> Record {
    let states: Vec<_> = states.iter().map(|state| (state.len(), sha256(state))).collect();
    let expected = (expected.len(), Some(sha256(expected)));
    let mut last = None;
    wait_until("the digest of large.bin", || {
        let record = record(client, "large.bin");
        let (length, digest) = stated(&record);
        let is_true = |digest: String| states.contains(&(length, digest));
        assert!(digest.clone().is_none_or(is_true), "{length} bytes, digest {digest:?}");
        assert!(!metadata(&record).contains("encoding=\"base64\""), "by reference only");
        last = Some(record);
        (length, digest) == expected
    });
    last.expect("there was one")
}

fn served(site: &TestSite, state: &tempfile::TempDir, read_ahead: bool) -> Server {
    let launch = Launch::of(site.path()).state(state.path()).set("by_value_limit", "1000");
    launch.set("read_ahead", if read_ahead { "true" } else { "false" }).start()
}

#[test]
fn large_file_gets_its_digest_in_the_background_and_again_when_it_changes() {
    let (first, second) = (vec![b'a'; LARGE], vec![b'b'; LARGE + 1]);
    let site = TestSite::with(&[("small.txt", "small")]);
    let state = tempfile::tempdir().expect("a folder");
    site.write("large.bin", &first);
    // A file that changed within the last clock tick is read twice, and stamped twice.
    std::thread::sleep(Duration::from_millis(100));
    let server = served(&site, &state, false);
    let before = record(&mut server.client(), "large.bin");
    assert_eq!(stated(&before), (first.len(), None));
    server.kill();

    let server = served(&site, &state, true);
    let mut client = server.client();
    let states = [first.as_slice(), second.as_slice()];
    let after = wait_for_digest(&mut client, &states, &first);
    assert_eq!(after.datestamp, before.datestamp, "a digest does not change the datestamp");
    let small = record(&mut client, "small.txt");
    assert_eq!(stated(&small).1, Some(sha256(b"small")), "by value");
    site.write("large.bin", &second);
    let changed = wait_for_digest(&mut client, &states, &second);
    server.kill();

    // Digests are in the catalogue: this server computes none.
    let server = served(&site, &state, false);
    let kept = record(&mut server.client(), "large.bin");
    assert_eq!(stated(&kept), stated(&changed));
}

#[test]
fn list_does_not_wait_for_the_digest_of_a_huge_file_nor_does_a_kill_harm() {
    let first = vec![b'a'; LARGE];
    let site = TestSite::with(&[]);
    let state = tempfile::tempdir().expect("a folder");
    File::create(site.at("huge.bin")).and_then(|file| file.set_len(HUGE)).expect("a file system with holes");
    for _ in 0..3 {
        let server = served(&site, &state, true);
        let mut client = server.client();
        let huge = record(&mut client, "huge.bin");
        assert_eq!(stated(&huge), (usize::try_from(HUGE).expect("64 bits"), None));
        server.kill();
    }
    // A smaller file is hashed although the huge one is not finished, and comes later.
    let server = served(&site, &state, true);
    let mut client = server.client();
    site.write("large.bin", &first);
    wait_until("the new file is listed", || {
        let records = oai::harvest(&mut client, "verb=ListRecords&metadataPrefix=oai_didl");
        records.iter().any(|record| record.identifier.ends_with("/large.bin"))
    });
    wait_for_digest(&mut client, &[&first], &first);
    let huge = record(&mut client, "huge.bin");
    assert_eq!(stated(&huge).1, None);
}

#[test]
fn httpd_child_that_keeps_the_index_computes_digests() {
    if apache::is_missing() {
        return;
    }
    let (first, second) = (vec![b'a'; LARGE], vec![b'b'; LARGE + 1]);
    let launch = apache::Launch::new(Mpm::Event).ordinary_site().text("OAIByValueLimit 1000");
    launch.write("docs/large.bin", &first);
    let huge = launch.path().join("docs/huge.bin");
    File::create(&huge).and_then(|file| file.set_len(HUGE)).expect("a file system with holes");
    let httpd = launch.start();
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    let states = [first.as_slice(), second.as_slice()];
    wait_for_digest(&mut client, &states, &first);
    // The next child process detects the change.
    for child in httpd.children() {
        httpd.kill_child(child);
    }
    let mut client = httpd.client();
    httpd.wait_for_index(&mut client);
    std::fs::write(httpd.path().join("docs/large.bin"), &second).expect("written");
    wait_for_digest(&mut client, &states, &second);
    assert_eq!(stated(&record(&mut client, "huge.bin")).1, None);
}
