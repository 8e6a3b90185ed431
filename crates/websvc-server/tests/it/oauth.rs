//! Tests of OAuth over HTTP: what a client does from the 401 to the refresh, and attacks on each step.

use data_encoding::BASE64URL_NOPAD;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, WWW_AUTHENTICATE};
use http::{HeaderName, Method};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use url::Url;
use websvc_server::OauthIssuer;
use websvc_store::KeyRights;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse, RedirectPolicy};

use crate::server::TestServer;

const ISSUER: &str = "https://websvc.test";
const CALLBACK: &str = "https://client.test/callback";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const FORM: &str = "application/x-www-form-urlencoded";

/// A service with OAuth and an administrator.
struct OauthTest {
    server: TestServer,
    client: Client,
    admin: String,
}

impl OauthTest {
    async fn start() -> Self {
        let server = TestServer::start_with(|config| {
            let url: Url = ISSUER.parse().unwrap();
            config.oauth = Some(OauthIssuer::new(&url).unwrap());
            config.public_url = Some(url);
        })
        .await;
        let rights = KeyRights { admin: true, ..KeyRights::default() };
        let admin = server.store().create_key_with("red", "", &rights).unwrap().secret.expose().to_owned();
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        Self { server, client, admin }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, &str)],
        body: Option<String>,
    ) -> FetchResponse {
        let url = format!("{}{path}", self.server.address).parse().unwrap();
        let mut request = FetchRequest { method, redirects: RedirectPolicy::None, ..FetchRequest::get(url) };
        for (name, value) in headers {
            request.headers.insert(name.clone(), value.parse().unwrap());
        }
        request.body = body.map(Into::into);
        self.client.fetch(request).await.unwrap()
    }

    async fn json(&self, path: &str, headers: &[(HeaderName, &str)], body: Value) -> (u16, Value) {
        let headers = [headers, &[(CONTENT_TYPE, "application/json")]].concat();
        parsed(&self.send(Method::POST, path, &headers, Some(body.to_string())).await)
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        parsed(&self.send(Method::GET, path, &[], None).await)
    }

    async fn form(&self, path: &str, fields: &[(&str, &str)]) -> (u16, Value) {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        parsed(&self.send(Method::POST, path, &[(CONTENT_TYPE, FORM)], Some(body)).await)
    }

    async fn register(&self, redirect_uris: &[&str]) -> (u16, Value) {
        let body = json!({ "client_name": "Tea client", "redirect_uris": redirect_uris, "software_id": "x" });
        self.json("/oauth/register", &[], body).await
    }

    async fn client_id(&self) -> String {
        let (status, client) = self.register(&[CALLBACK]).await;
        assert_eq!(status, 201, "{client}");
        client["client_id"].as_str().unwrap().to_owned()
    }

    /// Sends the consent of the administrator, and returns the parameters with which the browser returns to the client.
    async fn consent(&self, query: &str, scopes: &[&str]) -> (u16, Value) {
        let bearer = format!("Bearer {}", self.admin);
        let body = json!({ "query": query, "scopes": scopes });
        self.json("/dashboard/oauth/authorize", &[(http::header::AUTHORIZATION, bearer.as_str())], body).await
    }

    async fn code(&self, client: &str) -> String {
        let (status, body) = self.consent(&query(client, &[]), &["search"]).await;
        assert_eq!(status, 200, "{body}");
        let url: Url = body["location"].as_str().unwrap().parse().unwrap();
        url.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
    }

    async fn exchange(&self, client: &str, code: &str) -> (u16, Value) {
        self.form("/oauth/token", &code_form(client, code)).await
    }

    async fn refresh(&self, client: &str, token: &str) -> (u16, Value) {
        let form = [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client)];
        self.form("/oauth/token", &form).await
    }

    /// Returns the status of a request to the MCP endpoint.
    async fn mcp(&self, token: &str) -> u16 {
        let bearer = format!("Bearer {token}");
        let headers = [
            (http::header::AUTHORIZATION, bearer.as_str()),
            (http::header::ACCEPT, "application/json, text/event-stream"),
        ];
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        self.json("/mcp", &headers, call).await.0
    }
}

fn parsed(response: &FetchResponse) -> (u16, Value) {
    (response.status.as_u16(), serde_json::from_slice(&response.body).unwrap_or_default())
}

fn challenge() -> String {
    BASE64URL_NOPAD.encode(digest(&SHA256, VERIFIER.as_bytes()).as_ref())
}

/// Returns the query of a client, in which some parameters are changed; an empty value leaves one out.
fn query(client: &str, changes: &[(&str, &str)]) -> String {
    let challenge = challenge();
    let mut pairs = vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("state", "a b&c"),
        ("scope", "search scrape offline_access"),
        ("resource", "https://websvc.test/mcp"),
    ];
    for (name, value) in changes {
        pairs.retain(|(other, _)| other != name);
        pairs.push((name, value));
    }
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

fn code_form<'a>(client: &'a str, code: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
        ("resource", "https://websvc.test/mcp"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn client_connects_by_the_url_alone_and_refreshes() {
    let test = OauthTest::start().await;
    let refused =
        test.send(Method::POST, "/mcp", &[(CONTENT_TYPE, "application/json")], Some("{}".into())).await;
    let metadata = "https://websvc.test/.well-known/oauth-protected-resource/mcp";
    assert_eq!(refused.headers[WWW_AUTHENTICATE], format!("Bearer resource_metadata=\"{metadata}\""));
    let (_, resource) = test.get("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(
        (&resource["resource"], &resource["authorization_servers"]),
        (&json!("https://websvc.test/mcp"), &json!([ISSUER]))
    );
    let (_, server) = test.get("/.well-known/oauth-authorization-server").await;
    assert_eq!(
        (&server["issuer"], &server["code_challenge_methods_supported"]),
        (&json!(ISSUER), &json!(["S256"]))
    );
    assert_eq!(server["token_endpoint"], json!("https://websvc.test/oauth/token"));
    let client = test.client_id().await;
    let opened =
        test.send(Method::GET, &format!("/oauth/authorize?{}", query(&client, &[])), &[], None).await;
    assert_eq!(opened.status, 307);
    assert_eq!(opened.headers[LOCATION], format!("{ISSUER}/#/authorize?{}", query(&client, &[])));

    let bearer = format!("Bearer {}", test.admin);
    let admin = [(http::header::AUTHORIZATION, bearer.as_str())];
    let (_, shown) =
        test.json("/dashboard/oauth/request", &admin, json!({ "query": query(&client, &[]) })).await;
    assert_eq!(
        (&shown["client"]["name"], &shown["redirectHost"], &shown["team"], &shown["scopes"]),
        (&json!("Tea client"), &json!("client.test"), &json!("red"), &json!(["search", "scrape"]))
    );
    let denied: Url = shown["denied"].as_str().unwrap().parse().unwrap();
    assert_eq!(denied.query(), Some("error=access_denied&state=a+b%26c&iss=https%3A%2F%2Fwebsvc.test"));
    let (_, body) = test.consent(&query(&client, &[]), &["search"]).await;
    let location: Url = body["location"].as_str().unwrap().parse().unwrap();
    assert!(location.as_str().starts_with("https://client.test/callback?code=fa-"), "{location}");
    assert!(location.as_str().ends_with("&state=a+b%26c&iss=https%3A%2F%2Fwebsvc.test"), "{location}");

    let code = test.code(&client).await;
    let (status, tokens) = test.exchange(&client, &code).await;
    assert_eq!(
        (status, &tokens["token_type"], &tokens["scope"]),
        (200, &json!("Bearer"), &json!("search")),
        "{tokens}"
    );
    let (first, refresh) =
        (tokens["access_token"].as_str().unwrap(), tokens["refresh_token"].as_str().unwrap());
    assert_eq!(test.mcp(first).await, 200);
    let (status, next) = test.refresh(&client, refresh).await;
    assert_eq!(status, 200, "{next}");
    let second = next["access_token"].as_str().unwrap();
    assert_eq!((test.mcp(second).await, test.mcp(first).await), (200, 401), "a refresh ends the last token");
    let keys = test.server.store().list_keys().unwrap();
    let key =
        keys.iter().find(|key| key.label == "Tea client (OAuth)" && key.redeem_until_ms.is_none()).unwrap();
    assert!(key.team == "red" && !key.rights.admin && key.rights.expires_at_ms.is_some(), "{key:?}");

    let wrong_client = [("token", second), ("client_id", "other")];
    assert_eq!(test.form("/oauth/revoke", &wrong_client).await.0, 200);
    assert_eq!(test.mcp(second).await, 200, "another client cannot revoke");
    assert_eq!(test.form("/oauth/revoke", &[("token", second), ("client_id", &client)]).await.0, 200);
    assert_eq!(test.mcp(second).await, 401);
    let (status, body) = test.refresh(&client, next["refresh_token"].as_str().unwrap()).await;
    assert_eq!((status, &body["error"]), (400, &json!("invalid_grant")), "the whole grant is revoked");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn second_use_of_a_code_or_refresh_token_revokes_the_grant() {
    let test = OauthTest::start().await;
    let client = test.client_id().await;
    let code = test.code(&client).await;
    let (_, tokens) = test.exchange(&client, &code).await;
    let access = tokens["access_token"].as_str().unwrap();
    assert_eq!(test.mcp(access).await, 200);
    let (status, body) = test.exchange(&client, &code).await;
    assert_eq!((status, &body["error"]), (400, &json!("invalid_grant")));
    assert_eq!(
        test.mcp(access).await,
        401,
        "the code was stolen, or the one who exchanged it first had stolen it"
    );

    let (_, first) = test.exchange(&client, &test.code(&client).await).await;
    let (_, second) = test.refresh(&client, first["refresh_token"].as_str().unwrap()).await;
    assert_eq!(test.mcp(second["access_token"].as_str().unwrap()).await, 200);
    assert_eq!(test.refresh(&client, first["refresh_token"].as_str().unwrap()).await.0, 400);
    assert_eq!(test.mcp(second["access_token"].as_str().unwrap()).await, 401);
    assert_eq!(test.refresh(&client, second["refresh_token"].as_str().unwrap()).await.0, 400);
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn code_is_useless_without_its_verifier_client_and_address() {
    let test = OauthTest::start().await;
    let (client, other) = (test.client_id().await, test.client_id().await);
    let code = test.code(&client).await;
    let wrong_verifier = "x".repeat(43);
    for (name, value, error) in [
        ("code_verifier", wrong_verifier.as_str(), "invalid_grant"),
        ("code_verifier", "", "invalid_request"),
        ("code_verifier", "short", "invalid_request"),
        ("code_verifier", challenge().as_str(), "invalid_grant"),
        ("client_id", other.as_str(), "invalid_grant"),
        ("client_id", "", "invalid_request"),
        ("redirect_uri", "https://client.test/other", "invalid_grant"),
        ("redirect_uri", "", "invalid_request"),
        ("resource", "https://other.test/mcp", "invalid_target"),
        ("grant_type", "password", "unsupported_grant_type"),
        ("code", "fa-0", "invalid_grant"),
    ] {
        let mut form = code_form(&client, &code);
        form.iter_mut().filter(|(other, _)| *other == name).for_each(|pair| pair.1 = value);
        let (status, body) = test.form("/oauth/token", &form).await;
        assert_eq!((status, &body["error"]), (400, &json!(error)), "{name}={value}: {body}");
    }
    let twice = [code_form(&client, &code), vec![("client_id", other.as_str())]].concat();
    assert_eq!(test.form("/oauth/token", &twice).await.1["error"], json!("invalid_request"));
    assert_eq!(
        test.refresh(&client, &code).await.1["error"],
        json!("invalid_grant"),
        "a code is no refresh token"
    );
    let as_refresh = code.replacen("fa-", "fr-", 1);
    assert_eq!(
        test.refresh(&client, &as_refresh).await.1["error"],
        json!("invalid_grant"),
        "whatever its prefix"
    );
    assert_eq!(test.mcp(&code).await, 401, "a code is no key");
    let (status, tokens) = test.exchange(&client, &code).await;
    assert_eq!(status, 200, "failed attempts without the proof do not use up the code: {tokens}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_clients_are_checked_before_the_user_sees_them() {
    let test = OauthTest::start().await;
    let client = test.client_id().await;
    let long = "s".repeat(1025);
    for (name, value, expected) in [
        ("client_id", "unknown", "invalid_client"),
        ("redirect_uri", "https://evil.test/callback", "redirect_uri"),
        ("redirect_uri", "https://client.test/callback?x=1", "redirect_uri"),
        ("redirect_uri", "", "redirect_uri is missing"),
        ("response_type", "token", "unsupported_response_type"),
        ("code_challenge_method", "plain", "must be S256"),
        ("code_challenge_method", "", "code_challenge_method is missing"),
        ("code_challenge", "", "code_challenge is missing"),
        ("code_challenge", "abc", "not a SHA-256"),
        ("resource", "https://other.test/mcp", "invalid_target"),
        ("scope", "admin", "invalid_scope"),
        ("state", long.as_str(), "state is longer"),
    ] {
        let (status, body) = test.consent(&query(&client, &[(name, value)]), &["search"]).await;
        assert_eq!(status, 400, "{name}={value}: {body}");
        assert!(body["error"].as_str().unwrap().contains(expected), "{name}={value}: {body}");
        assert!(body["location"].is_null());
    }
    let twice = format!("{}&redirect_uri=https%3A%2F%2Fevil.test%2F", query(&client, &[]));
    assert_eq!(test.consent(&twice, &["search"]).await.0, 400);
    for scopes in [&["map"][..], &["search", "admin"], &[]] {
        let (status, body) = test.consent(&query(&client, &[]), scopes).await;
        assert_eq!(status, 400, "{scopes:?}: {body}");
    }
    assert!(
        test.server.store().list_keys().unwrap().iter().all(|key| key.rights.admin),
        "nothing was granted"
    );
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn consent_needs_an_administrator_and_the_token_of_the_session() {
    let test = OauthTest::start().await;
    let client = test.client_id().await;
    let body = || json!({ "query": query(&client, &[]), "scopes": ["search"] });
    let path = "/dashboard/oauth/authorize";
    assert_eq!(test.json(path, &[], body()).await.0, 401);
    let ordinary = format!("Bearer {}", test.server.create_key("red"));
    assert_eq!(test.json(path, &[(http::header::AUTHORIZATION, ordinary.as_str())], body()).await.0, 403);
    let sign_in = json!({ "key": test.admin }).to_string();
    let headers = [(CONTENT_TYPE, "application/json")];
    let session = test.send(Method::POST, "/dashboard/session", &headers, Some(sign_in)).await;
    let cookie = session.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let (_, session) = parsed(&session);
    let token = session["csrfToken"].as_str().unwrap();
    let csrf = HeaderName::from_static("x-csrf-token");
    assert_eq!(
        test.json(path, &[(COOKIE, cookie.as_str())], body()).await.0,
        403,
        "another page cannot consent"
    );
    assert_eq!(test.json(path, &[(COOKIE, cookie.as_str()), (csrf.clone(), "wrong")], body()).await.0, 403);
    let (status, granted) = test.json(path, &[(COOKIE, cookie.as_str()), (csrf, token)], body()).await;
    assert_eq!(status, 200, "{granted}");
    let page = test.send(Method::GET, "/", &[(http::header::ACCEPT, "text/html")], None).await;
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("script-src 'self'"), "{policy}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn registration_checks_addresses_and_is_limited() {
    let test = OauthTest::start().await;
    for (uris, expected) in [
        (vec!["http://client.test/cb"], "invalid_redirect_uri"),
        (vec!["javascript:alert(1)"], "invalid_redirect_uri"),
        (vec![CALLBACK, "https://client.test/#x"], "invalid_redirect_uri"),
        (vec![], "invalid_redirect_uri"),
        (vec![CALLBACK; 11], "invalid_redirect_uri"),
    ] {
        let (status, body) = test.register(&uris).await;
        assert_eq!((status, &body["error"]), (400, &json!(expected)), "{uris:?}");
    }
    let (status, body) = test.json("/oauth/register", &[], json!({ "redirect_uris": "x" })).await;
    assert_eq!((status, &body["error"]), (400, &json!("invalid_client_metadata")));
    let named = json!({ "redirect_uris": [CALLBACK], "client_name": "\u{202e}Tea\u{0}", "token_endpoint_auth_method": "client_secret_post" });
    let (status, body) = test.json("/oauth/register", &[], named).await;
    assert_eq!(
        (status, &body["client_name"], &body["token_endpoint_auth_method"]),
        (201, &json!("Tea"), &json!("none"))
    );
    assert!(body["client_secret"].is_null(), "{body}");
    for _ in 0..3 {
        test.register(&[CALLBACK]).await;
    }
    assert_eq!(test.register(&[CALLBACK]).await.0, 429);
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn program_with_a_listed_scheme_connects_and_the_page_names_the_scheme() {
    const CALLBACK: &str = "cursor://anysphere.cursor-mcp/oauth/callback";
    let test = OauthTest::start().await;
    for refused in ["evil://callback", "javascript:alert(1)", "cursor:"] {
        let (status, body) = test.register(&[refused]).await;
        assert_eq!((status, &body["error"]), (400, &json!("invalid_redirect_uri")), "{refused}");
    }
    let (status, client) = test.register(&[CALLBACK]).await;
    assert_eq!(status, 201, "{client}");
    let query = query(client["client_id"].as_str().unwrap(), &[("redirect_uri", CALLBACK)]);
    let bearer = format!("Bearer {}", test.admin);
    let admin = [(http::header::AUTHORIZATION, bearer.as_str())];
    let (_, shown) = test.json("/dashboard/oauth/request", &admin, json!({ "query": query })).await;
    assert_eq!((&shown["redirectScheme"], &shown["redirectUri"]), (&json!("cursor"), &json!(CALLBACK)));
    let (status, granted) = test.consent(&query, &["search"]).await;
    assert_eq!(status, 200, "{granted}");
    let location = granted["location"].as_str().unwrap();
    assert!(location.starts_with(&format!("{CALLBACK}?code=fa-")), "{location}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scheme_that_is_no_longer_listed_gets_no_code() {
    let test = OauthTest::start().await;
    let client =
        test.server.store().register_oauth_client("Tea", &["other://a/callback".to_owned()]).unwrap();
    let client = client.unwrap();
    let query = query(&client.id, &[("redirect_uri", "other://a/callback")]);
    let (status, body) = test.consent(&query, &["search"]).await;
    assert!(status == 400 && body["error"].as_str().unwrap().contains("redirect_uri"), "{body}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_oauth_there_are_no_endpoints_and_no_challenge() {
    let server = TestServer::start().await;
    let get = async |path: &str| server.request(Method::GET, &format!("{}{path}", server.address), &[]).await;
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/oauth/authorize",
    ] {
        assert_eq!(get(path).await.status, 404, "{path}");
    }
    let url = format!("{}/mcp", server.address);
    let refused = server.request(Method::POST, &url, &[]).await;
    assert_eq!(refused.headers[WWW_AUTHENTICATE], "Bearer");
    server.shut_down().await;
}
