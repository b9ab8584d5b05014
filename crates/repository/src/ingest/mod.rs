//! Keeps the catalogue equal to the site.
//!
//! One algorithm, `reconcile`, compares a part of the site with the same part of the catalogue, both in order of names,
//! and records the differences. A first index, a rescan, a renamed directory and a saved file differ only in the size
//! of the part. `watch` reports which `parts` to scan; it may report too many, never too few. `trails` and `hard_links`
//! find the other names that change with them. [`Keeper`] is the thread that waits for events and scans; `read_ahead`
//! is another one, which reads files before they are requested, with `read` and, for large files, `large`.

mod hard_links;
mod keeper;
mod large;
mod merge;
mod parts;
mod read;
mod read_ahead;
mod reconcile;
mod trails;
mod watch;

#[cfg(test)]
mod tests;

pub use keeper::{Keeper, Pace, Status};
pub use read::read_everything;
pub use reconcile::{IngestError, Part, Reconciler, Tally};
