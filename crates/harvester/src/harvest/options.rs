//! The options of a harvest, and the reasons why it may fail as a whole.

use std::time::Duration;

use modoai_fetch::{HeaderName, HeaderValue, Patience, Url};
use modoai_protocol::MaxDeleted;

use super::{Trouble, host};
use crate::limits::Limits;
use crate::sink::{SinkError, SinkOptions};
use crate::state::StateError;
use crate::window::Window;

/// The selection and the settings of a harvest.
#[derive(Clone)]
pub struct Options {
    /// The base URL of the repository.
    pub base_url: Url,
    /// The format; by default that of the sink.
    pub format: Option<String>,
    /// The sets; all records by default.
    pub sets: Vec<String>,
    /// The dates that the user selected.
    pub window: Window,
    /// The identifiers of the only records to harvest; no list is requested then.
    pub identifiers: Vec<String>,
    /// The run stops after the page with which this number of records is reached.
    pub limit: Option<u64>,
    /// Sent with every request to the host of the base URL, and to no other.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// If the base URL is not a repository, look for one at other URLs of the host, to propose it.
    pub proposes: bool,
    /// True if only headers are requested: the sink gets records without parts.
    pub headers_only: bool,
    /// Compare identifiers afterwards, and pass on records that are no longer listed as deletions.
    pub verify: bool,
    /// The share of the records that this comparison may delete.
    pub max_deleted: MaxDeleted,
    /// The limits of retries: their number and delays.
    pub patience: Patience,
    /// True if the repository may have had another URL when the folder was created.
    pub moved: bool,
    /// The duration by which incremental harvests reach back before the last complete one.
    pub overlap: Option<Duration>,
    /// Connect to private addresses, too. Otherwise only the host of the base URL may have one.
    pub allow_private: bool,
    /// The amount of data that may be stored. A [shared](super::Harvest::within) budget overrides it.
    pub limits: Limits,
    /// The options of the sink.
    pub sink: SinkOptions,
    /// A short name for the source, unless the folder has one for it already.
    pub slug: String,
}

impl Options {
    /// A harvest of everything at that URL, with default settings.
    pub fn new(base_url: Url) -> Self {
        let slug = slug(&base_url);
        Self {
            base_url,
            format: None,
            sets: Vec::new(),
            window: Window::ALL,
            identifiers: Vec::new(),
            limit: None,
            headers: Vec::new(),
            proposes: true,
            headers_only: false,
            verify: false,
            max_deleted: MaxDeleted::new(MaxDeleted::PERCENT, FEW),
            patience: Patience::default(),
            moved: false,
            overlap: None,
            allow_private: false,
            limits: Limits::default(),
            sink: SinkOptions::default(),
            slug,
        }
    }
}

/// Up to this number, deletions are accepted regardless of their share.
const FEW: u64 = 10;

/// The reason why a harvest failed as a whole.
#[derive(Debug, thiserror::Error)]
pub enum HarvestError {
    /// The state cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The sink cannot be used.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The URL does not respond, or is not a repository.
    #[error("{url} did not return an OAI-PMH response")]
    NoRepository {
        /// The URL of the request.
        url: String,
        /// The cause.
        source: Trouble,
    },
    /// The host does not exist.
    #[error("failed to resolve host '{host}': no such name")]
    NoSuchHost {
        /// The name of the host.
        host: String,
    },
    /// The URL is not a repository, but another URL of the same host is.
    #[error("{url} is not an OAI-PMH repository, but {found} is")]
    Elsewhere {
        /// The URL of the request.
        url: String,
        /// The URL of a repository on the same host.
        found: String,
    },
    /// The server returned a protocol error.
    #[error("{url} returned the error {code}: {message}")]
    Refused {
        /// The URL of the request.
        url: String,
        /// The error code of the protocol.
        code: String,
        /// The message of the server.
        message: String,
    },
    /// The format is not offered.
    #[error("{url} does not offer the format '{prefix}', only {offered}")]
    Format {
        /// The URL of the request.
        url: String,
        /// The requested format.
        prefix: String,
        /// The formats that the server offers.
        offered: String,
    },
    /// The set does not exist.
    #[error("{url} has no set '{set}'; {}its sets are {offered}", nearest.as_ref().map(|it| format!("the most similar one is '{it}'; ")).unwrap_or_default())]
    Set {
        /// The URL of the request.
        url: String,
        /// The requested set.
        set: String,
        /// The offered set whose name is most similar.
        nearest: Option<String>,
        /// The sets that the server offers.
        offered: String,
    },
    /// The repository does not support sets.
    #[error("{url} has no sets")]
    NoSets {
        /// The URL of the request.
        url: String,
    },
}

/// The same with a number that only this URL has: for those that would have one name.
pub fn distinct_slug(url: &Url) -> String {
    format!("{}-{:016x}", slug(url), xxhash_rust::xxh3::xxh3_64(url.as_str().as_bytes()))
}

/// A name for a source that can be a folder: host, port, path and query with everything else as dashes.
pub fn slug(url: &Url) -> String {
    let port = url.port().map(|port| format!("-{port}")).unwrap_or_default();
    let query = url.query().map(|query| format!("-{query}")).unwrap_or_default();
    let mut slug = String::new();
    for character in [host(url), &port, url.path(), &query].concat().chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' => slug.push(character),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(120);
    slug.trim_matches(['-', '.']).to_owned()
}
