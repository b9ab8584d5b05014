//! arXiv's public snapshot of its metadata: a line of JSON for every paper.
//!
//! The names of authors are already split; strings are as submitted, with TeX and with the line ends of emails.

pub mod dates;
pub mod taxonomy;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use super::{Content, Fault, Kind, Options, Place, Reading, jsonl, plain};
use crate::record::lenient::{OneOrMany, Text};
use crate::record::{Agent, Link, Record, Version};

/// Reads lines of the snapshot.
pub(super) struct Snapshot {
    tex: bool,
    fingerprint: u64,
}

impl Snapshot {
    pub(super) fn new(options: &Options) -> Self {
        Self { tex: options.tex != Some(false), fingerprint: options.fingerprint(Kind::Arxiv, 3) }
    }
}

impl Reading for Snapshot {
    fn identifier(&self, bytes: &[u8], _: &Place) -> Result<String, Fault> {
        jsonl::first_text(bytes, "id")
    }

    fn read(&self, bytes: &[u8], _: &Place) -> Result<Content, Fault> {
        let paper: Paper<'_> = serde_json::from_slice(bytes).map_err(|error| jsonl::fault(&error, bytes))?;
        Ok(Content { record: paper.into_record(self.tex)?, given: Vec::new() })
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// A line of the snapshot.
#[derive(Default)]
struct Paper<'a> {
    id: Cow<'a, str>,
    deleted: bool,
    title: Option<Text<'a>>,
    abstract_: Option<Text<'a>>,
    licence: Option<Text<'a>>,
    categories: Vec<Text<'a>>,
    versions: Vec<PaperVersion<'a>>,
    update_date: Option<Text<'a>>,
    authors_parsed: Vec<Vec<Text<'a>>>,
    /// Strings that are kept under other names.
    notes: Vec<(&'static str, Text<'a>)>,
    /// Fields that later snapshots may have.
    further: Vec<(String, Value)>,
}

#[derive(serde::Deserialize)]
struct PaperVersion<'a> {
    #[serde(borrow)]
    version: Text<'a>,
    #[serde(borrow)]
    created: Text<'a>,
}

/// The names of strings in the snapshot, and in the record.
const NOTES: [(&str, &str); 9] = [
    ("submitter", "submitter"),
    ("authors", "authors"),
    ("comments", "comments"),
    ("journal-ref", "journal_ref"),
    ("doi", "doi"),
    ("report-no", "report_no"),
    ("msc-class", "msc_class"),
    ("acm-class", "acm_class"),
    ("proxy", "proxy"),
];

impl<'de> Deserialize<'de> for Paper<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PaperVisitor;
        impl<'de> Visitor<'de> for PaperVisitor {
            type Value = Paper<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the fields of a paper")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Paper<'de>, A::Error> {
                let mut paper = Paper { notes: Vec::with_capacity(NOTES.len()), ..Paper::default() };
                while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
                    let read = paper.take(&key, &mut map);
                    read.map_err(|error| A::Error::custom(format_args!("field `{key}`: {error}")))?;
                }
                Ok(paper)
            }
        }
        deserializer.deserialize_map(PaperVisitor)
    }
}

impl<'de> Paper<'de> {
    fn take<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "id" if !self.id.is_empty() => return Err(A::Error::custom("it occurs twice")),
            // As a number, 0704.0010 would already have lost its zeros.
            "id" => self.id = map.next_value::<IdText<'de>>()?.0,
            "deleted" => self.deleted = map.next_value::<Option<bool>>()?.unwrap_or_default(),
            "title" => self.title = map.next_value()?,
            "abstract" => self.abstract_ = map.next_value()?,
            "license" => self.licence = map.next_value()?,
            "categories" => self.categories = map.next_value::<OneOrMany<Text<'de>>>()?.0,
            "versions" => self.versions = map.next_value::<Option<_>>()?.unwrap_or_default(),
            "update_date" => self.update_date = map.next_value()?,
            "authors_parsed" => self.authors_parsed = map.next_value::<Option<_>>()?.unwrap_or_default(),
            _ => match NOTES.iter().find(|(theirs, ours)| *theirs == key || *ours == key) {
                Some((_, ours)) => self.notes.extend(map.next_value::<Option<Text<'de>>>()?.map(|text| (*ours, text))),
                None => {
                    let value: Value = map.next_value()?;
                    if !value.is_null() {
                        self.further.push((further_name(key), value));
                    }
                }
            },
        }
        Ok(())
    }

    fn into_record(self, tex: bool) -> Result<Record, Fault> {
        let text = |text: Text<'_>| Some(plain::text(text.0, tex)).filter(|text| !text.is_empty());
        let line = |line: Text<'_>| Some(plain::text(plain::squeezed(&line.0), tex)).filter(|line| !line.is_empty());
        let mut record =
            Record { identifier: jsonl::legal(&self.id, "id")?, deleted: self.deleted, ..Record::default() };
        record.title = self.title.and_then(line);
        // Its line ends are kept: an indented line begins a paragraph.
        record.abstract_ = self.abstract_.and_then(|it| text(Text(Cow::Borrowed(it.0.trim()))));
        record.creators = self.authors_parsed.into_iter().filter_map(|parts| agent(parts, tex)).collect();
        record.licence = self.licence.map(|licence| licence.0.trim().to_owned()).filter(|licence| !licence.is_empty());
        describe(&mut record, self.categories.iter().flat_map(|some| some.0.split_ascii_whitespace()));
        for PaperVersion { version, created } in self.versions {
            record.versions.push(Version {
                version: version.into_string(),
                date: created.into_string(),
                ..Version::default()
            });
        }
        if let Some(first) = record.versions.first() {
            let day = dates::day(&first.date).map_err(|fault| Fault(format!("field `versions`: {fault}")))?;
            record.dates.insert("created".to_owned(), day);
        }
        if let Some(updated) = self.update_date {
            let day = dates::day(&updated.0).map_err(|fault| Fault(format!("field `update_date`: {fault}")))?;
            record.dates.insert("updated".to_owned(), day);
        }
        for (name, note) in self.notes {
            record.further.extend(line(note).map(|note| (name.to_owned(), Value::String(note))));
        }
        record.further.extend(self.further);
        Ok(record)
    }
}

/// Returns the name of an unknown arXiv field: unchanged, unless the record has another field with this name.
pub(super) fn further_name(key: &str) -> String {
    let name = key.to_ascii_lowercase().replace('-', "_");
    if Record::FIELDS.contains(&name.as_str()) { format!("arxiv_{name}") } else { name }
}

/// A value that must be a string.
struct IdText<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for IdText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);
        Borrowed::deserialize(deserializer).map(|text| Self(text.0))
    }
}

/// Converts family name, given names, suffix, affiliations.
fn agent(parts: Vec<Text<'_>>, tex: bool) -> Option<Agent> {
    let mut parts = parts.into_iter().map(|part| plain::text(plain::squeezed(&part.0), tex));
    let family = parts.next()?;
    let given = parts.next().filter(|given| !given.is_empty());
    let suffix = parts.next().filter(|suffix| !suffix.is_empty());
    let affiliations = parts.filter(|affiliation| !affiliation.is_empty()).collect();
    Some(Agent { family, given, suffix, affiliations, orcid: None }).filter(|agent| *agent != Agent::default())
}

/// Adds the information in arXiv's identifiers and categories: subjects by name, and links to the paper.
pub(super) fn describe<'a>(record: &mut Record, categories: impl Iterator<Item = &'a str>) {
    let categories: Vec<&str> = categories.collect();
    for code in &categories {
        // Two codes may be names of one subject.
        let name = taxonomy::name_of(code).unwrap_or(code);
        if !record.subjects.iter().any(|known| known == name) {
            record.subjects.push(name.to_owned());
        }
    }
    if !categories.is_empty() {
        record.further.insert("categories".to_owned(), categories.into());
    }
    let link = |kind: &str, rel: &str, media_type: &str| Link {
        url: format!("https://arxiv.org/{kind}/{}", record.identifier),
        rel: Some(rel.to_owned()),
        media_type: Some(media_type.to_owned()),
    };
    record.links = vec![link("abs", "landing", "text/html"), link("pdf", "pdf", "application/pdf")];
}

#[cfg(test)]
mod tests;
