//! Decides whether a "not found" response to HEAD is reliable or must be confirmed with GET.
//!
//! Some servers respond to HEAD with 404 for resources that GET returns, so GET is authoritative. Confirming every
//! broken link would double the load on servers whose HEAD responses are correct. Such links are therefore deferred
//! until all others have been tested. By then, the host's other responses show how reliable its HEAD is, and most links
//! need no GET.

use std::collections::{HashMap, HashSet};

use modoai_fetch::{HeaderMap, HeaderValue};
use xxhash_rust::xxh3::xxh3_64;

use super::action::Method;
use crate::traverse::visit::Visited;

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
    missing: HashMap<u32, u64>,
    /// Nodes whose HEAD response was accepted without GET, by host. They are tested again if the host's HEAD proves
    /// unreliable.
    accepted: HashMap<u32, Vec<u32>>,
}

impl HeadReliability {
    /// Records that the HEAD response of a node was "not found".
    pub(super) fn record_missing(&mut self, number: u32, headers: &HeaderMap) {
        self.missing.insert(number, signature_of(headers));
    }

    /// Returns true if the "not found" response to HEAD for a node can be accepted. Nodes without such a response
    /// return false.
    pub(super) fn is_trusted(&self, number: u32, host: u32, url: &str) -> bool {
        let Some(signature) = self.missing.get(&number) else { return false };
        let has = |count: Option<&u32>, enough| count.is_some_and(|count| *count >= enough);
        !self.unreliable.contains(&host)
            && self.misses.contains(&(host, *signature))
            && (has(self.good.get(&(host, extension(url))), ENOUGH_ALIKE)
                || has(self.good_of_any.get(&host), ENOUGH_OF_ANY))
    }

    /// Records the response for a URL. Returns the nodes that must be tested again, because the HEAD responses that
    /// were accepted for them have proved unreliable.
    pub(super) fn record(&mut self, visited: &Visited, method: Method, host: u32, url: &str) -> Vec<u32> {
        // A HEAD response that was accepted without GET proves nothing.
        if visited.is_missing_by_head {
            self.accepted.entry(host).or_default().push(visited.node);
            return Vec::new();
        }
        match (method, visited.status) {
            (Method::Head, Some(200..=399)) => {
                *self.good.entry((host, extension(url))).or_default() += 1;
                *self.good_of_any.entry(host).or_default() += 1;
            }
            (Method::Get | Method::Read, Some(200..=399)) if self.missing.contains_key(&visited.node) => {
                self.unreliable.insert(host);
                return self.accepted.remove(&host).unwrap_or_default();
            }
            (Method::Get | Method::Read, Some(404 | 410)) => {
                self.misses.insert((host, signature_of(&visited.headers)));
            }
            _ => {}
        }
        Vec::new()
    }
}

/// Returns the extension of the name: URLs of a host with the same one are probably served by the same program.
fn extension(url: &str) -> Box<str> {
    let path = url.split('?').next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    // Extensions are untrusted input; without this limit, there might be a million of them.
    let extension = if extension.len() > 8 { "" } else { extension };
    extension.to_ascii_lowercase().into()
}

/// Returns a hash of a response's media type and length.
fn signature_of(headers: &HeaderMap) -> u64 {
    let value = |name| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
    xxh3_64(&[value("content-type"), b"\n", value("content-length")].concat())
}
