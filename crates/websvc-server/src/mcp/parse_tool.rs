//! The tool that converts a file, whose bytes are an argument.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use websvc_types::ErrorCode;

use super::definition::define;
use crate::response::ApiError;
use crate::service::InternalRequest;

pub(super) const NAME: &str = "parse";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    file_name: String,
    data: String,
    options: Option<Map<String, Value>>,
}

/// Converts the arguments of a call to a request.
///
/// # Errors
/// 400 that names the argument and the rule.
pub(super) fn request(arguments: Map<String, Value>) -> Result<InternalRequest, ApiError> {
    let invalid = |problem: String| {
        ApiError::new(ErrorCode::BadRequest, format!("Invalid arguments of {NAME}: {problem}"))
    };
    let arguments = serde_json::from_value(Value::Object(arguments));
    let Arguments { file_name, data, options } = arguments.map_err(|error| invalid(error.to_string()))?;
    let file =
        STANDARD.decode(data.trim()).map_err(|error| invalid(format!("\"data\" is not base64: {error}")))?;
    let options = options.map(|options| Value::Object(options).to_string());
    Ok(InternalRequest::parse_file(&file_name, &file, options.as_deref()))
}

/// Returns the definition for language models.
pub(super) fn definition() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "fileName": { "type": "string", "description": "The name of the file, whose extension tells its type, such as report.pdf." },
            "data": { "type": "string", "description": "The bytes of the file in base64." },
            "options": { "type": "object", "description": "The options of POST /v2/parse, such as {\"formats\": [\"html\"]}." },
        },
        "required": ["fileName", "data"],
        "additionalProperties": false,
    });
    let hints =
        ToolAnnotations::with_title("Convert a file").read_only(true).destructive(false).open_world(false);
    let description = "Converts a small file, such as a PDF, Word, Excel, PowerPoint or HTML file, to markdown or other formats. \
        For a file on the web use scrape.";
    define(NAME, description, schema, hints)
}
