//! Tests of the sign-in by an identity provider in a browser: the button, the failures, and the page to which the user returns.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use tokio::time::Instant;
use url::Url;
use websvc_browser::{Browser, BrowserConfig, Matches, RenderRequest, Step};
use websvc_testkit::{FakeOidc, OidcKey, Page, ReceivedRequest, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig};

use super::{TOOLS, start, start_with};
use crate::browser::path_or_skip;
use crate::harness::{Service, Site};

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

const PROVIDER: &str = "http://127.0.0.1";

/// Returns a provider whose users consent at once. Its site is not that of the service, as outside of tests.
async fn consenting_provider() -> TestWeb {
    let key = OidcKey::new("a", "ES256");
    let provider = FakeOidc::new(PROVIDER, ("websvc", ""), &[&key]);
    let consenting = provider.clone();
    let authorize = move |request: &ReceivedRequest| {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let returned = consenting.consent(&request.url, |nonce| {
            let claims = json!({ "iss": PROVIDER, "aud": "websvc", "sub": "ada", "exp": now_s + 600, "groups": ["ops"], "nonce": nonce });
            key.sign(&claims)
        });
        let url: Url = request.url.parse().unwrap();
        let back = url.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
        Page::redirect(302, Url::parse_with_params(&back, returned).unwrap().as_str())
    };
    provider.serve(TestWeb::builder()).page_with("http://127.0.0.1/authorize", authorize).start().await
}

#[tokio::test(flavor = "multi_thread")]
async fn administrator_signs_in_by_the_provider_and_out() {
    let Some(path) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let world = consenting_provider().await;
    let site = Site::new(&world);
    let provider_address = world.http_addr().to_string();
    let mut command = site.serve_command();
    command
        .env("WEBSVC__FETCH__CONNECT_TO", format!("{{ \"127.0.0.1:80\" = \"{provider_address}\" }}"))
        .env("WEBSVC__SERVER__PUBLIC_URL", "http://localhost")
        .env("WEBSVC__AUTH__OIDC__ISSUER", PROVIDER)
        .env("WEBSVC__AUTH__OIDC__CLIENT_ID", "websvc")
        .env("WEBSVC__AUTH__OIDC__GROUPS_CLAIM", "groups")
        .env("WEBSVC__AUTH__OIDC__GROUPS", r#"{ ops = ["admin", "all"] }"#);
    let service = Service::start(&mut command);
    let service_address = service.address.trim_start_matches("http://");
    let guard = AddressGuard::open().connect_to("localhost:80", service_address).unwrap();
    let guard = guard.connect_to("127.0.0.1:80", &provider_address).unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    let browser = Browser::new(BrowserConfig { path: Some(path), ..BrowserConfig::default() }, client);
    let script = r#"(async () => {
        const account = document.querySelector(".account").textContent;
        const { keys } = await (await fetch("/dashboard/keys")).json();
        const { provider, team } = await (await fetch("/dashboard/session")).json();
        button("Sign out").click();
        await heading("Sign in");
        const after = (await fetch("/dashboard/keys")).status;
        return { account, keys: keys.map((key) => key.name), provider, team, readable: document.cookie, hash: location.hash, after };
    })()"#;
    let steps = vec![
        Step::WaitFor("form a.button".to_owned()),
        Step::Click { selector: "form a.button".to_owned(), matches: Matches::First },
        Step::WaitFor("nav a".to_owned()),
        Step::Script(TOOLS.to_owned()),
        Step::Script(script.to_owned()),
    ];
    let url = "http://localhost/".parse().unwrap();
    let request = RenderRequest::new(url, Instant::now() + Duration::from_secs(120));
    let rendered = browser.render(&RenderRequest { steps, ..request }).await.unwrap();
    let expected = json!({
        "account": "default Sign out", "keys": ["ada (sign-in)"], "provider": "single sign-on", "team": "default",
        "readable": "", "hash": "", "after": 401,
    });
    assert_eq!(rendered.returns.last().unwrap().value, expected);
}
