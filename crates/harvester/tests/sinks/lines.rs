//! Segments are lines of JSON, which ordinary tools read: every record is one, and no byte is lost.

use std::path::Path;

use modoai_harvester::record::Novelty;
use modoai_harvester::sink::records::RecordSink;
use modoai_harvester::sink::{Kept, Part, Sink as _};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::item::{Item, origin, send_page};

fn lines(dir: &Path) -> Vec<Value> {
    let segment = std::fs::File::open(dir.join("segments/000001.jsonl.zst")).expect("a segment");
    let text = std::io::read_to_string(zstd::Decoder::new(segment).expect("zstd")).expect("UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_line_holds_all_of_a_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    let odd = Item::new("b\n\"\u{1}\u{2028}", b"<a>caf\xe9</a>".to_vec()).about(b"\0".to_vec());
    let mut twice = Item::new("d", "<d/>");
    twice.parts.push((Part::Metadata, Vec::new(), b"<e/>".to_vec()));
    let items = [Item::new("a", "<a b=\"\\\">\t\r\né𝄞</a>").about("<p/>"), odd, Item::deleted("c"), twice];
    send_page(&mut sink, &items);
    let namespaces = json!({"": "urn:default", "dc": "urn:dc"});
    let expected = [
        json!({
            "identifier": "a", "datestamp": "2024-05-01", "deleted": false, "sets": ["a", "a:b"],
            "format": "oai_dc", "source": "https://example.org/oai", "harvested": "2024-06-01T12:00:00Z",
            "metadata": "<a b=\"\\\">\t\r\né𝄞</a>", "namespaces": namespaces,
            "about": [{"xml": "<p/>", "namespaces": {}}],
        }),
        json!({
            "identifier": "b\n\"\u{1}\u{2028}", "datestamp": "2024-05-01", "deleted": false, "sets": ["a", "a:b"],
            "format": "oai_dc", "source": "https://example.org/oai", "harvested": "2024-06-01T12:00:00Z",
            "metadata_base64": "PGE+Y2Fm6TwvYT4=", "namespaces": namespaces,
            "about": [{"xml_base64": "AA==", "namespaces": {}}],
        }),
        json!({
            "identifier": "c", "datestamp": "2024-05-01", "deleted": true, "sets": ["a", "a:b"],
            "format": "oai_dc", "source": "https://example.org/oai", "harvested": "2024-06-01T12:00:00Z",
            "about": [],
        }),
        json!({
            "identifier": "d", "datestamp": "2024-05-01", "deleted": false, "sets": ["a", "a:b"],
            "format": "oai_dc", "source": "https://example.org/oai", "harvested": "2024-06-01T12:00:00Z",
            "metadata": "<d/>", "namespaces": namespaces, "about": [],
            "more_metadata": [{"xml": "<e/>", "namespaces": {}}],
        }),
    ];
    assert_eq!(lines(dir.path()), expected);
}

#[test]
fn what_is_not_wanted_leaves_no_trace() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    let mark = send_page(&mut sink, &[Item::new("a", "<a/>")]);
    sink.page(&origin()).expect("taken");
    assert_eq!(Item::new("a", "<a/>").send(&mut sink, 2, Novelty::Same), Kept::Yes);
    Item::new("b", "<b/>").send_parts(&mut sink, 2);
    sink.abandon().expect("taken");
    assert_eq!(sink.commit().expect("committed"), mark);
    sink.page(&origin()).expect("taken");
    for number in 0..2000 {
        Item::new(&format!("rolled back {number}"), vec![b'x'; 300]).send(&mut sink, 100, Novelty::New);
    }
    sink.roll_back().expect("taken");
    send_page(&mut sink, &[Item::new("d", "<d/>")]);
    let identifiers: Vec<_> = lines(dir.path()).iter().map(|line| line["identifier"].clone()).collect();
    assert_eq!(identifiers, ["a", "d"]);
}

fn bytes_of(part: &Value, name: &str) -> Vec<u8> {
    match part.get(name) {
        Some(text) => text.as_str().expect("text").as_bytes().to_vec(),
        None => {
            let encoded = part[format!("{name}_base64")].as_str().expect("text");
            base64_simd::STANDARD.decode_to_vec(encoded).expect("base64")
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_survive_however_they_are_cut(
        metadata in prop_oneof![vec(any::<u8>(), 0..200), any::<String>().prop_map(String::into_bytes)],
        about in vec(any::<String>(), 0..3),
        repeated in 1_usize..2000,
        piece in 1_usize..200,
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let mut sink = RecordSink::open(dir.path(), None).expect("opened");
        let item = about.iter().fold(Item::new("a", metadata.repeat(repeated)), |item, text| item.about(text.as_str()));
        sink.page(&origin()).expect("taken");
        item.send(&mut sink, piece * repeated, Novelty::New);
        sink.commit().expect("committed");
        let lines = lines(dir.path());
        prop_assert_eq!(bytes_of(&lines[0], "metadata"), metadata.repeat(repeated));
        let told: Vec<_> = lines[0]["about"].as_array().expect("a list").iter().map(|part| bytes_of(part, "xml")).collect();
        prop_assert_eq!(told, about.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>());
    }
}
