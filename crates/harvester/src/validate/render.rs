//! Writes a report as text for humans, as JSON for programs, and as JUnit XML for build servers.

use std::fmt::Write as _;

use modoai_fetch::is_invisible;
use modoai_protocol::xml::writer::escaped;
use serde::Serialize;

use super::checks::GROUPS;
use super::report::{Finding, Grade, Outcome, Report};

/// The colours on a terminal; false for plain text.
struct Paint(bool);

impl Paint {
    fn grade(&self, grade: Grade, text: &str) -> String {
        let code = match grade {
            Grade::Pass => "32",
            Grade::NotJudged => "2",
            Grade::Warning => "33",
            Grade::Failure => "1;31",
        };
        self.put(code, text)
    }

    fn put(&self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Returns the report as text: first the findings, then every check with its grade, then the counts.
pub fn text(report: &Report, colour: bool) -> String {
    let paint = Paint(colour);
    let mut out = String::new();
    match &report.unreachable {
        None => {
            let name = report.repository.as_deref().unwrap_or("unnamed repository");
            put(&mut out, &format!("{}: {}", report.base_url, readable(name)));
        }
        Some(reason) => {
            put(&mut out, &report.base_url);
            put(&mut out, &paint.grade(Grade::Failure, &format!("validation failed: {}", readable(reason))));
        }
    }
    for (grade, title) in [(Grade::Failure, "Failures"), (Grade::Warning, "Warnings")] {
        let found: Vec<_> = report.outcomes.iter().filter(|outcome| outcome.grade == grade).collect();
        if !found.is_empty() {
            put(&mut out, &format!("\n{}", paint.put("1", title)));
            found.into_iter().for_each(|outcome| detail(&mut out, outcome, &paint));
        }
    }
    // If the endpoint is not a repository, checks that were not performed are not listed.
    let is_told = |outcome: &&Outcome| report.unreachable.is_none() || outcome.grade != Grade::NotJudged;
    for group in GROUPS {
        let of_group = report.outcomes.iter().filter(|outcome| outcome.group == group.name);
        let mut of_group = of_group.filter(is_told).peekable();
        if of_group.peek().is_some() {
            put(&mut out, &format!("\n{}", paint.put("1", group.title)));
        }
        of_group.for_each(|outcome| line(&mut out, outcome, &paint));
    }
    if let Some(reason) = &report.cut_short {
        let told = format!("incomplete: {}", readable(reason));
        put(&mut out, &format!("\n{}", paint.grade(Grade::Failure, &told)));
    }
    let count = |grade| report.count(grade);
    put(
        &mut out,
        &format!(
            "\n{}: {} passed, {} failed, {} with warnings, {} not judged; {}",
            counted(report.outcomes.len(), "check"),
            count(Grade::Pass),
            count(Grade::Failure),
            count(Grade::Warning),
            count(Grade::NotJudged),
            counted(report.requests, "request")
        ),
    );
    out
}

/// Returns a number with its unit.
fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

fn put(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

fn line(out: &mut String, outcome: &Outcome, paint: &Paint) {
    let grade = paint.grade(outcome.grade, &format!("{:10}", outcome.grade.as_str()));
    let note = outcome.note.as_deref().map(|note| format!(" ({})", readable(note))).unwrap_or_default();
    put(
        out,
        format!("  {grade} {:28} {}{}", outcome.check.id, outcome.check.expects, paint.put("2", &note)).trim_end(),
    );
}

fn detail(out: &mut String, outcome: &Outcome, paint: &Paint) {
    let check = outcome.check;
    let id = paint.grade(outcome.grade, check.id);
    put(out, &format!("  {id}: expected: {} (section {})", check.expects, check.section));
    for Finding { grade, message, request, excerpt } in &outcome.findings {
        put(out, &format!("    {}: {}", grade.as_str(), readable(message)));
        if let Some(request) = request {
            put(out, &format!("      request: {}", readable(request)));
        }
        if let Some(excerpt) = excerpt {
            put(out, &paint.put("2", &format!("      byte {}: {}", excerpt.offset, excerpt.text)));
        }
    }
    if outcome.more > 0 {
        put(out, &format!("    and {} more", outcome.more));
    }
}

/// Escapes control characters, because foreign text must not move the cursor of a terminal.
fn readable(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if is_invisible(character) {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// The report for programs: the verdict, followed by all findings. It serialises to one object.
#[derive(Debug, Serialize)]
pub struct Judgement<'a> {
    /// True if the endpoint conforms.
    pub conformant: bool,
    /// True if warnings count as failures.
    pub strict: bool,
    /// The number of checks by grade.
    pub counts: Counts,
    /// The findings.
    #[serde(flatten)]
    pub report: &'a Report,
}

/// The number of checks by grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Counts {
    /// Conforms to the specification.
    pub pass: usize,
    /// Likely to cause problems.
    pub warning: usize,
    /// Violates the specification.
    pub failure: usize,
    /// Not applicable.
    pub not_judged: usize,
}

impl<'a> Judgement<'a> {
    /// Returns the result of a report.
    pub fn of(report: &'a Report, strict: bool) -> Self {
        let counts = Counts {
            pass: report.count(Grade::Pass),
            warning: report.count(Grade::Warning),
            failure: report.count(Grade::Failure),
            not_judged: report.count(Grade::NotJudged),
        };
        Self { conformant: report.is_conformant(strict), strict, counts, report }
    }
}

/// Returns the report for build servers: a suite per group, a case per check. Warnings are written as output, and with
/// `strict` as failures. An incomplete validation is a separate error, so that a build does not succeed by accident.
pub fn junit(report: &Report, strict: bool) -> String {
    let bound = if strict { Grade::Warning } else { Grade::Failure };
    let stopped = report.unreachable.as_ref().or(report.cut_short.as_ref());
    let errors = usize::from(stopped.is_some());
    let all: Vec<_> = report.outcomes.iter().collect();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        xml,
        "<testsuites name=\"{}\" tests=\"{}\" errors=\"{errors}\" {}>",
        escaped(&report.base_url),
        all.len() + errors,
        counts(&all, bound)
    );
    if let Some(reason) = stopped {
        let reason = escaped(reason);
        let _ = writeln!(
            xml,
            "  <testsuite name=\"validate\" tests=\"1\" errors=\"1\" failures=\"0\" skipped=\"0\">\n    \
             <testcase classname=\"validate\" name=\"everything-asked\"><error message=\"{reason}\"/></testcase>\n  \
             </testsuite>"
        );
    }
    for group in GROUPS {
        let outcomes: Vec<_> = all.iter().copied().filter(|outcome| outcome.group == group.name).collect();
        if outcomes.is_empty() {
            continue;
        }
        let (tests, counts) = (outcomes.len(), counts(&outcomes, bound));
        let _ = writeln!(xml, "  <testsuite name=\"{}\" tests=\"{tests}\" {counts}>", group.name);
        for outcome in outcomes {
            let _ = writeln!(xml, "    <testcase classname=\"{}\" name=\"{}\">", group.name, outcome.check.id);
            let mut details = String::new();
            detail(&mut details, outcome, &Paint(false));
            let details = escaped(&details);
            let first = outcome.findings.iter().find(|finding| finding.grade == outcome.grade);
            let message = escaped(first.map_or("", |finding| &finding.message));
            let _ = match outcome.grade {
                Grade::Pass => Ok(()),
                grade if grade >= bound => {
                    writeln!(xml, "      <failure message=\"{message}\">{details}</failure>")
                }
                Grade::Warning | Grade::Failure => writeln!(xml, "      <system-out>{details}</system-out>"),
                Grade::NotJudged => {
                    let note = escaped(outcome.note.as_deref().unwrap_or_default());
                    writeln!(xml, "      <skipped message=\"{note}\"/>")
                }
            };
            xml.push_str("    </testcase>\n");
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// Returns the numbers of failed and skipped checks as attributes.
fn counts(outcomes: &[&Outcome], bound: Grade) -> String {
    let failures = outcomes.iter().filter(|outcome| outcome.grade >= bound).count();
    let skipped = outcomes.iter().filter(|outcome| outcome.grade == Grade::NotJudged).count();
    format!("failures=\"{failures}\" skipped=\"{skipped}\"")
}
