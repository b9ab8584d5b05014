//! What is wrong, or only odd, in a task file: always with its file and line, and with what to do where that is known.

use std::io;
use std::path::PathBuf;

use super::owners::OwnersError;
use crate::foreign::{Printable, cut};

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A file could not be read.
    #[error("failed to read {}{}", .file.display(), naming(.named_in))]
    Read {
        /// Which one.
        file: PathBuf,
        /// The task file that names it, and the line, unless it is the task file itself.
        named_in: Option<(PathBuf, usize)>,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Something in a file cannot be meant.
    #[error("{}:{line}: {what}", .file.display())]
    Wrong {
        /// In which one.
        file: PathBuf,
        /// On which line, from 1.
        line: usize,
        /// What it is, and what to do.
        what: String,
    },
    /// There is nothing to do.
    #[error("{} contains no tasks; a task is [[task]] with a name and site = \"URL\", or a block from <Site to >", .file.display())]
    Empty {
        /// Which file.
        file: PathBuf,
    },
    /// The rules about owners cannot be used.
    #[error("{}: invalid owner rules", .file.display())]
    Owners {
        /// The task file.
        file: PathBuf,
        /// Why not.
        #[source]
        source: OwnersError,
    },
}

fn naming(place: &Option<(PathBuf, usize)>) -> String {
    place.as_ref().map(|(file, line)| format!(", included from {}:{line}", file.display())).unwrap_or_default()
}

/// A line, and what there is to say about it: an error, or a remark.
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

/// That a word is none of those there are, and which one was probably meant.
pub(super) fn unknown(word: &str, known: &[&str]) -> String {
    let scored = known.iter().map(|known| {
        (strsim::normalized_damerau_levenshtein(&word.to_ascii_lowercase(), &known.to_ascii_lowercase()), known)
    });
    let nearest = scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.4);
    match nearest {
        Some((_, nearest)) => format!("unknown name '{}'; did you mean '{nearest}'?", shown(word)),
        None => format!("unknown name '{}'; expected one of {}", shown(word), known.join(", ")),
    }
}

/// What somebody wrote, as a message can hold it: not too long, and nothing that a terminal would obey.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    Printable(&cut(text, LONGEST)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_named_whatever_its_case() {
        let known = ["TopURL", "IndexURL"];
        assert_eq!(unknown("topurl", &known), "unknown name 'topurl'; did you mean 'TopURL'?");
        assert_eq!(unknown("xyz", &known), "unknown name 'xyz'; expected one of TopURL, IndexURL");
    }

    #[test]
    fn what_is_shown_is_short_and_harmless() {
        assert_eq!(shown("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), 80);
    }
}
