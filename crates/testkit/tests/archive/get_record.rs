//! The four cases of GetRecord that Warner's slides of 2001 name, as the protocol has them today, and the formats of one
//! item.

use modoai_protocol::xml::document::Response;
use modoai_testkit::process::Server;
use serde_json::json;

use super::{Archive, metadata, record, record_with};
use crate::oai;

/// An archive with a record that has everything, one that lacks what a format needs, and one that is gone.
fn archive() -> Archive {
    let archive = Archive::configured(
        r#"
repository_identifier = "example.org"
[[format]]
prefix = "mine"
template = "mine.xml"
schema = "https://example.org/mine.xsd"
namespace = "urn:mine"
requires = ["doi"]
"#,
    );
    archive.write("mine.xml", "<mine xmlns=\"urn:mine\"><doi>{{ doi }}</doi></mine>");
    let all = [
        record_with("whole", "Whole", json!({ "doi": "10.5555/whole", "sets": ["a:b"] })),
        record("lacking", "Lacking"),
        record_with("gone", "Gone", json!({ "doi": "10.5555/gone", "sets": ["a:b"] })),
    ];
    archive.fill(&all);
    archive.write_lines("records.jsonl", &all[..2]);
    archive.import("records.jsonl").with(["--max-deleted", "50%"]).done();
    archive
}

fn get(server: &Server, name: &str, prefix: &str) -> Response {
    let query = format!("verb=GetRecord&identifier=oai:example.org:{name}&metadataPrefix={prefix}");
    oai::ask(&mut server.client(), &query).answer
}

fn code(answer: &Response) -> Option<&str> {
    assert!(answer.errors.is_empty() || answer.records.is_empty(), "both a record and an error: {answer:?}");
    answer.errors.first().map(|(code, _)| code.as_str())
}

#[test]
fn an_item_that_does_not_exist() {
    let archive = archive();
    let server = archive.serve();
    for prefix in ["oai_dc", "mine"] {
        assert_eq!(code(&get(&server, "never", prefix)), Some("idDoesNotExist"));
    }
}

#[test]
fn an_item_that_is_deleted() {
    let archive = archive();
    let server = archive.serve();
    for prefix in ["oai_dc", "mine"] {
        let answer = get(&server, "gone", prefix);
        assert_eq!(code(&answer), None, "{prefix}");
        let [record] = answer.records.as_slice() else { panic!("one record: {answer:?}") };
        assert!(record.deleted && record.metadata.is_none() && record.about.is_empty(), "{prefix}: {record:?}");
        assert_eq!(record.sets, ["a:b"]);
    }
}

#[test]
fn an_item_without_that_format() {
    let archive = archive();
    let server = archive.serve();
    assert_eq!(code(&get(&server, "lacking", "mine")), Some("cannotDisseminateFormat"));
    assert_eq!(code(&get(&server, "lacking", "oai_dc")), None);
    assert_eq!(code(&get(&server, "whole", "no_such_format")), Some("cannotDisseminateFormat"));
}

#[test]
fn an_item_with_that_format() {
    let archive = archive();
    let server = archive.serve();
    for (prefix, part) in [("oai_dc", "<dc:title>Whole</dc:title>"), ("mine", "<doi>10.5555/whole</doi>")] {
        let answer = get(&server, "whole", prefix);
        let [record] = answer.records.as_slice() else { panic!("one record: {answer:?}") };
        assert!(!record.deleted && metadata(record).contains(part), "{prefix}: {record:?}");
        assert_eq!(
            (record.datestamp.as_str(), record.sets.as_slice()),
            ("2001-02-03T00:00:00Z", &["a:b".to_owned()][..])
        );
    }
}

#[test]
fn lists_leave_out_who_lacks_the_format() {
    let archive = archive();
    let server = archive.serve();
    let list = |prefix: &str| {
        super::identifiers(&server, &format!("verb=ListIdentifiers&metadataPrefix={prefix}&until=2001-02-03"))
    };
    assert_eq!(list("oai_dc"), ["oai:example.org:lacking", "oai:example.org:whole"]);
    assert_eq!(list("mine"), ["oai:example.org:whole"]);
}

#[test]
fn the_formats_of_one_item() {
    let archive = archive();
    let server = archive.serve();
    let formats = |selection: &str| {
        let answer = oai::ask(&mut server.client(), &format!("verb=ListMetadataFormats{selection}")).answer;
        let mut prefixes: Vec<String> = answer.formats.into_iter().map(|format| format.prefix).collect();
        prefixes.sort();
        (prefixes, answer.errors.into_iter().map(|(code, _)| code).collect::<Vec<_>>())
    };
    let both = vec!["mine".to_owned(), "oai_dc".to_owned()];
    assert_eq!(formats(""), (both.clone(), vec![]));
    assert_eq!(formats("&identifier=oai:example.org:whole"), (both, vec![]));
    assert_eq!(formats("&identifier=oai:example.org:lacking"), (vec!["oai_dc".to_owned()], vec![]));
    assert_eq!(formats("&identifier=oai:example.org:never"), (vec![], vec!["idDoesNotExist".to_owned()]));
}
