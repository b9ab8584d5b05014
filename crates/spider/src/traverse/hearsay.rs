//! HEAD that says "not there": whether it is to be believed.
//!
//! Some servers answer HEAD with 404 for what GET would give, so GET decides; but a second question for every broken link is a
//! lot to ask of a server whose HEAD is as honest as its GET. Such links are put off until everything else is tested. By then
//! the host has shown what its answers to HEAD are worth, and most need no second question.

use std::collections::{HashMap, HashSet};

use modoai_fetch::{HeaderMap, HeaderValue};
use xxhash_rust::xxh3::xxh3_64;

use super::Traversal;
use super::visit::{Look, Visited};
use super::web::Stage;

/// How many good answers to HEAD, for names of the same ending, make a bad one believable, if that looks just like what GET
/// gives for what is not there.
const ENOUGH_ALIKE: u32 = 5;
/// How many for names of any ending.
const ENOUGH_OF_ANY: u32 = 100;

/// What is known of hosts and HEAD.
#[derive(Default)]
pub(super) struct Hearsay {
    /// Good answers to HEAD, by host and ending of the name.
    good: HashMap<(u32, Box<str>), u32>,
    /// Good answers to HEAD, by host.
    good_of_any: HashMap<u32, u32>,
    /// What the answer looks like when GET finds nothing, by host.
    misses: HashSet<(u32, u64)>,
    /// Hosts that said by HEAD that something is not there, and by GET that it is.
    liars: HashSet<u32>,
    /// What waits for better knowledge, or has it, and what the answer to HEAD looked like.
    doubted: HashMap<u32, u64>,
    /// What HEAD was believed about, by host; until the host is caught lying.
    believed: HashMap<u32, Vec<u32>>,
}

impl Traversal {
    /// Whether an answer to HEAD is not believed, as yet. If so, GET is asked, after everything else.
    pub(super) fn is_doubted(&mut self, visited: &Visited) -> bool {
        let number = visited.node;
        self.hearsay.doubted.insert(number, look_of(&visited.headers));
        if self.is_head_believed(number) {
            return false;
        }
        self.web.node_mut(number).status = visited.status.unwrap_or(0);
        self.ask_by_get(number);
        true
    }

    fn ask_by_get(&mut self, number: u32) {
        let node = self.web.node_mut(number);
        (node.stage, node.look) = (Stage::Waiting, Look::Get);
        let (host, turn) = (node.host, node.turn);
        self.frontier.push(number, host, turn);
    }

    /// Whether what HEAD said of a node has become believable. Of nodes that HEAD said nothing bad of, it has not.
    pub(super) fn is_head_believed(&self, number: u32) -> bool {
        let Hearsay { good, good_of_any, misses, liars, doubted, .. } = &self.hearsay;
        let Some(look) = doubted.get(&number) else { return false };
        let kind = self.kind_of_name(number);
        let has = |count: Option<&u32>, enough| count.is_some_and(|count| *count >= enough);
        let host = kind.0;
        !liars.contains(&host)
            && misses.contains(&(host, *look))
            && (has(good.get(&kind), ENOUGH_ALIKE) || has(good_of_any.get(&host), ENOUGH_OF_ANY))
    }

    /// What an answer says about the host's answers.
    pub(super) fn learn_of_head(&mut self, visited: &Visited) {
        let node = *self.web.node(visited.node);
        // What was only heard is not learnt from.
        if visited.is_hearsay {
            self.hearsay.believed.entry(node.host).or_default().push(visited.node);
            return;
        }
        match (node.look, visited.status) {
            (Look::Head, Some(200..=399)) => {
                let kind = self.kind_of_name(visited.node);
                *self.hearsay.good.entry(kind).or_default() += 1;
                *self.hearsay.good_of_any.entry(node.host).or_default() += 1;
            }
            (Look::Get | Look::Read, Some(200..=399)) if self.hearsay.doubted.contains_key(&visited.node) => {
                self.hearsay.liars.insert(node.host);
                for number in self.hearsay.believed.remove(&node.host).unwrap_or_default() {
                    self.ask_by_get(number);
                }
            }
            (Look::Get | Look::Read, Some(404 | 410)) => {
                self.hearsay.misses.insert((node.host, look_of(&visited.headers)));
            }
            _ => {}
        }
    }

    /// The host, and the ending of the name: what is served by the same hand.
    fn kind_of_name(&self, number: u32) -> (u32, Box<str>) {
        let path = self.web.names.name(number).split('?').next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        // Endings are foreign text; of those that are none, there may be a million.
        let ending = if ending.len() > 8 { "" } else { ending };
        (self.web.node(number).host, ending.to_ascii_lowercase().into())
    }
}

/// What an answer looks like: its kind and its length.
fn look_of(headers: &HeaderMap) -> u64 {
    let value = |name| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
    xxh3_64(&[value("content-type"), b"\n", value("content-length")].concat())
}
