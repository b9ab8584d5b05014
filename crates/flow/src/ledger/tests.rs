use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::*;
use crate::settings::Budget;

/// A clock that stands still until it is told to go on.
fn hand(clock: &Arc<AtomicU64>) -> Ticks {
    let clock = clock.clone();
    Box::new(move || clock.load(Ordering::Relaxed))
}

fn records(limit: u64) -> Budget {
    Budget { records: limit, ..Budget::default() }
}

fn charge(ledger: &Ledger, key: u64, amount: u64) {
    ledger.visit(Some(key), |now, _, account| account.charge(now, &records(1_000_000), amount, 0));
}

/// What has been taken, as the bucket tells it.
fn taken(ledger: &Ledger, key: u64) -> u64 {
    ledger.visit(Some(key), |now, _, account| account.records.full_at.saturating_sub(now) / 3_600)
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flow");
    let clock = Arc::new(AtomicU64::new(1_000_000_000));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Each with a file of its own, as processes have.
                let ledger = Ledger::open(Some(&path), hand(&clock));
                for round in 0..200 {
                    charge(&ledger, 1 + round % 5, 1);
                }
            });
        }
    });
    let ledger = Ledger::open(Some(&path), hand(&clock));
    assert_eq!((1..=5).map(|key| taken(&ledger, key)).collect::<Vec<_>>(), [160; 5]);
    let mode = std::fs::metadata(&path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "nobody else's business");
}

#[test]
fn a_damaged_account_begins_anew_and_the_others_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flow");
    let clock = Arc::new(AtomicU64::new(1_000_000_000));
    let ledger = Ledger::open(Some(&path), hand(&clock));
    charge(&ledger, 1, 10);
    charge(&ledger, 2, 20);
    let bytes = std::fs::read(&path).expect("a ledger");
    // The first place of the first set but one.
    let page = usize::try_from(file::ACCOUNTS_AT).expect("a small file") + file::WAYS * page::ACCOUNT;
    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("a file");
    for at in (page..page + 100).step_by(7) {
        file.write_all_at(&[bytes[at] ^ 0x55], at as u64).expect("damaged");
        assert_eq!(taken(&ledger, 1), 0, "damaged at {at}");
        assert_eq!(taken(&ledger, 2), 20);
        file.write_all_at(&bytes[page..], page as u64).expect("mended");
        file.write_all_at(&bytes[..page], 0).expect("mended");
    }
    assert_eq!(taken(&ledger, 1), 10);
    // A file of something else, or of another version.
    std::fs::write(&path, "not a ledger").expect("written");
    assert_eq!(taken(&Ledger::open(Some(&path), hand(&clock)), 2), 0);
}

#[test]
fn who_has_not_been_seen_for_longest_makes_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(AtomicU64::new(1_000_000_000));
    let ledger = Ledger::open(Some(&folder.path().join("flow")), hand(&clock));
    // Nine in a set of eight.
    let keys: Vec<u64> = (1..=9).map(|number| 5 + number * file::SETS).collect();
    for key in &keys[..8] {
        charge(&ledger, *key, 7);
        clock.fetch_add(1_000, Ordering::Relaxed);
    }
    assert!(taken(&ledger, keys[0]) > 0, "seen again");
    clock.fetch_add(1_000, Ordering::Relaxed);
    charge(&ledger, keys[8], 7);
    assert!(keys.iter().filter(|key| **key != keys[1]).all(|key| taken(&ledger, *key) > 0));
    assert_eq!(taken(&ledger, keys[1]), 0);
}

#[test]
fn time_goes_on_whatever_the_machine_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flow");
    let clock = Arc::new(AtomicU64::new(50_000_000_000));
    let now = |ledger: &Ledger| ledger.visit(None, |now, _, _| now);
    let before = now(&Ledger::open(Some(&path), hand(&clock)));
    // The machine was started again: the count begins anew.
    clock.store(3_000_000, Ordering::Relaxed);
    let ledger = Ledger::open(Some(&path), hand(&clock));
    let after = now(&ledger);
    assert!(after >= before && after < before + 60_000_000, "{before} {after}");
    clock.fetch_add(5_000_000, Ordering::Relaxed);
    assert_eq!(now(&ledger), after + 5_000_000);
    // And a second process sees the same.
    assert_eq!(now(&Ledger::open(Some(&path), hand(&clock))), after + 5_000_000);
}

#[test]
fn without_a_file_accounts_are_those_of_the_process() {
    let clock = Arc::new(AtomicU64::new(1_000_000_000));
    let nowhere = Path::new("/nowhere/at/all");
    for path in [None, Some(nowhere)] {
        let ledger = Ledger::open(path, hand(&clock));
        for key in 0..10_000 {
            charge(&ledger, key, 3);
        }
        assert_eq!(taken(&ledger, 9_999), 3);
        assert!(ledger.lock().accounts.len() <= MOST_IN_MEMORY);
    }
}

/// A ledger, and somebody who has stopped in the middle of using it.
struct Stopped {
    ledger: Ledger,
    clock: Arc<AtomicU64>,
    other: Option<std::fs::File>,
    _folder: tempfile::TempDir,
}

impl Stopped {
    /// After somebody has done this.
    fn after(act: impl FnOnce(&Ledger)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("flow");
        let clock = Arc::new(AtomicU64::new(1_000_000_000));
        let ledger = Ledger::open(Some(&path), hand(&clock));
        act(&ledger);
        let other = std::fs::File::open(&path).expect("a file");
        rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).expect("locked");
        Self { ledger, clock, other: Some(other), _folder: folder }
    }

    fn goes_on(&mut self) {
        self.other = None;
        self.clock.fetch_add(LONGEST_REST, Ordering::Relaxed);
    }
}

fn ending(key: u64, amount: u64, number: u64) -> Ending {
    let list = Some(EndedList { number, time: 1_000, is_cut_short: false });
    Ending { key, budget: records(1_000_000), records: amount, bytes: 0, list }
}

#[test]
fn a_process_that_stands_still_with_the_lock_holds_nobody_up() {
    let mut stopped = Stopped::after(|ledger| charge(ledger, 1, 10_000));
    let begun = std::time::Instant::now();
    charge(&stopped.ledger, 1, 5);
    let until = stopped.ledger.lock().trouble.as_ref().map(|trouble| trouble.until);
    // The next ones do not even try.
    for _ in 0..5_000 {
        charge(&stopped.ledger, 1, 5);
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
    assert!(until.is_some());
    assert_eq!(stopped.ledger.lock().trouble.as_ref().map(|trouble| trouble.until), until);
    for _ in 0..3 {
        stopped.clock.fetch_add(LONGEST_REST, Ordering::Relaxed);
        charge(&stopped.ledger, 1, 5);
    }
    let rest = stopped.ledger.lock().trouble.as_ref().map(|trouble| trouble.rest);
    assert_eq!(rest, Some(8 * FIRST_REST), "longer and longer");
    stopped.goes_on();
    assert!((1..10_000).contains(&taken(&stopped.ledger, 1)), "only endings are made up for");
    assert!(stopped.ledger.lock().trouble.is_none(), "the next trouble is told again");
}

#[test]
fn what_ended_meanwhile_is_made_up_for() {
    let mut stopped = Stopped::after(|ledger| {
        ledger.visit(Some(1), |now, site, account| {
            account.charge(now, &records(1_000_000), 5_000, 0);
            site.leases.give(now, 7, MOST_LISTS);
            account.leases.give(now, 7, MOST_LISTS_OF_ONE);
        });
    });
    stopped.ledger.end(ending(1, 5_000, 7));
    (0..200).for_each(|number| stopped.ledger.end(ending(2, 10, number)));
    stopped.goes_on();
    // A part of it with each visit.
    (0..4).for_each(|_| stopped.ledger.visit(None, |_, _, _| ()));
    let (leases, of_account) =
        stopped.ledger.visit(Some(1), |_, site, account| (site.leases.clone(), account.leases.clone()));
    assert_eq!((leases.0, of_account.0), (vec![], vec![]));
    assert!(stopped.ledger.lock().owed.is_empty());
    // What flowed in meanwhile was less than what was there.
    assert!(taken(&stopped.ledger, 1) > 5_000, "{}", taken(&stopped.ledger, 1));
    assert_eq!(taken(&stopped.ledger, 2), 2_000);
}

#[test]
fn what_is_kept_for_later_is_bounded_and_what_began_meanwhile_is_known_later() {
    let mut stopped = Stopped::after(|_| {});
    (0..10_000).for_each(|number| stopped.ledger.end(ending(1, 1, number)));
    assert_eq!(stopped.ledger.lock().owed.len(), MOST_OWED);
    assert_eq!(stopped.ledger.lock().trouble.as_ref().map(|trouble| trouble.lost), Some(10_000 - MOST_OWED as u64));
    stopped.ledger.visit(Some(1), |now, site, account| {
        site.leases.give(now, 77, MOST_LISTS);
        account.leases.give(now, 77, MOST_LISTS_OF_ONE);
    });
    stopped.goes_on();
    let known =
        |ledger: &Ledger| ledger.visit(Some(1), |_, site, account| (site.leases.0.len(), account.leases.0.len()));
    assert_eq!(known(&stopped.ledger), (0, 0));
    stopped.ledger.visit(Some(1), |now, site, account| {
        site.leases.renew(now, 77, MOST_LISTS);
        account.leases.renew(now, 77, MOST_LISTS_OF_ONE);
    });
    assert_eq!(known(&stopped.ledger), (1, 1));
    stopped.ledger.end(ending(1, 1, 77));
    assert_eq!(known(&stopped.ledger), (0, 0));
    assert_eq!(stopped.ledger.lock().site.leases.0, [], "nor in memory");
}
