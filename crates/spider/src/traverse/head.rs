//! Decides whether a "not found" response to HEAD is reliable or must be confirmed with GET.
//!
//! Some servers respond to HEAD with 404 for resources that GET returns, so GET is authoritative. Confirming every
//! broken link would double the load on servers whose HEAD responses are correct. Such links are therefore deferred
//! until all others have been tested. By then, the host's other responses show how reliable its HEAD is, and most links
//! need no GET.

use std::collections::{HashMap, HashSet};

use modoai_fetch::{HeaderMap, HeaderValue};
use xxhash_rust::xxh3::xxh3_64;

use super::Traversal;
use super::visit::{Method, Visited};
use super::web::Stage;

/// The number of successful HEAD responses, for names with the same extension, after which a failed one is accepted
/// without GET. It must also look like the host's responses to GET for missing resources.
const ENOUGH_ALIKE: u32 = 5;
/// The same number for names with any extension.
const ENOUGH_OF_ANY: u32 = 100;

/// The HEAD responses of each host.
#[derive(Default)]
pub(super) struct HeadReliability {
    /// The number of successful HEAD responses by host and extension of the name.
    good: HashMap<(u32, Box<str>), u32>,
    /// The number of successful HEAD responses by host.
    good_of_any: HashMap<u32, u32>,
    /// Hashes of the headers with which a host responds to GET for a missing resource.
    misses: HashSet<(u32, u64)>,
    /// Hosts whose HEAD response was "not found" for a resource that GET returned.
    unreliable: HashSet<u32>,
    /// Nodes whose HEAD response was "not found", with the hash of its headers.
    doubted: HashMap<u32, u64>,
    /// Nodes whose HEAD response was accepted without GET, by host. They are tested again if the host's HEAD proves
    /// unreliable.
    believed: HashMap<u32, Vec<u32>>,
}

impl Traversal {
    /// Returns true if a HEAD response must be confirmed with GET. It then queues that request after all others.
    pub(super) fn is_doubted(&mut self, visited: &Visited) -> bool {
        let number = visited.node;
        self.head.doubted.insert(number, signature_of(&visited.headers));
        if self.is_head_believed(number) {
            return false;
        }
        self.web.node_mut(number).status = visited.status.unwrap_or(0);
        self.ask_by_get(number);
        true
    }

    fn ask_by_get(&mut self, number: u32) {
        let node = self.web.node_mut(number);
        (node.stage, node.method) = (Stage::Waiting, Method::Get);
        let (host, turn) = (node.host, node.turn);
        self.frontier.push(number, host, turn);
    }

    /// Returns true if the "not found" response to HEAD for a node can be accepted. Nodes without such a response
    /// return false.
    pub(super) fn is_head_believed(&self, number: u32) -> bool {
        let HeadReliability { good, good_of_any, misses, unreliable, doubted, .. } = &self.head;
        let Some(signature) = doubted.get(&number) else { return false };
        let kind = self.kind_of_name(number);
        let has = |count: Option<&u32>, enough| count.is_some_and(|count| *count >= enough);
        let host = kind.0;
        !unreliable.contains(&host)
            && misses.contains(&(host, *signature))
            && (has(good.get(&kind), ENOUGH_ALIKE) || has(good_of_any.get(&host), ENOUGH_OF_ANY))
    }

    /// Updates the record of a host's HEAD from a response.
    pub(super) fn learn_of_head(&mut self, visited: &Visited) {
        let node = *self.web.node(visited.node);
        // A HEAD response that was accepted without GET proves nothing.
        if visited.is_missing_by_head {
            self.head.believed.entry(node.host).or_default().push(visited.node);
            return;
        }
        match (node.method, visited.status) {
            (Method::Head, Some(200..=399)) => {
                let kind = self.kind_of_name(visited.node);
                *self.head.good.entry(kind).or_default() += 1;
                *self.head.good_of_any.entry(node.host).or_default() += 1;
            }
            (Method::Get | Method::Read, Some(200..=399)) if self.head.doubted.contains_key(&visited.node) => {
                self.head.unreliable.insert(node.host);
                for number in self.head.believed.remove(&node.host).unwrap_or_default() {
                    self.ask_by_get(number);
                }
            }
            (Method::Get | Method::Read, Some(404 | 410)) => {
                self.head.misses.insert((node.host, signature_of(&visited.headers)));
            }
            _ => {}
        }
    }

    /// Returns the host and the extension of the name: URLs that are probably served by the same program.
    fn kind_of_name(&self, number: u32) -> (u32, Box<str>) {
        let path = self.web.names.name(number).split('?').next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        // Extensions are untrusted input; without this limit, there might be a million of them.
        let ending = if ending.len() > 8 { "" } else { ending };
        (self.web.node(number).host, ending.to_ascii_lowercase().into())
    }
}

/// Returns a hash of a response's media type and length.
fn signature_of(headers: &HeaderMap) -> u64 {
    let value = |name| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
    xxh3_64(&[value("content-type"), b"\n", value("content-length")].concat())
}
