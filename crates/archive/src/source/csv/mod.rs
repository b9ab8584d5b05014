//! Tables with a line of column names.
//!
//! A row is passed on as the names and strings of its cells, so that it can be read, and compared with its former
//! content, without its table. A file whose columns differ from the configured ones ends the reading: every row of it
//! would be wrong.

mod dialect;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use super::jsonl::legal;
use super::{Content, Fault, Kind, Options, Place, Reading, plain};
use crate::record::{Agent, File, Link, Record};

pub(super) use rows::Rows;

/// The separator of several values in one cell.
const LIST_SEPARATOR: &str = ";";

/// Further fields that are always lists.
const LISTS: [&str; 1] = ["categories"];

/// Reads rows.
pub(super) struct Table {
    /// The fields for a column, if their names differ from the column's.
    fields: BTreeMap<String, Vec<String>>,
    lists: Vec<String>,
    list_separator: String,
    tex: bool,
    fingerprint: u64,
}

impl Table {
    pub(super) fn new(options: &Options) -> Self {
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (field, column) in &options.columns {
            fields.entry(column.clone()).or_default().push(field.clone());
        }
        Self {
            fields,
            lists: LISTS.iter().map(|&list| list.to_owned()).chain(options.lists.iter().cloned()).collect(),
            list_separator: options.list_separator.clone().unwrap_or_else(|| LIST_SEPARATOR.to_owned()),
            tex: options.tex == Some(true),
            fingerprint: options.fingerprint(Kind::Csv, 1),
        }
    }

    fn fields<'a>(&'a self, column: &'a str) -> impl Iterator<Item = &'a str> {
        let mapped = self.fields.get(column);
        let own = mapped.is_none().then_some(column);
        mapped.into_iter().flatten().map(String::as_str).chain(own)
    }

    /// Returns the values in a cell.
    fn split<'a>(&'a self, cell: &'a str) -> impl Iterator<Item = &'a str> {
        let separator = self.list_separator.as_str();
        // An empty separator would match between any two characters.
        let (whole, parts) =
            if separator.is_empty() { (Some(cell), None) } else { (None, Some(cell.split(separator))) };
        whole.into_iter().chain(parts.into_iter().flatten()).map(str::trim).filter(|value| !value.is_empty())
    }

    fn put(&self, record: &mut Record, field: &str, cell: &str) -> Result<(), Fault> {
        let text = || cell.to_owned();
        match field {
            "identifier" => record.identifier = legal(cell, field)?,
            "deleted" => record.deleted = truth(cell)?,
            "datestamp" => record.datestamp = Some(text()),
            "title" => record.title = Some(text()),
            "abstract" => record.abstract_ = Some(text()),
            "licence" | "license" => record.licence = Some(text()),
            "creators" => record.creators = self.split(cell).map(Agent::named).collect(),
            "contributors" => record.contributors = self.split(cell).map(Agent::named).collect(),
            "subjects" => record.subjects = self.split(cell).map(str::to_owned).collect(),
            "sets" => record.sets = self.split(cell).map(str::to_owned).collect(),
            "links" => {
                record.links = self.split(cell).map(|url| Link { url: url.to_owned(), ..Link::default() }).collect();
            }
            "files" => {
                record.files = self.split(cell).map(|path| File { path: path.to_owned(), ..File::default() }).collect();
            }
            _ => {
                if let Some(event) = field.strip_prefix("dates.") {
                    record.dates.insert(event.to_owned(), text());
                } else if self.lists.iter().any(|list| list == field) {
                    record.further.insert(field.to_owned(), self.split(cell).collect());
                } else {
                    record.further.insert(field.to_owned(), Value::String(text()));
                }
            }
        }
        Ok(())
    }
}

fn cells(bytes: &[u8]) -> Result<Vec<(String, String)>, Fault> {
    serde_json::from_slice(bytes).map_err(|error| Fault(error.to_string()))
}

impl Reading for Table {
    fn identifier(&self, bytes: &[u8], _: &Place) -> Result<String, Fault> {
        let cells = cells(bytes)?;
        let found = cells.iter().find(|(column, _)| self.fields(column).any(|field| field == "identifier"));
        legal(found.map_or("", |(_, cell)| cell), "identifier")
    }

    fn read(&self, bytes: &[u8], _: &Place) -> Result<Content, Fault> {
        let mut record = Record::default();
        for (column, cell) in cells(bytes)? {
            for field in self.fields(&column) {
                self.put(&mut record, field, &cell)?;
            }
        }
        record.identifier = legal(&record.identifier, "identifier")?;
        if self.tex {
            plain::record(&mut record);
        }
        Ok(Content { record, given: Vec::new() })
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

fn truth(cell: &str) -> Result<bool, Fault> {
    match cell.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(Fault(format!("field `deleted`: {cell:?} is neither true nor false"))),
    }
}
