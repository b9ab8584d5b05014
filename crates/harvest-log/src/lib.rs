//! The harvest log: who harvested what.
//!
//! A folder of files with a line of JSON for each request. Every process that answers requests writes to it ([`Log`],
//! [`LogEntry`]), and `modoai harvesters` reads it ([`summary`]). The log is for the people who run a repository: it
//! decides nothing, and requests are answered also if it cannot be written.
//!
//! | module | what it owns |
//! |---|---|
//! | `entry` | [`LogEntry`]: a request whose outcome is not yet known |
//! | `write` | [`Log`]: one line for each request |
//! | `log_file` | [`LogFile`]: lines appended to a file that may be rotated |
//! | `repeats` | refusals that come too fast to be worth a line each |
//! | `line` | a line of the log, written and read |
//! | `list` | [`List`]: what a list is called |
//! | `agent` | [`product`]: what is kept of a User-Agent |
//! | `read` | lines out of files that may be damaged |
//! | `runs` | lists that were begun, and whether they came to their end |
//! | `summary` | [`summary`]: one account for each harvester |

mod agent;
mod entry;
mod line;
mod list;
mod log_file;
mod read;
mod repeats;
mod runs;
mod summary;
mod write;

use modoai_protocol::Datestamp;
use serde::{Deserialize, Serialize};

pub use agent::product;
pub use entry::LogEntry;
pub use list::List;
pub use log_file::LogFile;
pub use runs::Run;
pub use summary::{Format, Harvester, Summary, summary};
pub use write::Log;

/// The folder of the log, next to the catalogue it is about.
pub const FOLDER: &str = "harvest-log";

/// The file that is written. Rotated files have this name with something behind it.
pub const FILE: &str = "harvests.jsonl";

/// One answered, or refused, request to the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Datestamp,
    /// Whose account it is on, as the settings name it.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// Answered; a list has more pages.
    #[serde(rename = "ok")]
    Answered,
    /// The last page of a list was sent.
    #[serde(rename = "end")]
    Complete,
    /// A protocol error.
    #[serde(rename = "error")]
    Error,
    /// Refused with Retry-After.
    #[serde(rename = "later")]
    Refused,
    /// Broken off, by the client or the server.
    #[serde(rename = "broken")]
    BrokenOff,
}
