//! Tests of the sign-in to the dashboard by an identity provider: what a browser does, and attacks on each step.

use http::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderName, Method};
use serde_json::{Value, json};
use url::Url;
use websvc_server::{ClientSecret, Oidc, OidcConfig, ProviderTiming, SignInConfig};
use websvc_store::TeamChange;
use websvc_testkit::{FakeOidc, OidcKey, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse, RedirectPolicy};

use crate::oidc::{ISSUER, client_of, settings};
use crate::server::{TestServer, json_of};

const PUBLIC_URL: &str = "https://websvc.test";

/// A service with a provider by which users sign in.
struct SignInTest {
    web: TestWeb,
    provider: FakeOidc,
    key: OidcKey,
    server: TestServer,
    client: Client,
}

/// A browser at the provider: its cookie, and the URL to which the service has sent it.
struct Started {
    cookie: String,
    url: String,
}

impl SignInTest {
    async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    async fn start_with(change: impl FnOnce(&mut OidcConfig)) -> Self {
        let key = OidcKey::new("a", "RS256");
        let provider = FakeOidc::new(ISSUER, ("websvc", "s3cret"), &[&key]);
        let web = provider.serve(TestWeb::builder()).start().await;
        let mut settings = settings();
        settings.sign_in = Some(SignInConfig {
            client_id: "websvc".to_owned(),
            client_secret: Some(ClientSecret::new("s3cret")),
            public_url: PUBLIC_URL.parse().unwrap(),
            scopes: vec!["openid".to_owned(), "groups".to_owned()],
            name: "Tea account".to_owned(),
        });
        change(&mut settings);
        let oidc = Oidc::new(settings, client_of(&web)).unwrap();
        let server = TestServer::start_with(|config| config.oidc = Some(oidc)).await;
        server.store().set_team("red", &TeamChange::default()).unwrap();
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        Self { web, provider, key, server, client }
    }

    async fn send(&self, method: Method, path: &str, headers: &[(HeaderName, &str)]) -> FetchResponse {
        let url = format!("{}{path}", self.server.address).parse().unwrap();
        let mut request = FetchRequest { method, redirects: RedirectPolicy::None, ..FetchRequest::get(url) };
        for (name, value) in headers {
            request.headers.insert(name.clone(), value.parse().unwrap());
        }
        self.client.fetch(request).await.unwrap()
    }

    /// Opens the link of the page.
    async fn begin(&self) -> Started {
        let response = self
            .send(Method::GET, "/dashboard/oidc/start?return_to=https://evil.test&redirect_uri=x", &[])
            .await;
        assert_eq!(response.status, 303, "{response:?}");
        let url = location(&response);
        Started { cookie: cookies(&response)[0].clone(), url }
    }

    fn id_token(&self, nonce: &str, changes: &Value) -> String {
        let now_s = self.server.store().now_ms() / 1000;
        let mut claims = json!({
            "iss": ISSUER, "aud": "websvc", "sub": "ada", "exp": now_s + 300, "iat": now_s, "team": "red",
            "groups": ["ops"], "nonce": nonce, "email": "ada@tea.test",
        });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        self.key.sign(&claims)
    }

    /// Lets the user consent, and returns the parameters with which the browser comes back.
    fn consent(&self, started: &Started, changes: &Value) -> Vec<(String, String)> {
        self.provider.consent(&started.url, |nonce| self.id_token(nonce, changes))
    }

    async fn come_back(&self, cookie: &str, parameters: &[(String, String)]) -> FetchResponse {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        let headers = [(COOKIE, cookie)];
        let headers = if cookie.is_empty() { &[] } else { &headers[..] };
        self.send(Method::GET, &format!("/dashboard/oidc/callback?{query}"), headers).await
    }

    /// Signs in, and returns the cookie of the session.
    async fn sign_in(&self) -> String {
        let started = self.begin().await;
        let response = self.come_back(&started.cookie, &self.consent(&started, &json!({}))).await;
        assert_eq!((response.status.as_u16(), location(&response).as_str()), (303, "/"), "{response:?}");
        session_of(&response).unwrap()
    }

    async fn session(&self, cookie: &str) -> Value {
        json_of(&self.send(Method::GET, "/dashboard/session", &[(COOKIE, cookie)]).await)
    }

    /// Asserts that the browser gets no session, and which failure the page shows.
    #[track_caller]
    fn assert_failed(response: &FetchResponse, expected: &str) {
        assert_eq!(response.status, 303, "{response:?}");
        assert_eq!(location(response), format!("/#/sign-in-error/{expected}"));
        assert_eq!(session_of(response), None);
    }
}

fn location(response: &FetchResponse) -> String {
    response.headers[LOCATION].to_str().unwrap().to_owned()
}

/// Returns the names and values of the cookies that a response sets.
fn cookies(response: &FetchResponse) -> Vec<String> {
    let values = response.headers.get_all(SET_COOKIE).iter();
    values.map(|value| value.to_str().unwrap().split(';').next().unwrap().to_owned()).collect()
}

fn session_of(response: &FetchResponse) -> Option<String> {
    cookies(response).into_iter().find(|cookie| cookie.starts_with("websvc_session="))
}

fn replaced(parameters: &[(String, String)], name: &str, value: &str) -> Vec<(String, String)> {
    let mut parameters: Vec<(String, String)> =
        parameters.iter().filter(|(other, _)| other != name).cloned().collect();
    if !value.is_empty() {
        parameters.push((name.to_owned(), value.to_owned()));
    }
    parameters
}

#[tokio::test(flavor = "multi_thread")]
async fn administrator_signs_in_and_out() {
    let test = SignInTest::start().await;
    let before = test.session("").await;
    assert_eq!((&before["provider"], &before["csrfToken"]), (&json!("Tea account"), &json!(null)));
    let started = test.begin().await;
    assert!(started.cookie.starts_with("__Host-websvc_sign_in="), "{}", started.cookie);
    let url: Url = started.url.parse().unwrap();
    assert!(url.as_str().starts_with("https://idp.test/tea/authorize?tenant=tea&"), "{url}");
    let query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let get = |name: &str| query.iter().find(|(other, _)| other == name).unwrap().1.as_str();
    assert_eq!(get("redirect_uri"), "https://websvc.test/dashboard/oidc/callback");
    assert_eq!((get("scope"), get("code_challenge_method")), ("openid groups", "S256"));

    let response = test.come_back(&started.cookie, &test.consent(&started, &json!({}))).await;
    assert_eq!((response.status.as_u16(), location(&response).as_str()), (303, "/"));
    let set: Vec<&str> =
        response.headers.get_all(SET_COOKIE).iter().map(|value| value.to_str().unwrap()).collect();
    assert!(
        set.iter().any(|cookie| cookie.starts_with("websvc_session=")
            && cookie.ends_with("SameSite=Strict")
            && cookie.contains("Secure")),
        "{set:?}"
    );
    assert!(set.iter().any(|cookie| cookie.starts_with("__Host-websvc_sign_in=; Max-Age=0")), "{set:?}");
    assert_eq!(response.headers["referrer-policy"], "no-referrer");
    let session = session_of(&response).unwrap();
    let state = test.session(&session).await;
    assert_eq!(state["team"], json!("red"), "{state}");
    let keys = test.server.store().list_keys().unwrap();
    assert_eq!((keys.len(), keys[0].label.as_str()), (1, "ada@tea.test (sign-in)"));
    assert!(keys[0].rights.admin && keys[0].rights.expires_at_ms.is_some());

    let csrf = HeaderName::from_static("x-csrf-token");
    let token = state["csrfToken"].as_str().unwrap();
    assert_eq!(test.send(Method::DELETE, "/dashboard/session", &[(COOKIE, &session)]).await.status, 403);
    let out = test.send(Method::DELETE, "/dashboard/session", &[(COOKIE, &session), (csrf, token)]).await;
    assert_eq!(out.status, 200);
    assert_eq!(test.session(&session).await["team"], json!(null));
    assert!(test.server.store().list_keys().unwrap().is_empty(), "the key ends with the session");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_key_ends_the_session() {
    let test = SignInTest::start().await;
    let session = test.sign_in().await;
    let store = test.server.store();
    store.revoke_key(store.list_keys().unwrap()[0].id.as_str()).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while test.session(&session).await["team"] != json!(null) {
        assert!(std::time::Instant::now() < deadline);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_browser_that_started_a_sign_in_can_end_it() {
    let test = SignInTest::start().await;
    let (started, other) = (test.begin().await, test.begin().await);
    let parameters = test.consent(&started, &json!({}));
    // Another page sends the browser of a victim here, with the code of the attacker.
    SignInTest::assert_failed(&test.come_back("", &parameters).await, "expired");
    SignInTest::assert_failed(&test.come_back(&other.cookie, &parameters).await, "expired");
    for state in ["", "x", "0"] {
        let forged = replaced(&parameters, "state", state);
        SignInTest::assert_failed(&test.come_back(&started.cookie, &forged).await, "expired");
    }
    let twice = [parameters.clone(), vec![("state".to_owned(), "x".to_owned())]].concat();
    SignInTest::assert_failed(&test.come_back(&started.cookie, &twice).await, "provider");
    assert_eq!(test.web.count("https://idp.test/tea/token"), 0, "no code was sent on");
    let response = test.come_back(&started.cookie, &parameters).await;
    assert!(session_of(&response).is_some(), "forged requests do not use up the sign-in: {response:?}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn state_and_code_are_used_once() {
    let test = SignInTest::start().await;
    let started = test.begin().await;
    let parameters = test.consent(&started, &json!({}));
    assert!(session_of(&test.come_back(&started.cookie, &parameters).await).is_some());
    SignInTest::assert_failed(&test.come_back(&started.cookie, &parameters).await, "expired");
    assert_eq!(
        test.web.count("https://idp.test/tea/token"),
        1,
        "the second return is refused before the exchange"
    );
    let next = test.begin().await;
    let code = &parameters.iter().find(|(name, _)| name == "code").unwrap().1;
    let stolen = replaced(&test.consent(&next, &json!({})), "code", code);
    SignInTest::assert_failed(&test.come_back(&next.cookie, &stolen).await, "provider");
    let (victim, attacker) = (test.begin().await, test.begin().await);
    let code = test.consent(&victim, &json!({})).remove(0).1;
    let injected = replaced(&test.consent(&attacker, &json!({})), "code", &code);
    SignInTest::assert_failed(&test.come_back(&attacker.cookie, &injected).await, "provider");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn response_of_another_issuer_is_refused() {
    let test = SignInTest::start().await;
    for issuer in ["https://evil.test", "https://idp.test", ""] {
        let started = test.begin().await;
        let parameters = replaced(&test.consent(&started, &json!({})), "iss", issuer);
        SignInTest::assert_failed(&test.come_back(&started.cookie, &parameters).await, "provider");
    }
    assert_eq!(test.web.count("https://idp.test/tea/token"), 0, "no code was sent on");
    test.server.shut_down().await;

    let no_wait = ProviderTiming {
        max_age: std::time::Duration::ZERO,
        refresh_interval: std::time::Duration::ZERO,
        ..ProviderTiming::default()
    };
    let test = SignInTest::start_with(|settings| settings.timing = no_wait).await;
    test.provider.set_metadata("authorization_response_iss_parameter_supported", json!(null));
    let started = test.begin().await;
    let parameters = replaced(&test.consent(&started, &json!({})), "iss", "");
    let response = test.come_back(&started.cookie, &parameters).await;
    assert!(session_of(&response).is_some(), "a provider that sends no issuer: {response:?}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn id_token_is_checked_like_a_bearer() {
    let test = SignInTest::start().await;
    for (changes, expected) in [
        (json!({ "nonce": "other" }), "token"),
        (json!({ "aud": "other" }), "token"),
        (json!({ "aud": ["websvc", "other"] }), "token"),
        (json!({ "iss": "https://evil.test" }), "token"),
        (json!({ "exp": 1 }), "token"),
        (json!({ "groups": ["readers"] }), "rights"),
        (json!({ "team": "blue" }), "rights"),
        (json!({ "team": "a b" }), "rights"),
    ] {
        let started = test.begin().await;
        let response = test.come_back(&started.cookie, &test.consent(&started, &changes)).await;
        SignInTest::assert_failed(&response, expected);
    }
    let started = test.begin().await;
    let forged = test.provider.consent(&started.url, |nonce| {
        let token = test.id_token(nonce, &json!({}));
        let (start, _) = token.rsplit_once('.').unwrap();
        format!("{start}.AAAA")
    });
    SignInTest::assert_failed(&test.come_back(&started.cookie, &forged).await, "token");
    assert!(test.server.store().list_keys().unwrap().is_empty(), "no key was created");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_of_the_provider_show_a_text_of_the_page_only() {
    let test = SignInTest::start().await;
    let started = test.begin().await;
    let parameters = replaced(&test.consent(&started, &json!({})), "code", "");
    let denied = replaced(&parameters, "error", "access_denied<script>");
    let response = test.come_back(&started.cookie, &denied).await;
    SignInTest::assert_failed(&response, "denied");
    let started = test.begin().await;
    let parameters = replaced(&test.consent(&started, &json!({})), "code", "");
    SignInTest::assert_failed(&test.come_back(&started.cookie, &parameters).await, "provider");
    test.server.shut_down().await;

    let test = SignInTest::start().await;
    test.provider.set_down(true);
    let response = test.send(Method::GET, "/dashboard/oidc/start", &[]).await;
    SignInTest::assert_failed(&response, "provider");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_returns_are_limited_by_address() {
    let test = SignInTest::start().await;
    for _ in 0..10 {
        SignInTest::assert_failed(&test.come_back("", &[]).await, "expired");
    }
    let response = test.come_back("", &[]).await;
    assert_eq!(response.status, 429, "{response:?}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn secret_is_sent_as_the_provider_supports_it() {
    for (methods, secret, succeeds) in [
        (json!(["client_secret_post"]), Some("s3cret"), true),
        (json!(["client_secret_basic"]), Some("wrong"), false),
        (json!(["private_key_jwt"]), Some("s3cret"), false),
        (json!(["none"]), None, false),
    ] {
        let secret = secret.map(ClientSecret::new);
        let test =
            SignInTest::start_with(|settings| settings.sign_in.as_mut().unwrap().client_secret = secret)
                .await;
        test.provider.set_metadata("token_endpoint_auth_methods_supported", methods.clone());
        let started = test.begin().await;
        let response = test.come_back(&started.cookie, &test.consent(&started, &json!({}))).await;
        assert_eq!(session_of(&response).is_some(), succeeds, "{methods}: {response:?}");
        test.server.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_client_there_is_no_sign_in() {
    let test = SignInTest::start_with(|settings| settings.sign_in = None).await;
    for path in ["/dashboard/oidc/start", "/dashboard/oidc/callback?code=x&state=y"] {
        assert_eq!(test.send(Method::GET, path, &[]).await.status, 404, "{path}");
    }
    assert!(test.session("").await["provider"].is_null());
    test.server.shut_down().await;
    let headers = [(CONTENT_TYPE, "application/json")];
    let server = TestServer::start().await;
    let url = format!("{}/dashboard/oidc/start", server.address);
    assert_eq!(server.request(Method::GET, &url, &headers).await.status, 404);
    server.shut_down().await;
}
