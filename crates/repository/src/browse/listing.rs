//! Records and headers as cards, and the links between pages.

use modoai_protocol::Verb;
use modoai_protocol::xml::{Response, document};
use serde::Serialize;

use super::choices::Choices;
use super::fragment::Fragment;
use super::links;

/// A record or a header.
#[derive(Debug, Serialize)]
pub(super) struct Card<'a> {
    pub(super) title: Option<String>,
    identifier: &'a str,
    /// The URL of the resource, if it is available.
    resource: Option<String>,
    datestamp: &'a str,
    is_deleted: bool,
    sets: Vec<Labelled<'a>>,
    /// The page of the record.
    page: Option<String>,
    /// The same record in each format, on that page.
    formats: Vec<Labelled<'a>>,
    metadata: Option<Fragment>,
    about: Vec<Fragment>,
}

#[derive(Debug, Serialize)]
struct Labelled<'a> {
    label: &'a str,
    hint: &'a str,
    link: String,
    is_current: bool,
}

/// The position of a page in a list, with links to its first and next page.
#[derive(Debug, Serialize)]
pub(super) struct Paging {
    first: u64,
    last: u64,
    size: Option<u64>,
    next: Option<String>,
    start: Option<String>,
}

impl<'a> Card<'a> {
    pub(super) fn new(record: &'a document::Record, verb: Option<Verb>, choices: &'a Choices) -> Self {
        let identifier = record.identifier.as_str();
        let prefix = choices.chosen.prefix.as_str();
        let list = if verb == Some(Verb::ListIdentifiers) { "ListIdentifiers" } else { "ListRecords" };
        let set = |spec: &'a String| Labelled {
            label: choices.set_name(spec),
            hint: spec,
            link: links::page(&[("verb", list), ("metadataPrefix", prefix), ("set", spec)]),
            is_current: *spec == choices.chosen.set,
        };
        let format = |format: &'a String| Labelled {
            label: format,
            hint: "",
            link: links::page(&[("verb", "GetRecord"), ("metadataPrefix", format), ("identifier", identifier)]),
            is_current: format == prefix && record.metadata.is_some(),
        };
        let metadata = record.metadata.as_ref().map(Fragment::new);
        let title = metadata.as_ref().and_then(|metadata| metadata.first("Title")).filter(|title| !title.is_empty());
        let title = title.or_else(|| choices.titles.get(identifier).map(String::as_str));
        let is_alone = verb == Some(Verb::GetRecord);
        let record_page =
            || links::page(&[("verb", "GetRecord"), ("metadataPrefix", prefix), ("identifier", identifier)]);
        Self {
            title: title.map(str::to_owned),
            page: (!record.deleted && !is_alone).then(record_page),
            identifier,
            resource: links::web(identifier).filter(|_| !record.deleted),
            datestamp: &record.datestamp,
            is_deleted: record.deleted,
            sets: record.sets.iter().map(set).collect(),
            formats: if record.deleted || !is_alone {
                Vec::new()
            } else {
                choices.formats.iter().map(format).collect()
            },
            metadata,
            about: record.about.iter().map(Fragment::new).collect(),
        }
    }
}

impl Card<'_> {
    pub(super) fn has_metadata(&self) -> bool {
        self.metadata.is_some()
    }
}

impl Paging {
    /// Returns `None` if the response is not a list, or is the list of formats, which is always complete; and for a
    /// search, which has separate links.
    pub(super) fn new(response: &Response, choices: &Choices) -> Option<Self> {
        let verb = response.verb.filter(|_| response.errors.is_empty() && choices.search.is_none())?;
        let count = match verb {
            Verb::ListSets => response.sets.len(),
            Verb::ListIdentifiers | Verb::ListRecords => response.records.len(),
            Verb::GetRecord | Verb::Identify | Verb::ListMetadataFormats => return None,
        } as u64;
        let Some(token) = &response.token else {
            return Some(Self { first: 1, last: count, size: Some(count), next: None, start: None });
        };
        let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<u64>().ok());
        let before = number(&token.cursor).unwrap_or(0);
        let next = || links::page(&[("verb", verb.as_str()), ("resumptionToken", &token.value)]);
        let start = || match verb {
            Verb::ListSets => links::page(&[("verb", verb.as_str())]),
            _ => links::page(&choices.chosen.arguments(verb.as_str())),
        };
        Some(Self {
            first: before.saturating_add(1),
            last: before.saturating_add(count),
            size: number(&token.size),
            next: (!token.value.is_empty()).then(next),
            start: (before > 0).then(start),
        })
    }
}
