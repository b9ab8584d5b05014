//! Converts a record to a metadata format, by a template.
//!
//! A crosswalk is a template and four facts: the format's prefix, schema, namespace, and the fields that a record must
//! have ([`Definition`]). [`Crosswalks::compile`] finds all errors in it: syntax errors, names that are unknown to the
//! engine, and, by trial, output that is not one well-formed element in the right namespace. After that, all values of
//! records are escaped. Each document of a template that was not shipped with the program is parsed once more before it
//! is sent.
//!
//! | file | content |
//! |---|---|
//! | `definition` | the definition of a crosswalk, and errors in it |
//! | `engine` | the engine for all templates, and its limits |
//! | `shipped` | the crosswalks that are shipped with the program |
//! | `subject`, `derived` | a record as an object for templates, and values derived from it |
//! | `filters` | filters for values |
//! | `dates`, `web`, `kinds` | dates, URLs and names, vocabularies of types |
//! | `escape` | escaping of the values in the output |
//! | `scan` | the parts of a template, before it runs |
//! | `trial` | trials of templates with samples, checks of documents |
//! | `about` | rights and provenance, which accompany every format |
//!
//! # What templates see
//!
//! The fields of [`Record`] with their names in JSON (`title`, `creators`, `abstract`, …), the further fields, and:
//!
//! | name | content |
//! |---|---|
//! | `oai_identifier` | the full identifier, `oai:arXiv.org:hep-th/9901001` |
//! | `landing` | the URL of its home page: the link called `landing`, else the first link, else `archive.landing` and the identifier, else the URL of its DOI |
//! | `date` | the date of publication, as precisely as its dates and versions contain it: `YYYY-MM-DD`, or less |
//! | `date_text` | the same date as the record has it, also if it cannot be parsed |
//! | `access` | the access rights, for the filter of this name: those of the record, else `archive.access`, else `open` if its licence is a URL |
//! | `authors` | its creators in one string, `Given Family, Given Family`, unless the record has a field of this name |
//! | `archive.NAME` | the archive's constants, even if a record has a field called `archive` |
//!
//! Missing and blank values are undefined: `{% if title %}`. Each of `creators` and `contributors` has `family`,
//! `given`, `suffix`, `affiliations` and `orcid` (the bare iD); each of `versions` a `number` besides its fields.
//!
//! A template may include a shipped one: `{% include "shipped/datacite.xml" %}`.
//!
//! # Filters
//!
//! Besides those of the engine (`join`, `replace`, `first`, `last`, `length`, …):
//!
//! | filter | what it gives |
//! |---|---|
//! | `date` | `YYYY-MM-DD`, `YYYY-MM` or `YYYY`, also from an RFC 2822 date; empty if it is not a date |
//! | `year` | the year of a date, four digits |
//! | `line` | the text on one line, with single spaces |
//! | `person` | `Family, Given, Suffix` of an agent |
//! | `fullname` | `Given Family Suffix` of an agent |
//! | `url` | the absolute URL, percent-encoded where necessary; empty if it is not a URL |
//! | `doi` | the DOI without prefix, from any of its forms; empty if it is not a DOI |
//! | `language` | the language tag; empty if it is not one |
//! | `kind` | the type of a document in several vocabularies: `.uri` and `.label` (COAR), `.openaire`, `.datacite`, `.dcmi`, `.mods`; `.known` |
//! | `access` | the access rights in COAR's vocabulary: `.uri` and `.label`; `.known` |
//! | `texts` | the strings and numbers of a list; a single one as a list of one, anything else as an empty list |
//! | `words` | the words of a string as a list; for a list, its strings |
//! | `matches("10.48550/*")` | true if the whole string matches the pattern: `*` is any string, `?` any single byte |

mod about;
pub(crate) mod dates;
mod definition;
mod derived;
mod engine;
mod escape;
mod filters;
mod kinds;
mod scan;
mod shipped;
mod subject;
#[cfg(test)]
mod tests;
mod trial;
mod web;

use std::collections::HashSet;
use std::sync::Arc;

use minijinja::{Environment, Value};
use modoai_protocol::names::MetadataPrefix;

use crate::flaw::Flaw;
use crate::record::Record;
use engine::{Limited, without_declaration};
use scan::Scan;
use subject::Subject;
use trial::Texts;
#[cfg(test)]
pub(crate) use trial::judge;

pub use definition::{CrosswalkError, Definition};
pub use shipped::{shipped, shipped_prefixes};

/// The longest of arXiv's three million records has 60 KB. This is more, and far below every limit of a template.
const LARGE: usize = 256 * 1024;

/// The crosswalks of an archive, ready for use.
#[derive(Debug)]
pub struct Crosswalks {
    all: Vec<Crosswalk>,
    constants: Arc<toml::Table>,
}

impl Crosswalks {
    /// Compiles and tries all templates. `constants` are the `archive.NAME` of all of them.
    pub fn compile(definitions: Vec<Definition>, constants: toml::Table) -> Result<Self, CrosswalkError> {
        let constants = Arc::new(constants);
        let mut engine = engine::engine(&constants);
        let mut prefixes = HashSet::new();
        for definition in &definitions {
            let fault = |what: String| definition.fault(None, what);
            if MetadataPrefix::parse(&definition.prefix).is_none() {
                return Err(fault(format!("`{}` is not a valid metadataPrefix", definition.prefix)));
            }
            if !prefixes.insert(definition.prefix.as_str()) {
                return Err(fault(format!("two crosswalks for `{}`", definition.prefix)));
            }
            for (name, text) in [("namespace", &definition.namespace), ("schema", &definition.schema)] {
                if text.is_empty() || text.contains(char::is_whitespace) {
                    return Err(fault(format!("`{text}` is not a valid {name} of `{}`", definition.prefix)));
                }
            }
            let template = without_declaration(&definition.template);
            let scan = Scan::new(&template);
            let added = engine.add_template_owned(definition.prefix.clone(), scan.compact());
            added.map_err(|error| definition.fault_of(&error))?;
            if let Some(unknown) = scan.unknown(&engine) {
                return Err(definition.fault(Some(unknown.line), unknown.what));
            }
        }
        let engine = Arc::new(engine);
        let make = |definition: Definition| Crosswalk {
            is_shipped: shipped(&definition.prefix).is_some_and(|shipped| shipped.template == definition.template),
            definition,
            engine: engine.clone(),
            constants: constants.clone(),
        };
        let all: Vec<_> = definitions.into_iter().map(make).collect();
        let crosswalks = Self { all, constants };
        crosswalks.all.iter().try_for_each(|crosswalk| crosswalks.try_out(crosswalk))?;
        Ok(crosswalks)
    }

    /// Returns all crosswalks, in the order in which they were given.
    pub fn all(&self) -> &[Crosswalk] {
        &self.all
    }

    /// Returns the crosswalk to a format.
    pub fn get(&self, prefix: &str) -> Option<&Crosswalk> {
        self.all.iter().find(|crosswalk| crosswalk.definition.prefix == prefix)
    }

    /// Prepares a record, once for all formats. `identifier` is the full OAI identifier.
    pub fn describe(&self, record: Arc<Record>, identifier: &str) -> Described {
        let subject = Subject { record, oai_identifier: identifier.into(), constants: self.constants.clone() };
        Described { subject: Arc::new(subject) }
    }

    /// Writes the `<about>` containers of a record in any format: its rights, its provenance, or nothing.
    pub fn write_about(&self, described: &Described, out: &mut Vec<u8>) -> Result<(), CrosswalkError> {
        about::write(&described.subject.record, out);
        Ok(())
    }

    fn try_out(&self, crosswalk: &Crosswalk) -> Result<(), CrosswalkError> {
        let definition = &crosswalk.definition;
        let template = without_declaration(&definition.template);
        let scan = Scan::new(&template);
        let texts = Texts::fit_for(&scan);
        let samples =
            [("has few fields", trial::bare(&definition.requires, texts)), ("has all fields", trial::full(texts))];
        let mut xml = Vec::new();
        for (called, sample) in samples {
            let suits = crosswalk.suits(&sample);
            let described = self.describe(Arc::new(sample), "oai:example.org:sample/1");
            xml.clear();
            match crosswalk.render(&described, &mut xml) {
                Ok(()) => {}
                // The template requires a field that no sample has, and depends on it.
                Err(_) if !suits => continue,
                Err(error) => return Err(error),
            }
            if let Err(flaw) = check(&xml, &definition.namespace) {
                let line = trial::blame(&scan, &definition.namespace);
                let near = excerpt(&String::from_utf8_lossy(&xml), flaw.at);
                let what = format!("a sample record that {called} results in invalid XML: {}, at `{near}`", flaw.what);
                return Err(definition.fault(line, what));
            }
        }
        Ok(())
    }
}

/// A record, prepared for any number of formats.
#[derive(Clone, Debug)]
pub struct Described {
    subject: Arc<Subject>,
}

/// The conversion of records to one format.
#[derive(Debug)]
pub struct Crosswalk {
    definition: Definition,
    engine: Arc<Environment<'static>>,
    constants: Arc<toml::Table>,
    is_shipped: bool,
}

impl Crosswalk {
    /// Returns its definition.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns true if a record has all fields that the format requires.
    pub fn suits(&self, record: &Record) -> bool {
        self.lacks(record).next().is_none()
    }

    /// Returns the requirements of the format that the record does not meet, as written in the definition.
    pub(crate) fn lacks<'a>(&'a self, record: &'a Record) -> impl Iterator<Item = &'a str> {
        let has = |name: &str| derived::has(record, &self.constants, name.trim());
        self.definition.requires.iter().filter(move |names| !names.split(" or ").any(has)).map(String::as_str)
    }

    /// Returns true if the conversion of records of this size, as JSON, never fails. Tests have parsed the output of
    /// the shipped templates for thousands of records, also with lists, numbers and maps where strings are usual; only
    /// huge records could exceed their limits.
    pub(crate) fn is_proven(&self, size: usize) -> bool {
        self.is_shipped && size <= LARGE
    }

    /// Appends the record in this format: one element that is complete by itself. If it fails, nothing is appended.
    pub fn write(&self, described: &Described, out: &mut Vec<u8>) -> Result<(), CrosswalkError> {
        let start = out.len();
        let written = self.render(described, out).and_then(|()| {
            // Tests have parsed thousands of documents of the shipped templates; samples have shown only a part of the
            // others.
            if self.is_shipped {
                return Ok(());
            }
            check(&out[start..], &self.definition.namespace).map_err(|flaw| {
                let near = excerpt(&String::from_utf8_lossy(&out[start..]), flaw.at);
                self.definition.fault(None, format!("it generates invalid XML: {}, at `{near}`", flaw.what))
            })
        });
        written.map_err(|mut error| {
            out.truncate(start);
            error.what = format!("{} (record {})", error.what, described.subject.oai_identifier);
            error
        })
    }

    fn render(&self, described: &Described, out: &mut Vec<u8>) -> Result<(), CrosswalkError> {
        let template = self.engine.get_template(&self.definition.prefix).expect("compile has added it");
        let context = Value::from_dyn_object(described.subject.clone());
        template
            .render_captured_to(context, Limited::new(out))
            .map(drop)
            .map_err(|error| self.definition.fault_of(&error))
    }
}

fn check(xml: &[u8], namespace: &str) -> Result<(), Flaw> {
    let text = std::str::from_utf8(xml);
    text.map_err(|error| Flaw::new(error.valid_up_to(), "it is not valid UTF-8"))
        .and_then(|text| trial::judge(text, namespace))
}

/// Returns a few words around a position, on one line.
fn excerpt(text: &str, at: usize) -> String {
    let before = text.char_indices().map(|(place, _)| place).take_while(|&place| place <= at.saturating_sub(30)).last();
    let around: String = text[before.unwrap_or_default()..].chars().take(80).collect();
    subject::one_line(&around).into_owned()
}
