//! What a repository of records says about itself and its sets, judged by the official schemas.

use std::sync::Arc;

use modoai_protocol::Request;
use modoai_protocol::xml::Response;
use modoai_repository::catalogue::Access;
use modoai_repository::catalogue::sqlite::Sqlite;
use modoai_repository::host::CatalogueHost;
use modoai_repository::settings::{self, SETTINGS};
use modoai_repository::{Repository, Settings};
use modoai_testkit::xsd;
use tempfile::TempDir;

use crate::battery::{HandClock, put, spec};

const BASE_URL: &str = "https://example.org/oai?x&y";

/// A repository of one item in some sets, with these settings.
fn repository(directory: &TempDir, text: &str) -> Repository {
    let mut settings = Settings::default();
    settings::load(text, &mut (SETTINGS, &mut settings)).expect("good settings");
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

const EVERYTHING: &str = r#"
friends = ["http://friend.example.org/oai?x=1&y=2"]
branding_icon = "http://example.org/icon.png"
branding_link = "http://example.org/"
metadata_rights = ["https://creativecommons.org/publicdomain/zero/1.0/", "https://example.org/terms?a=1&b=2"]
eprints_content = ["Papers & <preprints>", "https://example.org/about"]
eprints_metadata_policy = "Free for all: see http://example.org/"
eprints_data_policy = "https://example.org/terms"
eprints_submission_policy = ["https://example.org/submit"]
eprints_comments = ["Harvest at night.", "Thank you."]
"#;

#[test]
fn every_description_is_told_and_valid() {
    let directory = TempDir::new().expect("a temporary folder");
    let repository = repository(&directory, EVERYTHING);
    let identify = answer(&repository, "Identify");
    assert_eq!(Response::read(identify.as_bytes()).expect("well-formed").descriptions.len(), 5, "{identify}");
    assert!(!identify.contains("oai-identifier"), "nothing is known of the identifiers");
    for expected in [
        "<content><text>Papers &amp; &lt;preprints&gt;</text><URL>https://example.org/about</URL></content>\
         <metadataPolicy><text>Free for all: see http://example.org/</text></metadataPolicy>\
         <dataPolicy><URL>https://example.org/terms</URL></dataPolicy>\
         <submissionPolicy><URL>https://example.org/submit</URL></submissionPolicy>\
         <comment>Harvest at night.</comment><comment>Thank you.</comment></eprints>",
        "<rights><rightsReference ref=\"https://creativecommons.org/publicdomain/zero/1.0/\"/></rights>\
         <rights><rightsReference ref=\"https://example.org/terms?a=1&amp;b=2\"/></rights></rightsManifest>",
    ] {
        assert!(identify.contains(expected), "{identify}");
    }
}

#[test]
fn an_eprints_description_is_valid_with_little_to_say() {
    let directory = TempDir::new().expect("a temporary folder");
    let identify = answer(&repository(&directory, "eprints_comments = 'Hello.'"), "Identify");
    assert!(identify.contains("<metadataPolicy></metadataPolicy><dataPolicy></dataPolicy><comment>Hello.</comment>"));
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
    let chosen = repository(&directory, "sample_identifier = '0704.0001'");
    let archive = chosen.with_identifiers_in("arXiv.org", Some("oai:arXiv.org:hep-th/9901001"));
    assert_eq!(sample_of(archive), "oai:arXiv.org:0704.0001");
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
