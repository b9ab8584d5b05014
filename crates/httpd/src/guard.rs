//! Catches panics in callbacks: a panic must not unwind into C, and would end the whole process with all its
//! connections.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use crate::log::{self, Level};

/// Runs a callback's work; if it panics, returns `otherwise`.
pub(crate) fn guard<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    // The panic hook has already logged the message.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// Writes the message and location of later panics in any thread to the error log, on one line.
pub(crate) fn log_panics() {
    set_hook(Box::new(|panic| {
        let place = panic.location().map(|location| format!(" ({location})")).unwrap_or_default();
        let message = format!("internal error: {}{place} (please report this)", said(panic.payload()));
        log::server(Level::Critical, &message);
    }));
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic without a message")
}
