//! Tests of telemetry: log lines, spans, metrics and readiness.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use websvc_store::{Store, TeamChange, ThreatOverride, ThreatPolicy};
use websvc_testkit::{Page, TestWeb, TestWebBuilder, until};

use crate::harness::{Response, Service, Site, assert_fields};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";
const COLLECTOR: &str = "http://collector.test/v1/traces";
const PAGE: &str = "http://tea.test/green.html";

/// A trace collector that stores the received bodies.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Value>>>);

impl Collector {
    fn serve(&self, world: TestWebBuilder) -> TestWebBuilder {
        let bodies = Arc::clone(&self.0);
        world.page_with(COLLECTOR, move |request| {
            assert_eq!(request.header("content-type"), Some("application/json"));
            assert_eq!(request.header("x-collector-key"), Some("secret of the collector"));
            bodies.lock().unwrap().push(serde_json::from_slice(&request.body).unwrap());
            Page::new("application/json", "{}")
        })
    }

    /// Returns the received spans, and checks the service name of their resources.
    fn spans(&self) -> Vec<Value> {
        let bodies = self.0.lock().unwrap();
        let resources = bodies.iter().flat_map(|body| body["resourceSpans"].as_array().unwrap());
        let scopes = resources.flat_map(|resource| {
            let attributes = resource["resource"]["attributes"].as_array().unwrap();
            let name = json!({ "key": "service.name", "value": { "stringValue": "tea-search" } });
            assert!(attributes.contains(&name), "{attributes:?}");
            resource["scopeSpans"].as_array().unwrap()
        });
        scopes.flat_map(|scope| scope["spans"].as_array().unwrap()).cloned().collect()
    }
}

fn web() -> TestWebBuilder {
    TestWeb::builder().page(
        PAGE,
        Page::html("<html lang=en><title>Green</title><main><h1>Green tea</h1><p>Seventy degrees.</main>"),
    )
}

fn serve_command_with_traces(site: &Site) -> Command {
    let mut command = site.serve_command();
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.test")
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=secret%20of%20the%20collector")
        .env("OTEL_SERVICE_NAME", "tea-search")
        .env("OTEL_BSP_SCHEDULE_DELAY", "5");
    command
}

async fn search(service: &Service, headers: &[(&str, &str)], body: Value) -> Response {
    let headers = [&[("content-type", "application/json")], headers].concat();
    service.send(http::Method::POST, "/v2/search", &headers, body.to_string()).await
}

/// Returns the complete lines of the log, which must be JSON.
fn log_lines(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap();
    // The last line may be incomplete.
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn request_id_is_in_every_log_line_and_response() {
    let world = web().page("http://searx.test/search", Page::text("broken").status(500)).start().await;
    let site = Site::new(&world);
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let mut command = site.serve_command();
    command
        .env("WEBSVC__SEARCH__PROVIDERS", r#"["searxng"]"#)
        .env("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test");
    // stderr is not a terminal, so the default log format is JSON.
    let service = Service::start_logging(&mut command, &log);
    let request_id = |response: &Response| response.headers["x-request-id"].to_str().unwrap().to_owned();

    let response = search(&service, &[("x-request-id", "mine-1")], json!({ "query": "tea" })).await;
    assert_eq!((response.status.as_u16(), request_id(&response).as_str()), (503, "mine-1"));
    let unauthorized =
        search(&service, &[("x-request-id", "mine-2"), ("authorization", "")], json!({})).await;
    assert_eq!((unauthorized.status.as_u16(), request_id(&unauthorized).as_str()), (401, "mine-2"));
    let not_found =
        service.send(http::Method::GET, "/nowhere", &[("x-request-id", "mine-3")], String::new()).await;
    assert_eq!((not_found.status.as_u16(), request_id(&not_found).as_str()), (404, "mine-3"));
    let too_long = "a".repeat(129);
    for bad in ["<script>", "two words", too_long.as_str()] {
        let response = search(&service, &[("x-request-id", bad)], json!({ "query": "tea" })).await;
        assert_eq!(request_id(&response).len(), 36, "the invalid ID was not replaced: {response:?}");
    }
    let plain = service.get("/health").await;
    assert_eq!(request_id(&plain).len(), 36);

    let is_line_of =
        |line: &Value, message: &str, id: &str| line["message"] == message && line["request_id"] == id;
    for id in ["mine-1", "mine-2", "mine-3"] {
        until(&format!("{id} has a log line"), || {
            log_lines(&log).iter().any(|line| is_line_of(line, "request", id))
        })
        .await;
    }
    let lines = log_lines(&log);
    assert!(
        lines.iter().any(|line| is_line_of(line, "request to a search source failed", "mine-1")),
        "{lines:#?}"
    );
    let request = lines.iter().find(|line| is_line_of(line, "request", "mine-1")).unwrap();
    assert_eq!((&request["level"], &request["target"]), (&json!("INFO"), &json!("websvc_server::service")));
    assert_fields(&request["fields"], &json!({ "status": 503, "path": "/v2/search" }));
    assert!(request["fields"]["elapsed_us"].is_u64() && request["fields"]["id"].is_string(), "{request}");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains("<script>") && !text.contains("two words") && !text.contains(&too_long));
    let replaced = lines.iter().filter(|line| line["fields"]["client_request_id_replaced"] == true).count();
    assert_eq!(replaced, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn pretty_log_format_is_human_readable() {
    let world = web().start().await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log.txt");
    let mut command = site.serve_command();
    let service = Service::start_logging(command.env("WEBSVC__LOG__FORMAT", "pretty"), &log);
    search(&service, &[("x-request-id", "mine-1")], json!({ "query": "tea" })).await;
    let read = || std::fs::read_to_string(&log).unwrap();
    let has_line = |log: &str| {
        log.lines().any(|line| {
            line.contains(" path=\"/v2/search\" status=200 ") && line.ends_with(" request_id=mine-1")
        })
    };
    until("the request has a log line", || has_line(&read())).await;
    assert!(read().contains(" INFO websvc_server::service: request "), "{}", read());
    let output = site.serve_command().env("WEBSVC_LOG", "websvc=loud").output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("WEBSVC_LOG"));
}

#[tokio::test(flavor = "multi_thread")]
async fn search_with_pages_is_one_trace_with_a_span_per_stage() {
    let collector = Collector::default();
    let world = collector.serve(web()).start().await;
    let site = Site::new(&world);
    let mut command = serve_command_with_traces(&site);
    let service = Service::start_logging(&mut command, &site.data_dir().join("log"));
    service.index_pages(&[("oolongword", PAGE)]).await;
    let parent = format!("00-{TRACE}-{SPAN}-01");
    let body = json!({ "query": "oolongword", "scrapeOptions": { "formats": ["markdown"] } });
    let response =
        search(&service, &[("traceparent", &parent), ("x-request-id", "mine-1")], body.clone()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let of_trace =
        || -> Vec<Value> { collector.spans().into_iter().filter(|span| span["traceId"] == TRACE).collect() };
    // A span ends after its child spans, so the root span arrives last.
    until("the root span has arrived", || of_trace().iter().any(|span| span["name"] == "POST /v2/search"))
        .await;
    let spans = of_trace();
    let names: BTreeMap<&str, &str> =
        spans.iter().map(|span| (span["spanId"].as_str().unwrap(), span["name"].as_str().unwrap())).collect();
    assert_eq!(names.len(), spans.len(), "a span ID appears twice");
    let root = spans.iter().find(|span| span["name"] == "POST /v2/search").unwrap();
    assert_eq!((&root["parentSpanId"], &root["kind"]), (&json!(SPAN), &json!(2)));
    let has = |key: &str, value: Value| {
        let expected = json!({ "key": key, "value": value });
        root["attributes"].as_array().unwrap().contains(&expected)
    };
    assert!(has("http.response.status_code", json!({ "intValue": "200" })), "{root}");
    assert!(has("websvc.request_id", json!({ "stringValue": "mine-1" })), "{root}");
    let edges: BTreeSet<(&str, &str)> = spans
        .iter()
        .filter(|span| span["name"] != "POST /v2/search")
        .map(|span| (names[span["parentSpanId"].as_str().unwrap()], span["name"].as_str().unwrap()))
        .collect();
    let request = "POST /v2/search";
    for edge in [
        (request, "authenticate"),
        (request, "admit"),
        (request, "decode"),
        (request, "hold"),
        (request, "find"),
        ("find", "source"),
        ("source", "rank"),
        ("source", "snippets"),
        ("find", "merge"),
        (request, "gather"),
        ("gather", "page"),
        ("page", "cache"),
        ("page", "fetch"),
        ("page", "extract"),
        ("page", "store"),
        ("gather", "ingest"),
        (request, "assemble"),
        (request, "settle"),
        (request, "encode"),
    ] {
        assert!(edges.contains(&edge), "{edge:?} is not in {edges:#?}");
    }
    for span in &spans {
        let time = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"), "{span}");
        let text = span.to_string();
        assert!(!text.contains("oolongword") && !text.contains("tea.test"), "{text}");
    }
    // A request whose trace is not sampled has no spans.
    let other = "0af7651916cd43dd8448eb211c80319c";
    search(&service, &[("traceparent", &format!("00-{other}-{SPAN}-00"))], body).await;
    let last = search(&service, &[], json!({ "query": "oolongword" })).await;
    assert_eq!(last.status, 200);
    service.stop();
    assert!(collector.spans().iter().all(|span| span["traceId"] != other));
    let traces: BTreeSet<String> = collector.spans().iter().map(|span| span["traceId"].to_string()).collect();
    assert!(traces.len() > 2, "remaining spans were not sent at shutdown");
}

/// Returns the value of a metric.
fn metric(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} is not in\n{text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_stages_and_cache_and_histograms_are_consistent() {
    let world = web().start().await;
    let site = Site::new(&world);
    let service = Service::start(&mut site.serve_command());
    service.index_pages(&[("oolongword", PAGE)]).await;
    let before = service.text("/metrics").await;
    let body = json!({ "query": "oolongword", "scrapeOptions": { "formats": ["markdown"] } });
    for _ in 0..2 {
        assert_eq!(search(&service, &[], body.clone()).await.status, 200);
    }
    let after = service.text("/metrics").await;
    let increase = |name: &str| metric(&after, name) - metric(&before, name);
    let stage = |stage: &str| increase(&format!("websvc_stage_duration_seconds_count{{stage=\"{stage}\"}}"));
    for (name, times) in [("admit", 2.0), ("find", 2.0), ("page", 2.0), ("fetch", 1.0), ("browser", 0.0)] {
        assert!((stage(name) - times).abs() < 0.5, "{name}: {}", stage(name));
    }
    assert!(increase("websvc_page_cache_lookups_total{outcome=\"miss\"}") > 0.5);
    let hits = ["hit", "hit_memory"]
        .map(|outcome| increase(&format!("websvc_page_cache_lookups_total{{outcome=\"{outcome}\"}}")));
    assert!(hits.iter().sum::<f64>() > 0.5, "{hits:?}");
    assert!(metric(&after, "websvc_page_cache_bytes") > 0.5);
    let ok = "websvc_http_responses_total{operation=\"search\",status=\"200\"}";
    assert!((increase(ok) - 2.0).abs() < 0.5);
    assert!(
        increase("websvc_credits_charged_total{operation=\"search\"}") > 3.5,
        "the searches were charged fewer credits"
    );
    for name in after.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" histogram")) {
        let lines = |suffix: &str| -> Vec<&str> {
            let full_name = format!("{name}{suffix}");
            let is_line_of =
                |line: &&str| line.strip_prefix(&full_name).is_some_and(|rest| rest.starts_with(['{', ' ']));
            after.lines().filter(is_line_of).collect()
        };
        let value = |line: &str| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
        let all: f64 =
            lines("_bucket").iter().filter(|line| line.contains("+Inf")).map(|line| value(line)).sum();
        let counted: f64 = lines("_count").iter().map(|line| value(line)).sum();
        assert!(!lines("_count").is_empty() && (all - counted).abs() < 0.5, "{name}: {all} and {counted}");
    }
    assert!(
        !after.contains("oolongword") && !after.contains("tea.test"),
        "a label contains content of a request"
    );
    assert!(!after.contains("websvc_trace_spans_total"), "spans are counted without traces");
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_collector_affects_no_response_and_lost_spans_are_counted() {
    let world = web().start().await;
    let site = Site::new(&world);
    let unused_address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = site.serve_command();
    command
        .env("WEBSVC__TRACES__ENDPOINT", format!("http://{unused_address}"))
        .env("WEBSVC__TRACES__QUEUE", "4")
        .env("WEBSVC__TRACES__BATCH", "1")
        .env("WEBSVC__TRACES__DELAY_MS", "1");
    let service = Service::start(&mut command);
    for _ in 0..3 {
        assert_eq!(search(&service, &[], json!({ "query": "tea" })).await.status, 200);
    }
    let metrics = service.text("/metrics").await;
    let spans =
        |outcome: &str| metric(&metrics, &format!("websvc_trace_spans_total{{outcome=\"{outcome}\"}}"));
    assert!(spans("dropped") > 0.5, "{metrics}");
    assert!(spans("exported") < 0.5, "{metrics}");
    assert!(service.stop().success(), "the shutdown fails");
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_names_degraded_parts() {
    let world = web()
        .page("http://searx.test/search", Page::text("broken").status(500))
        .page("http://scanner.test/", Page::text("broken").status(500))
        .start()
        .await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    command
        .env("WEBSVC__SEARCH__PROVIDERS", r#"["index", "searxng"]"#)
        .env("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test")
        .env("WEBSVC__SEARCH__SEARXNG__BREAKER_FAILURES", "1")
        .env("WEBSVC__THREAT__SCANNER", "http")
        .env("WEBSVC__THREAT__URL", "http://scanner.test/")
        .env("WEBSVC__THREAT__BREAKER_FAILURES", "1");
    let mut service = Service::start(&mut command);
    let healthy = service.get("/ready").await.body;
    assert_eq!((&healthy["status"], &healthy["degraded"]), (&json!("ready"), &json!([])));
    assert_eq!(
        (&healthy["threat"], &healthy["checks"]["artifacts"]),
        (&json!({ "state": "ok" }), &json!("ok"))
    );
    service.index_pages(&[("oolongword", PAGE)]).await;
    let store = Store::open(site.data_dir()).unwrap();
    let change = TeamChange {
        threat_protection: Some(ThreatPolicy::On),
        threat_override: Some(ThreatOverride::Allowed),
        ..TeamChange::default()
    };
    store.set_team("protected", &change).unwrap();
    service.key = store.create_key("protected", "").unwrap().secret.expose().to_owned();
    let response = search(&service, &[], json!({ "query": "oolongword" })).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let degraded = service.get("/ready").await;
    assert_eq!((degraded.status.as_u16(), &degraded.body["status"]), (200, &json!("ready")));
    assert_eq!(degraded.body["degraded"], json!(["source:searxng", "threat"]), "{}", degraded.body);
    let threat = &degraded.body["threat"];
    assert_fields(threat, &json!({ "state": "paused", "reason": "responded with status 500" }));
    assert!(threat["retryAfterMs"].is_u64(), "{threat}");
    let metrics = service.text("/metrics").await;
    assert!((metric(&metrics, "websvc_threat_scanner_state{state=\"paused\"}") - 1.0).abs() < 0.5);
}
