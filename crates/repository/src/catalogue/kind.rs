//! The kind of a catalogue. It decides which commands may write to it, and how it is served.
//!
//! It is stored when a catalogue is first written to, and never changes. A catalogue of one kind is not written as another:
//! a site would delete all documents of an archive, because none of them is a file.

use std::fmt;

use super::CatalogueError;

/// The kind of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogueKind {
    /// The files of a site.
    Site,
    /// Records that were harvested from other repositories.
    Records,
    /// The documents of an archive.
    Archive,
    /// The resources of a site elsewhere, found by a crawl.
    Crawl,
}

/// All kinds, with the names under which they are stored, what they hold, and who needs them.
const KINDS: [(CatalogueKind, &str, &str, &str); 4] = [
    (CatalogueKind::Site, "site", "the files of a site", "a site needs"),
    (CatalogueKind::Records, "records", "harvested records", "harvested records need"),
    (CatalogueKind::Archive, "archive", "the documents of an archive", "an archive needs"),
    (CatalogueKind::Crawl, "crawl", "the pages of a crawled site", "a crawl needs"),
];

impl CatalogueKind {
    /// The kind that is stored under a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|(_, stored, ..)| *stored == name).map(|(kind, ..)| *kind)
    }

    fn row(self) -> (Self, &'static str, &'static str, &'static str) {
        KINDS[self as usize]
    }

    /// The name under which it is stored.
    pub(super) fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns the content of a catalogue of this kind, as a noun phrase.
    pub fn contents(self) -> &'static str {
        self.row().2
    }

    pub(super) fn needs(self) -> &'static str {
        self.row().3
    }

    /// Returns an error if a catalogue has another kind. One without a kind, which is empty, can become any.
    pub fn check(self, found: Option<Self>) -> Result<(), CatalogueError> {
        match found {
            Some(found) if found != self => Err(CatalogueError::OtherKind { found, wanted: self }),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for CatalogueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for (kind, name, ..) in KINDS {
            assert_eq!((kind.name(), CatalogueKind::named(name)), (name, Some(kind)));
        }
        assert_eq!(CatalogueKind::named("other"), None);
    }
}
