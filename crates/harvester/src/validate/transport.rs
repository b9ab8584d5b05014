//! The connection to an endpoint. The validator uses no other part of the network, so that tests can replace the
//! endpoint.

use std::time::Duration;

use super::exchange::{Question, Raw};

/// The reason why no HTTP response was received.
pub(crate) struct NoAnswer {
    pub(crate) reason: String,
    /// True if a repetition may succeed.
    pub(crate) is_transient: bool,
    /// True if the request was not sent, because the server requested a longer pause than allowed.
    pub(crate) is_held: bool,
}

/// Sends requests, and waits.
pub(crate) trait Transport {
    /// Makes one attempt, with this timeout.
    async fn send(&self, question: &Question, within: Duration) -> Result<Raw, NoAnswer>;
    /// Waits.
    async fn pause(&self, time: Duration);
    /// Returns the time in seconds since 1970.
    fn now(&self) -> i64;
}
