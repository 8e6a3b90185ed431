//! Arguments of `site:` and `related:`.

use std::net::Ipv4Addr;

use crate::ast::Site;
use crate::character::digits;

/// Maximum length of a host name, in bytes (RFC 1035, section 2.3.4).
const HOST_MAX_BYTES: usize = 253;

/// Maximum length of a label of a host name, in bytes (RFC 1035, section 2.3.4).
const LABEL_MAX_BYTES: usize = 63;

/// Ports that URLs omit. They do not restrict a search.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// Parses a host with an optional port and path. Ignores the other parts of a copied URL: `http://`, `https://`, the
/// query and the fragment.
pub(crate) fn parse_site(text: &str) -> Option<Site> {
    let text = strip_scheme(text, "https://").or_else(|| strip_scheme(text, "http://")).unwrap_or(text);
    let text = text.split(['?', '#']).next().unwrap_or(text);
    let (authority, path) = text.find('/').map_or((text, ""), |slash| text.split_at(slash));
    let (host, port) = match authority.split_once(':') {
        None => (authority, None),
        // Punctuation. Before a path, the colon is that of another scheme.
        Some((host, "")) if path.is_empty() => (host, None),
        Some((host, port)) => (host, Some(digits(port)?)),
    };
    let host = host.strip_prefix("*.").or_else(|| host.strip_prefix('.')).unwrap_or(host);
    Some(Site {
        host: normalize_host(host)?,
        port: port.filter(|port| !DEFAULT_PORTS.contains(port)),
        path: path_prefix(path)?,
    })
}

/// Removes a trailing `/`, `/*` or space from a path. Returns `None` if the path has other wildcards.
fn path_prefix(path: &str) -> Option<Option<String>> {
    let path = path.strip_suffix("/*").unwrap_or(path).trim_end_matches(['/', ' ']);
    (!path.contains('*')).then(|| (!path.is_empty()).then(|| path.to_owned()))
}

/// Converts a host to lower case and ASCII form (UTS 46). Returns `None` if it is not a valid host name.
fn normalize_host(host: &str) -> Option<String> {
    let host = host.strip_suffix('.').unwrap_or(host);
    // Longer texts cannot become valid, and their conversion is slow.
    if host.chars().count() > HOST_MAX_BYTES {
        return None;
    }
    let host = idna::domain_to_ascii(host).ok()?;
    let is_valid =
        host.len() <= HOST_MAX_BYTES && host.split('.').all(is_label) && !is_incomplete_ipv4(&host);
    is_valid.then_some(host)
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_MAX_BYTES).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Returns whether a URL parser would take the host for an IPv4 address although it is not a complete one, such as
/// `3.11`.
fn is_incomplete_ipv4(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    let hex = last.strip_prefix("0x");
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit())
        || hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    numeric && host.parse::<Ipv4Addr>().is_err()
}

/// Removes a scheme in any letter case. Returns `None` if the text has another start.
fn strip_scheme<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}
