//! The walk along a body: every mistake is reported and taken out.

use serde_json::{Map, Number, Value};
use websvc_types::ViolationCode;

use super::Shape;
use crate::bounds;
use crate::nearest::nearest;
use crate::path::Path;
use crate::report::{Report, quoted, shown};

/// Whether a value can be read as its shape, perhaps after parts of it were taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    Drop,
}

impl Shape {
    /// Reports every mistake of a body and takes it out; a body that is no object becomes null.
    pub(crate) fn prune(&self, body: &mut Value, report: &mut Report) {
        self.walk(body, &Path::Root, report);
        if !body.is_object() {
            *body = Value::Null;
        }
    }

    pub(super) fn walk(&self, value: &mut Value, path: &Path<'_>, report: &mut Report) -> Verdict {
        match (self, value) {
            (Shape::Any, _)
            | (Shape::Bool, Value::Bool(_))
            | (Shape::Text, Value::String(_))
            | (Shape::Number, Value::Number(_)) => Verdict::Keep,
            (Shape::Name(names), Value::String(text)) => one_of(names, text, path, report),
            (Shape::Integer { min, max }, Value::Number(number)) => {
                let read = integer(number, *min, *max, path, report);
                read.map_or(Verdict::Drop, |read| {
                    *number = read;
                    Verdict::Keep
                })
            }
            (Shape::List(items), Value::Array(values)) => list(items, values, path, report, |_| None),
            (Shape::Map(values), Value::Object(map)) => {
                map.retain(|key, value| {
                    let absent = value.is_null() && !matches!(**values, Shape::Any);
                    !absent && values.walk(value, &path.key(key), report) == Verdict::Keep
                });
                Verdict::Keep
            }
            (Shape::Object(object), Value::Object(map)) => object.walk(map, path, report),
            (Shape::Tagged(objects), Value::Object(map)) => tagged(objects, map, path, report),
            (Shape::Either(shapes), value) => either(shapes, value, path, report),
            (expected, value) => {
                wrong_type(expected, value, path, report);
                Verdict::Drop
            }
        }
    }

    /// Tells whether a value has the JSON type of this shape.
    fn takes(&self, value: &Value) -> bool {
        match self {
            Shape::Any => true,
            Shape::Bool => value.is_boolean(),
            Shape::Text | Shape::Name(_) => value.is_string(),
            Shape::Integer { .. } | Shape::Number => value.is_number(),
            Shape::List(_) => value.is_array(),
            Shape::Map(_) | Shape::Object(_) | Shape::Tagged(_) => value.is_object(),
            Shape::Either(shapes) => shapes.iter().any(|shape| shape.takes(value)),
        }
    }

    /// Tells whether an object of this shape can have the type `name`.
    fn has_tag(&self, name: &str) -> bool {
        matches!(self, Shape::Tagged(objects) if objects.iter().any(|(tag, _)| tag == name))
    }
}

/// Walks a list; items for which `leave_out` knows a name are taken out with a warning.
pub(super) fn list(
    shape: &Shape,
    values: &mut Vec<Value>,
    path: &Path<'_>,
    report: &mut Report,
    leave_out: impl Fn(&Value) -> Option<&str>,
) -> Verdict {
    let length = values.len();
    let mut kept = Vec::new();
    let mut index = 0;
    values.retain_mut(|value| {
        let path = path.index(index);
        let verdict = match leave_out(value) {
            Some(name) => {
                report.warning(&path, |place| {
                    format!("{place}: {name} is not available here and was left out")
                });
                Verdict::Drop
            }
            None => shape.walk(value, &path, report),
        };
        if verdict == Verdict::Keep {
            kept.push(index);
        }
        index += 1;
        verdict == Verdict::Keep
    });
    if kept.len() < length {
        report.keep(path, kept);
    }
    Verdict::Keep
}

/// Walks a value that may have several JSON types.
fn either(shapes: &[Shape], value: &mut Value, path: &Path<'_>, report: &mut Report) -> Verdict {
    if let Value::String(name) = value
        && !shapes.iter().any(|shape| matches!(shape, Shape::Name(names) if names.contains(name)))
        && let Some(tagged) = shapes.iter().find(|shape| shape.has_tag(name))
    {
        // The bare name of an object that needs more than its type: what it needs is reported.
        let mut object =
            Value::Object(Map::from_iter([("type".to_owned(), Value::String(std::mem::take(name)))]));
        let verdict = tagged.walk(&mut object, path, report);
        *value = object;
        return verdict;
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
    map: &mut Map<String, Value>,
    path: &Path<'_>,
    report: &mut Report,
) -> Verdict {
    let names = || objects.iter().map(|(name, _)| name.as_str());
    match map.get("type") {
        None | Some(Value::Null) => {
            report.violation(&path.key("type"), ViolationCode::Missing, |name| {
                format!("{name} is required: one of {}", names().collect::<Vec<_>>().join(", "))
            });
        }
        Some(Value::String(given)) => {
            if let Some((_, object)) = objects.iter().find(|(name, _)| name == given) {
                return object.walk(map, path, report);
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
        let meant = nearest(text, names).map_or_else(String::new, |name| format!("; did you mean {name}?"));
        format!("{place} must be one of {}, not {}{meant}", known.join(", "), quoted(text))
    });
}

fn wrong_type(expected: &Shape, value: &Value, path: &Path<'_>, report: &mut Report) {
    report.violation(path, ViolationCode::InvalidType, |name| {
        format!("{name} must be {expected}, not {}", shown(value))
    });
}

/// Reads a number as a whole one: some clients write 2 as 2.0.
fn integer(number: &Number, min: i128, max: i128, path: &Path<'_>, report: &mut Report) -> Option<Number> {
    let whole = match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(whole), _, _) => i128::from(whole),
        (None, Some(whole), _) => i128::from(whole),
        // A float beyond every integer type becomes the nearest i128, which is outside of all bounds.
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, as wanted")]
        (None, None, Some(float)) if float.fract() == 0.0 => float as i128,
        (None, None, _) => {
            report.violation(path, ViolationCode::InvalidType, |name| {
                format!("{name} must be an integer, not {number}")
            });
            return None;
        }
    };
    let code = if whole < min { ViolationCode::TooSmall } else { ViolationCode::TooBig };
    if whole < min || whole > max {
        bounds::outside(report, path, code, &min, &max, number);
        return None;
    }
    match u64::try_from(whole) {
        Ok(whole) => Some(whole.into()),
        Err(_) => i64::try_from(whole).ok().map(Number::from),
    }
}
