//! A record as templates see it.
//!
//! Nothing is converted before a template asks for it: fields are looked up in the shared record one by one, which is
//! several times faster than making a map of all of them. A text that is blank counts as missing, so that templates need
//! not ask twice, and an agent without a family name is called by whatever it has.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object};
use serde_json::Value as Json;

use super::dates::Date;
use super::escape::is_blank;
use super::web;
use crate::record::{Agent, Record};

/// A record, and what follows from it.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) record: Arc<Record>,
    /// The full OAI identifier.
    pub(super) oai_identifier: Box<str>,
    /// The archive's constants.
    pub(super) constants: Arc<toml::Table>,
}

impl Object for Subject {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let record = &self.record;
        match key {
            "identifier" => text(&record.identifier),
            "oai_identifier" => text(&self.oai_identifier),
            "datestamp" => optional(record.datestamp.as_ref()),
            "title" => optional(record.title.as_ref()),
            "abstract" => optional(record.abstract_.as_ref()),
            "licence" | "license" => optional(record.licence.as_ref()),
            "creators" => self.list(named(&record.creators).map(Part::Creator)),
            "contributors" => self.list(named(&record.contributors).map(Part::Contributor)),
            "subjects" => list(record.subjects.iter().filter_map(|subject| text(subject))),
            "sets" => list(record.sets.iter().filter_map(|set| text(set))),
            "dates" => (!record.dates.is_empty()).then(|| self.part(Part::Dates)),
            "versions" => self.list((0..record.versions.len()).map(Part::Version)),
            "links" => self.list(indices(&record.links, |link| !is_blank(&link.url)).map(Part::Link)),
            "files" => self.list(indices(&record.files, |file| !is_blank(&file.path)).map(Part::File)),
            "authors" => authors_of(record).map(Value::from),
            "date" => date_of(record).map(|date| Value::from(date.to_string())),
            "landing" => landing_of(record, &self.constants).map(Value::from),
            "access" => access_of(record, &self.constants).map(Value::from),
            _ => value_of(record.further.get(key)?),
        }
    }
}

impl Subject {
    fn part(&self, part: Part) -> Value {
        Value::from_object(Detail { record: self.record.clone(), part })
    }

    fn list(&self, parts: impl Iterator<Item = Part>) -> Option<Value> {
        list(parts.map(|part| self.part(part)))
    }
}

/// Whether a record has something of this name, which may have a dot: `dates.issued`. What follows from other
/// fields counts, and so do the archive's constants.
pub(super) fn has(record: &Record, constants: &toml::Table, path: &str) -> bool {
    let some = |text: &Option<String>| text.as_deref().is_some_and(|text| !is_blank(text));
    match path {
        "identifier" | "oai_identifier" => true,
        "datestamp" => some(&record.datestamp),
        "title" => some(&record.title),
        "abstract" => some(&record.abstract_),
        "licence" | "license" => some(&record.licence),
        "creators" => record.creators.iter().any(is_named),
        "contributors" => record.contributors.iter().any(is_named),
        "subjects" => record.subjects.iter().any(|subject| !is_blank(subject)),
        "sets" => record.sets.iter().any(|set| !is_blank(set)),
        "dates" => !record.dates.is_empty(),
        "versions" => !record.versions.is_empty(),
        "links" => record.links.iter().any(|link| !is_blank(&link.url)),
        "files" => record.files.iter().any(|file| !is_blank(&file.path)),
        "authors" => authors_of(record).is_some(),
        "date" => date_of(record).is_some(),
        "landing" => landing_of(record, constants).is_some(),
        "access" => access_of(record, constants).is_some(),
        _ => match path.split_once('.') {
            Some(("dates", name)) => record.dates.get(name).is_some_and(|date| !is_blank(date)),
            Some(("archive", name)) => constant(constants, name).is_some(),
            Some((first, rest)) => {
                let found = rest.split('.').try_fold(record.further.get(first), |json, name| Some(json?.get(name)));
                found.flatten().and_then(value_of).is_some()
            }
            None => record.further.get(path).and_then(value_of).is_some(),
        },
    }
}

/// Where people can look at it: as the record says, as its links say, below where all of the archive's pages are, or
/// where its DOI leads.
fn landing_of(record: &Record, constants: &toml::Table) -> Option<String> {
    let front = record.links.iter().find(|link| link.rel.as_deref() == Some("landing"));
    let links = front.into_iter().chain(&record.links).map(|link| link.url.as_str());
    let told = further_text(record, "landing").into_iter().chain(links).find_map(web::url);
    let below = || match constant(constants, "landing") {
        Some(landing) => web::url(&format!("{landing}{}", web::encode(record.identifier.trim()))),
        None => web::url(&record.identifier),
    };
    told.or_else(below).or_else(|| {
        let dois = match record.further.get("doi")? {
            Json::Array(dois) => dois.as_slice(),
            doi => std::slice::from_ref(doi),
        };
        let doi = dois.iter().find_map(|doi| web::doi(doi.as_str()?))?;
        web::url(&format!("https://doi.org/{}", web::encode(doi)))
    })
}

/// Who may read it: as the record says, as the archive says of all, or everybody if there is a licence to point to.
fn access_of<'r>(record: &'r Record, constants: &'r toml::Table) -> Option<&'r str> {
    let told = further_text(record, "access").or_else(|| further_text(record, "access_rights"));
    let open = || record.licence.as_deref().and_then(web::url).map(|_| "open");
    told.or_else(|| constant(constants, "access")).or_else(open)
}

/// Its authors in one text: the record's own, or made of its creators.
fn authors_of(record: &Record) -> Option<String> {
    let given = match record.further.get("authors") {
        Some(Json::String(text)) => text.trim().to_owned(),
        Some(Json::Array(names)) => joined(names.iter().filter_map(Json::as_str), ", "),
        _ => String::new(),
    };
    if !is_blank(&given) {
        return Some(given);
    }
    let names: Vec<_> = record.creators.iter().filter(|agent| is_named(agent)).map(full_name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn further_text<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
    record.further.get(name).and_then(Json::as_str).filter(|text| !is_blank(text))
}

fn constant<'c>(constants: &'c toml::Table, name: &str) -> Option<&'c str> {
    constants.get(name).and_then(toml::Value::as_str).filter(|text| !is_blank(text))
}

/// When it was published, as nearly as the record tells.
fn date_of(record: &Record) -> Option<Date> {
    const BEST_FIRST: [&str; 6] = ["issued", "published", "available", "created", "submitted", "updated"];
    let named = BEST_FIRST.iter().filter_map(|name| record.dates.get(*name));
    let versions = record.versions.iter().map(|version| &version.date);
    let known = named.chain(versions).chain(record.dates.values()).map(String::as_str);
    let last = further_text(record, "date").or(record.datestamp.as_deref());
    known.chain(last).find_map(Date::parse)
}

/// Which part of a record.
#[derive(Clone, Copy, Debug)]
enum Part {
    Creator(usize),
    Contributor(usize),
    Version(usize),
    Link(usize),
    File(usize),
    Dates,
}

/// A part of a record, with fields of its own.
#[derive(Debug)]
pub(super) struct Detail {
    record: Arc<Record>,
    part: Part,
}

impl Detail {
    /// The person or body that it is, if it is one.
    pub(super) fn agent(&self) -> Option<&Agent> {
        match self.part {
            Part::Creator(at) => self.record.creators.get(at),
            Part::Contributor(at) => self.record.contributors.get(at),
            _ => None,
        }
    }
}

impl Object for Detail {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let record = &self.record;
        match self.part {
            Part::Dates => text(record.dates.get(key)?),
            Part::Creator(_) | Part::Contributor(_) => agent_field(self.agent()?, key),
            Part::Version(at) => {
                let version = record.versions.get(at)?;
                match key {
                    "version" => text(&version.version),
                    "number" => Some(Value::from(number_of(&version.version).unwrap_or(at as u64 + 1))),
                    "date" => text(&version.date),
                    "size" => optional(version.size.as_ref()),
                    "source_type" => optional(version.source_type.as_ref()),
                    _ => None,
                }
            }
            Part::Link(at) => {
                let link = record.links.get(at)?;
                match key {
                    "url" => text(&link.url),
                    "rel" => optional(link.rel.as_ref()),
                    "media_type" => optional(link.media_type.as_ref()),
                    _ => None,
                }
            }
            Part::File(at) => {
                let file = record.files.get(at)?;
                match key {
                    "path" => text(&file.path),
                    "url" => optional(file.url.as_ref()),
                    "media_type" => optional(file.media_type.as_ref()),
                    "size" => file.state.map(|(length, _)| Value::from(length)),
                    _ => None,
                }
            }
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match self.part {
            Part::Dates => {
                Enumerator::Values(self.record.dates.keys().map(|name| Value::from(name.as_str())).collect())
            }
            Part::Creator(_) | Part::Contributor(_) => {
                Enumerator::Str(&["family", "given", "suffix", "affiliations", "orcid"])
            }
            Part::Version(_) => Enumerator::Str(&["version", "number", "date", "size", "source_type"]),
            Part::Link(_) => Enumerator::Str(&["url", "rel", "media_type"]),
            Part::File(_) => Enumerator::Str(&["path", "url", "media_type", "size"]),
        }
    }
}

fn agent_field(agent: &Agent, key: &str) -> Option<Value> {
    let nameless = is_blank(&agent.family);
    match key {
        "family" if nameless => optional(agent.given.as_ref()),
        "family" => text(&agent.family),
        "given" if nameless => None,
        "given" => optional(agent.given.as_ref()),
        "suffix" => optional(agent.suffix.as_ref()),
        "affiliations" => list(agent.affiliations.iter().filter_map(|affiliation| text(affiliation))),
        "orcid" => web::orcid(agent.orcid.as_deref()?).map(Value::from),
        _ => None,
    }
}

/// The 3 of `v3`.
fn number_of(version: &str) -> Option<u64> {
    let digits = version.trim().trim_start_matches(['v', 'V']);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn is_named(agent: &Agent) -> bool {
    !is_blank(&agent.family) || agent.given.as_deref().is_some_and(|given| !is_blank(given))
}

/// `Family, Given, Suffix`.
pub(super) fn filing_name(agent: &Agent) -> String {
    let parts = [Some(&agent.family), agent.given.as_ref(), agent.suffix.as_ref()];
    joined(parts.into_iter().flatten().map(String::as_str), ", ")
}

/// `Given Family Suffix`.
pub(super) fn full_name(agent: &Agent) -> String {
    let parts = [agent.given.as_ref(), Some(&agent.family), agent.suffix.as_ref()];
    joined(parts.into_iter().flatten().map(String::as_str), " ")
}

fn joined<'a>(parts: impl Iterator<Item = &'a str>, between: &str) -> String {
    let mut all = String::new();
    for part in parts.filter(|part| !is_blank(part)) {
        let between = if all.is_empty() { "" } else { between };
        write!(all, "{between}{}", one_line(part)).expect("a String takes everything");
    }
    all
}

/// With every run of white space as one space, and none at the ends.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    let bytes = trimmed.as_bytes();
    // Other white space than ASCII's begins with one of three bytes; few texts have them, and fewer twice.
    let untidy = |(at, &byte): (usize, &u8)| match byte {
        b' ' => bytes.get(at + 1) == Some(&b' '),
        0..0x20 | 0xc2 | 0xe1..=0xe3 => true,
        _ => false,
    };
    if !bytes.iter().enumerate().any(untidy) {
        return Cow::Borrowed(trimmed);
    }
    let mut all = String::with_capacity(trimmed.len());
    for word in trimmed.split_whitespace() {
        all.push_str(if all.is_empty() { "" } else { " " });
        all.push_str(word);
    }
    Cow::Owned(all)
}

fn named(agents: &[Agent]) -> impl Iterator<Item = usize> {
    indices(agents, is_named)
}

fn indices<T>(all: &[T], keep: impl Fn(&T) -> bool) -> impl Iterator<Item = usize> {
    all.iter().enumerate().filter(move |(_, one)| keep(one)).map(|(at, _)| at)
}

fn optional(field: Option<&String>) -> Option<Value> {
    text(field?)
}

fn text(text: &str) -> Option<Value> {
    (!is_blank(text)).then(|| Value::from(text.trim()))
}

/// A list, or nothing instead of an empty one.
fn list(values: impl Iterator<Item = Value>) -> Option<Value> {
    let values: Vec<_> = values.collect();
    (!values.is_empty()).then(|| Value::from(values))
}

/// A further field. What is empty counts as missing, here too.
fn value_of(json: &Json) -> Option<Value> {
    match json {
        Json::Null => None,
        Json::Bool(flag) => Some(Value::from(*flag)),
        Json::String(string) => text(string),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Some(Value::from(number)),
            (None, Some(number)) => Some(Value::from(number)),
            (None, None) => number.as_f64().map(Value::from),
        },
        Json::Array(array) => list(array.iter().filter_map(value_of)),
        Json::Object(object) => {
            let pairs: Vec<_> =
                object.iter().filter_map(|(name, json)| Some((name.as_str(), value_of(json)?))).collect();
            (!pairs.is_empty()).then(|| Value::from_pairs(pairs))
        }
    }
}
