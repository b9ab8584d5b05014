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

#[test]
fn a_process_that_stands_still_with_the_lock_holds_nobody_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flow");
    let clock = Arc::new(AtomicU64::new(1_000_000_000));
    let ledger = Ledger::open(Some(&path), hand(&clock));
    charge(&ledger, 1, 5);
    let other = std::fs::File::open(&path).expect("a file");
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    let begun = std::time::Instant::now();
    charge(&ledger, 1, 5);
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
    drop(other);
    assert_eq!(taken(&ledger, 1), 5, "what could not be written is forgotten, and nothing else");
}
