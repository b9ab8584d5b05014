//! What lies where a harvest goes: what it wrote itself may be lost, put back or altered meanwhile; what it did not write is
//! not touched.

use std::fs;
use std::path::Path;
use std::process::Command;

use modoai_testkit::endpoint::{Endpoint, Script};
use modoai_testkit::process::binary;

use super::Harvest;

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
    endpoint.change(|holdings| holdings.add());
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
