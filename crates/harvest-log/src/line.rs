//! A line of the log: JSON with short keys, because there are many of them.
//!
//! | key | meaning |
//! |---|---|
//! | `t` | time, in seconds since 1970 |
//! | `w` | account |
//! | `a` | program |
//! | `v` | verb |
//! | `l` | list |
//! | `o` | outcome |
//! | `n` | number of records, headers or sets sent |
//! | `b` | number of bytes sent |
//! | `k` | number of requests that share this line, if more than one |

use std::borrow::Cow;

use modoai_protocol::text::beginning;
use serde::{Deserialize, Serialize};

use crate::{Event, Outcome};

/// Names are truncated to this many bytes, and lists to twice as many, so that a request cannot make a line arbitrarily
/// long.
const LONGEST: usize = 200;

/// The beginning of every line. It cannot occur within one, because quotation marks in strings are escaped.
pub(crate) const BEGINNING: &[u8] = b"{\"t\":";

/// The content of a line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line<'a> {
    /// First, see [`BEGINNING`].
    pub(crate) t: i64,
    #[serde(borrow)]
    pub(crate) w: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    pub(crate) a: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) v: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) l: Option<Cow<'a, str>>,
    pub(crate) o: Outcome,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) n: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) b: u64,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(crate) k: u64,
}

impl<'a> Line<'a> {
    /// Returns the line of an event that represents this number of requests.
    pub(crate) fn of(event: &'a Event, times: u64) -> Self {
        Self {
            t: event.at.unix(),
            w: Cow::Borrowed(beginning(&event.who, LONGEST)),
            a: Cow::Borrowed(beginning(&event.agent, LONGEST)),
            v: event.verb.map(Cow::Borrowed),
            l: event.list.as_deref().map(|list| Cow::Borrowed(beginning(list, 2 * LONGEST))),
            o: event.outcome,
            n: event.records,
            b: event.bytes,
            k: times,
        }
    }

    /// Returns the line with its line feed; empty if it cannot be JSON, which is impossible for text.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Reads a line. It may begin with an incomplete line of a process that was killed.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        if let Ok(line) = serde_json::from_slice(bytes) {
            return Some(line);
        }
        let begin =
            bytes.windows(BEGINNING.len()).rposition(|window| window == BEGINNING).filter(|begin| *begin > 0)?;
        serde_json::from_slice(&bytes[begin..]).ok()
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_one(number: &u64) -> bool {
    *number == 1
}

fn one() -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use modoai_protocol::Datestamp;

    use super::*;

    fn event() -> Event {
        Event {
            at: Datestamp::from_unix(1_700_000_000),
            who: "192.0.2.0/24".to_owned(),
            agent: "modoai-harvest/0.1".to_owned(),
            verb: Some("ListRecords"),
            list: Some("oai_dc set=a".to_owned()),
            outcome: Outcome::Complete,
            records: 100,
            bytes: 54_321,
        }
    }

    fn written(event: &Event, times: u64) -> Vec<u8> {
        Line::of(event, times).to_bytes()
    }

    #[test]
    fn a_line_is_short_and_read_as_it_was_written() {
        let line = written(&event(), 1);
        let expected = "{\"t\":1700000000,\"w\":\"192.0.2.0/24\",\"a\":\"modoai-harvest/0.1\",\"v\":\"ListRecords\",\
            \"l\":\"oai_dc set=a\",\"o\":\"end\",\"n\":100,\"b\":54321}\n";
        assert_eq!(std::str::from_utf8(&line), Ok(expected));
        for outcome in [Outcome::Answered, Outcome::Complete, Outcome::Error, Outcome::Refused, Outcome::BrokenOff] {
            let event = Event { outcome, verb: None, list: None, agent: String::new(), ..event() };
            let line = written(&event, 7);
            assert_eq!(Line::read(line.trim_ascii()), Some(Line::of(&event, 7)));
        }
    }

    #[test]
    fn a_line_behind_an_unfinished_one_is_found() {
        let whole = written(&Event { who: "quoted \" {\"t\":1} name".to_owned(), ..event() }, 1);
        let whole = whole.trim_ascii();
        assert_eq!(Line::read(whole).expect("a line").w, "quoted \" {\"t\":1} name");
        for end in 1..whole.len() {
            let torn = [&whole[..end], whole].concat();
            assert_eq!(Line::read(&torn), Line::read(whole), "{}", String::from_utf8_lossy(&torn));
            assert_eq!(Line::read(&whole[..end]), None);
        }
    }

    #[test]
    fn a_line_stays_short_whatever_is_asked_for() {
        let event = Event { who: "é".repeat(5000), list: Some("x".repeat(100_000)), ..event() };
        assert!(written(&event, 1).len() < 1000);
    }
}
