//! Limits on the data that a server can make a harvest store.
//!
//! A server decides how much it sends, and a few megabytes on the wire can become gigabytes when they are decompressed.
//! Every byte that is about to be stored is counted here, after decompression, wherever it comes from.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of stored bytes after which the free space is checked again.
const CHECKED_EVERY: u64 = 4 << 20;

/// Limits, each with the reason for its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest record, and the largest resource that a record refers to, in bytes. 4 GiB: larger than any record,
    /// and than most files of most sites. Larger ones are reported as missing.
    pub size: u64,
    /// The maximum number of bytes to store. 100 GiB: few repositories are larger, and no disk fills up unnoticed. At
    /// the limit a harvest stops; the next run continues.
    pub total: u64,
    /// The free space that is left on the disk, in bytes. 500 MiB: enough for all other programs on the machine to keep
    /// running.
    pub free: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { size: 4 << 30, total: 100 << 30, free: 500 << 20 }
    }
}

/// A limit that was reached.
#[derive(Debug, thiserror::Error)]
pub enum Reached {
    /// The limit of stored bytes is exceeded.
    #[error("stopped: more than {} would be stored (--max-total)", size(*limit))]
    Total {
        /// The limit.
        limit: u64,
    },
    /// Too little space is free on the disk.
    #[error("stopped: {} of free disk space at {}, less than {} (--min-free)", size(*found), path.display(), size(*limit))]
    Free {
        /// A folder on the disk.
        path: PathBuf,
        /// The free space.
        found: u64,
        /// The limit.
        limit: u64,
    },
}

/// Formats a number of bytes in the largest unit that leaves no fraction; otherwise in MiB, or in bytes below 10 MiB.
pub fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| bytes > 0 && bytes.is_multiple_of(1 << shift)) {
        Some((shift, unit)) if *shift >= 20 => format!("{} {unit}", bytes >> shift),
        _ if bytes >> 20 > 9 => format!("{} MiB", bytes >> 20),
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}

/// Counts the bytes that are stored.
#[derive(Debug, Default)]
pub struct Budget {
    limits: Limits,
    stored: AtomicU64,
    /// The number of bytes that were stored at the last check of the free space.
    checked: AtomicU64,
    places: Vec<PathBuf>,
}

impl Budget {
    /// Creates a budget for data in these folders, which already contain `stored` bytes that count.
    pub fn new(limits: Limits, places: Vec<PathBuf>, stored: u64) -> Self {
        Self { limits, stored: AtomicU64::new(stored), checked: AtomicU64::new(0), places }
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Counts bytes that are about to be stored. Fails if that is more than a limit allows.
    pub fn take(&self, bytes: u64) -> Result<(), Reached> {
        let stored = self.stored.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let limit = self.limits.total;
        if stored > limit {
            return Err(Reached::Total { limit });
        }
        if stored >= self.checked.load(Ordering::Relaxed).saturating_add(CHECKED_EVERY) {
            self.check_free()?;
        }
        Ok(())
    }

    /// Subtracts bytes that were counted but are not stored.
    pub fn give_back(&self, bytes: u64) {
        let less = |stored: u64| Some(stored.saturating_sub(bytes));
        let less = self.stored.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        self.checked.fetch_min(less.unwrap_or_default(), Ordering::Relaxed);
    }

    /// Fails if less space is free than the limit says. A disk that does not report its free space is treated as not
    /// full.
    pub fn check_free(&self) -> Result<(), Reached> {
        self.checked.store(self.stored.load(Ordering::Relaxed), Ordering::Relaxed);
        let limit = self.limits.free;
        for path in self.places.iter().filter(|_| limit > 0) {
            let Ok(disk) = rustix::fs::statvfs(path) else { continue };
            let found = disk.f_bavail.saturating_mul(disk.f_frsize);
            if found < limit {
                return Err(Reached::Free { path: path.clone(), found, limit });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(limits: Limits) -> Budget {
        Budget::new(limits, vec![std::env::temp_dir()], 10)
    }

    #[test]
    fn sizes_are_readable() {
        let written = [0, 1, 1024, 1500, 500 << 20, 4 << 30, (4 << 30) + 4096].map(size);
        assert_eq!(written, ["0 bytes", "1 bytes", "1 KiB", "1500 bytes", "500 MiB", "4 GiB", "4096 MiB"]);
    }

    #[test]
    fn the_total_counts_what_is_there_and_not_what_was_given_back() {
        let budget = budget(Limits { total: 100, ..Limits::default() });
        assert!(budget.take(90).is_ok());
        budget.give_back(50);
        assert!(budget.take(50).is_ok());
        assert!(matches!(budget.take(1), Err(Reached::Total { limit: 100 })));
        budget.give_back(u64::MAX);
        assert!(budget.take(100).is_ok());
        assert!(budget.take(u64::MAX).is_err());
    }

    #[test]
    fn free_space_is_looked_up_before_and_while_something_is_stored() {
        let full = budget(Limits { free: u64::MAX, ..Limits::default() });
        assert!(matches!(full.check_free(), Err(Reached::Free { .. })));
        assert!(full.take(1).is_ok(), "not for every byte");
        assert!(matches!(full.take(CHECKED_EVERY), Err(Reached::Free { .. })));
        let none = budget(Limits { free: 0, ..Limits::default() });
        assert!(none.check_free().is_ok() && none.take(CHECKED_EVERY).is_ok());
        let unknown = Budget::new(Limits::default(), vec!["/nowhere/at/all".into()], 0);
        assert!(unknown.check_free().is_ok());
    }
}
