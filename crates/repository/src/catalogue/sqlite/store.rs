//! Writes records that were received as XML to the tables.

use std::sync::Arc;

use rusqlite::{OptionalExtension as _, params};

use super::batch::{Batch, Present};
use super::names::publicity_number;
use super::registry::Kind;
use crate::catalogue::stored::{Packed, Pieces};
use crate::item::Publicity;

/// The maximum number of formats, plus one. The key of a record is the number of its item times this, plus the number
/// of its format.
pub(super) const FORMATS: i64 = 4096;

/// The media type of items with stored records, which have no file.
pub(super) const MEDIA_TYPE: &str = "text/xml";

impl<'a> Batch<'a> {
    /// Stores or deletes the record of an item in one format. `new` has the current sets of the item, and no formats.
    /// Returns false if the change was ignored because the item belongs to another source.
    pub(super) fn store(
        &mut self,
        name: &'a str,
        new: &Kind,
        format: i64,
        record: Option<&Packed>,
    ) -> rusqlite::Result<bool> {
        let present = self.present(name)?;
        if let Some(present) = &present
            && !present.deleted
            && present.kind.owner() != new.owner()
        {
            tracing::debug!(item = name, "an item of another source is left to it");
            return Ok(false);
        }
        let mut formats = present.as_ref().map(|present| present.kind.formats.clone()).unwrap_or_default();
        let gone = record.is_none();
        match formats.iter_mut().find(|(id, _)| *id == format) {
            Some(known) => known.1 = gone,
            None => formats.push((format, gone)),
        }
        // The header of a deletion often has no sets.
        let sets_text = match &present {
            Some(present) if gone => present.kind.sets_text(),
            _ => new.sets_text(),
        };
        let transaction = self.transaction;
        let kind = self.registry().with_formats(transaction, sets_text, &formats)?;
        if let Some(present) = &present
            && present.kind.text == kind.text
            && self.is_same(present.number, format, record)?
        {
            return Ok(true);
        }
        let deleted = formats.iter().all(|(_, gone)| *gone);
        // In other formats the item keeps its datestamps, unless its sets have changed: every format reports the sets.
        let others = match &present {
            Some(present) if present.kind.sets_text() == kind.sets_text() => self.stamps(present)?,
            _ => Vec::new(),
        };
        let number = self.list(name, present.as_ref(), &kind, deleted, record.map_or(0, |record| record.size))?;
        for (other, since) in others.into_iter().filter(|(other, _)| *other != format) {
            self.keep_stamp(&kind, number, other, since)?;
        }
        self.keep(number * FORMATS + format, record)?;
        Ok(true)
    }

    /// Returns true if the same record is already stored. A deleted record stays deleted.
    fn is_same(&self, number: i64, format: i64, record: Option<&Packed>) -> rusqlite::Result<bool> {
        let Some(record) = record else { return Ok(true) };
        let mut query = self.transaction.prepare_cached("SELECT digest FROM stored WHERE key = ?1")?;
        let digest: Option<[u8; 16]> = query.query_row([number * FORMATS + format], |row| row.get(0)).optional()?;
        Ok(digest == Some(record.digest))
    }

    /// Adds an item to its lists, or moves a known one in them, and returns its number.
    fn list(
        &mut self,
        name: &'a str,
        present: Option<&Present>,
        kind: &Arc<Kind>,
        deleted: bool,
        size: u64,
    ) -> rusqlite::Result<i64> {
        if let Some(present) = present {
            self.leave(present)?;
            if !present.deleted {
                self.count_live(&present.kind, -1);
            }
        }
        if !deleted {
            self.count_live(kind, 1);
        }
        let stamp = self.stamp;
        let number = match present {
            Some(present) => {
                let update = "UPDATE record SET datestamp = ?2, deleted = ?3, size = ?4, sets = ?5 WHERE number = ?1";
                let row = params![present.number, stamp, deleted, size as i64, kind.text];
                self.transaction.prepare_cached(update)?.execute(row)?;
                present.number
            }
            None => {
                let transaction = self.transaction;
                let media = self.registry().media(transaction, &MEDIA_TYPE.into())?;
                let number = self.new_number(name);
                let publicity = publicity_number(Publicity::Untold);
                let insert = "INSERT INTO record
                    (number, datestamp, deleted, media, size, modified, changed, inode, publicity, sets, name)
                    VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 0, ?6, ?7, ?8)";
                let row = params![number, stamp, deleted, media, size as i64, publicity, kind.text, name];
                self.transaction.prepare_cached(insert)?.execute(row)?;
                self.transaction.prepare_cached("INSERT INTO name VALUES (?1, ?2)")?.execute(params![name, number])?;
                number
            }
        };
        self.enter(kind, stamp, number);
        Ok(number)
    }

    /// Replaces the bytes of a record.
    pub(super) fn keep(&mut self, key: i64, record: Option<&Packed>) -> rusqlite::Result<()> {
        let drop_pieces = "DELETE FROM piece WHERE body = (SELECT pieces FROM stored WHERE key = ?1)";
        self.transaction.prepare_cached(drop_pieces)?.execute([key])?;
        let Some(Packed { size, digest, pieces }) = record else {
            self.transaction.prepare_cached("DELETE FROM stored WHERE key = ?1")?.execute([key])?;
            return Ok(());
        };
        let replace = "INSERT OR REPLACE INTO stored (key, size, digest, body, pieces) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut replace = self.transaction.prepare_cached(replace)?;
        if let Pieces::One(body) = pieces {
            replace.execute(params![key, *size as i64, digest, body, None::<i64>])?;
            return Ok(());
        }
        let body: i64 = self.transaction.query_row("SELECT random()", [], |row| row.get(0))?;
        replace.execute(params![key, *size as i64, digest, None::<&[u8]>, body])?;
        let mut insert = self.transaction.prepare_cached("INSERT INTO piece VALUES (?1, ?2, ?3)")?;
        pieces
            .each(|place, bytes| insert.execute(params![body, place, bytes]).map(drop).map_err(std::io::Error::other))
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }

    /// Removes all stored records of an item.
    pub(super) fn drop_bodies(&mut self, number: i64) -> rusqlite::Result<()> {
        let (first, last) = (number * FORMATS, (number + 1) * FORMATS - 1);
        let pieces = "DELETE FROM piece WHERE body IN
                      (SELECT pieces FROM stored WHERE key BETWEEN ?1 AND ?2 AND pieces IS NOT NULL)";
        self.transaction.prepare_cached(pieces)?.execute([first, last])?;
        let bodies = "DELETE FROM stored WHERE key BETWEEN ?1 AND ?2";
        self.transaction.prepare_cached(bodies)?.execute([first, last]).map(drop)
    }
}
