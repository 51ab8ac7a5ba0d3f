//! Addresses that a load may go to besides its target's own.

use std::net::IpAddr;

use serde::Deserialize;

/// The widest networks allowed, by the length of their prefix: a VPC's own.
const LEAST_PREFIX_V4: u8 = 16;
const LEAST_PREFIX_V6: u8 = 56;

/// A network of addresses, such as `10.0.1.0/24`; without a prefix, one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Network {
    first: IpAddr,
    prefix: u8,
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (address, prefix) = text.split_once('/').unwrap_or((&text, ""));
        let refused = |allowed: &str| format!("{text:?} is no network of nodes: {allowed}");
        let first: IpAddr =
            address.parse().map_err(|_| refused("allowed are such as 10.0.1.0/24 or 10.0.1.7"))?;
        let (least, most) =
            if first.is_ipv4() { (LEAST_PREFIX_V4, 32) } else { (LEAST_PREFIX_V6, 128) };
        let prefix = if prefix.is_empty() { Some(most) } else { prefix.parse().ok() };
        match prefix {
            Some(prefix) if (least..=most).contains(&prefix) => Ok(Network { first, prefix }),
            _ => Err(refused(&format!("allowed are prefixes of {least} to {most} bits"))),
        }
    }
}

impl Network {
    pub fn contains(self, address: IpAddr) -> bool {
        let same = |a: u128, b: u128, bits: u32| {
            (a ^ b).checked_shr(bits - u32::from(self.prefix)).unwrap_or(0) == 0
        };
        match (self.first, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => same(a.to_bits().into(), b.to_bits().into(), 32),
            (IpAddr::V6(a), IpAddr::V6(b)) => same(a.to_bits(), b.to_bits(), 128),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Result<Network, String> {
        text.to_owned().try_into()
    }

    #[test]
    fn a_network_has_the_addresses_of_its_prefix() {
        let cases = [
            ("10.0.1.0/24", "10.0.1.255", true),
            ("10.0.1.0/24", "10.0.2.0", false),
            ("10.0.1.7", "10.0.1.7", true),
            ("10.0.1.7", "10.0.1.6", false),
            ("172.16.0.0/16", "172.16.255.1", true),
            ("fd00:1::/64", "fd00:1::ffff", true),
            ("fd00:1::/64", "fd00:1:0:1::1", false),
            ("10.0.1.0/24", "::ffff:10.0.1.1", false),
        ];
        for (text, address, expected) in cases {
            let contains = network(text).expect(text).contains(address.parse().expect(address));
            assert_eq!(contains, expected, "{text} {address}");
        }
    }

    #[test]
    fn what_is_too_wide_or_no_network_is_refused() {
        for text in ["0.0.0.0/0", "10.0.0.0/8", "::/0", "10.0.0.0/33", "10.0.0/24", "", "/24", "a"]
        {
            let refused = network(text).expect_err(text);
            assert!(refused.contains("allowed are"), "{refused}");
        }
    }
}
