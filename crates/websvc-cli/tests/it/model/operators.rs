//! Tests of what operators configure and see: headers, models of features, endpoints, metrics and log lines.

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use super::{MARKER, tea};
use crate::harness::{Service, Site};

const FIRST: &str = "http://first.test/v1";
const SPARE: &str = "http://spare.test/v1";

/// A service with two endpoints, and its log.
struct Endpoints {
    world: TestWeb,
    service: Service,
    site: Site,
}

impl Endpoints {
    async fn new(first: impl IntoIterator<Item = Page>, spare: impl IntoIterator<Item = Page>) -> Self {
        let world = TestWeb::builder().page("http://tea.test/", tea());
        let world = FakeModel::scripted(first).serve(world, FIRST);
        let world = FakeModel::scripted(spare).serve(world, SPARE).start().await;
        let site = Site::new(&world);
        let mut command = site.serve_command();
        command
            .env("WEBSVC_LOG", "debug")
            .env("WEBSVC__LLM__BASE_URL", format!("{FIRST}?code=query-secret"))
            .env("WEBSVC__LLM__HEADERS__X-TOKEN", "header-secret")
            .env("WEBSVC__LLM__EXTRA_BODY", "{ user = 'body-secret' }")
            .env("WEBSVC__LLM__MODEL", "large")
            .env("WEBSVC__LLM__MODELS__QUESTION", "small")
            .env("WEBSVC__LLM__FALLBACK", format!("[{{ base_url = '{SPARE}', model = 'spare' }}]"));
        let service = Service::start_logging(&mut command, &site.data_dir().join("log.txt"));
        Self { world, service, site }
    }

    async fn scrape(&self, format: Value) -> Value {
        let body = json!({ "url": "http://tea.test/", "formats": [format] });
        self.service.post("/v2/scrape", body.to_string()).await.body
    }

    /// Returns the bodies of the requests to an endpoint.
    fn sent(&self, url: &str) -> Vec<Value> {
        let requests = self.world.requests();
        let of_endpoint = requests.iter().filter(|request| request.url == url);
        of_endpoint.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }

    async fn check_metrics(&self, expected: &[&str]) {
        let metrics = self.service.text("/metrics").await;
        for line in expected {
            assert!(metrics.lines().any(|found| found == *line), "{line}\n{metrics}");
        }
        for secret in ["query-secret", "header-secret", "body-secret", "first.test", MARKER] {
            assert!(!metrics.contains(secret), "{secret}");
        }
    }

    /// Ends the service and returns the lines of its log about the endpoints.
    fn log_lines(self) -> Vec<Value> {
        drop(self.service);
        let log = std::fs::read_to_string(self.site.data_dir().join("log.txt")).unwrap();
        for secret in ["query-secret", "header-secret", "body-secret", MARKER] {
            assert!(!log.contains(secret), "{secret}: {log}");
        }
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let is_of_endpoint = |line: &Value| {
            line["message"]
                .as_str()
                .is_some_and(|text| text.starts_with("the endpoint of the language model"))
        };
        lines.filter(is_of_endpoint).collect()
    }
}

fn question() -> Value {
    json!({ "type": "question", "question": "What does a tin cost?" })
}

#[tokio::test(flavor = "multi_thread")]
async fn feature_has_its_model_and_requests_have_the_configured_parts() {
    let endpoints = Endpoints::new([FakeModel::text("Tea."), FakeModel::text("12 euros.")], []).await;
    assert_eq!(endpoints.scrape(json!("summary")).await["data"]["summary"], "Tea.");
    assert_eq!(endpoints.scrape(question()).await["data"]["answer"], "12 euros.");
    let url = format!("{FIRST}/chat/completions?code=query-secret");
    let sent = endpoints.sent(&url);
    let models: Vec<&Value> = sent.iter().map(|body| &body["model"]).collect();
    assert_eq!(models, ["large", "small"]);
    assert!(sent.iter().all(|body| body["user"] == "body-secret"), "{sent:?}");
    let requests = endpoints.world.requests();
    let with_header = requests.iter().filter(|request| request.header("x-token") == Some("header-secret"));
    assert_eq!(with_header.count(), 2, "it is sent to the endpoint, and not to the page");
    endpoints
        .check_metrics(&[
            "websvc_llm_requests_total{feature=\"question\",outcome=\"answered\"} 1",
            "websvc_llm_tokens_total{feature=\"question\",direction=\"input\"} 11",
            "websvc_llm_tokens_total{feature=\"summary\",direction=\"output\"} 7",
            "websvc_llm_request_duration_seconds_bucket{feature=\"summary\",le=\"600\"} 1",
            "websvc_llm_endpoint_requests_total{endpoint=\"0\",outcome=\"answered\"} 2",
        ])
        .await;
    assert_eq!(endpoints.log_lines(), [0; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_is_logged_with_the_words_of_the_server_and_counted() {
    let error = json!({ "error": {
        "message": format!("the prompt says {MARKER}"), "type": "authentication_error", "code": "invalid_api_key",
        "param": format!("not a name {MARKER}"),
    } });
    let rejection = Page::new("application/json", error.to_string()).status(401);
    let endpoints = Endpoints::new([rejection], []).await;
    let body = endpoints.scrape(json!("summary")).await;
    let warning = body["warning"].as_str().unwrap();
    assert!(warning.contains("the language model failed") && warning.contains("llm.api_key"), "{warning}");
    endpoints
        .check_metrics(&[
            "websvc_llm_requests_total{feature=\"summary\",outcome=\"rejected\"} 1",
            "websvc_llm_endpoint_requests_total{endpoint=\"0\",outcome=\"failed\"} 1",
            "websvc_llm_endpoint_paused{endpoint=\"0\"} 0",
        ])
        .await;
    let lines = endpoints.log_lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let expected = json!({
        "endpoint": 0, "feature": "summary", "attempt": 1, "status": 401, "error_code": "invalid_api_key",
    });
    assert_eq!(lines[0]["fields"], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn spare_endpoint_answers_while_the_first_one_is_down() {
    let down = Page::text("down").status(503).header("retry-after", "3600");
    let endpoints = Endpoints::new([down], [FakeModel::text("Tea."), FakeModel::text("Tea.")]).await;
    for _ in 0..2 {
        let body = endpoints.scrape(json!("summary")).await;
        assert_eq!((&body["data"]["summary"], body.get("warning")), (&json!("Tea."), None), "{body}");
    }
    let spare = endpoints.sent(&format!("{SPARE}/chat/completions"));
    assert!(spare.len() == 2 && spare.iter().all(|body| body["model"] == "spare"), "{spare:?}");
    assert!(spare.iter().all(|body| body.get("user").is_none()), "it has no value of the first one");
    endpoints
        .check_metrics(&[
            "websvc_llm_requests_total{feature=\"summary\",outcome=\"answered\"} 2",
            "websvc_llm_endpoint_requests_total{endpoint=\"0\",outcome=\"skipped\"} 1",
            "websvc_llm_endpoint_requests_total{endpoint=\"1\",outcome=\"answered\"} 2",
            "websvc_llm_endpoint_paused{endpoint=\"0\"} 1",
        ])
        .await;
    let lines = endpoints.log_lines();
    assert_eq!((lines.len(), &lines[0]["fields"]["status"]), (1, &json!(503)), "{lines:?}");
}
