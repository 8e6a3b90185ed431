//! Real interpreters of the operator in the sessions of the program: what they do, and what is left of them.

use std::process::Command;

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb, until};

use super::{SessionTest, live, path};
use crate::browser::path_or_skip;
use crate::harness::{Service, Site};

/// The sections of the interpreters of this machine, if it has them.
struct Interpreters {
    bubblewrap: String,
    python: String,
    playwright: String,
}

impl Interpreters {
    fn find() -> Option<Self> {
        let [bubblewrap, python, playwright] =
            ["WEBSVC_TEST_BUBBLEWRAP", "WEBSVC_TEST_PLAYWRIGHT_PYTHON", "WEBSVC_TEST_PLAYWRIGHT"]
                .map(|variable| path_or_skip(variable).map(|path| path.display().to_string()));
        Some(Self { bubblewrap: bubblewrap?, python: python?, playwright: playwright? })
    }

    /// Adds the configuration to a command.
    fn configure<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("WEBSVC__INTERACT__BUBBLEWRAP", &self.bubblewrap)
            .env("WEBSVC__INTERACT__INTERPRETERS__PYTHON", &self.python)
            .env("WEBSVC__INTERACT__INTERPRETERS__NODE", "/usr/bin/node")
            .env("WEBSVC__INTERACT__INTERPRETERS__NODE_LIBRARY", &self.playwright)
            .env("WEBSVC__INTERACT__INTERPRETERS__BASH", "/bin/bash")
    }
}

async fn start() -> Option<SessionTest> {
    let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
    let interpreters = Interpreters::find()?;
    let world = TestWeb::builder()
        .page("http://click.test/", Page::html(live::PAGE))
        .page("http://files.test/", Page::html("<a download href='/table.csv'>table</a>"))
        // More than one part.
        .page("http://files.test/table.csv", Page::new("text/csv", "a,b,c,d\n".repeat(700_000)))
        .page("http://tea.test/", Page::html("<!DOCTYPE html><title>Tea</title><h1>Tea</h1>"))
        .start()
        .await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    command.env("WEBSVC__BROWSER__CONCURRENCY", "2");
    let service = Service::start(interpreters.configure(&mut command).env("WEBSVC__BROWSER__PATH", chromium));
    Some(SessionTest { world, site, service })
}

async fn execute(test: &SessionTest, session: &Value, language: &str, code: &str) -> Value {
    let body = json!({"code": code, "language": language, "timeout": 40});
    let response = test.service.post(&format!("{}/execute", path(session)), body.to_string()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    response.body
}

/// Returns whether a process of this machine has a word among its arguments.
fn is_running(word: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn interpreters_share_the_page_of_a_session() {
    let Some(test) = start().await else { return };
    let session = test.create(json!({})).await;
    for (language, code, result, exit_code) in [
        ("python", "await page.goto('http://tea.test/')\nprint(await page.title())", "Tea", 0),
        (
            "node",
            "({ title: await page.title(), node: typeof require('node:fs').readFileSync })",
            r#"{"title":"Tea","node":"function"}"#,
            0,
        ),
        ("bash", "agent-browser get title | tr a-z A-Z", "TEA", 0),
        (
            "bash",
            "agent-browser open http://click.test/ > /dev/null; agent-browser snapshot -i",
            "- button \"0\" [ref=e1]",
            0,
        ),
        ("bash", "agent-browser click @e1", "✓ Done", 0),
        ("python", "print(await page.inner_text('button'))\npage = await context.new_page()", "1", 0),
        ("node", "[page.url(), context.pages().length]", r#"["about:blank",2]"#, 0),
        ("python", "import sys; sys.exit(5)", "", 5),
    ] {
        let outcome = execute(&test, &session, language, code).await;
        assert_eq!(outcome["exitCode"], exit_code, "{code}: {outcome}");
        assert_eq!(outcome["result"].as_str().unwrap_or_default(), result, "{code}: {outcome}");
    }
    // The filter of the session holds for them, too, and only the page has network.
    let attempts = "import urllib.request
async def attempt(start):
    try:
        await start()
        print('reached')
    except Exception as error:
        print('refused')
async def fetch():
    urllib.request.urlopen('http://127.0.0.1/', timeout=2)
async def read():
    open('/etc/passwd')
await attempt(lambda: page.goto('http://169.254.169.254/latest/meta-data/'))
await attempt(lambda: page.goto('file:///etc/passwd'))
await attempt(lambda: browser.new_context())
await attempt(fetch)
await attempt(read)
print(len(context.pages))";
    let refused = execute(&test, &session, "python", attempts).await;
    assert_eq!(refused["stdout"], format!("{}2\n", "refused\n".repeat(5)), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn downloads_are_files_of_the_sandbox() {
    let Some(test) = start().await else { return };
    let session = test.create(json!({})).await;
    let node = "await page.goto('http://files.test/');
        const fs = require('node:fs');
        const sizes = [];
        for (const copy of ['copies/one.csv', 'copies/two.csv']) {
            const [file] = await Promise.all([page.waitForEvent('download'), page.click('a')]);
            await file.saveAs(copy);
            sizes.push(fs.statSync(copy).size, fs.readFileSync(await file.path(), 'utf8').slice(-8), file.suggestedFilename());
            await file.delete();
        }
        sizes";
    let python = "import os
await page.goto('http://files.test/')
async with page.expect_download() as event:
    await page.click('a')
file = await event.value
await file.save_as('copies/table.csv')
print(os.path.getsize('copies/table.csv'), file.suggested_filename, await file.failure())";
    for (language, code, result) in [
        ("node", node, r#"[5600000,"a,b,c,d\n","table.csv",5600000,"a,b,c,d\n","table.csv"]"#),
        ("python", python, "5600000 table.csv None"),
    ] {
        let outcome = execute(&test, &session, language, code).await;
        assert_eq!(outcome["result"].as_str().unwrap_or_default(), result, "{outcome}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_program_is_left_after_the_service_was_killed() {
    let Some(test) = start().await else { return };
    let session = test.create(json!({})).await;
    for (word, code) in [
        ("86411.5", "(setsid sleep 86411.5 &); sleep 86411.5"),
        ("86412.5", "kill -STOP $PPID; sleep 86412.5"),
    ] {
        let body = json!({"code": code, "language": "bash", "timeout": 2}).to_string();
        let killed = test.service.post(&format!("{}/execute", path(&session)), body).await.body;
        assert_eq!((&killed["killed"], &killed["exitCode"]), (&json!(true), &json!(124)), "{killed}");
        until("the timeout ends all processes", || !is_running(word)).await;
    }
    let body =
        json!({"code": "kill -STOP $PPID; sleep 86413.5", "language": "bash", "timeout": 60}).to_string();
    let execute = format!("{}/execute", path(&session));
    let running = async {
        until("the program runs", || is_running("86413.5")).await;
        test.service.kill();
    };
    tokio::select! {
        biased;
        () = running => {}
        response = test.service.post(&execute, body) => panic!("{response:?}"),
    }
    until("no process is left", || !is_running("86413.5")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_and_start_name_what_is_wrong() {
    let Some(interpreters) = Interpreters::find() else { return };
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = site.command(arguments);
        interpreters.configure(&mut command).envs(variables.iter().copied());
        command.output().unwrap()
    };
    let doctor = run(&["doctor"], &[]);
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    for part in ["(Python 3", "playwright 1.", "(Node ", "(GNU bash"] {
        assert!(text.contains(part), "{text}");
    }
    for (variable, value, error) in [
        (
            "WEBSVC__INTERACT__BUBBLEWRAP",
            "/nowhere/bwrap",
            "/nowhere/bwrap is not the absolute path of the program bwrap",
        ),
        (
            "WEBSVC__INTERACT__INTERPRETERS__NODE_LIBRARY",
            "/usr",
            "/usr is not the absolute path of the folder of the npm package",
        ),
        ("WEBSVC__INTERACT__INTERPRETERS__PYTHON", "/nowhere/python", "interact.interpreters.python"),
    ] {
        for arguments in [&["doctor"][..], &["serve", "--listen", "127.0.0.1:0"][..]] {
            let failed = run(arguments, &[(variable, value)]);
            let text = [failed.stdout, failed.stderr]
                .map(|text| String::from_utf8_lossy(&text).into_owned())
                .concat();
            assert!(!failed.status.success() && text.contains(error), "{arguments:?} {variable}: {text}");
        }
    }
}
