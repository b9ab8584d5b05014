//! Set specs and media types as small numbers.
//!
//! There are few of either and they are never forgotten, so each side keeps them in memory: the reading side to turn
//! numbers into shared names, the writing side to turn the sets of an item into a [`Kind`].

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

use modoai_protocol::SetSpec;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::item::Publicity;

/// The set that holds everything.
pub(super) const EVERYTHING: i64 = 0;

/// Names the reading side has met. Numbers are never given to another name, so this only grows.
#[derive(Default)]
pub(super) struct KnownNames(RwLock<Arc<Names>>);

impl KnownNames {
    pub(super) fn current(&self) -> Arc<Names> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// All names as of now, for when a number was not in the current ones.
    pub(super) fn renewed(&self, reader: &Connection) -> rusqlite::Result<Arc<Names>> {
        let names = Arc::new(Names::read(reader)?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&names);
        Ok(names)
    }
}

/// Names in order of their numbers.
#[derive(Default)]
pub(super) struct Names {
    sets: Vec<(i64, Arc<SetSpec>)>,
    media: Vec<(i64, Arc<str>)>,
}

impl Names {
    fn read(reader: &Connection) -> rusqlite::Result<Self> {
        let mut names = Self::default();
        let mut sets = reader.prepare_cached("SELECT set_id, spec FROM setname ORDER BY set_id")?;
        let mut rows = sets.query([])?;
        while let Some(row) = rows.next()? {
            // Everything has no spec.
            if let Some(spec) = SetSpec::parse(row.get_ref(1)?.as_str()?) {
                names.sets.push((row.get(0)?, Arc::new(spec)));
            }
        }
        let mut media = reader.prepare_cached("SELECT media_id, type FROM media ORDER BY media_id")?;
        let mut rows = media.query([])?;
        while let Some(row) = rows.next()? {
            names.media.push((row.get(0)?, row.get(1)?));
        }
        Ok(names)
    }

    /// The media type with that number.
    pub(super) fn media(&self, id: i64) -> Option<Arc<str>> {
        numbered(&self.media, id)
    }

    /// The sets that a `record.sets` means.
    pub(super) fn sets(&self, text: &str) -> Option<Arc<[Arc<SetSpec>]>> {
        ids(text).map(|id| numbered(&self.sets, id)).collect()
    }
}

fn numbered<T: Clone>(names: &[(i64, T)], id: i64) -> Option<T> {
    let at = names.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    Some(names[at].1.clone())
}

/// The numbers in a `record.sets`. Only the writer writes them; anything else becomes a number that no set has.
fn ids(text: &str) -> impl Iterator<Item = i64> {
    text.split_ascii_whitespace().map(|id| id.parse().unwrap_or(-1))
}

/// What items with the same narrowest sets have in common.
pub(super) struct Kind {
    /// How `record.sets` puts it.
    pub(super) text: String,
    /// Every set such an item is a member of, [`EVERYTHING`] included, in ascending order.
    pub(super) sets: Vec<i64>,
}

/// Names the writing side has met or given numbers to. Must be read anew after a transaction failed.
pub(super) struct Registry {
    sets: HashMap<String, i64>,
    specs: HashMap<i64, Arc<SetSpec>>,
    media: HashMap<Arc<str>, i64>,
    kinds_by_specs: HashMap<String, Arc<Kind>>,
    kinds_by_text: HashMap<String, Arc<Kind>>,
}

impl Registry {
    pub(super) fn read(writer: &Connection) -> rusqlite::Result<Self> {
        let Names { sets, media } = Names::read(writer)?;
        Ok(Self {
            sets: sets.iter().map(|(id, spec)| (spec.as_str().to_owned(), *id)).collect(),
            specs: sets.into_iter().collect(),
            media: media.into_iter().map(|(id, name)| (name, id)).collect(),
            kinds_by_specs: HashMap::new(),
            kinds_by_text: HashMap::new(),
        })
    }

    /// The number of a media type, new if need be.
    pub(super) fn media(&mut self, writer: &Connection, name: &Arc<str>) -> rusqlite::Result<i64> {
        if let Some(id) = self.media.get(name) {
            return Ok(*id);
        }
        writer.prepare_cached("INSERT INTO media (type) VALUES (?1)")?.execute([name])?;
        let id = writer.last_insert_rowid();
        self.media.insert(Arc::clone(name), id);
        Ok(id)
    }

    /// The kind of an item with these narrowest sets; sets not met before get a number.
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
            for spec in set.lineage() {
                self.number(writer, spec)?;
            }
            let separator = if text.is_empty() { "" } else { " " };
            write!(text, "{separator}{}", self.sets[set.as_str()]).expect("writing to a String cannot fail");
        }
        let kind = self.recorded_kind(&text);
        self.kinds_by_specs.insert(specs.to_owned(), Arc::clone(&kind));
        Ok(kind)
    }

    /// The kind that a `record.sets` means.
    pub(super) fn recorded_kind(&mut self, text: &str) -> Arc<Kind> {
        if let Some(kind) = self.kinds_by_text.get(text) {
            return Arc::clone(kind);
        }
        let specs = ids(text).filter_map(|id| self.specs.get(&id));
        let wider = specs.flat_map(|spec| spec.lineage()).filter_map(|spec| self.sets.get(spec));
        let mut sets: Vec<i64> = wider.copied().chain([EVERYTHING]).collect();
        sets.sort_unstable();
        sets.dedup();
        let kind = Arc::new(Kind { text: text.to_owned(), sets });
        self.kinds_by_text.insert(text.to_owned(), Arc::clone(&kind));
        kind
    }

    fn number(&mut self, writer: &Connection, spec: &str) -> rusqlite::Result<()> {
        if !self.sets.contains_key(spec) {
            writer.prepare_cached("INSERT INTO setname (spec, live) VALUES (?1, 0)")?.execute([spec])?;
            let id = writer.last_insert_rowid();
            self.sets.insert(spec.to_owned(), id);
            self.specs.extend(SetSpec::parse(spec).map(|spec| (id, Arc::new(spec))));
        }
        Ok(())
    }
}

/// The number of a set, if it was ever met.
pub(super) fn set_number(reader: &Connection, set: Option<&SetSpec>) -> rusqlite::Result<Option<i64>> {
    let Some(set) = set else { return Ok(Some(EVERYTHING)) };
    let mut query = reader.prepare_cached("SELECT set_id FROM setname WHERE spec = ?1")?;
    query.query_row(params![set.as_str()], |row| row.get(0)).optional()
}
/// How much of a secret an item is, as a number.
pub(super) fn publicity_number(publicity: Publicity) -> i64 {
    match publicity {
        Publicity::Untold => 0,
        Publicity::Public => 1,
        Publicity::Withdrawn => 2,
    }
}

/// The same from a number. One that means nothing is not taken for a permission.
pub(super) fn publicity_from(number: i64) -> Publicity {
    match number {
        1 => Publicity::Public,
        2 => Publicity::Withdrawn,
        _ => Publicity::Untold,
    }
}
