//! Tests of `websvc monitor` with a running server.

use std::process::Output;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use websvc_testkit::{Page, TestWeb};

use crate::crawl_command::{halting_world, run, run_until_signal, server_args, stdout_and_stderr};
use crate::harness::{Service, Site};

const TEA: &str = "http://shop.test/tea";

/// A page that a test changes, and a server that watches it.
struct CommandTest {
    line: Arc<Mutex<Option<String>>>,
    site: Site,
    service: Service,
    _world: TestWeb,
}

impl CommandTest {
    async fn new() -> Self {
        let line = Arc::new(Mutex::new(Some("Sencha costs 12 euros.".to_owned())));
        let shown = Arc::clone(&line);
        let tea = move |_: &_| match &*shown.lock().unwrap() {
            Some(line) => {
                Page::html(format!("<title>Tea</title><main><h1>Tea</h1><p>{line}</p><p>End</p></main>"))
            }
            None => Page::html("<p>Down</p>").status(500),
        };
        let world = TestWeb::builder().page_with(TEA, tea).start().await;
        let site = Site::new(&world);
        let service = site.serve();
        Self { line, site, service, _world: world }
    }

    /// Sets the line of the page; without one, the page fails.
    fn set_line(&self, line: Option<&str>) {
        *self.line.lock().unwrap() = line.map(str::to_owned);
    }

    async fn run(&self, arguments: &[&str]) -> Output {
        let server_args = server_args(&self.service);
        let server_args: Vec<&str> = server_args.iter().map(String::as_str).collect();
        run(&self.site, &[&["monitor"], arguments, server_args.as_slice()].concat()).await
    }

    /// Runs a command that must succeed, and returns its stdout.
    async fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments).await;
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        stdout
    }

    /// Runs a command that must fail, and returns its stderr.
    async fn fail(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments).await;
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stdout}{stderr}");
        stderr
    }

    async fn json(&self, arguments: &[&str]) -> Value {
        let stdout = self.succeed(&[arguments, &["--json"]].concat()).await;
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
    }

    /// Creates a monitor of the page and returns its ID.
    async fn create(&self) -> String {
        let created = self.json(&["create", "--name", "Tea", "--every", "monthly", "--url", TEA]).await;
        created["data"]["id"].as_str().unwrap().to_owned()
    }
}

#[track_caller]
fn check_contains(text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn monitor_is_created_shown_paused_resumed_and_deleted() {
    let test = CommandTest::new().await;
    let created = test
        .succeed(&[
            "create",
            "--name",
            "Tea\u{1b}[31m prices",
            "--cron",
            "0 9 * * *",
            "--timezone",
            "Asia/Tokyo",
            "--url",
            TEA,
            "--webhook",
            "http://hook.test/in?token=secret",
        ])
        .await;
    check_contains(&created, &["Tea[31m prices", "active", "Every day at 09:00 (Asia/Tokyo)"]);
    let runs = created.lines().find_map(|line| line.strip_prefix("Next runs  ")).unwrap();
    let runs: Vec<&str> = runs.split(", ").collect();
    assert!(runs.len() == 3 && runs.iter().all(|run| run.ends_with("T09:00:00+09:00")), "{runs:?}");
    let id = created.lines().find_map(|line| line.strip_prefix("ID")).unwrap().trim();
    let list = test.succeed(&["list"]).await;
    check_contains(&list, &["LAST RESULT", id, "Tea[31m prices", "Every day at 09:00 (Asia/Tokyo)"]);
    let json = test.json(&["list"]).await;
    let expected = (&id.into(), &"Tea\u{1b}[31m prices".into());
    assert_eq!((&json["data"][0]["id"], &json["data"][0]["name"]), expected);
    let shown = test.succeed(&["show", id]).await;
    check_contains(&shown, &[TEA, "http://hook.test/in", "30 days", "Last run   -"]);
    assert!(!shown.contains("secret"), "{shown}");
    // A name cannot control the terminal of others.
    assert!(![created.as_str(), &list, &shown].concat().contains('\u{1b}'), "{list:?}");
    assert_eq!(test.json(&["show", id]).await["data"]["schedule"]["timezone"], "Asia/Tokyo");
    check_contains(&test.succeed(&["pause", id]).await, &["paused", "Next runs  none"]);
    check_contains(&test.fail(&["run", id]).await, &["409", "paused"]);
    assert_eq!(test.json(&["resume", id]).await["data"]["status"], "active");
    assert_eq!(test.succeed(&["delete", id]).await, format!("deleted monitor {id}\n"));
    check_contains(&test.fail(&["show", id]).await, &["404", "Monitor not found"]);
    assert_eq!(test.json(&["list"]).await["data"], serde_json::json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn monitor_is_edited_and_its_new_times_are_shown() {
    let test = CommandTest::new().await;
    let id = test.create().await;
    let edit = [
        "edit",
        &id,
        "--name",
        "Tea prices",
        "--every",
        "every day at 9:00",
        "--timezone",
        "Asia/Tokyo",
        "--webhook",
        "http://hook.test/in?token=secret",
        "--email",
        "tea@shop.test",
        "--retention",
        "7",
        "--goal",
        "Price changes",
    ];
    let edited = test.succeed(&edit).await;
    let lines = [
        "Name       Tea prices\n",
        "Schedule   Every day at 09:00 (Asia/Tokyo)\n",
        "Goal       Price changes\n",
        "Webhook    http://hook.test/in\n",
        "Email      tea@shop.test\n",
        "Retention  7 days\n",
    ];
    check_contains(&edited, &lines);
    assert!(!edited.contains("secret"), "{edited}");
    let runs = edited.lines().find_map(|line| line.strip_prefix("Next runs  ")).unwrap();
    assert_eq!(runs.matches("T09:00:00+09:00").count(), 3, "{runs}");
    let changed =
        test.json(&["update", &id, "--timezone", "UTC", "--no-goal", "--no-webhook", "--no-email"]).await;
    let monitor = &changed["data"];
    assert_eq!(monitor["schedule"], serde_json::json!({ "cron": "0 9 * * *", "timezone": "UTC" }));
    let rest = [&monitor["name"], &monitor["goal"], &monitor["webhook"], &monitor["retentionDays"]];
    assert_eq!(rest, [&Value::from("Tea prices"), &Value::Null, &Value::Null, &Value::from(7)]);
    assert_eq!(monitor["targets"][0]["urls"], serde_json::json!([TEA]));
    assert!(!test.succeed(&["show", &id]).await.contains("Email"));
    let failed = test.fail(&["edit", &id, "--every", "now and then"]).await;
    check_contains(&failed, &["400", "/schedule/text", "now and then"]);
    let usage = test.run(&["edit", &id]).await;
    let (_, stderr) = stdout_and_stderr(&usage);
    assert_eq!(usage.status.code(), Some(2), "{stderr}");
    check_contains(&stderr, &["--name", "--no-goal", "--retention"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_is_followed_and_its_changes_are_printed_as_a_diff() {
    let test = CommandTest::new().await;
    let id = test.create().await;
    check_contains(&test.fail(&["diff", &id]).await, &["no check of the monitor has ended", "--wait"]);
    let output = test.run(&["run", &id, "--wait"]).await;
    let (stdout, stderr) = stdout_and_stderr(&output);
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stdout, format!("new      {TEA}\n"));
    check_contains(&stderr, &["check: completed: 1 new, 1 credit"]);
    let first = stderr.lines().find_map(|line| line.strip_prefix("check ")).unwrap();
    test.set_line(Some("Sencha costs 14 euros."));
    let second = test.json(&["run", &id, "--wait"]).await;
    assert_eq!(second["data"]["pages"][0]["status"], "changed", "{second}");
    let diff = test.succeed(&["diff", &id]).await;
    check_contains(
        &diff,
        &[&format!("changed  {TEA}"), "\n-Sencha costs 12 euros.\n+Sencha costs 14 euros.\n"],
    );
    assert!(!diff.contains('\u{1b}'), "colours outside a terminal: {diff:?}");
    assert_eq!(test.succeed(&["diff", &id, first]).await, format!("new      {TEA}\n"));
    let changed = test.json(&["diff", &id]).await;
    assert_eq!(changed["data"]["pages"], second["data"]["pages"]);
    assert_eq!(test.json(&["diff", &id, first]).await["data"]["pages"], serde_json::json!([]));
    let checks = test.succeed(&["checks", &id]).await;
    check_contains(&checks, &[first, "manual", "1 new", "1 changed"]);
    assert_eq!(test.json(&["checks", &id, "--limit", "1"]).await["data"].as_array().unwrap().len(), 1);
    check_contains(&test.succeed(&["show", &id]).await, &["Result     1 changed", first]);
    check_contains(&test.succeed(&["list"]).await, &["1 changed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_without_changes_or_with_failed_pages_says_so() {
    let test = CommandTest::new().await;
    let id = test.create().await;
    test.succeed(&["run", &id, "--wait"]).await;
    assert_eq!(test.succeed(&["run", &id, "--wait"]).await, format!("same     {TEA}\n"));
    let output = test.run(&["diff", &id]).await;
    let (stdout, stderr) = stdout_and_stderr(&output);
    assert_eq!((output.status.code(), stdout.as_str()), (Some(0), ""));
    check_contains(&stderr, &["found no changes"]);
    test.set_line(None);
    let failed = test.run(&["run", &id, "--wait"]).await;
    let (stdout, stderr) = stdout_and_stderr(&failed);
    assert_eq!(failed.status.code(), Some(1), "{stderr}");
    check_contains(&stdout, &[&format!("error    {TEA}  "), "500"]);
    assert!(stderr.ends_with("error: 1 page could not be checked\n"), "{stderr}");
    check_contains(&test.succeed(&["diff", &id]).await, &["error    ", "500"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_monitors_are_rejected_with_field_and_rule() {
    let test = CommandTest::new().await;
    let create = ["create", "--name", "Tea", "--url", TEA];
    let failed = test.fail(&[&create, ["--every", "now and then"].as_slice()].concat()).await;
    check_contains(&failed, &["400", "/schedule/text", "now and then", "every 30 minutes"]);
    let failed = test.fail(&[&create, ["--cron", "61 * * * *"].as_slice()].concat()).await;
    check_contains(&failed, &["400", "/schedule/cron", "61"]);
    let usage = test.run(&create).await;
    let (_, stderr) = stdout_and_stderr(&usage);
    assert_eq!(usage.status.code(), Some(2), "{stderr}");
    check_contains(&stderr, &["--every", "--cron"]);
    let without_key = run(&test.site, &["monitor", "list", "--server", &test.service.address]).await;
    let (_, stderr) = stdout_and_stderr(&without_key);
    assert_eq!(without_key.status.code(), Some(1), "{stderr}");
    check_contains(&stderr, &["401", "--api-key or WEBSVC_API_KEY"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_command_leaves_the_check_running() {
    let (world, _is_released) = halting_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let server_args = server_args(&service);
    let server_args: Vec<&str> = server_args.iter().map(String::as_str).collect();
    let monitor = |arguments: &[&'static str]| [&["monitor"], arguments, &server_args].concat();
    let create =
        ["create", "--name", "Slow", "--every", "monthly", "--url", "http://halt.test/slow", "--json"];
    let (created, stderr) = stdout_and_stderr(&run(&site, &monitor(&create)).await);
    let created: Value = serde_json::from_str(&created).unwrap_or_else(|_| panic!("{stderr}"));
    let id = created["data"]["id"].as_str().unwrap();
    let arguments = [&["monitor", "run", id, "--wait"], server_args.as_slice()].concat();
    let (status, stderr) = run_until_signal(&site, &world, &arguments, "INT").await;
    assert_eq!(status.code(), Some(1), "{stderr}");
    let check = stderr.lines().find_map(|line| line.strip_prefix("check ")).unwrap();
    let hint = format!("`websvc monitor diff {id} {check} --server {}/` prints its changes", service.address);
    check_contains(&stderr, &["interrupted: the check continues on the server", &hint]);
    assert_eq!(service.get(&format!("/v2/monitor/{id}")).await.body["data"]["currentCheckId"], check);
}
