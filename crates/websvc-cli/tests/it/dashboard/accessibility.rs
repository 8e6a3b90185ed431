//! Tests of the accessibility of all views: light and dark, narrow and wide, and without horizontal overflow. The
//! variable `WEBSVC_PICTURES` sets the directory for their screenshots.

use std::path::PathBuf;

use http::Method;
use serde_json::{Value, json};
use websvc_browser::{Extent, Screenshot, Step};
use websvc_testkit::is_proof;

use super::{DashboardTest, MODEL, SCRIPT, TOOLS, agents, monitors, start_with};
use crate::browser::path_or_skip;
use crate::harness::skip;

/// The variable with the directory for the screenshots.
const SCREENSHOTS_VARIABLE: &str = "WEBSVC_PICTURES";

/// A script that makes the page light or dark by activating the media rules in its own style sheets.
const SCHEME: &str = r#"
globalThis.scheme = (dark) => {
  for (const sheet of document.styleSheets) for (const rule of sheet.cssRules)
    if (rule instanceof CSSMediaRule && /prefers-color-scheme/.test(rule.media.mediaText)) rule.media.mediaText = dark ? "all" : "not all";
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { animation: none !important; transition: none !important; caret-color: transparent !important; }");
  document.adoptedStyleSheets = [sheet];
};
"#;

/// A script that returns the accessibility violations of the page, and elements wider than the window.
const CHECK: &str = r#"(async () => {
  // The live view in a frame has a test of its own.
  const { violations } = await axe.run(document, { iframes: false });
  const problems = violations.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`);
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) {
    const wide = [...document.querySelectorAll("main *")].find((element) => element.getBoundingClientRect().right > clientWidth + 1 && !element.closest(".scroll, pre, nav"));
    problems.push(`${scrollWidth} of ${clientWidth} pixels wide: ${wide?.outerHTML.slice(0, 200)}`);
  }
  return problems;
})()"#;

/// Pages in several scripts and directions, and with a long word and a long URL.
const FOREIGN: [(&str, &str, &str); 3] = [
    ("http://tea.test/he", "תה ירוק", "brewing: תה ירוק דורש מים של שמונים מעלות ושתי דקות של סבלנות."),
    ("http://tea.test/ja", "緑茶の淹れ方", "brewing: 緑茶は八十度のお湯で二分間待つとおいしくなります。"),
    (
        "http://tea.test/a-very-long-path/that-goes-on/and-on/and-on/without-any-end/in-sight/whatever-the-width/of-the-window.html",
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaftstee",
        "brewing with a title that has no place to break.",
    ),
];

/// The name of the monitor that the views show.
const MONITOR: &str = "Prices of teas whose name is longer than the window of a telephone is wide";

/// The views in the order in which the browser opens them: a name, and the script that opens the view.
const VIEWS: [(&str, &str); 26] = [
    ("playground", "await visit('playground', 'input[type=search]')"),
    (
        "results",
        "const query = document.querySelector('input[type=search]'); query.value = 'brewing'; \
         document.querySelector('fieldset input[value=markdown]').checked = true; query.form.requestSubmit(); \
         await until('a result', () => document.querySelector('.result')); \
         document.querySelector('.result details').open = true; await until('the content', () => document.querySelector('.rendered'))",
    ),
    (
        "expanded-results",
        "for (const part of document.querySelectorAll('main details')) part.open = true; \
         await until('every part', () => !document.querySelector('main details > div > .busy'))",
    ),
    (
        "error",
        "await visit('usage', 'svg'); await visit('playground', 'input[type=search]'); \
         const query = document.querySelector('input[type=search]'); query.value = 'brewing'; \
         document.querySelector('textarea[placeholder^=\"[{\"]').value = '[{\"type\": \"screenshot\", \"quality\": 900}]'; query.form.requestSubmit(); \
         await until('an alert', () => document.querySelector('#alert').textContent)",
    ),
    ("usage", "await visit('usage', 'svg')"),
    ("requests", "await visit('requests', 'table'); document.querySelector('td details').open = true"),
    (
        "feedback",
        "await visit('feedback', 'table'); for (const part of document.querySelectorAll('td details')) part.open = true; \
         if (window.stolen || document.querySelector('td img, td script')) throw new Error('the text of feedback became markup')",
    ),
    (
        "keys",
        "await visit('keys', 'table'); labelled('Name').value = 'a key'; document.querySelector('form').requestSubmit(); \
         await until('the key', () => document.querySelector('.secret'))",
    ),
    (
        "dialog",
        "button('Revoke').click(); await until('the dialog', () => document.querySelector('dialog[open]'))",
    ),
    (
        "teams",
        "document.querySelector('dialog').close(); await visit('teams', 'table'); button('Edit').click(); \
         await until('the form', () => document.querySelector('main form'))",
    ),
    ("system", "await visit('system', 'dl')"),
    (
        "no-results",
        "await visit('playground', 'input[type=search]'); const query = document.querySelector('input[type=search]'); \
         query.value = 'zyzzyva'; query.form.requestSubmit(); await until('no results', () => document.querySelector('[aria-label=Response] h2'))",
    ),
    ("monitors", "await visit('monitors', 'a.name')"),
    (
        "monitor",
        "document.querySelector('a.name').click(); await until('the history', () => document.querySelector('.strip'))",
    ),
    (
        "check",
        "globalThis.monitorHash = location.hash; document.querySelector('[aria-label=Checks] td a').click(); \
         await until('the changes', () => document.querySelector('.diff')); document.querySelector('.data').open = true",
    ),
    ("check-side-by-side", "document.querySelectorAll('[name=diff-view]')[1].click()"),
    (
        "monitor-form",
        "location.hash = monitorHash + '/edit'; await until('the form', () => document.querySelector('.target')); \
         await until('the runs', () => document.querySelector('.live strong')); \
         await until('the estimate', () => /About/.test(document.querySelector('.estimate').textContent))",
    ),
    (
        "monitor-errors",
        "fill(labelled('Name'), ''); fill(labelled('URLs'), 'ftp://shop.test/'); fill(labelled('Cron expression'), '* * * * *'); \
         document.querySelector('form').requestSubmit(); await until('an alert', () => document.querySelector('#alert').textContent)",
    ),
    ("agents", "await visit('agents', 'a.name')"),
    (
        "agent",
        "document.querySelector('a.name').click(); await until('the sources', () => document.querySelector('[aria-label=Sources] table')); \
         document.querySelector('[aria-label=Task] details').open = true; \
         if (window.stolen || document.querySelector('main img, main script')) throw new Error('a text of a run became markup')",
    ),
    (
        "agent-partial",
        "await visit('agents', 'a.name'); document.querySelectorAll('a.name')[1].click(); \
         await until('the reason', () => document.querySelector('.card.note')); await until('the task', () => document.querySelector('[aria-label=Task]'))",
    ),
    (
        "agent-form",
        "location.hash = '#/agents/new'; await until('the form', () => labelled('Task')); fill(labelled('Start pages'), 'ftp://shop.test/'); \
         document.querySelector('form').requestSubmit(); await until('an alert', () => document.querySelector('#alert').textContent)",
    ),
    ("sessions", "await visit('sessions', 'a.name')"),
    (
        "session",
        "document.querySelector('a.name').click(); const frame = await until('the frame', () => document.querySelector('iframe')); \
         await until('the picture', () => frame.contentDocument?.querySelector('#screen')?.naturalWidth > 0)",
    ),
    (
        "connect",
        "const registration = { client_name: '<b>A client</b>', redirect_uris: ['http://127.0.0.1/callback'] }; \
         const headers = { 'Content-Type': 'application/json' }; \
         const registered = await fetch('/oauth/register', { method: 'POST', headers, body: JSON.stringify(registration) }); \
         const { client_id } = await registered.json(); \
         location.hash = '#/authorize?' + new URLSearchParams({ response_type: 'code', client_id, redirect_uri: 'http://127.0.0.1/callback', \
         code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' }); \
         await until('the consent', () => button('Allow')); \
         if (document.querySelector('main b')) throw new Error('the name of a client became markup')",
    ),
    (
        "invitation",
        "location.hash = '#/redeem/fi-' + '0'.repeat(32); await until('the invitation', () => button('Get the key'))",
    ),
];

/// A script that opens an operation of each method in the API reference, sends requests, opens the dialog for keys, and returns
/// the critical and serious violations. In the gate, it looks for them at the end only, and leaves
/// the schemas closed, which are most of the page.
const REFERENCE: &str = r##"(async () => {
  const still = new CSSStyleSheet();
  still.replaceSync("* { animation: none !important; transition: none !important; }");
  document.adoptedStyleSheets = [still];
  document.documentElement.classList.toggle("dark-mode", dark);
  const problems = [];
  const check = async (name) => {
    if (onlyAtTheEnd && name !== "keys") return;
    const { violations } = await axe.run();
    const severe = violations.filter(({ impact }) => impact === "critical" || impact === "serious");
    problems.push(...severe.map(({ id, nodes }) => `${name}: ${id}: ${nodes.length}: ${nodes[0].html} ${nodes[0].failureSummary}`));
  };
  const operation = (method, path) => document.querySelector(`.opblock-${method} [data-path="${path}"]`).closest(".opblock");
  await until("the operations", () => document.querySelector(".opblock"));
  await check("start");
  for (const [method, path] of [["post", "/v2/search"], ["get", "/v2/crawl/{id}"], ["delete", "/v2/crawl/{id}"], ["patch", "/v2/monitor/{id}"], ["get", "/ready"]]) {
    const block = operation(method, path);
    block.querySelector(".opblock-summary-control").click();
    await until(path, () => block.querySelector(".responses-table"));
  }
  operation("get", "/ready").querySelector(".execute").click();
  await until("a response", () => document.querySelector(".live-responses-table pre"));
  if (!onlyAtTheEnd) {
    document.querySelector(".models-control").click();
    await until("the schemas", () => document.querySelector(".model-container, .json-schema-2020-12"));
  }
  await check("operations");
  document.querySelector(".auth-wrapper .authorize").click();
  await until("the dialog", () => document.querySelector(".dialog-ux input"));
  await check("keys");
  if (location.hash === "") problems.push("an opened operation is not in the URL");
  return problems;
})()"##;

fn script(text: impl Into<String>) -> Step {
    Step::Script(text.into())
}

/// Returns the steps of one view: open it, check it, and capture it.
fn view(script_text: &str) -> [Step; 3] {
    let screenshot = Screenshot { extent: Extent::FullPage, quality: None, viewport: None };
    [
        script(format!("(async () => {{ {script_text}; scrollTo(0, 0); }})()")),
        script(CHECK),
        Step::Screenshot(screenshot),
    ]
}

/// Opens all views, and checks them. In the gate, a view is checked in one of the two variants.
async fn check(dashboard: &DashboardTest, axe: &str, width: u32, dark: bool) {
    let is_checked = |index: usize| is_proof() || (index % 2 == 1) == dark;
    let variant = format!("{width}-{}", if dark { "dark" } else { "light" });
    let mut steps = vec![script(format!("{axe}; 0")), script(format!("{SCHEME} scheme({dark}); 0"))];
    steps.push(Step::WaitFor("form".to_owned()));
    steps.extend(view("0"));
    steps.extend(DashboardTest::sign_in(&dashboard.key));
    steps.push(Step::WaitFor("nav a".to_owned()));
    for (index, (_, script_text)) in VIEWS.into_iter().enumerate() {
        let open_and_check = view(script_text);
        let count = if is_checked(index) { open_and_check.len() } else { 1 };
        steps.extend(open_and_check.into_iter().take(count));
    }
    let rendered = dashboard.open_with_width(width, "/", steps).await;
    let checked: Vec<&Value> =
        rendered.returns.iter().map(|returned| &returned.value).filter(|value| value.is_array()).collect();
    let of_views =
        VIEWS.iter().enumerate().filter(|(index, _)| is_checked(*index)).map(|(_, (name, _))| *name);
    let names: Vec<&str> = std::iter::once("sign-in").chain(of_views).collect();
    let problems: Vec<_> =
        names.iter().zip(&checked).filter(|(_, problems)| **problems != &json!([])).collect();
    save(&variant, &names, &rendered.screenshots);
    assert!(problems.is_empty(), "{variant}: {problems:#?}");
    assert_eq!((checked.len(), rendered.screenshots.len()), (names.len(), names.len()), "{variant}");
}

/// Saves the screenshots if the variable is set.
fn save(variant: &str, names: &[&str], screenshots: &[websvc_browser::Image]) {
    let Some(directory) = std::env::var_os(SCREENSHOTS_VARIABLE).map(PathBuf::from) else { return };
    std::fs::create_dir_all(&directory).unwrap();
    for (name, screenshot) in names.iter().zip(screenshots) {
        std::fs::write(directory.join(format!("dashboard-{name}-{variant}.png")), &screenshot.bytes).unwrap();
    }
}

/// Adds pages and crawls that the views show.
async fn add_content(dashboard: &DashboardTest) {
    let document =
        |(url, title, body): &(&str, &str, &str)| json!({"url": url, "title": title, "body": body});
    let documents: Vec<Value> = FOREIGN.iter().map(document).collect();
    dashboard.service.post("/v2/index/documents", json!({ "documents": documents }).to_string()).await;
    for (id, pages, queued, has_ended) in [("docs", 120, 840, false), ("blog", 64, 0, true)] {
        let progress = json!({
            "id": id, "hosts": [format!("{id}.example")], "pages": pages, "failed": 2, "skipped": 7,
            "waiting": queued, "ended": has_ended,
        });
        let response = dashboard.service.post("/v2/index/progress", progress.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
    }
}

/// Rates searches, with texts that are markup, long or from right to left.
async fn add_feedback(dashboard: &DashboardTest) {
    let markup = format!("<img src=x onerror={SCRIPT}><script>{SCRIPT}</script> תה ירוק");
    let long = format!("http://tea.test/{}", "a-very-long-path/".repeat(20));
    for (rating, note) in
        [("good", markup.as_str()), ("partial", &"very long ".repeat(100)), ("bad", &"x".repeat(300))]
    {
        let found = dashboard.service.search(json!({ "query": "brewing" })).await;
        let body = json!({
            "endpoint": "search", "jobId": found.body["id"], "rating": rating, "note": note, "issues": ["missing_table"],
            "valuableSources": [{ "url": long, "reason": markup }], "missingContent": [{ "topic": markup }],
            "querySuggestions": markup, "url": "http://tea.test/", "pageNumbers": [1, 2], "metadata": { "x": markup },
        });
        let response = dashboard.service.post("/v2/feedback", body.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
    }
}

/// Adds monitors: one with changes of text and data, and a paused one.
async fn add_monitors(dashboard: &DashboardTest) {
    let formats = json!([{ "type": "json", "prompt": "the price" }, { "type": "changeTracking", "modes": ["git-diff"] }]);
    let target = json!({ "type": "scrape", "urls": [monitors::TEA, "http://tea.test/gone"], "scrapeOptions": { "formats": formats } });
    let search = json!({ "type": "search", "queries": ["tea harvest", "tea prices"] });
    let paused = dashboard
        .create_monitor(
            json!({ "name": "News", "targets": [search], "judgeEnabled": false, "retentionDays": 7 }),
        )
        .await;
    let headers = [("content-type", "application/json")];
    let body = json!({ "status": "paused" }).to_string();
    assert_eq!(dashboard.service.send(Method::PATCH, &paused, &headers, body).await.status, 200);
    let monitor = dashboard
        .create_monitor(json!({
            "name": MONITOR, "targets": [target], "goal": "Tell me when the price of Sencha changes.",
            "webhook": "http://shop.test/hook", "notification": { "email": { "enabled": true, "recipients": ["anna@tea.test"] } },
        }))
        .await;
    let rest = ["Rooibos is out of stock.", "All teas are shipped within two days."];
    dashboard.set_tea(&["Sencha costs 12 euros per 100 grams.", rest[0], rest[1]]);
    dashboard.run_monitor(&monitor).await;
    dashboard.run_monitor(&monitor).await;
    let long = format!("See https://shop.test/{}", "a-very-long-path/".repeat(20));
    dashboard.set_tea(&["Sencha costs 14 euros per 100 grams.", "Matcha is new: תה ירוק", rest[1], &long]);
    dashboard.run_monitor(&monitor).await;
}

async fn check_variant(width: u32, dark: bool) {
    let settings = [
        ("WEBSVC__LLM__BASE_URL", MODEL),
        ("WEBSVC__LLM__MODEL", "tiny"),
        ("WEBSVC__BROWSER__CONCURRENCY", "1"),
        ("WEBSVC__AUTH__OAUTH__ENABLED", "true"),
        ("WEBSVC__SERVER__PUBLIC_URL", "http://127.0.0.1:3002"),
    ];
    let Some(dashboard) = start_with(&settings).await else { return };
    let Some(axe) = path_or_skip("WEBSVC_TEST_AXE") else { return };
    add_content(&dashboard).await;
    add_feedback(&dashboard).await;
    add_monitors(&dashboard).await;
    dashboard.create_session().await;
    agents::add_runs(&dashboard).await;
    check(&dashboard, &std::fs::read_to_string(axe).unwrap(), width, dark).await;
}

#[tokio::test]
async fn wide_light_pages_are_accessible() {
    check_variant(1280, false).await;
}

#[tokio::test]
async fn wide_dark_pages_are_accessible() {
    if is_left_to_proof() {
        return;
    }
    check_variant(1280, true).await;
}

#[tokio::test]
async fn narrow_light_pages_are_accessible_and_fit_the_window() {
    if is_left_to_proof() {
        return;
    }
    check_variant(360, false).await;
}

#[tokio::test]
async fn narrow_dark_pages_are_accessible_and_fit_the_window() {
    check_variant(360, true).await;
}

/// Returns whether the gate leaves a test out, because others check the same width and the same scheme.
fn is_left_to_proof() -> bool {
    if !is_proof() {
        skip("cargo xtask proof runs it");
    }
    !is_proof()
}

async fn check_reference(width: u32, dark: bool) {
    let Some(dashboard) = start_with(&[]).await else { return };
    let Some(axe) = path_or_skip("WEBSVC_TEST_AXE") else { return };
    let axe = std::fs::read_to_string(axe).unwrap();
    let steps = vec![
        script(format!("{axe}; 0")),
        script(TOOLS),
        script(format!("globalThis.dark = {dark}; globalThis.onlyAtTheEnd = {}; 0", !is_proof())),
        script(REFERENCE),
    ];
    let rendered = dashboard.open_with_width(width, "/docs", steps).await;
    assert_eq!(rendered.returns.last().unwrap().value, json!([]), "{width} {dark}");
}

#[tokio::test]
async fn wide_light_api_reference_is_accessible() {
    if is_left_to_proof() {
        return;
    }
    check_reference(1280, false).await;
}

#[tokio::test]
async fn narrow_dark_api_reference_is_accessible() {
    check_reference(360, true).await;
}
