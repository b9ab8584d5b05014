//! Which entry is on which page, and how one is linked to.
//!
//! The order of documents is that of their URLs, so a part is a stretch of the site. Of each document only its number, the
//! hash of its URL and the number of its part are kept.

use xxhash_rust::xxh3::xxh3_64;

use super::entry;
use super::shelf::Shelf;
use crate::results::{ReportError, Results};
use crate::verdict::Verdict;

/// How many documents a part has at most.
const DOCUMENTS: u32 = 500;
/// How long a part is at most, but for one document that is longer by itself.
const BYTES: usize = 1_000_000;

/// Where every entry is.
#[derive(Default)]
pub(super) struct Contents {
    /// The parts; one means that everything is in the index itself.
    pub parts: Vec<Part>,
    /// How many documents there are.
    pub documents: u64,
    /// The number of each document and that of its part, sorted.
    nodes: Vec<(u32, u32)>,
    /// The hash of each document's URL and its number, sorted. Two URLs with one hash would share a link; among a million
    /// documents that is less likely than a fault of the disk.
    urls: Vec<(u64, u32)>,
}

/// One part: a stretch of the site.
#[derive(Default)]
pub(super) struct Part {
    /// How many documents it has.
    pub documents: u32,
    /// How many of them have links that lead nowhere.
    pub faulty: u32,
    /// The URL of the first.
    pub first: String,
    /// The URL of the last.
    pub last: String,
    bytes: usize,
}

impl Contents {
    /// Shares out the documents. Each is written once for its length and thrown away.
    pub(super) fn plan(results: &dyn Results, of: usize) -> Result<Self, ReportError> {
        let mut contents = Self::default();
        let mut html = String::new();
        let links = Links { known: None, from: Place::Folder };
        results.documents(of, &mut |document, references| {
            html.clear();
            entry::write(document, references, &links, results.run().ended, &mut html);
            let is_full = |part: &Part| part.documents >= DOCUMENTS || part.bytes + html.len() > BYTES;
            if contents.parts.last().is_none_or(is_full) {
                contents.parts.push(Part { first: document.url.clone(), ..Part::default() });
            }
            let at = contents.parts.len() - 1;
            let part = &mut contents.parts[at];
            part.documents += 1;
            part.bytes += html.len();
            part.last.clone_from(&document.url);
            let is_fault = |verdict| matches!(verdict, Verdict::Broken | Verdict::Fragment);
            part.faulty += u32::from(references.iter().any(|reference| is_fault(reference.verdict)));
            contents.documents += 1;
            contents.nodes.push((document.node, u32::try_from(at).unwrap_or(u32::MAX)));
            contents.urls.push((xxh3_64(document.url.as_bytes()), document.node));
            Ok(())
        })?;
        contents.nodes.sort_unstable();
        contents.urls.sort_unstable();
        Ok(contents)
    }

    /// Whether there are parts.
    pub(super) fn is_split(&self) -> bool {
        self.parts.len() > 1
    }

    /// The number of the document with that URL.
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

/// The file of a part.
pub(super) fn part_name(part: usize) -> String {
    format!("part-{:03}.html", part + 1)
}

/// Where a link stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the index itself.
    Index,
    /// In that part.
    Part(usize),
    /// In another page of the folder.
    Folder,
}

/// How entries are linked to from one place.
pub(super) struct Links<'a> {
    /// What is where; nothing as long as that is being found out, when only the length of a link matters.
    pub known: Option<(&'a Contents, &'a Shelf)>,
    /// Where they stand.
    pub from: Place,
}

impl Links<'_> {
    /// The link to the entry of a document, if it has one.
    pub(super) fn to(&self, node: u32) -> Option<String> {
        let Some((contents, shelf)) = self.known else { return Some(format!("{}#d{node}", part_name(0))) };
        let part = contents.part_of(node)?;
        Some(match (contents.is_split(), self.from) {
            (false, Place::Index) => format!("#d{node}"),
            (false, _) => format!("{}#d{node}", shelf.index_href()),
            (true, Place::Index) => format!("{}/{}#d{node}", shelf.folder_href(), part_name(part)),
            (true, Place::Part(here)) if here == part => format!("#d{node}"),
            (true, _) => format!("{}#d{node}", part_name(part)),
        })
    }

    /// The same for the document with that URL.
    pub(super) fn to_url(&self, url: &str) -> Option<String> {
        self.to(self.known?.0.node_of(url)?)
    }
}
