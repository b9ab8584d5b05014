//! Networks, as operators write them: `192.0.2.0/24`, `2001:db8::/32`, or one address.
//!
//! IPv4 addresses in IPv6 notation (`::ffff:192.0.2.1`) count as IPv4, on both sides.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A network: the leading bits of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    /// The first address.
    pub address: IpAddr,
    /// The number of leading bits that all its addresses share.
    pub bits: u8,
}

impl Network {
    /// Returns the network of this prefix length that contains an address.
    pub fn of(address: IpAddr, bits: u8) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let bits = bits.min(32);
                let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
                Self { address: Ipv4Addr::from(u32::from(address) & mask).into(), bits }
            }
            IpAddr::V6(address) => {
                let bits = bits.min(128);
                let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
                Self { address: Ipv6Addr::from(u128::from(address) & mask).into(), bits }
            }
        }
    }

    /// Returns the network of one client: an IPv4 address, or the IPv6 addresses that one customer of a provider usually has.
    pub fn of_client(address: IpAddr) -> Self {
        Self::of(address, if address.to_canonical().is_ipv4() { 32 } else { 56 })
    }

    /// Returns true if an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        Self::of(address, self.bits).address == self.address
            && address.to_canonical().is_ipv4() == self.address.is_ipv4()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem =
            || format!("has the invalid network '{text}'; expected a network such as 192.0.2.0/24 or 2001:db8::/32");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| problem())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.trim().parse().map_err(|_| problem()))?;
        if bits > most {
            return Err(problem());
        }
        Ok(Self::of(address, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_client_has_one_ipv4_address_or_a_network_of_ipv6() {
        for (one, other, is_same) in [
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("2001:db8::1", "2001:db8:0:ff::2", true),
            ("2001:db8::1", "2001:db8:0:100::1", false),
        ] {
            let is_one = Network::of_client(address(one)) == Network::of_client(address(other));
            assert_eq!(is_one, is_same, "{one} {other}");
        }
    }

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        for (network, inside, outside) in [
            ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("192.0.2.99/25", "::ffff:192.0.2.1", "192.0.2.128"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
            ("::/0", "2001:db8::1", "192.0.2.1"),
            ("0.0.0.0/0", "192.0.2.1", "2001:db8::1"),
        ] {
            let network: Network = network.parse().expect(network);
            assert!(network.contains(address(inside)), "{network} holds {inside}");
            assert!(!network.contains(address(outside)), "{network} does not hold {outside}");
        }
    }

    #[test]
    fn what_is_no_network_is_named() {
        for text in ["", "192.0.2", "192.0.2.0/33", "2001:db8::/129", "example.org", "192.0.2.0/x"] {
            let message = text.parse::<Network>().expect_err(text);
            assert!(message.contains(text) && message.contains("invalid network"), "{message}");
        }
    }

    #[test]
    fn a_block_is_shown_by_its_first_address() {
        assert_eq!(Network::of(address("192.0.2.77"), 24).to_string(), "192.0.2.0/24");
        assert_eq!(Network::of(address("2001:db8:1:2:3::4"), 56).to_string(), "2001:db8:1::/56");
        assert_eq!(Network::of(address("192.0.2.77"), 56).to_string(), "192.0.2.77/32");
    }
}
