//! A record of 300 MB passes through in the memory of a small one.
//!
//! Memory is what the kernel says of a process that does nothing else: this test runs itself again.

use std::path::Path;
use std::process::Command;

use modoai_harvester::record::Novelty;
use modoai_harvester::sink::gathered::Gathered;
use modoai_harvester::sink::records::{Found, Reader, RecordSink, write_line};
use modoai_harvester::sink::{Part, Sink};
use xxhash_rust::xxh3::Xxh3;

use super::item::{Item, origin};

const CHILD: &str = "MODOAI_TEST_LARGE_RECORD";
const SIZE: usize = 300 << 20;
const PIECE: usize = 100_000;
/// A stream may use 32 MB in all; half of that is for others.
const MOST: u64 = 16 << 10;

#[test]
fn a_large_record_is_never_held_in_memory() {
    if let Some(dir) = std::env::var_os(CHILD) {
        child(Path::new(&dir));
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let this = std::env::current_exe().expect("this test");
    let mut command = Command::new(this);
    command.args([
        "--exact",
        "sinks::large::a_large_record_is_never_held_in_memory",
        "--nocapture",
        "--test-threads=1",
    ]);
    let output = command.env(CHILD, dir.path()).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("all done"), "{said}");
}

fn child(dir: &Path) {
    let before = peak();
    let expect_small = |what: &str| {
        let grown = peak() - before;
        println!("{what}: {grown} kB");
        assert!(grown < MOST, "{what} took {grown} kB");
    };
    let (sent, length) = send(&mut RecordSink::open(dir, None).expect("opened"), Novelty::New);
    expect_small("storing");
    let mut reader = Reader::open(dir).expect("a folder of records");
    let mut records = reader.latest().expect("an index");
    let Some(Found::Record(record, _)) = records.next().expect("readable") else { panic!("no record") };
    let (mut hash, mut read) = (Xxh3::new(), 0);
    record
        .read(0, |piece| {
            hash.update(piece);
            read += piece.len();
            Ok(())
        })
        .expect("readable");
    assert_eq!((hash.digest(), read), (sent, length));
    expect_small("reading");
    let mut gathered = Gathered::new(dir);
    gathered.begin(&Item::deleted("x").header).expect("gathered");
    gathered.part(Part::Metadata, []);
    // Not text at the very end.
    for _ in 0..SIZE / PIECE {
        gathered.bytes(&[b'x'; PIECE]).expect("gathered");
    }
    gathered.bytes(b"\xff").expect("gathered");
    gathered.part_end();
    assert!(!gathered.parts()[0].is_text);
    write_line(&mut gathered, &origin(), &mut std::io::sink()).expect("written");
    expect_small("writing base64");
    println!("all done");
}

/// Sends the record, and twice more as one that need not be kept. Returns what its bytes are like.
fn send(sink: &mut dyn Sink, novelty: Novelty) -> (u64, usize) {
    let block: Vec<u8> = (0..PIECE).map(|n| b'A' + (n * n % 57) as u8).collect();
    sink.page(&origin()).expect("taken");
    let mut result = (0, 0);
    for novelty in [novelty, Novelty::Same] {
        let (mut hash, mut length) = (Xxh3::new(), 0);
        sink.record(&Item::new("large", "").header).expect("taken");
        sink.part(Part::Metadata, &[("", "urn:x")]).expect("taken");
        for number in 0..SIZE / PIECE {
            let head = format!("\n{number}\n");
            for piece in [head.as_bytes(), &block] {
                sink.bytes(piece).expect("taken");
                hash.update(piece);
                length += piece.len();
            }
        }
        sink.part_end().expect("taken");
        sink.end(novelty).expect("taken");
        result = (hash.digest(), length);
    }
    sink.commit().expect("committed");
    sink.finish().expect("finished");
    result
}

/// The most memory this process ever had, in kB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line about it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
