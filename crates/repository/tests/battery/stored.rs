//! Records that came as XML: by format, by whose they are, and in pieces.

use std::sync::Arc;

use modoai_protocol::{Datestamp, Range};
use modoai_repository::catalogue::stored::{Packer, Place as Where, StoredFormat};
use modoai_repository::catalogue::{Catalogue, Change, Detail, PageQuery, Selected, SetTitle};
use modoai_repository::item::Item;

use super::{HandClock, Place, apply, everything, filled, item, live_sets, names, spec};

fn format(prefix: &str) -> Arc<StoredFormat> {
    let (prefix, schema, namespace) = (prefix.to_owned(), format!("urn:{prefix}.xsd"), format!("urn:{prefix}"));
    Arc::new(StoredFormat { prefix, schema, namespace })
}

/// A change that stores a record with these bytes.
fn store(name: &str, prefix: &str, bytes: &[u8], sets: &[&str]) -> Change {
    let mut packer = Packer::new(&std::env::temp_dir()).expect("a packer");
    packer.write(bytes).expect("room");
    let mut digest = [0; 16];
    for (at, byte) in bytes.iter().enumerate() {
        digest[at % 16] ^= byte.rotate_left(at as u32 / 16);
    }
    let record = Some(packer.finish(digest).expect("packed"));
    let sets = sets.iter().map(|set| spec(set)).collect();
    Change::Store { name: name.to_owned(), sets, format: format(prefix), record }
}

fn gone(name: &str, prefix: &str, sets: &[&str]) -> Change {
    let sets = sets.iter().map(|set| spec(set)).collect();
    Change::Store { name: name.to_owned(), sets, format: format(prefix), record: None }
}

fn in_format(catalogue: &dyn Catalogue, prefix: &str, set: Option<&str>, limit: usize) -> Vec<Item> {
    let set = set.map(spec);
    let selection = Selected { format: Some(prefix), set: set.as_deref(), range: Range::ALL };
    let mut items: Vec<Item> = Vec::new();
    loop {
        let after = items.last().map(|item| (item.datestamp, item.number));
        let page = catalogue.page(&PageQuery { selection, after, limit, detail: Detail::Stored }).expect("a page");
        if page.is_empty() {
            assert_eq!(catalogue.count(selection).expect("a count"), items.len() as u64);
            return items;
        }
        items.extend(page);
    }
}

/// The names in a format's list; those gone in brackets.
fn listed(catalogue: &dyn Catalogue, prefix: &str, set: Option<&str>) -> Vec<String> {
    let shown = |item: &Item| {
        assert_eq!(item.body.is_some(), !item.deleted, "{}", item.name);
        if item.deleted { format!("({})", item.name) } else { item.name.clone() }
    };
    let mut names: Vec<_> = in_format(catalogue, prefix, set, 2).iter().map(shown).collect();
    names.sort();
    names
}

pub(crate) fn a_list_holds_what_has_the_format(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    // Whether it comes while the catalogue is filled or later makes no difference.
    let first = [
        store("b", "dc", b"<b/>", &["x"]),
        store("a", "dc", b"<a/>", &["x", "x:y"]),
        store("a", "marc", b"<A/>", &["x", "x:y"]),
        gone("never", "marc", &["x"]),
    ];
    let catalogue = filled(place, &clock, &first);
    assert_eq!(everything(&*catalogue).iter().map(|item| item.datestamp.unix()).max(), Some(10_000));
    clock.set(20_000);
    let later = [store("c", "marc", b"<C/>", &["z"]), gone("a", "marc", &["x"]), store("b", "marc", b"<B/>", &["x"])];
    apply(&*catalogue, &later);
    for _ in 0..2 {
        assert_eq!(listed(&*catalogue, "dc", None), ["a", "b"]);
        assert_eq!(listed(&*catalogue, "marc", None), ["(a)", "(never)", "b", "c"]);
        assert_eq!(listed(&*catalogue, "dc", Some("x:y")), ["a"]);
        assert_eq!(listed(&*catalogue, "marc", Some("x")), ["(a)", "(never)", "b"]);
        assert_eq!(listed(&*catalogue, "marc", Some("z")), ["c"]);
        assert_eq!(listed(&*catalogue, "dc", Some("z")), Vec::<String>::new());
        assert_eq!(listed(&*catalogue, "mods", None), Vec::<String>::new());
        assert_eq!(live_sets(&*catalogue), ["x", "x:y", "z"]);
        let prefixes: Vec<_> =
            catalogue.formats().expect("formats").iter().map(|format| format.prefix.clone()).collect();
        assert_eq!(prefixes, ["dc", "marc"]);
    }
    let a = item(&*catalogue, "a");
    assert!(!a.deleted, "it is still there in the other format");
    let holdings: Vec<_> = a.formats.iter().map(|holding| (holding.format.prefix.as_str(), holding.gone)).collect();
    assert_eq!(holdings, [("dc", false), ("marc", true)]);
    let looked_up =
        |prefix: &str| catalogue.item_with("a", Some(prefix), Detail::Stored).expect("a look-up").expect("it is there");
    assert!(looked_up("marc").deleted && looked_up("marc").body.is_none());
    assert_eq!(looked_up("dc").body.expect("a record").size, 4);
    assert!(looked_up("mods").body.is_none());
    assert!(catalogue.item_with("nobody", Some("dc"), Detail::Stored).expect("a look-up").is_none());
    // In all lists together every item stands once.
    assert_eq!(everything(&*catalogue).len(), 4);
}

pub(crate) fn the_same_record_is_not_stamped(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[store("a", "dc", b"<a/>", &["x"]), gone("t", "dc", &["x"])]);
    let stamp = |name: &str| item(&*catalogue, name).datestamp.unix();
    for (seconds, change, moves) in [
        (20_000, store("a", "dc", b"<a/>", &["x"]), false),
        (30_000, store("a", "dc", b"<b/>", &["x"]), true),
        (40_000, store("a", "dc", b"<b/>", &["x", "x:y"]), true),
        (50_000, gone("t", "dc", &["x"]), false),
        (60_000, gone("a", "dc", &["x"]), true),
        (70_000, gone("a", "dc", &["x"]), false),
        (80_000, store("a", "dc", b"<b/>", &["x"]), true),
        (90_000, store("a", "marc", b"<b/>", &["x"]), true),
    ] {
        clock.set(seconds);
        let Change::Store { name, .. } = change.clone() else { unreachable!("all are") };
        let before = stamp(&name);
        apply(&*catalogue, &[change]);
        assert_eq!(stamp(&name), if moves { seconds } else { before }, "at {seconds}");
    }
    assert_eq!(catalogue.standing().expect("a standing").newest, Some(Datestamp::from_unix(90_000)));
    assert_eq!(catalogue.writer().expect("nobody else writes").live().expect("a count"), 1);
}

pub(crate) fn a_change_in_one_format_does_not_stamp_another(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let first = [store("a", "dc", b"<a/>", &["x", "x:y"]), store("b", "dc", b"<b/>", &["x"])];
    let catalogue = filled(place, &clock, &first);
    let expect = |when: &str, dc: Option<i64>, marc: Option<i64>| {
        for (prefix, stamp) in [("dc", dc), ("marc", marc)] {
            for set in [None, Some("x"), Some("x:y")] {
                let listed = in_format(&*catalogue, prefix, set, 1).into_iter().find(|item| item.name == "a");
                assert_eq!(listed.map(|item| item.datestamp.unix()), stamp, "{when}: {prefix} in {set:?}");
            }
            let looked_up =
                catalogue.item_with("a", Some(prefix), Detail::Stored).expect("a look-up").expect("an item");
            assert!(stamp.is_none_or(|stamp| looked_up.datestamp.unix() == stamp), "{when}: {prefix}");
        }
        let standing = catalogue.standing().expect("a standing");
        assert_eq!(standing.earliest.map(Datestamp::unix), Some(10_000), "{when}");
        assert_eq!(standing.newest.map(Datestamp::unix), dc.max(marc), "{when}");
        assert_eq!(everything(&*catalogue).len(), 2, "{when}");
    };
    let step = |seconds: i64, change: Change| {
        clock.set(seconds);
        apply(&*catalogue, &[change]);
    };
    step(20_000, store("b", "dc", b"<b/>", &["x"]));
    expect("at first", Some(10_000), None);
    step(30_000, store("a", "marc", b"<A/>", &["x", "x:y"]));
    expect("a second format", Some(10_000), Some(30_000));
    step(40_000, store("a", "marc", b"<B/>", &["x", "x:y"]));
    expect("it changes", Some(10_000), Some(40_000));
    step(50_000, store("a", "dc", b"<c/>", &["x", "x:y"]));
    expect("the first changes", Some(50_000), Some(40_000));
    step(60_000, gone("a", "marc", &["x"]));
    expect("the second is gone", Some(50_000), Some(60_000));
    step(70_000, store("a", "dc", b"<c/>", &["x", "x:y", "z"]));
    expect("sets are told in all formats", Some(70_000), Some(70_000));
}

pub(crate) fn an_item_has_one_owner_at_a_time(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[store("a", "dc", b"<a/>", &["x"])]);
    apply(&*catalogue, &[store("a", "dc", b"<other/>", &["y"]), gone("a", "dc", &["y"]), gone("a", "marc", &["y"])]);
    let a = item(&*catalogue, "a");
    assert_eq!((a.deleted, a.formats.len(), a.sets[0].as_str()), (false, 1, "x"));
    apply(&*catalogue, &[gone("a", "dc", &["x"]), store("a", "dc", b"<other/>", &["y"])]);
    let a = item(&*catalogue, "a");
    assert_eq!((a.deleted, a.sets[0].as_str()), (false, "y"));
    assert_eq!(listed(&*catalogue, "dc", Some("x")), Vec::<String>::new());
    assert_eq!(live_sets(&*catalogue), ["y"]);
}

pub(crate) fn a_large_record_is_had_in_pieces(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let mut noise = super::Random(9);
    let bytes: Vec<u8> = (0..1_000_000).map(|_| noise.below(256) as u8).collect();
    let catalogue = filled(place, &clock, &[store("a", "dc", &bytes, &["x"])]);
    let body = |catalogue: &dyn Catalogue| {
        let item = catalogue.item_with("a", Some("dc"), Detail::Stored).expect("a look-up").expect("it is there");
        let body = item.body.expect("a record");
        assert_eq!(body.size, 1_000_000);
        match body.packed {
            Where::Pieces(body) => body,
            Where::Here(_) => panic!("it is large"),
        }
    };
    let first = body(&*catalogue);
    let pieces: Vec<_> = (0..).map_while(|at| catalogue.piece(first, at).expect("a look-up")).collect();
    assert!(pieces.len() > 3 && pieces.iter().all(|piece| piece.len() < 300_000));
    let mut changed = bytes.clone();
    changed[0] ^= 1;
    apply(&*catalogue, &[store("a", "dc", &changed, &["x"])]);
    assert_ne!(body(&*catalogue), first);
    assert!(catalogue.piece(first, 0).expect("a look-up").is_none(), "whoever reads it notices");
    apply(&*catalogue, &[gone("a", "dc", &["x"])]);
    assert!(item(&*catalogue, "a").deleted);
}

pub(crate) fn sets_have_the_names_they_were_given(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[store("a", "dc", b"<a/>", &["x"])]);
    let mut writer = catalogue.writer().expect("nobody else writes");
    for (title, description) in [("One", None), ("Another", None), ("Another", Some("All of it.")), ("Another", None)] {
        writer.name_set(&spec("x"), title, Some("Some.")).expect("named");
        writer.name_set(&spec("empty"), title, description).expect("named");
    }
    drop(writer);
    let mut titles = catalogue.set_titles().expect("titles");
    titles.sort();
    let named = |set: &str, description: Option<&str>| SetTitle {
        set: spec(set),
        title: "Another".to_owned(),
        description: description.map(str::to_owned),
    };
    assert_eq!(titles, [named("empty", None), named("x", Some("Some."))]);
    assert_eq!(live_sets(&*catalogue), ["x"]);
}

pub(crate) fn records_and_files_do_not_disturb_each_other(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[super::put("f", 5, &["m"]), store("a", "dc", b"<a/>", &["x"])]);
    apply(&*catalogue, &[store("b", "dc", b"<b/>", &["x"]), super::put("g", 5, &["m"]), super::put("e", 5, &["m"])]);
    assert_eq!(listed(&*catalogue, "dc", None), ["a", "b"]);
    let all = everything(&*catalogue);
    let mut names = names(&all);
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "e", "f", "g"]);
    assert_eq!(item(&*catalogue, "f").formats.len(), 0);
}
