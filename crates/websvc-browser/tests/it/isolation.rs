//! Isolation of requests: nothing that one leaves in the browser is visible to another, concurrently or later.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use websvc_browser::{BrowserConfig, Cookie, RenderRequest, Step};
use websvc_testkit::{Page, ReceivedRequest, TestWeb, TestWebBuilder};

use crate::support::{Setup, chromium_wrapper, config, request, setup};

/// A host on which pages may register service workers without HTTPS.
const HOME: &str = "http://app.localhost/";

/// Writes to every kind of storage of a page.
const WRITE: &str = "(async () => {
    document.cookie = 'written=1; max-age=86400';
    localStorage.setItem('key', 'left');
    sessionStorage.setItem('key', 'left');
    await (await caches.open('left')).put('/kept', new Response('left'));
    await new Promise((done, fail) => {
        const opening = indexedDB.open('left');
        opening.onsuccess = done;
        opening.onerror = fail;
    });
    const directory = await navigator.storage.getDirectory();
    await directory.getFileHandle('left', {create: true});
    await navigator.serviceWorker.register('/service.js');
    await navigator.serviceWorker.ready;
    const kept = await (await fetch('/cached')).text();
    return kept === await (await fetch('/cached')).text();
})()";

/// Returns the contents of these kinds of storage.
const READ: &str = "(async () => {
    const directory = await navigator.storage.getDirectory();
    const files = [];
    for await (const name of directory.keys()) files.push(name);
    return [document.cookie, localStorage.length, sessionStorage.length, await caches.keys(),
        (await indexedDB.databases()).map(({name}) => name), files,
        (await navigator.serviceWorker.getRegistrations()).length, navigator.serviceWorker.controller];
})()";

fn web() -> TestWebBuilder {
    let home = Page::html("<p>words of the page").header("set-cookie", "sent=1; max-age=86400; HttpOnly");
    let cached = Page::text("x").header("cache-control", "max-age=86400");
    let service = "onactivate = (event) => event.waitUntil(clients.claim())";
    TestWeb::builder()
        .page(HOME, home)
        .page("http://app.localhost/cached", cached)
        .page("http://app.localhost/service.js", Page::new("text/javascript", service))
}

async fn run(setup: &Setup, url: &str, script: &str) -> Value {
    let steps = vec![Step::Script(script.to_owned())];
    let rendered = setup.open(&RenderRequest { steps, ..request(url) }).await.unwrap();
    rendered.returns.into_iter().next().unwrap().value
}

#[tokio::test]
async fn storage_of_a_page_is_removed_with_it() {
    let Some(setup) = setup(web()).await else { return };
    assert_eq!(run(&setup, HOME, WRITE).await, json!(true));
    let found = run(&setup, HOME, READ).await;
    assert_eq!(found, json!(["", 0, 0, [], [], [], 0, null]));
    let homes: Vec<ReceivedRequest> =
        setup.web.requests().into_iter().filter(|seen| seen.url == HOME).collect();
    assert_eq!(homes.len(), 2);
    assert!(homes.iter().all(|seen| seen.header("cookie").is_none()), "{homes:?}");
    setup.browser.stop().await;
}

#[tokio::test]
async fn http_cache_is_not_shared_between_pages() {
    let Some(setup) = setup(web()).await else { return };
    let fetch = "(async () => { await fetch('/cached'); await fetch('/cached'); return 1 })()";
    for count in 1..=3 {
        run(&setup, HOME, fetch).await;
        assert_eq!(setup.web.count("http://app.localhost/cached"), count);
    }
    setup.browser.stop().await;
}

#[tokio::test]
async fn concurrent_pages_cannot_communicate() {
    let html = "<p>words of the page</p><script>
        const heard = [];
        const channel = new BroadcastChannel('all');
        channel.onmessage = ({data}) => heard.push(data);
        onstorage = ({key}) => heard.push(key);
        const shared = new SharedWorker('/shared.js');
        shared.port.onmessage = ({data}) => { if (data > 1) heard.push(data + ' pages share a worker') };
        const both = async (where) => {
            let count = await (await fetch(where, {method: 'POST'})).json();
            while (count < 2) count = await (await fetch(where)).json();
        }</script>";
    let shared = "let pages = 0; onconnect = ({ports}) => ports[0].postMessage(++pages)";
    let counter = || {
        let count = AtomicUsize::new(0);
        move |seen: &ReceivedRequest| {
            let more = usize::from(seen.method == "POST");
            Page::text((count.fetch_add(more, Ordering::SeqCst) + more).to_string())
        }
    };
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html(html))
        .page("http://a.test/shared.js", Page::new("text/javascript", shared))
        .page_with("http://a.test/here", counter())
        .page_with("http://a.test/spoken", counter());
    let Some(setup) = setup(web).await else { return };
    // Both pages send messages once both are open, and receive until both have sent.
    let script = "(async () => {
        await both('/here');
        channel.postMessage('a word');
        localStorage.setItem('a key', Math.random());
        await both('/spoken');
        return heard;
    })()";
    let (one, other) =
        tokio::join!(run(&setup, "http://a.test/", script), run(&setup, "http://a.test/", script));
    assert_eq!((one, other), (json!([]), json!([])));
    setup.browser.stop().await;
}

#[tokio::test]
async fn basic_credentials_of_a_page_are_not_sent_for_another() {
    let web = TestWeb::builder().page_with("http://a.test/", |seen| match seen.header("authorization") {
        Some(_) => Page::html("<p>let in</p>"),
        None => Page::html("<p>kept out</p>").status(401).header("www-authenticate", "Basic realm=\"a\""),
    });
    let Some(setup) = setup(web).await else { return };
    let with_password = setup.render("http://name:password@a.test/").await;
    assert!(with_password.html.contains("let in"), "{}", with_password.html);
    let without = setup.open(&request("http://a.test/")).await;
    // The whole Chromium shows no page that asks for a password.
    assert!(
        match &without {
            Ok(without) => without.html.contains("kept out"),
            Err(error) => error.to_string().contains("invalid auth credentials"),
        },
        "{without:?}"
    );
    setup.browser.stop().await;
}

#[tokio::test]
async fn strict_transport_security_applies_only_within_its_page() {
    let strict = Page::html("<p>secure</p>").header("strict-transport-security", "max-age=86400");
    let web = TestWeb::builder()
        .page("https://a.test/", strict)
        .page_with("http://a.test/plain", |seen| Page::html(format!("<p>{}</p>", seen.url)));
    let Some(config) = config() else { return };
    let web = web.start().await;
    let directory = tempfile::tempdir().unwrap();
    let trusting = format!("--ignore-certificate-errors-spki-list={}", key_digest(&web));
    let path = chromium_wrapper(&config, &directory, &trusting);
    let setup = Setup::new(web, BrowserConfig { path: Some(path), ..config });
    assert!(!setup.render("https://a.test/").await.unverified);
    let steps = vec![Step::Script("location = 'http://a.test/plain'".to_owned())];
    let upgraded = setup.open(&RenderRequest { steps, ..request("https://a.test/") }).await.unwrap();
    assert_eq!(upgraded.url, "https://a.test/plain", "the header applies within the page");
    assert_eq!(setup.render("http://a.test/plain").await.url, "http://a.test/plain");
    setup.browser.stop().await;
}

/// Returns the digest of the web's public key for `--ignore-certificate-errors-spki-list`.
fn key_digest(web: &TestWeb) -> String {
    let key = std::fs::read_to_string(web.ca_file().with_file_name("key.pem")).unwrap();
    let key = rcgen::KeyPair::from_pem(&key).unwrap();
    STANDARD.encode(Sha256::digest(rcgen::PublicKeyData::subject_public_key_info(&key)))
}

#[tokio::test]
async fn cookies_and_headers_of_a_request_are_not_sent_for_another() {
    let Some(setup) = setup(web()).await else { return };
    let mut first = request(HOME);
    first.cookies = vec![Cookie { name: "session".to_owned(), value: "first".to_owned() }];
    first.headers.insert("authorization", HeaderValue::from_static("Bearer first"));
    let cookies = setup.open(&first).await.unwrap().cookies;
    assert!(cookies.iter().any(|cookie| cookie.value == "first"), "{cookies:?}");
    let second = setup.render(HOME).await;
    assert!(second.cookies.iter().all(|cookie| cookie.name == "sent"), "{:?}", second.cookies);
    let requests = setup.web.requests();
    let seen = requests.iter().rfind(|request| request.url == HOME).unwrap();
    assert_eq!((seen.header("cookie"), seen.header("authorization")), (None, None));
    setup.browser.stop().await;
}
