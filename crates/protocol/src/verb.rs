//! The six verbs and their arguments, as one table (section 4 of the specification).

use std::fmt;

/// The verb of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// One record in one format.
    GetRecord,
    /// The description of the repository.
    Identify,
    /// Headers of the items in a selection.
    ListIdentifiers,
    /// The formats of the repository or of one item.
    ListMetadataFormats,
    /// Complete records of the items in a selection.
    ListRecords,
    /// The sets.
    ListSets,
}

/// The use of an argument with a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The argument is required (unless an exclusive one is present).
    Required,
    /// The argument is optional.
    Optional,
    /// The argument excludes all others.
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
    /// All verbs.
    pub const ALL: [Self; 6] = [
        Self::GetRecord,
        Self::Identify,
        Self::ListIdentifiers,
        Self::ListMetadataFormats,
        Self::ListRecords,
        Self::ListSets,
    ];

    /// Returns the verb's name, which is also the name of its element in the response.
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

    /// Returns the verb with this name; names are case-sensitive.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == name)
    }

    /// Returns the arguments of this verb in addition to `verb` itself.
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

/// The verbs that select items. They have the same arguments and pages, with or without the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListVerb {
    /// Headers only.
    Identifiers,
    /// Headers, metadata and about containers.
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
