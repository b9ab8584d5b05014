//! Prints the summary of a run: a few lines of text for humans, one JSON object for programs.

use std::fmt::Write as _;

use modoai_harvester::quirks::Quirk;
use modoai_harvester::summary::Summary;
use serde_json::Value;

use crate::error::CliError;
use crate::output::{self, counted, plain};

/// The maximum number of gaps that the text lists one by one.
const SHOWN: usize = 20;

/// Prints a summary on standard output.
pub(super) fn tell(summary: &Summary, as_json: bool) -> Result<(), CliError> {
    output::print(&if as_json { format!("{}\n", object(summary)) } else { text(summary) })
}

/// Returns a summary as JSON.
pub(super) fn object(summary: &Summary) -> Value {
    serde_json::to_value(summary).unwrap_or_default()
}

/// Returns a summary as text for humans.
pub(super) fn text(summary: &Summary) -> String {
    let mut out = format!(
        "{}: {} added or updated, {} deleted, {} unchanged; {}, {}\n",
        summary.source,
        summary.records,
        summary.deleted,
        summary.unchanged,
        counted(summary.requests, "request", "requests"),
        indicatif::HumanBytes(summary.bytes),
    );
    if summary.elsewhere > 0 {
        let _ = writeln!(out, "  skipped  {} that another source of the catalogue provides", summary.elsewhere);
    }
    if summary.refused > 0 {
        let refused = counted(summary.refused, "record was", "records were");
        let _ = writeln!(out, "  refused  {refused} not written because of special names; each is listed as missing");
    }
    for repair in &summary.repaired {
        let remedy = Quirk::named(&repair.quirk).map_or("", |quirk| quirk.remedy);
        let _ = writeln!(out, "  {} {} ({}×): {remedy}", label(&repair.quirk), repair.quirk, repair.count);
    }
    for gap in summary.missing.iter().take(SHOWN) {
        let _ = writeln!(out, "  missing  {}", plain(&gap.to_string()));
    }
    if summary.missing.len() > SHOWN {
        let _ = writeln!(out, "  missing  {} more; --json lists all", summary.missing.len() - SHOWN);
    }
    if let Some(date) = &summary.next.not_before {
        let _ = writeln!(out, "  next     not before {date}");
    }
    if summary.complete {
        let since = summary.next.from.as_deref().map(|date| format!("; the next run requests changes since {date}"));
        let _ = writeln!(out, "  complete{}", since.unwrap_or_default());
    }
    out
}

/// Returns the label of a quirk: whether responses were repaired, or the server only behaved so.
pub(in crate::commands) fn label(quirk: &str) -> &'static str {
    if Quirk::named(quirk).is_some_and(Quirk::is_repair) { "repaired" } else { "found   " }
}
