//! Formats the accounts of harvesters, as a table for humans and as JSON for programs.

use std::fmt::Write as _;
use std::path::Path;

use indicatif::{HumanBytes, HumanCount};
use modoai_harvest_log::{Harvester, Summary};
use modoai_protocol::Datestamp;
use serde_json::{Map, Value, json};

use crate::config::shown;
use crate::output::{counted, plain};

/// The heads of columns; the first and the last begin on the left.
const HEADS: [&str; 10] = [
    "harvester",
    "requests",
    "records",
    "bytes",
    "refused",
    "errors",
    "last seen",
    "last full",
    "last partial",
    "program",
];

/// Returns a table for humans.
pub(super) fn text(summary: &Summary, folder: &Path, since: Option<Datestamp>, server: Option<&str>) -> String {
    let mut out = server.map(|server| format!("{}\n", plain(server))).unwrap_or_default();
    let whole = since.map_or_else(String::new, |since| format!(" since {since}"));
    if summary.harvesters.is_empty() {
        let _ = writeln!(out, "no requests{whole} in the harvest log {}", shown(folder));
    } else {
        table(&mut out, summary);
    }
    if summary.unreadable > 0 {
        let lines = counted(summary.unreadable, "line", "lines");
        let _ = writeln!(out, "{lines} of the harvest log could not be read");
    }
    out
}

fn table(out: &mut String, summary: &Summary) {
    let heads = HEADS.map(str::to_owned);
    let others = summary.others.iter().map(|others| Harvester { who: "all others".to_owned(), ..others.clone() });
    let rows: Vec<[String; 10]> =
        std::iter::once(heads).chain(summary.harvesters.iter().cloned().chain(others).map(|it| row(&it))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match at {
                0 => write!(line, "{cell:<width$}"),
                9 => write!(line, "  {cell}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn row(harvester: &Harvester) -> [String; 10] {
    let date = |date: Option<Datestamp>| date.map_or_else(|| "-".to_owned(), minute);
    let number = |number: u64| HumanCount(number).to_string();
    [
        plain(&harvester.who),
        number(harvester.requests),
        number(harvester.records),
        HumanBytes(harvester.bytes).to_string(),
        number(harvester.refused),
        number(harvester.errors.saturating_add(harvester.broken_off)),
        date(Some(harvester.last)),
        date(harvester.complete),
        date(harvester.complete_selection),
        plain(&harvester.agents.join(", ")),
    ]
}

/// Formats a date like `2026-11-16 08:40`.
fn minute(date: Datestamp) -> String {
    let text = date.to_string();
    format!("{} {}", &text[..10], &text[11..16])
}

/// Returns all figures as JSON.
pub(super) fn json(summary: &Summary, folder: &Path, since: Option<Datestamp>, server: Option<&str>) -> Value {
    let mut all = Map::new();
    if let Some(server) = server {
        all.insert("server".to_owned(), json!(server));
    }
    let harvesters: Vec<Value> = summary.harvesters.iter().map(one).collect();
    all.extend([
        ("log".to_owned(), json!(shown(folder))),
        ("since".to_owned(), json!(since.map(|since| since.to_string()))),
        ("harvesters".to_owned(), json!(harvesters)),
        ("others".to_owned(), summary.others.as_ref().map(one).unwrap_or_default()),
        ("unreadable".to_owned(), json!(summary.unreadable)),
    ]);
    Value::Object(all)
}

fn one(harvester: &Harvester) -> Value {
    let date = |date: Option<Datestamp>| date.map(|date| date.to_string());
    let formats: Map<String, Value> = harvester
        .formats
        .iter()
        .map(|(prefix, format)| {
            let told = json!({
                "pages": format.pages, "records": format.records, "bytes": format.bytes,
                "complete": date(format.complete), "complete_selection": date(format.complete_selection),
                "complete_headers": date(format.complete_headers),
            });
            (prefix.clone(), told)
        })
        .collect();
    let longest = harvester.longest.as_ref().map(|run| {
        json!({
            "began": run.began.to_string(), "last": run.last.to_string(), "pages": run.pages,
            "records": run.records, "bytes": run.bytes,
        })
    });
    json!({
        "harvester": harvester.who, "programs": harvester.agents, "requests": harvester.requests,
        "lists": harvester.lists, "records": harvester.records, "bytes": harvester.bytes,
        "refused": harvester.refused, "errors": harvester.errors, "broken_off": harvester.broken_off,
        "first": harvester.first.to_string(), "last": harvester.last.to_string(),
        "complete": date(harvester.complete), "complete_selection": date(harvester.complete_selection),
        "formats": formats, "longest_list": longest,
    })
}
