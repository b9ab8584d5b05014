//! The file of a ledger: numbers of 8 bytes, little-endian, in slots of fixed size.
//!
//! ```text
//! 0      what the file is, and when the machine was started: any other file starts from scratch
//! 4096   what all accounts share, and the leases
//! 24576  accounts: 2048 groups of 8 slots of 128 bytes
//! ```
//!
//! An account is in any slot of the group that its key selects; if all are taken, it replaces the one that was used
//! least recently. No slot crosses a page of the file system, so none is ever half written.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::account::{Account, Typical};
use crate::gcra::Micros;
use crate::site::{Lease, Leases, MAX_LISTS, Site};

const FORMAT: &str = "modoai flow control 3\n";
const SITE_AT: u64 = 4096;
const ACCOUNTS_AT: u64 = 24_576;
const GROUPS: u64 = 2048;

/// The state that all accounts share, or one lease.
type Row = [u64; 4];
/// One account.
type Slot = [u64; 16];
/// The slots in which an account may be.
type Group = [Slot; 8];

/// An open ledger.
pub(super) struct File(std::fs::File);

/// The rows that were read, with the file locked.
pub(super) struct Page<'a> {
    lock: Lock<'a>,
    pub(super) site: Site,
    pub(super) account: Account,
    before: (Site, Account),
    key: u64,
    slot_at: u64,
}

/// The lock; dropping it unlocks.
struct Lock<'a>(&'a std::fs::File);

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // The lock would also end with the process.
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

impl File {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // The list of harvesters is private to the user of this process.
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let this = Self(file);
        let lock = this.lock(Duration::from_secs(1))?;
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let expected = format!("{FORMAT}{boot}");
        let mut found = vec![0; expected.len()];
        if this.0.read_exact_at(&mut found, 0).is_err() || found != expected.as_bytes() {
            this.0.set_len(0)?;
            this.0.write_all_at(expected.as_bytes(), 0)?;
        }
        drop(lock);
        Ok(this)
    }

    /// Locks the file and reads the shared state and the account of a key.
    pub(super) fn read(&self, key: u64, patience: Duration) -> io::Result<Page<'_>> {
        // 0 marks a free slot.
        let key = key.max(1);
        let lock = self.lock(patience)?;
        let [queue, time, leases, _] = self.rows::<4>(SITE_AT, 1)?[0];
        let leases = usize::try_from(leases).unwrap_or(0).min(MAX_LISTS);
        let leases = self.rows::<4>(SITE_AT + size_of::<Row>() as u64, leases)?;
        let site = Site { queue, time, leases: Leases(leases.iter().map(lease).collect()) };
        let group_at = ACCOUNTS_AT + key % GROUPS * size_of::<Group>() as u64;
        let group = self.rows::<16>(group_at, size_of::<Group>() / size_of::<Slot>())?;
        // The account's own slot, else a free one, else the one used least recently.
        let rank = |slot: &Slot| {
            if slot[0] == key {
                (0, 0)
            } else if slot[0] == 0 {
                (1, 0)
            } else {
                (2, slot[1])
            }
        };
        let (number, slot) = group.iter().enumerate().min_by_key(|(_, slot)| rank(slot)).expect("eight slots");
        let account = if slot[0] == key { account(slot) } else { Account::default() };
        let slot_at = group_at + (number * size_of::<Slot>()) as u64;
        Ok(Page { lock, before: (site.clone(), account), site, account, key, slot_at })
    }

    fn lock(&self, patience: Duration) -> io::Result<Lock<'_>> {
        let begun = Instant::now();
        loop {
            match flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock(&self.0)),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) if begun.elapsed() < patience => {
                    std::thread::sleep(Duration::from_micros(200));
                }
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "locked by another process"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns `count` rows of `N` numbers; zeros where the file ends.
    fn rows<const N: usize>(&self, at: u64, count: usize) -> io::Result<Vec<[u64; N]>> {
        let mut bytes = vec![0; count * size_of::<[u64; N]>()];
        let mut done = 0;
        while done < bytes.len() {
            match self.0.read_at(&mut bytes[done..], at + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let numbers: Vec<u64> = bytes.as_chunks().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect();
        Ok(numbers.as_chunks().0.to_vec())
    }
}

impl Page<'_> {
    /// Writes what has changed and unlocks the file.
    pub(super) fn write(self, now: Micros) -> io::Result<()> {
        let file = self.lock.0;
        if self.account != self.before.1 {
            let Account { terms, list, request, records, bytes, queue, last_list, typical } = self.account;
            let Typical { records: typical_records, bytes: typical_bytes, time } = typical;
            let budgets = [terms, list, request, records, bytes, queue, last_list];
            let numbers = [&[self.key, now][..], &budgets, &[typical_records, typical_bytes, time]].concat();
            file.write_all_at(&to_bytes(&numbers), self.slot_at)?;
        }
        if self.site != self.before.0 {
            let Site { queue, time, leases } = &self.site;
            let mut numbers = vec![*queue, *time, leases.0.len() as u64, 0];
            for Lease { account, number, process, namespace, until } in &leases.0 {
                numbers.extend([*account, *number, u64::from(*process) << 32 | u64::from(*namespace), *until]);
            }
            file.write_all_at(&to_bytes(&numbers), SITE_AT)?;
        }
        Ok(())
    }
}

fn account(slot: &Slot) -> Account {
    Account {
        terms: slot[2],
        list: slot[3],
        request: slot[4],
        records: slot[5],
        bytes: slot[6],
        queue: slot[7],
        last_list: slot[8],
        typical: Typical { records: slot[9], bytes: slot[10], time: slot[11] },
    }
}

fn lease(numbers: &Row) -> Lease {
    let (process, namespace) = ((numbers[2] >> 32) as u32, numbers[2] as u32);
    Lease { account: numbers[0], number: numbers[1], process, namespace, until: numbers[3] }
}

fn to_bytes(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
