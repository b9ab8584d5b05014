//! What the blocking side of a harvest holds: the state, the sink, and the counters.

use std::sync::Arc;

use crate::gauge::Gauge;
use crate::limits::Budget;
use crate::page::PageError;
use crate::sink::{Sink, SinkError};
use crate::state::State;

/// State and sink, which change together.
pub struct Desk {
    /// What is remembered.
    pub state: State,
    /// Where records go.
    pub sink: Box<dyn Sink>,
    /// How far it is.
    pub gauge: Arc<Gauge>,
    /// How much may be stored.
    pub budget: Arc<Budget>,
    /// Whether anything was committed that the sink has not yet made safe.
    pub unsynced: bool,
}

impl Desk {
    /// Makes everything safe that was committed. Where nothing was, nothing is done: a sync can take longer than a harvest.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        if self.unsynced {
            self.sink.finish()?;
            self.unsynced = false;
        }
        Ok(())
    }

    /// Undoes a page that is not to become true.
    pub fn roll_back(&mut self) -> Result<(), PageError> {
        self.sink.roll_back()?;
        Ok(self.state.roll_back()?)
    }
}
