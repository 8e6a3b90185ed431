//! Rules of JSON Schemas in requests: they must be valid, refer only to themselves, and be limited in size.
//!
//! A schema goes to a validator and to a language model. A reference to another document could make them fetch it
//! without the address guard. Another identity would change the meaning of `#`. An invalid schema would fail only after
//! pages were fetched and charged. All drafts from 4 on are supported: a keyword may have the form of any of them, and
//! unknown keywords may have any form. The cost of applying the schema is limited, too. These rules do not cover
//! everything that a validator refuses, so the service also compiles the schema as it will be used.

mod compiler;
mod keyword;
mod part;
mod reference;
mod size;

use serde_json::{Map, Value};
use websvc_types::ViolationCode;
use websvc_types::limits::{SCHEMA_LEVELS_MAX, SCHEMA_MAX_BYTES};

use crate::json_size::json_bytes;
use crate::path::Path;
use crate::report::{Report, displayed_json, quoted};
use crate::suggestion::suggest;
pub use compiler::{SchemaCompiler, SchemaError};
use keyword::{Form, TYPES};
use reference::Document;

/// Checks a schema, and compiles it if it breaks no other rule.
pub(crate) fn check(
    report: &mut Report,
    path: &Path<'_>,
    schema: &Map<String, Value>,
    compiler: SchemaCompiler,
) {
    let bytes = json_bytes(schema);
    if bytes > SCHEMA_MAX_BYTES {
        // A schema of this size is not read further: each of its parts could break a rule.
        return report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {SCHEMA_MAX_BYTES} bytes as JSON, not {bytes}")
        });
    }
    let mut walk = Walk { report, document: Document::new(schema) };
    walk.keywords(path, schema, 0);
    if let Err(limit) = size::parts_of(schema) {
        report.violation(path, ViolationCode::TooLong, |name| format!("{name} {}", limit.rule()));
    }
    if !report.has_within(path)
        && let Err(error) = compiler.compile(schema)
    {
        report.violation_below(path, &error.pointer, ViolationCode::InvalidFormat, |name| {
            format!("{name} {}", error.message)
        });
    }
}

/// Returns the number of parts of a schema. A part counts once per reference to it. Returns `None` if the schema
/// exceeds one of the size limits of requests.
#[must_use]
pub fn schema_parts(schema: &Map<String, Value>) -> Option<u64> {
    size::parts_of(schema).ok()
}

/// Recursive check of a schema.
struct Walk<'a, 'd> {
    report: &'a mut Report,
    document: Document<'d>,
}

impl Walk<'_, '_> {
    fn keywords(&mut self, path: &Path<'_>, schema: &Map<String, Value>, depth: usize) {
        if self.too_deep(path, depth) {
            return;
        }
        for (key, value) in schema {
            self.keyword(&path.key(key), Form::from_key(key, value), value, depth);
        }
    }

    fn keyword(&mut self, path: &Path<'_>, form: Form, value: &Value, depth: usize) {
        match form {
            Form::Reference => self.document.check_reference(self.report, path, value),
            Form::Identity => self.document.check_identity(self.report, path, value),
            Form::Data => {}
            Form::Schema => self.schema(path, value, depth + 1),
            Form::Schemas => self.schemas(path, value, depth + 1),
            Form::SchemaOrList if value.is_array() => self.schemas(path, value, depth + 1),
            Form::SchemaOrList => self.schema(path, value, depth + 1),
            Form::SchemasByName => self.by_name(path, value, depth + 1, Self::schema),
            Form::Dependencies => self.by_name(path, value, depth + 1, Self::dependency),
            Form::NamesByName => {
                self.by_name(path, value, depth + 1, |walk, path, names, _| walk.names(path, names));
            }
            Form::Types => self.types(path, value),
            Form::Names => self.names(path, value),
            Form::Values => self.expect(path, value, value.is_array(), "an array"),
            Form::Text => self.expect(path, value, value.is_string(), "a string"),
            Form::Bool => self.expect(path, value, value.is_boolean(), "true or false"),
            Form::Number => self.expect(path, value, value.is_number(), "a number"),
            Form::NumberOrBool => {
                let is_valid = value.is_number() || value.is_boolean();
                self.expect(path, value, is_valid, "a number, or true or false");
            }
            Form::Divisor => self.divisor(path, value),
            Form::Count => self.count(path, value),
            Form::Unknown => self.unknown(path, value, depth),
        }
    }

    fn schema(&mut self, path: &Path<'_>, value: &Value, depth: usize) {
        match value {
            Value::Object(schema) => self.keywords(path, schema, depth),
            Value::Bool(_) => {}
            other => self.wrong_type(path, other, "a schema: an object, or true or false"),
        }
    }

    fn schemas(&mut self, path: &Path<'_>, value: &Value, depth: usize) {
        match value {
            Value::Array(schemas) if schemas.is_empty() => {
                self.report
                    .violation(path, ViolationCode::TooShort, |name| format!("{name} must not be empty"));
            }
            Value::Array(_) => self.items(path, value, depth),
            other => self.wrong_type(path, other, "an array of schemas"),
        }
    }

    fn items(&mut self, path: &Path<'_>, list: &Value, depth: usize) {
        if self.too_deep(path, depth) {
            return;
        }
        for (index, schema) in list.as_array().into_iter().flatten().enumerate() {
            self.schema(&path.index(index), schema, depth + 1);
        }
    }

    /// Checks the values of an object with arbitrary keys.
    fn by_name(
        &mut self,
        path: &Path<'_>,
        value: &Value,
        depth: usize,
        check: fn(&mut Self, &Path<'_>, &Value, usize),
    ) {
        let Value::Object(fields) = value else { return self.wrong_type(path, value, "an object") };
        if self.too_deep(path, depth) {
            return;
        }
        for (key, value) in fields {
            check(self, &path.key(key), value, depth + 1);
        }
    }

    fn dependency(&mut self, path: &Path<'_>, value: &Value, depth: usize) {
        if value.is_array() { self.names(path, value) } else { self.schema(path, value, depth) }
    }

    fn names(&mut self, path: &Path<'_>, value: &Value) {
        let Value::Array(names) = value else { return self.wrong_type(path, value, "an array of strings") };
        let mut seen = std::collections::HashSet::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let path = path.index(index);
            match name.as_str() {
                None => self.wrong_type(&path, name, "a string"),
                Some(text) if !seen.insert(text) => self.duplicate(&path, text),
                Some(_) => {}
            }
        }
    }

    fn types(&mut self, path: &Path<'_>, value: &Value) {
        match value {
            Value::String(name) => self.type_name(path, name),
            Value::Array(names) if names.is_empty() => {
                self.report
                    .violation(path, ViolationCode::TooShort, |name| format!("{name} must not be empty"));
            }
            Value::Array(names) => {
                self.names(path, value);
                for (index, name) in names.iter().enumerate() {
                    if let Some(name) = name.as_str() {
                        self.type_name(&path.index(index), name);
                    }
                }
            }
            other => self.wrong_type(path, other, "the name of a type, or an array of them"),
        }
    }

    fn type_name(&mut self, path: &Path<'_>, text: &str) {
        if TYPES.contains(&text) {
            return;
        }
        self.report.violation(path, ViolationCode::UnknownValue, |name| {
            let suggestion = suggest(text, TYPES.iter().copied());
            let suggestion = suggestion.map_or_else(String::new, |name| format!("; did you mean {name}?"));
            format!("{name} must be one of {}, not {}{suggestion}", TYPES.join(", "), quoted(text))
        });
    }

    fn divisor(&mut self, path: &Path<'_>, value: &Value) {
        match value.as_f64() {
            Some(divisor) if divisor > 0.0 => {}
            Some(_) => self.report.violation(path, ViolationCode::TooSmall, |name| {
                format!("{name} must be a number above 0, not {}", displayed_json(value))
            }),
            None => self.wrong_type(path, value, "a number"),
        }
    }

    fn count(&mut self, path: &Path<'_>, value: &Value) {
        match value.as_f64() {
            Some(count) if count.fract() != 0.0 => self.wrong_type(path, value, "an integer"),
            Some(count) if count < 0.0 => self.report.violation(path, ViolationCode::TooSmall, |name| {
                format!("{name} must be at least 0, not {}", displayed_json(value))
            }),
            Some(_) => {}
            None => self.wrong_type(path, value, "an integer"),
        }
    }

    /// Searches the value of an unknown keyword for references, because another program may know the keyword.
    fn unknown(&mut self, path: &Path<'_>, value: &Value, depth: usize) {
        if (value.is_object() || value.is_array()) && self.too_deep(path, depth + 1) {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let form = match Form::from_key(key, value) {
                        form @ (Form::Reference | Form::Identity) if value.is_string() => form,
                        _ => Form::Unknown,
                    };
                    self.keyword(&path.key(key), form, value, depth + 1);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.unknown(&path.index(index), item, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn too_deep(&mut self, path: &Path<'_>, depth: usize) -> bool {
        if depth <= SCHEMA_LEVELS_MAX {
            return false;
        }
        self.report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must not be nested deeper in the schema than {SCHEMA_LEVELS_MAX} levels")
        });
        true
    }

    fn duplicate(&mut self, path: &Path<'_>, text: &str) {
        self.report.violation(path, ViolationCode::Conflict, |name| {
            format!("{name}: {} is given twice", quoted(text))
        });
    }

    fn expect(&mut self, path: &Path<'_>, value: &Value, is_valid: bool, expected: &str) {
        if !is_valid {
            self.wrong_type(path, value, expected);
        }
    }

    fn wrong_type(&mut self, path: &Path<'_>, value: &Value, expected: &str) {
        self.report.violation(path, ViolationCode::InvalidType, |name| {
            format!("{name} must be {expected}, not {}", displayed_json(value))
        });
    }
}
