//! Datestamps: what they are at first, when they move, and that they never go back.

use modoai_protocol::Datestamp;
use modoai_repository::catalogue::{Change, Learned, Selected};
use modoai_repository::item::{Digests, Facts};

use super::{HandClock, Place, Random, apply, delete, everything, filled, item, names, put, put_state, state};

pub(crate) fn the_first_filling_stamps_with_the_modification_time(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let future = put("tomorrow", 96_400, &["x"]);
    let catalogue = filled(place, &clock, &[put("a", 500, &["x"]), future, put("before 1970", -5, &["x"])]);
    let stamps: Vec<_> = everything(&*catalogue).iter().map(|item| item.datestamp.unix()).collect();
    assert_eq!(stamps, [-5, 500, 10_000]);
    let standing = catalogue.standing().expect("a standing");
    assert!(standing.ready);
    assert_eq!(standing.as_of, Datestamp::from_unix(10_000));
    assert_eq!(standing.newest, Some(Datestamp::from_unix(10_000)));
    assert!(standing.earliest.expect("there are items") <= Datestamp::from_unix(-5));
}

pub(crate) fn an_interrupted_filling_goes_on(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = place.opened(&clock);
    let birth = catalogue.standing().expect("a standing");
    assert!(!birth.ready);
    apply(&*catalogue, &[put("b", 2, &["x"]), put("d", 4, &["x"])]);
    drop(catalogue);

    let catalogue = place.opened(&clock);
    let mut writer = catalogue.writer().expect("the first writer is gone");
    assert!(!catalogue.standing().expect("a standing").ready);
    assert_eq!(writer.live().expect("a count"), 2);
    assert_eq!(writer.known("", "", 10).expect("known items").len(), 2);
    let merged = [put("a", 1, &["x"]), put_state("b", state(9, 3), &["y"]), put("e", 5, &["x"]), delete("d")];
    writer.apply(&merged).expect("changes apply");
    writer.complete().expect("the filling completes");
    writer.complete().expect("completing twice is harmless");
    drop(writer);
    assert_eq!(names(&everything(&*catalogue)), ["a", "b", "e", "d"]);
    assert_eq!(item(&*catalogue, "b").datestamp, Datestamp::from_unix(3));
    assert_eq!(catalogue.count(Selected::ALL).expect("a count"), 4);
    drop(catalogue);

    let standing = place.opened(&clock).standing().expect("a standing");
    assert!(standing.ready);
    assert_eq!((standing.epoch, standing.secret), (birth.epoch, birth.secret));
}

pub(crate) fn stamps_never_decrease_whatever_the_clock_does(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("a", 1, &["x"])]);
    let elsewhere = place.opened(&clock);
    let mut random = Random(3);
    let mut promised = Datestamp::MIN;
    for round in 0..200 {
        for asked in [&catalogue, &elsewhere] {
            if random.below(4) == 0 {
                promised = promised.max(asked.standing().expect("a standing").as_of);
            }
            clock.set(10_000 + random.below(100 * (round + 1)) as i64);
        }
        let change = if round % 7 == 6 { delete("a") } else { put("a", 1, &["x"]) };
        apply(&*catalogue, &[change]);
        let stamp = item(&*catalogue, "a").datestamp;
        assert!(stamp >= promised, "{stamp} is earlier than {promised}");
        promised = stamp;
        let standing = catalogue.standing().expect("a standing");
        assert_eq!(standing.newest, Some(stamp));
    }
    // A restart does not make it forget.
    drop((catalogue, elsewhere));
    clock.set(5);
    let catalogue = place.opened(&clock);
    let newest = catalogue.standing().expect("a standing").newest;
    apply(&*catalogue, &[put("a", 1, &["x"])]);
    assert!(Some(item(&*catalogue, "a").datestamp) >= newest);
}

pub(crate) fn an_empty_batch_writes_nothing(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("a", 1, &["x"])]);
    let before = (catalogue.standing().expect("a standing"), everything(&*catalogue));
    apply(&*catalogue, &[]);
    assert_eq!((catalogue.standing().expect("a standing"), everything(&*catalogue)), before);
}

pub(crate) fn the_same_bytes_are_not_stamped(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("a", 1, &["x"])]);
    let before = item(&*catalogue, "a");
    let title = Facts { title: Some("A".to_owned()), digests: None };
    let learned = Learned { number: before.number, fingerprint: before.fingerprint, facts: title.clone() };
    catalogue.learn(&[learned]).expect("facts are remembered or dropped");
    clock.set(20_000);
    apply(&*catalogue, &[Change::Same { number: before.number, fingerprint: state(1, 77) }]);
    let after = item(&*catalogue, "a");
    assert_eq!(after.datestamp, before.datestamp);
    assert_eq!(after.fingerprint, state(1, 77));
    assert_eq!(after.facts, title);
    // A put is a change, even of what is already there.
    apply(&*catalogue, &[put_state("a", state(1, 77), &["x"])]);
    assert_eq!(item(&*catalogue, "a").datestamp, Datestamp::from_unix(20_000));
}

pub(crate) fn facts_belong_to_one_state(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("a", 1, &["x"])]);
    let number = item(&*catalogue, "a").number;
    let title = Facts { title: Some(String::new()), digests: None };
    let digests = Facts { title: None, digests: Some(Digests { sha256: [7; 32], md5: [8; 16] }) };
    let learn = |fingerprint, facts: &Facts| {
        catalogue.learn(&[Learned { number, fingerprint, facts: facts.clone() }]).expect("no error");
    };
    learn(state(1, 1), &title);
    learn(state(1, 1), &digests);
    let both = Facts { title: Some(String::new()), digests: digests.digests };
    assert_eq!(item(&*catalogue, "a").facts, both, "one does not displace the other");
    assert_eq!(everything(&*catalogue)[0].facts, both);
    assert_eq!(item(&*catalogue, "a").datestamp, Datestamp::from_unix(1));

    apply(&*catalogue, &[put_state("a", state(1, 1), &["y"])]);
    assert_eq!(item(&*catalogue, "a").facts, both, "in another set, but in the same state");
    let mut retyped = put_state("a", state(1, 1), &["y"]);
    if let Change::Put { media_type, .. } = &mut retyped {
        *media_type = "text/plain".into();
    }
    apply(&*catalogue, &[retyped]);
    assert_eq!(item(&*catalogue, "a").facts, digests, "of another kind, but with the same bytes");
    apply(&*catalogue, &[put_state("a", state(2, 2), &["x"])]);
    assert_eq!(item(&*catalogue, "a").facts, Facts::default(), "a new state is unknown");
    learn(state(1, 1), &title);
    assert_eq!(item(&*catalogue, "a").facts, Facts::default(), "facts about the old state come too late");
    learn(state(2, 2), &title);
    assert_eq!(item(&*catalogue, "a").facts, title);
    catalogue.learn(&[]).expect("no error");
}
