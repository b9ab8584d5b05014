//! The inputs and outputs of the planner.

use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use modoai_fetch::{HeaderMap, HeaderValue, Url};

use crate::table::Test;
use crate::traverse::visit::Visited;

/// The present: the clock that measures delays, and the date that is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    pub(crate) date: Timestamp,
}

impl Now {
    /// Returns the date after a delay; an hour later if the delay has no end that a date can have.
    pub(super) fn date_after(self, delay: Duration) -> Timestamp {
        self.date + SignedDuration::try_from(delay).unwrap_or(SignedDuration::from_hours(1))
    }
}

/// The next action of the driver.
#[derive(Debug)]
pub(crate) enum Action {
    /// Test a URL. Other actions follow before the result is known ([`Report::Visited`]).
    Fetch(Box<FetchJob>),
    /// Read what is stored of a URL ([`Report::Stored`]).
    Load(u32),
    /// Read the stored references of a document ([`Report::References`]).
    LoadReferences(u32),
    /// Store the test of a URL.
    StoreTest(u32, Box<Test>),
    /// Store the contents of a document: references and anchors.
    StorePage { node: u32, is_partial: bool, references: Vec<u8>, anchors: Vec<u8> },
    /// Store that a host refuses requests until a date.
    StoreHold(Box<str>, Timestamp),
    /// Report the result of a URL to the observer.
    Show(u32, Box<Sight>),
    /// Wait for the result of a test, or until this time.
    Wait(Option<Instant>),
    /// The traversal is complete.
    End,
}

/// The result of an action.
#[derive(Debug)]
pub(crate) enum Report {
    /// The result of a test.
    Visited(Box<Visited>),
    /// The stored state of a URL, if it was ever tested.
    Stored(u32, Option<Box<Stored>>),
    /// The references of a document, encoded; `None` if it was never read.
    References(u32, Option<Vec<u8>>),
}

/// The stored state of a URL.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// Its last test.
    pub(crate) test: Test,
    /// True if its references are stored, extracted by this version.
    pub(crate) has_page: bool,
    /// True if no observer needs its content again.
    pub(crate) is_held: bool,
}

/// The method of testing a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// HEAD; then GET if HEAD does not succeed.
    Head,
    /// GET, and extraction of the body.
    Read,
    /// GET without extraction.
    Get,
}

/// A request to be sent.
#[derive(Clone, Debug)]
pub(crate) struct FetchJob {
    pub(crate) node: u32,
    pub(crate) url: Url,
    pub(crate) method: Method,
    pub(crate) referer: Option<HeaderValue>,
    pub(crate) etag: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) is_home: bool,
    pub(crate) is_action: bool,
    pub(crate) is_sitemap: bool,
}

/// The result of a URL, as reported to an observer.
#[derive(Clone, Debug)]
pub enum Sight {
    /// The server sent it.
    Came {
        /// The headers of the response.
        headers: HeaderMap,
        /// The body, decoded.
        body: Bytes,
        /// True if the body is complete.
        is_whole: bool,
    },
    /// It has not changed since the last visit.
    Same,
    /// The server reports it as missing or permanently moved.
    Gone,
    /// Unknown, because it could not be tested.
    Untested {
        /// True if it may link to others, but its references are unknown: resources that were not found may still
        /// exist.
        is_blind: bool,
    },
}
