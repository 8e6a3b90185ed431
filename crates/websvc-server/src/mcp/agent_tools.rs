//! The tools for agent runs: their definitions, which language models read, and the requests of their calls.
//!
//! Names and arguments are those of the official server `firecrawl-mcp`, without its prefix.

use bytes::Bytes;
use http::Method;
use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use websvc_types::ErrorCode;
use websvc_types::limits::{
    AGENT_CREDITS_DEFAULT, AGENT_CREDITS_MAX, AGENT_CREDITS_MIN, AGENT_PROMPT_MAX_CHARS,
    AGENT_PROMPT_MIN_CHARS, AGENT_URLS_MAX,
};

use super::tools::define;
use crate::response::ApiError;
use crate::service::InternalRequest;

/// The `origin` of runs that a tool starts.
const ORIGIN: &str = "mcp";

/// A tool for agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentTool {
    Start,
    Status,
}

/// Arguments of the tool for the status of a run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusArguments {
    id: String,
}

impl AgentTool {
    /// All tools, in the order in which models see them.
    const ALL: [Self; 2] = [Self::Start, Self::Status];

    /// Returns the name of the tool.
    fn name(self) -> &'static str {
        match self {
            Self::Start => "agent",
            Self::Status => "agent_status",
        }
    }

    /// Returns the tool with a name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Converts the arguments of a call to a request. The arguments of a start are its body, with the same checks.
    ///
    /// # Errors
    /// 400 that names the tool, the argument and the rule.
    pub(super) fn request(self, mut arguments: Map<String, Value>) -> Result<InternalRequest, ApiError> {
        match self {
            Self::Start => {
                arguments.entry("origin").or_insert_with(|| Value::from(ORIGIN));
                let body = Bytes::from(Value::Object(arguments).to_string());
                Ok(InternalRequest::new(Method::POST, "/v2/agent").body(body))
            }
            Self::Status => {
                let StatusArguments { id } =
                    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
                        let text = format!("Invalid arguments of {}: {error}", self.name());
                        ApiError::new(ErrorCode::BadRequest, text)
                    })?;
                Ok(InternalRequest::new(Method::GET, "/v2/agent/{id}").segment("id", &id))
            }
        }
    }
}

/// Returns the tools for agent runs.
pub(super) fn all() -> Vec<Tool> {
    AgentTool::ALL.map(definition).into()
}

fn definition(tool: AgentTool) -> Tool {
    match tool {
        AgentTool::Start => {
            let hints = ToolAnnotations::with_title("Collect data from the web")
                .read_only(false)
                .destructive(false)
                .idempotent(false)
                .open_world(true);
            let description = "Starts a run that searches the web and reads pages until it has the data that the prompt asks for, \
                in the form of the schema. Use it if the URLs are not known or the data are on several pages; for one known page \
                use scrape. Returns only the ID of the run and of its thread: read the run with agent_status. Pass the threadId \
                with another prompt for a follow-up question.";
            define(tool.name(), description, start_schema(), hints)
        }
        AgentTool::Status => {
            let hints = ToolAnnotations::with_title("Get an agent run")
                .read_only(true)
                .destructive(false)
                .open_world(false);
            let description = "Returns the status of a run of the tool agent, and its data once the status is completed. While it \
                is processing, call again after 15 to 30 seconds. A failed run has a stopReason, and may have what it had \
                collected as partial, which is not a result.";
            define(tool.name(), description, status_schema(), hints)
        }
    }
}

/// Returns the schema of a start. It contains the fields that are useful for models; all fields of `POST /v2/agent` are
/// accepted.
fn start_schema() -> Value {
    let properties = json!({
        "prompt": {
            "type": "string", "minLength": AGENT_PROMPT_MIN_CHARS, "maxLength": AGENT_PROMPT_MAX_CHARS,
            "description": "The task in words. Name the fields that you need.",
        },
        "urls": {
            "type": "array", "maxItems": AGENT_URLS_MAX, "items": { "type": "string" },
            "description": "URLs to start with.",
        },
        "schema": { "type": "object", "description": "JSON Schema of the data." },
        "strictConstrainToURLs": {
            "type": "boolean", "default": false, "description": "Read only the pages in urls.",
        },
        "maxCredits": {
            "type": "integer", "minimum": AGENT_CREDITS_MIN, "maximum": AGENT_CREDITS_MAX, "default": AGENT_CREDITS_DEFAULT,
            "description": "Maximum of credits. A run that would need more fails and costs nothing.",
        },
        "effort": { "enum": ["low", "medium", "high"], "description": "Bound on the work. Default: medium." },
        "mode": {
            "enum": ["extract", "chat"], "default": "extract", "description": "chat also answers with a text in message.",
        },
        "threadId": {
            "type": "string",
            "description": "The thread to continue. The run knows its earlier turns, and inherits mode, urls and schema.",
        },
    });
    json!({ "type": "object", "properties": properties, "required": ["prompt"] })
}

/// Returns the schema of the status, which accepts only its ID.
fn status_schema() -> Value {
    let id = json!({ "type": "string", "description": "The ID of the run." });
    json!({ "type": "object", "properties": { "id": id }, "required": ["id"], "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_start_match_those_of_the_openapi_document() {
        let document = websvc_testkit::openapi_document();
        let request = &document["components"]["schemas"]["AgentRequest"]["properties"];
        for (name, field) in start_schema()["properties"].as_object().unwrap() {
            assert!(request.get(name).is_some(), "{name}");
            for keyword in ["minLength", "maxLength", "maxItems", "minimum", "maximum", "default"] {
                if let Some(value) = field.get(keyword) {
                    assert_eq!(Some(value), request[name].get(keyword), "{name} {keyword}");
                }
            }
        }
    }

    /// A client that checks arguments against the schema of a tool must let pass what the service accepts.
    #[test]
    fn schema_of_a_start_accepts_all_fields_and_that_of_the_status_only_the_id() {
        let fields = |tool: AgentTool| definition(tool).input_schema.get("additionalProperties").cloned();
        assert_eq!(fields(AgentTool::Start), None);
        assert_eq!(fields(AgentTool::Status), Some(Value::Bool(false)));
        let status = |arguments: Value| AgentTool::Status.request(arguments.as_object().unwrap().clone());
        assert!(status(json!({ "id": "x" })).is_ok());
        assert!(status(json!({ "id": "x", "more": 1 })).is_err());
    }

    #[test]
    fn only_the_status_is_read_only() {
        let read_only: Vec<String> = all()
            .into_iter()
            .filter(|tool| tool.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true))
            .map(|tool| tool.name.into_owned())
            .collect();
        assert_eq!(read_only, ["agent_status"]);
    }
}
