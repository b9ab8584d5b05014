//! The HTML pages show names and contents that others chose: none of it becomes markup.

use std::fs;

use modoai_testkit::http::{BROWSER, Client, encode};
use modoai_testkit::process::Server;
use modoai_testkit::site::TestSite;

use crate::archive::Archive;

/// What would be an element, an attribute or the end of one, if it were not escaped.
const HOSTILE: [&str; 10] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg onload=alert(1)>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "javascript:alert(1)",
    "\" onmouseover=\"alert(1)",
    "{{ 7 * 7 }}{% include 'page.html' %}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
];

/// The elements and attributes of a page are its own.
#[track_caller]
fn expect_harmless(what: &str, page: &str) {
    let page = page.to_ascii_lowercase();
    for markup in
        ["<script", "<img src=x", "<svg", "<iframe", "<object", "<embed", "<base", "<meta http-equiv=\"refresh"]
    {
        assert!(!page.contains(markup), "{what} has {markup}:\n{page}");
    }
    for tag in page.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        // Whatever stands in a quoted value is no attribute.
        let names: String = tag.split('"').step_by(2).collect();
        for handler in [" on", "javascript:"] {
            assert!(!names.contains(handler), "{what} has <{tag}>");
        }
    }
    assert!(!page.contains("href=\"javascript:"), "{what} links to a script");
    assert!(!page.contains(">49<"), "{what} was taken for a template");
}

/// A page as a browser gets it.
fn page(client: &mut Client, target: &str) -> String {
    let answer = client.get_with(target, &[BROWSER]).expect("an answer");
    assert!(answer.header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")), "{target}: {answer:?}");
    answer.text()
}

#[test]
fn names_and_titles_of_files_are_text() {
    let site = TestSite::with(&[("a.txt", "x")]);
    for (number, hostile) in HOSTILE.iter().enumerate() {
        // A slash would make folders of it.
        let name = hostile.replace('/', "_");
        site.write(format!("{number}{name}.html"), format!("<title>{hostile}</title><h1>{hostile}</h1>"));
        fs::write(site.at(format!("{number}.svg")), format!("<svg xmlns='http://www.w3.org/2000/svg'>{hostile}</svg>"))
            .expect("a writable site");
    }
    let server = Server::of(site.path());
    let mut client = server.client();
    let mut targets = ["", "?verb=Identify", "?verb=ListSets", "?verb=ListMetadataFormats"].map(str::to_owned).to_vec();
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        targets.push(format!("?verb=ListRecords&metadataPrefix={prefix}"));
        targets.push(format!("?verb=ListIdentifiers&metadataPrefix={prefix}"));
    }
    let listed = crate::oai::harvest(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    assert_eq!(listed.len(), 1 + 2 * HOSTILE.len());
    for record in listed {
        let identifier = encode(&record.identifier);
        targets.push(format!("?verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}"));
        targets.push(format!("?verb=ListMetadataFormats&identifier={identifier}"));
    }
    for target in targets {
        expect_harmless(&target, &page(&mut client, &format!("/modoai{target}")));
    }
}

#[test]
fn arguments_are_text() {
    let site = TestSite::with(&[("a.txt", "x")]);
    let server = Server::of(site.path());
    let mut client = server.client();
    for hostile in HOSTILE {
        let value = encode(hostile);
        for query in [
            format!("verb={value}"),
            format!("{value}=1"),
            format!("verb=ListRecords&metadataPrefix={value}"),
            format!("verb=ListRecords&metadataPrefix=oai_dc&set={value}"),
            format!("verb=ListRecords&metadataPrefix=oai_dc&from={value}"),
            format!("verb=ListRecords&resumptionToken={value}"),
            format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={value}"),
        ] {
            expect_harmless(&query, &page(&mut client, &format!("/modoai?{query}")));
            let xml = client.get(&format!("/modoai?{query}")).expect("an answer").text();
            assert!(!xml.contains("<script") && !xml.contains("<img") && !xml.contains("<svg"), "{query}: {xml}");
        }
    }
}

#[test]
fn records_of_others_are_text() {
    let archive = Archive::configured("repository_identifier = \"example.org\"\n");
    let records: Vec<_> = HOSTILE
        .iter()
        .enumerate()
        .map(|(number, hostile)| {
            crate::archive::record_with(
                &number.to_string(),
                hostile,
                serde_json::json!({ "creators": [hostile], "description": hostile, "url": hostile }),
            )
        })
        .collect();
    archive.write_lines("records.jsonl", &records);
    let imported = archive.import("records.jsonl").run();
    assert!(imported.count("new") > 0, "{}", imported.said);
    let server = archive.serve();
    let mut client = server.client();
    for query in ["", "?verb=ListRecords&metadataPrefix=oai_dc", "?verb=ListIdentifiers&metadataPrefix=oai_dc"] {
        expect_harmless(query, &page(&mut client, &format!("/modoai{query}")));
    }
    for number in 0..HOSTILE.len() {
        let query = format!("?verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:example.org:{number}");
        expect_harmless(&query, &page(&mut client, &format!("/modoai{query}")));
    }
}
