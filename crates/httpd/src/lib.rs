//! A thin safe layer over Apache httpd, for modules in Rust. It contains all unsafe code of modoai.
//!
//! | file | safe interface for |
//! |---|---|
//! | [`mod@module`] | the module record, configuration, hooks: one trait to implement, [`module::Module`] |
//! | [`directive`] | a table of directives, each a row with a function |
//! | [`server`] | servers and virtual hosts |
//! | [`request`] | requests that a handler processes |
//! | [`reply`] | a response as an [`std::io::Write`], in constant memory |
//! | [`protected`] | headers that no other module can replace or remove |
//! | [`probe`] | the response to a plain GET of a URL by the same requester |
//! | [`asker`] | the requester of a probe, and its preparation |
//! | `realms` | passwords that were checked already |
//! | [`partial`] | probes with part of a requester's attributes |
//! | [`stage`] | the progress of a request, and the limits of a probe |
//! | [`stranger`] | probes without a client, for the indexer |
//! | [`watchdog`] | work in the background, in one process of many |
//! | [`accounts`] | the users of the system |
//! | [`log`] | the error log |
//!
//! All of it relies on these properties:
//!
//! - httpd passes pointers that are valid for as long as the pool that contains them. Every wrapper has a lifetime that
//!   ends before the callback returns; data that outlives a callback is copied.
//! - Servers and their configuration live until the process ends or, in the parent, until the configuration is read
//!   again. Children never read it again, so in a child they are valid until the process ends.
//! - No panic may leave a callback: every one of them runs inside `guard`.
//! - A process has one module record, and httpd loads the library again, or keeps it, with every restart. So statics
//!   contain only pointers that are set again with every registration.

#[rustfmt::skip]
#[doc(hidden)]
pub mod bindings;

pub mod accounts;
pub mod asker;
mod capture;
pub mod directive;
mod guard;
pub mod log;
pub mod module;
pub mod partial;
mod pool;
pub mod probe;
pub mod protected;
mod realms;
pub mod reply;
pub mod request;
pub mod server;
mod signals;
pub mod stage;
pub mod stranger;
pub mod table;
mod text;
pub mod watchdog;
