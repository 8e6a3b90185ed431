//! The tools for monitors: converts the arguments of a call to a request.
//!
//! Names and arguments are those of the official server `firecrawl-mcp`, without its prefix (operations.md, section 3.11).

use bytes::Bytes;
use http::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use websvc_types::ErrorCode;
use websvc_types::limits::MONITOR_NAME_MAX_CHARS;
use websvc_types::monitor::{
    CreateMonitorRequest, EmailNotification, MonitorNotification, MonitorRequestSchedule, MonitorTarget,
    MonitorWebhook, ScrapeTarget, SearchTarget, SearchWindow,
};

use crate::response::ApiError;
use crate::service::InternalRequest;

/// Schedule of a monitor that is created without one.
pub(super) const DEFAULT_SCHEDULE: &str = "every 30 minutes";

const MONITORS: &str = "/v2/monitor";
const MONITOR: &str = "/v2/monitor/{id}";

type Arguments = Map<String, Value>;

/// A tool for monitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MonitorTool {
    Create,
    List,
    Get,
    Update,
    Delete,
    Run,
    Checks,
    Check,
}

impl MonitorTool {
    /// All tools, in the order in which models see them.
    pub(super) const ALL: [Self; 8] = [
        Self::Create,
        Self::List,
        Self::Get,
        Self::Update,
        Self::Delete,
        Self::Run,
        Self::Checks,
        Self::Check,
    ];

    /// Returns the name of the tool.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Create => "monitor_create",
            Self::List => "monitor_list",
            Self::Get => "monitor_get",
            Self::Update => "monitor_update",
            Self::Delete => "monitor_delete",
            Self::Run => "monitor_run",
            Self::Checks => "monitor_checks",
            Self::Check => "monitor_check",
        }
    }

    /// Returns the tool with a name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Converts the arguments of a call to a request.
    ///
    /// # Errors
    /// 400 that names the tool, the argument and the rule.
    pub(super) fn request(self, arguments: Arguments) -> Result<InternalRequest, ApiError> {
        let read = match self {
            Self::Create => create(arguments),
            Self::List => list(arguments),
            Self::Get => monitor(Method::GET, MONITOR, arguments),
            Self::Update => update(arguments),
            Self::Delete => monitor(Method::DELETE, MONITOR, arguments),
            Self::Run => monitor(Method::POST, "/v2/monitor/{id}/run", arguments),
            Self::Checks => checks(arguments),
            Self::Check => check(arguments),
        };
        read.map_err(|problem| {
            let text = format!("Invalid arguments of {}: {problem}", self.name());
            ApiError::new(ErrorCode::BadRequest, text)
        })
    }
}

/// A request, or the problem of the arguments.
type ReadRequest = Result<InternalRequest, String>;

fn create(mut arguments: Arguments) -> ReadRequest {
    let request = match arguments.shift_remove("body") {
        None | Some(Value::Null) => to_body(&read::<CreateArguments>(arguments)?.into_request()?),
        Some(Value::Object(body)) => {
            if let Some((name, _)) = arguments.iter().find(|(_, value)| !value.is_null()) {
                return Err(format!("{name:?} cannot be combined with \"body\"; put it into the body"));
            }
            to_body(&body)
        }
        Some(other) => return Err(format!("\"body\" must be an object, not {other}")),
    };
    Ok(InternalRequest::new(Method::POST, MONITORS).body(request))
}

fn update(arguments: Arguments) -> ReadRequest {
    let UpdateArguments { id, body } = read(arguments)?;
    Ok(InternalRequest::new(Method::PATCH, MONITOR).segment("id", &id).body(to_body(&body)))
}

fn monitor(method: Method, endpoint: &'static str, arguments: Arguments) -> ReadRequest {
    let MonitorArguments { id } = read(arguments)?;
    Ok(InternalRequest::new(method, endpoint).segment("id", &id))
}

fn list(arguments: Arguments) -> ReadRequest {
    let ListArguments { limit, offset } = read(arguments)?;
    Ok(part(InternalRequest::new(Method::GET, MONITORS), limit, ("offset", offset), None))
}

fn checks(arguments: Arguments) -> ReadRequest {
    let ChecksArguments { id, limit, offset, status } = read(arguments)?;
    let request = InternalRequest::new(Method::GET, "/v2/monitor/{id}/checks").segment("id", &id);
    Ok(part(request, limit, ("offset", offset), status))
}

fn check(arguments: Arguments) -> ReadRequest {
    let CheckArguments { id, check_id, limit, skip, page_status } = read(arguments)?;
    let request = InternalRequest::new(Method::GET, "/v2/monitor/{id}/checks/{checkId}");
    let request = request.segment("id", &id).segment("checkId", &check_id);
    Ok(part(request, limit, ("skip", skip), page_status))
}

fn read<T: DeserializeOwned>(arguments: Arguments) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

fn to_body<T: Serialize>(request: &T) -> Bytes {
    serde_json::to_vec(request).expect("requests have only text keys").into()
}

/// Requests a part of a list.
fn part(
    mut request: InternalRequest,
    limit: Option<u64>,
    (name, skip): (&str, Option<u64>),
    status: Option<String>,
) -> InternalRequest {
    for (name, number) in [("limit", limit), (name, skip)] {
        if let Some(number) = number {
            request = request.parameter(name, &number.to_string());
        }
    }
    match status {
        Some(status) => request.parameter("status", &status),
        None => request,
    }
}

/// The short form of `monitor_create`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct CreateArguments {
    page: Option<String>,
    pages: Option<Vec<String>>,
    queries: Option<Vec<String>>,
    search_window: Option<SearchWindow>,
    max_results: Option<u32>,
    include_domains: Option<Vec<String>>,
    exclude_domains: Option<Vec<String>>,
    goal: Option<String>,
    name: Option<String>,
    schedule_text: Option<String>,
    timezone: Option<String>,
    email: Option<String>,
    include_diffs: Option<bool>,
    webhook_url: Option<String>,
}

impl CreateArguments {
    /// Returns the request for the short form, with the defaults of the official server.
    fn into_request(self) -> Result<CreateMonitorRequest, String> {
        let Self {
            page,
            pages,
            queries,
            search_window,
            max_results,
            include_domains,
            exclude_domains,
            goal,
            name,
            schedule_text,
            timezone,
            email,
            include_diffs,
            webhook_url,
        } = self;
        let urls: Vec<String> =
            page.into_iter().chain(pages.unwrap_or_default()).filter(|text| is_filled(text)).collect();
        let queries: Vec<String> =
            queries.unwrap_or_default().into_iter().filter(|text| is_filled(text)).collect();
        let Some(subject) = queries.first().or(urls.first()) else {
            return Err("one of \"page\", \"pages\", \"queries\" and \"body\" is required".to_owned());
        };
        let default_name =
            || format!("Monitor {subject}").chars().take(MONITOR_NAME_MAX_CHARS as usize).collect();
        let name = name.filter(|text| is_filled(text)).unwrap_or_else(default_name);
        let mut targets = Vec::new();
        if !urls.is_empty() {
            targets.push(MonitorTarget::Scrape(ScrapeTarget { urls, ..ScrapeTarget::default() }));
        }
        if !queries.is_empty() {
            targets.push(MonitorTarget::Search(SearchTarget {
                queries,
                search_window,
                max_results,
                include_domains,
                exclude_domains,
                ..SearchTarget::default()
            }));
        }
        let text =
            schedule_text.filter(|text| is_filled(text)).unwrap_or_else(|| DEFAULT_SCHEDULE.to_owned());
        let email = email.filter(|text| is_filled(text)).map(|address| EmailNotification {
            enabled: Some(true),
            recipients: Some(vec![address]),
            include_diffs,
            statuses: None,
        });
        Ok(CreateMonitorRequest {
            name,
            schedule: MonitorRequestSchedule { text: Some(text), timezone, cron: None },
            targets,
            webhook: webhook_url.filter(|text| is_filled(text)).map(MonitorWebhook::Url),
            notification: email
                .map(|email| MonitorNotification { email: Some(email), ..MonitorNotification::default() }),
            goal,
            ..CreateMonitorRequest::default()
        })
    }
}

fn is_filled(text: &str) -> bool {
    !text.trim().is_empty()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MonitorArguments {
    id: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateArguments {
    id: String,
    body: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    limit: Option<u64>,
    offset: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChecksArguments {
    id: String,
    limit: Option<u64>,
    offset: Option<u64>,
    status: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CheckArguments {
    id: String,
    check_id: String,
    limit: Option<u64>,
    skip: Option<u64>,
    page_status: Option<String>,
}

#[cfg(test)]
mod tests;
