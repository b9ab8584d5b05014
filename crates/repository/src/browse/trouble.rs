//! What a person can do about each error.

use modoai_protocol::ErrorCode;
use serde::Serialize;

use super::choices::Choices;
use super::links;

/// An error, and the way out of it.
#[derive(Debug, Serialize)]
pub(super) struct Trouble {
    code: String,
    message: String,
    advice: &'static str,
    /// Labels and links.
    ways_out: Vec<(&'static str, String)>,
}

impl Trouble {
    pub(super) fn new(code: &str, message: &str, choices: &Choices) -> Self {
        let front = ("About this repository", links::page(&[("verb", "Identify")]));
        let formats = ("Formats there are", links::page(&[("verb", "ListMetadataFormats")]));
        let sets = ("Sets there are", links::page(&[("verb", "ListSets")]));
        let prefix = choices.formats.first().map_or("oai_dc", String::as_str);
        let all = links::page(&[("verb", "ListIdentifiers"), ("metadataPrefix", prefix)]);
        let everything = ("Everything there is", all);
        let (advice, ways_out) = match ErrorCode::from_name(code) {
            Some(ErrorCode::BadVerb) => ("Choose one of the six questions above.", vec![front]),
            Some(ErrorCode::BadArgument) => {
                ("Correct the address, or put the question together with the form on this page.", vec![front, everything])
            }
            Some(ErrorCode::BadResumptionToken) => {
                ("The place in the list is lost, but nothing else: begin the list again.", vec![everything])
            }
            Some(ErrorCode::CannotDisseminateFormat) => ("Choose a format that is offered here.", vec![formats]),
            Some(ErrorCode::IdDoesNotExist) => {
                ("Identifiers are compared letter by letter; look for the right one in the list.", vec![everything])
            }
            Some(ErrorCode::NoRecordsMatch) => {
                ("Choose a wider span of dates, or another set.", vec![sets, everything])
            }
            Some(ErrorCode::NoMetadataFormats) => ("There is nothing left to describe.", vec![everything]),
            Some(ErrorCode::NoSetHierarchy) => ("Come back when there are items.", vec![front]),
            None => ("", vec![front]),
        };
        Self { code: code.to_owned(), message: sentence(message), advice, ways_out }
    }
}

/// Messages are fragments in lower case; on a page they stand alone.
fn sentence(message: &str) -> String {
    let mut letters = message.trim().chars();
    let mut sentence: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    sentence.push_str(letters.as_str());
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}
