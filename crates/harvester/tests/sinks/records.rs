//! The records sink: exact bytes, every version, found again.

use std::fs;
use std::path::Path;

use modoai_harvester::record::{Header, Novelty};
use modoai_harvester::sink::records::{Reader, RecordSink};
use modoai_harvester::sink::{Kept, Part, Sink as _};
use proptest::collection::vec;
use proptest::prelude::*;

use super::item::{Item, ItemPart, collect, latest, origin, send_page, versions};

fn found(dir: &Path, identifier: &str) -> Vec<Item> {
    let mut reader = Reader::open(dir).expect("a folder of records");
    collect(reader.find(identifier).expect("an index")).0
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
    assert_eq!(collect(reader.find_versions("a").expect("an index")).0, [changed, a]);
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
fn a_header_that_is_absurd_is_refused_and_nothing_else_suffers() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    let mut absurd = Item::new("absurd", "<a/>");
    absurd.header.sets = vec!["s".repeat(1000); 5000];
    let mut declared = Item::new("declared", "<a/>");
    declared.parts[0].1[0].1 = "u".repeat(3 << 20);
    sink.page(&origin()).expect("taken");
    let plain = Item::new("plain", "<a/>");
    assert_eq!(plain.send(&mut sink, 10, Novelty::New), Kept::Yes);
    for (item, what) in [(absurd, "header is"), (declared, "namespace declarations are")] {
        let Kept::No(reason) = item.send(&mut sink, 10, Novelty::New) else { panic!("it was kept") };
        assert!(reason.starts_with(&format!("its {what} ")), "{reason}");
    }
    sink.commit().expect("committed");
    assert_eq!(versions(dir.path()), [plain]);
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

#[test]
fn ordinary_tools_can_read_a_segment() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    send_page(&mut sink, &[Item::new("oai:x:1", "<a>é</a>").about("<p/>"), Item::deleted("oai:x:2")]);
    let file = fs::File::open(dir.path().join("segments/000001.modoai")).expect("a segment");
    let text = std::io::read_to_string(zstd::Decoder::new(file).expect("zstd")).expect("text");
    let expected = "\
        U23:https://example.org/oai\nP6:oai_dc\nS10:urn:schema\nN13:urn:namespace\nH20:2024-06-01T12:00:00Z\n\
        r7:oai:x:1\nd10:2024-05-01\ns1:a\ns3:a:b\nm0:\nn12:=urn:default\nn9:dc=urn:dc\nb00000009:<a>é</a>\n\
        a0:\nb00000004:<p/>\ne0:\n\
        r7:oai:x:2\nd10:2024-05-01\ns1:a\ns3:a:b\nx0:\ne0:\n";
    assert_eq!(text, expected);
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
    (header, vec(any_part(), 0..4)).prop_map(|(header, parts)| Item { header, parts })
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
