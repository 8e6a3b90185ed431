//! Tests of page actions.

use serde_json::{Value, json};

use super::{start, start_with_tea_page};

#[tokio::test]
async fn every_action_type_has_its_effect() {
    let Some(browser) = start_with_tea_page().await else { return };
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
    let Some(browser) = start_with_tea_page().await else { return };
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

/// The effects themselves have tests in `websvc-browser`.
#[tokio::test]
async fn options_of_clicks_and_scrolls_apply() {
    let clicks = "<title>Clicks</title><i class=x>1</i><i class=x>2</i><i class=x>3</i><script>clicked = [];
        for (const e of document.querySelectorAll('.x'))
            e.onclick = (event) => clicked.push(e.textContent + (event.isTrusted ? '!' : '?'))</script>";
    let scrolls =
        "<title>Scrolls</title><style>body { margin: 0 } #box { height: 200px; overflow: auto }</style>
        <div id=box><p style='height: 900px'></div><p style='height: 5000px'>";
    let pages = [("http://clicks.test/", clicks), ("http://scrolls.test/", scrolls)];
    let Some(browser) = start(&pages).await else { return };
    let (clicked, position) = (script("clicked.splice(0)"), script("[scrollY, box.scrollTop]"));
    let click = json!([
        {"type": "click", "selector": ".x"}, clicked,
        {"type": "click", "selector": ".x", "all": true}, clicked,
        {"type": "click", "selector": ".none", "all": true}, clicked,
    ]);
    let scroll = json!([
        {"type": "scroll"}, position,
        {"type": "scroll", "direction": "down"}, position,
        {"type": "scroll", "direction": "up"}, position,
        {"type": "scroll", "direction": "down", "selector": "#box"}, position,
        {"type": "scroll", "direction": "up", "selector": "#box"}, position,
    ]);
    for (host, actions, expected) in [
        ("clicks.test", click, json!([["1!"], ["1!", "2!", "3!"], []])),
        ("scrolls.test", scroll, json!([[800, 0], [1600, 0], [800, 0], [800, 200], [800, 0]])),
    ] {
        assert_eq!(json!(browser.script_values(host, actions).await), expected, "{host}");
    }
}
