//! Operations of the document, in the form of their YAML files.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::failure::Failures;
use super::{headers, yaml};
use crate::Result;

/// Failures of every operation that requires a key. Another failure of an operation with the same status replaces one.
const WITH_KEY: &[&str] = &["Unauthorized", "RateLimited", "UnknownError", "DatabaseUnavailable"];

/// Additional failures of such an operation if it has a body.
const WITH_BODY: &[&str] = &["Timeout", "PayloadTooLarge", "UnsupportedMediaType"];

/// An operation that is not complete yet: `like` may refer to another one.
pub(super) struct Draft {
    /// The file, for messages.
    file: String,
    fields: Map<String, Value>,
}

/// An operation. docs/contributing.md has the meaning of its fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Operation {
    operation: String,
    id: String,
    tag: String,
    summary: String,
    description: String,
    #[serde(default)]
    deprecated: bool,
    #[serde(default)]
    security: Security,
    #[serde(default)]
    parameters: Vec<Parameter>,
    request: Option<Body>,
    response: Option<Body>,
    #[serde(default)]
    failures: Vec<String>,
    #[serde(default)]
    openapi: Map<String, Value>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Security {
    /// A key is required.
    #[default]
    Key,
    /// A key is required in some configurations.
    Optional,
    None,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameter {
    name: String,
    /// `path` by default if the path has the name in braces, otherwise `query`.
    #[serde(rename = "in")]
    location: Option<String>,
    /// True by default in the path, otherwise false.
    required: Option<bool>,
    description: String,
    /// A schema, or `uuid`.
    schema: Value,
    example: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    /// The name of a component, or a schema.
    schema: Value,
    examples: Option<Value>,
    links: Option<Value>,
    required: Option<bool>,
}

/// Reads the operations of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Draft>> {
    let file = path.display().to_string();
    let Value::Array(operations) = yaml::read(path)? else {
        return Err(format!("{file}: it is not a list of operations").into());
    };
    let draft = |operation| match operation {
        Value::Object(fields) => Ok(Draft { file: file.clone(), fields }),
        other => Err(format!("{file}: an operation is an object, not {other}").into()),
    };
    operations.into_iter().map(draft).collect()
}

/// Returns the operations by path and method.
pub(super) fn paths(drafts: Vec<Draft>, failures: &Failures) -> Result<Value> {
    let mut complete: Vec<Map<String, Value>> = Vec::new();
    let mut paths = json!({});
    for Draft { file, fields } in drafts {
        let id = fields.get("id").cloned().unwrap_or_default();
        let located = |error: &dyn std::fmt::Display| format!("{file}: operation {id}: {error}");
        let fields = resolve(fields, &complete).map_err(|error| located(&error))?;
        complete.push(fields.clone());
        let operation: Operation =
            serde_json::from_value(Value::Object(fields)).map_err(|error| located(&error))?;
        let (method, path) =
            operation.operation.split_once(' ').ok_or_else(|| located(&"operation is not `method path`"))?;
        if !paths[path][method].is_null() {
            return Err(located(&"another operation has this method and path").into());
        }
        paths[path][method] = operation.to_value(path, failures).map_err(|error| located(&error))?;
    }
    Ok(paths)
}

/// Fills the fields of an operation from the one that `like` names, which precedes it in its file.
fn resolve(mut fields: Map<String, Value>, known: &[Map<String, Value>]) -> Result<Map<String, Value>> {
    let Some(like) = fields.shift_remove("like") else { return Ok(fields) };
    let model = known.iter().find(|operation| operation.get("id") == Some(&like));
    let mut model = model.cloned().ok_or_else(|| format!("like: no operation {like} precedes it"))?;
    let path = |fields: &Map<String, Value>| fields["operation"].as_str().unwrap_or_default().to_owned();
    if path(&fields).contains(" /v1/") && path(&model).contains(" /v2/") {
        model = version_1(model)?;
    }
    model.extend(fields);
    Ok(model)
}

/// Returns the operation of version 1 with the same requests and responses.
fn version_1(operation: Map<String, Value>) -> Result<Map<String, Value>> {
    let text = Value::Object(operation).to_string().replace("://websvc.test/v2/", "://websvc.test/v1/");
    let mut operation: Map<String, Value> = serde_json::from_str(&text)?;
    let summary = operation["summary"].as_str().unwrap_or_default();
    let summary = format!("{summary}, for clients of version 1");
    operation.insert("summary".to_owned(), summary.into());
    operation.insert("tag".to_owned(), "adapters".into());
    let links = operation.get_mut("response").and_then(|response| response["links"].as_object_mut());
    for link in links.into_iter().flat_map(|links| links.values_mut()) {
        link["operationId"] = format!("{}V1", link["operationId"].as_str().unwrap_or_default()).into();
    }
    Ok(operation)
}

impl Operation {
    fn to_value(&self, path: &str, failures: &Failures) -> Result<Value> {
        let mut value = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.description,
            "responses": self.responses(failures)?,
        });
        if self.deprecated {
            value["deprecated"] = true.into();
        }
        match self.security {
            Security::Key => {}
            Security::Optional => value["security"] = json!([{}, { "bearer": [] }, { "apiKey": [] }]),
            Security::None => value["security"] = json!([]),
        }
        if !self.parameters.is_empty() {
            value["parameters"] = self.parameters.iter().map(|parameter| parameter.to_value(path)).collect();
        }
        if let Some(body) = &self.request {
            let is_required = body.required.unwrap_or(true);
            value["requestBody"] = json!({ "required": is_required, "content": body.content() });
        }
        for (name, member) in &self.openapi {
            match (name.as_str(), member) {
                ("responses", Value::Object(responses)) => {
                    let all = value["responses"].as_object_mut().ok_or("responses is not an object")?;
                    all.extend(responses.clone());
                }
                _ => value[name] = member.clone(),
            }
        }
        Ok(value)
    }

    fn responses(&self, failures: &Failures) -> Result<Map<String, Value>> {
        let needs_key = self.security == Security::Key;
        let mut responses = Map::new();
        if let Some(body) = &self.response {
            let mut success = json!({
                "description": "Success",
                "headers": headers(needs_key, &[]),
                "content": body.content(),
            });
            if let Some(links) = &body.links {
                success["links"] = links.clone();
            }
            responses.insert("200".to_owned(), success);
        }
        let has_body = self.request.is_some() || self.openapi.contains_key("requestBody");
        let with_key = WITH_KEY.iter().filter(|_| needs_key);
        let with_body = WITH_BODY.iter().filter(|_| needs_key && has_body);
        let own = self.failures.iter().map(String::as_str);
        for name in with_key.chain(with_body).copied().chain(own) {
            let (status, reference) = failures.reference(name)?;
            responses.insert(status.to_string(), reference);
        }
        Ok(responses)
    }
}

impl Parameter {
    fn to_value(&self, path: &str) -> Value {
        let is_in_path = path.contains(&format!("{{{}}}", self.name));
        let location = self.location.as_deref().unwrap_or(if is_in_path { "path" } else { "query" });
        let schema = match &self.schema {
            Value::String(name) if name == "uuid" => json!({ "type": "string", "format": "uuid" }),
            schema => schema.clone(),
        };
        let mut value = json!({
            "name": self.name,
            "in": location,
            "required": self.required.unwrap_or(is_in_path),
            "description": self.description,
            "schema": schema,
        });
        if let Some(example) = &self.example {
            value["example"] = example.clone();
        }
        value
    }
}

impl Body {
    /// Returns the content of a JSON body.
    fn content(&self) -> Value {
        let schema = match &self.schema {
            Value::String(name) => json!({ "$ref": format!("#/components/schemas/{name}") }),
            schema => schema.clone(),
        };
        let mut content = json!({ "schema": schema });
        if let Some(examples) = &self.examples {
            content["examples"] = examples.clone();
        }
        json!({ "application/json": content })
    }
}
