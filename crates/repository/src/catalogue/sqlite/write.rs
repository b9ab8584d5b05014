//! The only writer, and the protocol that assigns datestamps to changes.
//!
//! A change gets its datestamp before it becomes visible. A reader that returns a later `as_of` in between would hide
//! the change from that harvester. A batch therefore takes three steps:
//!
//! 1. A small transaction announces the batch: it sets `pending` to the current time. From here on, no reader in any process
//!    returns an `as_of` after that moment.
//! 2. The datestamp is chosen. It is not earlier than the announcement, any datestamp in the tables, or any `as_of` already
//!    returned, even if the clock has been set back meanwhile.
//! 3. One transaction makes the changes visible and withdraws the announcement.
//!
//! If the writer dies in between, readers return the announced moment until the next writer starts: outdated, but never
//! wrong.

use std::collections::BTreeSet;
use std::sync::Arc;

use modoai_protocol::SetSpec;
use modoai_state::Lock;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::batch::{Batch, Ledger};
use super::file::Role;
use super::names::{EVERYTHING, publicity_from};
use super::{Shared, fill, memory, read};
use crate::catalogue::roles::{Changes, Inventory, MemoryWriter};
use crate::catalogue::{CatalogueError, CatalogueKind, Change, Known};

/// The only writer.
pub(super) struct SqliteWriter {
    shared: Arc<Shared>,
    connection: Connection,
    /// The ledger of the tables; `None` after a failure, and then read again.
    ledger: Option<Ledger>,
    /// Held until the writer is dropped.
    _lock: Lock,
}

impl SqliteWriter {
    pub(super) fn open(shared: Arc<Shared>) -> Result<Self, CatalogueError> {
        let lock = shared.file.lock()?;
        let mut connection = shared.file.connect(Role::Writer).map_err(shared.file.failing("open"))?;
        shared.file.migrate(&mut connection)?;
        let mut writer = Self { shared, connection, ledger: None, _lock: lock };
        // A process that announced a change and no longer holds the lock died before the change became visible.
        writer.withdraw()?;
        let ready = writer.ledger()?.ready;
        writer.set_durability(if ready { Durability::Full } else { Durability::Ordered })?;
        Ok(writer)
    }

    fn ledger(&mut self) -> Result<&mut Ledger, CatalogueError> {
        if self.ledger.is_none() {
            let ledger = Ledger::read(&self.connection);
            self.ledger = Some(ledger.map_err(self.shared.file.failing("read the tables"))?);
        }
        Ok(self.ledger.as_mut().expect("read just now"))
    }

    /// Runs `work` in a transaction.
    fn transact<T>(
        &mut self,
        activity: &'static str,
        work: impl FnOnce(&Transaction<'_>, &mut Ledger) -> rusqlite::Result<T>,
    ) -> Result<T, CatalogueError> {
        self.ledger()?;
        // A failed attempt drops the ledger with its changes.
        let mut ledger = self.ledger.take().expect("read just now");
        let connection = &mut self.connection;
        let attempt = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction, &mut ledger)?;
            transaction.commit().map(|()| done)
        };
        let done = attempt().map_err(self.shared.file.failing(activity))?;
        self.ledger = Some(ledger);
        Ok(done)
    }

    /// Steps 1 and 2: announces a batch and chooses its stamp.
    fn announce(&mut self, floor: i64) -> Result<i64, CatalogueError> {
        let shared = Arc::clone(&self.shared);
        let earliest = || floor.max(shared.now()).max(shared.handed_out.latest());
        let pending = earliest();
        // Readers must see the announcement. It need not survive a power failure.
        self.set_durability(Durability::Ordered)?;
        self.transact("announce changes", |transaction, _| {
            transaction.prepare_cached("UPDATE standing SET pending = ?1")?.execute([pending])
        })?;
        self.set_durability(Durability::Full)?;
        Ok(earliest().max(pending))
    }

    fn withdraw(&mut self) -> Result<(), CatalogueError> {
        self.transact("withdraw an announcement", |transaction, _| {
            transaction.execute("UPDATE standing SET pending = NULL WHERE pending IS NOT NULL", [])
        })?;
        Ok(())
    }

    fn set_durability(&self, durability: Durability) -> Result<(), CatalogueError> {
        let synchronous = match durability {
            Durability::Ordered => "NORMAL",
            Durability::Full => "FULL",
        };
        let set = self.connection.pragma_update(None, "synchronous", synchronous);
        set.map_err(self.shared.file.failing("set the durability"))
    }
}

/// The storage that a commit waits for.
#[derive(Clone, Copy)]
enum Durability {
    /// None. A killed process loses nothing; a power failure may lose the last commits, but never a part of one.
    Ordered,
    /// The disk.
    Full,
}

impl Changes for SqliteWriter {
    fn apply(&mut self, changes: &[Change]) -> Result<Vec<usize>, CatalogueError> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let Ledger { ready, floor, .. } = *self.ledger()?;
        if !ready {
            let now = self.shared.now();
            return self.transact("fill", |transaction, ledger| Batch::new(transaction, ledger, now).run(changes));
        }
        let stamps = changes.iter().any(|change| !matches!(change, Change::Same { .. }));
        let stamp = if stamps { self.announce(floor)? } else { floor };
        let applied = self.transact("apply changes", |transaction, ledger| {
            let left = Batch::new(transaction, ledger, stamp).run(changes)?;
            ledger.floor = stamp;
            transaction.prepare_cached("UPDATE standing SET pending = NULL, floor = ?1")?.execute([stamp])?;
            Ok(left)
        });
        if applied.is_err() && stamps {
            // Best effort: until it is withdrawn, readers return the announced moment.
            self.withdraw().unwrap_or_else(|error| tracing::debug!(%error, "the announcement stands"));
        }
        applied.inspect(|_| self.shared.file.tend_log(&self.connection))
    }

    fn live(&mut self) -> Result<u64, CatalogueError> {
        let live = "SELECT live FROM setname WHERE set_id = ?1";
        let live = self.connection.query_row(live, [EVERYTHING], |row| row.get::<_, i64>(0));
        live.map(i64::unsigned_abs).map_err(self.shared.file.failing("count live items"))
    }

    fn complete(&mut self) -> Result<(), CatalogueError> {
        // Set before the transaction, so that all of the filling is on the disk when this returns.
        self.set_durability(Durability::Full)?;
        self.transact("complete the first indexing", |transaction, ledger| {
            if ledger.ready { Ok(()) } else { fill::complete(transaction, ledger) }
        })
    }
}

impl Inventory for SqliteWriter {
    fn known(&mut self, prefix: &str, after: &str, limit: usize) -> Result<Vec<Known>, CatalogueError> {
        let query = || {
            let mut query = self.connection.prepare_cached(
                "SELECT r.number, r.name, r.media, r.size, r.modified, r.changed, r.inode, r.title, r.sha256, r.md5,
                        r.publicity, r.sets
                 FROM name n CROSS JOIN record r ON r.number = n.number
                 WHERE n.name >= ?1 AND n.name <> ?2 AND n.name < ?3 AND r.deleted = 0 ORDER BY n.name LIMIT ?4",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut resolve = read::Resolve::new(&self.connection, &self.shared.names);
            let rows = query.query_map(params![prefix.max(after), after, beyond(prefix), limit], |row| {
                Ok(Known {
                    number: row.get(0)?,
                    name: row.get(1)?,
                    media_type: resolve.media_type(row, 2)?,
                    sets: resolve.grouping(row, 11)?.sets,
                    publicity: publicity_from(row.get(10)?),
                    fingerprint: read::fingerprint_from(row, 3)?,
                    facts: read::facts_from(row, 7)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(self.shared.file.failing("list known items"))
    }

    fn names_of_inodes(&mut self, inodes: &BTreeSet<u64>) -> Result<Vec<(u64, String)>, CatalogueError> {
        // No index: it would slow down every change of a file, and few sites need it.
        let query = || {
            let mut found = Vec::new();
            let mut query = self.connection.prepare_cached("SELECT inode, name FROM record WHERE deleted = 0")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let inode = row.get::<_, Option<i64>>(0)?.unwrap_or_default() as u64;
                if inodes.contains(&inode) {
                    found.push((inode, row.get(1)?));
                }
            }
            Ok(found)
        };
        query().map_err(self.shared.file.failing("list files by inode"))
    }

    fn mounts(&mut self) -> Result<BTreeSet<String>, CatalogueError> {
        let query = || {
            let mut query = self.connection.prepare("SELECT folder FROM mount")?;
            query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()
        };
        query().map_err(self.shared.file.failing("list mounts"))
    }

    fn set_mounts(&mut self, folders: &BTreeSet<String>) -> Result<(), CatalogueError> {
        self.transact("store mounts", |transaction, _| {
            transaction.execute("DELETE FROM mount", [])?;
            let mut insert = transaction.prepare("INSERT INTO mount VALUES (?1)")?;
            folders.iter().try_for_each(|folder| insert.execute([folder]).map(drop))
        })
    }
}

impl MemoryWriter for SqliteWriter {
    fn claim(&mut self, kind: CatalogueKind) -> Result<(), CatalogueError> {
        let found = self.transact("set the kind", |transaction, _| {
            let found = memory::kind(transaction)?;
            if found.is_none() {
                transaction.execute("UPDATE standing SET kind = ?1", [kind.name()])?;
            }
            Ok(found)
        })?;
        kind.check(found)
    }

    fn name_set(&mut self, set: &SetSpec, title: &str, description: Option<&str>) -> Result<(), CatalogueError> {
        self.transact("name a set", |transaction, ledger| {
            let number = ledger.registry.number(transaction, set.as_str())?;
            let name = "UPDATE setname SET title = ?2, description = ?3
                        WHERE set_id = ?1 AND (title IS NOT ?2 OR description IS NOT ?3)";
            transaction.execute(name, params![number, title, description]).map(drop)
        })
    }

    fn set_memo(&mut self, key: &str, value: Option<&[u8]>) -> Result<(), CatalogueError> {
        self.transact("store a value", |transaction, _| {
            match value {
                Some(value) => {
                    transaction.execute("INSERT OR REPLACE INTO memo VALUES (?1, ?2)", params![key, value])?
                }
                None => transaction.execute("DELETE FROM memo WHERE key = ?1", [key])?,
            };
            transaction.execute("UPDATE standing SET revision = revision + 1", []).map(drop)
        })
    }
}

/// Returns the first text greater than every text that begins with `prefix`.
fn beyond(prefix: &str) -> Value {
    let last = prefix.char_indices().next_back();
    let greater = last.and_then(|(at, last)| Some((at, (last..=char::MAX).nth(1)?)));
    match greater {
        Some((at, greater)) => Value::Text(format!("{}{greater}", &prefix[..at])),
        // SQLite sorts every blob after every text.
        None => Value::Blob(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_with_the_prefix_lies_beyond() {
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(beyond("a/"), text("a0"));
        assert_eq!(beyond("a~"), text("a\u{7f}"));
        assert_eq!(beyond("\u{d7ff}"), text("\u{e000}"));
        assert_eq!(beyond(""), Value::Blob(Vec::new()));
        assert_eq!(beyond("a\u{10ffff}"), Value::Blob(Vec::new()));
    }
}
