//! Keeping the catalogue equal to the site.
//!
//! There is one algorithm, `reconcile`: go through a part of the site and the same part of the catalogue side by side,
//! both in order of names, and write down the differences. A first index, a rescan, a renamed folder and a saved file
//! differ only in how large the part is. `watch` tells which `parts` to look at, and may be wrong in every way but
//! silence; `trails` and `hard_links` tell which other names change with them. [`Keeper`] is the thread that listens and looks, and
//! `read_ahead` another one that reads what nobody has asked for yet, with `read` and, for
//! large files, `large`.

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
