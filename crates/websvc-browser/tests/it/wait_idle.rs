//! Waiting for late content: timers, chains of requests, workers and databases.

use std::time::Duration;

use websvc_browser::{RenderRequest, Step};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::support::{config, request, setup, setup_with};

/// Returns a page with enough text not to count as empty, an element for late content, and a script.
fn page(script: &str) -> Page {
    Page::html(format!(
        "<!DOCTYPE html><h1>A heading and a sentence that are there at once</h1><div id=late></div><script>
         const show = (text) => {{ late.textContent += text + ';'; }};
         const later = (ms) => new Promise((done) => setTimeout(done, ms));
         const get = async (path) => (await fetch(path)).text();
         {script}</script>"
    ))
}

/// Renders each script in a page of its own, and asserts the text that it shows at the end.
async fn check(cases: &[(&str, &str)]) {
    let mut web = TestWeb::builder()
        .page("http://a.test/one", Page::text("one").delay(Duration::from_millis(60)))
        .page("http://a.test/two", Page::text("two").delay(Duration::from_millis(200)))
        .page("http://a.test/three", Page::text("three"))
        .page("http://a.test/never", Page::unresponsive())
        .page("http://a.test/next", page("later(300).then(() => show('next'))"));
    for (index, (script, _)) in cases.iter().enumerate() {
        web = web.page(&format!("http://a.test/case{index}"), page(script));
    }
    let Some(setup) = setup(web).await else { return };
    for (index, (script, expected)) in cases.iter().enumerate() {
        let rendered = setup.render(&format!("http://a.test/case{index}")).await;
        let shown = format!("<div id=\"late\">{expected}</div>");
        assert!(rendered.html.contains(&shown), "{script}\n{}", rendered.html);
    }
    setup.browser.stop().await;
}

#[tokio::test]
async fn content_of_timers_is_rendered() {
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
async fn content_of_request_chains_is_rendered() {
    check(&[
        ("(async () => { for (const p of ['one', 'two', 'three']) show(await get(p)); })()", "one;two;three;"),
        ("(async () => { await later(100); show(await get('two')); await later(300); show(await get('one')); await later(600); show('end'); })()", "two;one;end;"),
        ("setTimeout(async () => { show(await get('two')); show(await get('three')); }, 300)", "two;three;"),
        ("(async () => { show(await get('two')); setTimeout(show, 900, 'end'); })()", "two;end;"),
    ])
    .await;
}

#[tokio::test]
async fn content_of_frames_workers_and_databases_is_rendered() {
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
async fn content_that_a_frame_adds_to_its_parent_is_rendered() {
    let heading = "<!DOCTYPE html><h1>A heading and a sentence that are there at once</h1>";
    let frame = "<script>fetch('/late').then((answer) => answer.text())
        .then((text) => parent.document.body.append(text))</script>";
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html(format!("{heading}<iframe srcdoc=\"{frame}\"></iframe>")))
        .page("http://a.test/late", Page::text("words of the frame").delay(Duration::from_millis(400)));
    let Some(setup) = setup(web).await else { return };
    let rendered = setup.render("http://a.test/").await;
    assert!(rendered.html.contains("</iframe>words of the frame"), "{}", rendered.html);
    setup.browser.stop().await;
}

#[tokio::test]
async fn endless_request_does_not_delay_timers() {
    check(&[
        ("new EventSource('/never'); setTimeout(show, 300, 'a')", "a;"),
        ("const s = new WebSocket('ws://a.test/never'); setTimeout(show, 600, 'a')", "a;"),
    ])
    .await;
}

#[tokio::test]
async fn navigation_by_a_timer_is_followed() {
    let web = TestWeb::builder()
        .page("http://a.test/", page("setTimeout(() => { location = '/next' }, 400)"))
        .page("http://a.test/next", page("later(300).then(() => get('/two')).then(show)"))
        .page("http://a.test/two", Page::text("arrived").delay(Duration::from_millis(100)));
    let Some(setup) = setup(web).await else { return };
    let rendered = setup.render("http://a.test/").await;
    assert_eq!(rendered.url, "http://a.test/next");
    assert!(rendered.html.contains("arrived;"), "{}", rendered.html);
    setup.browser.stop().await;
}

#[tokio::test]
async fn empty_page_is_given_more_time() {
    let html = "<!DOCTYPE html><div id=app></div><script>
        setTimeout(() => { app.textContent = 'the application has started at last, and shows this' }, 1700)</script>";
    let Some(setup) = setup(TestWeb::builder().page("http://a.test/", Page::html(html))).await else {
        return;
    };
    assert!(setup.render("http://a.test/").await.html.contains("started at last"));
    setup.browser.stop().await;
}

fn ticking() -> TestWebBuilder {
    let script =
        "setInterval(() => { show(1); fetch('/beat') }, 400); let n = 0; for (const e of [1, 2]) n += e";
    TestWeb::builder().page("http://a.test/", page(script)).page("http://a.test/beat", Page::text("x"))
}

#[tokio::test]
async fn virtual_time_of_an_endless_page_is_limited() {
    let Some(setup) = setup(ticking()).await else { return };
    let began = std::time::Instant::now();
    setup.render("http://a.test/").await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    // At most five seconds of virtual time, in steps of 400 ms.
    assert!(setup.web.count("http://a.test/beat") <= 14, "{}", setup.web.count("http://a.test/beat"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn page_with_steps_runs_in_real_time() {
    let Some(config) = config() else { return };
    let script = "const began = [Date.now(), performance.now()]; setTimeout(() => show('done'), 500)";
    let setup = setup_with(TestWeb::builder().page("http://a.test/", page(script)), config).await.unwrap();
    let difference =
        "Math.abs((Date.now() - began[0]) - (performance.now() - began[1])) < 100 && late.textContent";
    let steps = vec![Step::Wait(Duration::from_millis(700)), Step::Script(difference.to_owned())];
    let rendered = setup.open(&RenderRequest { steps, ..request("http://a.test/") }).await.unwrap();
    assert_eq!(rendered.returns[0].value, "done;");
    setup.browser.stop().await;
}
