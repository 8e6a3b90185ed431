//! Violations and warnings collected during validation.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::Value;
use websvc_types::limits::{VIOLATIONS_MAX, WARNINGS_MAX};
use websvc_types::{Violation, ViolationCode, counted};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::shape::BodyValue;

/// Maximum length of a value in a message, in characters.
const MAX_VALUE_CHARS: usize = 60;

/// Findings of the check of one request.
///
/// Messages are formatted only for findings below the limits, so that a large body with many mistakes costs little and
/// the response stays readable.
#[derive(Debug, Default)]
pub struct Report {
    violations: Vec<Violation>,
    /// Number of violations above the limit.
    more_violations: usize,
    warnings: Vec<String>,
    /// Number of warnings above the limit.
    more_warnings: usize,
    /// Message about a missing permission.
    forbidden: Option<String>,
    /// Message about an exhausted limit.
    exhausted: Option<String>,
    /// Original indexes of removed items, in ascending order, by the pointer of the array.
    removed_items: HashMap<String, Vec<usize>>,
}

/// Location of a value in the body as sent.
struct FieldLocation {
    pointer: String,
    name: String,
}

impl Report {
    /// Adds a violation. `message` gets the name of the value.
    pub(crate) fn violation(
        &mut self,
        path: &Path<'_>,
        code: ViolationCode,
        message: impl FnOnce(&str) -> String,
    ) {
        if self.is_full() {
            self.more_violations += 1;
            return;
        }
        let FieldLocation { pointer, name } = self.location(path);
        self.violations.push(Violation { path: pointer, code, message: message(&name) });
    }

    /// Returns whether further violations would only be counted.
    pub(crate) fn is_full(&self) -> bool {
        self.violations.len() >= VIOLATIONS_MAX
    }

    /// Adds a violation of the part of a value at a JSON Pointer. `message` gets the name of the part.
    pub(crate) fn violation_below(
        &mut self,
        path: &Path<'_>,
        pointer: &str,
        code: ViolationCode,
        message: impl FnOnce(&str) -> String,
    ) {
        match pointer.strip_prefix('/') {
            None => self.violation(path, code, message),
            Some(rest) => {
                let (first, rest) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
                match first.parse::<usize>() {
                    Ok(index) if index.to_string() == first => {
                        self.violation_below(&path.index(index), rest, code, message);
                    }
                    _ => {
                        let key = first.replace("~1", "/").replace("~0", "~");
                        self.violation_below(&path.key(&key), rest, code, message);
                    }
                }
            }
        }
    }

    /// Adds a warning. `message` gets the name of the value.
    pub(crate) fn warning(&mut self, path: &Path<'_>, message: impl FnOnce(&str) -> String) {
        if self.warnings.len() >= WARNINGS_MAX {
            self.more_warnings += 1;
            return;
        }
        let name = self.location(path).name;
        self.warnings.push(message(&name));
    }

    /// Returns whether the value at a path has a violation. It may then have been removed or replaced.
    pub(crate) fn has(&self, path: &Path<'_>) -> bool {
        let pointer = self.location(path).pointer;
        self.violations.iter().any(|violation| violation.path == pointer)
    }

    /// Returns whether the value at a path, or a value inside it, has a violation.
    pub(crate) fn has_within(&self, path: &Path<'_>) -> bool {
        let pointer = self.location(path).pointer;
        self.violations.iter().any(|violation| {
            violation.path.strip_prefix(&pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Adds the findings of the check of a nested value. `pointer_of` returns the pointer below `path` for a pointer of
    /// the nested report.
    pub(crate) fn absorb(&mut self, nested: Self, path: &Path<'_>, pointer_of: impl Fn(&str) -> String) {
        let Self {
            violations,
            more_violations,
            warnings,
            more_warnings,
            forbidden,
            exhausted,
            // The nested value was a typed one, from which nothing was removed.
            removed_items: _,
        } = nested;
        let parent = self.location(path).pointer;
        for Violation { path, code, message } in violations {
            if self.violations.len() >= VIOLATIONS_MAX {
                self.more_violations += 1;
                continue;
            }
            let path = self.original_pointer(&parent, &pointer_of(&path));
            self.violations.push(Violation { path, code, message });
        }
        self.more_violations += more_violations;
        for warning in warnings {
            if self.warnings.len() >= WARNINGS_MAX {
                self.more_warnings += 1;
            } else {
                self.warnings.push(warning);
            }
        }
        self.more_warnings += more_warnings;
        self.forbidden = self.forbidden.take().or(forbidden);
        self.exhausted = self.exhausted.take().or(exhausted);
    }

    /// Returns the pointer of a value in the body as sent, from that of its parent and the rest.
    fn original_pointer(&self, parent: &str, rest: &str) -> String {
        let mut pointer = parent.to_owned();
        for segment in rest.split('/').skip(1) {
            let removed = self.removed_items.get(&pointer);
            let segment = match (removed, segment.parse()) {
                (Some(removed), Ok(index)) => original_index(index, removed).to_string(),
                _ => segment.to_owned(),
            };
            pointer.push('/');
            pointer.push_str(&segment);
        }
        pointer
    }

    /// Records that the team lacks a permission. The first message wins.
    pub(crate) fn forbid(&mut self, message: &str) {
        self.forbidden.get_or_insert_with(|| message.to_owned());
    }

    /// Records that running requests use up a limit. The first message wins.
    pub(crate) fn exhausted(&mut self, message: String) {
        self.exhausted.get_or_insert(message);
    }

    /// Records that items of the array at `path` were removed, with their original indexes in ascending order. Later
    /// findings then have the original indexes.
    pub(crate) fn record_removed_items(&mut self, path: &Path<'_>, indexes: Vec<usize>) {
        let pointer = self.location(path).pointer;
        self.removed_items.insert(pointer, indexes);
    }

    /// Adds the violation that a required field is missing.
    pub(crate) fn missing(&mut self, path: &Path<'_>) {
        self.violation(path, ViolationCode::Missing, |name| format!("{name} is required"));
    }

    /// Returns the plan with the warnings, or the rejection if there is one. A missing plan has a violation.
    ///
    /// # Errors
    /// See [`rejection`](Self::rejection).
    pub(crate) fn finish<T>(mut self, plan: Option<T>) -> Result<Checked<T>, Rejection> {
        if let Some(rejection) = self.rejection() {
            return Err(rejection);
        }
        let Self { mut warnings, more_warnings, .. } = self;
        if more_warnings > 0 {
            let more = counted(more_warnings, "further warning is", "further warnings are");
            warnings.push(format!("{more} not listed"));
        }
        let plan = plan.expect("a missing plan has a violation");
        Ok(Checked { plan, warnings })
    }

    /// Returns the rejection: a missing permission, else all violations, else an exhausted limit. A team without the
    /// permission learns nothing about the rules.
    pub(crate) fn rejection(&mut self) -> Option<Rejection> {
        if let Some(message) = self.forbidden.take() {
            return Some(Rejection::Forbidden { message });
        }
        if self.violations.is_empty() {
            return self.exhausted.take().map(|message| Rejection::Exhausted { message });
        }
        let mut violations = std::mem::take(&mut self.violations);
        violations.sort_by(|a, b| compare_pointers(&a.path, &b.path));
        if self.more_violations > 0 {
            let more = counted(self.more_violations, "further violation is", "further violations are");
            let message = format!("{more} not listed");
            violations.push(Violation { path: String::new(), code: ViolationCode::TooLong, message });
        }
        Some(Rejection::Invalid(violations))
    }

    fn location(&self, path: &Path<'_>) -> FieldLocation {
        match path {
            Path::Root => FieldLocation { pointer: String::new(), name: "the body".to_owned() },
            Path::Key(parent, key) => {
                let mut pointer = self.location(parent).pointer;
                pointer.push('/');
                pointer.push_str(&escaped(key));
                FieldLocation { pointer, name: truncated(key, MAX_VALUE_CHARS).into_owned() }
            }
            Path::Index(list, index) => {
                let FieldLocation { pointer, name } = self.location(list);
                let removed_items = self.removed_items.get(&pointer).map_or(&[][..], Vec::as_slice);
                let index = original_index(*index, removed_items);
                FieldLocation { pointer: format!("{pointer}/{index}"), name: format!("{name}[{index}]") }
            }
        }
    }
}

/// Returns the index of an item before others were removed.
fn original_index(index: usize, removed_items: &[usize]) -> usize {
    removed_items.iter().fold(index, |index, removed| if *removed <= index { index + 1 } else { index })
}

/// Escapes a key for a JSON Pointer (RFC 6901).
fn escaped(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) {
        Cow::Owned(key.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(key)
    }
}

/// Compares pointers segment by segment, indexes as numbers.
fn compare_pointers(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.split('/'), b.split('/'));
    loop {
        let (a, b) = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => (a, b),
        };
        let order = match (a.parse::<usize>(), b.parse::<usize>()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            _ => a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Truncates a text to `max_chars` characters.
pub(crate) fn truncated(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Returns a text in quotes for a message, truncated.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", truncated(text, MAX_VALUE_CHARS))
}

/// Returns a value for a message, truncated.
pub(crate) fn displayed(value: &BodyValue<'_>) -> String {
    match value {
        BodyValue::Null => "null".to_owned(),
        BodyValue::Bool(value) => value.to_string(),
        BodyValue::Unsigned(number) => number.to_string(),
        BodyValue::Signed(number) => number.to_string(),
        BodyValue::Float(number) => {
            serde_json::Number::from_f64(*number).map_or_else(String::new, |n| n.to_string())
        }
        BodyValue::Text(text) => quoted(text),
        BodyValue::List(_) => "an array".to_owned(),
        BodyValue::Object(_) => "an object".to_owned(),
    }
}

/// Returns a JSON value for a message, truncated.
pub(crate) fn displayed_json(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
