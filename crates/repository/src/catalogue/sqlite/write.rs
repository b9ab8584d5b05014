//! Changes, and the protocol by which they are stamped.
//!
//! A change is stamped before it can be seen, and a reader who tells a harvester "as of now" in between would hide it.
//! So a batch takes three steps:
//!
//! 1. A tiny transaction announces it: `pending` is now. From here on no reader, in whatever process, says it knows more
//!    than what was before that moment.
//! 2. The stamp is chosen: not before the announcement, not before any stamp there is, not before any moment handed out
//!    earlier, even if the clock has been set back meanwhile.
//! 3. One transaction makes the changes visible and withdraws the announcement.
//!
//! If the writer dies in between, the announcement holds readers back until the next writer comes: stale, never wrong.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::file::Role;
use super::insert::insert_all;
use super::membership::Moves;
use super::names::{EVERYTHING, Kind, Registry};
use super::{Shared, fill, read};
use crate::catalogue::{CatalogueError, Change, Known, Learned, Writer};
use crate::item::Fingerprint;

/// The one who may write.
pub(super) struct SqliteWriter {
    shared: Arc<Shared>,
    connection: Connection,
    /// What is known of the tables; gone after a failure, and then read anew.
    ledger: Option<Ledger>,
    /// Held, not used.
    _lock: File,
}

/// What the writer remembers of the tables, so that it need not ask for every item.
pub(super) struct Ledger {
    pub(super) ready: bool,
    /// No stamp may be earlier than this. Not earlier than any stamp there is.
    pub(super) floor: i64,
    pub(super) registry: Registry,
    next_number: i64,
    /// The greatest name: a greater one is certainly new, which spares the first filling all look-ups.
    greatest_name: Option<String>,
}

impl Ledger {
    fn read(writer: &Connection) -> rusqlite::Result<Self> {
        let (ready, floor) =
            writer.query_row("SELECT ready, floor FROM standing", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let one = |sql| writer.query_row(sql, [], |row| row.get(0));
        Ok(Self {
            ready,
            floor,
            registry: Registry::read(writer)?,
            next_number: one("SELECT coalesce(max(number), 0) + 1 FROM record")?,
            greatest_name: writer.query_row("SELECT max(name) FROM name", [], |row| row.get(0))?,
        })
    }
}

impl SqliteWriter {
    pub(super) fn open(shared: Arc<Shared>) -> Result<Self, CatalogueError> {
        let lock = shared.file.lock()?;
        let connection = shared.file.connect(Role::Writer).map_err(shared.file.failing("open"))?;
        let mut writer = Self { shared, connection, ledger: None, _lock: lock };
        // Whoever announced a change and no longer holds the lock died before making it visible.
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

    /// All of `work` or nothing.
    fn transact<T>(
        &mut self,
        activity: &'static str,
        work: impl FnOnce(&Transaction<'_>, &mut Ledger) -> rusqlite::Result<T>,
    ) -> Result<T, CatalogueError> {
        self.ledger()?;
        // Taken, so that what a failed attempt noted is forgotten with it.
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
        let earliest = || floor.max(shared.now()).max(shared.handed_out.load(Ordering::SeqCst));
        let pending = earliest();
        // Readers must see the announcement; that it survives a power cut is of no use to anyone.
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

/// What a commit waits for.
enum Durability {
    /// Nothing. A killed process loses nothing; a power cut may lose the last commits, but never half of one.
    Ordered,
    /// The disk.
    Full,
}

impl Writer for SqliteWriter {
    fn known(&mut self, prefix: &str, after: &str, limit: usize) -> Result<Vec<Known>, CatalogueError> {
        let query = || {
            let mut query = self.connection.prepare_cached(
                "SELECT r.number, r.name, r.size, r.modified, r.changed, r.inode, r.title, r.sha256, r.md5
                 FROM name n CROSS JOIN record r ON r.number = n.number
                 WHERE n.name >= ?1 AND n.name <> ?2 AND n.name < ?3 AND r.deleted = 0 ORDER BY n.name LIMIT ?4",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = query.query_map(params![prefix.max(after), after, beyond(prefix), limit], |row| {
                Ok(Known {
                    number: row.get(0)?,
                    name: row.get(1)?,
                    fingerprint: read::fingerprint_from(row, 2)?,
                    facts: read::facts_from(row, 6)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        query().map_err(self.shared.file.failing("list known items"))
    }

    fn live(&mut self) -> Result<u64, CatalogueError> {
        let live = "SELECT live FROM setname WHERE set_id = ?1";
        let live = self.connection.query_row(live, [EVERYTHING], |row| row.get::<_, i64>(0));
        live.map(i64::unsigned_abs).map_err(self.shared.file.failing("count live items"))
    }

    fn apply(&mut self, changes: &[Change]) -> Result<(), CatalogueError> {
        if changes.is_empty() {
            return Ok(());
        }
        let Ledger { ready, floor, .. } = *self.ledger()?;
        if !ready {
            let now = self.shared.now();
            return self.transact("fill", |transaction, ledger| Batch::new(transaction, ledger, now).run(changes));
        }
        let stamps = changes.iter().any(|change| !matches!(change, Change::Same { .. }));
        let stamp = if stamps { self.announce(floor)? } else { floor };
        let applied = self.transact("apply changes", |transaction, ledger| {
            Batch::new(transaction, ledger, stamp).run(changes)?;
            ledger.floor = stamp;
            transaction.prepare_cached("UPDATE standing SET pending = NULL, floor = ?1")?.execute([stamp])?;
            Ok(())
        });
        if applied.is_err() && stamps {
            // Best effort: while it stands, readers are held back at that moment.
            self.withdraw().unwrap_or_else(|error| tracing::debug!(%error, "the announcement stands"));
        }
        applied.inspect(|()| self.shared.file.tend_log(&self.connection))
    }

    fn complete(&mut self) -> Result<(), CatalogueError> {
        self.transact("complete the first filling", |transaction, ledger| {
            if ledger.ready { Ok(()) } else { fill::complete(transaction, ledger) }
        })?;
        self.set_durability(Durability::Full)
    }
}

/// The first text greater than everything that begins with `prefix`.
fn beyond(prefix: &str) -> Value {
    let last = prefix.char_indices().next_back();
    let greater = last.and_then(|(at, last)| Some((at, (last..=char::MAX).nth(1)?)));
    match greater {
        Some((at, greater)) => Value::Text(format!("{}{greater}", &prefix[..at])),
        // To SQLite every blob is greater than every text.
        None => Value::Blob(Vec::new()),
    }
}

/// One batch on its way into the tables.
struct Batch<'a> {
    transaction: &'a Transaction<'a>,
    ledger: &'a mut Ledger,
    /// The stamp of every change; while filling, the latest stamp an item may get.
    stamp: i64,
    /// New items, gathered to be inserted together.
    fresh: Vec<Fresh<'a>>,
    moves: Moves,
    /// By how much the number of live members changes, by set.
    live: HashMap<i64, i64>,
}

/// An item that is not in the tables yet.
struct Fresh<'a> {
    /// Given when it is inserted.
    number: i64,
    datestamp: i64,
    media: i64,
    kind: Arc<Kind>,
    name: &'a str,
    fingerprint: Fingerprint,
}

/// What the tables say of an item about to change.
struct Present {
    number: i64,
    datestamp: i64,
    deleted: bool,
    kind: Arc<Kind>,
}

impl<'a> Batch<'a> {
    fn new(transaction: &'a Transaction<'a>, ledger: &'a mut Ledger, stamp: i64) -> Self {
        let (fresh, moves, live) = (Vec::new(), Moves::default(), HashMap::new());
        Self { transaction, ledger, stamp, fresh, moves, live }
    }

    fn run(mut self, changes: &'a [Change]) -> rusqlite::Result<()> {
        for change in changes {
            match change {
                Change::Put { name, fingerprint, media_type, sets } => {
                    let media = self.ledger.registry.media(self.transaction, media_type)?;
                    let kind = self.ledger.registry.kind(self.transaction, sets)?;
                    self.put(name, *fingerprint, media, kind)?;
                }
                Change::Same { number, fingerprint } => self.same(*number, fingerprint)?,
                Change::Delete { name } => self.delete(name)?,
            }
        }
        self.insert_fresh()?;
        self.moves.write(self.transaction)?;
        let mut count =
            self.transaction.prepare_cached("UPDATE setname SET live = live + ?2 WHERE set_id = ?1")?;
        for (set, change) in self.live.into_iter().filter(|(_, change)| *change != 0) {
            count.execute([set, change])?;
        }
        Ok(())
    }

    fn put(&mut self, name: &'a str, fingerprint: Fingerprint, media: i64, kind: Arc<Kind>) -> rusqlite::Result<()> {
        let datestamp =
            if self.ledger.ready { self.stamp } else { fingerprint.modified_at().unix().min(self.stamp) };
        let Some(present) = self.present(name)? else {
            if self.is_greatest(name) {
                self.ledger.greatest_name = Some(name.to_owned());
            }
            self.count_live(&kind, 1);
            self.fresh.push(Fresh { number: 0, datestamp, media, kind, name, fingerprint });
            return Ok(());
        };
        if !present.deleted {
            self.count_live(&present.kind, -1);
        }
        self.count_live(&kind, 1);
        self.leave(&present);
        self.enter(&kind, datestamp, present.number);
        let mut update = self.transaction.prepare_cached(
            "UPDATE record SET datestamp = ?2, deleted = 0, media = ?3, size = ?4, modified = ?5, changed = ?6,
                    inode = ?7, sets = ?8, title = NULL, sha256 = NULL, md5 = NULL
             WHERE number = ?1",
        )?;
        let Fingerprint { size, modified, changed, inode } = fingerprint;
        let state = params![present.number, datestamp, media, size as i64, modified, changed, inode as i64, kind.text];
        update.execute(state)?;
        Ok(())
    }

    fn same(&mut self, number: i64, fingerprint: &Fingerprint) -> rusqlite::Result<()> {
        self.insert_fresh()?;
        let mut update = self.transaction.prepare_cached(
            "UPDATE record SET size = ?2, modified = ?3, changed = ?4, inode = ?5 WHERE number = ?1 AND deleted = 0",
        )?;
        let Fingerprint { size, modified, changed, inode } = *fingerprint;
        update.execute(params![number, size as i64, modified, changed, inode as i64])?;
        Ok(())
    }

    fn delete(&mut self, name: &str) -> rusqlite::Result<()> {
        let Some(present) = self.present(name)?.filter(|present| !present.deleted) else { return Ok(()) };
        self.count_live(&present.kind, -1);
        self.leave(&present);
        self.enter(&present.kind, self.stamp, present.number);
        let mut update = self.transaction.prepare_cached(
            "UPDATE record SET datestamp = ?2, deleted = 1, title = NULL, sha256 = NULL, md5 = NULL WHERE number = ?1",
        )?;
        update.execute([present.number, self.stamp])?;
        Ok(())
    }

    fn is_greatest(&self, name: &str) -> bool {
        self.ledger.greatest_name.as_deref().is_none_or(|greatest| name > greatest)
    }

    fn present(&mut self, name: &str) -> rusqlite::Result<Option<Present>> {
        if self.is_greatest(name) {
            return Ok(None);
        }
        self.insert_fresh()?;
        let mut query = self.transaction.prepare_cached(
            "SELECT r.number, r.datestamp, r.deleted, r.sets
             FROM name n CROSS JOIN record r ON r.number = n.number WHERE n.name = ?1",
        )?;
        let registry = &mut self.ledger.registry;
        let present = query.query_row([name], |row| {
            Ok(Present {
                number: row.get(0)?,
                datestamp: row.get(1)?,
                deleted: row.get(2)?,
                kind: registry.recorded_kind(row.get_ref(3)?.as_str()?),
            })
        });
        present.optional()
    }

    // Until the first filling is complete there are no memberships and only one live count; then they are made at once.

    fn enter(&mut self, kind: &Kind, datestamp: i64, number: i64) {
        if self.ledger.ready {
            self.moves.note(&kind.sets, datestamp, number, 1);
        }
    }

    fn leave(&mut self, present: &Present) {
        if self.ledger.ready {
            self.moves.note(&present.kind.sets, present.datestamp, present.number, -1);
        }
    }

    fn count_live(&mut self, kind: &Kind, change: i64) {
        let sets = if self.ledger.ready { &kind.sets[..] } else { &[EVERYTHING] };
        for set in sets {
            *self.live.entry(*set).or_default() += change;
        }
    }

    /// Inserts the new items: numbered in the order of their datestamps, named in the order they came.
    fn insert_fresh(&mut self) -> rusqlite::Result<()> {
        let mut fresh = std::mem::take(&mut self.fresh);
        let mut by_datestamp: Vec<&mut Fresh<'_>> = fresh.iter_mut().collect();
        by_datestamp.sort_by_key(|fresh| fresh.datestamp);
        for fresh in &mut by_datestamp {
            fresh.number = self.ledger.next_number;
            self.ledger.next_number += 1;
            self.enter(&fresh.kind, fresh.datestamp, fresh.number);
        }
        let records = "INSERT INTO record
                       (number, datestamp, deleted, media, size, modified, changed, inode, sets, name) VALUES";
        let row = "(?,?,0,?,?,?,?,?,?,?)";
        insert_all(self.transaction, records, row, &by_datestamp, |fresh, statement, first| {
            let Fingerprint { size, modified, changed, inode } = fresh.fingerprint;
            let numbers =
                [fresh.number, fresh.datestamp, fresh.media, size as i64, modified, changed, inode as i64];
            for (offset, number) in numbers.into_iter().enumerate() {
                statement.raw_bind_parameter(first + offset, number)?;
            }
            statement.raw_bind_parameter(first + 7, fresh.kind.text.as_str())?;
            statement.raw_bind_parameter(first + 8, fresh.name)
        })?;
        insert_all(self.transaction, "INSERT INTO name VALUES", "(?,?)", &fresh, |fresh, statement, first| {
            statement.raw_bind_parameter(first, fresh.name)?;
            statement.raw_bind_parameter(first + 1, fresh.number)
        })
    }
}

/// Remembers facts about items that are still in the state the facts are about.
pub(super) fn learn(connection: &mut Connection, facts: &[Learned]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut update = transaction.prepare_cached(
            "UPDATE record SET title = coalesce(?6, title), sha256 = coalesce(?7, sha256), md5 = coalesce(?8, md5)
             WHERE number = ?1 AND size = ?2 AND modified = ?3 AND changed = ?4 AND inode = ?5 AND deleted = 0",
        )?;
        for Learned { number, fingerprint, facts } in facts {
            let Fingerprint { size, modified, changed, inode } = *fingerprint;
            let digests = facts.digests.as_ref();
            let (sha256, md5) = (digests.map(|d| d.sha256), digests.map(|d| d.md5));
            let (size, inode) = (size as i64, inode as i64);
            update.execute(params![number, size, modified, changed, inode, facts.title, sha256, md5])?;
        }
    }
    transaction.commit()
}
