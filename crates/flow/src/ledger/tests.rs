//! The shared file: processes, failures, and a file that belongs to another start of the machine.

use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, flock};

use super::*;

const PATIENCE: Duration = Duration::from_secs(600);

/// A ledger with a clock that a test sets.
fn ledger(path: Option<&Path>) -> (Ledger, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(100 * SECOND));
    let clock = time.clone();
    (Ledger::open(path, Box::new(move || clock.load(Ordering::Relaxed))), time)
}

fn add(ledger: &Ledger, key: u64, patience: Duration) -> u64 {
    ledger.update(key, patience, |_, site, account| {
        account.records += 1;
        site.time += 1;
        account.records
    })
}

#[test]
fn ledgers_of_one_file_share_accounts_and_lose_no_update() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flow");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let (ledger, _) = ledger(Some(&path));
                for number in 0..200 {
                    add(&ledger, 1 + number % 10, PATIENCE);
                }
            });
        }
    });
    let (ledger, _) = ledger(Some(&path));
    for key in 1..=10 {
        assert_eq!(ledger.update(key, PATIENCE, |_, _, account| account.records), 80, "{key}");
    }
    assert_eq!(ledger.update(0, PATIENCE, |_, site, _| site.time), 800);
}

#[test]
fn time_never_goes_back_between_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flow");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let ledger = Ledger::open(Some(&path), since_boot());
                for _ in 0..500 {
                    ledger.update(1, PATIENCE, |now, _, account| {
                        assert!(now >= account.last_list, "{now} is before {}", account.last_list);
                        account.last_list = now;
                    });
                }
            });
        }
    });
}

#[test]
fn least_recently_used_account_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ledger, time) = ledger(Some(&folder.path().join("flow")));
    // Keys of one group.
    let key = |number: u64| 5 + number * 2048;
    for number in 0..8 {
        time.fetch_add(SECOND, Ordering::Relaxed);
        add(&ledger, key(number), PATIENCE);
    }
    time.fetch_add(SECOND, Ordering::Relaxed);
    assert_eq!(add(&ledger, key(0), PATIENCE), 2);
    assert_eq!(add(&ledger, key(8), PATIENCE), 1);
    assert_eq!(add(&ledger, key(0), PATIENCE), 3);
    assert_eq!(add(&ledger, key(1), PATIENCE), 1, "it was used least recently");
}

#[test]
fn locked_file_is_not_waited_for_and_used_again_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flow");
    let (ledger, time) = ledger(Some(&path));
    assert_eq!(add(&ledger, 1, PATIENCE), 1);
    let other = std::fs::File::open(&path).expect("the file");
    flock(&other, FlockOperation::LockExclusive).expect("a lock");
    assert_eq!(add(&ledger, 1, Duration::ZERO), 1, "in memory");
    flock(&other, FlockOperation::Unlock).expect("no lock");
    assert_eq!(add(&ledger, 1, PATIENCE), 2, "still in memory");
    time.fetch_add(SECOND, Ordering::Relaxed);
    assert_eq!(add(&ledger, 1, PATIENCE), 2, "in the file");
}

#[test]
fn unusable_path_and_missing_path_mean_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in [None, Some(folder.path())] {
        let (ledger, _) = ledger(path);
        assert_eq!((add(&ledger, 1, PATIENCE), add(&ledger, 1, PATIENCE)), (1, 2));
        for key in 0..2 * MAX_IN_MEMORY as u64 {
            add(&ledger, key, PATIENCE);
        }
        assert!(ledger.state.lock().expect("not poisoned").accounts.len() <= MAX_IN_MEMORY);
    }
}

#[test]
fn file_of_another_format_or_start_of_the_machine_is_emptied() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flow");
    assert_eq!(add(&ledger(Some(&path)).0, 1, PATIENCE), 1);
    assert_eq!(add(&ledger(Some(&path)).0, 1, PATIENCE), 2);
    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("the file");
    file.write_all_at(b"00000000", 30).expect("another identifier");
    assert_eq!(add(&ledger(Some(&path)).0, 1, PATIENCE), 1);
}
