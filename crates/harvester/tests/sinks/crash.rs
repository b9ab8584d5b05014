//! A process that is killed at any call: opened with the mark that was stored last, a sink goes on as if nothing had been.

use std::path::Path;

use modoai_harvester::record::Novelty;
use modoai_harvester::sink::records::RecordSink;
use modoai_harvester::sink::{Part, Sink};

use super::item::{Item, origin, versions};

/// What a harvest does, call by call.
#[derive(Clone, Debug)]
enum Call {
    Page,
    Record(Item),
    Part,
    Bytes(Vec<u8>),
    PartEnd,
    End(Novelty),
    Commit,
    /// The mark is stored.
    Store,
}

/// An opening and three pages, with a record that is larger than a frame among small ones.
fn story() -> Vec<Call> {
    let mut calls = vec![Call::Commit, Call::Store];
    for page in 0..3 {
        calls.push(Call::Page);
        for number in 0..3 {
            let item = Item::new(&format!("id{number}"), Vec::new());
            let size = if (page, number) == (1, 1) { 600_000 } else { 20 };
            calls.extend([Call::Record(item), Call::Part]);
            for piece in 0..4_u8 {
                calls.push(Call::Bytes(vec![b'a' + page * 4 + piece; size]));
            }
            let novelty = if (page, number) == (2, 0) { Novelty::Same } else { Novelty::Changed };
            calls.extend([Call::PartEnd, Call::End(novelty)]);
        }
        calls.extend([Call::Commit, Call::Store]);
    }
    calls
}

/// A harvest's stored state: which call comes next, and the mark.
#[derive(Clone, Debug, Default)]
struct Stored {
    next: usize,
    mark: Option<String>,
}

/// Makes calls from where the state is, at most this many.
fn run(sink: &mut dyn Sink, calls: &[Call], stored: &mut Stored, most: usize) {
    let mut mark = None;
    for (at, call) in calls.iter().enumerate().skip(stored.next).take(most) {
        match call {
            Call::Page => sink.page(&origin()).expect("taken"),
            Call::Record(item) => sink.record(&item.header).expect("taken"),
            Call::Part => sink.part(Part::Metadata, &[("", "urn:default")]).expect("taken"),
            Call::Bytes(bytes) => sink.bytes(bytes).expect("taken"),
            Call::PartEnd => sink.part_end().expect("taken"),
            Call::End(novelty) => drop(sink.end(*novelty).expect("taken")),
            Call::Commit => mark = Some(sink.commit().expect("committed")),
            Call::Store => *stored = Stored { next: at + 1, mark: mark.take() },
        }
    }
}

/// Kills a harvest after every number of calls, and lets another complete it.
fn expect_no_difference<S: Sink, R: PartialEq + std::fmt::Debug>(
    open: impl Fn(&Path, Option<&str>) -> S,
    result: impl Fn(&Path) -> R,
) {
    let calls = story();
    let undisturbed = tempfile::tempdir().expect("a folder");
    let mut sink = open(undisturbed.path(), None);
    run(&mut sink, &calls, &mut Stored::default(), usize::MAX);
    sink.finish().expect("finished");
    drop(sink);
    let expected = result(undisturbed.path());
    for killed_after in 0..=calls.len() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut stored = Stored::default();
        let mut sink = open(dir.path(), None);
        run(&mut sink, &calls, &mut stored, killed_after);
        // Not dropped: nothing is tidied up.
        std::mem::forget(sink);
        let mut sink = open(dir.path(), stored.mark.as_deref());
        run(&mut sink, &calls, &mut stored, usize::MAX);
        sink.finish().expect("finished");
        drop(sink);
        assert_eq!(result(dir.path()), expected, "killed after {killed_after} calls");
    }
}

#[test]
fn records_are_the_same_whenever_the_process_is_killed() {
    let open = |dir: &Path, mark: Option<&str>| RecordSink::open(dir, mark).expect("opened");
    expect_no_difference(open, |dir| {
        let segment = std::fs::read(dir.join("segments/000001.jsonl.zst")).expect("a segment");
        (segment, versions(dir).len())
    });
}

#[test]
fn a_segment_that_lost_what_was_committed_is_not_gone_on_with() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    let mark = super::item::send_page(&mut sink, &[Item::new("a", "<a/>")]);
    drop(sink);
    let path = dir.path().join("segments/000001.jsonl.zst");
    let size = std::fs::metadata(&path).expect("a file").len();
    let file = std::fs::File::options().write(true).open(&path).expect("a file");
    file.set_len(size - 1).expect("shortened");
    let error = RecordSink::open(dir.path(), Some(&mark)).err();
    assert!(matches!(error, Some(modoai_harvester::sink::SinkError::Altered { .. })), "{error:?}");
    for nonsense in ["", "1:2:3:4", "x:1:1", "-1:0:0", "much", "jsonl.zst:1", "jsonl.zst:1:x"] {
        assert!(RecordSink::open(dir.path(), Some(nonsense)).is_err(), "{nonsense}");
    }
}
