//! Tests of the cache commands and of proxies.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_store::{PageKey, Store};
use websvc_testkit::{ForwardProxy, Page, Rules, TestWeb};

use crate::harness::{Service, Site};

fn world(pages: impl IntoIterator<Item = (&'static str, Page)>) -> websvc_testkit::TestWebBuilder {
    pages.into_iter().fold(TestWeb::builder(), |world, (url, page)| world.page(url, page))
}

fn article() -> Page {
    Page::html("<title>Quince</title><main><h1>Quince</h1><p>Quince jelly takes three hours.</p></main>")
}

/// Searches for the page and its markdown, and returns the response body.
async fn quince(service: &Service) -> Value {
    let body = json!({ "query": "quince", "scrapeOptions": { "formats": ["markdown"] } });
    let response = service.search(body).await;
    assert_eq!(response.status, 200, "{}", response.body);
    response.body
}

#[tokio::test(flavor = "multi_thread")]
async fn cache_commands_work_while_the_server_runs() {
    let world = world([("http://a.test/", article()), ("http://b.test/", article())]).start().await;
    let site = Site::new(&world);
    site.succeed(&["index", "crawl", "http://a.test/", "http://b.test/"]);
    let service = site.serve();
    quince(&service).await;
    let stats: Value = serde_json::from_str(&site.succeed(&["cache", "stats", "--json"])).unwrap();
    assert_eq!((&stats["pages"], &stats["maxAgeDays"]), (&json!(2), &json!(30)));
    assert!(site.succeed(&["cache", "stats"]).starts_with("2 pages, "));

    world.clear_requests();
    assert_eq!(site.succeed(&["cache", "purge", "--host", "A.test"]), "1 page removed from the cache\n");
    let deadline = Instant::now() + Duration::from_secs(20);
    while world.count("http://a.test/") == 0 {
        assert!(Instant::now() < deadline, "the purged page is still served");
        tokio::time::sleep(Duration::from_millis(50)).await;
        quince(&service).await;
    }
    assert_eq!(world.count("http://b.test/"), 0, "the page of another host was purged");
    let output = site.succeed(&["cache", "purge", "--all", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&output).unwrap(), json!({ "removed": 2 }));
    assert!(!site.run(&["cache", "purge"]).status.success(), "purge without a selection succeeds");
}

#[tokio::test(flavor = "multi_thread")]
async fn enhanced_retry_is_reported_and_charged() {
    let challenge = Page::html("<title>Just a moment...</title><p>Verify you are human</p>").status(403);
    let origin = world([("http://a.test/", challenge)]).start().await;
    let unblocked = world([("http://a.test/", article())]).start().await;
    let (origin_address, unblocked_address) = (origin.http_addr(), unblocked.http_addr());
    let basic = ForwardProxy::start(Rules::new(move |_| Some(origin_address))).await;
    let enhanced = ForwardProxy::start(Rules::new(move |_| Some(unblocked_address))).await;
    let site = Site::new(&origin);
    let file = site.data_dir().join("pages.jsonl");
    std::fs::write(
        &file,
        json!({ "url": "http://a.test/", "title": "Quince", "text": "quince" }).to_string(),
    )
    .unwrap();
    site.succeed(&["index", "import", file.to_str().unwrap()]);

    let serve = |pools: &[(&str, &ForwardProxy)]| {
        let mut command = site.serve_command();
        for (pool, proxy) in pools {
            command.env(format!("WEBSVC__PROXY__{pool}"), format!("[\"http://{}\"]", proxy.addr));
        }
        Service::start(&mut command)
    };
    let service = serve(&[("BASIC", &basic)]);
    let blocked = quince(&service).await;
    let metadata = &blocked["data"]["web"][0]["metadata"];
    assert!(metadata["error"].as_str().unwrap().contains("challenge or block page"), "{metadata}");
    assert_eq!((&metadata["proxyUsed"], &blocked["creditsUsed"]), (&json!("basic"), &json!(2)));
    drop(service);

    let service = serve(&[("BASIC", &basic), ("ENHANCED", &enhanced)]);
    let response = quince(&service).await;
    let result = &response["data"]["web"][0];
    assert!(result["markdown"].as_str().unwrap().contains("three hours"), "{result}");
    assert_eq!((&result["metadata"]["proxyUsed"], &response["creditsUsed"]), (&json!("stealth"), &json!(7)));
}

#[test]
fn invalid_proxy_is_rejected_without_printing_its_password() {
    let world = tokio::runtime::Runtime::new().unwrap().block_on(TestWeb::builder().start());
    let site = Site::new(&world);
    for (key, value, expected) in [
        ("BASIC", r#"["ftp://user:secret@p.test"]"#, "proxy.basic[0]"),
        ("ENHANCED", r#"["http://p.test", "nothing"]"#, "proxy.enhanced[1]"),
        ("BY_COUNTRY", r#"{ "de" = ["http://p.test"] }"#, "\"de\""),
        ("BASICS", "[]", "proxy.basics"),
    ] {
        let output =
            site.command(&["search", "x"]).env(format!("WEBSVC__PROXY__{key}"), value).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && errors.contains(expected) && !errors.contains("secret"),
            "{errors}"
        );
    }
}

/// Returns a page that hardly compresses, with an end that shows that it is complete.
fn noise(number: u32) -> String {
    let words =
        (0..4_000_u32).map(|word| format!("{:x} ", word.wrapping_mul(2_654_435_761).rotate_left(number)));
    format!(
        "<title>{number}</title><main><p>{}</p></main><!-- end of {number} -->",
        words.collect::<String>()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_while_storing_leaves_complete_pages() {
    const PAGES: u32 = 60;
    const KILLS: usize = 10;
    let url = |number: u32| format!("http://noise.test/{number}");
    let pages = (0..PAGES).map(|number| (url(number), Page::html(noise(number))));
    let world = pages.fold(TestWeb::builder(), |world, (url, page)| world.page(&url, page)).start().await;
    let site = Site::new(&world);
    let urls: Vec<String> = (0..PAGES).map(url).collect();
    let pages: Vec<(&str, &str)> = urls.iter().map(|url| ("noise", url.as_str())).collect();
    site.serve().index_pages(&pages).await;
    let mut max = 0;
    for kill in 0..KILLS {
        world.clear_requests();
        let service = Arc::new(site.serve());
        let search = tokio::spawn({
            let service = Arc::clone(&service);
            let options = json!({ "formats": ["markdown"], "maxAge": 0 });
            // The service is killed before the response.
            async move {
                service.search(json!({ "query": "noise", "limit": 100, "scrapeOptions": options })).await
            }
        });
        // Each round kills the service after another number of requests.
        let requests = 3 + kill * 11 % 50;
        while world.requests().len() < requests && !search.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        service.kill();
        assert!(search.await.is_err(), "the search completed before the kill");
        drop(service);
        let store = Store::open(site.data_dir()).unwrap();
        store.verify().unwrap();
        let mut stored = 0;
        for number in 0..PAGES {
            let Some(page) = store.page(&PageKey::new(url(number), "")).unwrap() else { continue };
            assert_eq!(page.body, noise(number), "kill {kill}: page {number} is incomplete");
            stored += 1;
        }
        assert_eq!(store.cache_size().unwrap().pages, stored, "kill {kill}");
        assert!(stored >= max, "kill {kill}: {stored} pages after {max}");
        max = stored;
    }
    assert!(max > 0, "no page was stored");
}
