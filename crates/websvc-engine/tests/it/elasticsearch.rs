//! The source and the writer for servers with the API of Elasticsearch: requests, responses, writes and failures.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_engine::{
    BulkReport, Elasticsearch, ElasticsearchConfig, ElasticsearchDeclaration, ElasticsearchWriter,
    EndpointConfig, FailureKind, SearchSource, SourceHealth, SourceResponse,
};
use websvc_index::{Document, Image, News};
use websvc_testkit::{FakeElasticsearch, Page, TestWeb};
use websvc_validate::{DomainFilter, SourceKind};

use crate::request::{TestRequest, client, urls};

const ELASTIC: &str = "http://es.test";
const QUICKWIT: &str = "http://es.test/api/v1/_elastic";

fn config(base: &str, endpoint: EndpointConfig) -> ElasticsearchConfig {
    let declaration = json!({"url": base, "index": "pages", "username": "reader", "password": "${PASSWORD}"});
    let declaration: ElasticsearchDeclaration = serde_json::from_value(declaration).unwrap();
    let variable = |name: &str| (name == "PASSWORD").then(|| "leaf".to_owned());
    ElasticsearchConfig::new("es".to_owned(), &declaration, endpoint, variable).unwrap()
}

fn source(world: &TestWeb, base: &str) -> Elasticsearch {
    Elasticsearch::new(config(base, EndpointConfig::default()), client(world))
}

fn writer(world: &TestWeb, base: &str) -> ElasticsearchWriter {
    ElasticsearchWriter::new(config(base, EndpointConfig::default()), client(world))
        .with_initial_backoff(Duration::from_millis(1))
}

fn page(url: &str, title: &str, body: &str, date: &str) -> Document {
    Document {
        url: url.to_owned(),
        title: title.to_owned(),
        body: body.to_owned(),
        published: date.parse().ok(),
        ..Document::default()
    }
}

fn pages() -> Vec<Document> {
    let image = |url: &str, alt: &str, width: u32| Image {
        url: url.to_owned(),
        alt: alt.to_owned(),
        width: Some(width),
        height: Some(100),
        ..Image::default()
    };
    vec![
        Document {
            headings: vec!["Water".to_owned()],
            description: Some("The guide.".to_owned()),
            images: vec![
                image("http://i.test/cup.png", "A cup of tea", 100),
                image("http://i.test/dog.jpg", "A dog", 900),
            ],
            ..page(
                "https://www.tea.test/guide/green.html",
                "Green tea",
                "Welcome. Green tea wants hot water. Enjoy.",
                "2024-05-09T00:00:00Z",
            )
        },
        page("http://tea.test/black", "Black tea", "Boil the water for black tea.", "2024-05-01T00:00:00Z"),
        Document {
            content_type: Some("application/pdf".to_owned()),
            ..page(
                "http://docs.tea.de/paper",
                "On leaves",
                "Leaves of green plants and tea.",
                "2023-01-01T00:00:00Z",
            )
        },
        page(
            "http://coffee.test/",
            "Coffee",
            "Coffee wants water, too. No tea here.",
            "2020-01-01T00:00:00Z",
        ),
        Document {
            news: Some(News { image_url: Some("http://i.test/news.png".to_owned()) }),
            images: vec![image("http://i.test/pot.png", "Green tea in a pot", 200)],
            ..page("http://news.test/1", "Tea prices rise", "The price of tea.", "2024-05-10T06:00:00Z")
        },
        Document {
            explicit: true,
            ..page("http://adult.test/", "Tea for adults", "Explicit tea.", "2024-01-01T00:00:00Z")
        },
    ]
}

/// Returns a loopback web with a server at `base` that contains the pages.
async fn filled(server: FakeElasticsearch, base: &str) -> TestWeb {
    let world = server.serve(TestWeb::builder(), base).start().await;
    let written = writer(&world, base).write(pages()).await;
    assert_eq!(written, BulkReport { written: 6, ..BulkReport::default() });
    world.clear_requests();
    world
}

#[tokio::test]
async fn operators_and_words_find_the_right_pages_on_all_servers() {
    let cases: &[(&str, &[&str])] = &[
        ("green water", &["www.tea", "tea.test/black", "docs", "coffee"]),
        ("\"green tea\"", &["www.tea"]),
        ("tea -green", &["tea.test/black", "coffee", "news", "adult"]),
        ("tea -\"black tea\"", &["www.tea", "docs", "coffee", "news", "adult"]),
        ("tea site:tea.test", &["www.tea", "tea.test/black"]),
        ("site:tea.test/guide", &["www.tea"]),
        ("tea -site:test", &["docs"]),
        ("site:tea.test OR site:coffee.test -filetype:html", &["tea.test/black", "coffee"]),
        ("filetype:pdf", &["docs"]),
        ("filetype:htm", &["www.tea"]),
        ("inurl:guide", &["www.tea"]),
        ("allinurl: tea black", &["tea.test/black"]),
        ("intitle:leaves", &["docs"]),
        ("allintitle: tea green", &["www.tea"]),
        ("intitle:\"tea prices\"", &["news"]),
        ("boil OR explicit", &["tea.test/black", "adult"]),
        ("(boil OR price) -black", &["news"]),
        ("nothing", &[]),
        ("&&& tea site:coffee.test", &["coffee"]),
        ("&&&", &[]),
    ];
    for (base, server) in
        [(ELASTIC, FakeElasticsearch::new("pages")), (QUICKWIT, FakeElasticsearch::new("pages").quickwit())]
    {
        let world = filled(server, base).await;
        let source = source(&world, base);
        for (query, expected) in cases {
            let (hits, warnings) = TestRequest::new(SourceKind::Web, query).hits(&source).await;
            let mut found = urls(&hits);
            found.sort_unstable();
            let is_there = |part: &&&str| found.iter().any(|url| url.contains(**part));
            assert!(expected.iter().all(|part| is_there(&part)), "{base} {query}: {found:?}");
            assert_eq!(found.len(), expected.len(), "{base} {query}: {found:?}");
            assert_eq!(warnings, Vec::<String>::new(), "{base} {query}");
        }
    }
}

#[tokio::test]
async fn filters_outside_of_the_query_are_applied() {
    let world = filled(FakeElasticsearch::new("pages"), ELASTIC).await;
    let source = source(&world, ELASTIC);
    let search = |request: TestRequest| {
        let source = &source;
        async move { request.hits(source).await.0.into_iter().map(|hit| hit.url).collect::<Vec<_>>() }
    };
    let tea = || TestRequest::new(SourceKind::Web, "tea");
    let mut request = tea();
    request.domains = DomainFilter::Include(vec!["tea.de".to_owned(), "coffee.test".to_owned()]);
    assert_eq!(search(request).await.len(), 2);
    let mut request = tea();
    request.domains = DomainFilter::Exclude(vec!["test".to_owned()]);
    assert_eq!(search(request).await, ["http://docs.tea.de/paper"]);
    let mut request = tea();
    request.safe = true;
    assert!(!search(request).await.iter().any(|url| url.contains("adult")));
    assert_eq!(search(tea().tbs("qdr:w")).await.len(), 2);
    assert_eq!(search(tea().tbs("cdr:1,cd_max:12/31/2020")).await, ["http://coffee.test/"]);
    let newest = search(tea().tbs("sbd:1")).await;
    assert_eq!(newest[..2], ["http://news.test/1", "https://www.tea.test/guide/green.html"]);
    assert_eq!(newest.last().unwrap(), "http://coffee.test/");
    let mut request = TestRequest::new(SourceKind::Web, "leaves OR tea");
    request.country = Some("DE");
    search(request).await;
    let body = String::from_utf8_lossy(&world.requests().last().unwrap().body).into_owned();
    assert!(body.contains("country:DE"), "{body}");
    let mut request = TestRequest::new(SourceKind::Web, "leaves OR tea");
    request.location = Some("Munich,Bavaria,Germany");
    search(request).await;
    let body = String::from_utf8_lossy(&world.requests().last().unwrap().body).into_owned();
    for name in ["Munich", "M\u{fc}nchen", "Bavaria"] {
        assert!(
            body.contains(&format!("{{\"match_phrase\":{{\"body\":{{\"query\":\"{name}\"}}}}}}")),
            "{name}: {body}"
        );
    }
}

#[tokio::test]
async fn pages_with_all_words_come_before_pages_with_some() {
    let world = filled(FakeElasticsearch::new("pages"), ELASTIC).await;
    let (hits, _) = TestRequest::new(SourceKind::Web, "black water").hits(&source(&world, ELASTIC)).await;
    assert_eq!(hits[0].url, "http://tea.test/black");
    assert!(hits.len() > 1);
}

#[tokio::test]
async fn description_is_a_snippet_or_that_of_the_page() {
    let world = filled(FakeElasticsearch::new("pages"), ELASTIC).await;
    let source_of = |world: &TestWeb, base| source(world, base);
    let request = TestRequest::new(SourceKind::Web, "intitle:green hot");
    let (hits, _) = request.hits(&source_of(&world, ELASTIC)).await;
    assert_eq!(hits[0].description, "Green tea wants hot water.");
    assert_eq!(hits[0].date, "2024-05-09T00:00:00Z".parse().ok());
    let world = filled(FakeElasticsearch::new("pages").quickwit(), QUICKWIT).await;
    let (hits, _) = request.hits(&source_of(&world, QUICKWIT)).await;
    assert_eq!(hits[0].description, "The guide.", "Quickwit has no snippets");
}

#[tokio::test]
async fn images_and_news_are_found() {
    let world = filled(FakeElasticsearch::new("pages"), ELASTIC).await;
    let source = source(&world, ELASTIC);
    let images = async |query: &str| {
        let (hits, _) = TestRequest::new(SourceKind::Images, query).hits(&source).await;
        let mut images: Vec<String> = hits.into_iter().map(|hit| hit.image.unwrap().url).collect();
        images.sort_unstable();
        images
    };
    let all = ["http://i.test/cup.png", "http://i.test/dog.jpg", "http://i.test/pot.png"];
    assert_eq!(images("tea").await, all, "the title of the page describes its images");
    assert_eq!(images("pot larger:100x100").await, ["http://i.test/pot.png"]);
    assert_eq!(images("imagesize:900x100").await, ["http://i.test/dog.jpg"]);
    assert_eq!(images("site:tea.test filetype:jpeg").await, ["http://i.test/dog.jpg"]);
    assert_eq!(images("coffee").await, Vec::<String>::new());
    let (hits, _) = TestRequest::new(SourceKind::News, "tea").hits(&source).await;
    assert_eq!(urls(&hits), ["http://news.test/1"]);
    assert_eq!(hits[0].image.as_ref().unwrap().url, "http://i.test/news.png");
}

#[tokio::test]
async fn unsupported_operators_are_reported_in_warnings() {
    let world = filled(FakeElasticsearch::new("pages"), ELASTIC).await;
    let request = TestRequest::new(SourceKind::Web, "tea larger:10x10");
    let (hits, warnings) = request.hits(&source(&world, ELASTIC)).await;
    assert_eq!(hits.len(), 6);
    assert_eq!(warnings, ["source es: imagesize: and larger: apply to images only and were ignored"]);
}

#[tokio::test]
async fn further_pages_are_requested_until_the_limit_is_reached() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    let many = (0..250).map(|at| page(&format!("http://a.test/{at}"), "Tea", "Tea.", "2024-05-01T00:00:00Z"));
    writer(&world, ELASTIC).write(many.collect()).await;
    world.clear_requests();
    let mut request = TestRequest::new(SourceKind::Web, "tea");
    request.limit = 150;
    let (hits, _) = request.hits(&source(&world, ELASTIC)).await;
    let requests = "two pages, and one for pages of other hosts";
    assert_eq!((hits.len(), world.requests().len()), (150, 3), "{requests}");
    world.clear_requests();
    request.limit = 1000;
    let (hits, _) = request.hits(&source(&world, ELASTIC)).await;
    assert_eq!((hits.len(), world.requests().len()), (250, 3), "until the server has no more");
}

#[tokio::test]
async fn failed_shards_are_a_warning_or_a_failure_without_results() {
    let server = FakeElasticsearch::new("pages");
    let world = filled(server.clone(), ELASTIC).await;
    let source = source(&world, ELASTIC);
    server.fail_shards(2);
    let (_, warnings) = TestRequest::new(SourceKind::Web, "tea").hits(&source).await;
    assert_eq!(warnings, ["source es: results may be missing: 2 of its 5 shards failed"]);
    let reason = TestRequest::new(SourceKind::Web, "nothing").reason(&source).await;
    assert_eq!(reason, "no results, and 2 of its 5 shards failed");
    server.fail_shards(0);
    server.time_out_searches();
    let (_, warnings) = TestRequest::new(SourceKind::Web, "tea").hits(&source).await;
    let expected =
        "source es: results may be missing: the search timed out before all documents were searched";
    assert_eq!(warnings, [expected]);
}

#[tokio::test]
async fn failure_reasons_are_specific_and_contain_no_secrets() {
    let server = FakeElasticsearch::new("pages").require_authorization("Basic someone-else");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    let tea = TestRequest::new(SourceKind::Web, "tea");
    let reason = tea.reason(&source(&world, ELASTIC)).await;
    let expected = "responded with status 401: the username and password or the api_key were rejected";
    assert_eq!(reason, expected);
    let written = writer(&world, ELASTIC).write(pages()).await;
    assert_eq!((written.lost, written.first_failure.as_deref()), (6, Some(expected)));

    let server = FakeElasticsearch::new("pages").require_authorization("Basic cmVhZGVyOmxlYWY=");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    let source_ = source(&world, ELASTIC);
    let reason = tea.reason(&source_).await;
    assert_eq!(
        reason,
        "responded with status 404: the index \"pages\" does not exist; with `write = true`, the first page creates it"
    );
    server.fail_next("_search", Page::text("busy").status(503));
    assert_eq!(tea.reason(&source_).await, "responded with status 503");
    server.fail_next("_search", Page::new("application/json", "{\"hits\": {}}"));
    assert_eq!(tea.reason(&source_).await, "its response cannot be read: the list `hits.hits` is missing");
    let foreign = json!({"hits": {"hits": [{"_source": {"message": "a log"}}]}}).to_string();
    server.fail_next("_search", Page::new("application/json", foreign));
    let reason = tea.reason(&source_).await;
    assert_eq!(reason, "its response cannot be read: its documents were not written by websvc");
    server.fail_next("_search", Page::text("").status(429).header("retry-after", "60"));
    let response = tea.send(&source_).await;
    assert!(
        matches!(response, SourceResponse::Unavailable { failure: FailureKind::Limited, .. }),
        "{response:?}"
    );
    assert!(matches!(source_.health(), SourceHealth::Paused { .. }));
}

#[tokio::test]
async fn silent_server_fails_after_its_timeout() {
    let world = TestWeb::builder().page("http://es.test/pages/_search", Page::unresponsive()).start().await;
    let endpoint = EndpointConfig { timeout: Duration::from_millis(50), ..EndpointConfig::default() };
    let source = Elasticsearch::new(config(ELASTIC, endpoint), client(&world));
    let response = TestRequest::new(SourceKind::Web, "tea").send(&source).await;
    assert!(
        matches!(response, SourceResponse::Unavailable { failure: FailureKind::Timeout, .. }),
        "{response:?}"
    );
    assert!(world.requests()[0].url.ends_with("?timeout=40ms"));
}

#[tokio::test]
async fn page_written_again_replaces_its_older_version() {
    let server = FakeElasticsearch::new("pages");
    let world = filled(server.clone(), ELASTIC).await;
    let update =
        page("http://tea.test/black/?utm_source=x", "Black tea again", "Text.", "2024-05-01T00:00:00Z");
    writer(&world, ELASTIC).write(vec![update]).await;
    let titles: Vec<Value> =
        server.documents().into_iter().map(|document| document["title"].clone()).collect();
    assert_eq!(titles.len(), 6);
    assert!(titles.contains(&json!("Black tea again")) && !titles.contains(&json!("Black tea")));
}

#[tokio::test]
async fn rejections_for_lack_of_capacity_are_retried_and_others_counted() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    server.reject_next_documents(8);
    server.reject_urls_with("coffee");
    server.fail_next("_bulk", Page::text("down").status(503));
    let written = writer(&world, ELASTIC).write(pages()).await;
    assert_eq!((written.written, written.refused, written.lost), (5, 1, 0));
    let reason = "http://coffee.test/: status 400, document_parsing_exception: failed to parse field [date]";
    assert_eq!(written.first_failure.as_deref(), Some(reason));
    assert_eq!(server.documents().len(), 5);
}

#[tokio::test]
async fn documents_are_lost_after_the_last_retry() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    server.reject_next_documents(1_000);
    let written = writer(&world, ELASTIC).write(pages()).await;
    assert_eq!((written.written, written.refused, written.lost), (0, 0, 6));
    assert_eq!(server.bulk_requests(), 7, "one attempt and six retries");
}

#[tokio::test]
async fn batch_that_is_too_large_is_halved() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    server.limit_bulk_body(1_500);
    let written = writer(&world, ELASTIC).write(pages()).await;
    assert_eq!((written.written, written.lost), (6, 0));
    assert!(server.bulk_requests() > 3);
}

#[tokio::test]
async fn index_with_another_mapping_is_not_written_to() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    let mapping = json!({"pages": {"mappings": {"properties": {"body": {"type": "keyword"}}}}}).to_string();
    server.fail_next("_mapping", Page::new("application/json", mapping));
    let written = writer(&world, ELASTIC).write(pages()).await;
    assert_eq!(written.lost, 6);
    let reason = written.first_failure.unwrap();
    assert!(reason.contains("the index \"pages\" was not created by websvc: its field \"url\""), "{reason}");
    assert!(server.documents().is_empty());
}
