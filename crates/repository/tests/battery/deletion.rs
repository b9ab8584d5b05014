//! Deletions are remembered; what comes back, comes back as itself.

use modoai_protocol::{Datestamp, Range};
use modoai_repository::catalogue::{Change, Selected};
use modoai_repository::item::Publicity;

use super::{
    HandClock, Place, apply, delete, everything, filled, item, list, live_sets, names, put, put_state, spec, state,
};

pub(crate) fn a_tombstone_keeps_name_sets_and_place(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("a", 1, &["mime:text"]), put("b", 2, &["mime:image"])]);
    let before = item(&*catalogue, "a");
    clock.set(20_000);
    apply(&*catalogue, &[delete("a")]);
    clock.set(30_000);
    // Nothing later touches it, not even reopening.
    drop(catalogue);
    let catalogue = place.opened(&clock);
    apply(&*catalogue, &[put("c", 3, &["mime:image"])]);

    let gone = item(&*catalogue, "a");
    assert!(gone.deleted);
    assert_eq!(gone.datestamp, Datestamp::from_unix(20_000));
    assert_eq!((gone.number, &gone.sets), (before.number, &before.sets));
    assert_eq!(names(&everything(&*catalogue)), ["b", "a", "c"]);
    assert_eq!(list(&*catalogue, Some(&spec("mime:text")), Range::ALL, 10), [gone]);
    assert_eq!(
        catalogue.count(Selected { format: None, set: Some(&spec("mime:text")), range: Range::ALL }).expect("a count"),
        1
    );
    assert_eq!(live_sets(&*catalogue), ["mime", "mime:image"]);
    let mut writer = catalogue.writer().expect("nobody else writes");
    assert_eq!(writer.live().expect("a count"), 2);
    let known = writer.known("", "", 10).expect("known items");
    assert_eq!(known.iter().map(|known| known.name.as_str()).collect::<Vec<_>>(), ["b", "c"]);
}

pub(crate) fn deleting_what_is_not_there_changes_nothing(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("a", 1, &["x"]), put("b", 2, &["x"])]);
    clock.set(20_000);
    apply(&*catalogue, &[delete("a")]);
    let before = everything(&*catalogue);
    clock.set(30_000);
    apply(&*catalogue, &[delete("a"), delete("never seen"), delete("")]);
    assert_eq!(everything(&*catalogue), before);
    assert_eq!(catalogue.writer().expect("nobody else writes").live().expect("a count"), 1);
}

pub(crate) fn what_comes_back_keeps_its_number(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("a", 1, &["x:y"]), put("b", 1, &["z"])]);
    let before = item(&*catalogue, "a");
    for round in 2..5 {
        clock.set(round * 10_000);
        apply(&*catalogue, &[delete("a")]);
        assert_eq!(live_sets(&*catalogue), ["z"]);
        clock.set(round * 10_000 + 1);
        apply(&*catalogue, &[put("a", 1, &["x:y"])]);
        let back = item(&*catalogue, "a");
        assert_eq!((back.number, back.deleted, &back.sets), (before.number, false, &before.sets));
        assert_eq!(back.datestamp, Datestamp::from_unix(round * 10_000 + 1));
        assert_eq!(live_sets(&*catalogue), ["x", "x:y", "z"]);
        assert_eq!(
            catalogue.count(Selected { format: None, set: Some(&spec("x")), range: Range::ALL }).expect("a count"),
            1
        );
        assert_eq!(catalogue.count(Selected::ALL).expect("a count"), 2);
    }
}

pub(crate) fn an_item_that_moves_leaves_its_old_sets(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("a", 1, &["x:y", "v"]), put("b", 1, &["x:z"])]);
    clock.set(20_000);
    apply(&*catalogue, &[put("a", 1, &["x:z", "w"])]);
    for (set, expected) in [("x", &["b", "a"][..]), ("x:y", &[]), ("v", &[]), ("x:z", &["b", "a"]), ("w", &["a"])] {
        assert_eq!(names(&list(&*catalogue, Some(&spec(set)), Range::ALL, 10)), expected, "{set}");
        assert_eq!(
            catalogue.count(Selected { format: None, set: Some(&spec(set)), range: Range::ALL }).expect("a count"),
            expected.len() as u64,
            "{set}"
        );
    }
    assert_eq!(live_sets(&*catalogue), ["w", "x", "x:z"]);
}

pub(crate) fn the_last_of_several_changes_in_a_batch_counts(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let changes = [
        put_state("a", state(1, 1), &["x"]),
        put_state("b", state(1, 1), &["x"]),
        put_state("a", state(2, 2), &["y"]),
        delete("b"),
        put_state("new", state(1, 1), &["x"]),
        delete("new"),
        put_state("new", state(3, 1), &["z"]),
        put_state("c", state(1, 1), &["x"]),
    ];
    let catalogue = filled(place, &clock, &changes);
    // While filling and afterwards.
    for stamp in [10_000, 20_000] {
        let found = |name| {
            let item = item(&*catalogue, name);
            (item.fingerprint.size, item.deleted, item.sets[0].to_string())
        };
        assert_eq!(found("a"), (2, false, "y".to_owned()));
        assert_eq!(found("new"), (3, false, "z".to_owned()));
        assert!(item(&*catalogue, "b").deleted);
        assert_eq!(item(&*catalogue, "b").datestamp, Datestamp::from_unix(stamp));
        assert_eq!(live_sets(&*catalogue), ["x", "y", "z"]);
        for (set, members) in [(None, 4), (Some("x"), 2), (Some("y"), 1), (Some("z"), 1)] {
            let set = set.map(spec);
            assert_eq!(
                catalogue.count(Selected { format: None, set: set.as_deref(), range: Range::ALL }).expect("a count"),
                members
            );
            assert_eq!(list(&*catalogue, set.as_deref(), Range::ALL, 3).len() as u64, members);
        }
        clock.set(20_000);
        apply(&*catalogue, &changes);
    }
    assert_eq!(catalogue.writer().expect("nobody else writes").live().expect("a count"), 3);
}

pub(crate) fn what_was_public_is_remembered_as_such(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let with = |name: &str, told: Publicity| match put(name, 1, &["x"]) {
        Change::Put { name, fingerprint, media_type, sets, .. } => {
            Change::Put { name, fingerprint, media_type, sets, publicity: told }
        }
        other => other,
    };
    let (untold, public, withdrawn) = (Publicity::Untold, Publicity::Public, Publicity::Withdrawn);
    let catalogue = filled(place, &clock, &[with("a", untold), with("b", public), with("c", withdrawn)]);
    let told = || everything(&*catalogue).iter().map(|item| (item.name.clone(), item.publicity)).collect::<Vec<_>>();
    let expected = |all: [(&str, Publicity); 3]| all.map(|(name, publicity)| (name.to_owned(), publicity)).to_vec();
    assert_eq!(told(), expected([("a", untold), ("b", public), ("c", withdrawn)]));
    clock.set(20_000);
    apply(&*catalogue, &[delete("b"), with("a", public)]);
    assert_eq!(told(), expected([("c", withdrawn), ("a", public), ("b", public)]));
    let known = catalogue.writer().expect("nobody else writes").known("", "", 10).expect("known items");
    assert_eq!(known.iter().map(|known| known.publicity).collect::<Vec<_>>(), [public, withdrawn]);
}
