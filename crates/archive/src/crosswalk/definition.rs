//! A crosswalk as it is written down, and what can be wrong with it.

use std::fmt;

use minijinja::ErrorKind;
use modoai_repository::catalogue::stored::StoredFormat;
use serde::{Deserialize, Serialize};

use super::engine::{LONGEST, MOST_STEPS};

/// A crosswalk as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The format's metadataPrefix.
    pub prefix: String,
    /// Where its schema is.
    pub schema: String,
    /// Its namespace: that of the root element.
    pub namespace: String,
    /// What a record must have: names of fields (`doi`, `dates.issued`), or several of which one will do
    /// (`doi or landing`).
    #[serde(default)]
    pub requires: Vec<String>,
    /// Whether every record of the archive has it: one that lacks what it requires is refused. Lists of such a format
    /// are the lists of all records.
    #[serde(default)]
    pub always: bool,
    /// Whether the format is kept ready in the catalogue.
    #[serde(default)]
    pub keep: bool,
    /// The template's file, for messages.
    pub file: String,
    /// The template.
    pub template: String,
}

/// What is wrong with a crosswalk, or with a record in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CrosswalkError {
    /// The template's file.
    pub file: String,
    /// Its line, counted from 1, where that can be told.
    pub line: Option<usize>,
    /// What is wrong.
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
    /// Whether every record has it.
    pub fn is_for_all(&self) -> bool {
        self.always || self.requires.is_empty()
    }

    /// The format, for the catalogue.
    pub fn format(&self) -> StoredFormat {
        let Self { prefix, schema, namespace, .. } = self;
        StoredFormat { prefix: prefix.clone(), schema: schema.clone(), namespace: namespace.clone() }
    }

    pub(super) fn fault(&self, line: Option<usize>, what: String) -> CrosswalkError {
        CrosswalkError { file: self.file.clone(), line, what }
    }

    pub(super) fn fault_of(&self, error: &minijinja::Error) -> CrosswalkError {
        // What is wrong in an included template is told with its own name.
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
