//! Marks the last commit of each harvest in a catalogue.
//!
//! A harvest stores which records it has delivered; the catalogue is another file, which may be lost, restored from a
//! copy, or replaced by another one. So each harvest has a random number, its commits are counted, and the catalogue
//! keeps the count in a memo. A catalogue with a smaller count than the harvest has stored, or none, lacks records. One
//! with a larger count does not: the catalogue was written before the state, and records that are written twice change
//! nothing.

use modoai_repository::catalogue::{Catalogue, CatalogueError, Writer};

/// A commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// A random number.
    harvest: u64,
    commit: u64,
}

impl Mark {
    /// Returns the mark from which a harvest that stored `text` continues, and true if the catalogue has everything up
    /// to it.
    pub(super) fn compare(text: Option<&str>, catalogue: &dyn Catalogue) -> Result<(Self, bool), CatalogueError> {
        let Some(mark) = text.and_then(Self::from_text) else {
            // A harvest that never committed lacks nothing; one with an unreadable mark may lack anything.
            return Ok((Self { harvest: fastrand::u64(..), commit: 0 }, text.is_none()));
        };
        let memo = catalogue.memo(&mark.key())?;
        let seen = memo.and_then(|memo| std::str::from_utf8(&memo).ok()?.parse::<u64>().ok());
        let commit = mark.commit.max(seen.unwrap_or_default());
        Ok((Self { commit, ..mark }, seen.is_some_and(|seen| seen >= mark.commit)))
    }

    /// The commit after this one.
    pub(super) fn next(self) -> Self {
        Self { commit: self.commit + 1, ..self }
    }

    /// Stores the mark in the catalogue: everything up to this commit is there.
    pub(super) fn leave(self, writer: &mut dyn Writer) -> Result<(), CatalogueError> {
        writer.set_memo(&self.key(), Some(self.commit.to_string().as_bytes()))
    }

    /// Returns the text that the harvest stores.
    pub(super) fn to_text(self) -> String {
        format!("{:016x} {}", self.harvest, self.commit)
    }

    fn from_text(text: &str) -> Option<Self> {
        let (harvest, commit) = text.split_once(' ')?;
        Some(Self { harvest: u64::from_str_radix(harvest, 16).ok()?, commit: commit.parse().ok()? })
    }

    fn key(self) -> String {
        format!("harvest {:016x}", self.harvest)
    }
}

#[cfg(test)]
mod tests {
    use modoai_repository::catalogue::{Access, Location, open as open_catalogue};

    use super::*;

    #[test]
    fn only_a_catalogue_that_has_seen_the_commit_lacks_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let open =
            |name: &str| open_catalogue(&Location::at(dir.path().join(name)), Access::Write).expect("a catalogue");
        let catalogue = open("a.sqlite");
        let (fresh, intact) = Mark::compare(None, &*catalogue).expect("compared");
        assert!(intact, "what never was cannot be missing");
        let leave = |mark: Mark| mark.leave(&mut *catalogue.writer().expect("a writer")).expect("left");
        let (first, second) = (fresh.next(), fresh.next().next());
        leave(first);
        let told = |mark: Mark, catalogue| Mark::compare(Some(&mark.to_text()), catalogue).expect("compared");
        assert_eq!(told(first, &*catalogue), (first, true));
        assert_eq!(told(second, &*catalogue), (second, false), "an older copy; and counting goes on from the larger");
        leave(second);
        assert_eq!(told(first, &*catalogue), (second, true), "killed before it was remembered");
        assert!(!told(first, &*open("b.sqlite")).1, "another catalogue");
        for odd in ["", "whole", "1 x"] {
            assert!(!Mark::compare(Some(odd), &*catalogue).expect("compared").1, "{odd:?}");
        }
    }
}
