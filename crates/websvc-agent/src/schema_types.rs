//! The types of values and the properties that a JSON Schema allows.

use serde_json::{Map, Value};

use crate::schema::resolve;

/// The maximum depth of branches and references.
const MAX_DEPTH: usize = 8;

/// The maximum number of schemas that are visited for one value. References may be circular in several ways.
const MAX_VISITS: usize = 200;

/// A set of the types of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(1 << 1);
    pub(crate) const INTEGER: Self = Self(1 << 2);
    pub(crate) const FRACTION: Self = Self(1 << 3);
    pub(crate) const TEXT: Self = Self(1 << 4);
    pub(crate) const LIST: Self = Self(1 << 5);
    pub(crate) const OBJECT: Self = Self(1 << 6);
    const ALL: Self = Self(u8::MAX);
    const NONE: Self = Self(0);

    /// Returns whether one of the types is in this set.
    pub(crate) const fn allows(self, types: Self) -> bool {
        self.0 & types.0 != 0
    }

    /// Returns the type of a value.
    pub(crate) fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() != 0.0) => {
                Self::FRACTION
            }
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::TEXT,
            Value::Array(_) => Self::LIST,
            Value::Object(_) => Self::OBJECT,
        }
    }

    fn named(name: &Value) -> Self {
        match name.as_str() {
            Some("null") => Self::NULL,
            Some("boolean") => Self::BOOLEAN,
            Some("integer") => Self::INTEGER,
            Some("number") => Self::INTEGER.or(Self::FRACTION),
            Some("string") => Self::TEXT,
            Some("array") => Self::LIST,
            Some("object") => Self::OBJECT,
            Some(_) | None => Self::ALL,
        }
    }

    const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn union(types: impl Iterator<Item = Self>) -> Self {
        types.fold(Self::NONE, Self::or)
    }
}

/// The schemas of which a value follows at least one: a property may have one in each branch of its object.
#[derive(Debug, Clone)]
pub(crate) struct Schemas<'a> {
    root: &'a Value,
    alternatives: Vec<&'a Value>,
}

impl<'a> Schemas<'a> {
    /// Returns the schema of the whole data.
    pub(crate) fn of_data(root: &'a Value) -> Self {
        Self { root, alternatives: vec![root] }
    }

    /// Returns the types of the whole data. Data with properties is an object, also if the schema does not say so.
    pub(crate) fn data_types(&self) -> Types {
        match self.types() {
            Types::ALL if !self.names().is_empty() => Types::OBJECT,
            types => types,
        }
    }

    /// Returns the types that a value may have; all if the schema is too complex.
    pub(crate) fn types(&self) -> Types {
        let mut visits = 0;
        Types::union(self.alternatives.iter().map(|schema| types(self.root, schema, MAX_DEPTH, &mut visits)))
    }

    /// Returns the schemas of a property of an object; `None` if they say nothing about it.
    pub(crate) fn property(&self, name: &str) -> Option<Self> {
        self.below(|schema| schema["properties"].get(name).or_else(|| schema.get("additionalProperties")))
    }

    /// Returns the schemas of the items of a list; `None` if they say nothing about them, or not the same about all.
    pub(crate) fn items(&self) -> Option<Self> {
        self.below(|schema| schema.get("items").filter(|_| schema.get("prefixItems").is_none()))
    }

    fn below(&self, find: impl Fn(&'a Value) -> Option<&'a Value>) -> Option<Self> {
        let found = self.branches()?.into_iter().filter_map(find);
        let alternatives: Vec<&Value> = found.filter(|schema| schema.is_object()).collect();
        (!alternatives.is_empty()).then_some(Self { root: self.root, alternatives })
    }

    /// Returns the names of the properties of an object; none if it may have others, or the schemas do not say.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        let branches = self.branches().unwrap_or_default();
        let has_others = branches.iter().any(|schema| {
            let others = schema.get("additionalProperties").filter(|others| **others != Value::Bool(false));
            others.or_else(|| schema.get("patternProperties")).is_some()
        });
        if has_others {
            return Vec::new();
        }
        let properties = branches.iter().filter_map(|schema| schema["properties"].as_object());
        properties.flat_map(Map::keys).map(String::as_str).collect()
    }

    /// Returns the schemas with those of their branches and references; `None` if they are too many.
    fn branches(&self) -> Option<Vec<&'a Value>> {
        let mut found = Vec::new();
        let mut open: Vec<&Value> = self.alternatives.iter().rev().copied().collect();
        while let Some(schema) = open.pop() {
            if found.len() >= MAX_VISITS {
                return None;
            }
            let schema = resolve(self.root, schema);
            found.push(schema);
            for key in ["anyOf", "oneOf", "allOf"] {
                open.extend(schema[key].as_array().into_iter().flatten());
            }
            if open.len() > MAX_VISITS {
                return None;
            }
        }
        Some(found)
    }
}

fn types(root: &Value, schema: &Value, depth: usize, visits: &mut usize) -> Types {
    *visits += 1;
    if depth == 0 || *visits > MAX_VISITS {
        return Types::ALL;
    }
    let Value::Object(keywords) = resolve(root, schema) else { return Types::ALL };
    let mut allowed = match keywords.get("type") {
        Some(Value::Array(names)) => Types::union(names.iter().map(Types::named)),
        Some(name) => Types::named(name),
        None => Types::ALL,
    };
    if let Some(Value::Array(values)) = keywords.get("enum") {
        allowed = allowed.and(Types::union(values.iter().map(Types::from_value)));
    }
    if let Some(value) = keywords.get("const") {
        allowed = allowed.and(Types::from_value(value));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = keywords.get(key) {
            let of_branches = branches.iter().map(|branch| types(root, branch, depth - 1, visits));
            allowed = allowed.and(Types::union(of_branches));
        }
    }
    if let Some(Value::Array(branches)) = keywords.get("allOf") {
        for branch in branches {
            allowed = allowed.and(types(root, branch, depth - 1, visits));
        }
    }
    allowed
}
