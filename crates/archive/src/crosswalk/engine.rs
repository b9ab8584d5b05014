//! The template engine, configured for all templates, and its limits.

use std::borrow::Cow;
use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

use super::scan::Scan;
use super::shipped::{self, shipped, shipped_prefixes};
use super::{escape, filters};

/// The maximum number of steps of a template for one record: enough for a hundred thousand authors, and over in a
/// second.
pub(super) const MOST_STEPS: u64 = 20_000_000;
/// The maximum length of one record, in bytes. Far beyond any real one; it stops an endless loop before memory is
/// exhausted.
pub(super) const LONGEST: usize = 64 * 1024 * 1024;

/// Returns the engine, with the templates that can be included.
pub(super) fn engine(constants: &toml::Table) -> Environment<'static> {
    let mut engine = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    engine.set_syntax(syntax.expect("the usual delimiters"));
    // Records lack fields; `a.b` of a missing `a` is missing, too.
    engine.set_undefined_behavior(UndefinedBehavior::Chainable);
    engine.set_auto_escape_callback(|_| AutoEscape::Custom("xml".into()));
    engine.set_formatter(escape::format);
    engine.set_fuel(Some(MOST_STEPS));
    engine.set_recursion_limit(64);
    engine.add_global("archive", Value::from(Serde(constants.clone())));
    filters::add_to(&mut engine);
    for prefix in shipped_prefixes() {
        let template = shipped(prefix).expect("it is in the table").template;
        let added = engine.add_template_owned(shipped::name(prefix), Scan::new(&template).compact());
        added.expect("a test compiles all of them");
    }
    engine
}

/// Removes the XML declaration that a template may begin with, because a record is embedded in another document. Line
/// numbers are preserved.
pub(super) fn without_declaration(template: &str) -> Cow<'_, str> {
    let template = template.strip_prefix('\u{feff}').unwrap_or(template);
    let end = template.starts_with("<?xml ").then(|| template.find("?>")).flatten();
    match end {
        Some(end) => {
            let lines = template[..end].matches('\n').count();
            Cow::Owned("\n".repeat(lines) + &template[end + 2..])
        }
        None => Cow::Borrowed(template),
    }
}

/// A buffer with a maximum size.
pub(super) struct Limited<'o> {
    left: usize,
    out: &'o mut Vec<u8>,
}

impl<'o> Limited<'o> {
    /// Creates a limited writer to this buffer.
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { left: LONGEST, out }
    }
}

impl io::Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
