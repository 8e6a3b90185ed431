//! Lists of monitors, of their checks, and of the pages of a check.

use http::{Request, StatusCode};
use websvc_store::{CheckPageStatus, CheckStatus};
use websvc_transport::ServerBody;
use websvc_types::limits::{JOB_PAGE_BYTES, MONITOR_LIST_LIMIT_DEFAULT, MONITOR_LIST_LIMIT_MAX};
use websvc_types::monitor::{
    MonitorCheckDetail, MonitorCheckListResponse, MonitorCheckResponse, MonitorListResponse,
};
use websvc_types::{ErrorCode, ViolationCode};

use super::{find, wire};
use crate::blocking::run_blocking;
use crate::handler::{parse_uuid, query};
use crate::readable::ReadableFormats;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// The values of `status` for checks.
const CHECK_STATUSES: [CheckStatus; 7] = [
    CheckStatus::Queued,
    CheckStatus::Running,
    CheckStatus::Completed,
    CheckStatus::Failed,
    CheckStatus::Partial,
    CheckStatus::SkippedOverlap,
    CheckStatus::SkippedNoCredits,
];

/// The values of `status` for pages.
const PAGE_STATUSES: [CheckPageStatus; 5] = [
    CheckPageStatus::Same,
    CheckPageStatus::New,
    CheckPageStatus::Changed,
    CheckPageStatus::Removed,
    CheckPageStatus::Error,
];

/// `GET /v2/monitor`.
pub(super) async fn monitors(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::parse(request.uri().query(), &[])?;
    let records = context.state.monitors.list(context.team_name(), page.skip, page.limit).await?;
    let data = records.iter().map(wire).collect::<Result<_, _>>()?;
    Ok(json(StatusCode::OK, &MonitorListResponse { success: true, data }))
}

/// `GET /v2/monitor/{id}/checks`.
pub(super) async fn checks(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::parse(request.uri().query(), &CHECK_STATUSES.map(CheckStatus::as_str))?;
    let record = find(context, request).await?;
    let status = CHECK_STATUSES.into_iter().find(|status| page.status.as_deref() == Some(status.as_str()));
    let records = context.state.monitors.checks(record.number, status, page.skip, page.limit).await?;
    let deliveries =
        context.state.monitors.deliveries(records.iter().map(|record| record.number).collect()).await?;
    let checks = records.iter().zip(&deliveries);
    let data = checks.map(|(record, deliveries)| websvc_monitor::check(record, deliveries)).collect();
    Ok(json(StatusCode::OK, &MonitorCheckListResponse { success: true, data }))
}

/// `GET /v2/monitor/{id}/checks/{check}`.
pub(super) async fn check(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::parse(request.uri().query(), &PAGE_STATUSES.map(CheckPageStatus::as_str))?;
    let id = parse_uuid(context.capture(request, "checkId"), "Invalid check ID")?;
    let record = find(context, request).await?;
    let monitors = &context.state.monitors;
    let check = monitors.check(record.number, &id).await?;
    let check = check.ok_or_else(|| ApiError::new(ErrorCode::NotFound, "Check not found"))?;
    let status = PAGE_STATUSES.into_iter().find(|status| page.status.as_deref() == Some(status.as_str()));
    let found = monitors.check_pages(check.number, status, page.skip, page.limit, JOB_PAGE_BYTES).await?;
    let skip = page.skip.saturating_add(found.pages.len() as u64);
    let next = found.has_more.then(|| {
        let base_url = context.state.base_url(request).unwrap_or_default();
        let status = page.status.as_deref().map(|status| format!("&status={status}")).unwrap_or_default();
        let limit = page.limit;
        format!("{base_url}/v2/monitor/{}/checks/{}?skip={skip}&limit={limit}{status}", record.id, check.id)
    });
    // The pages may be megabytes of JSON.
    let formats = ReadableFormats::from_caller(context.caller.as_ref());
    let read = move |page| formats.check_page(websvc_monitor::check_page(page));
    let pages = run_blocking(move || found.pages.into_iter().map(read).collect()).await?;
    let deliveries = monitors.deliveries(vec![check.number]).await?.pop().unwrap_or_default();
    let data =
        MonitorCheckDetail { check: websvc_monitor::check(&check, &deliveries), pages, next: next.clone() };
    Ok(json(StatusCode::OK, &MonitorCheckResponse { success: true, next, data }))
}

/// The requested part of a list.
#[derive(Debug, PartialEq, Eq)]
struct PageRequest {
    skip: u64,
    limit: u64,
    status: Option<String>,
}

impl PageRequest {
    /// Parses `limit`, `offset` or `skip`, and `status` of a query string. A `status` must be one of `statuses`; without
    /// any, it is ignored like other names.
    ///
    /// # Errors
    /// 400 that names the value and the rule.
    fn parse(query: Option<&str>, statuses: &[&str]) -> Result<Self, ApiError> {
        let mut page = Self { skip: 0, limit: MONITOR_LIST_LIMIT_DEFAULT, status: None };
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match &*name {
                "limit" => page.limit = number(&name, &value, 1, MONITOR_LIST_LIMIT_MAX)?,
                "offset" | "skip" => page.skip = query::whole_number(&name, &value, 0)?,
                "status" if !statuses.is_empty() => {
                    if !statuses.contains(&&*value) {
                        let text = format!("status must be one of {}, not {value:?}", statuses.join(", "));
                        return Err(query::invalid("status", ViolationCode::UnknownValue, text));
                    }
                    page.status = Some(value.into_owned());
                }
                _ => {}
            }
        }
        Ok(page)
    }
}

fn number(name: &str, value: &str, min: u64, max: u64) -> Result<u64, ApiError> {
    let number = value.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| {
        let text = format!("{name} must be a whole number from {min} to {max}, not {value:?}");
        query::invalid(name, ViolationCode::InvalidType, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: Option<&str>, expected: Option<(u64, u64, Option<&str>)>) {
        let page = PageRequest::parse(query, &["same", "new"]).ok();
        let expected = expected.map(|(skip, limit, status)| PageRequest {
            skip,
            limit,
            status: status.map(str::to_owned),
        });
        assert_eq!(page, expected, "{query:?}");
    }

    #[test]
    fn part_of_a_list_is_parsed_from_the_query_string() {
        check(None, Some((0, 25, None)));
        check(Some("limit=1&offset=2&x=y"), Some((2, 1, None)));
        check(Some("skip=3&limit=100&status=new"), Some((3, 100, Some("new"))));
        check(Some("offset=18446744073709551616"), Some((u64::MAX, 25, None)));
        check(Some("limit=0"), None);
        check(Some("limit=101"), None);
        check(Some("offset=-1"), None);
        check(Some("status=fresh"), None);
    }
}
