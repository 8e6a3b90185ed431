//! The OpenAPI 3.1 document of the service, generated from the published schemas and the table of errors.
//!
//! The document is also the file `docs/openapi.json`, which the service returns for `GET /openapi.json`. This module
//! requires the feature `openapi`.
//!
//! # Examples
//!
//! ```
//! let document = websvc_types::openapi::document();
//! assert_eq!(document["openapi"], "3.1.0");
//! assert_eq!(document["paths"]["/v2/search"]["post"]["operationId"], "searchAndScrape");
//! ```

mod adapter;
mod agent;
mod example;
mod extract;
mod feedback;
mod interact;
mod job;
mod llms_txt;
mod map;
mod monitor;
mod operation;
mod page;
mod response;
mod team;
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

Every failed request has a body with `success: false`, a message for people in `error` and, except for timeouts of the \
whole request, a code for programs in `code`. A request that breaks rules gets all violations at once in `details`. Besides \
the responses listed for each operation, an unknown path gets 404 `NOT_FOUND`, an unsupported method gets 405 \
`METHOD_NOT_ALLOWED` with the header `Allow`, and a message that is not valid HTTP gets 400, 408 or 431.

Repeated and trailing slashes of a path are ignored. `HEAD` is supported wherever `GET` is. Every response to valid HTTP has \
the header `x-request-id`, which identifies the request in the log. Unknown fields of a request are ignored and named in \
`warning`, except where the schema does not allow them.

Operators can run the service without authentication. A key is then neither required nor checked.";

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
        "servers": [{ "url": "/", "description": "The service that serves this document" }],
        "tags": [
            { "name": "search", "description": "Search, and scraping of the results" },
            { "name": "map", "description": "URLs of a site" },
            { "name": "scrape", "description": "Single pages and uploaded files" },
            { "name": "jobs", "description": "Crawls and batches, which run in the background" },
            { "name": "monitors", "description": "Recurring checks of pages, sites and searches" },
            { "name": "sessions", "description": "Browsers that clients control" },
            { "name": "agent", "description": "Runs in which a language model collects data from the web" },
            { "name": "index", "description": "Embedded index" },
            { "name": "usage", "description": "Usage and limits of the team" },
            { "name": "adapters", "description": "The same operations in the formats of other services" },
            { "name": "status", "description": "State of the service" },
        ],
        "security": [{ "bearer": [] }, { "apiKey": [] }],
        "paths": operation::paths(),
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "`Authorization: Bearer KEY`" },
                "apiKey": {
                    "type": "apiKey", "in": "header", "name": "x-api-key",
                    "description": "The key alone, for clients that cannot send `Authorization`",
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

/// Returns the document in its published form: the content of `docs/openapi.json` and `GET /openapi.json`.
#[must_use]
pub fn text() -> String {
    schema::text(document())
}

/// Returns all schemas and their definitions by component name.
///
/// # Panics
/// If two different schemas have the same name, see [`insert_component`].
fn schemas() -> Map<String, Value> {
    let mut definitions = Map::new();
    let status: [(&str, Schema); 3] = [
        ("health", schema::response::<HealthResponse>()),
        ("readiness", schema::response::<ReadinessResponse>()),
        ("welcome", schema::response::<RootResponse>()),
    ];
    for (name, schema) in schema::roots().into_iter().chain(status) {
        let Value::Object(mut schema) = schema.to_value() else { continue };
        schema.shift_remove("$schema");
        let inner = schema.shift_remove("$defs");
        insert_component(&mut definitions, pascal_case(name), Value::Object(schema));
        if let Some(Value::Object(inner)) = inner {
            inner.into_iter().for_each(|(name, schema)| insert_component(&mut definitions, name, schema));
        }
    }
    definitions
}

/// Adds a component, or replaces one with the same fields: the request schema and the response schema of a type may
/// differ in details.
///
/// # Panics
/// If a component with the same name has other fields. One of the two types then needs `#[schemars(rename)]`.
fn insert_component(components: &mut Map<String, Value>, name: String, schema: Value) {
    if let Some(existing) = components.get(&name) {
        assert_eq!(fields(existing), fields(&schema), "two different components are named {name}");
    }
    components.insert(name, schema);
}

/// Returns the property names of the schema of an object, sorted.
fn fields(schema: &Value) -> BTreeSet<&str> {
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// Replaces references to the definitions of a root schema by references to the components of the document.
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

/// Converts a file name such as `map-request` to a component name such as `MapRequest`.
fn pascal_case(name: &str) -> String {
    let mut out = String::new();
    for part in name.split('-') {
        let mut letters = part.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}
