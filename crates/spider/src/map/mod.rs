//! The map of the web, which Fielding's paper left to future work: an interactive diagram of an infostructure as one
//! self-contained HTML page; and the same graph for other programs.
//!
//! | module | what it does |
//! |---|---|
//! | `web` | selects the contents: pages, links, broken ends, within limits |
//! | `document_index` | finds the documents that references refer to |
//! | `folders`, `pack` | compute the main layout: pages in circles that are directories |
//! | `rings` | computes the layout around the top, by distance |
//! | `embed` | encodes all of that compactly, for the script of the page |
//! | `static_svg` | draws the diagram for browsers without scripts |
//! | [`dot`], [`graphml`] | export the graph, with `graph` |
//!
//! Layouts are computed here and not in the browser: the same web always has the same diagram, it appears immediately,
//! and tests can check positions.

mod document_index;
pub mod dot;
mod embed;
mod folders;
mod graph;
pub mod graphml;
mod pack;
mod rings;
mod static_svg;
mod web;

use std::io::Write;

use minijinja::{Environment, Value, context};

use crate::foreign::is_web;
use crate::report::words;
use crate::results::{ReportError, Results, Visit};
use crate::verdict::Verdict;

pub use dot::write_dot;
pub use graphml::write_graphml;

use web::{Limits, Web, badness};

/// The radius of the diagram, in the units of the page's script.
const RADIUS: f64 = 20_000.0;
/// The page's script: data, drawing, interaction.
const PROGRAM: &str = concat!(
    include_str!("../../templates/map-web.js"),
    include_str!("../../templates/map-draw.js"),
    include_str!("../../templates/map.js")
);
/// The maximum number of pages in the list for browsers without scripts.
const LISTED: usize = 300;

/// Writes the map of one infostructure: a self-contained HTML page. If `of` is not an infostructure of the run, nothing
/// is written.
pub fn write_map(results: &dyn Results, of: usize, out: &mut dyn Write) -> Visit {
    let Some(infostructure) = results.infostructures().get(of) else { return Ok(()) };
    let web = Web::read(results, of, Limits::default())?;
    let folders = folders::lay_out(&web, RADIUS);
    let rings = rings::lay_out(&web, RADIUS);
    let failed =
        |error: Box<dyn std::error::Error + Send + Sync>| ReportError::Render { what: "the map".into(), source: error };
    let data = embed::columns(&web, &folders, &rings).map_err(|error| failed(error.into()))?;

    let mut templates = Environment::new();
    templates
        .add_template("map.html", include_str!("../../templates/map.html"))
        .map_err(|error| failed(error.into()))?;
    let template = templates.get_template("map.html").map_err(|error| failed(error.into()))?;
    let run = results.run();
    let task = &infostructure.task;
    let page = context! {
        title => task.index_title.as_deref().unwrap_or(&task.name),
        top => task.top.as_str(),
        ended => run.ended.strftime("%F %H:%M UTC").to_string(),
        incomplete => run.incomplete(),
        pages => counted(web.pages.len() + web.pages_left_out, "page"),
        links => counted(web.links.iter().map(Vec::len).sum::<usize>() + web.links_left_out, "link"),
        broken => words::counted(infostructure.summary.broken, ("broken target", "broken targets")),
        fragments => words::counted(infostructure.summary.fragments, ("missing fragment", "missing fragments")),
        pages_left_out => (web.pages_left_out > 0).then(|| counted(web.pages_left_out, "page")),
        links_left_out => (web.links_left_out > 0).then(|| counted(web.links_left_out, "link")),
        listed => listed(&web),
        troubled => counted(troubled(&web).count(), "page"),
        style => include_str!("../../templates/map.css"),
        program => PROGRAM,
        still => static_svg::svg(&web, &folders, RADIUS),
        data => data,
    };
    let page = template.render(page).map_err(|error| failed(error.into()))?;
    out.write_all(page.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|source| ReportError::Write { what: "the map".into(), source })
}

/// Returns the pages with problems, the worst first.
fn troubled(web: &Web) -> impl Iterator<Item = usize> {
    (0..web.pages.len()).filter(|page| badness(web.pages[*page].verdict) <= badness(Verdict::Moved))
}

/// Returns the rows of the list for browsers without scripts: targets that most pages link to, then pages.
fn listed(web: &Web) -> Vec<Value> {
    let count = |page: usize, verdict| web.pages[page].count(&web.ends, verdict);
    let mut pages: Vec<usize> = troubled(web).collect();
    pages.sort_by_cached_key(|page| {
        (badness(web.pages[*page].verdict), usize::MAX - count(*page, web.pages[*page].verdict), *page)
    });
    let row = |page: usize| {
        let counts: Vec<String> =
            [(Verdict::Broken, "broken"), (Verdict::Fragment, "missing fragments"), (Verdict::Moved, "moved")]
                .into_iter()
                .map(|(verdict, name)| (count(page, verdict), name))
                .filter(|(count, _)| *count > 0)
                .map(|(count, name)| format!("{count} {name}"))
                .collect();
        let this = &web.pages[page];
        let gone = this.is_gone.then(|| "the page itself is broken".to_owned());
        context! {
            // Only URLs that a browser may follow safely.
            href => is_web(&this.url).then_some(this.url.as_str()),
            name => this.name(),
            verdict => badness(this.verdict),
            owner => this.owner.map(|owner| web.owners[owner].as_str()),
            counts => gone.into_iter().chain(counts).collect::<Vec<_>>().join(", "),
        }
    };
    let shared = web.ends.iter().filter(|end| end.is_site_wide && badness(end.verdict) <= badness(Verdict::Moved));
    let shared = shared.map(|end| {
        context! {
            href => is_web(&end.url).then_some(end.url.as_str()),
            name => end.url.as_str(),
            verdict => badness(end.verdict),
            owner => None::<&str>,
            counts => format!("{}, linked from most pages: in the site's template", end.reason),
        }
    });
    shared.chain(pages.into_iter().map(row)).take(LISTED).collect()
}

/// Formats a count with its unit.
fn counted(number: usize, thing: &str) -> String {
    words::counted(number as u64, (thing, &format!("{thing}s")))
}
