//! A folder that is watched: what changes in it is soon served.

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;

use modoai_protocol::xml::document::Record;
use modoai_testkit::waiting;

use super::{Archive, PLAIN, metadata, record, told};

/// An import that goes on until the test is over.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Lists the records repeatedly until the archive is as expected. A record that changes during a list is missing from it, and is
/// in the next one.
#[track_caller]
fn wait_until(archive: &Archive, what: &str, is_so: impl Fn(&BTreeMap<String, Record>) -> bool) {
    let server = archive.serve();
    waiting::wait_until(what, || is_so(&told(&server, "oai_dc")));
}

#[test]
fn what_changes_in_a_watched_folder_is_soon_served() {
    let archive = Archive::configured(PLAIN);
    archive.write_lines("lines/1.jsonl", &[record("1", "One"), record("2", "Two")]);
    archive.import("lines").done();
    let _watching = Watching(archive.import("lines").with(["--watch", "--max-deleted", "60%"]).start());

    archive.write_lines("lines/2.jsonl", &[record("3", "Three")]);
    wait_until(&archive, "a new file", |told| told.contains_key("oai:example.org:3"));
    archive.write_lines("lines/1.jsonl", &[record("1", "One, revised"), record("2", "Two")]);
    wait_until(&archive, "a changed file", |told| {
        told.get("oai:example.org:1").is_some_and(|record| metadata(record).contains("revised"))
    });
    fs::remove_file(archive.path("lines/2.jsonl")).expect("it was there");
    wait_until(&archive, "a file that is gone", |told| {
        told.get("oai:example.org:3").is_some_and(|record| record.deleted)
    });
}
