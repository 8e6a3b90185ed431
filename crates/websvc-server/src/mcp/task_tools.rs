//! The tools for work that goes on after the call: crawls, batches, extractions and agent runs. Their definitions, which
//! language models read, and the requests of their calls.
//!
//! Names and arguments are those of the official server `firecrawl-mcp`, without its prefix.

mod schema;

use bytes::Bytes;
use http::Method;
use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use websvc_types::ErrorCode;

use super::definition::define;
use crate::response::ApiError;
use crate::service::InternalRequest;

/// The `origin` of work that a tool starts.
const ORIGIN: &str = "mcp";

/// A tool for work that goes on after the call.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskTool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    call: Call,
    /// It works only with a language model.
    pub(super) needs_model: bool,
}

/// The operation of a tool.
#[derive(Debug, Clone, Copy)]
enum Call {
    /// `POST`: the arguments are the body, with its checks. Their schema has the fields that are useful for models.
    Start { endpoint: &'static str, schema: fn() -> Value },
    /// `GET` by ID.
    Status { endpoint: &'static str },
    /// `GET` by ID of a part of the documents.
    Documents { endpoint: &'static str },
    /// `DELETE` by ID.
    Cancel { endpoint: &'static str },
}

const JOB_STATUS: &str = "Call again after some seconds while the status is scraping. Each call returns at most limit \
     documents with their content: continue with skip until skip and the number of documents reach total.";

/// All tools, in the order in which models see them.
pub(super) const ALL: &[TaskTool] = &[
    TaskTool {
        name: "crawl",
        title: "Crawl a site",
        description: "Starts a crawl: scrapes a page and the pages of the site that it links to. Returns only its ID: read \
            the pages with check_crawl_status. Set limit, because each page costs credits; use map if the URLs are enough.",
        call: Call::Start { endpoint: "/v2/crawl", schema: schema::crawl },
        needs_model: false,
    },
    TaskTool {
        name: "check_crawl_status",
        title: "Read a crawl",
        description: JOB_STATUS,
        call: Call::Documents { endpoint: "/v2/crawl/{id}" },
        needs_model: false,
    },
    TaskTool {
        name: "cancel_crawl",
        title: "Cancel a crawl",
        description: "Ends a crawl. Its pages so far can still be read.",
        call: Call::Cancel { endpoint: "/v2/crawl/{id}" },
        needs_model: false,
    },
    TaskTool {
        name: "batch_scrape",
        title: "Read many pages",
        description: "Starts to scrape a list of URLs. Returns only the ID of the batch: read the pages with \
            check_batch_status. For one page use scrape.",
        call: Call::Start { endpoint: "/v2/batch/scrape", schema: schema::batch },
        needs_model: false,
    },
    TaskTool {
        name: "check_batch_status",
        title: "Read a batch",
        description: JOB_STATUS,
        call: Call::Documents { endpoint: "/v2/batch/scrape/{id}" },
        needs_model: false,
    },
    TaskTool {
        name: "cancel_batch",
        title: "Cancel a batch",
        description: "Ends a batch. Its pages so far can still be read.",
        call: Call::Cancel { endpoint: "/v2/batch/scrape/{id}" },
        needs_model: false,
    },
    TaskTool {
        name: "extract",
        title: "Extract data from known pages",
        description: "Starts to extract data in the form of the schema from pages that are known. Returns only its ID: read \
            the data with extract_status. If the pages are not known, use agent.",
        call: Call::Start { endpoint: "/v2/extract", schema: schema::extract },
        needs_model: true,
    },
    TaskTool {
        name: "extract_status",
        title: "Get an extraction",
        description: "Returns the status of an extraction, and its data once the status is completed. While it is \
            processing, call again after 5 to 10 seconds.",
        call: Call::Status { endpoint: "/v2/extract/{id}" },
        needs_model: true,
    },
    TaskTool {
        name: "agent",
        title: "Collect data from the web",
        description: "Starts a run that searches the web and reads pages until it has the data that the prompt asks for, in \
            the form of the schema. Use it if the URLs are not known or the data are on several pages; for one known page use \
            scrape. Returns only the ID of the run and of its thread: read the run with agent_status. Pass the threadId with \
            another prompt for a follow-up question.",
        call: Call::Start { endpoint: "/v2/agent", schema: schema::agent },
        needs_model: true,
    },
    TaskTool {
        name: "agent_status",
        title: "Get an agent run",
        description: "Returns the status of a run of the tool agent, and its data once the status is completed. While it is \
            processing, call again after 15 to 30 seconds. A failed run has a stopReason, and may have what it had collected as \
            partial, which is not a result.",
        call: Call::Status { endpoint: "/v2/agent/{id}" },
        needs_model: true,
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IdArguments {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentsArguments {
    id: String,
    skip: Option<u64>,
    limit: Option<u64>,
}

impl TaskTool {
    /// Returns the tool with a name.
    pub(super) fn from_name(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|tool| tool.name == name)
    }

    /// Converts the arguments of a call to a request.
    ///
    /// # Errors
    /// 400 that names the tool, the argument and the rule.
    pub(super) fn request(&self, mut arguments: Map<String, Value>) -> Result<InternalRequest, ApiError> {
        match self.call {
            Call::Start { endpoint, schema: _ } => {
                arguments.entry("origin").or_insert_with(|| Value::from(ORIGIN));
                let body = Bytes::from(Value::Object(arguments).to_string());
                Ok(InternalRequest::new(Method::POST, endpoint).body(body))
            }
            Call::Status { endpoint } => self.by_id(Method::GET, endpoint, arguments),
            Call::Cancel { endpoint } => self.by_id(Method::DELETE, endpoint, arguments),
            Call::Documents { endpoint } => {
                let DocumentsArguments { id, skip, limit } = self.read(arguments)?;
                let limit = limit.unwrap_or(schema::DOCUMENTS_DEFAULT).to_string();
                let request = InternalRequest::new(Method::GET, endpoint).segment("id", &id);
                let request = request.parameter("limit", &limit);
                Ok(match skip {
                    Some(skip) => request.parameter("skip", &skip.to_string()),
                    None => request,
                })
            }
        }
    }

    fn by_id(
        &self,
        method: Method,
        endpoint: &'static str,
        arguments: Map<String, Value>,
    ) -> Result<InternalRequest, ApiError> {
        let IdArguments { id } = self.read(arguments)?;
        Ok(InternalRequest::new(method, endpoint).segment("id", &id))
    }

    fn read<T: DeserializeOwned>(&self, arguments: Map<String, Value>) -> Result<T, ApiError> {
        serde_json::from_value(Value::Object(arguments)).map_err(|error| {
            let text = format!("Invalid arguments of {}: {error}", self.name);
            ApiError::new(ErrorCode::BadRequest, text)
        })
    }

    /// Returns the definition for language models.
    pub(super) fn definition(&self) -> Tool {
        let hints = ToolAnnotations::with_title(self.title);
        let (hints, schema) = match self.call {
            Call::Start { schema, .. } => {
                (hints.read_only(false).destructive(false).idempotent(false).open_world(true), schema())
            }
            Call::Status { .. } => {
                (hints.read_only(true).destructive(false).open_world(false), schema::by_id())
            }
            Call::Documents { .. } => {
                (hints.read_only(true).destructive(false).open_world(false), schema::documents())
            }
            Call::Cancel { .. } => {
                (hints.read_only(false).destructive(true).idempotent(true).open_world(false), schema::by_id())
            }
        };
        define(self.name, self.description, schema, hints)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_starts_match_those_of_the_openapi_document() {
        let document = websvc_testkit::openapi_document();
        let schemas = &document["components"]["schemas"];
        for (schema, request) in [
            (schema::crawl(), "CrawlRequest"),
            (schema::batch(), "BatchScrapeRequest"),
            (schema::extract(), "ExtractRequest"),
            (schema::agent(), "AgentRequest"),
        ] {
            let request = &schemas[request]["properties"];
            assert!(request.get("origin").is_some(), "{request}");
            for (name, field) in schema["properties"].as_object().unwrap() {
                assert!(request.get(name).is_some(), "{name}");
                for keyword in ["minLength", "maxLength", "maxItems", "minimum", "maximum", "default"] {
                    if let Some(value) = field.get(keyword) {
                        assert_eq!(Some(value), request[name].get(keyword), "{name} {keyword}");
                    }
                }
            }
        }
    }

    /// A client that checks arguments against the schema of a tool must let pass what the service accepts.
    #[test]
    fn schema_of_a_start_accepts_all_fields_and_others_only_their_own() {
        for tool in ALL {
            let is_closed = tool.definition().input_schema.get("additionalProperties") == Some(&json!(false));
            assert_eq!(is_closed, !matches!(tool.call, Call::Start { .. }), "{}", tool.name);
        }
        let status = |arguments: Value| {
            let tool = TaskTool::from_name("check_crawl_status").unwrap();
            tool.request(arguments.as_object().unwrap().clone()).map(|request| request.parts().0).ok()
        };
        assert_eq!(status(json!({ "id": "x" })).as_deref(), Some("GET /v2/crawl/x?limit=10"));
        let part = status(json!({ "id": "x", "skip": 10, "limit": 5 }));
        assert_eq!(part.as_deref(), Some("GET /v2/crawl/x?limit=5&skip=10"));
        assert_eq!(status(json!({ "id": "x", "more": 1 })), None);
    }

    #[test]
    fn only_tools_that_read_are_read_only_and_only_those_that_cancel_destructive() {
        let names = |is_chosen: fn(&ToolAnnotations) -> Option<bool>| -> Vec<&str> {
            let chosen = ALL.iter().filter(|tool| {
                is_chosen(tool.definition().annotations.as_ref().expect("each tool has annotations"))
                    == Some(true)
            });
            chosen.map(|tool| tool.name).collect()
        };
        assert_eq!(
            names(|hints| hints.read_only_hint),
            ["check_crawl_status", "check_batch_status", "extract_status", "agent_status"]
        );
        assert_eq!(names(|hints| hints.destructive_hint), ["cancel_crawl", "cancel_batch"]);
    }
}
