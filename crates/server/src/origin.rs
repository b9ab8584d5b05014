//! Where a request comes from, also if a proxy stands in front.

use std::net::IpAddr;

use hyper::header::{HeaderMap, HeaderName};
use modoai_flow::network::Network;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of the one who asks. Each proxy adds at the end whom it got a request from; what is further to the left
/// than the last who is not trusted, anybody could have written there.
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
}
