//! Records the findings that each address has received. Without it, an owner would get the same list every night, and
//! stop reading.
//!
//! A finding is recorded only after a server has accepted the message that contains it: after a crash in between, a
//! message may be sent twice, and none is lost. A finding that no longer exists is removed, so that it is reported
//! again if it reappears.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, params};
use xxhash_rust::xxh3::Xxh3;

use crate::verdict::Verdict;

/// The ledger could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("failed to open the mail history")]
pub struct LedgerError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

impl From<rusqlite::Error> for LedgerError {
    fn from(error: rusqlite::Error) -> Self {
        Self(Box::new(error))
    }
}

/// The record of reported findings, by their [`key`].
pub trait Ledger {
    /// Returns true if the finding was reported to that address.
    fn was_reported(&self, address: &str, key: u64) -> Result<bool, LedgerError>;

    /// Records that findings were reported to an address: all of the keys, or none.
    fn record(&mut self, address: &str, keys: &[u64]) -> Result<(), LedgerError>;

    /// Removes all of an address's keys except these: a finding that reappears is new.
    fn keep_only(&mut self, address: &str, found: &HashSet<u64>) -> Result<(), LedgerError>;
}

/// Returns the key of a finding: the same in every run and in every version.
pub fn key(page: &str, target: &str, fragment: Option<&str>, verdict: Verdict) -> u64 {
    let mut hash = Xxh3::new();
    // No URL contains a NUL, so different parts cannot have the same concatenation.
    for part in [page, target, fragment.map_or("", |_| "#"), fragment.unwrap_or_default(), verdict.name()] {
        hash.update(part.as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}

/// A ledger in separate tables of the database that the connection has open.
#[derive(Debug)]
pub struct SqliteLedger<'c> {
    connection: &'c Connection,
    /// The keys of each address that was queried: eight bytes per finding, and no database query for each.
    known: RefCell<HashMap<String, HashSet<u64>>>,
}

impl<'c> SqliteLedger<'c> {
    /// Opens the ledger, and creates it if it is missing.
    pub fn open(connection: &'c Connection) -> Result<Self, LedgerError> {
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS mail_address (id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE);
             CREATE TABLE IF NOT EXISTS mail_told (
                 address INTEGER NOT NULL REFERENCES mail_address (id),
                 finding INTEGER NOT NULL,
                 PRIMARY KEY (address, finding)
             ) WITHOUT ROWID;",
        )?;
        Ok(Self { connection, known: RefCell::default() })
    }

    fn number(&self, address: &str) -> Result<Option<i64>, LedgerError> {
        let mut find = self.connection.prepare_cached("SELECT id FROM mail_address WHERE address = ?1")?;
        Ok(find.query_row([address], |row| row.get(0)).optional()?)
    }

    fn keys(&self, address: &str) -> Result<HashSet<u64>, LedgerError> {
        let Some(number) = self.number(address)? else { return Ok(HashSet::new()) };
        let mut all = self.connection.prepare_cached("SELECT finding FROM mail_told WHERE address = ?1")?;
        let keys = all.query_map([number], |row| row.get(0).map(i64::cast_unsigned))?;
        Ok(keys.collect::<Result<_, _>>()?)
    }
}

impl Ledger for SqliteLedger<'_> {
    fn was_reported(&self, address: &str, key: u64) -> Result<bool, LedgerError> {
        if let Some(keys) = self.known.borrow().get(address) {
            return Ok(keys.contains(&key));
        }
        let keys = self.keys(address)?;
        let is_reported = keys.contains(&key);
        self.known.borrow_mut().insert(address.to_owned(), keys);
        Ok(is_reported)
    }

    fn record(&mut self, address: &str, keys: &[u64]) -> Result<(), LedgerError> {
        let change = self.connection.unchecked_transaction()?;
        change.execute("INSERT OR IGNORE INTO mail_address (address) VALUES (?1)", [address])?;
        let number = self.number(address)?;
        {
            let mut enter =
                change.prepare_cached("INSERT OR IGNORE INTO mail_told (address, finding) VALUES (?1, ?2)")?;
            for key in keys {
                enter.execute(params![number, key.cast_signed()])?;
            }
        }
        change.commit()?;
        if let Some(known) = self.known.get_mut().get_mut(address) {
            known.extend(keys);
        }
        Ok(())
    }

    fn keep_only(&mut self, address: &str, found: &HashSet<u64>) -> Result<(), LedgerError> {
        let Some(number) = self.number(address)? else { return Ok(()) };
        let change = self.connection.unchecked_transaction()?;
        {
            let mut strike = change.prepare_cached("DELETE FROM mail_told WHERE address = ?1 AND finding = ?2")?;
            for finding in self.keys(address)?.difference(found) {
                strike.execute(params![number, finding.cast_signed()])?;
            }
        }
        change.commit()?;
        self.known.get_mut().remove(address);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_findings_apart_and_never_change() {
        let plain = key("http://a/", "http://b/", None, Verdict::Broken);
        assert_eq!(plain, key("http://a/", "http://b/", None, Verdict::Broken));
        for other in [
            key("http://a/", "http://b/", Some(""), Verdict::Broken),
            key("http://a/", "http://b/", None, Verdict::Moved),
            key("http://a/", "http://b/x", None, Verdict::Broken),
            key("http://a/b", "http://b/", None, Verdict::Broken),
        ] {
            assert_ne!(plain, other);
        }
        // Ledgers from previous years must stay valid.
        assert_eq!(plain, 5_200_872_380_157_488_570);
    }

    #[test]
    fn the_ledger_is_kept_with_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("table");
        {
            let connection = Connection::open(&file).expect("a database");
            let mut ledger = SqliteLedger::open(&connection).expect("a ledger");
            assert!(!ledger.was_reported("a@example.org", 7).expect("read"));
            ledger.record("a@example.org", &[7, u64::MAX]).expect("written");
            ledger.record("a@example.org", &[7]).expect("twice is as good as once");
        }
        let connection = Connection::open(&file).expect("a database");
        let mut ledger = SqliteLedger::open(&connection).expect("a ledger");
        assert!(ledger.was_reported("a@example.org", 7).expect("read"));
        assert!(ledger.was_reported("a@example.org", u64::MAX).expect("read"));
        assert!(!ledger.was_reported("b@example.org", 7).expect("read"));
        ledger.keep_only("a@example.org", &HashSet::from([u64::MAX])).expect("written");
        ledger.keep_only("nobody@example.org", &HashSet::new()).expect("nobody was told anything");
        assert!(!ledger.was_reported("a@example.org", 7).expect("read"));
        assert!(ledger.was_reported("a@example.org", u64::MAX).expect("read"));
    }
}
