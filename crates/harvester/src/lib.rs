//! Harvests OAI-PMH repositories whole: resumable, faithful, never silently short.
//!
//! A harvest asks a repository for everything it holds, and from then on for what changed. Every page is kept, with the
//! token of the next, before that is asked for; so it can end at any moment, and the next run goes on where it was. What
//! real servers get wrong is known ([`quirks`]) and repaired where possible. What could not be had is named.
//!
//! | module | what it is about |
//! |---|---|
//! | [`harvest`] | the harvest of one repository, into a folder or into a sink of the caller's |
//! | [`stream`] | the same as an asynchronous stream of records |
//! | [`record`] | the header of a record, and how it compares with what was received before |
//! | [`sink`] | where records go: segments, a mirror of the site, JSON lines, WARC, a catalogue |
//! | [`state`] | what is remembered between two pages, two runs, two lives of the process |
//! | `plan` | what is requested next, and whether a list is complete: pure |
//! | [`window`], [`ending`] | lists in parts, and whether an end can be believed: pure |
//! | [`habits`], [`page`] | how a server wants to be asked; one page, read as it arrives |
//! | [`quirks`], [`repairs`], [`mend`] | what servers get wrong, and what is done about it |
//! | [`didl`] | resources inside MPEG-21 DIDL, read as they arrive |
//! | [`limits`] | how much a server can make us store |
//! | [`summary`], [`gauge`] | how a run went, and how far it is |
//! | [`desk`] | state, sink and counters, as they change together |
//! | [`world`] | network and time, as traits that a simulation can implement |
//! | [`validate`] | judges a repository: is it conformant, and where not |
//!
//! A program that uses this needs `modoai-fetch`, for the client and for URLs, and `tokio`, in whose runtime everything
//! happens; a sink of its own may need `modoai-protocol`, and whoever combines the stream with others `futures-core`.
//! `examples/records.rs` is such a program.
//!
//! ```no_run
//! use modoai_fetch::{Client, Manners, Url};
//! use modoai_harvester::harvest::{Harvest, Options};
//! use modoai_harvester::sink;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let mirror = sink::named("mirror").expect("a sink of ours");
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
