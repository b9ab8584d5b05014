//! Combines frequent refusals and errors into one line.
//!
//! A client that ignores Retry-After may be refused a thousand times in a second, and must not displace the entries of
//! all other clients from the log. The first refusal is written immediately; those in the following seconds are
//! counted, and written as one line. If the process is killed meanwhile, only that count is lost.

use std::collections::HashMap;

use crate::{Event, Outcome};

/// The period in which repetitions are counted before they are written, in seconds.
const SPAN: u64 = 10;

/// The maximum number of counters; further events are written individually.
const MAX_COUNTED: usize = 1024;

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    of: HashMap<(String, Outcome), Repeated>,
    /// The time of the last search for counters that are due.
    swept: i64,
}

#[derive(Debug)]
struct Repeated {
    since: i64,
    /// The number of events that are not written yet.
    times: u64,
    /// The sum of these events: the first of them, with the time of the last.
    event: Event,
}

impl Repeats {
    /// Counts an event. Returns the events to write now, each with the number of requests that it represents.
    pub(crate) fn note(&mut self, event: &Event) -> Vec<(Event, u64)> {
        let now = event.at.unix();
        let mut lines = Vec::new();
        if self.swept.abs_diff(now) >= SPAN {
            self.swept = now;
            let due = self.of.extract_if(|_, repeated| repeated.since.abs_diff(now) >= SPAN);
            lines.extend(due.filter(|(_, it)| it.times > 0).map(|(_, it)| (it.event, it.times)));
        }
        let key = (event.who.clone(), event.outcome);
        match self.of.get_mut(&key) {
            Some(Repeated { times, event: sum, .. }) => {
                if *times == 0 {
                    sum.clone_from(event);
                } else {
                    sum.at = event.at;
                    sum.records = sum.records.saturating_add(event.records);
                    sum.bytes = sum.bytes.saturating_add(event.bytes);
                }
                *times += 1;
            }
            None => {
                if matches!(event.outcome, Outcome::Refused | Outcome::Error) && self.of.len() < MAX_COUNTED {
                    self.of.insert(key, Repeated { since: now, times: 0, event: event.clone() });
                }
                lines.push((event.clone(), 1));
            }
        }
        lines
    }

    /// Returns everything that was counted and not yet written.
    pub(crate) fn rest(&mut self) -> Vec<(Event, u64)> {
        let rest = self.of.drain().map(|(_, it)| (it.event, it.times));
        rest.filter(|(_, times)| *times > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use modoai_protocol::Datestamp;

    use super::*;

    fn event(at: i64, who: &str, outcome: Outcome, bytes: u64) -> Event {
        Event {
            at: Datestamp::from_unix(at),
            who: who.to_owned(),
            agent: String::new(),
            verb: None,
            list: None,
            outcome,
            records: 0,
            bytes,
        }
    }

    #[test]
    fn a_flood_of_refusals_is_a_few_lines_and_no_request_is_forgotten() {
        let mut repeats = Repeats::default();
        let (mut lines, mut refused, mut answered, mut bytes) = (0, 0, 0, 0);
        for second in 0..100 {
            let mut write = |(event, times): &(Event, u64)| {
                lines += 1;
                bytes += event.bytes;
                *if event.outcome == Outcome::Refused { &mut refused } else { &mut answered } += times;
            };
            for _ in 0..1000 {
                repeats.note(&event(1000 + second, "a", Outcome::Refused, 3)).iter().for_each(&mut write);
            }
            repeats.note(&event(1000 + second, "a", Outcome::Answered, 0)).iter().for_each(&mut write);
            repeats.note(&event(1000 + second, "b", Outcome::Refused, 3)).iter().for_each(&mut write);
        }
        for (event, times) in repeats.rest() {
            lines += 1;
            bytes += event.bytes;
            refused += times;
        }
        assert_eq!((refused, answered, bytes), (100 * 1001, 100, 3 * 100 * 1001));
        assert!(lines < 200, "{lines}");
    }

    #[test]
    fn what_is_counted_for_is_bounded() {
        let mut repeats = Repeats::default();
        let mut lines = 0;
        for number in 0..10_000 {
            lines += repeats.note(&event(1000, &format!("{number}"), Outcome::Error, 0)).len();
        }
        assert_eq!((repeats.of.len(), lines), (MAX_COUNTED, 10_000));
    }
}
