//! State, sink and counters, which the blocking part of a harvest uses.

use std::sync::Arc;

use crate::gauge::Gauge;
use crate::limits::Budget;
use crate::page::PageError;
use crate::sink::{Sink, SinkError};
use crate::state::State;

/// State and sink, which change together.
pub struct Desk {
    /// The stored state.
    pub state: State,
    /// The receiver of the records.
    pub sink: Box<dyn Sink>,
    /// The progress of the harvest.
    pub gauge: Arc<Gauge>,
    /// The limits of the data that may be stored.
    pub budget: Arc<Budget>,
    /// True if anything was committed that the sink has not yet synced to disk.
    pub unsynced: bool,
}

impl Desk {
    /// Syncs everything to disk that was committed. If nothing was committed, it does nothing: a sync can take longer
    /// than a harvest.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        if self.unsynced {
            self.sink.finish()?;
            self.unsynced = false;
        }
        Ok(())
    }

    /// Discards a page that must not be committed.
    pub fn roll_back(&mut self) -> Result<(), PageError> {
        self.sink.roll_back()?;
        Ok(self.state.roll_back()?)
    }
}
