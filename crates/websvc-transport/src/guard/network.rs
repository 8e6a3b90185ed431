//! A block of addresses in CIDR notation.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::GuardError;

/// A network such as `10.0.0.0/8`, `fd00::/8`, or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpNetwork {
    first: IpAddr,
    prefix: u8,
}

impl IpNetwork {
    pub(super) const fn v4(first: [u8; 4], prefix: u8) -> Self {
        Self { first: IpAddr::V4(Ipv4Addr::new(first[0], first[1], first[2], first[3])), prefix }
    }

    pub(super) const fn v6(first: [u16; 8], prefix: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = first;
        Self { first: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), prefix }
    }

    /// Returns whether `address` is in this network. Addresses of the other family never are: convert an IPv4-mapped
    /// address with `IpAddr::to_canonical` first.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => mask_v4(address, self.prefix) == first,
            (IpAddr::V6(first), IpAddr::V6(address)) => mask_v6(address, self.prefix) == first,
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

fn mask_v4(address: Ipv4Addr, prefix: u8) -> Ipv4Addr {
    let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
    Ipv4Addr::from_bits(address.to_bits() & mask)
}

fn mask_v6(address: Ipv6Addr, prefix: u8) -> Ipv6Addr {
    let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
    Ipv6Addr::from_bits(address.to_bits() & mask)
}

impl FromStr for IpNetwork {
    type Err = GuardError;

    fn from_str(text: &str) -> Result<Self, GuardError> {
        let invalid = || GuardError::Network { text: text.to_owned() };
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let max_prefix = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => max_prefix,
            // `parse` alone accepts "+8".
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                digits.parse().map_err(|_| invalid())?
            }
            Some(_) => return Err(invalid()),
        };
        if prefix > max_prefix {
            return Err(invalid());
        }
        let first = match address {
            IpAddr::V4(address) => IpAddr::V4(mask_v4(address, prefix)),
            IpAddr::V6(address) => IpAddr::V6(mask_v6(address, prefix)),
        };
        let network = Self { first, prefix };
        if first != address {
            return Err(GuardError::HostBits { text: text.to_owned(), network });
        }
        Ok(network)
    }
}

impl fmt::Display for IpNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}
