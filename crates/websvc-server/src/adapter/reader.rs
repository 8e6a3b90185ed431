//! `GET /https://shop.example/tea`, the form of Jina Reader: a page as text by its URL in the path.
//!
//! The path of a request has the whole URL, also its query and repeated slashes. Only URLs with a scheme are taken: a path
//! without one may be that of another operation.

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use serde_json::{Map, Value, json};
use websvc_store::KeyScope;
use websvc_transport::{Body, ServerBody};
use websvc_types::{Metadata, ScrapeResponse, Violation, ViolationCode};

use super::ok;
use crate::authenticate::Authentication;
use crate::blocking::run_blocking;
use crate::handler::respond_to_scrape;
use crate::response::{ApiError, HttpResponse, redirect, with_type};
use crate::route::{Endpoint, OperationGroup, handler};
use crate::service::RequestContext;
use websvc_types::ErrorCode;

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get(
        "/https:/{url*}",
        OperationGroup::Scrape,
        handler!(|context, request| read(context, request).await),
    )
    .name("scrape")
    .scope(KeyScope::Scrape),
    Endpoint::get(
        "/http:/{url*}",
        OperationGroup::Scrape,
        handler!(|context, request| read(context, request).await),
    )
    .name("scrape")
    .scope(KeyScope::Scrape),
];

/// Headers of Reader without a counterpart, which a warning names.
const IGNORED: &[&str] = &[
    "x-engine",
    "x-locale",
    "x-max-output-tokens",
    "x-no-gfm",
    "x-proxy",
    "x-proxy-url",
    "x-set-cookie",
    "x-token-budget",
    "x-with-generated-alt",
    "x-with-iframe",
    "x-with-images-summary",
    "x-with-links-summary",
    "x-with-shadow-dom",
];

/// The kind of content that a client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// The main content as markdown.
    Main,
    /// The whole page as markdown.
    Markdown,
    Html,
    Screenshot,
    /// A screenshot of the whole page.
    Pageshot,
}

/// A translated request.
#[derive(Debug, PartialEq)]
struct ReaderRequest {
    content: Content,
    as_json: bool,
    /// The request of version 2.
    fields: Map<String, Value>,
    /// The names of headers without effect.
    ignored: Vec<&'static str>,
}

async fn read(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    reject_other_sites(&context, request.headers())?;
    let base_url = context.state.base_url(&request);
    let target = request.uri().path_and_query().map(http::uri::PathAndQuery::as_str).unwrap_or_default();
    let ReaderRequest { content, as_json, fields, ignored } = translate(target, request.headers())?;
    let body = Bytes::from(Value::Object(fields).to_string());
    let json = respond_to_scrape(context, base_url, body).await?;
    // The page may be megabytes of JSON.
    let response: ScrapeResponse = run_blocking(move || serde_json::from_slice(&json))
        .await?
        .map_err(|error| ApiError::internal(&error, "the page could not be read"))?;
    let warning = warning(&response, &ignored);
    if as_json { Ok(ok(&as_data(content, response, warning))) } else { as_text(content, response, warning) }
}

/// Rejects a request that a page of another site causes while no key is needed: an image with this address would be enough.
///
/// # Errors
/// 403
fn reject_other_sites(context: &RequestContext<'_>, headers: &HeaderMap) -> Result<(), ApiError> {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let is_foreign = site.is_some_and(|site| !matches!(site, b"none" | b"same-origin"));
    if context.state.authentication == Authentication::Open && is_foreign {
        let text = "Forbidden: without keys, pages of other sites may not send requests";
        return Err(ApiError::new(ErrorCode::Forbidden, text));
    }
    Ok(())
}

/// Translates a path with its query, and the headers of Reader, into a request of version 2.
///
/// # Errors
/// 400 for a value that no request of version 2 has.
fn translate(target: &str, headers: &HeaderMap) -> Result<ReaderRequest, ApiError> {
    // Selectors may have characters other than ASCII.
    let text = |name: &str| std::str::from_utf8(headers.get(name)?.as_bytes()).ok().map(str::trim);
    let content = content(text("x-respond-with").or_else(|| text("x-return-format")))?;
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    set("url", json!(url(target)));
    set("formats", content.formats());
    if content == Content::Markdown {
        set("onlyMainContent", json!(false));
    }
    if let Some(selector) = text("x-target-selector") {
        set("includeTags", json!([selector]));
        set("onlyMainContent", json!(false));
    }
    if let Some(selector) = text("x-remove-selector") {
        set("excludeTags", json!([selector]));
    }
    if let Some(selector) = text("x-wait-for-selector") {
        set("actions", json!([{ "type": "wait", "selector": selector }]));
    }
    if let Some(value) = text("x-timeout") {
        set("timeout", milliseconds("X-Timeout", value)?);
    }
    if let Some(value) = text("x-cache-tolerance") {
        set("maxAge", milliseconds("X-Cache-Tolerance", value)?);
    }
    if text("x-no-cache").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        set("maxAge", json!(0));
    }
    if text("dnt") == Some("1") {
        set("storeInCache", json!(false));
    }
    let ignored = IGNORED.iter().copied().filter(|name| headers.contains_key(*name)).collect();
    Ok(ReaderRequest { content, as_json: accepts_json(text(ACCEPT.as_str()))?, fields, ignored })
}

/// Returns the URL in a path. Proxies may have removed one of its slashes.
fn url(target: &str) -> String {
    let target = target.trim_start_matches('/');
    let (scheme, rest) = target.split_once(':').unwrap_or((target, ""));
    format!("{scheme}://{}", rest.trim_start_matches('/'))
}

fn content(value: Option<&str>) -> Result<Content, ApiError> {
    match value.map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "content") => Ok(Content::Main),
        Some("markdown") => Ok(Content::Markdown),
        Some("html") => Ok(Content::Html),
        Some("screenshot") => Ok(Content::Screenshot),
        Some("pageshot") => Ok(Content::Pageshot),
        Some(other) => {
            let rule = format!("{other:?} is not one of content, markdown, html, screenshot, pageshot");
            Err(invalid("X-Return-Format", ViolationCode::UnknownValue, &rule))
        }
    }
}

impl Content {
    fn formats(self) -> Value {
        match self {
            Self::Main | Self::Markdown => json!(["markdown"]),
            Self::Html => json!(["rawHtml"]),
            Self::Screenshot => json!(["screenshot"]),
            Self::Pageshot => json!([{ "type": "screenshot", "fullPage": true }]),
        }
    }
}

/// Returns whether a client wants JSON.
///
/// # Errors
/// 400 for a client that accepts nothing but a stream of events.
fn accepts_json(accept: Option<&str>) -> Result<bool, ApiError> {
    let accept = accept.unwrap_or_default().to_ascii_lowercase();
    let accepts = |media_type: &str| accept.split(',').any(|part| part.trim().starts_with(media_type));
    if accept.trim() == "text/event-stream" {
        let rule = "text/event-stream is not supported, use text/plain or application/json";
        return Err(invalid("Accept", ViolationCode::NotSupported, rule));
    }
    Ok(accepts("application/json") && !accepts("text/"))
}

/// Returns a time in seconds as milliseconds. The rules of version 2 check its range.
fn milliseconds(header: &'static str, value: &str) -> Result<Value, ApiError> {
    let seconds: u32 = value.parse().map_err(|_error| {
        let rule = format!("{value:?} is not a number of seconds");
        invalid(header, ViolationCode::InvalidFormat, &rule)
    })?;
    Ok(json!(u64::from(seconds) * 1000))
}

fn invalid(header: &'static str, code: ViolationCode, rule: &str) -> ApiError {
    let violation = Violation { path: header.to_owned(), code, message: format!("{header}: {rule}") };
    ApiError::invalid(ErrorCode::BadRequest, vec![violation])
}

fn warning(response: &ScrapeResponse, ignored: &[&str]) -> Option<String> {
    let ignored = (!ignored.is_empty()).then(|| format!("headers without effect: {}", ignored.join(", ")));
    let warnings: Vec<String> = response.warning.iter().cloned().chain(ignored).collect();
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

/// Returns the response of a client that wants JSON.
fn as_data(content: Content, response: ScrapeResponse, warning: Option<String>) -> Value {
    let page = response.data;
    let metadata = page.metadata.unwrap_or_default();
    let mut data = json!({
        "title": metadata.title,
        "description": metadata.description,
        "url": address(&metadata),
    });
    if let Some(time) = published(&metadata) {
        data["publishedTime"] = json!(time);
    }
    match content {
        Content::Main | Content::Markdown => data["content"] = json!(page.markdown.unwrap_or_default()),
        Content::Html => data["html"] = json!(page.raw_html.unwrap_or_default()),
        Content::Screenshot | Content::Pageshot => data["screenshotUrl"] = json!(page.screenshot),
    }
    if let Some(warning) = warning {
        data["warning"] = json!(warning);
    }
    json!({ "code": 200, "status": 20000, "data": data })
}

/// Returns the response of a client that wants text: the fields of Reader above the markdown, the HTML alone, or a redirect
/// to the screenshot.
fn as_text(
    content: Content,
    response: ScrapeResponse,
    warning: Option<String>,
) -> Result<HttpResponse, ApiError> {
    let page = response.data;
    let metadata = page.metadata.unwrap_or_default();
    let (media_type, text) = match content {
        Content::Main | Content::Markdown => {
            let mut lines = vec![
                format!("Title: {}", metadata.title.as_deref().unwrap_or_default()),
                format!("URL Source: {}", address(&metadata)),
            ];
            lines.extend(published(&metadata).map(|time| format!("Published Time: {time}")));
            lines.extend(warning.map(|warning| format!("Warning: {warning}")));
            lines.push(format!("Markdown Content:\n{}", page.markdown.unwrap_or_default()));
            ("text/plain; charset=utf-8", lines.join("\n\n"))
        }
        // As text: the HTML of another site must not run as a page of this one.
        Content::Html => ("text/plain; charset=utf-8", page.raw_html.unwrap_or_default()),
        Content::Screenshot | Content::Pageshot => {
            let location = page.screenshot.as_deref().and_then(|url| HeaderValue::from_str(url).ok());
            let missing = || ApiError::new(ErrorCode::ScrapeSiteError, "there is no screenshot of the page");
            return location.map(redirect).ok_or_else(missing);
        }
    };
    let mut response = with_type(StatusCode::OK, media_type, Body::from(text));
    response.headers_mut().insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    Ok(response)
}

fn address(metadata: &Metadata) -> &str {
    metadata.url.as_deref().or(metadata.source_url.as_deref()).unwrap_or_default()
}

fn published(metadata: &Metadata) -> Option<&str> {
    metadata.other.get("publishedTime").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    #[track_caller]
    fn check(pairs: &[(&'static str, &str)], expected: &Value) {
        let translated = translate("/https://shop.test/tea", &headers(pairs)).unwrap();
        let mut expected = expected.clone();
        expected["url"] = json!("https://shop.test/tea");
        assert_eq!(Value::Object(translated.fields), expected, "{pairs:?}");
    }

    #[test]
    fn url_is_the_rest_of_the_path_with_its_query() {
        for (target, expected) in [
            ("/https://shop.test/tea?x=1&y=a%20b", "https://shop.test/tea?x=1&y=a%20b"),
            ("/http://shop.test", "http://shop.test"),
            ("//https://shop.test/", "https://shop.test/"),
            ("/https:/shop.test/tea", "https://shop.test/tea"),
            ("/https://archive.test/web//https://shop.test/", "https://archive.test/web//https://shop.test/"),
            ("/https://shop.test:8443/a/?u=http://b.test", "https://shop.test:8443/a/?u=http://b.test"),
        ] {
            assert_eq!(url(target), expected, "{target}");
        }
    }

    #[test]
    fn headers_become_options() {
        check(&[], &json!({ "formats": ["markdown"] }));
        check(&[("x-return-format", "content")], &json!({ "formats": ["markdown"] }));
        check(
            &[("x-return-format", "Markdown")],
            &json!({ "formats": ["markdown"], "onlyMainContent": false }),
        );
        check(&[("x-return-format", "html")], &json!({ "formats": ["rawHtml"] }));
        check(
            &[("x-respond-with", "screenshot"), ("x-return-format", "html")],
            &json!({ "formats": ["screenshot"] }),
        );
        check(
            &[("x-return-format", "pageshot")],
            &json!({ "formats": [{ "type": "screenshot", "fullPage": true }] }),
        );
        check(
            &[("x-target-selector", "#price"), ("x-remove-selector", "nav, .ad")],
            &json!({ "formats": ["markdown"], "includeTags": ["#price"], "onlyMainContent": false, "excludeTags": ["nav, .ad"] }),
        );
        check(
            &[("x-timeout", "20"), ("x-no-cache", "true"), ("dnt", "1")],
            &json!({ "formats": ["markdown"], "timeout": 20_000, "maxAge": 0, "storeInCache": false }),
        );
        check(&[("x-cache-tolerance", "60")], &json!({ "formats": ["markdown"], "maxAge": 60_000 }));
        check(
            &[("x-wait-for-selector", "#late")],
            &json!({ "formats": ["markdown"], "actions": [{ "type": "wait", "selector": "#late" }] }),
        );
    }

    #[test]
    fn values_without_a_counterpart_are_refused_or_named() {
        for (name, value, expected) in [
            ("x-return-format", "text", "\"text\" is not one of content, markdown"),
            ("x-timeout", "soon", "\"soon\" is not a number of seconds"),
            ("x-timeout", "-1", "is not a number of seconds"),
            ("accept", "text/event-stream", "is not supported"),
        ] {
            let error = translate("/https://shop.test", &headers(&[(name, value)])).unwrap_err();
            assert!(error.status() == 400 && error.as_text().contains(expected), "{}", error.as_text());
        }
        let translated =
            translate("/https://shop.test", &headers(&[("x-engine", "browser"), ("x-proxy", "de")]));
        assert_eq!(translated.unwrap().ignored, ["x-engine", "x-proxy"]);
    }

    #[test]
    fn json_is_sent_to_clients_that_want_no_text() {
        for (accept, expected) in [
            (None, false),
            (Some("*/*"), false),
            (Some("text/plain"), false),
            (Some("text/html,application/json"), false),
            (Some("application/json"), true),
            (Some("Application/JSON; q=1, */*"), true),
        ] {
            assert_eq!(accepts_json(accept).unwrap(), expected, "{accept:?}");
        }
    }
}
