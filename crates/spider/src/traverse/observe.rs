//! The observer interface of the traversal, for code that needs the resources themselves and not only the state of
//! links.
//!
//! An observer must never mistake an unreadable document for a deleted one. If a document cannot be read, the traversal
//! follows its stored references, so that resources linked from it are still found. If none are stored, the observer is
//! informed (`is_blind`).

use jiff::SignedDuration;
use modoai_fetch::HeaderMap;

use super::Traversal;
use super::settle::READER;
use super::visit::{Method, Visited};
use crate::table::TableError;
use crate::verdict::{Fault, Outcome, Reason};

/// The time for which a document that was never read may be assumed to link to others.
const BLIND_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Receives the resources of a traversal's tasks. Called on the traversal's own thread.
pub trait Observer: Send {
    /// Returns true if the last content of this URL is stored. The URL is then requested only if it has changed.
    fn has(&mut self, url: &str) -> bool;

    /// Receives the result of a URL. It may be called twice for a URL; the last call counts.
    fn saw(&mut self, url: &str, sight: Sight<'_>);
}

/// The result of a URL, as reported to an observer.
#[derive(Clone, Copy, Debug)]
pub enum Sight<'a> {
    /// The server sent it.
    Came {
        /// The headers of the response.
        headers: &'a HeaderMap,
        /// The body, decoded.
        body: &'a [u8],
        /// True if the body is complete.
        is_whole: bool,
    },
    /// It has not changed since the last visit.
    Same,
    /// The server reports it as missing or permanently moved.
    Gone,
    /// Unknown, because it could not be tested.
    Untested {
        /// True if it may link to others, but its references are unknown: resources that were not found may still
        /// exist.
        is_blind: bool,
    },
}

impl Traversal {
    /// Adds an observer to a traversal. [`Options::bodies`](super::Options::bodies) limits the bytes that it receives.
    #[must_use]
    pub fn observed_by(mut self, observer: Box<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Returns true if a limit kept documents from being read, so that resources may be missing.
    pub fn is_cut(&self) -> bool {
        self.is_cut_by_depth || self.is_cut_by_pages || self.similar.is_used_up()
    }

    /// Returns true if a conditional request may be sent for a URL.
    pub(super) fn may_be_same(&mut self, number: u32) -> bool {
        let is_home = self.web.node(number).is_home();
        let url = self.web.names.name(number);
        self.observer.as_mut().is_none_or(|observer| !is_home || observer.has(url))
    }

    /// Reports the result of a URL to the observer. If the URL was tested before the run was interrupted, only its
    /// outcome is available. Returns true if the stored references of the document are to be followed.
    pub(super) fn show(
        &mut self,
        number: u32,
        outcome: &Outcome,
        visited: Option<&Visited>,
    ) -> Result<bool, TableError> {
        let node = *self.web.node(number);
        if self.observer.is_none() || !node.is_home() || node.is_action {
            return Ok(false);
        }
        let came = visited.and_then(|visited| Some((&visited.headers, visited.kept.as_ref()?)));
        let sight = match (outcome, came) {
            (Outcome::Good, Some((headers, taken))) => {
                Sight::Came { headers, body: &taken.bytes, is_whole: taken.is_whole }
            }
            (Outcome::Good, None) if visited.is_none_or(|visited| visited.status == Some(304)) => Sight::Same,
            (Outcome::Broken(Fault::Status(404 | 410)) | Outcome::Moved { permanent: true, .. }, _) => Sight::Gone,
            _ => Sight::Untested { is_blind: node.method == Method::Read && self.is_blind(number, outcome)? },
        };
        let goes_on = matches!(sight, Sight::Untested { .. });
        let url = self.web.names.name(number);
        if let Some(observer) = &mut self.observer {
            observer.saw(url, sight);
        }
        Ok(goes_on)
    }

    /// Returns true if the references of a document are unknown, and a later visit may find them.
    fn is_blind(&self, number: u32, outcome: &Outcome) -> Result<bool, TableError> {
        let is_for_good = matches!(
            outcome,
            Outcome::Good
                | Outcome::Moved { .. }
                | Outcome::NotTested(Reason::Robots(_) | Reason::Login(_) | Reason::Refused(_))
                | Outcome::Broken(Fault::Status(..500) | Fault::RedirectLoop | Fault::RedirectNowhere)
        );
        if is_for_good || self.table.has_page(number, READER)? {
            return Ok(false);
        }
        let test = self.table.test(number)?;
        Ok(test.is_none_or(|test| test.at.duration_since(test.since) < BLIND_FOR))
    }
}
