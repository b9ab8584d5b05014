//! An answer as a page for people.
//!
//! A person who opens the repository in a browser sees what a harvester would get, with links to go on. Browsers no
//! longer apply stylesheets to XML, so the page is made here: the answer is written as XML, read back with the
//! protocol's own reader and put into a template. The page can therefore not say anything that the answer does not.
//! It needs no script, no cookie and nothing from elsewhere, and nothing on it is taken for markup that came from a
//! file's name or contents.
//!
//! | file | what it knows |
//! |---|---|
//! | `choices` | what a person can choose from, and has chosen |
//! | `view` | an answer, sorted for reading |
//! | `listing` | its records and headers, and the pages they come in |
//! | `trouble` | what to do about each error |
//! | `fragment` | foreign XML as fields, or indented |
//! | `tokens` | where its tags and texts begin and end |
//! | `links` | requests as links |
//! | `page.html` | what all pages share; the other templates go into it |

mod choices;
mod fragment;
mod links;
mod listing;
#[cfg(test)]
mod tests;
mod tokens;
mod trouble;
mod view;

use std::io;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use modoai_protocol::Verb;
use modoai_protocol::query::{Arguments, QueryError};
use modoai_protocol::xml::Response;

use crate::answer::Sent;
use crate::error::Failure;
use crate::host::Host;
use crate::repository::Repository;
use choices::Choices;
use view::Page;

pub use links::XML_NAME;

impl Repository {
    /// The answer to a request as a page of HTML. The bare URL shows Identify; to a harvester it would be an error.
    pub fn page_for_people(
        &self,
        arguments: Result<Arguments, QueryError>,
        host: &dyn Host,
    ) -> Result<String, Failure> {
        self.page_and_tell(arguments, host, &mut Sent::default())
    }

    /// The same, and tells what is on the page.
    pub fn page_and_tell(
        &self,
        arguments: Result<Arguments, QueryError>,
        host: &dyn Host,
        sent: &mut Sent,
    ) -> Result<String, Failure> {
        let arguments = arguments.map(filled_in);
        let is_front = arguments.as_ref().is_ok_and(Vec::is_empty);
        let arguments = if is_front { Ok(identify()) } else { arguments };
        let asked = arguments.clone().unwrap_or_default();

        let people = self.for_people();
        let answer = people.answer(arguments, host)?;
        let choices = Choices { is_front, ..Choices::new(&answer.visit, asked)? };
        let mut xml = Vec::new();
        answer.write_and_tell(&mut xml, sent)?;
        let page = render(&xml, &choices, self.base_url())?;
        sent.bytes = page.len() as u64;
        Ok(page)
    }
}

/// What a person means: a form sends the fields that were left empty, too.
pub fn filled_in(arguments: Arguments) -> Arguments {
    arguments.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn identify() -> Arguments {
    vec![("verb".to_owned(), Verb::Identify.to_string())]
}

/// Puts an answer into the templates. Fails only if the answer is not one, or a template has a fault.
fn render(xml: &[u8], choices: &Choices, base_url: &str) -> io::Result<String> {
    let response = Response::read(xml).map_err(io::Error::other)?;
    let page = Page::new(&response, choices, base_url);
    TEMPLATES.get_template("page.html").and_then(|template| template.render(Serde(&page))).map_err(io::Error::other)
}

/// Names that end in `.html` have everything escaped that is put into them.
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
