//! Generator of requests from the published schema. It covers new fields without changes.

use serde_json::{Map, Value, json};

use super::choices::Choices;

/// Nesting below which only required fields are generated.
const MAX_DEPTH: usize = 7;

/// Returns a request that is valid by the schema and by the rules that a schema cannot express.
pub(super) fn request(root: &Value, choices: &mut Choices<'_>) -> Value {
    let mut request = Generator { root }.value(root, "", choices, 0);
    apply_rules(&mut request);
    request
}

struct Generator<'a> {
    root: &'a Value,
}

impl Generator<'_> {
    fn value(&self, schema: &Value, name: &str, choices: &mut Choices<'_>, depth: usize) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let target =
                self.root.pointer(reference.trim_start_matches('#')).expect("references have targets");
            let mut value = self.value(target, name, choices, depth);
            // A tagged alternative has its tag next to the reference.
            if let (Value::Object(value), Value::Object(tag)) =
                (&mut value, self.object(schema, choices, depth))
            {
                value.extend(tag);
            }
            return value;
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(names) = schema["enum"].as_array() {
            return choices.pick(names).clone();
        }
        let is_rule = |schema: &Value| schema.get("required").is_some() && schema.get("type").is_none();
        let alternatives = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
        match alternatives {
            Some(alternatives) if !alternatives.iter().all(is_rule) => {
                self.value(choices.pick(alternatives), name, choices, depth + 1)
            }
            Some(alternatives) => {
                let mut object = self.object(schema, choices, depth);
                keep_one_alternative(&mut object, alternatives, choices);
                for required in choices.pick(alternatives)["required"].as_array().into_iter().flatten() {
                    let required = required.as_str().expect("names are strings");
                    if alternatives
                        .iter()
                        .all(|one| object.get(one["required"][0].as_str().unwrap_or("")).is_none())
                    {
                        object[required] =
                            self.value(&schema["properties"][required], required, choices, depth);
                    }
                }
                object
            }
            None => self.typed(schema, name, choices, depth),
        }
    }

    fn typed(&self, schema: &Value, name: &str, choices: &mut Choices<'_>, depth: usize) -> Value {
        let json_type = match &schema["type"] {
            Value::Array(types) => types.iter().find(|one| *one != "null").unwrap_or(&Value::Null),
            one => one,
        };
        match json_type.as_str() {
            Some("null") => Value::Null,
            Some("boolean") => json!(choices.once_in(2)),
            Some("integer") => integer(schema, name, choices),
            Some("number") => json!(choices.pick(&[1.0, 0.5, 2.0, 0.1])),
            Some("string") => json!(text(name, choices)),
            Some("array") => {
                let min = schema["minItems"].as_u64().and_then(|min| usize::try_from(min).ok()).unwrap_or(0);
                let length = choices.below(3).max(min);
                let items = (0..length).map(|_| self.value(&schema["items"], name, choices, depth + 1));
                items.collect()
            }
            Some("object") if name == "headers" => json!({ "x-one": "1", "Accept-Language": "de" }),
            Some("object") if name == "schema" => {
                choices.pick(&[json!({}), json!({"type": "object"})]).clone()
            }
            Some("object") => self.object(schema, choices, depth),
            None => json!(1),
            other => panic!("{other:?} is not generated"),
        }
    }

    fn object(&self, schema: &Value, choices: &mut Choices<'_>, depth: usize) -> Value {
        let mut object = Map::new();
        let required = |name: &str| {
            schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
        };
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if required(name) {
                object.insert(name.clone(), self.value(property, name, choices, depth + 1));
            } else if depth < MAX_DEPTH && choices.once_in(rarity(name)) {
                let value = if choices.once_in(6) {
                    Value::Null
                } else {
                    self.value(property, name, choices, depth + 1)
                };
                object.insert(name.clone(), value);
            }
        }
        Value::Object(object)
    }
}

/// Returns the rarity of an optional field: it is generated once in this number of times.
fn rarity(name: &str) -> usize {
    match name {
        "scrapeOptions" | "formats" | "actions" => 2,
        "threatProtection" => 6,
        _ => 4,
    }
}

/// Keeps one of the fields that the alternatives require, and removes the others.
fn keep_one_alternative(object: &mut Value, alternatives: &[Value], choices: &mut Choices<'_>) {
    let names: Vec<&str> = alternatives.iter().filter_map(|one| one["required"][0].as_str()).collect();
    let kept = *choices.pick(&names);
    if let Value::Object(object) = object {
        object.retain(|name, value| !names.contains(&name.as_str()) || (name == kept && !value.is_null()));
    }
}

fn integer(schema: &Value, name: &str, choices: &mut Choices<'_>) -> Value {
    let min = schema["minimum"].as_u64().unwrap_or(0);
    // The sum of all waits of a request is limited.
    let max =
        if matches!(name, "milliseconds" | "waitFor") { Some(9_000) } else { schema["maximum"].as_u64() };
    let max = max.unwrap_or(u64::MAX);
    json!(choices.pick(&[min, max, min + (max - min) / 2, max - 1, min + 1]))
}

/// Returns a text that is valid in the field, or in the list, with this name.
fn text(name: &str, choices: &mut Choices<'_>) -> String {
    let texts: &[&str] = match name {
        "query" => &["a", "asyncio gather", "\"a b\" -c OR site:example.com", "𝄞 é", "larger:axb", "-"],
        "includeDomains" | "excludeDomains" | "blacklist" | "whitelist" => {
            &["example.com", "Bücher.example", "a.b.example.org.", "xn--bcher-kva.example"]
        }
        "blockedTlds" => &["zip", "xn--p1ai"],
        "includeTags" | "excludeTags" => &["main", ".ad", "a[href]", "p:not(.x)", "ul > li:nth-child(2)"],
        "selector" => &["#go", "button[name=a]", "li > a:first-child"],
        "tbs" => &["", "qdr:d", "qdr:w,sbd:1", "cdr:1,cd_min:01/02/2024,cd_max:02/29/2024"],
        "country" => &["US", "de", "UK", ""],
        "languages" => &["en", "pt-BR", "zh-Hant-TW", "de_AT"],
        _ => &["x", "a b", "ü", "\u{1F600}", "0", "/~\"\\"],
    };
    (*choices.pick(texts)).to_owned()
}

/// Removes values that break rules across fields.
fn apply_rules(request: &mut Value) {
    let is_filled = |value: &Value| value.as_array().is_some_and(|items| !items.is_empty());
    if is_filled(&request["includeDomains"]) && is_filled(&request["excludeDomains"]) {
        request["excludeDomains"] = json!([]);
    }
    if let Some(sources) = request.get_mut("sources") {
        deduplicate_types(sources);
    }
    let requests_retention =
        |option: &str| request["enterprise"].as_array().is_some_and(|items| items.contains(&json!(option)));
    let (is_zero_retention, is_anonymous) = (requests_retention("zdr"), requests_retention("anon"));
    if let Some(Value::Object(options)) = request.get_mut("scrapeOptions") {
        for list in ["formats", "parsers"] {
            if let Some(list) = options.get_mut(list) {
                deduplicate_types(list);
            }
        }
        if let Some(Value::Array(formats)) = options.get_mut("formats") {
            add_markdown(formats);
        }
        let number = |name: &str| options.get(name).and_then(Value::as_u64);
        if number("waitFor").unwrap_or(0) > number("timeout").unwrap_or(u64::MAX) / 2 {
            options.shift_remove("waitFor");
        }
        if is_zero_retention || is_anonymous {
            options.shift_remove("profile");
        }
    }
}

/// Adds the format markdown to changeTracking, which needs it.
fn add_markdown(formats: &mut Vec<Value>) {
    let has = |name: &str| formats.iter().any(|format| format == name || format["type"] == name);
    if has("changeTracking") && !has("markdown") {
        formats.push(json!("markdown"));
    }
}

fn deduplicate_types(list: &mut Value) {
    let Value::Array(items) = list else { return };
    let mut seen: Vec<String> = Vec::new();
    items.retain(|item| {
        let name = item.as_str().or_else(|| item["type"].as_str()).unwrap_or_default();
        let name = if name == "query" { "question" } else { name }.to_owned();
        let is_new = !seen.contains(&name);
        seen.push(name);
        is_new
    });
}
