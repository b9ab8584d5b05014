//! An answer, sorted for reading. Templates only place what stands here.

use modoai_protocol::xml::Response;
use modoai_protocol::xml::document::{self, Part};
use modoai_protocol::{ErrorCode, Verb};
use serde::Serialize;

use super::choices::{Choices, Chosen};
use super::fragment::{Field, Fragment, Value, add};
use super::links;
use super::trouble::Trouble;

/// Verbs by what a person looks for.
const TABS: [(&str, Verb); 6] = [
    ("About", Verb::Identify),
    ("Formats", Verb::ListMetadataFormats),
    ("Sets", Verb::ListSets),
    ("Headers", Verb::ListIdentifiers),
    ("Records", Verb::ListRecords),
    ("One record", Verb::GetRecord),
];

/// A page.
#[derive(Debug, Serialize)]
pub(super) struct Page<'a> {
    title: String,
    heading: String,
    repository_name: &'a str,
    base_url: &'a str,
    response_date: &'a str,
    is_front: bool,
    is_list: bool,
    tabs: Vec<Tab>,
    /// What the list is narrowed to.
    narrowed: Vec<(&'static str, &'a str)>,
    form: Form<'a>,
    command: String,
    /// The template that places the answer itself.
    template: &'static str,
    answer: Answer<'a>,
}

#[derive(Debug, Serialize)]
struct Tab {
    label: &'static str,
    verb: &'static str,
    link: String,
    is_current: bool,
}

/// The forms, with what was chosen before.
#[derive(Debug, Serialize)]
struct Form<'a> {
    wants_records: bool,
    formats: &'a [String],
    prefix: &'a str,
    sets: Vec<Choice<'a>>,
    from: &'a str,
    until: &'a str,
    identifier: &'a str,
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    spec: &'a str,
    name: &'a str,
    depth: usize,
    is_chosen: bool,
}

#[derive(Debug, Serialize)]
struct Answer<'a> {
    troubles: Vec<Trouble>,
    fields: Vec<Field>,
    fragments: Vec<Fragment>,
    formats: Vec<FormatRow<'a>>,
    sets: Vec<SetRow<'a>>,
    records: Vec<Card<'a>>,
    paging: Option<Paging>,
}

#[derive(Debug, Serialize)]
struct FormatRow<'a> {
    prefix: &'a str,
    namespace: &'a str,
    schema: Value,
    label: &'static str,
    link: String,
}

#[derive(Debug, Serialize)]
struct SetRow<'a> {
    spec: &'a str,
    name: &'a str,
    depth: usize,
    headers: String,
    records: String,
    fragments: Vec<Fragment>,
}

/// A record or a header.
#[derive(Debug, Serialize)]
struct Card<'a> {
    title: Option<String>,
    identifier: &'a str,
    /// The resource, where there is one to be had.
    resource: Option<String>,
    datestamp: &'a str,
    is_deleted: bool,
    sets: Vec<Labelled<'a>>,
    /// The same record in each format.
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

#[derive(Debug, Serialize)]
struct Paging {
    first: u64,
    last: u64,
    size: Option<u64>,
    next: Option<String>,
    start: Option<String>,
}

impl<'a> Page<'a> {
    pub(super) fn new(response: &'a Response, choices: &'a Choices, base_url: &'a str) -> Self {
        let verb = response.verb.filter(|_| response.errors.is_empty());
        let is_list = matches!(verb, Some(Verb::ListIdentifiers | Verb::ListRecords));
        let answer = Answer::new(response, choices);
        let heading = heading(verb, response, choices, &answer);
        let subject = verb.map_or_else(|| heading.clone(), |verb| verb.to_string());
        Self {
            title: format!("{subject} – {}", choices.repository_name),
            heading,
            repository_name: &choices.repository_name,
            base_url,
            response_date: &response.response_date,
            is_front: choices.is_front,
            is_list,
            tabs: tabs(choices, verb),
            narrowed: if is_list { narrowed(choices) } else { Vec::new() },
            form: Form::new(choices),
            command: links::command(base_url, &choices.asked),
            template: template(verb),
            answer,
        }
    }
}

fn template(verb: Option<Verb>) -> &'static str {
    match verb {
        None => "errors.html",
        Some(Verb::Identify) => "identify.html",
        Some(Verb::ListMetadataFormats) => "formats.html",
        Some(Verb::ListSets) => "sets.html",
        Some(Verb::ListIdentifiers) => "headers.html",
        Some(Verb::ListRecords | Verb::GetRecord) => "records.html",
    }
}

fn heading(verb: Option<Verb>, response: &Response, choices: &Choices, answer: &Answer<'_>) -> String {
    let fixed = match verb {
        Some(Verb::Identify) => return choices.repository_name.clone(),
        Some(Verb::GetRecord) => {
            let card = answer.records.first();
            return card.map_or("Record", |card| card.title.as_deref().unwrap_or(card.identifier)).to_owned();
        }
        Some(Verb::ListMetadataFormats) if choices.asked("identifier").is_some() => "Formats of one item",
        Some(Verb::ListMetadataFormats) => "Formats",
        Some(Verb::ListSets) => "Sets",
        Some(Verb::ListIdentifiers) => "Headers",
        Some(Verb::ListRecords) => "Records",
        None => match response.errors.first().and_then(|(code, _)| ErrorCode::from_name(code)) {
            Some(ErrorCode::NoRecordsMatch) => "Nothing matches",
            Some(ErrorCode::IdDoesNotExist) => "No such item",
            Some(ErrorCode::CannotDisseminateFormat) => "No such format",
            Some(ErrorCode::NoSetHierarchy) => "No sets",
            Some(ErrorCode::NoMetadataFormats) => "No formats",
            _ => "This question has no answer",
        },
    };
    fixed.to_owned()
}

/// One record cannot be asked for without saying which, so its tab leads to the form where that is said.
fn tabs(choices: &Choices, current: Option<Verb>) -> Vec<Tab> {
    let prefix = choices.formats.first().map_or("oai_dc", String::as_str);
    let link = |verb: Verb| match verb {
        Verb::ListIdentifiers | Verb::ListRecords => {
            links::page(&[("verb", verb.as_str()), ("metadataPrefix", prefix)])
        }
        Verb::GetRecord => "#one".to_owned(),
        _ => links::page(&[("verb", verb.as_str())]),
    };
    let tab = |(label, verb): (&'static str, Verb)| Tab {
        label,
        verb: verb.as_str(),
        link: link(verb),
        is_current: current == Some(verb),
    };
    TABS.into_iter().map(tab).collect()
}

fn narrowed(choices: &Choices) -> Vec<(&'static str, &str)> {
    let Chosen { prefix, set, from, until } = &choices.chosen;
    let parts = [("format", prefix.as_str()), ("set", choices.set_name(set)), ("from", from), ("until", until)];
    parts.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

impl<'a> Form<'a> {
    fn new(choices: &'a Choices) -> Self {
        let chosen = &choices.chosen;
        let choice = |spec: &'a str, name: &'a str| Choice {
            spec,
            name,
            depth: spec.matches(':').count(),
            is_chosen: spec == chosen.set,
        };
        let mut sets: Vec<_> = choices.sets.iter().map(|(spec, name)| choice(spec, name)).collect();
        // What was chosen stays chosen, also if it is no longer, or not for this person, on offer.
        if !chosen.set.is_empty() && !sets.iter().any(|set| set.is_chosen) {
            sets.push(choice(&chosen.set, &chosen.set));
        }
        Self {
            wants_records: choices.verb() != Some(Verb::ListIdentifiers),
            formats: &choices.formats,
            prefix: &chosen.prefix,
            sets,
            from: Chosen::day(&chosen.from),
            until: Chosen::day(&chosen.until),
            identifier: choices.asked("identifier").unwrap_or_default(),
        }
    }
}

impl<'a> Answer<'a> {
    fn new(response: &'a Response, choices: &'a Choices) -> Self {
        let errors = response.errors.iter();
        Self {
            troubles: errors.map(|(code, message)| Trouble::new(code, message, choices)).collect(),
            fields: identify(response),
            fragments: fragments(&response.descriptions),
            formats: response.formats.iter().map(|format| format_row(format, choices)).collect(),
            sets: response.sets.iter().map(|set| set_row(set, choices)).collect(),
            records: response.records.iter().map(|record| card(record, response.verb, choices)).collect(),
            paging: Paging::new(response, choices),
        }
    }
}

fn identify(response: &Response) -> Vec<Field> {
    let mut fields = Vec::new();
    for (name, text) in &response.identify {
        let link = match name.as_str() {
            "adminEmail" => Some(format!("mailto:{text}")),
            _ => links::web(text),
        };
        add(&mut fields, name, Value { text: text.clone(), link });
    }
    fields
}

fn fragments(parts: &[Part]) -> Vec<Fragment> {
    parts.iter().map(Fragment::new).collect()
}

/// Of one item, a format leads to its record; otherwise to all records.
fn format_row<'a>(format: &'a document::Format, choices: &Choices) -> FormatRow<'a> {
    let prefix = ("metadataPrefix", format.prefix.as_str());
    let (label, link) = match choices.asked("identifier") {
        Some(identifier) => ("The record", links::page(&[("verb", "GetRecord"), prefix, ("identifier", identifier)])),
        None => ("All records", links::page(&[("verb", "ListRecords"), prefix])),
    };
    let schema = Value { text: format.schema.clone(), link: links::web(&format.schema) };
    FormatRow { prefix: &format.prefix, namespace: &format.namespace, schema, label, link }
}

fn set_row<'a>(set: &'a document::Set, choices: &Choices) -> SetRow<'a> {
    let prefix = choices.formats.first().map_or("oai_dc", String::as_str);
    let link = |verb| links::page(&[("verb", verb), ("metadataPrefix", prefix), ("set", &set.spec)]);
    SetRow {
        spec: &set.spec,
        name: &set.name,
        depth: set.spec.matches(':').count(),
        headers: link("ListIdentifiers"),
        records: link("ListRecords"),
        fragments: fragments(&set.descriptions),
    }
}

fn card<'a>(record: &'a document::Record, verb: Option<Verb>, choices: &'a Choices) -> Card<'a> {
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
    let title = metadata.as_ref().and_then(|metadata| metadata.first("Title"));
    Card {
        title: title.filter(|title| !title.is_empty()).map(str::to_owned),
        identifier,
        resource: links::web(identifier).filter(|_| !record.deleted),
        datestamp: &record.datestamp,
        is_deleted: record.deleted,
        sets: record.sets.iter().map(set).collect(),
        formats: if record.deleted { Vec::new() } else { choices.formats.iter().map(format).collect() },
        metadata,
        about: fragments(&record.about),
    }
}

impl Paging {
    /// None where there is no list, or the list of formats, which always comes whole.
    fn new(response: &Response, choices: &Choices) -> Option<Self> {
        let verb = response.verb.filter(|_| response.errors.is_empty())?;
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
