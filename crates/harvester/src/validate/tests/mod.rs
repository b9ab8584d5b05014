//! A correct repository passes everything; and for every check there is a repository, wrong in one way, that it finds.

mod defects;
mod repository;

use std::collections::BTreeSet;

use super::exchange::{Hop, Question, Raw};
use super::render;
use super::report::{Grade, Report};
use super::{Options, checks, judge};
use repository::{BASE_URL, Repository};

/// Runs the judge without a network, and without waiting.
fn judged(repository: &Repository, options: &Options) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(judge(repository, BASE_URL, options, &mut |_| {}))
}

fn found(report: &Report) -> BTreeSet<&'static str> {
    let outcomes = report.outcomes.iter().filter(|outcome| outcome.grade >= Grade::Warning);
    outcomes.map(|outcome| outcome.check.id).collect()
}

#[track_caller]
fn expect_clean(report: &Report, not_judged: &[&str]) {
    let text = render::text(report, false);
    assert!(report.is_conformant(true), "{text}");
    let unjudged: Vec<_> =
        report.outcomes.iter().filter(|outcome| outcome.grade == Grade::NotJudged).map(|it| it.check.id).collect();
    assert_eq!(unjudged, not_judged, "{text}");
}

#[test]
fn a_correct_repository_passes_everything() {
    let repository = Repository::new();
    let report = judged(&repository, &Options::default());
    let never = ["http-redirects", "http-flow-control", "http-deflate", "dates-finer", "records-about"];
    expect_clean(&report, &never);
    assert_eq!(report.outcomes.len(), checks::all().count());
    assert!(report.requests < 150, "{} requests", report.requests);
    assert_eq!(repository::verbs_asked(&repository).len(), 6 + 3, "all verbs, and three that are none");
}

#[test]
fn a_correct_repository_that_counts_in_days_passes_everything() {
    let report = judged(&Repository::by_day(), &Options::default());
    expect_clean(&report, &["http-redirects", "http-flow-control", "http-deflate", "records-about"]);
}

#[test]
fn a_correct_repository_without_sets_passes_everything() {
    let report = judged(&Repository::without_sets(), &Options::default());
    let of_sets =
        ["names", "distinct", "hierarchy", "minimal", "members-only", "all-members"].map(|it| format!("sets-{it}"));
    let of_sets: Vec<_> = of_sets.iter().map(String::as_str).collect();
    let others = ["http-redirects", "http-flow-control", "http-deflate", "tokens-single-page", "dates-finer"];
    expect_clean(&report, &[&others[..], &of_sets[..], &["records-about"]].concat());
}

#[test]
fn a_repository_of_one_page_passes_everything() {
    let mut repository = Repository::new();
    repository.page = 100;
    let report = judged(&repository, &Options::default());
    assert!(report.is_conformant(true), "{}", render::text(&report, false));
    for id in ["tokens-last-page", "tokens-exclusive"] {
        assert_eq!(report.outcome(id).map(|outcome| outcome.grade), Some(Grade::NotJudged), "{id}");
    }
}

#[test]
fn a_long_list_is_sampled_and_says_so() {
    let options = Options { records: 5, pages: 2, ..Options::default() };
    let report = judged(&Repository::new(), &options);
    assert!(report.is_conformant(true), "{}", render::text(&report, false));
    let noted = |id: &str| report.outcome(id).and_then(|outcome| outcome.note.clone()).unwrap_or_default();
    assert_eq!(noted("lists-records"), "only the first 5 of the list were looked at");
    assert!(noted("lists-agree").starts_with("compared were the records of 2024-05-01"), "{}", noted("lists-agree"));
    assert_eq!(noted("dates-halves"), "of a long list, the 2024-05-01 was looked at");
}

#[test]
fn the_number_of_requests_is_bounded() {
    let repository = Repository::new();
    let report = judged(&repository, &Options { requests: 12, ..Options::default() });
    assert_eq!((report.requests, repository.asked.borrow().len()), (12, 12));
    let note = report.outcome("tokens-reusable").and_then(|outcome| outcome.note.clone());
    assert_eq!(note.as_deref(), Some("the limit of 12 requests is reached"));
    assert_eq!(report.cut_short, note);
    assert!(!report.is_wanting(true) && !report.is_conformant(false), "what was not asked is not conformant");
    assert!(render::text(&report, false).contains("\nnot everything was asked: the limit of 12 requests is reached\n"));
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
fn white_space_around_uris_does_not_matter() {
    let mut repository = Repository::new();
    repository.on_answer = |_, text| {
        for (from, to) in [("<identifier>", "<identifier>\n  "), ("</identifier>", "\n</identifier>")] {
            *text = text.replace(from, to);
        }
        *text = text.replace(&format!("<baseURL>{BASE_URL}<"), &format!("<baseURL>\n {BASE_URL} <"));
    };
    let report = judged(&repository, &Options::default());
    assert!(report.is_conformant(true), "{}", render::text(&report, false));
}

#[test]
fn requests_can_be_tried_again_where_the_base_url_has_a_query() {
    let repository = Repository::new();
    let base_url = format!("{BASE_URL}?page=oai");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let only = vec!["identify-base-url".to_owned()];
    let options = Options { only, ..Options::default() };
    let report = runtime.block_on(judge(&repository, &base_url, &options, &mut |_| {}));
    let request = report.outcomes[0].findings[0].request.as_deref();
    assert_eq!(request, Some("http://repository.example.org/oai?page=oai&verb=Identify"));
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
    let reason = "8 questions in a row were in vain: there was no answer: the line is dead";
    assert_eq!(report.cut_short.as_deref(), Some(reason));
    // Identify also by POST and with gzip, between; the first of a silence is sent three times, the others once.
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
fn deflate_that_is_advertised_is_tried() {
    let mut repository = Repository::new();
    repository.on_answer =
        |_, text| *text = text.replace("<compression>gzip", "<compression>deflate</compression><compression>gzip");
    repository.on_wire = |question, raw| {
        if question.coding == "deflate" {
            let mut coder = flate2::read::ZlibEncoder::new(&raw.body[..], flate2::Compression::fast());
            let mut coded = Vec::new();
            std::io::Read::read_to_end(&mut coder, &mut coded).expect("memory can be read");
            raw.body = coded;
            raw.headers.push(("Content-Encoding".to_owned(), "deflate".to_owned()));
        }
    };
    let report = judged(&repository, &Options::default());
    assert!(report.is_conformant(true), "{}", render::text(&report, false));
    assert_eq!(report.outcome("http-deflate").map(|outcome| outcome.grade), Some(Grade::Pass));
}

#[test]
fn excerpts_show_what_is_meant() {
    let mut repository = Repository::new();
    repository.sets.push("art".to_owned());
    repository.items[1].datestamp.truncate(10);
    repository.page = 100;
    let report = judged(&repository, &Options::default());
    let excerpt = |id: &str| report.outcome(id).and_then(|outcome| outcome.findings[0].excerpt.clone()).expect(id);
    let set = excerpt("sets-distinct");
    assert!(set.text.starts_with("art</setSpec><setName>The art</setName></set></ListSets>"), "{set:?}");
    let datestamp = excerpt("dates-granularity");
    assert!(datestamp.text.starts_with("2024-05-01</datestamp><setSpec>art:film<"), "{datestamp:?}");
}

#[test]
fn deletions_that_are_not_persistent_may_come_and_go() {
    let mut repository = Repository::new();
    // The whole list leaves deletions out, and lists by date have them.
    repository.page = 100;
    repository.on_answer = |question, text| {
        while question.argument("from").or(question.argument("until")).or(question.argument("set")).is_none()
            && let Some(start) = text.find("<header status").filter(|_| question.query.contains("List"))
        {
            let (element, end) = if question.query.contains("ListRecords") {
                (start - "<record>".len(), "</record>")
            } else {
                (start, "</header>")
            };
            let end = text[element..].find(end).map_or(text.len(), |at| element + at + end.len());
            text.replace_range(element..end, "");
        }
    };
    let found_in = |policy| {
        repository.deleted_record = policy;
        let report = judged(&repository, &Options::default());
        found(&report).into_iter().collect::<Vec<_>>()
    };
    assert_eq!(["transient", "persistent"].map(found_in), [vec![], vec!["dates-halves", "lists-whole"]]);
}

#[test]
fn only_some_checks_can_be_asked_for() {
    let only = vec!["formats".to_owned(), "shape-root".to_owned()];
    let report = judged(&Repository::new(), &Options { only, ..Options::default() });
    let ids: Vec<_> = report.outcomes.iter().map(|outcome| outcome.check.id).collect();
    assert_eq!(ids.len(), 7, "{ids:?}");
    assert_eq!((ids[0], ids[1]), ("shape-root", "formats-list"));
    assert!(report.is_conformant(true), "{}", render::text(&report, false));
}

#[test]
fn what_does_not_answer_is_not_judged() {
    let mut repository = Repository::new();
    repository.on_wire = |_, raw| raw.status = 0;
    let report = judged(&repository, &Options::default());
    assert_eq!(report.unreachable.as_deref(), Some("there was no answer: the line is dead"));
    assert_eq!(repository.asked.borrow().len(), 3, "tried again, and then given up");
    assert!(!report.is_conformant(false));
    repository.on_wire = |_, raw| raw.body = b"<html><body>Log in, please".to_vec();
    let report = judged(&repository, &Options::default());
    assert!(report.unreachable.is_some_and(|reason| reason.contains("the root element is 'html'")));
}

/// Changes Identify as it is sent.
fn spoil(question: &Question, raw: &mut Raw, from: &str, to: &[u8]) {
    let at = memchr::memmem::find(&raw.body, from.as_bytes()).filter(|_| question.query == "verb=Identify");
    if let Some(at) = at.filter(|_| question.coding == "identity") {
        raw.body.splice(at..at + from.len(), to.iter().copied());
    }
}

#[test]
fn a_fault_in_identify_is_one_fault() {
    type Fault = fn(&Question, &mut Raw);
    let faults: [(&str, Fault); 7] = [
        ("shape-well-formed", |question, raw| spoil(question, raw, "Example", b"A & B")),
        ("shape-well-formed", |question, raw| spoil(question, raw, "Example", b"A&nbsp;B")),
        ("shape-well-formed", |question, raw| spoil(question, raw, "</OAI-PMH>", b"</OAI-PMH><!-- x -->junk")),
        ("shape-encoding", |question, raw| spoil(question, raw, "Example", b"Ex\xe9mple")),
        ("shape-declaration", |question, raw| spoil(question, raw, "UTF-8", b"ISO-8859-1")),
        ("shape-declaration", |question, raw| spoil(question, raw, "?>", b"?><!DOCTYPE a [<!ENTITY a 'b'>]>")),
        ("shape-root", |question, raw| spoil(question, raw, "/OAI/2.0/", b"/OAI/1.1/")),
    ];
    for (check, fault) in faults {
        let mut repository = Repository::new();
        repository.on_wire = fault;
        let report = judged(&repository, &Options::default());
        let text = render::text(&report, false);
        assert_eq!(report.unreachable, None, "{text}");
        let grade = |id: &str| report.outcome(id).map(|outcome| outcome.grade);
        assert_eq!(grade(check), Some(Grade::Failure), "{text}");
        let excerpt = report.outcome(check).and_then(|outcome| outcome.findings[0].excerpt.as_ref());
        assert!(excerpt.is_some(), "with its bytes: {text}");
        for other in ["lists-records", "tokens-last-page", "dates-halves", "sets-members-only", "records-oai-dc"] {
            assert_eq!(grade(other), Some(Grade::Pass), "{check}: {text}");
        }
        assert!(report.count(Grade::NotJudged) < 25, "{check}: {text}");
    }
}

#[test]
fn every_wrong_repository_is_found_by_the_check_for_it() {
    let mut missed = Vec::new();
    for defect in defects::DEFECTS {
        let mut repository = Repository::new();
        (defect.make)(&mut repository);
        let report = judged(&repository, &Options::default());
        let expected: BTreeSet<_> = std::iter::once(defect.check).chain(defect.also.iter().copied()).collect();
        let outcome = report.outcome(defect.check).expect("every check is run");
        let requests = outcome.findings.iter().map(|finding| finding.request.as_deref().unwrap_or_default());
        let is_shown = requests.into_iter().all(|request| request.starts_with(BASE_URL));
        if found(&report) != expected || outcome.grade != defect.grade || !is_shown {
            let text = render::text(&report, false);
            let told = text.split("\n\nHTTP").next().unwrap_or_default();
            missed.push(format!("{}: {}\n{told}\n", defect.check, defect.what));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn there_is_a_wrong_repository_for_every_check() {
    let tried: BTreeSet<_> = defects::DEFECTS.iter().map(|defect| defect.check).collect();
    let untried: Vec<_> = checks::all().map(|(_, check)| check.id).filter(|id| !tried.contains(id)).collect();
    assert_eq!(untried, Vec::<&str>::new());
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
    assert_eq!(report.outcome("http-flow-control").map(|outcome| outcome.grade), Some(Grade::Pass));
    assert_eq!(report.outcome("http-status").map(|outcome| outcome.grade), Some(Grade::Failure));
}

#[test]
fn reports_are_rendered() {
    let mut repository = Repository::new();
    repository.on_answer = |_, text| *text = text.replace("<deletedRecord>persistent", "<deletedRecord>\u{1b}[2J&amp;");
    let report = judged(&repository, &Options::default());
    let text = render::text(&report, false);
    assert!(text.starts_with("http://repository.example.org/oai: Example\n\nFailures\n"), "{text}");
    assert!(text.contains("  identify-deleted-record: expected: deletedRecord no, transient"), "{text}");
    assert!(text.contains("\n      asked: http://repository.example.org/oai?verb=Identify\n      byte "), "{text}");
    assert!(!text.contains('\u{1b}'), "foreign text cannot paint the terminal");
    assert!(render::text(&report, true).contains("\u{1b}[1;31m"));
    let junit = render::junit(&report, false);
    assert!(
        junit.contains("<testcase classname=\"identify\" name=\"identify-deleted-record\">\n      <failure "),
        "{junit}"
    );
    assert!(junit.contains("<skipped message=\"there was no redirect\"/>"), "{junit}");
    let shape = super::shape::inspect(junit.as_bytes());
    assert!(shape.iter().all(|it| it.kind == super::shape::Kind::Root), "well-formed: {shape:?}");
    let json = serde_json::to_value(render::Judgement::of(&report, false)).expect("serialisable");
    assert_eq!((&json["conformant"], &json["strict"]), (&false.into(), &false.into()));
    assert_eq!(json["counts"]["failure"], 2, "{}", json["counts"]);
    assert_eq!((&json["base_url"], &json["cut_short"]), (&BASE_URL.into(), &serde_json::Value::Null));
    let outcome =
        json["outcomes"].as_array().and_then(|all| all.iter().find(|it| it["id"] == "identify-deleted-record"));
    let outcome = outcome.expect("it is there");
    assert_eq!((&outcome["grade"], &outcome["group"]), (&"failure".into(), &"identify".into()));
    assert_eq!(
        outcome["findings"][0]["excerpt"]["text"].as_str().map(|text| text.starts_with("<deletedRecord>")),
        Some(true)
    );
}

#[test]
fn build_servers_are_told_what_the_exit_code_says() {
    let mut repository = Repository::new();
    repository.items[0].sets.push("art".to_owned());
    let report = judged(&repository, &Options::default());
    let (lenient, strict) = (render::junit(&report, false), render::junit(&report, true));
    assert!(lenient.contains("errors=\"0\" failures=\"0\"") && lenient.contains("<system-out>"), "{lenient}");
    assert!(strict.contains("errors=\"0\" failures=\"1\""), "{strict}");
    assert!(strict.contains("<testsuite name=\"sets\" tests=\"9\" failures=\"1\""), "{strict}");
    assert!(strict.contains("name=\"sets-minimal\">\n      <failure message=\"'oai:"), "{strict}");
    let report = judged(&Repository::new(), &Options { requests: 3, ..Options::default() });
    let junit = render::junit(&report, false);
    assert!(junit.contains("errors=\"1\" failures=\"0\""), "{junit}");
    assert!(junit.contains("<error message=\"the limit of 3 requests is reached\"/>"), "{junit}");
    let shape = super::shape::inspect(junit.as_bytes());
    assert!(shape.iter().all(|it| it.kind == super::shape::Kind::Root), "well-formed: {shape:?}");
}
