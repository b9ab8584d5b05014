//! Who looks over the traversal's shoulder: whoever wants the resources themselves, and not only what is wrong with links.
//!
//! What must never be mistaken for a disappearance decides what is told. A document that cannot be read now is gone on from by
//! what it said before, so that whatever it led to is still come upon; and if nobody knows what it said, that is told, too.

use jiff::SignedDuration;
use modoai_fetch::HeaderMap;

use super::Traversal;
use super::settle::READER;
use super::visit::{Look, Visited};
use crate::table::TableError;
use crate::verdict::{Fault, Outcome, Reason};

/// How long a document that nobody has ever read can be thought to lead to others.
const BLIND_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Looks over the shoulder of a traversal at the resources of its tasks. Called on the traversal's own thread.
pub trait Observer: Send {
    /// Whether what this URL returned when it was last seen is at hand: then it is asked for only if it has changed.
    fn has(&mut self, url: &str) -> bool;

    /// A URL was come upon, and this is what came of it. A URL may be told twice; the last word counts.
    fn saw(&mut self, url: &str, sight: Sight<'_>);
}

/// What came of a URL, for whoever wants the resource.
#[derive(Clone, Copy, Debug)]
pub enum Sight<'a> {
    /// It was sent.
    Came {
        /// The headers of the answer.
        headers: &'a HeaderMap,
        /// The body, decoded.
        body: &'a [u8],
        /// Whether that is all of it.
        is_whole: bool,
    },
    /// It is what it was when it was last seen.
    Same,
    /// Its server says that it is not there, or is somewhere else for good.
    Gone,
    /// Nobody knows.
    Untested {
        /// Whether it may refer to others, and nobody knows to which: what was not come upon may still be there.
        is_blind: bool,
    },
}

impl Traversal {
    /// The same traversal, with somebody looking on. [`Options::bodies`](super::Options::bodies) says how much they get.
    #[must_use]
    pub fn observed_by(mut self, observer: Box<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Whether some limit kept documents from being read, so that not everything was come upon.
    pub fn is_cut(&self) -> bool {
        self.is_cut_by_depth || self.is_cut_by_pages || self.similar.is_used_up()
    }

    /// Whether a URL may be asked for on condition that it has changed.
    pub(super) fn may_be_same(&mut self, number: u32) -> bool {
        let is_home = self.web.node(number).is_home();
        let url = self.web.names.name(number);
        self.observer.as_mut().is_none_or(|observer| !is_home || observer.has(url))
    }

    /// Tells the observer what came of a URL; nothing but its outcome is known if it was tested before the run was
    /// interrupted. Whether to go on from what it said before.
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
            _ => Sight::Untested { is_blind: node.look == Look::Read && self.is_blind(number, outcome)? },
        };
        let goes_on = matches!(sight, Sight::Untested { .. });
        let url = self.web.names.name(number);
        if let Some(observer) = &mut self.observer {
            observer.saw(url, sight);
        }
        Ok(goes_on)
    }

    /// Whether nobody knows what a document refers to, and somebody will before long.
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
