//! Writes documents of an archive to the tables.

use std::sync::Arc;

use modoai_protocol::Datestamp;
use rusqlite::{OptionalExtension as _, params};

use super::batch::{Batch, Fresh, Present};
use super::names::publicity_number;
use super::registry::Kind;
use super::store::{FORMATS, MEDIA_TYPE};
use crate::catalogue::stored::{Packed, StoredFormat};
use crate::catalogue::{Description, ImportState, Restamp};
use crate::item::{Fingerprint, Publicity};

/// A description with the numbers of its formats.
struct Numbered<'a> {
    description: &'a Description,
    /// The records to be stored, by the numbers of their formats.
    bodies: Vec<(i64, &'a Packed)>,
    kind: Arc<Kind>,
}

impl<'a> Batch<'a> {
    /// Applies the description of a document that is new, changed, restored, or deleted.
    pub(super) fn describe(&mut self, description: &'a Description) -> rusqlite::Result<()> {
        let present = self.present(&description.name)?;
        let numbered = self.numbered(description, present.as_ref())?;
        match present {
            None => self.describe_new(numbered),
            Some(present) if self.is_as_it_was(&numbered, &present)? => self.remember_state(&numbered, &present),
            Some(present) => self.describe_again(&numbered, &present),
        }
    }

    fn numbered(&mut self, description: &'a Description, present: Option<&Present>) -> rusqlite::Result<Numbered<'a>> {
        let transaction = self.transaction;
        let registry = self.registry();
        let mut bodies = Vec::new();
        let mut formats = present.map(|present| present.kind.formats.clone()).unwrap_or_default();
        for format in &description.unlisted {
            let id = registry.format(transaction, format)?;
            formats.retain(|(known, _)| *known != id);
        }
        for format in &description.gone_in {
            note(&mut formats, registry.format(transaction, format)?, true);
        }
        if let Some(record) = &description.record {
            bodies.push((registry.format(transaction, &StoredFormat::record())?, record));
            // Its records in formats that the new description does not have are deleted.
            formats.iter_mut().for_each(|(_, gone)| *gone = true);
            for (format, body) in &description.forms {
                let id = registry.format(transaction, format)?;
                bodies.extend(body.as_ref().map(|body| (id, body)));
                note(&mut formats, id, false);
            }
        }
        let sets_text = match present {
            // A tombstone keeps the sets it had.
            Some(present) if description.record.is_none() => present.kind.sets_text().to_owned(),
            _ => registry.kind(transaction, &description.sets)?.text.clone(),
        };
        let kind = registry.with_formats(transaction, &sets_text, &formats)?;
        Ok(Numbered { description, bodies, kind })
    }

    fn describe_new(&mut self, numbered: Numbered<'a>) -> rusqlite::Result<()> {
        let Numbered { description, bodies, kind } = numbered;
        let transaction = self.transaction;
        let media = self.registry().media(transaction, &MEDIA_TYPE.into())?;
        self.add(Fresh {
            number: 0,
            datestamp: self.stamped(description.datestamp.map(Datestamp::unix)),
            deleted: description.record.is_none(),
            media,
            kind,
            publicity: publicity_number(Publicity::Untold),
            name: &description.name,
            fingerprint: Fingerprint { size: size_of(description), ..Fingerprint::default() },
            state: description.state,
            bodies,
        });
        Ok(())
    }

    fn is_as_it_was(&self, numbered: &Numbered<'_>, present: &Present) -> rusqlite::Result<bool> {
        let Description { record, restamp, .. } = numbered.description;
        if present.deleted != record.is_none() || present.kind.text != numbered.kind.text {
            return Ok(false);
        }
        if present.deleted || *restamp != Restamp::IfChanged {
            return Ok(present.deleted);
        }
        let mut query = self.transaction.prepare_cached("SELECT digest FROM stored WHERE key = ?1")?;
        for (format, body) in &numbered.bodies {
            let digest: Option<[u8; 16]> =
                query.query_row([present.number * FORMATS + format], |row| row.get(0)).optional()?;
            if digest != Some(body.digest) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Stores the import state.
    fn remember_state(&mut self, numbered: &Numbered<'_>, present: &Present) -> rusqlite::Result<()> {
        let Some(ImportState { source, entry, reads_files }) = numbered.description.state else { return Ok(()) };
        let update = "UPDATE record SET source = ?2, entry = ?3, reads_files = ?4 WHERE number = ?1";
        let row = params![present.number, source.cast_signed(), entry.cast_signed(), reads_files];
        self.transaction.prepare_cached(update)?.execute(row).map(drop)
    }

    fn replace_bodies(&mut self, number: i64, bodies: &[(i64, &Packed)]) -> rusqlite::Result<()> {
        self.drop_bodies(number)?;
        bodies.iter().try_for_each(|(format, body)| self.keep(number * FORMATS + format, Some(body)))
    }

    fn describe_again(&mut self, numbered: &Numbered<'_>, present: &Present) -> rusqlite::Result<()> {
        let Numbered { description, bodies, kind } = numbered;
        let (number, deleted) = (present.number, description.record.is_none());
        let datestamp = match description.restamp {
            Restamp::Never => present.datestamp,
            // A tombstone that is only added to other lists keeps its datestamp.
            _ if present.deleted && deleted => present.datestamp,
            _ => self.stamped(description.datestamp.map(Datestamp::unix)),
        };
        if !present.deleted {
            self.count_live(&present.kind, -1);
        }
        if !deleted {
            self.count_live(kind, 1);
        }
        self.leave(present)?;
        self.enter(kind, datestamp, number);
        let update = "UPDATE record SET datestamp = ?2, deleted = ?3, size = ?4, sets = ?5 WHERE number = ?1";
        let row = params![number, datestamp, deleted, size_of(description) as i64, kind.text];
        self.transaction.prepare_cached(update)?.execute(row)?;
        self.remember_state(numbered, present)?;
        self.replace_bodies(number, bodies)
    }
}

/// Returns the size of a document's record.
fn size_of(description: &Description) -> u64 {
    description.record.as_ref().map_or(0, |record| record.size)
}

/// Adds or updates the entry of the format with this number.
fn note(formats: &mut Vec<(i64, bool)>, id: i64, gone: bool) {
    match formats.iter_mut().find(|(known, _)| *known == id) {
        Some(known) => known.1 = gone,
        None => formats.push((id, gone)),
    }
}
