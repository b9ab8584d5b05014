//! Reuses stored results: validators for conditional requests, and the URLs that an interrupted run has tested.

use modoai_fetch::Url;

use super::Planner;
use super::action::{Method, Stored};
use super::web::{Node, Stage};
use crate::extract;
use crate::verdict::{Outcome, Reason};

/// The version of the extraction. If you change what is extracted from documents, increase it, and pages are read
/// again.
pub(crate) const READER: u32 = 2;

/// Returns true if a resumed run need not test a URL with this outcome again.
pub(crate) fn is_settled(outcome: &Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::NotTested(
            Reason::TimedOut
                | Reason::Connection(_)
                | Reason::Busy(_)
                | Reason::ServerTrouble(_)
                | Reason::Garbled(_)
                | Reason::Interrupted
                | Reason::RobotsUnknown
        )
    )
}

impl Stored {
    /// Returns true if the stored contents of a URL are sufficient for this method. They are not if a document was
    /// tested but not read, or read by another version of the extraction.
    pub(super) fn suffices(&self, url: &str, node: &Node, method: Method) -> bool {
        if !self.is_held {
            return false;
        }
        let media_type = self.test.media_type.as_deref().map(|text| text.split(';').next().unwrap_or(text).trim());
        let media_type = media_type.map(str::to_ascii_lowercase);
        let may_be_read =
            || node.is_sitemap || Url::parse(url).is_ok_and(|url| extract::is_read(media_type.as_deref(), &url));
        // Without a digest, the validators belong to a response that was not read.
        method != Method::Read || self.test.digest.is_some() && self.has_page || !may_be_read()
    }
}

impl Planner {
    /// Reuses the result of a URL that this run had tested before it was interrupted.
    pub(super) fn recall(&mut self, number: u32, stored: Option<Box<Stored>>) {
        let method = self.method(number);
        let node = *self.web.node(number);
        let url = self.web.names.name(number);
        let Some(stored) = stored.filter(|it| node.code != 0 || it.suffices(url, &node, method)) else {
            self.web.node_mut(number).is_recent = false;
            self.enqueue(number);
            return;
        };
        let node = self.web.node_mut(number);
        (node.stage, node.method) = (Stage::Done, method);
        self.progress.tested += 1;
        let Stored { test, has_page, .. } = *stored;
        if self.show(number, &test, None, has_page) {
            self.follow_unchanged(number, test.owner.as_deref());
        }
        match &test.outcome {
            Outcome::Moved { to, .. } => self.follow_redirect(number, to),
            Outcome::Good => self.follow_unchanged(number, test.owner.as_deref()),
            Outcome::Broken(_) => self.progress.broken += 1,
            Outcome::NotTested(_) => {}
        }
    }
}
