//! The records sink: exact bytes, every version, found again.

use std::fs;
use std::path::Path;

use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::records::{Reader, RecordSink};
use modoai_harvester::sink::{Kept, Part, Sink as _};
use modoai_harvester::state::{Contract, State};
use proptest::collection::vec;
use proptest::prelude::*;

use super::item::{Item, ItemPart, collect, latest, origin, send_page, versions};

fn found(dir: &Path, identifier: &str) -> Vec<Item> {
    let mut reader = Reader::open(dir).expect("a folder of records");
    collect(reader.find(identifier, false).expect("an index")).0
}

#[test]
fn the_latest_version_counts_and_all_are_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    let (a, b) = (Item::new("a", "<a>1</a>").about("<p/>").about("<q/>"), Item::new("b", "<b/>"));
    let (changed, gone) = (Item::new("a", "<a>2</a>"), Item::deleted("b"));
    send_page(&mut sink, &[a.clone(), b.clone()]);
    send_page(&mut sink, std::slice::from_ref(&changed));
    send_page(&mut sink, std::slice::from_ref(&gone));
    assert_eq!(versions(dir.path()), [a.clone(), b.clone(), changed.clone(), gone.clone()], "while it is written");
    sink.finish().expect("finished");
    drop(sink);
    assert_eq!(versions(dir.path()), [a.clone(), b.clone(), changed.clone(), gone.clone()]);
    assert_eq!(latest(dir.path()), [changed.clone(), gone.clone()]);
    assert_eq!(found(dir.path(), "a"), std::slice::from_ref(&changed));
    assert_eq!(found(dir.path(), "b"), [gone]);
    assert_eq!(found(dir.path(), "c"), []);
    let mut reader = Reader::open(dir.path()).expect("a folder of records");
    assert_eq!(collect(reader.find("a", true).expect("an index")).0, [changed, a]);
}

#[test]
fn what_is_the_same_is_not_stored_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    let large = Item::new("large", vec![b'x'; 5 << 20]);
    let first = send_page(&mut sink, &[Item::new("a", "<a/>"), large.clone()]);
    sink.page(&origin()).expect("taken");
    assert_eq!(Item::new("a", "<a/>").send(&mut sink, 10, Novelty::Same), Kept::Yes);
    assert_eq!(large.send(&mut sink, 1 << 20, Novelty::Same), Kept::Yes);
    assert_eq!(sink.commit().expect("committed"), first);
    assert_eq!(versions(dir.path()).len(), 2);
}

#[test]
fn an_index_is_only_a_convenience() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    let items: Vec<_> = (0..3000).map(|n| Item::new(&format!("id{}", n % 2000), format!("<n>{n}</n>"))).collect();
    let marks: Vec<_> = items.chunks(1000).map(|page| send_page(&mut sink, page)).collect();
    drop(sink);
    let index = dir.path().join("segments/index.sqlite");
    let expect_all = |what: &str| {
        assert_eq!(latest(dir.path()), items[1000..], "{what}");
        assert_eq!(found(dir.path(), "id7"), [items[2007].clone()], "{what}");
        assert_eq!(found(dir.path(), "id1700"), [items[1700].clone()], "{what}");
    };
    expect_all("as it was left");
    fs::remove_file(&index).expect("it was there");
    expect_all("without an index");
    fs::write(&index, "not a database, but long enough to be looked at as one; and then some more text.")
        .expect("written");
    expect_all("with a broken index");
    fs::remove_file(&index).expect("it was there");
    fs::create_dir(&index).expect("created");
    expect_all("with an index that cannot be written");
    fs::remove_dir(&index).expect("it was there");
    drop(RecordSink::open(dir.path(), marks.last().map(String::as_str)).expect("opened"));
    expect_all("when the sink has made it anew");
}

#[test]
fn a_reader_stops_at_the_mark_that_is_stored() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut state = State::open(dir.path()).expect("a state");
    let [base_url, sink, prefix] = ["https://example.org/oai", "records", "oai_dc"].map(str::to_owned);
    state.agree(&Contract { base_url, sink, prefix }, false).expect("agreed");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    let items = [Item::new("a", "<a>1</a>"), Item::new("b", "<b/>")];
    let mark = send_page(&mut sink, &items);
    state.set_mark(&mark).expect("stored");
    send_page(&mut sink, &[Item::new("a", "<a>2</a>")]);
    let expect_first_page = |what: &str| {
        assert_eq!(latest(dir.path()), items, "{what}");
        assert_eq!(found(dir.path(), "a"), items[..1], "{what}");
    };
    expect_first_page("before its mark is stored");
    drop(sink);
    expect_first_page("when the index has more");
}

#[test]
fn records_whose_state_was_lost_are_put_aside() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    send_page(&mut sink, &[Item::new("a", "<a/>"), Item::new("b", "<b/>")]);
    drop(sink);
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    send_page(&mut sink, &[Item::new("c", "<c/>")]);
    assert_eq!(versions(dir.path()), [Item::new("c", "<c/>")]);
    let kept = tempfile::tempdir().expect("a folder");
    fs::rename(dir.path().join("segments.1"), kept.path().join("segments")).expect("it was put aside");
    assert_eq!(versions(kept.path()).len(), 2);
}

/// What happens to a page in the end.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Stored,
    /// The process dies after the commit, before its mark is stored.
    NotStored,
    RolledBack,
    /// The process dies before the commit.
    Killed,
}

fn any_part() -> impl Strategy<Value = ItemPart> {
    let part = prop_oneof![Just(Part::Metadata), Just(Part::About)];
    let bytes = prop_oneof![
        20 => vec(any::<u8>(), 0..300),
        2 => (any::<u8>(), 900_000_usize..2_300_000).prop_map(|(byte, size)| vec![byte; size]),
    ];
    // A prefix holds no equals sign: it could not be declared.
    (part, vec(("[^=]{0,4}", any::<String>()), 0..3), bytes)
}

fn any_item() -> impl Strategy<Value = Item> {
    let header = ("[a-d]|.{0,9}", any::<String>(), vec(any::<String>(), 0..3), any::<bool>());
    let header =
        header.prop_map(|(identifier, datestamp, sets, deleted)| Header { identifier, datestamp, sets, deleted });
    (header, vec(any_part(), 0..4)).prop_map(|(header, parts)| {
        // As a line has them: the first metadata, then all about containers.
        let (mut all, abouts): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(part, ..)| *part == Part::Metadata);
        let more = all.split_off(all.len().min(1));
        Item { header, parts: [all, abouts, more].concat() }
    })
}

fn any_fate() -> impl Strategy<Value = Option<Novelty>> {
    prop_oneof![4 => Just(Some(Novelty::New)), 2 => Just(Some(Novelty::Changed)), 1 => Just(Some(Novelty::Same)), 1 => Just(None)]
}

fn any_ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        4 => Just(Ending::Stored),
        1 => Just(Ending::NotStored),
        1 => Just(Ending::RolledBack),
        1 => Just(Ending::Killed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_was_committed_is_there_exactly_and_nothing_else(
        pages in vec((vec((any_item(), any_fate(), 1_usize..100_000), 0..6), any_ending(), any::<bool>()), 1..8),
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let mut mark: Option<String> = None;
        let mut expected: Vec<Item> = Vec::new();
        let mut sink = RecordSink::open(dir.path(), None).expect("opened");
        for (items, ending, drop_index) in pages {
            sink.page(&origin()).expect("taken");
            let mut kept = Vec::new();
            for (item, fate, piece) in items {
                match fate {
                    Some(novelty) => {
                        prop_assert_eq!(item.send(&mut sink, piece, novelty), Kept::Yes);
                        if novelty != Novelty::Same {
                            kept.push(item);
                        }
                    }
                    None => {
                        item.send_parts(&mut sink, piece);
                        sink.abandon().expect("taken");
                    }
                }
            }
            match ending {
                Ending::Stored => {
                    mark = Some(sink.commit().expect("committed"));
                    expected.append(&mut kept);
                }
                Ending::RolledBack => sink.roll_back().expect("taken"),
                Ending::NotStored | Ending::Killed => {
                    if matches!(ending, Ending::NotStored) {
                        sink.commit().expect("committed");
                    }
                    // Now and then in an orderly way, with the index written.
                    if drop_index { drop(sink) } else { std::mem::forget(sink) }
                    sink = RecordSink::open(dir.path(), mark.as_deref()).expect("opened");
                }
            }
            if mark.is_some() {
                prop_assert_eq!(&versions(dir.path()), &expected);
            }
        }
        sink.finish().expect("finished");
        let last = |at: usize, item: &Item| expected[at + 1..].iter().all(|later| later.header.identifier != item.header.identifier);
        let live: Vec<_> = expected.iter().enumerate().filter(|(at, item)| last(*at, item)).map(|(_, item)| item.clone()).collect();
        prop_assert_eq!(&latest(dir.path()), &live);
        for item in &live {
            prop_assert_eq!(&found(dir.path(), &item.header.identifier), std::slice::from_ref(item));
        }
    }
}
