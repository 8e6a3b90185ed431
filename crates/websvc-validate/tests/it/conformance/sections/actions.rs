//! Section 2.2.2: actions.

use serde_json::{Value, json};
use websvc_types::Action;
use websvc_types::ViolationCode::*;
use websvc_validate::SearchPlan;

use crate::conformance::row::{Row, item, option, page, row, scrape, typed};

pub(super) fn rows() -> Vec<Row> {
    vec![
        wait(),
        screenshot(),
        click(),
        text("2.2.2 write", "write", "text", "any text, even an empty one")
            .at(option("actions", "write", "text"))
            .ok(""),
        text("2.2.2 press", "press", "key", "a key name; a space is valid")
            .at(option("actions", "press", "key"))
            .ok(" ")
            .bad("", TooShort),
        scroll(),
        row("2.2.2 scrape", "no fields")
            .at(item("actions"))
            .ok(json!({ "type": "scrape" }))
            .tested("websvc-cli", ALL_ACTIONS),
        text("2.2.2 executeJavascript", "executeJavascript", "script", "a script that is not blank")
            .at(option("actions", "executeJavascript", "script"))
            .bad(" ", TooShort),
        pdf(),
    ]
}

/// Test that runs every action over HTTP. websvc-browser has a test for each.
const ALL_ACTIONS: &str = "every_action_type_has_its_effect";

fn first(plan: &SearchPlan) -> Action {
    page(plan).actions[0].clone()
}

/// Adds the cases of a CSS selector.
fn selectors(row: Row, kind: &str) -> Row {
    row.at(option("actions", kind, "selector"))
        .ok("#id")
        .ok("ul > li:nth-child(2) a[href^=\"/x\"], .b")
        .ok("a:hover")
        .ok("p".repeat(2000))
        .bad("p".repeat(2001), TooLong)
        .bad("", TooShort)
        .bad(" ", TooShort)
        .bad("p::before", InvalidFormat)
        .bad("a[", InvalidFormat)
        .bad("> >", InvalidFormat)
        .bad("//div", InvalidFormat)
        .bad(json!({}), InvalidType)
}

fn wait() -> Row {
    let ms = |milliseconds: u64| typed("wait", "milliseconds", milliseconds);
    let row = row(
        "2.2.2 wait",
        "exactly one of milliseconds (an integer from 1 to 60000; the maximum is not specified) and selector \
         (CSS); no other property",
    )
    .at(item("actions"))
    .becomes(typed("wait", "milliseconds", 1.0), first, ms(1))
    .becomes(typed("wait", "selector", "#a"), first, typed("wait", "selector", "#a"))
    .becomes(json!({ "type": "wait", "milliseconds": 5, "selector": null }), first, ms(5))
    .bad_in(json!({ "type": "wait" }), &[("", Missing)])
    .bad_in(json!({ "type": "wait", "milliseconds": null, "selector": null }), &[("", Missing)])
    .bad_in(json!({ "type": "wait", "milliseconds": 1, "selector": "#a" }), &[("", Conflict)])
    .bad_in(json!({ "type": "wait", "milliseconds": 1, "all": true }), &[("/all", UnknownField)])
    .bad_in(json!({ "type": "wait", "ms": 1 }), &[("", Missing), ("/ms", UnknownField)])
    .at(option("actions", "wait", "milliseconds"))
    .ok(1)
    .ok(60_000)
    .bad(0, TooSmall)
    .bad(-1, TooSmall)
    .bad(60_001, TooBig)
    .bad(1.5, InvalidType)
    .bad("1", InvalidType);
    selectors(row, "wait").tested("websvc-cli", ALL_ACTIONS)
}

fn screenshot() -> Row {
    let size = json!({ "width": 800, "height": 600 });
    row("2.2.2 screenshot", "fullPage, quality and viewport as in the format screenshot")
        .at(item("actions"))
        .ok(json!({ "type": "screenshot" }))
        .ok(json!({ "type": "screenshot", "fullPage": true, "quality": 100, "viewport": size }))
        .ok(json!({ "type": "screenshot", "fullPage": null, "quality": null, "viewport": null }))
        .bad_in(typed("screenshot", "quality", 0), &[("/quality", TooSmall)])
        .bad_in(typed("screenshot", "quality", 101), &[("/quality", TooBig)])
        .bad_in(typed("screenshot", "viewport", json!({ "width": 1 })), &[("/viewport/height", Missing)])
        .bad_in(typed("screenshot", "fullPage", "yes"), &[("/fullPage", InvalidType)])
        .tested("websvc-cli", ALL_ACTIONS)
}

fn click() -> Row {
    let click = || typed("click", "selector", "a");
    let all = || json!({ "type": "click", "selector": "a", "all": true });
    let row = row("2.2.2 click", "selector (CSS) required; all default false")
        .at(item("actions"))
        .becomes(click(), first, click())
        .becomes(json!({ "type": "click", "selector": "a", "all": null }), first, click())
        .becomes(all(), first, all())
        .bad_in(json!({ "type": "click" }), &[("/selector", Missing)])
        .bad_in(
            json!({ "type": "click", "selector": null, "all": 1 }),
            &[("/all", InvalidType), ("/selector", Missing)],
        );
    selectors(row, "click")
        .tested("websvc-types", "defaults_match_the_specification")
        .tested("websvc-cli", ALL_ACTIONS)
}

/// Returns the row of an action with one required text.
fn text(name: &'static str, kind: &str, field: &str, rule: &'static str) -> Row {
    let below = format!("/{field}");
    row(name, rule)
        .at(item("actions"))
        .ok(typed(kind, field, "Enter"))
        .bad_in(json!({ "type": kind }), &[(&below, Missing)])
        .bad_in(typed(kind, field, Value::Null), &[(&below, Missing)])
        .bad_in(typed(kind, field, 1), &[(&below, InvalidType)])
        .tested("websvc-cli", ALL_ACTIONS)
}

fn scroll() -> Row {
    let to = |direction: &str| typed("scroll", "direction", direction);
    let null = json!({ "type": "scroll", "direction": null, "selector": null });
    let row = row("2.2.2 scroll", "direction up or down, default down; selector (CSS) optional")
        .at(item("actions"))
        .becomes(json!({ "type": "scroll" }), first, json!({ "type": "scroll" }))
        .becomes(null, first, json!({ "type": "scroll" }))
        .becomes(to("up"), first, to("up"))
        .becomes(to("down"), first, to("down"))
        .bad_in(typed("scroll", "direction", "left"), &[("/direction", UnknownValue)])
        .bad_in(typed("scroll", "direction", 1), &[("/direction", InvalidType)]);
    selectors(row, "scroll")
        .tested("websvc-types", "defaults_match_the_specification")
        .tested("websvc-cli", ALL_ACTIONS)
}

fn pdf() -> Row {
    let full = || json!({ "type": "pdf", "format": "A4", "landscape": true, "scale": 2.5 });
    let null = json!({ "type": "pdf", "format": null, "landscape": null, "scale": null });
    let papers = ["A0", "A1", "A2", "A3", "A4", "A5", "A6", "Letter", "Legal", "Tabloid", "Ledger"];
    let every: Vec<Value> = papers.iter().map(|paper| typed("pdf", "format", *paper)).collect();
    row(
        "2.2.2 pdf",
        "format A0 to A6, Letter, Legal, Tabloid or Ledger, default Letter; landscape default \
         false; scale, a number above 0, default 1",
    )
    .at(item("actions"))
    .becomes(json!({ "type": "pdf" }), first, json!({ "type": "pdf" }))
    .becomes(null, first, json!({ "type": "pdf" }))
    .becomes(full(), first, full())
    .becomes(typed("pdf", "scale", 1), first, typed("pdf", "scale", 1.0))
    .at(scrape("actions"))
    .ok(every)
    .at(item("actions"))
    .bad_in(typed("pdf", "format", "A7"), &[("/format", UnknownValue)])
    .bad_in(typed("pdf", "format", "a4"), &[("/format", UnknownValue)])
    .bad_in(typed("pdf", "landscape", 1), &[("/landscape", InvalidType)])
    .bad_in(typed("pdf", "scale", 0), &[("/scale", TooSmall)])
    .bad_in(typed("pdf", "scale", -0.5), &[("/scale", TooSmall)])
    .bad_in(typed("pdf", "scale", "1"), &[("/scale", InvalidType)])
    .tested("websvc-types", "defaults_match_the_specification")
    .tested("websvc-cli", ALL_ACTIONS)
}
