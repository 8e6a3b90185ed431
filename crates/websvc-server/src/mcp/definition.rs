//! Definitions of tools.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

/// Returns the definition of a tool.
pub(super) fn define(
    name: &'static str,
    description: &'static str,
    schema: Value,
    hints: ToolAnnotations,
) -> Tool {
    let schema: JsonObject = match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    Tool::new(name, description, Arc::new(schema)).with_annotations(hints)
}
