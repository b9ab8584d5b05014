//! A correct repository passes all checks; and each check finds a defect in a repository that has only that defect.

mod bounds;
mod defects;
mod reports;
mod repository;

use std::collections::BTreeSet;

use super::exchange::{Question, Raw};
use super::render;
use super::report::{Grade, Report};
use super::{Options, checks, judge};
use repository::{BASE_URL, Repository};

/// Runs the validator without a network, and without waiting.
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
    assert_eq!(noted("lists-records"), "only the first 5 of the list were checked");
    assert!(noted("lists-agree").starts_with("compared only the records of 2024-05-01"), "{}", noted("lists-agree"));
    assert_eq!(noted("dates-halves"), "the list is long; only 2024-05-01 was checked");
}

#[test]
fn white_space_around_uris_is_only_warned_about() {
    let mut repository = Repository::new();
    repository.on_answer = |_, text| {
        for (from, to) in [("<identifier>", "<identifier>\n  "), ("</identifier>", "\n</identifier>")] {
            *text = text.replace(from, to);
        }
        *text = text.replace(&format!("<baseURL>{BASE_URL}<"), &format!("<baseURL>\n {BASE_URL} <"));
    };
    let report = judged(&repository, &Options::default());
    assert!(report.is_conformant(false), "{}", render::text(&report, false));
    assert_eq!(report.outcome("records-identifiers").map(|outcome| outcome.grade), Some(Grade::Warning));
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
fn deletions_that_are_not_persistent_may_come_and_go() {
    let mut repository = Repository::new();
    // The whole list omits deletions, and lists by date contain them.
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

/// Changes the bytes of Identify.
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
