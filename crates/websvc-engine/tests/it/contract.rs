//! The contract of search sources: the same checks for every implementation.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use websvc_engine::{
    ApiDefinition, Elasticsearch, ElasticsearchConfig, ElasticsearchDeclaration, ElasticsearchWriter,
    EndpointConfig, HttpJson, HttpJsonConfig, IndexSource, SearchSource, Searxng, SearxngConfig,
    SourceHealth, SourceResponse,
};
use websvc_index::{Document, Index, IndexConfig};
use websvc_testkit::{FakeElasticsearch, FakeSearxng, Page, TestWeb};
use websvc_validate::{DomainFilter, SourceKind};

use crate::request::{TestRequest, client};

const HOST: &str = "http://engine.test";

/// The pages in every source: 24 about tea, half of them on another host.
fn documents() -> Vec<Document> {
    let page = |at: usize| Document {
        url: format!("http://{}.test/{at}", if at.is_multiple_of(2) { "even" } else { "odd" }),
        title: format!("Tea number {at}"),
        body: format!("All about tea, page {at} of many."),
        published: format!("2024-04-{:02}T00:00:00Z", at + 1).parse().ok(),
        ..Document::default()
    };
    (0..24).map(page).collect()
}

fn results() -> Vec<Value> {
    let result = |document: Document| {
        let date = document.published.map(|date| date.to_string());
        json!({"url": document.url, "title": document.title, "content": document.body, "publishedDate": date})
    };
    documents().into_iter().map(result).collect()
}

fn searxng(world: &TestWeb) -> Arc<dyn SearchSource> {
    let endpoint = EndpointConfig { timeout: Duration::from_secs(5), ..EndpointConfig::default() };
    let config = SearxngConfig { url: HOST.parse().unwrap(), name: "searxng".to_owned(), endpoint };
    Arc::new(Searxng::new(config, client(world)))
}

fn api_source(world: &TestWeb) -> Arc<dyn SearchSource> {
    let definition = json!({
        "url": format!("{HOST}/api?q={{query}}&n={{limit}}&p={{page}}"),
        "results": "/results",
        "fields": {"url": "/url", "title": "/title", "description": "/content", "date": "/publishedDate"},
    });
    let definition: ApiDefinition = serde_json::from_value(definition).unwrap();
    let config =
        HttpJsonConfig::new("api".to_owned(), &definition, EndpointConfig::default(), |_| None).unwrap();
    Arc::new(HttpJson::new(config, client(world)))
}

fn elastic_config() -> ElasticsearchConfig {
    let declaration: ElasticsearchDeclaration =
        serde_json::from_value(json!({"url": HOST, "index": "pages"})).unwrap();
    ElasticsearchConfig::new("es".to_owned(), &declaration, EndpointConfig::default(), |_| None).unwrap()
}

fn elastic(world: &TestWeb) -> Arc<dyn SearchSource> {
    Arc::new(Elasticsearch::new(elastic_config(), client(world)))
}

/// Responds as a simple API: a page of results for queries about tea, otherwise no results.
fn api(url: &str) -> Page {
    let url = url::Url::parse(url).unwrap();
    let pairs: std::collections::HashMap<String, String> = url.query_pairs().into_owned().collect();
    let all = if pairs["q"].contains("tea") { results() } else { Vec::new() };
    let (size, page): (usize, usize) = (pairs["n"].parse().unwrap(), pairs["p"].parse().unwrap());
    let page: Vec<Value> = all.into_iter().skip((page - 1) * size).take(size).collect();
    Page::new("application/json", json!({ "results": page }).to_string())
}

/// Checks the contract with a source that contains the pages.
async fn check(source: &dyn SearchSource) {
    let name = source.name();
    let tea = || TestRequest::new(SourceKind::Web, "tea");
    assert_eq!(source.health(), SourceHealth::Ok, "{name}");
    for limit in [1, 5, 24, 60] {
        let request = TestRequest { limit, ..tea() };
        let (hits, _) = request.hits(source).await;
        assert!(!hits.is_empty() && hits.len() <= limit, "{name}: {} of {limit}", hits.len());
        let mut urls: Vec<&str> = hits.iter().map(|hit| hit.url.as_str()).collect();
        assert!(
            urls.iter().all(|url| url::Url::parse(url).is_ok_and(|url| url.has_host())),
            "{name}: {urls:?}"
        );
        urls.sort_unstable();
        urls.dedup();
        assert_eq!(urls.len(), hits.len(), "{name}: each page once");
        assert!(hits.iter().all(|hit| hit.title.starts_with("Tea number")), "{name}");
    }
    let domains = DomainFilter::Include(vec!["even.test".to_owned()]);
    let (hits, _) = TestRequest { domains, limit: 24, ..tea() }.hits(source).await;
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.url.contains("even.test")), "{name}");
    let (hits, _) = TestRequest { limit: 24, ..tea().tbs("cdr:1,cd_max:04/03/2024") }.hits(source).await;
    assert!(
        !hits.is_empty()
            && hits.iter().all(|hit| hit.date.unwrap() < "2024-04-04T00:00:00Z".parse().unwrap()),
        "{name}"
    );
    // No results are a valid response.
    let nothing = TestRequest::new(SourceKind::Web, "intitle:zzz site:nowhere.test").send(source).await;
    let is_empty = matches!(&nothing, SourceResponse::Results { hits, .. } if hits.is_empty());
    assert!(is_empty, "{name}: {nothing:?}");
    // A cancelled request does not affect the source.
    let request = tea();
    let _cancelled = tokio::time::timeout(Duration::ZERO, request.send(source)).await;
    assert_eq!(source.health(), SourceHealth::Ok, "{name}");
    assert!(!tea().hits(source).await.0.is_empty(), "{name}");
}

#[tokio::test]
async fn every_source_meets_the_contract() {
    let directory = tempfile::tempdir().unwrap();
    let index = Arc::new(Index::open(directory.path(), IndexConfig::default()).unwrap());
    documents().into_iter().for_each(|document| index.add(document).unwrap());
    index.flush().unwrap();
    check(&IndexSource::new(index)).await;

    let instance = FakeSearxng::new().results("general", results());
    let world = TestWeb::builder().page_with(&format!("{HOST}/search"), move |request| {
        // It finds nothing for unknown words.
        if request.url.contains("zzz") {
            FakeSearxng::new().respond(request)
        } else {
            instance.respond(request)
        }
    });
    let world = world.page_with(&format!("{HOST}/api"), |request| api(&request.url));
    let world = FakeElasticsearch::new("pages").serve(world, HOST).start().await;
    let written = ElasticsearchWriter::new(elastic_config(), client(&world)).write(documents()).await;
    assert_eq!(written.written, 24);
    for source in [searxng(&world), api_source(&world), elastic(&world)] {
        check(&*source).await;
    }
}

#[tokio::test]
async fn failed_source_is_unavailable_and_its_reason_contains_no_address() {
    let broken = || Page::new("application/json", r#"{"error": "internal"}"#).status(500);
    let world = TestWeb::builder()
        .page(&format!("{HOST}/search"), broken())
        .page(&format!("{HOST}/api"), broken())
        .page(&format!("{HOST}/pages/_search"), broken())
        .start()
        .await;
    for source in [searxng(&world), api_source(&world), elastic(&world)] {
        for _ in 0..5 {
            let reason = TestRequest::new(SourceKind::Web, "tea").reason(&*source).await;
            assert!(reason.contains("500") && !reason.contains("engine.test"), "{reason}");
        }
        assert!(matches!(source.health(), SourceHealth::Paused { .. }), "{}", source.name());
        let reason = TestRequest::new(SourceKind::Web, "tea").reason(&*source).await;
        assert!(reason.starts_with("paused after failures"), "{reason}");
    }
}
