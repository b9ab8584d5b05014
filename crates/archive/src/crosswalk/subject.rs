//! A record as an object for templates.
//!
//! Nothing is converted before a template requests it: fields are looked up in the shared record one by one, which is
//! several times faster than converting all of them to a map. Blank text counts as missing, so that templates need only
//! one check, and an agent without a family name has whatever name is present.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object};
use serde_json::Value as Json;

use super::derived::{access_of, authors_of, date_of, date_text_of, landing_of};
use super::escape::is_blank;
use super::web;
use crate::record::{Agent, Record};

/// A record, and values derived from it.
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
            "date_text" => date_text_of(record).map(|date| Value::from(date.trim())),
            "landing" => landing_of(record, &self.constants).map(Value::from),
            "access" => access_of(record, &self.constants).map(Value::from),
            // The archive's constants, which are a global of the engine: a field with this name must not hide them.
            "archive" => None,
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

/// The part of a record.
#[derive(Clone, Copy, Debug)]
enum Part {
    Creator(usize),
    Contributor(usize),
    Version(usize),
    Link(usize),
    File(usize),
    Dates,
}

/// A part of a record, with its own fields.
#[derive(Debug)]
pub(super) struct Detail {
    record: Arc<Record>,
    part: Part,
}

impl Detail {
    /// Returns the person or organisation, if the part is one.
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

/// Returns the 3 of `v3`.
fn number_of(version: &str) -> Option<u64> {
    let digits = version.trim().trim_start_matches(['v', 'V']);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

pub(super) fn is_named(agent: &Agent) -> bool {
    !is_blank(&agent.family) || agent.given.as_deref().is_some_and(|given| !is_blank(given))
}

/// Returns `Family, Given, Suffix`.
pub(super) fn filing_name(agent: &Agent) -> String {
    let parts = [Some(&agent.family), agent.given.as_ref(), agent.suffix.as_ref()];
    joined(parts.into_iter().flatten().map(String::as_str), ", ")
}

/// Returns `Given Family Suffix`.
pub(super) fn full_name(agent: &Agent) -> String {
    let parts = [agent.given.as_ref(), Some(&agent.family), agent.suffix.as_ref()];
    joined(parts.into_iter().flatten().map(String::as_str), " ")
}

pub(super) fn joined<'a>(parts: impl Iterator<Item = &'a str>, between: &str) -> String {
    let mut all = String::new();
    for part in parts.filter(|part| !is_blank(part)) {
        let between = if all.is_empty() { "" } else { between };
        write!(all, "{between}{}", one_line(part)).expect("a String takes everything");
    }
    all
}

/// Replaces every sequence of whitespace with one space, and removes it at the ends.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    let bytes = trimmed.as_bytes();
    // Whitespace other than that of ASCII begins with one of three bytes. Few strings contain it.
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

/// Returns a list, or `None` for an empty one.
fn list(values: impl Iterator<Item = Value>) -> Option<Value> {
    let values: Vec<_> = values.collect();
    (!values.is_empty()).then(|| Value::from(values))
}

/// Returns a further field. Empty values count as missing, here too.
pub(super) fn value_of(json: &Json) -> Option<Value> {
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
