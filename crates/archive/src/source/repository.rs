//! OAI static repositories: one XML file that holds all a small repository would answer.
//!
//! The file is ordered by format, and an item has its records far apart. It is read twice: first for where everything
//! stands, which is little; then item by item, in order of first appearance. A file that can be read only once is copied
//! aside before.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use modoai_protocol::MetadataPrefix;
use modoai_protocol::xml::OAI_NAMESPACE;
use modoai_protocol::xml::writer::escaped;
use modoai_repository::catalogue::stored::StoredFormat;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{PrefixDeclaration, ResolveResult};
use quick_xml::reader::NsReader;
use serde::{Deserialize, Serialize};

use super::input::{self, Files, Guarded, about};
use super::jsonl::legal;
use super::kind::OpenError;
use super::xml::Formats;
use super::{Content, Entry, Fault, Given, Kind, Options, Place, Reading, Source, plain};
use crate::record::{Provenance, Record};

/// Namespace of the file's own elements.
const STATIC_NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/static-repository";

/// A text of the protocol's own is not longer.
const LONGEST_TEXT: usize = 64 * 1024;

/// Cuts static repositories into items.
pub(super) struct Items {
    files: Files,
    longest: usize,
    current: Option<Current>,
}

struct Current {
    file: Arc<PathBuf>,
    data: File,
    base_url: String,
    formats: Vec<Format>,
    items: std::vec::IntoIter<Item>,
}

impl Items {
    /// The items of these files. A record that is longer than `longest` bytes is not held.
    pub(super) fn of(files: Files, longest: usize) -> Self {
        Self { files, longest, current: None }
    }

    fn open(&self, path: &Path) -> io::Result<Current> {
        let mut data = if input::is_stdin(path) || input::compression(path).is_some() {
            let mut copy = tempfile::tempfile()?;
            io::copy(&mut self.files.open(path)?, &mut copy)?;
            copy
        } else {
            let data = File::open(path)?;
            self.files.advance(data.metadata()?.len());
            data
        };
        data.seek(SeekFrom::Start(0))?;
        let index = Index::of(data.try_clone()?, self.longest)?;
        Ok(Current {
            file: Arc::new(path.to_owned()),
            data,
            base_url: index.base_url,
            formats: index.formats,
            items: index.items.into_iter(),
        })
    }
}

impl Source for Items {
    fn next(&mut self) -> io::Result<Option<Entry>> {
        loop {
            let Some(current) = &mut self.current else {
                let Some(path) = self.files.next()? else { return Ok(None) };
                self.current = Some(self.open(&path).map_err(|error| about(&path, &error))?);
                continue;
            };
            match current.items.next() {
                Some(item) => return current.entry(&item, self.longest).map(Some),
                None => self.current = None,
            }
        }
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.files.progress()
    }
}

/// A format of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Format {
    prefix: String,
    schema: String,
    namespace: String,
}

/// Where an item's records stand.
struct Item {
    identifier: String,
    line: u64,
    records: Vec<Slice>,
}

/// Where a record's metadata stand.
struct Slice {
    prefix: Arc<str>,
    datestamp: String,
    start: u64,
    end: u64,
    scope: Scope,
}

/// The declarations in force: prefixes, empty for the default, and URIs.
type Scope = Arc<Vec<(String, String)>>;

/// An item as it is handed on.
#[derive(Serialize, Deserialize)]
struct Packed {
    identifier: String,
    base_url: String,
    records: Vec<PackedRecord>,
}

#[derive(Serialize, Deserialize)]
struct PackedRecord {
    #[serde(flatten)]
    format: Format,
    datestamp: String,
    xml: String,
}

impl Current {
    /// Reads an item's records.
    fn entry(&self, item: &Item, longest: usize) -> io::Result<Entry> {
        let mut records = Vec::new();
        let mut fault = None;
        for slice in &item.records {
            let Some(format) = self.formats.iter().find(|format| *format.prefix == *slice.prefix) else {
                fault = Some(format!("the format `{}` is not among the repository's formats", slice.prefix));
                break;
            };
            let length = usize::try_from(slice.end - slice.start).unwrap_or(usize::MAX);
            if length > longest {
                fault = Some(format!("its record in `{}` is longer than {longest} bytes", slice.prefix));
                break;
            }
            let mut bytes = vec![0; length];
            self.data.read_exact_at(&mut bytes, slice.start).map_err(|error| about(&self.file, &error))?;
            let text = String::from_utf8(bytes).map_err(|_| io::Error::other("the file has changed"))?;
            let xml = standing_alone(&text, &slice.scope);
            records.push(PackedRecord { format: format.clone(), datestamp: slice.datestamp.clone(), xml });
        }
        let packed = Packed { identifier: item.identifier.clone(), base_url: self.base_url.clone(), records };
        let bytes = match fault {
            Some(fault) => Err(Fault(format!("{}: {fault}", item.identifier))),
            None => Ok(serde_json::to_vec(&packed).expect("texts can be written")),
        };
        Ok(Entry { place: Place { file: self.file.clone(), line: item.line }, bytes })
    }
}

/// The element with the declarations it inherits and may need.
fn standing_alone(element: &str, scope: &[(String, String)]) -> String {
    let tag = &element[..element.find('>').unwrap_or(element.len())];
    let name = tag.find([' ', '\t', '\r', '\n', '/', '>']).unwrap_or(tag.len()).max(1);
    let mut out = element[..name].to_owned();
    for (prefix, uri) in scope {
        let attribute = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        let is_own = tag.split(|c: char| c.is_ascii_whitespace()).any(|word| {
            word.strip_prefix(&attribute).is_some_and(|rest| rest.trim_start().starts_with('=') || rest.is_empty())
        });
        let is_used = prefix.is_empty() || element.contains(&format!("{prefix}:"));
        if is_used && !is_own {
            out.push_str(&format!(" {attribute}=\"{}\"", escaped(uri)));
        }
    }
    out.push_str(&element[name..]);
    out
}

/// What a first reading finds.
#[derive(Default)]
struct Index {
    base_url: String,
    formats: Vec<Format>,
    items: Vec<Item>,
    /// Where in `items` an item is, by its identifier.
    places: HashMap<String, usize>,
    /// The names of open elements, if they are of the repository's own; those of others are empty.
    path: Vec<String>,
    /// Text of the innermost element.
    text: String,
    format: Format,
    prefix: Option<Arc<str>>,
    identifier: String,
    datestamp: String,
    scope: Scope,
    /// Where the element in `metadata` begins.
    start: Option<u64>,
    slice: Option<(u64, u64)>,
    line: u64,
    record_line: u64,
}

impl Index {
    fn of(data: File, longest: usize) -> io::Result<Self> {
        let what = "a text or a tag is too long";
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
                        None => return Err(wrong(index.line, format!("`&{};` is not known", &*reference))),
                    }
                }
                Event::DocType(_) => return Err(wrong(index.line, "there is a DOCTYPE".to_owned())),
                Event::Eof if !index.path.is_empty() => {
                    return Err(wrong(index.line, "the file ends in the middle".to_owned()));
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
            return Err(format!("the root is `{local}`, not the `Repository` of an OAI static repository"));
        }
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
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
            }
            ["Repository", "ListMetadataFormats"] if own == "metadataFormat" => self.format = Format::default(),
            ["Repository", "ListRecords", "record"] if own == "metadata" => self.inherit(reader)?,
            ["Repository", "ListRecords", "record", "metadata"] => {
                if self.slice.is_some() {
                    return Err("there are two elements in one `metadata`".to_owned());
                }
                self.start = Some(at);
            }
            _ => {}
        }
        self.text.clear();
        self.path.push(own.to_owned());
        Ok(())
    }

    /// Remembers the declarations in force; most records share them.
    fn inherit<R>(&mut self, reader: &NsReader<R>) -> Result<(), String> {
        let mut scope = Vec::new();
        for (declaration, uri) in reader.resolver().bindings() {
            let prefix = match declaration {
                PrefixDeclaration::Default => "",
                PrefixDeclaration::Named("xml" | "xmlns") => continue,
                PrefixDeclaration::Named(prefix) => prefix,
            };
            let uri = quick_xml::escape::unescape(uri.into_inner()).map_err(|error| error.to_string())?;
            scope.push((prefix.to_owned(), uri.into_owned()));
        }
        if *self.scope != scope {
            self.scope = Arc::new(scope);
        }
        Ok(())
    }

    fn more(&mut self, text: &str) {
        // Inside metadata nobody asks for it.
        if self.path.len() <= 5 && self.text.len() + text.len() <= LONGEST_TEXT {
            self.text.push_str(text);
        }
    }

    fn close(&mut self, after: u64) -> Result<(), String> {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
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
                    return Err(format!("{:?} is not a metadata prefix", self.format.prefix));
                }
                self.formats.push(std::mem::take(&mut self.format));
            }
            ["Repository", "ListRecords", "record", "header", "identifier"] => self.identifier = text(),
            ["Repository", "ListRecords", "record", "header", "datestamp"] => self.datestamp = text(),
            ["Repository", "ListRecords", "record", "metadata", _] => {
                self.slice = self.start.take().map(|start| (start, after));
            }
            ["Repository", "ListRecords", "record"] => self.finish_record()?,
            _ => {}
        }
        self.path.pop();
        self.text.clear();
        Ok(())
    }

    fn finish_record(&mut self) -> Result<(), String> {
        let identifier = legal(&self.identifier, "identifier").map_err(|fault| fault.0)?;
        let (start, end) = self.slice.take().ok_or_else(|| format!("{identifier}: the record has no metadata"))?;
        let prefix = self.prefix.clone().unwrap_or_default();
        let datestamp = std::mem::take(&mut self.datestamp);
        let slice = Slice { prefix, datestamp, start, end, scope: self.scope.clone() };
        match self.places.get(&identifier) {
            Some(&at) => {
                let records = &mut self.items[at].records;
                if records.iter().any(|known| known.prefix == slice.prefix) {
                    return Err(format!("{identifier}: there are two records in `{}`", slice.prefix));
                }
                records.push(slice);
            }
            None => {
                self.places.insert(identifier.clone(), self.items.len());
                self.items.push(Item { identifier, line: self.record_line, records: vec![slice] });
            }
        }
        Ok(())
    }
}

/// Reads items of a static repository.
pub(super) struct StaticRepository {
    formats: Formats,
    tex: bool,
    fingerprint: u64,
}

impl StaticRepository {
    pub(super) fn new(options: &Options) -> Result<Self, OpenError> {
        let fingerprint = options.fingerprint(Kind::Static, 1);
        Ok(Self { formats: Formats::new(options)?, tex: options.tex == Some(true), fingerprint })
    }
}

impl Reading for StaticRepository {
    fn identifier(&self, bytes: &[u8], _: &Place) -> Result<String, Fault> {
        super::jsonl::first_text(bytes, "identifier")
    }

    fn read(&self, bytes: &[u8], place: &Place) -> Result<Content, Fault> {
        let packed: Packed = serde_json::from_slice(bytes).map_err(|error| Fault(error.to_string()))?;
        let mut record = Record { identifier: packed.identifier.clone(), ..Record::default() };
        let mut given = Vec::new();
        for PackedRecord { format, datestamp, xml } in packed.records {
            // Each format adds what those before it did not say.
            let mut said = Record::default();
            let document =
                self.formats.read(&xml, &mut said).map_err(|fault| Fault(format!("`{}`: {fault}", format.prefix)))?;
            if document.namespace != format.namespace {
                let (declared, found) = (&format.namespace, &document.namespace);
                return Err(Fault(format!(
                    "`{}` is declared as {declared}, but the metadata is {found}",
                    format.prefix
                )));
            }
            complete(&mut record, said);
            record.provenance.get_or_insert_with(|| Provenance {
                base_url: packed.base_url.clone(),
                identifier: packed.identifier.clone(),
                datestamp: datestamp.clone(),
                metadata_namespace: format.namespace.clone(),
                harvest_date: written(place),
                altered: false,
            });
            record.datestamp = record.datestamp.max(Some(datestamp).filter(|datestamp| !datestamp.is_empty()));
            let Format { prefix, schema, namespace } = format;
            given.push(Given { format: Arc::new(StoredFormat { prefix, schema, namespace }), xml: xml.into_bytes() });
        }
        if self.tex {
            plain::record(&mut record);
        }
        Ok(Content { record, given })
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// Fills what is still empty.
fn complete(record: &mut Record, said: Record) {
    fn list<T>(field: &mut Vec<T>, said: Vec<T>) {
        if field.is_empty() {
            *field = said;
        }
    }
    record.title = record.title.take().or(said.title);
    record.abstract_ = record.abstract_.take().or(said.abstract_);
    record.licence = record.licence.take().or(said.licence);
    list(&mut record.creators, said.creators);
    list(&mut record.contributors, said.contributors);
    list(&mut record.subjects, said.subjects);
    list(&mut record.links, said.links);
    for (event, date) in said.dates {
        record.dates.entry(event).or_insert(date);
    }
    for (field, value) in said.further {
        record.further.entry(field).or_insert(value);
    }
}

/// When the file was written: the best that is known of when it was got. The same file always tells the same.
fn written(place: &Place) -> String {
    let modified = std::fs::metadata(&*place.file).and_then(|metadata| metadata.modified());
    let time = Timestamp::try_from(modified.unwrap_or_else(|_| SystemTime::now())).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests;
