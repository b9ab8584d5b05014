//! Who harvested what.
//!
//! A folder of files with a line of JSON for each request, written by every process that answers requests ([`Log`]) and
//! read by whoever wants to know ([`summary`]). The log is for the people who run a repository: it decides nothing, and
//! when it cannot be written, requests are answered all the same.
//!
//! | module | what it owns |
//! |---|---|
//! | `write` | [`Log`]: one line for each request, whatever happens |
//! | `segments` | files of bounded size, of which a bounded number is kept, shared by processes |
//! | `repeats` | refusals that come too fast to be worth a line each |
//! | `line` | a line of the log, written and read |
//! | `list` | [`List`]: what a list is called |
//! | `agent` | [`product`]: what is kept of a User-Agent |
//! | `read` | lines out of files that may be damaged |
//! | `runs` | lists that were begun, and whether they came to their end |
//! | `summary` | [`summary`]: one account for each harvester |

mod agent;
mod line;
mod list;
mod read;
mod repeats;
mod runs;
mod segments;
mod summary;
mod write;

use modoai_protocol::Datestamp;

pub use agent::product;
pub use list::List;
pub use runs::Run;
pub use segments::Bounds;
pub use summary::{Format, Harvester, Summary, summary};
pub use write::Log;

/// The folder of the log, beside the catalogue it is about.
pub const FOLDER: &str = "harvest-log";

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
    /// The list it is a page of: prefix, set and range, as they were asked for or stand in the token. A [`List`] shown.
    pub list: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// Records, headers or sets sent.
    pub records: u64,
    /// Bytes sent, before compression.
    pub bytes: u64,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
