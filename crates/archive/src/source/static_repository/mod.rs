//! OAI static repositories: one XML file with all responses of a small repository.
//!
//! The file is ordered by format, so the records of an item are far apart. The file is read twice: first for the
//! positions of all records, which need little memory; then item by item, in order of first appearance. A file that can
//! be read only once is copied first.

mod index;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use modoai_protocol::xml::writer::escaped;
use modoai_repository::catalogue::stored::StoredFormat;
use serde::{Deserialize, Serialize};

use self::index::{Format, Index, Item};
use super::input::{self, Files, about};
use super::kind::OpenError;
use super::xml::Formats;
use super::{Content, Entry, Fault, Given, Kind, Options, Place, Reading, Source, plain};
use crate::record::{Provenance, Record};

/// Splits static repositories into items.
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
    /// Returns the items of these files. A record that is longer than `longest` bytes is not kept in memory.
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
        let index = Index::of(data.try_clone()?)?;
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

/// An item in the form that is passed on.
#[derive(Serialize, Deserialize)]
struct Packed {
    identifier: String,
    /// The reason why it cannot be imported. It accompanies the identifier, so that the error can be assigned to a
    /// document.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
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
        let mut fault = item.fault.clone();
        let slices = if fault.is_some() { &[] } else { item.records.as_slice() };
        for slice in slices {
            let Some(format) = self.formats.iter().find(|format| *format.prefix == *slice.prefix) else {
                fault = Some(format!("the format `{}` is not one of the formats of the repository", slice.prefix));
                break;
            };
            let length = usize::try_from(slice.end - slice.start).unwrap_or(usize::MAX);
            if length > longest {
                fault = Some(format!("its record in `{}` is longer than {longest} bytes", slice.prefix));
                break;
            }
            let mut bytes = vec![0; length];
            self.data.read_exact_at(&mut bytes, slice.start).map_err(|error| about(&self.file, &error))?;
            let text =
                String::from_utf8(bytes).map_err(|_| io::Error::other("the file was modified during the import"))?;
            let xml = standing_alone(&text, &slice.scope);
            records.push(PackedRecord { format: format.clone(), datestamp: slice.datestamp.clone(), xml });
        }
        let bytes = match fault {
            Some(fault) if item.identifier.is_empty() => Err(Fault(fault)),
            fault => {
                let fault = fault.map(|fault| format!("{}: {fault}", item.identifier));
                let (identifier, base_url) = (item.identifier.clone(), self.base_url.clone());
                let packed = Packed { identifier, fault, base_url, records };
                Ok(serde_json::to_vec(&packed).expect("texts can be written"))
            }
        };
        Ok(Entry { place: Place { file: self.file.clone(), line: item.line }, bytes })
    }
}

/// Returns the element with the inherited declarations that it may need.
fn standing_alone(element: &str, scope: &[(String, String)]) -> String {
    let tag = &element[..element.find('>').unwrap_or(element.len())];
    let name = tag.find([' ', '\t', '\r', '\n', '/', '>']).unwrap_or(tag.len()).max(1);
    let mut out = element[..name].to_owned();
    for (prefix, uri) in scope {
        let attribute = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        let is_own = tag.split(|c: char| c.is_ascii_whitespace()).any(|word| {
            word.strip_prefix(&attribute).is_some_and(|rest| rest.trim_start().starts_with('=') || rest.is_empty())
        });
        let is_used = if prefix.is_empty() { has_bare_names(element) } else { element.contains(&format!("{prefix}:")) };
        if is_used && !is_own {
            out.push_str(&format!(" {attribute}=\"{}\"", escaped(uri)));
        }
    }
    out.push_str(&element[name..]);
    out
}

/// Returns true if any element has no prefix.
fn has_bare_names(element: &str) -> bool {
    element.split('<').skip(1).any(|rest| {
        let name = rest.split([' ', '\t', '\r', '\n', '/', '>']).next().unwrap_or_default();
        !name.is_empty() && !name.starts_with(['!', '?']) && !name.contains(':')
    })
}

/// Reads items of a static repository.
pub(super) struct StaticRepository {
    formats: Formats,
    tex: bool,
    fingerprint: u64,
}

impl StaticRepository {
    pub(super) fn new(options: &Options) -> Result<Self, OpenError> {
        let fingerprint = options.fingerprint(Kind::Static, 3);
        Ok(Self { formats: Formats::new(options)?, tex: options.tex == Some(true), fingerprint })
    }
}

impl Reading for StaticRepository {
    fn identifier(&self, bytes: &[u8], _: &Place) -> Result<String, Fault> {
        super::jsonl::first_text(bytes, "identifier")
    }

    fn read(&self, bytes: &[u8], place: &Place) -> Result<Content, Fault> {
        let packed: Packed = serde_json::from_slice(bytes).map_err(|error| Fault(error.to_string()))?;
        if let Some(fault) = packed.fault {
            return Err(Fault(fault));
        }
        let mut record = Record { identifier: packed.identifier.clone(), ..Record::default() };
        let mut given = Vec::new();
        for PackedRecord { format, datestamp, xml } in packed.records {
            // Each format adds fields that the previous ones lack.
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
            let prefix = self.formats.names.apart(prefix, &namespace);
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

/// Fills the fields that are still empty.
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

/// Returns the modification time of the file: the best estimate of the harvest date. The same file always yields the
/// same date.
fn written(place: &Place) -> String {
    let modified = std::fs::metadata(&*place.file).and_then(|metadata| metadata.modified());
    let time = Timestamp::try_from(modified.unwrap_or_else(|_| SystemTime::now())).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
