//! What was learnt about a server, so that it need not be learnt again with every page.

use serde::{Deserialize, Serialize};

/// How a server wants to be asked. Everything starts as the protocol has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Habits {
    /// How tokens are written into a query.
    pub token: TokenStyle,
    /// metadataPrefix goes along with tokens.
    pub prefix_with_token: bool,
    /// How datestamps are written into a query.
    pub dates: DateStyle,
    /// Whether a request with dates was ever answered with records.
    pub dates_proven: bool,
    /// What must be mended in answers, as the mender writes it.
    pub remedies: String,
    /// The host of the base URL, if it had a public address when it was first resolved.
    pub public_host: Option<String>,
}

/// How a token is written into a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenStyle {
    /// Percent-encoded.
    #[default]
    Encoded,
    /// As it came, but for what cannot stand in a URL.
    Raw,
    /// As it came where it is percent-encoded already, encoded elsewhere.
    EncodedAlready,
}

impl TokenStyle {
    /// What is tried after this one.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Encoded => Some(Self::EncodedAlready),
            Self::EncodedAlready => Some(Self::Raw),
            Self::Raw => None,
        }
    }
}

/// How datestamps are written into a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DateStyle {
    /// As Identify says.
    #[default]
    AsPromised,
    /// Days, although Identify says seconds.
    Days,
    /// Seconds, although Identify says days.
    Seconds,
    /// Not at all: they are refused.
    Never,
    /// Always both: there is no answer without.
    Always,
}
