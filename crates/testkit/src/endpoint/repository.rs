//! The repository underneath: small, in memory, and right in everything, so that a defect is the only thing wrong.

use super::calendar::{self, Granularity};
use super::holdings::{FORMAT, Holdings, Record};
use super::page::{Body, Entry, List, Page, Token};
use super::request::Request;
use super::script::Visit;

/// What a list was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Whether only headers are told.
    pub headers_only: bool,
    /// The set, if one was asked for.
    pub set: Option<String>,
    /// The first second.
    pub from: i64,
    /// The last second.
    pub until: i64,
}

/// Where in a list a request is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In which list.
    pub selection: Selection,
    /// How many records came before.
    pub offset: usize,
}

/// A protocol error.
pub(super) type Refusal = (&'static str, String);

impl Selection {
    /// What this selects, in the order of lists: by date, then by name.
    pub(super) fn of(&self, holdings: &Holdings) -> Vec<Record> {
        let within = |record: &&Record| {
            // A harvester sees dates in the repository's own form, so a day's records are those of that whole day.
            let changed = match holdings.granularity {
                Granularity::Day => record.changed.div_euclid(86_400) * 86_400,
                Granularity::Second => record.changed,
            };
            (self.from..=self.until).contains(&changed) && self.set.as_ref().is_none_or(|set| record.is_in(set))
        };
        let mut records: Vec<Record> = holdings.records.iter().filter(within).cloned().collect();
        records.sort_by(|left, right| (left.changed, &left.identifier).cmp(&(right.changed, &right.identifier)));
        records
    }

    /// What the arguments of a list without a token select.
    fn read(request: &Request, holdings: &Holdings, headers_only: bool) -> Result<Self, Refusal> {
        check_format(request)?;
        let date = |name| match request.argument(name) {
            None => Ok(None),
            Some(text) => match calendar::parse(text) {
                Some((_, _, Granularity::Second)) if holdings.granularity == Granularity::Day => {
                    Err(("badArgument", format!("{name} is finer than {}", holdings.granularity.name())))
                }
                Some(date) => Ok(Some(date)),
                None => Err(("badArgument", format!("{name} is not a date"))),
            },
        };
        let (from, until) = (date("from")?, date("until")?);
        if from.zip(until).is_some_and(|(from, until)| from.2 != until.2 || from.0 > until.1) {
            return Err(("badArgument", "from and until do not fit together".to_owned()));
        }
        let set = request.argument("set").map(str::to_owned);
        if set.is_some() && holdings.sets.is_empty() {
            return Err(("noSetHierarchy", "there are no sets".to_owned()));
        }
        let (from, until) = (from.map_or(i64::MIN, |date| date.0), until.map_or(i64::MAX, |date| date.1));
        Ok(Self { headers_only, set, from, until })
    }
}

/// Which arguments a verb takes: required, optional, and whether a token may stand alone.
fn arguments_of(verb: &str) -> Option<(&'static [&'static str], &'static [&'static str], bool)> {
    match verb {
        "Identify" => Some((&[], &[], false)),
        "ListMetadataFormats" => Some((&[], &["identifier"], false)),
        "ListSets" => Some((&[], &[], true)),
        "GetRecord" => Some((&["identifier", "metadataPrefix"], &[], false)),
        "ListRecords" | "ListIdentifiers" => Some((&["metadataPrefix"], &["from", "until", "set"], true)),
        _ => None,
    }
}

/// Checks that verb and arguments go together.
pub(super) fn check(request: &Request) -> Result<&str, Refusal> {
    let bad = |message: String| Err(("badArgument", message));
    let names: Vec<&str> = request.arguments.iter().map(|(name, _)| name.as_str()).collect();
    let verb = request.argument("verb").unwrap_or_default();
    let Some((required, optional, resumable)) = arguments_of(verb) else {
        return Err(("badVerb", format!("'{verb}' is not a verb")));
    };
    if let Some(twice) = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
        return bad(format!("{} is repeated", twice.1));
    }
    let resumed = names.contains(&"resumptionToken");
    let allowed = |name: &&str| match *name {
        "verb" => true,
        "resumptionToken" => resumable,
        name => !resumed && (required.contains(&name) || optional.contains(&name)),
    };
    if let Some(stray) = names.iter().find(|name| !allowed(name)) {
        return bad(format!("{stray} does not belong there"));
    }
    match required.iter().find(|name| !names.contains(name)) {
        Some(missing) if !resumed => bad(format!("{missing} is missing")),
        _ => Ok(verb),
    }
}

/// Where in which list a request is, if it is for a list. `find` knows tokens.
pub(super) fn place(
    request: &Request,
    holdings: &Holdings,
    find: impl Fn(&str) -> Option<Place>,
) -> Result<Option<Place>, Refusal> {
    let headers_only = match check(request)? {
        "ListRecords" => false,
        "ListIdentifiers" => true,
        _ => return Ok(None),
    };
    match request.argument("resumptionToken") {
        None => {
            let selection = Selection::read(request, holdings, headers_only)?;
            Ok(Some(Place { selection, offset: 0 }))
        }
        Some(token) => match find(token) {
            Some(place) if place.selection.headers_only == headers_only => Ok(Some(place)),
            _ => Err(("badResumptionToken", "this token is unknown here".to_owned())),
        },
    }
}

/// What the body of the answer says, the arguments being right.
pub(super) fn answer(visit: &Visit<'_>, holdings: &Holdings, base_url: &str) -> Result<Body, Refusal> {
    let request = visit.request;
    match check(request)? {
        "Identify" => Ok(identify(holdings, base_url)),
        "ListMetadataFormats" => match request.argument("identifier") {
            Some(identifier) => find(holdings, identifier).map(|_| Body::Formats),
            None => Ok(Body::Formats),
        },
        "ListSets" if request.argument("resumptionToken").is_some() => {
            Err(("badResumptionToken", "sets come in one page".to_owned()))
        }
        "ListSets" if holdings.sets.is_empty() => Err(("noSetHierarchy", "there are no sets".to_owned())),
        "ListSets" => Ok(Body::Sets(holdings.sets.clone())),
        "GetRecord" => {
            check_format(request)?;
            let record = find(holdings, request.argument("identifier").unwrap_or_default())?;
            Ok(Body::Record(Entry::of(record, holdings.granularity)))
        }
        _ => list(visit),
    }
}

fn identify(holdings: &Holdings, base_url: &str) -> Body {
    let earliest = holdings.records.iter().map(|record| record.changed).min().unwrap_or(0);
    Body::Identify(vec![
        ("repositoryName", "An endpoint of the tests".to_owned()),
        ("baseURL", base_url.to_owned()),
        ("protocolVersion", "2.0".to_owned()),
        ("adminEmail", "admin@endpoint.example".to_owned()),
        ("earliestDatestamp", holdings.granularity.format(earliest)),
        ("deletedRecord", holdings.deleted_record.to_owned()),
        ("granularity", holdings.granularity.name().to_owned()),
    ])
}

fn list(visit: &Visit<'_>) -> Result<Body, Refusal> {
    let place = visit.place.expect("lists have a place");
    let all = visit.matching;
    if all.is_empty() {
        return Err(("noRecordsMatch", "nothing matches".to_owned()));
    }
    let end = all.len().min(place.offset + visit.page_size);
    let token = (place.offset > 0 || end < all.len()).then(|| Token {
        value: if end < all.len() { visit.token(end) } else { String::new() },
        cursor: Some(place.offset.to_string()),
        size: Some(all.len().to_string()),
    });
    Ok(Body::List(List { headers_only: place.selection.headers_only, entries: visit.entries(place.offset), token }))
}

fn check_format(request: &Request) -> Result<(), Refusal> {
    match request.argument("metadataPrefix") {
        Some(prefix) if prefix != FORMAT[0] => {
            Err(("cannotDisseminateFormat", format!("there is nothing in '{prefix}'")))
        }
        _ => Ok(()),
    }
}

fn find<'a>(holdings: &'a Holdings, identifier: &str) -> Result<&'a Record, Refusal> {
    let found = holdings.records.iter().find(|record| record.identifier == identifier);
    found.ok_or_else(|| ("idDoesNotExist", format!("'{identifier}' is not known")))
}

/// An answer to this request.
pub(super) fn page(visit: &Visit<'_>, holdings: &Holdings, base_url: &str, place: Result<(), Refusal>) -> Page {
    let body = match place.and_then(|()| answer(visit, holdings, base_url)) {
        Ok(body) => body,
        Err((code, message)) => Body::Errors(vec![(code.to_owned(), message)]),
    };
    Page {
        response_date: calendar::datestamp(calendar::now()),
        base_url: base_url.to_owned(),
        arguments: visit.request.arguments.clone(),
        body,
    }
}
