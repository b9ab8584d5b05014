//! Assigns entries to pages, and creates the links to them.
//!
//! Documents are ordered by URL, so a part is a range of the site. Parts begin at documents that the hash of their URL
//! selects, and are named after the first document: a document that is added or removed changes only its own part, so
//! that unchanged parts of the previous version can be used again. Of each document only its number, the hash of its
//! URL and the number of its part are kept.

use xxhash_rust::xxh3::xxh3_64;

use super::entry::{self, Known};
use super::shelf::Shelf;
use crate::results::{Referenced, ReportError, Results};
use crate::verdict::Verdict;

/// The largest number of documents of a part, and of an index without parts.
const DOCUMENTS: u32 = 500;
/// The largest size of a part, except for one document that is larger by itself, and of all entries of an index without parts.
const BYTES: usize = 1_000_000;
/// The number of documents after which a part may end.
const FEWEST: u32 = 50;
/// One in this number of documents begins a part.
const SELECTED: u64 = 128;

/// The positions of all entries.
#[derive(Default)]
pub(super) struct Contents {
    /// The parts, if the entries do not fit into the index itself.
    pub parts: Vec<Part>,
    /// The number of documents.
    pub documents: u64,
    bytes: usize,
    /// The number of each document and that of its part, sorted.
    nodes: Vec<(u32, u32)>,
    /// The hash of each document's URL and its number, sorted. Two URLs with the same hash would share a link; among a
    /// million documents that is less likely than a disk error.
    urls: Vec<(u64, u32)>,
}

/// A part of the index: a range of the site.
#[derive(Default)]
pub(super) struct Part {
    /// The number of its first document.
    node: u32,
    /// The number of documents in it.
    pub documents: u32,
    /// The number of these documents with their own broken links.
    pub faulty: u32,
    /// The URL of the first document.
    pub first: String,
    /// The URL of the last document.
    pub last: String,
    bytes: usize,
}

impl Contents {
    /// Divides the documents among parts. Each is written once to determine its length, and discarded.
    pub(super) fn plan(results: &dyn Results, of: usize, known: Known<'_>) -> Result<Self, ReportError> {
        let mut contents = Self::default();
        let mut html = String::new();
        let links = Links { known: None, from: Place::Folder };
        results.documents(of, &mut |document, references| {
            html.clear();
            entry::write(document, references, known, &links, &mut html);
            let hash = xxh3_64(document.url.as_bytes());
            let is_full = |part: &Part| {
                part.documents >= DOCUMENTS
                    || part.bytes + html.len() > BYTES
                    || part.documents >= FEWEST && hash.is_multiple_of(SELECTED)
            };
            if contents.parts.last().is_none_or(is_full) {
                contents.parts.push(Part { node: document.node, first: document.url.clone(), ..Part::default() });
            }
            contents.bytes += html.len();
            let at = contents.parts.len() - 1;
            let part = &mut contents.parts[at];
            part.documents += 1;
            part.bytes += html.len();
            part.last.clone_from(&document.url);
            let is_own_fault = |reference: &Referenced| {
                let Referenced { verdict, target, fragment, .. } = reference;
                matches!(verdict, Verdict::Broken | Verdict::Fragment)
                    && !known.targets.is_site_wide(*verdict, target, fragment.as_deref())
            };
            part.faulty += u32::from(references.iter().any(is_own_fault));
            contents.documents += 1;
            contents.nodes.push((document.node, u32::try_from(at).unwrap_or(u32::MAX)));
            contents.urls.push((hash, document.node));
            Ok(())
        })?;
        contents.nodes.sort_unstable();
        contents.urls.sort_unstable();
        Ok(contents)
    }

    /// Returns true if the index has parts.
    pub(super) fn is_split(&self) -> bool {
        self.documents > u64::from(DOCUMENTS) || self.bytes > BYTES
    }

    /// Returns the number of the document with that URL.
    fn node_of(&self, url: &str) -> Option<u32> {
        let hash = xxh3_64(url.as_bytes());
        let at = self.urls.binary_search_by_key(&hash, |(hash, _)| *hash).ok()?;
        Some(self.urls[at].1)
    }

    fn part_of(&self, node: u32) -> Option<usize> {
        let at = self.nodes.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        usize::try_from(self.nodes[at].1).ok()
    }
}

impl Part {
    /// Returns the name of its file.
    pub(super) fn name(&self) -> String {
        format!("part-{:06}.html", self.node)
    }
}

/// Returns the file name of a further page with references of a document.
pub(super) fn references_name(node: u32, page: usize) -> String {
    format!("references-{node:06}-{:03}.html", page + 1)
}

/// The page on which a link is placed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The index itself.
    Index,
    /// A part, by number.
    Part(usize),
    /// Another page of the directory.
    Folder,
}

/// Creates links to entries from one page.
pub(super) struct Links<'a> {
    /// The positions of entries; `None` while they are determined, when only the length of a link matters.
    pub known: Option<(&'a Contents, &'a Shelf)>,
    /// The page on which the links are placed.
    pub from: Place,
}

impl Links<'_> {
    /// Returns the link to the entry of a document, if it has one.
    pub(super) fn to(&self, node: u32) -> Option<String> {
        let Some((contents, shelf)) = self.known else { return Some(format!("part-000000.html#d{node}")) };
        let part = contents.part_of(node)?;
        Some(match (contents.is_split(), self.from) {
            (false, Place::Index) => format!("#d{node}"),
            (false, _) => format!("{}#d{node}", shelf.index_href()),
            (true, Place::Index) => format!("{}/{}#d{node}", shelf.folder_href(), contents.parts[part].name()),
            (true, Place::Part(here)) if here == part => format!("#d{node}"),
            (true, _) => format!("{}#d{node}", contents.parts[part].name()),
        })
    }

    /// Returns the link to the references of the site's template, which are in the index.
    pub(super) fn to_template(&self) -> String {
        match (self.known, self.from) {
            (Some((_, shelf)), Place::Part(_) | Place::Folder) => format!("{}#template", shelf.index_href()),
            _ => "#template".to_owned(),
        }
    }

    /// Returns the link to a further page with references of a document.
    pub(super) fn to_references(&self, node: u32, page: usize) -> String {
        match (self.known, self.from) {
            (Some((_, shelf)), Place::Index) => format!("{}/{}", shelf.folder_href(), references_name(node, page)),
            _ => references_name(node, page),
        }
    }

    /// Returns the link to the entry of the document with that URL.
    pub(super) fn to_url(&self, url: &str) -> Option<String> {
        self.to(self.known?.0.node_of(url)?)
    }
}
