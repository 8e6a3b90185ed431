//! Tests of serialization: fields, their order, and no null for content that was not requested.

use serde_json::{Value, json};
use websvc_types::{
    CacheState, Category, ErrorBody, ImageResult, Metadata, NewsResult, PageContent, ProxyUsed, SearchData,
    SearchRequest, SearchResponse, Source, SourceKind, Violation, ViolationCode, WebResult,
};

#[track_caller]
fn check<T: serde::Serialize>(value: &T, expected: &str) {
    assert_eq!(serde_json::to_string(value).expect("the types can be serialized"), expected);
}

#[test]
fn request_without_optional_fields_has_only_the_given_ones() {
    check(&SearchRequest { query: "q".into(), ..SearchRequest::default() }, r#"{"query":"q"}"#);
    let request = SearchRequest {
        query: "q".into(),
        sources: Some(vec![Source::new(SourceKind::News)]),
        ignore_invalid_urls: Some(true),
        ..SearchRequest::default()
    };
    check(&request, r#"{"query":"q","sources":[{"type":"news"}],"ignoreInvalidURLs":true}"#);
}

#[test]
fn plain_result_has_no_field_of_a_scraped_page() {
    let web = WebResult {
        title: "T".into(),
        description: "D".into(),
        url: "https://a.example/".into(),
        ..WebResult::default()
    };
    check(&web, r#"{"title":"T","description":"D","url":"https://a.example/"}"#);
}

#[test]
fn scraped_result_has_its_fields_in_the_order_of_the_specification() {
    let content = PageContent {
        markdown: Some("# T".into()),
        html: Some("<h1>T</h1>".into()),
        raw_html: Some("<h1>T".into()),
        links: Some(vec!["https://b.example/".into()]),
        screenshot: Some("s".into()),
        audio: Some("a".into()),
        video: Some("v".into()),
        metadata: Some(Metadata {
            title: Some("T".into()),
            source_url: Some("https://a.example".into()),
            status_code: Some(200),
            proxy_used: Some(ProxyUsed::Stealth),
            cache_state: Some(CacheState::Miss),
            other: [("og:type".to_owned(), json!("article"))].into(),
            ..Metadata::default()
        }),
        ..PageContent::default()
    };
    let web = WebResult { category: Some(Category::Pdf), content, ..WebResult::default() };
    check(
        &web,
        concat!(
            r##"{"title":"","description":"","url":"","category":"pdf","markdown":"# T","html":"<h1>T</h1>","##,
            r#""rawHtml":"<h1>T","links":["https://b.example/"],"screenshot":"s","audio":"a","video":"v","#,
            r#""metadata":{"title":"T","sourceURL":"https://a.example","statusCode":200,"proxyUsed":"stealth","#,
            r#""cacheState":"miss","og:type":"article"}}"#
        ),
    );
}

#[test]
fn response_has_only_the_requested_sources() {
    let data = SearchData { images: Some(vec![]), ..SearchData::default() };
    let response = SearchResponse { success: true, data, warning: None, id: "1".into(), credits_used: 0 };
    check(&response, r#"{"success":true,"data":{"images":[]},"id":"1","creditsUsed":0}"#);
}

#[test]
fn image_and_news_results_match_the_specification() {
    let image = ImageResult {
        title: "T".into(),
        image_url: "i".into(),
        image_width: Some(1),
        image_height: Some(2),
        url: "u".into(),
        position: 1,
    };
    check(&image, r#"{"title":"T","imageUrl":"i","imageWidth":1,"imageHeight":2,"url":"u","position":1}"#);
    let news = NewsResult {
        title: "T".into(),
        snippet: "S".into(),
        url: "u".into(),
        date: Some("2026-01-02".into()),
        image_url: Some("i".into()),
        position: 1,
        content: PageContent::default(),
    };
    check(&news, r#"{"title":"T","snippet":"S","url":"u","date":"2026-01-02","imageUrl":"i","position":1}"#);
}

#[test]
fn search_response_round_trips() {
    let sent = json!({
        "success": true,
        "data": {
            "web": [{
                "title": "T", "description": "D", "url": "u", "category": "github", "markdown": "m",
                "json": { "a": [1] }, "metadata": { "url": "u", "statusCode": 404, "error": "e", "keywords": ["k"] },
            }],
            "news": [],
        },
        "warning": "w",
        "id": "1",
        "creditsUsed": 3,
    });
    let response: SearchResponse = serde_json::from_str(&sent.to_string()).unwrap();
    assert_eq!(serde_json::to_value(&response).unwrap(), sent);
    let web = &response.data.web.unwrap()[0];
    assert_eq!(web.category, Some(Category::Github));
    assert_eq!(web.content.metadata.as_ref().unwrap().other["keywords"], json!(["k"]));
}

#[test]
fn error_body_without_code_and_details_has_neither() {
    let plain = ErrorBody { error: "E".into(), ..ErrorBody::default() };
    check(&plain, r#"{"success":false,"error":"E"}"#);
    let violation =
        Violation { path: "/limit".into(), code: ViolationCode::TooBig, message: "limit is too big".into() };
    let full = ErrorBody { code: Some("BAD_REQUEST".into()), details: Some(vec![violation]), ..plain };
    let written: Value = serde_json::to_value(&full).unwrap();
    assert_eq!(
        written["details"],
        json!([{ "path": "/limit", "code": "too_big", "message": "limit is too big" }])
    );
    assert_eq!(serde_json::from_value::<ErrorBody>(written).unwrap(), full);
}
