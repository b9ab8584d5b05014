//! The index document of one infostructure, as MOMspider wrote it, made for today.
//!
//! It says how and when it was made, what needs attention, what is new, still so or mended since the version before, which
//! it links to, and then has an entry for every document: its headers, its references, and what became of each. Entries
//! refer to each other. A large index is one page to begin with, and a folder of further pages beside it.
//!
//! Memory holds one document at a time, and twenty-four bytes for every other: where its entry is. Documents are therefore visited twice,
//! first to share them out among pages, then to write them. What surrounds entries comes from templates; entries themselves, of which
//! there may be a hundred thousand with millions of references, are written by hand, which is many times faster.
//!
//! | file | what it knows |
//! |---|---|
//! | `contents` | which entry is on which page, and how one is linked to |
//! | `entry` | one document, its headers and references |
//! | `attention` | what needs attention, sorted by verdict; the tables of it |
//! | `frame` | templates, and the holes in them where entries go |
//! | `view` | what the template of the index is told |
//! | `shelf` | files: nothing half done is seen, versions before are kept |

mod attention;
#[cfg(test)]
mod browser;
mod contents;
mod entry;
mod frame;
mod shelf;
#[cfg(test)]
mod tests;
mod view;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::words::{self, Told};
use super::writing;
use crate::results::{ReportError, Results, Visit};
use attention::{Attention, Pile};
use contents::{Contents, Links, Place};
use shelf::Shelf;
use view::{Further, PageView};

/// A verdict with more findings than this has pages of its own, and only the first few are in the index itself.
const IN_INDEX: u64 = 500;
/// How many these are.
const FIRST_FEW: usize = 100;
/// How many findings such a page has.
const TO_A_PAGE: usize = 1_000;
/// How much of what was mended is listed; it needs no attention any more.
const MENDED: usize = 200;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The index.
    pub index: PathBuf,
    /// The folder of its further pages, if it is large.
    pub folder: Option<PathBuf>,
    /// How many further pages there are.
    pub pages: usize,
    /// Where the version before is now.
    pub prior: Option<PathBuf>,
}

/// Writes the index document of one infostructure to a file. What was there is kept beside it under a name with its date, and
/// linked to; the last ten such versions are kept. Until everything is written, nothing changes for readers.
pub fn write(results: &dyn Results, of: usize, path: &Path) -> Result<Written, ReportError> {
    let shelf = Shelf::open(path, results.run().began)?;
    let contents = Contents::plan(results, of)?;
    let mut attention = Attention::gather(results, of, shelf.unfinished())?;
    let index = Index { results, of, shelf: &shelf, contents: &contents };
    let mut pages = 0;
    if contents.is_split() {
        index.write_parts()?;
        pages += contents.parts.len();
    }
    for pile in attention.piles() {
        pages += index.write_pile(pile)?;
    }
    index.write_front(&attention)?;
    attention.clear()?;
    let prior = shelf.publish()?;
    Ok(Written { index: path.to_path_buf(), folder: (pages > 0).then(|| shelf.folder()), pages, prior })
}

struct Index<'a> {
    results: &'a dyn Results,
    of: usize,
    shelf: &'a Shelf,
    contents: &'a Contents,
}

impl Index<'_> {
    fn links(&self, from: Place) -> Links<'_> {
        Links { known: Some((self.contents, self.shelf)), from }
    }

    /// Every document, in as many parts as planned.
    fn write_parts(&self) -> Visit {
        let count = self.contents.parts.len();
        let mut writing: Option<Open> = None;
        let (mut part, mut left) = (0, 0_u32);
        let mut html = String::new();
        self.results.documents(self.of, &mut |document, references| {
            if left == 0 && part < count {
                if let Some(done) = writing.take() {
                    done.close()?;
                }
                left = self.contents.parts[part].documents;
                writing = Some(Open::page(self, &contents::part_name(part), &self.part_view(part))?);
                part += 1;
            }
            left = left.saturating_sub(1);
            html.clear();
            entry::write(document, references, &self.links(Place::Part(part - 1)), self.results.run().ended, &mut html);
            let Some(open) = &mut writing else { return Ok(()) };
            open.out.write_all(html.as_bytes()).map_err(super::writing("a part of the index"))
        })?;
        writing.map_or(Ok(()), Open::close)
    }

    fn part_view(&self, part: usize) -> PageView {
        let parts = &self.contents.parts;
        let further = |part: usize| Further { href: contents::part_name(part), label: format!("Part {}", part + 1) };
        let documents = words::counted(parts[part].documents.into(), ("document", "documents"));
        PageView {
            heading: format!("Part {} of {}", part + 1, parts.len()),
            lead: format!("{documents}, from {} to {}", parts[part].first, parts[part].last),
            back: self.shelf.index_href(),
            before: part.checked_sub(1).map(further),
            after: (part + 1 < parts.len()).then(|| further(part + 1)),
            is_documents: true,
            ..PageView::of(self)
        }
    }

    /// The pages of a verdict that has more findings than fit into the index.
    fn write_pile(&self, pile: &Pile) -> Result<usize, ReportError> {
        let pages = pile.pages();
        let mut rows = pile.rows()?;
        for page in 0..pages {
            let further =
                |page: usize| Further { href: pile_name(pile.told, page), label: format!("Page {}", page + 1) };
            let view = PageView {
                heading: format!("{}, page {} of {pages}", pile.told.heading, page + 1),
                lead: pile.told.advice.to_owned(),
                back: format!("{}#{}", self.shelf.index_href(), pile.told.slug),
                before: page.checked_sub(1).map(further),
                after: (page + 1 < pages).then(|| further(page + 1)),
                is_documents: false,
                ..PageView::of(self)
            };
            let mut open = Open::page(self, &pile_name(pile.told, page), &view)?;
            let links = self.links(Place::Folder);
            attention::write_table(pile.told, &mut rows, TO_A_PAGE, &links, self.results.run(), &mut open.out)?;
            open.close()?;
        }
        Ok(pages)
    }

    /// The page that one opens first.
    fn write_front(&self, attention: &Attention) -> Visit {
        let page = frame::render("index.html", &view::front(self, attention)?)?;
        let path = self.shelf.unfinished_index();
        let what = path.display().to_string();
        let mut out = BufWriter::new(File::create(&path).map_err(super::writing(&what))?);
        frame::pour(&page, &mut out, &mut |hole, out| match hole {
            "entries" if !self.contents.is_split() => {
                let mut html = String::new();
                self.results.documents(self.of, &mut |document, references| {
                    html.clear();
                    let links = self.links(Place::Index);
                    entry::write(document, references, &links, self.results.run().ended, &mut html);
                    out.write_all(html.as_bytes()).map_err(super::writing(&what))
                })
            }
            "mended" => attention::write_mended(self.results, self.of, MENDED, &self.links(Place::Index), out),
            slug => {
                let Some(pile) = attention.of(slug) else { return Ok(()) };
                let most = if pile.pages() > 0 { FIRST_FEW } else { usize::MAX };
                let links = self.links(Place::Index);
                attention::write_table(pile.told, &mut pile.rows()?, most, &links, self.results.run(), out)
            }
        })?;
        out.flush().map_err(super::writing(&what))
    }
}

fn pile_name(told: &Told, page: usize) -> String {
    format!("{}-{:03}.html", told.slug, page + 1)
}

/// A further page that is being written: its beginning is, its end is not.
struct Open {
    out: BufWriter<File>,
    what: String,
    end: String,
}

impl Open {
    fn page(index: &Index<'_>, name: &str, view: &PageView) -> Result<Self, ReportError> {
        let path = index.shelf.unfinished_page(name)?;
        let what = path.display().to_string();
        let page = frame::render("part.html", view)?;
        let (begin, end) = frame::around(&page, "entries");
        let mut out = BufWriter::new(File::create(&path).map_err(writing(&what))?);
        out.write_all(begin.as_bytes()).map_err(writing(&what))?;
        Ok(Self { out, what, end: end.to_owned() })
    }

    fn close(mut self) -> Visit {
        self.out.write_all(self.end.as_bytes()).and_then(|()| self.out.flush()).map_err(writing(self.what))
    }
}
