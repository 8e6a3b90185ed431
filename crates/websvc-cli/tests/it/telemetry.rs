//! Tests of telemetry: log lines, spans, metrics, readiness.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use websvc_store::{Store, TeamChange, ThreatOverride, ThreatPolicy};
use websvc_testkit::{Page, TestWeb, TestWebBuilder, until};

use crate::harness::{Answer, KEY, Service, Site};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";
const COLLECTOR: &str = "http://collector.test/v1/traces";
const PAGE: &str = "http://tea.test/green.html";

/// A collector that keeps what it is sent.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Value>>>);

impl Collector {
    fn serve(&self, world: TestWebBuilder) -> TestWebBuilder {
        let kept = Arc::clone(&self.0);
        world.page_with(COLLECTOR, move |seen| {
            assert_eq!(seen.header("content-type"), Some("application/json"));
            assert_eq!(seen.header("x-collector-key"), Some("secret of the collector"));
            kept.lock().unwrap().push(serde_json::from_slice(&seen.body).unwrap());
            Page::new("application/json", "{}")
        })
    }

    /// Returns the spans that came, each with the name of its service.
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

fn serving(site: &Site) -> Command {
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("WEBSVC_API_KEY", KEY);
    command
}

fn traced(site: &Site) -> Command {
    let mut command = serving(site);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.test")
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=secret%20of%20the%20collector")
        .env("OTEL_SERVICE_NAME", "tea-search")
        .env("OTEL_BSP_SCHEDULE_DELAY", "5");
    command
}

async fn search(service: &Service, headers: &[(&str, &str)], body: Value) -> Answer {
    let headers = [&[("content-type", "application/json")], headers].concat();
    service.send(http::Method::POST, "/v2/search", &headers, body.to_string()).await
}

/// Returns the lines of the log that are there, all of which have to be JSON.
fn lines(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap();
    // The last one may be on its way.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_of_a_request_carries_its_id_which_goes_back_with_every_answer() {
    let world = web().page("http://searx.test/search", Page::text("broken").status(500)).start().await;
    let site = Site::new(&world);
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let mut command = serving(&site);
    command
        .env("WEBSVC__SEARCH__PROVIDERS", r#"["searxng"]"#)
        .env("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test");
    // Its error stream is no terminal: lines are JSON without being asked for.
    let service = Service::start_logging(&mut command, &log);
    let of = |answer: &Answer| answer.headers["x-request-id"].to_str().unwrap().to_owned();

    let answer = search(&service, &[("x-request-id", "mine-1")], json!({ "query": "tea" })).await;
    assert_eq!((answer.status.as_u16(), of(&answer).as_str()), (503, "mine-1"));
    let refused = search(&service, &[("x-request-id", "mine-2"), ("authorization", "")], json!({})).await;
    assert_eq!((refused.status.as_u16(), of(&refused).as_str()), (401, "mine-2"));
    let lost =
        service.send(http::Method::GET, "/nowhere", &[("x-request-id", "mine-3")], String::new()).await;
    assert_eq!((lost.status.as_u16(), of(&lost).as_str()), (404, "mine-3"));
    let longest = "a".repeat(129);
    for bad in ["<script>", "two words", longest.as_str()] {
        let answer = search(&service, &[("x-request-id", bad)], json!({ "query": "tea" })).await;
        assert_eq!(of(&answer).len(), 36, "one of our own: {answer:?}");
    }
    let plain = service.get("/health").await;
    assert_eq!(of(&plain).len(), 36);

    let is_of =
        |line: &Value, message: &str, id: &str| line["message"] == message && line["request_id"] == id;
    for id in ["mine-1", "mine-2", "mine-3"] {
        until(&format!("{id} has its line"), || lines(&log).iter().any(|line| is_of(line, "request", id)))
            .await;
    }
    let lines = lines(&log);
    assert!(lines.iter().any(|line| is_of(line, "a search source failed", "mine-1")), "{lines:#?}");
    let request = lines.iter().find(|line| is_of(line, "request", "mine-1")).unwrap();
    assert_eq!((&request["level"], &request["target"]), (&json!("INFO"), &json!("websvc_server::service")));
    assert_eq!(
        (&request["fields"]["status"], &request["fields"]["path"]),
        (&json!(503), &json!("/v2/search"))
    );
    assert!(request["fields"]["elapsed_us"].is_u64() && request["fields"]["id"].is_string(), "{request}");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains("<script>") && !text.contains("two words") && !text.contains(&longest));
    let replaced = lines.iter().filter(|line| line["fields"]["replaced_id"] == true).count();
    assert_eq!(replaced, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_for_people_when_the_configuration_says_so() {
    let world = web().start().await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log.txt");
    let mut command = serving(&site);
    let service = Service::start_logging(command.env("WEBSVC__LOG__FORMAT", "pretty"), &log);
    search(&service, &[("x-request-id", "mine-1")], json!({ "query": "tea" })).await;
    let read = || std::fs::read_to_string(&log).unwrap();
    until("the request has its line", || read().contains("status=200 request_id=mine-1")).await;
    assert!(read().contains(" INFO websvc_server::service: request "), "{}", read());
    let wrong = serving(&site).env("WEBSVC_LOG", "websvc=loud").output().unwrap();
    assert!(!wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("WEBSVC_LOG"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_with_pages_is_one_trace_with_its_stages_as_spans() {
    let collector = Collector::default();
    let world = collector.serve(web()).start().await;
    let site = Site::new(&world);
    let mut command = traced(&site);
    let service = Service::start_logging(&mut command, &site.data_dir().join("log"));
    service.list(&[("oolongword", PAGE)]).await;
    let parent = format!("00-{TRACE}-{SPAN}-01");
    let body = json!({ "query": "oolongword", "scrapeOptions": { "formats": ["markdown"] } });
    let answer =
        search(&service, &[("traceparent", &parent), ("x-request-id", "mine-1")], body.clone()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let of_trace =
        || -> Vec<Value> { collector.spans().into_iter().filter(|span| span["traceId"] == TRACE).collect() };
    // A span ends after those within it.
    until("the request itself has come", || of_trace().iter().any(|span| span["name"] == "POST /v2/search"))
        .await;
    let spans = of_trace();
    let names: BTreeMap<&str, &str> =
        spans.iter().map(|span| (span["spanId"].as_str().unwrap(), span["name"].as_str().unwrap())).collect();
    assert_eq!(names.len(), spans.len(), "no identifier twice");
    let root = spans.iter().find(|span| span["name"] == "POST /v2/search").unwrap();
    assert_eq!((&root["parentSpanId"], &root["kind"]), (&json!(SPAN), &json!(2)));
    let has = |key: &str, value: Value| {
        let wanted = json!({ "key": key, "value": value });
        root["attributes"].as_array().unwrap().contains(&wanted)
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
    // Whoever says that its trace is not sampled is followed.
    let other = "0af7651916cd43dd8448eb211c80319c";
    search(&service, &[("traceparent", &format!("00-{other}-{SPAN}-00"))], body).await;
    let last = search(&service, &[], json!({ "query": "oolongword" })).await;
    assert_eq!(last.status, 200);
    service.stop();
    assert!(collector.spans().iter().all(|span| span["traceId"] != other));
    let traces: BTreeSet<String> = collector.spans().iter().map(|span| span["traceId"].to_string()).collect();
    assert!(traces.len() > 2, "what is left is sent before the service ends");
}

/// Returns the value of a line of the metrics.
fn metric(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} is not in\n{text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_stage_and_the_cache_are_counted_and_histograms_agree_with_themselves() {
    let world = web().start().await;
    let site = Site::new(&world);
    let service = Service::start(&mut serving(&site));
    service.list(&[("oolongword", PAGE)]).await;
    let before = service.text("/metrics").await;
    let body = json!({ "query": "oolongword", "scrapeOptions": { "formats": ["markdown"] } });
    for _ in 0..2 {
        assert_eq!(search(&service, &[], body.clone()).await.status, 200);
    }
    let after = service.text("/metrics").await;
    let more = |name: &str| metric(&after, name) - metric(&before, name);
    let stage = |stage: &str| more(&format!("websvc_stage_duration_seconds_count{{stage=\"{stage}\"}}"));
    for (name, times) in [("admit", 2.0), ("find", 2.0), ("page", 2.0), ("fetch", 1.0), ("browser", 0.0)] {
        assert!((stage(name) - times).abs() < 0.5, "{name}: {}", stage(name));
    }
    assert!(more("websvc_page_cache_lookups_total{outcome=\"miss\"}") > 0.5);
    let hits = ["hit", "hit_memory"]
        .map(|outcome| more(&format!("websvc_page_cache_lookups_total{{outcome=\"{outcome}\"}}")));
    assert!(hits.iter().sum::<f64>() > 0.5, "{hits:?}");
    assert!(metric(&after, "websvc_page_cache_bytes") > 0.5);
    let ok = "websvc_http_responses_total{operation=\"search\",status=\"200\"}";
    assert!((more(ok) - 2.0).abs() < 0.5);
    assert!(more("websvc_credits_charged_total{operation=\"search\"}") > 3.5, "two searches of two credits");
    for name in after.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" histogram")) {
        let of = |suffix: &str| -> Vec<&str> {
            let whole = format!("{name}{suffix}");
            let is_of =
                |line: &&str| line.strip_prefix(&whole).is_some_and(|rest| rest.starts_with(['{', ' ']));
            after.lines().filter(is_of).collect()
        };
        let value = |line: &str| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
        let all: f64 =
            of("_bucket").iter().filter(|line| line.contains("+Inf")).map(|line| value(line)).sum();
        let counted: f64 = of("_count").iter().map(|line| value(line)).sum();
        assert!(!of("_count").is_empty() && (all - counted).abs() < 0.5, "{name}: {all} and {counted}");
    }
    assert!(!after.contains("oolongword") && !after.contains("tea.test"), "no content in labels");
    assert!(!after.contains("websvc_trace_spans_total"), "nothing is traced");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_down_costs_no_answer_and_what_is_lost_is_counted() {
    let world = web().start().await;
    let site = Site::new(&world);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = serving(&site);
    command
        .env("WEBSVC__TRACES__ENDPOINT", format!("http://{free}"))
        .env("WEBSVC__TRACES__QUEUE", "4")
        .env("WEBSVC__TRACES__BATCH", "1")
        .env("WEBSVC__TRACES__DELAY_MS", "1");
    let service = Service::start(&mut command);
    for _ in 0..3 {
        assert_eq!(search(&service, &[], json!({ "query": "tea" })).await.status, 200);
    }
    let metrics = service.text("/metrics").await;
    let spans = |fate: &str| metric(&metrics, &format!("websvc_trace_spans_total{{fate=\"{fate}\"}}"));
    assert!(spans("dropped") > 0.5, "{metrics}");
    assert!(spans("exported") < 0.5, "{metrics}");
    assert!(service.stop().success(), "and it ends well");
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_names_what_is_degraded() {
    let world = web()
        .page("http://searx.test/search", Page::text("broken").status(500))
        .page("http://scanner.test/", Page::text("broken").status(500))
        .start()
        .await;
    let site = Site::new(&world);
    let mut command = serving(&site);
    command
        .env("WEBSVC__SEARCH__PROVIDERS", r#"["index", "searxng"]"#)
        .env("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test")
        .env("WEBSVC__SEARCH__SEARXNG__BREAKER_FAILURES", "1")
        .env("WEBSVC__THREAT__SCANNER", "http")
        .env("WEBSVC__THREAT__URL", "http://scanner.test/")
        .env("WEBSVC__THREAT__BREAKER_FAILURES", "1");
    let mut service = Service::start(&mut command);
    let whole = service.get("/ready").await.body;
    assert_eq!((&whole["status"], &whole["degraded"]), (&json!("ready"), &json!([])));
    assert_eq!((&whole["threat"], &whole["checks"]["artifacts"]), (&json!({ "state": "ok" }), &json!("ok")));
    service.list(&[("oolongword", PAGE)]).await;
    let store = Store::open(site.data_dir()).unwrap();
    let change = TeamChange {
        threat_protection: Some(ThreatPolicy::On),
        threat_override: Some(ThreatOverride::Allowed),
        ..TeamChange::default()
    };
    store.set_team("protected", &change).unwrap();
    service.key = store.create_key("protected", "").unwrap().secret.expose().to_owned();
    let answer = search(&service, &[], json!({ "query": "oolongword" })).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let less = service.get("/ready").await;
    assert_eq!((less.status.as_u16(), &less.body["status"]), (200, &json!("ready")));
    assert_eq!(less.body["degraded"], json!(["source:searxng", "threat"]), "{}", less.body);
    let threat = &less.body["threat"];
    assert_eq!(
        (&threat["state"], &threat["reason"]),
        (&json!("paused"), &json!("responded with status 500"))
    );
    assert!(threat["retryAfterMs"].is_u64(), "{threat}");
    let metrics = service.text("/metrics").await;
    assert!((metric(&metrics, "websvc_threat_scanner_state{state=\"paused\"}") - 1.0).abs() < 0.5);
}
