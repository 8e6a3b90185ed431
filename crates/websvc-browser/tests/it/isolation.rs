//! Nothing that one request leaves in the browser is there for another, at the same time or afterwards.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use websvc_browser::{BrowserConfig, Cookie, RenderRequest, Step};
use websvc_testkit::{Page, ReceivedRequest, TestWeb, TestWebBuilder};

use crate::support::{Stage, config, request, stage, wrapped};

/// A host whose pages may have service workers without a certificate.
const HOME: &str = "http://app.localhost/";

/// Leaves something in every place that a page can write to.
const LEAVE: &str = "(async () => {
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

/// Returns what a page finds in these places.
const LOOK: &str = "(async () => {
    const directory = await navigator.storage.getDirectory();
    const files = [];
    for await (const name of directory.keys()) files.push(name);
    return [document.cookie, localStorage.length, sessionStorage.length, await caches.keys(),
        (await indexedDB.databases()).map(({name}) => name), files,
        (await navigator.serviceWorker.getRegistrations()).length, navigator.serviceWorker.controller];
})()";

fn world() -> TestWebBuilder {
    let home = Page::html("<p>words of the page").header("set-cookie", "sent=1; max-age=86400; HttpOnly");
    let cached = Page::text("x").header("cache-control", "max-age=86400");
    let service = "onactivate = (event) => event.waitUntil(clients.claim())";
    TestWeb::builder()
        .page(HOME, home)
        .page("http://app.localhost/cached", cached)
        .page("http://app.localhost/service.js", Page::new("text/javascript", service))
}

async fn run(stage: &Stage, url: &str, script: &str) -> Value {
    let steps = vec![Step::Script(script.to_owned())];
    let rendered = stage.open(&RenderRequest { steps, ..request(url) }).await.unwrap();
    rendered.returns.into_iter().next().unwrap().value
}

#[tokio::test]
async fn what_a_page_keeps_is_gone_with_it() {
    let Some(stage) = stage(world()).await else { return };
    assert_eq!(run(&stage, HOME, LEAVE).await, json!(true));
    let found = run(&stage, HOME, LOOK).await;
    assert_eq!(found, json!(["", 0, 0, [], [], [], 0, null]));
    let homes: Vec<ReceivedRequest> =
        stage.world.requests().into_iter().filter(|seen| seen.url == HOME).collect();
    assert_eq!(homes.len(), 2);
    assert!(homes.iter().all(|seen| seen.header("cookie").is_none()), "{homes:?}");
    stage.browser.stop().await;
}

#[tokio::test]
async fn the_cache_of_a_page_is_its_own() {
    let Some(stage) = stage(world()).await else { return };
    let fetch = "(async () => { await fetch('/cached'); await fetch('/cached'); return 1 })()";
    for count in 1..=3 {
        run(&stage, HOME, fetch).await;
        assert_eq!(stage.world.count("http://app.localhost/cached"), count);
    }
    stage.browser.stop().await;
}

#[tokio::test]
async fn pages_that_are_open_together_do_not_hear_each_other() {
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
    let meeting = || {
        let count = AtomicUsize::new(0);
        move |seen: &ReceivedRequest| {
            let more = usize::from(seen.method == "POST");
            Page::text((count.fetch_add(more, Ordering::SeqCst) + more).to_string())
        }
    };
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html(html))
        .page("http://a.test/shared.js", Page::new("text/javascript", shared))
        .page_with("http://a.test/here", meeting())
        .page_with("http://a.test/spoken", meeting());
    let Some(stage) = stage(world).await else { return };
    // Both speak when both are there, and listen until both have spoken.
    let meet = "(async () => {
        await both('/here');
        channel.postMessage('a word');
        localStorage.setItem('a key', Math.random());
        await both('/spoken');
        return heard;
    })()";
    let (one, other) = tokio::join!(run(&stage, "http://a.test/", meet), run(&stage, "http://a.test/", meet));
    assert_eq!((one, other), (json!([]), json!([])));
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_password_of_a_page_is_not_sent_for_another() {
    let world = TestWeb::builder().page_with("http://a.test/", |seen| match seen.header("authorization") {
        Some(_) => Page::html("<p>let in</p>"),
        None => Page::html("<p>kept out</p>").status(401).header("www-authenticate", "Basic realm=\"a\""),
    });
    let Some(stage) = stage(world).await else { return };
    let known = stage.render("http://name:password@a.test/").await;
    assert!(known.html.contains("let in"), "{}", known.html);
    let unknown = stage.render("http://a.test/").await;
    assert!(unknown.html.contains("kept out"), "{}", unknown.html);
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_host_that_wants_https_for_one_page_does_not_get_it_for_another() {
    let strict = Page::html("<p>secure</p>").header("strict-transport-security", "max-age=86400");
    let world = TestWeb::builder()
        .page("https://a.test/", strict)
        .page_with("http://a.test/plain", |seen| Page::html(format!("<p>{}</p>", seen.url)));
    let Some(config) = config() else { return };
    let world = world.start().await;
    let directory = tempfile::tempdir().unwrap();
    let trusting = format!("--ignore-certificate-errors-spki-list={}", key_digest(&world));
    let path = wrapped(&config, &directory, &trusting);
    let stage = Stage::of(world, BrowserConfig { path: Some(path), ..config });
    assert!(!stage.render("https://a.test/").await.unverified);
    let steps = vec![Step::Script("location = 'http://a.test/plain'".to_owned())];
    let upgraded = stage.open(&RenderRequest { steps, ..request("https://a.test/") }).await.unwrap();
    assert_eq!(upgraded.url, "https://a.test/plain", "the host's wish holds within a page");
    assert_eq!(stage.render("http://a.test/plain").await.url, "http://a.test/plain");
    stage.browser.stop().await;
}

/// Returns the digest of the world's public key, as Chromium wants it.
fn key_digest(world: &TestWeb) -> String {
    let key = std::fs::read_to_string(world.ca_file().with_file_name("key.pem")).unwrap();
    let key = rcgen::KeyPair::from_pem(&key).unwrap();
    STANDARD.encode(Sha256::digest(rcgen::PublicKeyData::subject_public_key_info(&key)))
}

#[tokio::test]
async fn cookies_of_a_request_stay_with_it() {
    let Some(stage) = stage(world()).await else { return };
    let mut first = request(HOME);
    first.cookies = vec![Cookie { name: "session".to_owned(), value: "first".to_owned() }];
    first.headers.insert("authorization", HeaderValue::from_static("Bearer first"));
    let cookies = stage.open(&first).await.unwrap().cookies;
    assert!(cookies.iter().any(|cookie| cookie.value == "first"), "{cookies:?}");
    let second = stage.render(HOME).await;
    assert!(second.cookies.iter().all(|cookie| cookie.name == "sent"), "{:?}", second.cookies);
    let seen = &stage.world.requests()[1];
    assert_eq!((seen.header("cookie"), seen.header("authorization")), (None, None));
    stage.browser.stop().await;
}
