//! Findings for spreadsheets: CSV by RFC 4180.
//!
//! Spreadsheets interpret cells that begin with `=`, `+`, `-` or `@` as formulas, and the link text of a page is
//! untrusted. Such cells get a leading apostrophe, which spreadsheets interpret as "this is text". CSV has no place for
//! a summary, so an incomplete run is reported in an additional row at the end.

use std::borrow::Cow;
use std::io::Write;

use ::csv::{Terminator, Writer, WriterBuilder};

use super::{words, writing};
use crate::foreign::Printable;
use crate::results::{Finding, Results, Visit};

const COLUMNS: [&str; 16] = [
    "verdict",
    "page",
    "title",
    "line",
    "element",
    "text",
    "target",
    "fragment",
    "status",
    "reason",
    "since",
    "new",
    "to",
    "permanent",
    "owner",
    "tasks",
];

pub(super) fn write(results: &dyn Results, out: &mut dyn Write) -> Visit {
    let mut table = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    row(&COLUMNS.map(Cow::Borrowed), &mut table)?;
    results.findings(None, &mut |finding| row(&cells(finding), &mut table))?;
    if let Some(why) = results.run().incomplete() {
        let mut last = COLUMNS.map(|_| Cow::Borrowed(""));
        last[0] = "incomplete".into();
        last[9] = why.into();
        row(&last, &mut table)?;
    }
    table.flush().map_err(writing("CSV"))
}

fn cells(finding: &Finding) -> [Cow<'_, str>; COLUMNS.len()] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default().into();
    let yes = |is: bool| if is { "yes" } else { "no" }.into();
    [
        finding.verdict.name().into(),
        finding.page.as_str().into(),
        text(&finding.title),
        if finding.line == 0 { "".into() } else { finding.line.to_string().into() },
        finding.element.into(),
        finding.text.as_str().into(),
        finding.target.as_str().into(),
        text(&finding.fragment),
        finding.status.map(|status| status.to_string()).unwrap_or_default().into(),
        finding.reason.as_str().into(),
        finding.since.map(|at| words::day(at).to_string()).unwrap_or_default().into(),
        yes(finding.is_new),
        text(&finding.to),
        if finding.to.is_some() { yes(finding.permanent) } else { "".into() },
        text(&finding.owner),
        finding.tasks.join(" ").into(),
    ]
}

fn row(cells: &[Cow<'_, str>], table: &mut Writer<&mut dyn Write>) -> Visit {
    let safe = cells.iter().map(|cell| {
        let cell = Printable(cell).to_string();
        if is_formula(&cell) { format!("'{cell}") } else { cell }
    });
    table.write_record(safe).map_err(|error| writing("CSV")(error.into()))
}

/// Some spreadsheets skip leading whitespace, and some accept the wide forms, too.
fn is_formula(cell: &str) -> bool {
    cell.trim_start().starts_with(['=', '+', '-', '@', '|', '%', '＝', '＋', '－', '＠'])
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, written};
    use super::super::named;
    use super::*;

    fn read(text: &str) -> Vec<Vec<String>> {
        assert!(text.ends_with("\r\n"));
        let mut table = ::csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        table.deserialize().collect::<Result<_, _>>().expect("CSV")
    }

    #[test]
    fn a_row_for_each_finding() {
        let fixture = Fixture::small();
        let rows = read(&written(named("csv").expect("a format"), &fixture));
        assert_eq!(rows.len(), fixture.findings.len() + 1);
        assert!(rows.iter().all(|row| row.len() == COLUMNS.len()));
        assert_eq!(rows[1][1], fixture.findings[0].page);
        assert_eq!(rows[1][5], fixture.findings[0].text);
    }

    #[test]
    fn nothing_is_a_formula() {
        for text in ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "  =1", "\r=1", "=\"a\",b", "＝1"] {
            let mut finding = Fixture::small().findings[0].clone();
            finding.text = text.to_owned();
            let fixture = Fixture { findings: vec![finding], ..Fixture::small() };
            let rows = read(&written(named("csv").expect("a format"), &fixture));
            assert!(rows[1][5].starts_with('\''), "{text:?}: {:?}", rows[1][5]);
        }
    }

    #[test]
    fn an_incomplete_run_ends_with_a_row_that_says_so() {
        let mut fixture = Fixture::small();
        fixture.run.cut_short = Some("interrupted".to_owned());
        let rows = read(&written(named("csv").expect("a format"), &fixture));
        let last = rows.last().expect("a row");
        assert_eq!((last[0].as_str(), last[9].as_str()), ("incomplete", "the run stopped early: interrupted"));
    }
}
