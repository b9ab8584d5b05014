//! A complete response in memory, for uses that need no streaming: tests, and the HTML view of a response.

use crate::query::Arguments;
use crate::verb::Verb;
use crate::xml::reader::{Event, PartKind, ReadError, Reader};

/// A response. Absent parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The time of the response.
    pub response_date: String,
    /// The URL that the request was sent to.
    pub url: String,
    /// The arguments of the request, as the repository understood it.
    pub arguments: Arguments,
    /// The errors, as code and message.
    pub errors: Vec<(String, String)>,
    /// The verb of the response, unless it reports an error.
    pub verb: Option<Verb>,
    /// The fields of Identify, as name and text; some names repeat.
    pub identify: Vec<(String, String)>,
    /// The descriptions in Identify.
    pub descriptions: Vec<Part>,
    /// The metadata formats.
    pub formats: Vec<Format>,
    /// The sets.
    pub sets: Vec<Set>,
    /// The records, or the headers of ListIdentifiers.
    pub records: Vec<Record>,
    /// The resumption token, if the list has one.
    pub token: Option<Token>,
}

/// A foreign element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// All bytes of the element, from its start tag through its end tag, as received.
    pub bytes: Vec<u8>,
    /// The inherited namespace declarations, as prefix and URI.
    pub namespaces: Vec<(String, String)>,
}

/// A metadata format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// The short name.
    pub prefix: String,
    /// The URL of the schema.
    pub schema: String,
    /// The namespace.
    pub namespace: String,
}

/// A set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// The position in the hierarchy.
    pub spec: String,
    /// The name for humans.
    pub name: String,
    /// The descriptions of the set.
    pub descriptions: Vec<Part>,
}

/// A record, or a header alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The identifier of the item.
    pub identifier: String,
    /// The time of the last change.
    pub datestamp: String,
    /// The sets that contain the item.
    pub sets: Vec<String>,
    /// True if the item was deleted.
    pub deleted: bool,
    /// The metadata. Of several parts, which the schema forbids, the first.
    pub metadata: Option<Part>,
    /// The about containers, with statements about the metadata.
    pub about: Vec<Part>,
}

/// A resumption token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// The value that the harvester sends back; empty on the last page.
    pub value: String,
    /// The number of items before this page.
    pub cursor: Option<String>,
    /// The size of the whole list.
    pub size: Option<String>,
    /// The time until which the token is valid.
    pub expiration: Option<String>,
}

impl Response {
    /// Reads a complete response.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        Self::read_by(Reader::default(), bytes)
    }

    /// Reads a complete response whose namespace may be missing or misspelt.
    pub fn read_leniently(bytes: &[u8]) -> Result<Self, ReadError> {
        Self::read_by(Reader::default().lenient(), bytes)
    }

    fn read_by(mut reader: Reader, bytes: &[u8]) -> Result<Self, ReadError> {
        let mut builder = Builder::default();
        reader.push(bytes, &mut |event| builder.take(event))?;
        reader.finish()?;
        Ok(builder.response)
    }

    /// Returns the first field of Identify with this name.
    pub fn identify(&self, name: &str) -> Option<&str> {
        self.identify.iter().find(|(given, _)| given == name).map(|(_, text)| text.as_str())
    }
}

#[derive(Default)]
struct Builder {
    response: Response,
    /// True if the last record is still open. A header outside a record is a separate record.
    in_record: bool,
    part: Part,
    kind: Option<PartKind>,
    set_descriptions: Vec<Part>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) {
        let response = &mut self.response;
        match event {
            Event::ResponseDate(date) => response.response_date = date.to_owned(),
            Event::Request { url, arguments } => {
                response.url = url.to_owned();
                response.arguments.clone_from(arguments);
            }
            Event::Error { code, message } => response.errors.push((code.to_owned(), message.to_owned())),
            Event::Verb(verb) => response.verb = Some(verb),
            Event::Identify { name, text } => response.identify.push((name.to_owned(), text.to_owned())),
            Event::Format { prefix, schema, namespace } => response.formats.push(Format {
                prefix: prefix.to_owned(),
                schema: schema.to_owned(),
                namespace: namespace.to_owned(),
            }),
            Event::Set { spec, name } => response.sets.push(Set {
                spec: spec.to_owned(),
                name: name.to_owned(),
                descriptions: std::mem::take(&mut self.set_descriptions),
            }),
            Event::RecordStart => {
                response.records.push(Record::default());
                self.in_record = true;
            }
            Event::Header { identifier, datestamp, sets, deleted } => {
                if !self.in_record {
                    response.records.push(Record::default());
                }
                if let Some(record) = response.records.last_mut() {
                    record.identifier = identifier.to_owned();
                    record.datestamp = datestamp.to_owned();
                    record.sets = sets.to_vec();
                    record.deleted = deleted;
                }
            }
            Event::PartStart { kind, namespaces } => {
                let owned = |(prefix, uri): &(&str, &str)| ((*prefix).to_owned(), (*uri).to_owned());
                self.part.namespaces = namespaces.iter().map(owned).collect();
                self.kind = Some(kind);
            }
            Event::PartBytes(bytes) => self.part.bytes.extend_from_slice(bytes),
            Event::PartEnd => self.end_part(),
            Event::RecordEnd => self.in_record = false,
            Event::Token { value, cursor, size, expiration } => {
                response.token = Some(Token {
                    value: value.to_owned(),
                    cursor: cursor.map(str::to_owned),
                    size: size.map(str::to_owned),
                    expiration: expiration.map(str::to_owned),
                });
            }
            Event::Stray(_) => {}
        }
    }

    fn end_part(&mut self) {
        let part = std::mem::take(&mut self.part);
        let record = self.response.records.last_mut();
        match (self.kind.take(), record) {
            (Some(PartKind::Metadata), Some(record)) => {
                record.metadata.get_or_insert(part);
            }
            (Some(PartKind::About), Some(record)) => record.about.push(part),
            (Some(PartKind::Description), _) => self.response.descriptions.push(part),
            (Some(PartKind::SetDescription), _) => self.set_descriptions.push(part),
            (Some(PartKind::Metadata | PartKind::About) | None, _) => {}
        }
    }
}
