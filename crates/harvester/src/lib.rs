//! Harvests OAI-PMH repositories whole.

pub mod quirks;
pub mod record;
pub mod sink;
