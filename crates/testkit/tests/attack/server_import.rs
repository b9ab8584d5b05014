//! Imports of hostile input: files that a record may not name, XML that may not be sent on.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::archive::{Archive, record_with, told};

const SECRET: &str = "the secret of the neighbour";

const XML: &str = r#"
repository_identifier = "example.org"
[source]
as = "xml"
namespace = "urn:note"
prefix = "note"
schema = "https://example.org/note.xsd"
[source.fields]
title = "title"
"#;

#[test]
fn no_record_names_a_file_elsewhere() {
    let archive = Archive::configured("repository_identifier = \"example.org\"\nfiles = \"files\"\n");
    archive.write("files/inside.txt", "inside");
    archive.write("secret.txt", SECRET);
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("secret.txt"), SECRET).expect("a file");
    symlink(outside.path().join("secret.txt"), archive.path("files/link.txt")).expect("a link");
    symlink(outside.path(), archive.path("files/linked")).expect("a link");
    symlink("/etc/passwd", archive.path("files/passwd")).expect("a link");
    symlink("/dev/zero", archive.path("files/zero")).expect("a link");
    symlink("..", archive.path("files/up")).expect("a link");
    let absolute = outside.path().join("secret.txt").to_string_lossy().into_owned();
    let hostile = [
        "/etc/passwd",
        "../secret.txt",
        "../../../../../../../../etc/passwd",
        "./../secret.txt",
        "a/../../secret.txt",
        "link.txt",
        "linked/secret.txt",
        "passwd",
        "zero",
        "up/secret.txt",
        "inside.txt/../../secret.txt",
        "inside.txt\u{0}",
        "",
        ".",
        "..",
        "file:///etc/passwd",
        &absolute,
    ];
    let of = |(number, path): (usize, &&str)| {
        record_with(&number.to_string(), "Hostile", json!({ "files": [{ "path": path }] }))
    };
    let mut records: Vec<_> = hostile.iter().enumerate().map(of).collect();
    records.push(record_with("good", "Good", json!({ "files": [{ "path": "inside.txt" }] })));
    archive.write_lines("records.jsonl", &records);
    let imported = archive.import("records.jsonl").run();
    assert_eq!(imported.code, Some(2), "{}", imported.said);
    imported.expect(&[("new", 1), ("bad", hostile.len() as u64)]);
    let server = archive.serve();
    let packages = told(&server, "oai_didl");
    assert_eq!(packages.keys().collect::<Vec<_>>(), ["oai:example.org:good"]);
}

#[test]
fn a_file_that_becomes_a_link_after_the_import_is_not_sent() {
    let archive = Archive::configured("repository_identifier = \"example.org\"\nfiles = \"files\"\n");
    archive.write("files/a.txt", "inside");
    archive.write("secret.txt", SECRET);
    archive.fill(&[record_with("1", "With a file", json!({ "files": [{ "path": "a.txt" }] }))]);
    fs::remove_file(archive.path("files/a.txt")).expect("it was there");
    symlink(archive.path("secret.txt"), archive.path("files/a.txt")).expect("a link");
    let server = archive.serve();
    let answer = server.client().get("/modoai?verb=ListRecords&metadataPrefix=oai_didl").expect("an answer").text();
    for secret in [SECRET, &base64(SECRET)] {
        assert!(!answer.contains(secret), "{answer}");
    }
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[test]
fn a_folder_of_files_that_is_a_link_elsewhere_shows_no_more_than_it_names() {
    // The folder itself is the administrator's word and may be a link; what is in it is not.
    let archive = Archive::configured("repository_identifier = \"example.org\"\nfiles = \"files\"\n");
    let outside = tempfile::tempdir().expect("a folder");
    fs::create_dir(outside.path().join("shared")).expect("a folder");
    fs::write(outside.path().join("shared/a.txt"), "inside").expect("a file");
    fs::write(outside.path().join("secret.txt"), SECRET).expect("a file");
    symlink("../secret.txt", outside.path().join("shared/b.txt")).expect("a link");
    symlink(outside.path().join("shared"), archive.path("files")).expect("a link");
    let of = |number: &str, path: &str| record_with(number, "Linked", json!({ "files": [{ "path": path }] }));
    archive.write_lines("records.jsonl", &[of("1", "a.txt"), of("2", "b.txt"), of("3", "../secret.txt")]);
    archive.import("records.jsonl").run().expect(&[("new", 1), ("bad", 2)]);
}

#[test]
fn a_doctype_is_refused() {
    let secret = tempfile::NamedTempFile::new().expect("a file");
    fs::write(secret.path(), SECRET).expect("written");
    let url = format!("file://{}", secret.path().display());
    let lol: String = (1..10).map(|n| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10))).collect();
    let documents = [
        format!("<!DOCTYPE note [<!ENTITY e SYSTEM \"{url}\">]><note xmlns='urn:note'><title>&e;</title></note>"),
        format!("<!DOCTYPE note SYSTEM \"{url}\"><note xmlns='urn:note'><title>x</title></note>"),
        format!("<!DOCTYPE note [<!ENTITY % e SYSTEM \"{url}\"> %e;]><note xmlns='urn:note'><title>x</title></note>"),
        format!("<!DOCTYPE note [<!ENTITY l0 \"lol\">{lol}]><note xmlns='urn:note'><title>&l9;</title></note>"),
        "<?xml version='1.0'?><!-- --><!DOCTYPE note><note xmlns='urn:note'><title>x</title></note>".to_owned(),
        "<note xmlns='urn:note'><title>&undeclared;</title></note>".to_owned(),
        "<note xmlns='urn:note'><title>x</title></note><!DOCTYPE note>".to_owned(),
    ];
    let archive = Archive::configured(XML);
    for (number, document) in documents.iter().enumerate() {
        archive.write(&format!("notes/{number}.xml"), document);
    }
    archive.write("notes/good.xml", "<note xmlns='urn:note'><title>Good</title></note>");
    let imported = archive.import("notes").run();
    assert_eq!(imported.code, Some(2), "{}", imported.said);
    imported.expect(&[("new", 1), ("bad", documents.len() as u64)]);
    let server = archive.serve();
    let answer = server.client().get("/modoai?verb=ListRecords&metadataPrefix=note").expect("an answer").text();
    assert!(!answer.contains(SECRET) && !answer.contains("DOCTYPE") && !answer.contains("lol"), "{answer}");
}

#[test]
fn an_input_that_links_elsewhere_is_not_followed_out_of_its_folder_silently() {
    let archive = Archive::configured(XML);
    archive.write("notes/good.xml", "<note xmlns='urn:note'><title>Good</title></note>");
    symlink("/dev/zero", archive.path("notes/zero.xml")).expect("a link");
    symlink("/etc/passwd", archive.path("notes/passwd.xml")).expect("a link");
    symlink(".", archive.path("notes/loop")).expect("a link");
    let imported = archive.import("notes").run();
    assert_eq!(imported.count("new"), 1, "{}{}", imported.said, imported.report);
    assert!(!imported.said.contains("root:"), "{}", imported.said);
    let server = archive.serve();
    assert_eq!(told(&server, "note").len(), 1);
}
