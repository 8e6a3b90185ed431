//! `GET /artifacts/FILE`: files that requests left behind, read by their signed URLs.

use std::ops::Range;

use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH, IF_RANGE, LOCATION, RANGE, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use url::Url;
use websvc_artifacts::{ArtifactSource, Content, Disposition, FindError, SignedUrl};
use websvc_transport::{Body, ServerBody};
use websvc_types::ErrorCode;

use crate::authenticate::authenticate_optional;
use crate::response::{ApiError, HttpResponse, with_type};
use crate::service::RequestContext;

/// Markup of strangers runs nothing and loads nothing, should a browser show it all the same.
const SANDBOX: &str = "sandbox; default-src 'none'";

/// Answers with an artifact, or a part of it.
///
/// The URL is the permission, so that a browser can show a picture. Whoever shows a key beside it gets what is of the
/// key's team alone.
pub(crate) async fn artifact(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let (uri, headers) = (request.uri(), request.headers());
    let file = uri.path().rsplit('/').find(|segment| !segment.is_empty()).unwrap_or_default();
    let link = SignedUrl::parse(file, uri.query()).ok_or_else(not_found)?;
    let address = context.origin.client_ip(request.body().peer_addr().ip(), headers);
    let caller =
        authenticate_optional(context.authentication, context.store, headers, address, context.trail)?;
    let team = caller.as_ref().map(|caller| caller.team.name.as_str());
    let found = context.artifacts.get(&link, request.method(), team).await.map_err(failure)?;
    match found {
        ArtifactSource::Local(content) => here(content, request.method(), headers).await,
        ArtifactSource::Remote(url) => elsewhere(&url),
    }
}

fn not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, FindError::NotFound.to_string())
}

fn failure(error: FindError) -> ApiError {
    match error {
        FindError::NotFound => not_found(),
        FindError::Gone => ApiError::new(ErrorCode::Gone, error.to_string()),
        FindError::Failed(error) => ApiError::internal(&error, "the artifact could not be read"),
        error => ApiError::internal(&error, "the artifact could not be found"),
    }
}

async fn here(content: Content, method: &Method, headers: &HeaderMap) -> Result<HttpResponse, ApiError> {
    let Content { id, kind, bytes, remaining_s, .. } = &content;
    let (kind, bytes) = (*kind, *bytes);
    let tag = value(&format!("\"{id}\""))?;
    let mut own = vec![
        (CACHE_CONTROL, value(&format!("private, max-age={remaining_s}, immutable"))?),
        (ETAG, tag.clone()),
        (ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (CONTENT_DISPOSITION, value(&kind.content_disposition(id))?),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
    ];
    if kind.disposition() == Disposition::Attachment {
        own.push((CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX)));
    }
    if headers.get(IF_NONE_MATCH).is_some_and(|given| names(given, &tag)) {
        let mut reply = Response::new(Body::empty());
        *reply.status_mut() = StatusCode::NOT_MODIFIED;
        reply.headers_mut().extend(own);
        return Ok(reply);
    }
    let (status, part) = match wanted(headers, &tag, bytes) {
        Wanted::Whole => (StatusCode::OK, 0..bytes),
        Wanted::Part(part) => (StatusCode::PARTIAL_CONTENT, part),
        Wanted::Nothing => return Err(ApiError::range_not_satisfiable(bytes)),
    };
    own.push((CONTENT_LENGTH, HeaderValue::from(part.end - part.start)));
    if status == StatusCode::PARTIAL_CONTENT {
        let last = part.end - 1;
        own.push((CONTENT_RANGE, value(&format!("bytes {}-{last}/{bytes}", part.start))?));
    }
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        let read = content.into_body(part).await;
        read.map_err(|error| ApiError::internal(&error, "the artifact could not be read"))?
    };
    let mut reply = with_type(status, kind.media_type(), body);
    reply.headers_mut().extend(own);
    Ok(reply)
}

/// Leads to where the artifact is. The way is valid for minutes, so nobody may remember it.
fn elsewhere(url: &Url) -> Result<HttpResponse, ApiError> {
    let mut reply = Response::new(Body::empty());
    *reply.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    reply.headers_mut().insert(LOCATION, value(url.as_str())?);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(reply)
}

fn value(text: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::from_str(text).map_err(|error| ApiError::internal(&error, "a header could not be written"))
}

/// Which bytes are asked for.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Whole,
    Part(Range<u64>),
    /// Those that there are not.
    Nothing,
}

/// Reads `Range` (RFC 9110, section 14.2). Several ranges, and what is no range of bytes, are answered with the whole.
fn wanted(headers: &HeaderMap, tag: &HeaderValue, bytes: u64) -> Wanted {
    if headers.get(IF_RANGE).is_some_and(|given| given != tag) {
        return Wanted::Whole;
    }
    let range = headers.get(RANGE).and_then(|range| range.to_str().ok());
    let Some((first, last)) = range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-')) else {
        return Wanted::Whole;
    };
    let (first, last) = (first.trim(), last.trim());
    let part = match (number(first), number(last)) {
        (Some(first), None) if last.is_empty() => first..bytes,
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(bytes),
        (None, Some(length)) if first.is_empty() => bytes.saturating_sub(length)..bytes,
        _ => return Wanted::Whole,
    };
    if part.is_empty() { Wanted::Nothing } else { Wanted::Part(part) }
}

/// Reads a number of digits alone; one that is too large lies behind every end.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Tells whether `If-None-Match` names the tag; a weak comparison (RFC 9110, section 13.1.2).
fn names(given: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(given), Ok(tag)) = (given.to_str(), tag.to_str()) else { return false };
    given.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_of_bytes_is_understood_and_everything_else_is_the_whole() {
        let tag = HeaderValue::from_static("\"a\"");
        let check = |range: &'static str, expected: Wanted| {
            let headers = HeaderMap::from_iter([(RANGE, HeaderValue::from_static(range))]);
            assert_eq!(wanted(&headers, &tag, 10), expected, "{range}");
        };
        check("bytes=0-3", Wanted::Part(0..4));
        check("bytes=4-", Wanted::Part(4..10));
        check("bytes=-3", Wanted::Part(7..10));
        check("bytes=-30", Wanted::Part(0..10));
        check("bytes=9-99999999999999999999999", Wanted::Part(9..10));
        check("bytes=10-", Wanted::Nothing);
        check("bytes=99999999999999999999999-", Wanted::Nothing);
        check("bytes=-0", Wanted::Nothing);
        for whole in ["bytes=3-1", "bytes=0-1,3-4", "bytes=a-b", "bytes=-", "lines=1-2", "bytes=+1-2", ""] {
            check(whole, Wanted::Whole);
        }
    }

    #[test]
    fn a_range_of_another_file_is_the_whole() {
        let tag = HeaderValue::from_static("\"a\"");
        let mut headers = HeaderMap::from_iter([(RANGE, HeaderValue::from_static("bytes=0-3"))]);
        headers.insert(IF_RANGE, HeaderValue::from_static("\"b\""));
        assert_eq!(wanted(&headers, &tag, 10), Wanted::Whole);
        headers.insert(IF_RANGE, tag.clone());
        assert_eq!(wanted(&headers, &tag, 10), Wanted::Part(0..4));
    }

    #[test]
    fn tags_are_compared_one_by_one() {
        let tag = HeaderValue::from_static("\"a\"");
        let check = |given: &'static str, expected| {
            assert_eq!(names(&HeaderValue::from_static(given), &tag), expected, "{given}");
        };
        check("\"a\"", true);
        check("\"b\", W/\"a\"", true);
        check("*", true);
        check("\"b\"", false);
        check("a", false);
    }
}
