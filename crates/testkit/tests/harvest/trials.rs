//! Small harvests and quick failures: what a user sees before anything works, and what is left when a run ends early.

use std::path::Path;
use std::process::Command;

use modoai_testkit::endpoint::repertoire::REPERTOIRE;
use modoai_testkit::endpoint::{Endpoint, Script};
use modoai_testkit::process::binary;

use super::{Ended, Harvest};
use crate::running::to_its_end;

fn harvest(url: &str, into: &Path, more: &[&str]) -> Ended {
    Harvest::new(url, into, "jsonl").with(more).run().unwrap_or_else(|error| panic!("{error}"))
}

/// The moment between the last window and the note that all of them are complete cannot be hit by a signal in a test, so
/// the note is taken back.
#[test]
fn pass_killed_before_its_completion_is_not_repeated() {
    let endpoint = Endpoint::start(Script::default());
    let folder = tempfile::tempdir().expect("a folder");
    assert!(harvest(endpoint.url(), folder.path(), &[]).is_complete());
    let state = rusqlite::Connection::open(folder.path().join(".modoai/harvest.sqlite")).expect("the state");
    let undo = "UPDATE list SET first_date = watermark, watermark = NULL, completed = NULL";
    assert_eq!(state.execute(undo, []).expect("undone"), 1);
    drop(state);
    let ended = harvest(endpoint.url(), folder.path(), &["--overlap", "0"]);
    assert!(ended.is_complete(), "{}", ended.said);
    assert_eq!(ended.report["unchanged"], 0, "{}", endpoint.story());
}

/// Metadata is kept as it was received, also where it is not XML; what is printed is.
#[test]
fn printed_records_are_one_well_formed_document() {
    let rows = REPERTOIRE.iter().flat_map(|(_, rows)| *rows);
    let wanted =
        ["control-characters", "invalid-utf8", "surrogates", "ampersands", "outer-namespaces", "angle-brackets"];
    for row in rows.filter(|row| wanted.contains(&row.quirk)) {
        let endpoint = Endpoint::start((row.script)());
        let folder = tempfile::tempdir().expect("a folder");
        let url = endpoint.url();
        Harvest::new(url, folder.path(), "records").run().unwrap_or_else(|error| panic!("{error}"));
        let printed = to_its_end(Command::new(binary()).arg("records").arg(folder.path())).expect("an end");
        let document = folder.path().join("printed.xml");
        std::fs::write(&document, &printed.out).expect("a file");
        let lint = Command::new("xmllint").args(["--noout", "--huge"]).arg(&document).output().expect("xmllint");
        let complaint = String::from_utf8_lossy(&lint.stderr);
        assert!(lint.status.success(), "{}: {}: {complaint}", row.quirk, row.variant);
    }
}
