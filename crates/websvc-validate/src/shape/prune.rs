//! The walk along a body: every mistake is reported and taken out.

use std::collections::HashSet;

use websvc_types::ViolationCode;

use super::Shape;
use super::tree::{BodyValue, Fields, field};
use crate::bounds;
use crate::path::Path;
use crate::report::{Report, quoted, shown};
use crate::suggestion::suggest;

/// Match of a value and its shape, perhaps after parts of the value were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    Drop,
}

/// An item of a list that is left out.
pub(super) struct LeftOut<'v> {
    pub(super) name: &'v str,
    /// A warning names it.
    pub(super) is_named: bool,
}

impl Shape {
    /// Reports every mistake of a body and takes it out; tells whether something is left to be read.
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

    /// Tells whether a value has the JSON type of this shape.
    fn takes(&self, value: &BodyValue<'_>) -> bool {
        match self {
            Shape::Any => true,
            Shape::Bool => matches!(value, BodyValue::Bool(_)),
            Shape::Text | Shape::Name(_) => matches!(value, BodyValue::Text(_)),
            Shape::Integer { .. } | Shape::Number => value.is_number(),
            Shape::List(_) => matches!(value, BodyValue::List(_)),
            Shape::Map(_) | Shape::Object(_) | Shape::Tagged(_) => value.is_object(),
            Shape::Either(shapes) => shapes.iter().any(|shape| shape.takes(value)),
        }
    }

    /// Tells whether an object of this shape can have the type `name`.
    fn has_tag(&self, name: &str) -> bool {
        matches!(self, Shape::Tagged(objects) if objects.iter().any(|(tag, _)| tag == name))
    }
}

/// Walks a list; items for which `leave_out` knows a name are taken out.
pub(super) fn list(
    shape: &Shape,
    values: &mut Vec<BodyValue<'_>>,
    path: &Path<'_>,
    report: &mut Report,
    leave_out: impl for<'v> Fn(&'v BodyValue<'_>) -> Option<LeftOut<'v>>,
) -> Verdict {
    let mut taken_out = Vec::new();
    let mut index = 0;
    values.retain_mut(|value| {
        let path = path.index(index);
        let verdict = match leave_out(value) {
            Some(LeftOut { name, is_named }) => {
                if is_named {
                    report.warning(&path, |place| {
                        format!("{place}: {name} is not available here and was left out")
                    });
                }
                Verdict::Drop
            }
            None => shape.walk(value, &path, report),
        };
        if verdict == Verdict::Drop {
            taken_out.push(index);
        }
        index += 1;
        verdict == Verdict::Keep
    });
    if !taken_out.is_empty() {
        report.remove_field(path, taken_out);
    }
    Verdict::Keep
}

/// Walks an object with keys of the caller's own.
fn map(values: &Shape, fields: &mut Fields<'_>, path: &Path<'_>, report: &mut Report) -> Verdict {
    if matches!(values, Shape::Any) {
        // Somebody else's document: nothing of it is ours to judge.
        return Verdict::Keep;
    }
    let mut seen = HashSet::new();
    for (key, _) in fields.iter() {
        if !seen.insert(key.as_ref()) {
            super::object::given_twice(&path.key(key), report);
        }
    }
    // A null is a value that is not given.
    fields.retain_mut(|(key, value)| {
        !value.is_null() && values.walk(value, &path.key(key), report) == Verdict::Keep
    });
    Verdict::Keep
}

/// Walks a value that may have several JSON types.
fn either(shapes: &[Shape], value: &mut BodyValue<'_>, path: &Path<'_>, report: &mut Report) -> Verdict {
    if let BodyValue::Text(name) = value
        && !shapes
            .iter()
            .any(|shape| matches!(shape, Shape::Name(names) if names.iter().any(|one| one == name)))
        && let Some(tagged) = shapes.iter().find(|shape| shape.has_tag(name))
    {
        // The bare name of an object that needs more than its type: what it needs is reported.
        let name = BodyValue::Text(std::mem::take(name));
        *value = BodyValue::Object(vec![("type".into(), name)]);
        return tagged.walk(value, path, report);
    }
    match shapes.iter().find(|shape| shape.takes(value)) {
        Some(shape) => shape.walk(value, path, report),
        None => {
            report.violation(path, ViolationCode::InvalidType, |name| {
                let expected: Vec<String> = shapes.iter().map(ToString::to_string).collect();
                format!("{name} must be {}, not {}", expected.join(" or "), shown(value))
            });
            Verdict::Drop
        }
    }
}

/// Walks an object whose `type` says which fields it has.
fn tagged(
    objects: &[(String, super::Object)],
    fields: &mut Fields<'_>,
    path: &Path<'_>,
    report: &mut Report,
) -> Verdict {
    let names = || objects.iter().map(|(name, _)| name.as_str());
    // Whoever reads the object wants its type first.
    if let Some(position) = fields.iter().position(|(key, _)| key == "type") {
        fields.swap(0, position);
    }
    match field(fields, "type") {
        None | Some(BodyValue::Null) => {
            report.violation(&path.key("type"), ViolationCode::Missing, |name| {
                format!("{name} is required: one of {}", names().collect::<Vec<_>>().join(", "))
            });
        }
        Some(BodyValue::Text(given)) => {
            if let Some((_, object)) = objects.iter().find(|(name, _)| name == given) {
                return object.walk(fields, path, report);
            }
            unknown_name(names(), given, &path.key("type"), report);
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
    report.violation(path, ViolationCode::UnknownValue, |place| {
        let known: Vec<&str> = names.clone().collect();
        let meant = suggest(text, names).map_or_else(String::new, |name| format!("; did you mean {name}?"));
        format!("{place} must be one of {}, not {}{meant}", known.join(", "), quoted(text))
    });
}

fn wrong_type(expected: &Shape, value: &BodyValue<'_>, path: &Path<'_>, report: &mut Report) {
    report.violation(path, ViolationCode::InvalidType, |name| {
        format!("{name} must be {expected}, not {}", shown(value))
    });
}

/// Reads a number as a whole one: some clients write 2 as 2.0.
fn integer(
    number: &mut BodyValue<'_>,
    min: i128,
    max: i128,
    path: &Path<'_>,
    report: &mut Report,
) -> Verdict {
    let whole = match number {
        BodyValue::Unsigned(whole) => i128::from(*whole),
        BodyValue::Signed(whole) => i128::from(*whole),
        // A float beyond every integer type becomes the nearest i128, which is outside of all bounds.
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, as wanted")]
        BodyValue::Float(float) if float.fract() == 0.0 => *float as i128,
        other => {
            report.violation(path, ViolationCode::InvalidType, |name| {
                format!("{name} must be an integer, not {}", shown(other))
            });
            return Verdict::Drop;
        }
    };
    if whole < min || whole > max {
        let code = if whole < min { ViolationCode::TooSmall } else { ViolationCode::TooBig };
        bounds::outside(report, path, code, &min, &max, &shown(number));
        return Verdict::Drop;
    }
    if matches!(number, BodyValue::Float(_)) {
        *number = match u64::try_from(whole) {
            Ok(whole) => BodyValue::Unsigned(whole),
            Err(_) => BodyValue::Signed(i64::try_from(whole).unwrap_or(i64::MIN)),
        };
    }
    Verdict::Keep
}
