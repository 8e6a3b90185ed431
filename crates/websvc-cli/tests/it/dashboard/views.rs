//! Tests of single views: the form of the playground in the URL, results below the window, relative times, the colors of the
//! usage, and the state of a service that does not respond.

use serde_json::{Value, json};
use websvc_browser::Step;

use super::{DashboardTest, start};

/// Signs in on a page, runs a script there, and returns its value.
async fn run_at(dashboard: &DashboardTest, width: u32, path: &str, script: &str) -> Value {
    let mut steps = DashboardTest::sign_in(&dashboard.key);
    steps.push(Step::WaitFor("nav a".to_owned()));
    steps.push(Step::Script(format!("(async () => {{ {script} }})()")));
    let rendered = dashboard.open_with_width(width, path, steps).await;
    rendered.returns.last().unwrap().value.clone()
}

#[tokio::test]
async fn playground_keeps_its_form_in_the_url_and_searches_only_when_asked() {
    let Some(dashboard) = start().await else { return };
    let hash = dashboard
        .run_signed_in(
            r#"
            const query = await until("the form", () => document.querySelector("input[type=search]"));
            query.value = "brewing \"tea/%\"";
            labelled("Limit").value = "7";
            document.querySelector("fieldset input[value=markdown]").click();
            labelled("country").value = "DE";
            query.form.requestSubmit();
            await until("the response", () => document.querySelector("[aria-label=Response] h2"));
            return location.hash;
            "#,
        )
        .await;
    let path = format!("/{}", hash.as_str().unwrap());
    let found = run_at(
        &dashboard,
        1200,
        &path,
        r#"
        const query = await until("the form", () => document.querySelector("input[type=search]"));
        return { query: query.value, limit: labelled("Limit").value, country: labelled("country").value,
          markdown: document.querySelector("fieldset input[value=markdown]").checked, html: document.querySelector("fieldset input[value=html]").checked,
          results: document.querySelectorAll(".result").length };
        "#,
    )
    .await;
    let expected = json!({ "query": "brewing \"tea/%\"", "limit": "7", "country": "DE", "markdown": true, "html": false, "results": 0 });
    assert_eq!(found, expected);
    for damaged in ["%7B", "null", "%5B1%5D", "%E0%A4%A"] {
        let script =
            r#"return (await until("the form", () => document.querySelector("input[type=search]"))).value;"#;
        let found = run_at(&dashboard, 1200, &format!("/#/playground/{damaged}"), script).await;
        assert_eq!(found, json!(""), "{damaged}");
    }
}

#[tokio::test]
async fn results_below_the_window_are_shown_and_announced() {
    let Some(dashboard) = start().await else { return };
    let script = r#"
        const query = await until("the form", () => document.querySelector("input[type=search]"));
        query.value = "brewing";
        const wasVisible = document.querySelector("[aria-label=Response]").getBoundingClientRect().top < innerHeight * 0.7;
        query.form.requestSubmit();
        const result = await until("a result", () => document.querySelector(".result"));
        return { wasVisible, isVisible: result.getBoundingClientRect().top < innerHeight, focus: document.activeElement.getAttribute("aria-label") ?? "query", status: statusText() };
        "#;
    for (width, was_visible, focus) in [(1200, true, "query"), (360, false, "Response")] {
        let found = run_at(&dashboard, width, "/", script).await;
        assert_eq!(
            (&found["wasVisible"], &found["isVisible"], &found["focus"]),
            (&json!(was_visible), &json!(true), &json!(focus)),
            "{width}: {found}"
        );
        assert!(found["status"].as_str().unwrap().starts_with("1 result in "), "{found}");
    }
}

#[tokio::test]
async fn relative_times_are_days_only_from_two_days_on() {
    let Some(dashboard) = start().await else { return };
    let found = dashboard
        .run_signed_in(
            r#"
            const { formatRelative } = await import("/dashboard/files/monitor_text.js");
            const now = Date.now();
            Date.now = () => now;
            const hour = 3600;
            return [0, 30, 90, 0.9 * hour, 23 * hour, 30 * hour, 47 * hour, 48 * hour, 65 * hour, -47 * hour, -60].map((seconds) => formatRelative(now + seconds * 1000));
            "#,
        )
        .await;
    let expected = [
        "now",
        "in 30 seconds",
        "in 2 minutes",
        "in 54 minutes",
        "in 23 hours",
        "in 30 hours",
        "in 47 hours",
        "in 2 days",
        "in 3 days",
        "47 hours ago",
        "1 minute ago",
    ];
    assert_eq!(found, json!(expected));
}

#[tokio::test]
async fn color_of_an_operation_does_not_depend_on_the_others() {
    let Some(dashboard) = start().await else { return };
    let found = dashboard
        .run_signed_in(
            r#"
            const send = fetch;
            const legends = [];
            for (const operations of [["monitor"], ["agent", "monitor", "scrape"], ["search", "scrape", "map", "crawl", "batch", "parse", "monitor", "agent", "extract", "browser", "recovered"]]) {
              const day = new Date().toISOString().slice(0, 10);
              const days = operations.map((operation) => ({ day, team: "default", operation, requests: 1, credits: 1 }));
              globalThis.fetch = (path, options) => path.startsWith("/dashboard/usage") ? Promise.resolve(new Response(JSON.stringify({ teams: [], days }))) : send(path, options);
              await visit("system", "dl");
              await visit("usage", ".legend");
              const color = (element, property) => getComputedStyle(element)[property];
              const swatches = [...document.querySelectorAll(".legend li")].map((item) => [item.textContent, color(item.firstChild, "backgroundColor")]);
              const bars = [...document.querySelectorAll(".chart rect")].filter((bar) => bar.getAttribute("height") > 0).map((bar) => color(bar, "fill"));
              legends.push({ swatches, bars });
            }
            return legends;
            "#,
        )
        .await;
    let legends: Vec<Vec<(String, String)>> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|legend| serde_json::from_value(legend["swatches"].clone()).unwrap())
        .collect();
    let (all, bars) = (legends.last().unwrap(), &found[2]["bars"]);
    let colors: std::collections::BTreeSet<&str> = all.iter().map(|(_, color)| color.as_str()).collect();
    assert_eq!((all.len(), colors.len()), (11, 11), "{found}");
    assert_eq!(json!(all.iter().map(|(_, color)| color).collect::<Vec<_>>()), *bars);
    for legend in &legends {
        assert!(legend.iter().all(|entry| all.contains(entry)), "{found}");
    }
}

#[tokio::test]
async fn system_does_not_stay_green_while_the_service_is_down() {
    let Some(dashboard) = start().await else { return };
    let found = dashboard
        .run_signed_in(
            r#"
            const state = () => document.querySelector(".metrics .badge");
            await visit("system", ".metrics .badge");
            const before = state().textContent;
            const green = getComputedStyle(state()).color;
            const send = fetch;
            globalThis.fetch = (path, options) => path === "/dashboard/system" ? Promise.reject(new TypeError("down")) : send(path, options);
            await until("the unknown state", () => state().textContent === "unknown");
            const during = [state().className, document.querySelector(".metrics").textContent.includes("no response since"),
              [...document.querySelectorAll(".badge")].filter((element) => getComputedStyle(element).color === green).length];
            globalThis.fetch = send;
            await until("the state", () => state().textContent === before);
            return { during, isGreenAgain: getComputedStyle(state()).color === green };
            "#,
        )
        .await;
    assert_eq!(found, json!({ "during": ["badge bad", true, 0], "isGreenAgain": true }));
}
