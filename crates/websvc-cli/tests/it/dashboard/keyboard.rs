//! Tests of the dashboard with the keyboard alone: sign in, search, create and revoke a key, sign out.

use serde_json::{Value, json};
use websvc_browser::Step;

use super::{DashboardTest, TOOLS, agents, start, start_with, start_with_pages};

/// A script that returns the label of the focused element, with a note if the focus is not visible.
const FOCUS: &str = r#"(() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const isVisible = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  return `${element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent}${isVisible ? "" : " (focus not visible)"}`.trim();
})()"#;

fn press(key: &str) -> Step {
    Step::Press(key.to_owned())
}

fn write(text: &str) -> Step {
    Step::Write(text.to_owned())
}

fn wait(selector: &str) -> Step {
    Step::WaitFor(selector.to_owned())
}

fn script(text: &str) -> Step {
    Step::Script(text.to_owned())
}

/// Presses a key several times, and records the focus each time.
fn press_and_record(key: &str, times: usize) -> Vec<Step> {
    (0..times).flat_map(|_| [press(key), script(FOCUS)]).collect()
}

#[tokio::test]
async fn keyboard_alone_operates_the_dashboard_with_visible_focus() {
    let Some(dashboard) = start().await else { return };
    // The key field has the focus from the start.
    let mut steps = vec![wait("input[type=password]"), write(&dashboard.key), press("Enter")];
    steps.extend([
        script(TOOLS),
        wait("input[type=search]"),
        script("until('the focus', () => document.activeElement.type === 'search')"),
    ]);
    steps.extend([write("brewing"), press("Enter"), wait(".result")]);
    steps.extend(press_and_record("Shift+Tab", 4));
    steps.extend([press("Enter"), wait("input[value=index]")]);
    steps.extend(press_and_record("Tab", 2));
    steps.extend([write("by keyboard"), press("Enter"), wait(".secret")]);
    steps.extend(press_and_record("Tab", 18));
    steps.extend([press("Enter"), wait("dialog[open]"), script(FOCUS)]);
    // Escape closes the dialog, and the focus returns to the button.
    steps.extend([
        press("Escape"),
        script("until('the end of the dialog', () => !document.querySelector('dialog'))"),
    ]);
    steps.push(script(FOCUS));
    steps.extend([press("Enter"), wait("dialog[open]")]);
    steps.extend(press_and_record("Tab", 1));
    steps.extend([press("Enter"), script("until('the status', () => statusText().includes('was revoked'))")]);
    steps.push(script("document.activeElement.id"));
    let rendered = dashboard.open("/", steps).await;
    let focused: Vec<String> = rendered
        .returns
        .iter()
        .filter_map(|returned| returned.value.as_str())
        .map(|text| text.split(" fc-").next().unwrap_or(text).to_owned())
        .collect();
    let listed: Value = serde_json::from_str(&dashboard.site.succeed(&["keys", "list", "--json"])).unwrap();
    let key_named = |name: &str| {
        let found = listed.as_array().unwrap().iter().find(|key| key["name"] == json!(name)).unwrap();
        (found["id"].as_str().unwrap().to_owned(), found["state"].clone())
    };
    let ((created, state), (admin, _)) = (key_named("by keyboard"), key_named(""));
    assert_eq!(state, json!("revoked"));
    let (revoke_created, revoke_admin) = (format!("Revoke {created}"), format!("Revoke {admin}"));
    let expected = [
        "Sign out",
        "System",
        "Teams",
        "Keys",
        "Team",
        "Name",
        "Expires",
        "Requests per minute",
        "For",
        "search",
        "scrape",
        "map",
        "batch",
        "crawl",
        "monitor",
        "interact",
        "agent",
        "index",
        "Administrator",
        "Create",
        "Copy key",
        "Keys",
        &revoke_admin,
        &revoke_created,
        "Cancel",
        &revoke_created,
        "Revoke",
        "main",
    ];
    assert_eq!(focused, expected);
}

#[tokio::test]
async fn keyboard_alone_operates_monitors_with_visible_focus() {
    let Some(dashboard) = start().await else { return };
    dashboard.set_tea(&["Sencha costs 12 euros."]);
    let monitor = dashboard.create_monitor(json!({})).await;
    dashboard.run_monitor(&monitor).await;
    dashboard.set_tea(&["Sencha costs 14 euros."]);
    dashboard.run_monitor(&monitor).await;
    let mut steps = vec![wait("input[type=password]"), write(&dashboard.key), press("Enter")];
    steps.extend([
        script(TOOLS),
        wait("input[type=search]"),
        script("until('the focus', () => document.activeElement.type === 'search')"),
    ]);
    steps.extend(press_and_record("Shift+Tab", 10));
    steps.extend([press("Enter"), wait("a.name")]);
    steps.extend(press_and_record("Tab", 5));
    // The focus stays on the button that now does the opposite.
    steps.extend([press("Enter"), script("until('the pause', () => statusText().includes('was paused'))")]);
    steps.push(script(FOCUS));
    steps.extend([
        press("Enter"),
        script("until('the end of the pause', () => statusText().includes('was resumed'))"),
    ]);
    steps.push(script(FOCUS));
    steps.extend(press_and_record("Tab", 2));
    steps.extend([press("Enter"), wait("dialog[open]"), script(FOCUS), press("Escape")]);
    steps.push(script("until('the end of the dialog', () => !document.querySelector('dialog'))"));
    steps.extend(press_and_record("Shift+Tab", 4));
    steps.extend([press("Enter"), wait("[aria-label=Checks] td a")]);
    steps.extend(press_and_record("Tab", 6));
    // The next one is the link of the last check, which is named by its time.
    steps.extend([press("Tab"), press("Enter"), wait(".diff")]);
    steps.extend(press_and_record("Tab", 4));
    steps.extend([press("ArrowRight"), wait(".diff.side")]);
    steps.extend(press_and_record("Tab", 1));
    let rendered = dashboard.open("/", steps).await;
    let focused: Vec<&str> = rendered
        .returns
        .iter()
        .filter_map(|returned| returned.value.as_str())
        .map(|text| text.split(" (1)").next().unwrap())
        .collect();
    let expected = [
        ["Sign out", "System", "Teams", "Keys", "Feedback", "Requests", "Usage", "Sessions"].as_slice(),
        &["Agents", "Monitors"],
        &["New monitor", "Monitors", "Tea", "Run now Tea", "Pause Tea"],
        &["Resume Tea", "Pause Tea", "Edit Tea", "Delete Tea", "Cancel"],
        &["Edit Tea", "Pause Tea", "Run now Tea", "Tea"],
        &["Monitors", "Run now Tea", "Pause Tea", "Edit Tea", "Delete Tea", "History of the checks"],
        &["Monitors", "Tea", "Status", "Inline", "changed http://shop.test/tea"],
    ];
    assert_eq!(focused, expected.concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn keyboard_alone_watches_and_ends_a_session() {
    let Some(dashboard) = start_with_pages(1).await else { return };
    let id = dashboard.create_session().await;
    let name = &id[id.len() - 12..];
    let mut steps = DashboardTest::sign_in(&dashboard.key);
    steps.extend([
        wait("input[type=search]"),
        script(
            "visit('sessions', 'a.name').then(() => document.querySelector('nav [aria-current]').focus())",
        ),
    ]);
    steps.extend(press_and_record("Shift+Tab", 1));
    steps.push(script("document.querySelector('a.name').focus()"));
    steps.extend([
        script(FOCUS),
        press("Enter"),
        wait("iframe"),
        script("until('the focus', () => document.activeElement.id === 'main')"),
    ]);
    steps.extend(press_and_record("Tab", 3));
    steps.extend([press("Enter"), script("until('the status', () => statusText().includes('You control'))")]);
    steps.extend(press_and_record("Shift+Tab", 1));
    steps.extend([press("Enter"), wait("dialog[open]"), script(FOCUS)]);
    steps.extend(press_and_record("Tab", 1));
    steps.extend([press("Enter"), script("until('the end', () => statusText().includes('was ended'))")]);
    let rendered = dashboard.open("/", steps).await;
    let focused: Vec<&str> = rendered.returns.iter().filter_map(|returned| returned.value.as_str()).collect();
    let end = format!("End {name}");
    let expected = ["Agents", name, "Sessions", &end, "Use mouse and keyboard", &end, "Cancel", "End"];
    assert_eq!(focused, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn keyboard_alone_starts_and_cancels_a_run() {
    let Some(dashboard) = start_with(&agents::SETTINGS).await else { return };
    let mut steps = DashboardTest::sign_in(&dashboard.key);
    steps.extend([wait("input[type=search]"), script("visit('agents', '.empty').then(() => 0)")]);
    steps.push(script("document.querySelector('nav [aria-current]').focus()"));
    steps.extend([script(FOCUS), script("document.querySelector('a.button.main').focus()")]);
    // The form begins with the focus on the task.
    steps.extend([press("Enter"), wait("textarea"), script(FOCUS), write(agents::WAITING_TASK)]);
    steps.extend(press_and_record("Tab", 1));
    steps.push(write("http://tea.test/"));
    steps.extend(press_and_record("Tab", 6));
    steps.extend([
        press("Enter"),
        wait("ol.trace"),
        script(
            "until('the data', () => /9/.test(document.querySelector('[aria-label=Data] pre')?.textContent))",
        ),
    ]);
    steps.push(script("document.querySelector('.breadcrumb a').focus()"));
    steps.extend(press_and_record("Tab", 1));
    steps.extend([press("Enter"), wait("dialog[open]"), script(FOCUS)]);
    steps.extend(press_and_record("Tab", 1));
    steps.extend([
        press("Enter"),
        script("until('the status', () => statusText().includes('was cancelled'))"),
    ]);
    steps.push(script(
        "until('the end', () => /cancelled/.test(document.querySelector('.metrics').textContent))",
    ));
    let rendered = dashboard.open("/", steps).await;
    let focused: Vec<&str> = rendered.returns.iter().filter_map(|returned| returned.value.as_str()).collect();
    let runs = dashboard.service.get("/v2/agent").await.body;
    let id = runs["agents"][0]["id"].as_str().unwrap();
    let cancel = format!("Cancel run {}", &id[id.len() - 12..]);
    let expected = [
        "Agents",
        "Task",
        "Start pages",
        "Read only these pages",
        "JSON Schema of the data",
        "Maximum of credits",
        "Effort",
        "Act on pages in a browser",
        "Start",
        &cancel,
        "Keep it running",
        "Cancel the run",
    ];
    assert_eq!(focused, expected);
}

#[tokio::test]
async fn skip_link_works_and_sign_out_ends_the_session() {
    let Some(dashboard) = start().await else { return };
    let mut steps = DashboardTest::sign_in(&dashboard.key);
    steps.extend([wait("input[type=search]"), script("document.activeElement.blur(); scrollTo(0, 0)")]);
    steps.extend([script("document.querySelector('.skip').focus()"), script(FOCUS), press("Enter")]);
    steps.push(script("until('the content', () => document.activeElement.id === 'main')"));
    steps.extend(press_and_record("Shift+Tab", 1));
    steps.extend([press("Enter"), wait("input[type=password]")]);
    steps.push(script("(async () => (await fetch('/dashboard/keys')).status)()"));
    let rendered = dashboard.open("/", steps).await;
    let focused: Vec<&Value> = rendered
        .returns
        .iter()
        .map(|returned| &returned.value)
        .filter(|value| value.is_string() || value.is_number())
        .collect();
    assert_eq!(focused, [&json!("Skip to the content"), &json!("Sign out"), &json!(401)]);
}
