//! Decides which addresses a client may connect to, on the address of each connection.
//!
//! URLs and redirects are written by untrusted parties, and can point at this machine or at hosts behind its firewall.
//! Checking a name before the request does not help, because the name may resolve to another address a moment later
//! (DNS rebinding). So the resolver of the connection itself leaves out every address that is not allowed. Addresses
//! written into a URL never reach a resolver; they are checked with the URL. A proxy resolves names itself, so the
//! proxy has to check them.
//!
//! Public addresses are always allowed. A private address is allowed only if a host that the user named resolved to it,
//! and that host has no public address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The reason why a name was not resolved.
#[derive(Debug, thiserror::Error)]
#[error("no address of the host is allowed")]
pub(crate) struct NotAllowed;

/// A URL that the user named: the base URL of a repository, or the start of a crawl.
#[derive(Clone, Debug)]
pub struct Start {
    /// The URL.
    pub url: Url,
    /// True if its host had a public address in an earlier run. Such a host is never trusted with private addresses, or
    /// its owner could point it at the user's network between two runs.
    pub was_public: bool,
}

impl From<&Url> for Start {
    fn from(url: &Url) -> Self {
        Self { url: url.clone(), was_public: false }
    }
}

/// Decides which addresses may be connected to.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    /// The hosts of starts, as their URLs write them.
    starts: Mutex<Vec<(String, Standing)>>,
}

/// The known addresses of the host of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    /// It was not resolved yet.
    Unknown,
    /// It has a public address.
    Public,
    /// It has these addresses, and none of them is public.
    Private(Vec<IpAddr>),
}

impl Guard {
    /// Allows public addresses, and the private addresses of these hosts.
    pub(crate) fn of(starts: impl IntoIterator<Item = Start>) -> Self {
        let known = starts.into_iter().map(|start| {
            let standing = match start.url.host() {
                Some(Host::Ipv4(address)) => Standing::of(&[address.into()]),
                Some(Host::Ipv6(address)) => Standing::of(&[address.into()]),
                _ if is_this_machine(&start.url) => Standing::of(&[Ipv4Addr::LOCALHOST.into()]),
                _ if start.was_public => Standing::Public,
                _ => Standing::Unknown,
            };
            (start.url.host_str().unwrap_or_default().to_owned(), standing)
        });
        Self { starts: Mutex::new(known.collect()) }
    }

    /// Returns true if this address may be connected to.
    pub(crate) fn allows(&self, address: IpAddr) -> bool {
        let (found, canonical) = (is_public(address), address.to_canonical());
        let is_trusted = |known: &IpAddr| *known == canonical || known.is_loopback() && canonical.is_loopback();
        found
            || self.starts().iter().any(|(_, standing)| match standing {
                Standing::Private(trusted) => trusted.iter().any(is_trusted),
                Standing::Unknown | Standing::Public => false,
            })
    }

    /// Checks a URL as far as that is possible without resolving its host.
    pub(crate) fn allows_url(&self, url: &Url) -> bool {
        match url.host() {
            Some(Host::Ipv4(address)) => self.allows(address.into()),
            Some(Host::Ipv6(address)) => self.allows(address.into()),
            _ if is_this_machine(url) => self.allows(Ipv4Addr::LOCALHOST.into()),
            _ => true,
        }
    }

    /// Returns the names of the hosts of starts that have a public address.
    pub(crate) fn public_starts(&self) -> Vec<String> {
        let starts = self.starts();
        let public = starts.iter().filter(|(_, standing)| *standing == Standing::Public);
        public.map(|(name, _)| name.clone()).collect()
    }

    /// Notes what a name resolved to. The first result of a run decides; later ones change nothing.
    fn resolved(&self, name: &str, found: &[SocketAddr]) {
        let name = plain_name(name);
        for (start, standing) in self.starts().iter_mut() {
            if plain_name(start) == name && *standing == Standing::Unknown && !found.is_empty() {
                *standing = Standing::of(&found.iter().map(SocketAddr::ip).collect::<Vec<_>>());
                if let Standing::Private(addresses) = &*standing {
                    tracing::info!(
                        "{name} has the private address {}; no other private address is allowed",
                        listed(addresses)
                    );
                }
            }
        }
    }

    fn starts(&self) -> MutexGuard<'_, Vec<(String, Standing)>> {
        self.starts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Standing {
    fn of(addresses: &[IpAddr]) -> Self {
        match addresses.iter().any(|address| is_public(*address)) {
            true => Self::Public,
            false => Self::Private(addresses.iter().map(IpAddr::to_canonical).collect()),
        }
    }
}

/// The system's resolver, without addresses that are not allowed.
pub(crate) struct Guarded(pub(crate) Arc<Guard>);

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let mut found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            guard.resolved(name.as_str(), &found);
            found.retain(|address| guard.allows(address.ip()));
            match found.is_empty() {
                true => Err(NotAllowed.into()),
                false => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

/// Returns true if the host of a URL is a name or address of this machine.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = plain_name(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A host name in lower case and without the dot of the DNS root.
fn plain_name(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

fn listed(addresses: &[IpAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns true if an address is globally reachable, by IANA's registries of special addresses.
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
            | [100, 64..=127, ..]       // behind a provider's address translation
            | [169, 254, ..]            // link-local, and cloud metadata services
            | [172, 16..=31, ..]        // private
            | [192, 0, 0 | 2, _]        // protocols, documentation
            | [192, 88, 99, _]          // formerly relays to IPv6
            | [192, 168, ..]            // private
            | [198, 18..=19, ..]        // benchmarks
            | [198, 51, 100, _]         // documentation
            | [203, 0, 113, _]          // documentation
            | [224..=255, ..] // multicast, reserved, broadcast
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // Networks without IPv4 reach all of it through these addresses (NAT64), so the embedded address decides.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))),
        [0x2001, 0..=0x1ff, ..]         // protocols, tunnels, benchmarks
            | [0x2001, 0xdb8, ..]       // documentation
            | [0x2002, ..]              // tunnels over IPv4 (6to4), to any address
            | [0x3fff, 0..=0xfff, ..] => false, // documentation
        // No other range is allocated: not loopback, IPv4-mapped, private, link-local, multicast.
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

    fn start(url: &str) -> Start {
        Start::from(&Url::parse(url).expect("a URL"))
    }

    fn found(addresses: &[&str]) -> Vec<SocketAddr> {
        addresses.iter().map(|address| SocketAddr::new(address.parse().expect("an address"), 0)).collect()
    }

    fn allows(guard: &Guard, address: &str) -> bool {
        guard.allows(address.parse().expect("an address"))
    }

    #[test]
    fn addresses_in_disguise_are_known() {
        let guard = Guard::default();
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
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
        ] {
            assert!(!guard.allows_url(&Url::parse(url).expect("a URL")), "{url}");
        }
        assert!(guard.allows_url(&Url::parse("http://8.8.8.8/").expect("a URL")));
        assert!(guard.allows_url(&Url::parse("http://example.org/").expect("a URL")), "that is for the resolver");
    }

    #[test]
    fn a_private_start_is_trusted_for_its_own_addresses_only() {
        let guard = Guard::of([start("http://intranet.example/oai"), start("http://10.0.0.7/")]);
        assert!(!allows(&guard, "10.0.0.5"), "not resolved yet");
        guard.resolved("Intranet.example.", &found(&["10.0.0.5", "fd00::5"]));
        assert!(allows(&guard, "10.0.0.5") && allows(&guard, "fd00::5") && allows(&guard, "10.0.0.7"));
        assert!(allows(&guard, "8.8.8.8"));
        for address in ["10.0.0.6", "127.0.0.1", "169.254.169.254", "0.0.0.0"] {
            assert!(!allows(&guard, address), "{address}");
        }
        guard.resolved("intranet.example", &found(&["10.0.0.6"]));
        assert!(!allows(&guard, "10.0.0.6"), "the first result of a run decides");
    }

    #[test]
    fn a_start_with_a_public_address_is_trusted_with_no_private_one() {
        for addresses in [&["8.8.8.8"][..], &["10.0.0.5", "8.8.8.8"]] {
            let guard = Guard::of([start("http://example.org/")]);
            guard.resolved("example.org", &found(addresses));
            assert_eq!(guard.public_starts(), ["example.org"]);
            guard.resolved("example.org", &found(&["10.0.0.5"]));
            assert!(!allows(&guard, "10.0.0.5"), "{addresses:?}");
        }
        let guard = Guard::of([Start { was_public: true, ..start("http://example.org/") }]);
        guard.resolved("example.org", &found(&["10.0.0.5"]));
        assert!(!allows(&guard, "10.0.0.5"), "it was public in an earlier run");
    }

    #[test]
    fn all_loopback_addresses_are_this_machine() {
        for url in ["http://127.0.0.1:8080/", "http://localhost/", "http://[::1]/"] {
            let guard = Guard::of([start(url)]);
            assert!(
                allows(&guard, "127.0.0.2") && allows(&guard, "::1") && allows(&guard, "::ffff:127.0.0.1"),
                "{url}"
            );
            assert!(!allows(&guard, "0.0.0.0") && !allows(&guard, "10.0.0.1"), "{url}");
        }
    }
}
