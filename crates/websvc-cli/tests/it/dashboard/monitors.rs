//! Tests of the pages of monitors: the form, the list, the history, and the changes that a check found.

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page};

use super::{DashboardTest, MODEL, SCRIPT, start, start_with};
use crate::harness::assert_fields;
use crate::monitors::wait_for_end;

/// The page that the monitors of the tests check.
pub(super) const TEA: &str = "http://shop.test/tea";

/// Functions for the scripts of the tests: to open a monitor by its name, and to run it.
const TOOLS: &str = r#"
const open = async (name) => {
  await visit("monitors", "a.name");
  [...document.querySelectorAll("a.name")].find((element) => element.textContent === name).click();
  await heading(name);
  await until("the history", () => document.querySelector("section[aria-label=Checks] h2"));
};
const rows = () => [...document.querySelectorAll("section[aria-label=Checks] tbody tr")];
const run = async () => {
  const count = rows().length;
  button("Run now").click();
  await until("the end of the check", () => rows().length === count + 1 && /completed|partial|failed/.test(rows()[0].textContent));
};
const openCheck = async () => { rows()[0].querySelector("a").click(); await until("the changes", () => document.querySelector(".diff, details[open] table")); };
const texts = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent);
"#;

/// Returns the response of a model that reads the price on the page.
pub(super) fn extracted_price(request: &Value) -> Page {
    let text = request.to_string();
    let price = text.split("costs ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
    match price {
        Some(price) => FakeModel::json(&json!({ "price": price, "<b>name</b>": "Sencha" })),
        None => FakeModel::bad_request("the page has no price"),
    }
}

/// Returns a page with these lines, which are HTML.
fn tea_page(lines: &[&str]) -> String {
    let lines: String = lines.iter().map(|line| format!("<p>{line}</p>\n")).collect();
    format!("<title>Tea</title><main><h1>Tea</h1>{lines}</main>")
}

impl DashboardTest {
    pub(super) fn set_tea(&self, lines: &[&str]) {
        *self.tea.lock().unwrap() = tea_page(lines);
    }

    /// Creates a monitor of the page, and returns its path.
    pub(super) async fn create_monitor(&self, fields: Value) -> String {
        let mut monitor = json!({
            "name": "Tea",
            "schedule": { "cron": "0 9 * * *" },
            "targets": [{ "type": "scrape", "urls": [TEA] }],
        });
        for (name, value) in fields.as_object().unwrap() {
            monitor[name] = value.clone();
        }
        let created = self.service.post("/v2/monitor", monitor.to_string()).await;
        assert_eq!(created.status, 200, "{}", created.body);
        format!("/v2/monitor/{}", created.body["data"]["id"].as_str().unwrap())
    }

    /// Runs a check of a monitor.
    pub(super) async fn run_monitor(&self, monitor: &str) {
        let started = self.service.post(&format!("{monitor}/run"), "").await;
        assert_eq!(started.status, 200, "{}", started.body);
        let check = format!("{monitor}/checks/{}", started.body["id"].as_str().unwrap());
        wait_for_end(&self.service, &check).await;
    }
}

#[tokio::test]
async fn monitor_is_created_run_paused_resumed_and_deleted() {
    let Some(dashboard) = start().await else { return };
    dashboard.set_tea(&["Sencha costs 12 euros.", "Rooibos costs 5 euros."]);
    let created = dashboard
        .run_signed_in(&format!(
            r##"{TOOLS}
            await visit("monitors", ".empty");
            document.querySelector("a.button.main").click();
            await heading("New monitor");
            fill(labelled("Name"), "<b>Tea prices</b>");
            fill(labelled("URLs"), "{TEA}");
            fill(labelled("Schedule"), "every 7 minutes");
            const error = await until("the error", () => labelled("Schedule").getAttribute("aria-invalid") && document.querySelector(".field-error").textContent);
            fill(labelled("Schedule"), "every 12 hours");
            fill(labelled("Time zone"), "Europe/Berlin");
            fill(labelled("Goal"), "Tell me when the price of Sencha changes.");
            const live = await until("the next runs", () => /Berlin/.test(document.querySelector(".live").textContent) && [...document.querySelector(".live").children].map((element) => element.textContent));
            const estimate = await until("the estimate", () => /About/.test(document.querySelector(".estimate").textContent) && document.querySelector(".estimate").textContent);
            document.querySelector("form").requestSubmit();
            await heading("<b>Tea prices</b>");
            const status = statusText();
            await run();
            return {{ error, live, estimate, status, row: rows()[0].textContent, bold: document.querySelectorAll("main b").length, settings: document.querySelector("[aria-label=Settings]").textContent }};
            "##
        ))
        .await;
    assert!(created["error"].as_str().unwrap().contains("7 must divide the 60 minutes"), "{created}");
    let live = created["live"].as_array().unwrap();
    assert_eq!((&live[0], live.len()), (&json!("Every 12 hours (Europe/Berlin)"), 5), "{created}");
    assert_eq!(created["estimate"], json!("About 60 credits in 30 days, 1 for each check."));
    assert_eq!(created["status"], json!("Monitor <b>Tea prices</b> was created"));
    assert!(created["row"].as_str().unwrap().contains("1 new") && created["bold"] == json!(0), "{created}");
    let settings = created["settings"].as_str().unwrap();
    for part in [TEA, "0 */12 * * *", "Tell me when the price", "Atom feed", "30 days"] {
        assert!(settings.contains(part), "{part}: {settings}");
    }
    let ended = dashboard
        .run_signed_in(&format!(
            r##"{TOOLS}
            await open("<b>Tea prices</b>");
            button("Pause").click();
            await until("the pause", () => statusText().includes("was paused"));
            const paused = {{ run: Boolean(button("Run now")), metrics: document.querySelector(".metrics").textContent }};
            await visit("monitors", "a.name");
            const row = document.querySelector("tbody tr");
            const listed = [...row.querySelectorAll("td")].map((cell) => cell.textContent);
            button("Resume", row).click();
            await until("the resumption", () => statusText().includes("was resumed") && button("Run now"));
            const next = document.querySelector("tbody time").textContent;
            button("Delete").click();
            const dialog = await until("the dialog", () => document.querySelector("dialog[open]"));
            button("Cancel", dialog).click();
            button("Delete").click();
            button("Delete", await until("the dialog", () => document.querySelector("dialog[open]"))).click();
            await until("the deletion", () => statusText().includes("was deleted") && document.querySelector(".empty"));
            return {{ paused, listed, next }};
            "##
        ))
        .await;
    let paused = &ended["paused"];
    assert_eq!(paused["run"], json!(false), "{ended}");
    assert!(paused["metrics"].as_str().unwrap().contains("the monitor is paused"), "{ended}");
    let listed = ended["listed"].as_array().unwrap();
    assert_eq!(listed[..4], ["<b>Tea prices</b>", TEA, "Every 12 hours (Europe/Berlin)", "-"], "{ended}");
    assert!(listed[4].as_str().unwrap().starts_with("1 new") && listed[5] == "paused", "{ended}");
    assert!(ended["next"].as_str().unwrap().starts_with("in "), "{ended}");
    assert_eq!(dashboard.service.get("/v2/monitor").await.body["data"], json!([]));
}

#[tokio::test]
async fn changes_are_shown_inline_and_side_by_side_without_running_hostile_text() {
    let Some(dashboard) = start().await else { return };
    dashboard.set_tea(&["Sencha costs 12 euros.", "Rooibos costs 5 euros."]);
    let monitor = dashboard.create_monitor(json!({ "goal": "Prices of teas" })).await;
    dashboard.run_monitor(&monitor).await;
    let image = format!("Sencha costs 14 euros &lt;img src=x onerror={SCRIPT}&gt; now.");
    let link = format!("<a href=\"javascript:{SCRIPT}\">Order</a> &lt;script&gt;{SCRIPT}&lt;/script&gt;");
    dashboard.set_tea(&[&image, "Rooibos costs 5 euros.", &link]);
    let found = dashboard
        .run_signed_in(&format!(
            r##"{TOOLS}
            await open("Tea");
            await run();
            await openCheck();
            const inline = {{ signs: texts(".diff .sign:not(:empty)"), removed: texts(".diff .text.removed"), added: texts(".diff .text.added"), del: texts(".diff del"), ins: texts(".diff ins"), numbers: texts(".diff .line") }};
            labelled("Status").value = "same";
            labelled("Status").dispatchEvent(new Event("change"));
            const none = await until("no page", () => document.querySelector(".pages .empty")?.textContent);
            labelled("Status").value = "";
            labelled("Status").dispatchEvent(new Event("change"));
            const summary = await until("the page", () => document.querySelector(".pages summary"));
            summary.click();
            await until("the changes", () => document.querySelector(".diff"));
            document.querySelectorAll("[name=diff-view]")[1].click();
            const side = {{ isSide: document.querySelectorAll(".diff.side").length, pairs: [...document.querySelectorAll(".diff.side tr")].map((row) => row.cells).filter((cells) => cells[1]?.className.includes("removed")).map((cells) => [cells[1].textContent, cells[3].textContent]) }};
            return {{ inline, none, side, judgment: document.querySelector(".judgment").textContent, stolen: window.stolen ?? null,
              active: document.querySelectorAll("main script, main img, main [href^='javascript:' i]").length, page: document.querySelector(".page .properties a").href }};
            "##
        ))
        .await;
    let inline = &found["inline"];
    assert_eq!(inline["removed"], json!(["Sencha costs 12 euros."]), "{found}");
    let added = inline["added"].as_array().unwrap();
    assert!(added[0].as_str().unwrap().contains("<img src=x onerror="), "{found}");
    assert!(added.iter().any(|line| line.as_str().unwrap().contains("<script>")), "{found}");
    assert_eq!(inline["del"], json!(["12"]), "{found}");
    assert_eq!(inline["ins"][0], json!("14"), "{found}");
    assert_eq!(inline["signs"].as_array().unwrap()[..2], ["-", "+"], "{found}");
    assert_eq!(inline["numbers"].as_array().unwrap()[..2], ["1", "1"], "{found}");
    assert_eq!(found["none"], json!("No page has the status same."));
    assert_eq!(found["side"]["isSide"], json!(1));
    let pair = &found["side"]["pairs"][0];
    assert_eq!(pair[0], json!("- Sencha costs 12 euros."), "{found}");
    assert!(pair[1].as_str().unwrap().starts_with("+ Sencha costs 14 euros"), "{found}");
    assert!(found["judgment"].as_str().unwrap().contains("were not judged"), "{found}");
    assert_eq!((&found["stolen"], &found["active"]), (&Value::Null, &json!(0)), "{found}");
    assert_eq!(found["page"], json!(TEA));
}

#[tokio::test]
async fn diff_lines_have_numbers_and_changed_words() {
    let Some(dashboard) = start().await else { return };
    let found = dashboard
        .run_signed_in(
            r##"
            const { compareWords, parseDiff } = await import("/dashboard/files/diff.js");
            const [hunk, other] = parseDiff("--- previous.md\n+++ current.md\n@@ -7,3 +9,3 @@\n @@ -1,1 +1,1 @@\n--- old\n+++ new\n+\n\\ No newline at end of file\n@@ -20,1 +22,0 @@\n-last\n");
            const marked = (before, after) => { const words = compareWords(before, after); return words && [words.before, words.after].map((parts) => parts.map(({ text, changed }) => (changed ? `[${text}]` : text)).join("")); };
            return { hunk, other, words: [
              marked("Sencha costs 12 euros", "Sencha costs 14 euros now"),
              marked("a cup of red and green tea", "a cup of blue black tea"),
              marked("one", "entirely different words"),
              marked("same", "same"),
              marked(`x ${"a ".repeat(1000)}`, `x ${"b ".repeat(1000)}`),
              marked("x".repeat(3001), "x"),
            ] };
            "##,
        )
        .await;
    let context =
        json!({ "kind": "context", "lines": [{ "before": 7, "after": 9, "text": "@@ -1,1 +1,1 @@" }] });
    let added = json!([{ "number": 10, "text": "++ new" }, { "number": 11, "text": "" }]);
    let change = json!({ "kind": "change", "removed": [{ "number": 8, "text": "-- old" }], "added": added });
    assert_eq!(found["hunk"], json!({ "header": "@@ -7,3 +9,3 @@", "blocks": [context, change] }));
    assert_eq!(found["other"]["blocks"][0]["removed"], json!([{ "number": 20, "text": "last" }]), "{found}");
    let words = found["words"].as_array().unwrap();
    assert_eq!(words[0], json!(["Sencha costs [12] euros", "Sencha costs [14] euros[ now]"]));
    assert_eq!(words[1], json!(["a cup of [red and green] tea", "a cup of [blue black] tea"]));
    assert_eq!(words[3], json!(["same", "same"]));
    assert_eq!((&words[2], &words[4], &words[5]), (&Value::Null, &Value::Null, &Value::Null), "{found}");
}

#[tokio::test]
async fn large_diff_is_rendered_in_parts() {
    let Some(dashboard) = start().await else { return };
    dashboard.set_tea(&["A short page."]);
    let monitor = dashboard.create_monitor(json!({})).await;
    dashboard.run_monitor(&monitor).await;
    let lines: Vec<String> = (0..2000).map(|number| format!("Tea number {number}")).collect();
    let long = "verylongword".repeat(20_000);
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.insert(0, &long);
    dashboard.set_tea(&lines);
    dashboard.run_monitor(&monitor).await;
    let found = dashboard
        .run_signed_in(&format!(
            r##"{TOOLS}
            await open("Tea");
            await openCheck();
            const count = () => document.querySelectorAll(".diff tr").length;
            const [before, line, more] = [count(), document.querySelector(".diff .added button"), document.querySelector(".diff-view > button")];
            const [lineText, moreText] = [line.textContent, more.textContent];
            line.click();
            more.click();
            return {{ before, after: count(), lineText, moreText, longest: Math.max(...texts(".diff .added").map((text) => text.length)) }};
            "##
        ))
        .await;
    let count = |name: &str| found[name].as_u64().unwrap();
    assert!((300..500).contains(&count("before")), "{found}");
    assert_eq!(count("after"), count("before") + 400, "{found}");
    assert_eq!(found["lineText"], json!("Show all 240,000 characters"));
    assert!(found["moreText"].as_str().unwrap().starts_with("Show 400 of "), "{found}");
    assert_eq!(count("longest"), 240_000 + 1, "{found}");
}

#[tokio::test]
async fn extracted_data_is_compared_by_field_and_shown_as_a_table() {
    let model = [("WEBSVC__LLM__BASE_URL", MODEL), ("WEBSVC__LLM__MODEL", "tiny")];
    let Some(dashboard) = start_with(&model).await else { return };
    dashboard.set_tea(&["Sencha costs 12 euros."]);
    let create = dashboard
        .run_signed_in(&format!(
            r##"{TOOLS}
            location.hash = "#/monitors/new";
            await heading("New monitor");
            fill(labelled("Name"), "Data");
            fill(labelled("URLs"), "{TEA}");
            labelled("Compare").value = "data";
            labelled("Compare").dispatchEvent(new Event("change"));
            fill(labelled("Data to extract"), "The price");
            fill(labelled("JSON Schema of the data"), "{{");
            fill(labelled("Schedule"), "daily");
            document.querySelector("form").requestSubmit();
            const error = await until("the error", () => document.querySelector(".field-error")?.textContent);
            fill(labelled("JSON Schema of the data"), "");
            fill(labelled("More options as JSON"), '{{ "includeTags": ["p"] }}');
            document.querySelector("form").requestSubmit();
            const twice = await until("the second error", () => texts(".field-error").find((text) => text.includes("Only these elements")));
            fill(labelled("More options as JSON"), "");
            document.querySelector("form").requestSubmit();
            await heading("Data");
            await run();
            return {{ error, twice, row: rows()[0].textContent }};
            "##
        ))
        .await;
    assert!(create["error"].as_str().unwrap().contains("not valid JSON"), "{create}");
    assert!(create["twice"].as_str().unwrap().contains("includeTags"), "an option is not ignored: {create}");
    assert!(create["row"].as_str().unwrap().contains("1 new"), "{create}");
    dashboard.set_tea(&["Sencha costs 14 euros."]);
    let found = dashboard
        .run_signed_in(&format!(
            r##"{TOOLS}
            await open("Data");
            await run();
            await openCheck();
            const cells = texts(".page td");
            const data = document.querySelector(".page .data pre").textContent;
            location.hash = document.querySelectorAll(".breadcrumb a")[1].hash + "/edit";
            await heading("Edit Data");
            return {{ cells, data, choice: labelled("Compare").value, prompt: labelled("Data to extract").value, bold: document.querySelectorAll("main b").length }};
            "##
        ))
        .await;
    assert_eq!(found["cells"], json!(["price", "12", "14"]), "{found}");
    assert!(found["data"].as_str().unwrap().contains("<b>name</b>"), "{found}");
    assert_fields(&found, &json!({ "choice": "data", "prompt": "The price", "bold": 0 }));
}

#[tokio::test]
async fn violations_are_shown_at_their_fields_and_an_edit_keeps_other_options() {
    let Some(dashboard) = start().await else { return };
    let target = json!({
        "type": "scrape", "urls": [TEA],
        "scrapeOptions": { "mobile": true, "includeTags": ["main"], "formats": ["markdown", "links"] },
        "ignoreLines": ["^Views"],
        "conditions": [{ "contains": "euros", "within": "added" }, { "number": "costs \\d+", "below": 10.5 }],
    });
    let webhook = json!({
        "url": "http://shop.test/hook?token=hidden", "headers": { "x-shop": "tea" }, "statuses": ["changed"],
    });
    let channel =
        json!({ "url": "json://shop.test/in", "statuses": ["error"], "template": { "text": "{{title}}" } });
    let notification = json!({
        "slack": { "enabled": true, "webhookUrl": "http://shop.test/slack", "statuses": ["new"] },
        "channels": [channel],
    });
    let site = json!({ "type": "crawl", "url": "http://shop.test/", "crawlOptions": { "limit": 7, "sitemap": "skip" } });
    let monitor = dashboard
        .create_monitor(json!({
            "targets": [target, site], "webhook": webhook, "notification": notification, "retentionDays": 90,
        }))
        .await;
    let before = dashboard.service.get(&monitor).await.body["data"].clone();
    let found = dashboard
        .run_signed_in(&format!(
            r##"{TOOLS}
            await open("Tea");
            const settings = document.querySelector("[aria-label=Settings]").textContent;
            [...document.querySelectorAll("a.button")].find((element) => element.textContent === "Edit").click();
            await heading("Edit Tea");
            fill(labelled("Name"), "");
            fill(labelled("URLs"), "{TEA}\nftp://shop.test/");
            fill(labelled("Retention in days"), "400");
            fill(labelled("Email recipients"), "anna");
            document.querySelector("form").requestSubmit();
            await until("the errors", () => document.querySelector("#alert").textContent);
            const errorOf = (label) => {{ const input = labelled(label); return input.getAttribute("aria-invalid") && document.getElementById(input.getAttribute("aria-describedby").split(" ")[0]).textContent; }};
            const errors = ["Name", "URLs", "Retention in days", "Email recipients", "Start URL"].map(errorOf);
            const focus = document.activeElement === labelled("Name");
            fill(labelled("Name"), "Tea 2");
            fill(labelled("URLs"), "{TEA}");
            fill(labelled("Retention in days"), "90");
            fill(labelled("Email recipients"), "");
            document.querySelector("form").requestSubmit();
            await heading("Tea 2");
            return {{ settings, errors, focus, status: statusText() }};
            "##
        ))
        .await;
    let settings = found["settings"].as_str().unwrap();
    assert!(settings.contains("http://shop.test/hook") && !settings.contains("hidden"), "{settings}");
    let errors = found["errors"].as_array().unwrap();
    for (error, part) in errors.iter().zip(["name must not be empty", "ftp://shop.test/", "365", "anna"]) {
        assert!(error.as_str().is_some_and(|error| error.contains(part)), "{part}: {found}");
    }
    assert_eq!((&errors[4], &found["focus"]), (&Value::Null, &json!(true)), "{found}");
    assert_eq!(found["status"], json!("Monitor Tea 2 was changed"));
    let mut after = dashboard.service.get(&monitor).await.body["data"].clone();
    assert_eq!(after["name"], json!("Tea 2"));
    for field in ["name", "updatedAt"] {
        after[field] = before[field].clone();
    }
    assert_eq!(after, before);
}

#[tokio::test]
async fn conditions_and_channels_are_set_in_the_form() {
    let Some(dashboard) = start().await else { return };
    dashboard.set_tea(&["Sencha costs 12 euros."]);
    let found = dashboard
        .run_signed_in(&format!(
            r##"{TOOLS}
            location.hash = "#/monitors/new";
            await heading("New monitor");
            fill(labelled("Name"), "Rules");
            fill(labelled("URLs"), "{TEA}");
            fill(labelled("Schedule"), "daily");
            document.querySelector("summary + .field").closest("details").open = true;
            fill(labelled("Lines to ignore"), "^Views");
            button("Add condition").click();
            labelled("Condition").value = "number";
            labelled("Condition").dispatchEvent(new Event("change"));
            fill(labelled("Words, pattern or path"), "costs (");
            fill(labelled("Below"), "10");
            fill(labelled("Channels"), "json://shop.test/tea");
            button("Send a test to the channels").click();
            const tested = await until("the test", () => texts("[role=status] p").find((text) => text.startsWith("json:")));
            document.querySelector("form").requestSubmit();
            const error = await until("the error", () => document.querySelector(".field-error")?.textContent);
            fill(labelled("Words, pattern or path"), "costs \\d+");
            document.querySelector("form").requestSubmit();
            await heading("Rules");
            return {{ tested, error, settings: document.querySelector("[aria-label=Settings]").textContent }};
            "##
        ))
        .await;
    assert!(found["error"].as_str().unwrap().contains("not a regular expression"), "{found}");
    assert_eq!(found["tested"], json!("json: the test message was accepted"));
    let stored = dashboard.service.get("/v2/monitor").await.body["data"][0].clone();
    assert_eq!(stored["targets"][0]["ignoreLines"], json!(["^Views"]));
    assert_eq!(stored["targets"][0]["conditions"], json!([{ "number": "costs \\d+", "below": 10.0 }]));
    assert_eq!(stored["notification"]["channels"], json!([{ "url": "json://shop.test/tea" }]));
    assert!(found["settings"].as_str().unwrap().contains("json"), "{found}");
}
