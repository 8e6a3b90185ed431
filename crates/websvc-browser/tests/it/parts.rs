//! What Chromium runs apart from the page is told, and kept from, what the page is: workers, frames of other sites,
//! windows.

use std::sync::Arc;

use http::HeaderValue;
use serde_json::{Value, json};
use websvc_browser::{BlockRule, BrowserConfig, Device, Locale, RenderRequest, Step};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::support::{Stage, config, request, stage, stage_with, wrapped};

/// A host that pages may have service workers on without a certificate.
const HOME: &str = "http://app.localhost/";

/// Each part runs this and sends what comes of it to the page, which keeps it.
const REPORT: &str = "const report = async () => {
    const asked = await Promise.all(['/api/fine', '/api/advert', 'http://c.test/api/advert'].map((url) =>
        fetch(url).then((answer) => answer.status, () => 'blocked')));
    return [navigator.userAgent, navigator.languages.join(), new Date(0).getHours(), asked.join()];
};";

/// The parts in the order of their names.
const PARTS: [&str; 9] = [
    "blob worker",
    "data worker",
    "frame",
    "inner frame",
    "nested worker",
    "page",
    "service worker",
    "shared worker",
    "worker",
];

const FRAME: &str = "worker of a frame";

fn script(name: &str, then: &str) -> Page {
    let code = format!("{REPORT} report().then((told) => {{ const what = ['{name}', told]; {then} }})");
    Page::new("text/javascript", code)
}

fn world() -> TestWebBuilder {
    let home = format!(
        "<p>words of the page</p><iframe src='http://b.test/frame'></iframe><script>{REPORT}
        const out = globalThis.out = [];
        const hear = (message) => out.push(message.data);
        onmessage = hear;
        report().then((told) => out.push(['page', told]));
        new Worker('/worker.js').onmessage = hear;
        const inline = (name) => `${{report_text}} report().then((told) => postMessage(['${{name}}', told]))`;
        const report_text = 'const report = ' + report.toString()
            .replaceAll(`'/api`, `'http://app.localhost/api`) + ';';
        new Worker(URL.createObjectURL(new Blob([inline('blob worker')]))).onmessage = hear;
        new Worker('data:text/javascript,' + encodeURIComponent(inline('data worker'))).onmessage = hear;
        const shared = new SharedWorker('/shared.js');
        shared.port.onmessage = hear;
        navigator.serviceWorker.onmessage = hear;
        navigator.serviceWorker.register('/service.js').then((registration) => {{
            const worker = registration.installing ?? registration.waiting ?? registration.active;
            worker.postMessage('');
        }});
        </script>"
    );
    let frame = |name: &str, more: &str| {
        Page::html(format!(
            "{more}<script>{REPORT}
            report().then((told) => top.postMessage(['{name}', told], '*'));</script>"
        ))
    };
    let worker = "onmessage = (event) => {}; postMessage(what); \
        new Worker('/nested.js').onmessage = (message) => postMessage(message.data)";
    let answering = |name: &str, when: &str, port: &str| {
        let code =
            format!("{REPORT} {when} = async (event) => {port}.postMessage(['{name}', await report()])");
        Page::new("text/javascript", code)
    };
    let open = |page: Page| page.header("access-control-allow-origin", "*");
    let mut world = TestWeb::builder()
        .page(HOME, Page::html(home))
        .page("http://app.localhost/worker.js", script("worker", worker))
        .page("http://app.localhost/nested.js", script("nested worker", "postMessage(what)"))
        .page("http://app.localhost/shared.js", answering("shared worker", "onconnect", "event.ports[0]"))
        .page("http://app.localhost/service.js", answering("service worker", "onmessage", "event.source"))
        .page(
            "http://b.test/frame",
            frame(
                "frame",
                "<iframe src='http://c.test/inner'></iframe><script>
                 new Worker('/worker.js').onmessage = (message) => top.postMessage(message.data, '*')</script>",
            ),
        )
        .page("http://b.test/worker.js", script(FRAME, "postMessage(what)"))
        .page("http://c.test/inner", frame("inner frame", ""));
    for host in ["app.localhost", "b.test", "c.test"] {
        for kind in ["fine", "advert"] {
            world = world.page(&format!("http://{host}/api/{kind}"), open(Page::text("x")));
        }
    }
    world
}

/// Opens the page and returns what its parts have told, in the order of their names.
async fn reports(stage: &Stage, request: RenderRequest) -> Vec<(String, Value)> {
    let count = PARTS.len() + 1;
    let wait = format!(
        "new Promise((done) => {{ const look = () =>
            out.length < {count} ? setTimeout(look, 20) : done(out); look(); setTimeout(() => done(out), 15000) }})"
    );
    let steps = vec![Step::Script(wait)];
    let rendered = stage.open(&RenderRequest { steps, ..request }).await.unwrap();
    let told = rendered.returns[0].value.as_array().unwrap();
    let mut told: Vec<(String, Value)> =
        told.iter().map(|report| (report[0].as_str().unwrap().to_owned(), report[1].clone())).collect();
    told.sort_by(|a, b| a.0.cmp(&b.0));
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    let mut expected = PARTS.to_vec();
    expected.push(FRAME);
    assert_eq!(names, expected);
    told
}

/// Runs a check with a browser that draws all frames of a page together, and with one that does not.
async fn with_both(check: impl AsyncFn(&Stage)) {
    let Some(together) = stage(world()).await else { return };
    check(&together).await;
    together.browser.stop().await;
    let (directory, Some(config)) = (tempfile::tempdir().unwrap(), config()) else { return };
    // As the whole browser does.
    let path = wrapped(&config, &directory, "--site-per-process");
    let config = BrowserConfig { path: Some(path), ..config };
    let Some(apart) = stage_with(world(), config).await else { return };
    check(&apart).await;
    apart.browser.stop().await;
}

#[tokio::test]
async fn every_part_has_the_name_the_languages_and_the_time_of_the_page() {
    with_both(async |stage: &Stage| {
        let locale = Locale {
            languages: vec!["de-DE".to_owned(), "de".to_owned()],
            timezone: Some("Asia/Tokyo".to_owned()),
            formats: Some("de-DE".to_owned()),
            geolocation: None,
        };
        let mut request = RenderRequest { locale, device: Device::Mobile, ..request(HOME) };
        request.headers.insert("user-agent", HeaderValue::from_static("my-agent/1"));
        for (name, told) in reports(stage, request).await {
            assert_eq!(told, json!(["my-agent/1", "de-DE,de", 9, "200,200,200"]), "{name}");
        }
        // Scripts of nested and of service workers are asked for in the name of the process: they are no calls.
        for seen in stage.world.requests().iter().filter(|seen| seen.url.contains("/api/")) {
            let said = (seen.header("user-agent"), seen.header("accept-language"));
            assert_eq!(said, (Some("my-agent/1"), Some("de-DE,de;q=0.9")), "{}", seen.url);
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_blocked_is_blocked_in_every_part() {
    with_both(async |stage: &Stage| {
        let block = Some(BlockRule(Arc::new(|url, _, _| url.ends_with("/advert"))));
        for (name, told) in reports(stage, RenderRequest { block, ..request(HOME) }).await {
            assert_eq!(told[3], json!("200,blocked,blocked"), "{name}");
        }
        let adverts = stage.world.requests().iter().filter(|seen| seen.url.ends_with("/advert")).count();
        assert_eq!(adverts, 0);
    })
    .await;
}

#[tokio::test]
async fn headers_of_the_caller_go_to_the_own_origin_from_every_part() {
    with_both(async |stage: &Stage| {
        let mut request = request(HOME);
        request.headers.insert("x-key", HeaderValue::from_static("secret"));
        reports(stage, request).await;
        for seen in stage.world.requests().iter().filter(|seen| seen.url.contains("/api/")) {
            let is_own = seen.url.starts_with(HOME);
            assert_eq!(seen.header("x-key").is_some(), is_own, "{} {:?}", seen.url, seen.headers);
        }
    })
    .await;
}

#[tokio::test]
async fn a_window_asks_for_nothing_and_holds_nothing_up() {
    let ways = [
        "window.open('/window')",
        "window.open('/window', '_blank', 'noopener')",
        "document.querySelector('a').click()",
        "document.querySelector('form').submit()",
    ];
    let mut world = TestWeb::builder().page("http://a.test/window", Page::text("x"));
    for (place, way) in ways.iter().enumerate() {
        let html = format!(
            "<a href='/window' target=_blank></a><form action='/window' target=_blank></form>
            <p>before</p><script>{way}; document.querySelector('p').textContent = 'after'</script>"
        );
        world = world.page(&format!("http://a.test/{place}"), Page::html(html));
    }
    let Some(stage) = stage(world).await else { return };
    for (place, way) in ways.iter().enumerate() {
        let rendered = stage.render(&format!("http://a.test/{place}")).await;
        assert!(rendered.html.contains("<p>after</p>"), "{way}: {}", rendered.html);
    }
    assert_eq!(stage.world.requests().iter().filter(|seen| seen.url.contains("/window")).count(), 0);
    stage.browser.stop().await;
}

#[tokio::test]
async fn parts_beyond_number_do_not_run() {
    let html = "<p>words of the page</p><script>
        for (let i = 0; i < 130; i++) new Worker('data:text/javascript,')</script>";
    let Some(stage) = stage(TestWeb::builder().page("http://a.test/", Page::html(html))).await else {
        return;
    };
    let rendered = stage.render("http://a.test/").await;
    assert_eq!(rendered.warnings, ["the page has more workers and frames of other sites than are run"]);
    assert!(rendered.html.contains("words of the page"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_page_is_settled_when_its_workers_are() {
    let html = "<p>words of the page that are long enough to be seen as some</p><i></i><script>
        new Worker('/worker.js').onmessage = ({data}) => document.querySelector('i').textContent = data</script>";
    let worker = "fetch('/slow').then((answer) => answer.text()).then((text) => postMessage(text))";
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html(html))
        .page("http://a.test/worker.js", Page::new("text/javascript", worker))
        .page(
            "http://a.test/slow",
            Page::text("from the worker").delay(std::time::Duration::from_millis(900)),
        );
    let Some(stage) = stage(world).await else { return };
    let rendered = stage.render("http://a.test/").await;
    assert!(rendered.html.contains("<i>from the worker</i>"), "{}", rendered.html);
    stage.browser.stop().await;
}
