//! Tests of the requests that the client sends: exact bodies, headers and paths.

use std::time::Duration;

use websvc::types::extract::{ExtractRequest, ExtractStatus};
use websvc::types::index::{IndexDocument, IndexUploadRequest};
use websvc::types::{
    Category, Format, ParseOptions, RetentionOption, ScrapeOptions, SearchRequest, Source, SourceKind,
    ThreatProtection, format,
};
use websvc::{Client, SearchBuilder};

use crate::support::{KEY, base, builder, client, empty_response, json, service};

/// Sends a search and compares the body of the request, byte by byte.
async fn check(make: impl FnOnce(SearchBuilder) -> SearchBuilder, expected: &str) {
    let world = service(vec![empty_response()]).await;
    make(client(&world).search("asyncio gather")).send().await.unwrap();
    let [seen] = &world.requests()[..] else { panic!("one request") };
    assert_eq!(String::from_utf8_lossy(&seen.body), expected);
}

#[tokio::test]
async fn unset_fields_are_not_sent() {
    check(|search| search, r#"{"query":"asyncio gather"}"#).await;
}

#[tokio::test]
async fn documented_defaults_are_not_sent() {
    check(
        |search| {
            search
                .limit(10)
                .sources([SourceKind::Web])
                .categories([])
                .include_domains([""; 0])
                .exclude_domains([""; 0])
                .tbs("")
                .location("")
                .country("US")
                .timeout(Duration::from_secs(60))
                .highlights(true)
                .enterprise([])
                .formats([])
                .scrape_options(ScrapeOptions::default())
        },
        r#"{"query":"asyncio gather"}"#,
    )
    .await;
}

#[tokio::test]
async fn setting_the_default_again_removes_the_field() {
    let reset = |search: SearchBuilder| {
        search
            .limit(5)
            .limit(10)
            .country("DE")
            .country("US")
            .timeout(Duration::from_secs(1))
            .timeout(Duration::from_secs(60))
    };
    check(reset, r#"{"query":"asyncio gather"}"#).await;
    let reset = |search: SearchBuilder| {
        search.sources([SourceKind::News]).sources([SourceKind::Web]).markdown().formats([])
    };
    check(reset, r#"{"query":"asyncio gather"}"#).await;
}

#[tokio::test]
async fn set_fields_are_sent() {
    check(
        |search| {
            search
                .limit(5)
                .sources([SourceKind::Web, SourceKind::News])
                .categories([Category::Github])
                .include_domains(["docs.example"])
                .tbs("qdr:w")
                .location("Berlin,Germany")
                .country("DE")
                .safe()
                .timeout(Duration::from_millis(1500))
                .ignore_invalid_urls()
                .highlights(false)
                .enterprise([RetentionOption::Zdr])
                .markdown()
                .threat_protection(ThreatProtection::default())
                .origin("tests")
                .integration("cargo")
        },
        concat!(
            r#"{"query":"asyncio gather","limit":5,"sources":[{"type":"web"},{"type":"news"}],"#,
            r#""categories":["github"],"includeDomains":["docs.example"],"tbs":"qdr:w","#,
            r#""location":"Berlin,Germany","country":"DE","safe":true,"timeout":1500,"ignoreInvalidURLs":true,"#,
            r#""highlights":false,"enterprise":["zdr"],"scrapeOptions":{"formats":[{"type":"markdown"}]},"#,
            r#""threatProtection":{},"origin":"tests","integration":"cargo"}"#
        ),
    )
    .await;
}

#[tokio::test]
async fn source_filters_and_excluded_domains_are_sent() {
    let news = Source { tbs: Some("qdr:d".to_owned()), ..Source::new(SourceKind::News) };
    check(
        |search| search.filtered_sources([news]).exclude_domains(["a.example".to_owned()]),
        concat!(
            r#"{"query":"asyncio gather","sources":[{"type":"news","tbs":"qdr:d"}],"#,
            r#""excludeDomains":["a.example"]}"#
        ),
    )
    .await;
}

#[tokio::test]
async fn formats_keep_the_other_scrape_options() {
    let options = ScrapeOptions { only_main_content: Some(false), ..ScrapeOptions::default() };
    check(
        |search| search.scrape_options(options).formats([Format::Links(format::Links::default())]),
        r#"{"query":"asyncio gather","scrapeOptions":{"formats":[{"type":"links"}],"onlyMainContent":false}}"#,
    )
    .await;
}

#[tokio::test]
async fn executed_request_is_sent_unchanged() {
    let world = service(vec![empty_response()]).await;
    let request = SearchRequest { query: "q".to_owned(), limit: Some(10), ..SearchRequest::default() };
    let response = client(&world).execute_search(&request).await.unwrap();
    assert_eq!(world.requests()[0].body, r#"{"query":"q","limit":10}"#);
    assert_eq!(response.id, "1");
}

#[tokio::test]
async fn requests_have_content_type_key_and_user_agent() {
    let world = service(vec![empty_response()]).await;
    client(&world).search("q").send().await.unwrap();
    builder(&base(&world)).user_agent("links/1.0").build().unwrap().search("q").send().await.unwrap();
    let [first, second] = &world.requests()[..] else { panic!("two requests") };
    assert_eq!(first.method, "POST");
    assert_eq!(first.header("content-type"), Some("application/json"));
    assert_eq!(first.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(first.header("user-agent"), Some(concat!("websvc/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(second.header("user-agent"), Some("links/1.0"));
}

#[tokio::test]
async fn empty_or_absent_key_is_not_sent() {
    let world = service(vec![empty_response()]).await;
    let url = base(&world);
    let clients = [
        Client::new(url.parse().unwrap(), "").unwrap(),
        Client::builder(url.parse().unwrap()).build().unwrap(),
    ];
    for client in clients {
        client.search("q").send().await.unwrap();
    }
    assert!(world.requests().iter().all(|seen| seen.header("authorization").is_none()));
}

#[tokio::test]
async fn path_of_the_base_url_is_kept() {
    let world = websvc_testkit::TestWeb::builder()
        .page("http://127.0.0.1/a/b/v2/search", empty_response())
        .start()
        .await;
    for path in ["/a/b", "/a/b/"] {
        let client = builder(&format!("{}{path}", base(&world))).build().unwrap();
        client.search("q").send().await.unwrap();
    }
}

#[tokio::test]
async fn documents_are_uploaded_and_statistics_are_read() {
    let world = websvc_testkit::TestWeb::builder()
        .page("http://127.0.0.1/v2/index/documents", json(200, r#"{"success": true, "accepted": 1}"#))
        .page(
            "http://127.0.0.1/v2/index/stats",
            json(200, r#"{"success": true, "documents": 7, "bytes": 8, "segments": 9}"#),
        )
        .start()
        .await;
    let client = client(&world);
    let document = IndexDocument {
        url: "http://a.test/".to_owned(),
        body: "text".to_owned(),
        ..IndexDocument::default()
    };
    let response = client.add_documents(&IndexUploadRequest { documents: vec![document] }).await.unwrap();
    assert_eq!(response.accepted, 1);
    let stats = client.index_stats().await.unwrap();
    assert_eq!((stats.documents, stats.bytes, stats.segments), (7, 8, 9));
    let [upload, stats] = &world.requests()[..] else { panic!("two requests") };
    assert_eq!(upload.body, r#"{"documents":[{"url":"http://a.test/","body":"text"}]}"#);
    assert_eq!((stats.method.as_str(), stats.body.len()), ("GET", 0));
}

#[tokio::test]
async fn connections_are_reused_and_shared_by_clones() {
    let world = service(vec![empty_response()]).await;
    let target = world.http_addr();
    // The proxy counts the connections.
    let proxy = websvc_testkit::ForwardProxy::start(websvc_testkit::Rules::new(move |_| Some(target))).await;
    let client = builder("http://service.test").proxy(format!("http://{}", proxy.addr).parse().unwrap());
    let client = client.build().unwrap();
    for _ in 0..3 {
        // The test web has pages of 127.0.0.1 only.
        let error = client.clone().search("q").send().await.unwrap_err();
        assert_eq!(error.status().unwrap(), 404);
    }
    assert_eq!(world.requests().len(), 3);
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn file_is_sent_as_a_form_with_its_options() {
    let page = json(200, r##"{"success":true,"data":{"markdown":"# Tea"}}"##);
    let world = service(vec![page]).await;
    let options = ScrapeOptions { formats: Some(vec![Format::markdown()]), ..ScrapeOptions::default() };
    let options = ParseOptions { options, ..ParseOptions::default() };
    let parsed = client(&world).parse("a\"b\r\n.html", b"<h1>Tea\r\n--x", &options).await.unwrap();
    assert_eq!(parsed.data.markdown.as_deref(), Some("# Tea"));
    let [seen] = &world.requests()[..] else { panic!("one request") };
    let content_type = seen.headers["content-type"].to_str().unwrap();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a%22b%0D%0A.html\"\r\n\r\n\
         <h1>Tea\r\n--x\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n\
         {{\"formats\":[{{\"type\":\"markdown\"}}]}}\r\n--{boundary}--\r\n"
    );
    assert_eq!(String::from_utf8_lossy(&seen.body), expected);
    assert!(seen.url.ends_with("/v2/parse") && boundary.len() == 32, "{} {boundary}", seen.url);
}

#[tokio::test]
async fn extraction_is_started_once_and_its_status_is_read_until_it_ends() {
    let status = |status: &str| {
        let text = format!(
            r#"{{"success":true,"id":"e","status":"{status}","data":{{"euros":12}},"expiresAt":"x","creditsUsed":3,"tokensUsed":45,"warnings":[],"replacement":"/v2/agent"}}"#
        );
        json(200, &text)
    };
    let started =
        json(200, r#"{"success":true,"id":"e","urlTrace":[],"warnings":[],"replacement":"/v2/agent"}"#);
    let world = service(vec![started, status("processing"), status("completed")]).await;
    let client = client(&world);
    let request = ExtractRequest { prompt: Some("prices".to_owned()), ..ExtractRequest::default() };
    let id = client.start_extract(&request).await.unwrap().id;
    let ended = client.wait_for_extract(&id, Duration::from_millis(1)).await.unwrap();
    assert_eq!(
        (ended.status, ended.data),
        (ExtractStatus::Completed, Some(serde_json::json!({ "euros": 12 })))
    );
    let methods: Vec<String> = world.requests().iter().map(|request| request.method.to_string()).collect();
    assert_eq!(methods, ["POST", "GET", "GET"]);
}
