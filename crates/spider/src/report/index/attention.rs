//! The tables of targets that need attention: sorted by verdict, each target once with its first pages.

use std::collections::HashMap;
use std::io::Write;

use super::super::words::{self, VERDICTS, VerdictText};
use super::super::writing;
use super::contents::Links;
use super::entry::{anchor, path_of};
use super::{EARLIER, IN_INDEX, TO_A_PAGE};
use crate::foreign::Escaped;
use crate::results::{Earlier, ReportError, Results, Run, State, Visit};
use crate::targets::{Place, Target, Targets, subject};

/// The number of pages that a row shows.
const PLACES: usize = 5;

/// The findings of an infostructure, sorted by verdict.
pub(super) struct Attention {
    pub targets: Targets,
}

/// The targets of one verdict, those on most pages first.
pub(super) struct Pile<'a> {
    pub wording: &'static VerdictText,
    pub targets: Vec<&'a Target>,
}

impl Attention {
    pub(super) fn gather(results: &dyn Results, of: usize) -> Result<Self, ReportError> {
        Ok(Self { targets: Targets::gather(results, Some(of))? })
    }

    /// Returns the targets of every verdict, the most important first.
    pub(super) fn piles(&self) -> Vec<Pile<'_>> {
        VERDICTS.iter().map(|wording| Pile { wording, targets: self.targets.of(wording.verdict) }).collect()
    }

    /// Returns the targets of the verdict with that slug.
    pub(super) fn of(&self, slug: &str) -> Option<Pile<'_>> {
        let wording = VERDICTS.iter().find(|wording| wording.slug == slug)?;
        Some(Pile { wording, targets: self.targets.of(wording.verdict) })
    }
}

impl Pile<'_> {
    /// Returns the number of separate pages; 0 if it fits into the index.
    pub(super) fn pages(&self) -> usize {
        if self.targets.len() <= IN_INDEX { 0 } else { self.targets.len().div_ceil(TO_A_PAGE) }
    }

    /// Returns the number of targets that no earlier run had.
    pub(super) fn count_new(&self) -> u64 {
        self.targets.iter().filter(|target| target.is_new).count() as u64
    }

    /// Returns the number of links.
    pub(super) fn links(&self) -> u64 {
        self.targets.iter().map(|target| target.links).sum()
    }
}

/// Writes rows as a table. Roles are explicit, because narrow screens show rows as blocks, and some browsers then lose
/// the semantics of the table.
pub(super) fn write_table(
    wording: &VerdictText,
    rows: &[&Target],
    documents: u64,
    links: &Links<'_>,
    run: &Run,
    out: &mut dyn Write,
) -> Visit {
    let is_link = wording.is_of_a_link();
    let mut html = String::new();
    put!(
        &mut html,
        "<table role=\"table\" class=\"{}\">\n<caption>{} by target</caption>\n",
        wording.slug,
        wording.heading
    );
    html.push_str("<thead role=\"rowgroup\"><tr role=\"row\">");
    let columns: &[&str] =
        if is_link { &["Target", "Reason", "Pages", "First pages"] } else { &["Document", "Reason"] };
    for column in columns {
        put!(&mut html, "<th role=\"columnheader\" scope=\"col\">{column}</th>");
    }
    html.push_str("</tr></thead>\n<tbody role=\"rowgroup\">\n");
    for target in rows {
        row(target, is_link, documents, links, run, &mut html);
        out.write_all(html.as_bytes()).map_err(writing("the table of findings"))?;
        html.clear();
    }
    html.push_str("</tbody>\n</table>\n");
    out.write_all(html.as_bytes()).map_err(writing("the table of findings"))
}

fn row(target: &Target, is_link: bool, documents: u64, links: &Links<'_>, run: &Run, html: &mut String) {
    let is_new = is_link && target.is_new && run.before.is_some();
    html.push_str(if is_new { "<tr role=\"row\" class=\"new\">" } else { "<tr role=\"row\">" });
    html.push_str("<th role=\"rowheader\" scope=\"row\" class=\"target\">");
    if is_link {
        let url = target.url();
        anchor(&url, &url, html);
        if let Some(to) = &target.first.to {
            html.push_str("<br>→ ");
            anchor(to, to, html);
        }
    } else if let Some(place) = target.places.first() {
        let is_itself = place.page == target.first.target;
        if !is_itself {
            anchor(&target.first.target, path_of(&target.first.target), html);
            html.push_str(" <small>linked from ");
        }
        page(place, links, html);
        html.push_str(if is_itself { " <small>" } else { " " });
        anchor(&target.first.target, &target.first.target, html);
        html.push_str("</small>");
    }
    put!(html, "</th><td role=\"cell\">{}", Escaped(&target.first.reason));
    // A changed document is new by definition.
    match target.since.filter(|_| is_link) {
        _ if is_new => html.push_str(" <strong class=\"fresh\">new</strong>"),
        Some(since) => put!(html, " <small>{}</small>", words::since(since, run.ended)),
        None => {}
    }
    html.push_str("</td>");
    if is_link {
        places(target, documents, links, html);
    }
    html.push_str("</tr>\n");
}

/// Writes the number of pages, and the first of them.
fn places(target: &Target, documents: u64, links: &Links<'_>, html: &mut String) {
    put!(html, "<td role=\"cell\" class=\"n\" data-label=\"pages\">{}", words::number(target.pages));
    if target.is_site_wide {
        put!(html, " of {} <small>in the site's template</small>", words::number(documents));
    }
    html.push_str("</td><td role=\"cell\" class=\"first\">");
    for (at, place) in target.places.iter().take(PLACES).enumerate() {
        html.push_str(if at > 0 { "<br>" } else { "" });
        page(place, links, html);
        if place.line > 0 {
            put!(html, " <small>line {}</small>", place.line);
        }
        if let Some(owner) = &place.owner {
            put!(html, " <small>· <bdi>{}</bdi></small>", Escaped(owner));
        }
    }
    let shown = target.places.len().min(PLACES) as u64;
    if target.pages > shown {
        put!(html, "<br><small>… and {} more</small>", words::number(target.pages - shown));
    }
    html.push_str("</td>");
}

/// Writes the title of a page, or its path, as a link to its entry in the index, or to the page itself.
fn page(place: &Place, links: &Links<'_>, html: &mut String) {
    let title = place.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let name = title.unwrap_or_else(|| path_of(&place.page));
    match links.to_url(&place.page) {
        Some(href) => put!(html, "<a href=\"{href}\"><bdi>{}</bdi></a>", Escaped(name)),
        None => anchor(&place.page, name, html),
    }
}

/// Writes the targets that were fixed or removed since the previous run. A target about which other pages still have a
/// finding is neither.
pub(super) fn write_earlier(
    results: &dyn Results,
    of: usize,
    open: &Targets,
    links: &Links<'_>,
    out: &mut dyn Write,
) -> Visit {
    let mut html = String::new();
    for state in [State::Fixed, State::Removed] {
        let mut targets: Vec<(Earlier, u64)> = Vec::new();
        let mut known: HashMap<u64, usize> = HashMap::new();
        results.earlier(Some(of), &mut |earlier| {
            let Earlier { verdict, target, fragment, .. } = earlier;
            if earlier.state == state && !open.has(*verdict, target, fragment.as_deref()) {
                let key = subject(earlier.verdict, &earlier.target, earlier.fragment.as_deref());
                let at = *known.entry(key).or_insert(targets.len());
                if at == targets.len() {
                    targets.push((earlier.clone(), 0));
                }
                targets[at].1 += 1;
            }
            Ok(())
        })?;
        if targets.is_empty() {
            continue;
        }
        html.push_str("<ul class=\"refs\">\n");
        for (earlier, count) in targets.iter().take(EARLIER) {
            was(earlier, *count, links, &mut html);
        }
        html.push_str("</ul>\n");
        if targets.len() > EARLIER {
            put!(&mut html, "<p class=\"note\">… and {} more.</p>\n", words::number((targets.len() - EARLIER) as u64));
        }
    }
    out.write_all(html.as_bytes()).map_err(writing("what was fixed"))
}

fn was(earlier: &Earlier, count: u64, links: &Links<'_>, html: &mut String) {
    let name = earlier.state.name();
    put!(html, "<li><span class=\"v good\"><b aria-hidden=\"true\">✓</b> {name}</span><div>");
    let target = words::aim(&earlier.target, earlier.fragment.as_deref());
    anchor(&target, &target, html);
    put!(html, "<p>was {}", earlier.verdict.name());
    if let Some(since) = earlier.since {
        put!(html, " since {}", words::day(since));
    }
    html.push_str(", on ");
    match links.to_url(&earlier.page) {
        Some(href) => put!(html, "<a href=\"{href}\">{}</a>", Escaped(&earlier.page)),
        None => anchor(&earlier.page, &earlier.page, html),
    }
    if count > 1 {
        put!(html, " and {}", words::counted(count - 1, ("more page", "more pages")));
    }
    html.push_str("</p></div></li>\n");
}
