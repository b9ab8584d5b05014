//! The six verbs and the arguments each may carry, as one table (section 4 of the specification).

use std::fmt;

/// What a harvester can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// One record in one format.
    GetRecord,
    /// Who the repository is.
    Identify,
    /// Headers of the items in a selection.
    ListIdentifiers,
    /// The formats of the repository or of one item.
    ListMetadataFormats,
    /// Whole records of the items in a selection.
    ListRecords,
    /// The sets.
    ListSets,
}

/// How an argument stands to a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Must be there (unless an exclusive argument is).
    Required,
    /// May be there.
    Optional,
    /// If there, then alone.
    Exclusive,
}

use Use::{Exclusive, Optional, Required};

const LIST: &[(&str, Use)] = &[
    ("metadataPrefix", Required),
    ("from", Optional),
    ("until", Optional),
    ("set", Optional),
    ("resumptionToken", Exclusive),
];

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 6] = [
        Self::GetRecord,
        Self::Identify,
        Self::ListIdentifiers,
        Self::ListMetadataFormats,
        Self::ListRecords,
        Self::ListSets,
    ];

    /// The verb's name, which is also the name of the element that answers it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GetRecord => "GetRecord",
            Self::Identify => "Identify",
            Self::ListIdentifiers => "ListIdentifiers",
            Self::ListMetadataFormats => "ListMetadataFormats",
            Self::ListRecords => "ListRecords",
            Self::ListSets => "ListSets",
        }
    }

    /// The verb of that name; names are case-sensitive.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == name)
    }

    /// The arguments this verb may carry besides `verb` itself.
    pub fn arguments(self) -> &'static [(&'static str, Use)] {
        match self {
            Self::GetRecord => &[("identifier", Required), ("metadataPrefix", Required)],
            Self::Identify => &[],
            Self::ListIdentifiers | Self::ListRecords => LIST,
            Self::ListMetadataFormats => &[("identifier", Optional)],
            Self::ListSets => &[("resumptionToken", Exclusive)],
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The verbs that select items: same arguments, same pages, with or without the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListVerb {
    /// Headers only.
    Identifiers,
    /// Headers, metadata and about.
    Records,
}

impl From<ListVerb> for Verb {
    fn from(verb: ListVerb) -> Self {
        match verb {
            ListVerb::Identifiers => Self::ListIdentifiers,
            ListVerb::Records => Self::ListRecords,
        }
    }
}
