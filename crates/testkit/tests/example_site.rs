//! The site that the README's first command serves.

use std::collections::BTreeSet;
use std::path::PathBuf;

use modoai_testkit::process::{Launch, Server};
use modoai_testkit::{site, workspace, xsd};

use crate::oai;

fn folder() -> PathBuf {
    workspace().join("examples/site")
}

fn serve() -> Server {
    // Several pages, so that the joints between them are part of what is tested.
    Launch::of(folder()).set("identifiers_per_page", "7").set("records_per_page", "5").start()
}

/// The path of an identifier on the server that is asked.
fn path(server: &Server, identifier: &str) -> String {
    identifier.strip_prefix(server.url()).unwrap_or_else(|| panic!("{identifier} is elsewhere")).to_owned()
}

#[test]
fn every_file_that_may_be_seen_is_listed_once_and_comes_back_byte_for_byte() {
    let server = serve();
    let mut client = server.client();
    let listed = oai::harvest(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    let mut contents = BTreeSet::new();
    for record in &listed {
        let answer = client.get(&path(&server, &record.identifier)).expect("an answer");
        assert_eq!(answer.status, 200, "{}", record.identifier);
        contents.insert(answer.body);
    }
    let hidden = |file: &PathBuf| {
        let name = file.file_name().expect("a file").to_string_lossy();
        name.starts_with('.') || name.ends_with('~')
    };
    let files = site::files_below(&folder()).expect("the example is here");
    let (hidden, shown): (Vec<_>, Vec<_>) = files.into_iter().partition(hidden);
    assert!(hidden.len() >= 2, "the example shows that something is hidden");
    let expected: BTreeSet<_> =
        shown.iter().map(|file| std::fs::read(folder().join(file)).expect("readable")).collect();
    assert_eq!(listed.len(), shown.len());
    assert_eq!(contents, expected);
}

#[test]
fn every_answer_about_it_is_valid() {
    let server = serve();
    let mut client = server.client();
    let mut pages = vec![oai::ask(&mut client, "verb=Identify"), oai::ask(&mut client, "verb=ListMetadataFormats")];
    pages.extend(oai::pages(&mut client, "verb=ListSets"));
    pages.extend(oai::pages(&mut client, "verb=ListIdentifiers&metadataPrefix=oai_dc"));
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        pages.extend(oai::pages(&mut client, &format!("verb=ListRecords&metadataPrefix={prefix}")));
    }
    xsd::expect_all_valid(pages.iter().map(|page| (page.query.as_str(), page.xml.as_slice())));
}
