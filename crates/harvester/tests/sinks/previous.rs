//! Records that earlier versions wrote in another form are converted when the sink is opened.
//!
//! `form-1/000001.modoai` has four commits: `a` and a record that is not text; a record that spans frames, and one
//! with two metadata elements; the deletion of `a`; and a record whose mark was not stored.

use std::fs;
use std::path::Path;

use modoai_harvester::sink::records::{Reader, RecordSink};
use modoai_harvester::sink::{Part, Sink as _, SinkError};

use super::item::{Item, ItemPart, collect, latest, send_page, versions};

const SEGMENT: &[u8] = include_bytes!("form-1/000001.modoai");
/// The mark of the third commit.
const MARK: &str = "1:1093:5";

/// The records up to the mark.
fn items() -> Vec<Item> {
    let inherited = || Item::new("", "").parts.remove(0).1;
    let about = |bytes: &str| -> ItemPart { (Part::About, inherited(), bytes.into()) };
    let mut first = Item::new("a", "<a b=\"\\\">\t\r\né𝄞</a>").about("<p/>");
    first.parts.push(about("<q/>"));
    let odd = Item::new("b\n\"\u{1}\u{2028}", b"<a>caf\xe9</a>".to_vec()).about(b"\0".to_vec());
    let mut twice = Item::new("twice", "<one/>");
    twice.parts.push((Part::Metadata, vec![("n".to_owned(), "urn:n".to_owned())], b"<two/>".to_vec()));
    vec![first, odd, Item::new("large", vec![b'x'; 2_500_000]), twice, Item::deleted("a")]
}

fn folder(segment: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("segments")).expect("a folder");
    fs::write(dir.path().join("segments/000001.modoai"), segment).expect("a file");
    // It refers to other offsets.
    fs::write(dir.path().join("segments/index.sqlite"), "an index").expect("a file");
    dir
}

fn exists(dir: &Path, name: &str) -> bool {
    dir.join("segments").join(name).exists()
}

#[test]
fn segments_are_converted_however_often_the_process_is_killed() {
    let dir = folder(SEGMENT);
    for _ in 0..2 {
        // Killed before the mark is stored.
        std::mem::forget(RecordSink::open(dir.path(), Some(MARK)).expect("converted"));
        assert!(exists(dir.path(), "000001.modoai"));
    }
    let mut sink = RecordSink::open(dir.path(), Some(MARK)).expect("converted");
    assert!(sink.has_converted());
    let mark = sink.commit().expect("a first mark");
    drop(sink);
    assert_eq!(versions(dir.path()), items());
    assert_eq!(latest(dir.path()), items()[1..]);
    let mut sink = RecordSink::open(dir.path(), Some(&mark)).expect("opened");
    assert!(!sink.has_converted() && !exists(dir.path(), "000001.modoai"));
    let more = Item::new("more", "<a/>");
    send_page(&mut sink, std::slice::from_ref(&more));
    assert_eq!(versions(dir.path()), [items(), vec![more]].concat());
}

#[test]
fn segments_are_read_before_they_are_converted() {
    let dir = folder(SEGMENT);
    let mut reader = Reader::open(dir.path()).expect("a folder of records");
    let (found, damages) = collect(reader.versions());
    // Without a state, nothing says that the last commit does not count.
    assert_eq!((&found[..5], found[5].header.identifier.as_str()), (&items()[..], "beyond"));
    assert_eq!((found.len(), damages), (6, Vec::new()));
    assert!(!exists(dir.path(), "000001.jsonl.zst"), "nothing is written to the folder");
}

#[test]
fn damaged_segments_are_kept_when_the_rest_is_converted() {
    let mut segment = SEGMENT.to_vec();
    // In the first frame, after its label.
    segment[32 + 32 + 20] ^= 1;
    let dir = folder(&segment);
    let mut sink = RecordSink::open(dir.path(), Some(MARK)).expect("converted");
    let mark = sink.commit().expect("a first mark");
    drop(sink);
    drop(RecordSink::open(dir.path(), Some(&mark)).expect("opened"));
    assert_eq!(versions(dir.path()), items()[2..]);
    assert!(!exists(dir.path(), "000001.modoai") && exists(dir.path(), "000001.modoai.damaged"));
}

#[test]
fn a_shortened_file_is_not_converted() {
    let dir = folder(&SEGMENT[..200]);
    assert!(matches!(RecordSink::open(dir.path(), Some(MARK)), Err(SinkError::Altered { .. })));
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("records.jsonl"), "{\"identifier\":\"a\"}\n").expect("a file");
    for mark in ["20", "20:0123456789abcdef"] {
        assert!(matches!(RecordSink::open(dir.path(), Some(mark)), Err(SinkError::Altered { .. })));
    }
    assert!(!dir.path().join("segments").exists());
    assert!(RecordSink::open(dir.path(), Some("19")).is_err(), "it is not a line of modoai");
}
