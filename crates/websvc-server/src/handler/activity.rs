//! `GET /v2/team/activity`: the requests and jobs of the caller's team in the last 24 hours.

use std::borrow::Cow;

use http::StatusCode;
use url::Url;
use websvc_jobs::timestamp;
use websvc_store::{ActivityCursor, ActivityFilter, ActivityPage, ActivityRecord, JobKind};
use websvc_transport::without_credentials;
use websvc_types::activity::{TeamActivityItem, TeamActivityResponse};
use websvc_types::limits::{
    ACTIVITY_LIMIT_DEFAULT, ACTIVITY_LIMIT_MAX, ACTIVITY_LIMIT_MIN, ACTIVITY_WINDOW_S,
};
use websvc_types::{ErrorCode, Violation, ViolationCode};

use crate::blocking::run_blocking;
use crate::clock;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// The values of `endpoint`, with the entries that they list; `None` for operations that this service does not have.
const ENDPOINTS: &[(&str, Option<ActivityFilter>)] = &[
    ("scrape", Some(ActivityFilter::Requests("scrape"))),
    ("search", Some(ActivityFilter::Requests("search"))),
    ("map", Some(ActivityFilter::Requests("map"))),
    ("parse", Some(ActivityFilter::Requests("parse"))),
    ("browser", Some(ActivityFilter::Requests("browser"))),
    ("interact", Some(ActivityFilter::Requests("browser"))),
    ("crawl", Some(ActivityFilter::Jobs(JobKind::Crawl))),
    ("llmstxt", Some(ActivityFilter::Jobs(JobKind::Crawl))),
    ("batch_scrape", Some(ActivityFilter::Jobs(JobKind::Batch))),
    ("extract", Some(ActivityFilter::Requests("extract"))),
    ("deep_research", None),
    ("agent", Some(ActivityFilter::Requests("agent"))),
];

/// The parameters of a request.
#[derive(Debug, PartialEq, Eq)]
struct ListRequest {
    /// `None` lists nothing.
    filter: Option<ActivityFilter>,
    limit: u32,
    cursor: ActivityCursor,
}

/// Handles a request for the list.
pub(crate) async fn team_activity(
    context: &RequestContext<'_>,
    query: Option<&str>,
) -> Result<HttpResponse, ApiError> {
    let ListRequest { filter, limit, cursor } = ListRequest::parse(query)?;
    let page = match filter {
        Some(filter) => {
            let (store, team) = (context.state.store.clone(), context.team_name().to_owned());
            let since_ms = clock::now_ms().saturating_sub(ACTIVITY_WINDOW_S * 1_000);
            run_blocking(move || store.activity_log(&team, filter, since_ms, cursor, limit))
                .await?
                .map_err(|error| ApiError::internal(&error, "the activity could not be read"))?
        }
        None => ActivityPage::default(),
    };
    let cursor = page.next.map(format_cursor);
    let response = TeamActivityResponse {
        success: true,
        data: page.records.into_iter().map(item).collect(),
        has_more: cursor.is_some(),
        cursor,
    };
    Ok(json(StatusCode::OK, &response))
}

fn item(record: ActivityRecord) -> TeamActivityItem {
    let ActivityRecord { id, operation, at_ms, target } = record;
    let is_job = [JobKind::Batch, JobKind::Crawl].iter().any(|kind| kind.as_str() == operation);
    // While a job runs, its URLs have the user name and the password that it needs.
    let target = target.map(|target| if is_job { public_url(target) } else { target });
    TeamActivityItem {
        id,
        endpoint: if operation == JobKind::Batch.as_str() { "batch_scrape".to_owned() } else { operation },
        api_version: "v2".to_owned(),
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
        let mut request = Self {
            filter: Some(ActivityFilter::All),
            limit: ACTIVITY_LIMIT_DEFAULT,
            cursor: ActivityCursor::default(),
        };
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match &*name {
                "endpoint" => request.filter = parse_endpoint(&value)?,
                "limit" => request.limit = parse_limit(&value)?,
                "cursor" => request.cursor = parse_cursor(&value)?,
                _ => {}
            }
        }
        Ok(request)
    }
}

fn parse_endpoint(value: &str) -> Result<Option<ActivityFilter>, ApiError> {
    match ENDPOINTS.iter().find(|(name, _)| *name == value) {
        Some((_, filter)) => Ok(*filter),
        None => {
            let names: Vec<&str> = ENDPOINTS.iter().map(|(name, _)| *name).collect();
            let text = format!("endpoint must be one of {}, not {value:?}", names.join(", "));
            Err(invalid("/endpoint", ViolationCode::UnknownValue, text))
        }
    }
}

fn parse_limit(value: &str) -> Result<u32, ApiError> {
    let limit = value.parse().ok().filter(|limit| (ACTIVITY_LIMIT_MIN..=ACTIVITY_LIMIT_MAX).contains(limit));
    limit.ok_or_else(|| {
        let text = format!(
            "limit must be a whole number between {ACTIVITY_LIMIT_MIN} and {ACTIVITY_LIMIT_MAX}, not {value:?}"
        );
        invalid("/limit", ViolationCode::InvalidType, text)
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
        invalid("/cursor", ViolationCode::InvalidFormat, text)
    })
}

fn invalid(path: &str, code: ViolationCode, message: String) -> ApiError {
    ApiError::invalid(ErrorCode::BadRequest, vec![Violation { path: path.to_owned(), code, message }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_parsed_from_the_query_string() {
        let check = |query, expected: Option<ListRequest>| {
            assert_eq!(ListRequest::parse(query).ok(), expected, "{query:?}");
        };
        let with = |filter, limit, request, job| {
            Some(ListRequest { filter, limit, cursor: ActivityCursor { request, job } })
        };
        let all = Some(ActivityFilter::All);
        check(None, with(all, 50, None, None));
        check(Some("limit=100&cursor=7.&x=y"), with(all, 100, Some(7), None));
        check(Some("cursor=.9"), with(all, 50, None, Some(9)));
        let batches = Some(ActivityFilter::Jobs(JobKind::Batch));
        check(Some("endpoint=batch_scrape&limit=1&cursor=7.9"), with(batches, 1, Some(7), Some(9)));
        check(Some("endpoint=deep_research"), with(None, 50, None, None));
        let extractions = Some(ActivityFilter::Requests("extract"));
        check(Some("endpoint=extract"), with(extractions, 50, None, None));
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
    fn job_is_listed_without_the_credentials_of_its_url() {
        let target = |operation: &str, target: &str| {
            let record = ActivityRecord {
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
