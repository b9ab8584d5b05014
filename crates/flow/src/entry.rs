//! A request as the log records it: account, program, list. Nothing else about its sender is stored.

use std::time::{SystemTime, UNIX_EPOCH};

use modoai_protocol::{Datestamp, Listing, Range, Request};
use modoai_repository::{Sent, SentList};

use crate::client::Client;
use crate::flow::Flow;
use crate::log::{Event, List, Outcome, product};

/// A line of the log whose outcome is not yet known.
#[derive(Clone, Debug)]
pub struct LogEntry {
    account: String,
    agent: String,
    verb: Option<&'static str>,
    /// The selection, for the first page of a list.
    begun: Option<List>,
}

impl LogEntry {
    /// The entry of a request, which is `None` if it is not valid.
    pub fn new(flow: &Flow, client: &Client<'_>, request: Option<&Request>) -> Self {
        let begun = match request {
            Some(Request::List { listing: Listing::Select(selection), .. }) => Some(List::begun(selection)),
            _ => None,
        };
        Self {
            account: flow.account_name(client),
            agent: product(client.agent),
            verb: request.map(|request| request.verb().as_str()),
            begun,
        }
    }

    /// Logs that the request was refused.
    pub fn refused(self, flow: &Flow) {
        self.write(flow, Outcome::Refused, &Sent::default());
    }

    /// Logs what was sent, and whether that was the whole response.
    pub fn served(self, flow: &Flow, sent: &Sent, is_whole: bool) {
        let outcome = match sent {
            _ if !is_whole => Outcome::BrokenOff,
            sent if sent.is_error => Outcome::Error,
            sent if sent.is_last => Outcome::Complete,
            _ => Outcome::Answered,
        };
        self.write(flow, outcome, sent);
    }

    fn write(self, flow: &Flow, outcome: Outcome, sent: &Sent) {
        let Some(log) = flow.log() else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs().cast_signed());
        let list = self.begun.or_else(|| sent.list.as_ref().map(resumed));
        log.note(&Event {
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

/// A later page of a list.
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
