//! Disks lie. What cannot be read is named, and all the rest is read. People move files: where nothing can be added to what
//! is there, they are told what to do, and that is true.

use std::fs;
use std::path::{Path, PathBuf};

use modoai_harvester::sink::records::{Damage, Reader, RecordSink};
use modoai_harvester::sink::{Kept, SinkError, SinkOptions};
use modoai_testkit::site::files_below;

use super::feeding::{BASE_URL, Desk};
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
    (pages.concat(), dir.join("segments/000001.jsonl.zst"))
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
        if found == items {
            // zstd has bits that mean nothing, and some that only say that a checksum follows.
            continue;
        }
        expect_honest(&found, &damages, &items, &what);
        assert!(found.len() >= 21, "{what}: only one of three pages may suffer");
        let named = |damage: &Damage| {
            damage.path == path && (damage.offset..damage.offset + damage.length).contains(&(at as u64))
        };
        assert!(damages.iter().any(named), "{what}: {damages:?}");
    }
}

#[test]
fn a_lost_piece_of_a_large_record_is_one_damage() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_, path) = written(dir.path());
    let mut bytes = fs::read(&path).expect("a segment");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).expect("written");
    let (_, damages) = read(dir.path());
    let [damage] = damages.as_slice() else { panic!("one damage: {damages:?}") };
    let told = damage.to_string();
    assert!(told.contains("000001.jsonl.zst is damaged: a frame cannot be decompressed (bytes "), "{told}");
}

#[test]
fn a_shortened_segment_is_named_as_long_as_anything_knows_of_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (items, path) = written(dir.path());
    let whole = fs::read(&path).expect("a segment");
    for length in [0, 1, 3, 9, 64, 500, 3000, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).expect("written");
        for again in ["first", "again"] {
            let what = format!("{length} bytes, {again}");
            let (found, damages) = read(dir.path());
            expect_honest(&found, &damages, &items, &what);
            assert!(damages[0].to_string().contains("it was truncated"), "{what}: {damages:?}");
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
    let path = dir.path().join("segments/000001.jsonl.zst");
    let mut bytes = fs::read(&path).expect("a segment");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).expect("written");
    let mut reader = Reader::open(dir.path()).expect("a folder of records");
    let (found, damages) = collect(reader.latest().expect("an index"));
    assert_eq!((found.len(), damages.len()), (0, 1));
    let mut records = reader.find("a", false).expect("an index");
    let first = records.next().expect("readable").expect("something");
    assert!(matches!(first, modoai_harvester::sink::records::Found::Damage(_)));
}

#[test]
fn whoever_finds_a_file_gone_or_shortened_is_told_how_to_go_on() {
    let options = SinkOptions::default();
    let open = |sink: &str, dir: &Path, mark: Option<&str>| Desk::try_open(sink, dir, mark, BASE_URL, &options);
    for (sink, file, removed) in
        [("records", "segments/000001.jsonl.zst", &[".modoai"][..]), ("warc", "site-00000.warc.gz", &[".modoai"])]
    {
        let dir = tempfile::tempdir().expect("a folder");
        // The same folder under the name that sinks may give it.
        let root = dir.path().canonicalize().expect("a folder");
        let mut desk = open(sink, &root, None).expect("opened");
        // Where the state of a harvest is.
        fs::create_dir_all(root.join(".modoai")).expect("a folder");
        let committed = |desk: &mut Desk| {
            assert_eq!(desk.put("http://site.example/a", b"a"), Kept::Yes);
            desk.commit()
        };
        let mark = committed(&mut desk);
        desk.sink.finish().expect("a finish");
        drop(desk);
        let path = root.join(file);
        let whole = fs::read(&path).expect("a file");
        for damage in ["gone", "folder gone", "shortened"] {
            match damage {
                "gone" => fs::remove_file(&path).expect("removed"),
                "folder gone" if sink == "records" => fs::remove_dir_all(root.join("segments")).expect("removed"),
                "folder gone" => fs::remove_file(&path).expect("removed"),
                _ => fs::write(&path, &whole[..whole.len() - 1]).expect("shortened"),
            }
            let before = files_below(&root).expect("a folder");
            let Err(error @ SinkError::Altered { .. }) = open(sink, &root, Some(&mark)) else {
                panic!("{sink}: {damage} is noticed")
            };
            assert_eq!(files_below(&root).expect("a folder"), before, "{sink}: {damage}, and nothing is made");
            let told = error.to_string();
            let paths = removed.iter().map(|name| root.join(name).display().to_string()).collect::<Vec<_>>();
            let advice = format!("restore it, or remove {} to harvest", paths.join(" and "));
            assert!(told.contains(&*path.to_string_lossy()) && told.contains(&advice), "{told}");
            // The one advice.
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, &whole).expect("put back");
            open(sink, &root, Some(&mark)).expect("put back");
        }
        // The other.
        fs::write(&path, &whole[..whole.len() - 1]).expect("shortened");
        for name in removed {
            let path = root.join(name);
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("removed");
        }
        let mut desk = open(sink, &root, None).expect("begun anew");
        committed(&mut desk);
    }
}
