//! A web site, or any catalogue of items, as an OAI-PMH repository.
//!
//! Synchronous and without HTTP: a host (the standalone server, the Apache module, a command) hands in the arguments of
//! a request and gets an [`Answer`] that streams itself into any [`std::io::Write`].
//!
//! | module | what it is about |
//! |---|---|
//! | [`sets`] | sets of the administrator's own choice |
//! | [`site`] | a folder as a site: its URLs, and what a GET of each returns |
//! | [`ingest`] | keeping the catalogue equal to the site |
//! | [`crawled`] | a site that somebody else serves, as a crawl saw it |
//! | [`catalogue`] | what the site holds and held, and when that changed |
//! | [`audience`] | the kinds of requester that private items were listed for |
//! | [`host`] | what the provider asks whoever serves the site |
//! | [`formats`] | items in XML |
//! | [`Repository`] | one request in, one answer out |

mod answer;
pub mod audience;
mod browse;
pub mod catalogue;
pub mod crawled;
mod error;
pub mod formats;
pub mod host;
pub mod ingest;
pub mod item;
mod repository;
pub mod sets;
pub mod settings;
pub mod site;

pub use answer::{Answer, Sent, SentList};
pub use browse::{Allowance, Download, Form, PageRequest};
pub use error::Failure;
pub use modoai_protocol::with_causes;
pub use repository::{ArchiveFormats, Repository};
pub use settings::Settings;
