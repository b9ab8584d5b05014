//! One writer, many readers, and nothing lost between them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use modoai_protocol::{Datestamp, Range};
use modoai_repository::catalogue::{Catalogue, CatalogueError, Selected};
use modoai_repository::item::Item;

use super::{HandClock, Place, Random, delete, everything, filled, list, put, put_state, spec, state};

pub(crate) fn there_is_one_writer(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = place.opened(&clock);
    let writer = catalogue.writer().expect("nobody else writes");
    for second in [&catalogue, &place.opened(&clock)] {
        assert!(matches!(second.writer(), Err(CatalogueError::Locked { .. })));
    }
    drop(writer);
    let mut writer = place.opened(&clock).writer().expect("the first writer is gone");
    writer.apply(&[put("a", 1, &["x"])]).expect("changes apply");
}

pub(crate) fn readers_never_see_half_a_batch(place: &dyn Place) {
    const ITEMS: usize = 60;
    let clock = HandClock::at(10_000);
    let batch = |size: u64| -> Vec<_> {
        let set = if size.is_multiple_of(2) { "x:even" } else { "x:odd" };
        (0..ITEMS).map(|n| put_state(&format!("{n}"), state(size, 1), &[set])).collect()
    };
    let catalogue = filled(place, &clock, &batch(0));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = catalogue.writer().expect("nobody else writes");
            let began = Instant::now();
            for size in (1..).take_while(|_| began.elapsed() < Duration::from_millis(600)) {
                writer.apply(&batch(size)).expect("changes apply");
            }
            done.store(true, Ordering::SeqCst);
        });
        while !done.load(Ordering::SeqCst) {
            let items = list(&*catalogue, Some(&spec("x")), Range::ALL, 1000);
            // The last, empty page is another look, so a whole later batch may have come after the first.
            for chunk in items.chunks(ITEMS) {
                assert_eq!(chunk.len(), ITEMS);
                assert!(chunk.iter().all(|item| item.fingerprint.size == chunk[0].fingerprint.size));
            }
            assert_eq!(catalogue.count(Selected::ALL).expect("a count"), ITEMS as u64);
            assert_eq!(catalogue.sets().expect("sets").len(), 2);
        }
    });
}

pub(crate) fn an_incremental_harvester_misses_nothing(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("0", 1, &["x"])]);
    harvest_while_writing(&*catalogue, &*catalogue, &clock);
}

pub(crate) fn nor_does_one_that_asks_another_process(place: &dyn Place) {
    let clock = HandClock::at(10_000);
    let catalogue = filled(place, &clock, &[put("0", 1, &["x"])]);
    harvest_while_writing(&*catalogue, &*place.opened(&clock), &clock);
}

/// Harvesters that always go on from the last `as_of` end up with exactly what the catalogue holds.
fn harvest_while_writing(written: &dyn Catalogue, read: &dyn Catalogue, clock: &HandClock) {
    let done = AtomicBool::new(false);
    let mut copies = Vec::new();
    thread::scope(|scope| {
        let harvesters: Vec<_> = (0..2).map(|_| scope.spawn(|| harvest_until(read, &done))).collect();
        scope.spawn(|| {
            let mut random = Random(11);
            let mut now = 10_000;
            let began = Instant::now();
            while !done.load(Ordering::SeqCst) {
                // The clock goes forward, stands still, and is now and then set back.
                now += match random.below(200) {
                    0 => -(random.below(50) as i64),
                    1..80 => random.below(4) as i64,
                    _ => 0,
                };
                clock.set(now);
                if began.elapsed() > Duration::from_millis(900) {
                    done.store(true, Ordering::SeqCst);
                }
                thread::sleep(Duration::from_micros(50));
            }
        });
        let mut writer = written.writer().expect("nobody else writes");
        // Nothing changes twice, so whatever is missed stays missed.
        for round in (0..).take_while(|_| !done.load(Ordering::SeqCst)) {
            let come = |n| put(&format!("{round}/{n}"), 1, &["x"]);
            let mut changes: Vec<_> = (0..3).map(come).collect();
            changes.push(delete(&format!("{}/1", round / 2)));
            writer.apply(&changes).expect("changes apply");
        }
        drop(writer);
        copies.extend(harvesters.into_iter().map(|harvester| harvester.join().expect("the harvester finished")));
    });
    let truth: BTreeMap<_, _> = everything(written).into_iter().map(|item| (item.name.clone(), item)).collect();
    for (mut copy, as_of) in copies {
        harvest(read, as_of, &mut copy);
        assert_eq!(copy, truth);
    }
}

type Copy = BTreeMap<String, Item>;

fn harvest_until(catalogue: &dyn Catalogue, done: &AtomicBool) -> (Copy, Datestamp) {
    let (mut copy, mut as_of) = (Copy::new(), Datestamp::MIN);
    while !done.load(Ordering::SeqCst) {
        as_of = harvest(catalogue, as_of, &mut copy);
    }
    (copy, as_of)
}

/// One harvest of what changed since the last; returns where the next begins.
fn harvest(catalogue: &dyn Catalogue, from: Datestamp, copy: &mut Copy) -> Datestamp {
    let as_of = catalogue.standing().expect("a standing").as_of;
    let changed = list(catalogue, None, Range { first: from, last: Datestamp::MAX }, 40);
    copy.extend(changed.into_iter().map(|item| (item.name.clone(), item)));
    as_of
}
