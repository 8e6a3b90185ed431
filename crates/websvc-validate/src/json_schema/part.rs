//! Parts of a schema that are targets of references: the size of each, and its references to others.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use websvc_types::limits::{
    SCHEMA_FOLLOWED_LEVELS_MAX, SCHEMA_PARTS_MAX, SCHEMA_PATTERNS_MAX, SCHEMA_REFERENCED_MAX,
};

use super::reference::Document;

/// Maximum nesting of a part; the check of the schema reports deeper ones.
const MAX_LEVELS: u64 = 128;

/// Maximum number of steps in total. A part that lies within others is walked with each of them.
const MAX_STEPS: u64 = 10 * SCHEMA_PARTS_MAX;

/// Part of a schema that is the target of a reference, or the whole schema.
#[derive(Debug)]
pub(super) struct Part {
    /// Number of schemas in the part, references not followed.
    pub(super) parts: u64,
    /// Number of schemas that apply to the same value as the part.
    pub(super) parts_of_same_value: u64,
    /// Nesting of the schemas.
    pub(super) levels: u64,
    /// References from this part to others.
    pub(super) references: Vec<Reference>,
}

impl Part {
    fn add(&mut self, parts: u64, cursor: PartCursor) {
        self.parts = self.parts.saturating_add(parts);
        if cursor.is_of_same_value {
            self.parts_of_same_value = self.parts_of_same_value.saturating_add(parts);
        }
    }
}

/// Reference from one part to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    /// Index of the target part.
    pub(super) to: usize,
    /// Number of times that the target is applied.
    pub(super) times: u64,
    /// True if the target applies to the same value as the part, false if it applies to a value within it.
    pub(super) is_of_same_value: bool,
}

/// Returns the parts of a schema: first the whole schema, then all targets of references.
///
/// # Errors
/// The size limit that the schema exceeds.
pub(super) fn collect(root: &Map<String, Value>) -> Result<Vec<Part>, SizeLimit> {
    let mut walk = Walk {
        document: Document::new(root),
        found: vec![root],
        indexes: HashMap::from([(std::ptr::from_ref(root), 0)]),
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
    /// Number of times that the schema at this position is applied.
    times: u64,
    /// True if the schema applies to the same value as the part.
    is_of_same_value: bool,
    /// Nesting of the schema within the part.
    level: u64,
}

struct Walk<'d> {
    document: Document<'d>,
    /// Schemas of the parts in the order of discovery; the last ones are not walked yet.
    found: Vec<&'d Map<String, Value>>,
    /// Indexes of the parts in `found`, by the address of their schema.
    indexes: HashMap<*const Map<String, Value>, usize>,
    /// Distinct regular expressions.
    patterns: HashSet<&'d str>,
    /// Number of schemas walked so far.
    steps: u64,
}

impl<'d> Walk<'d> {
    fn schema(
        &mut self,
        part: &mut Part,
        schema: &'d Map<String, Value>,
        cursor: PartCursor,
    ) -> Result<(), SizeLimit> {
        self.steps += 1;
        part.add(cursor.times, cursor);
        part.levels = part.levels.max(cursor.level);
        if self.steps > MAX_STEPS || part.parts > SCHEMA_PARTS_MAX {
            return Err(SizeLimit::Parts);
        }
        if cursor.level > MAX_LEVELS {
            return Err(SizeLimit::Levels);
        }
        // `unevaluated...` applies the schemas of the same value a second time.
        let is_applied_twice =
            schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems");
        let times = if is_applied_twice { cursor.times.saturating_mul(2) } else { cursor.times };
        let same = PartCursor { times, level: cursor.level + 1, ..cursor };
        let below = PartCursor { is_of_same_value: false, level: cursor.level + 1, ..cursor };
        for (key, value) in schema {
            match key.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(part, value, same)?,
                "not" | "if" | "then" | "else" | "allOf" | "anyOf" | "oneOf" => {
                    self.any(part, value, same)?;
                }
                "dependentSchemas" | "dependencies" => self.by_name(part, value, same)?,
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
                "properties" => self.by_name(part, value, below)?,
                "patternProperties" => {
                    let names = value.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
                    names.for_each(|name| _ = self.patterns.insert(name));
                    self.by_name(part, value, below)?;
                }
                "pattern" => self.patterns.extend(value.as_str()),
                // Each value is compared, so it counts as a part.
                "enum" => {
                    let values = value.as_array().map_or(0, |values| values.len() as u64);
                    part.add(values.saturating_mul(cursor.times), cursor);
                }
                _ => {}
            }
        }
        if self.patterns.len() > SCHEMA_PATTERNS_MAX { Err(SizeLimit::Patterns) } else { Ok(()) }
    }

    /// Walks a schema, or a list of schemas.
    fn any(&mut self, part: &mut Part, value: &'d Value, cursor: PartCursor) -> Result<(), SizeLimit> {
        match value {
            Value::Object(schema) => self.schema(part, schema, cursor),
            Value::Array(schemas) => schemas
                .iter()
                .filter_map(Value::as_object)
                .try_for_each(|schema| self.schema(part, schema, cursor)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    /// Walks the values of an object.
    fn by_name(&mut self, part: &mut Part, value: &'d Value, cursor: PartCursor) -> Result<(), SizeLimit> {
        let mut schemas = value.as_object().into_iter().flat_map(Map::values).filter_map(Value::as_object);
        schemas.try_for_each(|schema| self.schema(part, schema, cursor))
    }

    fn reference(&mut self, part: &mut Part, target: &Value, cursor: PartCursor) -> Result<(), SizeLimit> {
        let Some(target) = target.as_str() else { return Ok(()) };
        for schema in self.document.targets(target) {
            let to = *self.indexes.entry(std::ptr::from_ref(schema)).or_insert_with(|| {
                self.found.push(schema);
                self.found.len() - 1
            });
            if self.found.len() > SCHEMA_REFERENCED_MAX {
                return Err(SizeLimit::Referenced);
            }
            let PartCursor { times, is_of_same_value, level: _ } = cursor;
            let existing = part
                .references
                .iter_mut()
                .find(|other| other.to == to && other.is_of_same_value == is_of_same_value);
            match existing {
                Some(existing) => existing.times = existing.times.saturating_add(times),
                None => part.references.push(Reference { to, times, is_of_same_value }),
            }
        }
        Ok(())
    }
}

/// Size limits of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SizeLimit {
    /// Number of parts; a part counts once per reference to it.
    Parts,
    /// Nesting with references followed.
    Levels,
    /// Number of parts that are targets of references.
    Referenced,
    /// Number of distinct regular expressions.
    Patterns,
}

impl SizeLimit {
    /// Returns the text of the rule, for a message.
    pub(super) fn rule(self) -> String {
        match self {
            Self::Parts => {
                format!(
                    "must have at most {SCHEMA_PARTS_MAX} parts, where a part counts once per reference to it"
                )
            }
            Self::Levels => {
                format!("must have at most {SCHEMA_FOLLOWED_LEVELS_MAX} levels with references followed")
            }
            Self::Referenced => {
                format!("must have at most {SCHEMA_REFERENCED_MAX} parts that are targets of references")
            }
            Self::Patterns => {
                format!("must have at most {SCHEMA_PATTERNS_MAX} different regular expressions")
            }
        }
    }
}
