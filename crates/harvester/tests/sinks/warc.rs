//! The archive, read back by programs that are not ours: warcio, cdxj-indexer, and gzip.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::{Kept, Part, SinkOptions};
use modoai_testkit::peer::archive_tool;
use modoai_testkit::process::Launch;
use modoai_testkit::site::{self, TestSite};
use modoai_testkit::waiting::next_second;
use modoai_testkit::web::Web;
use rusqlite::Connection;
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

/// What a program for web archives prints about a file; nothing if it is not installed.
fn printed(tool: &str, arguments: &[&str], file: &Path) -> Option<String> {
    let done = Command::new(archive_tool(tool)?).args(arguments).arg(file).output().expect("it can be run");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{tool}: {said}{}", String::from_utf8_lossy(&done.stderr));
    Some(said)
}

/// Compares a segment and the index with what other programs make of the segment.
fn expect_understood(dir: &Path) {
    if let Some(said) = printed("warcio", &["check", "-v"], &archive(dir)) {
        assert!(!said.contains("failed"), "{said}");
    }
    if let Some(theirs) = printed("cdxj-indexer", &["--sort"], &archive(dir)) {
        let ours = fs::read_to_string(dir.join("site-00000.cdxj")).expect("an index");
        for (theirs, ours) in theirs.lines().zip(ours.lines()) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(ours, theirs);
    }
}

/// The URL under which the OAI record of an item is stored.
fn record_url(identifier: &str) -> String {
    let identifier = identifier.replace('/', "%2F").replace(' ', "%20");
    format!("{BASE_URL}?verb=GetRecord&metadataPrefix=oai_didl&identifier={identifier}")
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
    // Captures have seconds, so the next page is of a later one.
    next_second();
    assert_eq!(desk.commit(), mark, "nothing new, nothing written");
    assert_eq!(desk.give(&header(url), &made, 9, Novelty::Changed), Kept::Yes);
    assert_eq!(desk.put(url, b"changed"), Kept::Yes);
    assert_eq!(desk.delete(url), Kept::Yes);
    desk.commit();
    desk.sink.finish().expect("a finish");

    let records = records(&archive(dir.path()));
    let expected = ["warcinfo", "response", "metadata", "revisit", "metadata", "response", "metadata", "metadata"];
    assert_eq!(kinds(&records), expected);
    let http = "HTTP/1.1 200 OK\r\nLast-Modified: Mon, 01 Jan 2024 10:00:00 GMT\r\nContent-Type: text/plain\r\n\
                Content-Length: 5\r\n\r\n";
    let (response, block) = &records[1];
    assert_eq!(String::from_utf8_lossy(block), format!("{http}hello"));
    assert_eq!(field(response, "WARC-Target-URI"), Some("http://site.example/a%20b"));
    assert_eq!(field(response, "WARC-Payload-Digest"), Some("sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"));
    assert_eq!(field(response, "Content-Type"), Some("application/http; msgtype=response"));
    let info = String::from_utf8_lossy(&records[0].1).into_owned();
    for name in ["software: modoai/", "robots: ", "http-header-user-agent: modoai/", "isPartOf: A site"] {
        assert!(info.contains(name), "{info}");
    }
    let (metadata, fields) = &records[2];
    let fields = String::from_utf8_lossy(fields);
    let value = made.split("encoding=\"base64\">").nth(1).and_then(|rest| rest.split('<').next()).expect("a value");
    assert!(fields.starts_with("oai-record: <oai:record"), "{fields}");
    assert!(fields.contains(&made.replace(value, "")), "as it was received, but for the value\n{fields}");
    let digest = "payload-digest: sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 ";
    assert!(fields.contains(&format!("\r\n{digest}http://site.example/a%20b\r\n")), "{fields}");
    assert_eq!(field(metadata, "WARC-Target-URI"), Some(record_url(url).as_str()));
    assert_eq!(field(metadata, "Content-Type"), Some("application/warc-fields"));
    assert_eq!(field(metadata, "WARC-Concurrent-To"), field(response, "WARC-Record-ID"));
    let (revisit, block) = &records[3];
    assert_eq!(String::from_utf8_lossy(block), http);
    assert_eq!(field(revisit, "WARC-Refers-To"), field(response, "WARC-Record-ID"));
    assert_eq!(field(revisit, "WARC-Refers-To-Date"), field(response, "WARC-Date"));
    assert_eq!(field(revisit, "WARC-Payload-Digest"), field(response, "WARC-Payload-Digest"));
    assert!(String::from_utf8_lossy(&records[7].1).contains("<oai:header status=\"deleted\">"));
    expect_understood(dir.path());
}

#[test]
fn other_metadata_is_kept_as_metadata() {
    let dir = TempDir::new().expect("a folder");
    let mut desk = open(dir.path(), None);
    let header = Header { identifier: "oai:x:1".to_owned(), ..header("") };
    desk.sink.record(&header).expect("a record");
    let inherited = [("", "urn:d"), ("oai", "urn:\"o\""), ("oai_", "urn:p")];
    desk.sink.part(Part::Metadata, &inherited).expect("a part");
    desk.sink.bytes(b"<dc oai:a='\xff'\n\nWARC/1.1='1'/>").expect("bytes");
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
    assert_eq!(field(&records[1].0, "WARC-Target-URI"), Some(record_url("oai:x:1").as_str()));
    let xml = &records[1].1;
    let expected = b"<oai1:metadata xmlns:oai1=\"http://www.openarchives.org/OAI/2.0/\" xmlns=\"urn:d\" \
        xmlns:oai=\"urn:&quot;o&quot;\" xmlns:oai_=\"urn:p\"><dc oai:a='\xff'\r\n \r\n WARC/1.1='1'/></oai1:metadata>";
    assert!(xml.windows(expected.len()).any(|part| part == expected), "{}", String::from_utf8_lossy(xml));
    assert!(String::from_utf8_lossy(xml).ends_with("><provenance/></oai:about></oai:record>\r\n"));
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
    next_second();
    let second = dir.path().join("site-00001.warc.gz");
    let mut desk = open(dir.path(), Some(&first));
    desk.put(&url(3), b"three");
    desk.put(&url(1), b"one");
    let mark = desk.commit();
    desk.sink.finish().expect("a finish");
    drop(desk);
    assert_eq!(kinds(&records(&archive(dir.path()))), ["warcinfo", "response", "metadata"]);
    assert_eq!(kinds(&records(&second)), ["warcinfo", "response", "metadata", "revisit", "metadata"]);
    // An index that is missing, or was not written when the process was killed, is written by the next run; others stay.
    let index = |number: u32| dir.path().join(format!("site-{number:05}.cdxj"));
    let lines = |number: u32| fs::read_to_string(index(number)).expect("an index");
    // The desk has begun a page, so that what was listed is noted only now.
    drop(open(dir.path(), Some(&mark)));
    let (kept, missing) = (lines(0), lines(1));
    assert_eq!([&kept, &missing].map(|lines| lines.lines().count()), [1, 2], "{kept}{missing}");
    fs::write(index(0), "as it was").expect("a file");
    fs::remove_file(index(1)).expect("a file");
    drop(open(dir.path(), Some(&mark)));
    assert_eq!([lines(0), lines(1)], ["as it was".to_owned(), missing]);
    // Without a mark, what was committed stays.
    drop(open(dir.path(), None));
    assert_eq!(records(&second).len(), 5);
    // A file that is shorter than it was is damage, and said to be.
    let file = fs::OpenOptions::new().write(true).open(&second).expect("a file");
    file.set_len(10).expect("a file");
    let damaged = std::panic::catch_unwind(|| open(dir.path(), Some(&mark)));
    assert!(damaged.is_err());
    // An archive whose state is lost is not overwritten.
    fs::remove_dir_all(dir.path().join(".modoai")).expect("a folder");
    let mut desk = open(dir.path(), None);
    desk.put(&url(5), b"five");
    desk.commit();
    desk.sink.finish().expect("a finish");
    assert_eq!(records(&dir.path().join("site-00002.warc.gz")).len(), 3);
    assert_eq!(lines(0), "as it was");
    assert_eq!(lines(2).lines().count(), 1, "{}", lines(2));
}

#[test]
fn an_index_file_is_captured_under_the_url_of_its_folder() {
    let dir = TempDir::new().expect("a folder");
    let mut desk = open(dir.path(), None);
    desk.put("http://site.example/own/", b"listed by itself");
    for url in ["http://site.example/index.html", "http://site.example/own/index.html", "http://h/a?index.html"] {
        desk.put(url, b"a page");
    }
    desk.commit();
    desk.sink.finish().expect("a finish");
    let records = records(&archive(dir.path()));
    let revisits: Vec<_> = records.iter().filter(|(head, _)| field(head, "WARC-Type") == Some("revisit")).collect();
    let [(folder, block)] = &revisits[..] else { panic!("{:?}", kinds(&records)) };
    assert_eq!(field(folder, "WARC-Target-URI"), Some("http://site.example/"));
    assert_eq!(field(folder, "WARC-Refers-To-Target-URI"), Some("http://site.example/index.html"));
    assert!(block.ends_with(b"Content-Length: 6\r\n\r\n"));
    expect_understood(dir.path());
}

/// Archives of version 0.1 have no note of their form, and no lines for an index.
#[test]
fn an_archive_of_the_previous_version_is_harvested_again_into_new_segments() {
    let dir = TempDir::new().expect("a folder");
    let mut desk = open(dir.path(), None);
    assert_eq!(desk.sink.must_start_over(), None);
    desk.put("http://site.example/a", b"a");
    let mark = desk.commit();
    drop(desk);
    let ledger = Connection::open(dir.path().join(".modoai/warc.sqlite")).expect("a ledger");
    ledger
        .execute_batch("DELETE FROM fact WHERE name = 'form'; DROP TABLE capture; PRAGMA user_version = 1")
        .expect("as it was");
    drop(ledger);
    let before = fs::read(archive(dir.path())).expect("a file");
    for _ in 0..2 {
        // Killed before its first page is complete, it starts over again.
        let mut desk = open(dir.path(), Some(&mark));
        assert!(desk.sink.must_start_over().is_some_and(|reason| reason.contains("site-00001.warc.gz")));
        desk.put("http://site.example/a", b"a");
    }
    let mut desk = open(dir.path(), Some(&mark));
    desk.put("http://site.example/a", b"a");
    let mark = desk.commit();
    desk.sink.finish().expect("a finish");
    drop(desk);
    assert_eq!(open(dir.path(), Some(&mark)).sink.must_start_over(), None);
    assert_eq!(fs::read(archive(dir.path())).expect("a file"), before);
    let records = records(&dir.path().join("site-00001.warc.gz"));
    assert_eq!(kinds(&records), ["warcinfo", "response", "metadata"], "nothing refers to the old form");
}

#[test]
fn keys_and_lines_of_odd_captures_are_those_of_cdxj_indexer() {
    let dir = TempDir::new().expect("a folder");
    let mut desk = open(dir.path(), None);
    let session = "0123456789abcdef0123456789ABCDEF";
    let urls = [
        "http://www.example.org/",
        "http://WWW23.Example.org:80/A/../B/./c//D/",
        "https://example.org:443/a?b=2&a&a=1&B=0",
        "https://example.org:8443/?",
        "http://example.org./%7Ea/%2e%2e/b%252541",
        "http://example.org/a b<c>\"d\"|e^f`g{h}",
        "http://example.org/ünïcödé/🚲?q=ß",
        "http://xn--mnchen-3ya.example/x",
        "http://münchen.example/x",
        "http://127.0.0.1:8080/a",
        "http://3232235777/a",
        "http://010.1.2.3/a",
        "http://1.2.3.4.5/a",
        "http://[2001:db8::1]:8080/a",
        "http://user:secret@example.org/a",
        "http://example.org:99999/a",
        "http://example.org:port/a",
        "http://example.org/a#fragment",
        &format!("http://example.org/a;jsessionid={session}?x=1"),
        &format!("http://example.org/a?x=1&PHPSESSID={session}&y=2"),
        &format!("http://example.org/a?sid={session}"),
        "http://example.org/a?CFID=1&CFTOKEN=2&z=3",
        "http://example.org/a?ASPSESSIONIDabcdefgh=abcdefghijklmnopqrstuvwx",
        "http://example.org/(a(0123456789abcdefghijklmn))/x.aspx",
        "http://example.org/(0123456789abcdefghijklmn)/x.ASPX?y",
        "oai:example.org:A/1?x",
        "urn:isbn:12 34",
    ];
    for url in urls {
        assert_eq!(desk.put(url, url.as_bytes()), Kept::Yes, "{url}");
    }
    // Headers that are odd, and none at all.
    let mut odd = Made::new("http://site.example/odd", b"odd");
    odd.headers.retain(|(name, _)| *name != "Content-Type");
    odd.headers.push(("Content-Type", "text/\u{e4}\u{1f6b2}; charset=\"x\"".to_owned()));
    desk.give(&header(&odd.url), &odd.to_xml(), 99, Novelty::New);
    let mut bare = Made::new("http://site.example/bare", b"bare");
    bare.headers.clear();
    desk.give(&header(&bare.url), &bare.to_xml(), 99, Novelty::New);
    desk.commit();
    desk.sink.finish().expect("a finish");
    // Two have no URL of the web, and one has no headers.
    assert_eq!(kinds(&records(&archive(dir.path()))).iter().filter(|kind| **kind == "resource").count(), 3);
    expect_understood(dir.path());
}

#[test]
fn a_resource_by_reference_is_stored_with_its_request_and_redirects() {
    let host = Web::default().page("/new", "<p>here").redirect("/old", 302, "/new").start();
    let dir = TempDir::new().expect("a folder");
    let mut desk = open(dir.path(), None);
    let mut made = Made::new(&host.at("/old"), b"");
    (made.value, made.digest, made.headers) = (None, None, Vec::new());
    assert_eq!(desk.give(&header("oai:x:1"), &made.to_xml(), 99, Novelty::New), Kept::Yes);
    desk.commit();
    desk.sink.finish().expect("a finish");
    let records = records(&archive(dir.path()));
    assert_eq!(kinds(&records), ["warcinfo", "response", "request", "response", "request", "metadata"]);
    let uris: Vec<_> = records[1..5].iter().filter_map(|(head, _)| field(head, "WARC-Target-URI")).collect();
    assert_eq!(uris, [host.at("/new"), host.at("/new"), host.at("/old"), host.at("/old")]);
    assert!(records[1].1.ends_with(b"<p>here\n</body></html>\n"), "{}", String::from_utf8_lossy(&records[1].1));
    assert!(records[2].1.starts_with(b"GET /new HTTP/1.1\r\nHost: "));
    assert_eq!(field(&records[2].0, "WARC-Concurrent-To"), field(&records[1].0, "WARC-Record-ID"));
    assert!(records[3].1.starts_with(b"HTTP/1.1 302 Found\r\nLocation: "));
    expect_understood(dir.path());
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
    let of_kind = |wanted: &str| records.iter().filter(|(head, _)| field(head, "WARC-Type") == Some(wanted)).count();
    assert_eq!(["response", "metadata", "request"].map(of_kind), [identifiers.len(), identifiers.len(), 1]);
    let is_large = |head: &str| head.contains("/large.bin\r\n") && field(head, "WARC-Type") == Some("response");
    let large = records.iter().find(|(head, _)| is_large(head)).expect("the large one");
    assert!(large.1.ends_with(&vec![9; 2_000_000]), "by reference is fetched");
    expect_understood(dir.path());
}
