//! Tests of an identity provider in the configuration: tokens as bearers, the check of `websvc doctor`, and the sign-in page.

use serde_json::{Value, json};
use websvc_testkit::{FakeOidc, OidcKey, TestWeb};

use crate::harness::{Response, Service, Site};

const ISSUER: &str = "https://idp.test";

async fn start() -> (TestWeb, FakeOidc, OidcKey) {
    let key = OidcKey::new("a", "EdDSA");
    let provider = FakeOidc::new(ISSUER, ("websvc", "s3cret"), &[&key]);
    let world = provider.serve(TestWeb::builder()).start().await;
    (world, provider, key)
}

/// Returns the variables of a service that accepts tokens of the provider for the team `default`.
fn settings(world: &TestWeb) -> Vec<(&'static str, String)> {
    vec![
        ("WEBSVC__FETCH__CA_FILE", world.ca_file().display().to_string()),
        ("WEBSVC__AUTH__OIDC__ISSUER", ISSUER.to_owned()),
        ("WEBSVC__AUTH__OIDC__AUDIENCE", r#"["websvc"]"#.to_owned()),
        ("WEBSVC__AUTH__OIDC__GROUPS_CLAIM", "groups".to_owned()),
        ("WEBSVC__AUTH__OIDC__GROUPS", r#"{ readers = ["search"] }"#.to_owned()),
    ]
}

fn token(key: &OidcKey, groups: &[&str]) -> String {
    let now_s = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    key.sign(&json!({ "iss": ISSUER, "aud": "websvc", "sub": "ada", "exp": now_s + 600, "groups": groups }))
}

async fn search_with(service: &mut Service, key: String) -> Response {
    service.key = key;
    service.search(json!({ "query": "tea" })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn configured_provider_gives_access_by_groups() {
    let (world, provider, key) = start().await;
    let site = Site::new(&world);
    let mut service = Service::start(site.serve_command().envs(settings(&world)));
    let own_key = service.key.clone();
    let found = search_with(&mut service, token(&key, &["readers"])).await;
    assert_eq!(found.status, 200, "{}", found.body);
    let refused = search_with(&mut service, token(&key, &["others"])).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.body["code"]),
        (403, &json!("FORBIDDEN")),
        "{}",
        refused.body
    );
    let forged = search_with(&mut service, token(&OidcKey::new("a", "EdDSA"), &["readers"])).await;
    assert_eq!(forged.status, 401, "{}", forged.body);
    provider.set_down(true);
    assert_eq!(search_with(&mut service, own_key).await.status, 200, "keys do not depend on the provider");
    assert_eq!(search_with(&mut service, token(&key, &["readers"])).await.status, 200);
    assert!(service.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_provider_prevents_the_start() {
    let (world, _provider, _key) = start().await;
    let site = Site::new(&world);
    for (name, value, expected) in [
        ("WEBSVC__AUTH__OIDC__ISSUER", "http://idp.test", "issuer: http://idp.test is neither https nor"),
        ("WEBSVC__AUTH__OIDC__ALGORITHMS", r#"["none"]"#, "auth.oidc.algorithms"),
        ("WEBSVC__AUTH__OIDC__LEEWAY_S", "301", "auth.oidc.leeway_s must be at most 300"),
        ("WEBSVC__AUTH__OIDC__CLIENT_ID", "websvc", "server.public_url is missing"),
        ("WEBSVC__AUTH__OIDC__GROUPS", r#"{ readers = ["serch"] }"#, "\"serch\" is not one of"),
    ] {
        let output = site.serve_command().envs(settings(&world)).env(name, value).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(expected), "{name}={value}: {errors}");
    }
}

/// Runs the doctor with these variables, and returns the finding about the provider.
fn finding(site: &Site, settings: &[(&'static str, String)]) -> Value {
    let mut command = site.command(&["doctor", "--json", "--listen", "127.0.0.1:0"]);
    let output = command.envs(settings.iter().map(|(name, value)| (name, value))).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut checks = report["checks"].as_array().unwrap().iter();
    checks.find(|check| check["check"] == json!("identity provider")).cloned().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_checks_metadata_and_keys() {
    let (world, provider, _key) = start().await;
    let (site, mut settings) = (Site::new(&world), settings(&world));
    assert_eq!(finding(&site, &[]), Value::Null, "without a provider there is no check");
    let check = |settings: &[(&'static str, String)], state: &str, message: &str| {
        let found = finding(&site, settings);
        assert_eq!(found["state"], json!(state), "{found}");
        assert!(found["message"].as_str().unwrap().contains(message), "{found}");
    };
    check(&settings, "ok", "keys that can verify tokens: 1");
    provider.set_metadata("issuer", json!("https://idp.test/"));
    check(&settings, "problem", "its issuer is \"https://idp.test/\" and not \"https://idp.test\"");
    provider.set_metadata("issuer", json!(ISSUER));
    provider.set_keys(&[]);
    check(&settings, "problem", "no public key");
    provider.set_down(true);
    check(&settings, "problem", "status 503");
    provider.set_down(false);
    provider.set_keys(&[&OidcKey::new("a", "ES256")]);
    settings.push(("WEBSVC__AUTH__OIDC__LEEWAY_S", "300".to_owned()));
    settings.push(("WEBSVC__SERVER__PUBLIC_URL", "https://websvc.test".to_owned()));
    settings.push(("WEBSVC__AUTH__OIDC__CLIENT_ID", "websvc".to_owned()));
    check(&settings, "problem", "no group has admin");
    settings.push(("WEBSVC__AUTH__OIDC__GROUPS", r#"{ ops = ["admin"] }"#.to_owned()));
    check(&settings, "ok", "users can sign in");
    provider.set_metadata("token_endpoint", Value::Null);
    check(&settings, "problem", "no endpoints for sign-in");
}
