//! The source for SearXNG: requests, responses and failures.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_engine::{EndpointConfig, Hit, SearchSource, Searxng, SearxngConfig, SourceHealth};
use websvc_testkit::{FakeSearxng, Page, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig};
use websvc_validate::{DomainFilter, SourceKind};

use crate::request::{TestRequest, client, urls};

const SEARCH: &str = "http://searx.test/base/search";

fn fixture(category: &str) -> Vec<Value> {
    let text = match category {
        "general" => include_str!("../fixtures/searxng/general.json"),
        "images" => include_str!("../fixtures/searxng/images.json"),
        _ => include_str!("../fixtures/searxng/news.json"),
    };
    serde_json::from_str(text).unwrap()
}

fn instance() -> FakeSearxng {
    ["general", "images", "news"]
        .into_iter()
        .fold(FakeSearxng::new(), |instance, category| instance.results(category, fixture(category)))
}

async fn serve(instance: FakeSearxng) -> TestWeb {
    TestWeb::builder().page_with(SEARCH, move |seen| instance.respond(seen)).start().await
}

fn source_with(world: &TestWeb, endpoint: EndpointConfig) -> Searxng {
    let url = "http://searx.test/base/".parse().unwrap();
    Searxng::new(SearxngConfig { url, name: "searxng".to_owned(), endpoint }, client(world))
}

fn source(world: &TestWeb) -> Searxng {
    source_with(world, EndpointConfig::default())
}

/// Returns the parameters of the only request.
fn parameters(world: &TestWeb) -> Vec<(String, String)> {
    let requests = world.requests();
    assert_eq!(requests.len(), 1);
    url::Url::parse(&requests[0].url).unwrap().query_pairs().into_owned().collect()
}

async fn reason(page: Page) -> String {
    let world = TestWeb::builder().page(SEARCH, page).start().await;
    TestRequest::new(SourceKind::Web, "tea").reason(&source(&world)).await
}

#[tokio::test]
async fn web_results_are_read_once_and_invalid_ones_skipped() {
    let world = serve(instance()).await;
    let (hits, warnings) = TestRequest::new(SourceKind::Web, "tea").hits(&source(&world)).await;
    assert_eq!(
        urls(&hits),
        ["https://tea.test/guide", "https://docs.tea.test/brewing.pdf", "https://coffee.test/"]
    );
    assert_eq!(
        (hits[0].title.as_str(), hits[0].description.as_str()),
        ("Green tea guide", "How to brew green tea.")
    );
    assert_eq!(hits[1].title, "Brewing & steeping");
    assert_eq!(hits[1].date, "2024-05-08T10:00:00Z".parse().ok());
    assert_eq!(warnings, Vec::<String>::new());
}

#[tokio::test]
async fn image_sizes_are_read_from_free_text() {
    let world = serve(instance()).await;
    let (hits, _) = TestRequest::new(SourceKind::Images, "tea").hits(&source(&world)).await;
    let sizes: Vec<_> = hits
        .iter()
        .map(|hit| hit.image.as_ref().map(|image| (image.url.as_str(), image.width, image.height)).unwrap())
        .collect();
    assert_eq!(
        sizes,
        [
            ("https://img.test/cup.jpg", Some(1024), Some(768)),
            ("https://img.test/pot.png", Some(1920), Some(1080)),
            ("https://img.test/pot.svg", None, None),
        ]
    );
    let (hits, _) = TestRequest::new(SourceKind::Images, "tea larger:1100x800").hits(&source(&world)).await;
    assert_eq!(hits.len(), 1);
    let last_url = &world.requests().last().unwrap().url.clone();
    assert!(last_url.contains("q=tea&") && last_url.contains("categories=images"), "{last_url}");
}

#[tokio::test]
async fn dates_without_zone_and_in_words_are_read() {
    let world = serve(instance()).await;
    let (hits, _) = TestRequest::new(SourceKind::News, "tea").hits(&source(&world)).await;
    let dates: Vec<_> = hits.iter().map(|hit: &Hit| hit.date.map(|date| date.to_string())).collect();
    assert_eq!(
        dates,
        [Some("2024-05-10T06:00:00Z".to_owned()), Some("2024-05-07T12:00:00Z".to_owned()), None]
    );
    assert_eq!(hits[0].image.as_ref().unwrap().url, "https://img.test/1.jpg");
}

#[tokio::test]
async fn request_options_become_url_parameters() {
    let world = serve(instance()).await;
    let mut request =
        TestRequest::new(SourceKind::News, "!g tea \"green leaf\" -coffee related:a.test").tbs("qdr:w");
    request.safe = true;
    request.country = Some("AT");
    request.domains = DomainFilter::Include(vec!["news.test".to_owned()]);
    request.hits(&source(&world)).await;
    let expected = [
        ("q", "g tea \"green leaf\" -coffee site:news.test"),
        ("format", "json"),
        ("categories", "news"),
        ("pageno", "1"),
        ("safesearch", "2"),
        ("language", "de-AT"),
        ("time_range", "week"),
    ];
    // A second page is requested, because the first one is not enough. It is empty.
    let first: Vec<(String, String)> =
        url::Url::parse(&world.requests()[0].url).unwrap().query_pairs().into_owned().collect();
    assert_eq!(first, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[tokio::test]
async fn pages_are_requested_until_enough_hits_match_the_filters() {
    let result = |at: usize| {
        let host = if at.is_multiple_of(2) { "even.test" } else { "odd.test" };
        json!({"url": format!("https://{host}/{at}"), "title": "Tea", "engine": "x"})
    };
    let world = serve(FakeSearxng::new().results("general", (0..100).map(result).collect())).await;
    let mut request = TestRequest::new(SourceKind::Web, "tea site:even.test");
    request.limit = 12;
    let (hits, warnings) = request.hits(&source(&world)).await;
    assert_eq!((hits.len(), warnings.len(), world.requests().len()), (12, 0, 3));
    assert!(hits.iter().all(|hit| hit.url.starts_with("https://even.test/")));
    world.clear_requests();
    request.limit = 100;
    let (hits, _) = request.hits(&source(&world)).await;
    assert_eq!((hits.len(), world.requests().len()), (50, 10), "at most ten pages are requested");
}

#[tokio::test]
async fn unsupported_time_filters_are_applied_locally_and_undated_results_removed() {
    let world = serve(instance()).await;
    let request = TestRequest::new(SourceKind::News, "tea").tbs("cdr:1,cd_min:05/09/2024");
    let (hits, warnings) = request.hits(&source(&world)).await;
    assert_eq!(urls(&hits), ["https://news.test/1"]);
    assert_eq!(
        warnings,
        ["1 result without a date was removed, because the source does not support this time filter"]
    );
    let exact = TestRequest::new(SourceKind::News, "tea").tbs("qdr:d");
    let (hits, warnings) = exact.hits(&source(&world)).await;
    assert_eq!(urls(&hits), ["https://news.test/1", "https://news.test/3"], "SearXNG supports a day");
    assert_eq!(warnings, Vec::<String>::new());
}

#[tokio::test]
async fn engines_without_response_are_named() {
    let world =
        serve(instance().unresponsive_engine("google", "timeout").unresponsive_engine("brave", "CAPTCHA"))
            .await;
    let (hits, warnings) = TestRequest::new(SourceKind::Web, "tea").hits(&source(&world)).await;
    assert_eq!(hits.len(), 3);
    assert_eq!(warnings, ["some engines did not respond: google (timeout), brave (CAPTCHA)"]);
}

#[tokio::test]
async fn empty_result_is_a_failure_if_engines_did_not_respond() {
    let world = serve(FakeSearxng::new()).await;
    let (hits, warnings) = TestRequest::new(SourceKind::Web, "tea").hits(&source(&world)).await;
    assert_eq!((hits, warnings), (Vec::new(), Vec::new()));
    assert_eq!(parameters(&world)[0].1, "tea");
    let world = serve(FakeSearxng::new().unresponsive_engine("google", "timeout")).await;
    let reason = TestRequest::new(SourceKind::Web, "tea").reason(&source(&world)).await;
    assert_eq!(reason, "no results, and some engines did not respond: google (timeout)");
}

#[tokio::test]
async fn instance_without_json_fails_with_the_setting_to_change() {
    let world = serve(FakeSearxng::new().without_json()).await;
    let reason = TestRequest::new(SourceKind::Web, "tea").reason(&source(&world)).await;
    assert_eq!(reason, "JSON is not enabled (403): add `json` to `search.formats` in its settings.yml");
}

#[tokio::test]
async fn retry_after_of_a_limiter_is_obeyed() {
    let world = serve(FakeSearxng::new().rate_limited("120")).await;
    let source = source(&world);
    let request = TestRequest::new(SourceKind::Web, "tea");
    let reason = request.reason(&source).await;
    assert_eq!(reason, "rate limited by the source (429), next attempt in 120 s");
    let reason = request.reason(&source).await;
    assert!(reason.starts_with("paused after failures, next attempt in 1"), "{reason}");
    assert_eq!(world.requests().len(), 1);
    assert!(matches!(source.health(), SourceHealth::Paused { retry_after_ms: 110_000..=120_000, .. }));
}

#[tokio::test]
async fn failure_reasons_distinguish_invalid_responses() {
    let html = Page::html("<title>SearXNG</title>");
    assert_eq!(reason(html.clone()).await, "responded with \"text/html; charset=utf-8\" instead of JSON");
    assert_eq!(reason(html.status(502)).await, "responded with status 502");
    let json = |body: &str| Page::new("application/json", body.to_owned());
    assert_eq!(
        reason(json(r#"{"error":"Invalid value"}"#).status(400)).await,
        "responded with status 400: Invalid value"
    );
    assert!(reason(json("{")).await.starts_with("its response cannot be read: not valid JSON"));
    assert_eq!(reason(json("{}")).await, "its response cannot be read: the list `results` is missing");
    assert_eq!(
        reason(Page::redirect(302, "https://searx.test/search")).await,
        "redirects (status 302): configure the redirect target as its address"
    );
}

#[tokio::test]
async fn silent_instance_fails_after_its_timeout() {
    let world = TestWeb::builder().page(SEARCH, Page::unresponsive()).start().await;
    let endpoint = EndpointConfig { timeout: Duration::from_millis(50), ..EndpointConfig::default() };
    let reason = TestRequest::new(SourceKind::Web, "tea").reason(&source_with(&world, endpoint)).await;
    assert_eq!(reason, "no response within 50 ms");
}

#[tokio::test]
async fn pages_before_a_failure_are_returned() {
    let results = (0..30).map(|at| json!({"url": format!("https://tea.test/{at}"), "title": "Tea"}));
    let instance = FakeSearxng::new().results("general", results.collect());
    let world = TestWeb::builder()
        .page_with(SEARCH, move |request| match request.url.contains("pageno=2") {
            true => Page::text("the query again").status(500),
            false => instance.respond(request),
        })
        .start()
        .await;
    let mut request = TestRequest::new(SourceKind::Web, "tea");
    request.limit = 25;
    let (hits, warnings) = request.hits(&source(&world)).await;
    assert_eq!(hits.len(), 10);
    assert_eq!(warnings, ["the results end after page 1: responded with status 500"]);
    request.timeout = Duration::ZERO;
    world.clear_requests();
    let (hits, warnings) = request.hits(&source(&world)).await;
    assert_eq!((hits.len(), warnings.len(), world.requests().len()), (10, 0, 1), "no time for another page");
}

#[tokio::test]
async fn unreachable_instance_is_reported_without_its_address() {
    let guard = AddressGuard::public().connect_to("down.test:80", "127.0.0.1:1").unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    let url = "http://down.test/".parse().unwrap();
    let config = SearxngConfig { url, name: "searxng".to_owned(), endpoint: EndpointConfig::default() };
    let reason = TestRequest::new(SourceKind::Web, "tea").reason(&Searxng::new(config, client)).await;
    assert_eq!(reason, "could not connect");
}

#[tokio::test]
async fn consecutive_failures_open_the_breaker_and_a_probe_closes_it() {
    let responses = std::sync::atomic::AtomicUsize::new(0);
    let instance = instance();
    let world = TestWeb::builder()
        .page_with(SEARCH, move |request| {
            match responses.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                0 | 1 => Page::text("down").status(503),
                _ => instance.respond(request),
            }
        })
        .start()
        .await;
    // The breaker is open for no time, so the next request is the probe.
    let endpoint = EndpointConfig { failures: 2, pause: Duration::ZERO, ..EndpointConfig::default() };
    let source = source_with(&world, endpoint);
    let request = TestRequest::new(SourceKind::Web, "tea");
    request.reason(&source).await;
    assert_eq!(source.health(), SourceHealth::Ok);
    request.reason(&source).await;
    assert!(matches!(source.health(), SourceHealth::Paused { .. }));
    request.hits(&source).await;
    assert_eq!(source.health(), SourceHealth::Ok);
}

#[tokio::test]
async fn rate_limit_rejects_requests_that_cannot_wait() {
    let world = serve(instance()).await;
    let endpoint = EndpointConfig {
        requests_per_second: 0.001,
        burst: 2,
        timeout: Duration::from_millis(500),
        ..EndpointConfig::default()
    };
    let source = source_with(&world, endpoint);
    let request = TestRequest::new(SourceKind::Web, "tea");
    // The first search takes both tokens: one page of results, and the empty page after it.
    request.hits(&source).await;
    let reason = request.reason(&source).await;
    assert!(reason.starts_with("the configured rate limit is exhausted"), "{reason}");
    assert_eq!(world.requests().len(), 2);
    assert_eq!(source.health(), SourceHealth::Ok, "the local rate limit is not a failure of the source");
}
