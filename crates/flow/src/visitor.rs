//! A request as the log will know it: who, by which product, for what. Nothing else about the one who sent it is kept.

use std::time::{SystemTime, UNIX_EPOCH};

use modoai_protocol::{Datestamp, Listing, Range, Request};
use modoai_repository::{Sent, SentList};

use crate::flow::Flow;
use crate::log::{Event, List, Outcome, product};
use crate::who::Asker;

/// Somebody who asks for something.
#[derive(Clone, Debug)]
pub struct Visitor {
    who: String,
    agent: String,
    verb: Option<&'static str>,
    /// What was asked for, if a list was begun.
    begun: Option<List>,
}

impl Visitor {
    /// Somebody who asks for this, if it is legal.
    pub fn new(flow: &Flow, asker: &Asker<'_>, request: Option<&Request>) -> Self {
        let begun = match request {
            Some(Request::List { listing: Listing::Select(selection), .. }) => Some(List::begun(selection)),
            _ => None,
        };
        Self {
            who: flow.who(asker).to_string(),
            agent: product(asker.agent),
            verb: request.map(|request| request.verb().as_str()),
            begun,
        }
    }

    /// Notes that they were told to come back later.
    pub fn refused(self, flow: &Flow) {
        self.note(flow, Outcome::Refused, &Sent::default());
    }

    /// Notes what they were sent, and whether that was all they were to be sent.
    pub fn served(self, flow: &Flow, sent: &Sent, is_whole: bool) {
        let outcome = match sent {
            _ if !is_whole => Outcome::BrokenOff,
            sent if sent.is_error => Outcome::Error,
            sent if sent.is_last => Outcome::Complete,
            _ => Outcome::Answered,
        };
        self.note(flow, outcome, sent);
    }

    fn note(self, flow: &Flow, outcome: Outcome, sent: &Sent) {
        let Some(log) = flow.log() else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs().cast_signed());
        let list = self.begun.or_else(|| sent.list.as_ref().map(resumed));
        log.note(&Event {
            at: Datestamp::from_unix(now),
            who: self.who,
            agent: self.agent,
            verb: self.verb,
            list: list.map(|list| list.to_string()),
            outcome,
            records: sent.records,
            bytes: sent.bytes,
        });
    }
}

/// A later page, as [`List::resumed`] has it of the token.
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
