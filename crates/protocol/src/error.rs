//! What a harvester can do wrong, in the protocol's own words (section 3.6 of the specification).
//!
//! These travel inside an ordinary response with HTTP status 200. Anything that is *our* fault is not a
//! [`ProtocolError`] and must never be dressed up as one.

use std::fmt;

/// The error codes of OAI-PMH 2.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorCode {
    /// An argument is illegal, missing, repeated, or has an illegal value.
    BadArgument,
    /// The token is not one of ours, or no longer valid.
    BadResumptionToken,
    /// The verb is missing, repeated or unknown.
    BadVerb,
    /// The format is not offered by the repository, or not for this item.
    CannotDisseminateFormat,
    /// No such item.
    IdDoesNotExist,
    /// The selection is empty.
    NoRecordsMatch,
    /// The item has no metadata formats at all.
    NoMetadataFormats,
    /// The repository has no sets.
    NoSetHierarchy,
}

impl ErrorCode {
    /// Every code, in the order of the specification's table.
    pub const ALL: [Self; 8] = [
        Self::BadArgument,
        Self::BadResumptionToken,
        Self::BadVerb,
        Self::CannotDisseminateFormat,
        Self::IdDoesNotExist,
        Self::NoRecordsMatch,
        Self::NoMetadataFormats,
        Self::NoSetHierarchy,
    ];

    /// The code as it stands in the `code` attribute.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadArgument => "badArgument",
            Self::BadResumptionToken => "badResumptionToken",
            Self::BadVerb => "badVerb",
            Self::CannotDisseminateFormat => "cannotDisseminateFormat",
            Self::IdDoesNotExist => "idDoesNotExist",
            Self::NoRecordsMatch => "noRecordsMatch",
            Self::NoMetadataFormats => "noMetadataFormats",
            Self::NoSetHierarchy => "noSetHierarchy",
        }
    }

    /// The code named by a `code` attribute.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }

    /// With these two the response must not echo the arguments: they could make it schema-invalid (section 3.2).
    pub fn hides_arguments(self) -> bool {
        matches!(self, Self::BadVerb | Self::BadArgument)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One `<error>` of a response: the code, and a sentence for the person who reads the harvester's log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ProtocolError {
    /// Which rule was broken.
    pub code: ErrorCode,
    /// What exactly was wrong, and what would be right.
    pub message: String,
}

impl ProtocolError {
    /// An error with its explanation.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
