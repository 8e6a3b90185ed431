//! The OpenAPI 3.1 document of the service, made of the published schemas and of the table of errors.

mod adapter;
mod example;
mod job;
mod map;
mod operation;
mod page;
mod response;
mod usage;
mod webhook;

use std::collections::BTreeSet;

use schemars::Schema;
use serde_json::{Map, Value, json};

use crate::schema;
use crate::status::{HealthResponse, ReadinessResponse, RootResponse};

/// Introduction of the document, in Markdown.
const DESCRIPTION: &str = "\
Search the web and get the content of the results.

Every failure has a body with `success: false`, an `error` for a person and, but for timeouts, a `code` for a program; \
a request that breaks rules gets all of them at once in `details`. Beside what each operation lists, a path that does \
not exist is answered with 404 `NOT_FOUND`, another method with 405 `METHOD_NOT_ALLOWED` and `Allow`, and what is no \
valid HTTP, by 400, 408 or 431, before it comes to an operation.

Doubled and trailing slashes of a path do not count, `HEAD` is answered wherever `GET` is, and every answer to valid \
HTTP carries `x-request-id`, by which the log can be searched. Unknown fields of a request are ignored and named in `warning`, \
except where a schema says that there are no others.

Operators can run the service without authentication; then a key is neither needed nor looked at.";

/// Returns the OpenAPI 3.1 document of the service.
#[must_use]
pub fn document() -> Value {
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "websvc",
            "summary": "Search the web and get the content of the results",
            "description": DESCRIPTION,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
            "version": "2",
        },
        "servers": [{ "url": "/", "description": "The service that this document comes from" }],
        "tags": [
            { "name": "search", "description": "Searching, and scraping of what is found" },
            { "name": "map", "description": "The URLs of a site" },
            { "name": "scrape", "description": "Getting one page, and reading uploaded files" },
            { "name": "jobs", "description": "Pages that are got after the request was answered" },
            { "name": "index", "description": "The embedded index" },
            { "name": "usage", "description": "What the caller's own team may use and has used" },
            { "name": "adapters", "description": "Interfaces of others over these operations" },
            { "name": "status", "description": "What the service says of itself, to anybody" },
        ],
        "security": [{ "bearer": [] }, { "apiKey": [] }],
        "paths": operation::paths(),
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "`Authorization: Bearer KEY`" },
                "apiKey": {
                    "type": "apiKey", "in": "header", "name": "x-api-key",
                    "description": "The key alone, where a bearer header cannot be sent",
                },
            },
            "headers": response::headers(),
            "responses": response::components(),
            "schemas": schemas(),
        },
    });
    point_to_components(&mut document);
    document
}

/// Returns the bytes of the document: those of `docs/openapi.json` and of `GET /openapi.json`.
#[must_use]
pub fn text() -> String {
    schema::text(document())
}

/// Returns the schemas by name, with the definitions of each.
///
/// # Panics
/// When two different schemas have one name, see [`insert_component`].
fn schemas() -> Map<String, Value> {
    let mut definitions = Map::new();
    let own: [(&str, Schema); 3] = [
        ("health", schema::response::<HealthResponse>()),
        ("readiness", schema::response::<ReadinessResponse>()),
        ("welcome", schema::response::<RootResponse>()),
    ];
    for (name, schema) in schema::roots().into_iter().chain(own) {
        let Value::Object(mut schema) = schema.to_value() else { continue };
        schema.remove("$schema");
        let inner = schema.remove("$defs");
        insert_component(&mut definitions, pascal(name), Value::Object(schema));
        if let Some(Value::Object(inner)) = inner {
            inner.into_iter().for_each(|(name, schema)| insert_component(&mut definitions, name, schema));
        }
    }
    definitions
}

/// Adds a component, or replaces one with the same fields: the form of a type that is read and the form that is written
/// may differ in their details.
///
/// # Panics
/// When a component with other fields has the name: one of the two types needs `#[schemars(rename)]`.
fn insert_component(components: &mut Map<String, Value>, name: String, schema: Value) {
    if let Some(former) = components.get(&name) {
        assert_eq!(fields(former), fields(&schema), "two components are named {name}");
    }
    components.insert(name, schema);
}

/// Returns the names of the properties of an object's schema, sorted.
fn fields(schema: &Value) -> BTreeSet<&str> {
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
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
