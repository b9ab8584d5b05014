//! Documents of an archive, on their way into the tables.

use std::sync::Arc;

use rusqlite::{OptionalExtension as _, params};

use super::batch::{Batch, Fresh, Present};
use super::names::publicity_number;
use super::registry::Kind;
use super::store::{FORMATS, MEDIA_TYPE};
use crate::catalogue::stored::{Packed, StoredFormat};
use crate::catalogue::{Description, Restamp};
use crate::item::Publicity;

/// A description with the numbers that its formats have.
struct Numbered<'a> {
    description: &'a Description,
    /// What is to be stored, by the numbers of formats.
    bodies: Vec<(i64, &'a Packed)>,
    kind: Arc<Kind>,
}

impl<'a> Batch<'a> {
    /// A document is new, changed, back, or gone.
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
        // What it had in other formats before is gone in those.
        let mut formats = present.map(|present| present.kind.formats.clone()).unwrap_or_default();
        if let Some(record) = &description.record {
            bodies.push((registry.format(transaction, &StoredFormat::record())?, record));
            formats.iter_mut().for_each(|(_, gone)| *gone = true);
            for (format, body) in &description.forms {
                let id = registry.format(transaction, format)?;
                bodies.extend(body.as_ref().map(|body| (id, body)));
                match formats.iter_mut().find(|(known, _)| *known == id) {
                    Some(known) => known.1 = false,
                    None => formats.push((id, false)),
                }
            }
        }
        let kind = match present {
            Some(present) if description.record.is_none() => Arc::clone(&present.kind),
            _ => {
                let sets = registry.kind(transaction, &description.sets)?;
                if formats.is_empty() { sets } else { registry.with_formats(transaction, &sets.text, &formats)? }
            }
        };
        Ok(Numbered { description, bodies, kind })
    }

    fn describe_new(&mut self, numbered: Numbered<'a>) -> rusqlite::Result<()> {
        let Numbered { description, bodies, kind } = numbered;
        let transaction = self.transaction;
        let media = self.registry().media(transaction, &MEDIA_TYPE.into())?;
        self.add(Fresh {
            number: 0,
            datestamp: self.stamped(description.datestamp.unix()),
            deleted: description.record.is_none(),
            media,
            kind,
            publicity: publicity_number(Publicity::Untold),
            name: &description.name,
            fingerprint: description.state,
            bodies,
        });
        Ok(())
    }

    fn is_as_it_was(&self, numbered: &Numbered<'_>, present: &Present) -> rusqlite::Result<bool> {
        let Description { record, restamp, .. } = numbered.description;
        if record.is_none() || present.deleted {
            return Ok(record.is_none() && present.deleted);
        }
        if present.kind.text != numbered.kind.text || *restamp != Restamp::IfChanged {
            return Ok(present.kind.text == numbered.kind.text && *restamp == Restamp::IfMoved);
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

    /// Nothing to be seen has changed.
    fn remember_state(&mut self, numbered: &Numbered<'_>, present: &Present) -> rusqlite::Result<()> {
        let Description { state, restamp, .. } = numbered.description;
        let update = "UPDATE record SET size = ?2, modified = ?3, changed = ?4, inode = ?5 WHERE number = ?1";
        let row = params![present.number, state.size as i64, state.modified, state.changed, state.inode as i64];
        self.transaction.prepare_cached(update)?.execute(row)?;
        match restamp {
            Restamp::IfMoved if !present.deleted => self.replace_bodies(present.number, &numbered.bodies),
            _ => Ok(()),
        }
    }

    fn replace_bodies(&mut self, number: i64, bodies: &[(i64, &Packed)]) -> rusqlite::Result<()> {
        self.drop_bodies(number)?;
        bodies.iter().try_for_each(|(format, body)| self.keep(number * FORMATS + format, Some(body)))
    }

    fn describe_again(&mut self, numbered: &Numbered<'_>, present: &Present) -> rusqlite::Result<()> {
        let Numbered { description, bodies, kind } = numbered;
        let (number, deleted) = (present.number, description.record.is_none());
        let datestamp = self.stamped(description.datestamp.unix());
        if !present.deleted {
            self.count_live(&present.kind, -1);
        }
        if !deleted {
            self.count_live(kind, 1);
        }
        self.leave(present);
        self.enter(kind, datestamp, number);
        let update =
            "UPDATE record SET datestamp = ?2, deleted = ?3, size = ?4, modified = ?5, changed = ?6, inode = ?7,
                             sets = ?8 WHERE number = ?1";
        let state = description.state;
        let (size, inode) = (state.size as i64, state.inode as i64);
        let row = params![number, datestamp, deleted, size, state.modified, state.changed, inode, kind.text];
        self.transaction.prepare_cached(update)?.execute(row)?;
        self.replace_bodies(number, bodies)
    }
}
