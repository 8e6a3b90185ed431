//! Rules of request headers that callers set.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use http::{HeaderName, HeaderValue};
use websvc_types::ViolationCode;
use websvc_types::limits::HEADERS_MAX_BYTES;

use crate::path::Path;
use crate::report::{Report, quoted};

/// Headers that callers must not set: those of the connection (RFC 9110, section 7.6.1), and those that unlock metadata
/// services of cloud providers. The HTTP client rejects them too, but only when it fetches.
const RESERVED_NAMES: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "metadata",
    "metadata-flavor",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-google-metadata-request",
];

/// Prefixes of further headers that callers must not set.
const RESERVED_PREFIXES: &[&str] = &["proxy-", "x-aws-ec2-metadata-"];

/// Checks headers and converts their names to lower case. Messages do not contain values, which may be secrets.
pub(crate) fn check(
    report: &mut Report,
    path: &Path<'_>,
    headers: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > HEADERS_MAX_BYTES {
        report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {HEADERS_MAX_BYTES} bytes in total, not {bytes}")
        });
        return BTreeMap::new();
    }
    let mut checked = BTreeMap::new();
    for (name, value) in headers {
        let path = path.key(&name);
        let Some(name) = check_name(report, &path, &name) else { continue };
        if HeaderValue::from_str(&value).is_err() {
            report.violation(&path, ViolationCode::InvalidFormat, |key| {
                format!("{key}: the value contains characters that are not allowed in a header")
            });
            continue;
        }
        match checked.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(value);
            }
            Entry::Occupied(_) => report.violation(&path, ViolationCode::Conflict, |key| {
                format!("{key} is given twice, in different letter cases")
            }),
        }
    }
    checked
}

fn check_name(report: &mut Report, path: &Path<'_>, text: &str) -> Option<String> {
    let Ok(name) = HeaderName::from_bytes(text.as_bytes()) else {
        report.violation(path, ViolationCode::InvalidFormat, |_| {
            format!("{} must be the name of a header: letters, digits and -, without spaces", quoted(text))
        });
        return None;
    };
    let name = name.as_str();
    let is_reserved =
        RESERVED_NAMES.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if is_reserved {
        report.violation(path, ViolationCode::NotSupported, |key| {
            format!(
                "{key} cannot be set by a request: it belongs to the connection or to a cloud metadata service"
            )
        });
        return None;
    }
    Some(name.to_owned())
}
