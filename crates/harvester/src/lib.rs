//! Harvests OAI-PMH repositories whole.

pub mod ask;
pub mod clock;
pub mod desk;
pub mod didl;
pub mod ending;
pub mod gauge;
pub mod habits;
pub mod harvest;
pub mod mend;
pub mod page;
pub mod quirks;
pub mod record;
pub mod repairs;
pub mod sink;
pub mod state;
pub mod summary;
pub mod window;
