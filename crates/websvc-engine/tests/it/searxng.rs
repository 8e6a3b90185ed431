//! SearXNG as a source: what is asked, what is read, and what is said when it does not answer.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_engine::{EndpointConfig, Hit, SearchSource, Searxng, SearxngConfig, SourceHealth};
use websvc_testkit::{FakeSearxng, Page, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig};
use websvc_validate::{DomainFilter, SourceKind};

use crate::asking::{Question, client, urls};

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

/// Returns the parameters of the only request so far.
fn asked(world: &TestWeb) -> Vec<(String, String)> {
    let requests = world.requests();
    assert_eq!(requests.len(), 1);
    url::Url::parse(&requests[0].url).unwrap().query_pairs().into_owned().collect()
}

async fn reason(page: Page) -> String {
    let world = TestWeb::builder().page(SEARCH, page).start().await;
    Question::new(SourceKind::Web, "tea").reason(&source(&world)).await
}

#[tokio::test]
async fn web_results_are_read_once_each_and_the_odd_ones_left_out() {
    let world = serve(instance()).await;
    let (hits, warnings) = Question::new(SourceKind::Web, "tea").hits(&source(&world)).await;
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
async fn sizes_of_images_are_read_from_free_text() {
    let world = serve(instance()).await;
    let (hits, _) = Question::new(SourceKind::Images, "tea").hits(&source(&world)).await;
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
    let (hits, _) = Question::new(SourceKind::Images, "tea larger:1100x800").hits(&source(&world)).await;
    assert_eq!(hits.len(), 1);
    let seen = &world.requests().last().unwrap().url.clone();
    assert!(seen.contains("q=tea&") && seen.contains("categories=images"), "{seen}");
}

#[tokio::test]
async fn dates_without_zone_and_in_words_are_read() {
    let world = serve(instance()).await;
    let (hits, _) = Question::new(SourceKind::News, "tea").hits(&source(&world)).await;
    let dates: Vec<_> = hits.iter().map(|hit: &Hit| hit.date.map(|date| date.to_string())).collect();
    assert_eq!(
        dates,
        [Some("2024-05-10T06:00:00Z".to_owned()), Some("2024-05-07T12:00:00Z".to_owned()), None]
    );
    assert_eq!(hits[0].image.as_ref().unwrap().url, "https://img.test/1.jpg");
}

#[tokio::test]
async fn the_question_is_told_in_its_parameters() {
    let world = serve(instance()).await;
    let mut question =
        Question::new(SourceKind::News, "!g tea \"green leaf\" -coffee related:a.test").tbs("qdr:w");
    question.safe = true;
    question.country = Some("AT");
    question.domains = DomainFilter::Include(vec!["news.test".to_owned()]);
    question.hits(&source(&world)).await;
    let expected = [
        ("q", "g tea \"green leaf\" -coffee site:news.test"),
        ("format", "json"),
        ("categories", "news"),
        ("pageno", "1"),
        ("safesearch", "2"),
        ("language", "de-AT"),
        ("time_range", "week"),
    ];
    // The second page, asked because the first was not enough, is empty.
    let first: Vec<(String, String)> =
        url::Url::parse(&world.requests()[0].url).unwrap().query_pairs().into_owned().collect();
    assert_eq!(first, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[tokio::test]
async fn pages_are_asked_for_until_enough_hits_pass_the_filters() {
    let result = |at: usize| {
        let host = if at.is_multiple_of(2) { "even.test" } else { "odd.test" };
        json!({"url": format!("https://{host}/{at}"), "title": "Tea", "engine": "x"})
    };
    let world = serve(FakeSearxng::new().results("general", (0..100).map(result).collect())).await;
    let mut question = Question::new(SourceKind::Web, "tea site:even.test");
    question.limit = 12;
    let (hits, warnings) = question.hits(&source(&world)).await;
    assert_eq!((hits.len(), warnings.len(), world.requests().len()), (12, 0, 3));
    assert!(hits.iter().all(|hit| hit.url.starts_with("https://even.test/")));
    world.clear_requests();
    question.limit = 100;
    let (hits, _) = question.hits(&source(&world)).await;
    assert_eq!((hits.len(), world.requests().len()), (50, 10), "an engine has no more than ten pages");
}

#[tokio::test]
async fn what_the_time_range_cannot_say_is_enforced_and_undated_results_are_named() {
    let world = serve(instance()).await;
    let question = Question::new(SourceKind::News, "tea").tbs("cdr:1,cd_min:05/09/2024");
    let (hits, warnings) = question.hits(&source(&world)).await;
    assert_eq!(urls(&hits), ["https://news.test/1"]);
    assert_eq!(
        warnings,
        ["1 results without a date were left out, because it cannot apply this time filter itself"]
    );
    let exact = Question::new(SourceKind::News, "tea").tbs("qdr:d");
    let (hits, warnings) = exact.hits(&source(&world)).await;
    assert_eq!(urls(&hits), ["https://news.test/1", "https://news.test/3"], "it applies a day itself");
    assert_eq!(warnings, Vec::<String>::new());
}

#[tokio::test]
async fn engines_that_do_not_answer_are_named() {
    let world =
        serve(instance().unresponsive_engine("google", "timeout").unresponsive_engine("brave", "CAPTCHA"))
            .await;
    let (hits, warnings) = Question::new(SourceKind::Web, "tea").hits(&source(&world)).await;
    assert_eq!(hits.len(), 3);
    assert_eq!(warnings, ["engines did not answer: google (timeout), brave (CAPTCHA)"]);
}

#[tokio::test]
async fn nothing_found_is_an_answer_only_when_all_engines_answered() {
    let world = serve(FakeSearxng::new()).await;
    let (hits, warnings) = Question::new(SourceKind::Web, "tea").hits(&source(&world)).await;
    assert_eq!((hits, warnings), (Vec::new(), Vec::new()));
    assert_eq!(asked(&world)[0].1, "tea");
    let world = serve(FakeSearxng::new().unresponsive_engine("google", "timeout")).await;
    let reason = Question::new(SourceKind::Web, "tea").reason(&source(&world)).await;
    assert_eq!(reason, "it has no results, and engines did not answer: google (timeout)");
}

#[tokio::test]
async fn an_instance_without_json_says_what_to_change() {
    let world = serve(FakeSearxng::new().without_json()).await;
    let reason = Question::new(SourceKind::Web, "tea").reason(&source(&world)).await;
    assert_eq!(reason, "it refuses JSON (403): add `json` to `search.formats` in its settings.yml");
}

#[tokio::test]
async fn a_limiter_is_left_alone_for_as_long_as_it_says() {
    let world = serve(FakeSearxng::new().rate_limited("120")).await;
    let source = source(&world);
    let question = Question::new(SourceKind::Web, "tea");
    let reason = question.reason(&source).await;
    assert_eq!(reason, "its limiter refuses requests (429), the next attempt is in 120 s");
    let reason = question.reason(&source).await;
    assert!(reason.starts_with("it is paused after failures, the next attempt is in 1"), "{reason}");
    assert_eq!(world.requests().len(), 1);
    assert!(matches!(source.condition(), SourceHealth::Paused { retry_after_ms: 110_000..=120_000, .. }));
}

#[tokio::test]
async fn answers_that_are_none_are_told_apart() {
    let html = Page::html("<title>SearXNG</title>");
    assert_eq!(reason(html.clone()).await, "it answered with \"text/html; charset=utf-8\" in place of JSON");
    assert_eq!(reason(html.status(502)).await, "it answered with status 502");
    let json = |body: &str| Page::new("application/json", body.to_owned());
    assert_eq!(
        reason(json(r#"{"error":"Invalid value"}"#).status(400)).await,
        "it answered with status 400: Invalid value"
    );
    assert!(reason(json("{")).await.starts_with("its answer cannot be read: not valid JSON"));
    assert_eq!(reason(json("{}")).await, "its answer cannot be read: it has no list `results`");
    assert_eq!(
        reason(Page::redirect(302, "https://searx.test/search")).await,
        "it redirects (status 302): configure the address that it redirects to"
    );
}

#[tokio::test]
async fn a_silent_instance_is_given_up_after_its_time() {
    let world = TestWeb::builder().page(SEARCH, Page::unresponsive()).start().await;
    let endpoint = EndpointConfig { timeout: Duration::from_millis(50), ..EndpointConfig::default() };
    let reason = Question::new(SourceKind::Web, "tea").reason(&source_with(&world, endpoint)).await;
    assert_eq!(reason, "it did not answer within 50 ms");
}

#[tokio::test]
async fn pages_that_came_before_a_failure_are_kept() {
    let results = (0..30).map(|at| json!({"url": format!("https://tea.test/{at}"), "title": "Tea"}));
    let instance = FakeSearxng::new().results("general", results.collect());
    let world = TestWeb::builder()
        .page_with(SEARCH, move |seen| match seen.url.contains("pageno=2") {
            true => Page::text("the question again").status(500),
            false => instance.respond(seen),
        })
        .start()
        .await;
    let mut question = Question::new(SourceKind::Web, "tea");
    question.limit = 25;
    let (hits, warnings) = question.hits(&source(&world)).await;
    assert_eq!(hits.len(), 10);
    assert_eq!(warnings, ["the results end after page 1: it answered with status 500"]);
    question.patience = Duration::ZERO;
    world.clear_requests();
    let (hits, warnings) = question.hits(&source(&world)).await;
    assert_eq!((hits.len(), warnings.len(), world.requests().len()), (10, 0, 1), "no time for another page");
}

#[tokio::test]
async fn an_instance_that_is_down_is_told_without_its_address() {
    let guard = AddressGuard::public().connect_to("down.test:80", "127.0.0.1:1").unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    let url = "http://down.test/".parse().unwrap();
    let config = SearxngConfig { url, name: "searxng".to_owned(), endpoint: EndpointConfig::default() };
    let reason = Question::new(SourceKind::Web, "tea").reason(&Searxng::new(config, client)).await;
    assert_eq!(reason, "it cannot be connected to");
}

#[tokio::test]
async fn failures_in_a_row_pause_it_and_a_probe_brings_it_back() {
    let answers = std::sync::atomic::AtomicUsize::new(0);
    let instance = instance();
    let world = TestWeb::builder()
        .page_with(SEARCH, move |seen| match answers.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 | 1 => Page::text("down").status(503),
            _ => instance.respond(seen),
        })
        .start()
        .await;
    // Without a pause, the next question is the probe.
    let endpoint = EndpointConfig { failures: 2, pause: Duration::ZERO, ..EndpointConfig::default() };
    let source = source_with(&world, endpoint);
    let question = Question::new(SourceKind::Web, "tea");
    question.reason(&source).await;
    assert_eq!(source.condition(), SourceHealth::Ok);
    question.reason(&source).await;
    assert!(matches!(source.condition(), SourceHealth::Paused { .. }));
    question.hits(&source).await;
    assert_eq!(source.condition(), SourceHealth::Ok);
}

#[tokio::test]
async fn the_pace_refuses_what_cannot_wait() {
    let world = serve(instance()).await;
    let endpoint = EndpointConfig {
        requests_per_second: 0.001,
        burst: 2,
        timeout: Duration::from_millis(500),
        ..EndpointConfig::default()
    };
    let source = source_with(&world, endpoint);
    let question = Question::new(SourceKind::Web, "tea");
    // The first question takes both tokens: one page, and the empty one after it.
    question.hits(&source).await;
    let reason = question.reason(&source).await;
    assert!(reason.starts_with("more questions than its configured rate allows"), "{reason}");
    assert_eq!(world.requests().len(), 2);
    assert_eq!(source.condition(), SourceHealth::Ok, "it is not the source's fault");
}
