//! What a repository of records says about itself and its sets, judged by the official schemas.

use std::sync::Arc;

use modoai_protocol::Request;
use modoai_protocol::xml::Response;
use modoai_repository::catalogue::Access;
use modoai_repository::catalogue::sqlite::Sqlite;
use modoai_repository::host::CatalogueHost;
use modoai_repository::settings::SETTINGS;
use modoai_repository::{Repository, Settings};
use modoai_settings::load;
use modoai_testkit::{workspace, xsd};
use tempfile::TempDir;

use crate::battery::{HandClock, put, spec};

const BASE_URL: &str = "https://example.org/oai?x&y";

/// A repository of one item in some sets, with these settings.
fn repository(directory: &TempDir, text: &str) -> Repository {
    let mut settings = Settings::default();
    load(text, &workspace().join("examples/identify"), &mut (SETTINGS, &mut settings)).expect("good settings");
    let catalogue = Sqlite::open(directory.path(), Access::Write, HandClock::at(10_000).clock()).expect("a catalogue");
    let catalogue: Arc<dyn modoai_repository::catalogue::Catalogue> = Arc::new(catalogue);
    let mut writer = catalogue.writer().expect("nobody else writes");
    writer.apply(&[put("oai:example.org:1", 5, &["physics:hep-th", "cs"])]).expect("applied");
    writer.name_set(&spec("physics"), "Physics", Some("Matter & <energy>,\nin motion.")).expect("named");
    writer.name_set(&spec("cs"), "Computing", None).expect("named");
    writer.complete().expect("complete");
    drop(writer);
    Repository::of_records(catalogue, settings, BASE_URL)
}

/// The answer to a request without further arguments; valid.
fn answer(repository: &Repository, verb: &str) -> String {
    let arguments = vec![("verb".to_owned(), verb.to_owned())];
    let mut xml = Vec::new();
    let answer = repository.answer(Request::parse(&arguments), &CatalogueHost).expect("an answer");
    answer.write_to(&mut xml).expect("room for it");
    xsd::expect_valid(verb, &xml);
    String::from_utf8(xml).expect("UTF-8")
}

#[test]
fn examples_are_included_unmodified_and_valid() {
    let directory = TempDir::new().expect("a temporary folder");
    let names = ["eprints", "rights", "friends", "branding"];
    let files = names.map(|name| format!("{name}.xml"));
    let identify = answer(&repository(&directory, &format!("identify_descriptions = {files:?}")), "Identify");
    let response = Response::read(identify.as_bytes()).expect("well-formed");
    assert_eq!(response.descriptions.len(), 1 + names.len(), "with datestamps: {identify}");
    for file in files {
        let example = std::fs::read_to_string(workspace().join("examples/identify").join(file)).expect("an example");
        let element = example.split_once("-->\n").expect("a comment at the beginning").1.trim();
        assert!(identify.contains(&format!("\n<description>{element}</description>\n")), "{identify}");
    }
    assert!(!identify.contains("oai-identifier"), "the form of the identifiers is unknown");
}

#[test]
fn a_file_replaces_the_description_of_identifiers() {
    let directory = TempDir::new().expect("a temporary folder");
    let settings = "repository_identifier = 'example.org'\nidentify_descriptions = 'oai-identifier.xml'";
    let repository = repository(&directory, settings).with_identifiers_in("example.org", None);
    let identify = answer(&repository, "Identify");
    assert_eq!(identify.matches("<repositoryIdentifier>").count(), 1, "{identify}");
    assert!(identify.contains("<sampleIdentifier>oai:www.example.org:papers/1.pdf</sampleIdentifier>"), "{identify}");
}

#[test]
fn an_archive_tells_the_namespace_of_its_identifiers_and_a_sample() {
    let directory = TempDir::new().expect("a temporary folder");
    let sample_of = |repository: Repository| {
        let identify = answer(&repository, "Identify");
        assert!(identify.contains("<repositoryIdentifier>arXiv.org</repositoryIdentifier>"), "{identify}");
        let (_, rest) = identify.split_once("<sampleIdentifier>").expect("a sample");
        rest.split_once("</sampleIdentifier>").expect("an end").0.to_owned()
    };
    let plain = repository(&directory, "repository_identifier = 'elsewhere.example.org'");
    let archive = |sample| plain.clone().with_identifiers_in("arXiv.org", sample);
    assert_eq!(sample_of(archive(Some("oai:arXiv.org:hep-th/9901001"))), "oai:arXiv.org:hep-th/9901001");
    assert_eq!(sample_of(archive(Some("oai:arXiv.org:<not a URI>"))), "oai:arXiv.org:index.html");
    assert_eq!(sample_of(archive(Some("oai:other.org:1"))), "oai:arXiv.org:index.html");
    assert_eq!(sample_of(archive(None)), "oai:arXiv.org:index.html");
}

#[test]
fn sets_are_described() {
    let directory = TempDir::new().expect("a temporary folder");
    let sets = answer(&repository(&directory, ""), "ListSets");
    assert_eq!(sets.matches("<setDescription>").count(), 1, "only where something was told: {sets}");
    let response = Response::read(sets.as_bytes()).expect("well-formed");
    let described: Vec<_> = response.sets.iter().map(|set| (set.spec.as_str(), set.descriptions.len())).collect();
    assert_eq!(described, [("cs", 0), ("physics", 1), ("physics:hep-th", 0)]);
    assert!(sets.contains("<dc:description>Matter &amp; &lt;energy&gt;,&#10;in motion.</dc:description>"), "{sets}");
}
