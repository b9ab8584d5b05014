//! Tests of pages for hand-written responses, and for a repository of files.

use std::path::Path;
use std::sync::Arc;

use super::choices::Chosen;
use super::*;
use crate::catalogue::{Access, Change, Location, open};
use crate::host::CatalogueHost;
use crate::item::{Fingerprint, Publicity};
use crate::settings::Settings;
use modoai_protocol::{SetSpec, query};

const BASE: &str = "https://example.org/modoai";

/// Returns the page of a response to these arguments with this content.
fn page(asked: &[(&str, &str)], inside: &str) -> String {
    let asked: Arguments = asked.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let value = |name: &str| asked.iter().find(|(given, _)| given == name).map(|(_, v)| v.clone()).unwrap_or_default();
    let chosen =
        Chosen { prefix: value("metadataPrefix"), set: value("set"), from: value("from"), until: value("until") };
    let sets = [("mime", "All resources by media type"), ("mime:text", "text/*"), ("mime:text:html", "text/html")];
    let choices = Choices {
        repository_name: "Kept <& shared>".to_owned(),
        formats: vec!["oai_dc".to_owned(), "http_header".to_owned()],
        sets: sets.map(|(spec, name)| (spec.to_owned(), name.to_owned())).to_vec(),
        asked,
        chosen,
        ..Choices::default()
    };
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\">\
         <responseDate>2026-11-15T12:00:00Z</responseDate><request>{BASE}</request>{inside}</OAI-PMH>"
    );
    let response = Response::read(xml.as_bytes()).expect("an answer");
    let page = render(&response, &choices, BASE).expect("a page");
    assert_balanced(&page);
    readable(&page)
}

/// Removes escapes that are not required.
fn readable(page: &str) -> String {
    page.replace("&#x2f;", "/").replace("&#x27;", "'")
}

#[track_caller]
fn assert_has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "no {part} in\n{}", page.split("</style>").nth(1).unwrap_or(page));
    }
}

/// Checks that elements are closed in the order in which they were opened.
#[track_caller]
fn assert_balanced(page: &str) {
    const VOID: [&str; 5] = ["meta", "link", "input", "br", "!doctype"];
    let mut open = Vec::new();
    for piece in page.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap_or_default();
        let name = tag.split_whitespace().next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "before {piece}"),
            None if VOID.contains(&name) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?} left open");
}

#[test]
fn identify_is_a_list_of_definitions() {
    let page = page(
        &[("verb", "Identify")],
        "<Identify><repositoryName>Kept</repositoryName><baseURL>https://example.org/modoai</baseURL>\
         <adminEmail>a@example.org</adminEmail><adminEmail>b@example.org</adminEmail>\
         <description><datestamps xmlns=\"urn:modoai:datestamps:1\">visibility</datestamps></description>\
         <description><friends xmlns=\"f\"><baseURL>http://friend.example/oai</baseURL></friends></description>\
         </Identify>",
    );
    assert_has(
        &page,
        &[
            "<title>Identify – Kept &lt;&amp; shared&gt;</title>",
            "<dt>Base URL</dt>",
            "<a href=\"mailto:b@example.org\">b@example.org</a>",
            "<p>The datestamp of a record is the time at which",
            "<h2>Friends</h2>",
            "<a href=\"http://friend.example/oai\">",
            "aria-current=\"page\">About",
            "curl 'https://example.org/modoai?verb=Identify'",
        ],
    );
}

#[test]
fn formats_lead_to_records() {
    let inside = "<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix>\
        <schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema><metadataNamespace>urn:dc</metadataNamespace>\
        </metadataFormat></ListMetadataFormats>";
    let all = page(&[("verb", "ListMetadataFormats")], inside);
    assert_has(&all, &["<a href=\"?verb=ListRecords&amp;metadataPrefix=oai_dc\">All records</a>", "urn:dc"]);
    let one = page(&[("verb", "ListMetadataFormats"), ("identifier", "http://a/b")], inside);
    assert_has(
        &one,
        &["<a href=\"?verb=GetRecord&amp;metadataPrefix=oai_dc&amp;identifier=http:%2F%2Fa%2Fb\">The record</a>"],
    );
}

#[test]
fn sets_stand_below_each_other() {
    let page = page(
        &[("verb", "ListSets")],
        "<ListSets><set><setSpec>mime</setSpec><setName>All</setName></set>\
         <set><setSpec>mime:text</setSpec><setName>text/*</setName></set>\
         <resumptionToken completeListSize=\"9\" cursor=\"4\">t/1</resumptionToken></ListSets>",
    );
    assert_has(
        &page,
        &[
            "style=\"--depth: 1\">text/*",
            "?verb=ListIdentifiers&amp;metadataPrefix=oai_dc&amp;set=mime:text\">headers",
            "5 to 6 of 9",
            "<a class=\"button\" href=\"?verb=ListSets&amp;resumptionToken=t%2F1\" rel=\"next nofollow\">",
            "<a href=\"?verb=ListSets\" rel=\"first\">",
        ],
    );
}

#[test]
fn headers_link_only_what_can_be_had() {
    let page = page(
        &[("verb", "ListIdentifiers"), ("metadataPrefix", "oai_dc"), ("set", "mime:text"), ("from", "2026-01-01")],
        "<ListIdentifiers><header><identifier>https://example.org/a?b&amp;c</identifier>\
         <datestamp>2026-11-01T00:00:00Z</datestamp><setSpec>mime:text:html</setSpec></header>\
         <header status=\"deleted\"><identifier>https://example.org/gone</identifier>\
         <datestamp>2026-11-02T00:00:00Z</datestamp></header>\
         <header><identifier>javascript:alert(1)</identifier><datestamp>2026-11-02T00:00:00Z</datestamp></header>\
         </ListIdentifiers>",
    );
    assert_has(
        &page,
        &[
            "<a href=\"https://example.org/a?b&amp;c\">https://example.org/a?b&amp;c</a>",
            "<time datetime=\"2026-11-01T00:00:00Z\">",
            "set=mime:text:html\" title=\"mime:text:html\">text/html</a>",
            "<a href=\"?verb=GetRecord&amp;metadataPrefix=oai_dc&amp;identifier=https:%2F%2Fexample.org%2Fa%3Fb%26c\">record</a>",
            "https://example.org/gone <span class=\"badge\">deleted</span>",
            "1 to 3 of 3",
            "end of the list",
            "value=\"ListIdentifiers\" checked",
            "<option value=\"mime:text\" selected>",
            "name=\"from\" value=\"2026-01-01\"",
            "<li><span>set</span> text/*</li>",
        ],
    );
    assert!(!page.contains("href=\"https://example.org/gone"), "what is gone is not linked");
    assert!(!page.contains("href=\"javascript"), "nor what is not of the web");
}

#[test]
fn records_are_cards_and_nothing_in_them_is_markup() {
    let page = page(
        &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")],
        "<ListRecords><record><header><identifier>&quot;&gt;&lt;script&gt;</identifier>\
         <datestamp>2026-11-01T00:00:00Z</datestamp><setSpec>\"&lt;i&gt;</setSpec></header>\
         <metadata><d:dc xmlns:d=\"d\"><d:title>&lt;script&gt;alert(1)&lt;/script&gt;</d:title>\
         <d:identifier>javascript:alert(2)</d:identifier><d:identifier>http://a/\"x</d:identifier></d:dc></metadata>\
         <about><p><q r=\"&lt;\">s</q></p></about></record>\
         <resumptionToken cursor=\"50\"/></ListRecords>",
    );
    assert_has(
        &page,
        &[
            "&lt;script&gt;alert(1)&lt;/script&gt;</a></h2>",
            "<dd>javascript:alert(2)</dd>",
            "<a href=\"http://a/&quot;x\">",
            "<h3>About this record</h3>",
            "&lt;q r=&quot;&amp;lt;&quot;&gt;s&lt;/q&gt;",
            "51 to 51 <span>· end of the list</span>",
        ],
    );
    assert!(!page.contains("<script") && !page.contains("<i>"));
}

#[test]
fn one_record_is_shown_whole() {
    let page = page(
        &[("verb", "GetRecord"), ("metadataPrefix", "http_header"), ("identifier", "http://a/")],
        "<GetRecord><record><header><identifier>http://a/</identifier><datestamp>2026-11-01T00:00:00Z</datestamp>\
         </header><metadata><h status=\"200\"><header name=\"ETag\">x</header></h></metadata></record></GetRecord>",
    );
    assert_has(
        &page,
        &[
            "<h1>One record</h1>",
            "<span style=\"--indent: 2\">  &lt;header name=&quot;ETag&quot;&gt;x&lt;/header&gt;&#10;</span>",
            "aria-current=\"true\">http_header</a>",
            "name=\"identifier\" value=\"http://a/\"",
        ],
    );
}

#[test]
fn errors_say_what_to_do() {
    let asked = [("verb", "ListRecords"), ("metadataPrefix", "oai_dc"), ("until", "1980-01-01")];
    let page = page(&asked, "<error code=\"noRecordsMatch\">no records match this selection</error>");
    assert_has(
        &page,
        &[
            "<title>No matching records – ",
            "no records match this selection",
            "Choose a wider date range",
            "<code>noRecordsMatch</code>",
            "href=\"?verb=ListIdentifiers&amp;metadataPrefix=oai_dc\"",
            "name=\"until\" value=\"1980-01-01\"",
        ],
    );
    for code in modoai_protocol::ErrorCode::ALL {
        let error = format!("<error code=\"{code}\">why</error><error code=\"new\"/>");
        assert_has(&self::page(&[], &error), &["why", "<code>new</code>"]);
    }
}

fn repository(directory: &Path, items: usize) -> Repository {
    let catalogue = open(&Location::at(directory), Access::Write).expect("a catalogue");
    let mut writer = catalogue.writer().expect("the only writer");
    let put = |number: usize| Change::Put {
        name: format!("picture-{number:03}.png"),
        fingerprint: Fingerprint { size: 1, ..Fingerprint::default() },
        media_type: "image/png".into(),
        sets: vec![Arc::new(SetSpec::from_levels(["mime", "image", "png"]))],
        publicity: Publicity::Untold,
    };
    writer.apply(&(0..items).map(put).collect::<Vec<_>>()).expect("applied");
    writer.complete().expect("completed");
    let settings = Settings { repository_name: "Pictures".to_owned(), ..Settings::default() };
    Repository::new(catalogue, settings, BASE, "https://example.org/")
}

#[test]
fn a_download_has_the_whole_list() {
    let directory = tempfile::tempdir().expect("a directory");
    let repository = repository(directory.path(), 1_200);
    let load_within = |allowance: Allowance, form: Form, query: &str| {
        let request = Request::read(query::parse(query.as_bytes()));
        let (mut bytes, mut sent) = (Vec::new(), Sent::default());
        let download = repository.download(form, request, &CatalogueHost, allowance).expect("a list");
        download.write_and_tell(&mut bytes, &mut sent).expect("written");
        assert_eq!(sent.bytes, bytes.len() as u64);
        (String::from_utf8(bytes).expect("text"), sent.records)
    };
    let load = |form: Form, query: &str| load_within(Allowance::default(), form, query);
    for (allowance, expected) in [
        (Allowance { records: 1_200, bytes: 0 }, 1_200),
        (Allowance { records: 1_199, bytes: 0 }, 0),
        // Each page has 500 records, and only then is their size in bytes known.
        (Allowance { records: 0, bytes: 1_000 }, 500),
    ] {
        let (lines, count) = load_within(allowance, Form::JsonLines, "verb=ListRecords&metadataPrefix=oai_dc");
        assert_eq!((count, lines.contains("\"error\":\"listTooLong\"")), (expected, expected < 1_200), "{allowance:?}");
    }
    let (lines, count) = load(Form::JsonLines, "verb=ListRecords&metadataPrefix=oai_dc");
    assert_eq!((lines.lines().count(), count), (1_200, 1_200));
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["identifier"], "https://example.org/picture-1199.png");
    assert_eq!(last["metadata"]["title"][0], "picture-1199.png");
    let (table, _) = load(Form::Csv, "verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:image");
    assert_eq!(table.lines().next(), Some("oai_identifier,datestamp,status,sets"));
    assert_eq!(table.lines().count(), 1_201);
    let (empty, count) = load(Form::JsonLines, "verb=ListRecords&metadataPrefix=oai_dc&set=mime:text");
    assert_eq!((empty.as_str(), count), ("", 0));
    let (error, _) = load(Form::JsonLines, "verb=ListRecords&metadataPrefix=nope");
    assert!(error.contains("\"error\":\"cannotDisseminateFormat\""), "{error}");
}

#[test]
fn a_person_can_go_through_a_repository() {
    let directory = tempfile::tempdir().expect("a directory");
    let repository = repository(directory.path(), 120);
    let open = |query: &str| {
        let request = PageRequest::read(query::parse(query.as_bytes()));
        let page = repository.page(request, &CatalogueHost, &mut Sent::default()).expect("a page");
        assert_balanced(&page);
        readable(&page)
    };
    assert_has(&open(""), &["<h1>Pictures</h1>", "This is a catalogue", "<option value=\"mime:image:png\">"]);
    assert_has(&open("verb="), &["This is a catalogue"]);
    assert_has(&open("verb=Wrong"), &["<code>badVerb</code>"]);
    assert_has(&open("%ff"), &["<code>badArgument</code>"]);

    let mut page = open("verb=ListRecords&metadataPrefix=oai_dc&set=mime:image&from=&until=");
    assert_has(&page, &["1 to 50 of 120", "picture-049.png"]);
    for range in ["51 to 100 of 120", "101 to 120 of 120"] {
        let (before, _) = page.split_once("\" rel=\"next nofollow\">").expect("a next page");
        let link = before.rsplit("href=\"?").next().expect("its link").replace("&amp;", "&");
        page = open(&link);
        assert_has(&page, &[range, "<option value=\"mime:image\" selected>", "<li><span>set</span> image/*</li>"]);
    }
    assert_has(&page, &["end of the list", "?verb=ListRecords&amp;metadataPrefix=oai_dc&amp;set=mime:image\" rel"]);

    assert_has(&open(""), &["<b>120</b> records in", "modoai/csv?verb=ListRecords&amp;metadataPrefix=oai_dc\""]);
    assert_has(&open("verb=ListSets"), &["data-label=\"Items\" class=\"short number\">120</td>"]);

    let list = "verb=ListRecords&metadataPrefix=oai_dc";
    let page = open(&format!("{list}&search=PICTURE+07"));
    assert_has(&page, &["12 records found among 120.", "picture-107.png", "name=\"search\" value=\"PICTURE 07\""]);
    assert!(!page.contains("picture-001.png"));
    assert_has(&open(&format!("{list}&search=example.org")), &["No record found among 120."]);
    let page = open(&format!("{list}&search=picture"));
    assert_has(&page, &["100 records found among records 1 to 100 of 120.", "Continue the search"]);
    let (before, _) = page.split_once("\" rel=\"next nofollow\">").expect("a next page");
    let link = before.rsplit("href=\"?").next().expect("its link").replace("&amp;", "&");
    assert_has(&open(&link), &["20 records found among records 101 to 120."]);

    let mut sent = Sent::default();
    let request = PageRequest::read(query::parse(b"verb=ListRecords&metadataPrefix=oai_dc&until="));
    let page = repository.page(request, &CatalogueHost, &mut sent).expect("a page");
    assert_eq!((sent.records, sent.bytes, sent.is_last), (50, page.len() as u64, false));
}
