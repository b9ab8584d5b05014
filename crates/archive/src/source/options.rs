//! What can be chosen about a source: the table `[source]` of an archive's configuration.

use std::collections::BTreeMap;
use std::time::SystemTime;

use modoai_protocol::Datestamp;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Fault, Kind, Place};

/// A line is read whole, so there must be an end to it. The longest of arXiv's three million has 60 KB.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// The same for files: full-text XML of whole books stays below it.
const LONGEST_FILE: usize = 64 * 1024 * 1024;

/// What can be chosen. Everything has a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// What the input is; guessed if not given.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Whether TeX accents and symbols in titles, names and abstracts become characters. By default for arXiv's own
    /// shapes only: elsewhere a backslash may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tex: Option<bool>,
    /// How many bytes a line may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_line: Option<usize>,
    /// How many bytes a file may have that is one record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_file: Option<usize>,
    /// CSV: the encoding, such as `windows-1252`. Detected if not given: UTF-8, UTF-16 or windows-1252.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// CSV: the character between columns. A tab in files whose names end in `.tsv`; in others it is detected if not given:
    /// comma, semicolon or tab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// CSV: what is between several values in one column. A semicolon by default; nothing separates if it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_separator: Option<String>,
    /// CSV: which column holds which field, by field. By default a column is called as its field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// CSV: further columns that hold several values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// XML: the path of the element that holds the identifier, such as `recordInfo/recordIdentifier`. By default it is the
    /// file's path below the folder, without its extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// XML and .abs: where the datestamp of the first import comes from. By default from the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datestamp: Option<DatestampFrom>,
    /// XML: whether a file of no bytes tells that its record is deleted. By default it is a mistake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_is_deleted: Option<bool>,
    /// XML: the namespace of the format that `prefix` and `schema` tell of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// XML: the metadata prefix of that format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// XML: where the schema of that format is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// XML: which elements hold which field, by field; each a path of local names, the last may be an `@attribute`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Paths>,
}

/// Where a datestamp comes from, other than from the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatestampFrom {
    /// The modification time of the file.
    Mtime,
}

impl DatestampFrom {
    /// The datestamp of an entry that is a whole file.
    pub(super) fn of(self, place: &Place) -> Result<String, Fault> {
        let Self::Mtime = self;
        let modified = std::fs::metadata(&*place.file).and_then(|metadata| metadata.modified());
        let modified = modified.map_err(|error| Fault(format!("failed to read its modification time: {error}")))?;
        let seconds = match modified.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_secs()).map_or(i64::MIN, |seconds| -seconds),
        };
        Ok(Datestamp::from_unix(seconds).to_string())
    }
}

/// One path, or several whose values all count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Paths {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Paths {
    /// All of them.
    pub(super) fn all(&self) -> &[String] {
        match self {
            Self::One(path) => std::slice::from_ref(path),
            Self::Many(paths) => paths,
        }
    }
}

impl Options {
    pub(super) fn longest_line(&self) -> usize {
        self.longest_line.unwrap_or(LONGEST_LINE)
    }

    pub(super) fn longest_file(&self) -> usize {
        self.longest_file.unwrap_or(LONGEST_FILE)
    }

    /// Tells a kind with these options from all others. `version` goes up whenever the same bytes are read differently.
    pub(super) fn fingerprint(&self, kind: Kind, version: u32) -> u64 {
        // What only decides which bytes are read does not change how.
        let reading = Self { kind: None, longest_line: None, longest_file: None, ..self.clone() };
        let options = serde_json::to_string(&reading).expect("options are plain data");
        // Where TeX is converted only on demand, records that have none need not be read again when that changes.
        let tex = if self.tex == Some(true) { " tex 2" } else { "" };
        xxh3_64(format!("{kind} {version} {options}{tex}").as_bytes())
    }
}
