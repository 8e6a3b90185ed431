//! The parts of a schema that references point to: how large each is by itself, and where it leads.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use websvc_types::limits::{SCHEMA_PARTS_MAX, SCHEMA_PATTERNS_MAX, SCHEMA_REFERENCED_MAX};

use super::reference::Document;
use super::size::SizeLimit;

/// Deeper parts are reported by the check of the schema.
const MAX_LEVELS: u64 = 128;

/// A part may be within others, and is walked with each: so many steps in all.
const STEPS: u64 = 10 * SCHEMA_PARTS_MAX;

/// A part of a schema that a reference points to, or the whole.
#[derive(Debug)]
pub(super) struct Part {
    /// How many schemas it is, references not followed.
    pub(super) parts: u64,
    /// Those of them that are applied to the value itself.
    pub(super) parts_of_same_value: u64,
    /// How deep these are nested.
    pub(super) levels: u64,
    pub(super) references: Vec<Reference>,
}

impl Part {
    fn add(&mut self, parts: u64, stand: PartCursor) {
        self.parts = self.parts.saturating_add(parts);
        if stand.is_of_same_value {
            self.parts_of_same_value = self.parts_of_same_value.saturating_add(parts);
        }
    }
}

/// Target of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    /// The number of the part.
    pub(super) to: usize,
    /// How often it is applied.
    pub(super) times: u64,
    /// To the value itself, or to one in it.
    pub(super) is_of_same_value: bool,
}

/// Finds the parts that are applied when a schema is: itself, the first, and what references lead to.
pub(super) fn collect(root: &Map<String, Value>) -> Result<Vec<Part>, SizeLimit> {
    let mut walk = Walk {
        document: Document::new(root),
        found: vec![root],
        numbers: HashMap::from([(std::ptr::from_ref(root), 0)]),
        patterns: HashSet::new(),
        steps: 0,
    };
    let mut parts = Vec::new();
    while let Some(schema) = walk.found.get(parts.len()).copied() {
        let mut part = Part { parts: 0, parts_of_same_value: 0, levels: 0, references: Vec::new() };
        walk.schema(&mut part, schema, PartCursor { times: 1, is_of_same_value: true, level: 1 })?;
        parts.push(part);
    }
    Ok(parts)
}

/// Position within a part.
#[derive(Debug, Clone, Copy)]
struct PartCursor {
    times: u64,
    is_of_same_value: bool,
    level: u64,
}

struct Walk<'d> {
    document: Document<'d>,
    /// The parts, those that are still to be walked at the end.
    found: Vec<&'d Map<String, Value>>,
    numbers: HashMap<*const Map<String, Value>, usize>,
    patterns: HashSet<&'d str>,
    steps: u64,
}

impl<'d> Walk<'d> {
    fn schema(
        &mut self,
        part: &mut Part,
        schema: &'d Map<String, Value>,
        stand: PartCursor,
    ) -> Result<(), SizeLimit> {
        self.steps += 1;
        part.add(stand.times, stand);
        part.levels = part.levels.max(stand.level);
        if self.steps > STEPS || part.parts > SCHEMA_PARTS_MAX {
            return Err(SizeLimit::Parts);
        }
        if stand.level > MAX_LEVELS {
            return Err(SizeLimit::Levels);
        }
        // To know what is not evaluated, what is applied to the same value is applied again.
        let is_twice =
            schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems");
        let times = if is_twice { stand.times.saturating_mul(2) } else { stand.times };
        let same = PartCursor { times, level: stand.level + 1, ..stand };
        let below = PartCursor { is_of_same_value: false, level: stand.level + 1, ..stand };
        for (key, value) in schema {
            match key.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(part, value, same)?,
                "not" | "if" | "then" | "else" | "allOf" | "anyOf" | "oneOf" => {
                    self.any(part, value, same)?;
                }
                "dependentSchemas" | "dependencies" => self.named(part, value, same)?,
                "items"
                | "prefixItems"
                | "additionalItems"
                | "unevaluatedItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames" => {
                    self.any(part, value, below)?;
                }
                "properties" => self.named(part, value, below)?,
                "patternProperties" => {
                    let names = value.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
                    names.for_each(|name| _ = self.patterns.insert(name));
                    self.named(part, value, below)?;
                }
                "pattern" => self.patterns.extend(value.as_str()),
                // Each of them is compared.
                "enum" => {
                    let values = value.as_array().map_or(0, |values| values.len() as u64);
                    part.add(values.saturating_mul(stand.times), stand);
                }
                _ => {}
            }
        }
        if self.patterns.len() > SCHEMA_PATTERNS_MAX { Err(SizeLimit::Patterns) } else { Ok(()) }
    }

    /// Walks a schema, or a list of them.
    fn any(&mut self, part: &mut Part, value: &'d Value, stand: PartCursor) -> Result<(), SizeLimit> {
        match value {
            Value::Object(schema) => self.schema(part, schema, stand),
            Value::Array(schemas) => schemas
                .iter()
                .filter_map(Value::as_object)
                .try_for_each(|schema| self.schema(part, schema, stand)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn named(&mut self, part: &mut Part, value: &'d Value, stand: PartCursor) -> Result<(), SizeLimit> {
        let mut schemas = value.as_object().into_iter().flat_map(Map::values).filter_map(Value::as_object);
        schemas.try_for_each(|schema| self.schema(part, schema, stand))
    }

    fn reference(&mut self, part: &mut Part, target: &Value, stand: PartCursor) -> Result<(), SizeLimit> {
        let Some(target) = target.as_str() else { return Ok(()) };
        for schema in self.document.targets(target) {
            let to = *self.numbers.entry(std::ptr::from_ref(schema)).or_insert_with(|| {
                self.found.push(schema);
                self.found.len() - 1
            });
            if self.found.len() > SCHEMA_REFERENCED_MAX {
                return Err(SizeLimit::Referenced);
            }
            let PartCursor { times, is_of_same_value, level: _ } = stand;
            let known = part
                .references
                .iter_mut()
                .find(|known| known.to == to && known.is_of_same_value == is_of_same_value);
            match known {
                Some(known) => known.times = known.times.saturating_add(times),
                None => part.references.push(Reference { to, times, is_of_same_value }),
            }
        }
        Ok(())
    }
}
