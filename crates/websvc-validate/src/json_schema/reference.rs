//! References and identities: they stay inside the schema.

use std::collections::HashMap;

use serde_json::{Map, Value};
use websvc_types::ViolationCode;

use crate::path::Path;
use crate::report::{Report, quoted, shown_json};

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
    anchors: Option<HashMap<&'d str, Vec<&'d Map<String, Value>>>>,
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

    /// Returns the objects that a reference points to; several where several have one name.
    pub(super) fn targets(&mut self, reference: &str) -> Vec<&'d Map<String, Value>> {
        let fragment = reference.strip_prefix('#').and_then(percent_decoded);
        match fragment.as_deref().map(|fragment| (fragment, fragment.strip_prefix('/'))) {
            None => Vec::new(),
            Some(("", _)) => vec![self.root],
            Some((_, Some(pointer))) => self.at(pointer).and_then(Value::as_object).into_iter().collect(),
            Some((name, None)) => self.anchors().get(name).cloned().unwrap_or_default(),
        }
    }

    fn has(&mut self, fragment: &str) -> bool {
        let Some(fragment) = percent_decoded(fragment) else { return false };
        match fragment.strip_prefix('/') {
            _ if fragment.is_empty() => true,
            Some(pointer) => self.at(pointer).is_some(),
            None => self.anchors().contains_key(fragment.as_str()),
        }
    }

    /// Returns what is at a pointer without its first slash.
    fn at(&self, pointer: &str) -> Option<&'d Value> {
        let (first, rest) = pointer.find('/').map_or((pointer, ""), |slash| pointer.split_at(slash));
        let first = first.replace("~1", "/").replace("~0", "~");
        self.root.get(&first)?.pointer(rest)
    }

    fn anchors(&mut self) -> &HashMap<&'d str, Vec<&'d Map<String, Value>>> {
        self.anchors.get_or_insert_with(|| {
            let mut names = HashMap::new();
            collect(self.root, &mut names);
            names
        })
    }
}

/// Collects the names that an object, and all below it, give to parts of the schema.
fn collect<'d>(fields: &'d Map<String, Value>, names: &mut HashMap<&'d str, Vec<&'d Map<String, Value>>>) {
    for (key, value) in fields {
        if let Value::String(name) = value {
            let name = match key.as_str() {
                "$anchor" | "$dynamicAnchor" => Some(name.as_str()),
                // As drafts 4 to 7 spell it.
                "$id" | "id" => name.strip_prefix('#'),
                _ => None,
            };
            if let Some(name) = name {
                names.entry(name).or_default().push(fields);
            }
        }
        collect_below(value, names);
    }
}

fn collect_below<'d>(value: &'d Value, names: &mut HashMap<&'d str, Vec<&'d Map<String, Value>>>) {
    match value {
        Value::Object(fields) => collect(fields, names),
        Value::Array(items) => items.iter().for_each(|item| collect_below(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
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
        format!("{name} must be a string, not {}", shown_json(value))
    });
}
