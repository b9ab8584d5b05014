//! Responses as HTML pages.
//!
//! A user who opens the repository in a browser sees the content that a harvester receives, with links. Browsers no
//! longer apply stylesheets to XML, so the server builds the page: the response is written as XML, parsed with the
//! protocol's own parser and put into a template. The page therefore contains nothing that the response does not
//! contain. It needs no script, no cookie and no external resource, and names and contents of files are never
//! interpreted as markup.
//!
//! | file | contents |
//! |---|---|
//! | `form` | HTML, XML, CSV or JSON lines |
//! | `choices` | the options that a page offers, and the selection |
//! | `search` | records by words in title and identifier |
//! | `download` | a whole list as a file |
//! | `view` | a response, arranged for display |
//! | `listing` | its records and headers, and the links between pages |
//! | `trouble` | hints for each error |
//! | `fragment` | foreign XML as fields, or indented |
//! | `tokens` | the tags and text of XML |
//! | `links` | requests as links |
//! | `page.html` | the part that all pages share; the other templates go into it |

mod choices;
mod download;
mod form;
mod fragment;
mod links;
mod listing;
mod search;
#[cfg(test)]
mod tests;
mod tokens;
mod trouble;
mod view;

use std::collections::HashMap;
use std::io;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use modoai_protocol::query::{Arguments, QueryError};
use modoai_protocol::xml::Response;
use modoai_protocol::{Parsed, Request, Verb};

use crate::answer::Sent;
use crate::error::Failure;
use crate::host::Host;
use crate::repository::Repository;
use choices::Choices;
use view::Page;

pub use download::{Allowance, Download};
pub use form::Form;

/// The most records on a page.
const MAX_ON_PAGE: usize = 50;

/// A request for a page.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// The request, as OAI-PMH knows it.
    pub request: Parsed,
    /// Its arguments.
    arguments: Arguments,
    /// The words of a search. Only pages have it.
    words: Option<String>,
    /// True if the URL had no arguments.
    is_front: bool,
}

impl PageRequest {
    /// Reads the arguments as forms send them: a field that was left empty is not an argument. The bare URL shows Identify;
    /// to a harvester it would be an error.
    pub fn read(query: Result<Arguments, QueryError>) -> Self {
        let arguments = match query {
            Ok(arguments) => arguments.into_iter().filter(|(_, value)| !value.is_empty()).collect(),
            Err(error) => {
                return Self {
                    request: Request::read(Err(error)),
                    arguments: Vec::new(),
                    words: None,
                    is_front: false,
                };
            }
        };
        let (words, arguments) = search::split(arguments);
        let is_front = arguments.is_empty();
        let arguments = if is_front { vec![("verb".to_owned(), Verb::Identify.to_string())] } else { arguments };
        Self { request: Request::parse(&arguments), arguments, words, is_front }
    }
}

impl Repository {
    /// The answer to a request as a page of HTML, and what is on the page.
    pub fn page(&self, request: PageRequest, host: &dyn Host, sent: &mut Sent) -> Result<String, Failure> {
        let PageRequest { request, arguments, words, is_front } = request;
        let people = self.without_resources().with_pages_up_to(MAX_ON_PAGE);
        let answer = people.answer(request, host)?;
        let choices = Choices { is_front, ..Choices::new(&answer.visit, arguments, self.settings.by_value_limit)? };
        let is_list = matches!(choices.verb(), Some(Verb::ListRecords));
        let (response, choices) = match words.filter(|_| is_list) {
            Some(words) => {
                let (response, search) = search::run(&people, &words, choices.asked.clone(), host)?;
                sent.records = response.records.len() as u64;
                (response, Choices { search: Some(search), ..choices })
            }
            None => {
                let mut xml = Vec::new();
                answer.write_and_tell(&mut xml, sent)?;
                (Response::read(&xml[..]).map_err(io::Error::other)?, choices)
            }
        };
        let titles = titles(&people, &response, &choices, host)?;
        let page = render(&response, &Choices { titles, ..choices }, self.base_url())?;
        sent.bytes = page.len() as u64;
        Ok(page)
    }
}

/// Returns the titles of the records on a page in a format without titles, by identifier.
fn titles(
    people: &Repository,
    response: &Response,
    choices: &Choices,
    host: &dyn Host,
) -> Result<HashMap<String, String>, Failure> {
    let usual = choices.usual_format();
    let mut titles = HashMap::new();
    let untitled = response.records.iter().filter(|record| record.metadata.is_some() && choices.chosen.prefix != usual);
    for record in untitled.filter(|record| download::title(record).is_none()) {
        let arguments = [("verb", "GetRecord"), ("metadataPrefix", usual), ("identifier", &record.identifier)];
        let arguments = arguments.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let described = download::page(people, Request::parse(&arguments), host)?;
        let title = described.records.first().and_then(download::title);
        titles.extend(title.map(|title| (record.identifier.clone(), title)));
    }
    Ok(titles)
}

/// Puts an answer into the templates. Fails only if a template has a fault.
fn render(response: &Response, choices: &Choices, base_url: &str) -> io::Result<String> {
    let page = Page::new(response, choices, base_url);
    TEMPLATES.get_template("page.html").and_then(|template| template.render(Serde(&page))).map_err(io::Error::other)
}

/// In templates whose names end in `.html`, all inserted values are escaped.
static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.expect("the usual delimiters"));
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, text) in [
        ("page.html", include_str!("page.html")),
        ("parts.html", include_str!("parts.html")),
        ("choose.html", include_str!("choose.html")),
        ("errors.html", include_str!("errors.html")),
        ("formats.html", include_str!("formats.html")),
        ("headers.html", include_str!("headers.html")),
        ("identify.html", include_str!("identify.html")),
        ("records.html", include_str!("records.html")),
        ("sets.html", include_str!("sets.html")),
        ("style.css", include_str!("style.css")),
    ] {
        templates.add_template(name, text).expect("the templates are part of the program; a test renders each");
    }
    templates
});
