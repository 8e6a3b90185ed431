//! The page of the live view in a browser: tabs, touch, keyboard, hostile titles, and the rules of axe, light and dark, wide
//! and narrow.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use websvc_browser::{Browser, BrowserConfig, Extent, RenderRequest, Screenshot, Step, Viewport};
use websvc_testkit::{Page, TestWeb, scaled};
use websvc_transport::{AddressGuard, Client, ClientConfig};

use super::SessionTest;
use super::cdp::CdpClient;
use crate::browser::path_or_skip;
use crate::harness::KEY;

/// A page that is longer than its window, whose title is markup, and which records what happens to it.
const LONG: &str = "<!DOCTYPE html><title>&lt;img src=x onerror=window.stolen=1&gt;</title><body style='margin: 0'>
<input id=name style='position: fixed; inset: 0 0 auto 0; width: 100%; height: 200px; font-size: 60px' autofocus>
<div style='height: 9000px'>Tea</div>";

/// Functions for the scripts of the tests.
const TOOLS: &str = r##"
globalThis.until = async (name, find) => {
  for (let i = 0; i < 600; i += 1) { const value = find(); if (value) return value; await new Promise((resolve) => setTimeout(resolve, 20)); }
  throw new Error(`${name} did not appear: ${document.body.innerText.slice(0, 400)}`);
};
globalThis.labels = () => [...document.querySelectorAll("nav .label")].map((element) => element.textContent);
globalThis.current = () => document.querySelector("nav [aria-current]")?.textContent;
globalThis.ready = () => until("the picture", () => document.body.dataset.state === "live" && document.querySelector("#screen").naturalWidth > 0 && labels().length === 2);
globalThis.active = () => { const element = document.activeElement; return element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent; };
void 0;
"##;

/// A script that makes the page light or dark by activating the media rules in its own style sheets.
const SCHEME: &str = r#"
globalThis.scheme = (dark) => {
  for (const sheet of document.styleSheets) for (const rule of sheet.cssRules)
    if (rule instanceof CSSMediaRule && /prefers-color-scheme/.test(rule.media.mediaText)) rule.media.mediaText = dark ? "all" : "not all";
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
};
void 0;
"#;

/// A script that returns the accessibility violations of the page, and whether it is wider than the window.
const CHECK: &str = r#"(async () => {
  await ready();
  const { violations } = await axe.run();
  const problems = violations.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`);
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) problems.push(`${scrollWidth} of ${clientWidth} pixels wide`);
  return problems;
})()"#;

/// A session with two tabs, a client that drives it, and a browser that opens its live view.
struct LiveTest {
    _test: SessionTest,
    session: Value,
    client: CdpClient,
    /// The session of the protocol of the page `LONG`.
    page: String,
    browser: Browser,
}

impl LiveTest {
    async fn start() -> Option<Self> {
        let path = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
        let world = TestWeb::builder().page("http://long.test/", Page::html(LONG));
        let test = SessionTest::start_with(world).await?;
        let session = test.create(json!({})).await;
        let mut client = CdpClient::connect(&test, &session["cdpUrl"]).await;
        let page = client.attach().await;
        client.call(Some(&page), "Page.navigate", json!({"url": "http://long.test/"})).await;
        client.call(None, "Target.createTarget", json!({"url": "http://tea.test/"})).await;
        let client_config = ClientConfig::new(AddressGuard::open());
        let config = BrowserConfig { path: Some(path), ..BrowserConfig::default() };
        let browser = Browser::new(config, Client::new(client_config).unwrap());
        Some(Self { _test: test, session, client, page, browser })
    }

    /// Opens a URL of the session, and returns the values of the scripts and the screenshots.
    async fn open(&self, url: &str, width: u32, steps: Vec<Step>) -> (Vec<Value>, Vec<Vec<u8>>) {
        let url = self.session[url].as_str().unwrap().parse().unwrap();
        let request = RenderRequest::new(url, Instant::now() + Duration::from_secs(120));
        let viewport = Some(Viewport { width, height: 740 });
        let rendered = self.browser.render(&RenderRequest { steps, viewport, ..request }).await.unwrap();
        assert!(rendered.warnings.is_empty(), "{:?}", rendered.warnings);
        let values = rendered.returns.into_iter().map(|returned| returned.value).collect();
        (values, rendered.screenshots.into_iter().map(|image| image.bytes.to_vec()).collect())
    }

    async fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        let response = self.client.call(Some(&self.page), "Runtime.evaluate", params).await;
        response["result"]["result"]["value"].clone()
    }

    async fn wait_for(&mut self, expression: &str) {
        let met = async {
            while self.evaluate(expression).await != json!(true) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), met).await.unwrap_or_else(|_| panic!("{expression}"));
    }
}

fn script(text: impl Into<String>) -> Step {
    Step::Script(text.into())
}

fn run(text: &str) -> Step {
    script(format!("(async () => {{ {text} }})()"))
}

#[tokio::test(flavor = "multi_thread")]
async fn live_page_is_accessible_in_both_modes_light_and_dark_wide_and_narrow() {
    let Some(axe) = path_or_skip("WEBSVC_TEST_AXE") else { return };
    let Some(live) = LiveTest::start().await else { return };
    let axe = std::fs::read_to_string(axe).unwrap();
    for (url, mode) in [("liveViewUrl", "view"), ("interactiveLiveViewUrl", "interactive")] {
        let variants = [(1280, false), (360, true), (1280, true), (360, false)];
        for (width, dark) in variants.into_iter().take(scaled(2, 4)) {
            let variant = format!("live-{mode}-{width}-{}", if dark { "dark" } else { "light" });
            let screenshot = Screenshot { extent: Extent::FullPage, quality: None, viewport: None };
            let steps = vec![
                script(format!("{axe}; 0")),
                script(TOOLS),
                script(format!("{SCHEME} scheme({dark}); 0")),
                script(CHECK),
                Step::Screenshot(screenshot),
            ];
            let (values, pictures) = live.open(url, width, steps).await;
            assert_eq!(values.last(), Some(&json!([])), "{variant}");
            if let Some(directory) = std::env::var_os("WEBSVC_PICTURES").map(PathBuf::from) {
                std::fs::create_dir_all(&directory).unwrap();
                std::fs::write(directory.join(format!("{variant}.png")), &pictures[0]).unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn live_page_shows_hostile_titles_as_text_and_switches_tabs() {
    let Some(live) = LiveTest::start().await else { return };
    let steps = vec![
        script(TOOLS),
        run(r##"
            await ready();
            const hostile = await until("the title", () => labels().find((label) => label.includes("<img")));
            const first = current();
            const [show] = [...document.querySelectorAll("nav .label")].filter((element) => element.textContent === "Tea");
            show.focus();
            show.click();
            await until("the tab", () => current() === "Tea");
            return { hostile, first, focus: active(), images: document.querySelectorAll("nav img").length, stolen: window.stolen ?? null,
              closes: document.querySelectorAll("nav [aria-label^=Close]").length, application: document.querySelectorAll("[role=application]").length,
              isFormShown: !document.querySelector("#typing").hidden, state: document.querySelector("#state").textContent };
        "##),
    ];
    let (values, _) = live.open("liveViewUrl", 800, steps).await;
    let hostile = "<img src=x onerror=window.stolen=1>";
    let expected = json!({
        "hostile": hostile, "first": hostile, "focus": "Tea", "images": 0, "stolen": null, "closes": 0, "application": 0,
        "isFormShown": false, "state": "Live, view only",
    });
    assert_eq!(values.last(), Some(&expected));
    // The switch was one of that view only.
    let steps = vec![script(TOOLS), run("await ready(); return current()")];
    assert_eq!(live.open("liveViewUrl", 800, steps).await.0.last(), Some(&json!(hostile)));
}

#[tokio::test(flavor = "multi_thread")]
async fn interactive_page_scrolls_by_touch_types_and_closes_tabs() {
    let Some(mut live) = LiveTest::start().await else { return };
    live.wait_for("document.activeElement?.id === 'name'").await;
    let steps = vec![
        script(TOOLS),
        run(r##"
            await ready();
            const screen = document.querySelector("#screen");
            const box = screen.getBoundingClientRect();
            const finger = (type, y) => screen.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 7, pointerType: "touch", isPrimary: true, clientX: box.left + box.width / 2, clientY: y }));
            const start = box.top + box.height * 0.9;
            finger("pointerdown", start);
            for (let y = start; y > start - box.height / 2; y -= 20) { finger("pointermove", y); await new Promise((resolve) => setTimeout(resolve, 20)); }
            finger("pointerup", start - box.height / 2);
            const text = document.querySelector("#text");
            text.value = "Darjeeling ☕";
            text.form.requestSubmit();
            document.querySelector("[data-key=Backspace]").click();
            return { emptied: text.value };
        "##),
    ];
    let (values, _) = live.open("interactiveLiveViewUrl", 390, steps).await;
    assert_eq!(values.last(), Some(&json!({"emptied": ""})));
    live.wait_for("scrollY > 100").await;
    live.wait_for("document.getElementById('name').value === 'Darjeeling '").await;
    let steps = vec![
        script(TOOLS),
        run(r#"
            await ready();
            document.querySelector("nav [aria-label='Close Tea']").click();
            await until("the end of the tab", () => labels().length === 1);
            return { left: labels(), closes: document.querySelectorAll("nav [aria-label^=Close]").length };
        "#),
    ];
    let (values, _) = live.open("interactiveLiveViewUrl", 390, steps).await;
    assert_eq!(values.last().unwrap()["closes"], 0);
    let targets = live.client.call(None, "Target.getTargets", json!({})).await;
    assert_eq!(targets["result"]["targetInfos"].as_array().unwrap().len(), 1, "{targets}");
}

#[tokio::test(flavor = "multi_thread")]
async fn live_page_says_that_its_session_has_ended() {
    let Some(live) = LiveTest::start().await else { return };
    let id = live.session["id"].as_str().unwrap();
    let end = format!(
        r##"await ready();
        const {{ status }} = await fetch("/v2/browser/{id}", {{ method: "DELETE", headers: {{ authorization: "Bearer {KEY}" }} }});
        const state = document.querySelector("#state");
        await until("the end", () => document.body.dataset.state === "ended");
        return {{ status, state: state.textContent, isBarShown: !document.querySelector("#tabs").hidden }};"##
    );
    let (values, _) = live.open("interactiveLiveViewUrl", 800, vec![script(TOOLS), run(&end)]).await;
    let expected = json!({"status": 200, "state": "The session has ended", "isBarShown": false});
    assert_eq!(values.last(), Some(&expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn keyboard_reaches_the_page_of_the_session_and_leaves_it() {
    let Some(mut live) = LiveTest::start().await else { return };
    live.wait_for("document.activeElement?.id === 'name'").await;
    let press = |key: &str| Step::Press(key.to_owned());
    let record = || script("active()");
    let mut steps = vec![
        script(TOOLS),
        run("await ready(); document.body.tabIndex = -1; document.body.focus(); return 0"),
    ];
    for _ in 0..5 {
        steps.extend([press("Tab"), record()]);
    }
    steps.extend([press("q"), press("Tab"), record(), press("Escape"), record(), press("Escape"), record()]);
    let (values, _) = live.open("interactiveLiveViewUrl", 1000, steps).await;
    let focused: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    let hostile = "<img src=x onerror=window.stolen=1>";
    let closes = [format!("Close {hostile}"), "Close Tea".to_owned()];
    let page = "Page of the browser session";
    // All keys but the second Escape go to the page of the session.
    let expected = [hostile, &closes[0], "Tea", &closes[1], page, page, page, "Text for the page"];
    assert_eq!(focused, expected);
    live.wait_for("document.getElementById('name').value === 'q'").await;
}
