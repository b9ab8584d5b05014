//! The kinds of input: detection, and opening.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::input::{self, Files};
use super::{Options, Reading, Source};
use super::{abs, arxiv, csv, jsonl, lines, static_repository, whole, xml};

/// The number of bytes of a file that are read to detect its kind.
const LOOK: u64 = 64 * 1024;

/// The number of files of a directory that are examined.
const FILES: usize = 20;

/// The kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Lines of JSON in modoai's record format.
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
    /// The extensions of its files.
    extensions: Extensions,
    open: Open,
}

type Open = fn(&[PathBuf], &Options, Extensions) -> Result<Opened, OpenError>;
type Extensions = &'static [&'static str];

/// All kinds.
const KINDS: &[Row] = &[
    Row { kind: Kind::Jsonl, name: "jsonl", extensions: &["jsonl", "ndjson", "json"], open: open_jsonl },
    Row { kind: Kind::Csv, name: "csv", extensions: &["csv", "tsv"], open: open_csv },
    Row { kind: Kind::Xml, name: "xml", extensions: &["xml"], open: open_xml },
    Row { kind: Kind::Static, name: "static", extensions: &["xml"], open: open_static },
    Row { kind: Kind::Arxiv, name: "arxiv", extensions: &["jsonl", "ndjson", "json"], open: open_arxiv },
    Row { kind: Kind::Abs, name: "abs", extensions: &["abs"], open: open_abs },
];

/// A source, and the reader of its entries.
pub type Opened = (Box<dyn Source>, Arc<dyn Reading>);

/// The reason why an input cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The input is missing or not readable.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No input was given.
    #[error("no input given")]
    None,
    /// The kind of the input cannot be detected.
    #[error("{}: unknown input format; set it with --as: {}", .0.display(), names())]
    Unknown(PathBuf),
    /// The files in its directories are of several kinds.
    #[error("the first file of the input is {kind}, but it also contains other files: {others}")]
    Mixed {
        /// The kind of the first file.
        kind: Kind,
        /// The files that would be left out.
        others: String,
    },
    /// An option has an invalid value.
    #[error("option `{option}`: {what}")]
    Option {
        /// The option.
        option: &'static str,
        /// The problem.
        what: String,
    },
}

/// Opens inputs of a kind: files, directories, or `-` for standard input.
pub fn open(kind: Kind, inputs: &[PathBuf], options: &Options) -> Result<Opened, OpenError> {
    if inputs.is_empty() {
        return Err(OpenError::None);
    }
    let row = kind.row();
    if options.datestamp.is_some() && !matches!(kind, Kind::Xml | Kind::Abs) {
        let what =
            format!("{kind} files contain many entries, so the modification time of the file does not apply to them");
        return Err(OpenError::Option { option: "datestamp", what });
    }
    if options.datestamp.is_some() && inputs.iter().any(|input| input::is_stdin(input)) {
        let what = "standard input has no modification time".to_owned();
        return Err(OpenError::Option { option: "datestamp", what });
    }
    (row.open)(inputs, options, row.extensions)
}

impl Kind {
    /// Returns all kinds, by name.
    pub fn all() -> impl Iterator<Item = Kind> {
        KINDS.iter().map(|row| row.kind)
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|row| row.name == name).map(|row| row.kind)
    }

    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    fn row(self) -> &'static Row {
        KINDS.iter().find(|row| row.kind == self).expect("every kind has a row")
    }

    /// Detects the kind of the inputs, by their names and first bytes. If directories also contain files of other
    /// kinds, modoai does not guess which are meant: the others would be left out, and documents that they had
    /// contributed before would be deleted.
    pub fn guess(inputs: &[PathBuf]) -> Result<Self, OpenError> {
        let kind = Self::told_by_first(inputs)?;
        let others: Vec<String> = counted(inputs)?
            .into_iter()
            .filter(|other| other.kind.row().extensions != kind.row().extensions)
            .map(|other| other.to_string())
            .collect();
        if others.is_empty() { Ok(kind) } else { Err(OpenError::Mixed { kind, others: others.join("; ") }) }
    }

    /// Returns the kind of the first file whose kind can be detected.
    fn told_by_first(inputs: &[PathBuf]) -> Result<Self, OpenError> {
        let first = inputs.first().ok_or(OpenError::None)?;
        let mut files = Files::of(inputs, EXTENSIONS)?;
        for _ in 0..FILES {
            let Some(path) = files.next()? else { break };
            if let Some(kind) = told_by_name(&path) {
                return Ok(kind);
            }
            let head = if input::is_stdin(&path) { input::look_at_stdin(LOOK) } else { look_at(&files, &path) };
            let head = head.map_err(|error| input::about(&path, &error))?;
            if let Some(kind) = told_by_content(&head) {
                return Ok(kind);
            }
            // A file in another encoding; an empty file could be of any kind.
            if input::fits(&path, &["xml"]) && !head.is_empty() {
                return Ok(Kind::Xml);
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

/// The extensions of files of all kinds.
const EXTENSIONS: &[&str] = &["jsonl", "ndjson", "json", "csv", "tsv", "xml", "abs"];

/// Reads the first bytes of a file.
fn look_at(files: &Files, path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    files.open(path)?.take(LOOK).read_to_end(&mut head)?;
    Ok(head)
}

/// The files of one kind in the input's directories, by their names.
struct Counted {
    kind: Kind,
    first: PathBuf,
    more: u64,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, first, more } = self;
        write!(f, "{kind} ({}", first.display())?;
        match more {
            0 => f.write_str(")"),
            more => write!(f, " and {more} more)"),
        }
    }
}

/// Counts the files in directories by kind, by their names alone. Files that the user names are accepted with any name.
fn counted(inputs: &[PathBuf]) -> io::Result<Vec<Counted>> {
    let folders: Vec<PathBuf> = inputs.iter().filter(|input| input.is_dir()).cloned().collect();
    let mut files = Files::of(&folders, EXTENSIONS)?;
    let mut all: Vec<Counted> = Vec::new();
    while let Some(path) = files.next()? {
        match all.iter_mut().find(|counted| input::fits(&path, counted.kind.row().extensions)) {
            Some(counted) => counted.more += 1,
            None => {
                let row = KINDS.iter().find(|row| input::fits(&path, row.extensions));
                let kind = row.expect("these are the names of all kinds").kind;
                all.push(Counted { kind, first: path, more: 0 });
            }
        }
    }
    Ok(all)
}

fn names() -> String {
    KINDS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

/// Returns the kind for names that only one kind has.
fn told_by_name(path: &Path) -> Option<Kind> {
    let only = |extensions: &[&str]| input::fits(path, extensions);
    match () {
        () if only(&["csv", "tsv"]) => Some(Kind::Csv),
        () if only(&["abs"]) => Some(Kind::Abs),
        () => None,
    }
}

/// Detects the kind by the first bytes of a file.
fn told_by_content(head: &[u8]) -> Option<Kind> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        let line = text.lines().next().unwrap_or_default();
        // Fields that every line of the snapshot has, and no record in modoai's format.
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

fn open_csv(inputs: &[PathBuf], options: &Options, extensions: Extensions) -> Result<Opened, OpenError> {
    let rows = csv::Rows::of(Files::of(inputs, extensions)?, options)?;
    Ok((Box::new(rows), Arc::new(csv::Table::new(options))))
}

fn open_xml(inputs: &[PathBuf], options: &Options, extensions: Extensions) -> Result<Opened, OpenError> {
    let files = whole::Whole::of(Files::of(inputs, extensions)?, options.longest_file());
    Ok((Box::new(files), Arc::new(xml::Xml::new(inputs, options)?)))
}

fn open_static(inputs: &[PathBuf], options: &Options, extensions: Extensions) -> Result<Opened, OpenError> {
    let items = static_repository::Items::of(Files::of(inputs, extensions)?, options.longest_file());
    Ok((Box::new(items), Arc::new(static_repository::StaticRepository::new(options)?)))
}

fn open_abs(inputs: &[PathBuf], options: &Options, extensions: Extensions) -> Result<Opened, OpenError> {
    let files = whole::Whole::of(Files::of(inputs, extensions)?, options.longest_file());
    Ok((Box::new(files), Arc::new(abs::Abs::new(options))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/input").join(name)
    }

    #[test]
    fn kinds_are_told_by_names_and_first_bytes() {
        let options = Options { empty_is_deleted: Some(true), ..Options::default() };
        for (name, kind) in [
            ("arxiv.jsonl", Kind::Arxiv),
            ("records.jsonl", Kind::Jsonl),
            ("records.csv", Kind::Csv),
            ("xml", Kind::Xml),
            ("static.xml", Kind::Static),
            ("9901001.abs", Kind::Abs),
        ] {
            assert_eq!(Kind::guess(&[input(name)]).ok(), Some(kind), "{name}");
            let (mut source, reading) = open(kind, &[input(name)], &options).expect("it can be opened");
            let mut count = 0;
            while let Some(entry) = source.next().expect("it can be read") {
                let bytes = entry.bytes.expect("it is whole");
                let content = reading.read(&bytes, &entry.place).expect("it is good");
                assert_eq!(reading.identifier(&bytes, &entry.place).as_ref(), Ok(&content.record.identifier));
                count += 1;
            }
            assert!(count > 0, "{name}");
            assert!(source.progress().0 > 0, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_asked_for() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("x.json"), "[1]").expect("a file");
        for path in [dir.path().to_owned(), dir.path().join("x.json")] {
            let error = Kind::guess(&[path]).expect_err("nothing tells").to_string();
            assert!(error.ends_with("set it with --as: jsonl, csv, xml, static, arxiv, abs"), "{error}");
        }
        assert!(matches!(Kind::guess(&[]), Err(OpenError::None)));
        assert!(matches!(Kind::guess(&[dir.path().join("missing")]), Err(OpenError::Io(_))));
    }

    #[test]
    fn a_folder_of_several_kinds_is_not_guessed() {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text) in [("b.jsonl", "{\"identifier\":1}\n"), ("c.NDJSON", ""), ("readme.txt", "")] {
            std::fs::write(dir.path().join(name), text).expect("a file");
        }
        let folder = [dir.path().to_owned()];
        assert_eq!(Kind::guess(&folder).ok(), Some(Kind::Jsonl));
        std::fs::write(dir.path().join("a.csv"), "identifier\n1\n").expect("a file");
        let said = Kind::guess(&folder).expect_err("two kinds").to_string();
        assert!(said.contains("the first file of the input is csv") && said.contains("b.jsonl and 1 more)"), "{said}");
        // Files that the user names are never left out.
        let named = [dir.path().join("b.jsonl"), dir.path().join("a.csv")];
        assert_eq!(Kind::guess(&named).ok(), Some(Kind::Jsonl));
        let both = [dir.path().join("readme.txt"), dir.path().join("b.jsonl"), dir.path().to_owned()];
        let said = Kind::guess(&both).expect_err("a table in the folder").to_string();
        assert!(said.contains("the first file of the input is jsonl") && said.contains("csv ("), "{said}");
    }

    #[test]
    fn every_kind_has_a_row_and_its_name() {
        for kind in [Kind::Jsonl, Kind::Csv, Kind::Xml, Kind::Static, Kind::Arxiv, Kind::Abs] {
            assert_eq!(Kind::named(kind.name()), Some(kind));
            let options: Options = toml::from_str(&format!("as = '{kind}'")).expect("the name is that of the option");
            assert_eq!(options.kind, Some(kind));
        }
        assert_eq!(Kind::all().count(), 6);
    }
}
