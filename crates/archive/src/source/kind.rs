//! Which kinds of input there are, which one it is, and how each is opened.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::input::{self, Files};
use super::{Options, Reading, Source};
use super::{arxiv, jsonl, lines};

/// How much of a file is looked at to tell what it is.
const LOOK: u64 = 64 * 1024;

/// How many files of a folder are looked at.
const FILES: usize = 20;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Lines of JSON in the model of this archive.
    Jsonl,
    /// A table with a line of column names.
    Csv,
    /// Files of XML metadata, each a record.
    Xml,
    /// An OAI static repository.
    Static,
    /// arXiv's public snapshot of its metadata: lines of JSON.
    Arxiv,
    /// arXiv's `.abs` files.
    Abs,
}

/// One row of [`KINDS`].
struct Row {
    kind: Kind,
    name: &'static str,
    /// How its files are called.
    extensions: Extensions,
    open: Open,
}

type Open = fn(&[PathBuf], &Options, Extensions) -> Result<Opened, OpenError>;
type Extensions = &'static [&'static str];

/// Every kind.
const KINDS: &[Row] = &[
    Row { kind: Kind::Jsonl, name: "jsonl", extensions: &["jsonl", "ndjson", "json"], open: open_jsonl },
    Row { kind: Kind::Arxiv, name: "arxiv", extensions: &["jsonl", "ndjson", "json"], open: open_arxiv },
];

/// A source, and how its entries are read.
pub type Opened = (Box<dyn Source>, Arc<dyn Reading>);

/// Why there is nothing to read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is not there, or must not be read.
    #[error("failed to open {0}")]
    Io(#[from] io::Error),
    /// Nothing was named.
    #[error("there is no input")]
    None,
    /// Nothing tells what it is.
    #[error("{}: cannot tell what this is; say so with `as`: {}", .0.display(), names())]
    Unknown(PathBuf),
    /// An option has no meaning.
    #[error("option `{option}`: {what}")]
    Option {
        /// Which one.
        option: &'static str,
        /// What is wrong with it.
        what: String,
    },
}

/// Opens inputs of a kind: files, folders, or `-` for standard input.
pub fn open(kind: Kind, inputs: &[PathBuf], options: &Options) -> Result<Opened, OpenError> {
    if inputs.is_empty() {
        return Err(OpenError::None);
    }
    let row = kind.row();
    (row.open)(inputs, options, row.extensions)
}

impl Kind {
    /// All kinds, by name.
    pub fn all() -> impl Iterator<Item = Kind> {
        KINDS.iter().map(|row| row.kind)
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|row| row.name == name).map(|row| row.kind)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    fn row(self) -> &'static Row {
        KINDS.iter().find(|row| row.kind == self).expect("every kind has a row")
    }

    /// What the inputs are, by their names and first bytes. Standard input cannot be looked at without taking from it.
    pub fn guess(inputs: &[PathBuf]) -> Result<Self, OpenError> {
        let first = inputs.first().ok_or(OpenError::None)?;
        if input::is_stdin(first) {
            return Err(OpenError::Unknown(first.clone()));
        }
        // In a folder, the first file that is anything decides.
        let mut files = Files::of(inputs, EXTENSIONS)?;
        for _ in 0..FILES {
            let Some(path) = files.next()? else { break };
            if let Some(kind) = told_by_name(&path) {
                return Ok(kind);
            }
            let mut head = Vec::new();
            let read = files.open(&path).and_then(|file| file.take(LOOK).read_to_end(&mut head));
            read.map_err(|error| input::about(&path, &error))?;
            if let Some(kind) = told_by_content(&head) {
                return Ok(kind);
            }
        }
        Err(OpenError::Unknown(first.clone()))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How files of any kind are called.
const EXTENSIONS: &[&str] = &["jsonl", "ndjson", "json", "csv", "tsv", "xml", "abs"];

fn names() -> String {
    KINDS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

/// Names that only one kind has.
fn told_by_name(path: &Path) -> Option<Kind> {
    let only = |extensions: &[&str]| input::fits(path, extensions);
    match () {
        () if only(&["csv", "tsv"]) => Some(Kind::Csv),
        () if only(&["abs"]) => Some(Kind::Abs),
        () => None,
    }
}

/// What the first bytes of a file tell.
fn told_by_content(head: &[u8]) -> Option<Kind> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        let line = text.lines().next().unwrap_or_default();
        // Fields that the snapshot has in every line, and no record of ours has.
        let is_arxiv =
            line.contains("\"authors_parsed\"") || (line.contains("\"id\"") && line.contains("\"update_date\""));
        return Some(if is_arxiv { Kind::Arxiv } else { Kind::Jsonl });
    }
    if text.starts_with("\\\\\n") || text.starts_with("\\\\\r\n") {
        return Some(Kind::Abs);
    }
    if text.starts_with('<') {
        let is_static = text.contains("http://www.openarchives.org/OAI/2.0/static-repository");
        return Some(if is_static { Kind::Static } else { Kind::Xml });
    }
    None
}

fn open_jsonl(inputs: &[PathBuf], options: &Options, extensions: Extensions) -> Result<Opened, OpenError> {
    let lines = lines::Lines::of(Files::of(inputs, extensions)?, options.longest_line());
    Ok((Box::new(lines), Arc::new(jsonl::Jsonl::new(options))))
}

fn open_arxiv(inputs: &[PathBuf], options: &Options, extensions: Extensions) -> Result<Opened, OpenError> {
    let lines = lines::Lines::of(Files::of(inputs, extensions)?, options.longest_line());
    Ok((Box::new(lines), Arc::new(arxiv::Snapshot::new(options))))
}
