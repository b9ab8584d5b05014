//! Formats the count for a terminal: the table, a summary sentence, and the length of each list.

use std::fmt::Write as _;

use super::{Count, KindCount};
use crate::report::words::number;

/// The maximum number of kinds with a separate row.
const MOST_KINDS: usize = 12;

/// Returns the whole report, without the lists themselves.
pub fn render(count: &Count) -> String {
    let mut text = format!("{}\n\n", count.site);
    let all = KindCount { kind: "all".to_owned(), counts: count.totals.clone(), any: count.any };
    let rows: Vec<KindCount> = std::iter::once(all).chain(top_kinds(count, MOST_KINDS)).collect();
    let first = rows.iter().map(|row| row.kind.chars().count()).max().unwrap_or(0).max(12);
    let mut line = |kind: &str, cells: &[String]| {
        let _ = write!(text, "  {kind:<first$}");
        for cell in cells {
            let _ = write!(text, "{cell:>12}");
        }
        text.push('\n');
    };
    let names = count.sources.iter().map(|source| source.name().to_owned()).chain(["any".to_owned()]);
    line("", &names.collect::<Vec<_>>());
    for row in &rows {
        let cells: Vec<String> = row.counts.iter().chain([&row.any]).map(|cell| number(*cell)).collect();
        line(&row.kind, &cells);
    }
    text.push('\n');
    if let Some(sentence) = sentence(count) {
        let _ = writeln!(text, "  {sentence}\n");
    }
    for list in &count.lists {
        let length = if list.is_known { number(list.rows.len() as u64) } else { "–".to_owned() };
        let _ = writeln!(text, "  {:<12}{length:>10}  {}", list.name, list.about);
    }
    for remark in &count.remarks {
        let _ = writeln!(text, "\n  {remark}");
    }
    text
}

/// Returns Table 2 of the paper in one sentence.
pub(super) fn sentence(count: &Count) -> Option<String> {
    let (reached, held) = count.reached()?;
    let share = reached as f64 * 100.0 / held as f64;
    Some(format!(
        "A crawl from the home page reaches {} of the {} resources of the site ({share:.1} %).",
        number(reached),
        number(held)
    ))
}

/// Returns the most frequent kinds, and the sum of all others.
pub(super) fn top_kinds(count: &Count, most: usize) -> Vec<KindCount> {
    let (top, rest) = count.kinds.split_at(most.min(count.kinds.len()));
    let mut rows = top.to_vec();
    if !rest.is_empty() {
        let mut others =
            KindCount { kind: format!("{} others", rest.len()), counts: vec![0; count.sources.len()], any: 0 };
        for kind in rest {
            others.any += kind.any;
            others.counts.iter_mut().zip(&kind.counts).for_each(|(sum, one)| *sum += one);
        }
        rows.push(others);
    }
    rows
}
