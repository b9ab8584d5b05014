//! Lists: complete, in order, in pages of any size, and counted without being read.

use modoai_protocol::{Datestamp, Range, SetSpec};
use modoai_repository::catalogue::{Change, Detail, Learned, PageQuery, Selected, Unread};
use modoai_repository::item::{Facts, Fingerprint, Item};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{
    HandClock, Place, Random, apply, delete, everything, filled, list, live_sets, names, put, put_state, spec, state,
};

const SETS: [&[&str]; 4] = [&["mime:text:html"], &["mime:text:plain", "dept:a"], &["mime:image"], &[]];

/// A small site with ties.
fn site(items: i64) -> Vec<Change> {
    (0..items).map(|n| put(&format!("{n:03}"), 1000 + n * 7 % 5, SETS[n as usize % 4])).collect()
}

/// What a selection holds, found the slow way.
fn selected(whole: &[Item], set: Option<&SetSpec>, range: Range) -> Vec<Item> {
    let within =
        |item: &Item, set: &SetSpec| item.sets.iter().any(|own| own.lineage().any(|wider| wider == set.as_str()));
    let dated = whole.iter().filter(|item| range.first <= item.datestamp && item.datestamp <= range.last);
    dated.filter(|item| set.is_none_or(|set| within(item, set))).cloned().collect()
}

pub(crate) fn pages_join_without_gap_or_overlap_at_every_limit(place: &dyn Place) {
    let catalogue = filled(place, &HandClock::at(10_000), &site(61));
    let whole = everything(&*catalogue);
    assert_eq!(whole.len(), 61);
    assert!(whole.is_sorted_by_key(|item| (item.datestamp, item.number)));
    let (html, mime) = (spec("mime:text:html"), spec("mime"));
    let middle = Range { first: Datestamp::from_unix(1001), last: Datestamp::from_unix(1003) };
    for limit in 1..=62 {
        assert_eq!(list(&*catalogue, None, Range::ALL, limit), whole, "limit {limit}");
        for (set, range) in [(None, middle), (Some(&*html), Range::ALL), (Some(&*mime), middle)] {
            let expected = selected(&whole, set, range);
            assert!(!expected.is_empty());
            assert_eq!(list(&*catalogue, set, range, limit), expected, "limit {limit}, {set:?}, {range:?}");
        }
    }
    let none = PageQuery { selection: Selected::ALL, after: None, limit: 0, detail: Detail::Whole };
    assert_eq!(catalogue.page(&none).expect("an empty page"), []);
}

pub(crate) fn many_equal_datestamps_are_listed_once(place: &dyn Place) {
    let ties: Vec<_> = (0..20_000).map(|n| put(&format!("{n:05}"), 1000, &["mime:text"])).collect();
    let catalogue = filled(place, &HandClock::at(10_000), &ties);
    for set in [None, Some(spec("mime"))] {
        let items = list(&*catalogue, set.as_deref(), Range::ALL, 700);
        let mut found = names(&items);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), ties.len());
        assert_eq!(
            catalogue.count(Selected { format: None, set: set.as_deref(), range: Range::ALL }).expect("a count"),
            ties.len() as u64
        );
    }
}

pub(crate) fn a_set_includes_its_descendants_and_nothing_else(place: &dyn Place) {
    let changes = [
        put("a", 1, &["mime:text:html"]),
        put("b", 2, &["mime:text"]),
        put("c", 3, &["mime:texture"]),
        put("d", 4, &["mime:text:html", "mime:text:plain"]),
        put("e", 5, &[]),
    ];
    let catalogue = filled(place, &HandClock::at(10_000), &changes);
    for (set, expected) in [
        ("mime", &["a", "b", "c", "d"][..]),
        ("mime:text", &["a", "b", "d"]),
        ("mime:text:html", &["a", "d"]),
        ("mime:texture", &["c"]),
        ("mime:tex", &[]),
        ("unheard-of", &[]),
    ] {
        let items = list(&*catalogue, Some(&spec(set)), Range::ALL, 2);
        assert_eq!(names(&items), expected, "{set}");
        let count =
            catalogue.count(Selected { format: None, set: Some(&spec(set)), range: Range::ALL }).expect("a count");
        assert_eq!(count, expected.len() as u64, "{set}");
    }
    let sets = ["mime", "mime:text", "mime:text:html", "mime:text:plain", "mime:texture"];
    assert_eq!(live_sets(&*catalogue), sets);
}

pub(crate) fn items_come_back_as_they_were_put(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let fingerprint = Fingerprint { size: u64::MAX, modified: -1, changed: i64::MIN, inode: u64::MAX - 1 };
    let name = "a%20b/%C3%A9?x=1";
    let catalogue = filled(place, &clock, &[put_state(name, fingerprint, &["b:c", "a"])]);
    let check = |name: &str, datestamp| {
        let item = catalogue.item(name).expect("a look-up").expect("it is there");
        assert_eq!(item.name, name);
        assert_eq!(item.fingerprint, fingerprint);
        assert_eq!(item.datestamp, Datestamp::from_unix(datestamp));
        assert_eq!(*item.sets, [spec("b:c"), spec("a")]);
        assert_eq!(&*item.media_type, "text/html");
        assert!(!item.deleted);
        assert!(everything(&*catalogue).contains(&item));
    };
    check(name, -1);
    // A name less than all others, and one greater.
    apply(&*catalogue, &[put_state("", fingerprint, &["b:c", "a"]), put_state("~", fingerprint, &["b:c", "a"])]);
    check("", 10_000);
    check("~", 10_000);
    assert_eq!(catalogue.item("a").expect("a look-up"), None);
}

pub(crate) fn counts_agree_with_lists(place: &dyn Place) {
    const DAY: i64 = 86_400;
    let mut random = Random(5);
    let moment = |random: &mut Random| random.below(6 * DAY as u64) as i64 - 2 * DAY;
    let changes: Vec<_> = (0..600).map(|n| put(&format!("{n:03}"), moment(&mut random), SETS[n % 4])).collect();
    let clock = HandClock::at(10 * DAY);
    let catalogue = filled(place, &clock, &changes);
    let later = (0..100).map(|n| match n % 3 {
        0 => super::delete(&format!("{:03}", n * 5)),
        1 => put(&format!("{:03}", n * 5), 0, SETS[(n + 1) % 4]),
        _ => put(&format!("new {n}"), 0, SETS[n % 4]),
    });
    apply(&*catalogue, &later.collect::<Vec<_>>());

    let whole = everything(&*catalogue);
    let edges = vec![-DAY, 0, DAY - 1, DAY, 10 * DAY, Datestamp::MIN.unix(), Datestamp::MAX.unix()];
    let bound = prop_oneof![-3 * DAY..11 * DAY, proptest::sample::select(edges)];
    let set = proptest::sample::select(&["", "mime", "mime:text", "dept:a", "unheard-of"][..]);
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) });
    let checked = runner.run(&(bound.clone(), bound, set), |(first, last, set)| {
        let range = Range { first: Datestamp::from_unix(first), last: Datestamp::from_unix(last) };
        let set = SetSpec::parse(set);
        let expected = selected(&whole, set.as_ref(), range);
        prop_assert_eq!(
            catalogue.count(Selected { format: None, set: set.as_ref(), range }).expect("a count"),
            expected.len() as u64
        );
        prop_assert_eq!(list(&*catalogue, set.as_ref(), range, 97), expected);
        Ok(())
    });
    checked.unwrap_or_else(|failure| panic!("{failure}"));
}

pub(crate) fn known_items_come_in_byte_order_of_their_names(place: &dyn Place) {
    let mut all = ["", "%20", "B", "a", "a/b", "a/b/c", "a/b0", "a/~", "a0", "b", "~", "~~"];
    let changes: Vec<_> = all.iter().rev().map(|name| put(name, 1, &["mime:text"])).collect();
    let catalogue = place.opened(&HandClock::at(10_000));
    let mut writer = catalogue.writer().expect("nobody else writes");
    writer.apply(&changes).expect("changes apply");
    all.sort_unstable();
    // While filling and afterwards.
    for _ in 0..2 {
        for prefix in ["", "a", "a/", "a/b/", "~", "zz"] {
            for after in ["", "a", "a/b", "a/b/c", "b", "~~~"] {
                let greater = all.iter().filter(|name| name.starts_with(prefix) && **name > after);
                let expected: Vec<_> = greater.copied().collect();
                for limit in [0, 1, 3, 100] {
                    let known = writer.known(prefix, after, limit).expect("known items");
                    let found: Vec<_> = known.iter().map(|known| known.name.as_str()).collect();
                    assert_eq!(found, expected[..limit.min(expected.len())], "{prefix:?} {after:?} {limit}");
                }
            }
        }
        writer.complete().expect("the filling completes");
    }
    let known = writer.known("a/b", "a/b", 1).expect("known items").remove(0);
    let item = super::item(&*catalogue, "a/b/c");
    assert_eq!((known.number, known.fingerprint, known.facts), (item.number, item.fingerprint, item.facts));
}

pub(crate) fn items_are_found_by_inode(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let at = |name: &str, inode| put_state(name, Fingerprint { inode, ..state(1, 1) }, &["x"]);
    let changes = [at("a", 1), at("b", 2), at("c", 1), at("d", u64::MAX), at("gone", 1)];
    let catalogue = filled(place, &clock, &changes);
    apply(&*catalogue, &[delete("gone"), at("b", 3)]);
    let mut writer = catalogue.writer().expect("nobody else writes");
    let mut found = |inodes: &[u64]| {
        let mut found = writer.names_of_inodes(&inodes.iter().copied().collect()).expect("a list");
        found.sort();
        found
    };
    let named = |inode, name: &str| (inode, name.to_owned());
    assert_eq!(found(&[1]), [named(1, "a"), named(1, "c")]);
    assert_eq!(found(&[1, 2, 3, u64::MAX]), [named(1, "a"), named(1, "c"), named(3, "b"), named(u64::MAX, "d")]);
    assert_eq!(found(&[2]), []);
    assert_eq!(found(&[]), []);
}

pub(crate) fn unread_items_are_those_something_is_missed_of(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let names = ["a", "b", "c", "d"];
    let catalogue = filled(place, &clock, &names.map(|name| put(name, 1, &["x"])));
    apply(&*catalogue, &[delete("d")]);
    let unread = |titles_of: &[&str], size: u64, after, limit| -> Vec<Item> {
        catalogue.unread(&Unread { titles_of, digests_of: size..=size }, after, limit).expect("a list")
    };
    let all = unread(&["text/html", "text/unknown"], 0, i64::MIN, 10);
    assert_eq!(all.len(), 3, "those that are there");
    assert_eq!(unread(&["text/plain"], 0, i64::MIN, 10), []);
    assert_eq!(unread(&[], 1, i64::MIN, 10), all, "of one byte each");
    assert_eq!(unread(&[], 2, i64::MIN, 10), []);
    assert_eq!(unread(&["text/html"], 0, all[0].number, 1), all[1..2]);
    let facts = Facts { title: Some(String::new()), digests: None };
    let learned = Learned { number: all[0].number, fingerprint: all[0].fingerprint, facts };
    catalogue.learn(&[learned]).expect("remembered");
    assert_eq!(unread(&["text/html"], 0, i64::MIN, 10), all[1..]);
    assert_eq!(unread(&["text/html"], 1, i64::MIN, 10).len(), 3, "the digests are still missed");
}

pub(crate) fn less_detail_is_the_same_list(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &site(20));
    apply(&*catalogue, &[delete("003")]);
    let page = |detail| {
        let query = PageQuery { selection: Selected::ALL, after: None, limit: 100, detail };
        catalogue.page(&query).expect("a page")
    };
    let whole = page(Detail::Whole);
    assert_eq!(whole.len(), 20);
    let cut = |item: &Item, digests| Item { facts: Facts { digests, ..item.facts.clone() }, ..item.clone() };
    assert_eq!(page(Detail::Description), whole.iter().map(|item| cut(item, None)).collect::<Vec<_>>());
    for (header, item) in page(Detail::Header).iter().zip(&whole) {
        assert_eq!((header.number, &header.name, header.datestamp), (item.number, &item.name, item.datestamp));
        assert_eq!((header.deleted, &header.sets), (item.deleted, &item.sets));
    }
}
