//! Tests of the examples in the OpenAPI document.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use websvc_testkit::openapi_document;
use websvc_types::index::{IndexStats, IndexUploadRequest, IndexUploadResponse};
use websvc_types::job::{
    ActiveCrawls, BatchScrapeRequest, CancelJobResponse, CrawlRequest, JobErrorsResponse, JobStatusResponse,
    StartJobResponse,
};
use websvc_types::map::{MapRequest, MapRequestV1, MapResponse, MapResponseV1};
use websvc_types::monitor::{
    CreateMonitorRequest, MonitorCheckListResponse, MonitorCheckResponse, MonitorListResponse,
    MonitorResponse, RunMonitorResponse, UpdateMonitorRequest,
};
use websvc_types::rerank::{RerankRequest, RerankResponse};
use websvc_types::status::{HealthResponse, ReadinessResponse, RootResponse};
use websvc_types::usage::{
    ConcurrencyCheck, CreditHistory, CreditUsageResponse, QueueStatus, TokenHistory, TokenUsage,
};
use websvc_types::{
    ErrorBody, ErrorCode, ParseFormats, ScrapeRequest, ScrapeResponse, SearchRequest, SearchResponse,
};
use websvc_validate::{Policy, read_request};

/// Returns the examples of a body in the document; there must be at least one.
fn examples(content: &Value) -> Vec<Value> {
    let examples =
        content["content"]["application/json"]["examples"].as_object().expect("a body with examples");
    assert!(!examples.is_empty());
    examples.values().map(|example| example["value"].clone()).collect()
}

/// Checks that the examples are unchanged after deserializing and serializing them, so that the type has all their fields.
fn check<T: DeserializeOwned + Serialize>(content: &Value) {
    for example in examples(content) {
        let value: T = serde_json::from_value(example.clone()).expect("the example is valid for its type");
        assert_eq!(serde_json::to_value(&value).ok(), Some(example));
    }
}

#[test]
fn search_examples_are_valid_without_warnings() {
    let document = openapi_document();
    let bodies = examples(&document["paths"]["/v2/search"]["post"]["requestBody"]);
    assert!(bodies.len() >= 3);
    for body in bodies {
        let checked = read_request::<SearchRequest>(body.to_string().as_bytes(), &Policy::default()).unwrap();
        assert!(checked.warnings.is_empty(), "{body}: {:?}", checked.warnings);
        let _request: SearchRequest = serde_json::from_value(body).unwrap();
    }
}

#[test]
fn job_examples_are_valid_without_warnings() {
    let document = openapi_document();
    for body in examples(&document["paths"]["/v2/batch/scrape"]["post"]["requestBody"]) {
        let checked =
            read_request::<BatchScrapeRequest>(body.to_string().as_bytes(), &Policy::default()).unwrap();
        assert!(checked.warnings.is_empty(), "{body}: {:?}", checked.warnings);
    }
    for body in examples(&document["paths"]["/v2/crawl"]["post"]["requestBody"]) {
        let checked = read_request::<CrawlRequest>(body.to_string().as_bytes(), &Policy::default()).unwrap();
        assert!(checked.warnings.is_empty(), "{body}: {:?}", checked.warnings);
    }
}

#[test]
fn scrape_examples_are_valid_without_warnings() {
    let document = openapi_document();
    for body in examples(&document["paths"]["/v2/scrape"]["post"]["requestBody"]) {
        let checked = read_request::<ScrapeRequest>(body.to_string().as_bytes(), &Policy::default()).unwrap();
        assert!(checked.warnings.is_empty(), "{body}: {:?}", checked.warnings);
        let _request: ScrapeRequest = serde_json::from_value(body).unwrap();
    }
}

#[test]
fn examples_are_valid_for_their_types() {
    let document = openapi_document();
    let response =
        |path: &str, method: &str, status: &str| &document["paths"][path][method]["responses"][status];
    check::<SearchResponse>(response("/v2/search", "post", "200"));
    check::<MapRequest>(&document["paths"]["/v2/map"]["post"]["requestBody"]);
    check::<MapResponse>(response("/v2/map", "post", "200"));
    check::<MapRequestV1>(&document["paths"]["/v1/map"]["post"]["requestBody"]);
    check::<MapResponseV1>(response("/v1/map", "post", "200"));
    check::<ScrapeResponse>(response("/v2/scrape", "post", "200"));
    check::<ScrapeResponse>(response("/v2/parse", "post", "200"));
    check::<ParseFormats>(response("/v2/parse/formats", "get", "200"));
    check::<RerankRequest>(&document["paths"]["/v1/rerank"]["post"]["requestBody"]);
    check::<RerankResponse>(response("/v1/rerank", "post", "200"));
    check::<ActiveCrawls>(response("/v2/crawl/active", "get", "200"));
    check::<StartJobResponse>(response("/v2/batch/scrape", "post", "200"));
    check::<JobStatusResponse>(response("/v2/batch/scrape/{id}", "get", "200"));
    check::<CancelJobResponse>(response("/v2/batch/scrape/{id}", "delete", "200"));
    check::<JobErrorsResponse>(response("/v2/batch/scrape/{id}/errors", "get", "200"));
    check::<IndexUploadRequest>(&document["paths"]["/v2/index/documents"]["post"]["requestBody"]);
    check::<IndexUploadResponse>(response("/v2/index/documents", "post", "200"));
    check::<IndexStats>(response("/v2/index/stats", "get", "200"));
    check::<CreditUsageResponse>(response("/v2/team/credit-usage", "get", "200"));
    check::<CreditHistory>(response("/v2/team/credit-usage/historical", "get", "200"));
    check::<TokenUsage>(response("/v2/team/token-usage", "get", "200"));
    check::<TokenHistory>(response("/v2/team/token-usage/historical", "get", "200"));
    check::<QueueStatus>(response("/v2/team/queue-status", "get", "200"));
    check::<ConcurrencyCheck>(response("/v2/concurrency-check", "get", "200"));
    check::<HealthResponse>(response("/health", "get", "200"));
    check::<ReadinessResponse>(response("/ready", "get", "200"));
    check::<ReadinessResponse>(response("/ready", "get", "503"));
    check::<RootResponse>(response("/", "get", "200"));
}

#[test]
fn examples_of_monitors_are_valid_for_their_types() {
    let document = openapi_document();
    let operation = |path: &str, method: &str| document["paths"][path][method].clone();
    let body = |path: &str, method: &str| operation(path, method)["requestBody"].clone();
    let response = |path: &str, method: &str| operation(path, method)["responses"]["200"].clone();
    let (all, one) = ("/v2/monitor", "/v2/monitor/{id}");
    check::<CreateMonitorRequest>(&body(all, "post"));
    check::<UpdateMonitorRequest>(&body(one, "patch"));
    for (path, method) in [(all, "post"), (one, "get"), (one, "patch")] {
        check::<MonitorResponse>(&response(path, method));
    }
    check::<MonitorListResponse>(&response(all, "get"));
    check::<RunMonitorResponse>(&response("/v2/monitor/{id}/run", "post"));
    check::<MonitorCheckListResponse>(&response("/v2/monitor/{id}/checks", "get"));
    check::<MonitorCheckResponse>(&response("/v2/monitor/{id}/checks/{checkId}", "get"));
}

#[test]
fn every_example_matches_its_schema() {
    let document = openapi_document();
    let mut bodies = Vec::new();
    find_bodies(&document, &mut bodies);
    assert!(bodies.len() > 100, "{} bodies", bodies.len());
    for body in bodies {
        // References in the schema resolve to the components of the document.
        let mut schema = body["schema"].clone();
        schema["components"] = document["components"].clone();
        let validator = jsonschema::draft202012::new(&schema).expect("the published schema is valid");
        for (name, example) in body["examples"].as_object().unwrap() {
            let error = validator.iter_errors(&example["value"]).next();
            assert!(error.is_none(), "example {name} of {}: {error:?}", body["schema"]);
        }
    }
}

/// Adds all bodies and parameters that have a schema and examples.
fn find_bodies<'a>(value: &'a Value, bodies: &mut Vec<&'a Value>) {
    match value {
        Value::Object(object) if object.contains_key("schema") && object.contains_key("examples") => {
            bodies.push(value);
        }
        Value::Object(object) => object.values().for_each(|inner| find_bodies(inner, bodies)),
        Value::Array(items) => items.iter().for_each(|inner| find_bodies(inner, bodies)),
        _ => {}
    }
}

#[test]
fn error_examples_have_a_code_with_the_status_of_the_response() {
    let document = openapi_document();
    let responses = document["components"]["responses"].as_object().unwrap();
    for response in responses.values() {
        check::<ErrorBody>(response);
    }
    for (path, methods) in document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let Some(reference) = response["$ref"].as_str() else { continue };
                for example in examples(document.pointer(reference.trim_start_matches('#')).unwrap()) {
                    let code = example["code"].as_str().unwrap_or(ErrorCode::RequestTimeout.as_str());
                    let error = ErrorCode::ALL.iter().find(|error| error.as_str() == code).unwrap();
                    assert_eq!(error.status().to_string(), *status, "{path}: {code}");
                }
            }
        }
    }
}

/// The service takes every number above 2^64 - 1 for the largest position, so the document must not forbid them.
#[test]
fn number_of_items_to_skip_has_no_maximum_in_the_openapi_document() {
    let document = openapi_document();
    for (path, name) in [
        ("/v2/monitor", "offset"),
        ("/v2/monitor/{id}/checks", "offset"),
        ("/v2/monitor/{id}/checks/{checkId}", "skip"),
    ] {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().expect("it has parameters");
        let parameter = parameters.iter().find(|parameter| parameter["name"] == name).expect(path);
        assert_eq!(parameter["schema"], json!({ "type": "integer", "minimum": 0, "default": 0 }), "{path}");
    }
}

/// The searches of Open WebUI and SearXNG have schemas of their own, and refuse the queries that all searches refuse.
#[test]
fn queries_of_other_programs_have_the_rules_of_searches() {
    let document = openapi_document();
    let body = &document["paths"]["/search"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    let parameters = document["paths"]["/search"]["get"]["parameters"].as_array().expect("it has parameters");
    let parameter = parameters.iter().find(|parameter| parameter["name"] == "q").expect("q is the query");
    let search = &document["components"]["schemas"]["SearchRequest"];
    for rule in ["type", "minLength", "maxLength", "pattern"] {
        let expected = &search["properties"]["query"][rule];
        assert_ne!(*expected, Value::Null, "{rule}");
        assert_eq!(body["properties"]["query"][rule], *expected, "{rule}");
        assert_eq!(parameter["schema"][rule], *expected, "{rule}");
    }
}
