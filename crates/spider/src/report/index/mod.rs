//! Writes the index document of one infostructure, a modern version of MOMspider's.
//!
//! It contains the settings and date of the run, the targets that need attention, and the new, fixed and removed ones
//! since the previous version, with a link to that version. An entry for every document follows, with its headers, its
//! references, and their results. Entries refer to each other. A large index consists of a first page and a directory
//! of further pages next to it. Further pages without changes since the previous version are not written again.
//!
//! Memory contains the targets with a finding, one part of the documents at a time, and twenty-four bytes for every
//! other document: the position of its entry. Documents are therefore visited several times: to find what most of them
//! share, to divide them among pages, and to write them. Templates create the surroundings of entries. Entries
//! themselves, of which there may be a hundred thousand with millions of references, are written without a template,
//! which is many times faster.
//!
//! | file | contents |
//! |---|---|
//! | `contents` | assigns entries to pages, and creates links to them |
//! | `entry` | one document, its headers and references |
//! | `attention` | tables of the targets that need attention |
//! | `shared` | references that most documents have |
//! | `frame` | templates, and their holes for entries |
//! | `view` | the values for the template of the index |
//! | `shelf` | files: incomplete versions stay hidden, previous ones are kept and share unchanged pages |

mod attention;
#[cfg(test)]
mod browser;
mod contents;
mod entry;
mod frame;
mod shared;
mod shelf;
#[cfg(test)]
mod tests;
mod view;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::words::{self, VerdictText};
use crate::results::{Document, Referenced, ReportError, Results, Visit};
use crate::targets::Target;
use attention::{Attention, Pile};
use contents::{Contents, Links, Place};
use entry::Known;
use shared::Shared;
use shelf::Shelf;
use view::{Further, PageView};

/// The maximum number of targets of a verdict in the index itself. If it has more, separate pages list them, and the
/// index only the first ones.
const IN_INDEX: usize = 500;
/// The number of targets in the index in that case.
const FIRST_FEW: usize = 100;
/// The number of targets on such a page.
const TO_A_PAGE: usize = 1_000;
/// The number of fixed and of removed targets that are listed; they no longer need attention.
const EARLIER: usize = 200;

/// The files of a written index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The index.
    pub index: PathBuf,
    /// The directory of its further pages, if it is large.
    pub folder: Option<PathBuf>,
    /// The number of further pages.
    pub pages: usize,
    /// The path to which the previous version was moved.
    pub prior: Option<PathBuf>,
}

/// Writes the index document of one infostructure to a file. An existing file is kept next to it under a name with its
/// date, and linked; the last ten versions are kept. Readers see the previous version until everything is written.
pub fn write(results: &dyn Results, of: usize, path: &Path) -> Result<Written, ReportError> {
    let shelf = Shelf::open(path, results.run().began)?;
    let attention = Attention::gather(results, of)?;
    let shared = Shared::gather(results, of)?;
    let known = Known { targets: &attention.targets, shared: &shared };
    let contents = Contents::plan(results, of, known)?;
    let index = Index { results, of, shelf: &shelf, contents: &contents, known };
    if contents.is_split() {
        index.write_parts()?;
    }
    for pile in attention.piles() {
        index.write_pile(&pile)?;
    }
    index.write_front(&attention)?;
    let pages = shelf.pages_written();
    let prior = shelf.publish()?;
    Ok(Written { index: path.to_path_buf(), folder: (pages > 0).then(|| shelf.folder()), pages, prior })
}

struct Index<'a> {
    results: &'a dyn Results,
    of: usize,
    shelf: &'a Shelf,
    contents: &'a Contents,
    known: Known<'a>,
}

impl Index<'_> {
    fn links(&self, from: Place) -> Links<'_> {
        Links { known: Some((self.contents, self.shelf)), from }
    }

    /// Writes all documents, in the planned parts.
    fn write_parts(&self) -> Visit {
        let parts = &self.contents.parts;
        let (mut part, mut left) = (0, 0_u32);
        let mut html = String::new();
        self.results.documents(self.of, &mut |document, references| {
            if left == 0 && part < parts.len() {
                left = parts[part].documents;
                part += 1;
            }
            self.write_entry(document, references, Place::Part(part.saturating_sub(1)), &mut html)?;
            left = left.saturating_sub(1);
            if left > 0 || part == 0 {
                return Ok(());
            }
            let page = frame::render("part.html", &self.part_view(part - 1))?;
            let page = frame::filled(&page, "entries", &html);
            html.clear();
            self.shelf.write_page(&parts[part - 1].name(), &page)
        })
    }

    /// Adds an entry, and writes pages with the references that do not fit.
    fn write_entry(&self, document: &Document, references: &[Referenced], from: Place, html: &mut String) -> Visit {
        let rest = entry::write(document, references, self.known, &self.links(from), html);
        let pages = rest.len().div_ceil(entry::TO_A_PAGE);
        for (page, references) in rest.chunks(entry::TO_A_PAGE).enumerate() {
            let links = self.links(Place::Folder);
            let further = |page: usize| Further {
                href: contents::references_name(document.node, page),
                label: format!("Page {}", page + 1),
            };
            let view = PageView {
                heading: format!("Further references, page {} of {pages}", page + 1),
                lead: document.url.clone(),
                back: links.to(document.node).unwrap_or_else(|| self.shelf.index_href()),
                before: page.checked_sub(1).map(further),
                after: (page + 1 < pages).then(|| further(page + 1)),
                is_documents: false,
                ..PageView::undated(self)
            };
            let mut list = String::new();
            entry::list(references, &links, &mut list);
            let page_html = frame::filled(&frame::render("part.html", &view)?, "entries", &list);
            self.shelf.write_page(&contents::references_name(document.node, page), &page_html)?;
        }
        Ok(())
    }

    fn part_view(&self, part: usize) -> PageView {
        let parts = &self.contents.parts;
        let further = |part: usize, label: &str| Further { href: parts[part].name(), label: label.to_owned() };
        let documents = words::counted(parts[part].documents.into(), ("document", "documents"));
        PageView {
            heading: format!("{documents} of the index"),
            lead: format!("from {} to {}", parts[part].first, parts[part].last),
            back: self.shelf.index_href(),
            before: part.checked_sub(1).map(|part| further(part, "Previous part")),
            after: (part + 1 < parts.len()).then(|| further(part + 1, "Next part")),
            is_documents: true,
            ..PageView::undated(self)
        }
    }

    /// Writes the pages of a verdict that has more targets than fit into the index.
    fn write_pile(&self, pile: &Pile<'_>) -> Visit {
        let pages = pile.pages();
        for (page, rows) in pile.targets.chunks(TO_A_PAGE).enumerate().take(pages) {
            let further =
                |page: usize| Further { href: pile_name(pile.wording, page), label: format!("Page {}", page + 1) };
            let view = PageView {
                heading: format!("{}, page {} of {pages}", pile.wording.heading, page + 1),
                lead: pile.wording.advice.to_owned(),
                back: format!("{}#{}", self.shelf.index_href(), pile.wording.slug),
                before: page.checked_sub(1).map(further),
                after: (page + 1 < pages).then(|| further(page + 1)),
                is_documents: false,
                ..PageView::undated(self)
            };
            let mut table = Vec::new();
            self.write_table(pile, rows, Place::Folder, &mut table)?;
            let table = String::from_utf8_lossy(&table);
            let html = frame::filled(&frame::render("part.html", &view)?, "entries", &table);
            self.shelf.write_page(&pile_name(pile.wording, page), &html)?;
        }
        Ok(())
    }

    fn write_table(&self, pile: &Pile<'_>, rows: &[&Target], from: Place, out: &mut dyn Write) -> Visit {
        let documents = self.known.targets.documents();
        attention::write_table(pile.wording, rows, documents, &self.links(from), self.results.run(), out)
    }

    /// Writes the first page.
    fn write_front(&self, attention: &Attention) -> Visit {
        let page = frame::render("index.html", &view::front(self, attention))?;
        let path = self.shelf.unfinished_index();
        let what = path.display().to_string();
        let mut out = BufWriter::new(File::create(&path).map_err(super::writing(&what))?);
        frame::pour(&page, &mut out, &mut |hole, out| match hole {
            "entries" if !self.contents.is_split() => {
                let mut html = String::new();
                self.results.documents(self.of, &mut |document, references| {
                    html.clear();
                    self.write_entry(document, references, Place::Index, &mut html)?;
                    out.write_all(html.as_bytes()).map_err(super::writing(&what))
                })
            }
            "template" => {
                let mut html = String::new();
                let shared: Vec<_> = self.known.shared.examples.iter().map(|example| (example, 1)).collect();
                entry::list(&shared, &self.links(Place::Index), &mut html);
                out.write_all(html.as_bytes()).map_err(super::writing(&what))
            }
            "earlier" => {
                attention::write_earlier(self.results, self.of, self.known.targets, &self.links(Place::Index), out)
            }
            slug => {
                let Some(pile) = attention.of(slug) else { return Ok(()) };
                let most = if pile.pages() > 0 { FIRST_FEW } else { pile.targets.len() };
                self.write_table(&pile, &pile.targets[..most], Place::Index, out)
            }
        })?;
        out.flush().map_err(super::writing(&what))
    }
}

fn pile_name(wording: &VerdictText, page: usize) -> String {
    format!("{}-{:03}.html", wording.slug, page + 1)
}
