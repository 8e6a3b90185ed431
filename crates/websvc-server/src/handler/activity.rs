//! `GET /v2/team/activity`: the requests and jobs of the caller's team in the last 24 hours.
//!
//! They contain queries and URLs. So a key sees only those that it may request itself.

use std::borrow::Cow;

use http::StatusCode;
use url::Url;
use websvc_jobs::timestamp;
use websvc_store::{ActivityCursor, ActivityFilter, ActivityRecord, Caller, JobKind, KeyScope};
use websvc_transport::without_credentials;
use websvc_types::ViolationCode;
use websvc_types::activity::{TeamActivityItem, TeamActivityResponse};
use websvc_types::limits::{
    ACTIVITY_LIMIT_DEFAULT, ACTIVITY_LIMIT_MAX, ACTIVITY_LIMIT_MIN, ACTIVITY_WINDOW_S,
};

use super::query;
use crate::authorize::authorize;
use crate::blocking::run_blocking;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, handler};
use crate::service::RequestContext;

/// The list has only what the key may request.
pub(crate) const ENDPOINTS: &[Endpoint] = &[Endpoint::get(
    "/v2/team/activity",
    OperationGroup::Team,
    handler!(|context, request| team_activity(&context, request.uri().query()).await),
)
.name("team-activity")];

/// Entries of the list.
#[derive(Debug, Clone, Copy)]
enum Entries {
    /// Requests for an operation.
    Requests(&'static str),
    /// Jobs of a kind.
    Jobs(JobKind),
}

/// The values of `endpoint`, with the entries that they list and the scope that a key needs to see them; `None` for
/// operations that this service does not have.
const LISTED: &[(&str, Option<(Entries, KeyScope)>)] = &[
    ("scrape", Some((Entries::Requests("scrape"), KeyScope::Scrape))),
    ("search", Some((Entries::Requests("search"), KeyScope::Search))),
    ("map", Some((Entries::Requests("map"), KeyScope::Map))),
    ("parse", Some((Entries::Requests("parse"), KeyScope::Scrape))),
    ("browser", Some((Entries::Requests("browser"), KeyScope::Interact))),
    ("interact", Some((Entries::Requests("browser"), KeyScope::Interact))),
    ("crawl", Some((Entries::Jobs(JobKind::Crawl), KeyScope::Crawl))),
    ("llmstxt", Some((Entries::Jobs(JobKind::Crawl), KeyScope::Crawl))),
    ("batch_scrape", Some((Entries::Jobs(JobKind::Batch), KeyScope::Batch))),
    ("extract", Some((Entries::Requests("extract"), KeyScope::Agent))),
    ("deep_research", None),
    ("agent", Some((Entries::Requests("agent"), KeyScope::Agent))),
];

/// The parameters of a request.
#[derive(Debug, PartialEq, Eq)]
struct ListRequest {
    /// A name in [`LISTED`]; `None` lists all of them.
    endpoint: Option<&'static str>,
    limit: u32,
    cursor: ActivityCursor,
}

/// Handles a request for the list.
async fn team_activity(context: &RequestContext<'_>, query: Option<&str>) -> Result<HttpResponse, ApiError> {
    let ListRequest { endpoint, limit, cursor } = ListRequest::parse(query)?;
    let filter = filter(endpoint, context.caller.as_ref());
    let (store, team) = (context.state.store.clone(), context.team_name().to_owned());
    let since_ms = store.now_ms().saturating_sub(ACTIVITY_WINDOW_S * 1_000);
    let page = run_blocking(move || store.activity_log(&team, &filter, since_ms, cursor, limit))
        .await?
        .map_err(|error| ApiError::internal(&error, "the activity could not be read"))?;
    let cursor = page.next.map(format_cursor);
    let response = TeamActivityResponse {
        success: true,
        data: page.records.into_iter().map(item).collect(),
        has_more: cursor.is_some(),
        cursor,
    };
    Ok(json(StatusCode::OK, &response))
}

/// Returns the entries of an endpoint or of all that the caller may see.
fn filter(endpoint: Option<&str>, caller: Option<&Caller>) -> ActivityFilter {
    let mut filter = ActivityFilter::default();
    for (name, entries) in LISTED {
        let is_requested = endpoint.is_none_or(|endpoint| endpoint == *name);
        let Some((entries, scope)) = entries.filter(|_| is_requested) else { continue };
        if authorize(caller, scope).is_ok() {
            match entries {
                Entries::Requests(operation) => filter.operations.push(operation),
                Entries::Jobs(kind) => filter.kinds.push(kind),
            }
        }
    }
    filter
}

fn item(record: ActivityRecord) -> TeamActivityItem {
    let ActivityRecord { id, operation, api_version, at_ms, target } = record;
    let is_job = [JobKind::Batch, JobKind::Crawl].iter().any(|kind| kind.as_str() == operation);
    // While a job runs, its URLs have the user name and the password that it needs.
    let target = target.map(|target| if is_job { public_url(target) } else { target });
    TeamActivityItem {
        id,
        endpoint: if operation == JobKind::Batch.as_str() { "batch_scrape".to_owned() } else { operation },
        api_version: api_version.as_str().to_owned(),
        created_at: timestamp(at_ms),
        target,
    }
}

/// Returns a URL without user name and password.
fn public_url(text: String) -> String {
    match Url::parse(&text) {
        Ok(url) => without_credentials(&url).into(),
        Err(_) => text,
    }
}

impl ListRequest {
    /// Parses a query string.
    ///
    /// # Errors
    /// 400 for an unknown endpoint, a limit outside its bounds, and a text that is not a cursor.
    fn parse(query: Option<&str>) -> Result<Self, ApiError> {
        let mut request =
            Self { endpoint: None, limit: ACTIVITY_LIMIT_DEFAULT, cursor: ActivityCursor::default() };
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match &*name {
                "endpoint" => request.endpoint = Some(parse_endpoint(&value)?),
                "limit" => request.limit = parse_limit(&value)?,
                "cursor" => request.cursor = parse_cursor(&value)?,
                _ => {}
            }
        }
        Ok(request)
    }
}

fn parse_endpoint(value: &str) -> Result<&'static str, ApiError> {
    match LISTED.iter().find(|(name, _)| *name == value) {
        Some((name, _)) => Ok(name),
        None => {
            let names: Vec<&str> = LISTED.iter().map(|(name, _)| *name).collect();
            let text = format!("endpoint must be one of {}, not {value:?}", names.join(", "));
            Err(query::invalid("endpoint", ViolationCode::UnknownValue, text))
        }
    }
}

fn parse_limit(value: &str) -> Result<u32, ApiError> {
    let limit = value.parse().ok().filter(|limit| (ACTIVITY_LIMIT_MIN..=ACTIVITY_LIMIT_MAX).contains(limit));
    limit.ok_or_else(|| {
        let text = format!(
            "limit must be a whole number between {ACTIVITY_LIMIT_MIN} and {ACTIVITY_LIMIT_MAX}, not {value:?}"
        );
        query::invalid("limit", ViolationCode::InvalidType, text)
    })
}

/// Returns the text of a cursor: the numbers of the last request and of the last job, or nothing.
fn format_cursor(cursor: ActivityCursor) -> String {
    let text = |number: Option<i64>| number.map_or(Cow::Borrowed(""), |number| number.to_string().into());
    format!("{}.{}", text(cursor.request), text(cursor.job))
}

fn parse_cursor(value: &str) -> Result<ActivityCursor, ApiError> {
    let number = |text: &str| match text {
        "" => Some(None),
        text => text.parse().ok().filter(|number| *number > 0).map(Some),
    };
    let cursor = value
        .split_once('.')
        .and_then(|(request, job)| Some(ActivityCursor { request: number(request)?, job: number(job)? }));
    cursor.ok_or_else(|| {
        let text = format!("cursor must be the cursor of an earlier page, not {value:?}");
        query::invalid("cursor", ViolationCode::InvalidFormat, text)
    })
}

#[cfg(test)]
mod tests {
    use websvc_store::ApiVersion;

    use super::*;

    #[test]
    fn parameters_are_parsed_from_the_query_string() {
        let check = |query, expected: Option<ListRequest>| {
            assert_eq!(ListRequest::parse(query).ok(), expected, "{query:?}");
        };
        let with = |endpoint, limit, request, job| {
            Some(ListRequest { endpoint, limit, cursor: ActivityCursor { request, job } })
        };
        check(None, with(None, 50, None, None));
        check(Some("limit=100&cursor=7.&x=y"), with(None, 100, Some(7), None));
        check(Some("cursor=.9"), with(None, 50, None, Some(9)));
        let batches = Some("batch_scrape");
        check(Some("endpoint=batch_scrape&limit=1&cursor=7.9"), with(batches, 1, Some(7), Some(9)));
        check(Some("endpoint=agent"), with(Some("agent"), 50, None, None));
        check(Some("endpoint=extract"), with(Some("extract"), 50, None, None));
        check(Some("endpoint=deep_research"), with(Some("deep_research"), 50, None, None));
        for wrong in [
            "limit=0",
            "limit=101",
            "limit=x",
            "endpoint=cat",
            "endpoint=",
            "cursor=7",
            "cursor=-1.2",
            "cursor=a.b",
        ] {
            check(Some(wrong), None);
        }
    }

    #[test]
    fn endpoint_selects_its_entries() {
        let check = |endpoint, operations: &[&str], kinds: &[JobKind]| {
            let filter = filter(endpoint, None);
            assert_eq!((&*filter.operations, &*filter.kinds), (operations, kinds), "{endpoint:?}");
        };
        check(Some("interact"), &["browser"], &[]);
        check(Some("llmstxt"), &[], &[JobKind::Crawl]);
        check(Some("deep_research"), &[], &[]);
        let all = ["scrape", "search", "map", "parse", "browser", "browser", "extract", "agent"];
        check(None, &all, &[JobKind::Crawl, JobKind::Crawl, JobKind::Batch]);
    }

    #[test]
    fn job_is_listed_without_the_credentials_of_its_url() {
        let target = |operation: &str, target: &str| {
            let record = ActivityRecord {
                api_version: ApiVersion::V2,
                id: "a".to_owned(),
                operation: operation.to_owned(),
                at_ms: 0,
                target: Some(target.to_owned()),
            };
            let TeamActivityItem { endpoint, target, .. } = item(record);
            (endpoint, target.unwrap_or_default())
        };
        let text = str::to_owned;
        assert_eq!(target("batch", "http://u:p@a.test/"), (text("batch_scrape"), text("http://a.test/")));
        assert_eq!(target("crawl", "http://u:p@a.test/"), (text("crawl"), text("http://a.test/")));
        assert_eq!(target("search", "http://u:p@a.test/"), (text("search"), text("http://u:p@a.test/")));
    }

    #[test]
    fn cursor_is_parsed_from_its_text() {
        for cursor in [
            ActivityCursor { request: Some(7), job: None },
            ActivityCursor { request: None, job: Some(1) },
            ActivityCursor { request: Some(i64::MAX), job: Some(2) },
        ] {
            assert_eq!(parse_cursor(&format_cursor(cursor)).ok(), Some(cursor));
        }
    }
}
