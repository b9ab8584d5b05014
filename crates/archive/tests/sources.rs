//! The guide to sources tells the truth: what it shows can be imported, and means what it says.

use std::path::PathBuf;

use modoai_archive::config::Config;
use modoai_archive::source::{Content, Kind, Options, open};

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
