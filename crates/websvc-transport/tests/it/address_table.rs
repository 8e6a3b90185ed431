//! The table of special addresses: each block with its first and last address and one off on each side, so that a block
//! that is too large fails as well.

use std::net::IpAddr;

use proptest::prelude::*;
use websvc_transport::{AddressGuard, GuardError, IpNetwork, is_public};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressKind {
    Public,
    Special,
}
use AddressKind::{Public, Special};

/// Each block with four addresses: below it, its first and last address, above it.
const BLOCKS: &[(&str, [(&str, AddressKind); 4])] = &[
    (
        "0.0.0.0/8",
        [("0.0.0.0", Special), ("0.0.0.1", Special), ("0.255.255.255", Special), ("1.0.0.0", Public)],
    ),
    (
        "10.0.0.0/8",
        [("9.255.255.255", Public), ("10.0.0.0", Special), ("10.255.255.255", Special), ("11.0.0.0", Public)],
    ),
    (
        "100.64.0.0/10",
        [
            ("100.63.255.255", Public),
            ("100.64.0.0", Special),
            ("100.127.255.255", Special),
            ("100.128.0.0", Public),
        ],
    ),
    (
        "127.0.0.0/8",
        [
            ("126.255.255.255", Public),
            ("127.0.0.0", Special),
            ("127.255.255.255", Special),
            ("128.0.0.0", Public),
        ],
    ),
    (
        "169.254.0.0/16",
        [
            ("169.253.255.255", Public),
            ("169.254.0.0", Special),
            ("169.254.255.255", Special),
            ("169.255.0.0", Public),
        ],
    ),
    (
        "172.16.0.0/12",
        [
            ("172.15.255.255", Public),
            ("172.16.0.0", Special),
            ("172.31.255.255", Special),
            ("172.32.0.0", Public),
        ],
    ),
    (
        "192.0.0.0/24",
        [
            ("191.255.255.255", Public),
            ("192.0.0.0", Special),
            ("192.0.0.255", Special),
            ("192.0.1.0", Public),
        ],
    ),
    (
        "192.0.0.9/32 and 192.0.0.10/32",
        [("192.0.0.8", Special), ("192.0.0.9", Public), ("192.0.0.10", Public), ("192.0.0.11", Special)],
    ),
    (
        "192.0.2.0/24",
        [("192.0.1.255", Public), ("192.0.2.0", Special), ("192.0.2.255", Special), ("192.0.3.0", Public)],
    ),
    (
        "192.31.196.0/24 (AS112, reachable)",
        [
            ("192.31.195.255", Public),
            ("192.31.196.0", Public),
            ("192.31.196.255", Public),
            ("192.31.197.0", Public),
        ],
    ),
    (
        "192.52.193.0/24 (AMT, reachable)",
        [
            ("192.52.192.255", Public),
            ("192.52.193.0", Public),
            ("192.52.193.255", Public),
            ("192.52.194.0", Public),
        ],
    ),
    (
        "192.88.99.0/24",
        [
            ("192.88.98.255", Public),
            ("192.88.99.0", Special),
            ("192.88.99.255", Special),
            ("192.88.100.0", Public),
        ],
    ),
    (
        "192.168.0.0/16",
        [
            ("192.167.255.255", Public),
            ("192.168.0.0", Special),
            ("192.168.255.255", Special),
            ("192.169.0.0", Public),
        ],
    ),
    (
        "192.175.48.0/24 (AS112, reachable)",
        [
            ("192.175.47.255", Public),
            ("192.175.48.0", Public),
            ("192.175.48.255", Public),
            ("192.175.49.0", Public),
        ],
    ),
    (
        "198.18.0.0/15",
        [
            ("198.17.255.255", Public),
            ("198.18.0.0", Special),
            ("198.19.255.255", Special),
            ("198.20.0.0", Public),
        ],
    ),
    (
        "198.51.100.0/24",
        [
            ("198.51.99.255", Public),
            ("198.51.100.0", Special),
            ("198.51.100.255", Special),
            ("198.51.101.0", Public),
        ],
    ),
    (
        "203.0.113.0/24",
        [
            ("203.0.112.255", Public),
            ("203.0.113.0", Special),
            ("203.0.113.255", Special),
            ("203.0.114.0", Public),
        ],
    ),
    (
        "224.0.0.0/4 and 240.0.0.0/4",
        [
            ("223.255.255.255", Public),
            ("224.0.0.0", Special),
            ("239.255.255.255", Special),
            ("240.0.0.0", Special),
        ],
    ),
    (
        "255.255.255.255/32",
        [
            ("255.255.255.254", Special),
            ("255.255.255.255", Special),
            ("240.0.0.1", Special),
            ("8.8.8.8", Public),
        ],
    ),
    (
        "::/128, ::1/128, IPv4-compatible",
        [("::", Special), ("::1", Special), ("::a9fe:a9fe", Special), ("::8.8.8.8", Special)],
    ),
    (
        "::ffff:0:0/96, IPv4-mapped",
        [
            ("::ffff:127.0.0.1", Special),
            ("::ffff:169.254.169.254", Special),
            ("::ffff:0.0.0.0", Special),
            ("::ffff:8.8.8.8", Public),
        ],
    ),
    (
        "::ffff:0:0:0/96, IPv4-translated",
        [
            ("::ffff:0:7f00:1", Special),
            ("::ffff:0:8.8.8.8", Special),
            ("::fffe:ffff:ffff", Special),
            ("::1:0:0:0", Special),
        ],
    ),
    (
        "64:ff9b::/96, NAT64",
        [
            ("64:ff9b::10.0.0.1", Special),
            ("64:ff9b::127.0.0.1", Special),
            ("64:ff9b::8.8.8.8", Public),
            ("64:ff9b::1:0808:0808", Special),
        ],
    ),
    (
        "64:ff9b:1::/48, local NAT64",
        [
            ("64:ff9b:0:ffff:ffff:ffff:ffff:ffff", Special),
            ("64:ff9b:1::", Special),
            ("64:ff9b:1::8.8.8.8", Special),
            ("64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Special),
        ],
    ),
    (
        "100::/64 and 100:0:0:1::/64",
        [
            ("100::", Special),
            ("100::ffff:ffff:ffff:ffff", Special),
            ("100:0:0:1::", Special),
            ("100:0:0:1:ffff:ffff:ffff:ffff", Special),
        ],
    ),
    (
        "below 2000::/3",
        [
            ("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2000::", Public),
            ("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public),
            ("4000::", Special),
        ],
    ),
    (
        "2001::/23",
        [
            ("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public),
            ("2001::", Special),
            ("2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:200::", Public),
        ],
    ),
    (
        "2001::/32, Teredo",
        [
            ("2001::8.8.8.8", Special),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Special),
            ("2001:0:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:1::", Special),
        ],
    ),
    (
        "2001:1::1 to 2001:1::3",
        [("2001:1::1", Public), ("2001:1::2", Public), ("2001:1::3", Public), ("2001:1::4", Special)],
    ),
    (
        "2001:2::/48, benchmarking",
        [
            ("2001:1:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:2::", Special),
            ("2001:2:0:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:2:1::", Special),
        ],
    ),
    (
        "2001:3::/32, AMT",
        [
            ("2001:2:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:3::", Public),
            ("2001:3:ffff:ffff:ffff:ffff:ffff:ffff", Public),
            ("2001:4::", Special),
        ],
    ),
    (
        "2001:4:112::/48, AS112",
        [
            ("2001:4:111:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:4:112::", Public),
            ("2001:4:112:ffff:ffff:ffff:ffff:ffff", Public),
            ("2001:4:113::", Special),
        ],
    ),
    (
        "2001:10::/28 and 2001:20::/28, ORCHID",
        [
            ("2001:10::", Special),
            ("2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:20::", Public),
            ("2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", Public),
        ],
    ),
    (
        "2001:30::/28, drone identification",
        [
            ("2001:30::", Public),
            ("2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", Public),
            ("2001:40::", Special),
            ("2001:100::", Special),
        ],
    ),
    (
        "2001:db8::/32",
        [
            ("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", Public),
            ("2001:db8::", Special),
            ("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:db9::", Public),
        ],
    ),
    (
        "2002::/16, 6to4",
        [
            ("2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public),
            ("2002::", Special),
            ("2002:7f00:1::", Special),
            ("2003::", Public),
        ],
    ),
    (
        "2620:4f:8000::/48 (AS112, reachable)",
        [
            ("2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", Public),
            ("2620:4f:8000::", Public),
            ("2620:4f:8000:ffff:ffff:ffff:ffff:ffff", Public),
            ("2620:4f:8001::", Public),
        ],
    ),
    (
        "3fff::/20",
        [
            ("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Public),
            ("3fff::", Special),
            ("3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("3fff:1000::", Public),
        ],
    ),
    (
        "5f00::/16, segment routing",
        [
            ("5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("5f00::", Special),
            ("5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("5f01::", Special),
        ],
    ),
    (
        "fc00::/7, fe80::/10, fec0::/10, ff00::/8",
        [
            ("fc00::", Special),
            ("fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("ff02::1", Special),
        ],
    ),
    (
        "site local",
        [("fec0::", Special), ("feff::1", Special), ("fe80::1", Special), ("2606:4700::1111", Public)],
    ),
    (
        "ISATAP",
        [
            ("2620:0:1::5efe:10.0.0.1", Special),
            ("2620:0:1::200:5efe:192.168.0.1", Special),
            ("2620:0:1::5efe:8.8.8.8", Public),
            ("2620:0:1:0:1000:5efe:10.0.0.1", Public),
        ],
    ),
];

#[test]
fn special_blocks_have_the_bounds_of_the_registries() {
    for (block, rows) in BLOCKS {
        for (address, expected) in rows {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(is_public(address), *expected == Public, "{address} of {block}");
        }
    }
}

#[test]
fn allowed_network_opens_only_itself() {
    let guard =
        AddressGuard::public().allow("127.0.0.0/8".parse().unwrap()).allow("fd00::/8".parse().unwrap());
    for allowed in ["127.0.0.1", "127.255.255.255", "::ffff:127.0.0.1", "fd12::1", "8.8.8.8"] {
        assert!(guard.allows(allowed.parse().unwrap()), "{allowed}");
    }
    for refused in ["10.0.0.1", "::1", "fc00::1", "::ffff:10.0.0.1", "64:ff9b::127.0.0.1"] {
        assert!(!guard.allows(refused.parse().unwrap()), "{refused}");
    }
}

#[test]
fn open_guard_allows_every_address() {
    let guard = AddressGuard::open();
    assert!(guard.allows("127.0.0.1".parse().unwrap()));
    assert!(guard.allows("ff02::1".parse().unwrap()));
}

#[test]
fn network_display_equals_its_text() {
    for text in ["0.0.0.0/0", "10.0.0.0/8", "192.168.1.7/32", "::/0", "fd00::/8", "::1/128"] {
        assert_eq!(text.parse::<IpNetwork>().unwrap().to_string(), text);
    }
    assert_eq!("10.1.2.3".parse::<IpNetwork>().unwrap().to_string(), "10.1.2.3/32");
}

#[test]
fn invalid_network_is_rejected() {
    for text in
        ["", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0/8", "::/129", "localhost", "10.0.0.0/8/8"]
    {
        assert_eq!(text.parse::<IpNetwork>(), Err(GuardError::Network { text: text.to_owned() }));
    }
    let error = "10.1.0.0/8".parse::<IpNetwork>().unwrap_err();
    assert_eq!(error.to_string(), r#""10.1.0.0/8" has bits outside its prefix; the network is 10.0.0.0/8"#);
}

proptest! {
    #[test]
    fn ipv4_mapped_address_is_allowed_like_its_ipv4(bits: u32) {
        let v4 = std::net::Ipv4Addr::from_bits(bits);
        let guard = AddressGuard::public();
        prop_assert_eq!(guard.allows(v4.into()), guard.allows(v4.to_ipv6_mapped().into()));
        prop_assert!(!guard.allows(v4.to_ipv6_compatible().into()));
    }
}
