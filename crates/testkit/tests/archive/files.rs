//! Documents with files: `oai_didl` has them by reference and by value, and a changed file is a changed document.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modoai_protocol::xml::document::Record;
use modoai_testkit::process::Launch;
use modoai_testkit::xsd;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{Archive, here_and_now, metadata, record, record_with, told};
use crate::oai;

const PAPER: &[u8] = b"%PDF-1.4\nnothing but a test\n";

fn archive() -> Archive {
    let archive = Archive::configured("repository_identifier = \"example.org\"\nfiles = \"files\"\n");
    archive.write("files/1/paper.pdf", PAPER);
    archive.write("files/1/source.tex", r"\bye");
    let files = json!([{ "path": "1/paper.pdf", "url": "https://example.org/1.pdf" }, { "path": "1/source.tex" }]);
    archive.fill(&[record_with("1", "With files", json!({ "files": files })), record("2", "Without")]);
    archive
}

#[test]
fn a_package_holds_the_files() {
    let archive = archive();
    let server = archive.serve();
    let packages = told(&server, "oai_didl");
    assert_eq!(packages.keys().collect::<Vec<_>>(), ["oai:example.org:1"], "only what has files has a package");
    let package = metadata(&packages["oai:example.org:1"]);
    for part in ["ref=\"https://example.org/1.pdf\"", &STANDARD.encode(PAPER), &STANDARD.encode(r"\bye"), "With files"]
    {
        assert!(package.contains(part), "{part} is not in {package}");
    }
    let query = "verb=GetRecord&identifier=oai:example.org:2&metadataPrefix=oai_didl";
    let refused = oai::ask(&mut server.client(), query).answer.errors;
    assert_eq!(refused.first().map(|(code, _)| code.as_str()), Some("cannotDisseminateFormat"));
    let page = oai::ask(&mut server.client(), "verb=ListRecords&metadataPrefix=oai_didl");
    xsd::expect_valid(&page.query, &page.xml);
}

#[test]
fn a_changed_file_moves_the_datestamp() {
    let archive = archive();
    let before = archive.told();
    archive.import("records.jsonl").done().expect(&[("unchanged", 2)]);
    assert_eq!(archive.told(), before);

    let moment = here_and_now();
    archive.write("files/1/source.tex", r"\bye\bye");
    archive.import("records.jsonl").done().expect(&[("changed", 1), ("unchanged", 1)]);
    let server = archive.serve();
    let package = &told(&server, "oai_didl")["oai:example.org:1"];
    assert!(package.datestamp >= moment, "{}", package.datestamp);
    assert!(metadata(package).contains(&STANDARD.encode(r"\bye\bye")));
    assert_eq!(told(&server, "oai_dc")["oai:example.org:2"], before["oai:example.org:2"]);
}

/// The package of the document, if everything goes by reference; and the SHA-256 that it has for the paper.
fn by_reference(archive: &Archive) -> (Record, Option<String>) {
    let server = Launch::of_catalogue(archive.catalogue()).set("by_value_limit", "0").start();
    let package = told(&server, "oai_didl").remove("oai:example.org:1").expect("a package");
    let text = metadata(&package);
    assert!(!text.contains("base64") && text.contains("ref=\"https://example.org/1.pdf\""), "{text}");
    let component = text.split("<didl:Component>").find(|part| part.contains("ref=")).expect("the paper");
    let digest = component.split_once("\"SHA-256\">").and_then(|(_, rest)| rest.split_once('<'));
    let digest = digest.map(|(digest, _)| digest.to_owned());
    (package, digest)
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_file_by_reference_has_the_digests_of_its_present_state_and_no_other() {
    let archive = Archive::configured("repository_identifier = \"example.org\"\nfiles = \"files\"\n");
    archive.write("files/1/paper.pdf", PAPER);
    let files = json!([{ "path": "1/paper.pdf", "url": "https://example.org/1.pdf" }]);
    archive.write_lines("records.jsonl", &[record_with("1", "With files", json!({ "files": files }))]);
    archive.import("records.jsonl").with(["--no-digests"]).done();
    let (without, digest) = by_reference(&archive);
    assert_eq!(digest, None);

    // Digests that become known do not move a datestamp.
    archive.import("records.jsonl").done().expect(&[("unchanged", 1)]);
    let (with, digest) = by_reference(&archive);
    assert_eq!((digest, with.datestamp), (Some(sha256(PAPER)), without.datestamp));

    // Other bytes of the same length, and with the same modification time.
    let path = archive.path("files/1/paper.pdf");
    let modified = fs::metadata(&path).and_then(|data| data.modified()).expect("a time");
    let other = PAPER.to_ascii_uppercase();
    fs::write(&path, &other).expect("writable");
    fs::File::open(&path).and_then(|file| file.set_modified(modified)).expect("a time that can be set");
    assert_eq!(by_reference(&archive).1, None, "digests of another state");
    archive.import("records.jsonl").done();
    assert_eq!(by_reference(&archive).1, Some(sha256(&other)));
}

#[test]
fn no_file_outside_the_folder_gets_into_a_package() {
    let archive = Archive::configured("repository_identifier = \"example.org\"\nfiles = \"files\"\n");
    archive.write("files/inside.txt", "inside");
    archive.write("secret.txt", "a secret");
    let of = |number: &str, path: &str| record_with(number, number, json!({ "files": [{ "path": path }] }));
    let absolute = archive.path("secret.txt").to_string_lossy().into_owned();
    archive.write_lines(
        "records.jsonl",
        &[of("1", "inside.txt"), of("2", "../secret.txt"), of("3", &absolute), of("4", "not/there.txt")],
    );
    let imported = archive.import("records.jsonl").run();
    assert_eq!(imported.code, Some(2), "{}", imported.said);
    imported.expect(&[("new", 1), ("bad", 3)]);
    let server = archive.serve();
    let packages = told(&server, "oai_didl");
    assert_eq!(packages.keys().collect::<Vec<_>>(), ["oai:example.org:1"]);
    let secret = STANDARD.encode("a secret");
    assert!(packages.values().all(|package| !metadata(package).contains(&secret)));
}
