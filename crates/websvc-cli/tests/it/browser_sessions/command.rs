//! Tests of `websvc browser` with a running server.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use super::{SESSIONS, SessionTest};
use crate::crawl_command::{run, server_args, stdout_and_stderr};
use crate::harness::Site;

impl SessionTest {
    /// Runs `websvc browser` with these words, and the options of the server after them.
    async fn browser(&self, words: &[&str]) -> Output {
        let server_args = server_args(&self.service);
        let server_args: Vec<&str> = server_args.iter().map(String::as_str).collect();
        run(&self.site, &[&["browser"], words, server_args.as_slice()].concat()).await
    }

    /// Runs a command that must succeed, and returns its stdout.
    async fn succeed(&self, words: &[&str]) -> String {
        let output = self.browser(words).await;
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert!(output.status.success(), "{words:?}: {stdout}{stderr}");
        stdout
    }

    /// Runs a command that must end with this exit code, and returns its stdout and stderr.
    async fn fail(&self, words: &[&str], code: i32) -> (String, String) {
        let output = self.browser(words).await;
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {stdout}{stderr}");
        (stdout, stderr)
    }

    async fn json(&self, words: &[&str]) -> Value {
        let stdout = self.succeed(&[words, &["--json"]].concat()).await;
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
    }

    /// Runs the code on stdin, and returns the stdout of the command.
    async fn run_stdin(&self, code: &str, options: &[&str]) -> String {
        let server_args = server_args(&self.service);
        let server_args: Vec<&str> = server_args.iter().map(String::as_str).collect();
        let words = [&["browser", "run"], options, server_args.as_slice()].concat();
        let mut command = self.site.command(&words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let code = code.to_owned();
        let running = move || {
            let mut process = command.spawn().unwrap();
            process.stdin.take().unwrap().write_all(code.as_bytes()).unwrap();
            process.wait_with_output().unwrap()
        };
        let output = tokio::task::spawn_blocking(running).await.unwrap();
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert!(output.status.success(), "{stdout}{stderr}");
        stdout
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_act_on_the_started_session_until_it_ends() {
    let Some(test) = SessionTest::start().await else { return };
    let (_, stderr) = test.fail(&["open", "http://click.test/"], 1).await;
    assert!(stderr.contains("there is no session") && stderr.contains("websvc browser start"), "{stderr}");
    let started = test.succeed(&["start", "--ttl", "120", "--country", "DE"]).await;
    let names: Vec<&str> = started.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["Session", "Ends", "Live", "Interactive", "DevTools"], "{started}");
    let id = started.lines().find_map(|line| line.strip_prefix("Session")).unwrap().trim();
    let opened = test.succeed(&["open", "http://click.test/"]).await;
    assert_eq!(opened, "✓ 0\n  http://click.test/\n");
    assert_eq!(test.succeed(&["snapshot", "-i"]).await, "- button \"0\" [ref=e1]\n");
    test.succeed(&["click", "@e1"]).await;
    assert_eq!(test.succeed(&["get", "text", "button"]).await, "1\n");
    assert_eq!(test.succeed(&["eval", "'a' + \" b'$c\""]).await, "a b'$c\n");
    let response = test.json(&["get", "title"]).await;
    assert_eq!((&response["stdout"], &response["exitCode"]), (&json!("1\n"), &json!(0)), "{response}");
    let list = test.succeed(&["list", "--status", "active"]).await;
    assert!(list.lines().any(|line| line.starts_with(&format!("*  {id}  active"))), "{list}");
    let live = test.json(&["live"]).await;
    for (options, url) in
        [(&["live"][..], "liveViewUrl"), (&["live", "--interactive"], "interactiveLiveViewUrl")]
    {
        assert_eq!(test.succeed(options).await.trim(), live[url], "{live}");
    }
    let ended = test.succeed(&["end"]).await;
    assert!(ended.starts_with(&format!("ended {id} after ")) && ended.ends_with("2 credits\n"), "{ended}");
    let (_, stderr) = test.fail(&["get", "title"], 1).await;
    assert!(stderr.contains("there is no session"), "{stderr}");
    let (_, stderr) = test.fail(&["get", "title", "--session", id], 1).await;
    assert!(stderr.contains(&format!("the session {id} has ended")) && stderr.contains("410"), "{stderr}");
    let again = test.succeed(&["end", "--session", id]).await;
    assert!(again.starts_with(&format!("{id} had ended before")), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn code_runs_from_each_source_and_gives_its_exit_code() {
    let Some(test) = SessionTest::start().await else { return };
    test.succeed(&["start", "--no-block-ads"]).await;
    let script = test.site.data_dir().join("open.js");
    std::fs::write(&script, "await page.goto('http://tea.test/'); console.log('opened'); await page.title()")
        .unwrap();
    assert_eq!(test.succeed(&["run", "--file", script.to_str().unwrap()]).await, "opened\nTea\n");
    assert_eq!(test.succeed(&["run", "({ a: [1] })"]).await, "{\"a\":[1]}\n");
    assert_eq!(test.succeed(&["run", "console.log(1)"]).await, "1\n");
    assert_eq!(test.run_stdin("await page.title()", &[]).await, "Tea\n");
    let lines = "get title\nget url\n";
    assert_eq!(
        test.run_stdin(lines, &["--file", "-", "--language", "bash"]).await,
        "Tea\nhttp://tea.test/\n"
    );
    let failing = "console.log('before'); throw new Error('no tea')";
    let (stdout, stderr) = test.fail(&["run", failing], 1).await;
    assert!(stdout == "before\n" && stderr.contains("no tea"), "{stdout}{stderr}");
    test.fail(&["run", "process.exit(7)"], 7).await;
    let (stdout, _) = test.fail(&["run", "process.exit(7)", "--json"], 7).await;
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["exitCode"], 7, "{stdout}");
    let (_, stderr) = test.fail(&["run", "for (;;);", "--timeout", "1"], 124).await;
    assert!(!stderr.is_empty());
    let (_, stderr) = test.fail(&["opne", "http://tea.test/"], 1).await;
    assert!(stderr.contains("did you mean \"open\"?"), "{stderr}");
    for (words, part) in [
        (&["run", "1", "--timeout", "301"][..], "timeout"),
        (&["run", "--language", "bash"], "code"),
        (&["run", "1", "--language", "python"], "python is not available"),
        (&["run", "--file", "missing.js"], "missing.js"),
        (&["start", "--session", "7"], "--session"),
    ] {
        let (_, stderr) = test.fail(words, 1).await;
        assert!(stderr.contains(part), "{words:?}: {stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn screenshot_and_pdf_are_files() {
    let Some(test) = SessionTest::start().await else { return };
    test.succeed(&["start"]).await;
    test.succeed(&["open", "http://tea.test/"]).await;
    for (words, name, start) in [
        (&["screenshot"][..], "tea.png", &b"\x89PNG"[..]),
        (&["screenshot", "--full"], "whole.png", b"\x89PNG"),
        (&["pdf"], "tea.pdf", b"%PDF"),
    ] {
        let file = test.site.data_dir().join(name);
        let stdout = test.succeed(&[words, &[file.to_str().unwrap()]].concat()).await;
        assert_eq!(stdout, "");
        assert!(std::fs::read(&file).unwrap().starts_with(start), "{name}");
    }
    let printed = test.succeed(&["screenshot"]).await;
    assert!(printed.starts_with("iVBOR"), "a PNG in Base64");
}

#[tokio::test(flavor = "multi_thread")]
async fn session_that_ended_elsewhere_is_forgotten() {
    let Some(test) = SessionTest::start().await else { return };
    let first = test.json(&["start", "--profile", "shop"]).await;
    let second = test.json(&["start", "--profile", "shop", "--no-save-changes"]).await;
    let (first_id, second_id) = (first["id"].as_str().unwrap(), second["id"].as_str().unwrap());
    test.succeed(&["open", "http://tea.test/", "--session", first_id]).await;
    assert_eq!(test.succeed(&["get", "url"]).await, "about:blank\n", "the last started session is used");
    assert_eq!(test.delete(&second).await.status, 200);
    let (_, stderr) = test.fail(&["get", "url"], 1).await;
    assert!(stderr.contains(&format!("the session {second_id} has ended")), "{stderr}");
    let (_, stderr) = test.fail(&["live"], 1).await;
    assert!(stderr.contains("there is no session"), "{stderr}");
    let (_, stderr) = test.fail(&["live", "--session", second_id], 1).await;
    assert!(stderr.contains("has ended"), "{stderr}");
    assert_eq!(test.succeed(&["get", "url", "--session", first_id]).await, "http://tea.test/\n");
    test.succeed(&["end", "--session", first_id]).await;
    let profiles = test.site.succeed(&["profiles", "list"]);
    assert!(profiles.contains("shop"), "{profiles}");
    let list = test.service.get(SESSIONS).await.body;
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn command_without_a_session_a_key_or_a_server_says_so() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let service = site.serve();
    let check = async |words: &[&str], part: &str| {
        let output = run(&site, &[&["browser"], words].concat()).await;
        let (stdout, stderr) = stdout_and_stderr(&output);
        assert!(output.status.code() == Some(1) && stderr.contains(part), "{words:?}: {stdout}{stderr}");
    };
    check(&["list", "--server", &service.address], "WEBSVC_API_KEY").await;
    check(&["list", "--server", &service.address, "--api-key", "fc-wrong"], "does not accept the key").await;
    check(&["list", "--server", "http://127.0.0.1:1"], "127.0.0.1:1").await;
    check(&["end"], "there is no session").await;
    let switched_off = ["start", "--server", &service.address, "--api-key", crate::harness::KEY];
    check(&switched_off, "Browser sessions are not available").await;
    check(&["opne", "--help"], "there is no command \"opne\"").await;
    assert!(
        site.succeed(&["browser", "open", "--help"]).contains("Usage: websvc browser open|goto|navigate URL")
    );
    assert!(site.succeed(&["browser", "--help"]).contains("snapshot [-i]"));
}
