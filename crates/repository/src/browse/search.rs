//! Search: the records whose title and identifier contain all words.
//!
//! A bounded scan, and no index. Titles of files are known only once a file was read, requesters see different records,
//! and several programs write the catalogue: an index would have to follow all of them. The scan reads the list that a
//! harvester would receive, stops after [`MOST`] records or [`LONGEST`], and its page has a link that continues it.

use std::time::{Duration, Instant};

use modoai_protocol::Request;
use modoai_protocol::query::Arguments;
use modoai_protocol::xml::{Response, document};
use percent_encoding::percent_decode_str;
use serde::Serialize;

use super::choices::{Choices, grouped};
use super::download::{page, title};
use super::links;
use crate::error::Failure;
use crate::host::Host;
use crate::repository::Repository;

/// The argument with the words. Only pages have it: OAI-PMH has no search.
pub(super) const SEARCH: &str = "search";

/// The maximum number of records that one request reads.
const MOST: usize = 20_000;

/// The maximum duration of one request.
const LONGEST: Duration = Duration::from_secs(2);

/// The number of matches after which the scan stops, at the end of a page.
const ENOUGH: usize = 50;

/// The number of records per page of the scan.
const PAGE: usize = 100;

/// The outcome of a search.
#[derive(Debug, Default, Serialize)]
pub(super) struct Search {
    pub(super) words: String,
    /// The number of records found, and the number searched.
    summary: String,
    /// The page that continues the search.
    next: Option<String>,
}

/// Returns the words of a search, and the arguments without them.
pub(super) fn split(arguments: Arguments) -> (Option<String>, Arguments) {
    let (search, rest): (Vec<_>, _) = arguments.into_iter().partition(|(name, _)| name == SEARCH);
    (search.into_iter().next().map(|(_, words)| words), rest)
}

/// Reads the list from the position in the arguments, and returns the records that match as one page.
pub(super) fn run(
    repository: &Repository,
    words: &str,
    mut arguments: Arguments,
    host: &dyn Host,
) -> Result<(Response, Search), Failure> {
    let scanned = repository.with_pages_of(PAGE);
    let wanted: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let prefix = &*repository.identifier_prefix;
    let (start, mut count) = (Instant::now(), 0);
    let mut found = Vec::new();
    let mut before = None;
    loop {
        let mut response = page(&scanned, Request::parse(&arguments), host)?;
        let cursor = response.token.as_ref().and_then(|token| token.cursor.as_ref()?.parse::<u64>().ok());
        let before = *before.get_or_insert(cursor.unwrap_or(0));
        count += response.records.len();
        found.extend(response.records.drain(..).filter(|record| matches(record, prefix, &wanted)));
        let token = response.token.as_ref().filter(|token| !token.value.is_empty());
        let verb = response.verb.map_or("", |verb| verb.as_str());
        let next = token.map(|token| vec![("verb", verb), ("resumptionToken", token.value.as_str())]);
        if let Some(next) = &next
            && found.len() < ENOUGH
            && count < MOST
            && start.elapsed() < LONGEST
        {
            arguments = next.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            continue;
        }
        let size = response.token.as_ref().and_then(|token| token.size.as_deref()?.parse().ok());
        let search = Search {
            words: words.to_owned(),
            summary: summary(found.len(), before, before + count as u64, size.filter(|_| next.is_some())),
            next: next.map(|next| links::page(&[&[(SEARCH, words)], &*next].concat())),
        };
        response.records = found;
        response.token = None;
        return Ok((response, search));
    }
}

fn summary(found: usize, before: u64, last: u64, size: Option<u64>) -> String {
    let found = match found {
        0 => "No record".to_owned(),
        1 => "1 record".to_owned(),
        many => format!("{many} records"),
    };
    let (first, last) = (grouped(before + 1), grouped(last));
    match (before, size.map(grouped)) {
        (0, None) => format!("{found} found among {last}."),
        (_, None) => format!("{found} found among records {first} to {last}."),
        (_, Some(size)) => format!("{found} found among records {first} to {last} of {size}."),
    }
}

/// Compares without regard to case. The common prefix of all identifiers is left out: it would match everything.
fn matches(record: &document::Record, prefix: &str, words: &[String]) -> bool {
    let name = record.identifier.strip_prefix(prefix).unwrap_or(&record.identifier);
    let mut text = percent_decode_str(name).decode_utf8_lossy().to_lowercase();
    text.push('\n');
    text.push_str(&title(record).unwrap_or_default().to_lowercase());
    words.iter().all(|word| text.contains(word.as_str()))
}

impl Search {
    /// Returns the words for the search field.
    pub(super) fn words(choices: &Choices) -> &str {
        choices.search.as_ref().map_or("", |search| &search.words)
    }
}
