//! A request as the log records it: account, program, list. No other data about the client is stored.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use modoai_protocol::{Datestamp, Listing, Range, Request};
use modoai_repository::{Sent, SentList};

use crate::{Event, List, Log, Outcome, product};

/// A line of the log whose outcome is not yet known.
#[derive(Clone, Debug)]
pub struct LogEntry {
    log: Arc<Log>,
    account: String,
    agent: String,
    verb: Option<&'static str>,
    /// The selection, for the first page of a list.
    begun: Option<List>,
}

impl LogEntry {
    /// Returns the entry of a request by a client with this User-Agent; the request is `None` if it is invalid.
    pub fn new(log: Arc<Log>, account: String, user_agent: &str, request: Option<&Request>) -> Self {
        let begun = match request {
            Some(Request::List { listing: Listing::Select(selection), .. }) => Some(List::begun(selection)),
            _ => None,
        };
        Self { log, account, agent: product(user_agent), verb: request.map(|request| request.verb().as_str()), begun }
    }

    /// Logs that the request was refused.
    pub fn refused(self) {
        self.write(Outcome::Refused, &Sent::default());
    }

    /// Logs what was sent. `is_whole` is true if that was the whole response.
    pub fn served(self, sent: &Sent, is_whole: bool) {
        let outcome = match sent {
            _ if !is_whole => Outcome::BrokenOff,
            sent if sent.is_error => Outcome::Error,
            sent if sent.is_last => Outcome::Complete,
            _ => Outcome::Answered,
        };
        self.write(outcome, sent);
    }

    fn write(self, outcome: Outcome, sent: &Sent) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs().cast_signed());
        let list = self.begun.or_else(|| sent.list.as_ref().map(resumed));
        self.log.note(&Event {
            at: Datestamp::from_unix(now),
            who: self.account,
            agent: self.agent,
            verb: self.verb,
            list: list.map(|list| list.to_string()),
            outcome,
            records: sent.records,
            bytes: sent.bytes,
        });
    }
}

/// Returns the list of a later page.
fn resumed(list: &SentList) -> List {
    let SentList { prefix, set, range, after } = list;
    List {
        prefix: prefix.clone(),
        set: set.as_ref().map(ToString::to_string),
        from: (range.first > Range::ALL.first).then(|| range.first.to_string()),
        until: None,
        after: *after,
    }
}
