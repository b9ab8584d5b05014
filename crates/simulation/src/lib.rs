//! Simulated harvests: the real planner and driver of `modoai-harvester` against generated repositories, without sockets and
//! in virtual time.
//!
//! A [`Case`](case::Case) describes a repository whose content is known, the errors of its server, and a sequence of runs with
//! changes and kills. Everything follows from the case: the same case gives the same requests, responses and results. [`run`]
//! executes it, and [`oracle`] compares every result with the content of the repository. A seed that fails is reduced to the
//! smallest case that still fails ([`shrink`]), which is one line of JSON and can be kept in the corpus.
//!
//! | file | content |
//! |---|---|
//! | `case` | a repository, its errors and its runs, as small values that can be combined |
//! | `generate` | a case for every seed |
//! | `truth` | the content of the repository, and its changes |
//! | `server`, `list`, `write` | the responses to requests: verbs and failures, lists and tokens, XML |
//! | `world` | transport, clock and kills: what the harvester sees |
//! | `store` | the sink: what the harvester has stored |
//! | `run` | one case, from its first run to its last |
//! | `oracle` | what must be true after a run |
//! | `shrink` | smaller cases that fail in the same way |
//!
//! The command is `cargo run --release -p modoai-simulation -- --help`; see also `docs/guide/reliability.md`.

pub mod case;
mod generate;
mod list;
pub mod oracle;
pub mod run;
pub mod server;
pub mod shrink;
pub mod store;
pub mod truth;
pub mod world;
mod write;
