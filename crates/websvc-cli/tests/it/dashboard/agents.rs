//! Tests of the pages of agent runs: the form, the list, and a run with its steps, data and sources.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page};

use super::{DashboardTest, MODEL, SCRIPT, monitors, start, start_with};
use crate::agent::wait_for_end;

/// The settings of a service with agent runs.
pub(super) const SETTINGS: [(&str, &str); 2] =
    [("WEBSVC__LLM__BASE_URL", MODEL), ("WEBSVC__LLM__MODEL", "tiny")];

/// A task whose run collects data, and then waits until it is cancelled.
pub(super) const WAITING_TASK: &str = "Wait for tea";

/// The page that the runs read. Its title and text contain markup.
const TEA: &str = "http://tea.test/";

/// Plays the model of agent runs, and otherwise that of monitors.
pub(super) fn respond(body: &Value) -> Page {
    let text = FakeModel::prompt_text(body);
    let data = json!({ "water": "eighty degrees", "tea": 9 });
    let Some((_, rest)) = text.split_once("## Step\nStep ") else {
        let is_run = text.contains("## Collect") || text.contains("## Answer");
        return if is_run { FakeModel::json(&data) } else { monitors::extracted_price(body) };
    };
    let is_first = rest.starts_with("1 ");
    let decision = json!({
        "why": format!("<img src=x onerror={SCRIPT}> It is next."),
        "action": if is_first { "collect" } else { "done" }, "ref": if is_first { "p1" } else { "" }, "text": "",
    });
    let is_waiting = !is_first && text.contains(&format!("## Task\n{WAITING_TASK}"));
    let answer = FakeModel::json(&decision);
    if is_waiting { answer.delay(Duration::from_secs(600)) } else { answer }
}

impl DashboardTest {
    /// Starts a run with these fields, and returns its path.
    async fn start_agent(&self, fields: Value) -> String {
        let started = self.service.post("/v2/agent", fields.to_string()).await;
        assert_eq!(started.status, 200, "{}", started.body);
        format!("/v2/agent/{}", started.body["id"].as_str().unwrap())
    }
}

/// Adds a run that failed, and then one with data, whose texts are markup, long or from right to left.
pub(super) async fn add_runs(dashboard: &DashboardTest) {
    let long = format!("תה ירוק <script>{SCRIPT}</script> {}", "very-long-word-".repeat(40));
    let schema =
        json!({ "type": "object", "properties": { "water": { "type": "string", "description": long } } });
    for credits in [2, 50] {
        let fields = json!({ "prompt": long, "urls": [TEA], "schema": schema, "maxCredits": credits });
        let path = dashboard.start_agent(fields).await;
        wait_for_end(&dashboard.service, &path).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_is_started_and_shows_its_steps_data_and_sources_as_text() {
    let Some(dashboard) = start_with(&SETTINGS).await else { return };
    let found = dashboard
        .run_signed_in(&format!(
            r##"
            await visit("agents", ".empty");
            document.querySelector("a.button.main").click();
            await heading("New run");
            fill(labelled("Task"), "How long is tea brewed? <img src=x onerror={SCRIPT}>");
            fill(labelled("Start pages"), "{TEA}\n\n");
            fill(labelled("JSON Schema of the data"), "[1");
            button("Start").click();
            await until("the error", () => document.querySelector(".field-error")?.textContent);
            const invalid = document.querySelector("[aria-invalid=true]").id === labelled("JSON Schema of the data").id;
            fill(labelled("JSON Schema of the data"), JSON.stringify({{ type: "object", properties: {{ water: {{ type: "string" }}, tea: {{ type: "integer" }} }} }}));
            fill(labelled("Maximum of credits"), "50");
            button("Start").click();
            await until("the end", () => /completed/.test(document.querySelector(".metrics")?.textContent));
            await until("the sources", () => document.querySelector("[aria-label=Sources] table"));
            const steps = [...document.querySelectorAll(".trace li")].map((item) => item.lastChild.textContent);
            const shown = {{
                invalid, steps, heading: document.querySelector("h1").textContent,
                data: JSON.parse(document.querySelector("[aria-label=Data] pre").textContent),
                sources: [...document.querySelectorAll("[aria-label=Sources] tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent)),
                task: document.querySelector("[aria-label=Task]").textContent,
                images: document.querySelectorAll("main img, main script").length, stolen: window.stolen ?? null,
            }};
            document.querySelector(".breadcrumb a").click();
            await until("the list", () => document.querySelector("a.name"));
            const listed = [...document.querySelectorAll("tbody td")].map((cell) => cell.textContent);
            return {{ ...shown, listed }};
            "##
        ))
        .await;
    let task = format!("How long is tea brewed? <img src=x onerror={SCRIPT}>");
    assert_eq!(found["invalid"], true, "{found}");
    assert_eq!((&found["heading"], &found["listed"][0]), (&json!(task), &json!(task)), "{found}");
    assert_eq!(found["data"], json!({ "water": "eighty degrees", "tea": 9 }), "{found}");
    let sources = found["sources"].as_array().unwrap();
    assert_eq!((&sources[0][0], &sources[0][1]), (&json!("/water"), &json!("eighty degrees")), "{found}");
    assert!(sources[0][3].as_str().unwrap().contains(&format!("<script>{SCRIPT}")), "{found}");
    let steps: Vec<&str> =
        found["steps"].as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
    let reason = format!("<img src=x onerror={SCRIPT}> It is next.");
    for expected in [&*format!("scrape {TEA}"), &reason, "End succeeded"] {
        assert!(steps.contains(&expected), "{expected:?} is not in {steps:?}");
    }
    assert!(found["task"].as_str().unwrap().contains("JSON Schema"), "{found}");
    assert_eq!((&found["images"], &found["stolen"]), (&json!(0), &Value::Null), "{found}");
    assert_eq!((&found["listed"][2], &found["listed"][3]), (&json!(TEA), &json!("dashboard")), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_shows_its_data_while_it_works_and_is_cancelled() {
    let Some(dashboard) = start_with(&SETTINGS).await else { return };
    dashboard.start_agent(json!({ "prompt": WAITING_TASK, "urls": [TEA] })).await;
    let found = dashboard
        .run_signed_in(
            r#"
            await visit("agents", "a.name");
            document.querySelector("a.name").click();
            await until("the data so far", () => /Data so far/.test(document.querySelector("[aria-label=Data]")?.textContent) && document.querySelector("[aria-label=Data] pre"));
            const working = document.querySelector(".metrics").textContent;
            button("Cancel").click();
            button("Cancel the run", await until("the dialog", () => document.querySelector("dialog[open]"))).click();
            await until("the status", () => statusText().includes("was cancelled"));
            await until("the end", () => /cancelled/.test(document.querySelector(".metrics").textContent));
            const data = document.querySelector("[aria-label=Data]").textContent;
            const follow = [...document.querySelectorAll("a.button")].find((anchor) => /follow-up/.test(anchor.textContent));
            follow.click();
            await heading("Follow-up question");
            fill(labelled("Task"), "And how hot?");
            button("Start").click();
            await until("the answer", () => /completed/.test(document.querySelector(".metrics")?.textContent));
            await until("the thread", () => /Other turns/.test(document.querySelector("[aria-label=Task]")?.textContent));
            return { working, data, task: document.querySelector("[aria-label=Task]").textContent };
            "#,
        )
        .await;
    assert!(found["working"].as_str().unwrap().contains("charged at the end"), "{found}");
    let data = found["data"].as_str().unwrap();
    assert!(data.contains("This is not a result") && data.contains("eighty degrees"), "{found}");
    assert!(found["task"].as_str().unwrap().contains(WAITING_TASK), "{found}");
    let runs = dashboard.service.get("/v2/agent").await.body;
    assert_eq!(runs["agents"].as_array().unwrap().len(), 2, "{runs}");
}

#[tokio::test(flavor = "multi_thread")]
async fn form_says_that_a_model_is_missing() {
    let Some(dashboard) = start().await else { return };
    let script = r##"
        location.hash = "#/agents/new";
        await heading("New run");
        fill(labelled("Task"), "x");
        button("Start").click();
        return until("the error", () => document.querySelector("#alert").textContent);
    "##;
    let error = dashboard.run_signed_in(script).await;
    assert!(error.as_str().unwrap().contains("[llm]"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn error_of_a_start_is_visible_below_the_fold_and_the_end_of_a_run_is_announced() {
    let Some(dashboard) = start_with(&SETTINGS).await else { return };
    let found = dashboard
        .run_signed_in(&format!(
            r##"
            location.hash = "#/agents/new/00000000-0000-4000-8000-000000000000";
            await heading("Follow-up question");
            fill(labelled("Task"), "And how hot?");
            scrollTo(0, document.body.scrollHeight);
            const scrolled = scrollY;
            button("Start").click();
            const alert = await until("the error", () => document.getElementById("alert").textContent && document.getElementById("alert"));
            const {{ left, top, bottom }} = alert.getBoundingClientRect();
            const visible = document.elementFromPoint(left + 20, (top + bottom) / 2) === alert;
            await visit("agents", ".empty");
            document.querySelector("a.button.main").click();
            await heading("New run");
            fill(labelled("Task"), "{WAITING_TASK}");
            fill(labelled("Start pages"), "{TEA}");
            button("Start").click();
            await until("the data so far", () => document.querySelector("[aria-label=Data] pre"));
            const {{ request }} = await import("/dashboard/files/api.js");
            await request("DELETE", `/v2/agent/${{location.hash.split("/").pop()}}`);
            await until("the status", () => statusText().includes("The run has ended: cancelled"));
            return {{ scrolled, visible, alert: alert.textContent }};
            "##
        ))
        .await;
    assert!(found["scrolled"].as_f64().unwrap() > 0.0, "{found}");
    assert_eq!(found["visible"], true, "{found}");
}
