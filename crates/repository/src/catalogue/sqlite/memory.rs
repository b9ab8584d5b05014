//! The kind of the catalogue, values under keys, and the names of sets.

use std::sync::Arc;

use modoai_protocol::SetSpec;
use rusqlite::{Connection, OptionalExtension as _};

use super::file::INFER_KIND;
use crate::catalogue::{CatalogueKind, SetTitle};

/// The kind of the catalogue, inferred from its content if it is of version 7 and does not store it.
pub(super) fn kind(reader: &Connection) -> rusqlite::Result<Option<CatalogueKind>> {
    let is_stored = "SELECT 1 FROM pragma_table_info('standing') WHERE name = 'kind'";
    let is_stored = reader.prepare_cached(is_stored)?.exists([])?;
    let query = if is_stored { "SELECT kind FROM standing" } else { INFER_KIND };
    let name: Option<String> = reader.query_row(query, [], |row| row.get(0))?;
    Ok(name.and_then(|name| CatalogueKind::named(&name)))
}

pub(super) fn memo(reader: &Connection, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    reader.prepare_cached("SELECT value FROM memo WHERE key = ?1")?.query_row([key], |row| row.get(0)).optional()
}

pub(super) fn set_titles(reader: &Connection) -> rusqlite::Result<Vec<SetTitle>> {
    let mut query = reader.prepare_cached("SELECT spec, title, description FROM setname WHERE title IS NOT NULL")?;
    let mut rows = query.query([])?;
    let mut titles = Vec::new();
    while let Some(row) = rows.next()? {
        if let Some(spec) = SetSpec::parse(row.get_ref(0)?.as_str()?) {
            titles.push(SetTitle { set: Arc::new(spec), title: row.get(1)?, description: row.get(2)? });
        }
    }
    Ok(titles)
}
