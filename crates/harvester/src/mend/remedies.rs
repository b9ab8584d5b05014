//! Which remedy helps against which fault: the one table to edit.

use std::fmt;

use modoai_protocol::xml::reader::Fault;

use crate::quirks::{self, Quirk};

/// Which remedies are on; none by default.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Remedies(u8);

/// A remedy: its name where it is stored, and what it mends.
struct Row(Remedies, &'static str, &'static [&'static Quirk]);

const ROWS: &[Row] = &[
    Row(Remedies::ENCODING, "encoding", &[quirks::ENCODING, quirks::INVALID_UTF8]),
    Row(Remedies::AROUND, "around", &[quirks::JUNK_AROUND]),
    Row(Remedies::DOCTYPE, "doctype", &[quirks::DOCUMENT_TYPE]),
    Row(Remedies::CHARACTERS, "characters", &[quirks::CONTROL_CHARACTERS, quirks::SURROGATES]),
    Row(Remedies::REFERENCES, "references", &[quirks::AMPERSANDS, quirks::ANGLE_BRACKETS]),
    Row(Remedies::NAMESPACE, "namespace", &[quirks::NAMESPACE]),
];

impl Remedies {
    /// Reads the answer in the encoding it is really in.
    pub const ENCODING: Self = Self(1);
    /// Leaves out what stands before and after the answer.
    pub const AROUND: Self = Self(2);
    /// Leaves out a document type that defines things.
    pub const DOCTYPE: Self = Self(4);
    /// Replaces characters that XML cannot carry, and references to them.
    pub const CHARACTERS: Self = Self(8);
    /// Escapes ampersands that begin no reference; puts characters in the place of HTML's names for them.
    pub const REFERENCES: Self = Self(16);
    /// Reads a missing or misspelt namespace as the protocol's. The bytes are not changed; the reader does it.
    pub const NAMESPACE: Self = Self(32);
    /// All of them.
    pub const ALL: Self = Self(63);

    /// What to try next after this fault, together with what was tried already; none if nothing more can be done. Since
    /// the set grows with every call, trying comes to an end.
    pub fn for_fault(fault: &Fault, so_far: Self) -> Option<Self> {
        let helpful = match fault {
            // UTF-16 without a byte order mark looks like plain text, or like a tag without a name.
            Fault::NotXml { found: "plain text" } | Fault::IllFormed { what: "'<' is not followed by a name" } => {
                Self::AROUND.union(Self::ENCODING).union(Self::REFERENCES)
            }
            Fault::Namespace { .. } => Self::NAMESPACE,
            // Messages of PHP are HTML, and may be all that stands before the answer.
            Fault::NotOai { .. } | Fault::Trailing => Self::AROUND,
            // Text around the answer can hold markup that never ends.
            Fault::Truncated { open } if open.is_empty() => Self::AROUND,
            Fault::Encoding { .. } | Fault::NotUtf8 { .. } => Self::ENCODING,
            // What it defined is undefined then.
            Fault::InternalSubset => Self::DOCTYPE.union(Self::REFERENCES),
            Fault::Entity { .. } => Self::REFERENCES,
            // Who forgets to escape the one often writes the other.
            Fault::Reference { .. } => Self::REFERENCES.union(Self::CHARACTERS),
            Fault::Empty
            | Fault::NotXml { .. }
            | Fault::Prefix { .. }
            | Fault::Mismatch { .. }
            | Fault::IllFormed { .. }
            | Fault::Truncated { .. }
            | Fault::Limit { .. } => Self::default(),
        };
        let all = so_far.union(helpful);
        (all != so_far).then_some(all)
    }

    /// Whether none is on.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of these are on.
    pub fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// These and those.
    #[must_use]
    pub fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// What they mend.
    pub fn iter(self) -> impl Iterator<Item = &'static Quirk> {
        self.rows().flat_map(|Row(_, _, quirks)| quirks.iter().copied())
    }

    /// Their names, for storing.
    pub fn to_text(self) -> String {
        self.rows().map(|Row(_, name, _)| *name).collect::<Vec<_>>().join(" ")
    }

    /// The remedies of these names. A name from another version of this program is one that cannot be applied here.
    pub fn from_text(text: &str) -> Self {
        let named = |name: &str| ROWS.iter().find(|row| row.1 == name).map(|row| row.0);
        text.split_ascii_whitespace().filter_map(named).fold(Self::default(), Self::union)
    }

    fn rows(self) -> impl Iterator<Item = &'static Row> {
        ROWS.iter().filter(move |row| self.contains(row.0))
    }
}

impl fmt::Debug for Remedies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Remedies({})", self.to_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_comes_to_an_end() {
        let fault = Fault::Reference { text: "& b".to_owned() };
        let first = Remedies::for_fault(&fault, Remedies::DOCTYPE).expect("helps");
        assert_eq!(first, Remedies::DOCTYPE.union(Remedies::CHARACTERS).union(Remedies::REFERENCES));
        assert_eq!(Remedies::for_fault(&fault, first), None);
        assert_eq!(Remedies::for_fault(&Fault::Trailing, first), Some(first.union(Remedies::AROUND)));
        assert_eq!(Remedies::for_fault(&Fault::Empty, Remedies::default()), None);
        assert_eq!(Remedies::for_fault(&Fault::Truncated { open: "record".to_owned() }, Remedies::default()), None);
    }

    #[test]
    fn they_are_stored_by_name() {
        for bits in 0..=Remedies::ALL.0 {
            assert_eq!(Remedies::from_text(&Remedies(bits).to_text()), Remedies(bits));
        }
        assert_eq!(Remedies::from_text("references leeches"), Remedies::REFERENCES);
        assert_eq!(Remedies::ALL.iter().count(), 9);
        assert!(Remedies::default().is_empty() && Remedies::default().iter().next().is_none());
    }
}
