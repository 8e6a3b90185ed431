//! The administration of an index on a server, and writes to a server that is slow, busy or away.

use std::time::Duration;

use serde_json::json;
use websvc_engine::{
    DeletionOutcome, ElasticsearchConfig, ElasticsearchDeclaration, ElasticsearchWriter, EndpointConfig,
    PageSelection, ServerIndexStats,
};
use websvc_index::Document;
use websvc_testkit::{FakeElasticsearch, Page, TestWeb};
use websvc_validate::SourceKind;

use crate::real_server;
use crate::request::{TestRequest, client, urls};

const ELASTIC: &str = "http://es.test";
const QUICKWIT: &str = "http://es.test/api/v1/_elastic";

/// Returns a writer with further configuration keys.
fn writer_with(world: &TestWeb, base: &str, keys: &serde_json::Value) -> ElasticsearchWriter {
    let mut declaration = json!({"url": base, "index": "pages", "write": true});
    declaration.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    let declaration: ElasticsearchDeclaration = serde_json::from_value(declaration).unwrap();
    let config =
        ElasticsearchConfig::new("es".to_owned(), &declaration, EndpointConfig::default(), |_| None).unwrap();
    ElasticsearchWriter::new(config, client(world)).with_initial_backoff(Duration::from_millis(1))
}

fn writer(world: &TestWeb, base: &str) -> ElasticsearchWriter {
    writer_with(world, base, &json!({}))
}

fn page(url: &str) -> Document {
    Document {
        url: url.to_owned(),
        title: "Tea".to_owned(),
        body: "About tea.".to_owned(),
        ..Document::default()
    }
}

fn pages() -> Vec<Document> {
    let urls = ["http://tea.test/1", "https://www.tea.test/2", "http://b.test/a/", "http://notea.test/"];
    urls.map(page).into()
}

fn selection(hosts: &[&str], urls: &[&str]) -> PageSelection {
    PageSelection {
        hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
        urls: urls.iter().map(|url| url.parse().unwrap()).collect(),
    }
}

#[tokio::test]
async fn pages_are_deleted_by_host_and_by_every_spelling_of_their_url() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    let writer = writer(&world, ELASTIC);
    let all = selection(&["tea.test"], &["https://www.b.test/a?utm_source=x"]);
    assert_eq!(writer.delete(&all).await.unwrap(), DeletionOutcome::Deleted(0), "there is no index");
    writer.write(pages()).await;
    assert_eq!(writer.delete(&all).await.unwrap(), DeletionOutcome::Deleted(3));
    let left: Vec<_> = server.documents().into_iter().map(|document| document["url"].clone()).collect();
    assert_eq!(left, ["http://notea.test/"]);
    assert_eq!(writer.delete(&all).await.unwrap(), DeletionOutcome::Deleted(0));
}

#[tokio::test]
async fn deletion_on_a_real_server_leaves_only_other_pages() {
    let Some(index) = real_server::index() else { return };
    index.write(pages()).await;
    let writer = index.writer();
    let expected = ServerIndexStats { documents: 4, ..writer.stats().await.unwrap() };
    assert_eq!(writer.stats().await.unwrap(), expected);
    let mut listed: Vec<String> =
        writer.pages_of_site("tea.test", 10).await.unwrap().into_iter().map(|page| page.url).collect();
    listed.sort_unstable();
    assert_eq!(listed, ["http://tea.test/1", "https://www.tea.test/2"]);
    let deleted = writer.delete(&selection(&["tea.test"], &["https://www.b.test/a?utm_source=x"])).await;
    assert_eq!(deleted.unwrap(), DeletionOutcome::Deleted(3));
    let (hits, _) = TestRequest::new(SourceKind::Web, "tea").hits(&*index.source()).await;
    assert_eq!(urls(&hits), ["http://notea.test/"]);
}

#[tokio::test]
async fn many_pages_are_deleted_with_several_requests() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    let writer = writer(&world, ELASTIC);
    writer.write((0..4_500).map(|at| page(&format!("http://tea.test/{at}"))).collect()).await;
    server.conflict_next_deletions(3);
    server.fail_next("_delete_by_query", Page::text("busy").status(503));
    let deleted = writer.delete(&selection(&["tea.test"], &[])).await.unwrap();
    assert_eq!(deleted, DeletionOutcome::Deleted(4_500));
    assert_eq!((server.documents().len(), server.delete_requests()), (0, 3), "at most 2000 at once");
    server.conflict_next_deletions(100);
    let error = writer.delete(&selection(&["tea.test"], &[])).await.unwrap_err().to_string();
    assert!(error.contains("source es: ") && error.contains("being written at the same time"), "{error}");
}

#[tokio::test]
async fn quickwit_deletes_later_and_reports_the_number_of_pages() {
    let server = FakeElasticsearch::new("pages").quickwit();
    let world = server.serve(TestWeb::builder(), QUICKWIT).start().await;
    let writer = writer(&world, QUICKWIT);
    writer.write(pages()).await;
    let all = selection(&["tea.test"], &["http://b.test/a/"]);
    assert_eq!(writer.delete(&all).await.unwrap(), DeletionOutcome::Scheduled(3));
    assert_eq!(server.delete_tasks(), [r#"sites:"tea.test" OR url:"http://b.test/a/""#]);
    let none = writer.delete(&selection(&["absent.test"], &[])).await.unwrap();
    assert_eq!((none, server.delete_tasks().len()), (DeletionOutcome::Scheduled(0), 1), "no needless task");
}

#[tokio::test]
async fn size_and_pages_of_a_site_are_read_from_every_server() {
    for (base, server) in
        [(ELASTIC, FakeElasticsearch::new("pages")), (QUICKWIT, FakeElasticsearch::new("pages").quickwit())]
    {
        let world = server.serve(TestWeb::builder(), base).start().await;
        let writer = writer(&world, base);
        assert_eq!(writer.stats().await.unwrap(), ServerIndexStats::default(), "there is no index");
        assert_eq!(writer.pages_of_site("tea.test", 10).await.unwrap(), []);
        writer.write(pages()).await;
        let expected = ServerIndexStats { documents: 4, bytes: 400, segments: 3 };
        assert_eq!(writer.stats().await.unwrap(), expected, "{base}");
        let listed = writer.pages_of_site("tea.test", 10).await.unwrap();
        assert_eq!((listed.len(), listed[0].title.as_str()), (2, "Tea"), "{base}");
        assert_eq!(writer.pages_of_site("tea.test", 1).await.unwrap().len(), 1);
        server.fail_next("_search", Page::text("no").status(403));
        let error = writer.pages_of_site("tea.test", 1).await.unwrap_err().to_string();
        assert!(error.starts_with("source es: responded with status 403"), "{error}");
    }
}

#[tokio::test]
async fn index_is_created_with_the_configured_shards_and_replicas() {
    for (keys, expected) in [
        (json!({}), json!({"refresh_interval": "1s"})),
        (
            json!({"shards": 6, "replicas": 0}),
            json!({"refresh_interval": "1s", "number_of_shards": 6, "number_of_replicas": 0}),
        ),
    ] {
        let server = FakeElasticsearch::new("pages");
        let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
        writer_with(&world, ELASTIC, &keys).write(pages()).await;
        assert_eq!(server.settings()["index"], expected);
    }
}

#[tokio::test]
async fn fields_of_later_versions_are_added_to_an_existing_index() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    writer(&world, ELASTIC).write(pages()).await;
    let complete = server.fields();
    server.remove_fields(&["links", "linked_hosts", "image_url_words", "published", "sketch", "stems"]);
    assert_eq!(writer(&world, ELASTIC).write(pages()).await.written, 4);
    assert_eq!(server.fields(), complete);
    server.remove_fields(&["stems.fr", "stems.de"]);
    assert_eq!(writer(&world, ELASTIC).write(pages()).await.written, 4);
    assert_eq!(server.fields(), complete, "a language may be configured later");
    server.remove_fields(&["sites"]);
    let written = writer(&world, ELASTIC).write(pages()).await;
    assert_eq!(
        (written.written, written.lost),
        (0, 4),
        "an index without a field of the first version is foreign"
    );
}

#[tokio::test]
async fn every_index_of_an_alias_gets_the_fields() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    writer(&world, ELASTIC).write(pages()).await;
    world.clear_requests();
    let properties = server.properties();
    let mut old = properties.clone();
    old.as_object_mut().unwrap().shift_remove("published");
    let index = |properties| json!({"mappings": {"properties": properties}});
    let alias = json!({"pages-000001": index(old.clone()), "pages-000002": index(properties)}).to_string();
    server.fail_next("_mapping", Page::new("application/json", alias));
    let written = writer(&world, ELASTIC).write(pages()).await;
    let urls: Vec<String> = world.requests().iter().map(|request| request.url.clone()).collect();
    assert!(urls.contains(&"http://es.test/pages-000001/_mapping".to_owned()), "{urls:?}");
    assert!(!urls.iter().any(|url| url.contains("pages-000002")), "it has all fields: {urls:?}");
    assert_eq!(written.lost, 4, "the fake has no such index");

    old.as_object_mut().unwrap().shift_remove("body");
    let alias = json!({"pages-000001": index(old), "pages-000002": index(json!({}))}).to_string();
    server.fail_next("_mapping", Page::new("application/json", alias));
    let reason = writer(&world, ELASTIC).write(pages()).await.first_failure.unwrap();
    assert!(reason.contains("\"pages-000001\"") && reason.contains("\"body\""), "{reason}");
}

#[tokio::test]
async fn write_waits_for_a_server_that_is_busy_and_then_away() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    for page in [
        Page::text("busy").status(429).header("retry-after", "0"),
        Page::text("starting").status(503),
        Page::new("application/json", "{\"items\": []}").truncated_at(5),
        Page::text("no gateway").status(502),
    ] {
        server.fail_next("_bulk", page);
    }
    server.reject_next_documents(2);
    let written = writer(&world, ELASTIC).write(pages()).await;
    assert_eq!((written.written, written.refused, written.lost), (4, 0, 0), "{written:?}");
    // Four failed requests, one that accepts two pages, and one for the others.
    assert_eq!((server.documents().len(), server.bulk_requests()), (4, 2));
}

#[tokio::test]
async fn write_ends_at_the_first_batch_that_an_unavailable_server_does_not_take() {
    let server = FakeElasticsearch::new("pages");
    let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
    writer(&world, ELASTIC).write(pages()).await;
    world.clear_requests();
    for _ in 0..7 {
        server.fail_next("_bulk", Page::text("down").status(503));
    }
    let many = (0..1_200).map(|at| page(&format!("http://many.test/{at}"))).collect();
    let written = writer(&world, ELASTIC).write(many).await;
    assert_eq!((written.written, written.lost), (0, 1_200));
    assert_eq!(written.first_failure.as_deref(), Some("responded with status 503"));
    let bulk_requests = world.requests().iter().filter(|request| request.url.ends_with("_bulk")).count();
    assert_eq!(bulk_requests, 7, "the second batch is not sent");
}
