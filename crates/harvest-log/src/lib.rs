//! The harvest log: the requests of each harvester.
//!
//! A directory of files with a line of JSON for each request. Every process that handles requests writes to it
//! ([`Log`], [`LogEntry`]), and `modoai harvesters` reads it ([`summary`]). The log is for operators of a repository:
//! it has no effect on responses, and requests are handled even if it cannot be written.
//!
//! | module | contents |
//! |---|---|
//! | `entry` | [`LogEntry`]: a request whose outcome is not yet known |
//! | `write` | [`Log`]: one line for each request |
//! | `log_file` | [`LogFile`]: lines appended to a file that may be rotated |
//! | `repeats` | frequent refusals, which share a line |
//! | `line` | a line of the log, written and read |
//! | `list` | [`List`]: the name of a list |
//! | `agent` | [`product`]: the program in a User-Agent |
//! | `read` | lines in files that may be damaged |
//! | `runs` | the pages of lists, and if lists were completed |
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

/// The directory of the log, next to its catalogue.
pub const FOLDER: &str = "harvest-log";

/// The file that is written. Rotated files have this name with a suffix.
pub const FILE: &str = "harvests.jsonl";

/// One request to the repository, successful or refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its time.
    pub at: Datestamp,
    /// The account of its client, as named in the settings.
    pub who: String,
    /// The product name and version from its User-Agent, truncated: `modoai-harvest/0.1`, never the whole header.
    pub agent: String,
    /// The verb, if the request had a valid one.
    pub verb: Option<&'static str>,
    /// The list it is a page of: prefix, set and range from the request or the token, as formatted by [`List`].
    pub list: Option<String>,
    /// Its outcome.
    pub outcome: Outcome,
    /// The number of records, headers or sets sent.
    pub records: u64,
    /// The number of bytes sent, before compression.
    pub bytes: u64,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// Successful; a list has more pages.
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
    /// Interrupted, by the client or the server.
    #[serde(rename = "broken")]
    BrokenOff,
}
