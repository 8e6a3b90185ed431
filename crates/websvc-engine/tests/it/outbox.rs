//! The outbox of pages for an index on a server: killed processes, a server that is away, late writes and limits.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use websvc_engine::{
    ElasticsearchConfig, ElasticsearchDeclaration, ElasticsearchWriter, EndpointConfig, IndexCopy, Mirror,
    MirrorMetrics, OutboxState, PageSelection,
};
use websvc_store::{IndexPolicy, PageOwner, Store, TeamChange};
use websvc_testkit::{FakeElasticsearch, Page, TestWeb, until};
use websvc_types::index::IndexDocument;

use crate::request::client;

const ELASTIC: &str = "http://es.test";

/// Longer than any test waits for a server.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and the data directory of the processes that write to it.
struct Test {
    server: FakeElasticsearch,
    world: TestWeb,
    dir: TempDir,
    /// Further configuration keys.
    keys: Value,
}

impl Test {
    async fn new(keys: Value) -> Self {
        let server = FakeElasticsearch::new("pages");
        let world = server.serve(TestWeb::builder(), ELASTIC).start().await;
        Self { server, world, dir: tempfile::tempdir().unwrap(), keys }
    }

    fn writer(&self) -> ElasticsearchWriter {
        let mut declaration = json!({"url": ELASTIC, "index": "pages", "write": true});
        declaration.as_object_mut().unwrap().extend(self.keys.as_object().unwrap().clone());
        let declaration: ElasticsearchDeclaration = serde_json::from_value(declaration).unwrap();
        let endpoint = EndpointConfig::default();
        let config = ElasticsearchConfig::new("es".to_owned(), &declaration, endpoint, |_| None).unwrap();
        ElasticsearchWriter::new(config, client(&self.world)).with_initial_backoff(Duration::from_millis(1))
    }

    /// Opens the mirror as a new process does.
    fn open(&self) -> Arc<Mirror> {
        Arc::new(Mirror::new(self.writer(), Store::open(self.dir.path()).unwrap()))
    }

    fn titles(&self) -> Vec<String> {
        let documents = self.server.documents();
        let mut titles: Vec<String> =
            documents.iter().map(|document| document["title"].as_str().unwrap().to_owned()).collect();
        titles.sort_unstable();
        titles
    }
}

fn document(url: &str, title: &str) -> IndexDocument {
    IndexDocument { url: url.to_owned(), title: title.to_owned(), ..IndexDocument::default() }
}

fn copy(url: &str, title: &str, fetched_at_ms: u64) -> IndexCopy {
    IndexCopy { document: document(url, title), fetched_at_ms, owner: None }
}

fn copies(count: usize) -> Vec<IndexCopy> {
    (0..count).map(|at| copy(&format!("http://a.test/{at}"), "Tea", 7)).collect()
}

fn run(mirror: &Arc<Mirror>) -> JoinHandle<()> {
    let mirror = Arc::clone(mirror);
    tokio::spawn(async move { match mirror.run().await {} })
}

async fn drained(mirror: &Mirror) -> MirrorMetrics {
    until("the outbox is empty", || mirror.status().pages == 0).await;
    mirror.metrics()
}

#[tokio::test]
async fn pages_of_a_process_that_ends_without_notice_are_written_by_the_next_one() {
    let test = Test::new(json!({})).await;
    let mirror = test.open();
    assert_eq!(mirror.enqueue(copies(1_200)).await.warnings, Vec::<String>::new());
    drop(mirror);
    assert_eq!(test.server.bulk_requests(), 0);
    let mirror = test.open();
    let running = run(&mirror);
    until("all pages are written", || test.server.documents().len() == 1_200).await;
    let metrics = drained(&mirror).await;
    assert_eq!((metrics.written, metrics.refused, metrics.lost), (1_200, 0, 0));
    assert_eq!(test.server.bulk_requests(), 3, "500 pages in one request");
    running.abort();
}

#[tokio::test]
async fn pages_wait_while_the_server_is_away() {
    let test = Test::new(json!({"outbox_max_lag_ms": 1})).await;
    let mirror = test.open();
    let running = run(&mirror);
    test.server.set_away(true);
    mirror.enqueue(copies(600)).await;
    until("an attempt has failed", || mirror.status().failure.is_some()).await;
    until("the pages are late", || mirror.status().state == OutboxState::Late).await;
    let status = mirror.status();
    assert_eq!((status.pages, status.failure.as_deref()), (600, Some("responded with status 503")));
    let warnings = mirror.enqueue(vec![copy("http://b.test/", "Tea", 7)]).await.warnings;
    assert!(
        warnings[0].starts_with("source es: 601 pages wait to be written to it, the oldest for "),
        "{warnings:?}"
    );
    // Uploads do not wait for a server that is known to be away.
    let report = mirror.write(vec![document("http://c.test/", "Tea")], None, PATIENCE).await;
    assert_eq!((report.written, report.waiting, report.lost), (0, 1, 0));
    test.server.set_away(false);
    until("all pages are written", || test.server.documents().len() == 602).await;
    let metrics = drained(&mirror).await;
    assert_eq!((metrics.written, metrics.lost), (602, 0));
    assert_eq!(
        (metrics.outbox.state, metrics.outbox.lag, metrics.outbox.failure),
        (OutboxState::Ok, Duration::ZERO, None)
    );
    running.abort();
}

#[tokio::test]
async fn pages_that_the_server_takes_are_not_sent_again_with_those_that_it_has_no_capacity_for() {
    let test = Test::new(json!({})).await;
    test.server.reject_next_documents(2);
    let mirror = test.open();
    mirror.enqueue(copies(5)).await;
    let running = run(&mirror);
    until("all pages are written", || test.server.documents().len() == 5).await;
    assert_eq!((drained(&mirror).await.written, test.server.bulk_requests()), (5, 2));
    running.abort();
}

#[tokio::test]
async fn late_write_does_not_replace_a_newer_page() {
    let test = Test::new(json!({})).await;
    let mirror = test.open();
    let running = run(&mirror);
    mirror.enqueue(vec![copy("http://a.test/x", "new", 20)]).await;
    drained(&mirror).await;
    mirror.enqueue(vec![copy("https://www.a.test/x/", "old", 10)]).await;
    let metrics = drained(&mirror).await;
    assert_eq!((test.titles(), metrics.written, metrics.refused), (vec!["new".to_owned()], 2, 0));
    mirror.enqueue(vec![copy("http://a.test/x", "newest", 20)]).await;
    drained(&mirror).await;
    assert_eq!(test.titles(), ["newest"]);
    running.abort();
}

#[tokio::test]
async fn full_outbox_refuses_pages_until_some_are_written() {
    for keys in [json!({"outbox_max_pages": 3}), json!({"outbox_max_bytes": 1_000})] {
        let test = Test::new(keys.clone()).await;
        let mirror = test.open();
        mirror.enqueue(copies(3)).await;
        assert_eq!(mirror.status().state, OutboxState::Full, "{keys}");
        let warnings = mirror.enqueue(vec![copy("http://b.test/", "Tea", 7)]).await.warnings;
        assert_eq!(warnings[0], "1 page could not be written to es: its outbox is full");
        // Another process knows it too.
        let report = {
            test.server.set_away(true);
            let other = test.open();
            other.write(vec![document("http://b.test/", "Tea")], None, PATIENCE).await
        };
        assert_eq!((report.waiting, report.lost), (0, 1), "{report:?}");
        assert_eq!(report.first_failure.as_deref(), Some("its outbox is full: responded with status 503"));
        test.server.set_away(false);
        let metrics = mirror.close(PATIENCE).await;
        assert_eq!((metrics.written, metrics.lost, metrics.waiting), (3, 1, 0));
        assert_eq!(
            mirror.enqueue(vec![copy("http://b.test/", "Tea", 7)]).await.warnings,
            Vec::<String>::new()
        );
        mirror.close(PATIENCE).await;
        assert_eq!(test.server.documents().len(), 4);
    }
}

#[tokio::test]
async fn page_that_the_server_can_never_take_does_not_block_the_others() {
    let test = Test::new(json!({})).await;
    test.server.reject_urls_with("bad");
    let mirror = test.open();
    mirror.enqueue(vec![copy("http://bad.test/", "Bad", 7), copy("http://a.test/", "Good", 7)]).await;
    let metrics = mirror.close(PATIENCE).await;
    assert_eq!((metrics.written, metrics.refused, metrics.lost, metrics.waiting), (1, 1, 0, 0));
    let reason = "http://bad.test/: status 400, document_parsing_exception: failed to parse field [date]";
    assert_eq!((test.titles(), metrics.first_failure.as_deref()), (vec!["Good".to_owned()], Some(reason)));
}

#[tokio::test]
async fn page_that_the_server_fails_to_store_waits_and_does_not_block_the_others() {
    let test = Test::new(json!({})).await;
    test.server.fail_urls_with("bad");
    let mirror = test.open();
    mirror.enqueue(vec![copy("http://bad.test/", "Bad", 7)]).await;
    mirror.enqueue(copies(600)).await;
    let metrics = mirror.close(PATIENCE).await;
    assert_eq!((metrics.written, metrics.refused, metrics.lost, metrics.waiting), (600, 0, 0, 1));
    assert_eq!(test.server.documents().len(), 600);
}

#[tokio::test]
async fn requests_are_limited_in_bytes() {
    let test = Test::new(json!({})).await;
    let mirror = test.open();
    let large = |at: usize| {
        let mut copy = copy(&format!("http://a.test/{at}"), "Large", 7);
        // The text is sent twice, once for its stems.
        copy.document.body = "x".repeat(900_000);
        copy
    };
    mirror.enqueue((0..5).map(large).collect()).await;
    test.world.clear_requests();
    assert_eq!(mirror.close(PATIENCE).await.written, 5);
    let requests = test.world.requests();
    let sizes =
        requests.iter().filter(|request| request.url.ends_with("_bulk")).map(|request| request.body.len());
    let sizes: Vec<usize> = sizes.collect();
    assert!(sizes.len() == 3 && sizes.iter().all(|size| *size < 4 * 1024 * 1024), "{sizes:?}");
}

#[tokio::test]
async fn index_that_cannot_be_written_to_delays_pages_and_loses_none() {
    let test = Test::new(json!({})).await;
    let mirror = test.open();
    mirror.enqueue(copies(2)).await;
    let closed = json!({"errors": true, "items": [
        {"index": {"status": 400, "error": {"type": "index_closed_exception", "reason": "closed"}}},
        {"index": {"status": 403, "error": {"type": "cluster_block_exception", "reason": "read-only"}}},
    ]});
    test.server.fail_next("_bulk", Page::new("application/json", closed.to_string()));
    let metrics = mirror.close(PATIENCE).await;
    assert_eq!((metrics.written, metrics.refused, metrics.waiting), (0, 0, 2));
}

#[tokio::test]
async fn deleted_pages_do_not_wait_any_more() {
    let test = Test::new(json!({})).await;
    let mirror = test.open();
    mirror.enqueue(vec![copy("http://www.tea.test/", "Tea", 7), copy("http://b.test/x", "B", 7)]).await;
    mirror.enqueue(vec![copy("http://c.test/", "C", 7)]).await;
    let pages = PageSelection {
        hosts: vec!["tea.test".to_owned()],
        urls: vec!["https://b.test/x?utm_source=y".parse().unwrap()],
    };
    let store = Store::open(test.dir.path()).unwrap();
    assert_eq!(test.writer().remove_waiting(&store, &pages).unwrap(), 2);
    mirror.close(PATIENCE).await;
    assert_eq!(test.titles(), ["C"]);
}

/// Returns the URLs of the pages of a team on the host `tea.test`.
async fn pages_of(mirror: &Mirror, owner: Option<PageOwner>) -> Vec<String> {
    let pages = mirror.pages_of_site("tea.test", owner, 10).await.unwrap();
    pages.into_iter().map(|page| page.url).collect()
}

#[tokio::test]
async fn teams_of_services_with_other_databases_have_other_indexes_on_the_same_server() {
    let (test, other_dir) = (Test::new(json!({})).await, tempfile::tempdir().unwrap());
    let store = Store::open(test.dir.path()).unwrap();
    let team = TeamChange { index: Some(IndexPolicy::Team), ..TeamChange::default() };
    store.set_team("red", &team).unwrap();
    let owner = store.page_scope("red").unwrap().owner();
    let open = |store: Store| {
        let writer = test.writer().with_team_indexes(&store.installation_id().unwrap());
        Mirror::new(writer, store)
    };
    let (mirror, other) = (open(store), open(Store::open(other_dir.path()).unwrap()));
    let page = vec![document("http://tea.test/own", "Tea")];
    assert_eq!(mirror.write(page, owner, PATIENCE).await.written, 1);
    assert_eq!(pages_of(&mirror, owner).await, ["http://tea.test/own"]);
    assert_eq!(pages_of(&other, owner).await, Vec::<String>::new(), "its team has the same number");
    // It does not know the team.
    assert_eq!(other.remove_ownerless().await.unwrap(), 0);
    let all = PageSelection { hosts: vec!["tea.test".to_owned()], urls: Vec::new() };
    let other_id = Store::open(other_dir.path()).unwrap().installation_id().unwrap();
    test.writer().with_team_indexes(&other_id).delete(&all).await.unwrap();
    assert_eq!(mirror.remove_ownerless().await.unwrap(), 0);
    assert_eq!(pages_of(&mirror, owner).await, ["http://tea.test/own"]);
}

#[tokio::test]
async fn team_whose_index_is_refused_does_not_delay_the_others() {
    let test = Test::new(json!({})).await;
    let store = Store::open(test.dir.path()).unwrap();
    let mirror = Mirror::new(test.writer().with_team_indexes("a"), store);
    assert_eq!(mirror.write(vec![document("http://tea.test/", "Tea")], None, PATIENCE).await.written, 1);
    test.server.fail_next("_mapping", Page::text("no").status(403));
    let owner = PageOwner::new(1);
    let of_team = IndexCopy { owner, ..copy("http://tea.test/own", "Own", 7) };
    mirror.enqueue(vec![of_team, copy("http://tea.test/shared", "Shared", 7)]).await;
    let metrics = mirror.close(PATIENCE).await;
    assert_eq!(
        (metrics.written, metrics.refused, metrics.lost, metrics.waiting),
        (2, 0, 0, 1),
        "{metrics:?}"
    );
    assert_eq!(pages_of(&mirror, None).await, ["http://tea.test/", "http://tea.test/shared"]);
    assert_eq!(pages_of(&mirror, owner).await, Vec::<String>::new());
}
