//! `modoai records`: what was harvested, printed as it was received.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::records::RecordSink;
use modoai_harvester::sink::{Origin, Part, Sink};
use modoai_protocol::Datestamp;

use crate::desk::{Desk, finish};

type Parts<'a> = &'a [(Part, &'a [(&'a str, &'a str)], &'a [u8])];

const NAMESPACES: &[(&str, &str)] = &[("", "http://www.openarchives.org/OAI/2.0/"), ("dc", "urn:dc?a&b")];

fn put(sink: &mut dyn Sink, identifier: &str, deleted: bool, parts: Parts<'_>) {
    let (identifier, datestamp) = (identifier.to_owned(), "2024-05-01".to_owned());
    sink.record(&Header { identifier, datestamp, sets: vec!["a:b".to_owned()], deleted }).expect("taken");
    for (part, namespaces, bytes) in parts {
        sink.part(*part, namespaces).expect("taken");
        sink.bytes(bytes).expect("taken");
        sink.part_end().expect("taken");
    }
    sink.end(Novelty::New).expect("taken");
}

fn page(sink: &mut dyn Sink, fill: impl FnOnce(&mut dyn Sink)) {
    let origin = Origin {
        base_url: "https://example.org/oai?x=1&y=2".to_owned(),
        prefix: "oai_dc".to_owned(),
        schema: String::new(),
        namespace: String::new(),
        harvested: Datestamp::from_unix(1_717_243_200),
    };
    sink.page(&origin).expect("taken");
    fill(sink);
    sink.commit().expect("committed");
}

/// Four records, one of them deleted, one changed, one that is no text.
fn harvest(sink: &mut dyn Sink) {
    page(sink, |sink| {
        put(sink, "a", false, &[(Part::Metadata, NAMESPACES, b"<dc:x>1</dc:x>")]);
        put(sink, "b", false, &[(Part::Metadata, NAMESPACES, b"<y/>"), (Part::About, &[], b"<p  q='1'></p >")]);
    });
    page(sink, |sink| {
        put(sink, "a", false, &[(Part::Metadata, NAMESPACES, "<dc:x>2 é</dc:x>".as_bytes())]);
        put(sink, "b<&", true, &[]);
        put(sink, "c", false, &[(Part::Metadata, &[("modoai", "urn:else"), ("1", "urn:no")], b"\xff<modoai:z/>")]);
    });
    sink.finish().expect("finished");
}

fn harvested() -> Desk {
    let desk = Desk::new();
    harvest(&mut RecordSink::open(&desk.at("copy"), None).expect("opened"));
    desk
}

#[test]
fn records_are_one_document_with_exact_bytes_in_it() {
    let printed = harvested().run(&["records", "copy", "--deleted"]).printed();
    let record = "<modoai:record source=\"https://example.org/oai?x=1&amp;y=2\" format=\"oai_dc\" harvested=\"2024-06-01T12:00:00Z\">";
    let expected = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<modoai:records xmlns:modoai="urn:modoai:records:1">
{record}
<modoai:header><modoai:identifier>b</modoai:identifier><modoai:datestamp>2024-05-01</modoai:datestamp><modoai:setSpec>a:b</modoai:setSpec></modoai:header>
<modoai:metadata xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:dc="urn:dc?a&amp;b"><y/></modoai:metadata>
<modoai:about><p  q='1'></p ></modoai:about>
</modoai:record>
{record}
<modoai:header><modoai:identifier>a</modoai:identifier><modoai:datestamp>2024-05-01</modoai:datestamp><modoai:setSpec>a:b</modoai:setSpec></modoai:header>
<modoai:metadata xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:dc="urn:dc?a&amp;b"><dc:x>2 é</dc:x></modoai:metadata>
</modoai:record>
{record}
<modoai:header status="deleted"><modoai:identifier>b&lt;&amp;</modoai:identifier><modoai:datestamp>2024-05-01</modoai:datestamp><modoai:setSpec>a:b</modoai:setSpec></modoai:header>
</modoai:record>
{record}
<modoai:header><modoai:identifier>c</modoai:identifier><modoai:datestamp>2024-05-01</modoai:datestamp><modoai:setSpec>a:b</modoai:setSpec></modoai:header>
<modoai1:metadata xmlns:modoai1="urn:modoai:records:1" xmlns:modoai="urn:else" encoding="base64">/zxtb2RvYWk6ei8+</modoai1:metadata>
</modoai:record>
</modoai:records>
"#
    );
    assert_eq!(printed, expected);
    expect_well_formed(&printed);
}

/// By an independent judge, if there is one.
fn expect_well_formed(xml: &str) {
    let judge = Command::new("xmllint").args(["--noout", "-"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut judge) = judge else {
        modoai_testkit::not_installed("no xmllint");
        return;
    };
    judge.stdin.take().expect("asked for").write_all(xml.as_bytes()).expect("taken");
    let output = judge.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn one_can_choose() {
    let desk = harvested();
    let told = |arguments: &[&str]| -> Vec<String> {
        let printed = desk.run(&[&["records", "copy", "--json"], arguments].concat()).printed();
        let tell = |line: &str| {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let text = |name: &str| value[name].as_str().unwrap_or("").to_owned();
            format!("{} {}", text("identifier"), text("metadata"))
        };
        printed.lines().map(tell).collect()
    };
    assert_eq!(told(&[]), ["b <y/>", "a <dc:x>2 é</dc:x>", "c "]);
    assert_eq!(told(&["--deleted"]), ["b <y/>", "a <dc:x>2 é</dc:x>", "b<& ", "c "]);
    assert_eq!(told(&["--identifier", "a"]), ["a <dc:x>2 é</dc:x>"]);
    assert_eq!(told(&["--identifier", "a", "--versions"]), ["a <dc:x>2 é</dc:x>", "a <dc:x>1</dc:x>"]);
    assert_eq!(told(&["--identifier", "b<&"]), ["b<& "]);
    desk.run(&["records", "copy", "--json", "--identifier", "d"]).failed(1, "modoai: record d not found");
}

#[test]
fn a_folder_without_records_is_told_from_one_with_none() {
    let desk = Desk::new();
    let ended = desk.run(&["records", "site"]);
    let said = "modoai: failed to read the records in site: failed to list the directory site/segments: No such file or \
                directory (os error 2)\n  hint: give the directory of a harvest with the sink `records`";
    ended.failed(1, said);
    drop(RecordSink::open(&desk.at("copy"), None).expect("opened"));
    assert_eq!(desk.run(&["records", "copy", "--json"]).printed(), "");
    expect_well_formed(&desk.run(&["records", "copy"]).printed());
}

#[test]
fn what_is_lost_is_named_and_the_rest_is_printed() {
    let desk = harvested();
    let path = desk.at("copy/segments/000001.jsonl.zst");
    let mut bytes = std::fs::read(&path).expect("a segment");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    let ended = desk.run(&["records", "copy"]);
    assert_eq!(ended.status, 1);
    expect_well_formed(&ended.stdout);
    assert!(ended.stdout.contains("<modoai:identifier>b</modoai:identifier>"), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("copy/segments/000001.jsonl.zst is damaged: a frame cannot be decompressed (bytes "),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("\nmodoai: failed to read some records in copy\n"), "{}", ended.stderr);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let desk = Desk::new();
    let mut sink = RecordSink::open(&desk.at("copy"), None).expect("opened");
    page(&mut sink, |sink| put(sink, "a", false, &[(Part::Metadata, &[], &[b'x'; 400_000])]));
    drop(sink);
    for arguments in [&["records", "copy"][..], &["records", "copy", "--json"]] {
        let mut child = desk.start(arguments);
        let mut reader = BufReader::new(child.stdout.take().expect("it was asked for"));
        assert!(!reader.fill_buf().expect("a pipe can be read").is_empty());
        drop(reader);
        assert_eq!(finish(child).printed(), "");
    }
}
