//! Determines the client address of a request, also behind a proxy, and which requests are from the same network.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::header::{HeaderMap, HeaderName};
use modoai_settings::Network;
use tokio::sync::Semaphore;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns the address of the client. Each proxy appends the address that it received a request from; any client could
/// have written entries to the left of the last untrusted one.
pub(crate) fn of(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut found = peer;
    if trusted.is_empty() || !is_trusted(peer) {
        return found;
    }
    let values = headers.get_all(FORWARDED_FOR).iter().rev().map(|value| value.to_str().unwrap_or_default());
    for text in values.flat_map(|value| value.rsplit(',')) {
        let Some(address) = address(text.trim()) else { break };
        found = address;
        if !is_trusted(address) {
            break;
        }
    }
    found
}

/// A resource of which each address may have a certain number at a time, so that no address can take all of it.
#[derive(Debug)]
pub(crate) struct Shares {
    each: usize,
    taken: Mutex<Taken>,
}

/// The shares in use, and some that are unused.
#[derive(Debug, Default)]
struct Taken {
    shares: HashMap<Network, Arc<Semaphore>>,
    /// The number of shares at which unused ones are removed.
    tidy_at: usize,
}

impl Shares {
    pub(crate) fn new(each: usize) -> Self {
        Self { each, taken: Mutex::default() }
    }

    /// The share of a client. The addresses that one customer of a provider has in IPv6 have one together.
    pub(crate) fn of(&self, address: IpAddr) -> Arc<Semaphore> {
        let network = Network::of_client(address);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.shares.len() >= taken.tidy_at {
            // A request that holds a part of a share, or waits for one, has a handle on it.
            taken.shares.retain(|_, share| Arc::strong_count(share) > 1);
            taken.tidy_at = (2 * taken.shares.len()).max(64);
        }
        taken.shares.entry(network).or_insert_with(|| Arc::new(Semaphore::new(self.each))).clone()
    }
}

/// An address, as proxies write it: some add the port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.split(']').next()).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|socket: std::net::SocketAddr| socket.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let trusted = ["127.0.0.1".parse().expect("a network"), "10.0.0.0/8".parse().expect("a network")];
        for (peer, forwarded, expected) in [
            ("127.0.0.1", vec![], "127.0.0.1"),
            ("192.0.2.1", vec!["198.51.100.7"], "192.0.2.1"),
            ("127.0.0.1", vec!["198.51.100.7"], "198.51.100.7"),
            ("127.0.0.1", vec!["203.0.113.9, 198.51.100.7, 10.1.2.3"], "198.51.100.7"),
            ("127.0.0.1", vec!["203.0.113.9", "198.51.100.7"], "198.51.100.7"),
            ("127.0.0.1", vec!["junk, 10.1.2.3"], "10.1.2.3"),
            ("127.0.0.1", vec!["[2001:db8::1]:4711"], "2001:db8::1"),
            ("127.0.0.1", vec!["198.51.100.7:4711"], "198.51.100.7"),
        ] {
            let values = forwarded.iter().map(|value| (FORWARDED_FOR, value.parse().expect("a value")));
            let mut headers = HeaderMap::new();
            for (name, value) in values {
                headers.append(name, value);
            }
            let found = of(peer.parse().expect("an address"), &headers, &trusted);
            assert_eq!(found.to_string(), expected, "{peer} {forwarded:?}");
            assert_eq!(of(found, &headers, &[]), found);
        }
    }
    #[test]
    fn an_address_has_its_share_and_no_more() {
        let shares = Shares::new(2);
        let take = |address: &str| shares.of(address.parse().expect("an address")).try_acquire_owned().ok();
        let first = take("192.0.2.1").expect("one");
        let _second = take("::ffff:192.0.2.1").expect("another");
        assert!(take("192.0.2.1").is_none());
        assert!(take("192.0.2.2").is_some());
        drop(first);
        assert!(take("192.0.2.1").is_some());
        let _block = (take("2001:db8::1").expect("one"), take("2001:db8:0:ff::2").expect("another"));
        assert!(take("2001:db8::3").is_none());
        assert!(take("2001:db8:0:100::1").is_some());
        // Addresses that have nothing are forgotten, those that have something are not.
        for number in 0..10_000_u32 {
            drop(take(&std::net::Ipv4Addr::from(number).to_string()).expect("one"));
        }
        assert!(shares.taken.lock().expect("not poisoned").shares.len() <= 128);
        assert!(take("2001:db8::3").is_none());
    }
}
