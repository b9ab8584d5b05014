//! The request for a page, the report on its content, and the errors of reading it.

use modoai_protocol::xml::reader::ReadError;
use modoai_protocol::{Datestamp, Verb};

use crate::ending::Step;
use crate::repairs::Repairs;
use crate::sink::{Origin, SinkError};
use crate::state::{OpenWindow, Progress, StateError};
use crate::window::Granularity;

/// The expected content of a page, and its purpose.
#[derive(Clone, Debug)]
pub struct Order {
    /// The verb of the request.
    pub verb: Verb,
    /// The origin of its records; `harvested` is set from the page itself.
    pub origin: Origin,
    /// The granularity that the server announced, if any.
    pub granularity: Option<Granularity>,
    /// The list whose pass this is; none if no watermark follows from the pass.
    pub list: Option<i64>,
    /// The number of the first window of the pass.
    pub pass: i64,
    /// The time of the request, by the local clock.
    pub asked: Datestamp,
    /// The harvested window before this page.
    pub window: OpenWindow,
    /// The purpose of the page.
    pub purpose: Purpose,
}

/// The purpose of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To keep its records, and to continue from its token.
    Keep,
    /// To keep its headers as records without parts, and to continue from its token.
    Headers,
    /// To keep one record.
    One,
    /// To check if its items are stored; those that are not are noted as missing.
    Compare,
    /// To check if its records are stored, where no identifiers are listed; those that are not are stored.
    Again,
}

impl Purpose {
    /// Returns true if the list advances when such a page is kept.
    pub(crate) fn makes_progress(self) -> bool {
        matches!(self, Self::Keep | Self::Headers)
    }
}

/// The content of a page in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageReport {
    /// The responseDate.
    pub response_date: Option<Datestamp>,
    /// The verb of the response.
    pub verb: Option<Verb>,
    /// The protocol errors: codes and messages.
    pub errors: Vec<(String, String)>,
    /// The token of the next page.
    pub token: Option<String>,
    /// The completeListSize.
    pub size: Option<u64>,
    /// The cursor: the number of records on earlier pages, as the server counts.
    pub cursor: Option<u64>,
    /// Records on this page.
    pub records: u64,
    /// The records that were not seen in this window before.
    pub fresh: u64,
    /// The records that were not seen in this pass before.
    pub news: u64,
    /// The records that the harvest counts, as new, changed, deleted or unchanged.
    pub kept: u64,
    /// In a comparison, the differences from what is stored.
    pub found: Differences,
    /// The oldest and the newest datestamp on it.
    pub span: Option<(i64, i64)>,
    /// True if its bytes were repaired.
    pub mended: bool,
    /// Records that are in a set, and records that are in none.
    pub in_sets: (u64, u64),
    /// The repairs of the page.
    pub repairs: Repairs,
    /// The next step.
    pub step: Option<Step>,
    /// The counts of the window, including this page.
    pub progress: Progress,
}

/// What a list contains and the store does not, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The listed items that are not stored in that version.
    pub unknown: u64,
    /// Of these, items that may be newer than the beginning of the list that is compared.
    pub recent: u64,
    /// Of these, items that are stored in another version: they changed since.
    pub moved: u64,
    /// The unknown items that existed when the compared list began, and that were not noted as missing.
    pub lost: u64,
}

impl Differences {
    /// Adds the differences of another page.
    pub(crate) fn add(&mut self, other: Self) {
        self.unknown += other.unknown;
        self.recent += other.recent;
        self.moved += other.moved;
        self.lost += other.lost;
    }

    /// The unknown items that the compared list should have contained.
    pub(crate) fn overlooked(self) -> u64 {
        self.unknown - self.recent
    }
}

impl PageReport {
    /// Returns true if the page achieved its purpose: it contains something that was not seen in this pass before or,
    /// in a comparison, something that was not yet seen in the list.
    pub(crate) fn is_useful(&self, purpose: Purpose) -> bool {
        match purpose {
            Purpose::One => self.errors.is_empty(),
            Purpose::Compare | Purpose::Again => self.fresh > 0,
            Purpose::Keep | Purpose::Headers => self.news > 0,
        }
    }
}

/// The reason why a page could not be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The page is not valid XML of the protocol.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// The connection failed during the page.
    #[error(transparent)]
    Fetch(#[from] modoai_fetch::FetchError),
    /// It has neither an answer nor an error in it.
    #[error("the response contains {found}, but neither {expected} nor an error")]
    Nothing {
        /// The verb of the request.
        expected: Verb,
        /// The verb of the response.
        found: &'static str,
    },
    /// The user interrupted the run during the page.
    #[error("interrupted")]
    Interrupted,
    /// The sink failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The state failed.
    #[error(transparent)]
    State(#[from] StateError),
}
