//! Tests of a server with the API of Elasticsearch as the only index: every command uses it, or says why it does not.

use std::process::{Command, Output};

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::{FakeElasticsearch, Page, TestWeb};

use crate::elastic::{command, serve, server, tea_pages};
use crate::harness::{KEY, Site};

const ONLY: &str = r#"["es"]"#;
const ADMIN_KEY: &str = "the-admin-key-of-these-tests";

async fn start(es: &FakeElasticsearch) -> (TestWeb, Site) {
    let world = es.serve(TestWeb::builder(), "http://es.test").start().await;
    let site = Site::new(&world);
    (world, site)
}

fn run(site: &Site, arguments: &[&str], providers: &str) -> Output {
    command(site, arguments, providers).output().unwrap()
}

#[track_caller]
fn succeed(site: &Site, arguments: &[&str]) -> String {
    let output = run(site, arguments, ONLY);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_the_index_use_the_server() {
    let es = server();
    let (_world, site) = start(&es).await;
    let file = tea_pages(&site);
    succeed(&site, &["index", "import", &file]);
    assert_eq!(succeed(&site, &["index", "stats"]), "2 documents, 200 bytes on disk, 3 segments\n");

    let export = site.data_dir().join("export.jsonl");
    let output = run(&site, &["index", "export", export.to_str().unwrap()], ONLY);
    let expected = "the local index is empty, because new pages are written to es only: export them with the tools of \
                    that server, such as a snapshot";
    assert!(!output.status.success() && errors(&output).contains(expected), "{}", errors(&output));
    assert!(!export.exists());
    let output = run(&site, &["index", "optimize"], ONLY);
    assert!(errors(&output).contains("es merges its index by itself"), "{}", errors(&output));

    let deleted = succeed(&site, &["index", "delete", "--url", "https://www.tea.test/black", "--json"]);
    let deleted: Value = serde_json::from_str(&deleted).unwrap();
    let expected = json!({"documents": 0, "servers": {"es": {"documents": 1, "is_scheduled": false}}});
    assert_eq!(deleted, expected);
    let deleted = succeed(&site, &["index", "delete", "--site", "tea.test"]);
    assert_eq!(deleted, "es: 1 document deleted\n0 documents deleted\n");
    assert!(es.documents().is_empty());

    es.fail_next("_delete_by_query", Page::text("no").status(403));
    let output = run(&site, &["index", "delete", "--site", "tea.test"], ONLY);
    assert!(
        !output.status.success() && errors(&output).contains("source es: responded with status 403"),
        "{}",
        errors(&output)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_deleted_from_the_local_index_and_the_server() {
    let es = server();
    let (_world, site) = start(&es).await;
    let file = tea_pages(&site);
    let both = r#"["index", "es"]"#;
    assert!(run(&site, &["index", "import", &file], both).status.success());
    let output = run(&site, &["index", "export", "-"], ONLY);
    assert!(errors(&output).contains("the pages in es are not included"), "{}", errors(&output));
    let output = run(&site, &["index", "delete", "--site", "tea.test"], both);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "es: 2 documents deleted\n2 documents deleted\n");
    assert!(es.documents().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn running_service_uses_the_server() {
    let es = server();
    let (_world, site) = start(&es).await;
    succeed(&site, &["index", "import", &tea_pages(&site)]);
    let mut serving = command(&site, &["serve", "--listen", "127.0.0.1:0"], ONLY);
    let service = crate::harness::Service::start(serving.env("WEBSVC_ADMIN_KEY", ADMIN_KEY));

    let stats = service.get("/v2/index/stats").await.body;
    assert_eq!((&stats["documents"], &stats["bytes"]), (&json!(2), &json!(200)), "{stats}");
    let bearer = format!("Bearer {ADMIN_KEY}");
    let headers = [("authorization", bearer.as_str())];
    let system = service.send(Method::GET, "/dashboard/system", &headers, String::new()).await;
    assert_eq!(
        system.body["index"],
        json!({"documents": 2, "images": null, "bytes": 200}),
        "{}",
        system.body
    );
    let ready = service.get("/ready").await.body;
    assert_eq!(ready["sources"], json!([{"name": "es", "state": "ok"}]), "{ready}");

    let body = json!({"url": "http://tea.test/", "sitemap": "skip"});
    let map = service.post("/v2/map", body.to_string()).await.body;
    let links: Vec<&str> =
        map["links"].as_array().unwrap().iter().map(|link| link["url"].as_str().unwrap()).collect();
    for page in ["http://tea.test/green", "http://tea.test/black"] {
        assert!(links.contains(&page), "{map}");
    }

    // The local indexes have no pages, so that the running service needs not be stopped.
    assert_eq!(
        succeed(&site, &["index", "delete", "--site", "tea.test"]),
        "es: 2 documents deleted\n0 documents deleted\n"
    );
    let found = service.search(json!({"query": "tea"})).await;
    assert_eq!((found.status.as_u16(), &found.body["data"]), (200, &json!({"web": []})));
}

#[tokio::test(flavor = "multi_thread")]
async fn unavailable_server_is_named_by_the_service() {
    let es = server();
    let (_world, site) = start(&es).await;
    let service = serve(&site, ONLY);
    es.fail_next("docs,store,segments", Page::text("down").status(503));
    let stats = service.get("/v2/index/stats").await;
    assert_eq!((stats.status.as_u16(), &stats.body["code"]), (503, &json!("SEARCH_UNAVAILABLE")));
    let expected = "the size of the index could not be read: source es: responded with status 503";
    assert_eq!(stats.body["error"], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn import_waits_for_a_busy_server() {
    let es = server();
    let (_world, site) = start(&es).await;
    es.fail_next("_mapping", Page::text("starting").status(503));
    es.fail_next("_bulk", Page::text("busy").status(429).header("retry-after", "1"));
    es.reject_next_documents(1);
    let output = run(&site, &["index", "import", &tea_pages(&site)], ONLY);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("es: 2 pages written, 0 rejected, 0 lost"), "{}", errors(&output));
    assert_eq!(es.documents().len(), 2);
}

fn findings(mut doctor: Command) -> Value {
    let output = doctor.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", errors(&output)))
}

fn finding<'a>(findings: &'a Value, check: &str) -> &'a Value {
    let list = findings["checks"].as_array().unwrap();
    list.iter().find(|finding| finding["check"] == check).unwrap_or_else(|| panic!("{findings}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_in_a_local_index_that_is_not_searched_are_a_warning() {
    let es = server();
    let (_world, site) = start(&es).await;
    let file = tea_pages(&site);
    let read_only = |arguments: &[&str]| {
        let mut command = command(&site, arguments, ONLY);
        command.env("WEBSVC__SEARCH__SOURCES__ES__WRITE", "false").env("WEBSVC_API_KEY", KEY);
        command
    };
    let expected = "pages are added to the local index, but search.providers does not name it: add \"index\", or set \
                    `write = true` in [search.sources.es] to write them there instead";
    let output = read_only(&["index", "import", &file]).output().unwrap();
    assert!(errors(&output).contains(expected), "{}", errors(&output));
    let found = findings(read_only(&["doctor", "--json"]));
    assert_eq!(finding(&found, "providers")["state"], "warning", "{found}");
    let found = findings(command(&site, &["doctor", "--json"], ONLY));
    let provider = finding(&found, "provider es");
    let expected = "responds; its index has no pages yet, and the first page creates it";
    assert_eq!((&provider["state"], &provider["message"]), (&json!("ok"), &json!(expected)), "{found}");
}
