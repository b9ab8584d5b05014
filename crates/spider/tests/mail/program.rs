//! Messages through a program: what it gets, and what is said when it fails.

use std::path::{Path, PathBuf};
use std::time::Duration;

use modoai_spider::mail::route::{Means, open};
use modoai_spider::task::MailRoute;
use modoai_spider::verdict::Verdict;
use modoai_testkit::process::write_program;
use modoai_testkit::waiting::PATIENCE;
use rusqlite::Connection;

use super::fixture::{Made, broken};
use super::received::Parts;

/// A program that does this in the shell.
fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("sendmail");
    write_program(&path, &format!("#!/bin/sh\ncd '{}'\n{script}\n", folder.display()));
    path
}

fn deliver(program: PathBuf, table: &Connection) -> modoai_spider::mail::Delivery {
    deliver_within(PATIENCE, program, table)
}

fn deliver_within(patience: Duration, program: PathBuf, table: &Connection) -> modoai_spider::mail::Delivery {
    let route = MailRoute::Sendmail { program, from: "The spider <spider@example.org>".to_owned() };
    let means = Means { patience, ..Means::default() };
    let mut route = open(&route, means).expect("a route");
    let made =
        Made::new(&[("ics", &["ann@example.org"], broken())]).with("ics", "a", "https://x.example/1", Verdict::Broken);
    made.deliver(&mut *route, table)
}

#[test]
fn a_program_gets_the_message_and_no_addresses_as_arguments() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = Connection::open_in_memory().expect("a database");
    let script = "echo \"$@\" > arguments; cat > message";
    let delivery = deliver(program(folder.path(), script), &table);
    assert_eq!(delivery.written.len(), 1, "{delivery:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("arguments")).expect("said"), "-t -i\n");
    let message = std::fs::read_to_string(folder.path().join("message")).expect("a message");
    assert!(!message.contains('\r'));
    let parts = Parts::read(message.replace('\n', "\r\n").as_bytes());
    assert_eq!(parts.header("To"), "ann@example.org");
}

#[test]
fn a_program_that_fails_is_quoted_and_asked_again_next_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = Connection::open_in_memory().expect("a database");
    for (script, expected) in [
        ("cat > /dev/null; echo 'queue is full' >&2; exit 75", "exit status: 75: queue is full"),
        ("exit 3", "exit status: 3"),
        ("kill -9 $$", "signal: 9"),
        // More than a pipe holds, and never read: it cannot have taken the message.
        ("head -c 100000 /dev/zero | tr '\\0' x >&2; cat > /dev/null; exit 1", "exit status: 1: xxxx"),
    ] {
        let delivery = deliver(program(folder.path(), script), &table);
        assert!(delivery.written.is_empty(), "{delivery:?}");
        let [failed] = &delivery.failed[..] else { panic!("{delivery:?}") };
        assert_eq!(failed.address, "ann@example.org");
        assert!(failed.what.contains(expected) && failed.what.contains("/sendmail"), "{}", failed.what);
    }
    let delivery = deliver_within(Duration::from_secs(2), program(folder.path(), "exec sleep 600"), &table);
    assert!(delivery.failed[0].what.contains("timed out after 2 seconds"), "{delivery:?}");
    let delivery = deliver(folder.path().join("missing"), &table);
    assert!(delivery.failed[0].what.contains("cannot be run"), "{delivery:?}");
    let delivery = deliver(program(folder.path(), "cat > /dev/null"), &table);
    assert_eq!(delivery.written.len(), 1, "{delivery:?}");
}
