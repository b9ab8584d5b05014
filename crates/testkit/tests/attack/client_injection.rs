//! Text of others that is written into files of a certain form: it must not become form. And secrets that must stay where
//! they belong. Tried, and held.

use std::fs;
use std::process::Command;

use modoai_testkit::endpoint::{Endpoint, Reply, Script};
use modoai_testkit::lacks;
use modoai_testkit::process::binary;

use crate::harvest::{Harvest, stored};
use crate::running::to_its_end;
use crate::spider::Spider;

/// Identifiers that would be lines, heads and records of their own.
const IDENTIFIERS: [&str; 4] = [
    "a&#10;{&quot;identifier&quot;:&quot;injected&quot;}",
    "b&#13;&#10;WARC-Type: response&#13;&#10;&#13;&#10;WARC/1.1&#13;&#10;",
    "c&quot;,&quot;deleted&quot;:true,&quot;x&quot;:&quot;",
    "d\u{2028}{\u{2029}}",
];

fn hostile() -> Endpoint {
    let script = Script::default().holding(|holdings| {
        holdings.records.retain(|record| !record.deleted);
        holdings.records.truncate(IDENTIFIERS.len());
        for (number, record) in holdings.records.iter_mut().enumerate() {
            record.identifier = format!("oai:x:{number}:");
            let identifier = IDENTIFIERS[number];
            record.metadata = format!(
                "<a b=\"{identifier}\">\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n{{\"identifier\": 1}}\n</a>"
            )
            .into_bytes();
        }
    });
    // They have references in them, which the endpoint would escape.
    Endpoint::start(script.xml(|_, xml| {
        let mut text = String::from_utf8_lossy(xml).into_owned();
        for (number, identifier) in IDENTIFIERS.iter().enumerate() {
            text = text.replace(&format!("oai:x:{number}:"), &format!("oai:x:{identifier}"));
        }
        *xml = text.into_bytes();
    }))
}

#[test]
fn records_do_not_become_lines_of_json() {
    let endpoint = hostile();
    let folder = tempfile::tempdir().expect("a folder");
    Harvest::new(endpoint.url(), folder.path(), "jsonl").with(["--format", "oai_dc"]).run().expect("an end");
    let text = stored::text(folder.path());
    let lines = stored::lines(folder.path());
    assert_eq!(lines.len(), IDENTIFIERS.len(), "{text}");
    assert!(lines.iter().all(|line| line.identifier.contains("oai:x:") && !line.deleted), "{text}");
}

#[test]
fn records_do_not_become_records_of_an_archive() {
    let endpoint = hostile();
    let folder = tempfile::tempdir().expect("a folder");
    Harvest::new(endpoint.url(), folder.path(), "warc").with(["--format", "oai_dc"]).run().expect("an end");
    let records = stored::warc(folder.path());
    assert_eq!(records.len(), IDENTIFIERS.len(), "{records:?}");
    assert!(records.iter().all(|[kind, ..]| kind != "response"), "{records:?}");
}

/// A resource whose URL, headers and type would be lines and records of their own.
#[test]
fn urls_and_headers_of_resources_do_not_become_records_of_an_archive() {
    let breaks = "&#13;&#10;&#13;&#10;WARC/1.1&#13;&#10;WARC-Type: response&#13;&#10;";
    let didl = format!(
        "<d:DIDL xmlns:d=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><d:Item><d:Descriptor><d:Statement mimeType=\"a/b\">\
         <i:Identifier xmlns:i=\"urn:mpeg:mpeg21:2002:01-DII-NS\">http://site.example/{breaks} {{}}</i:Identifier>\
         </d:Statement></d:Descriptor><d:Descriptor><d:Statement mimeType=\"a/b\"><http_header status=\"200{breaks}\">\
         <header name=\"Content-Type\">text/html{breaks}</header><header name=\"X{breaks}\">x</header>\
         <header name=\"X\">{breaks}</header><header name=\"Content-Length\">1</header></http_header></d:Statement>\
         </d:Descriptor><d:Component><d:Resource mimeType=\"a/b{breaks}\" encoding=\"base64\">eA==</d:Resource>\
         </d:Component></d:Item></d:DIDL>"
    );
    let endpoint = Endpoint::start(Script::default().holding(|holdings| {
        holdings.records.retain(|record| !record.deleted);
        holdings.records.truncate(1);
        holdings.records[0].metadata = didl.into_bytes();
    }));
    let folder = tempfile::tempdir().expect("a folder");
    Harvest::new(endpoint.url(), folder.path(), "warc").with(["--format", "oai_dc"]).complete();
    // Reading them also compares the index with the records, line by line.
    let kinds: Vec<String> = stored::warc(folder.path()).into_iter().map(|[kind, ..]| kind).collect();
    assert_eq!(kinds, ["metadata", "response"]);
}

#[test]
fn passwords_stay_with_the_origin_they_were_given_for() {
    let other = Endpoint::start(Script::default());
    let to = other.url().to_owned();
    let script = Script::default().instead(move |visit| {
        visit.is_list().then(|| {
            let query = visit.request.query().to_owned();
            Reply::html(302, "").with("Location", &format!("{to}?{query}"))
        })
    });
    let repository = Endpoint::start(script);
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(binary());
    command.args(["harvest", repository.url(), "--user", "me", "--into"]).arg(folder.path());
    let told = to_its_end(command.env("MODOAI_PASSWORD", "geheim")).expect("an end");
    assert!(repository.log().iter().all(|asked| asked.request.header("Authorization").is_some()));
    assert!(!other.log().is_empty(), "{}", told.err);
    assert!(other.log().iter().all(|asked| asked.request.header("Authorization").is_none()), "{}", other.story());
    assert!(!told.err.contains("geheim") && !told.out.contains("geheim"));
}

/// What strangers call their pages and links.
const NAMES: [&str; 6] = [
    "=HYPERLINK(\"http://evil.example\",\"x\")",
    "+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "-2+3",
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "\"]; evil [label=\"x\" URL=\"javascript:alert(1)\"]; \"",
];

#[test]
fn names_do_not_become_markup_formulas_or_graphs() {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let mut page = format!("<title>{}</title>", escaped(NAMES[4]));
    for name in NAMES {
        page.push_str(&format!("<p><a href=\"/gone?{0}\">{0}</a><a href=\"{0}\">{0}</a>", escaped(name)));
    }
    let web = Endpoint::start(Script::default().instead(move |visit| {
        Some(match visit.request.target.as_str() {
            "/" => Reply::of(200, "text/html; charset=utf-8", page.clone()),
            _ => Reply::html(404, "gone"),
        })
    }));
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let url = web.url().replace("/oai", "/");
    let mut arguments = vec!["--html".to_owned(), file("index.html"), "--map".to_owned(), file("map.html")];
    for format in ["csv", "dot", "graphml", "junit", "sarif"] {
        arguments.extend(["--report".to_owned(), format!("{format}={}", file(format))]);
    }
    Spider::new(&url, &folder.path().join("table")).with(&arguments).run().expect("an end");
    let read = |name: &str| fs::read_to_string(file(name)).expect(name);
    for name in ["index.html", "map.html"] {
        let text = read(name).to_lowercase();
        assert!(!text.contains("<script>alert") && !text.contains("<img src=x"), "{name}");
        assert!(text.contains("script"), "{name} says nothing of it");
    }
    for row in csv(&read("csv")) {
        for cell in row {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
        }
    }
    for name in ["graphml", "junit"] {
        assert!(!read(name).contains("<script"), "{name}");
        if lacks(&["xmllint"]) {
            continue;
        }
        let checked = Command::new("xmllint").args(["--noout", "--nonet"]).arg(file(name)).output().expect("xmllint");
        assert!(checked.status.success(), "{name}: {}", String::from_utf8_lossy(&checked.stderr));
    }
    // A quotation mark within a string of DOT has a backslash in front; outside of strings, nothing of theirs is left.
    let bare: String = outside_strings(&read("dot"));
    assert!(!bare.contains("evil") && !bare.contains("javascript"), "{bare}");
    serde_json::from_str::<serde_json::Value>(&read("sarif")).expect("JSON");
}

/// The cells of a CSV file (RFC 4180).
fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => cell.push(characters.next().unwrap_or_default()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted => {}
            c => cell.push(c),
        }
    }
    rows
}

/// What of a DOT file is not within quotation marks.
fn outside_strings(text: &str) -> String {
    let (mut outside, mut quoted) = (String::new(), false);
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' if quoted => drop(characters.next()),
            '"' => quoted = !quoted,
            c if !quoted => outside.push(c),
            _ => {}
        }
    }
    outside
}
