//! The walk along an object with known fields.

use serde_json::{Map, Value};
use websvc_types::ViolationCode;

use super::prune::{Verdict, list};
use super::{Field, Object, Shape};
use crate::nearest::nearest;
use crate::path::Path;
use crate::report::{Report, quoted};

impl Object {
    pub(super) fn walk(&self, map: &mut Map<String, Value>, path: &Path<'_>, report: &mut Report) -> Verdict {
        self.foreign.respell(map);
        for field in self.fields.iter().filter(|field| field.required) {
            if map.get(&field.name).is_none_or(Value::is_null) {
                report.missing(&path.key(&field.name));
            }
        }
        map.retain(|key, value| match self.field(key) {
            // A null is a field that is not given.
            Some(_) if value.is_null() => false,
            Some(field) => self.walk_field(field, value, &path.key(key), report) == Verdict::Keep,
            None => {
                self.unknown_field(key, path, report);
                false
            }
        });
        self.complete(map)
    }

    /// Puts stand-ins where required fields are missing or mistaken, so that the rules of the others are checked too.
    /// They never reach a plan: that they were needed is a violation.
    fn complete(&self, map: &mut Map<String, Value>) -> Verdict {
        for field in self.fields.iter().filter(|field| field.required) {
            if !map.contains_key(&field.name) {
                let Some(stand_in) = field.shape.stand_in() else { return Verdict::Drop };
                map.insert(field.name.clone(), stand_in);
            }
        }
        Verdict::Keep
    }

    fn walk_field(&self, field: &Field, value: &mut Value, path: &Path<'_>, report: &mut Report) -> Verdict {
        match (&field.shape, value) {
            (Shape::List(items), Value::Array(values)) => {
                list(items, values, path, report, |item| self.foreign.leaves_out(&field.name, item))
            }
            (shape, value) => shape.walk(value, path, report),
        }
    }

    fn unknown_field(&self, key: &str, path: &Path<'_>, report: &mut Report) {
        if self.foreign.ignores(key) {
            return;
        }
        let known = || self.fields.iter().map(|field| field.name.as_str());
        let meant =
            || nearest(key, known()).map_or_else(String::new, |name| format!("; did you mean {name}?"));
        if self.closed {
            report.violation(&path.key(key), ViolationCode::UnknownField, |_| {
                let all = known().collect::<Vec<_>>().join(", ");
                format!("unknown field {}; the fields are {all}{}", quoted(key), meant())
            });
        } else {
            report.warning(path, |place| {
                format!("{place}: the unknown field {} was ignored{}", quoted(key), meant())
            });
        }
    }

    /// Returns the field of a name.
    fn field(&self, name: &str) -> Option<&Field> {
        let position = self.fields.binary_search_by(|field| field.name.as_str().cmp(name)).ok()?;
        self.fields.get(position)
    }
}
