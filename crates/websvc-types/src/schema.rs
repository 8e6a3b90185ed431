//! The published schemas: JSON Schema of every body, and the OpenAPI document.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::index::{IndexReply, IndexStats, IndexUpload};
use crate::{ErrorBody, ErrorCode, SearchRequest, SearchResponse};

/// Returns the schema of a body that is read: it allows every form that is accepted.
#[must_use]
pub fn request<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>()
}

/// Returns the schema of a body that is written.
#[must_use]
pub fn response<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Returns the published schemas with the names of their files.
#[must_use]
pub fn roots() -> Vec<(&'static str, Schema)> {
    vec![
        ("search-request", request::<SearchRequest>()),
        ("search-response", response::<SearchResponse>()),
        ("index-upload", request::<IndexUpload>()),
        ("index-reply", response::<IndexReply>()),
        ("index-stats", response::<IndexStats>()),
        ("error", response::<ErrorBody>()),
    ]
}

/// Returns the OpenAPI 3.1 document of the service.
#[must_use]
pub fn openapi() -> Value {
    let mut definitions = Map::new();
    for (name, schema) in roots() {
        let Value::Object(mut schema) = schema.to_value() else { continue };
        schema.remove("$schema");
        let inner = schema.remove("$defs");
        definitions.insert(pascal(name), Value::Object(schema));
        if let Some(Value::Object(inner)) = inner {
            definitions.extend(inner);
        }
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "websvc",
            "description": "Search the web and get the content of the results.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
            "version": "2",
        },
        "security": [{ "bearer": [] }],
        "paths": paths(),
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": definitions,
        },
    });
    point_to_components(&mut document);
    document
}

fn paths() -> Value {
    json!({
        "/v2/search": {
            "post": operation("searchAndScrape", "Searches, and scrapes the results when formats are asked for",
                Some("SearchRequest"), "SearchResponse",
                &[400, 401, 402, 403, 404, 408, 413, 415, 429, 500, 503]),
        },
        "/v2/index/documents": {
            "post": operation("addDocuments", "Adds documents to the embedded index",
                Some("IndexUpload"), "IndexReply", &[400, 401, 413, 415, 429, 500]),
        },
        "/v2/index/stats": {
            "get": operation("indexStats", "Returns the figures of the embedded index",
                None, "IndexStats", &[401, 429, 500]),
        },
        "/health": { "get": public("health", "Tells that the process answers") },
        "/ready": { "get": public("ready", "Tells whether requests can be served") },
    })
}

fn operation(id: &str, summary: &str, body: Option<&str>, answer: &str, failures: &[u16]) -> Value {
    let mut responses = Map::new();
    responses.insert("200".to_owned(), json!({ "description": "Success", "content": content(answer) }));
    for status in failures {
        let description = json!({ "description": conditions(*status), "content": content("Error") });
        responses.insert(status.to_string(), description);
    }
    let mut operation = json!({ "operationId": id, "summary": summary, "responses": responses });
    if let Some(body) = body {
        operation["requestBody"] = json!({ "required": true, "content": content(body) });
    }
    operation
}

fn public(id: &str, summary: &str) -> Value {
    json!({
        "operationId": id,
        "summary": summary,
        "security": [],
        "responses": { "200": { "description": "It is so", "content": { "application/json": {} } } },
    })
}

fn content(schema: &str) -> Value {
    json!({ "application/json": { "schema": { "$ref": format!("#/components/schemas/{schema}") } } })
}

/// Returns the codes of a status with their meanings.
fn conditions(status: u16) -> String {
    let rows = ErrorCode::ALL.iter().filter(|code| code.status() == status);
    rows.map(|code| format!("{code}: {}", code.meaning())).collect::<Vec<_>>().join(" ")
}

/// Turns references into a root schema's own definitions into references to the document's components.
fn point_to_components(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get_mut("$ref")
                && let Some(name) = reference.strip_prefix("#/$defs/")
            {
                *reference = format!("#/components/schemas/{name}");
            }
            object.values_mut().for_each(point_to_components);
        }
        Value::Array(items) => items.iter_mut().for_each(point_to_components),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn pascal(name: &str) -> String {
    let mut out = String::new();
    for part in name.split('-') {
        let mut letters = part.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}
