//! Errors and remarks about task files: each with its file and line, and with the solution if it is known.

use std::io;
use std::path::PathBuf;

use modoai_settings::Problem;

use super::owners::OwnersError;
use crate::foreign::{Printable, cut};

/// The reason why a plan cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A file could not be read.
    #[error("failed to read {}{}", .file.display(), naming(.named_in))]
    Read {
        /// The path of the file.
        file: PathBuf,
        /// The task file that includes it, and the line, unless it is the task file itself.
        named_in: Option<(PathBuf, usize)>,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Something in a file is invalid.
    #[error("{}:{line}: {what}", .file.display())]
    Wrong {
        /// The path of the file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem, and its solution.
        what: String,
    },
    /// The file has no tasks.
    #[error("{} contains no tasks; a task is [[task]] with a name and site = \"URL\", or a block from <Site to >", .file.display())]
    Empty {
        /// The path of the file.
        file: PathBuf,
    },
    /// The owner rules cannot be used.
    #[error("{}: invalid owner rules", .file.display())]
    Owners {
        /// The task file.
        file: PathBuf,
        /// The cause.
        #[source]
        source: OwnersError,
    },
}

fn naming(place: &Option<(PathBuf, usize)>) -> String {
    place.as_ref().map(|(file, line)| format!(", included from {}:{line}", file.display())).unwrap_or_default()
}

/// A line, and a message about it: an error, or a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) line: usize,
    pub(super) what: String,
}

impl Note {
    pub(super) fn new(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}

impl From<Problem> for Note {
    fn from(problem: Problem) -> Self {
        Self { line: problem.line.unwrap_or(1), what: problem.what }
    }
}

impl From<Note> for Problem {
    fn from(note: Note) -> Self {
        Self::complete(Some(note.line), note.what)
    }
}

/// Returns a text from a file in the form for messages: shortened, and without control characters.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    Printable(&cut(text, LONGEST)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_short_and_harmless() {
        assert_eq!(shown("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), 80);
    }
}
