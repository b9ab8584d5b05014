//! The values for the templates. Untrusted text is processed by [`Printable`] first, so that no control character gets
//! into a page; templates escape the rest.

use serde::Serialize;

use super::super::words::{self, VERDICTS};
use super::attention::Attention;
use super::{Index, pile_name};
use crate::foreign::{Printable, is_web};
use crate::results::{Run, Summary};
use crate::task::{Scope, Task};

/// The values of the index itself.
#[derive(Serialize)]
pub(super) struct FrontView {
    #[serde(flatten)]
    page: PageView,
    task: String,
    top: String,
    top_is_web: bool,
    counts: String,
    incomplete: Option<String>,
    tiles: Vec<Tile>,
    since: Option<Since>,
    prior: Option<Further>,
    older: Vec<Further>,
    sections: Vec<Section>,
    is_split: bool,
    template: Option<String>,
    parts: Vec<PartLink>,
    remarks: Vec<String>,
    facts: Vec<(&'static str, String)>,
}

/// The values of a further page, or those that all pages share.
#[derive(Serialize)]
pub(super) struct PageView {
    /// The title of the whole index.
    pub title: String,
    /// The date of its creation, for humans and for programs.
    pub made: String,
    pub made_exactly: String,
    /// The name of this version.
    pub version: String,
    pub program: &'static str,
    pub heading: String,
    pub lead: String,
    pub back: String,
    pub before: Option<Further>,
    pub after: Option<Further>,
    pub is_documents: bool,
}

#[derive(Serialize)]
pub(super) struct Further {
    pub href: String,
    pub label: String,
}

#[derive(Serialize)]
struct Tile {
    slug: &'static str,
    sign: &'static str,
    number: String,
    label: &'static str,
    /// True if the index has a table to link to.
    is_linked: bool,
}

/// The changes of findings since the previous run.
#[derive(Serialize)]
struct Since {
    before: String,
    new: String,
    has_new: bool,
    still: String,
    fixed: String,
    removed: String,
    unchecked: Option<String>,
    has_earlier: bool,
}

#[derive(Serialize)]
struct Section {
    slug: &'static str,
    sign: &'static str,
    heading: &'static str,
    advice: &'static str,
    count: String,
    shown: Option<String>,
    pages: Vec<Further>,
}

#[derive(Serialize)]
struct PartLink {
    href: String,
    number: usize,
    documents: String,
    faulty: Option<String>,
    first: String,
    last: String,
}

impl PageView {
    /// Returns the values that all pages share.
    pub(super) fn of(index: &Index<'_>) -> Self {
        let run = index.results.run();
        let task = &index.results.infostructures()[index.of].task;
        Self {
            title: clean(task.index_title.as_deref().unwrap_or(&task.name)),
            made: words::minute(run.ended).to_string(),
            made_exactly: run.ended.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            version: index.shelf.version().to_owned(),
            program: concat!("modoai spider ", env!("CARGO_PKG_VERSION")),
            heading: String::new(),
            lead: String::new(),
            back: String::new(),
            before: None,
            after: None,
            is_documents: true,
        }
    }

    /// Returns the same without values that differ between versions, so that an unchanged page stays the same file.
    pub(super) fn undated(index: &Index<'_>) -> Self {
        let nothing = String::new;
        Self { made: nothing(), made_exactly: nothing(), version: nothing(), ..Self::of(index) }
    }
}

/// Returns the values of the index itself.
pub(super) fn front(index: &Index<'_>, attention: &Attention) -> FrontView {
    let run = index.results.run();
    let infostructure = &index.results.infostructures()[index.of];
    let (task, summary) = (&infostructure.task, &infostructure.summary);
    let folder = index.shelf.folder_href();

    let since = run.before.map(|before| {
        let all: u64 = VERDICTS.iter().map(|wording| words::count(summary, wording.verdict)).sum();
        Since {
            before: words::minute(before).to_string(),
            new: words::number(summary.new),
            has_new: summary.new > 0,
            still: words::number(all.saturating_sub(summary.new)),
            fixed: words::number(summary.fixed),
            removed: words::number(summary.removed),
            unchecked: (summary.unchecked > 0).then(|| words::number(summary.unchecked)),
            has_earlier: summary.fixed + summary.removed > 0,
        }
    });

    let tiles = VERDICTS.iter().map(|wording| {
        let number = words::count(summary, wording.verdict);
        let is_linked = attention.of(wording.slug).is_some_and(|pile| !pile.targets.is_empty());
        let label = if number == 1 { wording.counted.0 } else { wording.counted.1 };
        Tile { slug: wording.slug, sign: wording.sign, number: words::number(number), label, is_linked }
    });
    let piles = attention.piles();
    let sections = piles.iter().filter(|pile| !pile.targets.is_empty()).map(|pile| {
        let pages = (0..pile.pages()).map(|page| Further {
            href: format!("{folder}/{}", pile_name(pile.wording, page)),
            label: words::number(page as u64 + 1),
        });
        let is_link = pile.wording.is_of_a_link();
        let things = if is_link { ("target", "targets") } else { ("document", "documents") };
        let mut count = words::counted(pile.targets.len() as u64, things);
        if is_link {
            put!(&mut count, ", {}", words::counted(pile.links(), ("link", "links")));
        }
        let new = pile.count_new();
        if is_link && run.before.is_some() && new > 0 {
            put!(&mut count, ", {} new", words::number(new));
        }
        Section {
            slug: pile.wording.slug,
            sign: pile.wording.sign,
            heading: pile.wording.heading,
            advice: pile.wording.advice,
            count,
            shown: (pile.pages() > 0).then(|| words::number(super::FIRST_FEW as u64)),
            pages: pages.collect(),
        }
    });
    let shared = &index.known.shared.examples;
    let is_split = index.contents.is_split();
    let origin = task.top.origin().ascii_serialization();
    let parts = index.contents.parts.iter().enumerate().filter(|_| is_split).map(|(at, part)| PartLink {
        href: format!("{folder}/{}", part.name()),
        number: at + 1,
        documents: words::number(part.documents.into()),
        faulty: (part.faulty > 0).then(|| words::number(part.faulty.into())),
        first: clean(without(&origin, &part.first)),
        last: clean(without(&origin, &part.last)),
    });
    let mut versions = index.shelf.priors().map(|(href, label)| Further { href, label });
    FrontView {
        page: PageView::of(index),
        task: clean(&task.name),
        top: clean(task.top.as_str()),
        top_is_web: is_web(task.top.as_str()),
        counts: counts(summary),
        incomplete: incomplete(run, summary).map(|why| clean(&why)),
        tiles: tiles.collect(),
        since,
        prior: versions.next(),
        older: versions.collect(),
        sections: sections.collect(),
        is_split,
        template: (!shared.is_empty()).then(|| words::counted(shared.len() as u64, ("reference", "references"))),
        parts: parts.collect(),
        remarks: run.remarks.iter().map(|remark| clean(remark)).collect(),
        facts: facts(index, task),
    }
}

/// Returns the reason why the index of one infostructure is incomplete: the run ended early, or pages of this
/// infostructure could not be read.
fn incomplete(run: &Run, summary: &Summary) -> Option<String> {
    let of_this = Run { summary: summary.clone(), ..run.clone() };
    let is_whole_run = summary.unread == run.summary.unread;
    if is_whole_run { of_this.incomplete() } else { Run { unread: Vec::new(), ..of_this }.incomplete() }
}

fn clean(text: &str) -> String {
    Printable(text).to_string()
}

/// Returns a URL without this origin: most infostructures have only one.
fn without<'a>(origin: &str, url: &'a str) -> &'a str {
    url.strip_prefix(origin).filter(|path| path.starts_with('/')).unwrap_or(url)
}

fn counts(summary: &Summary) -> String {
    let Summary { pages, links, urls, .. } = summary;
    format!(
        "{} with {} to {}",
        words::counted(*pages, ("document", "documents")),
        words::counted(*links, ("link", "links")),
        words::counted(*urls, ("URL", "URLs"))
    )
}

/// Returns the task and the run that created the index.
fn facts(index: &Index<'_>, task: &Task) -> Vec<(&'static str, String)> {
    let run = index.results.run();
    let mut facts = vec![("Task", clean(&task.name))];
    let scope = match task.scope {
        Scope::Site => "Site: the host and port of the start page",
        Scope::Tree => "Tree: URLs at or below the path of the start page",
        Scope::Owner => "Owner: documents that name the task as their owner",
    };
    facts.push(("Scope", scope.to_owned()));
    facts.push(("Top", clean(task.top.as_str())));
    if !task.exclude.is_empty() {
        facts.push(("Excludes", clean(&task.exclude.join(" "))));
    }
    let days = |days: u32| words::counted(days.into(), ("day", "days"));
    if let Some(window) = task.change_window {
        facts.push(("Reports as changed", format!("within {}", days(window))));
    }
    if let Some(window) = task.expire_window {
        facts.push(("Reports as expiring", format!("within {}", days(window))));
    }
    if let Some(pages) = task.max_pages {
        facts.push(("At most", words::counted(pages, ("document", "documents"))));
    }
    if let Some(url) = &task.index_url {
        facts.push(("Published at", clean(url.as_str())));
    }
    facts.extend(mail(task).map(|mail| ("Mail", clean(&mail))));
    facts.extend(run.settings.iter().map(|(name, value)| (*name, clean(value))));
    facts.push(("Run", words::number(run.number)));
    facts.push(("Began", words::minute(run.began).to_string()));
    facts.push(("Ended", words::minute(run.ended).to_string()));
    facts.push(("Execution time", words::took(run.began, run.ended)));
    let Summary { requests, bytes, .. } = run.summary;
    let requests = words::counted(requests, ("request", "requests"));
    facts.push(("Cost", format!("{requests}, {} (of the whole run)", words::size(bytes))));
    facts
}

/// Returns the recipients of mail and their findings, if mail is configured.
fn mail(task: &Task) -> Option<String> {
    let tell = &task.tell;
    let days = |days: u32| words::counted(days.into(), ("day", "days"));
    let mut about: Vec<String> = Vec::new();
    about.extend(tell.broken.then(|| "broken links".to_owned()));
    about.extend(tell.redirected.then(|| "moved links".to_owned()));
    about.extend(tell.changed.map(|window| format!("documents changed within {}", days(window))));
    about.extend(tell.expired.map(|window| format!("documents that expire within {}", days(window))));
    if task.addresses.is_empty() || about.is_empty() {
        return None;
    }
    let when = if tell.always { "all findings, after every run" } else { "only new findings" };
    Some(format!("{}: {} ({when})", task.addresses.join(", "), about.join(", ")))
}
