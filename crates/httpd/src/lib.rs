//! A thin safe layer over Apache httpd, for modules in Rust. All unsafe code of modoai is in here.
//!
//! | file | what it makes safe |
//! |---|---|
//! | [`mod@module`] | the module record, configuration, hooks: one trait to implement, [`module::Module`] |
//! | [`directive`] | a table of directives, each a row with a function |
//! | [`server`] | servers and virtual hosts |
//! | [`request`] | requests that a handler answers |
//! | [`reply`] | an answer as an [`std::io::Write`], in constant memory |
//! | [`probe`] | what a plain GET of a URL by the same requester would return |
//! | [`asker`] | on whose behalf a probe is made, and how |
//! | `realms` | passwords that were checked already |
//! | [`partial`] | probes with part of a requester's attributes |
//! | [`stage`] | how far a request has come, and how far a probe may go |
//! | [`stranger`] | the same, asked on behalf of nobody, with no client at hand |
//! | [`watchdog`] | work in the background, in one process of many |
//! | [`accounts`] | the users of the system |
//! | [`log`] | the error log |
//!
//! What all of it relies on:
//!
//! - httpd hands out pointers that are good for as long as the pool they came from. Every wrapper has a lifetime that
//!   ends before the callback returns; what outlives a callback is copied.
//! - Servers and their configuration live until the process ends or, in the parent, until the configuration is read
//!   again. Children never read it again, so in a child they are good for ever.
//! - No panic may leave a callback: every one of them runs inside `guard`.
//! - A process has one module record, and httpd loads the library anew, or keeps it, with every restart. So nothing is
//!   kept in statics but pointers that are set anew with every registration.

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
