//! The numbers of set specs, media types and formats, for the writer that assigns them.
//!
//! The registry keeps the numbers that it has read or assigned until the writer is dropped. It reads only those that
//! are needed, because some catalogues have hundreds of thousands of sets, and some writers apply only one batch.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use modoai_protocol::SetSpec;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::names::{EVERYTHING, Entry, entries, list_spec};
use crate::catalogue::stored::StoredFormat;

/// The sets and formats of an item. Items with the same narrowest sets and the same formats share one.
pub(super) struct Kind {
    /// The representation in `record.sets`.
    pub(super) text: String,
    /// All lists with such an item, including [`EVERYTHING`] and those by format, in ascending order.
    pub(super) sets: Vec<i64>,
    /// The formats by number, each with true if the record is deleted.
    pub(super) formats: Vec<(i64, bool)>,
    /// The lists by format among those, with the numbers of the formats.
    by_format: Vec<(i64, i64)>,
}

impl Kind {
    /// Returns the set that identifies the source of the item: the first one.
    pub(super) fn owner(&self) -> Option<i64> {
        entries(&self.text).find_map(|entry| if let Entry::Set(id) = entry { Some(id) } else { None })
    }

    /// Returns the lists of items with this format.
    pub(super) fn lists_of(&self, format: i64) -> impl Iterator<Item = i64> {
        self.by_format.iter().filter(move |(of, _)| *of == format).map(|(_, list)| *list)
    }

    /// Returns the part of the text that is about sets.
    pub(super) fn sets_text(&self) -> &str {
        let end = self.text.find(['f', 'g']).unwrap_or(self.text.len());
        self.text[..end].trim_end()
    }
}

/// Names that the writer has read or assigned numbers to. Must be dropped after a failed transaction.
#[derive(Default)]
pub(super) struct Registry {
    lists: HashMap<String, i64>,
    specs: HashMap<i64, Arc<str>>,
    media: HashMap<Arc<str>, i64>,
    formats: HashMap<String, i64>,
    kinds_by_specs: HashMap<String, Arc<Kind>>,
    kinds_by_text: HashMap<String, Arc<Kind>>,
}

impl Registry {
    /// Returns the number of a media type. Adds the media type if it is new.
    pub(super) fn media(&mut self, writer: &Connection, name: &Arc<str>) -> rusqlite::Result<i64> {
        if let Some(id) = self.media.get(name) {
            return Ok(*id);
        }
        let known = writer.prepare_cached("SELECT media_id FROM media WHERE type = ?1")?.query_row([name], first);
        let id = match known.optional()? {
            Some(id) => id,
            None => {
                writer.prepare_cached("INSERT INTO media (type) VALUES (?1)")?.execute([name])?;
                writer.last_insert_rowid()
            }
        };
        self.media.insert(Arc::clone(name), id);
        Ok(id)
    }

    /// Returns the number of a format. Adds the format if its prefix is new.
    pub(super) fn format(&mut self, writer: &Connection, format: &StoredFormat) -> rusqlite::Result<i64> {
        if let Some(id) = self.formats.get(&format.prefix) {
            return Ok(*id);
        }
        let StoredFormat { prefix, schema, namespace } = format;
        let known = writer.prepare_cached("SELECT format_id FROM format WHERE prefix = ?1")?.query_row([prefix], first);
        let id = match known.optional()? {
            Some(id) => id,
            None => {
                let add = "INSERT INTO format (prefix, schema, namespace) VALUES (?1, ?2, ?3)";
                writer.execute(add, params![prefix, schema, namespace])?;
                writer.last_insert_rowid()
            }
        };
        self.formats.insert(prefix.clone(), id);
        Ok(id)
    }

    /// Returns the kind of an item with these narrowest sets and no formats. Assigns numbers to new sets.
    pub(super) fn kind(&mut self, writer: &Connection, sets: &[Arc<SetSpec>]) -> rusqlite::Result<Arc<Kind>> {
        let joined;
        let specs = match sets {
            [only] => only.as_str(),
            sets => {
                joined = sets.iter().map(|set| set.as_str()).collect::<Vec<_>>().join(" ");
                &joined
            }
        };
        if let Some(kind) = self.kinds_by_specs.get(specs) {
            return Ok(Arc::clone(kind));
        }
        let mut text = String::new();
        for set in sets {
            let separator = if text.is_empty() { "" } else { " " };
            let number = self.number(writer, set.as_str())?;
            write!(text, "{separator}{number}").expect("writing to a String cannot fail");
        }
        let kind = self.recorded_kind(writer, &text)?;
        self.kinds_by_specs.insert(specs.to_owned(), Arc::clone(&kind));
        Ok(kind)
    }

    /// Returns the kind of an item with the sets of another and these formats.
    pub(super) fn with_formats(
        &mut self,
        writer: &Connection,
        sets_text: &str,
        formats: &[(i64, bool)],
    ) -> rusqlite::Result<Arc<Kind>> {
        let mut text = sets_text.to_owned();
        for (id, gone) in formats {
            let separator = if text.is_empty() { "" } else { " " };
            let state = if *gone { 'g' } else { 'f' };
            write!(text, "{separator}{state}{id}").expect("writing to a String cannot fail");
        }
        self.recorded_kind(writer, &text)
    }

    /// Returns the kind that a `record.sets` represents.
    pub(super) fn recorded_kind(&mut self, writer: &Connection, text: &str) -> rusqlite::Result<Arc<Kind>> {
        if let Some(kind) = self.kinds_by_text.get(text) {
            return Ok(Arc::clone(kind));
        }
        let (mut specs, mut formats) = (vec![Arc::<str>::from("")], Vec::new());
        for entry in entries(text) {
            match entry {
                Entry::Set(id) => specs.extend(self.spec(writer, id)?),
                Entry::Format { id, gone } => formats.push((id, gone)),
            }
        }
        let (mut sets, mut by_format) = (vec![EVERYTHING], Vec::new());
        for spec in &specs {
            let lineage = spec.match_indices(':').map(|(at, _)| at).chain([spec.len()]).map(|end| &spec[..end]);
            for wider in lineage {
                if !wider.is_empty() {
                    sets.push(self.number(writer, wider)?);
                }
                for (format, _) in &formats {
                    by_format.push((*format, self.number(writer, &list_spec(*format, wider))?));
                }
            }
        }
        by_format.sort_unstable();
        by_format.dedup();
        sets.extend(by_format.iter().map(|(_, list)| list));
        sets.sort_unstable();
        sets.dedup();
        let kind = Arc::new(Kind { text: text.to_owned(), sets, formats, by_format });
        self.kinds_by_text.insert(text.to_owned(), Arc::clone(&kind));
        Ok(kind)
    }

    /// Returns the number of a list by its spec. Adds the list if it is new.
    pub(super) fn number(&mut self, writer: &Connection, spec: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.lists.get(spec) {
            return Ok(*id);
        }
        let known = writer.prepare_cached("SELECT set_id FROM setname WHERE spec = ?1")?.query_row([spec], first);
        let id = match known.optional()? {
            Some(id) => id,
            None => {
                writer.prepare_cached("INSERT INTO setname (spec, live) VALUES (?1, 0)")?.execute([spec])?;
                writer.last_insert_rowid()
            }
        };
        self.lists.insert(spec.to_owned(), id);
        self.specs.insert(id, spec.into());
        Ok(id)
    }

    fn spec(&mut self, writer: &Connection, id: i64) -> rusqlite::Result<Option<Arc<str>>> {
        if let Some(spec) = self.specs.get(&id) {
            return Ok(Some(Arc::clone(spec)));
        }
        let mut query = writer.prepare_cached("SELECT spec FROM setname WHERE set_id = ?1")?;
        let spec = query.query_row([id], |row| row.get::<_, Arc<str>>(0)).optional()?;
        if let Some(spec) = &spec {
            self.lists.insert(spec.to_string(), id);
            self.specs.insert(id, Arc::clone(spec));
        }
        Ok(spec)
    }
}

fn first(row: &rusqlite::Row<'_>) -> rusqlite::Result<i64> {
    row.get(0)
}
