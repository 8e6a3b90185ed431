//! Crawls and batches of version 1: some options have other names, and URLs in responses have version 1.

use bytes::Bytes;
use http::Request;
use serde_json::{Map, Value, json};
use url::Url;
use websvc_store::JobKind;
use websvc_transport::ServerBody;
use websvc_types::{Violation, ViolationCode};
use websvc_validate::{Rejection, read_object};

use super::v1::{TIMEOUT_DEFAULT_MS, drop_nulls, translate_options};
use crate::handler::{self, JobStart};
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// The maximum depth for which a pattern is created. Only paths of crawler traps are deeper, and crawls skip those anyway.
const PATH_MAX_DEPTH: u64 = 1_000;

/// Starts a job with a request of version 1.
pub(crate) async fn start(
    kind: JobKind,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let job = handler::receive_job(&context, request)?;
    let translating = context.state.admission.decode_body(job.body, move |body| translate(kind, body));
    let body = translating.await?;
    handler::start_job(kind, context, JobStart { body, ..job }).await
}

/// Translates a request of version 1 to version 2.
fn translate(kind: JobKind, body: &[u8]) -> Result<Bytes, Rejection> {
    let mut fields = read_object(body)?;
    match kind {
        JobKind::Batch => translate_batch(&mut fields)?,
        JobKind::Crawl => translate_crawl(&mut fields)?,
    }
    Ok(Bytes::from(Value::Object(fields).to_string()))
}

fn translate_batch(fields: &mut Map<String, Value>) -> Result<(), Rejection> {
    drop_nulls(fields);
    fields.entry("ignoreInvalidURLs").or_insert_with(|| json!(false));
    translate_page(fields, "")
}

fn translate_page(options: &mut Map<String, Value>, path: &str) -> Result<(), Rejection> {
    translate_options(options, path)?;
    options.entry("timeout").or_insert_with(|| json!(TIMEOUT_DEFAULT_MS));
    Ok(())
}

fn translate_crawl(fields: &mut Map<String, Value>) -> Result<(), Rejection> {
    drop_nulls(fields);
    if let Some(backward) = fields.shift_remove("allowBackwardLinks") {
        fields.entry("crawlEntireDomain").or_insert(backward);
    }
    let ignore = remove_bool(fields, "ignoreSitemap")?;
    let only = remove_bool(fields, "sitemapOnly")?;
    let sitemap = match (only, ignore) {
        (Some(true), _) => Some("only"),
        (_, Some(true)) => Some("skip"),
        (Some(false) | None, Some(false) | None) => None,
    };
    if let Some(sitemap) = sitemap {
        fields.entry("sitemap").or_insert_with(|| json!(sitemap));
    }
    if let Some(depth) = fields.shift_remove("maxDepth") {
        exclude_deeper(fields, &depth)?;
    }
    if let Value::Object(options) = fields.entry("scrapeOptions").or_insert_with(|| json!({})) {
        translate_page(options, "/scrapeOptions")?;
    }
    Ok(())
}

/// Removes a boolean field, and returns its value.
fn remove_bool(fields: &mut Map<String, Value>, name: &str) -> Result<Option<bool>, Rejection> {
    match fields.shift_remove(name) {
        None => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(value)),
        Some(other) => Err(rejection(name, &format!("must be true or false, not {other}"))),
    }
}

/// Excludes paths with more than `depth` segments below the start URL. In version 1, depth counts segments of the path; in
/// version 2, it counts links.
fn exclude_deeper(fields: &mut Map<String, Value>, depth: &Value) -> Result<(), Rejection> {
    let Some(depth) = depth.as_u64() else {
        return Err(rejection("maxDepth", &format!("must be a whole number of at least 0, not {depth}")));
    };
    let start = fields.get("url").and_then(Value::as_str).unwrap_or_default();
    let max_depth = path_depth(start).saturating_add(depth);
    if max_depth >= PATH_MAX_DEPTH {
        return Ok(());
    }
    // In a full URL, the path begins after the host.
    let prefix = match fields.get("regexOnFullURL") {
        Some(Value::Bool(true)) => "^[a-z]+://[^/?#]+",
        _ => "^",
    };
    // The ASCII characters of a path segment; a class of all characters would make the compiled pattern large.
    let pattern = format!(r#"{prefix}(?:/+[!"$-.0->@-~]+){{{}}}"#, max_depth + 1);
    if let Value::Array(patterns) = fields.entry("excludePaths").or_insert_with(|| json!([])) {
        patterns.push(json!(pattern));
    }
    Ok(())
}

/// Returns the number of segments in the path of a URL.
fn path_depth(url: &str) -> u64 {
    let with_scheme = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let segments = Url::parse(&with_scheme)
        .ok()
        .map(|url| url.path().split('/').filter(|segment| !segment.is_empty()).count());
    segments.and_then(|count| u64::try_from(count).ok()).unwrap_or_default()
}

fn rejection(name: &str, rule: &str) -> Rejection {
    let message = format!("{name} {rule}");
    Rejection::Invalid(vec![Violation {
        path: format!("/{name}"),
        code: ViolationCode::InvalidType,
        message,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: JobKind, request: &Value, expected: Option<&Value>) {
        let translated = translate(kind, request.to_string().as_bytes()).ok();
        let translated = translated.map(|body| serde_json::from_slice::<Value>(&body).unwrap());
        assert_eq!(translated.as_ref(), expected, "{request}");
    }

    #[test]
    fn options_of_a_crawl_are_translated_to_version_2() {
        let page = json!({ "maxAge": 0, "timeout": 30_000 });
        let crawl = |request: Value, expected: Value| check(JobKind::Crawl, &request, Some(&expected));
        crawl(json!({ "url": "a.test", "prompt": null }), json!({ "url": "a.test", "scrapeOptions": page }));
        crawl(
            json!({ "allowBackwardLinks": true, "ignoreSitemap": true, "scrapeOptions": { "parsePDF": false } }),
            json!({
                "crawlEntireDomain": true,
                "sitemap": "skip",
                "scrapeOptions": { "parsers": [], "maxAge": 0, "timeout": 30_000 },
            }),
        );
        crawl(
            json!({ "allowBackwardLinks": true, "crawlEntireDomain": false, "sitemapOnly": true, "sitemap": "include" }),
            json!({ "crawlEntireDomain": false, "sitemap": "include", "scrapeOptions": page }),
        );
        crawl(
            json!({ "maxDiscoveryDepth": 2, "allowSubdomains": true, "webhook": "http://b.test/", "delay": 1 }),
            json!({
                "maxDiscoveryDepth": 2,
                "allowSubdomains": true,
                "webhook": "http://b.test/",
                "delay": 1,
                "scrapeOptions": page,
            }),
        );
    }

    #[test]
    fn max_depth_is_translated_to_an_excluded_path_pattern() {
        let excluded_pattern = |request: Value| {
            let body = translate(JobKind::Crawl, request.to_string().as_bytes()).unwrap();
            let fields: Value = serde_json::from_slice(&body).unwrap();
            let patterns = fields["excludePaths"].as_array().cloned().unwrap_or_default();
            patterns.last().map(|pattern| regex::Regex::new(pattern.as_str().unwrap()).unwrap())
        };
        let check = |request: Value, excluded: &[(&str, bool)]| {
            let pattern = excluded_pattern(request.clone()).unwrap();
            for (path, expected) in excluded {
                assert_eq!(pattern.is_match(path), *expected, "{request} {path}");
            }
        };
        check(
            json!({ "url": "http://a.test/docs/", "maxDepth": 1 }),
            &[
                ("/docs/", false),
                ("/docs/a", false),
                ("/docs/a/", false),
                ("/docs/a/b", true),
                ("/docs//a//b", true),
            ],
        );
        check(json!({ "url": "a.test", "maxDepth": 0 }), &[("/", false), ("/a", true)]);
        check(
            json!({ "url": "http://a.test/", "maxDepth": 1, "regexOnFullURL": true, "excludePaths": ["x"] }),
            &[("http://a.test/a?b=/c/d/e", false), ("http://a.test/a/b", true)],
        );
        assert!(excluded_pattern(json!({ "url": "a.test", "maxDepth": 1_000_000_000_000_u64 })).is_none());
        assert!(excluded_pattern(json!({ "url": "a.test", "maxDepth": 900 })).is_some());
    }

    #[test]
    fn invalid_values_are_rejected() {
        for body in [
            json!([]),
            json!({ "maxDepth": "deep" }),
            json!({ "maxDepth": -1 }),
            json!({ "ignoreSitemap": "yes" }),
            json!({ "sitemapOnly": 1 }),
        ] {
            check(JobKind::Crawl, &body, None);
        }
    }

    #[test]
    fn batch_of_version_1_does_not_ignore_invalid_urls() {
        check(
            JobKind::Batch,
            &json!({ "urls": ["a.test"], "formats": ["screenshot@fullPage"] }),
            Some(&json!({
                "urls": ["a.test"],
                "ignoreInvalidURLs": false,
                "formats": [{ "type": "screenshot", "fullPage": true }],
                "maxAge": 0,
                "timeout": 30_000,
            })),
        );
        let nulls = json!({ "urls": ["a.test"], "ignoreInvalidURLs": null, "timeout": null, "maxAge": null });
        let expected =
            json!({ "urls": ["a.test"], "ignoreInvalidURLs": false, "maxAge": 0, "timeout": 30_000 });
        check(JobKind::Batch, &nulls, Some(&expected));
    }
}
