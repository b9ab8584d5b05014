//! What is expected of a page, what it said, and why it could not be read.

use modoai_protocol::xml::reader::ReadError;
use modoai_protocol::{Datestamp, Verb};

use crate::ending::Step;
use crate::repairs::Repairs;
use crate::sink::{Origin, SinkError};
use crate::state::{OpenWindow, Progress, StateError};
use crate::window::Granularity;

/// What is expected of a page, and what is to be done with it.
#[derive(Clone, Debug)]
pub struct Order {
    /// What was asked.
    pub verb: Verb,
    /// Where it comes from; `harvested` is set from the page itself.
    pub origin: Origin,
    /// The granularity that was promised, if one was.
    pub granularity: Option<Granularity>,
    /// The list whose pass this is; none if it is not a pass that a watermark follows from.
    pub list: Option<i64>,
    /// The number of the first window of the pass.
    pub pass: i64,
    /// When it was asked for, by our clock.
    pub asked: Datestamp,
    /// The window that is harvested, as it was before this page.
    pub window: OpenWindow,
    /// What for.
    pub purpose: Purpose,
}

/// What a page is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To keep its records, and to go on from its token.
    Keep,
    /// To keep its headers as records without parts, and to go on from its token.
    Headers,
    /// To keep one record.
    One,
    /// To see whether its items are here; those that are not are noted as missing.
    Compare,
    /// To see whether its records are here, where no identifiers are listed; those that are not are kept.
    Again,
}

impl Purpose {
    /// Whether the list has come further when such a page is kept.
    pub(crate) fn makes_progress(self) -> bool {
        matches!(self, Self::Keep | Self::Headers)
    }
}

/// What a page said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageReport {
    /// When it was made.
    pub response_date: Option<Datestamp>,
    /// What it answers.
    pub verb: Option<Verb>,
    /// Why it does not.
    pub errors: Vec<(String, String)>,
    /// Where the list goes on.
    pub token: Option<String>,
    /// How long the list is.
    pub size: Option<u64>,
    /// How many records came before, as the server counts.
    pub cursor: Option<u64>,
    /// Records on this page.
    pub records: u64,
    /// Of which not seen in this window before.
    pub fresh: u64,
    /// Of which not seen in this pass before.
    pub news: u64,
    /// Of which the harvest counts, as new, changed, deleted or unchanged.
    pub kept: u64,
    /// Of what was listed to be compared: items that are not here.
    pub unknown: u64,
    /// Of these: items that were there when the list that is compared began, and that nothing was known of.
    pub lost: u64,
    /// The oldest and the newest datestamp on it.
    pub span: Option<(i64, i64)>,
    /// Whether its bytes had to be mended.
    pub mended: bool,
    /// Records that name a set, and records that name none.
    pub in_sets: (u64, u64),
    /// What was done about what was wrong.
    pub repairs: Repairs,
    /// What comes next.
    pub step: Option<Step>,
    /// What was counted in the window, this page included.
    pub progress: Progress,
}

impl PageReport {
    /// Returns true if the page brought what it was asked for: something that was not seen in this pass before, or, where
    /// it is compared with what is here, something that was not yet seen in the list.
    pub(crate) fn is_useful(&self, purpose: Purpose) -> bool {
        match purpose {
            Purpose::One => self.errors.is_empty(),
            Purpose::Compare | Purpose::Again => self.fresh > 0,
            Purpose::Keep | Purpose::Headers => self.news > 0,
        }
    }
}

/// Why a page could not be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// It is not an answer.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// The connection failed while it came.
    #[error(transparent)]
    Fetch(#[from] modoai_fetch::FetchError),
    /// It has neither an answer nor an error in it.
    #[error("the response contains {found}, but neither {expected} nor an error")]
    Nothing {
        /// What was asked.
        expected: Verb,
        /// What was answered.
        found: &'static str,
    },
    /// Somebody said stop while it came.
    #[error("interrupted")]
    Interrupted,
    /// The sink failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The state failed.
    #[error(transparent)]
    State(#[from] StateError),
}
