//! The tools for browser sessions: converts the arguments of a call to requests.
//!
//! The names `interact` and `interact_stop` and their arguments are those of the official server `firecrawl-mcp`, without
//! its prefix (clients.md, section 4).

use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::form_urlencoded;
use websvc_types::ErrorCode;

use crate::handler::{BrowserOperation, BrowserRequest};
use crate::response::ApiError;
use crate::service::InternalRequest;

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
    let path = format!("/v2/scrape/{scrape_id}/interact");
    Ok(request(BrowserOperation::EndInteract, BrowserRequest { path, ..BrowserRequest::default() }))
}

fn create(arguments: Arguments) -> InteractCall {
    request(
        BrowserOperation::Create,
        BrowserRequest { body: to_body(arguments), ..BrowserRequest::default() },
    )
}

fn list(arguments: Arguments) -> ReadCall {
    let ListArguments { status } = read(arguments)?;
    let query = status.map(|status| {
        form_urlencoded::Serializer::new(String::new()).append_pair("status", &status).finish()
    });
    Ok(request(BrowserOperation::List, BrowserRequest { query, ..BrowserRequest::default() }))
}

fn execute(mut arguments: Arguments) -> ReadCall {
    let id = match arguments.shift_remove("sessionId") {
        Some(Value::String(id)) => id,
        Some(other) => return Err(format!("\"sessionId\" must be a string, not {other}")),
        None => return Err("missing field `sessionId`".to_owned()),
    };
    let (path, body) = (session_path(&id), to_body(arguments));
    Ok(request(BrowserOperation::Execute, BrowserRequest { path, body, ..BrowserRequest::default() }))
}

fn delete(arguments: Arguments) -> ReadCall {
    let SessionArguments { session_id } = read(arguments)?;
    let path = session_path(&session_id);
    Ok(request(BrowserOperation::End, BrowserRequest { path, ..BrowserRequest::default() }))
}

fn session_path(id: &str) -> String {
    format!("/v2/browser/{id}")
}

fn request(operation: BrowserOperation, request: BrowserRequest) -> InteractCall {
    InteractCall::Request(InternalRequest::Browser(operation, Box::new(request)))
}

/// Returns a request to the session of a scrape.
pub(super) fn interact_with(scrape: &str, body: Bytes) -> InternalRequest {
    let path = format!("/v2/scrape/{scrape}/interact");
    let request = BrowserRequest { path, body, ..BrowserRequest::default() };
    InternalRequest::Browser(BrowserOperation::Interact, Box::new(request))
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
    fn check(tool: InteractTool, arguments: Value, operation: BrowserOperation, path: &str, body: &Value) {
        match read_call(tool, arguments).unwrap() {
            InteractCall::Request(InternalRequest::Browser(found, request)) => {
                assert_eq!((found, &*request.path), (operation, path));
                assert_eq!(serde_json::from_slice::<Value>(&request.body).unwrap_or_default(), *body);
            }
            other => panic!("{other:?}"),
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
        let path = "/v2/scrape/7/interact";
        check(InteractTool::Interact, arguments, BrowserOperation::Interact, path, &run);
        let task = json!({ "prompt": "Log in" });
        let arguments = json!({ "scrapeId": "7", "prompt": "Log in" });
        check(InteractTool::Interact, arguments, BrowserOperation::Interact, path, &task);
        let scrape = json!({ "scrapeId": "7" });
        check(InteractTool::Stop, scrape, BrowserOperation::EndInteract, path, &Value::Null);
        let settings = json!({ "ttl": 60, "profile": { "name": "shop" } });
        check(InteractTool::Create, settings.clone(), BrowserOperation::Create, "", &settings);
        let mut arguments = run.clone();
        arguments["sessionId"] = "7".into();
        check(InteractTool::Execute, arguments, BrowserOperation::Execute, "/v2/browser/7", &run);
        let session = json!({ "sessionId": "7" });
        check(InteractTool::Delete, session, BrowserOperation::End, "/v2/browser/7", &Value::Null);
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
        match read_call(InteractTool::List, json!({ "status": "a&b" })).unwrap() {
            InteractCall::Request(InternalRequest::Browser(BrowserOperation::List, request)) => {
                assert_eq!(request.query.as_deref(), Some("status=a%26b"));
            }
            other => panic!("{other:?}"),
        }
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
