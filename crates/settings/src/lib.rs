//! Settings as tables: a row per setting, with its key, default, explanation and parser.
//!
//! Configuration files, environment variables, `--option key=value`, task files and the Apache directives all use such
//! rows. [`settings!`] makes a struct and its table from one list, so adding a setting is one entry. [`load`] applies a
//! file to a [`Target`], which can be several tables. Every error has the line of the file, and names the nearest key
//! for an unknown one.

pub mod network;
mod table;
pub mod value;

use std::path::Path;

pub use network::Network;
pub use value::{Lines, Value};

/// One setting of a `T`.
pub struct Setting<T> {
    /// The key in the configuration file.
    pub key: &'static str,
    /// The default, in the notation of the file; empty if there is none.
    pub default: &'static str,
    /// The effect of the setting and the reason to change it, in one or two sentences; empty if it is explained
    /// elsewhere. May begin with a space.
    pub doc: &'static str,
    /// Parses a value and stores it in the settings, or returns the expected kind of value.
    pub set: fn(&mut T, &Value) -> Result<(), Problem>,
}

impl<T> Setting<T> {
    /// Creates a row for a key that has no default and is explained elsewhere.
    pub const fn of_key(key: &'static str, set: fn(&mut T, &Value) -> Result<(), Problem>) -> Self {
        Self { key, default: "", doc: "", set }
    }
}

/// Former names of settings, each with the rest of the sentence "setting 'NAME' …": its replacement.
pub type Former = &'static [(&'static str, &'static str)];

/// An error in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Problem {
    /// The line in the file, from 1.
    pub line: Option<usize>,
    /// The problem. Until the setting is known, a fragment such as "needs a number".
    pub what: String,
    /// The kind of the problem.
    pub kind: ProblemKind,
}

/// The subject of a [`Problem`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A value, whose key is not part of the text yet.
    Value,
    /// A key that is unknown in its table.
    UnknownKey(String),
    /// Anything else; the text is complete.
    Complete,
}

impl From<String> for Problem {
    fn from(what: String) -> Self {
        Self { line: None, what, kind: ProblemKind::Value }
    }
}

impl From<&str> for Problem {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

impl Problem {
    /// Creates a problem with a complete text.
    pub fn complete(line: Option<usize>, what: String) -> Self {
        Self { line, what, kind: ProblemKind::Complete }
    }

    /// Returns the same problem of the value of this key.
    pub fn of(self, key: &str, line: Option<usize>) -> Self {
        let line = self.line.or(line);
        match self.kind {
            ProblemKind::Value => Self::complete(line, format!("setting '{key}' {}", self.what)),
            _ => Self { line, ..self },
        }
    }

    /// Returns the text, to be appended to the name of an option or a directive.
    pub fn predicate(self) -> String {
        if self.kind == ProblemKind::Value { self.what } else { format!("is invalid: {}", self.what) }
    }

    /// Returns the name of the file with the line, for the beginning of a message.
    pub fn place(&self, file: &Path) -> String {
        self.line.map_or_else(|| file.display().to_string(), |line| format!("{}:{line}", file.display()))
    }
}

/// The destination of settings: a table together with the value that it fills, or several tables.
pub trait Target {
    /// Returns the keys of this target.
    fn keys(&mut self) -> Vec<&'static str>;
    /// Stores a value; returns `None` if this target does not have the key.
    fn put(&mut self, key: &str, value: &Value) -> Option<Result<(), Problem>>;
    /// Returns the former names of its settings.
    fn former(&self) -> Former {
        &[]
    }
}

impl<T> Target for (&'static [Setting<T>], &mut T) {
    fn keys(&mut self) -> Vec<&'static str> {
        self.0.iter().map(|setting| setting.key).collect()
    }

    fn put(&mut self, key: &str, value: &Value) -> Option<Result<(), Problem>> {
        let setting = self.0.iter().find(|setting| setting.key == key)?;
        Some((setting.set)(self.1, value))
    }
}

impl<T> Target for (&'static [Setting<T>], &mut T, Former) {
    fn keys(&mut self) -> Vec<&'static str> {
        (self.0, &mut *self.1).keys()
    }

    fn put(&mut self, key: &str, value: &Value) -> Option<Result<(), Problem>> {
        (self.0, &mut *self.1).put(key, value)
    }

    fn former(&self) -> Former {
        self.2
    }
}

/// Applies the text of a configuration file. Paths in it are relative to `folder`.
pub fn load(text: &str, folder: &Path, target: &mut dyn Target) -> Result<(), Problem> {
    let table = Value::parse(text, folder)?;
    fill(&table, target).map_err(|problem| match &problem.kind {
        ProblemKind::UnknownKey(key) if target.keys().contains(&key.as_str()) => {
            let what = format!("setting '{key}' applies to the whole file; move it above the first line with brackets");
            Problem::complete(problem.line, what)
        }
        _ => problem,
    })
}

/// Applies a table in the order of the file, so that the first error is reported.
pub fn fill(table: &Value, target: &mut dyn Target) -> Result<(), Problem> {
    table.entries()?.try_for_each(|(key, line, value)| put(key, line, value, target))
}

/// Applies one `key=value` from the command line. The value is parsed as TOML, or used as plain text if it is not TOML,
/// so that `--option repository_name=My site` needs no quotes within quotes.
pub fn assign(assignment: &str, target: &mut dyn Target) -> Result<(), Problem> {
    match assignment.split_once('=') {
        Some((key, text)) => put(key.trim(), None, &Value::written(text), target),
        None => Err(Problem::from("has no value; write key=value").of(assignment, None)),
    }
}

/// Returns the name of the environment variable for a setting: `MODOAI_RECORDS_PER_PAGE` for `records_per_page`.
pub fn variable(key: &str) -> String {
    format!("MODOAI_{}", key.to_ascii_uppercase())
}

/// Applies the environment variables of all settings. `lookup` returns the value of a variable; an empty value counts
/// as not set. The notation of values is that of [`assign`]. An error contains the name of the variable.
pub fn load_variables(
    lookup: impl Fn(&str) -> Option<String>,
    target: &mut dyn Target,
) -> Result<(), (String, Problem)> {
    let former = target.former().iter().map(|(key, _)| *key);
    for key in former.chain(target.keys()) {
        let name = variable(key);
        if let Some(text) = lookup(&name).filter(|text| !text.is_empty()) {
            put(key, None, &Value::written(&text), target).map_err(|problem| (name, problem))?;
        }
    }
    Ok(())
}

/// Returns the setting that a variable was probably meant for, if its name is not that of a setting.
pub fn misspelt_variable(name: &str, target: &mut dyn Target) -> Option<&'static str> {
    let key = name.strip_prefix("MODOAI_")?.to_ascii_lowercase();
    nearest(&key, &target.keys(), 0.8).filter(|nearest| *nearest != key)
}

/// Stores the defaults of a table, so that each default is written in one place.
pub fn apply_defaults<T>(table: &'static [Setting<T>], settings: &mut T) {
    for setting in table.iter().filter(|setting| !setting.default.is_empty()) {
        assign(&format!("{}={}", setting.key, setting.default), &mut (table, &mut *settings))
            .expect("a default is a legal value; a test checks each");
    }
}

fn put(key: &str, line: Option<usize>, value: &Value, target: &mut dyn Target) -> Result<(), Problem> {
    if let Some(result) = target.put(key, value) {
        return result.map_err(|problem| problem.of(key, value.line().or(line)));
    }
    if let Some((_, replacement)) = target.former().iter().find(|(former, _)| *former == key) {
        return Err(Problem::from(*replacement).of(key, line));
    }
    let kind = ProblemKind::UnknownKey(key.to_owned());
    Err(Problem { line, what: unknown("setting", key, &target.keys()), kind })
}

/// Returns the message about an unknown word, with the known one that was probably meant.
pub fn unknown(kind: &str, word: &str, known: &[&str]) -> String {
    const MAX_LISTED: usize = 8;
    let hint = match nearest(word, known, 0.4) {
        Some(nearest) => format!("; did you mean '{nearest}'?"),
        None if known.len() <= MAX_LISTED => format!("; expected one of {}", known.join(", ")),
        None => String::new(),
    };
    // A word from a file can be of any length, and contain anything.
    let shown: String = word.chars().take(80).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("unknown {kind} '{shown}'{hint}")
}

/// Returns the most similar known word in any case, if the similarity is greater than `least`, between 0 and 1.
fn nearest<'k>(word: &str, known: &[&'k str], least: f64) -> Option<&'k str> {
    let word = word.to_ascii_lowercase();
    let similarity = |known: &str| strsim::normalized_damerau_levenshtein(&word, &known.to_ascii_lowercase());
    let scored = known.iter().map(|known| (similarity(known), *known));
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > least).map(|(_, known)| known)
}

#[cfg(test)]
mod tests;
