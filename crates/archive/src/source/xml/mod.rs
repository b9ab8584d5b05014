//! Directories of XML metadata files, whose format is sent as received.
//!
//! | file | content |
//! |---|---|
//! | `encoding` | decoding of a file |
//! | `document` | checks of a document, and its content |
//! | `formats` | well-known formats |
//! | `naming` | the names of formats |
//! | `paths` | the paths of fields |
//! | `fields` | the fields of a record in a document |

pub(super) mod document;
mod encoding;
mod fields;
mod formats;
mod naming;
mod paths;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use self::document::{Document, Node};
use self::fields::Finder;
use self::formats::FORMATS;
use self::naming::Names;
use self::paths::Place as FieldPlace;
use super::input::{is_stdin, without_compression};
use super::jsonl::legal;
use super::kind::OpenError;
use super::{Content, DatestampFrom, Fault, Given, Kind, Options, Place, Reading, plain};
use crate::record::Record;

/// The paths of fields in each format, and the names of formats.
pub(super) struct Formats {
    /// The names of formats.
    pub(super) names: Names,
    /// The configured paths of fields.
    chosen: Vec<FieldPlace>,
    /// The paths of well-known formats, by namespace.
    known: HashMap<&'static str, Vec<FieldPlace>>,
}

impl Formats {
    pub(super) fn new(options: &Options) -> Result<Self, OpenError> {
        let impossible = ["identifier", "deleted", "dates", "versions", "files", "provenance"];
        if let Some(field) = options.fields.keys().find(|field| impossible.contains(&field.as_str())) {
            return Err(OpenError::Option {
                option: "fields",
                what: format!("`{field}` cannot be read from an element"),
            });
        }
        let paths = options.fields.iter().flat_map(|(field, paths)| paths.all().iter().map(move |path| (field, path)));
        let chosen: Result<Vec<_>, _> = paths.map(|(field, path)| FieldPlace::parse(field, path)).collect();
        let chosen = chosen.map_err(|what| OpenError::Option { option: "fields", what })?;
        if chosen.len() > fields::MOST {
            let what = format!("more than {} paths", fields::MOST);
            return Err(OpenError::Option { option: "fields", what });
        }
        let known = FORMATS.iter().map(|format| {
            let place = |(field, path): &(&str, &str)| FieldPlace::parse(field, path).expect("tests parse all of them");
            (format.namespace, format.fields.iter().map(place).collect())
        });
        Ok(Self { names: Names::new(options)?, chosen, known: known.collect() })
    }

    /// Reads a document, and writes its fields into a record. Configured paths replace the well-known ones.
    pub(super) fn read<'a>(&self, text: &'a str, record: &mut Record) -> Result<Document<'a>, Fault> {
        let mut finder = None;
        let document = document::read(text, &mut |node| {
            // The root comes first, and determines the paths.
            if let (None, Node::Start { namespace, .. }) = (&finder, &node) {
                finder = Some(Finder::new(self.places(namespace)));
            }
            if let Some(finder) = &mut finder {
                finder.take(&node);
            }
        })?;
        let found = finder.map(|finder| finder.found).unwrap_or_default();
        fields::fill(record, self.places(&document.namespace), &found);
        Ok(document)
    }

    fn places(&self, namespace: &str) -> &[FieldPlace] {
        match self.known.get(namespace) {
            Some(known) if self.chosen.is_empty() => known,
            _ => &self.chosen,
        }
    }
}

/// Reads XML files.
pub(super) struct Xml {
    formats: Formats,
    /// The path of the identifier, if it is in the files.
    identifier: Option<Vec<FieldPlace>>,
    /// The directories to which names are relative.
    roots: Vec<PathBuf>,
    /// True if an empty file means a deletion.
    empty_is_deleted: bool,
    datestamp: Option<DatestampFrom>,
    tex: bool,
    fingerprint: u64,
}

impl Xml {
    pub(super) fn new(inputs: &[PathBuf], options: &Options) -> Result<Self, OpenError> {
        let empty_is_deleted = options.empty_is_deleted == Some(true);
        if empty_is_deleted && options.identifier.is_some() {
            let what =
                "identifiers are read from the files, so an empty file cannot mark a record as deleted".to_owned();
            return Err(OpenError::Option { option: "empty_is_deleted", what });
        }
        let place = |path: &String| FieldPlace::parse("identifier", path).map(|place| vec![place]);
        let identifier = options.identifier.as_ref().map(place).transpose();
        let folder =
            |input: &PathBuf| if input.is_dir() { Some(input.clone()) } else { input.parent().map(Path::to_owned) };
        Ok(Self {
            formats: Formats::new(options)?,
            identifier: identifier.map_err(|what| OpenError::Option { option: "identifier", what })?,
            roots: inputs.iter().filter_map(folder).collect(),
            empty_is_deleted,
            datestamp: options.datestamp,
            tex: options.tex == Some(true),
            fingerprint: options.fingerprint(Kind::Xml, 3),
        })
    }

    /// Returns the file's path below its directory, without its extension.
    fn named_by(&self, place: &Place) -> Result<String, Fault> {
        if is_stdin(&place.file) {
            let what = "standard input has no file name to use as identifier; set the option `identifier`";
            return Err(Fault(what.to_owned()));
        }
        let path = without_compression(&place.file).with_extension("");
        let below = self.roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        let name = below.min_by_key(|below| below.as_os_str().len()).unwrap_or(&path);
        let name = name.to_str().ok_or_else(|| Fault("the file name is not valid UTF-8".to_owned()))?;
        legal(name, "identifier")
    }
}

impl Reading for Xml {
    fn identifier(&self, bytes: &[u8], place: &Place) -> Result<String, Fault> {
        let Some(places) = &self.identifier else { return self.named_by(place) };
        if bytes.is_empty() {
            return Err(empty());
        }
        let text = encoding::decoded(bytes)?;
        let mut finder = Finder::new(places);
        document::read(&text, &mut |node: Node<'_>| finder.take(&node))?;
        let mut found = Record::default();
        fields::fill(&mut found, places, &finder.found);
        match found.further.get("identifier") {
            Some(serde_json::Value::String(identifier)) => legal(identifier, "identifier"),
            Some(_) => Err(Fault("more than one element matches the path of the identifier".to_owned())),
            None => Err(Fault("no element matches the path of the identifier".to_owned())),
        }
    }

    fn read(&self, bytes: &[u8], place: &Place) -> Result<Content, Fault> {
        let mut record = Record { identifier: self.identifier(bytes, place)?, ..Record::default() };
        if bytes.is_empty() {
            // A full disk leaves empty files, and so does a program that is about to write. They are deletions only if
            // the user has configured this.
            record.deleted = self.empty_is_deleted;
            return if record.deleted { Ok(Content { record, given: Vec::new() }) } else { Err(empty()) };
        }
        let text = encoding::decoded(bytes)?;
        let document = self.formats.read(&text, &mut record)?;
        if let Some(from) = self.datestamp {
            record.datestamp = Some(from.of(place)?);
        }
        if self.tex {
            plain::record(&mut record);
        }
        let given = Given { format: self.formats.names.of(&document), xml: document.root.as_bytes().to_vec() };
        Ok(Content { record, given: vec![given] })
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

fn empty() -> Fault {
    Fault("the file is empty".to_owned())
}
