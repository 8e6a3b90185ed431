//! What comes late is waited for: content of timers, of chains of requests, of threads and stores.

use std::time::Duration;

use websvc_browser::{RenderRequest, Step};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::support::{config, request, stage, stage_with};

/// A page with enough text not to be taken for an empty one, a place for what comes late, and a script.
fn page(script: &str) -> Page {
    Page::html(format!(
        "<!DOCTYPE html><h1>A heading and a sentence that are there at once</h1><div id=late></div><script>
         const show = (text) => {{ late.textContent += text + ';'; }};
         const later = (ms) => new Promise((done) => setTimeout(done, ms));
         const get = async (path) => (await fetch(path)).text();
         {script}</script>"
    ))
}

/// Opens each script in a page of its own, and expects the texts that it shows last.
async fn check(cases: &[(&str, &str)]) {
    let mut world = TestWeb::builder()
        .page("http://a.test/one", Page::text("one").delay(Duration::from_millis(60)))
        .page("http://a.test/two", Page::text("two").delay(Duration::from_millis(200)))
        .page("http://a.test/three", Page::text("three"))
        .page("http://a.test/never", Page::unresponsive())
        .page("http://a.test/next", page("later(300).then(() => show('next'))"));
    for (at, (script, _)) in cases.iter().enumerate() {
        world = world.page(&format!("http://a.test/case{at}"), page(script));
    }
    let Some(stage) = stage(world).await else { return };
    for (at, (script, expected)) in cases.iter().enumerate() {
        let rendered = stage.render(&format!("http://a.test/case{at}")).await;
        let shown = format!("<div id=\"late\">{expected}</div>");
        assert!(rendered.html.contains(&shown), "{script}\n{}", rendered.html);
    }
    stage.browser.stop().await;
}

#[tokio::test]
async fn what_timers_write_is_there() {
    check(&[
        ("setTimeout(show, 100, 'a')", "a;"),
        ("setTimeout(show, 300, 'a')", "a;"),
        ("setTimeout(show, 600, 'a')", "a;"),
        ("for (const ms of [100, 300, 600, 900]) setTimeout(show, ms, ms)", "100;300;600;900;"),
        (
            "(async () => { for (const ms of [100, 300, 600]) { await later(ms); show(ms); } })()",
            "100;300;600;",
        ),
        ("onload = () => setTimeout(show, 600, 'loaded')", "loaded;"),
        (
            "let n = 0; const i = setInterval(() => { if (++n == 5) { show(n); clearInterval(i); } }, 150)",
            "5;",
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_chains_of_requests_bring_is_there() {
    check(&[
        ("(async () => { for (const p of ['one', 'two', 'three']) show(await get(p)); })()", "one;two;three;"),
        ("(async () => { await later(100); show(await get('two')); await later(300); show(await get('one')); await later(600); show('end'); })()", "two;one;end;"),
        ("setTimeout(async () => { show(await get('two')); show(await get('three')); }, 300)", "two;three;"),
        ("(async () => { show(await get('two')); setTimeout(show, 900, 'end'); })()", "two;end;"),
    ])
    .await;
}

#[tokio::test]
async fn what_frames_threads_and_stores_bring_is_there() {
    check(&[
        ("let n = 0; const step = () => ++n == 3 ? show('frames') : requestAnimationFrame(step); requestAnimationFrame(step)", "frames;"),
        ("requestIdleCallback(() => show('idle'))", "idle;"),
        ("const c = new MessageChannel(); c.port1.onmessage = () => show('message'); c.port2.postMessage(1)", "message;"),
        ("const w = new Worker(URL.createObjectURL(new Blob(['onmessage = async (e) => { postMessage(e.data + 1) }'])));
          w.onmessage = (e) => show(e.data); w.postMessage(1)", "2;"),
        ("const open = indexedDB.open('d'); open.onupgradeneeded = () => open.result.createObjectStore('s');
          open.onsuccess = () => { const t = open.result.transaction('s', 'readwrite'); t.objectStore('s').put('kept', 1);
          t.oncomplete = () => { const g = open.result.transaction('s').objectStore('s').get(1); g.onsuccess = () => show(g.result); }; }", "kept;"),
        ("crypto.subtle ? crypto.subtle.digest('SHA-256', new Uint8Array(9)).then((d) => show(d.byteLength)) : show(32)", "32;"),
    ])
    .await;
}

#[tokio::test]
async fn what_a_frame_writes_around_itself_is_there() {
    let heading = "<!DOCTYPE html><h1>A heading and a sentence that are there at once</h1>";
    let frame = "<script>fetch('/late').then((answer) => answer.text())
        .then((text) => parent.document.body.append(text))</script>";
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html(format!("{heading}<iframe srcdoc=\"{frame}\"></iframe>")))
        .page("http://a.test/late", Page::text("words of the frame").delay(Duration::from_millis(400)));
    let Some(stage) = stage(world).await else { return };
    let rendered = stage.render("http://a.test/").await;
    assert!(rendered.html.contains("</iframe>words of the frame"), "{}", rendered.html);
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_request_without_end_holds_no_timers() {
    check(&[
        ("new EventSource('/never'); setTimeout(show, 300, 'a')", "a;"),
        ("const s = new WebSocket('ws://a.test/never'); setTimeout(show, 600, 'a')", "a;"),
    ])
    .await;
}

#[tokio::test]
async fn a_page_that_goes_on_by_a_timer_is_followed() {
    let world = TestWeb::builder()
        .page("http://a.test/", page("setTimeout(() => { location = '/next' }, 400)"))
        .page("http://a.test/next", page("later(300).then(() => get('/two')).then(show)"))
        .page("http://a.test/two", Page::text("arrived").delay(Duration::from_millis(100)));
    let Some(stage) = stage(world).await else { return };
    let rendered = stage.render("http://a.test/").await;
    assert_eq!(rendered.url, "http://a.test/next");
    assert!(rendered.html.contains("arrived;"), "{}", rendered.html);
    stage.browser.stop().await;
}

#[tokio::test]
async fn an_empty_page_is_given_more_time() {
    let html = "<!DOCTYPE html><div id=app></div><script>
        setTimeout(() => { app.textContent = 'the application has started at last, and shows this' }, 1700)</script>";
    let Some(stage) = stage(TestWeb::builder().page("http://a.test/", Page::html(html))).await else {
        return;
    };
    assert!(stage.render("http://a.test/").await.html.contains("started at last"));
    stage.browser.stop().await;
}

fn ticking() -> TestWebBuilder {
    let script =
        "setInterval(() => { show(1); fetch('/beat') }, 400); let n = 0; for (const e of [1, 2]) n += e";
    TestWeb::builder().page("http://a.test/", page(script)).page("http://a.test/beat", Page::text("x"))
}

#[tokio::test]
async fn a_page_that_asks_for_ever_is_not_hurried_for_ever() {
    let Some(stage) = stage(ticking()).await else { return };
    let began = std::time::Instant::now();
    stage.render("http://a.test/").await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    // At most five seconds on the page's clock, in steps of 400 ms.
    assert!(stage.world.count("http://a.test/beat") <= 14, "{}", stage.world.count("http://a.test/beat"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_page_that_is_acted_on_goes_by_the_clock_of_everybody() {
    let Some(config) = config() else { return };
    let script = "const began = [Date.now(), performance.now()]; setTimeout(() => show('done'), 500)";
    let stage = stage_with(TestWeb::builder().page("http://a.test/", page(script)), config).await.unwrap();
    let difference =
        "Math.abs((Date.now() - began[0]) - (performance.now() - began[1])) < 100 && late.textContent";
    let steps = vec![Step::Wait(Duration::from_millis(700)), Step::Script(difference.to_owned())];
    let rendered = stage.open(&RenderRequest { steps, ..request("http://a.test/") }).await.unwrap();
    assert_eq!(rendered.returns[0].value, "done;");
    stage.browser.stop().await;
}
