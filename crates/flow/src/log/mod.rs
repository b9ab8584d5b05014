//! Who harvested what.

use modoai_protocol::Datestamp;

/// One answered, or refused, request to the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Datestamp,
    /// Whose account it is on, as [`crate::who::Who`] is shown.
    pub who: String,
    /// The product name and version from its User-Agent, cut short: `modoai-harvest/0.1`, never the whole header.
    pub agent: String,
    /// The verb, if there was a legal one.
    pub verb: Option<&'static str>,
    /// The list it is a page of: prefix, set and range, as they were asked for or stand in the token.
    pub list: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// Records, headers or sets sent.
    pub records: u64,
    /// Bytes sent, before compression.
    pub bytes: u64,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Answered; a list goes on.
    Answered,
    /// The last page of a list was sent: somebody has all of it.
    Complete,
    /// A protocol error.
    Error,
    /// Asked to come back later.
    Refused,
    /// Broken off, by them or by us.
    BrokenOff,
}
