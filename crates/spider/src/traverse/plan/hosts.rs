//! The hosts of a traversal: their numbers in the frontier, their failures, and the tasks that read their sitemaps.

use std::collections::HashMap;

use modoai_fetch::Url;

use super::sets::SetId;
use crate::verdict::{Outcome, Reason};

/// The maximum number of consecutive failed requests to a host, after which no more are sent; and that of a host that
/// is maintained.
const MAX_FAILURES: u32 = 3;
const MAX_FAILURES_AT_HOME: u32 = 12;

/// The hosts, by their number in the frontier.
#[derive(Default)]
pub(super) struct Hosts {
    numbers: HashMap<String, u32>,
    /// The number of consecutive failed requests, and the reason for the last failure.
    failures: HashMap<u32, (u32, Reason)>,
    /// The tasks that read the sitemaps of a host.
    pub(super) sitemaps: HashMap<u32, SetId>,
}

impl Hosts {
    /// Returns the number of the host of a URL.
    pub(super) fn number(&mut self, url: &Url) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(url.origin().ascii_serialization()).or_insert(next)
    }

    /// Records the outcome of a request: requests to a host that does not respond must end.
    pub(super) fn record(&mut self, host: u32, is_home: bool, outcome: &Outcome) {
        match outcome {
            Outcome::NotTested(
                reason @ (Reason::TimedOut | Reason::Connection(_) | Reason::Busy(_) | Reason::Garbled(_)),
            ) if self.given_up(host, is_home).is_none() => {
                let failure = self.failures.entry(host).or_insert((0, reason.clone()));
                *failure = (failure.0 + 1, reason.clone());
            }
            Outcome::NotTested(_) => {}
            _ => _ = self.failures.remove(&host),
        }
    }

    /// Returns the reason if requests to a host have failed too often.
    pub(super) fn given_up(&self, host: u32, is_home: bool) -> Option<&Reason> {
        let enough = if is_home { MAX_FAILURES_AT_HOME } else { MAX_FAILURES };
        self.failures.get(&host).filter(|(times, _)| *times >= enough).map(|(_, reason)| reason)
    }
}
