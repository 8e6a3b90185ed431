//! UUIDs (RFC 9562, section 4).

use websvc_types::ViolationCode;

use crate::path::Path;
use crate::report::{Report, quoted};

/// Checks that a text is a UUID in its usual form, with hyphens, and returns whether it is.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, text: &str) -> bool {
    let is_uuid = text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    if !is_uuid {
        report.violation(path, ViolationCode::InvalidFormat, |name| {
            format!("{name} must be a UUID, not {}", quoted(text))
        });
    }
    is_uuid
}
