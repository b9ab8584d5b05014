//! What a person at the command line sees when something goes wrong: what, which thing, and what to do about it.
//!
//! Exit codes are part of the interface; `modoai help` lists them.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use modoai_protocol::with_causes;

use crate::output::{plain_lines, warn};

/// What kind of trouble: decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Something failed: a file, a socket, the disk.
    Failed = 1,
    /// An endpoint does not conform, links are broken, or entries of an import are bad; the report says where.
    Findings = 2,
    /// A harvest, a traversal or an import is not complete; the message says what is missing.
    Incomplete = 3,
    /// The command line makes no sense.
    Usage = 64,
    /// The configuration makes no sense.
    Config = 78,
}

/// The exit codes as the help explains them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0   success
  1   failure; the message gives the cause
  2   an endpoint does not conform, links are broken, or entries are invalid; the report lists them
  3   a harvest, a crawl or an import is incomplete; the message lists what is missing
  64  invalid command line
  78  invalid configuration; the message names the setting";

/// A failure for a person.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    what: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
    hint: Option<String>,
}

impl CliError {
    pub(crate) fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), cause: None, hint: None }
    }

    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self::new(Kind::Failed, what)
    }

    pub(crate) fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same, with the name of the thing it is about.
    pub(crate) fn about(self, thing: &str) -> Self {
        Self { what: format!("{thing}: {}", self.what), ..self }
    }

    /// What happened, with its causes.
    pub(crate) fn what_happened(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{}: {}", self.what, with_causes(&**cause)),
            None => self.what.clone(),
        }
    }

    /// Tells it on standard error.
    pub(crate) fn report(&self) -> ExitCode {
        warn(&self.to_string());
        ExitCode::from(self.kind as u8)
    }
}

impl std::fmt::Display for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut message = format!("modoai: {}", self.what_happened());
        if let Some(hint) = &self.hint {
            write!(message, "\n  hint: {hint}")?;
        }
        // Causes may repeat what a server said.
        f.write_str(&plain_lines(&message))
    }
}
