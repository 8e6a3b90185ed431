//! The IANA special-purpose address registries, as tables of the networks that are not globally reachable.
//!
//! Source: <https://www.iana.org/assignments/iana-ipv4-special-registry> and `iana-ipv6-special-registry`, RFC 6890. A
//! row whose column "Globally Reachable" says N/A (deprecated tunnels) counts as not reachable. Multicast and the IPv6
//! space outside 2000::/3, which are in other registries, are added.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::IpNetwork;

/// Networks that are not globally reachable, except for [`REACHABLE_V4`].
const REFUSED_V4: &[(IpNetwork, &str)] = &[
    (IpNetwork::v4([0, 0, 0, 0], 8), "this network"),
    (IpNetwork::v4([10, 0, 0, 0], 8), "private use"),
    (IpNetwork::v4([100, 64, 0, 0], 10), "shared address space (CGNAT)"),
    (IpNetwork::v4([127, 0, 0, 0], 8), "loopback"),
    (IpNetwork::v4([169, 254, 0, 0], 16), "link local, metadata services"),
    (IpNetwork::v4([172, 16, 0, 0], 12), "private use"),
    (IpNetwork::v4([192, 0, 0, 0], 24), "IETF protocol assignments"),
    (IpNetwork::v4([192, 0, 2, 0], 24), "documentation 1"),
    (IpNetwork::v4([192, 88, 99, 0], 24), "6to4 relay anycast, deprecated"),
    (IpNetwork::v4([192, 168, 0, 0], 16), "private use"),
    (IpNetwork::v4([198, 18, 0, 0], 15), "benchmarking"),
    (IpNetwork::v4([198, 51, 100, 0], 24), "documentation 2"),
    (IpNetwork::v4([203, 0, 113, 0], 24), "documentation 3"),
    (IpNetwork::v4([224, 0, 0, 0], 4), "multicast"),
    (IpNetwork::v4([240, 0, 0, 0], 4), "reserved, limited broadcast"),
];

/// Globally reachable parts of [`REFUSED_V4`].
const REACHABLE_V4: &[IpNetwork] = &[
    IpNetwork::v4([192, 0, 0, 9], 32),  // port control protocol anycast
    IpNetwork::v4([192, 0, 0, 10], 32), // TURN anycast
];

/// The space that is allocated for global unicast. All other IPv6 addresses are special.
const GLOBAL_UNICAST: IpNetwork = IpNetwork::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// The network that is reported for other addresses outside [`GLOBAL_UNICAST`], which are not one network.
const OUTSIDE_GLOBAL_UNICAST: IpNetwork = IpNetwork::v6([0, 0, 0, 0, 0, 0, 0, 0], 0);

/// Networks that are not globally reachable, except for [`REACHABLE_V6`]: well-known networks outside
/// [`GLOBAL_UNICAST`], then parts of it.
const REFUSED_V6: &[(IpNetwork, &str)] = &[
    (IpNetwork::v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback"),
    (IpNetwork::v6([0, 0, 0, 0, 0, 0, 0, 0], 128), "unspecified"),
    (IpNetwork::v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "unique local"),
    (IpNetwork::v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link local"),
    (IpNetwork::v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "multicast"),
    (
        IpNetwork::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
        "IETF protocol assignments, Teredo, benchmarking, ORCHID",
    ),
    (IpNetwork::v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "documentation"),
    (IpNetwork::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "6to4: deprecated, and embeds any IPv4 address"),
    (IpNetwork::v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "documentation"),
];

/// Globally reachable parts of [`REFUSED_V6`].
const REACHABLE_V6: &[IpNetwork] = &[
    IpNetwork::v6([0x2001, 1, 0, 0, 0, 0, 0, 1], 128), // port control protocol anycast
    IpNetwork::v6([0x2001, 1, 0, 0, 0, 0, 0, 2], 128), // TURN anycast
    IpNetwork::v6([0x2001, 1, 0, 0, 0, 0, 0, 3], 128), // DNS-SD service registration anycast
    IpNetwork::v6([0x2001, 3, 0, 0, 0, 0, 0, 0], 32),  // AMT
    IpNetwork::v6([0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48), // AS112
    IpNetwork::v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28), // ORCHIDv2
    IpNetwork::v6([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28), // drone remote identification
];

/// The well-known prefix of NAT64: as reachable as the IPv4 address in its last 32 bits.
const NAT64: IpNetwork = IpNetwork::v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

/// Returns whether an address is globally reachable.
///
/// An address that contains an IPv4 address (IPv4-mapped, NAT64's `64:ff9b::/96`, ISATAP) is as reachable as that one.
/// IPv4-compatible addresses, 6to4, Teredo and the local-use prefix of NAT64 are never reachable.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    special_purpose(address).is_none()
}

/// Returns the network of the registries that an address is in, and the purpose of that network, if the address is not
/// globally reachable. `None` for a reachable address.
pub(super) fn special_purpose(address: IpAddr) -> Option<(IpNetwork, &'static str)> {
    match address.to_canonical() {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<(IpNetwork, &'static str)> {
    find(REFUSED_V4, address.into()).filter(|_| !contains(REACHABLE_V4, address.into()))
}

fn special_v6(address: Ipv6Addr) -> Option<(IpNetwork, &'static str)> {
    let [.., ip_high, ip_low] = address.segments();
    let embedded = Ipv4Addr::from_bits(u32::from(ip_high) << 16 | u32::from(ip_low));
    if NAT64.contains(address.into()) {
        return special_v4(embedded);
    }
    if let Some(found) = find(REFUSED_V6, address.into())
        && !contains(REACHABLE_V6, address.into())
    {
        return Some(found);
    }
    if !GLOBAL_UNICAST.contains(address.into()) {
        return Some((OUTSIDE_GLOBAL_UNICAST, "outside global unicast"));
    }
    if is_isatap(address) { special_v4(embedded) } else { None }
}

/// Returns whether the interface identifier is that of ISATAP (RFC 5214): `[02]00:5efe` before an IPv4 address.
fn is_isatap(address: Ipv6Addr) -> bool {
    let [_, _, _, _, flags, marker, _, _] = address.segments();
    // The universal/local and the individual/group bit may have any value.
    flags & !0x0300 == 0 && marker == 0x5efe
}

fn find(networks: &[(IpNetwork, &'static str)], address: IpAddr) -> Option<(IpNetwork, &'static str)> {
    networks.iter().find(|(network, _)| network.contains(address)).copied()
}

fn contains(networks: &[IpNetwork], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: Option<&str>) {
        let found = special_purpose(address.parse().unwrap());
        let found = found.map(|(network, purpose)| format!("{network}, {purpose}"));
        assert_eq!(found.as_deref(), expected, "{address}");
    }

    #[test]
    fn special_address_has_network_and_purpose() {
        check("127.0.0.1", Some("127.0.0.0/8, loopback"));
        check("::ffff:10.1.2.3", Some("10.0.0.0/8, private use"));
        check("64:ff9b::a9fe:a9fe", Some("169.254.0.0/16, link local, metadata services"));
        check("::1", Some("::1/128, loopback"));
        check("fd00::1", Some("fc00::/7, unique local"));
        check("4000::1", Some("::/0, outside global unicast"));
        check("2001:db8::1", Some("2001:db8::/32, documentation"));
        check("93.184.216.34", None);
        check("192.0.0.9", None);
        check("2606:4700::1111", None);
    }
}
