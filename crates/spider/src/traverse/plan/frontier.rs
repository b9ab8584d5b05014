//! The queue of URLs to test, per host, so that a slow or limited host does not delay the others.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// The order in which URLs are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A URL to be read, as soon as its host has a place.
    Document,
    /// A leaf that no task can ever read: as soon as its host has a place.
    Outside,
    /// A leaf that may still turn out to be a document: after all documents.
    Last,
}

const TURNS: [Turn; 3] = [Turn::Document, Turn::Outside, Turn::Last];

#[derive(Default)]
struct Host {
    /// A queue for each turn.
    queues: [VecDeque<u32>; TURNS.len()],
    under_way: usize,
    /// True if the host is in the ring.
    in_ring: bool,
    not_before: Option<Instant>,
    /// The minimum interval between two requests, if the host specifies one. Such a host gets one request at a time.
    pause: Option<Duration>,
}

/// The URLs that are still to be tested.
#[derive(Default)]
pub(crate) struct Frontier {
    hosts: Vec<Host>,
    /// Hosts with queued URLs, in the order in which they are served.
    ring: VecDeque<u32>,
    per_host: usize,
    waiting: usize,
    /// The number of documents that are queued or in progress: while it is not 0, leaves of the webs wait.
    documents: usize,
    /// URLs to request again, by the time of the next attempt.
    later: BTreeMap<(Instant, u32), (u32, Turn)>,
}

impl Frontier {
    pub(crate) fn new(per_host: usize) -> Self {
        Self { per_host: per_host.max(1), ..Self::default() }
    }

    /// Queues a URL.
    pub(crate) fn push(&mut self, node: u32, host: u32, turn: Turn) {
        let index = host as usize;
        if self.hosts.len() <= index {
            self.hosts.resize_with(index + 1, Host::default);
        }
        self.waiting += 1;
        self.documents += usize::from(turn == Turn::Document);
        let entry = &mut self.hosts[index];
        entry.queues[turn as usize].push_back(node);
        if !std::mem::replace(&mut entry.in_ring, true) {
            self.ring.push_back(host);
        }
    }

    /// Queues a URL that is to be requested again, but not before `at`.
    pub(crate) fn push_later(&mut self, node: u32, host: u32, turn: Turn, at: Instant) {
        self.documents += usize::from(turn == Turn::Document);
        self.waiting += 1;
        self.later.insert((at, node), (host, turn));
    }

    /// Sends no requests to a host before `until`.
    pub(crate) fn hold(&mut self, host: u32, until: Instant) {
        if let Some(host) = self.hosts.get_mut(host as usize) {
            host.not_before = host.not_before.max(Some(until));
        }
    }

    /// Sets the minimum interval between requests to a host.
    pub(crate) fn pace(&mut self, host: u32, pause: Duration) {
        if let Some(host) = self.hosts.get_mut(host as usize) {
            host.pause = host.pause.max(Some(pause));
        }
    }

    /// Returns the number and turn of a URL that may be requested now. The caller must call [`done`](Self::done)
    /// afterwards.
    pub(crate) fn next(&mut self, now: Instant) -> Option<(u32, Turn)> {
        while let Some(due) = self.later.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((_, node), (host, turn)) = due.remove_entry();
            self.waiting -= 1;
            self.documents -= usize::from(turn == Turn::Document);
            self.push(node, host, turn);
        }
        let turns = if self.documents == 0 { &TURNS[..] } else { &TURNS[..2] };
        for _ in 0..self.ring.len() {
            let number = self.ring.pop_front()?;
            let host = &mut self.hosts[number as usize];
            let is_held = host.not_before.is_some_and(|until| until > now);
            let places = if host.pause.is_some() { 1 } else { self.per_host };
            let mut found = None;
            if host.under_way < places && !is_held {
                found = turns.iter().find_map(|turn| Some((host.queues[*turn as usize].pop_front()?, *turn)));
            }
            if host.queues.iter().all(VecDeque::is_empty) {
                host.in_ring = false;
            } else {
                self.ring.push_back(number);
            }
            if let Some((node, turn)) = found {
                let host = &mut self.hosts[number as usize];
                host.under_way += 1;
                if let Some(pause) = host.pause {
                    host.not_before = host.not_before.max(Some(now + pause));
                }
                self.waiting -= 1;
                return Some((node, turn));
            }
        }
        None
    }

    /// Marks a URL that was in progress as finished.
    pub(crate) fn done(&mut self, host: u32, turn: Turn) {
        let host = &mut self.hosts[host as usize];
        host.under_way -= 1;
        self.documents -= usize::from(turn == Turn::Document);
    }

    /// Returns the number of queued URLs.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns true if no document is queued or in progress.
    pub(crate) fn is_out_of_documents(&self) -> bool {
        self.documents == 0
    }

    /// Returns the time of the next check if no URL may be requested now and none is in progress.
    pub(crate) fn wake(&self, now: Instant) -> Option<Instant> {
        let held = self.ring.iter().filter_map(|host| self.hosts[*host as usize].not_before);
        let held = held.filter(|until| *until > now);
        self.later.keys().next().map(|(at, _)| *at).into_iter().chain(held).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_first_and_hosts_in_turn() {
        let now = Instant::now();
        let mut frontier = Frontier::new(1);
        for (node, host, turn) in
            [(1, 0, Turn::Last), (2, 0, Turn::Document), (3, 0, Turn::Document), (4, 1, Turn::Outside)]
        {
            frontier.push(node, host, turn);
        }
        assert_eq!(frontier.next(now), Some((2, Turn::Document)));
        assert_eq!(frontier.next(now), Some((4, Turn::Outside)), "another host does not wait");
        assert_eq!(frontier.next(now), None, "one at a time");
        frontier.done(0, Turn::Document);
        frontier.done(1, Turn::Outside);
        assert_eq!(frontier.next(now), Some((3, Turn::Document)));
        frontier.push(5, 1, Turn::Last);
        assert_eq!(frontier.next(now), None, "a document is still under way");
        frontier.done(0, Turn::Document);
        assert!(frontier.is_out_of_documents());
        let mut last = [frontier.next(now), frontier.next(now)];
        last.sort_unstable_by_key(|found| found.map(|(node, _)| node));
        assert_eq!(last, [Some((1, Turn::Last)), Some((5, Turn::Last))]);
        assert_eq!((frontier.next(now), frontier.waiting()), (None, 0));
    }

    #[test]
    fn what_is_for_later_comes_later() {
        let now = Instant::now();
        let soon = now + Duration::from_secs(5);
        let mut frontier = Frontier::new(4);
        frontier.push_later(1, 0, Turn::Document, soon);
        assert_eq!((frontier.next(now), frontier.wake(now), frontier.waiting()), (None, Some(soon), 1));
        assert_eq!(frontier.next(soon), Some((1, Turn::Document)));
        frontier.done(0, Turn::Document);
        frontier.push(2, 0, Turn::Outside);
        frontier.hold(0, soon);
        assert_eq!((frontier.next(now), frontier.wake(now)), (None, Some(soon)));
        assert_eq!(frontier.next(soon), Some((2, Turn::Outside)));
        assert_eq!(frontier.wake(soon), None, "what is over wakes nobody");
    }

    #[test]
    fn a_host_that_asks_for_a_pace_gets_it() {
        let now = Instant::now();
        let mut frontier = Frontier::new(4);
        frontier.push(1, 0, Turn::Document);
        frontier.push(2, 0, Turn::Document);
        frontier.pace(0, Duration::from_secs(9));
        assert_eq!(frontier.next(now), Some((1, Turn::Document)));
        frontier.done(0, Turn::Document);
        assert_eq!((frontier.next(now), frontier.wake(now)), (None, Some(now + Duration::from_secs(9))));
        assert_eq!(frontier.next(now + Duration::from_secs(9)), Some((2, Turn::Document)));
    }
}
