//! Tests of permissions and limits that commands set while the server runs.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::harness::{Response, Service, Site, assert_fields, tea_world};

/// Creates a key with these options, and uses it for the requests that follow.
fn use_key(site: &Site, service: &mut Service, options: &[&str]) {
    let arguments = [&["keys", "create"], options].concat();
    service.key = site.succeed(&arguments).trim().to_owned();
}

/// Repeats a search until its response fulfils a condition. The service applies changes within a second.
async fn search_until(service: &Service, body: &Value, is_expected: impl Fn(&Response) -> bool) -> Response {
    // The timeout is longer for slow machines. The test proves that no restart is needed.
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let response = service.search(body.clone()).await;
        if is_expected(&response) {
            return response;
        }
        assert!(Instant::now() < deadline, "{response:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn tea() -> Value {
    json!({ "query": "tea" })
}

fn error(response: &Response) -> &str {
    response.body["error"].as_str().unwrap_or_default()
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn team_commands_apply_to_a_running_server() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    use_key(&site, &mut service, &["--team", "red"]);
    search_until(&service, &tea(), |response| response.status == 200).await;

    let arguments =
        ["teams", "set", "red", "--requests-per-minute", "2", "--zdr", "allowed", "--credits", "500"];
    site.succeed(&arguments);
    let response = search_until(&service, &tea(), |response| response.status == 429).await;
    assert!(error(&response).starts_with("Rate limit exceeded: 2 of 2 requests per minute"), "{response:?}");
    site.succeed(&["teams", "set", "red", "--requests-per-minute", "default", "--audit", "on"]);
    search_until(&service, &tea(), |response| response.status == 200).await;

    let shown: Value = serde_json::from_str(&site.succeed(&["teams", "show", "red", "--json"])).unwrap();
    assert_fields(&shown, &json!({ "zdr": "allowed", "credits": 500, "audit": true }));
    assert_eq!((&shown["requestsPerMinute"], &shown["anon"]), (&Value::Null, &json!("off")));
    let listed: Value = serde_json::from_str(&site.succeed(&["teams", "list", "--json"])).unwrap();
    assert!(listed.as_array().unwrap().contains(&shown), "{listed}");
    for (command, expected) in [(["teams", "show", "red"], "allowed"), (["teams", "list", ""], "red")] {
        let arguments: Vec<&str> = command.into_iter().filter(|argument| !argument.is_empty()).collect();
        assert!(site.succeed(&arguments).contains(expected));
    }

    site.succeed(&["teams", "delete", "red"]);
    search_until(&service, &tea(), |response| response.status == 401).await;
    for arguments in [["teams", "show", "red"], ["teams", "delete", "red"], ["teams", "delete", "default"]] {
        assert!(!site.run(&arguments).status.success(), "{arguments:?}");
    }
    let invalid = site.run(&["teams", "set", "red", "--zdr", "perhaps"]);
    assert!(String::from_utf8_lossy(&invalid.stderr).contains("off, allowed, forced"), "{invalid:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_response_carries_rate_limit_headers() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    assert_eq!(header(&service.search(tea()).await, "ratelimit-limit"), "", "there is no limit by default");
    use_key(&site, &mut service, &["--requests-per-minute", "3"]);
    let first = search_until(&service, &json!({}), |response| response.status == 400).await;
    let headers =
        ["ratelimit-limit", "ratelimit-remaining", "ratelimit-policy"].map(|name| header(&first, name));
    assert_eq!(headers, ["3", "2", "3;w=60"], "an error response has no headers");
    assert_eq!(header(&first, "ratelimit-reset"), "20");
    assert_eq!(header(&service.search(tea()).await, "ratelimit-remaining"), "1");
    assert_eq!(header(&service.search(tea()).await, "ratelimit-remaining"), "0");
    let rejected = service.search(tea()).await;
    assert_eq!((rejected.status.as_u16(), &rejected.body["code"]), (429, &json!("RATE_LIMITED")));
    assert_eq!(header(&rejected, "ratelimit-remaining"), "0");
    let after = header(&rejected, "retry-after").parse::<u64>().unwrap();
    assert!(
        (1..=20).contains(&after) && error(&rejected).contains(&format!("retry after {after}s")),
        "{rejected:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn key_is_limited_to_its_scopes_and_formats() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let with = |formats: &[&str]| json!({ "query": "tea", "scrapeOptions": { "formats": formats } });

    use_key(&site, &mut service, &["--scope", "search"]);
    search_until(&service, &tea(), |response| response.status == 200).await;
    let rejected = service.search(with(&["markdown"])).await;
    assert_eq!(
        (rejected.status.as_u16(), error(&rejected)),
        (403, "Forbidden: the key does not have the scope \"scrape\"")
    );
    let rejected = service.get("/v2/index/stats").await;
    assert_eq!(
        (rejected.status.as_u16(), error(&rejected)),
        (403, "Forbidden: the key does not have the scope \"index\"")
    );

    use_key(&site, &mut service, &["--scope", "search,scrape", "--format", "markdown", "--format", "links"]);
    search_until(&service, &with(&["markdown", "links"]), |response| response.status == 200).await;
    let rejected = service.search(with(&["markdown", "rawHtml"])).await;
    let expected = "Forbidden: the key does not allow the format \"rawHtml\"";
    assert_eq!((rejected.status.as_u16(), error(&rejected)), (403, expected));

    use_key(&site, &mut service, &["--scope", "index"]);
    let rejected = search_until(&service, &tea(), |response| response.status == 403).await;
    assert_eq!(error(&rejected), "Forbidden: the key does not have the scope \"search\"");
    assert_eq!(service.get("/v2/index/stats").await.status, 200);

    let invalid = site.run(&["keys", "create", "--scope", "sarch"]);
    assert!(
        String::from_utf8_lossy(&invalid.stderr)
            .contains("search, scrape, map, batch, crawl, monitor, interact, agent, index"),
        "{invalid:?}"
    );
    assert!(!site.run(&["keys", "create", "--format", "pdf"]).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_key_is_rejected_as_unknown() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    use_key(&site, &mut service, &["--expires", "3s"]);
    let listed = || -> Value {
        let keys: Value = serde_json::from_str(&site.succeed(&["keys", "list", "--json"])).unwrap();
        keys[0].clone()
    };
    assert!(listed()["expiresAt"].is_string());
    let rejected = search_until(&service, &tea(), |response| response.status == 401).await;
    service.key = "fc-00000000000000000000000000000000".to_owned();
    let unknown = service.search(tea()).await;
    assert_eq!(
        (unknown.status, unknown.body),
        (rejected.status, rejected.body),
        "the response reveals that the key existed"
    );
    assert_eq!(listed()["state"], json!("expired"));
    assert!(!site.run(&["keys", "create", "--expires", "2001-01-01"]).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn key_is_rejected_from_other_addresses() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let from = async |service: &Service, client: &str| {
        let headers = [("content-type", "application/json"), ("x-forwarded-for", client)];
        service.send(Method::POST, "/v2/search", &headers, tea().to_string()).await
    };
    let mut service = site.serve();
    use_key(&site, &mut service, &["--allow-ip", "192.0.2.0/24"]);
    let rejected = search_until(&service, &tea(), |response| response.status == 403).await;
    assert_eq!(error(&rejected), "Forbidden: the key may not be used from 127.0.0.1");
    let forged = from(&service, "192.0.2.7").await;
    assert_eq!(forged.status, 403, "a header of an untrusted client is used");
    let key = service.key.clone();
    assert!(service.stop().success());

    let mut service = site.serve_with(&[("WEBSVC__SERVER__TRUSTED_PROXIES", r#"["127.0.0.1"]"#)]);
    service.key = key;
    assert_eq!(from(&service, "192.0.2.7").await.status, 200);
    assert_eq!(from(&service, "192.0.2.7, 198.51.100.1").await.status, 403);
    assert_eq!(from(&service, "198.51.100.1, 192.0.2.7").await.status, 200);
    assert!(!site.run(&["keys", "create", "--allow-ip", "192.0.2.1/24"]).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn configured_rate_limit_applies_to_teams_without_one() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "rich", "--requests-per-minute", "1000"]);
    let rich = site.create_key(&["--team", "rich"]);
    let mut service = site.serve_with(&[("WEBSVC__LIMITS__REQUESTS_PER_MINUTE", "1")]);
    assert_eq!(service.search(tea()).await.status, 200);
    assert_eq!(service.search(tea()).await.status, 429);
    service.key = rich;
    for _request in 0..5 {
        assert_eq!(service.search(tea()).await.status, 200);
    }
}
