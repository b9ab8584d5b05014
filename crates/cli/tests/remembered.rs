//! What the folder of a harvest remembers from one run to the next, and what `modoai status` and the reports tell of it.

use std::time::Duration;

use modoai_testkit::endpoint::{Body, Endpoint, Holdings, Page, Script, Visit, dublin_core};
use serde_json::Value;

use crate::desk::{Desk, Ended};

/// The last line that was printed, as JSON.
fn summary(ended: &Ended) -> Value {
    let last = ended.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn the_next_run_is_told_of_the_selection_that_was_harvested() {
    let desk = Desk::new();
    let endpoint = Endpoint::start(Script::of(Holdings::of(3)));
    let harvest = |more: &[&str]| {
        let ended = desk.run(&[&["harvest", endpoint.url(), "--into", "copy", "--json"], more].concat());
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        summary(&ended)["next"]["from"].as_str().expect("a date").to_owned()
    };
    let once = harvest(&["--from", "2015-01-01"]);
    // Dates have seconds; the next must be another one.
    std::thread::sleep(Duration::from_millis(1100));
    let everything = harvest(&[]);
    assert!(everything > once, "{everything} is not that of the other selection, {once}");
    assert!(harvest(&["--from", "2015-01-01"]) >= everything);
}

#[test]
fn a_selection_of_which_something_is_missing_is_not_called_complete() {
    let desk = Desk::new();
    let bare = |_: &Visit<'_>, page: &mut Page| {
        let entries = match &mut page.body {
            Body::List(list) => list.entries.as_mut_slice(),
            Body::Record(entry) => std::slice::from_mut(entry),
            _ => &mut [],
        };
        let bad = entries.iter_mut().filter(|it| it.identifier.as_deref() == Some("oai:endpoint.example:0001"));
        bad.for_each(|entry| entry.metadata = None);
    };
    let endpoint = Endpoint::start(Script::of(Holdings::of(3)).page(bare));
    let ended = desk.run(&["harvest", endpoint.url(), "--into", "copy"]);
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    let status = desk.run(&["status", "copy"]).printed();
    assert!(status.contains("\n  complete but for 1 record  everything: at 20"), "{status}");
    assert!(status.contains("\n  missing   oai:endpoint.example:0001: "), "{status}");
    assert!(!status.contains("\n  complete  "), "{status}");
}

#[test]
fn a_full_disk_is_told_as_the_reason() {
    let desk = Desk::new();
    // Text that nothing can compress by much.
    let mut seed = 1_u64;
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{seed:016x}")
    };
    let mut holdings = Holdings::of(40);
    for record in &mut holdings.records {
        record.metadata = dublin_core(&(0..8_000).map(|_| noise()).collect::<String>());
    }
    let endpoint = Endpoint::start(Script::of(holdings));
    std::fs::create_dir(desk.at("disk")).expect("a folder");
    let on_small_disk = |what: &str| {
        // The disk is gone with the shell.
        let mount = "mount -t tmpfs -o size=2m none disk";
        desk.shell(&format!("unshare --map-root-user --mount sh -c '{mount} && {what}'"), &desk.at(""))
    };
    if on_small_disk("true").status != 0 {
        eprintln!("SKIPPED: this test needs the right to mount");
        return;
    }
    for sink in ["records", "jsonl", "catalogue"] {
        let harvest = format!("modoai harvest {} --into disk/copy --sink {sink}", endpoint.url());
        let told = on_small_disk(&format!("{harvest} || echo exit code $?; modoai status disk/copy"));
        assert!(told.stdout.contains("exit code 1\n"), "{sink}: {told:?}");
        let run = told.stdout.lines().find(|line| line.starts_with("  run ")).unwrap_or_default();
        let full = run.contains("No space left") || run.contains("disk is full");
        assert!(run.contains("Z: failed: ") && full, "{sink}: {told:?}");
    }
}
