//! Headers of the caller's own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use http::{HeaderName, HeaderValue};
use websvc_types::ViolationCode;
use websvc_types::limits::HEADERS_MAX_BYTES;

use crate::path::Path;
use crate::report::{Report, quoted};

/// Headers that belong to the connection and not to the caller (RFC 9110, section 7.6.1), or that unlock the
/// metadata services of clouds. The client rejects them too; here the caller gets the error before anything is
/// fetched.
const NOT_THE_CALLERS: &[&str] = &[
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

const NOT_THE_CALLERS_PREFIXES: &[&str] = &["proxy-", "x-aws-ec2-metadata-"];

/// Checks headers; names become lower case. Values are never shown: they hold cookies and passwords.
pub(crate) fn check(
    report: &mut Report,
    path: &Path<'_>,
    headers: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > HEADERS_MAX_BYTES {
        report.violation(path, ViolationCode::TooLong, |place| {
            format!("{place} must have at most {HEADERS_MAX_BYTES} bytes in all, not {bytes}")
        });
        return BTreeMap::new();
    }
    let mut checked = BTreeMap::new();
    for (name, value) in headers {
        let path = path.key(&name);
        let Some(name) = legal_name(report, &path, &name) else { continue };
        if HeaderValue::from_str(&value).is_err() {
            report.violation(&path, ViolationCode::InvalidFormat, |key| {
                format!("{key}: the value has characters that a header cannot have")
            });
            continue;
        }
        match checked.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(value);
            }
            Entry::Occupied(_) => report.violation(&path, ViolationCode::Conflict, |key| {
                format!("{key} is given twice, in different cases")
            }),
        }
    }
    checked
}

fn legal_name(report: &mut Report, path: &Path<'_>, text: &str) -> Option<String> {
    let Ok(name) = HeaderName::from_bytes(text.as_bytes()) else {
        report.violation(path, ViolationCode::InvalidFormat, |_| {
            format!("{} must be the name of a header: letters, digits and -, without spaces", quoted(text))
        });
        return None;
    };
    let name = name.as_str();
    let reserved = NOT_THE_CALLERS.contains(&name)
        || NOT_THE_CALLERS_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if reserved {
        report.violation(path, ViolationCode::NotSupported, |key| {
            format!(
                "{key} cannot be set by a request: it belongs to the connection or unlocks metadata of clouds"
            )
        });
        return None;
    }
    Some(name.to_owned())
}
