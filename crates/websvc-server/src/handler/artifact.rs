//! `GET /artifacts/FILE`: artifacts, which are files that requests left, by their signed URLs.

use std::ops::Range;

use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use url::Url;
use websvc_artifacts::{ArtifactSource, Content, Disposition, FindError, SignedUrl};
use websvc_transport::{Body, ServerBody};
use websvc_types::ErrorCode;

use crate::authenticate::authenticate_optional;
use crate::response::{ApiError, HttpResponse, redirect, with_type};
use crate::route::{Endpoint, OperationGroup, handler};
use crate::service::RequestContext;

/// The policy of files that are downloaded: if a browser displays foreign markup anyway, it runs and loads nothing.
const SANDBOX: &str = "sandbox; default-src 'none'";

/// The handler checks the signature of the URL.
pub(crate) const ENDPOINTS: &[Endpoint] = &[Endpoint::get(
    "/artifacts/{file}",
    OperationGroup::Artifacts,
    handler!(|context, request| artifact(&context, &request).await),
)
.name("artifact")
.public()];

/// Responds with an artifact, or a part of it.
///
/// The signed URL is the permission, so that a browser can display an image. A client that also sends a key gets only
/// artifacts of its team.
async fn artifact(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let (uri, headers) = (request.uri(), request.headers());
    let signed_url = SignedUrl::parse(context.capture(request, "file"), uri.query()).ok_or_else(not_found)?;
    let state = context.state;
    let address = state.client_ip(request);
    let caller = authenticate_optional(state.authenticator(), headers, address, context.trail).await?;
    let team = caller.as_ref().map(|caller| caller.team.name.as_str());
    let source = state.artifacts.get(&signed_url, request.method(), team).await.map_err(api_error)?;
    match source {
        ArtifactSource::Local(content) => respond(content, request.method(), headers).await,
        ArtifactSource::Remote(url) => redirect_to_storage(&url),
    }
}

fn not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, FindError::NotFound.to_string())
}

fn api_error(error: FindError) -> ApiError {
    match error {
        FindError::NotFound => not_found(),
        FindError::Gone => ApiError::new(ErrorCode::Gone, error.to_string()),
        FindError::Failed(error) => ApiError::internal(&error, "the artifact could not be read"),
        error => ApiError::internal(&error, "the artifact could not be found"),
    }
}

/// Responds with the content of an artifact, or a part of it.
async fn respond(content: Content, method: &Method, headers: &HeaderMap) -> Result<HttpResponse, ApiError> {
    let Content { id, kind, bytes, remaining_s, name, .. } = &content;
    let (kind, bytes) = (*kind, *bytes);
    let etag = header_value(&format!("\"{id}\""))?;
    let mut response_headers = vec![
        (CACHE_CONTROL, header_value(&format!("private, max-age={remaining_s}, immutable"))?),
        (ETAG, etag.clone()),
        (ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (CONTENT_DISPOSITION, header_value(&kind.content_disposition(id, name.as_ref()))?),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
    ];
    if kind.disposition() == Disposition::Attachment {
        response_headers.push((CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX)));
    }
    if headers.get(IF_NONE_MATCH).is_some_and(|value| contains_etag(value, &etag)) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response.headers_mut().extend(response_headers);
        return Ok(response);
    }
    let (status, range) = match requested_range(headers, &etag, bytes) {
        RequestedRange::Whole => (StatusCode::OK, 0..bytes),
        RequestedRange::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
        RequestedRange::NotSatisfiable => return Err(ApiError::range_not_satisfiable(bytes)),
    };
    response_headers.push((CONTENT_LENGTH, HeaderValue::from(range.end - range.start)));
    if status == StatusCode::PARTIAL_CONTENT {
        let last = range.end - 1;
        response_headers
            .push((CONTENT_RANGE, header_value(&format!("bytes {}-{last}/{bytes}", range.start))?));
    }
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        let body = content.into_body(range).await;
        body.map_err(|error| ApiError::internal(&error, "the artifact could not be read"))?
    };
    let mut response = with_type(status, kind.media_type(), body);
    response.headers_mut().extend(response_headers);
    Ok(response)
}

/// Redirects to the storage of the artifact. The URL is valid for minutes, so the redirect must not be cached.
fn redirect_to_storage(url: &Url) -> Result<HttpResponse, ApiError> {
    let mut response = redirect(header_value(url.as_str())?);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

fn header_value(text: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::from_str(text).map_err(|error| ApiError::internal(&error, "a header could not be written"))
}

/// The range of bytes that a request asks for.
#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    Whole,
    Part(Range<u64>),
    /// A range outside of the artifact.
    NotSatisfiable,
}

/// Parses `Range` (RFC 9110, section 14.2). Several ranges, and ranges in other units than bytes, select the whole artifact.
fn requested_range(headers: &HeaderMap, etag: &HeaderValue, bytes: u64) -> RequestedRange {
    if headers.get(IF_RANGE).is_some_and(|value| value != etag) {
        return RequestedRange::Whole;
    }
    let range = headers.get(RANGE).and_then(|range| range.to_str().ok());
    let Some((first, last)) = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-')) else {
        return RequestedRange::Whole;
    };
    let (first, last) = (first.trim(), last.trim());
    let range = match (parse_position(first), parse_position(last)) {
        (Some(first), None) if last.is_empty() => first..bytes,
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(bytes),
        (None, Some(length)) if first.is_empty() => bytes.saturating_sub(length)..bytes,
        _ => return RequestedRange::Whole,
    };
    if range.is_empty() { RequestedRange::NotSatisfiable } else { RequestedRange::Part(range) }
}

/// Parses a number that consists only of digits. A number that is too large becomes the maximum, which is beyond the end
/// of every artifact.
fn parse_position(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Returns whether `If-None-Match` contains an entity tag, by weak comparison (RFC 9110, section 13.1.2).
fn contains_etag(if_none_match: &HeaderValue, etag: &HeaderValue) -> bool {
    let (Ok(list), Ok(etag)) = (if_none_match.to_str(), etag.to_str()) else { return false };
    list.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_byte_range_selects_a_part_and_everything_else_the_whole() {
        let etag = HeaderValue::from_static("\"a\"");
        let check = |range: &'static str, expected: RequestedRange| {
            let headers = HeaderMap::from_iter([(RANGE, HeaderValue::from_static(range))]);
            assert_eq!(requested_range(&headers, &etag, 10), expected, "{range}");
        };
        check("bytes=0-3", RequestedRange::Part(0..4));
        check("bytes=4-", RequestedRange::Part(4..10));
        check("bytes=-3", RequestedRange::Part(7..10));
        check("bytes=-30", RequestedRange::Part(0..10));
        check("bytes=9-99999999999999999999999", RequestedRange::Part(9..10));
        check("bytes=10-", RequestedRange::NotSatisfiable);
        check("bytes=99999999999999999999999-", RequestedRange::NotSatisfiable);
        check("bytes=-0", RequestedRange::NotSatisfiable);
        for whole in ["bytes=3-1", "bytes=0-1,3-4", "bytes=a-b", "bytes=-", "lines=1-2", "bytes=+1-2", ""] {
            check(whole, RequestedRange::Whole);
        }
    }

    #[test]
    fn range_with_another_if_range_tag_selects_the_whole() {
        let etag = HeaderValue::from_static("\"a\"");
        let mut headers = HeaderMap::from_iter([(RANGE, HeaderValue::from_static("bytes=0-3"))]);
        headers.insert(IF_RANGE, HeaderValue::from_static("\"b\""));
        assert_eq!(requested_range(&headers, &etag, 10), RequestedRange::Whole);
        headers.insert(IF_RANGE, etag.clone());
        assert_eq!(requested_range(&headers, &etag, 10), RequestedRange::Part(0..4));
    }

    #[test]
    fn if_none_match_is_a_list_of_weak_or_strong_tags() {
        let etag = HeaderValue::from_static("\"a\"");
        let check = |list: &'static str, expected| {
            assert_eq!(contains_etag(&HeaderValue::from_static(list), &etag), expected, "{list}");
        };
        check("\"a\"", true);
        check("\"b\", W/\"a\"", true);
        check("*", true);
        check("\"b\"", false);
        check("a", false);
    }
}
