//! Version 1 of the API, for clients that still use it: some options have other names, and `data` of a search is one
//! list.

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Map, Value, json};
use websvc_store::KeyScope;
use websvc_transport::{Body, ServerBody};
use websvc_types::{Violation, ViolationCode};
use websvc_validate::Rejection;

use super::{IncomingRequest, ok, read};
use crate::blocking::run_blocking;
use crate::handler;
use crate::response::{ApiError, HttpResponse, with_type};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::post(
        "/v1/scrape",
        OperationGroup::Scrape,
        handler!(|context, request| scrape(context, request).await),
    )
    .name("scrape")
    .scope(KeyScope::Scrape)
    .body(RequestBody::OPTIONS),
    Endpoint::get(
        "/v1/scrape/{id}",
        OperationGroup::Scrape,
        handler!(|context, request| scrape_result(&context, &request).await),
    )
    .name("scrape-result")
    .scope(KeyScope::Scrape),
    Endpoint::post(
        "/v1/search",
        OperationGroup::Search,
        handler!(|context, request| search(context, request).await),
    )
    .name("search")
    .scope(KeyScope::Search)
    .body(RequestBody::OPTIONS),
];

/// The default `limit` of a search in version 1.
const LIMIT_DEFAULT: u32 = 5;

/// The default `timeout` of a page in version 1, in milliseconds.
pub(super) const TIMEOUT_DEFAULT_MS: u64 = 30_000;

/// `POST /v1/scrape`.
async fn scrape(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let IncomingRequest { base_url, mut fields } = read(&context, request).await?;
    let names = ExtractNames::from_options(&fields);
    translate_options(&mut fields, "")?;
    fields.entry("timeout").or_insert_with(|| json!(TIMEOUT_DEFAULT_MS));
    let body = Bytes::from(Value::Object(fields).to_string());
    let response =
        handler::respond_to_scrape(context, base_url, body).await.map_err(ApiError::with_page_status)?;
    let response = names
        .rename(response)
        .map_err(|error| ApiError::internal(&error, "the response could not be translated"))?;
    Ok(with_type(StatusCode::OK, "application/json", Body::from(response)))
}

/// `GET /v1/scrape/{id}`. Extracted data is in `json` and in `extract`, its name in version 1.
async fn scrape_result(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let response = handler::scrape_result(context, request).await?;
    let stored = response.body().bytes().cloned().unwrap_or_default();
    let names = ExtractNames { extract: true, json: true };
    let renamed = run_blocking(move || names.rename(stored)).await?;
    let renamed =
        renamed.map_err(|error| ApiError::internal(&error, "the response could not be translated"))?;
    Ok(with_type(StatusCode::OK, "application/json", Body::from(renamed)))
}

/// The names of extracted data in a response of version 1.
#[derive(Clone, Copy)]
struct ExtractNames {
    extract: bool,
    json: bool,
}

impl ExtractNames {
    /// Returns the names that the formats of a request ask for.
    fn from_options(options: &Map<String, Value>) -> Self {
        let formats = options.get("formats").and_then(Value::as_array);
        let has = |name: &str| formats.is_some_and(|formats| formats.iter().any(|format| format == name));
        Self { extract: has("extract"), json: has("json") }
    }

    /// Renames the extracted data in a response.
    fn rename(self, response: Bytes) -> serde_json::Result<Bytes> {
        if !self.extract {
            return Ok(response);
        }
        let mut response: Value = serde_json::from_slice(&response)?;
        if let Some(document) = response.get_mut("data").and_then(Value::as_object_mut) {
            self.rename_in(document);
        }
        Ok(Bytes::from(response.to_string()))
    }

    fn rename_in(self, document: &mut Map<String, Value>) {
        if let Some(data) = document.get("json").filter(|_| self.extract).cloned() {
            document.insert("extract".to_owned(), data);
            if !self.json {
                document.shift_remove("json");
            }
        }
    }
}

/// `POST /v1/search`.
async fn search(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let IncomingRequest { base_url, mut fields } = read(&context, request).await?;
    drop_nulls(&mut fields);
    fields.entry("limit").or_insert_with(|| json!(LIMIT_DEFAULT));
    let mut names = None;
    if let Some(Value::Object(options)) = fields.get_mut("scrapeOptions") {
        names = Some(ExtractNames::from_options(options));
        translate_options(options, "/scrapeOptions")?;
    }
    let response = super::search(context, base_url, fields).await?;
    let mut warnings: Vec<String> = response.warning.into_iter().collect();
    if response.data.images.is_some() || response.data.news.is_some() {
        warnings.push("version 1 returns only web pages: images and news are omitted".to_owned());
    }
    let mut body =
        json!({ "success": true, "data": response.data.web.unwrap_or_default(), "id": response.id });
    if let (Some(names), Some(results)) = (names, body["data"].as_array_mut()) {
        results.iter_mut().filter_map(Value::as_object_mut).for_each(|result| names.rename_in(result));
    }
    if !warnings.is_empty() {
        body["warning"] = Value::String(warnings.join("; "));
    }
    Ok(ok(&body))
}

/// Removes fields that are null: some clients send null for options that they do not set, and the defaults apply then.
pub(super) fn drop_nulls(fields: &mut Map<String, Value>) {
    fields.retain(|_, value| !value.is_null());
}

/// Translates the options of version 1 to those of version 2. `path` is their JSON pointer in the body.
///
/// # Errors
/// A rejection for a format without its required options, and for two agents.
pub(crate) fn translate_options(options: &mut Map<String, Value>, path: &str) -> Result<(), Rejection> {
    drop_nulls(options);
    // Version 1 does not use the cache by default.
    let is_cached = options.contains_key("minAge") || options.get("lockdown") == Some(&json!(true));
    if !is_cached {
        options.entry("maxAge").or_insert_with(|| json!(0));
    }
    if let Some(Value::Bool(parse)) = options.get("parsePDF") {
        let parsers = if *parse { json!(["pdf"]) } else { json!([]) };
        options.insert("parsers".to_owned(), parsers);
        options.shift_remove("parsePDF");
    }
    check_agent(options, path)?;
    let Some(Value::Array(formats)) = options.get_mut("formats") else { return Ok(()) };
    let mut formats = std::mem::take(formats);
    let mut used: Vec<&str> = Vec::new();
    for (index, format) in formats.iter_mut().enumerate() {
        let (kind, names): (_, &[&str]) = match format.as_str() {
            Some("screenshot@fullPage") => {
                *format = json!({ "type": "screenshot", "fullPage": true });
                continue;
            }
            Some("extract") => ("json", &["extract", "jsonOptions"]),
            Some("json") => ("json", &["jsonOptions", "extract"]),
            Some("changeTracking") => ("changeTracking", &["changeTrackingOptions"]),
            Some(_) | None => continue,
        };
        let is_extracted = kind == "json";
        if is_extracted && !names.iter().any(|name| options.get(*name).is_some_and(Value::is_object)) {
            let path = format!("{path}/formats/{index}");
            let message = format!("{} needs an object with its options in {}", *format, names[0]);
            return Err(rejection(path, ViolationCode::Missing, message));
        }
        *format = with_options(kind, options, names, &mut used);
    }
    options.insert("formats".to_owned(), Value::Array(formats));
    // Options that moved into their format are removed. Options of other formats stay, so that a warning names them.
    for name in used {
        options.shift_remove(name);
    }
    Ok(())
}

/// Checks that an agent is requested only once: for the page or for extracted data.
fn check_agent(options: &Map<String, Value>, path: &str) -> Result<(), Rejection> {
    let inner = ["jsonOptions", "extract"].into_iter().find(|name| {
        options.get(*name).is_some_and(|value| value.get("agent").is_some_and(Value::is_object))
    });
    let Some(inner) = inner.filter(|_| options.get("agent").is_some_and(Value::is_object)) else {
        return Ok(());
    };
    let message = format!("agent and {inner}.agent cannot both be specified");
    Err(rejection(format!("{path}/agent"), ViolationCode::Conflict, message))
}

fn rejection(path: String, code: ViolationCode, message: String) -> Rejection {
    Rejection::Invalid(vec![Violation { path, code, message }])
}

/// Returns a format with its options, which are those under the first existing name. All options are copied: version 2
/// warns about unknown ones.
fn with_options<'n>(
    kind: &str,
    options: &Map<String, Value>,
    names: &[&'n str],
    used: &mut Vec<&'n str>,
) -> Value {
    let mut format = Map::new();
    let found = names.iter().find_map(|name| Some((*name, options.get(*name)?.as_object()?)));
    if let Some((name, format_options)) = found {
        format.clone_from(format_options);
        drop_nulls(&mut format);
        used.push(name);
    }
    format.insert("type".to_owned(), json!(kind));
    Value::Object(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: &Value, expected: &Value) {
        let Value::Object(mut options) = options.clone() else { panic!("options are an object") };
        translate_options(&mut options, "").unwrap();
        assert_eq!(&Value::Object(options), expected);
    }

    #[test]
    fn extraction_needs_its_options_and_at_most_one_agent() {
        let rejected = |options: Value| {
            let Value::Object(mut options) = options else { panic!("options are an object") };
            match translate_options(&mut options, "/scrapeOptions") {
                Err(Rejection::Invalid(violations)) => violations[0].path.clone(),
                other => panic!("{other:?}"),
            }
        };
        for name in ["json", "extract"] {
            assert_eq!(rejected(json!({ "formats": ["markdown", name] })), "/scrapeOptions/formats/1");
        }
        assert_eq!(
            rejected(json!({ "formats": ["json"], "jsonOptions": "all" })),
            "/scrapeOptions/formats/0"
        );
        let agent = json!({ "model": "FIRE-1" });
        let twice = json!({ "formats": ["json"], "jsonOptions": { "agent": agent }, "agent": agent });
        assert_eq!(rejected(twice), "/scrapeOptions/agent");
    }

    #[test]
    fn extracted_data_has_the_requested_names() {
        let check = |formats: Value, expected: Value| {
            let Value::Object(options) = json!({ "formats": formats }) else { unreachable!() };
            let response = json!({ "success": true, "data": { "json": { "a": 1 } } });
            let names = ExtractNames::from_options(&options);
            let renamed = names.rename(Bytes::from(response.to_string())).unwrap();
            let renamed: Value = serde_json::from_slice(&renamed).unwrap();
            assert_eq!(renamed["data"], expected, "{formats}");
        };
        check(json!(["json"]), json!({ "json": { "a": 1 } }));
        check(json!(["extract"]), json!({ "extract": { "a": 1 } }));
        check(json!(["extract", "json"]), json!({ "extract": { "a": 1 }, "json": { "a": 1 } }));
    }

    #[test]
    fn options_are_translated_to_version_2() {
        check(&json!({}), &json!({ "maxAge": 0 }));
        check(&json!({ "maxAge": 5, "parsePDF": false }), &json!({ "maxAge": 5, "parsers": [] }));
        check(&json!({ "minAge": 1 }), &json!({ "minAge": 1 }));
        check(&json!({ "formats": "json" }), &json!({ "formats": "json", "maxAge": 0 }));
        check(&json!({ "parsePDF": "no" }), &json!({ "parsePDF": "no", "maxAge": 0 }));
        check(&json!({ "lockdown": true, "maxAge": 7 }), &json!({ "lockdown": true, "maxAge": 7 }));
        check(
            &json!({
                "formats": ["markdown", "screenshot@fullPage", "extract", "changeTracking"],
                "extract": { "prompt": "the price", "systemPrompt": "be brief" },
                "changeTrackingOptions": { "modes": ["git-diff"], "tag": "a" },
            }),
            &json!({
                "formats": [
                    "markdown",
                    { "type": "screenshot", "fullPage": true },
                    { "type": "json", "prompt": "the price", "systemPrompt": "be brief" },
                    { "type": "changeTracking", "modes": ["git-diff"], "tag": "a" },
                ],
                "maxAge": 0,
            }),
        );
        check(
            &json!({ "formats": ["json"], "jsonOptions": { "schema": { "type": "object" } } }),
            &json!({ "formats": [{ "type": "json", "schema": { "type": "object" } }], "maxAge": 0 }),
        );
    }

    #[test]
    fn null_options_count_as_missing() {
        check(&json!({ "maxAge": null, "minAge": null, "timeout": null }), &json!({ "maxAge": 0 }));
        let schema = json!({ "const": null });
        check(
            &json!({ "formats": ["json"], "extract": null, "jsonOptions": { "schema": schema, "prompt": null } }),
            &json!({ "formats": [{ "type": "json", "schema": schema }], "maxAge": 0 }),
        );
        check(&json!({ "formats": null, "jsonOptions": null }), &json!({ "maxAge": 0 }));
    }

    #[test]
    fn options_without_their_format_are_not_removed() {
        let (extract, json) = (json!({ "prompt": "a" }), json!({ "prompt": "b" }));
        check(
            &json!({ "formats": ["json"], "extract": extract, "jsonOptions": json }),
            &json!({ "formats": [{ "type": "json", "prompt": "b" }], "extract": extract, "maxAge": 0 }),
        );
        check(
            &json!({ "formats": ["json", "extract"], "extract": extract, "jsonOptions": json }),
            &json!({
                "formats": [{ "type": "json", "prompt": "b" }, { "type": "json", "prompt": "a" }],
                "maxAge": 0,
            }),
        );
    }
}
