//! No panic leaves a callback: C could not go on, and the whole process with all its connections would end.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::log::{self, Level};

/// Runs a callback's work; if it panics, says so in the error log and returns `otherwise`.
pub(crate) fn guard<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = format!("an error in the module, please report it: {}", said(&*panic));
        log::server(Level::Critical, &message);
        otherwise
    })
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without words")
}
