//! The table of repairs for each error.

use std::fmt;

use modoai_protocol::xml::reader::Fault;

use crate::quirks::{self, Quirk};

/// The set of repairs that are enabled; none by default.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Remedies(u8);

/// A repair: its stored name, and the quirks that it repairs.
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
    /// Reads the response in its actual encoding.
    pub const ENCODING: Self = Self(1);
    /// Removes text before and after the response.
    pub const AROUND: Self = Self(2);
    /// Removes a document type with definitions.
    pub const DOCTYPE: Self = Self(4);
    /// Replaces characters that XML does not allow, and references to them.
    pub const CHARACTERS: Self = Self(8);
    /// Escapes ampersands that begin no reference; replaces HTML's entity names by their characters.
    pub const REFERENCES: Self = Self(16);
    /// Reads a missing or misspelt namespace as the protocol's. The parser does this; the bytes are not changed.
    pub const NAMESPACE: Self = Self(32);
    /// All repairs.
    pub const ALL: Self = Self(63);

    /// Returns the repairs to try next after this error, including those tried already; `None` if no further ones can
    /// help. The set grows with every call, so the number of attempts is limited.
    pub fn for_fault(fault: &Fault, so_far: Self) -> Option<Self> {
        let helpful = match fault {
            // UTF-16 without a byte order mark looks like plain text, or like a tag without a name.
            Fault::NotXml { found: "plain text" } | Fault::IllFormed { what: "'<' is not followed by a name" } => {
                Self::AROUND.union(Self::ENCODING).union(Self::REFERENCES)
            }
            Fault::Namespace { .. } => Self::NAMESPACE,
            // Messages of PHP are HTML, and may be the only text before the response.
            Fault::NotOai { .. } | Fault::Trailing => Self::AROUND,
            // Text around the response can contain markup that never ends.
            Fault::Truncated { open } if open.is_empty() => Self::AROUND,
            Fault::Encoding { .. } | Fault::NotUtf8 { .. } => Self::ENCODING,
            // The entities that it defined are undefined afterwards.
            Fault::InternalSubset => Self::DOCTYPE.union(Self::REFERENCES),
            Fault::Entity { .. } => Self::REFERENCES,
            // Software that does not escape ampersands often also writes illegal characters.
            Fault::Reference { .. } => Self::REFERENCES.union(Self::CHARACTERS),
            // Found by the strict check of a single element only.
            Fault::Character { .. } => Self::CHARACTERS,
            Fault::Empty
            | Fault::NotXml { .. }
            | Fault::Name { .. }
            | Fault::Repeated { .. }
            | Fault::Prefix { .. }
            | Fault::Mismatch { .. }
            | Fault::IllFormed { .. }
            | Fault::Truncated { .. }
            | Fault::Limit { .. } => Self::default(),
        };
        let all = so_far.union(helpful);
        (all != so_far).then_some(all)
    }

    /// Returns true if no repair is enabled.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true if all of these are enabled.
    pub fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns the quirks that they repair.
    pub fn iter(self) -> impl Iterator<Item = &'static Quirk> {
        self.rows().flat_map(|Row(_, _, quirks)| quirks.iter().copied())
    }

    /// Returns their names, for storing.
    pub fn to_text(self) -> String {
        self.rows().map(|Row(_, name, _)| *name).collect::<Vec<_>>().join(" ")
    }

    /// Returns the repairs with these names. Unknown names, from another version of this program, are ignored.
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
