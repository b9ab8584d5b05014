//! Writes the entry of one document: its headers, its references, and their results.
//!
//! Every reference is listed once, regardless of its number of occurrences: those with a finding first, the others
//! collapsed. References of most documents are listed with the template of the site. References that would make an
//! entry too long are moved to separate pages.

use std::collections::HashMap;

use jiff::Timestamp;

use super::super::words::{self, VERDICTS};
use super::contents::Links;
use super::shared::{Shared, identity};
use crate::foreign::{Escaped, is_followable, is_web};
use crate::results::{Document, Referenced};
use crate::targets::Targets;
use crate::verdict::{Outcome, Verdict};

/// The maximum number of references in an entry.
const LISTED: usize = 500;
/// The number of references on one further page of an entry.
pub(super) const TO_A_PAGE: usize = 2_000;
/// The maximum number of good references that are not collapsed.
const FEW: usize = 4;

/// The contents that entries omit, because the index lists them once.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub targets: &'a Targets,
    pub shared: &'a Shared,
}

impl Known<'_> {
    /// Returns the document's own references, each once with its number: findings, then those that were skipped, then
    /// the others.
    fn own<'r>(&self, references: &'r [Referenced], is_folded: bool) -> Vec<(&'r Referenced, u32)> {
        let mut places: HashMap<_, usize> = HashMap::new();
        let mut own: Vec<(&Referenced, u32)> = Vec::new();
        for reference in references {
            let is_shared = is_folded && self.shared.has(reference);
            if is_shared
                || self.targets.is_site_wide(reference.verdict, &reference.target, reference.fragment.as_deref())
            {
                continue;
            }
            let at = *places.entry(identity(reference)).or_insert(own.len());
            match own.get_mut(at) {
                Some((_, times)) => *times += 1,
                None => own.push((reference, 1)),
            }
        }
        own.sort_by_key(|(reference, _)| group(reference));
        own
    }
}

/// The groups in which references are listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Finding,
    Skipped,
    Good,
}

fn group(reference: &Referenced) -> Group {
    match reference.verdict {
        Verdict::Good => Group::Good,
        _ if reference.is_skipped => Group::Skipped,
        _ => Group::Finding,
    }
}

/// Adds the entry. Returns the references that do not fit.
pub(super) fn write<'r>(
    document: &Document,
    references: &'r [Referenced],
    known: Known<'_>,
    links: &Links<'_>,
    html: &mut String,
) -> Vec<(&'r Referenced, u32)> {
    put!(html, "<article id=\"d{}\">\n<h3>", document.node);
    let title = document.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    anchor(&document.url, title.unwrap_or_else(|| path_of(&document.url)), html);
    put!(html, "</h3>\n<p class=\"url\">{}</p>\n", Escaped(&document.url));
    let part = known.shared.part(references);
    let mut own = known.own(references, part.has > 0);
    marks(document, &own, html);
    facts(document, html);
    let rest = own.split_off(own.len().min(LISTED));
    list(&own, links, html);
    if part.has > 0 {
        let all = known.shared.examples.len();
        let href = links.to_template();
        let has = words::counted(part.has as u64, ("reference", "references"));
        put!(html, "<p class=\"note\"><a href=\"{href}\">{has} of the site's template</a>");
        if part.has < all {
            let lacks: Vec<&str> = part.lacks.iter().map(|lacked| path_of(&lacked.target)).collect();
            put!(html, " (without {})", Escaped(&lacks.join(", ")));
        }
        html.push_str("</p>\n");
    }
    if !rest.is_empty() {
        put!(html, "<p class=\"note\">{} more: ", words::counted(rest.len() as u64, ("reference", "references")));
        for page in 0..rest.len().div_ceil(TO_A_PAGE) {
            let href = links.to_references(document.node, page);
            put!(html, "<a href=\"{href}\">page {}</a> ", page + 1);
        }
        html.push_str("</p>\n");
    }
    html.push_str("</article>\n");
    rest
}

/// Adds references in their groups; the good ones collapsed unless they are few.
pub(super) fn list(own: &[(&Referenced, u32)], links: &Links<'_>, html: &mut String) {
    for of in own.chunk_by(|(one, _), (other, _)| group(one) == group(other)) {
        match group(of[0].0) {
            Group::Good => good(of, links, html),
            Group::Finding | Group::Skipped => bad(of, links, html),
        }
    }
}

/// Adds text as a link to a URL, if following that is safe.
pub(super) fn anchor(url: &str, text: &str, html: &mut String) {
    anchor_if(is_followable(url), url, text, html);
}

/// The direction of untrusted text must not affect its surroundings.
fn anchor_if(is_link: bool, url: &str, text: &str, html: &mut String) {
    if is_link {
        put!(html, "<a href=\"{}\"><bdi>{}</bdi></a>", Escaped(url), Escaped(text));
    } else {
        put!(html, "<bdi>{}</bdi>", Escaped(text));
    }
}

/// Returns the part of a URL after the host.
pub(super) fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or(url, |at| &rest[at..])
}

/// Adds a short list of the problems of a document.
fn marks(document: &Document, own: &[(&Referenced, u32)], html: &mut String) {
    let count = |is: &dyn Fn(&Referenced) -> bool| own.iter().filter(|(reference, _)| is(reference)).count();
    let mut marks = String::new();
    for wording in VERDICTS {
        let found = count(&|reference| reference.verdict == wording.verdict && !reference.is_skipped);
        let text = match wording.verdict {
            Verdict::Changed if document.is_changed => "changed".to_owned(),
            Verdict::Expiring if document.is_expiring => "expired or expiring".to_owned(),
            Verdict::Fragment if found > 1 => format!("{found} fragments"),
            verdict if found > 0 => format!("{found} {}", verdict.name()),
            _ => continue,
        };
        put!(&mut marks, "<li class=\"v {}\"><b aria-hidden=\"true\">{}</b> {text}</li>", wording.slug, wording.sign);
    }
    let skipped = count(&|reference| reference.is_skipped);
    if skipped > 0 {
        put!(&mut marks, "<li class=\"v none\">{skipped} skipped</li>");
    }
    if !marks.is_empty() {
        put!(html, "<ul class=\"marks\">{marks}</ul>\n");
    }
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

fn bad(references: &[(&Referenced, u32)], links: &Links<'_>, html: &mut String) {
    html.push_str("<ul class=\"refs\">\n");
    for (reference, times) in references {
        let Some(wording) = words::wording(reference.verdict) else { continue };
        let (slug, sign, name) = match reference.is_skipped {
            true => ("none", "–", "skipped"),
            false => (wording.slug, wording.sign, wording.verdict.name()),
        };
        let small = if reference.is_small_move { " small" } else { "" };
        put!(html, "<li><span class=\"v {slug}{small}\"><b aria-hidden=\"true\">{sign}</b> {name}</span><div>");
        if !reference.text.is_empty() {
            put!(html, "<q><bdi>{}</bdi></q> ", Escaped(&reference.text));
        }
        let target = words::aim(&reference.target, reference.fragment.as_deref());
        anchor(&target, &target, html);
        put!(html, "<p>{}", Escaped(reference.reason.as_deref().unwrap_or(wording.verdict.name())));
        if let Some(since) = reference.since {
            put!(html, ", since {}", words::day(since));
        }
        if let Some(to) = &reference.to {
            html.push_str(" → ");
            anchor(to, to, html);
        }
        html.push_str(" <small>");
        kind_and_line(reference, *times, html);
        entry_link(reference, links, html);
        html.push_str("</small></p></div></li>\n");
    }
    html.push_str("</ul>\n");
}

fn good(references: &[(&Referenced, u32)], links: &Links<'_>, html: &mut String) {
    let open = if references.len() <= FEW { " open" } else { "" };
    let what = words::counted(references.len() as u64, ("good reference", "good references"));
    put!(html, "<details{open}><summary>{what}</summary>\n<ul class=\"good\">\n");
    for (reference, times) in references {
        let target = words::aim(&reference.target, reference.fragment.as_deref());
        let text = if reference.text.is_empty() { path_of(&target) } else { &reference.text };
        html.push_str("<li>");
        // Good targets have already been followed; parsing them again would take too long.
        anchor_if(is_web(&target), &target, text, html);
        html.push_str(" <small>");
        kind_and_line(reference, *times, html);
        if let Some(title) = reference.title.as_deref().filter(|title| !title.is_empty() && *title != reference.text) {
            put!(html, " · <bdi>{}</bdi>", Escaped(title));
        }
        if let Some(at) = reference.last_modified {
            put!(html, " · modified {}", words::day(at));
        }
        entry_link(reference, links, html);
        html.push_str("</small></li>\n");
    }
    html.push_str("</ul>\n</details>\n");
}

fn kind_and_line(reference: &Referenced, times: u32, html: &mut String) {
    put!(html, "{}", Escaped(reference.kind.name()));
    if reference.line > 0 {
        put!(html, ", line {}", reference.line);
    }
    if times > 1 {
        put!(html, " and {} more", times - 1);
    }
}

fn entry_link(reference: &Referenced, links: &Links<'_>, html: &mut String) {
    if let Some(href) = reference.node.filter(|_| reference.is_inside).and_then(|node| links.to(node)) {
        put!(html, " · <a href=\"{href}\">entry</a>");
    }
}
