//! Applies one batch of changes to the tables.
//!
//! Changes are processed one by one, but written in sorted order: memberships in the order of their table, new items in
//! bulk.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Statement, Transaction, params};

use super::insert::insert_all;
use super::membership::Moves;
use super::names::{EVERYTHING, publicity_number};
use super::registry::{Kind, Registry};
use super::store::FORMATS;
use crate::catalogue::stored::{Packed, Pieces};
use crate::catalogue::{Change, ImportState};
use crate::item::Fingerprint;

/// The writer's copy of values in the tables, so that it need not query them for every item.
pub(super) struct Ledger {
    pub(super) ready: bool,
    /// The lower bound of new datestamps: the latest one in the tables, or a later moment.
    pub(super) floor: i64,
    pub(super) registry: Registry,
    next_number: i64,
    /// True if any format of an item has a separate datestamp.
    has_stamps: bool,
    /// The greatest name. A greater name is certainly new, so the first filling needs no lookups.
    greatest_name: Option<String>,
}

impl Ledger {
    pub(super) fn read(writer: &Connection) -> rusqlite::Result<Self> {
        let standing = "SELECT ready, floor, (SELECT coalesce(max(number), 0) + 1 FROM record),
                               (SELECT max(name) FROM name), EXISTS (SELECT 1 FROM stamp) FROM standing";
        writer.query_row(standing, [], |row| {
            Ok(Self {
                ready: row.get(0)?,
                floor: row.get(1)?,
                registry: Registry::default(),
                next_number: row.get(2)?,
                greatest_name: row.get(3)?,
                has_stamps: row.get(4)?,
            })
        })
    }
}

/// One batch of changes while it is written to the tables.
pub(super) struct Batch<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    ledger: &'a mut Ledger,
    /// The datestamp of every change; during the first filling, the latest datestamp that an item may get.
    pub(super) stamp: i64,
    /// New items, collected to be inserted together.
    fresh: Vec<Fresh<'a>>,
    /// Their names.
    fresh_names: HashSet<&'a str>,
    moves: Moves,
    /// The change of the number of items that are not deleted, by set.
    live: HashMap<i64, i64>,
}

/// An item that is not in the tables yet.
pub(super) struct Fresh<'a> {
    /// Set when the item is inserted.
    pub(super) number: i64,
    pub(super) datestamp: i64,
    pub(super) deleted: bool,
    pub(super) media: i64,
    pub(super) kind: Arc<Kind>,
    pub(super) publicity: i64,
    pub(super) name: &'a str,
    pub(super) fingerprint: Fingerprint,
    /// The state that an import remembers.
    pub(super) state: Option<ImportState>,
    /// The stored records, by the numbers of their formats.
    pub(super) bodies: Vec<(i64, &'a Packed)>,
}

/// The stored row of an item that a change is about.
pub(super) struct Present {
    pub(super) number: i64,
    pub(super) datestamp: i64,
    pub(super) deleted: bool,
    pub(super) kind: Arc<Kind>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(transaction: &'a Transaction<'a>, ledger: &'a mut Ledger, stamp: i64) -> Self {
        let (fresh, fresh_names, moves, live) = (Vec::new(), HashSet::new(), Moves::default(), HashMap::new());
        Self { transaction, ledger, stamp, fresh, fresh_names, moves, live }
    }

    /// Returns the indexes of the changes that were ignored.
    pub(super) fn run(mut self, changes: &'a [Change]) -> rusqlite::Result<Vec<usize>> {
        let mut left = Vec::new();
        for (place, change) in changes.iter().enumerate() {
            match change {
                Change::Put { name, fingerprint, media_type, sets, publicity } => {
                    let media = self.ledger.registry.media(self.transaction, media_type)?;
                    let kind = self.ledger.registry.kind(self.transaction, sets)?;
                    self.put(name, *fingerprint, media, kind, publicity_number(*publicity))?;
                }
                Change::Store { name, sets, format, record } => {
                    let kind = self.ledger.registry.kind(self.transaction, sets)?;
                    let format = self.ledger.registry.format(self.transaction, format)?;
                    if !self.store(name, &kind, format, record.as_ref())? {
                        left.push(place);
                    }
                }
                Change::Describe(description) => self.describe(description)?,
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
        Ok(left)
    }

    fn put(
        &mut self,
        name: &'a str,
        fingerprint: Fingerprint,
        media: i64,
        kind: Arc<Kind>,
        publicity: i64,
    ) -> rusqlite::Result<()> {
        let datestamp = self.stamped(Some(fingerprint.modified_at().unix()));
        let Some(present) = self.present(name)? else {
            let (number, deleted, state, bodies) = (0, false, None, Vec::new());
            self.add(Fresh { number, datestamp, deleted, media, kind, publicity, name, fingerprint, state, bodies });
            return Ok(());
        };
        if !present.deleted {
            self.count_live(&present.kind, -1);
        }
        self.count_live(&kind, 1);
        self.leave(&present)?;
        self.enter(&kind, datestamp, present.number);
        // An equal fingerprint means equal bytes, even if other fields differ; the title is valid for one media type
        // only. An item that was public and is created again as a private one is withdrawn: any harvester may have its
        // old record.
        let mut update = self.transaction.prepare_cached(
            "UPDATE record SET datestamp = ?2, deleted = 0, media = ?3, size = ?4, modified = ?5, changed = ?6,
                    inode = ?7, sets = ?8,
                    publicity = CASE WHEN ?9 = 0 AND publicity <> 0 THEN 2 ELSE ?9 END,
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

    /// Adds an item that is not in the tables yet.
    pub(super) fn add(&mut self, fresh: Fresh<'a>) {
        if self.is_greatest(fresh.name) {
            self.ledger.greatest_name = Some(fresh.name.to_owned());
        }
        if !fresh.deleted {
            self.count_live(&fresh.kind, 1);
        }
        self.fresh_names.insert(fresh.name);
        self.fresh.push(fresh);
    }

    /// Returns the datestamp of a change: during the first filling, the given one if it is not in the future.
    pub(super) fn stamped(&self, given: Option<i64>) -> i64 {
        given.filter(|_| !self.ledger.ready).map_or(self.stamp, |given| given.min(self.stamp))
    }

    pub(super) fn same(&mut self, number: i64, fingerprint: &Fingerprint) -> rusqlite::Result<()> {
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
        self.leave(&present)?;
        self.enter(&present.kind, self.stamp, present.number);
        let mut update = self.transaction.prepare_cached(
            "UPDATE record SET datestamp = ?2, deleted = 1, title = NULL, sha256 = NULL, md5 = NULL WHERE number = ?1",
        )?;
        update.execute([present.number, self.stamp])?;
        self.drop_bodies(present.number)
    }

    pub(super) fn registry(&mut self) -> &mut Registry {
        &mut self.ledger.registry
    }

    /// Returns the number for an item with that name, which is not in the tables yet and which the caller inserts next.
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
        if self.fresh_names.contains(name) {
            self.insert_fresh()?;
        }
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

    // Before the first filling is complete, the tables have no memberships and only one live count; `fill` then creates
    // all of them.

    pub(super) fn enter(&mut self, kind: &Kind, datestamp: i64, number: i64) {
        if self.ledger.ready {
            self.moves.note(&kind.sets, datestamp, number, 1);
        }
    }

    pub(super) fn leave(&mut self, present: &Present) -> rusqlite::Result<()> {
        if !self.ledger.ready {
            return Ok(());
        }
        self.moves.note(&present.kind.sets, present.datestamp, present.number, -1);
        if self.ledger.has_stamps {
            for (format, since) in self.stamps(present)? {
                self.moves.shift(present.kind.lists_of(format), present.number, since, present.datestamp);
            }
            let forget = "DELETE FROM stamp WHERE key BETWEEN ?1 AND ?2";
            let keys = [present.number * FORMATS, (present.number + 1) * FORMATS - 1];
            self.transaction.prepare_cached(forget)?.execute(keys)?;
        }
        Ok(())
    }

    /// Returns the datestamp of an item in each of its formats.
    pub(super) fn stamps(&self, present: &Present) -> rusqlite::Result<Vec<(i64, i64)>> {
        let formats = present.kind.formats.iter().map(|(format, _)| *format);
        let own = |format: i64| {
            if !self.ledger.has_stamps {
                return Ok((format, present.datestamp));
            }
            let mut query = self.transaction.prepare_cached("SELECT datestamp FROM stamp WHERE key = ?1")?;
            let own = query.query_row([present.number * FORMATS + format], |row| row.get(0)).optional()?;
            Ok((format, own.unwrap_or(present.datestamp)))
        };
        formats.map(own).collect()
    }

    /// Keeps the datestamp of an item in this format. The item has just been added to its lists again because it has
    /// changed in another format.
    pub(super) fn keep_stamp(&mut self, kind: &Kind, number: i64, format: i64, since: i64) -> rusqlite::Result<()> {
        if !self.ledger.ready || since == self.stamp {
            return Ok(());
        }
        self.moves.shift(kind.lists_of(format), number, self.stamp, since);
        self.ledger.has_stamps = true;
        let keep = "INSERT OR REPLACE INTO stamp VALUES (?1, ?2)";
        self.transaction.prepare_cached(keep)?.execute([number * FORMATS + format, since]).map(drop)
    }

    pub(super) fn count_live(&mut self, kind: &Kind, change: i64) {
        let sets = if self.ledger.ready { &kind.sets[..] } else { &[EVERYTHING] };
        for set in sets {
            *self.live.entry(*set).or_default() += change;
        }
    }

    /// Inserts the new items, numbered in the order of their datestamps, with names in the order of their table.
    fn insert_fresh(&mut self) -> rusqlite::Result<()> {
        self.fresh_names.clear();
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort_by_key(|fresh| fresh.datestamp);
        for fresh in &mut fresh {
            fresh.number = self.ledger.next_number;
            self.ledger.next_number += 1;
            self.enter(&fresh.kind, fresh.datestamp, fresh.number);
        }
        // Files have no state of an import.
        let (imported, files): (Vec<_>, Vec<_>) = fresh.iter().partition(|fresh| fresh.state.is_some());
        let columns =
            "number, datestamp, deleted, media, size, modified, changed, inode, publicity, sets, name, audience";
        let bind = |fresh: &Fresh<'a>, statement: &mut Statement<'_>, first: usize| {
            let Fingerprint { size, modified, changed, inode } = fresh.fingerprint;
            let Fresh { number, datestamp, deleted, media, publicity, .. } = *fresh;
            let (size, inode) = (size as i64, inode as i64);
            let numbers = [number, datestamp, deleted.into(), media, size, modified, changed, inode, publicity];
            for (offset, number) in numbers.into_iter().enumerate() {
                statement.raw_bind_parameter(first + offset, number)?;
            }
            statement.raw_bind_parameter(first + 9, fresh.kind.text.as_str())?;
            statement.raw_bind_parameter(first + 10, fresh.name)
        };
        let into = format!("INSERT INTO record ({columns}) VALUES");
        insert_all(self.transaction, &into, "(?,?,?,?,?,?,?,?,?,?,?,'')", &files, |fresh, statement, first| {
            bind(fresh, statement, first)
        })?;
        let into = format!("INSERT INTO record ({columns}, source, entry, reads_files) VALUES");
        insert_all(
            self.transaction,
            &into,
            "(?,?,?,?,?,?,?,?,?,?,?,'',?,?,?)",
            &imported,
            |fresh, statement, first| {
                bind(fresh, statement, first)?;
                let Some(ImportState { source, entry, reads_files }) = fresh.state else { return Ok(()) };
                statement.raw_bind_parameter(first + 11, source.cast_signed())?;
                statement.raw_bind_parameter(first + 12, entry.cast_signed())?;
                statement.raw_bind_parameter(first + 13, reads_files)
            },
        )?;
        self.insert_bodies(&fresh)?;
        fresh.sort_unstable_by_key(|fresh| fresh.name);
        insert_all(self.transaction, "INSERT INTO name VALUES", "(?,?)", &fresh, |fresh, statement, first| {
            statement.raw_bind_parameter(first, fresh.name)?;
            statement.raw_bind_parameter(first + 1, fresh.number)
        })
    }

    /// Inserts the stored records of new items: small ones in bulk, large ones piece by piece.
    fn insert_bodies(&mut self, fresh: &[Fresh<'a>]) -> rusqlite::Result<()> {
        let keyed = |fresh: &Fresh<'a>| {
            let number = fresh.number;
            fresh.bodies.clone().into_iter().map(move |(format, body)| (number * FORMATS + format, body))
        };
        let mut small = Vec::new();
        for (key, packed) in fresh.iter().flat_map(keyed) {
            match &packed.pieces {
                Pieces::One(bytes) => small.push((key, packed, bytes)),
                Pieces::Spooled { .. } => self.keep(key, Some(packed))?,
            }
        }
        let stored = "INSERT INTO stored (key, size, digest, body) VALUES";
        insert_all(self.transaction, stored, "(?,?,?,?)", &small, |(key, packed, bytes), statement, first| {
            statement.raw_bind_parameter(first, key)?;
            statement.raw_bind_parameter(first + 1, packed.size as i64)?;
            statement.raw_bind_parameter(first + 2, packed.digest)?;
            statement.raw_bind_parameter(first + 3, bytes.as_slice())
        })
    }
}
