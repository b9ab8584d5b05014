//! Harvests OAI-PMH repositories completely: resumable, unaltered, and with every gap reported.
//!
//! The first harvest requests all records of a repository, later ones only what changed. Every page is committed with the
//! token of the next one before that is requested; so a harvest can end at any moment, and the next run continues after the
//! last committed page. Known errors of real servers ([`quirks`]) are repaired where possible. Records that could not be
//! fetched are reported.
//!
//! | module | contents |
//! |---|---|
//! | [`harvest`] | the harvest of one repository, into a folder or into a sink of the caller |
//! | [`stream`] | the same as an asynchronous stream of records |
//! | [`record`] | the header of a record, and its difference from the stored item |
//! | [`sink`] | the receivers of records: JSON lines, a mirror of the site, WARC, a catalogue |
//! | [`state`] | the state that is stored between pages, between runs, and if the process is killed |
//! | `plan` | decides what is requested next, and if a list is complete: pure |
//! | [`window`], [`ending`] | lists in parts, and the check of their ends: pure |
//! | [`habits`], [`page`] | the form in which a server accepts requests; one page, read as it arrives |
//! | [`quirks`], [`repairs`], [`mend`] | errors of servers, and their repairs |
//! | [`didl`] | resources inside MPEG-21 DIDL, read as they arrive |
//! | [`limits`] | limits on the data that a server can make a harvest store |
//! | [`summary`], [`gauge`] | the result of a run, and its progress |
//! | [`desk`] | state, sink and counters, which change together |
//! | [`world`] | network and time, as traits that a simulation can implement |
//! | [`validate`] | checks a repository for conformance, and reports its errors |
//!
//! A program that uses this crate needs `modoai-fetch`, for the client and for URLs, and `tokio`, as its runtime; a separate
//! sink may need `modoai-protocol`, and a program that combines the stream with others `futures-core`.
//! `examples/records.rs` is such a program.
//!
//! ```no_run
//! use modoai_fetch::{Client, Manners, Url};
//! use modoai_harvester::harvest::{Harvest, Options};
//! use modoai_harvester::sink;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mirror = sink::named("mirror").expect("a built-in sink");
//! let options = Options::new(Url::parse("https://example.org/modoai")?);
//! let harvest = Harvest::new(Client::new(Manners::default())?, options);
//! let summary = harvest.into_folder("copy-of-example.org".as_ref(), mirror).await?;
//! println!("{} files, complete: {}", summary.records, summary.complete);
//! # Ok(())
//! # }
//! ```

pub(crate) mod ask;
pub(crate) mod clock;
pub mod desk;
pub mod didl;
pub mod ending;
pub mod gauge;
pub mod habits;
pub mod harvest;
pub mod limits;
pub mod mend;
pub mod page;
pub(crate) mod plan;
pub mod quirks;
pub mod record;
pub mod repairs;
pub mod sink;
pub mod state;
pub mod stream;
pub mod summary;
pub mod validate;
pub mod window;
pub mod world;
