//! Writes the count as one HTML page: the table, the diagram of overlaps, and the lists, each up to a length that a
//! browser can handle.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::text::{sentence, top_kinds};
use super::{Combination, Count, SOURCES};
use crate::foreign::{Escaped, is_web};
use crate::report::words::number;

/// The maximum number of kinds with a separate row.
const MOST_KINDS: usize = 20;
/// The maximum number of combinations in the diagram.
const MOST_BARS: usize = 16;
/// The maximum number of lines of each list; `--lists` writes all of them.
const MOST_ROWS: usize = 1_000;

/// The additions to the style sheet of all reports.
const STYLE: &str = "\
.count { width: 100%; border-collapse: collapse; background: var(--sheet); border: 1px solid var(--line); }
.count th, .count td { padding: 0.4rem 0.8rem; text-align: right; border-bottom: 1px solid var(--line); }
.count th:first-child { text-align: left; font-weight: 500; max-width: none; }
.count th, .count td { white-space: nowrap; }
.count thead th { color: var(--quiet); font-weight: 500; }
.count tbody tr:first-child > * { font-weight: 650; }
.wide { overflow-x: auto; }
.lead { font-size: 1.15rem; max-width: 44rem; text-wrap: pretty; margin: 1.5rem 0; }
svg { display: block; max-width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .q { fill: var(--quiet); }
svg .bar { fill: var(--accent); } svg .on { fill: var(--ink); } svg .off { fill: var(--line); }
svg .join { stroke: var(--ink); stroke-width: 2; }
details { border-top: 1px solid var(--line); padding: 0.7rem 0; } details:last-of-type { border-bottom: 1px solid var(--line); }
summary { cursor: pointer; } summary b { display: inline-block; min-width: 8rem; font-weight: 600; }
summary .n { display: inline-block; min-width: 4.5rem; margin-right: 0.6rem; text-align: right; }
details li { padding: 0.15rem 0; font-size: 0.9rem; } details li small { margin-left: 0.5rem; }
details ul { margin: 0.7rem 0; }
/* Numbers are compared across columns: on a phone, too, the table stays one. */
table.count { display: table; table-layout: auto; } .count thead th:nth-child(n):nth-child(n) { width: auto; }
 .count thead { display: table-header-group; position: static; } .count tbody { display: table-row-group; }
.count tr { display: table-row; padding: 0; } .count th, .count td { display: table-cell; width: auto; } .count td::before { content: none; }
@media (max-width: 40rem) { summary .a { display: block; } body { padding: 0 1rem; } .count th, .count td { padding: 0.35rem 0.5rem; } }
";

/// Returns the whole page.
pub fn render(count: &Count, now: Timestamp) -> String {
    let site = Escaped(&count.site);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Number of resources of {site}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <style>\n{}\n{STYLE}</style>\n</head>\n<body>\n<header><p class=\"kind\">The counting problem</p><h1>{site}</h1></header>\n<main id=\"main\">\n",
        include_str!("../../templates/style.css"),
    );
    if let Some(sentence) = sentence(count) {
        let _ = writeln!(html, "<p class=\"lead\">{sentence}</p>");
    }
    table(&mut html, count);
    html.push_str(
        "<h2>Overlap of the sources</h2>\n<p class=\"note\">Each bar counts the resources that are \
        known to exactly the sources marked below it.</p>\n",
    );
    picture(&mut html, count);
    html.push_str("<h2>Lists</h2>\n");
    count.lists.iter().for_each(|list| {
        let length = if list.is_known { number(list.rows.len() as u64) } else { "–".to_owned() };
        let _ = write!(
            html,
            "<details><summary><b>{}</b> <span class=\"n\">{length}</span> <span class=\"a\">{}</span></summary>\n<ul>\n",
            list.name, list.about
        );
        for row in list.rows.iter().take(MOST_ROWS) {
            let links: Vec<String> = row.urls.iter().map(|url| link(url)).collect();
            let _ = writeln!(html, "<li>{} <small>{}</small></li>", links.join(" · "), Escaped(&row.note));
        }
        let more = list.rows.len().saturating_sub(MOST_ROWS);
        if more > 0 {
            let _ = writeln!(html, "<li><small>and {} more</small></li>", number(more as u64));
        }
        html.push_str("</ul></details>\n");
    });
    for remark in &count.remarks {
        let _ = writeln!(html, "<p class=\"note\">{}</p>", Escaped(remark));
    }
    let _ = writeln!(
        html,
        "</main>\n<footer><p>Created by modoai {} on {}</p></footer>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION"),
        now.strftime("%-d %B %Y, %H:%M UTC")
    );
    html
}

/// Returns a URL as a link if it is a web URL.
fn link(url: &str) -> String {
    let shown = Escaped(url);
    if is_web(url) { format!("<a href=\"{shown}\">{shown}</a>") } else { shown.to_string() }
}

fn table(html: &mut String, count: &Count) {
    html.push_str("<div class=\"wide\"><table class=\"count\"><thead><tr><th></th>");
    for source in &count.sources {
        let _ = write!(html, "<th scope=\"col\">{}</th>", source.name());
    }
    html.push_str("<th scope=\"col\">any</th></tr></thead><tbody>\n");
    let mut row = |kind: &str, counts: &[u64], any: u64| {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", Escaped(kind));
        for cell in counts.iter().chain([&any]) {
            let _ = write!(html, "<td>{}</td>", number(*cell));
        }
        html.push_str("</tr>\n");
    };
    row("all", &count.totals, count.any);
    for kind in top_kinds(count, MOST_KINDS) {
        row(&kind.kind, &kind.counts, kind.any);
    }
    html.push_str("</tbody></table></div>\n");
}

/// Draws bars, with the sources of each below: five sets do not fit into circles.
fn picture(html: &mut String, count: &Count) {
    const LEFT: usize = 100;
    const STEP: usize = 40;
    const HEIGHT: usize = 160;
    const ROW: usize = 24;
    let shown = &count.combinations[..count.combinations.len().min(MOST_BARS)];
    let most = shown.iter().map(|one| one.urls).max().unwrap_or(1).max(1);
    let width = LEFT + STEP * shown.len().max(1) + 20;
    let height = HEIGHT + 40 + ROW * count.sources.len();
    let _ = writeln!(
        html,
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\" aria-label=\"{}\">",
        Escaped(&spoken(shown))
    );
    let y_of = |row: usize| HEIGHT + 40 + ROW * row;
    for (row, source) in count.sources.iter().enumerate() {
        let y = y_of(row) + 5;
        let _ = writeln!(html, "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{}</text>", LEFT - 12, source.name());
    }
    for (column, combination) in shown.iter().enumerate() {
        let x = LEFT + STEP * column + STEP / 2;
        // A bar of one URL must be visible, too.
        let bar = ((combination.urls as f64 / most as f64) * (HEIGHT - 20) as f64).max(1.5);
        let top = HEIGHT as f64 - bar;
        let _ = writeln!(
            html,
            "<rect class=\"bar\" x=\"{}\" y=\"{top:.1}\" width=\"{}\" height=\"{bar:.1}\"/><text class=\"q\" x=\"{x}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\">{}</text>",
            x - 13,
            26,
            top - 5.0,
            short(combination.urls)
        );
        let rows: Vec<usize> =
            (0..count.sources.len()).filter(|row| combination.sources.contains(&count.sources[*row])).collect();
        if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
            let (from, to) = (y_of(*first), y_of(*last));
            let _ = writeln!(html, "<line class=\"join\" x1=\"{x}\" x2=\"{x}\" y1=\"{from}\" y2=\"{to}\"/>");
        }
        for row in 0..count.sources.len() {
            let class = if rows.contains(&row) { "on" } else { "off" };
            let _ = writeln!(html, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{}\" r=\"6\"/>", y_of(row));
        }
    }
    html.push_str("</svg>\n");
    debug_assert!(count.sources.len() <= SOURCES.len());
}

/// Returns the diagram as text, for screen readers.
fn spoken(shown: &[Combination]) -> String {
    let one = |combination: &Combination| {
        let names: Vec<_> = combination.sources.iter().map(|source| source.name()).collect();
        format!("{} known to {}", number(combination.urls), names.join(" and "))
    };
    shown.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Formats a number for a narrow bar.
fn short(urls: u64) -> String {
    match urls {
        0..10_000 => urls.to_string(),
        10_000..1_000_000 => format!("{}k", urls / 1_000),
        _ => format!("{:.1}M", urls as f64 / 1e6),
    }
}
