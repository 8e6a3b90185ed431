//! The actions.

use serde_json::{Value, json};

use super::{stage, tea};

#[tokio::test]
async fn all_actions_leave_what_they_are_for() {
    let Some(stage) = tea("all_actions_leave_what_they_are_for").await else { return };
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
        {"type": "executeJavascript", "script": "return {'answer': [40 + 2]}"},
        {"type": "executeJavascript", "script": "document.title"},
        {"type": "pdf", "format": "A4", "landscape": true},
    ]);
    let (page, warning) =
        stage.scrape("tea.test", json!({"formats": ["markdown"], "actions": actions})).await;
    let done = &page["actions"];
    assert!(
        page["markdown"].as_str().unwrap_or_default().contains("More was asked for by Ada."),
        "{page} {warning}"
    );
    assert_eq!(done["javascriptReturns"][0], json!({"type": "object", "value": {"answer": [42]}}));
    assert_eq!(done["javascriptReturns"][1], json!({"type": "string", "value": "Tea"}));
    assert_eq!(done["scrapes"][0]["url"], json!("http://tea.test/"));
    assert!(done["scrapes"][0]["html"].as_str().unwrap().contains("More was asked for by Ada."), "{done}");
    for (file, expected, magic) in [
        (&done["screenshots"][0], "image/jpeg", &b"\xff\xd8\xff"[..]),
        (&done["pdfs"][0], "application/pdf", &b"%PDF-"[..]),
    ] {
        let url = file.as_str().unwrap();
        let (kind, bytes) = stage.service.file(&url[stage.service.address.len()..]).await;
        assert_eq!(kind, expected);
        assert!(bytes.starts_with(magic), "{url}");
    }
    // A page that was acted on is nobody else's.
    let (page, _) = stage.scrape("tea.test", json!({"formats": ["markdown"]})).await;
    assert_eq!(page["metadata"]["cacheState"], json!("miss"));
}

#[tokio::test]
async fn an_action_that_fails_names_its_place_and_why() {
    let Some(stage) = tea("an_action_that_fails_names_its_place_and_why").await else { return };
    let actions = json!([{"type": "wait", "milliseconds": 1}, {"type": "click", "selector": "#not-there"}]);
    let (page, _) = stage.scrape("tea.test", json!({"formats": ["markdown"], "actions": actions})).await;
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
async fn waits_last_until_the_time_or_the_element() {
    let html = "<title>Waits</title><button id=b>go</button><script>b.onclick = () => {
        b.insertAdjacentHTML('afterend', '<b hidden id=late>late</b>'); setTimeout(() => late.hidden = false, 700) }</script>";
    let pages = [("http://waits.test/", html)];
    let Some(stage) = stage("waits_last_until_the_time_or_the_element", &pages).await else { return };
    let returns = stage.returns(
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
    assert_eq!(returns.await[1..], [json!(true), json!(true), json!(false)]);
}

#[tokio::test]
async fn clicks_are_of_the_mouse_on_one_or_on_all() {
    let html = "<title>Clicks</title><i class=x>1</i><i class=x>2</i><i class=x>3</i><script>clicked = [];
        for (const e of document.querySelectorAll('.x'))
            e.onclick = (event) => clicked.push(e.textContent + (event.isTrusted ? '!' : '?'))</script>";
    let pages = [("http://clicks.test/", html)];
    let Some(stage) = stage("clicks_are_of_the_mouse_on_one_or_on_all", &pages).await else { return };
    let returns = stage.returns(
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
    assert_eq!(returns.await, [json!(["1!"]), json!(["1!", "2!", "3!"]), json!([])]);
}

#[tokio::test]
async fn texts_are_typed_key_by_key_into_whatever_takes_text() {
    let html = "<title>Keys</title><form><input id=i><textarea id=t></textarea><div id=d contenteditable></div></form>
        <script>seen = {keydown: 0, keyup: 0, input: 0, submit: 0};
        for (const kind in seen) addEventListener(kind, (event) => { seen[kind] += event.isTrusted; kind == 'submit' && event.preventDefault() })
        take = () => { const taken = {...seen}; for (const kind in seen) seen[kind] = 0; return taken }</script>";
    let pages = [("http://keys.test/", html)];
    let Some(stage) = stage("texts_are_typed_key_by_key_into_whatever_takes_text", &pages).await else {
        return;
    };
    let returns = stage.returns(
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
        returns.await,
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
async fn pages_and_elements_are_scrolled_up_and_down() {
    let html =
        "<title>Scrolls</title><style>body { margin: 0 } #box { height: 200px; overflow: auto }</style>
        <div id=box><p style='height: 900px'></div><p style='height: 5000px'>";
    let pages = [("http://scrolls.test/", html)];
    let Some(stage) = stage("pages_and_elements_are_scrolled_up_and_down", &pages).await else { return };
    let look = script("[scrollY, box.scrollTop]");
    let returns = stage.returns(
        "scrolls.test",
        json!([
            {"type": "scroll"}, look,
            {"type": "scroll", "direction": "down"}, look,
            {"type": "scroll", "direction": "up"}, look,
            {"type": "scroll", "direction": "down", "selector": "#box"}, look,
            {"type": "scroll", "direction": "up", "selector": "#box"}, look,
        ]),
    );
    assert_eq!(json!(returns.await), json!([[800, 0], [1600, 0], [800, 0], [800, 200], [800, 0]]));
}

#[tokio::test]
async fn scrapes_are_of_their_moment() {
    let pages = [("http://scrapes.test/", "<title>Scrapes</title><p id=p>first</p>")];
    let Some(stage) = stage("scrapes_are_of_their_moment", &pages).await else { return };
    let done = stage.act(
        "scrapes.test",
        json!([
            {"type": "scrape"},
            script("p.textContent = 'second'; history.pushState(0, '', '/second')"),
            {"type": "scrape"},
        ]),
    );
    let done = done.await;
    let taken: Vec<_> = done["scrapes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scrape| (scrape["url"].as_str().unwrap(), scrape["html"].as_str().unwrap().contains("first")))
        .collect();
    assert_eq!(taken, [("http://scrapes.test/", true), ("http://scrapes.test/second", false)]);
}

#[tokio::test]
async fn scripts_return_every_type_of_value() {
    let pages = [("http://values.test/", "<title>Values</title>")];
    let Some(stage) = stage("scripts_return_every_type_of_value", &pages).await else { return };
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
    let done = stage.act("values.test", json!(actions)).await;
    for ((source, expected), returned) in cases.iter().zip(done["javascriptReturns"].as_array().unwrap()) {
        assert_eq!(returned, expected, "{source}");
    }
}

#[tokio::test]
async fn every_action_that_fails_is_named_with_its_reason() {
    let html = "<title>Failures</title><p>Some words that are enough for a page to be one.</p><button id=b>no field</button>";
    let pages = [("http://failures.test/", html)];
    let Some(stage) = stage("every_action_that_fails_is_named_with_its_reason", &pages).await else { return };
    for (action, reason) in [
        (json!({"type": "wait", "selector": "#never"}), "#never"),
        (json!({"type": "click", "selector": "#none"}), "#none"),
        (json!({"type": "write", "text": "x"}), "no field has the focus"),
        (json!({"type": "press", "key": "Entr"}), "\"Entr\" is no key"),
        (json!({"type": "scroll", "selector": "#none"}), "#none"),
        (script("nothing.at.all"), "nothing is not defined"),
        (script("if ("), "SyntaxError"),
        (script("throw 'a word'"), "a word"),
        (script("for (;;);"), "terminated"),
    ] {
        let options = json!({"formats": ["markdown"], "timeout": 4000,
            "actions": [{"type": "scrape"}, {"type": "click", "selector": "#b"}, action]});
        let (page, _) = stage.scrape("failures.test", options).await;
        let error = page["metadata"]["error"].as_str().unwrap_or_else(|| panic!("{page}"));
        let named = format!("SCRAPE_ACTION_ERROR: action 2 ({})", action["type"].as_str().unwrap());
        assert!(error.starts_with(&named) && error.contains(reason), "{action}: {error}");
        assert_eq!(page["markdown"], Value::Null);
    }
}
