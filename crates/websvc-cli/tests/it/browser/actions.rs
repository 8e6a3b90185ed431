//! Tests of page actions.

use serde_json::{Value, json};

use super::{start, start_with_tea_page};

#[tokio::test]
async fn every_action_type_has_its_effect() {
    let Some(browser) = start_with_tea_page("every_action_type_has_its_effect").await else { return };
    let actions = json!([
        {"type": "wait", "milliseconds": 10},
        {"type": "wait", "selector": "#more"},
        {"type": "click", "selector": "#name"},
        {"type": "write", "text": "Ada"},
        {"type": "press", "key": "Tab"},
        {"type": "click", "selector": "#more"},
        {"type": "scroll", "direction": "down"},
        {"type": "screenshot", "quality": 50},
        {"type": "scrape"},
        {"type": "executeJavascript", "script": "return {'result': [40 + 2]}"},
        {"type": "executeJavascript", "script": "document.title"},
        {"type": "pdf", "format": "A4", "landscape": true},
    ]);
    let (page, warning) =
        browser.scrape("tea.test", json!({"formats": ["markdown"], "actions": actions})).await;
    let results = &page["actions"];
    assert!(
        page["markdown"].as_str().unwrap_or_default().contains("More was asked for by Ada."),
        "{page} {warning}"
    );
    assert_eq!(results["javascriptReturns"][0], json!({"type": "object", "value": {"result": [42]}}));
    assert_eq!(results["javascriptReturns"][1], json!({"type": "string", "value": "Tea"}));
    assert_eq!(results["scrapes"][0]["url"], json!("http://tea.test/"));
    assert!(
        results["scrapes"][0]["html"].as_str().unwrap().contains("More was asked for by Ada."),
        "{results}"
    );
    for (file, expected, magic) in [
        (&results["screenshots"][0], "image/jpeg", &b"\xff\xd8\xff"[..]),
        (&results["pdfs"][0], "application/pdf", &b"%PDF-"[..]),
    ] {
        let url = file.as_str().unwrap();
        let (content_type, bytes) = browser.service.file(&url[browser.service.address.len()..]).await;
        assert_eq!(content_type, expected);
        assert!(bytes.starts_with(magic), "{url}");
    }
    // A page with actions is not cached for other requests.
    let (page, _) = browser.scrape("tea.test", json!({"formats": ["markdown"]})).await;
    assert_eq!(page["metadata"]["cacheState"], json!("miss"));
}

#[tokio::test]
async fn failed_action_reports_its_index_and_reason() {
    let Some(browser) = start_with_tea_page("failed_action_reports_its_index_and_reason").await else {
        return;
    };
    let actions = json!([{"type": "wait", "milliseconds": 1}, {"type": "click", "selector": "#not-there"}]);
    let (page, _) = browser.scrape("tea.test", json!({"formats": ["markdown"], "actions": actions})).await;
    let error = page["metadata"]["error"].as_str().unwrap_or_else(|| panic!("{page}"));
    assert!(
        error.starts_with("SCRAPE_ACTION_ERROR: action 1 (click)") && error.contains("#not-there"),
        "{error}"
    );
}

fn script(script: &str) -> Value {
    json!({"type": "executeJavascript", "script": script})
}

#[tokio::test]
async fn wait_action_ends_at_its_time_or_element() {
    let html = "<title>Waits</title><button id=b>go</button><script>b.onclick = () => {
        b.insertAdjacentHTML('afterend', '<b hidden id=late>late</b>'); setTimeout(() => late.hidden = false, 700) }</script>";
    let pages = [("http://waits.test/", html)];
    let Some(browser) = start("wait_action_ends_at_its_time_or_element", &pages).await else { return };
    let values = browser.script_values(
        "waits.test",
        json!([
            script("globalThis.start = performance.now()"),
            {"type": "wait", "milliseconds": 400},
            script("performance.now() - start >= 400"),
            {"type": "click", "selector": "#b"},
            script("late.hidden"),
            {"type": "wait", "selector": "#late"},
            script("late.hidden"),
        ]),
    );
    assert_eq!(values.await[1..], [json!(true), json!(true), json!(false)]);
}

#[tokio::test]
async fn click_action_sends_trusted_clicks_to_one_or_all_elements() {
    let html = "<title>Clicks</title><i class=x>1</i><i class=x>2</i><i class=x>3</i><script>clicked = [];
        for (const e of document.querySelectorAll('.x'))
            e.onclick = (event) => clicked.push(e.textContent + (event.isTrusted ? '!' : '?'))</script>";
    let pages = [("http://clicks.test/", html)];
    let Some(browser) = start("click_action_sends_trusted_clicks_to_one_or_all_elements", &pages).await
    else {
        return;
    };
    let values = browser.script_values(
        "clicks.test",
        json!([
            {"type": "click", "selector": ".x"},
            script("clicked.splice(0)"),
            {"type": "click", "selector": ".x", "all": true},
            script("clicked.splice(0)"),
            {"type": "click", "selector": ".none", "all": true},
            script("clicked"),
        ]),
    );
    assert_eq!(values.await, [json!(["1!"]), json!(["1!", "2!", "3!"]), json!([])]);
}

#[tokio::test]
async fn write_and_press_actions_send_trusted_key_events() {
    let html = "<title>Keys</title><form><input id=i><textarea id=t></textarea><div id=d contenteditable></div></form>
        <script>seen = {keydown: 0, keyup: 0, input: 0, submit: 0};
        for (const kind in seen) addEventListener(kind, (event) => { seen[kind] += event.isTrusted; kind == 'submit' && event.preventDefault() })
        take = () => { const taken = {...seen}; for (const kind in seen) seen[kind] = 0; return taken }</script>";
    let pages = [("http://keys.test/", html)];
    let Some(browser) = start("write_and_press_actions_send_trusted_key_events", &pages).await else {
        return;
    };
    let values = browser.script_values(
        "keys.test",
        json!([
            {"type": "click", "selector": "#i"},
            {"type": "write", "text": "Tea & 2 cups"},
            script("[i.value, take()]"),
            {"type": "click", "selector": "#t"},
            {"type": "write", "text": "one\ntwo"},
            script("[t.value, take()]"),
            {"type": "click", "selector": "#d"},
            {"type": "write", "text": "grün"},
            script("[d.textContent, take().input]"),
            {"type": "click", "selector": "#i"},
            {"type": "press", "key": "Control+A"},
            {"type": "press", "key": "x"},
            {"type": "press", "key": "Shift+y"},
            {"type": "press", "key": "ArrowLeft"},
            {"type": "press", "key": "Backspace"},
            script("[i.value, document.activeElement.id]"),
            {"type": "press", "key": "Enter"},
            {"type": "press", "key": "Tab"},
            script("[take().submit, document.activeElement.id]"),
        ]),
    );
    let typed = |count: u32| json!({"keydown": count, "keyup": count, "input": count, "submit": 0});
    assert_eq!(
        values.await,
        [
            json!(["Tea & 2 cups", typed(12)]),
            json!(["one\ntwo", typed(7)]),
            json!(["grün", 4]),
            json!(["Y", "i"]),
            json!([1, "t"]),
        ]
    );
}

#[tokio::test]
async fn scroll_action_moves_pages_and_elements() {
    let html =
        "<title>Scrolls</title><style>body { margin: 0 } #box { height: 200px; overflow: auto }</style>
        <div id=box><p style='height: 900px'></div><p style='height: 5000px'>";
    let pages = [("http://scrolls.test/", html)];
    let Some(browser) = start("scroll_action_moves_pages_and_elements", &pages).await else { return };
    let position = script("[scrollY, box.scrollTop]");
    let values = browser.script_values(
        "scrolls.test",
        json!([
            {"type": "scroll"}, position,
            {"type": "scroll", "direction": "down"}, position,
            {"type": "scroll", "direction": "up"}, position,
            {"type": "scroll", "direction": "down", "selector": "#box"}, position,
            {"type": "scroll", "direction": "up", "selector": "#box"}, position,
        ]),
    );
    assert_eq!(json!(values.await), json!([[800, 0], [1600, 0], [800, 0], [800, 200], [800, 0]]));
}

#[tokio::test]
async fn scrape_action_captures_the_page_at_its_time() {
    let pages = [("http://scrapes.test/", "<title>Scrapes</title><p id=p>first</p>")];
    let Some(browser) = start("scrape_action_captures_the_page_at_its_time", &pages).await else { return };
    let results = browser.act(
        "scrapes.test",
        json!([
            {"type": "scrape"},
            script("p.textContent = 'second'; history.pushState(0, '', '/second')"),
            {"type": "scrape"},
        ]),
    );
    let results = results.await;
    let scrapes: Vec<_> = results["scrapes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scrape| (scrape["url"].as_str().unwrap(), scrape["html"].as_str().unwrap().contains("first")))
        .collect();
    assert_eq!(scrapes, [("http://scrapes.test/", true), ("http://scrapes.test/second", false)]);
}

#[tokio::test]
async fn execute_javascript_returns_every_value_type() {
    let pages = [("http://values.test/", "<title>Values</title>")];
    let Some(browser) = start("execute_javascript_returns_every_value_type", &pages).await else { return };
    let cases = [
        ("40 + 2", json!({"type": "number", "value": 42})),
        ("0.5", json!({"type": "number", "value": 0.5})),
        ("0 / 0", json!({"type": "number", "value": "NaN"})),
        ("10n", json!({"type": "bigint", "value": "10n"})),
        ("document.title", json!({"type": "string", "value": "Values"})),
        ("1 > 0", json!({"type": "boolean", "value": true})),
        ("null", json!({"type": "null", "value": null})),
        ("undefined", json!({"type": "undefined", "value": null})),
        ("[1, [null]]", json!({"type": "array", "value": [1, [null]]})),
        ("({a: {b: 'c'}})", json!({"type": "object", "value": {"a": {"b": "c"}}})),
        ("return 'of a function'", json!({"type": "string", "value": "of a function"})),
        ("const later = await Promise.resolve(7); return later", json!({"type": "number", "value": 7})),
    ];
    let actions: Vec<Value> = cases.iter().map(|(source, _)| script(source)).collect();
    let results = browser.act("values.test", json!(actions)).await;
    for ((source, expected), returned) in cases.iter().zip(results["javascriptReturns"].as_array().unwrap()) {
        assert_eq!(returned, expected, "{source}");
    }
}

#[tokio::test]
async fn every_failed_action_reports_its_reason() {
    let html = "<title>Failures</title><p>Some words that are enough for a page to be one.</p><button id=b>no field</button>";
    let pages = [("http://failures.test/", html)];
    let Some(browser) = start("every_failed_action_reports_its_reason", &pages).await else { return };
    for (action, reason) in [
        (json!({"type": "wait", "selector": "#never"}), "#never"),
        (json!({"type": "click", "selector": "#none"}), "#none"),
        (json!({"type": "write", "text": "x"}), "no field has the focus"),
        (json!({"type": "press", "key": "Entr"}), "\"Entr\" is not a key"),
        (json!({"type": "scroll", "selector": "#none"}), "#none"),
        (script("nothing.at.all"), "nothing is not defined"),
        (script("if ("), "SyntaxError"),
        (script("throw 'a word'"), "a word"),
        (script("for (;;);"), "terminated"),
    ] {
        let options = json!({"formats": ["markdown"], "timeout": 4000,
            "actions": [{"type": "scrape"}, {"type": "click", "selector": "#b"}, action]});
        let (page, _) = browser.scrape("failures.test", options).await;
        let error = page["metadata"]["error"].as_str().unwrap_or_else(|| panic!("{page}"));
        let prefix = format!("SCRAPE_ACTION_ERROR: action 2 ({})", action["type"].as_str().unwrap());
        assert!(error.starts_with(&prefix) && error.contains(reason), "{action}: {error}");
        assert_eq!(page["markdown"], Value::Null);
    }
}
