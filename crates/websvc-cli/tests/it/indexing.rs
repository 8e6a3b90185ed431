//! Tests of crawls into the index, imports and uploads, with and without a running server.

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::harness::{KEY, Service, Site, assert_fields, tea_world};

fn parse_report(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn index_crawl_stays_on_its_host_and_honours_robots_txt() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let stdout = site.succeed(&["index", "crawl", "http://tea.test/", "--json"]);
    let report = parse_report(&stdout);
    assert_eq!(report["pages"], json!(3), "{stdout}");
    assert_eq!(report["errors"], json!(1), "{stdout}");
    assert_eq!(world.count("http://tea.test/secret/plan.html"), 0);
    assert_eq!(world.count("http://coffee.test/"), 0);
    assert_eq!(world.count("http://tea.test/green.html"), 1);
    let first = world.requests().first().map(|request| request.url.clone());
    assert_eq!(first.as_deref(), Some("http://tea.test/robots.txt"));
    let stats: Value = serde_json::from_str(&site.succeed(&["index", "stats", "--json"])).unwrap();
    assert_eq!(stats["documents"], json!(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sites_are_crawled_and_searched_together() {
    let world = tea_world().await;
    let site = Site::new(&world);
    site.succeed(&["index", "crawl", "http://tea.test/", "http://coffee.test/"]);
    let service = site.serve();
    let response = service.search(json!({"query": "water"})).await;
    let urls: Vec<&str> = response.body["data"]["web"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["url"].as_str().unwrap())
        .collect();
    assert!(
        urls.contains(&"http://tea.test/green.html") && urls.contains(&"http://coffee.test/"),
        "{urls:?}"
    );
    let response = service.search(json!({"query": "water site:coffee.test"})).await;
    assert_eq!(response.body["data"]["web"].as_array().unwrap().len(), 1);
    let response = service.search(json!({"query": "water", "excludeDomains": ["coffee.test"]})).await;
    assert_eq!(response.body["data"]["web"][0]["url"], json!("http://tea.test/green.html"));
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_and_depth_bound_an_index_crawl() {
    let world = tea_world().await;
    let stdout = Site::new(&world).succeed(&["index", "crawl", "http://tea.test/", "--limit", "2", "--json"]);
    assert_eq!(parse_report(&stdout)["pages"], json!(2));
    let stdout = Site::new(&world).succeed(&["index", "crawl", "http://tea.test/", "--depth", "0", "--json"]);
    assert_eq!(parse_report(&stdout)["pages"], json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn index_crawl_runs_through_a_running_server() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let output = site.run(&["index", "crawl", "http://tea.test/"]);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("--server URL"), "{error}");

    let arguments = ["index", "crawl", "http://tea.test/", "--json", "--server", &service.address];
    let output = site.command(&arguments).env("WEBSVC_API_KEY", KEY).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = service.search_until_found("oolong oxidised").await;
    assert_eq!(found["data"]["web"][0]["url"], json!("http://tea.test/oolong.html"));
    let stats = service.get("/v2/index/stats").await;
    assert_eq!(stats.body["documents"], json!(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn markdown_and_jsonl_files_are_imported() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("mate.md"), "# Mate\n\nMate is drunk from a gourd.").unwrap();
    let lines = "{\"url\": \"https://notes.test/chai\", \"title\": \"Chai\", \"text\": \"Chai is spiced with cardamom.\"}\n\
                 broken\n";
    std::fs::write(files.path().join("notes.jsonl"), lines).unwrap();
    let directory = files.path().to_str().unwrap();
    let stdout = site.succeed(&["index", "import", directory, "--base-url", "https://notes.test/", "--json"]);
    assert_eq!(parse_report(&stdout)["documents"], json!(1), "{stdout}");
    let stdout = site.succeed(&["index", "import", &format!("{directory}/notes.jsonl"), "--json"]);
    let report = parse_report(&stdout);
    assert_eq!((&report["documents"], &report["errors"]), (&json!(1), &json!(1)), "{stdout}");

    let found = site.succeed(&["search", "gourd", "--json"]);
    assert!(found.contains("https://notes.test/mate.md"), "{found}");
    let found = site.succeed(&["search", "cardamom", "--json"]);
    assert!(found.contains("https://notes.test/chai"), "{found}");
}

#[tokio::test]
async fn uploaded_documents_are_searchable() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let documents = json!({"documents": [
        {"url": "https://notes.test/ja", "title": "お茶", "body": "東京で緑茶を飲みました。"},
        {"url": "https://notes.test/en", "title": "Brewing", "body": "He brewed the tea twice."},
    ]});
    let response = service.post("/v2/index/documents", documents.to_string()).await;
    assert_eq!(response.body, json!({"success": true, "accepted": 2}));
    let found = service.search_until_found("緑茶").await;
    assert_eq!(found["data"]["web"][0]["url"], json!("https://notes.test/ja"));
    let found = service.search_until_found("brew teas").await;
    assert_eq!(found["data"]["web"][0]["url"], json!("https://notes.test/en"));

    let bad = json!({"documents": [{"url": "not a URL", "body": "x"}]});
    let response = service.post("/v2/index/documents", bad.to_string()).await;
    assert_eq!(response.status, 400);
    assert_eq!(response.body["details"][0]["path"], json!("/documents/0/url"));
}

#[tokio::test]
async fn pdf_category_follows_the_content_type() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let documents = json!({"documents": [
        {"url": "https://files.test/download?id=7", "title": "Oolong", "body": "The paper on oolong.",
         "contentType": "application/pdf"},
        {"url": "https://files.test/oolong", "title": "Oolong", "body": "A page on oolong.", "contentType": "text/html"},
    ]});
    service.post("/v2/index/documents", documents.to_string()).await;
    service.search_until_found("oolong").await;
    for categories in [json!(["pdf"]), json!(["github", "pdf", "research"])] {
        let found = service.search(json!({"query": "oolong", "categories": categories})).await;
        let web = found.body["data"]["web"].as_array().unwrap();
        assert_eq!(web.len(), 1, "{}", found.body);
        assert_fields(&web[0], &json!({ "url": "https://files.test/download?id=7", "category": "pdf" }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn host_with_failing_robots_txt_is_not_crawled() {
    let world = TestWeb::builder()
        .page("http://shy.test/robots.txt", Page::text("").status(503))
        .page("http://shy.test/", Page::html("<p>Not to be read."))
        .start()
        .await;
    let site = Site::new(&world);
    let stdout = site.succeed(&["index", "crawl", "http://shy.test/", "--json"]);
    assert_eq!(parse_report(&stdout)["pages"], json!(0), "{stdout}");
    assert_eq!(world.count("http://shy.test/"), 0);
    assert_eq!(world.count("http://shy.test/sitemap.xml"), 0);

    assert_eq!(
        parse_report(&stdout)["skipped_because"],
        json!({ "the host's robots.txt could not be read": 1 }),
        "{stdout}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_address_is_reported_without_robots_txt() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let output = site.run(&["index", "crawl", "http://127.0.0.1:9/", "--json"]);
    let (stderr, stdout) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout).into_owned());
    let expected = format!("failed http://127.0.0.1:9/: {}", websvc_transport::REFUSED_ADDRESS);
    assert!(stderr.contains(&expected) && !stderr.contains("robots"), "{stderr}");
    let report = parse_report(&stdout);
    assert_eq!((&report["errors"], &report["skipped"]), (&json!(1), &json!(0)), "{report}");
}

#[tokio::test]
async fn imported_files_without_a_base_url_have_file_urls() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("oolong.md"), "# Oolong\n\nHalf fermented leaves.").unwrap();
    site.succeed(&["index", "import", folder.path().to_str().unwrap()]);
    let found = site.succeed(&["search", "oolong", "--json"]);
    assert!(found.contains("file:///") && found.contains("oolong.md"), "{found}");
}
