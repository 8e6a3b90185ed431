//! Walk along a body that reports and removes every invalid value.

use std::collections::HashSet;

use websvc_types::ViolationCode;
use websvc_types::compat::REPLACED_FORMATS;

use super::Shape;
use super::tree::{BodyValue, Fields, field};
use crate::bounds;
use crate::path::Path;
use crate::report::{Report, displayed, quoted};
use crate::suggestion::suggest;

/// Result of the check of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The value, or what remains of it, is valid.
    Keep,
    /// The value is invalid and is removed.
    Drop,
}

/// Item of a list that is ignored.
pub(super) struct IgnoredItem<'v> {
    pub(super) name: &'v str,
    /// True if a warning names the item.
    pub(super) has_warning: bool,
}

impl Shape {
    /// Reports and removes every invalid value of a body. Returns whether an object remains to be read.
    pub(crate) fn prune(&self, body: &mut BodyValue<'_>, report: &mut Report) -> bool {
        self.walk(body, &Path::Root, report);
        body.is_object()
    }

    pub(super) fn walk(&self, value: &mut BodyValue<'_>, path: &Path<'_>, report: &mut Report) -> Verdict {
        match (self, value) {
            (Shape::Any, _)
            | (Shape::Bool, BodyValue::Bool(_))
            | (Shape::Text, BodyValue::Text(_))
            | (Shape::Number, BodyValue::Unsigned(_) | BodyValue::Signed(_) | BodyValue::Float(_)) => {
                Verdict::Keep
            }
            (Shape::Name(names), BodyValue::Text(text)) => one_of(names, text, path, report),
            (
                Shape::Integer { min, max },
                number @ (BodyValue::Unsigned(_) | BodyValue::Signed(_) | BodyValue::Float(_)),
            ) => integer(number, *min, *max, path, report),
            (Shape::List(items), BodyValue::List(values)) => list(items, values, path, report, |_| None),
            (Shape::Map(values), BodyValue::Object(fields)) => map(values, fields, path, report),
            (Shape::Object(object), BodyValue::Object(fields)) => object.walk(fields, path, report),
            (Shape::Tagged(objects), BodyValue::Object(fields)) => tagged(objects, fields, path, report),
            (Shape::Either(shapes), value) => either(shapes, value, path, report),
            (expected, value) => {
                wrong_type(expected, value, path, report);
                Verdict::Drop
            }
        }
    }

    /// Returns whether a value has the JSON type of this shape.
    pub(super) fn matches_type(&self, value: &BodyValue<'_>) -> bool {
        match self {
            Shape::Any => true,
            Shape::Bool => matches!(value, BodyValue::Bool(_)),
            Shape::Text | Shape::Name(_) => matches!(value, BodyValue::Text(_)),
            Shape::Integer { .. } | Shape::Number => value.is_number(),
            Shape::List(_) => matches!(value, BodyValue::List(_)),
            Shape::Map(_) | Shape::Object(_) | Shape::Tagged(_) => value.is_object(),
            Shape::Either(shapes) => shapes.iter().any(|shape| shape.matches_type(value)),
        }
    }

    /// Returns whether an object of this shape can have the `type` `name`.
    fn has_tag(&self, name: &str) -> bool {
        matches!(self, Shape::Tagged(objects) if objects.iter().any(|(tag, _)| tag == name))
    }
}

/// Checks a list. Items for which `ignored` returns a value are removed.
pub(super) fn list(
    shape: &Shape,
    values: &mut Vec<BodyValue<'_>>,
    path: &Path<'_>,
    report: &mut Report,
    ignored: impl for<'v> Fn(&'v BodyValue<'_>) -> Option<IgnoredItem<'v>>,
) -> Verdict {
    let mut removed = Vec::new();
    let mut index = 0;
    values.retain_mut(|value| {
        let path = path.index(index);
        let verdict = match ignored(value) {
            Some(IgnoredItem { name, has_warning }) => {
                if has_warning {
                    report.warning(&path, |item| format!("{item}: {name} is not available and was ignored"));
                }
                Verdict::Drop
            }
            None => shape.walk(value, &path, report),
        };
        if verdict == Verdict::Drop {
            removed.push(index);
        }
        index += 1;
        verdict == Verdict::Keep
    });
    if !removed.is_empty() {
        report.record_removed_items(path, removed);
    }
    Verdict::Keep
}

/// Checks an object with arbitrary keys.
fn map(values: &Shape, fields: &mut Fields<'_>, path: &Path<'_>, report: &mut Report) -> Verdict {
    if matches!(values, Shape::Any) {
        // An arbitrary document, in which duplicate keys and nulls are allowed.
        return Verdict::Keep;
    }
    let mut seen = HashSet::new();
    for (key, _) in fields.iter() {
        if !seen.insert(key.as_ref()) {
            given_twice(&path.key(key), report);
        }
    }
    // null counts as absent.
    fields.retain_mut(|(key, value)| {
        !value.is_null() && values.walk(value, &path.key(key), report) == Verdict::Keep
    });
    Verdict::Keep
}

/// Checks a value that may have several JSON types.
fn either(shapes: &[Shape], value: &mut BodyValue<'_>, path: &Path<'_>, report: &mut Report) -> Verdict {
    if let BodyValue::Text(name) = value
        && !shapes
            .iter()
            .any(|shape| matches!(shape, Shape::Name(names) if names.iter().any(|other| other == name)))
        && let Some(tagged) = shapes.iter().find(|shape| shape.has_tag(name))
    {
        // The bare name of an object with further required fields, which are reported as missing.
        let name = BodyValue::Text(std::mem::take(name));
        *value = BodyValue::Object(vec![("type".into(), name)]);
        return tagged.walk(value, path, report);
    }
    match shapes.iter().find(|shape| shape.matches_type(value)) {
        Some(shape) => shape.walk(value, path, report),
        None => {
            report.violation(path, ViolationCode::InvalidType, |name| {
                let expected: Vec<String> = shapes.iter().map(ToString::to_string).collect();
                format!("{name} must be {}, not {}", expected.join(" or "), displayed(value))
            });
            Verdict::Drop
        }
    }
}

/// Checks an object whose `type` selects its fields.
fn tagged(
    objects: &[(String, super::Object)],
    fields: &mut Fields<'_>,
    path: &Path<'_>,
    report: &mut Report,
) -> Verdict {
    let names = || objects.iter().map(|(name, _)| name.as_str());
    // Deserialization is faster if the type comes first.
    if let Some(index) = fields.iter().position(|(key, _)| key == "type") {
        fields.swap(0, index);
    }
    match field(fields, "type") {
        None | Some(BodyValue::Null) => {
            report.violation(&path.key("type"), ViolationCode::Missing, |name| {
                format!("{name} is required: one of {}", names().collect::<Vec<_>>().join(", "))
            });
        }
        Some(BodyValue::Text(tag)) => {
            if let Some((_, object)) = objects.iter().find(|(name, _)| name == tag) {
                return object.walk(fields, path, report);
            }
            unknown_name(names(), tag, &path.key("type"), report);
        }
        Some(other) => wrong_type(&Shape::Text, other, &path.key("type"), report),
    }
    Verdict::Drop
}

fn one_of(names: &[String], text: &str, path: &Path<'_>, report: &mut Report) -> Verdict {
    if names.iter().any(|name| name == text) {
        return Verdict::Keep;
    }
    unknown_name(names.iter().map(String::as_str), text, path, report);
    Verdict::Drop
}

fn unknown_name<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    text: &str,
    path: &Path<'_>,
    report: &mut Report,
) {
    report.violation(path, ViolationCode::UnknownValue, |value| {
        let known: Vec<&str> = names.clone().collect();
        let replaced = REPLACED_FORMATS.iter().find(|(name, format)| *name == text && known.contains(format));
        let suggestion = match replaced {
            Some((_, format)) => format!("; use {format}, with the same prompt and schema"),
            None => suggest(text, names).map_or_else(String::new, |name| format!("; did you mean {name}?")),
        };
        format!("{value} must be one of {}, not {}{suggestion}", known.join(", "), quoted(text))
    });
}

fn wrong_type(expected: &Shape, value: &BodyValue<'_>, path: &Path<'_>, report: &mut Report) {
    report.violation(path, ViolationCode::InvalidType, |name| {
        format!("{name} must be {expected}, not {}", displayed(value))
    });
}

/// Checks an integer, and converts a float without a fraction, because some clients write 2 as 2.0.
fn integer(
    number: &mut BodyValue<'_>,
    min: i128,
    max: i128,
    path: &Path<'_>,
    report: &mut Report,
) -> Verdict {
    let integer = match number {
        BodyValue::Unsigned(value) => i128::from(*value),
        BodyValue::Signed(value) => i128::from(*value),
        // A float beyond every integer type becomes the nearest i128, which is out of range.
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, as intended")]
        BodyValue::Float(float) if float.fract() == 0.0 => *float as i128,
        other => {
            report.violation(path, ViolationCode::InvalidType, |name| {
                format!("{name} must be an integer, not {}", displayed(other))
            });
            return Verdict::Drop;
        }
    };
    if integer < min || integer > max {
        let code = if integer < min { ViolationCode::TooSmall } else { ViolationCode::TooBig };
        bounds::outside(report, path, code, &min, &max, &displayed(number));
        return Verdict::Drop;
    }
    if matches!(number, BodyValue::Float(_)) {
        *number = match u64::try_from(integer) {
            Ok(value) => BodyValue::Unsigned(value),
            Err(_) => BodyValue::Signed(i64::try_from(integer).unwrap_or(i64::MIN)),
        };
    }
    Verdict::Keep
}

/// Reports a field that occurs twice, because its value would be ambiguous.
pub(super) fn given_twice(path: &Path<'_>, report: &mut Report) {
    report.violation(path, ViolationCode::Conflict, |name| format!("{name} is given twice"));
}
