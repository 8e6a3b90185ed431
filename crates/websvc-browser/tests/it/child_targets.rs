//! Child targets: workers and frames of other sites have the settings and the blocking rules of their page. Windows are
//! closed.

use std::sync::Arc;

use http::HeaderValue;
use serde_json::{Value, json};
use websvc_browser::{BlockRule, BrowserConfig, Device, Locale, RenderRequest, Step};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::support::{Setup, chromium_wrapper, config, request, setup, setup_with};

/// A host on which pages may register service workers without HTTPS.
const HOME: &str = "http://app.localhost/";

/// The script that each target runs. The page collects the results.
const REPORT: &str = "const report = async () => {
    const statuses = await Promise.all(['/api/fine', '/api/advert', 'http://c.test/api/advert'].map((url) =>
        fetch(url).then((answer) => answer.status, () => 'blocked')));
    return [navigator.userAgent, navigator.languages.join(), new Date(0).getHours(), statuses.join()];
};";

/// The targets, sorted by name.
const TARGETS: [&str; 9] = [
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

const FRAME_WORKER: &str = "worker of a frame";

fn script(name: &str, then: &str) -> Page {
    let code =
        format!("{REPORT} report().then((result) => {{ const message = ['{name}', result]; {then} }})");
    Page::new("text/javascript", code)
}

fn web() -> TestWebBuilder {
    let home = format!(
        "<p>words of the page</p><iframe src='http://b.test/frame'></iframe><script>{REPORT}
        const out = globalThis.out = [];
        const receive = (message) => out.push(message.data);
        onmessage = receive;
        report().then((result) => out.push(['page', result]));
        new Worker('/worker.js').onmessage = receive;
        const inline = (name) => `${{report_text}} report().then((result) => postMessage(['${{name}}', result]))`;
        const report_text = 'const report = ' + report.toString()
            .replaceAll(`'/api`, `'http://app.localhost/api`) + ';';
        new Worker(URL.createObjectURL(new Blob([inline('blob worker')]))).onmessage = receive;
        new Worker('data:text/javascript,' + encodeURIComponent(inline('data worker'))).onmessage = receive;
        const shared = new SharedWorker('/shared.js');
        shared.port.onmessage = receive;
        navigator.serviceWorker.onmessage = receive;
        navigator.serviceWorker.register('/service.js').then((registration) => {{
            const worker = registration.installing ?? registration.waiting ?? registration.active;
            worker.postMessage('');
        }});
        </script>"
    );
    let frame = |name: &str, more: &str| {
        Page::html(format!(
            "{more}<script>{REPORT}
            report().then((result) => top.postMessage(['{name}', result], '*'));</script>"
        ))
    };
    let worker = "onmessage = (event) => {}; postMessage(message); \
        new Worker('/nested.js').onmessage = (message) => postMessage(message.data)";
    let responder = |name: &str, when: &str, port: &str| {
        let code =
            format!("{REPORT} {when} = async (event) => {port}.postMessage(['{name}', await report()])");
        Page::new("text/javascript", code)
    };
    let open = |page: Page| page.header("access-control-allow-origin", "*");
    let mut web = TestWeb::builder()
        .page(HOME, Page::html(home))
        .page("http://app.localhost/worker.js", script("worker", worker))
        .page("http://app.localhost/nested.js", script("nested worker", "postMessage(message)"))
        .page("http://app.localhost/shared.js", responder("shared worker", "onconnect", "event.ports[0]"))
        .page("http://app.localhost/service.js", responder("service worker", "onmessage", "event.source"))
        .page(
            "http://b.test/frame",
            frame(
                "frame",
                "<iframe src='http://c.test/inner'></iframe><script>
                 new Worker('/worker.js').onmessage = (message) => top.postMessage(message.data, '*')</script>",
            ),
        )
        .page("http://b.test/worker.js", script(FRAME_WORKER, "postMessage(message)"))
        .page("http://c.test/inner", frame("inner frame", ""));
    for host in ["app.localhost", "b.test", "c.test"] {
        for kind in ["fine", "advert"] {
            web = web.page(&format!("http://{host}/api/{kind}"), open(Page::text("x")));
        }
    }
    web
}

/// Renders the page and returns the results of its targets, sorted by name.
async fn reports(setup: &Setup, request: RenderRequest) -> Vec<(String, Value)> {
    let count = TARGETS.len() + 1;
    let wait = format!(
        "new Promise((done) => {{ const look = () =>
            out.length < {count} ? setTimeout(look, 20) : done(out); look(); setTimeout(() => done(out), 15000) }})"
    );
    let steps = vec![Step::Script(wait)];
    let rendered = setup.open(&RenderRequest { steps, ..request }).await.unwrap();
    let reports = rendered.returns[0].value.as_array().unwrap();
    let mut reports: Vec<(String, Value)> =
        reports.iter().map(|report| (report[0].as_str().unwrap().to_owned(), report[1].clone())).collect();
    reports.sort_by(|a, b| a.0.cmp(&b.0));
    let names: Vec<&str> = reports.iter().map(|(name, _)| name.as_str()).collect();
    let mut expected = TARGETS.to_vec();
    expected.push(FRAME_WORKER);
    assert_eq!(names, expected);
    reports
}

/// Runs a check with a browser that renders all frames of a page in one process, and with one that isolates sites.
async fn with_both(check: impl AsyncFn(&Setup)) {
    let Some(shared) = setup(web()).await else { return };
    check(&shared).await;
    shared.browser.stop().await;
    let (directory, Some(config)) = (tempfile::tempdir().unwrap(), config()) else { return };
    // The default of the whole browser.
    let path = chromium_wrapper(&config, &directory, "--site-per-process");
    let config = BrowserConfig { path: Some(path), ..config };
    let Some(isolated) = setup_with(web(), config).await else { return };
    check(&isolated).await;
    isolated.browser.stop().await;
}

#[tokio::test]
async fn every_target_has_user_agent_languages_and_time_zone_of_the_page() {
    with_both(async |setup: &Setup| {
        let locale = Locale {
            languages: vec!["de-DE".to_owned(), "de".to_owned()],
            timezone: Some("Asia/Tokyo".to_owned()),
            formats: Some("de-DE".to_owned()),
            geolocation: None,
        };
        let mut request = RenderRequest { locale, device: Device::Mobile, ..request(HOME) };
        request.headers.insert("user-agent", HeaderValue::from_static("my-agent/1"));
        for (name, report) in reports(setup, request).await {
            assert_eq!(report, json!(["my-agent/1", "de-DE,de", 9, "200,200,200"]), "{name}");
        }
        // Only API calls: the scripts of nested workers and service workers are requested with the settings of the process.
        for seen in setup.web.requests().iter().filter(|seen| seen.url.contains("/api/")) {
            let headers = (seen.header("user-agent"), seen.header("accept-language"));
            assert_eq!(headers, (Some("my-agent/1"), Some("de-DE,de;q=0.9")), "{}", seen.url);
        }
    })
    .await;
}

#[tokio::test]
async fn blocked_requests_fail_in_every_target() {
    with_both(async |setup: &Setup| {
        let block = Some(BlockRule(Arc::new(|url, _, _| url.ends_with("/advert"))));
        for (name, report) in reports(setup, RenderRequest { block, ..request(HOME) }).await {
            assert_eq!(report[3], json!("200,blocked,blocked"), "{name}");
        }
        let adverts = setup.web.requests().iter().filter(|seen| seen.url.ends_with("/advert")).count();
        assert_eq!(adverts, 0);
    })
    .await;
}

#[tokio::test]
async fn headers_of_the_caller_are_sent_to_the_same_origin_from_every_target() {
    with_both(async |setup: &Setup| {
        let mut request = request(HOME);
        request.headers.insert("x-key", HeaderValue::from_static("secret"));
        reports(setup, request).await;
        for seen in setup.web.requests().iter().filter(|seen| seen.url.contains("/api/")) {
            let is_same_origin = seen.url.starts_with(HOME);
            assert_eq!(seen.header("x-key").is_some(), is_same_origin, "{} {:?}", seen.url, seen.headers);
        }
    })
    .await;
}

#[tokio::test]
async fn opened_window_sends_nothing_and_does_not_block_its_page() {
    let openers = [
        "window.open('/window')",
        "window.open('/window', '_blank', 'noopener')",
        "document.querySelector('a').click()",
        "document.querySelector('form').submit()",
    ];
    let mut web = TestWeb::builder().page("http://a.test/window", Page::text("x"));
    for (index, opener) in openers.iter().enumerate() {
        let html = format!(
            "<a href='/window' target=_blank></a><form action='/window' target=_blank></form>
            <p>before</p><script>{opener}; document.querySelector('p').textContent = 'after'</script>"
        );
        web = web.page(&format!("http://a.test/{index}"), Page::html(html));
    }
    let Some(setup) = setup(web).await else { return };
    for (index, opener) in openers.iter().enumerate() {
        let rendered = setup.render(&format!("http://a.test/{index}")).await;
        assert!(rendered.html.contains("<p>after</p>"), "{opener}: {}", rendered.html);
    }
    assert_eq!(setup.web.requests().iter().filter(|seen| seen.url.contains("/window")).count(), 0);
    setup.browser.stop().await;
}

#[tokio::test]
async fn targets_beyond_the_limit_do_not_run() {
    let html = "<p>words of the page</p><script>
        for (let i = 0; i < 130; i++) new Worker('data:text/javascript,')</script>";
    let Some(setup) = setup(TestWeb::builder().page("http://a.test/", Page::html(html))).await else {
        return;
    };
    let rendered = setup.render("http://a.test/").await;
    assert_eq!(rendered.warnings, ["some workers and frames of the page were not run: it has too many"]);
    assert!(rendered.html.contains("words of the page"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn page_is_idle_when_its_workers_are() {
    let html = "<p>words of the page that are long enough to be seen as some</p><i></i><script>
        new Worker('/worker.js').onmessage = ({data}) => document.querySelector('i').textContent = data</script>";
    let worker = "fetch('/slow').then((answer) => answer.text()).then((text) => postMessage(text))";
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html(html))
        .page("http://a.test/worker.js", Page::new("text/javascript", worker))
        .page(
            "http://a.test/slow",
            Page::text("from the worker").delay(std::time::Duration::from_millis(900)),
        );
    let Some(setup) = setup(web).await else { return };
    let rendered = setup.render("http://a.test/").await;
    assert!(rendered.html.contains("<i>from the worker</i>"), "{}", rendered.html);
    setup.browser.stop().await;
}
