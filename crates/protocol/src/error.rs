//! The errors of a request, with the codes of the protocol (section 3.6 of the specification).
//!
//! They are sent in an ordinary response with HTTP status 200. A failure of the repository is not a [`ProtocolError`]
//! and must never be reported as one.

use std::fmt;

/// The error codes of OAI-PMH 2.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorCode {
    /// An argument is illegal, missing, repeated, or has an illegal value.
    BadArgument,
    /// The token was not issued by this repository, or no longer applies.
    BadResumptionToken,
    /// The verb is missing, repeated or unknown.
    BadVerb,
    /// The format is not offered by the repository, or not for this item.
    CannotDisseminateFormat,
    /// The item does not exist.
    IdDoesNotExist,
    /// The selection is empty.
    NoRecordsMatch,
    /// The item has no metadata formats.
    NoMetadataFormats,
    /// The repository has no sets.
    NoSetHierarchy,
}

impl ErrorCode {
    /// All codes, in the order of the specification's table.
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

    /// Returns the code as written in the `code` attribute.
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

    /// Returns the code with the name in a `code` attribute.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }

    /// Returns true if the response must not repeat the arguments, because they could make it schema-invalid (section
    /// 3.2).
    pub fn hides_arguments(self) -> bool {
        matches!(self, Self::BadVerb | Self::BadArgument)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One `<error>` of a response: the code, and a sentence for the reader of the harvester's log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ProtocolError {
    /// The code of the violated rule.
    pub code: ErrorCode,
    /// The problem and the expected value.
    pub message: String,
}

impl ProtocolError {
    /// Creates an error with its explanation.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
