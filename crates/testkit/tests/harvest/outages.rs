//! Servers that say less than they have: for a while, always up to a limit, or nothing at all. What they do not say is not
//! gone, and what is not known is not complete.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use modoai_testkit::endpoint::{Endpoint, Holdings, Page, Reply, Script, Visit};

use super::{Ended, Harvest};

fn harvest(endpoint: &Endpoint, into: &Path, more: &[&str]) -> Ended {
    Harvest::new(endpoint.url(), into, "jsonl").with(more).run().unwrap_or_else(|error| panic!("{error}"))
}

/// An endpoint whose index is being renewed while the switch is on.
fn renewing(script: Script) -> (Endpoint, Arc<AtomicBool>) {
    let switch = Arc::new(AtomicBool::new(false));
    let is_renewed = switch.clone();
    let script = script.page(move |visit: &Visit<'_>, page: &mut Page| {
        if is_renewed.load(Ordering::SeqCst) && visit.is_list() {
            page.fail("noRecordsMatch", "nothing matches");
        }
    });
    (Endpoint::start(script), switch)
}

#[test]
fn what_was_empty_at_first_is_asked_for_again() {
    let (endpoint, renewed) = renewing(Script::default());
    let folder = tempfile::tempdir().expect("a folder");
    renewed.store(true, Ordering::SeqCst);
    let ended = harvest(&endpoint, folder.path(), &[]);
    assert!(ended.is_complete() && ended.report["records"] == 0, "{}", ended.said);
    renewed.store(false, Ordering::SeqCst);
    let ended = harvest(&endpoint, folder.path(), &[]);
    assert!(ended.is_complete(), "{}", ended.said);
    assert_eq!(ended.report["records"], endpoint.holdings().live(None).count(), "{}", ended.said);
}

#[test]
fn whoever_has_lost_everything_is_not_believed() {
    let (endpoint, renewed) = renewing(Script::default());
    let folder = tempfile::tempdir().expect("a folder");
    for _ in 1..=2 {
        assert!(harvest(&endpoint, folder.path(), &[]).is_complete());
    }
    endpoint.change(|holdings| holdings.change_first("a new edition"));
    renewed.store(true, Ordering::SeqCst);
    for more in [&[][..], &["--verify"]] {
        let ended = harvest(&endpoint, folder.path(), more);
        assert_eq!(ended.code, Some(3), "{}", ended.said);
        assert_eq!(ended.report["deleted"], 0, "{}", ended.said);
    }
    renewed.store(false, Ordering::SeqCst);
    // What changed before the outage comes, however short the next run reaches back.
    let ended = harvest(&endpoint, folder.path(), &["--overlap", "0"]);
    assert!(ended.is_complete() && ended.report["records"] == 1, "{}", ended.said);
}

/// What is found out of one list holds for the others of the same run.
#[test]
fn an_outage_is_one_for_every_set() {
    let (endpoint, renewed) = renewing(Script::default());
    let folder = tempfile::tempdir().expect("a folder");
    let sets = ["--set", "a", "--set", "c"];
    assert!(harvest(&endpoint, folder.path(), &sets).is_complete());
    renewed.store(true, Ordering::SeqCst);
    let ended = harvest(&endpoint, folder.path(), &sets);
    assert_eq!((ended.code, ended.missing().len()), (Some(3), 2), "{}", ended.said);
}

/// Identifier lists that end too early look like any other.
#[test]
fn what_can_be_got_by_name_has_not_vanished() {
    let switch = Arc::new(AtomicBool::new(false));
    let is_cut = switch.clone();
    let endpoint = Endpoint::start(Script::of(Holdings::of(40)).arrange(move |_, records| {
        if is_cut.load(Ordering::SeqCst) {
            records.truncate(13);
        }
    }));
    let folder = tempfile::tempdir().expect("a folder");
    assert!(harvest(&endpoint, folder.path(), &[]).is_complete());
    switch.store(true, Ordering::SeqCst);
    let ended = harvest(&endpoint, folder.path(), &["--verify"]);
    assert_eq!((ended.code, &ended.report["deleted"]), (Some(3), &0.into()), "{}", ended.said);
    assert!(!ended.repaired("vanished"), "{}", ended.said);
}

/// Whatever is asked for, no list is longer than this, and none announces more.
#[test]
fn a_list_that_is_capped_is_asked_for_in_parts() {
    let endpoint = Endpoint::start(Script::of(Holdings::of(90)).arrange(|_, records| records.truncate(23)));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(&endpoint, folder.path(), &[]);
    assert!(ended.is_complete() && ended.repaired("deep-paging"), "{}", ended.said);
    assert_eq!(ended.report["records"], endpoint.holdings().live(None).count(), "{}", ended.said);
}

#[test]
fn a_list_of_one_set_does_not_hide_what_vanishes() {
    let endpoint = Endpoint::start(Script::default().holding(|holdings| holdings.deleted_record = "no"));
    let folder = tempfile::tempdir().expect("a folder");
    assert!(harvest(&endpoint, folder.path(), &[]).is_complete());
    assert!(harvest(&endpoint, folder.path(), &["--set", "a"]).is_complete());
    // A set that is not there leaves nothing behind.
    assert_eq!(harvest(&endpoint, folder.path(), &["--set", "nowhere"]).code, Some(1));
    endpoint.change(|holdings| holdings.records.truncate(20));
    let ended = harvest(&endpoint, folder.path(), &["--verify"]);
    assert!(ended.is_complete() && ended.repaired("vanished"), "{}", ended.said);
}

/// Some servers name only the subset in headers, and not by the set's own name.
#[test]
fn records_of_a_set_are_kept_whatever_they_call_it() {
    let endpoint = Endpoint::start(Script::of(Holdings::of(60)).page(|visit, page| {
        let Some(list) = page.list().filter(|_| visit.is_list()) else { return };
        for entry in list.entries.iter_mut().step_by(2) {
            entry.sets = vec!["elsewhere".to_owned()];
        }
        if let Some(token) = &mut list.token {
            token.size = None;
        }
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(&endpoint, folder.path(), &["--set", "c"]);
    assert!(ended.is_complete(), "{}", ended.said);
    assert_eq!(ended.report["records"], endpoint.holdings().live(Some("c")).count(), "{}", ended.said);
}

#[test]
fn only_what_xml_calls_white_space_is_no_part_of_a_name() {
    const NAMES: [&str; 3] =
        ["oai:endpoint.example:1", "oai:endpoint.example:1\u{a0}", "oai:endpoint.example:1\u{3000}"];
    let endpoint = Endpoint::start(Script::of(Holdings::of(3)).holding(|holdings| {
        for (record, name) in holdings.records.iter_mut().zip(NAMES) {
            name.clone_into(&mut record.identifier);
        }
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(&endpoint, folder.path(), &[]);
    assert!(ended.is_complete() && ended.report["records"] == NAMES.len(), "{}", ended.said);
}

/// One reason is one gap, and the next run has no more to do than the first.
#[test]
fn a_server_that_is_down_is_one_gap() {
    let switch = Arc::new(AtomicBool::new(true));
    let is_down = switch.clone();
    let endpoint = Endpoint::start(Script::default().instead(move |visit| {
        (is_down.load(Ordering::SeqCst) && visit.is_list()).then(|| Reply::html(500, "Internal server error"))
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(&endpoint, folder.path(), &["--attempts", "2"]);
    assert_eq!((ended.code, ended.missing().len()), (Some(3), 1), "{}", ended.said);
    switch.store(false, Ordering::SeqCst);
    let ended = harvest(&endpoint, folder.path(), &[]);
    assert!(ended.is_complete() && !ended.repaired("dates-refused"), "{}", ended.said);
    assert_eq!(ended.report["records"], endpoint.holdings().live(None).count(), "{}", ended.said);
}
