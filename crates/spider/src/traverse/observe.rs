//! The observer interface of the traversal, for code that needs the resources themselves and not only the state of
//! links.
//!
//! An observer must never mistake an unreadable document for a deleted one. If a document cannot be read, the traversal
//! follows its stored references, so that resources linked from it are still found. If none are stored, the observer is
//! informed (`is_blind`).

pub use super::plan::Sight;

/// Receives the resources of a traversal's tasks. Called on the traversal's own thread.
pub trait Observer: Send {
    /// Returns true if the last content of this URL is stored. The URL is then requested only if it has changed.
    fn has(&mut self, url: &str) -> bool;

    /// Receives the result of a URL. It may be called twice for a URL; the last call counts.
    fn saw(&mut self, url: &str, sight: Sight);
}
