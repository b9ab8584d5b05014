//! An index of a static repository, built in the first reading: the positions of all records.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::sync::Arc;

use modoai_protocol::MetadataPrefix;
use modoai_protocol::xml::OAI_NAMESPACE;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{PrefixDeclaration, ResolveResult};
use quick_xml::reader::NsReader;
use serde::{Deserialize, Serialize};

use crate::source::input::Guarded;
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
    line: u64,
    record_line: u64,
}

impl Index {
    /// Reads the file once. An error in the repository as a whole fails the reading.
    pub(super) fn of(data: File, longest: usize) -> io::Result<Self> {
        let what = "text or a tag is too long";
        let (guarded, allowance) = Guarded::of(Box::new(BufReader::new(data)), longest.max(1024 * 1024), what);
        let mut reader = NsReader::from_reader(BufReader::with_capacity(256 * 1024, guarded));
        reader.config_mut().expand_empty_elements = true;
        let mut index = Self { line: 1, ..Self::default() };
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            allowance.renew();
            let at = reader.buffer_position();
            let wrong =
                |line: u64, what: String| io::Error::new(io::ErrorKind::InvalidData, format!("line {line}: {what}"));
            let event = reader.read_event_into(&mut buffer).map_err(|error| wrong(index.line, error.to_string()))?;
            let after = reader.buffer_position();
            match event {
                Event::Start(tag) => index.open(&reader, &tag, at).map_err(|what| wrong(index.line, what))?,
                Event::End(_) => index.close(after).map_err(|what| wrong(index.line, what))?,
                Event::Text(text) => index.more(&text.xml10_content()),
                Event::CData(text) => index.more(&text.xml10_content()),
                Event::GeneralRef(reference) => {
                    let known = reference.resolve_char_ref().ok().flatten();
                    let named =
                        quick_xml::escape::resolve_predefined_entity(&reference).and_then(|text| text.chars().next());
                    match known.or(named) {
                        Some(character) => index.more(character.encode_utf8(&mut [0; 4])),
                        None => return Err(wrong(index.line, format!("unknown entity `&{};`", &*reference))),
                    }
                }
                Event::DocType(_) => return Err(wrong(index.line, "DOCTYPE is not allowed".to_owned())),
                Event::Eof if !index.path.is_empty() => {
                    return Err(wrong(index.line, "the file is truncated".to_owned()));
                }
                Event::Eof => break,
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
            index.line += memchr::memchr_iter(b'\n', &buffer).count() as u64;
        }
        Ok(index)
    }

    fn open<R>(&mut self, reader: &NsReader<R>, tag: &BytesStart<'_>, at: u64) -> Result<(), String> {
        if self.path.len() >= 1024 {
            return Err("elements are nested too deeply".to_owned());
        }
        let (namespace, local) = reader.resolver().resolve_element(tag.name());
        let local = local.into_inner();
        let is = |wanted: &str| matches!(&namespace, ResolveResult::Bound(found) if found.into_inner() == wanted);
        let own = if is(STATIC_NAMESPACE) || is(OAI_NAMESPACE) { local } else { "" };
        if self.path.is_empty() && !(is(STATIC_NAMESPACE) && local == "Repository") {
            return Err(format!("the root element is `{local}`, not the `Repository` of an OAI static repository"));
        }
        let path: Vec<&str> = self.path.iter().take(DEPTH + 1).map(String::as_str).collect();
        match path.as_slice() {
            ["Repository"] if own == "ListRecords" => {
                let attribute = tag.try_get_attribute("metadataPrefix").ok().flatten();
                let prefix = attribute.ok_or("`ListRecords` has no `metadataPrefix`")?.value.into_owned();
                self.prefix = Some(prefix.into());
            }
            ["Repository", "ListRecords"] if own == "record" => {
                self.record_line = self.line;
                self.identifier.clear();
                self.datestamp.clear();
                self.slice = None;
                self.fault = None;
            }
            ["Repository", "ListMetadataFormats"] if own == "metadataFormat" => self.format = Format::default(),
            ["Repository", "ListRecords", "record"] if own == "metadata" => self.inherit(reader)?,
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
    fn inherit<R>(&mut self, reader: &NsReader<R>) -> Result<(), String> {
        let mut scope = Vec::new();
        for (declaration, uri) in reader.resolver().bindings() {
            let prefix = match declaration {
                PrefixDeclaration::Default => "",
                PrefixDeclaration::Named("xml" | "xmlns") => continue,
                PrefixDeclaration::Named(prefix) => prefix,
            };
            let uri = quick_xml::escape::unescape(uri.into_inner()).map_err(|error| error.to_string())?;
            if uri.len() > LONGEST_NAMESPACE {
                return Err(format!("a namespace has more than {LONGEST_NAMESPACE} bytes"));
            }
            scope.push((prefix.to_owned(), uri.into_owned()));
        }
        if *self.scope != scope {
            self.scope = Arc::new(scope);
        }
        Ok(())
    }

    fn more(&mut self, text: &str) {
        // Text inside metadata is not needed here.
        if self.path.len() <= DEPTH && self.text.len() + text.len() <= LONGEST_TEXT {
            self.text.push_str(text);
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
