//! Creates the content of a message: the sentences that the templates insert.

use std::cmp::Reverse;

use lettre::message::Mailbox;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;

use super::compose::counted;
use super::gather::Section;
use super::item::{KINDS, MailItem, Place};
use super::text::{address_of, day, enumerated, wrap};
use crate::foreign::{is_web, one_line};
use crate::report::words;
use crate::results::{Infostructure, ReportError, Results};
use crate::targets::is_on_most;
use crate::verdict::Verdict;

/// The two templates of a message.
#[derive(Debug)]
pub(super) struct Bodies {
    templates: Environment<'static>,
}

#[derive(Serialize)]
struct View<'v> {
    subject: &'v str,
    incomplete: Option<String>,
    sections: Vec<SectionView>,
    why: Vec<String>,
    change: String,
    program: &'static str,
    run: String,
}

#[derive(Serialize)]
struct SectionView {
    title: String,
    summary: String,
    items: Vec<ItemView>,
    beyond: Option<String>,
    index: Option<String>,
}

/// A target or a document.
#[derive(Serialize)]
struct ItemView {
    word: &'static str,
    url: String,
    can_follow: bool,
    reason: String,
    to: Option<String>,
    can_follow_to: bool,
    /// The number of pages with this link, unless all of them are listed.
    spread: Option<String>,
    places: Vec<PlaceView>,
}

/// A page that links to it.
#[derive(Serialize)]
struct PlaceView {
    url: String,
    can_follow: bool,
    link: String,
}

impl Bodies {
    pub(super) fn new() -> Result<Self, ReportError> {
        let mut templates = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
        templates.set_syntax(syntax.map_err(|error| unmade("the syntax of templates", error))?);
        templates.add_filter("wrap", |prose: String, first: Option<String>, indent: Option<String>| {
            wrap(&prose, &first.unwrap_or_default(), &indent.unwrap_or_default())
        });
        templates.add_filter("underline", |title: String, with: String| with.repeat(title.chars().count().min(78)));
        for (name, source) in [
            ("mail.txt", include_str!("../../templates/mail.txt")),
            ("mail.html", include_str!("../../templates/mail.html")),
        ] {
            templates.add_template(name, source).map_err(|error| unmade(name, error))?;
        }
        Ok(Self { templates })
    }

    /// Returns the message as plain text, and as HTML with the same content.
    pub(super) fn write(
        &self,
        results: &dyn Results,
        sections: &[Section],
        subject: &str,
        sender: &Mailbox,
    ) -> Result<(String, String), ReportError> {
        let (run, infostructures) = (results.run(), results.infostructures());
        let view = View {
            subject,
            incomplete: run
                .incomplete()
                .map(|why| format!("Incomplete: {}. The list may lack links on other pages.", one_line(&why, 300))),
            sections: sections
                .iter()
                .map(|section| section_view(section, &infostructures[section.of], results))
                .collect(),
            why: why(sections, infostructures),
            change: format!(
                "The task file defines which findings you receive and whether known ones are repeated. To \
                    change this, or to receive no more messages, write to {}.",
                sender.email
            ),
            program: concat!("modoai spider ", env!("CARGO_PKG_VERSION")),
            run: format!("run {} of {}", words::number(run.number), day(run.began)),
        };
        let view = Value::from(Serde(view));
        let write = |name| {
            let template = self.templates.get_template(name).map_err(|error| unmade(name, error))?;
            template.render(view.clone()).map_err(|error| unmade(name, error))
        };
        Ok((write("mail.txt")?, write("mail.html")?))
    }
}

/// Returns the title of an infostructure.
pub(super) fn title_of(infostructure: &Infostructure) -> &str {
    let task = &infostructure.task;
    task.index_title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&task.name)
}

fn section_view(section: &Section, infostructure: &Infostructure, results: &dyn Results) -> SectionView {
    let title = one_line(title_of(infostructure), 120);
    let task = &infostructure.task;
    // By verdict, then by the number of pages.
    let mut listed: Vec<&MailItem> = section.listed.iter().collect();
    listed.sort_by_key(|item| (KINDS.iter().position(|kind| *kind == item.verdict), Reverse(item.pages)));
    let items = listed.into_iter().map(|item| item_view(item, infostructure.summary.pages)).collect();
    let index = task.index_url.as_ref().map(|url| address_of(url.as_str()));
    let beyond = (section.beyond.items > 0).then(|| {
        let left = words::counted(section.beyond.items, ("more target does", "more targets do"));
        let where_to = match (&index, task.tell.always) {
            (Some(_), _) => ": see the index.",
            (None, true) => ".",
            (None, false) => "; the next message continues with them.",
        };
        format!("{left} not fit into this message{where_to}")
    });
    SectionView {
        title: match &section.pages_of {
            None => title,
            Some(owner) => format!("Pages of {owner} in {title}"),
        },
        summary: summary(section, infostructure, results),
        items,
        beyond,
        index,
    }
}

/// Returns the summary that precedes the details.
fn summary(section: &Section, infostructure: &Infostructure, results: &dyn Results) -> String {
    let (run, tested) = (results.run(), &infostructure.summary);
    let mut sentences = vec![match section.pages_of {
        None => format!(
            "{} with {} tested; the run ended on {}.",
            words::counted(tested.pages, ("document", "documents")),
            words::counted(tested.links, ("link was", "links were")),
            day(run.ended)
        ),
        Some(_) => format!("The run ended on {}.", day(run.ended)),
    }];
    let news = counted(&section.tally, 0, "");
    sentences.push(if news.is_empty() { "No new findings.".into() } else { format!("New: {}.", enumerated(&news)) });
    let known = counted(&section.tally, 1, "");
    if !known.is_empty() {
        sentences.push(format!("Reported before and not fixed: {}.", enumerated(&known)));
    }
    // An incomplete run cannot determine what is fixed.
    if section.pages_of.is_none() && run.cut_short.is_none() {
        for (count, word) in [(tested.fixed, "Fixed"), (tested.removed, "Removed")] {
            if count > 0 {
                sentences.push(format!("{word} since the previous run: {}.", words::number(count)));
            }
        }
    }
    sentences.join(" ")
}

fn item_view(item: &MailItem, documents: u64) -> ItemView {
    let word = match item.verdict {
        Verdict::Broken => "Broken",
        Verdict::Fragment => "Missing fragment",
        Verdict::Moved if item.permanent => "Moved permanently",
        Verdict::Moved => "Redirected temporarily",
        Verdict::Changed => "Changed",
        Verdict::Expiring => "Expires",
        Verdict::NotTested | Verdict::Good => item.verdict.name(),
    };
    let spread = (item.pages > 1).then(|| {
        let pages = words::number(item.pages);
        let first = if item.pages > item.places.len() as u64 { "; the first" } else { "" };
        match is_on_most(item.pages, documents) {
            true => format!("On {pages} of {} pages: in the site's template{first}:", words::number(documents)),
            false => format!("On {pages} pages{first}:"),
        }
    });
    ItemView {
        word,
        can_follow: can_follow(&item.url),
        url: item.url.clone(),
        reason: reason(item, word),
        can_follow_to: item.to.as_deref().is_some_and(can_follow),
        to: item.to.clone(),
        spread,
        places: item.places.iter().map(place_view).collect(),
    }
}

/// Returns the problem, the date since when it exists, and whether it is new.
fn reason(item: &MailItem, word: &str) -> String {
    // The word already contains the cause.
    let cause = if item.reason.eq_ignore_ascii_case(word) { "" } else { &item.reason };
    let when = item.since.map(|since| match item.verdict {
        Verdict::Changed | Verdict::Expiring => format!("on {}", day(since)),
        _ => format!("since {}", day(since)),
    });
    let parts: Vec<_> =
        [cause, when.as_deref().unwrap_or_default()].into_iter().filter(|part| !part.is_empty()).collect();
    let news = match item.new_pages {
        0 => "(reported before)".to_owned(),
        all if all == item.pages => "(new)".to_owned(),
        some => format!("(new on {})", words::counted(some, ("page", "pages"))),
    };
    format!("{} {news}", parts.join(", ")).trim_start().to_owned()
}

/// Returns a page, and the position of the link on it: its text, the element, the line.
fn place_view(place: &Place) -> PlaceView {
    let mut parts = Vec::new();
    if !place.text.is_empty() {
        parts.push(format!("\u{201c}{}\u{201d}", place.text));
    }
    if !place.element.is_empty() {
        parts.push(place.element.to_owned());
    }
    if place.line > 0 {
        parts.push(format!("line {}", place.line));
    }
    if !place.title.is_empty() {
        parts.push(format!("on \u{201c}{}\u{201d}", place.title));
    }
    PlaceView { url: place.page.clone(), can_follow: can_follow(&place.page), link: parts.join(", ") }
}

/// Returns the reasons why the recipient gets this message, in a sentence each.
fn why(sections: &[Section], infostructures: &[Infostructure]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for section in sections {
        let task = one_line(&infostructures[section.of].task.name, 80);
        let reason = match &section.pages_of {
            None => {
                format!("You receive this message because the spider task \u{201c}{task}\u{201d} lists your address.")
            }
            Some(owner) => format!(
                "You receive this message because pages name \u{201c}{owner}\u{201d} as their owner, and the \
                    task file lists your address for that name."
            ),
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    // More sentences would not help a recipient with many tasks.
    reasons.truncate(5);
    reasons
}

/// Returns true if a URL may be made a link: only web URLs may.
fn can_follow(url: &str) -> bool {
    is_web(url) && !url.ends_with('…')
}

fn unmade(what: &str, source: minijinja::Error) -> ReportError {
    ReportError::Render { what: what.to_owned(), source: Box::new(source) }
}
