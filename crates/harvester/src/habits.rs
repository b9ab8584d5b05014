//! Deviations of a server from the protocol, which are stored so that each is detected only once.

use serde::{Deserialize, Serialize};

/// The form in which a server accepts requests. The default is that of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habits {
    /// The encoding of tokens in a query.
    pub token: TokenStyle,
    /// True if metadataPrefix is sent together with tokens.
    pub prefix_with_token: bool,
    /// The form of datestamps in a query.
    pub dates: DateStyle,
    /// True if a request with dates ever returned records.
    pub dates_proven: bool,
    /// The repairs that responses need, in the format of the module `mend`.
    pub remedies: String,
    /// The host of the base URL, if it had a public address when it was first resolved.
    pub public_host: Option<String>,
}

/// The encoding of a token in a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenStyle {
    /// Percent-encoded.
    #[default]
    Encoded,
    /// Unchanged, except for characters that a URL cannot contain.
    Raw,
    /// Unchanged where it is percent-encoded already, encoded elsewhere.
    EncodedAlready,
}

impl TokenStyle {
    /// Returns the encoding to try after this one.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Encoded => Some(Self::EncodedAlready),
            Self::EncodedAlready => Some(Self::Raw),
            Self::Raw => None,
        }
    }
}

/// The form of datestamps in a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DateStyle {
    /// In the granularity that Identify reports.
    #[default]
    AsPromised,
    /// In days, although Identify reports seconds.
    Days,
    /// In seconds, although Identify reports days.
    Seconds,
    /// Dates are not sent, because the server refuses them.
    Never,
    /// Always both: the server does not respond without them.
    Always,
}
