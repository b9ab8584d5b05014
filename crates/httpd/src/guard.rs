//! No panic leaves a callback: C could not go on, and the whole process with all its connections would end.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use crate::log::{self, Level};

/// Runs a callback's work; if it panics, returns `otherwise`.
pub(crate) fn guard<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    // What happened has been logged where it did.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// Panics say where and why in the error log from now on, on one line, in whatever thread they happen.
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
