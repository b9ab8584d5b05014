//! A response, arranged for display. The templates only lay out its fields.

use modoai_protocol::xml::document::{self, Part};
use modoai_protocol::xml::{DATESTAMPS_NAMESPACE, Response};
use modoai_protocol::{ErrorCode, Verb};
use serde::Serialize;

use super::choices::{Choices, Chosen};
use super::form::Form;
use super::fragment::{Field, Fragment, Value, add};
use super::links;
use super::listing::{Card, Paging};
use super::search::Search;
use super::trouble::{Trouble, troubles};

/// The verbs, by the label of their tab.
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
    is_of_records: bool,
    is_list: bool,
    tabs: Vec<Tab>,
    /// The restrictions of the list.
    narrowed: Vec<(&'static str, &'a str)>,
    form: Forms<'a>,
    /// The URL of the request, and a command that requests it.
    request: Option<(String, String)>,
    /// A link to the response as XML.
    xml: Option<String>,
    /// The whole list as a file: labels and links.
    downloads: Vec<(&'static str, String)>,
    /// The number of all items.
    total: Option<String>,
    set_count: usize,
    search: Option<&'a Search>,
    /// The size of the largest file that the XML contains and the page does not.
    left_out_up_to: Option<String>,
    /// The template for the response itself.
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

/// The forms, with the present selection.
#[derive(Debug, Serialize)]
struct Forms<'a> {
    wants_records: bool,
    formats: &'a [String],
    prefix: &'a str,
    sets: Vec<Choice<'a>>,
    from: &'a str,
    until: &'a str,
    identifier: &'a str,
    /// The format whose titles are searched.
    usual_format: &'a str,
    search: &'a str,
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    spec: &'a str,
    name: &'a str,
    depth: usize,
    count: Option<String>,
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
    count: Option<String>,
    headers: String,
    records: String,
    fragments: Vec<Fragment>,
}

impl<'a> Page<'a> {
    pub(super) fn new(response: &'a Response, choices: &'a Choices, base_url: &'a str) -> Self {
        let verb = response.verb.filter(|_| response.errors.is_empty());
        let is_list = matches!(verb, Some(Verb::ListIdentifiers | Verb::ListRecords));
        let answer = Answer::new(response, choices);
        let heading = heading(verb, response, choices, &answer);
        let asked: Vec<_> = choices.asked.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let request = links::request(base_url, &asked).filter(|_| choices.search.is_none());
        let files = answer.records.iter().any(Card::has_metadata);
        let subject = verb.map_or_else(|| heading.clone(), |verb| verb.to_string());
        Self {
            title: format!("{subject} – {}", choices.repository_name),
            heading,
            repository_name: &choices.repository_name,
            base_url,
            response_date: &response.response_date,
            is_front: choices.is_front,
            is_of_records: choices.is_of_records,
            is_list,
            tabs: tabs(choices, verb),
            narrowed: if is_list { narrowed(choices) } else { Vec::new() },
            form: Forms::new(choices),
            xml: links::in_form(base_url, Form::Xml, &asked).filter(|_| request.is_some()),
            request: request.map(|url| {
                let command = links::command(&url);
                (url, command)
            }),
            downloads: downloads(choices, verb, base_url),
            total: choices.count(""),
            set_count: choices.sets.len(),
            search: choices.search.as_ref().filter(|_| verb.is_some()),
            left_out_up_to: choices.left_out_up_to.filter(|_| files).map(size),
            template: template(verb),
            answer,
        }
    }
}

/// Returns links to the whole list of a page; on the front page, to the list of everything.
fn downloads(choices: &Choices, verb: Option<Verb>, base_url: &str) -> Vec<(&'static str, String)> {
    let chosen = Chosen { prefix: choices.usual_format().to_owned(), ..Chosen::default() };
    let arguments = match verb {
        Some(Verb::ListRecords | Verb::ListIdentifiers) if choices.search.is_none() => {
            choices.chosen.arguments(verb.map_or("", Verb::as_str))
        }
        Some(Verb::Identify) if choices.is_front => chosen.arguments("ListRecords"),
        _ => return Vec::new(),
    };
    let link = |(label, form)| links::in_form(base_url, form, &arguments).map(|link| (label, link));
    [("CSV", Form::Csv), ("JSON lines", Form::JsonLines)].into_iter().filter_map(link).collect()
}

/// Formats a number of bytes.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes / 1024),
        _ => format!("{} MB", bytes / 1_048_576),
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
    if let (Some(_), Some(search)) = (verb, &choices.search) {
        return format!("Search for “{}”", search.words);
    }
    let fixed = match verb {
        Some(Verb::Identify) => return choices.repository_name.clone(),
        Some(Verb::GetRecord) => {
            let title = answer.records.first().and_then(|card| card.title.clone());
            return title.unwrap_or_else(|| "One record".to_owned());
        }
        Some(Verb::ListMetadataFormats) if choices.asked("identifier").is_some() => "Formats of one item",
        Some(Verb::ListMetadataFormats) => "Formats",
        Some(Verb::ListSets) => "Sets",
        Some(Verb::ListIdentifiers) => "Headers",
        Some(Verb::ListRecords) => "Records",
        None => match response.errors.first().and_then(|(code, _)| ErrorCode::from_name(code)) {
            Some(ErrorCode::NoRecordsMatch) => "No matching records",
            Some(ErrorCode::IdDoesNotExist) => "Item not found",
            Some(ErrorCode::CannotDisseminateFormat) => "Format not available",
            Some(ErrorCode::NoSetHierarchy) => "No sets",
            Some(ErrorCode::NoMetadataFormats) => "No formats",
            _ => "Invalid request",
        },
    };
    fixed.to_owned()
}

/// Returns the tabs. GetRecord requires an identifier, so its tab links to the form for it.
fn tabs(choices: &Choices, current: Option<Verb>) -> Vec<Tab> {
    let prefix = choices.usual_format();
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

impl<'a> Forms<'a> {
    fn new(choices: &'a Choices) -> Self {
        let chosen = &choices.chosen;
        let choice = |spec: &'a str, name: &'a str| Choice {
            spec,
            name,
            depth: spec.matches(':').count(),
            count: choices.count(spec),
            is_chosen: spec == chosen.set,
        };
        let mut sets: Vec<_> = choices.sets.iter().map(|(spec, name)| choice(spec, name)).collect();
        // A selected set stays selected, also if the list no longer contains it or this requester cannot see it.
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
            usual_format: choices.usual_format(),
            search: Search::words(choices),
        }
    }
}

impl<'a> Answer<'a> {
    fn new(response: &'a Response, choices: &'a Choices) -> Self {
        Self {
            troubles: troubles(&response.errors, choices),
            fields: identify(response),
            fragments: fragments(&response.descriptions).into_iter().map(said).collect(),
            formats: response.formats.iter().map(|format| format_row(format, choices)).collect(),
            sets: response.sets.iter().map(|set| set_row(set, choices)).collect(),
            records: response.records.iter().map(|record| Card::new(record, response.verb, choices)).collect(),
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

/// Shows a description in modoai's own namespace as a sentence.
fn said(fragment: Fragment) -> Fragment {
    if !fragment.xml.iter().any(|line| line.text.contains(DATESTAMPS_NAMESPACE)) {
        return fragment;
    }
    fragment.with_sentence(
        "The datestamp of a record is the time at which its last change became visible in responses. A harvester that \
         continues from the last responseDate misses no change, and needs no overlap.",
    )
}

fn fragments(parts: &[Part]) -> Vec<Fragment> {
    parts.iter().map(Fragment::new).collect()
}

/// Returns a row for a format. For one item, it links to its record in that format; otherwise to all records.
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
    let prefix = ("metadataPrefix", choices.usual_format());
    let link = |verb| links::page(&[("verb", verb), prefix, ("set", &set.spec)]);
    SetRow {
        spec: &set.spec,
        name: &set.name,
        depth: set.spec.matches(':').count(),
        count: choices.count(&set.spec),
        headers: link("ListIdentifiers"),
        records: link("ListRecords"),
        fragments: fragments(&set.descriptions),
    }
}
