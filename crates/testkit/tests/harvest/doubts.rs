//! What a harvest doubts, and how it tells: complete repositories raise no alarm, and one gap is not told as many.

use std::path::Path;

use modoai_testkit::endpoint::{Endpoint, Holdings, Page, Reply, Script, Token, Visit};
use modoai_testkit::process::Launch;
use modoai_testkit::site::TestSite;

use super::{Ended, Harvest};

fn harvest(url: &str, into: &Path, more: &[&str]) -> Ended {
    Harvest::new(url, into, "jsonl").with(more).run().unwrap_or_else(|error| panic!("{error}"))
}

/// Pages whose size may be a limit, or may not.
#[test]
fn a_round_number_of_identifiers_is_no_reason_for_alarm() {
    let files: Vec<String> = (0..5).map(|number| format!("{number}.txt")).collect();
    let files: Vec<_> = files.iter().map(|name| (name.as_str(), "text")).collect();
    let site = TestSite::with(&files);
    let state = tempfile::tempdir().expect("a folder");
    let server = Launch::of(site.path()).state(state.path()).start();
    let foreign = Endpoint::start(Script::of(Holdings::of(20)).pages_of(100));
    let all_at_once = Endpoint::start(Script::of(Holdings::of(20)).pages_of(100).holding(|holdings| {
        holdings.records.iter_mut().for_each(|record| record.changed = 1_500_000_000);
    }));
    for url in [&format!("{}/modoai", server.url()), foreign.url(), all_at_once.url()] {
        let folder = tempfile::tempdir().expect("a folder");
        for run in 1..=2 {
            let ended = harvest(url, folder.path(), &["--verify"]);
            assert!(ended.is_complete(), "{url}, run {run}: {}", ended.said);
        }
    }
}

/// An identifier list that is cut off is not believed, or all that it lacks would be taken for gone.
#[test]
fn identifiers_that_are_cut_off_make_nothing_vanish() {
    let cut = |visit: &Visit<'_>, page: &mut Page| {
        if let Some(list) = page.list().filter(|_| visit.verb() == "ListIdentifiers") {
            list.entries.truncate(20);
            list.token = None;
        }
    };
    let endpoint = Endpoint::start(Script::of(Holdings::of(40)).pages_of(100).page(cut));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(endpoint.url(), folder.path(), &["--verify"]);
    let told = ended.missing().iter().any(|gap| gap["what"] == "list");
    assert!(told && !ended.repaired("vanished"), "{}", ended.said);
    assert_eq!(ended.report["deleted"], endpoint.holdings().deleted(None).count(), "{}", ended.said);
}

/// Where dates are ignored every part of a list is all of it: what is not proven of one is not told of each.
#[test]
fn a_list_without_parts_is_one_gap() {
    let boast = |visit: &Visit<'_>, page: &mut Page| {
        if let Some(list) = page.list().filter(|_| visit.is_list()) {
            list.token = Some(Token { value: String::new(), cursor: None, size: Some("30".to_owned()) });
        }
    };
    let script = Script::default().pages_of(100).page(boast).understand(|request| {
        request.remove_argument("from");
        request.remove_argument("until");
    });
    let endpoint = Endpoint::start(script);
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(endpoint.url(), folder.path(), &[]);
    assert!(ended.repaired("dates-refused"), "{}", ended.said);
    let reasons: Vec<_> = ended.missing().iter().map(|gap| gap["reason"].as_str().unwrap_or_default()).collect();
    assert_eq!(reasons, ["received 23 of 30 records"], "{}", endpoint.story());
}

/// A prompt server's identifiers are believed also where one record fails: then nothing else of its second is missing.
#[test]
fn a_bad_record_is_all_that_is_missing() {
    const BAD: &str = "oai:endpoint.example:0002";
    const PROMISE: &str = "<description><d:datestamps xmlns:d=\"urn:modoai:datestamps:1\">visibility</d:datestamps>\
        </description></Identify>";
    let script = Script::of(Holdings::of(5)).pages_of(100);
    let script = script.holding(|holdings| {
        holdings.records.iter_mut().for_each(|record| record.changed = 1_500_000_000);
    });
    let script = script.xml(|visit, xml| {
        if visit.verb() == "Identify" {
            *xml = String::from_utf8_lossy(xml).replace("</Identify>", PROMISE).into_bytes();
        }
    });
    let endpoint = Endpoint::start(script.instead(|visit| {
        let fails = visit.concerns(BAD) && visit.verb() != "ListIdentifiers";
        fails.then(|| Reply::of(500, "text/plain", "out of order"))
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(endpoint.url(), folder.path(), &["--attempts", "2"]);
    let missing: Vec<_> = ended.missing().iter().map(|gap| gap["identifier"].as_str()).collect();
    assert_eq!(missing, [Some(BAD)], "{}", ended.said);
    assert!(ended.repaired("bad-record"), "{}", ended.said);
    // What is no answer has no label that could be wrong.
    assert!(!ended.repaired("content-type"), "{}", ended.said);
}
