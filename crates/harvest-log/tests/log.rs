//! The log, written by several processes at once, of which some are killed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use modoai_harvest_log::{Event, Log, Outcome, summary};
use modoai_protocol::Datestamp;

/// Names the folder to a process that is to write.
const FOLDER: &str = "MODOAI_TEST_LOG";

fn event(who: &str, number: i64) -> Event {
    Event {
        at: Datestamp::from_unix(1_700_000_000 + number),
        who: who.to_owned(),
        agent: "test/1".to_owned(),
        verb: Some("ListRecords"),
        list: Some(format!("oai_dc after={number}")),
        outcome: Outcome::Answered,
        records: 1,
        bytes: 1000,
    }
}

/// No test by itself: what a process does that another test starts.
#[test]
fn writes_when_it_is_told_to() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let log = Log::open(folder);
    let who = std::env::var("MODOAI_TEST_WHO").expect("a name");
    let lines: i64 = std::env::var("MODOAI_TEST_LINES").expect("a number").parse().expect("a number");
    for number in 0..lines {
        log.note(&event(&who, number));
    }
}

fn writer(folder: &Path, who: &str, lines: i64) -> Child {
    let this = std::env::current_exe().expect("this test");
    Command::new(this)
        .args(["--exact", "writes_when_it_is_told_to"])
        .env(FOLDER, folder)
        .env("MODOAI_TEST_WHO", who)
        .env("MODOAI_TEST_LINES", lines.to_string())
        .stdout(Stdio::null())
        .spawn()
        .expect("it runs already")
}

#[test]
fn processes_share_a_log_and_those_that_are_killed_take_nothing_of_others_along() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut killed = writer(folder.path(), "killed", i64::MAX);
    let deadline = Instant::now() + Duration::from_secs(600);
    let written = || {
        let summary = summary(folder.path(), None).expect("a summary");
        summary.harvesters.iter().find(|one| one.who == "killed").map_or(0, |one| one.requests)
    };
    while written() < 1000 {
        assert!(Instant::now() < deadline, "it writes nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut writers: Vec<Child> = ["a", "b", "c"].iter().map(|who| writer(folder.path(), who, 2000)).collect();
    std::thread::sleep(Duration::from_millis(50));
    killed.kill().expect("our own child");
    killed.wait().expect("our own child");
    for writer in &mut writers {
        assert!(writer.wait().expect("our own child").success());
    }
    let summary = summary(folder.path(), None).expect("a summary");
    let told: Vec<_> = summary.harvesters.iter().map(|one| (one.who.as_str(), one.requests)).collect();
    assert_eq!(&told[..3], &[("a", 2000), ("b", 2000), ("c", 2000)], "{told:?}");
    // Of the one that was killed, a line may be torn. If another stands behind it, that one is found.
    assert!(summary.unreadable <= 1, "{}", summary.unreadable);
}

/// Not a limit, which would be another on every machine: `cargo test --release -- --ignored --nocapture` tells it.
#[test]
#[ignore = "measures time; run it in a release build with --ignored"]
fn what_a_line_costs() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = Log::open(folder.path());
    let event = event("192.0.2.0/24", 7);
    const LINES: u32 = 500_000;
    let start = Instant::now();
    (0..LINES).for_each(|_| log.note(&event));
    println!("a line: {:?}", start.elapsed() / LINES);
    let refused = Event { outcome: Outcome::Refused, ..event };
    let start = Instant::now();
    (0..LINES).for_each(|_| log.note(&refused));
    println!("a refusal among many: {:?}", start.elapsed() / LINES);
    drop(log);
    let start = Instant::now();
    let requests = summary(folder.path(), None).expect("a summary").harvesters[0].requests;
    println!("reading {requests} requests: {:?}", start.elapsed());
}
