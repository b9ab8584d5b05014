//! One document of the index: its headers, its references, and what became of each.
//!
//! References that are good are folded away, one line for each target; a page whose menu has a hundred links would otherwise
//! bury the one that is broken.

use std::collections::HashMap;

use jiff::Timestamp;

use super::super::words::{self, TOLD};
use super::contents::Links;
use crate::foreign::{Escaped, is_followable, is_web};
use crate::reference::Kind;
use crate::results::{Document, Referenced};
use crate::verdict::{Outcome, Verdict};

/// How many references of each kind are listed; machines get all of them from the other formats.
const BAD: usize = 200;
/// Menus repeat on every page of a site; a hundred targets show what a page is about.
const GOOD: usize = 100;
/// So few are not worth folding away.
const FEW: usize = 4;

/// Adds the entry.
pub(super) fn write(
    document: &Document,
    references: &[Referenced],
    links: &Links<'_>,
    now: Timestamp,
    html: &mut String,
) {
    put!(html, "<article id=\"d{}\">\n<h3>", document.node);
    let title = document.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    anchor(&document.url, title.unwrap_or_else(|| path_of(&document.url)), html);
    put!(html, "</h3>\n<p class=\"url\">{}</p>\n", Escaped(&document.url));
    marks(document, references, html);
    facts(document, html);
    bad_references(references, links, now, html);
    good_references(references, links, html);
    html.push_str("</article>\n");
}

/// Text that leads to a URL, if that can be followed without harm.
pub(super) fn anchor(url: &str, text: &str, html: &mut String) {
    anchor_if(is_followable(url), url, text, html);
}

/// Foreign text keeps its direction of writing to itself.
fn anchor_if(is_link: bool, url: &str, text: &str, html: &mut String) {
    if is_link {
        put!(html, "<a href=\"{}\"><bdi>{}</bdi></a>", Escaped(url), Escaped(text));
    } else {
        put!(html, "<bdi>{}</bdi>", Escaped(text));
    }
}

/// What is after the host.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or(url, |at| &rest[at..])
}

/// What needs attention, in a few words.
fn marks(document: &Document, references: &[Referenced], html: &mut String) {
    let is_marked = document.is_changed || document.is_expiring;
    if !is_marked && references.iter().all(|reference| reference.verdict == Verdict::Good) {
        return;
    }
    html.push_str("<ul class=\"marks\">");
    for told in TOLD {
        let count = references.iter().filter(|reference| reference.verdict == told.verdict).count();
        let text = match told.verdict {
            Verdict::Changed if document.is_changed => "changed lately".to_owned(),
            Verdict::Expiring if document.is_expiring => "expired or about to".to_owned(),
            Verdict::Fragment if count > 1 => format!("{count} fragments"),
            verdict if count > 0 => format!("{count} {}", verdict.name()),
            _ => continue,
        };
        put!(html, "<li class=\"v {}\"><b aria-hidden=\"true\">{}</b> {text}</li>", told.slug, told.sign);
    }
    html.push_str("</ul>\n");
}

fn facts(document: &Document, html: &mut String) {
    html.push_str("<dl class=\"facts\">");
    let mut fact = |name: &str, value: &str| {
        put!(html, "<div><dt>{name}</dt><dd>{}</dd></div>", Escaped(value));
    };
    match (&document.outcome, document.status) {
        (Outcome::Good, Some(status)) => fact("Status", &status.to_string()),
        (Outcome::Good, None) => {}
        (outcome, _) => fact("Status", &outcome.to_string()),
    }
    let dated = |at: Option<Timestamp>| at.map(|at| words::minute(at).to_string());
    if let Some(owner) = &document.owner {
        fact("Owner", owner);
    }
    if let Some(at) = dated(document.last_modified) {
        fact("Last modified", &at);
    }
    if let Some(at) = dated(document.expires) {
        fact("Expires", &at);
    }
    if let Some(at) = dated(document.changed) {
        fact("Seen to change", &at);
    }
    let size = document.bytes.map(words::size);
    match (&document.media_type, size) {
        (Some(media_type), Some(size)) => fact("Type", &format!("{media_type}, {size}")),
        (Some(media_type), None) => fact("Type", media_type),
        (None, Some(size)) => fact("Size", &size),
        (None, None) => {}
    }
    fact("First seen", &words::day(document.first_seen).to_string());
    match document.depth {
        0 => fact("Depth", "top"),
        depth => fact("Depth", &words::counted(depth.into(), ("link", "links"))),
    }
    html.push_str("</dl>\n");
}

fn bad_references(references: &[Referenced], links: &Links<'_>, now: Timestamp, html: &mut String) {
    let mut bad = references.iter().filter(|reference| reference.verdict != Verdict::Good).peekable();
    if bad.peek().is_none() {
        return;
    }
    html.push_str("<ul class=\"refs\">\n");
    for reference in bad.by_ref().take(BAD) {
        let Some(told) = words::told(reference.verdict) else { continue };
        let small = if reference.is_small_move { " small" } else { "" };
        put!(
            html,
            "<li><span class=\"v {}{small}\"><b aria-hidden=\"true\">{}</b> {}</span><div>",
            told.slug,
            told.sign,
            told.verdict.name()
        );
        if !reference.text.is_empty() {
            put!(html, "<q><bdi>{}</bdi></q> ", Escaped(&reference.text));
        }
        let target = words::aim(&reference.target, reference.fragment.as_deref());
        anchor(&target, &target, html);
        put!(html, "<p>{}", Escaped(reference.reason.as_deref().unwrap_or(told.verdict.name())));
        if let Some(since) = reference.since {
            put!(html, ", {}", words::since(since, now));
        }
        if let Some(to) = &reference.to {
            html.push_str(" → ");
            anchor(to, to, html);
        }
        html.push_str(" <small>");
        kind_and_line(reference, html);
        entry_link(reference, links, html);
        html.push_str("</small></p></div></li>\n");
    }
    html.push_str("</ul>\n");
    let rest = bad.count();
    if rest > 0 {
        let rest = words::number(rest as u64);
        put!(html, "<p class=\"note\">… and {rest} more; the findings as JSON or CSV have all of them.</p>\n");
    }
}

/// The same target by the same element is told once.
fn good_references(references: &[Referenced], links: &Links<'_>, html: &mut String) {
    let good = || references.iter().filter(|reference| reference.verdict == Verdict::Good);
    let mut times: HashMap<_, u32> = HashMap::new();
    for reference in good() {
        *times.entry(key(reference)).or_default() += 1;
    }
    if times.is_empty() {
        return;
    }
    let (distinct, total) = (times.len(), good().count());
    let open = if distinct <= FEW { " open" } else { "" };
    let what = words::counted(total as u64, ("good reference", "good references"));
    put!(html, "<details{open}><summary>{what}");
    if distinct < total {
        put!(html, " to {}", words::counted(distinct as u64, ("target", "targets")));
    }
    html.push_str("</summary>\n<ul class=\"good\">\n");
    let mut listed = 0;
    for reference in good() {
        let Some(times) = times.remove(&key(reference)) else { continue };
        if listed == GOOD {
            break;
        }
        listed += 1;
        let target = words::aim(&reference.target, reference.fragment.as_deref());
        let text = if reference.text.is_empty() { path_of(&target) } else { &reference.text };
        html.push_str("<li>");
        // What is good was followed already; there are too many of them to look again.
        anchor_if(is_web(&target), &target, text, html);
        html.push_str(" <small>");
        kind_and_line(reference, html);
        if times > 1 {
            put!(html, " and {} more", times - 1);
        }
        if let Some(title) = reference.title.as_deref().filter(|title| !title.is_empty() && *title != reference.text) {
            put!(html, " · <bdi>{}</bdi>", Escaped(title));
        }
        if let Some(at) = reference.last_modified {
            put!(html, " · modified {}", words::day(at));
        }
        entry_link(reference, links, html);
        html.push_str("</small></li>\n");
    }
    html.push_str("</ul>\n");
    if distinct > listed {
        put!(html, "<p class=\"note\">… and {} more targets.</p>\n", words::number((distinct - listed) as u64));
    }
    html.push_str("</details>\n");
}

fn key(reference: &Referenced) -> (Kind, &str, Option<&str>) {
    (reference.kind, &reference.target, reference.fragment.as_deref())
}

fn kind_and_line(reference: &Referenced, html: &mut String) {
    put!(html, "{}", Escaped(reference.kind.name()));
    if reference.line > 0 {
        put!(html, ", line {}", reference.line);
    }
}

fn entry_link(reference: &Referenced, links: &Links<'_>, html: &mut String) {
    if let Some(href) = reference.node.filter(|_| reference.is_inside).and_then(|node| links.to(node)) {
        put!(html, " · <a href=\"{href}\">entry</a>");
    }
}
