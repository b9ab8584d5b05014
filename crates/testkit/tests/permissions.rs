//! Files and folders that the server may not read do not exist for it. Everything may be read by root, so these tests run
//! the command as nobody; where that is not possible, it is said loudly.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use modoai_protocol::xml::Response;
use modoai_testkit::process::{binary, copy_program};
use modoai_testkit::site::TestSite;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("permissions set");
}

/// Runs `modoai` as nobody, from a place where nobody may go.
fn as_nobody(arguments: &[&str]) -> Option<Output> {
    let place = tempfile::tempdir().expect("a folder");
    set_mode(place.path(), 0o755);
    let command = place.path().join("modoai");
    copy_program(binary(), &command);
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let able = Command::new("setpriv").args(user).arg("true").output().is_ok_and(|done| done.status.success());
    if !able {
        modoai_testkit::skipped("no right to become another user");
        return None;
    }
    let state = place.path().join("state");
    fs::create_dir(&state).expect("a folder");
    set_mode(&state, 0o777);
    let data = state.to_string_lossy().into_owned();
    let done = Command::new("setpriv").args(user).arg(&command).args(arguments).args(["--data", &data]).output();
    Some(done.expect("the command runs"))
}

#[test]
fn what_may_not_be_read_is_not_listed() {
    let site = TestSite::with(&[
        ("open.txt", "x"),
        ("mine.txt", "x"),
        ("closed.txt", "x"),
        ("closed/inside.txt", "x"),
        ("passable/inside.txt", "x"),
        ("open/inside.txt", "x"),
    ]);
    set_mode(site.path(), 0o755);
    set_mode(&site.at("mine.txt"), 0o600);
    set_mode(&site.at("closed.txt"), 0o000);
    set_mode(&site.at("closed"), 0o000);
    // It could be had by those who know its name, but not counted; so it is not served either.
    set_mode(&site.at("passable"), 0o711);
    let folder = site.path().to_string_lossy().into_owned();
    let query = "verb=ListIdentifiers&metadataPrefix=oai_dc";
    let Some(done) = as_nobody(&["ask", &folder, query, "--url", "http://a.example"]) else { return };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let records = Response::read(&done.stdout).expect("an answer").records;
    let mut listed: Vec<String> = records.into_iter().map(|record| record.identifier).collect();
    listed.sort();
    assert_eq!(listed, ["http://a.example/open.txt", "http://a.example/open/inside.txt"]);
    set_mode(&site.at("closed"), 0o755);
}
