//! References and identities: they stay inside the schema.

use std::collections::HashSet;

use serde_json::{Map, Value};
use websvc_types::ViolationCode;

use super::shown;
use crate::path::Path;
use crate::report::{Report, quoted};

/// The well-known dialects.
const DIALECTS: &[&str] = &[
    "http://json-schema.org/schema",
    "https://json-schema.org/schema",
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft-04/schema",
    "https://json-schema.org/draft-06/schema",
    "https://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// The whole schema, which references point into.
pub(super) struct Document<'d> {
    root: &'d Map<String, Value>,
    /// The names that parts of the schema give themselves; collected when the first reference asks for one.
    anchors: Option<HashSet<&'d str>>,
}

impl<'d> Document<'d> {
    pub(super) fn new(root: &'d Map<String, Value>) -> Self {
        Self { root, anchors: None }
    }

    /// Checks a reference: it points into the schema, to something that is there.
    pub(super) fn check_reference(&mut self, report: &mut Report, path: &Path<'_>, target: &Value) {
        let Some(text) = target.as_str() else { return no_text(report, path, target) };
        match text.strip_prefix('#') {
            None => outside(report, path, text),
            Some(fragment) if self.has(fragment) => {}
            Some(_) => report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name} must point to a part of the schema, and {} does not exist", quoted(text))
            }),
        }
    }

    /// Checks what a schema calls itself or its dialect: nothing that could be fetched.
    pub(super) fn check_identity(&self, report: &mut Report, path: &Path<'_>, identity: &Value) {
        match identity.as_str() {
            None => no_text(report, path, identity),
            Some(text) if text.starts_with('#') || is_dialect(text) => {}
            Some(text) => outside(report, path, text),
        }
    }

    fn has(&mut self, fragment: &str) -> bool {
        let Some(fragment) = percent_decoded(fragment) else { return false };
        if fragment.is_empty() {
            return true;
        }
        let Some(pointer) = fragment.strip_prefix('/') else {
            let anchors = self.anchors.get_or_insert_with(|| {
                let mut names = HashSet::new();
                self.root.iter().for_each(|(key, value)| collect(key, value, &mut names));
                names
            });
            return anchors.contains(fragment.as_str());
        };
        let (first, rest) = pointer.find('/').map_or((pointer, ""), |slash| pointer.split_at(slash));
        let first = first.replace("~1", "/").replace("~0", "~");
        self.root.get(&first).is_some_and(|value| value.pointer(rest).is_some())
    }
}

/// Collects the names that a keyword, and all below it, give to parts of the schema.
fn collect<'d>(key: &str, value: &'d Value, names: &mut HashSet<&'d str>) {
    match value {
        Value::String(name) => match key {
            "$anchor" | "$dynamicAnchor" => {
                names.insert(name);
            }
            // As drafts 4 to 7 spell it.
            "$id" | "id" => names.extend(name.strip_prefix('#')),
            _ => {}
        },
        Value::Array(items) => items.iter().for_each(|item| collect("", item, names)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| collect(key, value, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the text of a fragment (RFC 3986, section 2.1), or `None` when it is none.
fn percent_decoded(fragment: &str) -> Option<String> {
    let mut parts = fragment.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(digits)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

fn is_dialect(text: &str) -> bool {
    DIALECTS.contains(&text.strip_suffix('#').unwrap_or(text))
}

fn outside(report: &mut Report, path: &Path<'_>, text: &str) {
    report.violation(path, ViolationCode::NotSupported, |name| {
        format!("{name} may only point inside the schema (#...), not to {}", quoted(text))
    });
}

fn no_text(report: &mut Report, path: &Path<'_>, value: &Value) {
    report.violation(path, ViolationCode::InvalidType, |name| {
        format!("{name} must be a string, not {}", shown(value))
    });
}
