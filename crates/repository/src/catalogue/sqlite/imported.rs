//! The state of documents as the last import left them.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::catalogue::{ImportState, Imported};

pub(super) fn imported(reader: &Connection, names: &[&str]) -> rusqlite::Result<Vec<Option<Imported>>> {
    let mut query = reader.prepare_cached(
        "SELECT r.deleted, r.source, r.entry, r.reads_files
         FROM name n CROSS JOIN record r ON r.number = n.number WHERE n.name = ?1",
    )?;
    // All queries use one snapshot, and the lock is acquired once.
    let _snapshot = reader.unchecked_transaction()?;
    let mut imported = |name: &&str| {
        let imported = query.query_row([name], |row| {
            let state = match (row.get::<_, Option<i64>>(1)?, row.get::<_, Option<i64>>(2)?) {
                (Some(source), Some(entry)) => Some(ImportState {
                    source: source.cast_unsigned(),
                    entry: entry.cast_unsigned(),
                    reads_files: row.get(3)?,
                }),
                _ => None,
            };
            Ok(Imported { deleted: row.get(0)?, state })
        });
        imported.optional()
    };
    names.iter().map(&mut imported).collect()
}

pub(super) fn names_from(reader: &Connection, source: u64, after: &str, limit: usize) -> rusqlite::Result<Vec<String>> {
    let mut query = reader.prepare_cached(
        "SELECT n.name FROM name n CROSS JOIN record r ON r.number = n.number
         WHERE n.name > ?1 AND r.deleted = 0 AND r.source = ?2 ORDER BY n.name LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    query.query_map(params![after, source.cast_signed(), limit], |row| row.get(0))?.collect()
}
