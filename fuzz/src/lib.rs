//! Modules of fetch, the harvester and the spider that read foreign bytes, compiled on their own. The crates as a whole bring a
//! database, TLS and a runtime, which would take longer to instrument than everything here takes to run.

#[path = "../../crates/harvester/src/didl/mod.rs"]
pub mod didl;
#[path = "../../crates/harvester/src/mend/mod.rs"]
pub mod mend;
#[path = "../../crates/fetch/src/robots/pattern.rs"]
mod pattern;
#[path = "../../crates/harvester/src/quirks.rs"]
pub mod quirks;
//! Modules of fetch, the harvester and the spider that read foreign bytes, compiled on their own. The crates as a whole bring a
//! database, TLS and a runtime, which would take longer to instrument than everything here takes to run.
