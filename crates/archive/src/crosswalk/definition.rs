//! The definition of a crosswalk, and errors in it.

use std::fmt;

use minijinja::ErrorKind;
use modoai_repository::catalogue::stored::StoredFormat;
use serde::{Deserialize, Serialize};

use super::engine::{LONGEST, MOST_STEPS};

/// The definition of a crosswalk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The format's metadataPrefix.
    pub prefix: String,
    /// The URL of its schema.
    pub schema: String,
    /// Its namespace: that of the root element.
    pub namespace: String,
    /// The fields that a record must have: names (`doi`, `dates.issued`), or alternatives of which one is sufficient
    /// (`doi or landing`).
    #[serde(default)]
    pub requires: Vec<String>,
    /// True if every record of the archive must have the format: a record that lacks a required field is rejected.
    /// Lists of such a format are the lists of all records.
    #[serde(default)]
    pub always: bool,
    /// True if documents in this format are stored in the catalogue.
    #[serde(default)]
    pub keep: bool,
    /// The template's file, for messages.
    pub file: String,
    /// The template.
    pub template: String,
}

/// An error in a crosswalk, or in a record that it converts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CrosswalkError {
    /// The template's file.
    pub file: String,
    /// The line, counted from 1, if it is known.
    pub line: Option<usize>,
    /// The problem.
    pub what: String,
}

impl fmt::Display for CrosswalkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl Definition {
    /// Returns true if every record has the format.
    pub fn is_for_all(&self) -> bool {
        self.always || self.requires.is_empty()
    }

    /// Returns the format, for the catalogue.
    pub fn format(&self) -> StoredFormat {
        let Self { prefix, schema, namespace, .. } = self;
        StoredFormat { prefix: prefix.clone(), schema: schema.clone(), namespace: namespace.clone() }
    }

    pub(super) fn fault(&self, line: Option<usize>, what: String) -> CrosswalkError {
        CrosswalkError { file: self.file.clone(), line, what }
    }

    pub(super) fn fault_of(&self, error: &minijinja::Error) -> CrosswalkError {
        // An error in an included template is reported with the name of that template.
        let inner = std::error::Error::source(error).and_then(|source| source.downcast_ref::<minijinja::Error>());
        if let Some(inner) = inner.filter(|_| error.kind() == ErrorKind::BadInclude) {
            let file = inner.name().map_or_else(|| self.file.clone(), str::to_owned);
            return CrosswalkError { file, ..self.fault_of(inner) };
        }
        let what = match (error.kind(), error.detail()) {
            (ErrorKind::OutOfFuel, _) => format!("it needs more than {MOST_STEPS} steps for one record"),
            (ErrorKind::WriteFailure, _) => format!("it generates more than {LONGEST} bytes for one record"),
            (ErrorKind::SyntaxError, Some(detail)) => detail.to_owned(),
            (kind, Some(detail)) => format!("{kind}: {detail}"),
            (kind, None) => kind.to_string(),
        };
        self.fault(error.line(), what)
    }
}
