//! Tests of the wire format: exact bodies, headers and paths.

use std::time::Duration;

use websvc::types::index::{IndexDocument, IndexUploadRequest};
use websvc::types::{
    Category, Format, RetentionOption, ScrapeOptions, SearchRequest, Source, SourceKind, ThreatProtection,
    format,
};
use websvc::{Client, SearchBuilder};

use crate::support::{KEY, base, builder, client, found, json, service};

/// Sends a search and compares the body that arrives, byte by byte.
async fn check(make: impl FnOnce(SearchBuilder) -> SearchBuilder, expected: &str) {
    let world = service(vec![found()]).await;
    make(client(&world).search("asyncio gather")).send().await.unwrap();
    let [seen] = &world.requests()[..] else { panic!("one request") };
    assert_eq!(String::from_utf8_lossy(&seen.body), expected);
}

#[tokio::test]
async fn what_is_not_said_is_not_sent() {
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
                .enterprise([])
                .formats([])
                .scrape_options(ScrapeOptions::default())
        },
        r#"{"query":"asyncio gather"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_default_takes_back_what_was_said_before() {
    let back = |search: SearchBuilder| {
        search
            .limit(5)
            .limit(10)
            .country("DE")
            .country("US")
            .timeout(Duration::from_secs(1))
            .timeout(Duration::from_secs(60))
    };
    check(back, r#"{"query":"asyncio gather"}"#).await;
    let back = |search: SearchBuilder| {
        search.sources([SourceKind::News]).sources([SourceKind::Web]).markdown().formats([])
    };
    check(back, r#"{"query":"asyncio gather"}"#).await;
}

#[tokio::test]
async fn everything_that_is_said_is_sent() {
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
                .highlights()
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
async fn sources_may_have_filters_of_their_own_and_domains_may_be_left_out() {
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
async fn formats_leave_the_other_options_of_a_scrape_as_they_are() {
    let options = ScrapeOptions { only_main_content: Some(false), ..ScrapeOptions::default() };
    check(
        |search| search.scrape_options(options).formats([Format::Links(format::Links::default())]),
        r#"{"query":"asyncio gather","scrapeOptions":{"formats":[{"type":"links"}],"onlyMainContent":false}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_written_request_is_sent_as_it_is() {
    let world = service(vec![found()]).await;
    let request = SearchRequest { query: "q".to_owned(), limit: Some(10), ..SearchRequest::default() };
    let found = client(&world).execute_search(&request).await.unwrap();
    assert_eq!(world.requests()[0].body, r#"{"query":"q","limit":10}"#);
    assert_eq!(found.id, "1");
}

#[tokio::test]
async fn requests_say_what_they_are_and_who_sends_them() {
    let world = service(vec![found()]).await;
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
async fn no_key_is_sent_when_there_is_none() {
    let world = service(vec![found()]).await;
    let url = base(&world);
    let clients = [
        Client::new(url.parse().unwrap(), None).unwrap(),
        Client::new(url.parse().unwrap(), Some(String::new())).unwrap(),
        Client::builder(url.parse().unwrap()).build().unwrap(),
    ];
    for client in clients {
        client.search("q").send().await.unwrap();
    }
    assert!(world.requests().iter().all(|seen| seen.header("authorization").is_none()));
}

#[tokio::test]
async fn a_path_of_the_base_address_is_kept() {
    let world =
        websvc_testkit::TestWeb::builder().page("http://127.0.0.1/a/b/v2/search", found()).start().await;
    for path in ["/a/b", "/a/b/"] {
        let client = builder(&format!("{}{path}", base(&world))).build().unwrap();
        client.search("q").send().await.unwrap();
    }
}

#[tokio::test]
async fn documents_are_uploaded_and_figures_are_read() {
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
    let reply = client.add_documents(&IndexUploadRequest { documents: vec![document] }).await.unwrap();
    assert_eq!(reply.accepted, 1);
    let stats = client.index_stats().await.unwrap();
    assert_eq!((stats.documents, stats.bytes, stats.segments), (7, 8, 9));
    let [upload, figures] = &world.requests()[..] else { panic!("two requests") };
    assert_eq!(upload.body, r#"{"documents":[{"url":"http://a.test/","body":"text"}]}"#);
    assert_eq!((figures.method.as_str(), figures.body.len()), ("GET", 0));
}

#[tokio::test]
async fn connections_are_kept_and_shared_by_clones() {
    let world = service(vec![found()]).await;
    let routes_to = world.http_addr();
    // Whoever counts connections must be between client and service.
    let proxy =
        websvc_testkit::ForwardProxy::start(websvc_testkit::Rules::new(move |_| Some(routes_to))).await;
    let client = builder("http://service.test").proxy(format!("http://{}", proxy.addr).parse().unwrap());
    let client = client.build().unwrap();
    for _ in 0..3 {
        // The world answers by host, and knows 127.0.0.1 only.
        let error = client.clone().search("q").send().await.unwrap_err();
        assert_eq!(error.status().unwrap(), 404);
    }
    assert_eq!(world.requests().len(), 3);
    assert_eq!(proxy.requests().len(), 1);
}
