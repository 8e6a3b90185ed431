//! Programs that attack the sandbox: they end, with a clear outcome, and reach nothing.

use websvc_sandbox::{Language, MAX_OUTPUT_BYTES, Outcome, Program, TIMEOUT_EXIT_CODE, WorkerConfig};

use crate::browser::{Browser, chromium};
use crate::channels::{program, run_alone, run_with};
use crate::site;

async fn run_node(code: &str, seconds: u64) -> Outcome {
    run_alone(program(Language::Node, code, seconds)).await
}

#[tokio::test]
async fn endless_programs_are_killed() {
    for code in [
        "console.log('started'); while (true) {}",
        "console.log('started'); for (;;) await null",
        "console.log('started'); await new Promise(() => {})",
        "console.log('started'); setInterval(() => {}, 1); await new Promise(() => {})",
        "console.log('started'); const f = () => queueMicrotask(f); f(); await new Promise(() => {})",
        // A rejected promise takes the place of each error here, until the memory is full.
        "console.log('started'); const make = () => Promise.resolve().then(make); for (;;) make()",
        "console.log('started'); /(a+)+$/.test('a'.repeat(40) + 'b')",
    ] {
        let outcome = run_node(code, 2).await;
        assert!(outcome.killed, "{code}: {outcome:?}");
        assert_eq!(outcome.exit_code, TIMEOUT_EXIT_CODE);
        assert_eq!(outcome.stdout, "started\n", "{code}");
        assert_eq!(outcome.error.as_deref(), Some("the program was killed after its timeout of 2 seconds"));
        assert!(outcome.stderr.contains("timeout of 2 seconds"));
    }
}

#[tokio::test]
async fn outcome_of_a_worker_that_was_taken_over_is_bounded() {
    // The frame of the end, printed by a program in the place of the worker.
    let long = "é".repeat(MAX_OUTPUT_BYTES * 3 / 4);
    for (field, target_id) in [("result", "T2".to_owned()), ("error", "T".repeat(1000))] {
        let mut finish = serde_json::json!({ "exitCode": 1, "targetId": target_id });
        finish[field] = long.as_str().into();
        let content = finish.to_string();
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, [b"F", &length[..], content.as_bytes()].concat()).unwrap();
        let worker = WorkerConfig::new("/bin/cat".into(), vec![file.path().to_str().unwrap().to_owned()]);
        let outcome = run_with(&worker, program(Language::Node, "", 20)).await;
        for text in [outcome.result.as_deref(), outcome.error.as_deref(), Some(&outcome.stderr)] {
            assert!(text.is_none_or(|text| text.len() <= MAX_OUTPUT_BYTES), "{field}");
        }
        assert!(outcome.truncated && outcome.exit_code == 1, "{field}");
        assert_eq!(outcome.page.as_deref(), Some("T2").filter(|_| field == "result"));
    }
}

#[tokio::test]
async fn memory_is_limited() {
    for code in [
        "const list = []; for (;;) list.push('x'.repeat(100000) + list.length)",
        "const list = []; for (;;) list.push(new Uint8Array(1000000))",
        "let text = 'x'; for (;;) text += text",
        "new ArrayBuffer(2000000000)",
        "const map = new Map(); for (let i = 0; ; i++) map.set(i, { i, list: [i] })",
        "const swallow = () => { try { const a = []; for (;;) a.push(new Array(1000).fill(0)); } catch { swallow(); } }; swallow()",
    ] {
        let outcome = run_node(code, 20).await;
        let error = outcome.error.clone().unwrap_or_default();
        let is_clear = ["out of memory", "invalid array", "string too long", "call stack", "invalid"]
            .iter()
            .any(|text| error.contains(text));
        assert!(outcome.exit_code == 1 && is_clear, "{code}: {outcome:?}");
        assert!(!outcome.killed, "{code}");
    }
}

#[tokio::test]
async fn deep_recursion_is_an_error() {
    for code in [
        "const f = () => f() + 1; f()",
        "JSON.parse('['.repeat(90000))",
        "let o = {}; for (let i = 0; i < 200000; i++) o = { o }; console.log(JSON.stringify(o))",
        "eval('('.repeat(50000))",
        "new RegExp('('.repeat(50000) + ')'.repeat(50000))",
        "let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); p.x",
    ] {
        let outcome = run_node(code, 20).await;
        assert_eq!(outcome.exit_code, 1, "{code}: {outcome:?}");
        assert!(outcome.error.is_some() && !outcome.killed, "{code}: {outcome:?}");
    }
}

#[tokio::test]
async fn output_is_cut() {
    for (code, of_stdout) in [
        ("for (let i = 0; i < 100000; i++) console.log('x'.repeat(100))", true),
        ("console.log('x'.repeat(5000000))", true),
        ("for (let i = 0; i < 100000; i++) console.error('x'.repeat(100))", false),
    ] {
        let outcome = run_node(code, 20).await;
        assert_eq!(outcome.exit_code, 0, "{code}: {:?}", outcome.error);
        let text = if of_stdout { &outcome.stdout } else { &outcome.stderr };
        assert_eq!(text.len(), MAX_OUTPUT_BYTES, "{code}");
        assert!(outcome.truncated, "{code}");
    }
    let outcome = run_node("'y'.repeat(3000000)", 20).await;
    assert_eq!(outcome.result.map(|result| result.len()), Some(MAX_OUTPUT_BYTES));
    assert!(outcome.truncated);
}

#[tokio::test]
async fn nothing_of_the_machine_is_reachable() {
    let code = r"
        const found = [];
        for (const name of ['fetch', 'XMLHttpRequest', 'WebSocket', 'std', 'os', 'Deno', 'Bun', 'Worker', '__dirname',
            'module', 'exports', 'scriptArgs', 'print', 'load', 'gc', 'performance_', 'host', 'pageSource', 'endProgram',
            'browserSession', 'firstPage']) {
          if (typeof globalThis[name] !== 'undefined') found.push(name);
        }
        const tries = {
          require: () => require('fs'), environment: () => JSON.stringify(process.env),
          binding: () => process.binding('fs'), mainModule: () => process.mainModule.require('fs'),
          constructor: () => console.log.constructor('return typeof host + typeof pageSource + typeof process.env.PATH')(),
        };
        for (const [name, attempt] of Object.entries(tries)) {
          try { found.push(name + ': ' + attempt()); } catch (error) { found.push(name + ' threw'); }
        }
        for (const name of ['fs', 'std', 'os', 'node:fs', '/etc/passwd', './x.js']) {
          await import(name).then(() => found.push('imported ' + name), () => {});
        }
        found";
    let outcome = run_node(code, 20).await;
    let expected = r#"["require threw","environment: {}","binding threw","mainModule threw","constructor: undefinedundefinedundefined"]"#;
    assert_eq!(outcome.result.as_deref(), Some(expected), "{outcome:?}");
}

#[tokio::test]
async fn changed_prototypes_harm_only_the_program() {
    for code in [
        "Object.prototype.toJSON = () => 'fake'; Array.prototype.push = () => { throw new Error('no push') }; 1",
        "Promise.prototype.then = () => { throw new Error('no then') }; await page.title()",
        "JSON.stringify = () => '{\"exitCode\":0}'; JSON.parse = () => ({}); await page.title()",
        "Object.defineProperty(Object.prototype, 'id', { get() { throw new Error('no id') } }); await page.title()",
        "Map.prototype.get = () => ({ resolve() {}, reject() {} }); await page.title()",
        "delete globalThis.page; delete globalThis.console; Function.prototype.call = null; undefined",
        "Object.setPrototypeOf(page, null); page = undefined; context = undefined; 1",
        "Symbol.prototype.toString = String.prototype.replace = Array.prototype.map = null; throw { toString: null }",
        "throw Object.defineProperty(new Error('x'), 'message', { get() { throw new Error('inner') } })",
        "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })",
        "throw null",
        "({ toJSON() { throw new Error('toJSON') } })",
        "({ get x() { process.exit(7) } }).x",
    ] {
        let outcome = run_node(code, 3).await;
        let is_bounded = outcome.killed || [0, 1, 7].contains(&outcome.exit_code);
        assert!(is_bounded, "{code}: {outcome:?}");
        assert_eq!(
            outcome.exit_code != 0,
            outcome.error.is_some() || outcome.exit_code == 7,
            "{code}: {outcome:?}"
        );
    }
}

#[tokio::test]
async fn session_that_ends_fails_the_calls_of_the_program() {
    struct Ended;
    impl websvc_sandbox::CdpChannel for Ended {
        fn send(
            &mut self,
            _: String,
        ) -> websvc_sandbox::BoxFuture<'_, Result<(), websvc_sandbox::ChannelClosed>> {
            Box::pin(async { Err(websvc_sandbox::ChannelClosed) })
        }
        fn receive(&mut self) -> websvc_sandbox::BoxFuture<'_, Option<String>> {
            Box::pin(async { None })
        }
    }
    let page = websvc_sandbox::PageTarget { target_id: "T".to_owned(), session_id: "S".to_owned() };
    let program: Program = program(Language::Node, "await page.title()", 20);
    let outcome = websvc_sandbox::run(program, page, Box::new(Ended), &crate::channels::worker()).await;
    assert_eq!(outcome.exit_code, 1);
    assert!(outcome.error.unwrap().contains("has been closed"));
}

#[tokio::test]
async fn missing_worker_is_an_error() {
    let worker = WorkerConfig::new("/nowhere/worker".into(), Vec::new());
    let page = websvc_sandbox::PageTarget { target_id: "T".to_owned(), session_id: "S".to_owned() };
    let channel = Box::new(crate::channels::FakeBrowser::new());
    let outcome = websvc_sandbox::run(program(Language::Node, "1", 5), page, channel, &worker).await;
    assert_eq!(outcome.exit_code, 1);
    assert!(outcome.error.unwrap().starts_with("cannot start the worker of programs"));
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[tokio::test]
async fn process_has_limits_and_a_filter_of_system_calls() {
    let mut command = tokio::process::Command::new(crate::channels::worker().program);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).kill_on_drop(true);
    let process = command.spawn().unwrap();
    let folder = std::path::PathBuf::from(format!("/proc/{}", process.id().unwrap()));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    websvc_testkit::until("the filter is set", || read("status").contains("Seccomp:\t2")).await;
    let limits = read("limits");
    for (name, value) in [("Max open files", "3"), ("Max file size", "0"), ("Max core file size", "0")] {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        assert_eq!(line[name.len()..].split_whitespace().next(), Some(value), "{line}");
    }
    assert!(read("status").contains("NoNewPrivs:\t1"));
}

#[tokio::test]
async fn page_in_an_endless_loop_stops_no_other_program() {
    let Some(path) = chromium() else {
        websvc_testkit::skip("WEBSVC_TEST_CHROMIUM is not set (cargo xtask test)");
        return;
    };
    let web = site::start().await;
    let browser = Browser::start(path).await;
    let mut page = browser.open_page().await;
    let node = |code: &str, seconds| program(Language::Node, &site::insert_addresses(code, &web), seconds);
    let endless = "await page.goto('OTHER/inner.html'); await page.evaluate(() => { for (;;); })";
    assert!(page.run(node(endless, 5)).await.killed);
    let inner = site::insert_addresses("OTHER/inner.html", &web);
    for (code, seconds, result) in [
        ("1 + 1", 5, "2"),
        ("page.url()", 5, inner.as_str()),
        ("context.pages().length", 5, "1"),
        ("await page.title().catch(error => error.message.includes('context.newPage()'))", 10, "true"),
        ("await page.goto('SITE/list.html'); await page.evaluate(() => location.pathname)", 20, "/list.html"),
    ] {
        browser.reconnect(&mut page).await;
        let outcome = page.run(node(code, seconds)).await;
        assert_eq!(outcome.result.as_deref(), Some(result), "{code}: {outcome:?}");
    }
    browser.reconnect(&mut page).await;
    assert!(page.run(node("await page.evaluate(() => { for (;;); })", 3)).await.killed);
    browser.reconnect(&mut page).await;
    let replace = "const other = await context.newPage(); await page.close(); page = other; await page.title(); page.url()";
    let outcome = page.run(node(replace, 20)).await;
    assert_eq!(outcome.result.as_deref(), Some("about:blank"), "{outcome:?}");
}
