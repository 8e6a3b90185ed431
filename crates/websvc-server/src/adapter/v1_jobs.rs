//! Crawls and batches of version 1: other names of a few options, and the URLs of its own in the answers.

use bytes::Bytes;
use http::Request;
use serde_json::{Map, Value, json};
use url::Url;
use websvc_store::JobKind;
use websvc_transport::ServerBody;
use websvc_types::{Violation, ViolationCode};
use websvc_validate::{Rejection, read_object};

use super::v1::{TIMEOUT_DEFAULT_MS, drop_nulls, translate_options};
use crate::handler::{self, JobOperation, JobStart, Version};
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// Deeper than this a path only is that loops, which crawls leave in any case.
const PATH_MAX_DEPTH: u64 = 1_000;

/// What version 1 asks of jobs.
pub(super) async fn job(
    kind: JobKind,
    operation: JobOperation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    if operation != JobOperation::Start {
        return handler::job(Version::V1, kind, operation, context, request).await;
    }
    let JobStart { version, base_url, idempotency, body } =
        handler::receive_job(&context, Version::V1, request).await?;
    let body = context.admission.decode_body(body, move |body| translate(kind, body)).await?;
    handler::begin_job(kind, context, JobStart { version, base_url, idempotency, body }).await
}

/// Returns a request of version 1 in the words of version 2.
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

fn translate_page(options: &mut Map<String, Value>, at: &str) -> Result<(), Rejection> {
    translate_options(options, at)?;
    options.entry("timeout").or_insert_with(|| json!(TIMEOUT_DEFAULT_MS));
    Ok(())
}

fn translate_crawl(fields: &mut Map<String, Value>) -> Result<(), Rejection> {
    drop_nulls(fields);
    if let Some(backward) = fields.remove("allowBackwardLinks") {
        fields.entry("crawlEntireDomain").or_insert(backward);
    }
    let ignore = taken_flag(fields, "ignoreSitemap")?;
    let only = taken_flag(fields, "sitemapOnly")?;
    let sitemap = match (only, ignore) {
        (Some(true), _) => Some("only"),
        (_, Some(true)) => Some("skip"),
        (Some(false) | None, Some(false) | None) => None,
    };
    if let Some(sitemap) = sitemap {
        fields.entry("sitemap").or_insert_with(|| json!(sitemap));
    }
    if let Some(depth) = fields.remove("maxDepth") {
        exclude_deeper(fields, &depth)?;
    }
    if let Value::Object(options) = fields.entry("scrapeOptions").or_insert_with(|| json!({})) {
        translate_page(options, "/scrapeOptions")?;
    }
    Ok(())
}

/// Takes out a field that is true or false.
fn taken_flag(fields: &mut Map<String, Value>, name: &str) -> Result<Option<bool>, Rejection> {
    match fields.remove(name) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(flag)),
        Some(other) => Err(refused(name, &format!("must be true or false, not {other}"))),
    }
}

/// Leaves out what lies deeper below the start than so many segments of its path: the depth of version 1 is that of paths,
/// that of version 2 one of links.
fn exclude_deeper(fields: &mut Map<String, Value>, depth: &Value) -> Result<(), Rejection> {
    let Some(depth) = depth.as_u64() else {
        return Err(refused("maxDepth", &format!("must be a whole number of at least 0, not {depth}")));
    };
    let start = fields.get("url").and_then(Value::as_str).unwrap_or_default();
    let most = depth_of(start).saturating_add(depth);
    if most >= PATH_MAX_DEPTH {
        return Ok(());
    }
    // Of a whole address, the path begins behind the host.
    let before = match fields.get("regexOnFullURL") {
        Some(Value::Bool(true)) => "^[a-z]+://[^/?#]+",
        _ => "^",
    };
    // What may be in a path, in ASCII, which keeps the expression small.
    let deeper = format!(r#"{before}(?:/+[!"$-.0->@-~]+){{{}}}"#, most + 1);
    if let Value::Array(patterns) = fields.entry("excludePaths").or_insert_with(|| json!([])) {
        patterns.push(json!(deeper));
    }
    Ok(())
}

/// Returns how many segments the path of an address has.
fn depth_of(address: &str) -> u64 {
    let with_scheme = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let segments = Url::parse(&with_scheme)
        .ok()
        .map(|url| url.path().split('/').filter(|segment| !segment.is_empty()).count());
    segments.and_then(|count| u64::try_from(count).ok()).unwrap_or_default()
}

fn refused(name: &str, rule: &str) -> Rejection {
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
    fn check(kind: JobKind, given: &Value, expected: Option<&Value>) {
        let translated = translate(kind, given.to_string().as_bytes()).ok();
        let translated = translated.map(|body| serde_json::from_slice::<Value>(&body).unwrap());
        assert_eq!(translated.as_ref(), expected, "{given}");
    }

    #[test]
    fn options_of_a_crawl_have_their_names_of_version_2() {
        let page = json!({ "maxAge": 0, "timeout": 30_000 });
        let crawl = |given: Value, expected: Value| check(JobKind::Crawl, &given, Some(&expected));
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
    fn the_depth_of_paths_becomes_a_pattern() {
        let deeper = |given: Value| {
            let body = translate(JobKind::Crawl, given.to_string().as_bytes()).unwrap();
            let fields: Value = serde_json::from_slice(&body).unwrap();
            let patterns = fields["excludePaths"].as_array().cloned().unwrap_or_default();
            patterns.last().map(|pattern| regex::Regex::new(pattern.as_str().unwrap()).unwrap())
        };
        let check = |given: Value, excluded: &[(&str, bool)]| {
            let pattern = deeper(given.clone()).unwrap();
            for (path, expected) in excluded {
                assert_eq!(pattern.is_match(path), *expected, "{given} {path}");
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
        assert!(deeper(json!({ "url": "a.test", "maxDepth": 1_000_000_000_000_u64 })).is_none());
        assert!(deeper(json!({ "url": "a.test", "maxDepth": 900 })).is_some());
    }

    #[test]
    fn values_that_are_none_are_refused() {
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
    fn a_batch_of_version_1_refuses_what_is_no_address() {
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
