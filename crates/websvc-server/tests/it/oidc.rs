//! Tests of tokens of an identity provider as bearers: which are accepted, with which rights, and what the service fetches.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use serde_json::{Value, json};
use websvc_server::{Oidc, OidcConfig, ProviderTiming, SignatureAlgorithm, TeamSource};
use websvc_store::TeamChange;
use websvc_testkit::{FakeOidc, OidcKey, TestWeb};
use websvc_transport::{Client, ClientConfig};

use crate::server::{TestServer, json_of, send};

pub(crate) const ISSUER: &str = "https://idp.test/tea";
const DISCOVERY: &str = "https://idp.test/tea/.well-known/openid-configuration";
const KEYS: &str = "https://idp.test/tea/keys";
const USAGE: &str = "/v2/team/credit-usage";

/// Returns the settings of a provider without sign-in.
pub(crate) fn settings() -> OidcConfig {
    OidcConfig {
        issuer: ISSUER.to_owned(),
        audiences: vec!["websvc".to_owned()],
        algorithms: SignatureAlgorithm::ALL.to_vec(),
        leeway: Duration::from_secs(60),
        team: TeamSource::Claim("team".to_owned()),
        scopes_claim: Some("scope".to_owned()),
        groups_claim: Some("groups".to_owned()),
        groups: BTreeMap::from([
            ("ops".to_owned(), vec!["admin".to_owned(), "all".to_owned()]),
            ("readers".to_owned(), vec!["scrape".to_owned()]),
        ]),
        default_scopes: Vec::new(),
        sign_in: None,
        timing: ProviderTiming::default(),
    }
}

/// Returns a client that reaches the provider.
pub(crate) fn client_of(web: &TestWeb) -> Client {
    Client::new(ClientConfig { ca_file: Some(web.ca_file()), ..ClientConfig::new(web.guard()) }).unwrap()
}

/// A service with a provider, its key and a team.
struct OidcTest {
    web: TestWeb,
    provider: FakeOidc,
    key: OidcKey,
    server: TestServer,
}

impl OidcTest {
    async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    async fn start_with(change: impl FnOnce(&mut OidcConfig)) -> Self {
        let key = OidcKey::new("a", "ES256");
        let provider = FakeOidc::new(ISSUER, ("websvc", "s3cret"), &[&key]);
        let web = provider.serve(TestWeb::builder()).start().await;
        let mut settings = settings();
        change(&mut settings);
        let oidc = Oidc::new(settings, client_of(&web)).unwrap();
        let server = TestServer::start_with(|config| config.oidc = Some(oidc)).await;
        server.store().set_team("red", &TeamChange::default()).unwrap();
        Self { web, provider, key, server }
    }

    fn claims(&self, changes: &Value) -> Value {
        let now_s = self.server.store().now_ms() / 1000;
        let mut claims = json!({
            "iss": ISSUER, "aud": "websvc", "sub": "ada", "exp": now_s + 300, "team": "red", "scope": "openid search",
        });
        for (name, value) in changes.as_object().unwrap() {
            match value {
                Value::Null => drop(claims.as_object_mut().unwrap().shift_remove(name)),
                value => claims[name] = value.clone(),
            }
        }
        claims
    }

    fn token(&self, changes: &Value) -> String {
        self.key.sign(&self.claims(changes))
    }

    /// Returns the status of a request with this token, and the body.
    async fn get(&self, path: &str, token: &str) -> (u16, Value) {
        let response = self.server.send_json(Method::GET, path, token, &Value::Null).await;
        (response.status.as_u16(), json_of(&response))
    }

    #[track_caller]
    fn assert_refused(found: &(u16, Value), status: u16, expected: &str) {
        let error = found.1["error"].as_str().unwrap_or_default();
        assert!(found.0 == status && error.contains(expected), "{found:?}");
    }

    async fn refuse(&self, token: &str, status: u16, expected: &str) {
        Self::assert_refused(&self.get(USAGE, token).await, status, expected);
    }

    fn fetches(&self) -> (usize, usize) {
        (self.web.count(DISCOVERY), self.web.count(KEYS))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn token_gives_the_team_and_the_scopes_of_its_claims() {
    let test = OidcTest::start().await;
    let token = test.token(&json!({}));
    let search = json!({ "query": "tea" });
    let response = test.server.send_json(Method::POST, "/v2/search", &token, &search).await;
    assert_eq!(response.status, 200, "{:?}", response.body);
    let map = json!({ "url": "https://shop.test" });
    let response = test.server.send_json(Method::POST, "/v2/map", &token, &map).await;
    OidcTest::assert_refused(&(response.status.as_u16(), json_of(&response)), 403, "scope \"map\"");
    let readers = test.token(&json!({ "scope": null, "groups": ["readers"] }));
    let response = test.server.send_json(Method::POST, "/v2/search", &readers, &search).await;
    assert_eq!(response.status, 403);
    let (_, usage) = test.get("/v2/team/credit-usage/historical?byApiKey=true", &token).await;
    let key = usage["periods"][0]["apiKey"].as_str().unwrap_or_default();
    assert!(key.starts_with("oidc-") && key.len() == 17, "{usage}");
    assert!(test.server.store().list_keys().unwrap().is_empty(), "a token is not a key");
    let header = [(http::HeaderName::from_static("x-api-key"), token.as_str())];
    let response = send(Method::GET, &format!("{}{USAGE}", test.server.address), &header, None).await;
    assert_eq!(response.status, 200);
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_broken_rule_is_refused_with_its_reason() {
    let test = OidcTest::start().await;
    let now_s = test.server.store().now_ms() / 1000;
    for (changes, expected) in [
        (json!({ "iss": "https://evil.test" }), "issuer \"https://evil.test\" is not accepted"),
        (json!({ "iss": null }), "iss is missing"),
        (json!({ "aud": "other" }), "audience is not this service"),
        (json!({ "aud": null }), "audience is not this service"),
        (json!({ "exp": now_s - 120 }), "has expired"),
        (json!({ "exp": null }), "exp is missing"),
        (json!({ "nbf": now_s + 600 }), "not valid yet"),
        (json!({ "iat": now_s + 600 }), "issued in the future"),
        (json!({ "sub": null }), "sub is missing"),
        (json!({ "text": "x".repeat(17_000) }), "more than 16384"),
    ] {
        test.refuse(&test.token(&changes), 401, expected).await;
    }
    let response = test.server.send_json(Method::GET, USAGE, "eyJ.x.y", &Value::Null).await;
    assert_eq!(response.headers[WWW_AUTHENTICATE], "Bearer error=\"invalid_token\"");
    assert_eq!(json_of(&response)["code"], json!("UNAUTHORIZED"));
    for (changes, expected) in [
        (json!({ "team": null }), "no team in the claim team"),
        (json!({ "team": "blue" }), "team \"blue\" of the token does not exist"),
        (json!({ "team": "../red" }), "does not exist"),
        (json!({ "scope": "openid profile" }), "no scope of this service"),
        (json!({ "scope": "admin" }), "no scope of this service"),
    ] {
        test.refuse(&test.token(&changes), 403, expected).await;
    }
    assert!(test.server.store().team("blue").unwrap().is_none(), "a token creates no team");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_of_others_and_without_a_public_key_are_refused() {
    let test = OidcTest::start().await;
    let claims = test.claims(&json!({}));
    test.refuse(&OidcKey::new("a", "ES256").sign(&claims), 401, "signature is not valid").await;
    let own = test.token(&json!({}));
    let (start, _signature) = own.rsplit_once('.').unwrap();
    test.refuse(&format!("{start}."), 401, "signature is not valid").await;
    for name in ["none", "HS256"] {
        let token = test.key.sign_with_header(&json!({ "alg": name, "kid": "a" }), &claims);
        test.refuse(&token, 401, "is not allowed").await;
    }
    let confused = test.key.sign_with_header(&json!({ "alg": "RS256", "kid": "a" }), &claims);
    test.refuse(&confused, 401, "no key \"a\" for RS256").await;
    assert_eq!(test.get(USAGE, &own).await.0, 200);
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn token_never_administers() {
    let test = OidcTest::start().await;
    let token = test.token(&json!({ "groups": ["ops"] }));
    assert_eq!(test.get(USAGE, &token).await.0, 200);
    OidcTest::assert_refused(&test.get("/dashboard/keys", &token).await, 403, "admin key");
    let bearer = format!("Bearer {token}");
    let headers = [(AUTHORIZATION, bearer.as_str()), (CONTENT_TYPE, "application/json")];
    let url = format!("{}/dashboard/session", test.server.address);
    let body = json!({ "key": token }).to_string();
    let response = send(Method::POST, &url, &headers, Some(body.into())).await;
    assert!(!response.headers.contains_key("set-cookie"), "{response:?}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_still_work_and_tokens_need_a_provider() {
    let test = OidcTest::start().await;
    let key = test.server.create_key("red");
    assert_eq!(test.get(USAGE, &key).await.0, 200);
    test.refuse("fc-0123456789abcdef0123456789abcdef", 401, "Unauthorized: Invalid token").await;
    assert_eq!(test.fetches(), (0, 0), "keys fetch nothing");
    let token = test.token(&json!({}));
    test.server.shut_down().await;
    let server = TestServer::start().await;
    server.store().set_team("red", &TeamChange::default()).unwrap();
    assert_eq!(server.send_json(Method::GET, USAGE, &token, &Value::Null).await.status, 401);
    server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_fetched_once_and_tokens_of_others_fetch_none() {
    let test = OidcTest::start().await;
    for token in [
        test.token(&json!({ "iss": "https://evil.test" })),
        test.key.sign_with_header(&json!({ "alg": "none" }), &test.claims(&json!({}))),
        "eyJ..".to_owned(),
    ] {
        test.refuse(&token, 401, "Invalid token").await;
    }
    assert_eq!(test.fetches(), (0, 0));
    let tokens: Vec<String> = (0..8).map(|_| test.token(&json!({}))).collect();
    let answers = futures_util::future::join_all(tokens.iter().map(|token| test.get(USAGE, token))).await;
    assert!(answers.iter().all(|(status, _)| *status == 200), "{answers:?}");
    assert_eq!(test.fetches(), (1, 1), "one request fetches for all");
    for id in ["b", "c", "d"] {
        let token = OidcKey::new(id, "ES256").sign(&test.claims(&json!({})));
        test.refuse(&token, 401, &format!("no key \"{id}\"")).await;
    }
    assert_eq!(test.fetches(), (1, 1), "unknown keys cause no attempt within the interval");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_key_is_fetched_when_a_token_names_it() {
    let no_wait = ProviderTiming { refresh_interval: Duration::ZERO, ..ProviderTiming::default() };
    let test = OidcTest::start_with(|settings| settings.timing = no_wait).await;
    let old = test.token(&json!({}));
    assert_eq!(test.get(USAGE, &old).await.0, 200);
    let new = OidcKey::new("b", "RS256");
    test.provider.set_keys(&[&new]);
    assert_eq!(test.get(USAGE, &new.sign(&test.claims(&json!({})))).await.0, 200);
    test.refuse(&old, 401, "no key \"a\"").await;
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn provider_that_is_down_keeps_its_keys_for_a_bounded_time() {
    let stale = ProviderTiming {
        max_age: Duration::ZERO,
        refresh_interval: Duration::ZERO,
        ..ProviderTiming::default()
    };
    let test = OidcTest::start_with(|settings| settings.timing = stale).await;
    let token = test.token(&json!({}));
    test.provider.set_down(true);
    let response = test.server.send_json(Method::GET, USAGE, &token, &Value::Null).await;
    assert_eq!((response.status.as_u16(), response.headers["retry-after"].to_str().unwrap()), (503, "30"));
    let body = json_of(&response);
    assert_eq!(body["code"], json!("IDENTITY_PROVIDER_UNAVAILABLE"), "{body}");
    assert!(!body.to_string().contains("idp.test"), "the address is not for clients: {body}");
    test.provider.set_down(false);
    assert_eq!(test.get(USAGE, &token).await.0, 200);
    test.provider.set_down(true);
    assert_eq!(test.get(USAGE, &token).await.0, 200, "the last keys count");
    test.refuse(&OidcKey::new("b", "ES256").sign(&test.claims(&json!({}))), 401, "no key \"b\"").await;
    test.server.shut_down().await;

    let forgetful = ProviderTiming { max_stale: Duration::ZERO, ..stale };
    let test = OidcTest::start_with(|settings| settings.timing = forgetful).await;
    let token = test.token(&json!({}));
    assert_eq!(test.get(USAGE, &token).await.0, 200);
    test.provider.set_down(true);
    assert_eq!(test.get(USAGE, &token).await.0, 503, "keys that are too old do not count");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_of_another_issuer_or_without_tls_are_refused() {
    let no_wait = ProviderTiming { refresh_interval: Duration::ZERO, ..ProviderTiming::default() };
    let test = OidcTest::start_with(|settings| settings.timing = no_wait).await;
    let token = test.token(&json!({}));
    for (name, value, original) in [
        ("issuer", json!("https://idp.test"), json!(ISSUER)),
        ("jwks_uri", json!("http://idp.test/tea/keys"), json!(KEYS)),
        ("jwks_uri", json!("http://127.0.0.1/keys"), json!(KEYS)),
        ("jwks_uri", json!("file:///etc/passwd"), json!(KEYS)),
        ("jwks_uri", json!(null), json!(KEYS)),
        ("token_endpoint", json!("http://idp.test/token"), json!("https://idp.test/tea/token")),
    ] {
        test.provider.set_metadata(name, value.clone());
        assert_eq!(test.get(USAGE, &token).await.0, 503, "{name}={value}");
        test.provider.set_metadata(name, original);
    }
    assert_eq!(test.fetches().1, 0, "no key was fetched");
    test.provider.set_metadata("text", json!("x".repeat(200_000)));
    assert_eq!(test.get(USAGE, &token).await.0, 503, "too large");
    test.provider.set_metadata("text", json!(null));
    assert_eq!(test.get(USAGE, &token).await.0, 200);
    test.server.shut_down().await;
}
