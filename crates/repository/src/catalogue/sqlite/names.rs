//! The numbers of set specs, media types, formats and audiences, for readers.
//!
//! They are never deleted and their numbers only grow, so they are kept in memory, and only new ones are read.

use std::sync::{Arc, PoisonError, RwLock};

use modoai_protocol::SetSpec;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::audience::Audience;
use crate::catalogue::stored::{Holding, StoredFormat};
use crate::item::{ListedFor, Publicity};

/// The set that contains all items.
pub(super) const EVERYTHING: i64 = 0;

/// Names that readers have read. A number is never assigned to another name, so this only grows.
#[derive(Default)]
pub(super) struct KnownNames(RwLock<Arc<Names>>);

impl KnownNames {
    pub(super) fn current(&self) -> Arc<Names> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads new names and returns all of them. Called when a number is not among the current ones.
    pub(super) fn renewed(&self, reader: &Connection) -> rusqlite::Result<Arc<Names>> {
        let known = self.current();
        let newest = newest(reader)?;
        if known.newest == newest {
            return Ok(known);
        }
        let names = Arc::new(Names { newest, ..known.extended(reader)? });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&names);
        Ok(names)
    }
}

/// Names in order of their numbers.
#[derive(Clone, Default)]
pub(super) struct Names {
    /// The greatest numbers at the time of reading.
    newest: [Option<i64>; 4],
    sets: Vec<(i64, Arc<SetSpec>)>,
    media: Vec<(i64, Arc<str>)>,
    formats: Vec<(i64, Arc<StoredFormat>)>,
    audiences: Vec<(i64, Arc<Audience>)>,
}

/// The meaning of a `record.sets`: the sets of an item, and the formats of its records.
#[derive(Clone)]
pub(super) struct Grouping {
    pub(super) sets: Arc<[Arc<SetSpec>]>,
    pub(super) formats: Arc<[Holding]>,
    /// The numbers of the formats whose records are deleted.
    pub(super) gone_in: Arc<[i64]>,
}

impl Names {
    /// Returns these names and those assigned since.
    fn extended(&self, reader: &Connection) -> rusqlite::Result<Self> {
        let mut names = self.clone();
        let last = |numbers: Option<i64>| numbers.unwrap_or(i64::MIN);
        // The set of all items has no spec, and the specs of lists by format are not legal set specs.
        let sets = "SELECT set_id, spec FROM setname WHERE set_id > ?1 AND instr(spec, '/') = 0 ORDER BY set_id";
        let mut sets = reader.prepare_cached(sets)?;
        let mut rows = sets.query([last(names.sets.last().map(|(id, _)| *id))])?;
        while let Some(row) = rows.next()? {
            if let Some(spec) = SetSpec::parse(row.get_ref(1)?.as_str()?) {
                names.sets.push((row.get(0)?, Arc::new(spec)));
            }
        }
        let mut media =
            reader.prepare_cached("SELECT media_id, type FROM media WHERE media_id > ?1 ORDER BY media_id")?;
        let mut rows = media.query([last(names.media.last().map(|(id, _)| *id))])?;
        while let Some(row) = rows.next()? {
            names.media.push((row.get(0)?, row.get(1)?));
        }
        let formats = "SELECT format_id, prefix, schema, namespace FROM format WHERE format_id > ?1 ORDER BY format_id";
        let mut formats = reader.prepare_cached(formats)?;
        let mut rows = formats.query([last(names.formats.last().map(|(id, _)| *id))])?;
        while let Some(row) = rows.next()? {
            let format = StoredFormat { prefix: row.get(1)?, schema: row.get(2)?, namespace: row.get(3)? };
            names.formats.push((row.get(0)?, Arc::new(format)));
        }
        let audiences = "SELECT number, needs, digest FROM audience WHERE number > ?1 ORDER BY number";
        let mut audiences = reader.prepare_cached(audiences)?;
        let mut rows = audiences.query([last(names.audiences.last().map(|(id, _)| *id))])?;
        while let Some(row) = rows.next()? {
            let audience = Audience { needs: row.get(1)?, digest: row.get(2)? };
            names.audiences.push((row.get(0)?, Arc::new(audience)));
        }
        Ok(names)
    }

    /// Returns the media type with that number.
    pub(super) fn media(&self, id: i64) -> Option<Arc<str>> {
        numbered(&self.media, id)
    }

    /// Returns all formats with their numbers.
    pub(super) fn formats(&self) -> impl Iterator<Item = &(i64, Arc<StoredFormat>)> {
        self.formats.iter()
    }

    /// Returns the meaning of a `record.sets`.
    pub(super) fn grouping(&self, text: &str) -> Option<Grouping> {
        let (mut sets, mut formats, mut gone_in) = (Vec::new(), Vec::new(), Vec::new());
        for entry in entries(text) {
            match entry {
                Entry::Set(id) => sets.push(numbered(&self.sets, id)?),
                Entry::Format { id, gone } => {
                    formats.push(Holding { format: numbered(&self.formats, id)?, gone });
                    gone_in.extend(gone.then_some(id));
                }
            }
        }
        Some(Grouping { sets: sets.into(), formats: formats.into(), gone_in: gone_in.into() })
    }

    /// Returns the audiences of a `record.audience`.
    pub(super) fn listed_for(&self, text: &str) -> Option<ListedFor> {
        let (mut audiences, mut and_others) = (Vec::new(), false);
        for word in text.split_ascii_whitespace() {
            match word {
                OTHERS => and_others = true,
                number => audiences.push(numbered(&self.audiences, number.parse().unwrap_or(-1))?),
            }
        }
        Some(ListedFor { audiences: audiences.into(), and_others })
    }
}

/// The word in `record.audience` for audiences that were not recorded.
pub(super) const OTHERS: &str = "*";

/// Returns the greatest numbers of sets, media types, formats and audiences.
fn newest(reader: &Connection) -> rusqlite::Result<[Option<i64>; 4]> {
    let newest = "SELECT (SELECT max(set_id) FROM setname), (SELECT max(media_id) FROM media),
                         (SELECT max(format_id) FROM format), (SELECT max(number) FROM audience)";
    reader.prepare_cached(newest)?.query_row([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))
}

fn numbered<T: Clone>(names: &[(i64, T)], id: i64) -> Option<T> {
    let at = names.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    Some(names[at].1.clone())
}

/// One word of a `record.sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The item is in the set with this number.
    Set(i64),
    /// The item has, or had, a record in the format with this number.
    Format { id: i64, gone: bool },
}

/// Returns the words of a `record.sets`. Only the writer writes them; anything else becomes a number that is not
/// assigned.
pub(super) fn entries(text: &str) -> impl Iterator<Item = Entry> {
    text.split_ascii_whitespace().map(|word| {
        let number = |digits: &str| digits.parse().unwrap_or(-1);
        match word.as_bytes()[0] {
            b'f' => Entry::Format { id: number(&word[1..]), gone: false },
            b'g' => Entry::Format { id: number(&word[1..]), gone: true },
            _ => Entry::Set(number(word)),
        }
    })
}

/// Returns the number of a format, if the catalogue has records in it.
pub(super) fn format_number(reader: &Connection, known: &KnownNames, prefix: &str) -> rusqlite::Result<Option<i64>> {
    let find = |names: &Names| names.formats().find(|(_, format)| format.prefix == prefix).map(|(id, _)| *id);
    match find(&known.current()) {
        Some(id) => Ok(Some(id)),
        None => known.renewed(reader).map(|names| find(&names)),
    }
}

/// Returns the spec of a list in one format: of a set, or of all items.
pub(super) fn list_spec(format: i64, set: &str) -> String {
    format!("{format}/{set}")
}

/// Returns the number of a list, if it exists.
pub(super) fn list_number(
    reader: &Connection,
    format: Option<i64>,
    set: Option<&SetSpec>,
) -> rusqlite::Result<Option<i64>> {
    let set = set.map(SetSpec::as_str);
    let spec = match (format, set) {
        (None, None) => return Ok(Some(EVERYTHING)),
        (Some(format), set) => &list_spec(format, set.unwrap_or_default()),
        (None, Some(set)) => set,
    };
    let mut query = reader.prepare_cached("SELECT set_id FROM setname WHERE spec = ?1")?;
    query.query_row(params![spec], |row| row.get(0)).optional()
}

/// Returns the publicity of an item as a number.
pub(super) fn publicity_number(publicity: Publicity) -> i64 {
    match publicity {
        Publicity::Untold => 0,
        Publicity::Public => 1,
        Publicity::Withdrawn => 2,
    }
}

/// Returns the publicity for a number. An unknown number grants no access.
pub(super) fn publicity_from(number: i64) -> Publicity {
    match number {
        1 => Publicity::Public,
        2 => Publicity::Withdrawn,
        _ => Publicity::Untold,
    }
}
