//! Hostile URLs in every field that takes one: each gets a page or an error of the client, never a failure of the service.

use futures_util::future::join_all;
use serde_json::{Value, json};
use websvc_store::KeyRights;
use websvc_testkit::{Page, TestWeb};

use crate::api::ApiTest;

/// Short URLs.
const URLS: &[&str] = &[
    // Schemes.
    "",
    " ",
    "x",
    ":",
    "//",
    "://",
    "http",
    "http:",
    "http:/",
    "http://",
    "http:///",
    "http:////",
    "https://",
    "https:?",
    "http:a.test",
    "http:/a.test",
    "http:\\\\a.test",
    "\\\\a.test\\b",
    "//a.test/",
    "HTTP://A.TEST/",
    "hTtP://a.test",
    "ftp://a.test/",
    "file:///etc/passwd",
    "file://a.test/x",
    "data:text/html,<p>x",
    "data:,x",
    "javascript:alert(1)",
    "javascript://a.test/%0aalert(1)",
    "blob:http://a.test/1",
    "about:blank",
    "chrome://version",
    "view-source:http://a.test",
    "gopher://a.test/",
    "ws://a.test/",
    "wss://a.test/",
    "mailto:a@a.test",
    "tel:1",
    "urn:a:b",
    "1http://a.test/",
    "http+unix://%2Frun%2Fx/",
    "jar:http://a.test!/x",
    "ldap://a.test",
    "dict://a.test:11111/x",
    "http://http://a.test/",
    "http://https://a.test/",
    "http:http://a.test/",
    // Ports.
    "http://a.test:/",
    "http://a.test:0/",
    "http://a.test:00080/",
    "http://a.test:65536/",
    "http://a.test:99999999999/",
    "http://a.test:-1/",
    "http://a.test:+80/",
    "http://a.test:80a/",
    "http://a.test:%38%30/",
    "http://a.test: 80/",
    "http://a.test:８０/",
    "http://a.test:80:80/",
    "http://:80/",
    "http://:@/",
    "a.test:x",
    // User names and passwords.
    "http://@a.test/",
    "http://:@a.test/",
    "http://user@a.test/",
    "http://user:pass@a.test/",
    "http://a:b:c@a.test/",
    "http://user:pass@",
    "http://a.test@/",
    "http://a.test@127.0.0.1/",
    "http://127.0.0.1@a.test/",
    "http://a@b@c@a.test/",
    "http://%00@a.test/",
    "http://%ff:%fe@a.test/",
    "http://a.test:80@127.0.0.1:80/",
    "http://\u{202e}@a.test/",
    // Hosts.
    "http://.",
    "http://..",
    "http://...",
    "http://./",
    "http://.a.test/",
    "http://a..test/",
    "http://a.test./",
    "http://a.test../",
    "http://a.test..../",
    "http://-a.test/",
    "http://a-.test/",
    "http://a_b.test/",
    "http://*.test/",
    "http://a test/",
    "http://a%20b.test/",
    "http://a%00b.test/",
    "http://a%2fb.test/",
    "http://a%2eb%2etest/",
    "http://a%zz.test/",
    "http://%/",
    "http://%%/",
    "http://%61.test/",
    "http://a<b>.test/",
    "http://a|b.test/",
    "http://a^b.test/",
    "http://[/",
    "http://]/",
    "http://[]/",
    "http://a]b.test/",
    "http://a#b.test/",
    "http://#/",
    "http://?/",
    "http://$.test/",
    "http://a&b.test/",
    "http://a;b.test/",
    "http://'\"`.test/",
    "http://a,b.test/",
    "http://a=b.test/",
    "http://localhost/",
    "http://localhost./",
    "http://x.localhost/",
    "http://test/",
    "http://a/",
    "a",
    "a.b.c.d.e.test",
    // Unicode.
    "http://ä.test/",
    "http://日本語.test/",
    "http://xn--/",
    "http://xn--a.test/",
    "http://xn--zzzzzz-.test/",
    "http://xn--.test/",
    "http://xn--ls8h.test/",
    "http://💩.test/",
    "http://ａ.test/",
    "http://a。test/",
    "http://a．test/",
    "http://\u{200b}a.test/",
    "http://a\u{ad}.test/",
    "http://\u{202e}a.test/",
    "http://ß.test/",
    "http://ſ.test/",
    "http://İ.test/",
    "http://Σς.test/",
    "http://\u{300}a.test/",
    "http://a\u{200d}b.test/",
    "http://①②⑦.⓪.⓪.①/",
    "http://\u{fffd}.test/",
    "http://\u{10ffff}.test/",
    "http://a.test/\u{feff}",
    "\u{feff}http://a.test/",
    "http://a.test/\u{e000}",
    // Addresses.
    "http://0/",
    "http://1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://2130706433/",
    "http://127.1/",
    "http://127.0.0.1:80/",
    "http://256.1.1.1/",
    "http://1.2.3/",
    "http://1.2.3.4.5/",
    "http://0x/",
    "http://0xg/",
    "http://09/",
    "http://4294967296/",
    "http://999999999999999999999/",
    "http://1.2.3.08/",
    "http://0.0.0.0/",
    "http://255.255.255.255/",
    "http://10.0.0.1/",
    "http://[::]/",
    "http://[::1]/",
    "http://[::1]:80/",
    "http://[::1",
    "http://::1/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[1::2::3]/",
    "http://[1:2:3:4:5:6:7:8:9]/",
    "http://[v1.a]/",
    "http://[::g]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::1]a/",
    "http://a[::1]/",
    "[::1]",
    "[::1]:80",
    "127.0.0.1",
    "127.0.0.1:x",
    // Paths, queries and fragments.
    "http://a.test/%",
    "http://a.test/%%",
    "http://a.test/%zz",
    "http://a.test/%00",
    "http://a.test/%2e%2e/%2e%2e/",
    "http://a.test/..",
    "http://a.test/../../..",
    "http://a.test/./.",
    "http://a.test//",
    "http://a.test///x",
    "http://a.test/\\..\\x",
    "http://a.test\\x",
    "http://a.test/%ff%fe",
    "http://a.test/%c0%af",
    "http://a.test/\u{0}",
    "http://a.test/\r\nHost: b.test",
    "http://a.test/\tx",
    "\thttp://a.test/\n",
    "ht\ntp://a.te\tst/",
    "http://a.test/\u{7f}",
    "http://a.test/\u{1b}[31m",
    "http://a.test/ x y ",
    "http://a.test?",
    "http://a.test?&&==",
    "http://a.test?%",
    "http://a.test?a=%00",
    "http://a.test#",
    "http://a.test#%00",
    "http://a.test##",
    "http://a.test/?#!/x",
    "http://a.test/x.php.exe",
    "http://a.test/*",
    "http://a.test/**",
    "http://a.test/(",
    "http://a.test/[a",
    "http://a.test/+?{2}",
    "http://a.test/?utm_source=",
    "http://a.test/;jsessionid=",
    "http://a.test/index.html/",
    "http://a.test/.html",
    "http://a.test/x.",
    "http://a.test/{}",
    "http://a.test/|",
    "http://a.test/^`",
    "http://a.test/<script>",
    "http://a.test/'",
    "http://a.test/\"",
    "?",
    "#",
    "/",
    "/x",
    ".",
    "..",
    "*",
];

/// The URLs. Hosts of ports 80 and 443 are answered by a loopback web; `https` is not used with a host, because the
/// certificate of that web is not trusted, which is an error of the page by its own status (500).
fn hostile_urls() -> Vec<String> {
    let mut urls: Vec<String> = URLS.iter().map(|url| (*url).to_owned()).collect();
    urls.extend([
        format!("http://{}/", "a".repeat(64)),
        format!("http://{}.test/", "a".repeat(63)),
        format!("http://{}test/", "a.".repeat(127)),
        format!("http://{}test/", "ä.".repeat(60)),
        format!("http://{}/", "a".repeat(3_000)),
        format!("http://{}.test/", "日".repeat(600)),
        format!("http://a.test/{}", "a".repeat(1_900)),
        format!("http://a.test/{}", "ä".repeat(1_900)),
        format!("http://a.test/{}", "%41".repeat(600)),
        format!("http://a.test/{}", "/".repeat(1_900)),
        format!("http://a.test/{}", "../".repeat(600)),
        format!("http://a.test/?{}", "a=b&".repeat(450)),
        format!("http://a.test/#{}", "a".repeat(1_900)),
        format!("http://{}@a.test/", "u".repeat(1_900)),
        format!("http://a.test/{}", "a".repeat(100_000)),
        "http://".repeat(300),
    ]);
    urls
}

/// Returns the requests that contain a URL, one for each field that takes one.
fn requests(url: &str) -> Vec<(&'static str, Value)> {
    let page = "http://a.test/";
    let monitor =
        |target: Value| json!({ "name": "m", "schedule": { "text": "daily" }, "targets": [target] });
    let mut with_webhook = monitor(json!({ "type": "scrape", "urls": [page] }));
    with_webhook["webhook"] = json!({ "url": url });
    let mut with_slack = monitor(json!({ "type": "scrape", "urls": [page] }));
    with_slack["notification"] = json!({ "slack": { "enabled": true, "webhookUrl": url } });
    let actions = json!([{ "type": "wait", "milliseconds": 1 }]);
    vec![
        ("/v2/scrape", json!({ "url": url, "timeout": 5_000 })),
        ("/v2/scrape", json!({ "url": url, "actions": actions, "timeout": 5_000 })),
        ("/v1/scrape", json!({ "url": url, "timeout": 5_000 })),
        ("/v2/map", json!({ "url": url, "timeout": 5_000 })),
        ("/v2/map", json!({ "url": url, "search": "tea", "sitemap": "skip", "timeout": 5_000 })),
        ("/v1/map", json!({ "url": url, "timeout": 5_000 })),
        ("/v2/search", json!({ "query": "tea", "includeDomains": [url] })),
        ("/v2/search", json!({ "query": "tea", "excludeDomains": [url] })),
        ("/v2/search", json!({ "query": format!("tea site:{url}") })),
        ("/v2/search", json!({ "query": format!("related:{url}") })),
        ("/v1/search", json!({ "query": format!("inurl:{url}") })),
        ("/search", json!({ "query": url })),
        ("/v2/crawl", json!({ "url": url, "limit": 1 })),
        ("/v2/crawl", json!({ "url": page, "limit": 1, "webhook": { "url": url } })),
        ("/v2/crawl", json!({ "url": page, "limit": 1, "webhook": url })),
        ("/v2/crawl/params-preview", json!({ "url": url, "prompt": "only the blog" })),
        ("/v1/crawl", json!({ "url": url, "limit": 1, "maxDepth": 1 })),
        ("/v1/llmstxt", json!({ "url": url, "maxUrls": 1 })),
        ("/v2/batch/scrape", json!({ "urls": [url] })),
        ("/v2/batch/scrape", json!({ "urls": [url], "ignoreInvalidURLs": true })),
        ("/v2/batch/scrape", json!({ "urls": [page], "webhook": { "url": url } })),
        ("/v1/batch/scrape", json!({ "urls": [url] })),
        ("/v2/monitor", monitor(json!({ "type": "scrape", "urls": [url] }))),
        ("/v2/monitor", monitor(json!({ "type": "crawl", "url": url }))),
        ("/v2/monitor", monitor(json!({ "type": "search", "queries": ["tea"], "includeDomains": [url] }))),
        ("/v2/monitor", with_webhook),
        ("/v2/monitor", with_slack),
        ("/v2/index/documents", json!({ "documents": [{ "url": url, "title": "x", "body": "x" }] })),
    ]
}

/// The operations that this service does not have without a model or a browser: they are 501 or 503 after their checks.
fn unavailable(url: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("/v2/agent", json!({ "prompt": "tea", "urls": [url] })),
        ("/v2/agent", json!({ "prompt": "tea", "webhook": { "url": url } })),
        ("/v2/extract", json!({ "urls": [url], "prompt": "x" })),
        ("/v1/extract", json!({ "urls": [url], "prompt": "x" })),
        ("/v2/browser", json!({ "url": url })),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_urls_are_errors_of_the_client_in_every_operation() {
    let web = TestWeb::builder().page("http://a.test/", Page::html("<p>Tea <a href=/x>x</a>")).start().await;
    let test = ApiTest::start(web).await;
    let mut failures = Vec::new();
    for (index, url) in hostile_urls().iter().enumerate() {
        // Each URL has a team of its own: the numbers of running jobs and of monitors are limited.
        let key = test.create_key(&format!("team-{index}"), &KeyRights::default());
        let sent = requests(url).into_iter().map(|(path, body)| (path, body, &[][..]));
        let unavailable = unavailable(url).into_iter().map(|(path, body)| (path, body, &[501, 503][..]));
        let responses = sent.chain(unavailable).map(async |(path, body, allowed)| {
            let (status, response) = test.post(&key, path, &body).await;
            (status >= 500 && !allowed.contains(&status) || !is_described(status, &response))
                .then(|| format!("{path} {}: {status} {response}", shortened(&body.to_string())))
        });
        failures.extend(join_all(responses).await.into_iter().flatten());
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    test.stop().await;
}

/// Returns whether a response is a result, or an error in the form of all errors.
fn is_described(status: u16, response: &Value) -> bool {
    let is_error =
        response["success"] == false && response["error"].is_string() && response["code"].is_string();
    status < 400 || is_error
}

fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn name_that_does_not_resolve_has_the_status_200_in_maps_as_in_scrapes() {
    let test = ApiTest::start(TestWeb::builder().start().await).await;
    let key = test.create_key("red", &KeyRights::default());
    let body = json!({ "url": "http://nowhere.invalid:81/" });
    for path in ["/v2/scrape", "/v1/scrape", "/v2/map", "/v1/map"] {
        let (status, response) = test.post(&key, path, &body).await;
        let expected = (200, &json!(false), &json!("SCRAPE_DNS_RESOLUTION_ERROR"));
        assert_eq!((status, &response["success"], &response["code"]), expected, "{path}: {response}");
    }
    test.stop().await;
}
