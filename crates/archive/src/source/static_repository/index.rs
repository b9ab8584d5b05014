//! An index of a static repository, built in the first reading: the positions of all records.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::sync::Arc;

use modoai_protocol::MetadataPrefix;
use modoai_protocol::xml::OAI_NAMESPACE;
use modoai_protocol::xml::reader::Limits;
use modoai_protocol::xml::reader::fragment::{Fragment, Node, Start};
use serde::{Deserialize, Serialize};

use crate::flaw::Flaw;
use crate::source::jsonl::legal;

/// The namespace of the file's own elements.
const STATIC_NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/static-repository";

/// The maximum length of a namespace, in bytes. Every record inherits it.
const LONGEST_NAMESPACE: usize = 1024;

/// The maximum depth of the protocol's own elements. Foreign elements are only counted.
const DEPTH: usize = 5;

/// The maximum length of text in the protocol's own elements.
const LONGEST_TEXT: usize = 64 * 1024;

/// The maximum number of formats of an item. Each is compared with all others of its item.
const MOST_FORMATS: usize = 64;

/// A format of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Format {
    pub(super) prefix: String,
    pub(super) schema: String,
    pub(super) namespace: String,
}

/// An item, and the positions of its records.
pub(super) struct Item {
    /// Empty if it is unknown.
    pub(super) identifier: String,
    pub(super) line: u64,
    pub(super) records: Vec<Slice>,
    /// The reason why it cannot be imported.
    pub(super) fault: Option<String>,
}

/// The position of a record's metadata.
pub(super) struct Slice {
    pub(super) prefix: Arc<str>,
    pub(super) datestamp: String,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) scope: Scope,
}

/// The declarations in scope: prefixes, empty for the default, and URIs.
pub(super) type Scope = Arc<Vec<(String, String)>>;

/// The results of the first reading.
#[derive(Default)]
pub(super) struct Index {
    pub(super) base_url: String,
    pub(super) formats: Vec<Format>,
    pub(super) items: Vec<Item>,
    /// The index of an item in `items`, by its identifier.
    places: HashMap<String, usize>,
    /// The names of open elements of the repository; for others an empty name.
    path: Vec<String>,
    /// The text of the innermost element.
    text: String,
    format: Format,
    prefix: Option<Arc<str>>,
    identifier: String,
    datestamp: String,
    scope: Scope,
    /// The start of the element in `metadata`.
    start: Option<u64>,
    slice: Option<(u64, u64)>,
    /// The error in the record.
    fault: Option<String>,
    /// The line at `counted`, a position in the file.
    line: u64,
    counted: u64,
    record_line: u64,
}

/// A piece of the file, and its position.
#[derive(Clone, Copy)]
struct Piece<'a> {
    bytes: &'a [u8],
    start: u64,
}

impl Index {
    /// Reads the file once. An error in the repository as a whole fails the reading.
    pub(super) fn of(data: File) -> io::Result<Self> {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let mut data = BufReader::with_capacity(256 * 1024, data);
        let mut index = Self { line: 1, ..Self::default() };
        let mut fragment = Fragment::new(Limits::default(), &[]);
        // The reader counts from here.
        let mark = if data.fill_buf()?.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        data.consume(mark);
        let mark = mark as u64;
        let mut start = mark;
        let fails = |line: u64, what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("line {line}: {what}"));
        loop {
            let bytes = data.fill_buf()?;
            let length = bytes.len();
            if length == 0 {
                break;
            }
            let piece = Piece { bytes, start };
            if let Err(flaw) = fragment.push(bytes, &mut |node| index.take(node, piece, mark)) {
                index.count_lines(piece, mark + flaw.at as u64);
                return Err(fails(index.line, &flaw.what));
            }
            start += length as u64;
            index.count_lines(piece, start);
            data.consume(length);
        }
        fragment.finish().map_err(|_| fails(index.line, "the file is truncated"))?;
        Ok(index)
    }

    /// Counts the lines up to a position in the file.
    fn count_lines(&mut self, piece: Piece<'_>, to: u64) {
        let place = |position: u64| usize::try_from(position.saturating_sub(piece.start)).unwrap_or(usize::MAX);
        if let Some(more) = piece.bytes.get(place(self.counted)..place(to)) {
            self.line += memchr::memchr_iter(b'\n', more).count() as u64;
            self.counted = to;
        }
    }

    fn take(&mut self, node: Node<'_>, piece: Piece<'_>, mark: u64) -> Result<(), Flaw> {
        match node {
            Node::Start(start) => {
                let at = mark + start.offset;
                self.count_lines(piece, at);
                let wrong = |what| Flaw::new(usize::try_from(start.offset).unwrap_or(usize::MAX), what);
                self.open(&start, at).map_err(wrong)
            }
            Node::End { after } => {
                let wrong = |what| Flaw::new(usize::try_from(after).unwrap_or(usize::MAX), what);
                self.close(mark + after).map_err(wrong)
            }
            Node::Text(text) => {
                self.more(text);
                Ok(())
            }
        }
    }

    fn open(&mut self, start: &Start<'_>, at: u64) -> Result<(), String> {
        let local = start.name;
        let is = |wanted: &str| start.namespace == wanted;
        let own = if is(STATIC_NAMESPACE) || is(OAI_NAMESPACE) { local } else { "" };
        if self.path.is_empty() && !(is(STATIC_NAMESPACE) && local == "Repository") {
            return Err(format!("the root element is `{local}`, not the `Repository` of an OAI static repository"));
        }
        let path: Vec<&str> = self.path.iter().take(DEPTH + 1).map(String::as_str).collect();
        match path.as_slice() {
            ["Repository"] if own == "ListRecords" => {
                let prefix = start.attribute("metadataPrefix").ok().flatten();
                self.prefix = Some(prefix.ok_or("`ListRecords` has no `metadataPrefix`")?.into());
            }
            ["Repository", "ListRecords"] if own == "record" => {
                self.record_line = self.line;
                self.identifier.clear();
                self.datestamp.clear();
                self.slice = None;
                self.fault = None;
            }
            ["Repository", "ListMetadataFormats"] if own == "metadataFormat" => self.format = Format::default(),
            ["Repository", "ListRecords", "record"] if own == "metadata" => self.inherit(start)?,
            ["Repository", "ListRecords", "record", "metadata"] => {
                if self.slice.is_some() {
                    self.fault = Some("two elements in one `metadata`".to_owned());
                }
                self.start = Some(at);
            }
            _ => {}
        }
        self.text.clear();
        self.path.push(own.to_owned());
        Ok(())
    }

    /// Stores the declarations in scope; most records share them.
    fn inherit(&mut self, start: &Start<'_>) -> Result<(), String> {
        let declared = start.declarations().into_iter().filter(|(prefix, _)| !["xml", "xmlns"].contains(prefix));
        let scope: Vec<_> = declared.map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned())).collect();
        if scope.iter().any(|(_, uri)| uri.len() > LONGEST_NAMESPACE) {
            return Err(format!("a namespace has more than {LONGEST_NAMESPACE} bytes"));
        }
        if *self.scope != scope {
            self.scope = Arc::new(scope);
        }
        Ok(())
    }

    fn more(&mut self, text: &[u8]) {
        // Text inside metadata is not needed here.
        if self.path.len() <= DEPTH && self.text.len() + text.len() <= LONGEST_TEXT {
            self.text.push_str(&String::from_utf8_lossy(text));
        }
    }

    fn close(&mut self, after: u64) -> Result<(), String> {
        let path: Vec<&str> = self.path.iter().take(DEPTH + 1).map(String::as_str).collect();
        let text = || self.text.trim().to_owned();
        match path.as_slice() {
            ["Repository", "Identify", "baseURL"] => self.base_url = text(),
            ["Repository", "ListMetadataFormats", "metadataFormat", field] => match *field {
                "metadataPrefix" => self.format.prefix = text(),
                "schema" => self.format.schema = text(),
                "metadataNamespace" => self.format.namespace = text(),
                _ => {}
            },
            ["Repository", "ListMetadataFormats", "metadataFormat"] => {
                if MetadataPrefix::parse(&self.format.prefix).is_none() {
                    return Err(format!("invalid metadata prefix {:?}", self.format.prefix));
                }
                self.formats.push(std::mem::take(&mut self.format));
            }
            ["Repository", "ListRecords", "record", "header", "identifier"] => self.identifier = text(),
            ["Repository", "ListRecords", "record", "header", "datestamp"] => self.datestamp = text(),
            ["Repository", "ListRecords", "record", "metadata", _] => {
                self.slice = self.start.take().map(|start| (start, after));
            }
            ["Repository", "ListRecords", "record"] => self.finish_record(),
            _ => {}
        }
        self.path.pop();
        self.text.clear();
        Ok(())
    }

    /// Adds the record to its item. An error in the record rejects its item, and no other.
    fn finish_record(&mut self) {
        let (identifier, unnamed) = match legal(&self.identifier, "identifier") {
            Ok(identifier) => (identifier, None),
            Err(fault) => (String::new(), Some(fault.0)),
        };
        let known = if unnamed.is_some() { None } else { self.places.get(&identifier).copied() };
        let at = known.unwrap_or_else(|| {
            if unnamed.is_none() {
                self.places.insert(identifier.clone(), self.items.len());
            }
            self.items.push(Item { identifier, line: self.record_line, records: Vec::new(), fault: None });
            self.items.len() - 1
        });
        let item = &mut self.items[at];
        let prefix = self.prefix.clone().unwrap_or_default();
        let datestamp = std::mem::take(&mut self.datestamp);
        let mut fault = unnamed.or(self.fault.take());
        match self.slice.take() {
            None => fault = fault.or(Some(format!("its record in `{prefix}` has no metadata"))),
            Some(_) if item.records.iter().any(|known| known.prefix == prefix) => {
                fault = fault.or(Some(format!("two records in `{prefix}`")));
            }
            Some(_) if item.records.len() == MOST_FORMATS => {
                fault = fault.or(Some(format!("it has more than {MOST_FORMATS} formats")));
            }
            Some((start, end)) => {
                item.records.push(Slice { prefix, datestamp, start, end, scope: self.scope.clone() });
            }
        }
        item.fault = item.fault.take().or(fault);
    }
}
