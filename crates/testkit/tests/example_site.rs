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
fn every_format_of_every_file_is_valid() {
    let server = serve();
    let mut client = server.client();
    let mut documents = Vec::new();
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        let mut target = format!("{}?verb=ListRecords&metadataPrefix={prefix}", oai::REPOSITORY);
        let mut pages = oai::pages(&mut client, &target[oai::REPOSITORY.len() + 1..]).into_iter();
        loop {
            documents.push((target.clone(), client.get(&target).expect("an answer").body));
            let token = pages.next().and_then(|page| page.token).unwrap_or_default();
            if token.value.is_empty() {
                break;
            }
            let token = modoai_testkit::http::encode(token.value);
            target = format!("{}?verb=ListRecords&resumptionToken={token}", oai::REPOSITORY);
        }
    }
    xsd::expect_all_valid(documents.iter().map(|(what, xml)| (what.as_str(), xml.as_slice())));
}
