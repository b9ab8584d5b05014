//! The file of a ledger.
//!
//! ```text
//! 0       what it is
//! 4096    what concerns all
//! 20480   which accounts there are: sets of eight, each with its key and when it was used last
//! 282624  the accounts, in the same order
//! ```
//!
//! An account may be anywhere in the set that its key leads to. The list of keys is only there to find it with one
//! read: what counts is the key on the account's own page. Where nobody has been, the file has holes, and takes no
//! space.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::Site;
use super::page::{ACCOUNT, HEAD, Kept, SITE};
use crate::account::Account;

/// What it is, and how it is laid out: any other file is begun anew.
const MARK: &[u8; 16] = b"modoai flow 1\n\0\0";

/// Accounts that share a set.
pub(super) const WAYS: usize = 8;

/// Sets; with eight accounts each, several times the harvesters that the world has.
pub(super) const SETS: u64 = 2048;

const SITE_AT: u64 = 4096;
const INDEX_AT: u64 = SITE_AT + SITE as u64;
const ENTRY: usize = 16;
pub(super) const ACCOUNTS_AT: u64 = INDEX_AT + SETS * (WAYS * ENTRY) as u64;

/// How often the lock is tried for, and the pause between. Somebody who holds it for longer has been stopped in the
/// middle, and requests must not wait for that.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_micros(200);

/// More than is usually on a page.
const MOSTLY: usize = 1024;

/// The key under which nobody is kept.
const NOBODY: u64 = 0;

/// An open ledger.
pub(crate) struct File {
    file: std::fs::File,
}

/// The lock, held.
struct Lock<'a>(&'a std::fs::File);

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // It would also end with the process.
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

/// One party at the ledger; nobody else is.
pub(crate) struct Visit<'a> {
    lock: Lock<'a>,
    now: u64,
    site: Site,
    account: Account,
    before: Account,
    place: Option<Place>,
}

/// Where an account is.
#[derive(Clone, Copy)]
struct Place {
    key: u64,
    number: u64,
    is_new: bool,
    used: u64,
}

impl Place {
    fn entry_at(self) -> u64 {
        INDEX_AT + self.number * ENTRY as u64
    }

    fn page_at(self) -> u64 {
        ACCOUNTS_AT + self.number * ACCOUNT as u64
    }
}

impl File {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        // Who harvests is nobody else's business.
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let this = Self { file };
        let lock = this.lock()?;
        let mut mark = [0; MARK.len()];
        let is_ours = this.file.read_exact_at(&mut mark, 0).is_ok() && mark == *MARK;
        if !is_ours {
            this.file.set_len(0)?;
            this.file.write_all_at(MARK, 0)?;
        }
        drop(lock);
        Ok(this)
    }

    /// Takes the lock and reads what concerns all, and the account of a key.
    pub(crate) fn visit(&self, key: Option<u64>, ticks: u64) -> io::Result<Visit<'_>> {
        let lock = self.lock()?;
        let mut site: Site = self.read(SITE_AT, SITE, NOBODY)?;
        let now = site.clock.read(ticks);
        let place = key.map(|key| self.find(key.max(1))).transpose()?;
        let account = match place {
            Some(place) if !place.is_new => self.read(place.page_at(), ACCOUNT, place.key)?,
            _ => Account::default(),
        };
        Ok(Visit { lock, now, site, before: account.clone(), account, place })
    }

    fn lock(&self) -> io::Result<Lock<'_>> {
        for _ in 0..TRIES {
            match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock(&self.file)),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => sleep(PAUSE),
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds the ledger of flow control for too long"))
    }

    /// Where the account of a key is, or will be.
    fn find(&self, key: u64) -> io::Result<Place> {
        let set = key % SETS;
        let mut entries = [0; WAYS * ENTRY];
        read_up_to(&self.file, &mut entries, INDEX_AT + set * (WAYS * ENTRY) as u64)?;
        let number_at = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let mut eldest = Place { key, number: set * WAYS as u64, is_new: true, used: u64::MAX };
        for (way, entry) in entries.chunks_exact(ENTRY).enumerate() {
            let (found, used) = (number_at(entry), number_at(&entry[8..]));
            let number = set * WAYS as u64 + way as u64;
            if found == key {
                return Ok(Place { key, number, is_new: false, used });
            }
            let used = if found == NOBODY { 0 } else { used };
            if used < eldest.used {
                eldest = Place { number, used, ..eldest };
            }
        }
        Ok(eldest)
    }

    /// What is kept somewhere. What is not there yet, or damaged, is as new.
    fn read<T: Kept>(&self, at: u64, most: usize, key: u64) -> io::Result<T> {
        let mut page = vec![0; MOSTLY];
        let mut length = read_up_to(&self.file, &mut page, at)?;
        let needed =
            page.get(8..16).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let needed = HEAD + usize::try_from(needed).unwrap_or(0).min(most - HEAD);
        if needed > length && length == page.len() && page.len() < most {
            page.resize(needed, 0);
            length = read_up_to(&self.file, &mut page, at)?;
        }
        Ok(T::from_page(&page[..length], key).unwrap_or_default())
    }
}

impl Visit<'_> {
    /// Does something, and writes what has changed.
    pub(crate) fn act<R>(mut self, act: impl FnOnce(u64, &mut Site, &mut Account) -> R) -> (R, io::Result<()>) {
        let result = act(self.now, &mut self.site, &mut self.account);
        (result, self.end())
    }

    fn end(self) -> io::Result<()> {
        let file = self.lock.0;
        if let Some(place) = self.place {
            if place.is_new || self.account != self.before {
                file.write_all_at(&self.account.to_page(place.key), place.page_at())?;
            }
            let mut entry = [0; ENTRY];
            entry[..8].copy_from_slice(&place.key.to_le_bytes());
            entry[8..].copy_from_slice(&self.now.to_le_bytes());
            // After the page: a key in the list without its page would only be a new account.
            file.write_all_at(&entry, place.entry_at())?;
        }
        file.write_all_at(&self.site.to_page(NOBODY), SITE_AT)
    }
}

/// Reads until the room is full or the file ends.
fn read_up_to(file: &std::fs::File, room: &mut [u8], at: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < room.len() {
        match file.read_at(&mut room[done..], at + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
