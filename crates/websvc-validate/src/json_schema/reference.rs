//! Rules of references and identifiers: they must not lead out of the schema.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use websvc_types::ViolationCode;

use crate::path::Path;
use crate::report::{Report, displayed_json, quoted};

/// URLs of the well-known dialects.
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

/// Whole schema, which contains the targets of references.
pub(super) struct Document<'d> {
    root: &'d Map<String, Value>,
    /// Schemas by their anchor, collected at the first lookup.
    anchors: Option<HashMap<&'d str, Vec<&'d Map<String, Value>>>>,
}

impl<'d> Document<'d> {
    pub(super) fn new(root: &'d Map<String, Value>) -> Self {
        Self { root, anchors: None }
    }

    /// Checks that a reference has a target within the schema.
    pub(super) fn check_reference(&mut self, report: &mut Report, path: &Path<'_>, target: &Value) {
        let Some(text) = target.as_str() else { return not_a_string(report, path, target) };
        match text.strip_prefix('#') {
            None => outside(report, path, text),
            Some(fragment) if self.has(fragment) => {}
            Some(_) => report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name} must point to a part of the schema, and {} does not exist", quoted(text))
            }),
        }
    }

    /// Checks that an identifier of a schema or of its dialect is a fragment or a well-known dialect.
    pub(super) fn check_identity(&self, report: &mut Report, path: &Path<'_>, identity: &Value) {
        match identity.as_str() {
            None => not_a_string(report, path, identity),
            Some(text) if text.starts_with('#') || is_dialect(text) => {}
            Some(text) => outside(report, path, text),
        }
    }

    /// Returns the targets of a reference: several if several schemas have the same anchor.
    pub(super) fn targets(&mut self, reference: &str) -> Vec<&'d Map<String, Value>> {
        let fragment = reference.strip_prefix('#').and_then(percent_decoded);
        match fragment.as_deref().map(|fragment| (fragment, fragment.strip_prefix('/'))) {
            None => Vec::new(),
            Some(("", _)) => vec![self.root],
            Some((_, Some(pointer))) => self.at(pointer).and_then(Value::as_object).into_iter().collect(),
            Some((name, None)) => self.anchors().get(name).cloned().unwrap_or_default(),
        }
    }

    /// Returns whether a fragment has a target.
    fn has(&mut self, fragment: &str) -> bool {
        let Some(fragment) = percent_decoded(fragment) else { return false };
        match fragment.strip_prefix('/') {
            _ if fragment.is_empty() => true,
            Some(pointer) => self.at(pointer).is_some(),
            None => self.anchors().contains_key(fragment.as_str()),
        }
    }

    /// Returns the value at a JSON Pointer without its first slash.
    fn at(&self, pointer: &str) -> Option<&'d Value> {
        let (first, rest) = pointer.find('/').map_or((pointer, ""), |slash| pointer.split_at(slash));
        let first = first.replace("~1", "/").replace("~0", "~");
        self.root.get(&first)?.pointer(rest)
    }

    fn anchors(&mut self) -> &HashMap<&'d str, Vec<&'d Map<String, Value>>> {
        self.anchors.get_or_insert_with(|| {
            let mut anchors = HashMap::new();
            collect_anchors(self.root, &mut anchors);
            anchors
        })
    }
}

/// Collects the anchors of an object and of all values below it.
fn collect_anchors<'d>(
    fields: &'d Map<String, Value>,
    anchors: &mut HashMap<&'d str, Vec<&'d Map<String, Value>>>,
) {
    for (key, value) in fields {
        if let Value::String(text) = value {
            let anchor = match key.as_str() {
                "$anchor" | "$dynamicAnchor" => Some(text.as_str()),
                // Anchors of drafts 4 to 7.
                "$id" | "id" => text.strip_prefix('#'),
                _ => None,
            };
            if let Some(anchor) = anchor {
                anchors.entry(anchor).or_default().push(fields);
            }
        }
        collect_anchors_below(value, anchors);
    }
}

fn collect_anchors_below<'d>(value: &'d Value, anchors: &mut HashMap<&'d str, Vec<&'d Map<String, Value>>>) {
    match value {
        Value::Object(fields) => collect_anchors(fields, anchors),
        Value::Array(items) => items.iter().for_each(|item| collect_anchors_below(item, anchors)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Decodes the percent-encoding of a fragment (RFC 3986, section 2.1). Returns `None` if an escape is incomplete or the
/// result is not UTF-8.
fn percent_decoded(fragment: &str) -> Option<String> {
    let has_valid_escapes = fragment.split('%').skip(1).all(|part| {
        part.get(..2).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    });
    let decoded = percent_decode_str(fragment).decode_utf8().ok()?;
    has_valid_escapes.then(|| decoded.into_owned())
}

fn is_dialect(text: &str) -> bool {
    DIALECTS.contains(&text.strip_suffix('#').unwrap_or(text))
}

fn outside(report: &mut Report, path: &Path<'_>, text: &str) {
    report.violation(path, ViolationCode::NotSupported, |name| {
        format!("{name} may only point inside the schema (#...), not to {}", quoted(text))
    });
}

fn not_a_string(report: &mut Report, path: &Path<'_>, value: &Value) {
    report.violation(path, ViolationCode::InvalidType, |name| {
        format!("{name} must be a string, not {}", displayed_json(value))
    });
}
