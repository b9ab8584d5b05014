//! What records say is what a GET returns.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modoai_protocol::xml::document::Record;
use modoai_testkit::http::encode;
use modoai_testkit::process::{Launch, Server};
use modoai_testkit::site::TestSite;
use modoai_testkit::{site, workspace, xsd};
use sha2::{Digest as _, Sha256};

use crate::oai;

fn metadata(record: &Record) -> String {
    String::from_utf8(record.metadata.as_ref().expect("a live record").bytes.clone()).expect("UTF-8")
}

/// The text between two marks.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = text.split_once(start)?.1;
    Some(rest.split_once(end)?.0)
}

fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Whoever adds a format must add its schema and a section in the guide; this test validates its records without being told.
#[test]
fn every_format_has_a_schema_a_section_in_the_guide_and_valid_records() {
    let folder = TestSite::with(&[("index.html", "<title>Home</title>"), ("a.txt", "a")]);
    let server = Server::of(folder.path());
    let mut client = server.client();
    let guide = std::fs::read_to_string(workspace().join("docs/guide/formats.md")).expect("the guide");
    let formats = oai::ask(&mut client, "verb=ListMetadataFormats").answer.formats;
    assert!(formats.len() >= 3, "{formats:?}");
    for format in &formats {
        let (prefix, namespace) = (&format.prefix, &format.namespace);
        assert!(guide.contains(&format!("\n## `{prefix}`\n")), "docs/guide/formats.md has no section `{prefix}`");
        match format.schema.strip_prefix(server.url()) {
            Some(path) => {
                let schema = client.get(path).expect("an answer");
                let declared = format!("targetNamespace=\"{namespace}\"");
                assert!(schema.status == 200 && schema.text().contains(&declared), "{prefix}: {}", schema.text());
            }
            None => assert!(xsd::knows(namespace), "no schema of {namespace} in crates/testkit/src/xsd.rs"),
        }
        let page = oai::ask(&mut client, &format!("verb=ListRecords&metadataPrefix={prefix}"));
        let id = encode(&page.answer.records[0].identifier);
        let others = [
            "verb=Identify".to_owned(),
            "verb=ListMetadataFormats".to_owned(),
            "verb=ListSets".to_owned(),
            format!("verb=ListIdentifiers&metadataPrefix={prefix}"),
            format!("verb=GetRecord&metadataPrefix={prefix}&identifier={id}"),
        ]
        .map(|query| oai::ask(&mut client, &query));
        let pages = others.iter().chain([&page]).map(|page| (page.query.as_str(), page.xml.as_slice()));
        xsd::expect_all_valid_by_both(pages);
        for record in &page.answer.records {
            assert!(metadata(record).contains(&format!("\"{namespace}\"")), "{prefix}: {}", metadata(record));
        }
    }
}

#[test]
fn http_header_is_what_a_get_returns_and_didl_holds_the_bytes() {
    let folder = TestSite::with(&[]);
    site::awkward(folder.path()).expect("awkward names");
    site::varied(folder.path(), 7, 60).expect("varied files");
    let server = Server::of(folder.path());
    let mut client = server.client();
    let headers = oai::harvest(&mut client, "verb=ListRecords&metadataPrefix=http_header");
    let packages = oai::harvest(&mut client, "verb=ListRecords&metadataPrefix=oai_didl");
    assert_eq!(headers.len(), packages.len());
    assert!(headers.len() > 60);
    for (record, package) in headers.iter().zip(&packages) {
        let path = record.identifier.strip_prefix(server.url()).expect("our own");
        let answer = client.get(path).expect("an answer");
        assert_eq!(answer.status, 200, "{path}");
        let told = metadata(record);
        for (name, value) in &answer.headers {
            if !["date", "connection", "keep-alive", "transfer-encoding"].contains(&name.to_lowercase().as_str()) {
                let mark = told.to_lowercase().find(&format!("<header name=\"{}\">", name.to_lowercase()));
                let mark = mark.unwrap_or_else(|| panic!("{path}: {name} is not told in {told}"));
                let given = between(&told[mark..], "\">", "</header>").expect("a value");
                assert_eq!(unescaped(given), *value, "{path}: {name}");
            }
        }
        assert_eq!(package.identifier, record.identifier);
        let package = metadata(package);
        let value = between(&package, " encoding=\"base64\">", "</didl:Resource>").expect("by value");
        assert_eq!(STANDARD.decode(value).expect("base64"), answer.body, "{path}");
        let digest: String = Sha256::digest(&answer.body).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(between(&package, "\"SHA-256\">", "<"), Some(digest.as_str()), "{path}");
        assert!(package.contains(" ref=\""), "{path}: by reference always");
    }
}

#[test]
fn large_resources_go_by_reference_and_pages_end_by_bytes() {
    let folder = TestSite::with(&[]);
    for number in 0..6 {
        folder.write(format!("{number}.bin"), vec![number; 40_000]);
    }
    folder.write("large.bin", vec![9; 100_001]);
    folder.write("empty.bin", "");
    let server = Launch::of(folder.path()).set("by_value_limit", "100000").set("page_bytes", "100000").start();
    let mut client = server.client();
    let pages = oai::pages(&mut client, "verb=ListRecords&metadataPrefix=oai_didl");
    assert!(pages.len() > 2, "{} pages", pages.len());
    for page in &pages {
        assert!(page.xml.len() < 200_000, "{} bytes", page.xml.len());
    }
    for record in pages.iter().flat_map(|page| &page.answer.records) {
        let by_value = metadata(record).contains("encoding=\"base64\"");
        assert_eq!(by_value, !record.identifier.ends_with("large.bin"), "{}", record.identifier);
    }
    xsd::expect_all_valid(pages.iter().map(|page| (page.query.as_str(), page.xml.as_slice())));
}

#[test]
fn what_goes_by_value_by_default_can_be_read_by_libxml2() {
    const LARGEST: usize = 7 << 20;
    let folder = TestSite::with(&[("a.txt", "x"), ("z.txt", "x")]);
    folder.write("fits.bin", vec![1; LARGEST]);
    folder.write("large.bin", vec![2; LARGEST + 1]);
    let server = Server::of(folder.path());
    let pages = oai::pages(&mut server.client(), "verb=ListRecords&metadataPrefix=oai_didl");
    let scratch = tempfile::TempDir::new().expect("a temporary folder");
    for (number, page) in pages.iter().enumerate() {
        let file = scratch.path().join(format!("{number}.xml"));
        std::fs::write(&file, &page.xml).expect("a file");
        // Without --huge, as most programs read.
        let read = Command::new("xmllint").arg("--noout").arg(&file).output().expect("xmllint is installed");
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    }
    let records: Vec<_> = pages.iter().flat_map(|page| &page.answer.records).collect();
    assert_eq!(records.len(), 4);
    for record in records {
        let package = metadata(record);
        assert!(package.contains(" ref=\""), "{}", record.identifier);
        let by_value = package.contains(" encoding=\"base64\"");
        assert_eq!(by_value, !record.identifier.ends_with("large.bin"), "{}", record.identifier);
    }
}

#[test]
fn dublin_core_tells_title_type_and_extent() {
    let folder = TestSite::with(&[
        ("page.html", "<title>Caf&eacute; &lt;au lait&gt;</title>"),
        ("no title.html", "<p>nothing"),
        ("data.csv", "a,b"),
        ("control \u{1} \u{7f}.txt", "x"),
    ]);
    folder.date("page.html", std::time::Duration::from_secs(1_000_000_000));
    let server = Server::of(folder.path());
    let mut client = server.client();
    // Twice: read from the file, and then from memory.
    for _ in 0..2 {
        let page = oai::ask(&mut client, "verb=ListRecords&metadataPrefix=oai_dc");
        xsd::expect_valid("oai_dc", &page.xml);
        let described = |name: &str| {
            let found = page.answer.records.iter().find(|record| record.identifier.ends_with(name));
            metadata(found.unwrap_or_else(|| panic!("{name} is listed")))
        };
        let html = described("/page.html");
        assert!(html.contains("<dc:title>Café &lt;au lait&gt;</dc:title>"), "{html}");
        assert!(
            html.contains("<dc:format>text/html</dc:format>") && html.contains("<dc:format>42 bytes</dc:format>"),
            "{html}"
        );
        assert!(
            html.contains("<dc:date>2001-09-09T01:46:40Z</dc:date>") && html.contains("<dc:type>Text</dc:type>"),
            "{html}"
        );
        assert!(described("no%20title.html").contains("<dc:title>no title.html</dc:title>"));
        assert!(described("data.csv").contains("<dc:type>Dataset</dc:type>"));
        assert!(described("%01%20%7F.txt").contains("<dc:title>control \u{fffd} \u{7f}.txt</dc:title>"));
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_never_torn() {
    let folder = TestSite::with(&[]);
    let path = folder.at("busy.bin");
    std::fs::write(&path, vec![0_u8; 3_000_000]).expect("a file");
    let server = Launch::of(folder.path()).start();
    let mut client = server.client();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use std::os::unix::fs::FileExt as _;
            let file = std::fs::File::options().write(true).open(&path).expect("the file");
            // In place, from front to back, so that a careless reader gets a mixture.
            for round in 1_u8.. {
                for part in 0..30 {
                    file.write_all_at(&vec![round; 100_000], part * 100_000).expect("written");
                    if stop.load(std::sync::atomic::Ordering::Relaxed) {
                        return;
                    }
                }
                std::thread::sleep(std::time::Duration::from_millis(u64::from(round % 5) * 30));
            }
        });
        let id = modoai_testkit::http::encode(format!("{}/busy.bin", server.url()));
        let (mut by_value, start) = (0, std::time::Instant::now());
        // Some answers by value; if the file never holds still for long enough, three seconds without a torn one.
        while by_value < 20 && start.elapsed() < std::time::Duration::from_secs(3) {
            let page = oai::ask(&mut client, &format!("verb=GetRecord&metadataPrefix=oai_didl&identifier={id}"));
            let package = metadata(&page.answer.records[0]);
            let Some(value) = between(&package, " encoding=\"base64\">", "</didl:Resource>") else { continue };
            by_value += 1;
            let bytes = STANDARD.decode(value).expect("base64");
            let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(between(&package, "\"SHA-256\">", "<"), Some(digest.as_str()));
            assert_eq!(between(&package, "Content-Length\">", "<"), Some(bytes.len().to_string().as_str()));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        eprintln!("{by_value} answers by value");
    });
}
