//! Tests of the pages of browser sessions: the list, the live view, and the end of a session.

use serde_json::{Value, json};

use super::{DashboardTest, start_with_pages};

/// Functions for the scripts of the tests: to open the first session, and to read the page in its frame.
pub(super) const TOOLS: &str = r##"
const open = async () => {
  await visit("sessions", "a.name");
  document.querySelector("a.name").click();
  return until("the frame", () => document.querySelector("iframe"));
};
const live = (frame, text) => until(text, () => frame.contentDocument?.querySelector("#state")?.textContent === text && frame.contentDocument.querySelector("#screen").naturalWidth > 0);
"##;

impl DashboardTest {
    /// Starts a session, and returns its ID.
    pub(super) async fn create_session(&self) -> String {
        let created = self.service.post("/v2/browser", json!({"ttl": 900}).to_string()).await;
        assert_eq!(created.status, 200, "{}", created.body);
        created.body["id"].as_str().unwrap().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn session_is_listed_watched_used_and_ended() {
    let Some(dashboard) = start_with_pages(1).await else { return };
    let id = dashboard.create_session().await;
    let found = dashboard
        .run_signed_in(&format!(
            r#"{TOOLS}
            await visit("sessions", "a.name");
            const listed = [...document.querySelectorAll("tbody td")].map((cell) => cell.textContent);
            const frame = await open();
            await live(frame, "Live, view only");
            const watching = document.querySelector(".metrics").textContent;
            button("Use mouse and keyboard").click();
            await live(frame, "Live, with mouse and keyboard");
            const control = button("Use mouse and keyboard");
            const status = statusText();
            control.click();
            await live(frame, "Live, view only");
            button("End").click();
            button("Cancel", await until("the dialog", () => document.querySelector("dialog[open]"))).click();
            button("End").click();
            button("End", await until("the dialog", () => document.querySelector("dialog[open]"))).click();
            await until("the end", () => statusText().includes("was ended"));
            const ended = statusText();
            await until("the text", () => document.querySelector("[aria-label='Live view']").textContent.includes("The session has ended"));
            return {{ listed, watching, status, pressed: control.getAttribute("aria-pressed"), ended, frames: document.querySelectorAll("iframe").length, after: document.querySelector(".metrics").textContent }};
            "#
        ))
        .await;
    let listed = found["listed"].as_array().unwrap();
    assert_eq!(listed[0], id[id.len() - 12..], "{found}");
    assert_eq!(
        (&listed[4], &listed[5], &listed[6]),
        (&json!("2"), &json!("active"), &json!("End")),
        "{found}"
    );
    assert!(found["watching"].as_str().unwrap().contains("if it ended now"), "{found}");
    assert_eq!(found["status"], "You control the browser with mouse and keyboard", "{found}");
    assert_eq!((&found["pressed"], &found["frames"]), (&json!("false"), &json!(0)), "{found}");
    assert!(found["ended"].as_str().unwrap().ends_with(", 2 credits"), "{found}");
    assert!(found["after"].as_str().unwrap().contains("Duration"), "{found}");
    let listed = dashboard.service.get("/v2/browser?status=active").await;
    assert_eq!(listed.body["sessions"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_need_the_scope_and_a_dashboard_without_any_says_so() {
    let Some(dashboard) = start_with_pages(1).await else { return };
    let script = "await visit('sessions', '.empty'); return document.querySelector('.empty').textContent";
    let empty = dashboard.run_signed_in(script).await;
    assert!(empty.as_str().unwrap().starts_with("No sessions."), "{empty}");
    let create = ["keys", "create", "--team", "default", "--admin", "--scope", "search"];
    let key = dashboard.site.succeed(&create).trim().to_owned();
    let headers = [("authorization", &*format!("Bearer {key}"))];
    let refused = dashboard
        .service
        .send(http::Method::GET, "/dashboard/browser-sessions", &headers, String::new())
        .await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(refused.body["error"].as_str().unwrap().contains("interact"), "{}", refused.body);
    let other = dashboard.service.send(
        http::Method::GET,
        "/dashboard/browser-sessions",
        &[("authorization", "")],
        String::new(),
    );
    assert_eq!(other.await.status, 401);
    let sessions: Value = dashboard.service.get("/dashboard/browser-sessions").await.body;
    assert_eq!(sessions["sessions"], json!([]));
}
