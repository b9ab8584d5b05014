//! A polite HTTP client.

/// Asks, politely.
#[derive(Clone, Debug)]
pub struct Client;
