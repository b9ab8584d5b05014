//! Tables with a line of column names.
//!
//! A row goes on as the names and texts of its cells, so that it can be read, and compared with what it was, without its
//! table. A file whose columns are not as they were configured ends the reading: it would be wrong row by row.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead as _, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::csv::{ByteRecord, Reader, ReaderBuilder};
use serde_json::Value;

use super::input::{self, Allowance, Files, Guarded, about};
use super::jsonl::legal;
use super::kind::OpenError;
use super::lines::BOM;
use super::{Content, Entry, Fault, Kind, Options, Place, Reading, Source, plain};
use crate::record::{Agent, File, Link, Record};

/// What is between several values in one cell.
const LIST_SEPARATOR: &str = ";";

/// Further fields that are lists wherever they are known.
const LISTS: [&str; 1] = ["categories"];

/// A row is read in pieces of a few kilobytes, and its beginning comes with the end of the one before.
const PIECES: usize = 64 * 1024;

/// Cuts tables into rows.
pub(super) struct Rows {
    files: Files,
    longest: usize,
    separator: Option<u8>,
    /// Columns that must be there.
    required: Vec<String>,
    current: Option<Current>,
}

struct Current {
    file: Arc<PathBuf>,
    reader: Reader<Counting>,
    columns: Vec<String>,
    /// What may still be read for this row.
    allowance: Allowance,
}

impl Rows {
    pub(super) fn of(files: Files, options: &Options) -> Result<Self, OpenError> {
        let separator = match options.separator {
            None => None,
            Some(character) => Some(u8::try_from(character).ok().filter(u8::is_ascii).ok_or(OpenError::Option {
                option: "separator",
                what: format!("{character:?} is not a single byte"),
            })?),
        };
        let mut required: Vec<String> = options.columns.values().cloned().collect();
        if !options.columns.contains_key("identifier") {
            required.push("identifier".to_owned());
        }
        Ok(Self { files, longest: options.longest_line().max(PIECES), separator, required, current: None })
    }

    /// Opens the next table and reads its first line.
    fn open(&mut self, path: &Path) -> io::Result<Current> {
        let separator = self.separator.unwrap_or(if input::fits(path, &["tsv"]) { b'\t' } else { b',' });
        let mut file = self.files.open(path)?;
        if file.fill_buf()?.starts_with(BOM) {
            file.consume(BOM.len());
        }
        let what = "a row is too long; is a quotation mark not closed?";
        let (guarded, allowance) = Guarded::of(file, self.longest, what);
        let counting = Counting { guarded, read: 0, ahead: VecDeque::new(), passed: 0 };
        let mut reader = ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(counting);
        let names = reader.headers().map_err(io::Error::from)?;
        let columns: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
        if let Some(missing) = self.required.iter().find(|name| !columns.contains(name)) {
            return wrong(format!("there is no column `{missing}`; there are: {}", columns.join(", ")));
        }
        for (at, name) in columns.iter().enumerate() {
            if !name.is_empty() && columns[..at].contains(name) {
                return wrong(format!("there are two columns `{name}`"));
            }
        }
        Ok(Current { file: Arc::new(path.to_owned()), reader, columns, allowance })
    }
}

impl Source for Rows {
    fn next(&mut self) -> io::Result<Option<Entry>> {
        loop {
            let Some(current) = &mut self.current else {
                let Some(path) = self.files.next()? else { return Ok(None) };
                self.current = Some(self.open(&path).map_err(|error| about(&path, &error))?);
                continue;
            };
            current.allowance.renew();
            let mut row = ByteRecord::new();
            let read = current.reader.read_byte_record(&mut row).map_err(io::Error::from);
            if !read.map_err(|error| about(&current.file, &error))? {
                self.current = None;
                continue;
            }
            // A line without anything is no row.
            if row.iter().all(|cell| cell.trim_ascii().is_empty()) {
                continue;
            }
            let end = current.reader.position().byte();
            let line = current.reader.get_mut().first_line(&row, end);
            let place = Place { file: current.file.clone(), line };
            return Ok(Some(Entry { place, bytes: packed(&row, &current.columns) }));
        }
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.files.progress()
    }
}

/// Where line ends are in what has been read. The parser's own count is behind by the empty lines before a row, and by one
/// in files from Windows.
struct Counting {
    guarded: Guarded,
    read: u64,
    /// Line ends that have not been passed.
    ahead: VecDeque<u64>,
    passed: u64,
}

impl Counting {
    /// The line in which a row begins that ends at this place.
    fn first_line(&mut self, row: &ByteRecord, end: u64) -> u64 {
        let mut last = None;
        while let Some(&at) = self.ahead.front().filter(|at| **at < end) {
            last = Some(at);
            self.passed += 1;
            self.ahead.pop_front();
        }
        let inside: usize = row.iter().map(|cell| memchr::memchr_iter(b'\n', cell).count()).sum();
        let own_end = u64::from(last == Some(end - 1));
        (self.passed + 1).saturating_sub(inside as u64 + own_end)
    }
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.guarded.read(buffer)?;
        self.ahead.extend(memchr::memchr_iter(b'\n', &buffer[..length]).map(|at| self.read + at as u64));
        self.read += length as u64;
        Ok(length)
    }
}

/// A row as the names and texts of its cells.
fn packed(row: &ByteRecord, columns: &[String]) -> Result<Vec<u8>, Fault> {
    if row.len() != columns.len() {
        return Err(Fault(format!("the row has {} cells, but there are {} columns", row.len(), columns.len())));
    }
    let mut cells = Vec::new();
    for (cell, name) in row.iter().zip(columns) {
        let cell = std::str::from_utf8(cell).map_err(|_| Fault(format!("column `{name}`: it is not UTF-8")))?.trim();
        if !cell.is_empty() {
            cells.push((name.as_str(), cell));
        }
    }
    Ok(serde_json::to_vec(&cells).expect("texts can be written"))
}

/// Reads rows.
pub(super) struct Table {
    /// The field that a column holds, if it is called otherwise.
    fields: BTreeMap<String, String>,
    lists: Vec<String>,
    list_separator: String,
    tex: bool,
    fingerprint: u64,
}

impl Table {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            fields: options.columns.iter().map(|(field, column)| (column.clone(), field.clone())).collect(),
            lists: LISTS.iter().map(|&list| list.to_owned()).chain(options.lists.iter().cloned()).collect(),
            list_separator: options.list_separator.clone().unwrap_or_else(|| LIST_SEPARATOR.to_owned()),
            tex: options.tex == Some(true),
            fingerprint: options.fingerprint(Kind::Csv, 1),
        }
    }

    fn field<'a>(&'a self, column: &'a str) -> &'a str {
        self.fields.get(column).map_or(column, String::as_str)
    }

    /// The values in a cell.
    fn split<'a>(&'a self, cell: &'a str) -> impl Iterator<Item = &'a str> {
        let separator = self.list_separator.as_str();
        // An empty separator would be found between any two characters.
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
        let found = cells.iter().find(|(column, _)| self.field(column) == "identifier");
        legal(found.map_or("", |(_, cell)| cell), "identifier")
    }

    fn read(&self, bytes: &[u8], _: &Place) -> Result<Content, Fault> {
        let mut record = Record::default();
        for (column, cell) in cells(bytes)? {
            self.put(&mut record, self.field(&column), &cell)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines, and what was in them.
    type Met = Vec<(u64, Result<Record, String>)>;

    fn read(name: &str, text: &[u8], options: &Options) -> Result<Met, String> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(name);
        std::fs::write(&path, text).expect("a file");
        let files = Files::of(&[path], &[]).expect("it is there");
        let mut rows = Rows::of(files, options).map_err(|error| error.to_string())?;
        let table = Table::new(options);
        let mut met = Vec::new();
        while let Some(entry) = rows.next().map_err(|error| error.to_string())? {
            let record = entry.bytes.and_then(|bytes| {
                let content = table.read(&bytes, &entry.place)?;
                assert_eq!(table.identifier(&bytes, &entry.place)?, content.record.identifier);
                Ok(content.record)
            });
            met.push((entry.place.line, record.map_err(|fault| fault.0)));
        }
        Ok(met)
    }

    #[test]
    fn columns_are_called_as_fields_unless_mapped() {
        let text = "\u{feff}identifier,title,creators,dates.issued,keywords,note\n\
            1,\"On, and\noff\",\"Noether, Emmy; Hilbert, David\",1921,a;b,n\n\n2,B,,,,\n";
        let options = Options { lists: vec!["keywords".to_owned()], ..Options::default() };
        let met = read("a.csv", text.as_bytes(), &options).expect("legal");
        assert_eq!(met.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 5]);
        let record = met[0].1.as_ref().expect("legal");
        assert_eq!(record.title.as_deref(), Some("On, and\noff"));
        assert_eq!(record.creators, [Agent::named("Noether, Emmy"), Agent::named("Hilbert, David")]);
        assert_eq!(record.dates["issued"], "1921");
        assert_eq!(record.further["keywords"], serde_json::json!(["a", "b"]));
        assert_eq!(record.further["note"], "n");
        assert_eq!(met[1].1.as_ref().expect("legal").further.len(), 0);
    }

    #[test]
    fn lines_are_those_in_which_rows_begin() {
        for text in ["identifier\n1\n\n2\n\"3\n\"\n4", "identifier\r\n1\r\n\r\n2\r\n\"3\n\"\r\n4\r\n"] {
            let met = read("a.csv", text.as_bytes(), &Options::default()).expect("legal");
            assert_eq!(met.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4, 5, 7], "{text:?}");
        }
    }

    #[test]
    fn a_map_tells_what_columns_hold() {
        let columns = [("identifier", "Nr"), ("title", "Titel"), ("subjects", "Thema"), ("deleted", "weg")];
        let options = Options {
            columns: columns.map(|(field, column)| (field.to_owned(), column.to_owned())).into(),
            list_separator: Some("|".to_owned()),
            ..Options::default()
        };
        let met = read("a.tsv", b"Nr\tTitel\tThema\tweg\n7\tX\ta | b\tyes\n8\tY\t\tmaybe\n", &options).expect("legal");
        let record = met[0].1.as_ref().expect("legal");
        assert_eq!((record.identifier.as_str(), record.deleted), ("7", true));
        assert_eq!(record.subjects, ["a", "b"]);
        assert_eq!(met[1].1, Err("field `deleted`: \"maybe\" is neither true nor false".to_owned()));
        let missing = read("a.tsv", b"Nr\tTitel\tweg\n7\tX\tno\n", &options).expect_err("no column");
        assert!(missing.contains("a.tsv: there is no column `Thema`; there are: Nr, Titel, weg"), "{missing}");
    }

    #[test]
    fn bad_rows_are_told_and_the_others_read() {
        let text = b"identifier,title\n1\n2,b,c\n,x\n3,\xff\n4,ok\n";
        let met = read("a.csv", text, &Options::default()).expect("legal");
        let said: Vec<_> =
            met.iter().map(|(line, record)| (*line, record.as_ref().err().cloned().unwrap_or_default())).collect();
        assert_eq!(
            said,
            [
                (2, "the row has 1 cells, but there are 2 columns".to_owned()),
                (3, "the row has 3 cells, but there are 2 columns".to_owned()),
                (4, "field `identifier`: there is none".to_owned()),
                (5, "column `title`: it is not UTF-8".to_owned()),
                (6, String::new()),
            ]
        );
    }

    #[test]
    fn an_open_quotation_mark_ends_it() {
        let mut text = b"identifier,title\n1,\"open\n".to_vec();
        text.extend(b"x\n".repeat(100_000));
        let options = Options { longest_line: Some(1000), ..Options::default() };
        assert!(read("a.csv", &text, &options).expect_err("too long").contains("quotation mark"));
        assert!(
            read("a.csv", b"a,b\n", &Options::default()).expect_err("no identifier").contains("no column `identifier`")
        );
        assert!(
            read("a.csv", b"identifier,x,x\n", &Options::default()).expect_err("twice").contains("two columns `x`")
        );
        let options = Options { separator: Some('→'), ..Options::default() };
        assert!(read("a.csv", b"", &options).expect_err("not a byte").contains("option `separator`"));
    }
}
