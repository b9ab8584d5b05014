//! Lines of JSON: every record is one, and no byte is lost.

use std::path::Path;

use modoai_harvester::record::Novelty;
use modoai_harvester::sink::jsonl::JsonSink;
use modoai_harvester::sink::{Kept, Part, Sink as _, SinkError};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::item::{Item, origin, send_page};

fn lines(dir: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(dir.join("records.jsonl")).expect("UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_line_holds_all_of_a_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = JsonSink::open(dir.path(), None).expect("opened");
    let odd = Item::new("b\n\"\u{1}\u{2028}", b"<a>caf\xe9</a>".to_vec()).about(b"\0".to_vec());
    let items = [Item::new("a", "<a b=\"\\\">\t\r\né𝄞</a>").about("<p/>"), odd, Item::deleted("c")];
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
    ];
    assert_eq!(lines(dir.path()), expected);
}

#[test]
fn what_somebody_else_wrote_is_not_cut_off() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("records.jsonl");
    std::fs::write(&file, "{\"my\":\"data\"}\n").expect("written");
    assert!(matches!(JsonSink::open(dir.path(), None), Err(SinkError::NotOurs { path }) if path == file));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "{\"my\":\"data\"}\n");
    std::fs::write(&file, "").expect("written");
    let mark = JsonSink::open(dir.path(), None).expect("opened").commit().expect("a first mark");
    std::fs::write(&file, "{\"identif").expect("written");
    JsonSink::open(dir.path(), Some(&mark)).expect("opened");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "", "what was begun after the first mark is ours");
}

#[test]
fn only_what_an_interrupted_page_left_is_cut_off() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("records.jsonl");
    let mut sink = JsonSink::open(dir.path(), None).expect("opened");
    let page: Vec<Item> = (0..50).map(|number| Item::new(&format!("id{number}"), "<a/>")).collect();
    let mark = send_page(&mut sink, &page);
    let whole = std::fs::read_to_string(&file).expect("a file");
    send_page(&mut sink, &page);
    drop(sink);
    // As kill -9 and a power cut leave it.
    let twice = std::fs::read(&file).expect("a file");
    let whole_lines = (twice.clone(), "another page");
    let torn = (twice[..twice.len() - 100].to_vec(), "a torn line");
    let zeros = ([whole.as_bytes(), &[0; 5000]].concat(), "zeros");
    for (bytes, what) in [whole_lines, torn, zeros] {
        std::fs::write(&file, bytes).expect("written");
        JsonSink::open(dir.path(), Some(&mark)).expect(what);
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), whole, "{what}");
    }
    // As people leave it.
    let spaced = whole.replace(",\"", " ,  \"");
    let appended = format!("{whole}{{\"my\":\"line\"}}\n");
    let later = format!("{whole}{{\"identifier\":\"a\"}}\nmy line\n");
    let padded = format!("{whole}\n");
    // In the first line, so that the mark is again at the end of one.
    let moved = format!("{}{whole}", whole.lines().next().expect("a line").to_owned() + "\n");
    let emptied = String::new();
    for altered in [spaced, appended, later, padded, moved.replacen("id0", "idX", 2), emptied] {
        std::fs::write(&file, &altered).expect("written");
        let Err(error) = JsonSink::open(dir.path(), Some(&mark)) else { panic!("it is cut: {altered}") };
        let told = error.to_string();
        assert!(
            told.contains("records.jsonl was modified outside of this harvest") && told.contains(".modoai"),
            "{told}"
        );
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), altered, "nothing is lost");
    }
    std::fs::write(&file, &whole).expect("put back");
    JsonSink::open(dir.path(), Some(&mark)).expect("opened");
}

#[test]
fn what_is_not_wanted_leaves_no_trace() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = JsonSink::open(dir.path(), None).expect("opened");
    let mark = send_page(&mut sink, &[Item::new("a", "<a/>")]);
    sink.page(&origin()).expect("taken");
    assert_eq!(Item::new("a", "<a/>").send(&mut sink, 2, Novelty::Same), Kept::Yes);
    Item::new("b", "<b/>").send_parts(&mut sink, 2);
    sink.abandon().expect("taken");
    let mut twice = Item::new("c", "<c/>");
    twice.parts.push((Part::Metadata, Vec::new(), b"<d/>".to_vec()));
    assert!(matches!(twice.send(&mut sink, 2, Novelty::New), Kept::No(_)));
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
        let mut sink = JsonSink::open(dir.path(), None).expect("opened");
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
