//! Version 1 of the interface, for clients that still speak it: other names of a few options, and a search whose `data`
//! is one list.

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Map, Value, json};
use websvc_transport::{Body, ServerBody};
use websvc_types::{Violation, ViolationCode};
use websvc_validate::Rejection;

use super::{IncomingRequest, ok, read};
use crate::handler;
use crate::response::{ApiError, HttpResponse, with_type};
use crate::service::RequestContext;

/// How many results a search of version 1 has when it does not say.
const LIMIT_DEFAULT: u32 = 5;

/// The time for a page of version 1 when the request does not say, in milliseconds.
pub(super) const TIMEOUT_DEFAULT_MS: u64 = 30_000;

/// `POST /v1/scrape`.
pub(super) async fn scrape(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let IncomingRequest { origin, mut fields } = read(&context, request).await?;
    let named = ExtractNames::of(&fields);
    translate_options(&mut fields, "")?;
    fields.entry("timeout").or_insert_with(|| json!(TIMEOUT_DEFAULT_MS));
    let body = Bytes::from(Value::Object(fields).to_string());
    let answer = handler::answer_scrape(context, origin, body).await.map_err(ApiError::of_page)?;
    let answer =
        named.rename(answer).map_err(|error| ApiError::internal(&error, "the answer could not be read"))?;
    Ok(with_type(StatusCode::OK, "application/json", Body::from(answer)))
}

/// The names under which a request of version 1 wants extracted data.
#[derive(Clone, Copy)]
struct ExtractNames {
    extract: bool,
    json: bool,
}

impl ExtractNames {
    fn of(options: &Map<String, Value>) -> Self {
        let formats = options.get("formats").and_then(Value::as_array);
        let has = |name: &str| formats.is_some_and(|formats| formats.iter().any(|format| format == name));
        Self { extract: has("extract"), json: has("json") }
    }

    /// Gives the extracted data of an answer its names.
    fn rename(self, answer: Bytes) -> serde_json::Result<Bytes> {
        if !self.extract {
            return Ok(answer);
        }
        let mut answer: Value = serde_json::from_slice(&answer)?;
        if let Some(document) = answer.get_mut("data").and_then(Value::as_object_mut) {
            self.rename_in(document);
        }
        Ok(Bytes::from(answer.to_string()))
    }

    fn rename_in(self, document: &mut Map<String, Value>) {
        if let Some(data) = document.get("json").filter(|_| self.extract).cloned() {
            document.insert("extract".to_owned(), data);
            if !self.json {
                document.remove("json");
            }
        }
    }
}

/// `POST /v1/search`.
pub(super) async fn search(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let IncomingRequest { origin, mut fields } = read(&context, request).await?;
    drop_nulls(&mut fields);
    fields.entry("limit").or_insert_with(|| json!(LIMIT_DEFAULT));
    let mut named = None;
    if let Some(Value::Object(options)) = fields.get_mut("scrapeOptions") {
        named = Some(ExtractNames::of(options));
        translate_options(options, "/scrapeOptions")?;
    }
    let response = super::search(context, origin, fields).await?;
    let mut warnings: Vec<String> = response.warning.into_iter().collect();
    if response.data.images.is_some() || response.data.news.is_some() {
        warnings.push("version 1 has one list, that of web pages: images and news are left out".to_owned());
    }
    let mut answer =
        json!({ "success": true, "data": response.data.web.unwrap_or_default(), "id": response.id });
    if let (Some(named), Some(results)) = (named, answer["data"].as_array_mut()) {
        results.iter_mut().filter_map(Value::as_object_mut).for_each(|result| named.rename_in(result));
    }
    if !warnings.is_empty() {
        answer["warning"] = Value::String(warnings.join("; "));
    }
    Ok(ok(&answer))
}

/// Takes out what is null: some clients write so what they do not ask for, and the defaults of version 1 are for that.
pub(super) fn drop_nulls(fields: &mut Map<String, Value>) {
    fields.retain(|_, value| !value.is_null());
}

/// Gives the options of version 1, which stand at the place `at` of the body, their names of version 2.
///
/// # Errors
/// A format without the options that it needs, and an agent that is named twice.
pub(super) fn translate_options(options: &mut Map<String, Value>, at: &str) -> Result<(), Rejection> {
    drop_nulls(options);
    // A page of version 1 is from its host unless the request says otherwise.
    let is_cached = options.contains_key("minAge") || options.get("lockdown") == Some(&json!(true));
    if !is_cached {
        options.entry("maxAge").or_insert_with(|| json!(0));
    }
    if let Some(Value::Bool(parse)) = options.get("parsePDF") {
        let parsers = if *parse { json!(["pdf"]) } else { json!([]) };
        options.insert("parsers".to_owned(), parsers);
        options.remove("parsePDF");
    }
    check_agent(options, at)?;
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
            let path = format!("{at}/formats/{index}");
            let message = format!("{} needs an object with its options in {}", *format, names[0]);
            return Err(refused(path, ViolationCode::Missing, message));
        }
        *format = with_options(kind, options, names, &mut used);
    }
    options.insert("formats".to_owned(), Value::Array(formats));
    // What stands with its format now. Options without theirs stay, so that they are named in the warning.
    for name in used {
        options.remove(name);
    }
    Ok(())
}

/// Checks that an agent is asked for in one place: of the page or of its data.
fn check_agent(options: &Map<String, Value>, at: &str) -> Result<(), Rejection> {
    let inner = ["jsonOptions", "extract"].into_iter().find(|name| {
        options.get(*name).is_some_and(|value| value.get("agent").is_some_and(Value::is_object))
    });
    let Some(inner) = inner.filter(|_| options.get("agent").is_some_and(Value::is_object)) else {
        return Ok(());
    };
    let message = format!("agent and {inner}.agent cannot both be specified");
    Err(refused(format!("{at}/agent"), ViolationCode::Conflict, message))
}

fn refused(path: String, code: ViolationCode, message: String) -> Rejection {
    Rejection::Invalid(vec![Violation { path, code, message }])
}

/// Returns a format with the options of the first of the names that there are. All of them: what version 2 does not know it names in
/// its warning.
fn with_options<'n>(
    kind: &str,
    options: &Map<String, Value>,
    names: &[&'n str],
    used: &mut Vec<&'n str>,
) -> Value {
    let mut format = Map::new();
    let given = names.iter().find_map(|name| Some((*name, options.get(*name)?.as_object()?)));
    if let Some((name, given)) = given {
        format.clone_from(given);
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
    fn check(given: &Value, expected: &Value) {
        let Value::Object(mut options) = given.clone() else { panic!("options are an object") };
        translate_options(&mut options, "").unwrap();
        assert_eq!(&Value::Object(options), expected);
    }

    #[test]
    fn extracted_data_needs_its_options_and_one_agent() {
        let refused = |given: Value| {
            let Value::Object(mut options) = given else { panic!("options are an object") };
            match translate_options(&mut options, "/scrapeOptions") {
                Err(Rejection::Invalid(violations)) => violations[0].path.clone(),
                other => panic!("{other:?}"),
            }
        };
        for name in ["json", "extract"] {
            assert_eq!(refused(json!({ "formats": ["markdown", name] })), "/scrapeOptions/formats/1");
        }
        assert_eq!(refused(json!({ "formats": ["json"], "jsonOptions": "all" })), "/scrapeOptions/formats/0");
        let agent = json!({ "model": "FIRE-1" });
        let twice = json!({ "formats": ["json"], "jsonOptions": { "agent": agent }, "agent": agent });
        assert_eq!(refused(twice), "/scrapeOptions/agent");
    }

    #[test]
    fn extracted_data_has_the_name_that_was_asked_for() {
        let check = |formats: Value, expected: Value| {
            let Value::Object(options) = json!({ "formats": formats }) else { unreachable!() };
            let answer = json!({ "success": true, "data": { "json": { "a": 1 } } });
            let renamed = ExtractNames::of(&options).rename(Bytes::from(answer.to_string())).unwrap();
            let renamed: Value = serde_json::from_slice(&renamed).unwrap();
            assert_eq!(renamed["data"], expected, "{formats}");
        };
        check(json!(["json"]), json!({ "json": { "a": 1 } }));
        check(json!(["extract"]), json!({ "extract": { "a": 1 } }));
        check(json!(["extract", "json"]), json!({ "extract": { "a": 1 }, "json": { "a": 1 } }));
    }

    #[test]
    fn options_have_their_names_of_version_2() {
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
    fn nulls_are_as_if_not_given() {
        check(&json!({ "maxAge": null, "minAge": null, "timeout": null }), &json!({ "maxAge": 0 }));
        let schema = json!({ "const": null });
        check(
            &json!({ "formats": ["json"], "extract": null, "jsonOptions": { "schema": schema, "prompt": null } }),
            &json!({ "formats": [{ "type": "json", "schema": schema }], "maxAge": 0 }),
        );
        check(&json!({ "formats": null, "jsonOptions": null }), &json!({ "maxAge": 0 }));
    }

    #[test]
    fn options_of_no_format_stay_to_be_named() {
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
