//! What a harvest doubts, and how it tells: complete repositories raise no alarm, and one gap is not told as many.

use std::path::Path;

use modoai_testkit::endpoint::{Endpoint, Holdings, Page, Script, Visit};
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
