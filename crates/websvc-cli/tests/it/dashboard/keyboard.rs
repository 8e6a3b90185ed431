//! The main path by the keyboard alone: sign in, search, make a key, think twice, revoke it, sign out.

use serde_json::{Value, json};
use websvc_browser::Step;

use super::{Stage, TOOLS, stage};

/// Says what has the focus, and whether that can be seen.
const FOCUS: &str = r#"(() => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const seen = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  return `${one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent}${seen ? "" : " (not seen)"}`.trim();
})()"#;

fn press(key: &str) -> Step {
    Step::Press(key.to_owned())
}

fn write(text: &str) -> Step {
    Step::Write(text.to_owned())
}

fn wait(selector: &str) -> Step {
    Step::WaitFor(selector.to_owned())
}

fn script(text: &str) -> Step {
    Step::Script(text.to_owned())
}

/// Goes on by one key, and notes where that leads.
fn go(key: &str, times: usize) -> Vec<Step> {
    (0..times).flat_map(|_| [press(key), script(FOCUS)]).collect()
}

#[tokio::test]
async fn everything_can_be_done_with_the_keyboard_alone_and_the_focus_is_always_seen() {
    let test = "everything_can_be_done_with_the_keyboard_alone_and_the_focus_is_always_seen";
    let Some(stage) = stage(test).await else { return };
    // The field of the key has the focus already.
    let mut steps = vec![wait("input[type=password]"), write(&stage.key), press("Enter")];
    steps.extend([
        script(TOOLS),
        wait("input[type=search]"),
        script("until('the focus', () => document.activeElement.type === 'search')"),
    ]);
    steps.extend([write("brewing"), press("Enter"), wait(".result")]);
    steps.extend(go("Shift+Tab", 4));
    steps.extend([press("Enter"), wait("input[value=index]")]);
    steps.extend(go("Tab", 2));
    steps.extend([write("by keyboard"), press("Enter"), wait(".secret")]);
    steps.extend(go("Tab", 13));
    steps.extend([press("Enter"), wait("dialog[open]"), script(FOCUS)]);
    // Thinks twice, and is back where it came from.
    steps.extend([
        press("Escape"),
        script("until('the end of the question', () => !document.querySelector('dialog'))"),
    ]);
    steps.push(script(FOCUS));
    steps.extend([press("Enter"), wait("dialog[open]")]);
    steps.extend(go("Tab", 1));
    steps.extend([press("Enter"), script("until('its end', () => said().includes('was revoked'))")]);
    steps.push(script("document.activeElement.id"));
    let rendered = stage.open("/", steps).await;
    let noted: Vec<String> = rendered
        .returns
        .iter()
        .filter_map(|one| one.value.as_str())
        .map(|text| text.split(" fc-").next().unwrap_or(text).to_owned())
        .collect();
    let listed: Value = serde_json::from_str(&stage.site.succeed(&["keys", "list", "--json"])).unwrap();
    let named = |name: &str| {
        let found = listed.as_array().unwrap().iter().find(|key| key["name"] == json!(name)).unwrap();
        (found["id"].as_str().unwrap().to_owned(), found["state"].clone())
    };
    let ((made, state), (own, _)) = (named("by keyboard"), named(""));
    assert_eq!(state, json!("revoked"));
    let (revoke_made, revoke_own) = (format!("Revoke {made}"), format!("Revoke {own}"));
    let expected = [
        "Sign out",
        "System",
        "Teams",
        "Keys",
        "Team",
        "Name",
        "Expires",
        "search",
        "scrape",
        "map",
        "batch",
        "crawl",
        "index",
        "Administrator",
        "Create",
        "Copy key",
        "Keys",
        &revoke_own,
        &revoke_made,
        "Cancel",
        &revoke_made,
        "Revoke",
        "main",
    ];
    assert_eq!(noted, expected);
}

#[tokio::test]
async fn the_skip_link_comes_first_and_signing_out_ends_the_session() {
    let test = "the_skip_link_comes_first_and_signing_out_ends_the_session";
    let Some(stage) = stage(test).await else { return };
    let mut steps = Stage::sign_in(&stage.key);
    steps.extend([wait("input[type=search]"), script("document.activeElement.blur(); scrollTo(0, 0)")]);
    steps.extend([script("document.querySelector('.skip').focus()"), script(FOCUS), press("Enter")]);
    steps.push(script("until('the content', () => document.activeElement.id === 'main')"));
    steps.extend(go("Shift+Tab", 1));
    steps.extend([press("Enter"), wait("input[type=password]")]);
    steps.push(script("(async () => (await fetch('/dashboard/keys')).status)()"));
    let rendered = stage.open("/", steps).await;
    let noted: Vec<&Value> = rendered
        .returns
        .iter()
        .map(|one| &one.value)
        .filter(|one| one.is_string() || one.is_number())
        .collect();
    assert_eq!(noted, [&json!("Skip to the content"), &json!("Sign out"), &json!(401)]);
}
