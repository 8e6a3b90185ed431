//! Tests of permissions and limits set by commands beside a running server.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::harness::{Answer, KEY, Service, Site, tea_world};

/// Makes a key with these options and gives it to the service's requests.
fn use_key(site: &Site, service: &mut Service, options: &[&str]) {
    let arguments = [&["keys", "create"], options].concat();
    service.key = site.succeed(&arguments).trim().to_owned();
}

/// Asks until the answer is as it should be, which has to be so within a second of the change.
async fn until(service: &Service, body: &Value, is_so: impl Fn(&Answer) -> bool) -> Answer {
    // On a machine that does much else a second is long; what is proven is that nobody has to do anything for it.
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let answer = service.search(body.clone()).await;
        if is_so(&answer) {
            return answer;
        }
        assert!(Instant::now() < deadline, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn tea() -> Value {
    json!({ "query": "tea" })
}

fn error(answer: &Answer) -> &str {
    answer.body["error"].as_str().unwrap_or_default()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_is_created_changed_shown_and_deleted_beside_a_server() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    use_key(&site, &mut service, &["--team", "red"]);
    until(&service, &tea(), |answer| answer.status == 200).await;

    let set = ["teams", "set", "red", "--requests-per-minute", "2", "--zdr", "allowed", "--credits", "500"];
    site.succeed(&set);
    let answer = until(&service, &tea(), |answer| answer.status == 429).await;
    assert!(error(&answer).starts_with("Rate limit exceeded: 2 of 2 requests per minute"), "{answer:?}");
    site.succeed(&["teams", "set", "red", "--requests-per-minute", "default", "--audit", "on"]);
    until(&service, &tea(), |answer| answer.status == 200).await;

    let shown: Value = serde_json::from_str(&site.succeed(&["teams", "show", "red", "--json"])).unwrap();
    assert_eq!(
        (&shown["zdr"], &shown["credits"], &shown["audit"]),
        (&json!("allowed"), &json!(500), &json!(true))
    );
    assert_eq!((&shown["requestsPerMinute"], &shown["anon"]), (&Value::Null, &json!("off")));
    let listed: Value = serde_json::from_str(&site.succeed(&["teams", "list", "--json"])).unwrap();
    assert!(listed.as_array().unwrap().contains(&shown), "{listed}");
    for (command, word) in [(["teams", "show", "red"], "allowed"), (["teams", "list", ""], "red")] {
        let arguments: Vec<&str> = command.into_iter().filter(|word| !word.is_empty()).collect();
        assert!(site.succeed(&arguments).contains(word));
    }

    site.succeed(&["teams", "delete", "red"]);
    until(&service, &tea(), |answer| answer.status == 401).await;
    for arguments in [["teams", "show", "red"], ["teams", "delete", "red"], ["teams", "delete", "default"]] {
        assert!(!site.run(&arguments).status.success(), "{arguments:?}");
    }
    let wrong = site.run(&["teams", "set", "red", "--zdr", "perhaps"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("off, allowed, forced"), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_says_how_far_one_has_come() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    assert_eq!(header(&service.search(tea()).await, "ratelimit-limit"), "", "nothing is bounded by itself");
    use_key(&site, &mut service, &["--requests-per-minute", "3"]);
    let first = until(&service, &json!({}), |answer| answer.status == 400).await;
    let told =
        ["ratelimit-limit", "ratelimit-remaining", "ratelimit-policy"].map(|name| header(&first, name));
    assert_eq!(told, ["3", "2", "3;w=60"], "an answer of any status tells");
    assert_eq!(header(&first, "ratelimit-reset"), "20");
    assert_eq!(header(&service.search(tea()).await, "ratelimit-remaining"), "1");
    assert_eq!(header(&service.search(tea()).await, "ratelimit-remaining"), "0");
    let refused = service.search(tea()).await;
    assert_eq!((refused.status.as_u16(), &refused.body["code"]), (429, &json!("RATE_LIMITED")));
    assert_eq!(header(&refused, "ratelimit-remaining"), "0");
    let after = header(&refused, "retry-after").parse::<u64>().unwrap();
    assert!(
        (1..=20).contains(&after) && error(&refused).contains(&format!("retry after {after}s")),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_may_do_what_it_was_made_for() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let with = |formats: &[&str]| json!({ "query": "tea", "scrapeOptions": { "formats": formats } });

    use_key(&site, &mut service, &["--scope", "search"]);
    until(&service, &tea(), |answer| answer.status == 200).await;
    let refused = service.search(with(&["markdown"])).await;
    assert_eq!(
        (refused.status.as_u16(), error(&refused)),
        (403, "Forbidden: the key does not have the scope \"scrape\"")
    );
    let refused = service.get("/v2/index/stats").await;
    assert_eq!(
        (refused.status.as_u16(), error(&refused)),
        (403, "Forbidden: the key does not have the scope \"index\"")
    );

    use_key(&site, &mut service, &["--scope", "search,scrape", "--format", "markdown", "--format", "links"]);
    until(&service, &with(&["markdown", "links"]), |answer| answer.status == 200).await;
    let refused = service.search(with(&["markdown", "rawHtml"])).await;
    let expected = "Forbidden: the key does not allow the format \"rawHtml\"";
    assert_eq!((refused.status.as_u16(), error(&refused)), (403, expected));

    use_key(&site, &mut service, &["--scope", "index"]);
    let refused = until(&service, &tea(), |answer| answer.status == 403).await;
    assert_eq!(error(&refused), "Forbidden: the key does not have the scope \"search\"");
    assert_eq!(service.get("/v2/index/stats").await.status, 200);

    let wrong = site.run(&["keys", "create", "--scope", "sarch"]);
    assert!(
        String::from_utf8_lossy(&wrong.stderr).contains("search, scrape, map, batch, crawl, index"),
        "{wrong:?}"
    );
    assert!(!site.run(&["keys", "create", "--format", "pdf"]).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_ends_at_its_time() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    use_key(&site, &mut service, &["--expires", "3s"]);
    let listed = || -> Value {
        let keys: Value = serde_json::from_str(&site.succeed(&["keys", "list", "--json"])).unwrap();
        keys[0].clone()
    };
    assert!(listed()["expiresAt"].is_string());
    let refused = until(&service, &tea(), |answer| answer.status == 401).await;
    service.key = "fc-00000000000000000000000000000000".to_owned();
    let unknown = service.search(tea()).await;
    assert_eq!(
        (unknown.status, unknown.body),
        (refused.status, refused.body),
        "nobody learns that it was a key"
    );
    assert_eq!(listed()["state"], json!("expired"));
    assert!(!site.run(&["keys", "create", "--expires", "2001-01-01"]).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_used_from_its_addresses_alone() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let from = async |service: &Service, client: &str| {
        let headers = [("content-type", "application/json"), ("x-forwarded-for", client)];
        service.send(Method::POST, "/v2/search", &headers, tea().to_string()).await
    };
    let mut service = site.serve();
    use_key(&site, &mut service, &["--allow-ip", "192.0.2.0/24"]);
    let refused = until(&service, &tea(), |answer| answer.status == 403).await;
    assert_eq!(error(&refused), "Forbidden: the key may not be used from 127.0.0.1");
    let forged = from(&service, "192.0.2.7").await;
    assert_eq!(forged.status, 403, "anybody can write a header");
    let key = service.key.clone();
    assert!(service.stop().success());

    let mut behind = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    behind.env("WEBSVC_API_KEY", KEY).env("WEBSVC__SERVER__TRUSTED_PROXIES", r#"["127.0.0.1"]"#);
    let mut service = Service::start(&mut behind);
    service.key = key;
    assert_eq!(from(&service, "192.0.2.7").await.status, 200);
    assert_eq!(from(&service, "192.0.2.7, 198.51.100.1").await.status, 403);
    assert_eq!(from(&service, "198.51.100.1, 192.0.2.7").await.status, 200);
    assert!(!site.run(&["keys", "create", "--allow-ip", "192.0.2.1/24"]).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_of_the_configuration_are_for_teams_that_have_none() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "rich", "--requests-per-minute", "1000"]);
    let rich = site.succeed(&["keys", "create", "--team", "rich"]).trim().to_owned();
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut service =
        Service::start(command.env("WEBSVC_API_KEY", KEY).env("WEBSVC__LIMITS__REQUESTS_PER_MINUTE", "1"));
    assert_eq!(service.search(tea()).await.status, 200);
    assert_eq!(service.search(tea()).await.status, 429);
    service.key = rich;
    for _request in 0..5 {
        assert_eq!(service.search(tea()).await.status, 200);
    }
}
