//! What is to be harvested, how, and why it may come to nothing.

use std::time::Duration;

use modoai_fetch::{HeaderName, HeaderValue, Patience, Url};

use super::{Trouble, host};
use crate::limits::Limits;
use crate::sink::{SinkError, SinkOptions};
use crate::state::StateError;
use crate::window::Window;

/// What is to be harvested, and how.
#[derive(Clone)]
pub struct Options {
    /// Where the repository is asked.
    pub base_url: Url,
    /// The format; that of the sink if none is said.
    pub format: Option<String>,
    /// The sets; everything if none is said.
    pub sets: Vec<String>,
    /// The time, as the user said.
    pub window: Window,
    /// Only these records, by their identifiers; no list is asked for then.
    pub identifiers: Vec<String>,
    /// The run stops after the page with which so many records have come.
    pub limit: Option<u64>,
    /// Sent with every request to the host of the base URL, and to no other.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Where there is no repository, look for one at other URLs of the host, to propose it.
    pub proposes: bool,
    /// Only headers are wanted: the sink gets records without parts.
    pub headers_only: bool,
    /// Compare identifiers afterwards, and pass vanished records on as deletions.
    pub verify: bool,
    /// How often and how long to try.
    pub patience: Patience,
    /// Whether the repository may have been elsewhere when the folder was begun.
    pub moved: bool,
    /// How far incremental harvests reach back before the last complete one.
    pub overlap: Option<Duration>,
    /// Connect to private addresses, too. Otherwise only the host of the base URL may have one.
    pub allow_private: bool,
    /// How much may be stored. A [shared](super::Harvest::within) budget goes before it.
    pub limits: Limits,
    /// What was chosen about the sink.
    pub sink: SinkOptions,
    /// A short name for the source, unless the folder has one for it already.
    pub slug: String,
}

impl Options {
    /// Everything at that place, with the manners of the house.
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

/// Why there was no harvest at all.
#[derive(Debug, thiserror::Error)]
pub enum HarvestError {
    /// The state cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The sink cannot be used.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Nobody there, or not a repository.
    #[error("{url} did not return an OAI-PMH response")]
    NoRepository {
        /// Who was asked.
        url: String,
        /// What came instead.
        source: Trouble,
    },
    /// There is no such host.
    #[error("failed to resolve host '{host}': no such name")]
    NoSuchHost {
        /// Its name.
        host: String,
    },
    /// Not a repository, but there is one at another URL of the same host.
    #[error("{url} is not an OAI-PMH repository, but {found} is")]
    Elsewhere {
        /// Who was asked.
        url: String,
        /// Where one answers.
        found: String,
    },
    /// The server refused in the protocol's own words.
    #[error("{url} returned the error {code}: {message}")]
    Refused {
        /// Who was asked.
        url: String,
        /// The protocol's code.
        code: String,
        /// For people.
        message: String,
    },
    /// The format is not offered.
    #[error("{url} does not offer the format '{prefix}', only {offered}")]
    Format {
        /// Who was asked.
        url: String,
        /// What was wanted.
        prefix: String,
        /// What there is.
        offered: String,
    },
    /// The set does not exist.
    #[error("{url} has no set '{set}'; {}its sets are {offered}", nearest.as_ref().map(|it| format!("the most similar one is '{it}'; ")).unwrap_or_default())]
    Set {
        /// Who was asked.
        url: String,
        /// What was wanted.
        set: String,
        /// The one that is most like it.
        nearest: Option<String>,
        /// What there is.
        offered: String,
    },
    /// There are no sets at all.
    #[error("{url} has no sets")]
    NoSets {
        /// Who was asked.
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
