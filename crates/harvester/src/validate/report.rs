//! The findings: a grade for each check, and for each problem the request that shows it and the offending bytes.

use modoai_fetch::is_invisible;
use serde::Serialize;

use super::checks::Check;
use super::exchange::Exchange;
use super::shape::Deviation;

/// The number of findings of one check that are reported in full; the others are counted.
const TOLD: usize = 5;

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Conforms to the specification.
    Pass,
    /// Not applicable; the reason is reported.
    NotJudged,
    /// Allowed or tolerated, and likely to cause problems for harvesters.
    Warning,
    /// Violates the specification.
    Failure,
}

impl Grade {
    /// Returns the name of the grade.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::NotJudged => "not judged",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// Some bytes of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// Their offset in the response, after decoding.
    pub offset: u64,
    /// Their text; bytes that are not text are escaped.
    pub text: String,
}

impl Excerpt {
    /// The maximum number of quoted bytes.
    const LENGTH: usize = 160;

    /// Returns the excerpt at an offset.
    pub(crate) fn around(bytes: &[u8], offset: usize) -> Self {
        let start = offset.min(bytes.len());
        let end = (start + Self::LENGTH).min(bytes.len());
        let mut text = String::new();
        for piece in bytes[start..end].utf8_chunks() {
            for character in piece.valid().chars() {
                if is_invisible(character) {
                    text.extend(character.escape_default());
                } else {
                    text.push(character);
                }
            }
            // A character that the end of the excerpt truncates is not an error of the server.
            if start + text.len() < end || end == bytes.len() {
                piece.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02X}")));
            }
        }
        Self { offset: start as u64, text }
    }
}

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its severity: a warning or a failure.
    pub grade: Grade,
    /// The expected and the actual response.
    pub message: String,
    /// The request that shows it.
    pub request: Option<String>,
    /// The offending bytes.
    pub excerpt: Option<Excerpt>,
}

/// The outcome of a check.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The check.
    #[serde(flatten)]
    pub check: &'static Check,
    /// Its group.
    pub group: &'static str,
    /// Its grade.
    pub grade: Grade,
    /// The reason why it is not applicable, or its basis if only a sample was checked.
    pub note: Option<String>,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// The number of further findings.
    pub more: usize,
}

/// The result of validating an endpoint.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The base URL.
    pub base_url: String,
    /// The name of the repository, as Identify reports it.
    pub repository: Option<String>,
    /// The reason why no check could be performed, if so.
    pub unreachable: Option<String>,
    /// The reason why it ended before all requests were sent, if it did.
    pub cut_short: Option<String>,
    /// The number of requests.
    pub requests: usize,
    /// All checks, in the order of the table.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// Returns the number of checks with this grade.
    pub fn count(&self, grade: Grade) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.grade == grade).count()
    }

    /// Returns the outcome of the check with this name.
    pub fn outcome(&self, id: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.check.id == id)
    }

    /// Returns the reason why no check was applicable, if so: the most frequent reason.
    pub fn nothing_judged(&self) -> Option<&str> {
        if self.outcomes.iter().any(|outcome| outcome.grade != Grade::NotJudged) {
            return None;
        }
        let reasons: Vec<&str> = self.outcomes.iter().filter_map(|outcome| outcome.note.as_deref()).collect();
        let times = |reason: &&&str| reasons.iter().filter(|other| other == reason).count();
        Some(reasons.iter().max_by_key(times).copied().unwrap_or("no check was applicable"))
    }

    /// Returns true if a check failed, or with `strict` resulted in a warning.
    pub fn is_wanting(&self, strict: bool) -> bool {
        let bound = if strict { Grade::Warning } else { Grade::Failure };
        self.outcomes.iter().any(|outcome| outcome.grade >= bound)
    }

    /// Returns true if the endpoint conforms: all requests were sent, and no check failed.
    pub fn is_conformant(&self, strict: bool) -> bool {
        self.unreachable.is_none() && self.cut_short.is_none() && !self.is_wanting(strict)
    }
}

/// The findings of a check while it is performed.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) findings: Vec<Finding>,
    pub(crate) more: usize,
    pub(crate) note: Option<String>,
}

impl Verdict {
    /// Adds a violation; the excerpt is the beginning of the response.
    pub(crate) fn fail(&mut self, at: &Exchange, message: impl Into<String>) {
        self.add(Grade::Failure, at, message.into(), at.beginning());
    }

    /// Adds a violation that these bytes of the response show.
    pub(crate) fn fail_at(&mut self, at: &Exchange, message: impl Into<String>, text: &str) {
        self.add(Grade::Failure, at, message.into(), at.excerpt(text).or_else(|| at.beginning()));
    }

    /// Adds a violation that the last occurrence of these bytes shows.
    pub(crate) fn fail_at_last(&mut self, at: &Exchange, message: impl Into<String>, text: &str) {
        self.add(Grade::Failure, at, message.into(), at.last_excerpt(text).or_else(|| at.beginning()));
    }

    /// Adds a deviation from XML or the schema.
    pub(crate) fn deviation(&mut self, at: &Exchange, deviation: &Deviation) {
        self.add(Grade::Failure, at, deviation.message.clone(), Some(deviation.excerpt.clone()));
    }

    /// Adds a warning.
    pub(crate) fn warn(&mut self, at: &Exchange, message: impl Into<String>) {
        self.add(Grade::Warning, at, message.into(), at.beginning());
    }

    /// Adds a warning with these bytes of the response.
    pub(crate) fn warn_at(&mut self, at: &Exchange, message: impl Into<String>, text: &str) {
        self.add(Grade::Warning, at, message.into(), at.excerpt(text).or_else(|| at.beginning()));
    }

    /// Sets the basis of the result if only a sample was checked.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.note = Some(text.into());
    }

    pub(crate) fn add(&mut self, grade: Grade, at: &Exchange, message: String, excerpt: Option<Excerpt>) {
        if self.findings.len() < TOLD {
            self.findings.push(Finding { grade, message, request: Some(at.url.clone()), excerpt });
        } else {
            // A failure must be among the reported findings.
            if grade == Grade::Failure && self.findings.iter().all(|finding| finding.grade < grade) {
                self.findings[TOLD - 1] = Finding { grade, message, request: Some(at.url.clone()), excerpt };
            }
            self.more += 1;
        }
    }

    pub(crate) fn grade(&self) -> Grade {
        self.findings.iter().map(|finding| finding.grade).max().unwrap_or(Grade::Pass)
    }
}
