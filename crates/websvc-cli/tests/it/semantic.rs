//! The search by meaning with an endpoint, from the configuration to the response.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use crate::harness::{Service, Site};

const BASE: &str = "http://model.test/v1";
const EMBEDDINGS: &str = "http://model.test/v1/embeddings";

/// Returns vectors with one dimension for cars and one for tea, in any words.
fn embed(body: &Value) -> Page {
    let topics = [["car", "automobile", "mechanic"], ["tea", "infusion", "kettle"]];
    let vector = |text: &str| -> Vec<f64> {
        let text = text.to_lowercase();
        let words = || text.split(|c: char| !c.is_alphanumeric());
        let mut vector: Vec<f64> =
            topics.iter().map(|topic| words().filter(|word| topic.contains(word)).count() as f64).collect();
        vector.push(0.1);
        vector
    };
    let texts = body["input"].as_array().cloned().unwrap_or_default();
    let data = texts.iter().enumerate().map(
        |(index, text)| json!({ "index": index, "embedding": vector(text.as_str().unwrap_or_default()) }),
    );
    Page::new("application/json", json!({ "data": data.collect::<Vec<_>>() }).to_string())
}

async fn wait_until(service: &Service, line: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let metrics = service.text("/metrics").await;
        if metrics.lines().any(|found| found == line) {
            return metrics;
        }
        assert!(Instant::now() < deadline, "no {line} within a minute:\n{metrics}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_found_by_meaning_with_an_endpoint_and_by_words_without_it() {
    let model = FakeModel::with_responder(embed);
    let world = model.serve(TestWeb::builder(), BASE).start().await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    for (name, value) in [
        ("URL", BASE),
        ("URL_MODEL", "tiny"),
        ("API_KEY", "sk-of-the-tests"),
        ("PASSAGE_PREFIX", "passage: "),
        ("QUERY_PREFIX", "query: "),
        ("CPU_PERCENT", "100"),
    ] {
        command.env(format!("WEBSVC__SEMANTIC__{name}"), value);
    }
    let log = site.data_dir().join("log.txt");
    let service = Service::start_logging(&mut command, &log);
    let garage = ("A mechanic mends every automobile, also on Sundays.", "http://garage.test/");
    service.index_pages(&[garage, ("Infusion from a kettle.", "http://cafe.test/")]).await;
    wait_until(&service, "websvc_semantic_pages{state=\"encoded\"} 2").await;
    let found = service.search(json!({ "query": "car" })).await.body;
    assert_eq!(found["data"]["web"][0]["url"], "http://garage.test/", "{found}");
    assert_eq!((found["data"]["web"].as_array().unwrap().len(), found.get("warning")), (1, None), "{found}");
    let filtered = service.search(json!({ "query": "car -sundays" })).await.body;
    assert!(filtered["data"]["web"].as_array().is_none_or(Vec::is_empty), "{filtered}");
    let requests = world.requests();
    let sent: Vec<_> = requests.iter().filter(|request| request.url == EMBEDDINGS).collect();
    assert!(sent.iter().all(|request| request.header("authorization") == Some("Bearer sk-of-the-tests")));
    let bodies: String =
        sent.iter().map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect();
    assert!(bodies.contains("query: car") && bodies.contains("passage: "), "{bodies}");
    assert!(!bodies.contains("garage.test"), "no address is sent: {bodies}");
    model.push_responses([Page::text("no").status(400)]);
    let by_words = service.search(json!({ "query": "automobile mends" })).await.body;
    assert_eq!(by_words["data"]["web"][0]["url"], "http://garage.test/", "{by_words}");
    assert!(by_words["warning"].as_str().unwrap().contains("by words alone"), "{by_words}");
    wait_until(&service, "websvc_semantic_searches_total{outcome=\"fallback\"} 1").await;
    assert!(service.stop().success());
    let log = std::fs::read_to_string(log).unwrap();
    assert!(!log.contains("sk-of-the-tests") && !log.contains("automobile"), "{log}");
}
