//! One answer as data, between the repository that made it and the bytes that tell it: where most defects have their hand.

use super::calendar::Granularity;
use super::holdings::{FORMAT, Record};

const OPEN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd\">\n";

/// One answer.
#[derive(Clone, Debug)]
pub struct Page {
    /// When it was made.
    pub response_date: String,
    /// Where it was asked for.
    pub base_url: String,
    /// The arguments, as understood.
    pub arguments: Vec<(String, String)>,
    /// What it says.
    pub body: Body,
}

/// What an answer says.
#[derive(Clone, Debug)]
pub enum Body {
    /// Codes and messages.
    Errors(Vec<(String, String)>),
    /// Elements of Identify and their texts, in their order.
    Identify(Vec<(&'static str, String)>),
    /// The formats; all there are.
    Formats,
    /// The sets.
    Sets(Vec<String>),
    /// One record.
    Record(Entry),
    /// A page of records or of headers.
    List(List),
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct List {
    /// Whether only headers are told.
    pub headers_only: bool,
    /// The records.
    pub entries: Vec<Entry>,
    /// How the list goes on.
    pub token: Option<Token>,
}

/// One record, or what is left of it.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Its identifier, if it is told.
    pub identifier: Option<String>,
    /// Its datestamp, if it is told.
    pub datestamp: Option<String>,
    /// Its sets.
    pub sets: Vec<String>,
    /// Whether it is gone.
    pub deleted: bool,
    /// Its metadata, if any is told.
    pub metadata: Option<Vec<u8>>,
    /// What is said about it.
    pub abouts: Vec<Vec<u8>>,
}

/// A resumption token.
#[derive(Clone, Debug, Default)]
pub struct Token {
    /// Its text, empty at the end of a list.
    pub value: String,
    /// How many records came before this page.
    pub cursor: Option<String>,
    /// How many there are.
    pub size: Option<String>,
}

impl Page {
    /// The list, if it is one.
    pub fn list(&mut self) -> Option<&mut List> {
        match &mut self.body {
            Body::List(list) => Some(list),
            _ => None,
        }
    }

    /// Says this instead.
    pub fn fail(&mut self, code: &str, message: &str) {
        self.body = Body::Errors(vec![(code.to_owned(), message.to_owned())]);
    }

    /// The code of the error, if it is one.
    pub fn error(&self) -> Option<&str> {
        match &self.body {
            Body::Errors(errors) => errors.first().map(|(code, _)| code.as_str()),
            _ => None,
        }
    }

    /// The text of an element of Identify, if it is there.
    pub fn identify(&mut self, name: &str) -> Option<&mut String> {
        match &mut self.body {
            Body::Identify(texts) => texts.iter_mut().find(|(given, _)| *given == name).map(|(_, text)| text),
            _ => None,
        }
    }

    /// The bytes that tell it.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut xml = OPEN.as_bytes().to_vec();
        element(&mut xml, "responseDate", &self.response_date);
        let attribute = |(name, value): &(String, String)| format!(" {name}=\"{}\"", escape(value));
        let illegal = matches!(self.error(), Some("badVerb" | "badArgument"));
        let attributes: String = self.arguments.iter().filter(|_| !illegal).map(attribute).collect();
        put(&mut xml, &format!("<request{attributes}>{}</request>\n", escape(&self.base_url)));
        match &self.body {
            Body::Errors(errors) => {
                for (code, message) in errors {
                    put(&mut xml, &format!("<error code=\"{code}\">{}</error>\n", escape(message)));
                }
            }
            Body::Identify(texts) => inside(&mut xml, "Identify", |xml| {
                texts.iter().for_each(|(name, text)| element(xml, name, text));
            }),
            Body::Formats => inside(&mut xml, "ListMetadataFormats", |xml| {
                inside(xml, "metadataFormat", |xml| {
                    let names = ["metadataPrefix", "schema", "metadataNamespace"];
                    names.iter().zip(FORMAT).for_each(|(name, text)| element(xml, name, text));
                });
            }),
            Body::Sets(sets) => inside(&mut xml, "ListSets", |xml| {
                for set in sets {
                    inside(xml, "set", |xml| {
                        element(xml, "setSpec", set);
                        element(xml, "setName", &format!("Set {set}"));
                    });
                }
            }),
            Body::Record(entry) => inside(&mut xml, "GetRecord", |xml| entry.write(xml, false)),
            Body::List(list) => list.write(&mut xml),
        }
        put(&mut xml, "</OAI-PMH>\n");
        xml
    }
}

impl List {
    fn write(&self, xml: &mut Vec<u8>) {
        inside(xml, if self.headers_only { "ListIdentifiers" } else { "ListRecords" }, |xml| {
            self.entries.iter().for_each(|entry| entry.write(xml, self.headers_only));
            let Some(token) = &self.token else { return };
            put(xml, "<resumptionToken");
            for (name, value) in [("completeListSize", &token.size), ("cursor", &token.cursor)] {
                if let Some(value) = value {
                    put(xml, &format!(" {name}=\"{}\"", escape(value)));
                }
            }
            put(xml, &format!(">{}</resumptionToken>\n", escape(&token.value)));
        });
    }
}

impl Entry {
    /// A record as it is told.
    pub fn of(record: &Record, granularity: Granularity) -> Self {
        Self {
            identifier: Some(record.identifier.clone()),
            datestamp: Some(granularity.format(record.changed)),
            sets: record.sets.clone(),
            deleted: record.deleted,
            metadata: Some(record.metadata.clone()),
            abouts: record.abouts.clone(),
        }
    }

    fn write(&self, xml: &mut Vec<u8>, header_only: bool) {
        let header = |xml: &mut Vec<u8>| {
            put(xml, if self.deleted { "<header status=\"deleted\">\n" } else { "<header>\n" });
            self.identifier.iter().for_each(|text| element(xml, "identifier", text));
            self.datestamp.iter().for_each(|text| element(xml, "datestamp", text));
            self.sets.iter().for_each(|text| element(xml, "setSpec", text));
            put(xml, "</header>\n");
        };
        if header_only {
            return header(xml);
        }
        inside(xml, "record", |xml| {
            header(xml);
            if let Some(metadata) = self.metadata.as_ref().filter(|_| !self.deleted) {
                inside(xml, "metadata", |xml| xml.extend_from_slice(metadata));
            }
            for about in self.abouts.iter().filter(|_| !self.deleted) {
                inside(xml, "about", |xml| xml.extend_from_slice(about));
            }
        });
    }
}

fn put(xml: &mut Vec<u8>, text: &str) {
    xml.extend_from_slice(text.as_bytes());
}

fn element(xml: &mut Vec<u8>, name: &str, text: &str) {
    put(xml, &format!("<{name}>{}</{name}>\n", escape(text)));
}

fn inside(xml: &mut Vec<u8>, name: &str, content: impl FnOnce(&mut Vec<u8>)) {
    put(xml, &format!("<{name}>"));
    content(xml);
    put(xml, &format!("</{name}>\n"));
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
