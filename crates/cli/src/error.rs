//! Errors of the command line: the event, its object, and a hint.
//!
//! Exit codes are part of the interface; `modoai help` lists them.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use modoai_protocol::with_causes;

use crate::output::{plain_lines, warn};

/// The kind of an error, which determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An operation failed: on a file, a socket, the disk.
    Failed = 1,
    /// An endpoint does not conform, links are broken, or entries of an import are invalid; the report contains
    /// details.
    Findings = 2,
    /// A harvest, a traversal or an import is not complete; the message lists missing items.
    Incomplete = 3,
    /// The command line is invalid.
    Usage = 64,
    /// The configuration is invalid.
    Config = 78,
}

/// The exit codes in the help.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0   success
  1   failure; the message gives the cause
  2   an endpoint does not conform, links are broken, or entries are invalid; the report lists them
  3   a harvest, a crawl or an import is incomplete; the message lists what is missing
  64  invalid command line
  78  invalid configuration; the message names the setting";

/// An error for the user.
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

    /// Returns the same error, with the name of its object.
    pub(crate) fn about(self, thing: &str) -> Self {
        Self { what: format!("{thing}: {}", self.what), ..self }
    }

    /// Returns the message, with its causes.
    pub(crate) fn what_happened(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{}: {}", self.what, with_causes(&**cause)),
            None => self.what.clone(),
        }
    }

    /// Prints it on standard error.
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
        // Causes may quote a server.
        f.write_str(&plain_lines(&message))
    }
}
