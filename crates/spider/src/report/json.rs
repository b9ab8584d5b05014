//! Findings for programs: one object per line, and finally the summary, which reports whether the run was complete. If
//! the summary is missing, the output is truncated.

use std::io::Write;

use jiff::Timestamp;
use serde::Serialize;

use super::writing;
use crate::results::{Results, Run, Summary, Unread, Visit};

/// Writes every finding, and the summary.
pub fn write(results: &dyn Results, out: &mut dyn Write) -> Visit {
    results.findings(None, &mut |finding| line(finding, out))?;
    line(&Last { summary: Whole::of(results.run()) }, out)?;
    out.flush().map_err(writing("JSON"))
}

fn line(value: &impl Serialize, out: &mut dyn Write) -> Visit {
    serde_json::to_writer(&mut *out, value).map_err(|error| writing("JSON")(error.into()))?;
    out.write_all(b"\n").map_err(writing("JSON"))
}

#[derive(Serialize)]
struct Last<'a> {
    summary: Whole<'a>,
}

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    counts: &'a Summary,
    complete: bool,
    incomplete: Option<String>,
    cut_short: Option<&'a str>,
    unread_pages: &'a [Unread],
    run: u64,
    began: Timestamp,
    ended: Timestamp,
    before: Option<Timestamp>,
    remarks: &'a [String],
}

impl<'a> Whole<'a> {
    fn of(run: &'a Run) -> Self {
        let Run { number, began, ended, before, cut_short, unread, remarks, summary, .. } = run;
        let incomplete = run.incomplete();
        Self {
            counts: summary,
            complete: incomplete.is_none(),
            incomplete,
            cut_short: cut_short.as_deref(),
            unread_pages: unread,
            run: *number,
            began: *began,
            ended: *ended,
            before: *before,
            remarks,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::fixture::{Fixture, written};
    use super::super::named;

    #[test]
    fn a_line_for_each_finding_and_the_summary_last() {
        let fixture = Fixture::small();
        let text = written(named("json").expect("a format"), &fixture);
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let (last, findings) = lines.split_last().expect("a summary");
        assert_eq!(findings.len(), fixture.findings.len());
        for key in ["page", "target", "fragment", "verdict", "status", "reason"] {
            assert!(findings.iter().all(|finding| finding.get(key).is_some()), "{key}");
        }
        assert_eq!(findings[0]["verdict"], "broken");
        let summary = &last["summary"];
        for key in ["pages", "links", "urls", "requests", "bytes", "broken", "fragments", "moved", "not_tested"] {
            assert!(summary[key].is_u64(), "{key}");
        }
        assert_eq!(summary["complete"], true);
        assert_eq!(summary["cut_short"], Value::Null);
    }

    #[test]
    fn a_run_that_was_cut_short_is_not_complete() {
        let mut fixture = Fixture::clean();
        fixture.run.cut_short = Some("the limit of pages was reached".to_owned());
        let text = written(named("json").expect("a format"), &fixture);
        let last: Value = serde_json::from_str(text.lines().last().expect("a summary")).expect("JSON");
        assert_eq!(last["summary"]["complete"], false);
        assert_eq!(last["summary"]["cut_short"], "the limit of pages was reached");
    }
}
