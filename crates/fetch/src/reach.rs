//! Which addresses are on the public internet, and a resolver that knows no others.
//!
//! A spider that follows what strangers write can be led to its own machine, or behind its own firewall. A look at the name
//! beforehand is no help, since a name may lead elsewhere a moment later; so the addresses themselves are looked at, when a
//! connection is about to be made to them and to nothing else. Addresses written into a URL never come to a resolver, and
//! are looked at when the URL is. What goes through a proxy is resolved where we cannot see it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Why a name was not resolved.
#[derive(Debug, thiserror::Error)]
#[error("it has no address on the public internet")]
pub(crate) struct NotPublic;

/// The system's resolver, without whatever is not public.
pub(crate) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            match public.is_empty() {
                true => Err(NotPublic.into()),
                false => Ok(Box::new(public.into_iter()) as Addrs),
            }
        })
    }
}

/// How long it may take to find out where a host is.
const LONGEST_LOOKUP: Duration = Duration::from_secs(10);

/// Whether a host has an address on the public internet. One of which nobody knows where it is may well have.
pub async fn is_public_host(url: &Url) -> bool {
    let name = match url.host() {
        Some(Host::Domain(name)) => name,
        Some(Host::Ipv4(address)) => return is_public_v4(address),
        Some(Host::Ipv6(address)) => return is_public_v6(address),
        None => return true,
    };
    match tokio::time::timeout(LONGEST_LOOKUP, tokio::net::lookup_host((name, 0))).await {
        Ok(Ok(mut found)) => found.any(|address| is_public(address.ip())),
        Ok(Err(_)) | Err(_) => true,
    }
}

/// Whether the URL names its host by an address, and one that is not public.
pub(crate) fn is_private_literal(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => !is_public_v4(address),
        Some(Host::Ipv6(address)) => !is_public_v6(address),
        Some(Host::Domain(_)) | None => false,
    }
}

/// Whether an address is reachable from everywhere, by IANA's registries of special addresses.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        [0 | 10 | 127, ..]              // this network, private, loopback
            | [100, 64..=127, ..]       // behind a provider's translation
            | [169, 254, ..]            // link-local, and the clouds' metadata
            | [172, 16..=31, ..]        // private
            | [192, 0, 0 | 2, _]        // protocols, documentation
            | [192, 88, 99, _]          // once relays to IPv6
            | [192, 168, ..]            // private
            | [198, 18..=19, ..]        // benchmarks
            | [198, 51, 100, _]         // documentation
            | [203, 0, 113, _]          // documentation
            | [224..=255, ..] // multicast, reserved, broadcast
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // A network without IPv4 reaches all of it through these, so what counts is who is meant.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))),
        [0x2001, 0..=0x1ff, ..]         // protocols, tunnels, benchmarks
            | [0x2001, 0xdb8, ..]       // documentation
            | [0x2002, ..]              // tunnels over IPv4, to wherever
            | [0x3fff, 0..=0xfff, ..] => false, // documentation
        // Nothing else is handed out: not loopback, IPv4 in disguise, private, link-local, multicast.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.216.34",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
        ] {
            assert!(is_public(address.parse().expect("an address")), "{address}");
        }
        for address in ["2606:4700:4700::1111", "2a00:1450::1", "2001:4860:4860::8888", "64:ff9b::8.8.8.8"] {
            assert!(is_public(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn what_is_not() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn addresses_in_disguise_are_known() {
        for url in [
            "http://2130706433/",
            "http://0x7f.1/",
            "http://017700000001/",
            "http://127.1/",
            "http://[::ffff:7f00:1]/",
            "http://[::1]/",
            "http://0/",
            "http://①②⑦.0.0.1/",
            "http://%31%32%37.0.0.1/",
            "http://127.0.0.1./",
        ] {
            assert!(is_private_literal(&Url::parse(url).expect("a URL")), "{url}");
        }
        assert!(!is_private_literal(&Url::parse("http://8.8.8.8/").expect("a URL")));
        assert!(!is_private_literal(&Url::parse("http://localhost/").expect("a URL")), "that is for the resolver");
    }
}
