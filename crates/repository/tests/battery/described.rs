//! Documents of an archive: when they are stamped, in which formats they are listed, and what is stored of them.

use std::sync::Arc;

use modoai_protocol::{Datestamp, Range};
use modoai_repository::catalogue::stored::{Packed, Packer, Place as Where, StoredFormat, Unpacker};
use modoai_repository::catalogue::{
    Catalogue, Change, Description, Detail, ImportState, Imported, PageQuery, Restamp, Selected,
};
use modoai_repository::item::Item;

use super::{HandClock, Place, apply, delete, everything, filled, item, live_sets, spec};

fn packed(bytes: &[u8]) -> Packed {
    let mut packer = Packer::of_dossiers(&std::env::temp_dir()).expect("a packer");
    packer.write(bytes).expect("room");
    let mut digest = [0; 16];
    bytes.iter().enumerate().for_each(|(at, byte)| digest[at % 16] ^= byte.rotate_left(at as u32 / 16));
    packer.finish(digest).expect("packed")
}

/// A document whose record has this text, made of what `state` stands for.
fn document(name: &str, text: &str, sets: &[&str], state: u64) -> Description {
    Description {
        name: name.to_owned(),
        sets: sets.iter().map(|set| spec(set)).collect(),
        datestamp: Some(Datestamp::from_unix(100)),
        state: Some(ImportState { source: 5, entry: state, reads_files: false }),
        record: Some(packed(text.as_bytes())),
        forms: Vec::new(),
        gone_in: Vec::new(),
        unlisted: Vec::new(),
        restamp: Restamp::IfChanged,
    }
}

fn tombstone(name: &str, sets: &[&str]) -> Description {
    Description { record: None, ..document(name, "", sets, 0) }
}

fn with_form(description: Description, prefix: &str) -> Description {
    let [prefix, schema, namespace] = [prefix, "urn:xsd", "urn:ns"].map(str::to_owned);
    Description { forms: vec![(Arc::new(StoredFormat { prefix, schema, namespace }), None)], ..description }
}

fn describe(description: Description) -> Change {
    Change::Describe(Box::new(description))
}

fn stamp(catalogue: &dyn Catalogue, name: &str) -> i64 {
    item(catalogue, name).datestamp.unix()
}

fn record(catalogue: &dyn Catalogue, name: &str) -> Option<Vec<u8>> {
    let item = catalogue.item_with(name, None, Detail::Record).expect("a look-up").expect("it was met");
    let Where::Here(bytes) = item.body?.packed else { panic!("it is small") };
    Some(Unpacker::new().expect("an unpacker").unpack(&bytes).expect("unpacked").to_vec())
}

/// Documents are stamped with what they tell while the catalogue is filled, and with the moment of a change later. What
/// is as it was is not stamped, and what it was made of is remembered all the same.
pub(crate) fn an_unchanged_document_is_not_stamped(place: &dyn Place) {
    let clock = HandClock::at(1000);
    let catalogue = filled(place, &clock, &[describe(document("a", "A", &["x:y"], 1))]);
    assert_eq!(stamp(&*catalogue, "a"), 100);
    clock.set(2000);
    apply(&*catalogue, &[describe(document("a", "A", &["x:y"], 2))]);
    assert_eq!(stamp(&*catalogue, "a"), 100);
    let imported = catalogue.imported(&["a", "nobody"]).expect("states");
    let state = ImportState { source: 5, entry: 2, reads_files: false };
    assert_eq!(imported, [Some(Imported { deleted: false, state: Some(state) }), None]);
    assert_eq!(catalogue.names_from(5, "", 9).expect("names"), ["a"]);
    assert!(catalogue.names_from(5, "a", 9).expect("names").is_empty());
    assert!(catalogue.names_from(6, "", 9).expect("names").is_empty());
    apply(&*catalogue, &[describe(Description { state: None, ..document("a", "A", &["x:y"], 9) })]);
    assert_eq!(catalogue.imported(&["a"]).expect("states")[0].and_then(|known| known.state), Some(state));
    apply(&*catalogue, &[describe(document("a", "B", &["x:y"], 3))]);
    assert_eq!(stamp(&*catalogue, "a"), 2000);
    assert_eq!(record(&*catalogue, "a").as_deref(), Some(&b"B"[..]));
    clock.set(3000);
    apply(&*catalogue, &[describe(document("a", "B", &["z"], 3))]);
    assert_eq!(stamp(&*catalogue, "a"), 3000, "another set is a change");
    assert_eq!(live_sets(&*catalogue), ["z"]);
}

/// What is stored can be replaced without a stamp, and a document stamped without a change.
pub(crate) fn a_document_is_stamped_as_it_is_told(place: &dyn Place) {
    let clock = HandClock::at(1000);
    let catalogue = filled(place, &clock, &[describe(document("a", "A", &["x"], 1))]);
    clock.set(2000);
    let quietly = Description { restamp: Restamp::Never, ..document("a", "A in another way", &["x"], 1) };
    apply(&*catalogue, &[describe(quietly.clone())]);
    assert_eq!(stamp(&*catalogue, "a"), 100);
    assert_eq!(record(&*catalogue, "a").as_deref(), Some(&b"A in another way"[..]));
    apply(&*catalogue, &[describe(Description { sets: vec![spec("y")], ..quietly.clone() })]);
    assert_eq!(stamp(&*catalogue, "a"), 100);
    assert_eq!(live_sets(&*catalogue), ["y"]);
    clock.set(3000);
    let anyhow = Description { restamp: Restamp::Always, sets: vec![spec("y")], ..quietly };
    apply(&*catalogue, &[describe(anyhow)]);
    assert_eq!(stamp(&*catalogue, "a"), 3000);
}

/// A document that is gone keeps its sets, and nothing is left of its record. One that never was here is told of, too.
pub(crate) fn documents_go_and_come_back(place: &dyn Place) {
    let clock = HandClock::at(1000);
    let documents = ["a", "b"].map(|name| describe(document(name, name, &["x:y"], 1)));
    let catalogue = filled(place, &clock, &documents);
    clock.set(2000);
    apply(&*catalogue, &[describe(tombstone("a", &[])), delete("b"), describe(tombstone("c", &["z"]))]);
    for (name, set) in [("a", "x:y"), ("b", "x:y"), ("c", "z")] {
        let gone = item(&*catalogue, name);
        assert!(gone.deleted && gone.datestamp.unix() == 2000, "{name}");
        assert_eq!(gone.sets.iter().map(ToString::to_string).collect::<Vec<_>>(), [set], "{name}");
        assert_eq!(record(&*catalogue, name), None, "{name}");
    }
    assert!(live_sets(&*catalogue).is_empty());
    clock.set(3000);
    apply(&*catalogue, &[describe(tombstone("a", &[])), delete("b")]);
    assert_eq!((stamp(&*catalogue, "a"), stamp(&*catalogue, "b")), (2000, 2000), "what is gone stays gone");
    apply(&*catalogue, &[describe(document("a", "a", &["x:y"], 1))]);
    assert!(!item(&*catalogue, "a").deleted);
    assert_eq!((stamp(&*catalogue, "a"), record(&*catalogue, "a")), (3000, Some(b"a".to_vec())));
    assert_eq!(catalogue.described(false, i64::MIN, 10).expect("described").len(), 1);
}

/// A format that not every document has is a list of its own; who has it no more is deleted in it, and nowhere else.
pub(crate) fn a_document_is_listed_in_the_formats_it_has(place: &dyn Place) {
    let clock = HandClock::at(1000);
    let changes = [describe(with_form(document("a", "A", &["x"], 1), "rare")), describe(document("b", "B", &["x"], 1))];
    let catalogue = filled(place, &clock, &changes);
    let rare = |set: Option<&str>| {
        let set = set.map(spec);
        let selection = Selected { format: Some("rare"), set: set.as_deref(), range: Range::ALL };
        let query = PageQuery { selection, after: None, limit: 10, detail: Detail::Record };
        let items = catalogue.page(&query).expect("a page");
        assert_eq!(catalogue.count(selection).expect("a count"), items.len() as u64);
        let shown = |item: &Item| (item.name.clone(), item.deleted, item.body.is_some());
        items.iter().map(shown).collect::<Vec<_>>()
    };
    for set in [None, Some("x")] {
        assert_eq!(rare(set), [("a".to_owned(), false, true)]);
    }
    assert_eq!(everything(&*catalogue).len(), 2);
    let prefixes: Vec<_> = catalogue.formats().expect("formats").iter().map(|format| format.prefix.clone()).collect();
    assert_eq!(prefixes, ["rare"], "the record itself is no format");
    clock.set(2000);
    apply(&*catalogue, &[describe(document("a", "A", &["x"], 1))]);
    assert_eq!(rare(None), [("a".to_owned(), true, true)]);
    assert!(!item(&*catalogue, "a").deleted);
    assert_eq!(stamp(&*catalogue, "a"), 2000);
}

/// A format can begin or cease to be one that every document has, and nobody who listens to it misses a deletion.
pub(crate) fn a_format_becomes_rare_and_common_again(place: &dyn Place) {
    let clock = HandClock::at(1000);
    let names = ["a", "b", "c"];
    let catalogue = filled(place, &clock, &names.map(|name| describe(document(name, name, &["x"], 1))));
    clock.set(2000);
    apply(&*catalogue, &[delete("c")]);
    clock.set(3000);
    let format = with_form(document("a", "a", &["x"], 1), "rare").forms[0].0.clone();
    let listed = || {
        let selection = Selected { format: Some("rare"), set: None, range: Range::ALL };
        let query = PageQuery { selection, after: None, limit: 10, detail: Detail::Record };
        let items = catalogue.page(&query).expect("a page");
        items.iter().map(|item| (item.name.clone(), item.deleted, item.datestamp.unix())).collect::<Vec<_>>()
    };
    let gone_in = vec![Arc::clone(&format)];
    apply(
        &*catalogue,
        &[
            describe(Description { restamp: Restamp::Never, ..with_form(document("a", "a", &["x"], 1), "rare") }),
            describe(Description {
                restamp: Restamp::Always,
                gone_in: gone_in.clone(),
                ..document("b", "b", &["x"], 1)
            }),
            describe(Description { restamp: Restamp::Never, gone_in, ..tombstone("c", &[]) }),
        ],
    );
    let of = |name: &str, deleted, stamp| (name.to_owned(), deleted, stamp);
    assert_eq!(listed(), [of("a", false, 100), of("c", true, 2000), of("b", true, 3000)]);
    let unlisted = vec![format];
    let common = Description { restamp: Restamp::Never, unlisted, ..document("a", "a", &["x"], 1) };
    apply(&*catalogue, &[describe(common)]);
    assert_eq!(listed().len(), 2);
    assert_eq!(stamp(&*catalogue, "a"), 100);
}

/// What is remembered for whoever makes formats is there for every process, and moves the revision.
pub(crate) fn memos_are_remembered(place: &dyn Place) {
    let clock = HandClock::at(1000);
    let catalogue = filled(place, &clock, &[]);
    let before = catalogue.standing().expect("a standing").revision;
    assert_eq!(catalogue.memo("terms").expect("no memo"), None);
    catalogue.writer().expect("a writer").set_memo("terms", Some(b"new")).expect("remembered");
    let another = place.opened(&clock);
    assert_eq!(another.memo("terms").expect("a memo").as_deref(), Some(&b"new"[..]));
    assert!(another.standing().expect("a standing").revision > before);
    catalogue.writer().expect("a writer").set_memo("terms", None).expect("forgotten");
    assert_eq!(another.memo("terms").expect("no memo"), None);
}
