//! Tests of packages: they are validated against the schema and parsed again.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use modoai_testkit::xsd;
use serde_json::json;
use tempfile::TempDir;

use super::*;

const OAI_DC: &str = "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>Matter &amp; light</dc:title></oai_dc:dc>";

const IDENTIFIER: &str = "oai:example.org:1/2";

fn shelf(files: &[(&str, &[u8])]) -> TempDir {
    let root = tempfile::tempdir().expect("a temporary folder");
    for (path, bytes) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().expect("is below the root")).expect("folders");
        std::fs::File::create(path).and_then(|mut file| file.write_all(bytes)).expect("a file");
    }
    // A file that was just written could be changed again without a different timestamp.
    std::thread::sleep(2 * modoai_repository::item::TICK);
    root
}

/// Returns the package of a record with these fields; valid.
fn package(root: &TempDir, fields: serde_json::Value, by_value_limit: u64) -> String {
    let record: Record = serde_json::from_value(fields).expect("a record");
    let packages = Packages::new(root.path()).of_repository("https://example.org/oai");
    let mut written = Vec::new();
    let mut xml = XmlWriter::new(&mut written);
    packages.write(&record, IDENTIFIER, OAI_DC.as_bytes(), by_value_limit, &|_| Ok(None), &mut xml).expect("written");
    xml.finish().expect("room for it");
    xsd::expect_valid("a package", &written);
    String::from_utf8(written).expect("UTF-8")
}

#[test]
fn each_file_is_a_component() {
    let root = shelf(&[("pdf/1.pdf", b"%PDF-1.4\n"), ("src/1.tex", b"\\bye"), ("other/1", b"\x01\x02")]);
    let fields = json!({
        "identifier": "1/2",
        "files": [
            {"path": "pdf/1.pdf", "url": "https://example.org/pdf/1?a&b"},
            {"path": "src/1.tex", "media_type": "application/x-tex"},
            {"path": "other/1"},
        ],
    });
    let didl = package(&root, fields, 1000);
    assert!(didl.contains("DIDLDocumentId=\"https://example.org/oai?verb=GetRecord&amp;metadataPrefix=oai_didl&amp;"));
    assert!(didl.contains(OAI_DC));
    assert_eq!(didl.matches("<didl:Component>").count(), 3);
    assert_eq!(didl.matches("algorithm=\"SHA-256\"").count(), 3);
    for expected in [
        "<didl:Resource mimeType=\"application/pdf\" ref=\"https://example.org/pdf/1?a&amp;b\"/>\
         <didl:Resource mimeType=\"application/pdf\" encoding=\"base64\">JVBERi0xLjQK</didl:Resource>",
        ">https://example.org/pdf/1?a&amp;b</dii:Identifier>",
        ">oai:example.org:1/2#src/1.tex</dii:Identifier>",
        "<didl:Resource mimeType=\"application/x-tex\" encoding=\"base64\">XGJ5ZQ==</didl:Resource>",
        "<didl:Resource mimeType=\"application/octet-stream\" encoding=\"base64\">AQI=</didl:Resource>",
        "<digest algorithm=\"MD5\">",
    ] {
        assert!(didl.contains(expected), "{expected}\n{didl}");
    }
}

#[test]
fn what_is_large_goes_by_reference_and_what_is_missing_is_told() {
    let root = shelf(&[("large.pdf", &[b'x'; 2000]), ("large.ps", &[b'x'; 2000])]);
    let fields = json!({
        "identifier": "1/2",
        "files": [
            {"path": "large.ps"},
            {"path": "../secret.html"},
            {"path": "large.pdf", "url": "https://example.org/large.pdf"},
            {"path": "gone.txt", "url": "https://example.org/gone.txt"},
        ],
    });
    let didl = package(&root, fields, 1999);
    assert!(!didl.contains("base64"), "{didl}");
    assert!(didl.contains("<didl:Resource mimeType=\"application/pdf\" ref=\"https://example.org/large.pdf\"/>"));
    assert!(didl.contains("<didl:Resource mimeType=\"text/plain\" ref=\"https://example.org/gone.txt\"/>"));
    assert_eq!(didl.matches("<didl:Component>").count(), 2);
    let (_, told) = didl.split_once("<didl:Item><didl:Descriptor>").expect("files that are only told of");
    assert!(told.contains("#large.ps</dii:Identifier>") && told.contains("too large, and without a URL"), "{didl}");
    assert!(told.contains("#../secret.html</dii:Identifier>") && told.contains("temporarily unavailable"));
}

#[test]
fn a_link_is_a_files_url_only_if_it_can_be_meant() {
    let root = shelf(&[("1.pdf", b"%PDF-1.4\n"), ("2.pdf", b"%PDF-1.5\n")]);
    let link = json!({"url": "https://example.org/pdf/1", "media_type": "application/pdf"});
    let landing = json!({"url": "https://example.org/abs/1", "rel": "landing"});
    let one = json!({"files": [{"path": "1.pdf"}], "links": [landing, link]});
    assert!(package(&root, one, 1000).contains("ref=\"https://example.org/pdf/1\""));
    let two_files = json!({"files": [{"path": "1.pdf"}, {"path": "2.pdf"}], "links": [link]});
    assert!(!package(&root, two_files, 1000).contains("ref="));
    let two_links = json!({"files": [{"path": "1.pdf"}], "links": [link, link]});
    assert!(!package(&root, two_links, 1000).contains("ref="));
}

#[test]
fn many_large_files_are_streamed() {
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    let root = shelf(&[("1.bin", &bytes), ("2.bin", &bytes)]);
    let didl = package(&root, json!({"files": [{"path": "1.bin"}, {"path": "2.bin"}]}), u64::MAX);
    assert_eq!(didl.matches("encoding=\"base64\">AAECAwQFBgcICQoL").count(), 2);
    assert!(didl.len() > 8_000_000);
}

/// Writes to a file repeatedly until it is dropped.
struct Busy(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Busy {
    fn with(path: PathBuf, states: [Vec<u8>; 2]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let writing = std::thread::spawn(move || {
            for state in states.iter().cycle().take_while(|_| !stopped.load(Ordering::Relaxed)) {
                std::fs::write(&path, state).expect("writable");
                std::thread::sleep(Duration::from_millis(3));
            }
        });
        Self(stop, Some(writing))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        if let Some(writing) = self.1.take() {
            let _ = writing.join();
        }
    }
}

#[test]
fn a_file_that_is_written_to_is_never_a_mixture() {
    let root = shelf(&[("1.bin", b"aaa")]);
    let fields = json!({"files": [{"path": "1.bin", "url": "https://example.org/1.bin"}]});
    let busy = Busy::with(root.path().join("1.bin"), [vec![b'a'; 600_000], vec![b'b'; 600_000]]);
    for _ in 0..5 {
        let didl = package(&root, fields.clone(), u64::MAX);
        assert!(didl.contains("ref=\"https://example.org/1.bin\""));
        assert!(!(didl.contains("YWFhYWFhYWFhYWFh") && didl.contains("YmJiYmJiYmJiYmJi")), "two states in one");
    }
    drop(busy);
    std::thread::sleep(2 * modoai_repository::item::TICK);
    assert!(package(&root, fields, u64::MAX).contains("encoding=\"base64\""));
}

#[test]
fn a_files_state_is_its_length_and_when_it_was_written() {
    let root = shelf(&[("a/1.pdf", b"12345")]);
    let packages = Packages::new(root.path());
    let path = root.path().join("a/1.pdf");
    let (size, modified) = packages.state_of("a/1.pdf").expect("there");
    assert_eq!(size, 5);
    let since = std::fs::metadata(&path).and_then(|data| data.modified()).expect("a time");
    let since = since.duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    assert_eq!(u128::try_from(modified).expect("after 1970"), since.as_nanos());
    assert!(packages.state_of("a").is_err() && packages.state_of("b").is_err() && packages.state_of("../b").is_err());
}
