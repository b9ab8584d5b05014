//! Disks lie. What cannot be read is named, and all the rest is read.

use std::fs;
use std::path::{Path, PathBuf};

use modoai_harvester::sink::records::{Damage, Reader, RecordSink};

use super::item::{Item, collect, send_page, versions};

/// Text that does not compress to nothing, so that frames have many bytes to be damaged.
fn noise(mut seed: u64, size: usize) -> Vec<u8> {
    let mut letters = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b'A' + (seed >> 59) as u8
    };
    (0..size).map(|_| letters()).collect()
}

/// A segment of three pages: small records, one that spans frames, small ones again.
fn written(dir: &Path) -> (Vec<Item>, PathBuf) {
    let small = |from: u64| (from..from + 20).map(|n| Item::new(&format!("id{n}"), noise(n, 200))).collect::<Vec<_>>();
    let pages = [small(0), vec![Item::new("large", noise(7, 2_500_000))], small(100)];
    let mut sink = RecordSink::open(dir, None).expect("opened");
    for page in &pages {
        send_page(&mut sink, page);
    }
    (pages.concat(), dir.join("segments/000001.modoai"))
}

fn read(dir: &Path) -> (Vec<Item>, Vec<Damage>) {
    let mut reader = Reader::open(dir).expect("a folder of records");
    collect(reader.versions())
}

/// What was read is a part of what was written, in order; something is named if anything is missing.
fn expect_honest(items: &[Item], damages: &[Damage], written: &[Item], what: &str) {
    let mut rest = written.iter();
    for item in items {
        assert!(rest.any(|original| original == item), "{what}: {} is not what was written", item.header.identifier);
    }
    assert_eq!(damages.is_empty(), items.len() == written.len(), "{what}: {damages:?}");
}

#[test]
fn a_flipped_bit_costs_one_frame_and_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let (items, path) = written(dir.path());
    let whole = fs::read(&path).expect("a segment");
    let near_borders = (0..200).chain(whole.len() - 200..whole.len());
    for at in near_borders.chain((200..whole.len()).step_by(whole.len() / 40)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).expect("written");
        let what = format!("byte {at}");
        let (found, damages) = read(dir.path());
        if at < 32 {
            // Only the title: every record is there, and the damage is told all the same.
            assert_eq!((found, damages.len()), (items.clone(), 1), "{what}");
            continue;
        }
        expect_honest(&found, &damages, &items, &what);
        if found == items {
            // zstd has bits that mean nothing.
            continue;
        }
        assert!(found.len() >= 21, "{what}: only one of three pages may suffer");
        let named = |damage: &Damage| {
            damage.path == path && (damage.offset..damage.offset + damage.length).contains(&(at as u64))
        };
        assert!(damages.iter().any(named), "{what}: {damages:?}");
    }
}

#[test]
fn a_lost_piece_of_a_large_record_names_the_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_, path) = written(dir.path());
    let mut bytes = fs::read(&path).expect("a segment");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).expect("written");
    let (_, damages) = read(dir.path());
    let [damage] = damages.as_slice() else { panic!("one damage: {damages:?}") };
    let told = damage.to_string();
    assert!(
        told.contains("000001.modoai is damaged: a frame cannot be decompressed; the record large is lost"),
        "{told}"
    );
}

#[test]
fn a_shortened_segment_is_named_as_long_as_anything_knows_of_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (items, path) = written(dir.path());
    let whole = fs::read(&path).expect("a segment");
    for length in [0, 31, 32, 33, 64, 500, 3000, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).expect("written");
        for again in ["first", "again"] {
            let what = format!("{length} bytes, {again}");
            let (found, damages) = read(dir.path());
            expect_honest(&found, &damages, &items, &what);
            assert!(damages[0].to_string().contains("it is shorter than it was"), "{what}: {damages:?}");
        }
    }
    fs::write(&path, &whole).expect("written");
    assert_eq!(versions(dir.path()), items);
}

#[test]
fn a_record_whose_latest_version_is_lost_is_named_and_not_replaced_by_an_older_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut sink = RecordSink::open(dir.path(), None).expect("opened");
    send_page(&mut sink, &[Item::new("a", "<a>old</a>")]);
    send_page(&mut sink, &[Item::new("a", "<a>new</a>")]);
    drop(sink);
    let path = dir.path().join("segments/000001.modoai");
    let mut bytes = fs::read(&path).expect("a segment");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).expect("written");
    let mut reader = Reader::open(dir.path()).expect("a folder of records");
    let (found, damages) = collect(reader.latest().expect("an index"));
    assert_eq!((found.len(), damages.len()), (0, 1));
    let mut records = reader.find("a").expect("an index");
    let first = records.next().expect("readable").expect("something");
    assert!(matches!(first, modoai_harvester::sink::records::Found::Damage(_)));
}
