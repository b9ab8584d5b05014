//! Small harvests and quick failures: what a user sees before anything works, and what is left when a run ends early.

use std::path::Path;
use std::process::Command;

use modoai_testkit::endpoint::repertoire::REPERTOIRE;
use modoai_testkit::endpoint::{Endpoint, Holdings, Reply, Script};
use modoai_testkit::process::binary;

use super::stored;
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

#[test]
fn host_that_does_not_exist_fails_with_one_request_and_one_message() {
    let folder = tempfile::tempdir().expect("a folder");
    // With pauses of minutes, it would not end if it were tried again.
    let arguments = ["harvest", "http://repository.invalid/oai", "--patience", "600", "--into"];
    let told = to_its_end(Command::new(binary()).args(arguments).arg(folder.path())).expect("an end");
    assert_eq!(told.status.code(), Some(1), "{}", told.err);
    let said =
        "modoai: harvest failed: failed to resolve host 'repository.invalid': no such name\n  hint: check the spelling";
    assert!(told.err.contains(said), "{}", told.err);
}

/// The site of a repository, which is below one of its paths.
fn site(path: &'static str) -> Endpoint {
    Endpoint::start(Script::default().instead(move |visit| {
        let asked = visit.request.target.split('?').next().unwrap_or_default();
        (asked != path).then(|| {
            let page = "<!doctype html><title>A library</title><a href='/catalogue/oai-service?verb=Identify'>OAI</a>";
            Reply::of(if asked == "/" { 200 } else { 404 }, "text/html", page)
        })
    }))
}

#[test]
fn root_of_a_site_leads_to_the_repository() {
    for path in ["/oai2d", "/catalogue/oai-service"] {
        let endpoint = site(path);
        let root = endpoint.url().trim_end_matches("oai").to_owned();
        let folder = tempfile::tempdir().expect("a folder");
        let ended = harvest(&root, folder.path(), &[]);
        assert_eq!(ended.code, Some(1), "{}", ended.said);
        let at_root = endpoint.log().iter().filter(|asked| asked.request.target.starts_with("/?verb=Identify")).count();
        assert!(at_root <= 2, "the page is not requested again and again: {}", endpoint.story());
        let found = format!("{root} is not an OAI-PMH repository, but {}{path} is", root.trim_end_matches('/'));
        assert!(ended.said.contains(&found), "{}\n{}", ended.said, endpoint.story());
    }
}

#[test]
fn unknown_set_is_answered_with_the_nearest() {
    let endpoint = Endpoint::start(Script::default().holding(|holdings| {
        holdings.sets = ["physics", "mathematics", "biology"].map(str::to_owned).into();
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(endpoint.url(), folder.path(), &["--set", "Mathematic"]);
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    assert!(
        ended.said.contains("has no set 'Mathematic'; the most similar one is 'mathematics'; its sets are "),
        "{}",
        ended.said
    );
}

#[test]
fn chosen_identifiers_are_fetched_without_a_list() {
    const CHOSEN: [&str; 2] = ["oai:endpoint.example:0003", "oai:endpoint.example:0011"];
    let endpoint = Endpoint::start(Script::default());
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(endpoint.url(), folder.path(), &["--identifier", CHOSEN[0], "--identifier", CHOSEN[1]]);
    assert!(ended.is_complete(), "{}", ended.said);
    assert!(
        !endpoint
            .log()
            .iter()
            .any(|asked| asked.request.target.contains("List") && !asked.request.target.contains("Formats"))
    );
    let names: Vec<_> = stored::lines(folder.path()).into_iter().map(|line| line.identifier).collect();
    assert_eq!(names, CHOSEN);
    let ended = harvest(endpoint.url(), folder.path(), &["--identifier", "oai:endpoint.example:none"]);
    assert_eq!((ended.code, ended.missing().len()), (Some(3), 1), "{}", ended.said);
    // What was not there is nobody's loss; and a harvest of everything is one, with what came before in it.
    let ended = harvest(endpoint.url(), folder.path(), &[]);
    assert!(ended.is_complete(), "{}", ended.said);
    assert_eq!(stored::lines(folder.path()).len(), endpoint.holdings().records.len(), "{}", ended.said);
}

#[test]
fn limited_harvest_stops_after_a_page_and_continues() {
    let endpoint = Endpoint::start(Script::of(Holdings::of(23)));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(endpoint.url(), folder.path(), &["--limit", "7"]);
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    assert!(ended.said.contains("stopped after 7 records (--limit)"), "{}", ended.said);
    assert_eq!(stored::lines(folder.path()).len(), 10, "two pages of five");
    let ended = harvest(endpoint.url(), folder.path(), &[]);
    assert!(ended.is_complete(), "{}", ended.said);
    assert_eq!(stored::lines(folder.path()).len(), 23, "{}", endpoint.story());
    // Lists of one page each are as much of a harvest.
    let (endpoint, folder) = (Endpoint::start(Script::default().pages_of(100)), tempfile::tempdir().expect("a folder"));
    let ended = harvest(endpoint.url(), folder.path(), &["--set", "a", "--set", "c", "--limit", "3"]);
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    let of_c = stored::lines(folder.path()).into_iter().filter(|line| line.sets.iter().any(|set| set == "c")).count();
    assert_eq!(of_c, 0, "{}", endpoint.story());
}

#[test]
fn headers_are_sent_with_every_request() {
    let endpoint = Endpoint::start(Script::default().instead(|visit| {
        let allowed =
            visit.request.header("X-Api-Key") == Some("secret") && visit.request.header("X-More") == Some("a: b");
        (!allowed).then(|| Reply::html(403, "Forbidden"))
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let ended = harvest(endpoint.url(), folder.path(), &["--header", "X-Api-Key: secret", "--header", "X-More:a: b"]);
    assert!(ended.is_complete(), "{}", ended.said);
    let refused = Harvest::new(endpoint.url(), folder.path(), "jsonl").with(["--header", "no header"]).run();
    assert!(refused.is_err_and(|said| said.contains("expected a header such as 'X-Api-Key: secret'")));
}
