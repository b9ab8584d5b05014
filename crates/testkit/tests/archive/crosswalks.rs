//! A change of a format, of a constant or of a rule of sets moves the datestamps of what it changes, and of nothing else.

use serde_json::json;

use super::{Archive, here_and_now, metadata, record, record_with, told};
use crate::oai;

const CONFIG: &str = r#"
repository_identifier = "example.org"
[[format]]
prefix = "mine"
template = "mine.xml"
schema = "https://example.org/mine.xsd"
namespace = "urn:mine"
"#;

const TEMPLATE: &str = "<mine xmlns=\"urn:mine\"><title>{{ title }}</title></mine>\n";
const WITH_DOI: &str =
    "<mine xmlns=\"urn:mine\"><title>{{ title }}</title>{% if doi %}<doi>{{ doi }}</doi>{% endif %}</mine>\n";

/// Two records, of which one has a DOI, in a format of our own.
fn archive() -> Archive {
    let archive = Archive::configured(CONFIG);
    archive.write("mine.xml", TEMPLATE);
    archive.fill(&[
        record("1", "One & only"),
        record_with("2", "Two", json!({ "doi": "10.5555/two", "categories": "a b" })),
    ]);
    archive
}

#[test]
fn a_format_of_ones_own_is_a_template_and_a_few_lines() {
    let archive = archive();
    let server = archive.serve();
    let mine = told(&server, "mine");
    let text = metadata(&mine["oai:example.org:1"]);
    assert!(text.contains("<title>One &amp; only</title>"), "{text}");
    let formats = oai::ask(&mut server.client(), "verb=ListMetadataFormats").answer.formats;
    let format = formats.iter().find(|format| format.prefix == "mine").expect("the format");
    assert_eq!((format.schema.as_str(), format.namespace.as_str()), ("https://example.org/mine.xsd", "urn:mine"));
}

#[test]
fn a_changed_template_moves_what_it_changes() {
    let archive = archive();
    let before = archive.told();
    let moment = here_and_now();
    archive.write("mine.xml", WITH_DOI);
    let imported = archive.import("records.jsonl").done();
    assert_eq!(imported.count("new") + imported.count("gone") + imported.count("bad"), 0, "{}", imported.report);
    let server = archive.serve();
    let mine = told(&server, "mine");
    assert!(metadata(&mine["oai:example.org:2"]).contains("<doi>10.5555/two</doi>"));
    assert!(mine["oai:example.org:2"].datestamp >= moment, "{}", mine["oai:example.org:2"].datestamp);
    assert_eq!(told(&server, "oai_dc")["oai:example.org:1"], before["oai:example.org:1"]);
    drop(server);

    // Other words in the template, the same metadata: nothing moves.
    let then = archive.told();
    archive.write("mine.xml", format!("{{# now with a remark #}}{WITH_DOI}"));
    archive.import("records.jsonl").done();
    assert_eq!(archive.told(), then);
}

#[test]
fn a_new_format_moves_nothing_that_lacks_it() {
    let archive = archive();
    let before = archive.told();
    archive.write("archive.toml", format!("{CONFIG}\n[[format]]\nprefix = \"other\"\ntemplate = \"other.xml\"\nschema = \"https://example.org/other.xsd\"\nnamespace = \"urn:other\"\nrequires = [\"doi\"]\n"));
    archive.write("other.xml", "<other xmlns=\"urn:other\">{{ doi }}</other>");
    archive.import("records.jsonl").done();
    let server = archive.serve();
    let other = told(&server, "other");
    assert_eq!(other.keys().collect::<Vec<_>>(), ["oai:example.org:2"]);
    assert_eq!(told(&server, "oai_dc")["oai:example.org:1"], before["oai:example.org:1"]);
}

#[test]
fn a_changed_rule_of_sets_moves_what_it_changes() {
    let archive = archive();
    let before = archive.told();
    assert!(before.values().all(|record| record.sets.is_empty()), "{before:?}");
    let moment = here_and_now();
    archive.write("archive.toml", format!("{CONFIG}\n[[sets]]\nfield = \"categories\"\nsplit = \" \"\n"));
    archive.import("records.jsonl").done();
    let after = archive.told();
    assert_eq!(after["oai:example.org:1"], before["oai:example.org:1"]);
    assert_eq!(after["oai:example.org:2"].sets, ["a", "b"]);
    assert!(after["oai:example.org:2"].datestamp >= moment);
}

#[test]
fn a_constant_is_in_every_template() {
    let archive = Archive::configured(&format!("{CONFIG}\n[constants]\nhouse = \"Library <1>\"\n"));
    archive.write("mine.xml", "<mine xmlns=\"urn:mine\">{{ archive.house }}: {{ title }}</mine>");
    archive.fill(&[record("1", "One")]);
    let server = archive.serve();
    let text = metadata(&told(&server, "mine")["oai:example.org:1"]);
    assert!(text.contains("Library &lt;1&gt;: One"), "{text}");
}
