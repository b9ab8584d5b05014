//! The local clock. Most dates come from the server instead, because clocks differ.

use std::time::{SystemTime, UNIX_EPOCH};

use modoai_protocol::Datestamp;

/// Returns the current time by the machine's clock.
pub(crate) fn now() -> Datestamp {
    of(SystemTime::now())
}

/// Returns a time in whole seconds.
pub(crate) fn of(time: SystemTime) -> Datestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Datestamp::from_unix(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
