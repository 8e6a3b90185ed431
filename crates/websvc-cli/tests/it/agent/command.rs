//! Tests of `websvc agent` with a running server.

use std::io::{BufRead, BufReader, Read};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use super::{AgentTest, HOOK, TEA, hanging, price, price_schema, wait_for_end, wandering};
use crate::crawl_command::{run, server_args, stdout_and_stderr};
use crate::harness::{signal, wait};

impl AgentTest {
    async fn command(&self, arguments: &[&str]) -> Output {
        let server = server_args(&self.service);
        let server: Vec<&str> = server.iter().map(String::as_str).collect();
        run(&self.site, &[&["agent"], arguments, server.as_slice()].concat()).await
    }

    /// Runs a command that must succeed, and returns its stdout and stderr.
    async fn succeed(&self, arguments: &[&str]) -> (String, String) {
        let output = self.command(arguments).await;
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert!(output.status.success(), "{arguments:?}: {stdout}{stderr}");
        (stdout, stderr)
    }

    /// Runs a command that must fail, and returns its stdout and stderr.
    async fn fail(&self, arguments: &[&str]) -> (String, String) {
        let output = self.command(arguments).await;
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stdout}{stderr}");
        (stdout, stderr)
    }
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the ID of the run in the first line of a command.
fn run_id(stderr: &str) -> &str {
    stderr.lines().next().and_then(|line| line.strip_prefix("run ")).unwrap_or_else(|| panic!("{stderr}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn command_shows_steps_and_sources_and_prints_the_data() {
    let test = AgentTest::new().await;
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.json");
    std::fs::write(&schema, price_schema().to_string()).unwrap();
    let schema = schema.to_str().unwrap();
    let arguments = ["What does sencha cost?", "--url", TEA, "--schema", schema, "--max-credits", "50"];
    let (stdout, stderr) = test.succeed(&arguments).await;
    assert_eq!(parse(&stdout), price());
    let lines: Vec<&str> = stderr.lines().collect();
    for expected in [&*format!("scrape {TEA}"), "  It is next.", "end: succeeded"] {
        assert!(lines.contains(&expected), "{expected:?} is not in {stderr}");
    }
    assert!(lines.iter().any(|line| line.starts_with("  data: ") && line.contains("euros")), "{stderr}");
    let source = format!("/euros {TEA} \"");
    assert!(lines.iter().any(|line| line.starts_with(&source) && line.contains("12 euros")), "{stderr}");
    assert_eq!(lines.last(), Some(&"agent: completed, 3 credits"), "{stderr}");
    let id = run_id(&stderr);
    let (list, _) = test.succeed(&["list"]).await;
    assert!(
        list.contains(id) && list.contains("completed") && list.contains("What does sencha cost?"),
        "{list}"
    );
    assert_eq!(parse(&test.succeed(&["list", "--json"]).await.0)["agents"][0]["id"], id);
    let (status, _) = test.succeed(&["status", id]).await;
    assert!(status.contains("completed (succeeded)") && status.contains("\"euros\": 12"), "{status}");
    let (trace, _) = test.succeed(&["trace", id]).await;
    assert!(trace.contains(&format!("Z  scrape {TEA}")) && trace.contains(&source), "{trace}");
    let events = parse(&test.succeed(&["trace", id, "--json"]).await.0);
    assert_eq!(events["events"][0]["type"], "run.started");
}

#[tokio::test(flavor = "multi_thread")]
async fn response_and_file_have_only_json() {
    let test = AgentTest::new().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.json");
    std::fs::write(&file, "a longer text of an earlier run, which must not stay in the file at all").unwrap();
    let arguments = ["What does sencha cost?", "--url", TEA, "--strict", "--effort", "low"];
    let output = ["--output", file.to_str().unwrap()];
    let (stdout, _) = test.succeed(&[arguments.as_slice(), &output].concat()).await;
    assert_eq!(stdout, "");
    assert_eq!(parse(&std::fs::read_to_string(&file).unwrap()), price());
    let (stdout, stderr) = test.succeed(&[arguments.as_slice(), &["--json"]].concat()).await;
    let response = parse(&stdout);
    assert_eq!((&response["data"], &response["effort"]), (&price(), &json!("low")), "{response}");
    assert_eq!(stderr, "", "the response is all that --json prints");
    let unwritable = folder.path().join("missing/data.json");
    let before = test.world.requests().len();
    let (_, stderr) = test.fail(&["x", "--output", unwritable.to_str().unwrap()]).await;
    assert!(stderr.contains("cannot write") && stderr.contains("missing"), "{stderr}");
    assert_eq!(test.world.requests().len(), before, "no run begins whose data cannot be written");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_run_is_an_error_with_its_reason_and_partial_data() {
    let test = AgentTest::with(wandering, &[]).await;
    let (stdout, stderr) = test.fail(&["Find it", "--url", TEA, "--max-credits", "2"]).await;
    assert_eq!(stdout, "", "a failed run has no data");
    assert!(
        stderr.contains("error: the run failed: ") && stderr.contains("(credit_limit_reached)"),
        "{stderr}"
    );
    let (stdout, stderr) = test.fail(&["Find it", "--url", TEA, "--max-credits", "2", "--json"]).await;
    assert_eq!(parse(&stdout)["stopReason"], "credit_limit_reached");
    assert!(stderr.starts_with("error: the run failed"), "{stderr}");
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.json");
    std::fs::write(&broken, "[1]").unwrap();
    for (arguments, expected) in [
        (["x", "--schema", broken.to_str().unwrap()].as_slice(), "is not a JSON Schema in an object"),
        (&["x", "list"], "\"x\" and a command cannot be combined"),
        (&["x", "--url", "ftp://shop.test/"], "400"),
        (&["cancel", "00000000-0000-4000-8000-000000000000"], "Agent job not found"),
    ] {
        let (_, stderr) = test.fail(arguments).await;
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interruption_cancels_the_run() {
    let test = AgentTest::with(hanging, &[]).await;
    let server = server_args(&test.service);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let arguments = [&["agent", "What does sencha cost?", "--url", TEA], server.as_slice()].concat();
    let mut process =
        test.site.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(process.stderr.take().unwrap());
    let (status, text) = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        // The model answers no more once there are data.
        while !text.contains("  data: ") {
            assert_ne!(stderr.read_line(&mut text).unwrap(), 0, "{text}");
        }
        signal(&process, "INT");
        let status = wait(&mut process);
        stderr.read_to_string(&mut text).unwrap();
        (status, text)
    })
    .await
    .unwrap();
    assert!(!status.success() && text.contains("interrupted: the run was cancelled"), "{text}");
    let ended = wait_for_end(&test.service, &format!("/v2/agent/{}", run_id(&text))).await;
    assert_eq!((&ended["stopReason"], &ended["partial"]), (&json!("cancelled"), &price()), "{ended}");
    let (_, stderr) = test.fail(&["cancel", run_id(&text)]).await;
    assert!(stderr.contains("409"), "{stderr}");
    assert!(test.requested(HOOK).is_empty(), "the command sets no webhook");
}

#[tokio::test(flavor = "multi_thread")]
async fn command_without_a_model_names_the_configuration() {
    let world = crate::harness::tea_world().await;
    let site = crate::harness::Site::new(&world);
    let service = site.serve();
    let server = server_args(&service);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let output = run(&site, &[&["agent", "What does tea cost?"], server.as_slice()].concat()).await;
    let (_, stderr) = stdout_and_stderr(&output);
    assert!(!output.status.success() && stderr.contains("[llm]"), "{stderr}");
}
