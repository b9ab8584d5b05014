//! Hints for each error on a page.

use modoai_protocol::ErrorCode;
use serde::Serialize;

use super::choices::Choices;
use super::links;

/// The errors of one code, and hints for them.
#[derive(Debug, Serialize)]
pub(super) struct Trouble {
    code: String,
    messages: Vec<String>,
    advice: &'static str,
    /// Labels and links.
    ways_out: Vec<(&'static str, String)>,
}

/// Groups the errors of a response, given as codes and messages.
pub(super) fn troubles(errors: &[(String, String)], choices: &Choices) -> Vec<Trouble> {
    let mut troubles = Vec::<Trouble>::new();
    for (code, message) in errors {
        match troubles.iter_mut().find(|trouble| trouble.code == *code) {
            Some(trouble) => trouble.messages.push(message.clone()),
            None => troubles.push(Trouble::new(code, message, choices)),
        }
    }
    troubles
}

impl Trouble {
    fn new(code: &str, message: &str, choices: &Choices) -> Self {
        let front = ("About this repository", links::page(&[("verb", "Identify")]));
        let formats = ("Metadata formats", links::page(&[("verb", "ListMetadataFormats")]));
        let sets = ("Sets", links::page(&[("verb", "ListSets")]));
        let all = links::page(&[("verb", "ListIdentifiers"), ("metadataPrefix", choices.usual_format())]);
        let everything = ("All records", all);
        let (advice, ways_out) = match ErrorCode::from_name(code) {
            Some(ErrorCode::BadVerb) => ("Choose one of the six requests above.", vec![front]),
            Some(ErrorCode::BadArgument) => {
                ("Correct the URL, or build the request with the form on this page.", vec![front, everything])
            }
            Some(ErrorCode::BadResumptionToken) => {
                ("The resumption token is invalid or outdated. Start the list again.", vec![everything])
            }
            Some(ErrorCode::CannotDisseminateFormat) => ("Choose a format that the repository offers.", vec![formats]),
            Some(ErrorCode::IdDoesNotExist) => {
                ("Identifiers are case-sensitive. Find the correct one in the list.", vec![everything])
            }
            Some(ErrorCode::NoRecordsMatch) => ("Choose a wider date range, or another set.", vec![sets, everything]),
            Some(ErrorCode::NoMetadataFormats) => ("The item is deleted.", vec![everything]),
            Some(ErrorCode::NoSetHierarchy) => ("List all records instead.", vec![everything, front]),
            None => ("", vec![front]),
        };
        Self { code: code.to_owned(), messages: vec![message.to_owned()], advice, ways_out }
    }
}
