//! An OAI-PMH repository of a web site, or of any catalogue of items.
//!
//! It is synchronous and independent of HTTP: a host (the standalone server, the Apache module, a command) passes the
//! arguments of a request and gets an [`Answer`] that streams itself into any [`std::io::Write`].
//!
//! | module | content |
//! |---|---|
//! | [`sets`] | sets defined by the administrator |
//! | [`site`] | a directory as a site: its URLs, and the response to a GET of each |
//! | [`ingest`] | updates of the catalogue after changes of the site |
//! | [`crawled`] | a site on another server, as found by a crawl |
//! | [`catalogue`] | the current and deleted items, and the dates of their changes |
//! | [`audience`] | the kinds of requester that private items were listed for |
//! | [`description`] | descriptions in Identify that the administrator writes |
//! | [`host`] | the interface to the server of the site |
//! | [`formats`] | items in XML |
//! | [`Repository`] | the response to a request |

mod answer;
pub mod audience;
mod browse;
pub mod catalogue;
pub mod crawled;
pub mod description;
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
