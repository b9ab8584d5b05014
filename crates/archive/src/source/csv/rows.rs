//! Splits tables into rows.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::csv::{ByteRecord, Reader, ReaderBuilder};
use encoding_rs::{Encoding, UTF_8};

use super::dialect::{self, Expected, Opened};
use crate::source::input::{self, Allowance, Files, Guarded, about};
use crate::source::kind::OpenError;
use crate::source::{Entry, Fault, Options, Place, Source};

/// A row is read in pieces of a few kilobytes, and its beginning is read with the end of the previous one.
const PIECES: usize = 64 * 1024;

/// Bytes that are read after the end of a file: a line end, and a row of one byte. The parser accepts a file that ends
/// inside quotation marks; but then the last row includes these bytes, and otherwise they are a separate row.
const END: &[u8] = b"\n\0";

/// Splits tables into rows.
pub(in crate::source) struct Rows {
    files: Files,
    longest: usize,
    encoding: Option<&'static Encoding>,
    separator: Option<u8>,
    /// The required columns.
    required: Vec<String>,
    /// Columns whose names are those of fields that another column contains, or that a table cannot contain.
    refused: Vec<String>,
    current: Option<Current>,
}

struct Current {
    file: Arc<PathBuf>,
    reader: Reader<Counting>,
    columns: Vec<String>,
    /// The number of bytes that may still be read for this row.
    allowance: Allowance,
}

impl Rows {
    pub(in crate::source) fn of(files: Files, options: &Options) -> Result<Self, OpenError> {
        let separator = match options.separator {
            None => None,
            Some(character) => Some(u8::try_from(character).ok().filter(u8::is_ascii).ok_or(OpenError::Option {
                option: "separator",
                what: format!("{character:?} is not a single byte"),
            })?),
        };
        let encoding = match &options.encoding {
            None => None,
            Some(label) => Some(Encoding::for_label(label.as_bytes()).ok_or_else(|| OpenError::Option {
                option: "encoding",
                what: format!("unknown encoding {label:?}; examples are utf-8, windows-1252 and utf-16le"),
            })?),
        };
        let mut required: Vec<String> = options.columns.values().cloned().collect();
        if !options.columns.contains_key("identifier") {
            required.push("identifier".to_owned());
        }
        let mapped: Vec<&String> = options.columns.values().collect();
        let taken = options.columns.keys().filter(|field| !mapped.contains(field)).cloned();
        let refused = taken.chain(["versions", "provenance", "dates"].map(str::to_owned)).collect();
        if let Some(field) =
            options.columns.keys().find(|field| ["versions", "provenance", "dates"].contains(&field.as_str()))
        {
            return Err(OpenError::Option {
                option: "columns",
                what: format!("a table cannot contain the field `{field}`"),
            });
        }
        let longest = options.longest_line().max(PIECES);
        Ok(Self { files, longest, encoding, separator, required, refused, current: None })
    }

    /// Opens the next table and reads its first line.
    fn open(&mut self, path: &Path) -> io::Result<Current> {
        let by_name = input::fits(path, &["tsv"]).then_some(b'\t');
        let expected =
            Expected { encoding: self.encoding, separator: self.separator.or(by_name), columns: &self.required };
        let Opened { file, encoding, separator } = dialect::open(self.files.open(path)?, &expected)?;
        let is_detected =
            (encoding != UTF_8 && self.encoding.is_none()) || (separator != b',' && expected.separator.is_none());
        if is_detected {
            let (name, separator) = (encoding.name(), char::from(separator));
            tracing::info!("reading {} as {name}, columns separated by {separator:?}", path.display());
        }
        let what = "a row is too long; check for an unclosed quotation mark";
        let (guarded, allowance) = Guarded::of(file, self.longest, what);
        let counting = Counting { guarded, read: 0, end: END, ahead: VecDeque::new(), passed: 0 };
        let mut builder = ReaderBuilder::new();
        let reader = builder.delimiter(separator).has_headers(false).flexible(true).from_reader(counting);
        let mut current = Current { file: Arc::new(path.to_owned()), reader, columns: Vec::new(), allowance };
        let names = current.row()?.map(|(row, _)| row).unwrap_or_default();
        let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
        let mut columns: Vec<String> = Vec::with_capacity(names.len());
        for name in &names {
            let Ok(name) = std::str::from_utf8(name) else {
                return wrong("the column names are not valid UTF-8; set `encoding` in [source]".to_owned());
            };
            columns.push(name.trim().to_owned());
        }
        if let Some(missing) = self.required.iter().find(|name| !columns.contains(name)) {
            return wrong(format!("missing column `{missing}`; the columns are: {}", columns.join(", ")));
        }
        if let Some(name) = columns.iter().find(|name| self.refused.contains(name)) {
            return wrong(format!("the column `{name}` is not used for the field of that name"));
        }
        for (at, name) in columns.iter().enumerate() {
            if !name.is_empty() && columns[..at].contains(name) {
                return wrong(format!("two columns `{name}`"));
            }
        }
        Ok(Current { columns, ..current })
    }
}

impl Current {
    /// Returns the next row, and the line in which it begins.
    fn row(&mut self) -> io::Result<Option<(ByteRecord, u64)>> {
        self.allowance.renew();
        let mut row = ByteRecord::new();
        if !self.reader.read_byte_record(&mut row)? {
            return Ok(None);
        }
        let end = self.reader.position().byte();
        let input = self.reader.get_mut();
        let line = input.first_line(&row, end);
        if !input.is_over(end) {
            return Ok(Some((row, line)));
        }
        if row.len() == 1 && row[0] == END[1..] {
            return Ok(None);
        }
        let what = format!("line {line}: the file is truncated, or a quotation mark is not closed");
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
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
            let Some((row, line)) = current.row().map_err(|error| about(&current.file, &error))? else {
                self.current = None;
                continue;
            };
            // An empty line is not a row.
            if row.iter().all(|cell| cell.trim_ascii().is_empty()) {
                continue;
            }
            let place = Place { file: current.file.clone(), line };
            return Ok(Some(Entry { place, bytes: packed(&row, &current.columns) }));
        }
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.files.progress()
    }
}

/// A file followed by [`END`], with the positions of the line ends that have been read. The parser's own count does not
/// include the empty lines before a row, and is one too low in files from Windows.
struct Counting {
    guarded: Guarded,
    read: u64,
    /// The rest of the end that has not been read.
    end: &'static [u8],
    /// The line ends that have not been passed.
    ahead: VecDeque<u64>,
    passed: u64,
}

impl Counting {
    /// Returns the line in which a row begins that ends at this position.
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

    /// Returns true if a row that ends at this position is the last, and includes all of the end.
    fn is_over(&self, end: u64) -> bool {
        self.end.is_empty() && end == self.read
    }
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = match self.guarded.read(buffer)? {
            0 => self.end.read(buffer)?,
            length => length,
        };
        self.ahead.extend(memchr::memchr_iter(b'\n', &buffer[..length]).map(|at| self.read + at as u64));
        self.read += length as u64;
        Ok(length)
    }
}

/// Returns a row as the names and strings of its cells.
fn packed(row: &ByteRecord, columns: &[String]) -> Result<Vec<u8>, Fault> {
    if row.len() != columns.len() {
        return Err(Fault(format!("the row has {} cells, but there are {} columns", row.len(), columns.len())));
    }
    let mut cells = Vec::new();
    for (cell, name) in row.iter().zip(columns) {
        let cell = std::str::from_utf8(cell).map_err(|_| Fault(format!("column `{name}`: invalid UTF-8")))?.trim();
        if !cell.is_empty() {
            cells.push((name.as_str(), cell));
        }
    }
    Ok(serde_json::to_vec(&cells).expect("texts can be written"))
}
