//! Every request to a server has a form that all of its versions accept.
//!
//! The fakes check each request against tables of forms. This test sends all operations, with every part of a query.

use std::time::Duration;

use serde_json::json;
use websvc_engine::{
    Elasticsearch, ElasticsearchConfig, ElasticsearchDeclaration, ElasticsearchWriter, EndpointConfig,
    Mirror, PageSelection,
};
use websvc_index::{Document, Image, Link};
use websvc_store::{PageOwner, Store};
use websvc_testkit::{FakeElasticsearch, TestWeb};
use websvc_types::index::IndexDocument;
use websvc_validate::{DomainFilter, SourceKind};

use crate::request::{TestRequest, client};

const QUERIES: [&str; 15] = [
    "tea",
    "green tea leaves",
    "what is the best way to keep the leaves of green tea dry in winter",
    "\"green tea\" -black",
    "tea OR coffee -(water milk)",
    "東京 tea",
    "site:tea.test tea",
    "-site:tea.test filetype:pdf",
    "inurl:a allinurl: b c",
    "intitle:tea allintitle: green leaves",
    "intitle:\"green tea\"",
    "related:tea.test",
    "imagesize:10x10 larger:5x5 cup",
    "teaa leafs",
    "",
];

fn config(base: &str, languages: &[&str]) -> ElasticsearchConfig {
    let mut declaration = json!({"url": base, "index": "pages", "write": true});
    if !base.ends_with("_elastic") {
        declaration["languages"] = json!(languages);
        declaration["shards"] = json!(2);
        declaration["replicas"] = json!(0);
    }
    let declaration: ElasticsearchDeclaration = serde_json::from_value(declaration).unwrap();
    ElasticsearchConfig::new("es".to_owned(), &declaration, EndpointConfig::default(), |_| None).unwrap()
}

fn pages(count: usize) -> Vec<Document> {
    let page = |at: usize| Document {
        url: format!("https://tea.test/{at}"),
        title: format!("Green tea {at}"),
        headings: vec!["Leaves".to_owned()],
        body: "Green tea wants hot water, and the leaves of the tea want light.".to_owned(),
        published: "2024-05-01T00:00:00Z".parse().ok(),
        images: vec![Image {
            url: "https://tea.test/cup.png".to_owned(),
            alt: "A cup".to_owned(),
            ..Image::default()
        }],
        links: vec![Link { url: "https://friend.test/".to_owned(), text: "friend".to_owned() }],
        ..Document::default()
    };
    (0..count).map(page).collect()
}

async fn send_searches(source: &Elasticsearch) {
    for query in QUERIES {
        for kind in [SourceKind::Web, SourceKind::News, SourceKind::Images] {
            for tbs in ["", "qdr:w", "sbd:1", "cdr:1,cd_min:1/1/2000,cd_max:1/1/2030"] {
                let hosts = vec!["tea.test".to_owned()];
                for domains in
                    [DomainFilter::Any, DomainFilter::Include(hosts.clone()), DomainFilter::Exclude(hosts)]
                {
                    let request = TestRequest::new(kind, query).tbs(tbs);
                    let request = TestRequest {
                        domains,
                        country: Some("DE"),
                        location: Some("Munich,Bavaria,DE"),
                        safe: true,
                        ..request
                    };
                    request.hits(source).await;
                }
            }
        }
    }
}

async fn check(base: &str, server: FakeElasticsearch, languages: &[&str]) {
    let world = server.serve(TestWeb::builder(), base).start().await;
    let writer = || ElasticsearchWriter::new(config(base, languages), client(&world));
    let written = writer().write(pages(30)).await;
    assert_eq!(written.written, 30, "{written:?}");
    if !base.ends_with("_elastic") {
        server.remove_fields(&["stems.de", "links"]);
        assert_eq!(writer().write(pages(1)).await.written, 1);
    }
    send_searches(&Elasticsearch::new(config(base, languages), client(&world))).await;
    let writer = writer();
    writer.pages_of_site("tea.test", 5).await.unwrap();
    writer.stats().await.unwrap();
    if !base.ends_with("_elastic") {
        writer.refresh().await.unwrap();
    }
    if !base.ends_with("_elastic") {
        use_index_of_a_team(ElasticsearchWriter::new(config(base, languages), client(&world))).await;
    }
    let urls = vec!["https://tea.test/1".parse().unwrap()];
    writer.delete(&PageSelection { hosts: vec!["tea.test".to_owned()], urls }).await.unwrap();
    assert_eq!(server.violations(), Vec::<String>::new(), "{base}");
    assert_eq!(server.unused_operations(), Vec::<&str>::new(), "{base}");
}

/// Writes to the index of a team, reads it, and deletes it, because there is no such team.
async fn use_index_of_a_team(writer: ElasticsearchWriter) {
    let dir = tempfile::tempdir().unwrap();
    let mirror = Mirror::new(writer.with_team_indexes("a"), Store::open(dir.path()).unwrap());
    let document: IndexDocument =
        serde_json::from_value(json!({"url": "http://tea.test/own", "title": "Tea", "body": "Tea"})).unwrap();
    let owner = PageOwner::new(1);
    let written = mirror.write(vec![document], owner, Duration::from_secs(10)).await;
    assert_eq!(written.written, 1, "{written:?}");
    assert_eq!(mirror.stats(owner).await.unwrap().documents, 1);
    assert_eq!(mirror.pages_of_site("tea.test", owner, 5).await.unwrap().len(), 1);
    assert_eq!(mirror.remove_ownerless().await.unwrap(), 1);
    assert_eq!(mirror.stats(owner).await.unwrap().documents, 0);
}

#[tokio::test]
async fn all_versions_of_elasticsearch_and_opensearch_accept_every_request() {
    check("http://es.test", FakeElasticsearch::new("pages"), &["en", "de", "fr", "es"]).await;
}

#[tokio::test]
async fn all_versions_of_quickwit_accept_every_request() {
    let quickwit = FakeElasticsearch::new("pages").quickwit();
    check("http://es.test/api/v1/_elastic", quickwit, &[]).await;
}

#[tokio::test]
async fn every_configurable_language_has_an_analyzer_of_the_servers() {
    let codes = [
        "ar", "da", "de", "el", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ro", "ru", "sv", "tr",
    ];
    for languages in codes.chunks(4) {
        let server = FakeElasticsearch::new("pages");
        let world = server.serve(TestWeb::builder(), "http://es.test").start().await;
        let writer = ElasticsearchWriter::new(config("http://es.test", languages), client(&world));
        assert_eq!(writer.write(pages(1)).await.written, 1, "{languages:?}: {:?}", server.violations());
    }
}
