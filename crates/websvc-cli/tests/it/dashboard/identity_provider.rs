//! Tests of the sign-in by an identity provider in a browser: the button, the failures, and the page to which the user returns.

use serde_json::json;
use websvc_browser::Step;

use super::{TOOLS, start, start_with};

const SETTINGS: &[(&str, &str)] = &[
    ("WEBSVC__SERVER__PUBLIC_URL", "https://websvc.test"),
    ("WEBSVC__AUTH__OIDC__ISSUER", "https://idp.test"),
    ("WEBSVC__AUTH__OIDC__CLIENT_ID", "websvc"),
    ("WEBSVC__AUTH__OIDC__NAME", "Tea <b>account</b>"),
    ("WEBSVC__AUTH__OIDC__GROUPS_CLAIM", "groups"),
    ("WEBSVC__AUTH__OIDC__GROUPS", r#"{ ops = ["admin"] }"#),
];

/// Returns the steps that run a script on the page for signing in.
fn on_sign_in_page(script: &str) -> Vec<Step> {
    vec![
        Step::WaitFor("input[type=password]".to_owned()),
        Step::Script(TOOLS.to_owned()),
        Step::Script(format!("(async () => {{ {script} }})()")),
    ]
}

#[tokio::test]
async fn button_is_shown_only_with_a_provider() {
    let Some(dashboard) = start().await else { return };
    let count = "return document.querySelectorAll('form a').length;";
    let rendered = dashboard.open("/", on_sign_in_page(count)).await;
    assert_eq!(rendered.returns.last().unwrap().value, json!(0));

    let Some(dashboard) = start_with(SETTINGS).await else { return };
    let link = "const link = document.querySelector('form a'); \
                return [link.getAttribute('href'), link.textContent, link.querySelectorAll('b').length];";
    let rendered = dashboard.open("/", on_sign_in_page(link)).await;
    assert_eq!(
        rendered.returns.last().unwrap().value,
        json!(["/dashboard/oidc/start", "Sign in with Tea <b>account</b>", 0])
    );
}

#[tokio::test]
async fn failure_is_a_text_of_the_page_and_leaves_the_address() {
    let Some(dashboard) = start_with(SETTINGS).await else { return };
    let alert = "return [await until('an alert', () => document.querySelector('#alert').textContent), location.hash];";
    for (code, expected) in [
        ("rights", "may not administer"),
        ("expired", "try again"),
        ("unknown", "The sign-in failed"),
        ("constructor", "The sign-in failed"),
    ] {
        let rendered = dashboard.open(&format!("/#/sign-in-error/{code}"), on_sign_in_page(alert)).await;
        let found = &rendered.returns.last().unwrap().value;
        assert!(found[0].as_str().unwrap().contains(expected) && found[1] == json!(""), "{code}: {found}");
    }
}

#[tokio::test]
async fn user_returns_to_the_page_that_was_left() {
    let Some(dashboard) = start_with(SETTINGS).await else { return };
    // The session begins without the form, as after the return from the provider.
    let script = format!(
        r##"
        const link = document.querySelector("form a");
        location.hash = "#/teams";
        link.addEventListener("click", (event) => event.preventDefault());
        link.click();
        const kept = sessionStorage.getItem("websvc-page");
        const headers = {{ "content-type": "application/json" }};
        await fetch("/dashboard/session", {{ method: "POST", headers, body: JSON.stringify({{ key: "{}" }}) }});
        history.replaceState(null, "", "/");
        const {{ restorePage }} = await import("/dashboard/files/provider.js");
        restorePage();
        const restored = location.hash;
        sessionStorage.setItem("websvc-page", "https://evil.test/");
        history.replaceState(null, "", "/");
        restorePage();
        return [kept, restored, location.hash, location.host === new URL(location.href).host, sessionStorage.length];
        "##,
        dashboard.key
    );
    let rendered = dashboard.open("/", on_sign_in_page(&script)).await;
    assert_eq!(rendered.returns.last().unwrap().value, json!(["#/teams", "#/teams", "", true, 0]));
}
