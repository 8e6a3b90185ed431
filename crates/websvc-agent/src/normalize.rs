//! Brings the data of a model into the form of a schema where nothing has to be guessed: small models wrap data, answer with
//! a list for an object with a list, write numbers as texts, and give null for a value that may only be absent.

use serde_json::{Map, Number, Value};

use crate::blocking::run_blocking;
use crate::filled::{has_values, is_empty};
use crate::schema_types::{Schemas, Types};

/// The maximum number of wrappers around data.
const MAX_WRAPPERS: usize = 3;

/// The maximum length of a number as text. Longer ones lose digits, or are names of things.
const MAX_NUMBER_CHARS: usize = 17;

/// The reason why data cannot be used.
pub(crate) const UNRELATED: &str = "it has none of the properties of the schema";

/// Returns the data of an answer in the form of the schema, or the reason why it cannot be used.
pub(crate) async fn usable_data(answer: Value, schema: Option<&Value>) -> Result<Value, &'static str> {
    let Some(schema) = schema.cloned() else { return Ok(answer) };
    run_blocking(move || {
        let data = normalize(answer, &schema);
        if is_unrelated(&data, &schema) { Err(UNRELATED) } else { Ok(data) }
    })
    .await
}

/// Returns data in the form of a schema: without [wrappers](unwrap), with numbers and booleans where a text states exactly
/// one and the schema allows no text, and without nulls that the schema does not allow.
pub(crate) fn normalize(data: Value, schema: &Value) -> Value {
    convert(unwrap(data, schema), &Schemas::of_data(schema))
}

/// Returns whether data has values, but none of the properties of the schema, or another type.
pub(crate) fn is_unrelated(data: &Value, schema: &Value) -> bool {
    let schemas = Schemas::of_data(schema);
    has_values(data)
        && match data {
            Value::Object(fields) => {
                let names = schemas.names();
                !names.is_empty() && !names.iter().any(|name| fields.contains_key(*name))
            }
            other => !schemas.data_types().allows(Types::from_value(other)),
        }
}

/// Returns the data of an answer that wraps it:
///
/// - the object in an object with one unknown field, such as `data`, or in a list without other items, if it has a property
///   of the schema;
/// - a list, alone or in such a field, if the schema wants a list, or an object with one list for such items.
pub(crate) fn unwrap(answer: Value, schema: &Value) -> Value {
    let schemas = Schemas::of_data(schema);
    let form = Form { names: schemas.names(), types: schemas.data_types(), schemas };
    form.unwrap(answer, MAX_WRAPPERS).unwrap_or_else(|answer| answer)
}

/// The form of the data that a schema describes.
struct Form<'a> {
    schemas: Schemas<'a>,
    types: Types,
    /// The properties; none if they are not known.
    names: Vec<&'a str>,
}

impl Form<'_> {
    /// Returns the data in an answer, or the answer if it wraps none.
    fn unwrap(&self, answer: Value, max_wrappers: usize) -> Result<Value, Value> {
        match answer {
            Value::Array(items) => self.unwrap_list(items).map_err(Value::Array),
            Value::Object(fields) => self.unwrap_object(fields, max_wrappers).map_err(Value::Object),
            scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => Err(scalar),
        }
    }

    fn unwrap_list(&self, mut items: Vec<Value>) -> Result<Value, Vec<Value>> {
        if self.types != Types::OBJECT {
            return Err(items);
        }
        let object = items.first().and_then(Value::as_object).filter(|_| items.len() == 1);
        if object.is_some_and(|object| self.names.is_empty() || self.has_any(object)) {
            return Ok(items.remove(0));
        }
        match self.only_list() {
            Some(name) if self.fits(&items, name) => {
                Ok(Value::Object(Map::from_iter([(name.to_owned(), Value::Array(items))])))
            }
            Some(_) | None => Err(items),
        }
    }

    fn unwrap_object(
        &self,
        mut fields: Map<String, Value>,
        max_wrappers: usize,
    ) -> Result<Value, Map<String, Value>> {
        // The values of a schema are the schemas of its properties.
        let is_wrapper = |name: &str| name != "properties" && !self.names.contains(&name);
        let only = fields.keys().next().filter(|name| fields.len() == 1 && is_wrapper(name)).cloned();
        let only = only.filter(|_| max_wrappers > 0 && !self.is_free_object());
        let Some((name, inner)) = only.and_then(|name| fields.shift_remove_entry(&name)) else {
            return Err(fields);
        };
        let data = match inner {
            Value::Object(inner) if self.has_any(&inner) => Ok(Value::Object(inner)),
            Value::Array(items) if self.types == Types::LIST => Ok(Value::Array(items)),
            inner => self.unwrap(inner, max_wrappers - 1),
        };
        data.map_err(|inner| Map::from_iter([(name, inner)]))
    }

    /// Returns whether any object may be the data.
    fn is_free_object(&self) -> bool {
        self.types.allows(Types::OBJECT) && self.names.is_empty()
    }

    fn has_any(&self, fields: &Map<String, Value>) -> bool {
        self.names.iter().any(|name| fields.contains_key(*name))
    }

    /// Returns the name of the only property that is a list.
    fn only_list(&self) -> Option<&str> {
        let is_list = |name: &&&str| {
            let types = self.schemas.property(name).map(|property| property.types());
            types.is_some_and(|types| types.allows(Types::LIST) && !types.allows(Types::OBJECT))
        };
        let mut lists = self.names.iter().filter(is_list);
        let first = lists.next()?;
        // A property may be in several branches.
        lists.all(|other| other == first).then_some(first)
    }

    /// Returns whether items can be those of a list.
    fn fits(&self, items: &[Value], list: &str) -> bool {
        let Some(schemas) = self.schemas.property(list).and_then(|list| list.items()) else { return false };
        let (types, names) = (schemas.types(), schemas.names());
        items.iter().all(|item| match item {
            Value::Object(fields) => {
                types.allows(Types::OBJECT)
                    && (names.is_empty() || names.iter().any(|name| fields.contains_key(*name)))
            }
            other => is_empty(other) || types.allows(Types::from_value(other)),
        })
    }
}

fn convert(value: Value, schemas: &Schemas<'_>) -> Value {
    match value {
        Value::Object(fields) => {
            let mut converted = Map::new();
            for (name, value) in fields {
                let Some(property) = schemas.property(&name) else {
                    converted.insert(name, value);
                    continue;
                };
                let value = convert(value, &property);
                if !value.is_null() || property.types().allows(Types::NULL) {
                    converted.insert(name, value);
                }
            }
            Value::Object(converted)
        }
        Value::Array(items) => {
            let Some(of_items) = schemas.items() else { return Value::Array(items) };
            let allows_null = of_items.types().allows(Types::NULL);
            let items = items.into_iter().map(|item| convert(item, &of_items));
            Value::Array(items.filter(|item| allows_null || !item.is_null()).collect())
        }
        Value::String(text) => {
            let types = schemas.types();
            if types.allows(Types::TEXT) { Value::String(text) } else { stated(text, types) }
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// Returns the number or the boolean that a text is, and null for a blank one. Any other text stays: `7,90` is two numbers in
/// one language, and one in another.
fn stated(text: String, types: Types) -> Value {
    let trimmed = text.trim();
    let stated = match trimmed.to_ascii_lowercase().as_str() {
        "" => Some(Value::Null),
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        // By the grammar of JSON, which has neither signs nor zeros in front.
        number if number.len() <= MAX_NUMBER_CHARS => {
            serde_json::from_str::<Number>(number).ok().map(Value::Number)
        }
        _ => None,
    };
    match stated {
        Some(value) if value.is_null() || types.allows(Types::from_value(&value)) => value,
        Some(_) | None => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn teas() -> Value {
        json!({
            "type": "object",
            "properties": {
                "shop": { "type": "string" },
                "teas": { "anyOf": [{ "type": "array", "items": { "$ref": "#/$defs/tea" } }, { "type": "null" }] },
            },
            "$defs": { "tea": {
                "type": "object",
                "properties": {
                    "name": { "type": "string" },
                    "price": { "anyOf": [{ "type": "number" }, { "type": "null" }] },
                    "bags": { "type": "integer" },
                    "organic": { "type": "boolean" },
                    "code": { "type": ["integer", "string"] },
                    "tags": { "type": "array", "items": { "type": "string" } },
                },
            } },
        })
    }

    #[track_caller]
    fn check(answer: &Value, expected: &Value) {
        assert_eq!(&normalize(answer.clone(), &teas()), expected, "{answer}");
    }

    #[test]
    fn wrapped_data_is_unwrapped() {
        let data = json!({ "teas": [{ "name": "Assam" }] });
        for answer in [
            data.clone(),
            json!({ "data": data }),
            json!({ "a": { "b": { "c": data } } }),
            json!([data]),
            data["teas"].clone(),
            json!({ "items": data["teas"] }),
            json!({ "data": [data] }),
        ] {
            check(&answer, &data);
        }
    }

    #[test]
    fn other_answers_are_not_unwrapped() {
        for answer in [
            json!({ "data": { "teas": [] }, "note": 1 }),
            json!({ "a": { "b": { "c": { "d": { "shop": "Leaf" } } } } }),
            json!({ "properties": { "teas": { "type": "array" } } }),
            json!({ "data": { "name": "Assam" } }),
            json!([{ "title": "Assam" }]),
            json!([1, 2]),
            json!({ "data": [1] }),
            json!("Assam"),
        ] {
            check(&answer, &answer);
            assert!(is_unrelated(&answer, &teas()), "{answer}");
        }
        let of =
            |schema: Value, answer: Value, expected: Value| assert_eq!(unwrap(answer, &schema), expected);
        // The field is a property, or may be one.
        let open = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": { "type": "object" } });
        of(open.clone(), json!({ "b": { "a": 1 } }), json!({ "b": { "a": 1 } }));
        assert!(!is_unrelated(&json!({ "b": { "a": 1 } }), &open));
        of(json!({ "type": "object" }), json!({ "b": { "a": 1 } }), json!({ "b": { "a": 1 } }));
        // One of two lists.
        let lists =
            json!({ "type": "object", "properties": { "a": { "type": "array" }, "b": { "type": "array" } } });
        of(lists, json!([1]), json!([1]));
        // An item of another list.
        let tags = json!({ "type": "array", "items": { "type": "string" } });
        let tea = json!({ "type": "object", "properties": { "name": { "type": "string" }, "tags": tags } });
        of(tea, json!([{ "name": "a" }, { "name": "b" }]), json!([{ "name": "a" }, { "name": "b" }]));
    }

    #[test]
    fn list_of_one_object_is_the_object_that_the_schema_asks_for() {
        let (object, list) = (json!({ "type": "object" }), json!({ "type": "array" }));
        for (answer, schema, expected) in [
            (json!([{ "a": 1 }]), &object, json!({ "a": 1 })),
            (json!([{ "a": 1 }]), &list, json!([{ "a": 1 }])),
            (json!({ "data": [1] }), &list, json!([1])),
            (json!([{ "a": 1 }, { "a": 2 }]), &object, json!([{ "a": 1 }, { "a": 2 }])),
            (json!([1]), &object, json!([1])),
        ] {
            assert_eq!(unwrap(answer, schema), expected);
        }
    }

    #[test]
    fn texts_are_numbers_only_if_they_are_exactly_that() {
        for (name, text, expected) in [
            ("price", "7.90", json!(7.9)),
            ("price", " -3 ", json!(-3)),
            ("price", "7,90", json!("7,90")),
            ("price", "7.90 EUR", json!("7.90 EUR")),
            ("price", "1e999", json!("1e999")),
            ("price", "0.12345678901234567890", json!("0.12345678901234567890")),
            ("price", "true", json!("true")),
            ("price", "", json!(null)),
            ("bags", "20", json!(20)),
            ("bags", "20.5", json!("20.5")),
            ("organic", "True", json!(true)),
            ("organic", "yes", json!("yes")),
            ("code", "20", json!("20")),
            ("name", "20", json!("20")),
            ("other", "20", json!("20")),
        ] {
            check(&json!({ "teas": [{ name: text }] }), &json!({ "teas": [{ name: expected }] }));
        }
    }

    #[test]
    fn nulls_that_the_schema_does_not_allow_are_left_out() {
        check(&json!({ "shop": null, "teas": null }), &json!({ "teas": null }));
        check(
            &json!({ "teas": [{ "name": "a", "price": null, "bags": null, "other": null, "tags": ["x", null] }, null] }),
            &json!({ "teas": [{ "name": "a", "price": null, "other": null, "tags": ["x"] }] }),
        );
        check(&json!({ "teas": [{ "bags": "" }] }), &json!({ "teas": [{}] }));
        check(&Value::Null, &Value::Null);
    }

    #[test]
    fn data_without_values_is_not_unrelated() {
        for data in [json!({}), json!({ "x": null }), Value::Null, json!([]), json!({ "teas": null })] {
            assert!(!is_unrelated(&data, &teas()), "{data}");
        }
        assert!(is_unrelated(&json!({ "x": 1 }), &json!({ "properties": { "y": {} } })));
        assert!(is_unrelated(&json!("x"), &json!({ "properties": { "y": {} } })));
        assert!(!is_unrelated(&json!("x"), &json!({ "type": "string" })));
    }

    #[test]
    fn circular_and_large_schemas_are_bounded() {
        let branch = json!({ "$ref": "#" });
        let circular = json!({ "anyOf": vec![branch; 50], "properties": { "a": { "$ref": "#" } } });
        let answer = json!({ "a": { "a": "1" }, "b": null });
        assert_eq!(normalize(answer.clone(), &circular), answer);
    }
}
