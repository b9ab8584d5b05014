//! The guide to sources tells the truth: what it shows can be imported, and means what it says. And whatever is imported
//! instead does no harm.

use std::path::{Path, PathBuf};

use modoai_archive::config::Config;
use modoai_archive::record::Record;
use modoai_archive::source::{Content, Kind, Options, open};
use modoai_protocol::xml::reader::fragment::Fragment;
use modoai_protocol::xml::reader::{Limits, ReadError};
use proptest::prelude::*;

const GUIDE: &str = include_str!("../../../docs/guide/import-sources.md");

/// The example with this heading.
fn example(heading: &str) -> &'static str {
    let (_, rest) = GUIDE.split_once(&format!("\n```{heading}\n")).expect(heading);
    rest.split_once("```").expect("it ends").0
}

/// The options in an example.
fn options(heading: &str) -> Options {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("archive.toml");
    std::fs::write(&path, example(heading)).expect("a file");
    Config::load(Some(&path), None).expect("what the guide shows").source
}

/// What is in a text of this name, and what it was taken for.
fn read(name: &str, text: &str, options: &Options) -> (Kind, Vec<Content>) {
    let dir = tempfile::tempdir().expect("a folder");
    let inputs: Vec<PathBuf> = vec![dir.path().join(name)];
    std::fs::write(&inputs[0], text).expect("a file");
    let kind = Kind::guess(&inputs).expect("it is one of them");
    let (mut source, reading) = open(kind, &inputs, options).expect("it can be opened");
    let mut met = Vec::new();
    while let Some(entry) = source.next().expect("it can be read") {
        let content = entry.bytes.and_then(|bytes| reading.read(&bytes, &entry.place));
        met.push(content.unwrap_or_else(|fault| panic!("{}: {fault}", entry.place)));
    }
    (kind, met)
}

#[test]
fn lines() {
    let (kind, met) = read("a.jsonl", example("jsonl"), &Options::default());
    assert_eq!((kind, met.len()), (Kind::Jsonl, 3));
    assert_eq!(met[0].record.creators, met[1].record.creators);
    assert_eq!(met[1].record.further["year"], 1921);
    assert!(met[2].record.deleted);
}

#[test]
fn tables() {
    let (kind, met) = read("a.csv", example("csv"), &Options::default());
    assert_eq!((kind, met.len()), (Kind::Csv, 2));
    assert_eq!(met[0].record.subjects, ["algebra", "rings"]);
    assert_eq!(met[1].record.creators.len(), 2);
    let mapped = options("toml csv");
    assert_eq!(mapped.kind, Some(Kind::Csv));
    let (_, met) = read("b.csv", "Signatur;Titel;Verfasser;Jahr;keywords\n7;T;A, B|C, D;1921;x|y\n", &mapped);
    assert_eq!((met[0].record.creators.len(), met[0].record.dates["issued"].as_str()), (2, "1921"));
    assert_eq!(met[0].record.further["keywords"], serde_json::json!(["x", "y"]));
}

#[test]
fn files() {
    let (kind, met) = read("a.xml", example("xml book"), &options("toml xml"));
    let record = &met[0].record;
    assert_eq!((kind, record.identifier.as_str(), record.title.as_deref()), (Kind::Xml, "17", Some("Rings")));
    assert_eq!((record.creators.len(), record.dates["issued"].as_str()), (1, "1921-05-01"));
    assert_eq!(met[0].given[0].format.prefix, "book");
    assert_eq!(met[0].given[0].xml, example("xml book").trim().as_bytes());
    let (_, met) = read("a.xml", example("xml book"), &Options::default());
    assert_eq!(met[0].record.identifier, "a");
    for row in GUIDE.lines().filter(|line| line.starts_with("| ") && line.contains("| `http")) {
        let cells: Vec<&str> = row.split('`').collect();
        let (_, met) = read("x.xml", &format!("<r xmlns='{}'/>", cells[1]), &Options::default());
        assert_eq!(met[0].given[0].format.prefix, cells[3], "{row}");
    }
}

#[test]
fn papers() {
    let (kind, snapshot) = read("a.jsonl", example("jsonl arxiv"), &Options::default());
    assert_eq!(kind, Kind::Arxiv);
    assert_eq!(snapshot[0].record.further["authors"], "C. Balázs, E. L. Berger");
    let (kind, met) = read("9901001.abs", example("abs"), &Options::default());
    let record = &met[0].record;
    assert_eq!((kind, record.title.as_deref()), (Kind::Abs, Some("On the Schrödinger operator in two lines")));
    assert_eq!(record.creators[1].family, "van der Berg");
    assert_eq!(record.versions[1].source_type.as_deref(), Some("D"));
}

#[test]
fn every_kind_and_option_is_told_of() {
    for kind in Kind::all() {
        assert!(GUIDE.contains(&format!("| [`{kind}`](#")), "{kind}");
    }
    let unknown = toml::from_str::<Options>("x = 1").expect_err("there is no such option").to_string();
    let names: Vec<&str> = unknown.split('`').skip(3).step_by(2).collect();
    assert!(names.len() > 8, "{unknown}");
    for name in names {
        let told = [format!("`{name}`"), format!("`{name} = "), format!("\n{name} = "), format!("[source.{name}]")];
        assert!(told.iter().any(|told| GUIDE.contains(told)), "{name}");
    }
}

/// One sample of every kind, as bytes of one entry, and what its file is called.
fn samples() -> Vec<(Kind, &'static str, Vec<u8>)> {
    let input = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/input").join(name);
        std::fs::read(path).expect("a sample")
    };
    let line = |name: &str, at: usize| {
        let text = String::from_utf8(input(name)).expect("text");
        text.lines().nth(at).expect("a line").as_bytes().to_vec()
    };
    vec![
        (Kind::Jsonl, "a.jsonl", line("records.jsonl", 0)),
        (Kind::Arxiv, "a.jsonl", line("arxiv.jsonl", 1)),
        (Kind::Abs, "a.abs", input("9901001.abs")),
        (Kind::Xml, "a.xml", input("xml/mods.xml")),
        (Kind::Xml, "a.xml", input("xml/marc.xml")),
        (Kind::Csv, "a.csv", input("records.csv")),
        (Kind::Static, "a.xml", input("static.xml")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whatever happens to a file: it is read or refused, and what goes out can stand in an answer.
    #[test]
    fn damaged_input_is_read_or_refused(
        which in 0..7_usize,
        wounds in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 0..4),
    ) {
        let (kind, name, mut bytes) = samples().swap_remove(which);
        for (at, byte, how) in wounds {
            let at = at.index(bytes.len().max(1));
            match how {
                0 if at < bytes.len() => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 if at < bytes.len() => { bytes.remove(at); }
                _ => bytes.truncate(at),
            }
        }
        let dir = tempfile::tempdir().expect("a folder");
        let inputs = vec![dir.path().join(name)];
        std::fs::write(&inputs[0], &bytes).expect("a file");
        let (mut source, reading) = open(kind, &inputs, &Options::default()).expect("it can be opened");
        // An error ends the reading, and is one, too.
        while let Ok(Some(entry)) = source.next() {
            let Ok(bytes) = entry.bytes else { continue };
            let Ok(content) = reading.read(&bytes, &entry.place) else { continue };
            prop_assert_eq!(reading.identifier(&bytes, &entry.place), Ok(content.record.identifier.clone()));
            let kept = serde_json::to_string(&content.record).expect("it can be kept");
            prop_assert_eq!(serde_json::from_str::<Record>(&kept).expect("it can be read back"), content.record);
            for given in content.given {
                prop_assert!(stands_in_an_answer(&given.xml), "{}", String::from_utf8_lossy(&given.xml));
            }
        }
    }
}

fn stands_in_an_answer(xml: &[u8]) -> bool {
    let (open, close) = ("<metadata xmlns='http://www.openarchives.org/OAI/2.0/'>", "</metadata>");
    let answer = [open.as_bytes(), xml, close.as_bytes()].concat();
    let mut fragment = Fragment::new(Limits::default(), &[]);
    let read = fragment.push(&answer, &mut |_| Ok::<(), ReadError>(()));
    read.and_then(|()| fragment.finish()).is_ok()
}
