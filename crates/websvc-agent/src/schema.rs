//! The parts of a JSON Schema that the loop needs: its fields in words, its missing values, and a form for one page.

use serde_json::{Map, Value, json};
use websvc_model::{cut, one_line};

use crate::filled::is_empty;

/// The maximum depth of a schema that is read. References may be circular.
const MAX_DEPTH: usize = 8;

/// The maximum number of fields that are named.
const MAX_FIELDS: usize = 60;

/// The maximum number of schemas that are visited. References may be circular in several ways.
const MAX_VISITS: usize = 2_000;

/// The maximum length of the description of a field.
const MAX_DESCRIPTION_CHARS: usize = 160;

/// Keywords that require values, which one page alone may not state.
const REQUIRING: &[&str] =
    &["required", "minItems", "minProperties", "minContains", "contains", "dependentRequired"];

/// Keywords with one schema, with a list of schemas, and with schemas by name.
const ONE: &[&str] = &["items", "additionalProperties", "if", "then", "else", "additionalItems"];
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions"];

/// Returns the schema of the data of one page: every value may be null, and nothing is required, so that a model does not
/// have to invent what the page does not state.
#[must_use]
pub fn optional_schema(schema: &Value) -> Value {
    optional(schema, MAX_DEPTH, true)
}

fn optional(schema: &Value, depth: usize, is_root: bool) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    if depth == 0 {
        return json!({});
    }
    let below = |schema: &Value| optional(schema, depth - 1, false);
    let mut optional = Map::new();
    for (key, value) in fields {
        let key_str = key.as_str();
        let value = match value {
            _ if REQUIRING.contains(&key_str) => continue,
            Value::Object(_) if ONE.contains(&key_str) => below(value),
            Value::Array(list) if LISTS.contains(&key_str) || key_str == "items" => {
                Value::Array(list.iter().map(below).collect())
            }
            Value::Object(named) if NAMED.contains(&key_str) => {
                Value::Object(named.iter().map(|(name, schema)| (name.clone(), below(schema))).collect())
            }
            value if !is_root && key_str == "type" => nullable_type(value),
            Value::Array(values) if !is_root && key_str == "enum" && !values.contains(&Value::Null) => {
                Value::Array(values.iter().cloned().chain([Value::Null]).collect())
            }
            value => value.clone(),
        };
        optional.insert(key.clone(), value);
    }
    Value::Object(optional)
}

/// Adds null to a type. A list or an object may be empty, which says the same.
fn nullable_type(value: &Value) -> Value {
    match value {
        Value::String(name) if matches!(name.as_str(), "null" | "array" | "object") => value.clone(),
        Value::String(name) => json!([name, "null"]),
        Value::Array(names) if !names.iter().any(|name| name == "null") => {
            Value::Array(names.iter().cloned().chain([json!("null")]).collect())
        }
        value => value.clone(),
    }
}

/// A field of a schema.
#[derive(Debug, PartialEq)]
pub(crate) struct Field {
    /// Its path: `shop.name`, `teas[].price`.
    pub(crate) path: String,
    /// Its types.
    pub(crate) kind: String,
    /// Its description; may be empty.
    pub(crate) description: String,
}

/// Returns the fields of a schema that have values, at most 60.
pub(crate) fn fields(schema: &Value) -> Vec<Field> {
    let mut walk = FieldWalk { root: schema, fields: Vec::new(), visits: 0 };
    walk.visit(schema, "", MAX_DEPTH);
    walk.fields
}

struct FieldWalk<'a> {
    root: &'a Value,
    fields: Vec<Field>,
    visits: usize,
}

impl<'a> FieldWalk<'a> {
    fn visit(&mut self, schema: &'a Value, path: &str, depth: usize) {
        self.visits += 1;
        if self.fields.len() >= MAX_FIELDS || self.visits > MAX_VISITS || depth == 0 {
            return;
        }
        let schema = resolve(self.root, schema);
        if let Some(properties) = schema["properties"].as_object() {
            for (name, property) in properties {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                self.visit(property, &path, depth - 1);
            }
        } else if schema["items"].is_object() {
            self.visit(&schema["items"], &format!("{path}[]"), depth - 1);
        } else if let Some(options) = branches(schema) {
            let first = options.iter().find(|option| option["type"] != "null");
            self.visit(first.unwrap_or(&Value::Null), path, depth - 1);
        } else if !path.is_empty() {
            let description = schema["description"].as_str().unwrap_or_default();
            let description = cut(&one_line(description), MAX_DESCRIPTION_CHARS);
            self.fields.push(Field { path: path.to_owned(), kind: kind(schema), description });
        }
    }
}

fn branches(schema: &Value) -> Option<&Vec<Value>> {
    ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema[key].as_array())
}

/// Returns the types or the values of a field in words.
fn kind(schema: &Value) -> String {
    let words = |values: &[Value]| {
        let words: Vec<String> = values
            .iter()
            .take(10)
            .map(|value| match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            })
            .collect();
        words.join(" or ")
    };
    match (&schema["enum"], &schema["type"]) {
        (Value::Array(values), _) | (_, Value::Array(values)) => words(values),
        (_, Value::String(name)) => name.clone(),
        _ => "any".to_owned(),
    }
}

/// Follows references within the schema.
pub(crate) fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..MAX_DEPTH {
        let target = schema["$ref"].as_str().and_then(|target| root.pointer(target.strip_prefix('#')?));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// Returns the paths of the fields without a value in the data, at most 20. Of the items of a list, the first one that
/// lacks a value is named.
pub(crate) fn missing(schema: &Value, data: &Value) -> Vec<String> {
    const MAX_MISSING: usize = 20;
    let all = fields(schema);
    let missing = all.into_iter().filter_map(|field| missing_value(data, &field.path, String::new()));
    let mut paths: Vec<String> = Vec::new();
    for path in missing {
        if paths.len() < MAX_MISSING && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Returns the place in the data where the path has no value.
fn missing_value(data: &Value, path: &str, walked: String) -> Option<String> {
    if let Some(rest) = path.strip_prefix("[]") {
        let items = data.as_array().filter(|items| !items.is_empty());
        let Some(items) = items else { return Some(walked) };
        return (0..).zip(items).find_map(|(index, item)| {
            missing_value(item, rest.trim_start_matches('.'), format!("{walked}[{index}]"))
        });
    }
    if path.is_empty() {
        return is_empty(data).then_some(walked);
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    let rest = rest.trim_start_matches('.');
    let walked = if walked.is_empty() { name.to_owned() } else { format!("{walked}.{name}") };
    match data.get(name) {
        Some(value) if rest.is_empty() => is_empty(value).then_some(walked),
        Some(value) => missing_value(value, rest, walked),
        None if rest.contains("[]") || rest.is_empty() => Some(walked),
        None => Some(format!("{walked}.{rest}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "shop": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
                "teas": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/tea" } },
                "stock": { "enum": ["yes", "no"], "description": "Is it\n there?" },
                "note": { "anyOf": [{ "type": "null" }, { "type": "string" }] },
            },
            "required": ["shop", "teas"],
            "$defs": { "tea": {
                "type": "object",
                "properties": { "name": { "type": "string" }, "price": { "type": ["number", "string"] } },
                "required": ["name", "price"],
            } },
        })
    }

    #[test]
    fn fields_have_paths_types_and_descriptions() {
        let described: Vec<String> = fields(&schema())
            .into_iter()
            .map(|Field { path, kind, description }| format!("{path}: {kind} {description}"))
            .collect();
        assert_eq!(
            described,
            [
                "shop.name: string ",
                "teas[].name: string ",
                "teas[].price: number or string ",
                "stock: yes or no Is it there?",
                "note: string ",
            ],
            "in the order of the schema"
        );
        let circular = json!({ "properties": { "a": { "$ref": "#" } } });
        assert_eq!(fields(&circular), []);
        assert_eq!(fields(&json!(true)), []);
    }

    #[test]
    fn missing_values_have_their_places() {
        let check =
            |data: Value, expected: &[&str]| assert_eq!(missing(&schema(), &data), expected, "{data}");
        check(Value::Null, &["shop.name", "teas", "stock", "note"]);
        check(json!({ "shop": {}, "note": "x", "stock": "", "teas": [] }), &["shop.name", "teas", "stock"]);
        let teas = json!([{ "name": "a", "price": 1 }, { "name": "b" }, { "name": "c", "price": null }]);
        check(
            json!({ "shop": { "name": "x" }, "note": "x", "stock": "no", "teas": teas }),
            &["teas[1].price"],
        );
    }

    #[test]
    fn schema_of_a_page_requires_nothing() {
        let optional = optional_schema(&schema());
        assert_eq!(optional["type"], "object");
        assert!(!optional.to_string().contains("required") && !optional.to_string().contains("minItems"));
        assert_eq!(optional["properties"]["shop"]["properties"]["name"]["type"], json!(["string", "null"]));
        assert_eq!(optional["properties"]["stock"]["enum"], json!(["yes", "no", null]));
        assert_eq!(
            optional["$defs"]["tea"]["properties"]["price"]["type"],
            json!(["number", "string", "null"])
        );
        // A property may have the name of a keyword.
        let named =
            json!({ "properties": { "required": { "type": "string" }, "type": { "type": "number" } } });
        let optional = optional_schema(&named);
        assert_eq!(optional["properties"]["required"]["type"], json!(["string", "null"]));
        assert_eq!(optional["properties"]["type"]["type"], json!(["number", "null"]));
    }
}
