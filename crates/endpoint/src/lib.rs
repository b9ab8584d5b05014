//! One request to the repository, from its arguments to its line in the harvest log, the same in every host.
//!
//! A host (the standalone server, the Apache module) reads a request from its connection and calls, in this order:
//!
//! | step | call |
//! |---|---|
//! | what the path names | [`Target::named`] |
//! | the parts of the request that matter | [`Received::new`], [`Received::takes_form`] |
//! | arguments, form and class, once | [`Received::read`] |
//! | admission by flow control | [`Inquiry::admit`], [`Inquiry::admit_or_wait`], [`Inquiry::refused`] |
//! | response, account and log | [`Inquiry::answer`] |
//! | what failed | [`ErrorResponse::of`], [`message`] |
//!
//! The host supplies a [`Host`](modoai_repository::host::Host), a writer, the means to set the status and headers, and the
//! requester. A difference between the responses of two hosts is an ability of one of them, or a defect; a test of
//! `testkit` sends the same requests to both.
//!
//! Everything here is synchronous and knows no HTTP library, so that it can run inside httpd.

pub mod browser;
mod error;
mod headers;
mod inquiry;
pub mod quality;
mod received;
mod target;

pub use error::{ErrorResponse, WrongCredentials, message};
pub use headers::{ANSWER_HEADERS, PAGE_HEADERS};
pub use inquiry::Inquiry;
pub use received::Received;
pub use target::Target;
