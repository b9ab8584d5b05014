//! `archive.toml`: the configuration of an archive.
//!
//! Every key is optional. A preset is such a file, shipped with the program. Keys of the operator's file override those
//! of the preset, and constants are merged.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use modoai_repository::catalogue::Catalogue;
use modoai_settings::Lines;
use serde::Deserialize;

use crate::crosswalk::{self, Definition};
use crate::import::sources;
use crate::preset;
use crate::sets::Rule;
use crate::source::Options;
use crate::terms::{Terms, TermsError};

/// The format every repository must have.
const OAI_DC: &str = "oai_dc";

/// The configuration of an archive.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The terms: formats, sets and namespace.
    pub terms: Terms,
    /// The options for reading its source.
    pub source: Options,
}

/// An error in a configuration file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("failed to read {}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The content is invalid.
    #[error("{file}: {what}")]
    Wrong {
        /// The file.
        file: String,
        /// The problem, and its position.
        what: String,
    },
}

/// The keys of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    preset: Option<String>,
    repository_identifier: Option<String>,
    formats: Option<Vec<String>>,
    always: Vec<String>,
    keep: Option<Vec<String>>,
    files: Option<PathBuf>,
    source: Options,
    constants: toml::Table,
    format: Vec<Own>,
    sets: Vec<Rule>,
}

/// A crosswalk of the operator: a `[[format]]` table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    prefix: String,
    template: PathBuf,
    schema: String,
    namespace: String,
    #[serde(default)]
    requires: Vec<String>,
    /// True if documents in this format are stored.
    #[serde(default)]
    keep: bool,
}

impl Config {
    /// Reads a file, if one is given, and merges it with a preset, if the file or the caller names one.
    pub fn load(file: Option<&Path>, preset: Option<&str>) -> Result<Self, ConfigError> {
        let mut table = toml::Table::new();
        let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
        let name = file.map_or_else(|| "--preset".to_owned(), |file| file.display().to_string());
        let wrong = |what: String| ConfigError::Wrong { file: name.clone(), what };
        if let Some(file) = file {
            let unreadable = |source| ConfigError::Unreadable { file: file.to_owned(), source };
            let text = fs::read_to_string(file).map_err(unreadable)?;
            let lines = Lines::of(&text);
            let at_line = |error: toml::de::Error| {
                let problem = lines.problem(&error);
                ConfigError::Wrong { file: problem.place(file), what: problem.what }
            };
            // Parsed for its messages, which have line numbers; the merged table has none.
            toml::from_str::<Written>(&text).map_err(at_line)?;
            table = text.parse().map_err(at_line)?;
        }
        let preset = preset.or_else(|| table.get("preset")?.as_str()).map(str::to_owned);
        if let Some(preset) = preset {
            let text = preset::named(&preset).ok_or_else(|| {
                let known = preset::names().collect::<Vec<_>>().join(", ");
                wrong(format!("no preset '{preset}'; the presets are: {known}"))
            })?;
            let below = text.parse().expect("a preset is good; a test loads each");
            table = over(below, table);
        }
        let written: Written = table.try_into().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
        written.resolve(folder, wrong)
    }

    /// Returns the configuration that a catalogue stores of an archive and of its source with this name; `None` if the
    /// catalogue is not that of an archive.
    pub fn remembered(catalogue: &dyn Catalogue, source: &str) -> Result<Option<Self>, TermsError> {
        let Some(terms) = Terms::remembered(catalogue)? else { return Ok(None) };
        Ok(Some(Self { terms, source: sources::remembered(catalogue, source)?.unwrap_or_default() }))
    }
}

/// Merges two tables: keys of the upper one override those of the lower one; constants are merged one by one.
fn over(mut below: toml::Table, top: toml::Table) -> toml::Table {
    for (key, value) in top {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(top)) if key == "constants" => below.extend(top),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
    below
}

impl Written {
    fn resolve(self, folder: &Path, wrong: impl Fn(String) -> ConfigError) -> Result<Config, ConfigError> {
        let mut crosswalks = Vec::new();
        for prefix in self.formats.unwrap_or_default() {
            crosswalks.push(crosswalk::shipped(&prefix).ok_or_else(|| {
                let known = crosswalk::shipped_prefixes().collect::<Vec<_>>().join(", ");
                wrong(format!("unknown built-in format '{prefix}'; the built-in formats are: {known}"))
            })?);
        }
        let mut kept = self.keep.unwrap_or_else(|| vec![OAI_DC.to_owned()]);
        for Own { prefix, template, schema, namespace, requires, keep } in self.format {
            let path = folder.join(template);
            let unreadable = |source| ConfigError::Unreadable { file: path.clone(), source };
            let template = fs::read_to_string(&path).map_err(unreadable)?;
            let file = path.display().to_string();
            crosswalks.retain(|shipped| shipped.prefix != prefix);
            if keep {
                kept.push(prefix.clone());
            }
            let always = false;
            crosswalks.push(Definition { prefix, schema, namespace, requires, always, keep, file, template });
        }
        if !crosswalks.iter().any(|crosswalk| crosswalk.prefix == OAI_DC) {
            crosswalks.extend(crosswalk::shipped(OAI_DC));
        }
        crosswalks.sort_by_key(|crosswalk| crosswalk.prefix != OAI_DC);
        let is_unknown = |prefix: &&String| crosswalks.iter().all(|known| known.prefix != **prefix);
        for (key, prefixes) in [("keep", &kept), ("always", &self.always)] {
            if let Some(unknown) = prefixes.iter().find(is_unknown) {
                return Err(wrong(format!("'{unknown}' in {key} is not one of the formats")));
            }
        }
        for crosswalk in &mut crosswalks {
            crosswalk.keep = kept.contains(&crosswalk.prefix);
            crosswalk.always = self.always.contains(&crosswalk.prefix);
        }
        let files = match self.files {
            Some(files) => {
                let files = folder.join(files);
                let unreadable = |source| ConfigError::Unreadable { file: files.clone(), source };
                Some(fs::canonicalize(&files).map_err(unreadable)?)
            }
            None => None,
        };
        let mut terms = Terms { files, constants: self.constants, sets: self.sets, ..Terms::new(crosswalks) };
        // As in the server's configuration, an empty value means none.
        if let Some(namespace) = self.repository_identifier.filter(|namespace| !namespace.is_empty()) {
            terms = terms.in_namespace(&namespace).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(Config { terms, source: self.source })
    }
}
