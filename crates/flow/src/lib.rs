//! Flow control: harvesters stay welcome and the site stays up.
//!
//! Synchronous and without HTTP, so that httpd's threads and the standalone server use the same: whoever asks is
//! [`who::Who`]; what they harvested goes into the [`log`].

pub mod log;
pub mod who;
