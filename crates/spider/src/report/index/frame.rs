//! Renders templates with holes. A page may be too large for memory, so a template contains holes, written as comments,
//! which are filled while the page is written. Everything inserted into a template is escaped, so untrusted text cannot
//! imitate a hole.

use std::io::Write;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use super::super::writing;
use crate::results::{ReportError, Visit};

const HOLE: &str = "<!--hole:";
const HOLE_END: &str = "-->";

/// Renders a page without filling its holes.
pub(super) fn render(template: &str, view: &impl Serialize) -> Result<String, ReportError> {
    TEMPLATES
        .get_template(template)
        .and_then(|template| template.render(Serde(view)))
        .map_err(|error| ReportError::Render { what: template.to_owned(), source: Box::new(error) })
}

/// Writes a page, and calls `fill` for each hole.
pub(super) fn pour(page: &str, out: &mut dyn Write, fill: &mut dyn FnMut(&str, &mut dyn Write) -> Visit) -> Visit {
    let mut pieces = page.split(HOLE);
    out.write_all(pieces.next().unwrap_or_default().as_bytes()).map_err(writing("a page"))?;
    for piece in pieces {
        let (name, rest) = piece.split_once(HOLE_END).unwrap_or((piece, ""));
        fill(name, out)?;
        out.write_all(rest.as_bytes()).map_err(writing("a page"))?;
    }
    Ok(())
}

/// Returns a page with its only hole filled.
pub(super) fn filled(page: &str, hole: &str, with: &str) -> String {
    let (before, after) = page.split_once(&format!("{HOLE}{hole}{HOLE_END}")).unwrap_or((page, ""));
    [before, with, after].concat()
}

/// All values in templates whose names end in `.html` are escaped.
static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.expect("the usual delimiters"));
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, text) in [
        ("frame.html", include_str!("../../../templates/frame.html")),
        ("index.html", include_str!("../../../templates/index.html")),
        ("part.html", include_str!("../../../templates/part.html")),
        ("style.css", include_str!("../../../templates/style.css")),
    ] {
        templates.add_template(name, text).expect("the templates are part of the program; a test renders each");
    }
    templates
});
