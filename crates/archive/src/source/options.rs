//! The options of a source: the table `[source]` of an archive's configuration.

use std::collections::BTreeMap;
use std::time::SystemTime;

use modoai_protocol::Datestamp;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Fault, Kind, Place};

/// The default limit for a line, which is kept in memory completely. The longest of arXiv's three million has 60 KB.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// The same for files: full-text XML of whole books is smaller.
const LONGEST_FILE: usize = 64 * 1024 * 1024;

/// The options. All of them have a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// The kind of the input; detected by default.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// True if TeX accents and symbols in titles, names and abstracts are converted to characters. By default only for
    /// arXiv's own formats: elsewhere a backslash may be literal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tex: Option<bool>,
    /// The maximum length of a line, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_line: Option<usize>,
    /// The maximum length of a file that is one record, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_file: Option<usize>,
    /// CSV: the encoding, such as `windows-1252`. By default it is detected: UTF-8, UTF-16 or windows-1252.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// CSV: the separator of columns. In files whose names end in `.tsv` a tab by default; in others it is detected:
    /// comma, semicolon or tab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// CSV: the separator of several values in one column. A semicolon by default; if it is empty, values are not
    /// split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_separator: Option<String>,
    /// CSV: the columns of fields, by field. By default a column has the name of its field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// CSV: further columns that contain several values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// XML: the path of the element with the identifier, such as `recordInfo/recordIdentifier`. By default the
    /// identifier is the file's path below the directory, without its extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// XML and .abs: the source of the datestamp in the first import. By default the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datestamp: Option<DatestampFrom>,
    /// XML: true if an empty file means that its record is deleted. By default it is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_is_deleted: Option<bool>,
    /// XML: the namespace of the format to which `prefix` and `schema` apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// XML: the metadata prefix of that format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// XML: the URL of the schema of that format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// XML: the elements for each field, by field; each a path of local names, the last may be an `@attribute`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Paths>,
}

/// The source of a datestamp, other than the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatestampFrom {
    /// The modification time of the file.
    Mtime,
}

impl DatestampFrom {
    /// Returns the datestamp of an entry that is a whole file.
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
    /// One path.
    One(String),
    /// Several paths.
    Many(Vec<String>),
}

impl Paths {
    /// Returns all paths.
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

    /// Identifies a kind with these options. `version` is increased whenever the same bytes are read differently.
    pub(super) fn fingerprint(&self, kind: Kind, version: u32) -> u64 {
        // Options that only limit the bytes that are read do not change the result.
        let reading = Self { kind: None, longest_line: None, longest_file: None, ..self.clone() };
        let options = serde_json::to_string(&reading).expect("options are plain data");
        // If TeX is converted only on request, records without it need not be read again when the conversion changes.
        let tex = if self.tex == Some(true) { " tex 2" } else { "" };
        xxh3_64(format!("{kind} {version} {options}{tex}").as_bytes())
    }
}
