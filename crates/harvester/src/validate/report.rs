//! What was found: for each check a grade, and for what is wrong the request that shows it and the offending bytes.

use modoai_fetch::is_invisible;
use serde::Serialize;

use super::checks::Check;
use super::exchange::Exchange;
use super::shape::Deviation;

/// Findings of one check that are told; the others are counted.
const TOLD: usize = 5;

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// As the specification demands.
    Pass,
    /// It could not be seen; the reason is told.
    NotJudged,
    /// Allowed or tolerated, and likely to give harvesters trouble.
    Warning,
    /// Against the specification.
    Failure,
}

impl Grade {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::NotJudged => "not judged",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// Some bytes of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// Where they stand in the answer, after decoding.
    pub offset: u64,
    /// What they are, readable whatever they are.
    pub text: String,
}

impl Excerpt {
    /// At most so many bytes are quoted.
    const LENGTH: usize = 160;

    /// What stands at that place.
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
            // A character that the end of the quotation cuts is not the server's fault.
            if start + text.len() < end || end == bytes.len() {
                piece.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02X}")));
            }
        }
        Self { offset: start as u64, text }
    }
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How wrong: a warning or a failure.
    pub grade: Grade,
    /// What was expected, and what came.
    pub message: String,
    /// The request that shows it.
    pub request: Option<String>,
    /// The bytes in question.
    pub excerpt: Option<Excerpt>,
}

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Which check.
    #[serde(flatten)]
    pub check: &'static Check,
    /// The subject it belongs to.
    pub group: &'static str,
    /// How it ended.
    pub grade: Grade,
    /// Why it could not be judged, or what it rests on when not everything could be looked at.
    pub note: Option<String>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How many more of the same there are.
    pub more: usize,
}

/// What was found about an endpoint.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where it was asked.
    pub base_url: String,
    /// What it calls itself.
    pub repository: Option<String>,
    /// Why nothing could be judged, if that is so.
    pub unreachable: Option<String>,
    /// Why it ended before everything was asked, if it did.
    pub cut_short: Option<String>,
    /// How often it was asked.
    pub requests: usize,
    /// All checks, in the order of the table.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// How many checks ended so.
    pub fn count(&self, grade: Grade) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.grade == grade).count()
    }

    /// What became of the check of that name.
    pub fn outcome(&self, id: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.check.id == id)
    }

    /// Why nothing was judged, if that is so: the reason that most checks give.
    pub fn nothing_judged(&self) -> Option<&str> {
        if self.outcomes.iter().any(|outcome| outcome.grade != Grade::NotJudged) {
            return None;
        }
        let reasons: Vec<&str> = self.outcomes.iter().filter_map(|outcome| outcome.note.as_deref()).collect();
        let times = |reason: &&&str| reasons.iter().filter(|other| other == reason).count();
        Some(reasons.iter().max_by_key(times).copied().unwrap_or("no check was applicable"))
    }

    /// Whether something failed, or with `strict` gave a warning.
    pub fn is_wanting(&self, strict: bool) -> bool {
        let bound = if strict { Grade::Warning } else { Grade::Failure };
        self.outcomes.iter().any(|outcome| outcome.grade >= bound)
    }

    /// Whether it conforms: everything was asked, and nothing is wanting.
    pub fn is_conformant(&self, strict: bool) -> bool {
        self.unreachable.is_none() && self.cut_short.is_none() && !self.is_wanting(strict)
    }
}

/// What a check collects while it judges.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) findings: Vec<Finding>,
    pub(crate) more: usize,
    pub(crate) note: Option<String>,
}

impl Verdict {
    /// Against the specification; the answer as a whole is the proof.
    pub(crate) fn fail(&mut self, at: &Exchange, message: impl Into<String>) {
        self.add(Grade::Failure, at, message.into(), at.beginning());
    }

    /// Against the specification, as these bytes of the answer show.
    pub(crate) fn fail_at(&mut self, at: &Exchange, message: impl Into<String>, text: &str) {
        self.add(Grade::Failure, at, message.into(), at.excerpt(text).or_else(|| at.beginning()));
    }

    /// Against the specification, as these bytes show where they stand once more.
    pub(crate) fn fail_at_last(&mut self, at: &Exchange, message: impl Into<String>, text: &str) {
        self.add(Grade::Failure, at, message.into(), at.last_excerpt(text).or_else(|| at.beginning()));
    }

    /// Against XML or the schema.
    pub(crate) fn deviation(&mut self, at: &Exchange, deviation: &Deviation) {
        self.add(Grade::Failure, at, deviation.message.clone(), Some(deviation.excerpt.clone()));
    }

    /// Likely to give trouble.
    pub(crate) fn warn(&mut self, at: &Exchange, message: impl Into<String>) {
        self.add(Grade::Warning, at, message.into(), at.beginning());
    }

    /// Likely to give trouble, as these bytes of the answer show.
    pub(crate) fn warn_at(&mut self, at: &Exchange, message: impl Into<String>, text: &str) {
        self.add(Grade::Warning, at, message.into(), at.excerpt(text).or_else(|| at.beginning()));
    }

    /// What the judgement rests on when not everything could be looked at.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.note = Some(text.into());
    }

    pub(crate) fn add(&mut self, grade: Grade, at: &Exchange, message: String, excerpt: Option<Excerpt>) {
        if self.findings.len() < TOLD {
            self.findings.push(Finding { grade, message, request: Some(at.url.clone()), excerpt });
        } else {
            // The worst must be among those that are told.
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
