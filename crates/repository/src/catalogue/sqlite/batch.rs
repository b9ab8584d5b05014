//! One batch of changes on its way into the tables.
//!
//! Changes are taken one by one, but written sorted: memberships in the order of their table, new items in bulk.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::insert::insert_all;
use super::membership::Moves;
use super::names::{EVERYTHING, publicity_number};
use super::registry::{Kind, Registry};
use crate::catalogue::Change;
use crate::item::Fingerprint;

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
    pub(super) fn read(writer: &Connection) -> rusqlite::Result<Self> {
        let standing = "SELECT ready, floor, (SELECT coalesce(max(number), 0) + 1 FROM record),
                               (SELECT max(name) FROM name) FROM standing";
        writer.query_row(standing, [], |row| {
            Ok(Self {
                ready: row.get(0)?,
                floor: row.get(1)?,
                registry: Registry::default(),
                next_number: row.get(2)?,
                greatest_name: row.get(3)?,
            })
        })
    }
}

/// One batch on its way into the tables.
pub(super) struct Batch<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    ledger: &'a mut Ledger,
    /// The stamp of every change; while filling, the latest stamp an item may get.
    pub(super) stamp: i64,
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
    publicity: i64,
    name: &'a str,
    fingerprint: Fingerprint,
}

/// What the tables say of an item about to change.
pub(super) struct Present {
    pub(super) number: i64,
    datestamp: i64,
    pub(super) deleted: bool,
    pub(super) kind: Arc<Kind>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(transaction: &'a Transaction<'a>, ledger: &'a mut Ledger, stamp: i64) -> Self {
        let (fresh, moves, live) = (Vec::new(), Moves::default(), HashMap::new());
        Self { transaction, ledger, stamp, fresh, moves, live }
    }

    pub(super) fn run(mut self, changes: &'a [Change]) -> rusqlite::Result<()> {
        for change in changes {
            match change {
                Change::Put { name, fingerprint, media_type, sets, publicity } => {
                    let media = self.ledger.registry.media(self.transaction, media_type)?;
                    let kind = self.ledger.registry.kind(self.transaction, sets)?;
                    self.put(name, *fingerprint, media, kind, publicity_number(*publicity))?;
                }
                Change::Store { name, sets, format, record } => {
                    let kind = self.ledger.registry.kind(self.transaction, sets)?;
                    let format = self.ledger.registry.format(self.transaction, format)?;
                    self.store(name, &kind, format, record.as_ref())?;
                }
                Change::Same { number, fingerprint } => self.same(*number, fingerprint)?,
                Change::Delete { name } => self.delete(name)?,
            }
        }
        self.insert_fresh()?;
        self.moves.write(self.transaction)?;
        let mut count = self.transaction.prepare_cached("UPDATE setname SET live = live + ?2 WHERE set_id = ?1")?;
        for (set, change) in self.live.into_iter().filter(|(_, change)| *change != 0) {
            count.execute([set, change])?;
        }
        Ok(())
    }

    fn put(
        &mut self,
        name: &'a str,
        fingerprint: Fingerprint,
        media: i64,
        kind: Arc<Kind>,
        publicity: i64,
    ) -> rusqlite::Result<()> {
        let datestamp = if self.ledger.ready { self.stamp } else { fingerprint.modified_at().unix().min(self.stamp) };
        let Some(present) = self.present(name)? else {
            if self.is_greatest(name) {
                self.ledger.greatest_name = Some(name.to_owned());
            }
            self.count_live(&kind, 1);
            self.fresh.push(Fresh { number: 0, datestamp, media, kind, publicity, name, fingerprint });
            return Ok(());
        };
        if !present.deleted {
            self.count_live(&present.kind, -1);
        }
        self.count_live(&kind, 1);
        self.leave(&present);
        self.enter(&kind, datestamp, present.number);
        // The very same state has the same bytes, whatever else is said of it now; a title it has as one kind only.
        let mut update = self.transaction.prepare_cached(
            "UPDATE record SET datestamp = ?2, deleted = 0, media = ?3, size = ?4, modified = ?5, changed = ?6,
                    inode = ?7, sets = ?8, publicity = ?9,
                    title = CASE WHEN (size, modified, changed, inode, media) = (?4, ?5, ?6, ?7, ?3) THEN title END,
                    sha256 = CASE WHEN (size, modified, changed, inode) = (?4, ?5, ?6, ?7) THEN sha256 END,
                    md5 = CASE WHEN (size, modified, changed, inode) = (?4, ?5, ?6, ?7) THEN md5 END
             WHERE number = ?1",
        )?;
        let Fingerprint { size, modified, changed, inode } = fingerprint;
        let (size, inode) = (size as i64, inode as i64);
        update.execute(params![
            present.number,
            datestamp,
            media,
            size,
            modified,
            changed,
            inode,
            kind.text,
            publicity
        ])?;
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

    pub(super) fn registry(&mut self) -> &mut Registry {
        &mut self.ledger.registry
    }

    /// The number of an item of that name, which is not in the tables yet and will be at once.
    pub(super) fn new_number(&mut self, name: &str) -> i64 {
        if self.is_greatest(name) {
            self.ledger.greatest_name = Some(name.to_owned());
        }
        self.ledger.next_number += 1;
        self.ledger.next_number - 1
    }

    fn is_greatest(&self, name: &str) -> bool {
        self.ledger.greatest_name.as_deref().is_none_or(|greatest| name > greatest)
    }

    pub(super) fn present(&mut self, name: &str) -> rusqlite::Result<Option<Present>> {
        if self.is_greatest(name) {
            return Ok(None);
        }
        self.insert_fresh()?;
        let mut query = self.transaction.prepare_cached(
            "SELECT r.number, r.datestamp, r.deleted, r.sets
             FROM name n CROSS JOIN record r ON r.number = n.number WHERE n.name = ?1",
        )?;
        let (registry, writer) = (&mut self.ledger.registry, self.transaction);
        let present = query.query_row([name], |row| {
            Ok(Present {
                number: row.get(0)?,
                datestamp: row.get(1)?,
                deleted: row.get(2)?,
                kind: registry.recorded_kind(writer, row.get_ref(3)?.as_str()?)?,
            })
        });
        present.optional()
    }

    // Until the first filling is complete there are no memberships and only one live count; then they are made at once.

    pub(super) fn enter(&mut self, kind: &Kind, datestamp: i64, number: i64) {
        if self.ledger.ready {
            self.moves.note(&kind.sets, datestamp, number, 1);
        }
    }

    pub(super) fn leave(&mut self, present: &Present) {
        if self.ledger.ready {
            self.moves.note(&present.kind.sets, present.datestamp, present.number, -1);
        }
    }

    pub(super) fn count_live(&mut self, kind: &Kind, change: i64) {
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
                       (number, datestamp, deleted, media, size, modified, changed, inode, publicity, sets, name) VALUES";
        let row = "(?,?,0,?,?,?,?,?,?,?,?)";
        insert_all(self.transaction, records, row, &by_datestamp, |fresh, statement, first| {
            let Fingerprint { size, modified, changed, inode } = fresh.fingerprint;
            let Fresh { number, datestamp, media, publicity, .. } = **fresh;
            let numbers = [number, datestamp, media, size as i64, modified, changed, inode as i64, publicity];
            for (offset, number) in numbers.into_iter().enumerate() {
                statement.raw_bind_parameter(first + offset, number)?;
            }
            statement.raw_bind_parameter(first + 8, fresh.kind.text.as_str())?;
            statement.raw_bind_parameter(first + 9, fresh.name)
        })?;
        insert_all(self.transaction, "INSERT INTO name VALUES", "(?,?)", &fresh, |fresh, statement, first| {
            statement.raw_bind_parameter(first, fresh.name)?;
            statement.raw_bind_parameter(first + 1, fresh.number)
        })
    }
}
