//! The archive, read back by tools that are not ours: `warcio`, and gzip.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::{Kept, Part, SinkOptions};
use modoai_testkit::process::Launch;
use modoai_testkit::site::{self, TestSite};
use tempfile::TempDir;

use super::feeding::{BASE_URL, Desk, Made, header};

fn open(dir: &Path, mark: Option<&str>) -> Desk {
    Desk::open("warc", dir, mark, BASE_URL, &SinkOptions::default())
}

fn archive(dir: &Path) -> PathBuf {
    dir.join("site-00000.warc.gz")
}

/// What gzip makes of a file.
fn unpacked(file: &Path) -> Vec<u8> {
    let done = Command::new("gzip").arg("-dc").arg(file).output().expect("gzip can be run");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

/// The records of a file: heads and blocks, split by their lengths.
fn records(file: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = unpacked(file);
    let (mut rest, mut records) = (bytes.as_slice(), Vec::new());
    while !rest.is_empty() {
        let end = rest.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(rest[..end].to_vec()).expect("a head is text");
        let length: usize = field(&head, "Content-Length").expect("a length").parse().expect("a number");
        let (block, after) = rest[end + 4..].split_at(length);
        records.push((head, block.to_vec()));
        rest = after.strip_prefix(b"\r\n\r\n").expect("the end of a record");
    }
    records
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn kinds(records: &[(String, Vec<u8>)]) -> Vec<&str> {
    records.iter().filter_map(|(head, _)| field(head, "WARC-Type")).collect()
}

fn warcio() -> Option<PathBuf> {
    modoai_testkit::installed("MODOAI_WARCIO", "warcio/bin/warcio", "archives are not read back by warcio")
}

/// Everything warcio has to say about a file: digests compared, then one line for each record.
fn judged(file: &Path, fields: &str) -> Option<Vec<String>> {
    let warcio = warcio()?;
    let check = Command::new(&warcio).args(["check", "-v"]).arg(file).output().expect("warcio can be run");
    let said = String::from_utf8_lossy(&check.stdout).into_owned() + &String::from_utf8_lossy(&check.stderr);
    assert!(check.status.success() && !said.contains("failed"), "{said}");
    let index = Command::new(warcio).args(["index", "-f", fields]).arg(file).output().expect("warcio can be run");
    assert!(index.status.success(), "{}", String::from_utf8_lossy(&index.stderr));
    Some(String::from_utf8_lossy(&index.stdout).lines().map(str::to_owned).collect())
}

#[test]
fn records_are_kept_revisited_and_deleted() {
    let dir = TempDir::new().expect("a folder");
    let mut desk = open(dir.path(), None);
    let url = "http://site.example/a b";
    assert_eq!(desk.put(url, b"hello"), Kept::Yes);
    let mark = desk.commit();
    let made = Made::new(url, b"hello").to_xml();
    assert_eq!(desk.give(&header(url), &made, 9, Novelty::Same), Kept::Yes);
    assert_eq!(desk.commit(), mark, "nothing new, nothing written");
    assert_eq!(desk.give(&header(url), &made, 9, Novelty::Changed), Kept::Yes);
    assert_eq!(desk.put(url, b"changed"), Kept::Yes);
    assert_eq!(desk.delete(url), Kept::Yes);
    desk.commit();
    desk.sink.finish().expect("a finish");

    let records = records(&archive(dir.path()));
    let expected = ["warcinfo", "resource", "metadata", "revisit", "metadata", "resource", "metadata", "metadata"];
    assert_eq!(kinds(&records), expected);
    let (resource, block) = &records[1];
    assert_eq!(block, b"hello");
    assert_eq!(field(resource, "WARC-Target-URI"), Some("http://site.example/a%20b"));
    assert_eq!(field(resource, "WARC-Payload-Digest"), Some("sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"));
    assert_eq!(field(resource, "WARC-Date"), Some("2023-11-14T22:13:20Z"));
    assert_eq!(field(resource, "Content-Type"), Some("text/plain"));
    assert!(records[0].1.starts_with(b"software: modoai/"));
    let (metadata, xml) = &records[2];
    let xml = String::from_utf8_lossy(xml);
    assert!(xml.contains(&made), "the metadata is as it came");
    assert_eq!(field(metadata, "WARC-Refers-To"), field(resource, "WARC-Record-ID"));
    let (revisit, nothing) = &records[3];
    assert!(nothing.is_empty());
    assert_eq!(field(revisit, "WARC-Refers-To"), field(resource, "WARC-Record-ID"));
    assert_eq!(field(revisit, "WARC-Payload-Digest"), field(resource, "WARC-Payload-Digest"));
    assert!(String::from_utf8_lossy(&records[7].1).contains("<oai:header status=\"deleted\">"));

    if let Some(lines) = judged(&archive(dir.path()), "warc-type,warc-target-uri,content-length") {
        assert_eq!(lines.len(), expected.len());
        assert!(lines[1].contains("\"resource\"") && lines[1].contains("a%20b"), "{}", lines[1]);
    }
}

#[test]
fn other_metadata_is_kept_as_metadata() {
    let dir = TempDir::new().expect("a folder");
    let mut desk = open(dir.path(), None);
    let header = Header { identifier: "oai:x:1".to_owned(), ..header("") };
    desk.sink.record(&header).expect("a record");
    let inherited = [("", "urn:d"), ("oai", "urn:\"o\""), ("oai_", "urn:p")];
    desk.sink.part(Part::Metadata, &inherited).expect("a part");
    desk.sink.bytes(b"<dc oai:a='\xff'/>").expect("bytes");
    desk.sink.part_end().expect("an end");
    desk.sink.part(Part::About, &[]).expect("a part");
    desk.sink.bytes(b"<provenance/>").expect("bytes");
    desk.sink.part_end().expect("an end");
    assert_eq!(desk.sink.end(Novelty::New).expect("an end"), Kept::Yes);
    // What should be DIDL and is broken is not passed off as something else.
    let broken = Made::new("http://site.example/b", b"b").to_xml().replace("</didl:Item>", "");
    assert!(matches!(
        desk.give(&super::feeding::header("http://site.example/b"), &broken, 9, Novelty::New),
        Kept::No(_)
    ));
    desk.commit();
    let records = records(&archive(dir.path()));
    assert_eq!(kinds(&records), ["warcinfo", "metadata"]);
    assert_eq!(field(&records[1].0, "WARC-Target-URI"), Some("oai:x:1"));
    let xml = &records[1].1;
    let expected = b"<oai1:metadata xmlns:oai1=\"http://www.openarchives.org/OAI/2.0/\" xmlns=\"urn:d\" \
        xmlns:oai=\"urn:&quot;o&quot;\" xmlns:oai_=\"urn:p\"><dc oai:a='\xff'/></oai1:metadata>";
    assert!(xml.windows(expected.len()).any(|part| part == expected), "{}", String::from_utf8_lossy(xml));
    assert!(String::from_utf8_lossy(xml).contains("><provenance/></oai:about></oai:record>"));
}

#[test]
fn what_was_not_committed_never_happened() {
    let dir = TempDir::new().expect("a folder");
    let url = |number: u32| format!("http://site.example/{number}");
    let mut desk = open(dir.path(), None);
    desk.put(&url(1), b"one");
    let first = desk.commit();
    desk.put(&url(2), b"two");
    desk.sink.roll_back().expect("a way back");
    desk.page();
    desk.put(&url(3), b"three");
    desk.commit();
    desk.put(&url(4), &vec![4; 3_000_000]);
    // As kill -9 would: no commit, and more in the file than was told.
    drop(desk);
    fs::OpenOptions::new().append(true).open(archive(dir.path())).expect("a file").write_all(b"torn").expect("bytes");

    // The state knows the first page only: the second is gone, and so is what was remembered of it.
    let mut desk = open(dir.path(), Some(&first));
    desk.put(&url(3), b"three");
    desk.put(&url(1), b"one");
    let mark = desk.commit();
    drop(desk);
    let found = records(&archive(dir.path()));
    assert_eq!(kinds(&found), ["warcinfo", "resource", "metadata", "resource", "metadata", "revisit", "metadata"]);
    // Without a mark, what was committed stays.
    drop(open(dir.path(), None));
    assert_eq!(records(&archive(dir.path())).len(), 7);
    // A file that is shorter than it was is damage, and said to be.
    let file = fs::OpenOptions::new().write(true).open(archive(dir.path())).expect("a file");
    file.set_len(10).expect("a file");
    let damaged = std::panic::catch_unwind(|| open(dir.path(), Some(&mark)));
    assert!(damaged.is_err());
    // An archive whose state is lost is not overwritten.
    fs::remove_dir_all(dir.path().join(".modoai")).expect("a folder");
    let mut desk = open(dir.path(), None);
    desk.put(&url(5), b"five");
    desk.commit();
    assert_eq!(records(&dir.path().join("site-00001.warc.gz")).len(), 3);
}

#[test]
fn a_site_is_archived_whole() {
    let (site, dir) = (TestSite::default(), TempDir::new().expect("a folder"));
    let names = site::awkward(site.path()).expect("a site");
    site.write("large.bin", vec![9; 2_000_000]);
    let server = Launch::of(site.path()).set("by_value_limit", "1M").start();
    let base_url = format!("{}/modoai", server.url());
    let mut desk = Desk::open("warc", dir.path(), None, &base_url, &SinkOptions::default());
    let (refused, identifiers) = desk.harvest(server.url(), "oai_didl", Novelty::New);
    assert!(refused.is_empty(), "{refused:?}");
    assert_eq!(identifiers.len(), names.len() + 1);
    desk.sink.finish().expect("a finish");
    let records = records(&archive(dir.path()));
    let resources: Vec<_> = records.iter().filter(|(head, _)| field(head, "WARC-Type") == Some("resource")).collect();
    assert_eq!((resources.len(), records.len()), (identifiers.len(), 2 * identifiers.len() + 1));
    let large = resources.iter().find(|(head, _)| head.contains("/large.bin\r\n")).expect("the large one");
    assert!(large.1 == vec![9; 2_000_000], "by reference is fetched");
    if let Some(lines) = judged(&archive(dir.path()), "warc-type") {
        assert_eq!(lines.len(), records.len());
    }
}
