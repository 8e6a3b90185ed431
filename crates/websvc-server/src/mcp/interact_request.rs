//! The tools for browser sessions: converts the arguments of a call to requests.
//!
//! The names `interact` and `interact_stop` and their arguments are those of the official server `firecrawl-mcp`, without
//! its prefix (clients.md, section 4).

use bytes::Bytes;
use http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use websvc_types::ErrorCode;

use crate::response::ApiError;
use crate::service::InternalRequest;

/// The path of the session of a scrape.
const OF_SCRAPE: &str = "/v2/scrape/{id}/interact";

type Arguments = Map<String, Value>;

/// A tool for browser sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InteractTool {
    Interact,
    Stop,
    Create,
    List,
    Execute,
    Delete,
}

/// The work of a call.
#[derive(Debug)]
pub(super) enum InteractCall {
    Request(InternalRequest),
    /// A scrape of a page, and then a request to its session.
    Page {
        /// The body of the scrape.
        scrape: Bytes,
        /// The body of the request to the session.
        interact: Bytes,
    },
}

impl InteractTool {
    /// All tools, in the order in which models see them.
    pub(super) const ALL: [Self; 6] =
        [Self::Interact, Self::Stop, Self::Create, Self::List, Self::Execute, Self::Delete];

    /// Returns the name of the tool.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Interact => "interact",
            Self::Stop => "interact_stop",
            Self::Create => "browser_create",
            Self::List => "browser_list",
            Self::Execute => "browser_execute",
            Self::Delete => "browser_delete",
        }
    }

    /// Returns the tool with a name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Converts the arguments of a call to its work. The requests check the values.
    ///
    /// # Errors
    /// 400 that names the tool, the argument and the rule.
    pub(super) fn call(self, arguments: Arguments) -> Result<InteractCall, ApiError> {
        let call = match self {
            Self::Interact => interact(arguments),
            Self::Stop => stop(arguments),
            Self::Create => Ok(create(arguments)),
            Self::List => list(arguments),
            Self::Execute => execute(arguments),
            Self::Delete => delete(arguments),
        };
        call.map_err(|problem| {
            let text = format!("Invalid arguments of {}: {problem}", self.name());
            ApiError::new(ErrorCode::BadRequest, text)
        })
    }
}

/// The work of a call, or the problem of its arguments.
type ReadCall = Result<InteractCall, String>;

fn interact(arguments: Arguments) -> ReadCall {
    let InteractArguments { scrape_id, url, scrape_options, code, prompt, language, timeout } =
        read(arguments)?;
    let fields = [("code", code), ("prompt", prompt), ("language", language), ("timeout", timeout)];
    let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let interact = to_body(given.collect());
    match (scrape_id, url) {
        (Some(scrape), None) => {
            if scrape_options.is_some() {
                return Err("\"scrapeOptions\" needs \"url\"".to_owned());
            }
            Ok(InteractCall::Request(interact_with(&scrape, interact)))
        }
        (None, Some(url)) => {
            let mut scrape = scrape_options.unwrap_or_default();
            if scrape.insert("url".to_owned(), url.into()).is_some() {
                return Err("\"scrapeOptions\" cannot have a \"url\"".to_owned());
            }
            Ok(InteractCall::Page { scrape: to_body(scrape), interact })
        }
        (None, None) | (Some(_), Some(_)) => {
            Err("exactly one of \"scrapeId\" and \"url\" is required".to_owned())
        }
    }
}

fn stop(arguments: Arguments) -> ReadCall {
    let ScrapeArguments { scrape_id } = read(arguments)?;
    let request = InternalRequest::new(Method::DELETE, OF_SCRAPE).segment("id", &scrape_id);
    Ok(InteractCall::Request(request))
}

fn create(arguments: Arguments) -> InteractCall {
    InteractCall::Request(InternalRequest::new(Method::POST, "/v2/browser").body(to_body(arguments)))
}

fn list(arguments: Arguments) -> ReadCall {
    let ListArguments { status } = read(arguments)?;
    let request = InternalRequest::new(Method::GET, "/v2/browser");
    Ok(InteractCall::Request(match status {
        Some(status) => request.parameter("status", &status),
        None => request,
    }))
}

fn execute(mut arguments: Arguments) -> ReadCall {
    let id = match arguments.shift_remove("sessionId") {
        Some(Value::String(id)) => id,
        Some(other) => return Err(format!("\"sessionId\" must be a string, not {other}")),
        None => return Err("missing field `sessionId`".to_owned()),
    };
    let request = InternalRequest::new(Method::POST, "/v2/browser/{id}/execute").segment("id", &id);
    Ok(InteractCall::Request(request.body(to_body(arguments))))
}

fn delete(arguments: Arguments) -> ReadCall {
    let SessionArguments { session_id } = read(arguments)?;
    let request = InternalRequest::new(Method::DELETE, "/v2/browser/{id}").segment("id", &session_id);
    Ok(InteractCall::Request(request))
}

/// Returns a request to the session of a scrape.
pub(super) fn interact_with(scrape: &str, body: Bytes) -> InternalRequest {
    InternalRequest::new(Method::POST, OF_SCRAPE).segment("id", scrape).body(body)
}

/// Returns the ID of a scrape from its response.
///
/// # Errors
/// 409 if the response has none, because the scrape was not stored.
pub(super) fn scrape_id(response: &str) -> Result<String, ApiError> {
    let response: Value = serde_json::from_str(response).unwrap_or_default();
    match response["data"]["metadata"]["scrapeId"].as_str() {
        Some(id) => Ok(id.to_owned()),
        None => {
            let text = "Replay context is unavailable: the scrape was not stored";
            Err(ApiError::new(ErrorCode::InteractReplayUnavailable, text))
        }
    }
}

/// Returns a response with the ID of its scrape, which later calls need.
pub(super) fn with_scrape_id(response: &str, scrape: &str) -> String {
    let mut response: Value = serde_json::from_str(response).unwrap_or_default();
    response["scrapeId"] = scrape.into();
    response.to_string()
}

fn read<T: DeserializeOwned>(arguments: Arguments) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

fn to_body(fields: Arguments) -> Bytes {
    Bytes::from(Value::Object(fields).to_string())
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InteractArguments {
    scrape_id: Option<String>,
    url: Option<String>,
    scrape_options: Option<Map<String, Value>>,
    code: Option<Value>,
    prompt: Option<Value>,
    language: Option<Value>,
    timeout: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ScrapeArguments {
    scrape_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SessionArguments {
    session_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    status: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_call(tool: InteractTool, arguments: Value) -> Result<InteractCall, String> {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        tool.call(arguments).map_err(|error| error.as_text())
    }

    #[track_caller]
    fn check(tool: InteractTool, arguments: Value, expected: &str, body: &Value) {
        match read_call(tool, arguments).unwrap() {
            InteractCall::Request(request) => {
                let (line, found) = request.parts();
                assert_eq!(line, expected);
                assert_eq!(serde_json::from_slice::<Value>(found).unwrap_or_default(), *body);
            }
            other @ InteractCall::Page { .. } => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn check_error(tool: InteractTool, arguments: Value, expected: &str) {
        let error = read_call(tool, arguments).unwrap_err();
        assert!(error.contains(expected) && error.contains(tool.name()), "{error}");
    }

    #[test]
    fn arguments_become_the_body_and_the_path_of_a_request() {
        let run = json!({ "code": "1", "language": "bash", "timeout": 1.5 });
        let mut arguments = run.clone();
        arguments["scrapeId"] = "7".into();
        check(InteractTool::Interact, arguments, "POST /v2/scrape/7/interact", &run);
        let task = json!({ "prompt": "Log in" });
        let arguments = json!({ "scrapeId": "7", "prompt": "Log in" });
        check(InteractTool::Interact, arguments, "POST /v2/scrape/7/interact", &task);
        let scrape = json!({ "scrapeId": "7" });
        check(InteractTool::Stop, scrape, "DELETE /v2/scrape/7/interact", &Value::Null);
        let settings = json!({ "ttl": 60, "profile": { "name": "shop" } });
        check(InteractTool::Create, settings.clone(), "POST /v2/browser", &settings);
        let mut arguments = run.clone();
        arguments["sessionId"] = "7".into();
        check(InteractTool::Execute, arguments, "POST /v2/browser/7/execute", &run);
        let session = json!({ "sessionId": "7" });
        check(InteractTool::Delete, session, "DELETE /v2/browser/7", &Value::Null);
    }

    #[test]
    fn page_without_a_scrape_is_scraped_first() {
        let options = json!({ "waitFor": 1, "profile": { "name": "shop" } });
        let arguments = json!({ "url": "http://tea.test/", "code": "1", "scrapeOptions": options });
        match read_call(InteractTool::Interact, arguments).unwrap() {
            InteractCall::Page { scrape, interact } => {
                let mut expected = options;
                expected["url"] = "http://tea.test/".into();
                assert_eq!(serde_json::from_slice::<Value>(&scrape).unwrap(), expected);
                assert_eq!(serde_json::from_slice::<Value>(&interact).unwrap(), json!({ "code": "1" }));
            }
            InteractCall::Request(request) => panic!("{request:?}"),
        }
        let response = r#"{"success":true,"data":{"metadata":{"scrapeId":"7"}}}"#;
        assert_eq!(scrape_id(response).unwrap(), "7");
        assert!(scrape_id(r#"{"success":true,"data":{}}"#).is_err());
        assert_eq!(with_scrape_id(r#"{"success":true}"#, "7"), r#"{"success":true,"scrapeId":"7"}"#);
    }

    #[test]
    fn list_has_its_status() {
        check(InteractTool::List, json!({}), "GET /v2/browser", &Value::Null);
        check(InteractTool::List, json!({ "status": "a&b" }), "GET /v2/browser?status=a%26b", &Value::Null);
    }

    #[test]
    fn invalid_arguments_are_named_with_their_tool() {
        let one = "exactly one of \"scrapeId\" and \"url\"";
        check_error(InteractTool::Interact, json!({ "code": "1" }), one);
        check_error(InteractTool::Interact, json!({ "code": "1", "scrapeId": "7", "url": "a" }), one);
        let options = json!({ "code": "1", "scrapeId": "7", "scrapeOptions": {} });
        check_error(InteractTool::Interact, options, "\"scrapeOptions\" needs \"url\"");
        let options = json!({ "code": "1", "url": "a", "scrapeOptions": { "url": "b" } });
        check_error(InteractTool::Interact, options, "cannot have a \"url\"");
        check_error(InteractTool::Interact, json!({ "scrapeId": "7", "cod": "1" }), "unknown field `cod`");
        check_error(InteractTool::Stop, json!({}), "missing field `scrapeId`");
        check_error(InteractTool::List, json!({ "limit": 1 }), "unknown field `limit`");
        check_error(InteractTool::Execute, json!({ "code": "1" }), "missing field `sessionId`");
        check_error(InteractTool::Execute, json!({ "sessionId": 7 }), "must be a string, not 7");
        check_error(InteractTool::Delete, json!({ "id": "7" }), "unknown field `id`");
    }

    #[test]
    fn names_are_found_and_unique() {
        for tool in InteractTool::ALL {
            assert_eq!(InteractTool::from_name(tool.name()), Some(tool));
        }
        assert_eq!(InteractTool::from_name("browser"), None);
    }
}
