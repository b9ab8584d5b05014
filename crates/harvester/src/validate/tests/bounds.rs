//! The validator limits its requests and its waiting time, and reports a limit that was reached.

use super::super::Options;
use super::super::exchange::Hop;
use super::super::render;
use super::super::report::Grade;
use super::judged;
use super::repository::{BASE_URL, Repository};

#[test]
fn the_number_of_requests_is_bounded() {
    let repository = Repository::new();
    let report = judged(&repository, &Options { requests: 12, ..Options::default() });
    assert_eq!((report.requests, repository.asked.borrow().len()), (12, 12));
    let note = report.outcome("tokens-reusable").and_then(|outcome| outcome.note.clone());
    assert_eq!(note.as_deref(), Some("the limit of 12 requests is reached"));
    assert_eq!(report.cut_short, note);
    assert!(!report.is_wanting(true) && !report.is_conformant(false), "what was not asked is not conformant");
    assert!(render::text(&report, false).contains("\nincomplete: the limit of 12 requests is reached\n"));
}

#[test]
fn repeats_and_redirects_are_requests_too() {
    let mut repository = Repository::new();
    repository.on_wire = |question, raw| match question.query.as_str() {
        "verb=ListSets" => raw.status = 503,
        "verb=Identify" => raw.hops.push(Hop { status: 302, to: BASE_URL.to_owned() }),
        "verb=ListMetadataFormats" => raw.status = 0,
        _ => {}
    };
    let only = vec!["formats-list".to_owned(), "sets-list".to_owned()];
    let report = judged(&repository, &Options { only: only.clone(), ..Options::default() });
    assert_eq!((report.requests, report.cut_short), (2 + 3 + 2, None));
    repository.asked.borrow_mut().clear();
    let report = judged(&repository, &Options { only, requests: 6, ..Options::default() });
    assert_eq!((report.requests, repository.asked.borrow().len()), (6, 5), "with one redirect");
    assert_eq!(report.cut_short.as_deref(), Some("the limit of 6 requests is reached"));
}

#[test]
fn whoever_does_not_answer_is_not_asked_for_ever() {
    let mut repository = Repository::new();
    repository.on_wire = |question, raw| {
        if question.query != "verb=Identify" {
            raw.status = 503;
            raw.headers.push(("Retry-After".to_owned(), "300".to_owned()));
        }
    };
    let report = judged(&repository, &Options::default());
    assert_eq!(report.cut_short.as_deref(), Some("the limit of 3600 seconds is reached"));
    assert!(repository.slept.get() <= Options::default().time, "{:?}", repository.slept);
    assert!(!report.is_conformant(false));

    let mut repository = Repository::new();
    repository.on_wire = |question, raw| raw.status = if question.query == "verb=Identify" { 200 } else { 0 };
    let report = judged(&repository, &Options::default());
    let reason = "8 consecutive requests failed: no response: the line is dead";
    assert_eq!(report.cut_short.as_deref(), Some(reason));
    // Identify is also sent by POST and with gzip; the first request without a response is sent three times, the others
    // once.
    assert!(report.requests < 25, "{}", report.requests);

    let mut repository = Repository::new();
    repository.on_wire = |question, raw| {
        if question.argument("verb").as_deref() == Some("ListRecords") {
            raw.status = 0;
        }
    };
    let report = judged(&repository, &Options::default());
    assert_eq!(report.cut_short, None, "one dead verb is no dead server");
    assert_eq!(report.outcome("http-status").map(|outcome| outcome.grade), Some(Grade::Failure));
}

#[test]
fn what_does_not_answer_is_not_judged() {
    let mut repository = Repository::new();
    repository.on_wire = |_, raw| raw.status = 0;
    let report = judged(&repository, &Options::default());
    assert_eq!(report.unreachable.as_deref(), Some("no response: the line is dead"));
    assert_eq!(repository.asked.borrow().len(), 3, "tried again, and then given up");
    assert!(!report.is_conformant(false));
    repository.on_wire = |_, raw| raw.body = b"<html><body>Log in, please".to_vec();
    let report = judged(&repository, &Options::default());
    assert!(report.unreachable.is_some_and(|reason| reason.contains("the root element is 'html'")));
}

#[test]
fn waits_are_waited_and_told() {
    let mut repository = Repository::new();
    repository.on_wire = |question, raw| {
        if question.query == "verb=ListSets" {
            raw.status = 503;
            raw.headers.push(("Retry-After".to_owned(), "7".to_owned()));
        }
    };
    let report = judged(&repository, &Options::default());
    assert_eq!(repository.slept.get().as_secs(), 5 * 7, "five times, and then no more");
    let grade = |check: &str| report.outcome(check).map(|outcome| outcome.grade);
    assert_eq!(grade("http-flow-control"), Some(Grade::Pass));
    assert_eq!(grade("http-status"), Some(Grade::Pass), "what was never answered is not judged");
    assert_eq!(grade("sets-list"), Some(Grade::NotJudged));
}

#[test]
fn records_are_not_judged_if_none_was_received() {
    let mut repository = Repository::new();
    repository.on_wire = |question, raw| {
        let verb = question.argument("verb").unwrap_or_default();
        if matches!(&*verb, "ListRecords" | "ListIdentifiers" | "GetRecord") {
            raw.status = 429;
        }
    };
    let report = judged(&repository, &Options::default());
    for check in [
        "records-identifiers",
        "records-metadata",
        "records-oai-dc",
        "records-schema-location",
        "dates-granularity",
        "dates-earliest",
        "dates-future",
        "deletions-policy",
    ] {
        let outcome = report.outcome(check).expect("a check");
        assert_eq!(outcome.grade, Grade::NotJudged, "{check}");
    }
}
