//! Documents with files: `oai_didl` has them by reference and by value, and a changed file is a changed document.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modoai_testkit::xsd;
use serde_json::json;

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
