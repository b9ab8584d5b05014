//! Reports for humans, for programs and for build servers, and their excerpts.

use super::super::{Options, judge, render, shape};
use super::judged;
use super::repository::{BASE_URL, Repository};

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
fn reports_are_rendered() {
    let mut repository = Repository::new();
    repository.on_answer = |_, text| *text = text.replace("<deletedRecord>persistent", "<deletedRecord>\u{1b}[2J&amp;");
    let report = judged(&repository, &Options::default());
    let text = render::text(&report, false);
    assert!(text.starts_with("http://repository.example.org/oai: Example\n\nFailures\n"), "{text}");
    assert!(text.contains("  identify-deleted-record: expected: deletedRecord no, transient"), "{text}");
    assert!(text.contains("\n      request: http://repository.example.org/oai?verb=Identify\n      byte "), "{text}");
    assert!(!text.contains('\u{1b}'), "foreign text cannot paint the terminal");
    assert!(render::text(&report, true).contains("\u{1b}[1;31m"));
    let junit = render::junit(&report, false);
    assert!(
        junit.contains("<testcase classname=\"identify\" name=\"identify-deleted-record\">\n      <failure "),
        "{junit}"
    );
    assert!(junit.contains("<skipped message=\"no redirect found\"/>"), "{junit}");
    let shape = shape::inspect(junit.as_bytes());
    assert!(shape.iter().all(|it| it.kind == shape::Kind::Root), "well-formed: {shape:?}");
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
    let shape = shape::inspect(junit.as_bytes());
    assert!(shape.iter().all(|it| it.kind == shape::Kind::Root), "well-formed: {shape:?}");
}
