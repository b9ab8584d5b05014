//! How questions reach an endpoint. The judge knows no more of the network than this, so that tests can be the endpoint.

use std::time::Duration;

use super::exchange::{Question, Raw};

/// Why there was no HTTP answer.
pub(crate) struct NoAnswer {
    pub(crate) reason: String,
    /// Whether asking again may help.
    pub(crate) is_transient: bool,
    /// Whether nothing was sent, because the server asked to be left alone for longer than we wait.
    pub(crate) is_held: bool,
}

/// Asks, and waits.
pub(crate) trait Transport {
    /// One attempt, which may take so long.
    async fn send(&self, question: &Question, within: Duration) -> Result<Raw, NoAnswer>;
    /// Lets time pass.
    async fn pause(&self, time: Duration);
    /// Seconds since 1970.
    fn now(&self) -> i64;
}
