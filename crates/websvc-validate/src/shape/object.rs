//! Check of an object with known fields.

use std::cmp::Ordering;

use websvc_types::ViolationCode;

use super::client_compat::{OtherOperation, counts_as_absent};
use super::prune::{IgnoredItem, Verdict, given_twice, list};
use super::tree::{BodyValue, Fields};
use super::{Field, Object, Shape};
use crate::path::Path;
use crate::report::{Report, quoted};
use crate::suggestion::suggest;

/// Set of fields, as a bit per index.
#[derive(Clone, Copy, Default)]
struct FieldSet(u64);

impl FieldSet {
    /// Adds a field, and returns whether it is new.
    fn insert(&mut self, index: usize) -> bool {
        let bit = 1 << index;
        let is_new = self.0 & bit == 0;
        self.0 |= bit;
        is_new
    }

    fn contains(self, index: usize) -> bool {
        self.0 & (1 << index) != 0
    }
}

impl Object {
    pub(super) fn walk(&self, fields: &mut Fields<'_>, path: &Path<'_>, report: &mut Report) -> Verdict {
        let other = self.client_compat.other_operation(fields);
        let (mut seen, mut present, mut kept) = <(FieldSet, FieldSet, FieldSet)>::default();
        fields.retain_mut(|(key, value)| {
            let Some((index, field)) = self.field(key) else {
                self.unknown_field(key, value, path, report);
                return false;
            };
            let path = path.key(key);
            if !seen.insert(index) {
                given_twice(&path, report);
                return false;
            }
            if counts_as_absent(&field.shape, value) {
                return false;
            }
            present.insert(index);
            let keep = self.walk_field(field, value, &path, report) == Verdict::Keep;
            if keep {
                kept.insert(index);
            }
            keep
        });
        self.client_compat.rewrite_fields(fields, path, report);
        self.complete(fields, (present, kept), other, path, report)
    }

    /// Reports missing required fields, or that the request is one for another operation, and adds placeholders for missing
    /// and invalid ones, so that the rules of the other fields are checked, too. Placeholders never reach a plan, because each
    /// of them has a violation. A full report gets no further ones, so an object in it needs no placeholders.
    fn complete(
        &self,
        fields: &mut Fields<'_>,
        (present, kept): (FieldSet, FieldSet),
        other: Option<OtherOperation>,
        path: &Path<'_>,
        report: &mut Report,
    ) -> Verdict {
        let mut verdict = Verdict::Keep;
        for (index, field) in self.fields.iter().enumerate().filter(|(_, field)| field.required) {
            if !present.contains(index) {
                match other {
                    None => report.missing(&path.key(&field.name)),
                    Some(OtherOperation { field, text }) => {
                        report.violation(&path.key(field), ViolationCode::NotSupported, |name| {
                            format!("{name} {text}")
                        });
                    }
                }
            }
            if !kept.contains(index) {
                match field.shape.placeholder().filter(|_| !report.is_full()) {
                    Some(placeholder) => fields.push((field.name.clone().into(), placeholder)),
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
                self.client_compat.rename_items(&field.name, values);
                let has_warning = self.client_compat.warns_about_ignored_items(&field.name, values);
                list(items, values, path, report, |item| {
                    let name = self.client_compat.ignored_item_name(&field.name, item)?;
                    Some(IgnoredItem { name, has_warning })
                })
            }
            (shape, value) => shape.walk(value, path, report),
        }
    }

    fn unknown_field(&self, key: &str, value: &BodyValue<'_>, path: &Path<'_>, report: &mut Report) {
        if self.client_compat.ignores(key) || self.client_compat.reports(key, value, path, report) {
            return;
        }
        let known = || self.fields.iter().filter(|field| !field.deprecated).map(|field| field.name.as_str());
        let suggestion =
            || suggest(key, known()).map_or_else(String::new, |name| format!("; did you mean {name}?"));
        if self.closed {
            report.violation(&path.key(key), ViolationCode::UnknownField, |_| {
                let mut all: Vec<&str> = known().collect();
                all.sort_unstable();
                let all = all.join(", ");
                format!("{} is not a known field; the known fields are {all}{}", quoted(key), suggestion())
            });
        } else {
            report.warning(path, |name| {
                format!("{name}: the unknown field {} was ignored{}", quoted(key), suggestion())
            });
        }
    }

    /// Returns the field with this name, and its index.
    fn field(&self, name: &str) -> Option<(usize, &Field)> {
        let index = self.fields.binary_search_by(|field| by_length(&field.name, name)).ok()?;
        Some((index, self.fields.get(index)?))
    }
}

/// Compares field names by length first, because most differ in length and that comparison is faster.
pub(super) fn by_length(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}
