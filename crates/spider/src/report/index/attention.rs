//! What needs attention: findings sorted by verdict, and the tables of them.
//!
//! Findings come page by page, and there may be more than memory should hold, so they are put aside in a file for each
//! verdict. Where they are shown is decided when all have been counted.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Lines, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;

use super::super::words::{self, TOLD, Told};
use super::super::writing;
use super::contents::Links;
use super::entry::anchor;
use super::{IN_INDEX, TO_A_PAGE};
use crate::foreign::Escaped;
use crate::results::{ReportError, Results, Run, Visit};

/// The findings of an infostructure, sorted by verdict.
pub(super) struct Attention {
    piles: Vec<Pile>,
}

/// The findings of one verdict.
pub(super) struct Pile {
    pub told: &'static Told,
    /// How many there are.
    pub places: u64,
    /// How many of them the run before did not have.
    pub new: u64,
    path: PathBuf,
}

impl Attention {
    /// Puts all findings aside, into files of that folder.
    pub(super) fn gather(results: &dyn Results, of: usize, folder: &Path) -> Result<Self, ReportError> {
        let mut piles = Vec::new();
        for told in TOLD {
            let path = folder.join(format!("{}.jsonl", told.slug));
            let file = File::create(&path).map_err(writing(path.display().to_string()))?;
            piles.push((Pile { told, places: 0, new: 0, path }, BufWriter::new(file)));
        }
        results.findings(Some(of), &mut |finding| {
            let Some((pile, file)) = piles.iter_mut().find(|(pile, _)| pile.told.verdict == finding.verdict) else {
                return Ok(());
            };
            pile.places += 1;
            pile.new += u64::from(finding.is_new);
            serde_json::to_writer(&mut *file, finding)
                .map_err(std::io::Error::from)
                .and_then(|()| file.write_all(b"\n"))
                .map_err(writing(pile.path.display().to_string()))
        })?;
        for (pile, file) in &mut piles {
            file.flush().map_err(writing(pile.path.display().to_string()))?;
        }
        Ok(Self { piles: piles.into_iter().map(|(pile, _)| pile).collect() })
    }

    /// Every verdict, in the order in which it matters.
    pub(super) fn piles(&self) -> &[Pile] {
        &self.piles
    }

    /// The findings of the verdict of that slug.
    pub(super) fn of(&self, slug: &str) -> Option<&Pile> {
        self.piles.iter().find(|pile| pile.told.slug == slug)
    }

    /// Takes away what was put aside.
    pub(super) fn clear(&mut self) -> Visit {
        for Pile { path, .. } in self.piles.drain(..) {
            fs::remove_file(&path).map_err(writing(path.display().to_string()))?;
        }
        Ok(())
    }
}

impl Pile {
    /// How many pages of its own it has; none if it fits into the index.
    pub(super) fn pages(&self) -> usize {
        if self.places <= IN_INDEX { 0 } else { usize::try_from(self.places).map_or(0, |all| all.div_ceil(TO_A_PAGE)) }
    }

    /// Reads its findings back.
    pub(super) fn rows(&self) -> Result<Rows, ReportError> {
        let file = File::open(&self.path).map_err(writing(self.path.display().to_string()))?;
        Ok(Rows { lines: BufReader::new(file).lines(), what: self.path.display().to_string() })
    }
}

/// Findings, read back.
pub(super) struct Rows {
    lines: Lines<BufReader<File>>,
    what: String,
}

impl Iterator for Rows {
    type Item = Result<Row, ReportError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.lines.next()?.and_then(|line| Ok(serde_json::from_str(&line)?));
        Some(line.map_err(writing(&self.what)))
    }
}

/// As much of a finding as a table shows.
#[derive(Deserialize)]
pub(super) struct Row {
    page: String,
    title: Option<String>,
    target: String,
    fragment: Option<String>,
    reason: String,
    element: String,
    line: u32,
    text: String,
    since: Option<Timestamp>,
    is_new: bool,
    to: Option<String>,
    owner: Option<String>,
}

/// Writes at most so many rows as a table, grouped by page. Roles are spelt out, because on narrow screens rows are laid out as blocks,
/// and some browsers then forget that it is a table.
pub(super) fn write_table(
    told: &Told,
    rows: &mut Rows,
    most: usize,
    links: &Links<'_>,
    run: &Run,
    out: &mut dyn Write,
) -> Visit {
    let is_link = told.is_of_a_link();
    let mut html = String::new();
    put!(
        &mut html,
        "<table role=\"table\" class=\"{}\">\n<caption>{}, page by page</caption>\n",
        told.slug,
        told.heading
    );
    html.push_str("<thead role=\"rowgroup\"><tr role=\"row\">");
    let columns: &[&str] = if is_link { &["Link", "Leads to", "Reason"] } else { &["Document", "Reason"] };
    for column in columns {
        put!(&mut html, "<th role=\"columnheader\" scope=\"col\">{column}</th>");
    }
    html.push_str("</tr></thead>\n");
    let mut page: Option<String> = None;
    for row in rows.take(most) {
        let row = row?;
        if page.as_deref() != Some(&row.page) {
            html.push_str(if page.is_some() { "</tbody>\n" } else { "" });
            html.push_str("<tbody role=\"rowgroup\">\n");
            if is_link {
                html.push_str(
                    "<tr role=\"row\" class=\"page\"><th role=\"rowheader\" scope=\"rowgroup\" colspan=\"3\">",
                );
                heading(&row, links, &mut html);
                html.push_str("</tr>\n");
            }
        }
        cells(&row, is_link, links, run, &mut html);
        page = Some(row.page);
        out.write_all(html.as_bytes()).map_err(writing("the table of findings"))?;
        html.clear();
    }
    html.push_str(if page.is_some() { "</tbody>\n</table>\n" } else { "</table>\n" });
    out.write_all(html.as_bytes()).map_err(writing("the table of findings"))
}

/// The rest of a heading that names a page: its entry in the index, and itself.
fn heading(row: &Row, links: &Links<'_>, html: &mut String) {
    let title = row.title.as_deref().map(str::trim).filter(|title| !title.is_empty()).unwrap_or(&row.page);
    match links.to_url(&row.page) {
        Some(href) => put!(html, "<a href=\"{href}\"><bdi>{}</bdi></a>", Escaped(title)),
        None => put!(html, "<bdi>{}</bdi>", Escaped(title)),
    }
    html.push_str(" <small>");
    anchor(&row.page, &row.page, html);
    if let Some(owner) = &row.owner {
        put!(html, " · owned by <bdi>{}</bdi>", Escaped(owner));
    }
    html.push_str("</small></th>");
}

fn cells(row: &Row, is_link: bool, links: &Links<'_>, run: &Run, html: &mut String) {
    let is_new = row.is_new && run.before.is_some();
    html.push_str(if is_new { "<tr role=\"row\" class=\"new\">" } else { "<tr role=\"row\">" });
    if is_link {
        html.push_str("<td role=\"cell\">");
        if !row.text.is_empty() {
            put!(html, "<q><bdi>{}</bdi></q> ", Escaped(&row.text));
        }
        put!(html, "<small>{}", Escaped(&row.element));
        if row.line > 0 {
            put!(html, ", line {}", row.line);
        }
        html.push_str("</small></td><td role=\"cell\" class=\"target\">");
        let target = words::aim(&row.target, row.fragment.as_deref());
        anchor(&target, &target, html);
        if let Some(to) = &row.to {
            html.push_str("<br>→ ");
            anchor(to, to, html);
        }
        html.push_str("</td>");
    } else {
        html.push_str("<th role=\"rowheader\" scope=\"row\">");
        heading(row, links, html);
    }
    put!(html, "<td role=\"cell\">{}", Escaped(&row.reason));
    // That a document has changed is news by itself.
    match row.since.filter(|_| is_link) {
        _ if is_link && is_new => html.push_str(" <strong class=\"fresh\">new</strong>"),
        Some(since) => put!(html, " <small>{}</small>", words::since(since, run.ended)),
        None => {}
    }
    html.push_str("</td></tr>\n");
}

/// Writes what was mended since the run before, at most so many.
pub(super) fn write_mended(
    results: &dyn Results,
    of: usize,
    most: usize,
    links: &Links<'_>,
    out: &mut dyn Write,
) -> Visit {
    let mut html = String::from("<ul class=\"refs\">\n");
    let (mut listed, mut rest) = (0, 0_u64);
    results.mended(Some(of), &mut |mended| {
        if listed == most {
            rest += 1;
            return Ok(());
        }
        listed += 1;
        html.push_str("<li><span class=\"v good\"><b aria-hidden=\"true\">✓</b> mended</span><div>");
        let target = words::aim(&mended.target, mended.fragment.as_deref());
        anchor(&target, &target, &mut html);
        put!(&mut html, "<p>was {}", mended.verdict.name());
        if let Some(since) = mended.since {
            put!(&mut html, " since {}", words::day(since));
        }
        html.push_str(", on ");
        match links.to_url(&mended.page) {
            Some(href) => put!(&mut html, "<a href=\"{href}\">{}</a>", Escaped(&mended.page)),
            None => anchor(&mended.page, &mended.page, &mut html),
        }
        html.push_str("</p></div></li>\n");
        Ok(())
    })?;
    html.push_str("</ul>\n");
    if rest > 0 {
        put!(&mut html, "<p class=\"note\">… and {} more.</p>\n", words::number(rest));
    }
    out.write_all(html.as_bytes()).map_err(writing("what was mended"))
}
