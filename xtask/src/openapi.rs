//! The OpenAPI 3.1 document of the service: a frame, the published schemas, and operations that are described next to their
//! handlers.
//!
//! The document is the file `docs/openapi.json`, which the service returns for `GET /openapi.json`. docs/contributing.md,
//! "OpenAPI document", has the fields of the YAML files.

mod failure;
mod operation;
mod yaml;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::Schema;
use serde_json::{Map, Value, json};
use websvc_types::schema;
use websvc_types::status::{HealthResponse, ReadinessResponse, RootResponse};

use crate::{Result, root};
use failure::Failures;

/// Folder of the YAML files, relative to the root of the repository.
const FOLDER: &str = "crates/websvc-server/src";

/// Name of the file with the frame of the document.
const FRAME: &str = "openapi.yaml";

/// Returns the document in its published form.
pub(crate) fn text() -> Result<String> {
    Ok(schema::text(document()?))
}

fn document() -> Result<Value> {
    let frame = root().join(FOLDER).join(FRAME);
    let mut document = yaml::read(&frame)?;
    let failures = Failures::take(&mut document).map_err(|error| format!("{}: {error}", frame.display()))?;
    let mut operations = Vec::new();
    for file in yaml_files(&root().join(FOLDER))? {
        if file != frame {
            operations.extend(operation::read(&file)?);
        }
    }
    document["paths"] = operation::paths(operations, &failures)?;
    document["components"]["responses"] = Value::Object(failures.responses()?);
    document["components"]["schemas"] = Value::Object(schemas());
    point_to_components(&mut document);
    Ok(document)
}

/// Returns the YAML files in a folder and its subfolders, sorted.
fn yaml_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(yaml_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
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

/// Headers of the rate limit.
const RATE_LIMIT: [&str; 4] =
    ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"];

/// Returns the headers of a response, with those of the rate limit if `has_rate_limit`.
fn headers(has_rate_limit: bool, others: &[String]) -> Value {
    let rate_limit = RATE_LIMIT.into_iter().filter(|_| has_rate_limit);
    let names = ["x-request-id"].into_iter().chain(rate_limit).chain(others.iter().map(String::as_str));
    let reference = |name: &str| json!({ "$ref": format!("#/components/headers/{name}") });
    Value::Object(names.map(|name| (name.to_owned(), reference(name))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Request and response schemas are generated separately. If two had the same name, one would be lost.
    #[test]
    fn document_contains_every_schema_unchanged() {
        let document = document().unwrap();
        let components = &document["components"]["schemas"];
        for (name, schema) in schema::roots() {
            let schema = schema.to_value();
            for (definition, expected) in schema["$defs"].as_object().into_iter().flatten() {
                let expected = expected.to_string().replace("#/$defs/", "#/components/schemas/");
                let expected: Value = serde_json::from_str(&expected).unwrap();
                assert_eq!(components[definition], expected, "{definition} of {name}");
            }
        }
    }

    #[test]
    fn references_have_targets() {
        let document = document().unwrap();
        let text = document.to_string();
        let references: BTreeSet<&str> =
            text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(references.len() > 20, "{references:?}");
        for reference in references {
            assert!(document.pointer(reference).is_some(), "{reference} has no target");
        }
    }
}
