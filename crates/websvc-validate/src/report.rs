//! Violations and warnings collected during validation.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::Value;
use websvc_types::limits::{VIOLATIONS_MAX, WARNINGS_MAX};
use websvc_types::{Violation, ViolationCode};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::shape::BodyValue;

/// Longer values are cut where a sentence shows them, in characters.
const SHOWN_CHARS: usize = 60;

/// The findings of one request.
///
/// Sentences are made only for findings that are kept: a body of ten megabytes of mistakes costs no more than its
/// walk, and its answer stays readable.
#[derive(Debug, Default)]
pub(crate) struct Report {
    violations: Vec<Violation>,
    more_violations: usize,
    warnings: Vec<String>,
    more_warnings: usize,
    forbidden: Option<String>,
    exhausted: Option<String>,
    /// For arrays from which items were taken out, by pointer: where these items were in the body, in order.
    taken_out: HashMap<String, Vec<usize>>,
}

/// A place as the sender sees it.
struct FieldLocation {
    pointer: String,
    name: String,
}

impl Report {
    /// Adds a violation; `message` gets the name of the place.
    pub(crate) fn violation(
        &mut self,
        path: &Path<'_>,
        code: ViolationCode,
        message: impl FnOnce(&str) -> String,
    ) {
        if self.violations.len() >= VIOLATIONS_MAX {
            self.more_violations += 1;
            return;
        }
        let FieldLocation { pointer, name } = self.place(path);
        self.violations.push(Violation { path: pointer, code, message: message(&name) });
    }

    /// Adds a warning; `message` gets the name of the place.
    pub(crate) fn warning(&mut self, path: &Path<'_>, message: impl FnOnce(&str) -> String) {
        if self.warnings.len() >= WARNINGS_MAX {
            self.more_warnings += 1;
            return;
        }
        let name = self.place(path).name;
        self.warnings.push(message(&name));
    }

    /// Tells whether a place has a violation: then what was there may have been taken out.
    pub(crate) fn has(&self, path: &Path<'_>) -> bool {
        let pointer = self.place(path).pointer;
        self.violations.iter().any(|violation| violation.path == pointer)
    }

    /// Notes that the team may not do this. The first reason is the one that is told.
    pub(crate) fn forbid(&mut self, message: &str) {
        self.forbidden.get_or_insert_with(|| message.to_owned());
    }

    /// Records that there is no room for what the request needs. The first reason is the one that is told.
    pub(crate) fn exhausted(&mut self, message: String) {
        self.exhausted.get_or_insert(message);
    }

    /// Notes which items of the array at `path` were taken out: their indexes in the body, in order.
    pub(crate) fn remove_field(&mut self, path: &Path<'_>, indexes: Vec<usize>) {
        let pointer = self.place(path).pointer;
        self.taken_out.insert(pointer, indexes);
    }

    /// Adds that a required field is missing.
    pub(crate) fn missing(&mut self, path: &Path<'_>) {
        self.violation(path, ViolationCode::Missing, |name| format!("{name} is required"));
    }

    /// Returns the plan, unless something speaks against it.
    ///
    /// # Errors
    /// What the team may not do, else all violations.
    pub(crate) fn finish<T>(mut self, plan: T) -> Result<Checked<T>, Rejection> {
        if let Some(rejection) = self.rejection() {
            return Err(rejection);
        }
        let Self { mut warnings, more_warnings, .. } = self;
        if more_warnings > 0 {
            warnings.push(format!("{more_warnings} further warnings are not listed"));
        }
        Ok(Checked { plan, warnings })
    }

    /// Returns what speaks against the request: what the team may not do, else all violations, else that there is no
    /// room. Who may not do it need not learn how to.
    pub(crate) fn rejection(&mut self) -> Option<Rejection> {
        if let Some(message) = self.forbidden.take() {
            return Some(Rejection::Forbidden { message });
        }
        if self.violations.is_empty() {
            return self.exhausted.take().map(|message| Rejection::Exhausted { message });
        }
        let mut violations = std::mem::take(&mut self.violations);
        violations.sort_by(|a, b| by_place(&a.path, &b.path));
        if self.more_violations > 0 {
            let message = format!("{} further violations are not listed", self.more_violations);
            violations.push(Violation { path: String::new(), code: ViolationCode::TooLong, message });
        }
        Some(Rejection::Invalid(violations))
    }

    fn place(&self, path: &Path<'_>) -> FieldLocation {
        match path {
            Path::Root => FieldLocation { pointer: String::new(), name: "the body".to_owned() },
            Path::Key(parent, key) => {
                let mut pointer = self.place(parent).pointer;
                pointer.push('/');
                pointer.push_str(&escaped(key));
                FieldLocation { pointer, name: shortened(key).into_owned() }
            }
            Path::Index(list, index) => {
                let FieldLocation { pointer, name } = self.place(list);
                let taken_out = self.taken_out.get(&pointer).map_or(&[][..], Vec::as_slice);
                let index = former(*index, taken_out);
                FieldLocation { pointer: format!("{pointer}/{index}"), name: format!("{name}[{index}]") }
            }
        }
    }
}

/// Returns where an item was before others were taken out.
fn former(index: usize, taken_out: &[usize]) -> usize {
    taken_out.iter().fold(index, |index, gone| if *gone <= index { index + 1 } else { index })
}

/// Returns a key as a JSON Pointer (RFC 6901) writes it.
fn escaped(key: &str) -> Cow<'_, str> {
    if key.contains(['~', '/']) {
        Cow::Owned(key.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(key)
    }
}

/// Orders pointers segment by segment, indexes as numbers.
fn by_place(a: &str, b: &str) -> Ordering {
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

/// Returns a text short enough for a sentence.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    cut(text, SHOWN_CHARS)
}

/// Returns a text cut to so many characters.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Returns a text in quotes, short enough for a sentence.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

/// Returns a value as a sentence shows it.
pub(crate) fn shown(value: &BodyValue<'_>) -> String {
    match value {
        BodyValue::Null => "null".to_owned(),
        BodyValue::Bool(on) => on.to_string(),
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

/// Returns a value of a caller's own document as a sentence shows it.
pub(crate) fn shown_json(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
