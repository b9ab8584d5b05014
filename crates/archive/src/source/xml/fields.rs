//! Extracts the fields of a record from an XML document, by the paths of its elements.

use std::collections::HashSet;

use serde_json::Value;

use super::document::Node;
use super::paths::Place;
use crate::crosswalk::dates::Date;
use crate::record::{Agent, Link, Record};
use crate::source::plain::squeezed;

/// The maximum number of paths: they are the bits of one number.
pub(super) const MOST: usize = 64;

/// The maximum length of a field's text.
const LONGEST: usize = 1024 * 1024;

/// Further fields for which one value is enough, and formats expect only one.
const SINGLE: [&str; 4] = ["doi", "language", "publisher", "type"];

/// Fields that library catalogues end with the punctuation before the next field.
const PUNCTUATED: [&str; 5] = ["title", "creators", "contributors", "publisher", "dates"];

/// A value that was found: the index of its path, the number of the parent element, and the text.
#[derive(Debug)]
pub(super) struct Found {
    place: usize,
    parent: u64,
    text: String,
}

/// Processes a document, and collects the values at the paths.
pub(super) struct Finder<'a> {
    places: &'a [Place],
    /// For each open element: the matching paths, as bits, and its number.
    open: Vec<(u64, u64)>,
    elements: u64,
    /// The text of elements that are being read, with their depth.
    reading: Vec<(usize, Found)>,
    pub(super) found: Vec<Found>,
}

impl<'a> Finder<'a> {
    /// Creates a finder for at most [`MOST`] paths.
    pub(super) fn new(places: &'a [Place]) -> Self {
        Self { places, open: Vec::new(), elements: 0, reading: Vec::new(), found: Vec::new() }
    }

    pub(super) fn take(&mut self, node: &Node<'_>) {
        match node {
            Node::Start { name, attributes, .. } => self.start(name, attributes),
            Node::Text(text) => {
                for (_, found) in &mut self.reading {
                    if found.text.len() + text.len() <= LONGEST {
                        found.text.push_str(text);
                    }
                }
            }
            Node::End => {
                while self.reading.last().is_some_and(|(depth, _)| *depth == self.open.len()) {
                    self.found.extend(self.reading.pop().map(|(_, found)| found));
                }
                self.open.pop();
            }
        }
    }

    fn start(&mut self, name: &str, attributes: &[(String, String)]) {
        self.elements += 1;
        let Some(&(parents, parent)) = self.open.last() else {
            // Every path begins below the root.
            self.open.push((u64::MAX, self.elements));
            return;
        };
        let depth = self.open.len();
        let mut fitting = 0;
        for (number, place) in self.places.iter().enumerate() {
            let bit = 1_u64 << number;
            if parents & bit == 0 || !place.steps.get(depth - 1).is_some_and(|step| step.fits(name, attributes)) {
                continue;
            }
            fitting |= bit;
            if place.steps.len() != depth {
                continue;
            }
            match &place.attribute {
                None => self.reading.push((depth + 1, Found { place: number, parent, text: String::new() })),
                Some(wanted) => {
                    let value = attributes.iter().find(|(name, _)| name == wanted);
                    self.found.extend(value.map(|(_, text)| Found { place: number, parent, text: text.clone() }));
                }
            }
        }
        self.open.push((fitting, self.elements));
    }
}

/// Writes the values into a record.
pub(super) fn fill(record: &mut Record, places: &[Place], found: &[Found]) {
    // The element in which the last part of a title, or of an agent, was found.
    let mut last: Vec<(&str, u64)> = Vec::new();
    // The values of lists without duplicates.
    let mut seen: HashSet<(&str, String)> = HashSet::new();
    for Found { place, parent, text } in found {
        let field = places[*place].field.as_str();
        let (name, part) = field.split_once('.').unwrap_or((field, ""));
        let mut text = &*squeezed(text);
        if PUNCTUATED.contains(&name) {
            text = text.trim_end_matches([' ', '/', ':', ';', ',']);
        }
        if text.is_empty() {
            continue;
        }
        let goes_on = last.iter().any(|(known, element)| *known == name && element == parent);
        last.retain(|(known, _)| *known != name);
        last.push((name, *parent));
        match name {
            "title" => put_text(&mut record.title, text, goes_on),
            "abstract" => put_text(&mut record.abstract_, text, goes_on),
            "licence" | "license" => put_text(&mut record.licence, text, false),
            "datestamp" => put_text(&mut record.datestamp, text, false),
            "creators" => put_agent(&mut record.creators, part, text, goes_on),
            "contributors" => put_agent(&mut record.contributors, part, text, goes_on),
            "subjects" | "sets" => {
                let list = if name == "sets" { &mut record.sets } else { &mut record.subjects };
                if seen.insert((name, text.to_owned())) {
                    list.push(text.to_owned());
                }
            }
            "dates" => {
                if let Some(date) = date(text) {
                    record.dates.entry(part.to_owned()).or_insert(date);
                }
            }
            "links" => {
                if text.contains("://") && seen.insert((name, text.to_owned())) {
                    record.links.push(Link { url: text.to_owned(), ..Link::default() });
                }
            }
            "doi" => {
                if let Some(doi) = doi(text) {
                    put_further(record, field, doi);
                }
            }
            _ => put_further(record, field, text),
        }
    }
    // A record without a link has at least that of its DOI.
    if let (true, Some(Value::String(doi))) = (record.links.is_empty(), record.further.get("doi")) {
        record.links.push(Link { url: format!("https://doi.org/{doi}"), ..Link::default() });
    }
}

/// Keeps the first value, and appends further ones of the same element.
fn put_text(field: &mut Option<String>, text: &str, goes_on: bool) {
    match field {
        None => *field = Some(text.to_owned()),
        Some(known) if goes_on => {
            known.push(' ');
            known.push_str(text);
        }
        Some(_) => {}
    }
}

fn put_agent(agents: &mut Vec<Agent>, part: &str, text: &str, goes_on: bool) {
    if !goes_on || agents.is_empty() {
        agents.push(Agent::default());
    }
    let Some(agent) = agents.last_mut() else { return };
    match part {
        "family" => agent.family = text.to_owned(),
        "given" => agent.given = Some(text.to_owned()),
        "suffix" => agent.suffix = Some(text.to_owned()),
        "affiliation" => agent.affiliations.push(text.to_owned()),
        "orcid" => agent.orcid = Some(text.to_owned()),
        // A second whole name in the same element belongs to another person.
        _ if !agent.family.is_empty() => agents.push(Agent::named(text)),
        _ => {
            let Agent { family, given, .. } = Agent::named(text);
            agent.family = family;
            agent.given = agent.given.take().or(given);
        }
    }
}

/// Adds a value: one value is a string, several are a list.
fn put_further(record: &mut Record, field: &str, text: &str) {
    let text = Value::String(text.to_owned());
    match record.further.get_mut(field) {
        None => {
            record.further.insert(field.to_owned(), text);
        }
        Some(_) if SINGLE.contains(&field) => {}
        Some(Value::Array(known)) => known.push(text),
        Some(known) => *known = Value::Array(vec![known.take(), text]),
    }
}

/// Returns a date, or the year in a librarian's form of one: `c1921.`. The complete form is sent as received.
fn date(text: &str) -> Option<String> {
    let is_year = |bytes: &[u8]| bytes.len() >= 4 && bytes[..4].iter().all(u8::is_ascii_digit);
    let whole = text.trim_end_matches('.');
    if is_year(whole.as_bytes()) && Date::parse(whole).is_some() {
        return Some(whole.to_owned());
    }
    let at = (0..text.len()).find(|at| is_year(&text.as_bytes()[*at..]))?;
    text.get(at..at + 4).map(str::to_owned)
}

/// Returns a DOI without its prefix.
fn doi(text: &str) -> Option<&str> {
    let prefixes = ["doi:", "DOI:", "https://doi.org/", "http://doi.org/", "https://dx.doi.org/", "http://dx.doi.org/"];
    let bare = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text).trim();
    (bare.starts_with("10.") && bare.contains('/')).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_dois_are_found_in_what_people_write() {
        for (text, expected) in [("1921", Some("1921")), ("2020-02-03T10:00:00Z", Some("2020-02-03T10:00:00Z"))] {
            assert_eq!(date(text).as_deref(), expected);
        }
        for (text, expected) in
            [("c1921.", Some("1921")), ("[Paris, 1850?]", Some("1850")), ("1921-23", Some("1921")), ("s. d.", None)]
        {
            assert_eq!(date(text).as_deref(), expected);
        }
        assert_eq!(doi("https://doi.org/10.1/x"), Some("10.1/x"));
        assert_eq!((doi("10.1/x"), doi("doi:10.1/x"), doi("ISBN 10")), (Some("10.1/x"), Some("10.1/x"), None));
    }
    #[test]
    fn very_many_values_are_told_apart_in_no_time() {
        let places = [Place::parse("subjects", "a").expect("a path"), Place::parse("links", "a").expect("a path")];
        let values = (0..200_000).chain(0..200_000);
        let found: Vec<Found> = values
            .flat_map(|number| [0, 1].map(|place| Found { place, parent: 1, text: format!("http://x/{number}") }))
            .collect();
        let mut record = Record::default();
        fill(&mut record, &places, &found);
        assert_eq!((record.subjects.len(), record.links.len()), (200_000, 200_000));
    }
}
