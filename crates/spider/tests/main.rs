//! The spider as a library user sees it.

mod tasks;
