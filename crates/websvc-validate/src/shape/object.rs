//! The walk along an object with known fields.

use std::cmp::Ordering;

use websvc_types::ViolationCode;

use super::prune::{LeftOut, Verdict, list};
use super::tree::{BodyValue, Fields};
use super::{Field, Object, Shape};
use crate::path::Path;
use crate::report::{Report, quoted};
use crate::suggestion::suggest;

/// Reports a field that is given twice: which of the two is meant nobody can tell.
pub(super) fn given_twice(path: &Path<'_>, report: &mut Report) {
    report.violation(path, ViolationCode::Conflict, |name| format!("{name} is given twice"));
}

/// A set of fields, by their positions.
#[derive(Clone, Copy, Default)]
struct FieldSet(u64);

impl FieldSet {
    /// Adds a position; tells whether it is new.
    fn insert(&mut self, position: usize) -> bool {
        let bit = 1 << position;
        let new = self.0 & bit == 0;
        self.0 |= bit;
        new
    }

    fn contains(self, position: usize) -> bool {
        self.0 & (1 << position) != 0
    }
}

impl Object {
    pub(super) fn walk(&self, fields: &mut Fields<'_>, path: &Path<'_>, report: &mut Report) -> Verdict {
        let (mut seen, mut given, mut kept) = <(FieldSet, FieldSet, FieldSet)>::default();
        fields.retain_mut(|(key, value)| {
            let Some((position, field)) = self.field(key) else {
                self.unknown_field(key, path, report);
                return false;
            };
            let path = path.key(key);
            if !seen.insert(position) {
                given_twice(&path, report);
                return false;
            }
            // A null is a field that is not given.
            if value.is_null() {
                return false;
            }
            given.insert(position);
            let keep = self.walk_field(field, value, &path, report) == Verdict::Keep;
            if keep {
                kept.insert(position);
            }
            keep
        });
        self.foreign.rename_alias(fields, path, report);
        self.complete(fields, given, kept, path, report)
    }

    /// Reports required fields that are missing, and puts stand-ins where they are missing or mistaken, so that the
    /// rules of the others are checked too. They never reach a plan: that they were needed is a violation.
    fn complete(
        &self,
        fields: &mut Fields<'_>,
        given: FieldSet,
        kept: FieldSet,
        path: &Path<'_>,
        report: &mut Report,
    ) -> Verdict {
        let mut verdict = Verdict::Keep;
        for (position, field) in self.fields.iter().enumerate().filter(|(_, field)| field.required) {
            if !given.contains(position) {
                report.missing(&path.key(&field.name));
            }
            if !kept.contains(position) {
                match field.shape.stand_in() {
                    Some(stand_in) => fields.push((field.name.clone().into(), stand_in)),
                    None => verdict = Verdict::Drop,
                }
            }
        }
        verdict
    }

    fn walk_field(
        &self,
        field: &Field,
        value: &mut BodyValue<'_>,
        path: &Path<'_>,
        report: &mut Report,
    ) -> Verdict {
        match (&field.shape, value) {
            (Shape::List(items), BodyValue::List(values)) => {
                self.foreign.respell_items(&field.name, values);
                let is_named = self.foreign.names_left_out(&field.name, values);
                list(items, values, path, report, |item| {
                    let name = self.foreign.ignored_item_name(&field.name, item)?;
                    Some(LeftOut { name, is_named })
                })
            }
            (shape, value) => shape.walk(value, path, report),
        }
    }

    fn unknown_field(&self, key: &str, path: &Path<'_>, report: &mut Report) {
        if self.foreign.ignores(key) {
            return;
        }
        let known = || self.fields.iter().filter(|field| !field.deprecated).map(|field| field.name.as_str());
        let meant =
            || suggest(key, known()).map_or_else(String::new, |name| format!("; did you mean {name}?"));
        if self.closed {
            report.violation(&path.key(key), ViolationCode::UnknownField, |_| {
                let mut all: Vec<&str> = known().collect();
                all.sort_unstable();
                let all = all.join(", ");
                format!("{} is no known field; the fields are {all}{}", quoted(key), meant())
            });
        } else {
            report.warning(path, |place| {
                format!("{place}: the unknown field {} was ignored{}", quoted(key), meant())
            });
        }
    }

    /// Returns the field of a name, and its position.
    fn field(&self, name: &str) -> Option<(usize, &Field)> {
        let position = self.fields.binary_search_by(|field| by_length(&field.name, name)).ok()?;
        Some((position, self.fields.get(position)?))
    }
}

/// The order of the fields of an object: most names differ in their length, and comparing that is quicker.
pub(super) fn by_length(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}
