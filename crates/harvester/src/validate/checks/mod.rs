//! The table of checks. To add one, add a row, and a function in the file of its subject.
//!
//! A row contains the section of the specification (OAI-PMH 2.0, document version 2015-01-08), the request and the
//! expected response; the guide prints it. The functions examine the `Case` and request further responses from it.

mod dates;
mod deletions;
mod errors;
mod formats;
mod http;
mod identify;
mod lists;
mod records;
mod sets;
mod shape;
mod tokens;

use serde::Serialize;

use super::case::{Case, Judged};
use super::report::Verdict;

/// A subject and its checks.
pub struct Group {
    /// Its name, also on the command line.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its checks.
    pub checks: &'static [Check],
}

/// All checks, by subject.
pub const GROUPS: &[Group] = &[
    Group { name: "http", title: "HTTP: methods, status, headers, compression, flow control", checks: http::CHECKS },
    Group { name: "shape", title: "XML and the schemas", checks: shape::CHECKS },
    Group { name: "identify", title: "Identify", checks: identify::CHECKS },
    Group { name: "formats", title: "Metadata formats", checks: formats::CHECKS },
    Group { name: "errors", title: "Errors", checks: errors::CHECKS },
    Group { name: "lists", title: "Consistency of lists", checks: lists::CHECKS },
    Group { name: "tokens", title: "Resumption tokens", checks: tokens::CHECKS },
    Group { name: "dates", title: "Datestamps and selective harvesting", checks: dates::CHECKS },
    Group { name: "sets", title: "Sets", checks: sets::CHECKS },
    Group { name: "deletions", title: "Deleted records", checks: deletions::CHECKS },
    Group { name: "records", title: "Records", checks: records::CHECKS },
];

/// The function that performs a check.
type Judge = fn(&Case, &mut Verdict) -> Judged;

/// A check.
#[derive(Serialize)]
pub struct Check {
    /// Its name.
    pub id: &'static str,
    /// The section of the specification.
    pub section: &'static str,
    /// The request.
    pub asks: &'static str,
    /// The expected response.
    pub expects: &'static str,
    #[serde(skip)]
    pub(super) judge: Judge,
    /// True if it examines all responses, and is therefore performed last.
    #[serde(skip)]
    pub(super) over_all: bool,
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

impl Check {
    const fn new(
        id: &'static str,
        section: &'static str,
        asks: &'static str,
        expects: &'static str,
        judge: Judge,
    ) -> Self {
        Self { id, section, asks, expects, judge, over_all: false }
    }

    /// Returns a check over all responses.
    const fn over_all(id: &'static str, section: &'static str, expects: &'static str, judge: Judge) -> Self {
        Self { id, section, asks: "all requests", expects, judge, over_all: true }
    }
}

/// Returns every check, with the name of its group.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Check)> {
    GROUPS.iter().flat_map(|group| group.checks.iter().map(move |check| (group.name, check)))
}

/// Returns the table for the guide.
pub fn table() -> String {
    let mut text = String::new();
    for group in GROUPS {
        text.push_str(&format!("### {}: `{}`\n\n", group.title, group.name));
        text.push_str("| check | section | request | expected result |\n|---|---|---|---|\n");
        for Check { id, section, asks, expects, .. } in group.checks {
            text.push_str(&format!("| `{id}` | {section} | {asks} | {expects} |\n"));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_distinct_and_rows_are_complete() {
        let mut seen = std::collections::BTreeSet::new();
        for (group, check) in all() {
            assert!(seen.insert(check.id), "{} is there twice", check.id);
            assert!(check.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", check.id);
            assert!(check.id.starts_with(&format!("{group}-")), "{} is in {group}", check.id);
            for cell in [check.section, check.asks, check.expects] {
                assert!(!cell.is_empty() && !cell.contains('|') && !cell.contains('\n'), "{}", check.id);
            }
        }
    }
}
