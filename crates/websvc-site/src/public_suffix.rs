//! The public suffix list of publicsuffix.org: the domains under which anyone can register names.
//!
//! The list is code, which the compiler copies into each crate that calls it. So only this module does.

use std::net::IpAddr;

/// Returns whether a domain is a public suffix, such as `co.uk`. A top-level domain that the list does not have counts
/// as one, as the list demands.
#[must_use]
pub fn is_public_suffix(domain: &str) -> bool {
    suffix_len(domain) == Some(domain.len())
}

/// Returns the registrable domain of a host: its public suffix and one more label. Returns the host itself if it is an
/// IP address or a public suffix.
#[must_use]
pub fn registrable_domain(host: &str) -> &str {
    if host.starts_with('[') || host.parse::<IpAddr>().is_ok() {
        return host;
    }
    let Some(length) = suffix_len(host).filter(|length| *length < host.len()) else { return host };
    let labels = host[..host.len() - length].trim_end_matches('.');
    &host[labels.rfind('.').map_or(0, |dot| dot + 1)..]
}

/// Returns the length of the public suffix of a domain.
#[inline(never)]
fn suffix_len(domain: &str) -> Option<usize> {
    psl::suffix(domain.as_bytes()).map(|suffix| suffix.as_bytes().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrable_domain_has_one_label_more_than_the_public_suffix() {
        for (host, expected) in [
            ("a.test", "a.test"),
            ("b.a.test", "a.test"),
            ("www.example.co.uk", "example.co.uk"),
            ("example.co.uk", "example.co.uk"),
            ("co.uk", "co.uk"),
            ("a.b.example.com.", "example.com."),
            ("b.ä.example", "ä.example"),
            ("localhost", "localhost"),
            ("", ""),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(registrable_domain(host), expected, "{host}");
        }
    }
}
