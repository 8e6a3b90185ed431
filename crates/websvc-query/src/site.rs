//! The argument of `site:` and `related:`.

use std::net::Ipv4Addr;

use crate::ast::Site;
use crate::operator::digits;

/// The longest name of a host, and of one of its labels, in bytes (RFC 1035, section 2.3.4).
const HOST_MAX_BYTES: usize = 253;
const LABEL_MAX_BYTES: usize = 63;

/// Ports that URLs leave out, so that asking for one asks for nothing.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// Reads a host with an optional port and path. What comes along with a copied address is taken off: `http://`,
/// `https://`, the query and the fragment.
pub(crate) fn site(text: &str) -> Option<Site> {
    let text = without_prefix(text, "https://").or_else(|| without_prefix(text, "http://")).unwrap_or(text);
    let text = text.split(['?', '#']).next().unwrap_or(text);
    let (authority, path) = text.find('/').map_or((text, ""), |slash| text.split_at(slash));
    let (host, port) = match authority.split_once(':') {
        None => (authority, None),
        // A colon of prose; before a path it would be that of another scheme.
        Some((host, "")) if path.is_empty() => (host, None),
        Some((host, port)) => (host, Some(digits(port)?)),
    };
    let host = host.strip_prefix("*.").or_else(|| host.strip_prefix('.')).unwrap_or(host);
    Some(Site {
        host: canonical(host)?,
        port: port.filter(|port| !DEFAULT_PORTS.contains(port)),
        path: prefix(path)?,
    })
}

/// Returns a path without what every prefix ends with, or `None` when it has a wildcard inside.
fn prefix(path: &str) -> Option<Option<String>> {
    let path = path.strip_suffix("/*").unwrap_or(path).trim_end_matches(['/', ' ']);
    (!path.contains('*')).then(|| (!path.is_empty()).then(|| path.to_owned()))
}

/// Returns a host in lower case and ASCII form (UTS 46), or `None` when no host can have this name.
fn canonical(host: &str) -> Option<String> {
    let host = host.strip_suffix('.').unwrap_or(host);
    // Longer texts cannot become short enough, and converting them takes long.
    if host.chars().count() > HOST_MAX_BYTES {
        return None;
    }
    let host = idna::domain_to_ascii(host).ok()?;
    let legal = host.len() <= HOST_MAX_BYTES && host.split('.').all(is_label) && !is_incomplete_url(&host);
    legal.then_some(host)
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_MAX_BYTES).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Tells whether URLs would read the host as an IPv4 address although it is not written as one, such as `3.11`.
fn is_incomplete_url(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    let hex = last.strip_prefix("0x");
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit())
        || hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    numeric && host.parse::<Ipv4Addr>().is_err()
}

fn without_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}
