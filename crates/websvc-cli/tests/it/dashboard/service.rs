//! Tests of the requests of the dashboard without a browser: authentication and responses.

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Service, Site, tea_world};

const ADMIN: &str = "the-admin-key-of-these-tests";

fn serve(site: &Site) -> Service {
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    Service::start(command.env("WEBSVC_API_KEY", crate::harness::KEY).env("WEBSVC_ADMIN_KEY", ADMIN))
}

async fn system(service: &Service) -> Value {
    let bearer = format!("Bearer {ADMIN}");
    let headers = [("authorization", bearer.as_str())];
    let answer = service.send(Method::GET, "/dashboard/system", &headers, String::new()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

#[tokio::test]
async fn the_admin_key_of_the_environment_administers_and_the_other_one_does_not() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    let signed_in = service.post("/dashboard/session", json!({ "key": ADMIN }).to_string()).await;
    assert_eq!((signed_in.status.as_u16(), &signed_in.body["team"]), (200, &json!("default")));
    let cookie = signed_in.headers["set-cookie"].to_str().unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Max-Age=43200", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "over http a browser would drop it: {cookie}");
    let other = service.get("/dashboard/keys").await;
    assert_eq!(other.status, 403, "{}", other.body);
    assert_eq!(service.get("/v2/index/stats").await.status, 200);
    system(&service).await;
}

#[tokio::test]
async fn a_service_does_not_start_with_an_admin_key_that_could_be_guessed() {
    let world = tea_world().await;
    let site = Site::new(&world);
    for (key, rule) in [
        ("short-secret", "shorter than 16"),
        ("fc-YOUR-API-KEY", "placeholder"),
        (crate::harness::KEY, "same as the other one"),
    ] {
        let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
        let output =
            command.env("WEBSVC_API_KEY", crate::harness::KEY).env("WEBSVC_ADMIN_KEY", key).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("WEBSVC_ADMIN_KEY"), "{key}: {said}");
        assert!(said.contains(rule) && !said.contains(key), "{key}: {said}");
    }
}

#[tokio::test]
async fn wrong_keys_from_the_address_of_an_administrator_do_not_lock_them_out() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    let wrong = |number: u32| json!({ "key": format!("fc-wrong-{number}") }).to_string();
    for number in 0..10 {
        assert_eq!(service.post("/dashboard/session", wrong(number)).await.status, 401);
    }
    let refused = service.post("/dashboard/session", wrong(10)).await;
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(refused.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 0);
    let keys = |key: &str| {
        let bearer = format!("Bearer {key}");
        let service = &service;
        async move {
            let headers = [("authorization", bearer.as_str())];
            service.send(Method::GET, "/dashboard/keys", &headers, String::new()).await.status
        }
    };
    assert_eq!(keys("fc-wrong-11").await, 429, "the key is not tried by the other way either");
    assert_eq!(keys(ADMIN).await, 200, "a key with another beginning is");
    let signed_in = service.post("/dashboard/session", json!({ "key": ADMIN }).to_string()).await;
    assert!(signed_in.status.is_success(), "{}", signed_in.body);
    assert_eq!(service.get("/v2/index/stats").await.status, 200, "requests are none of its business");
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_the_service_are_seen_among_the_crawls() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    assert_eq!(system(&service).await["crawls"], json!([]));
    let elsewhere = Site::new(&world);
    let crawled = elsewhere
        .command(&["index", "crawl", "http://tea.test/", "--server", &service.address])
        .env("WEBSVC_API_KEY", crate::harness::KEY)
        .output()
        .unwrap();
    assert!(crawled.status.success(), "{}", String::from_utf8_lossy(&crawled.stderr));
    let seen = system(&service).await;
    let crawl = &seen["crawls"][0];
    assert_eq!((&crawl["hosts"], &crawl["team"]), (&json!(["tea.test"]), &json!("default")), "{seen}");
    assert_eq!((&crawl["ended"], &crawl["job"]), (&json!(true), &json!("crawl")), "{seen}");
    assert!(crawl["pages"].as_u64().unwrap() >= 2, "{seen}");
    service.search_until_found("brewing").await;
    let counted = system(&service).await["index"]["documents"].as_u64();
    assert!(counted.is_some_and(|documents| documents >= 1), "{counted:?}");
    let batch = json!({ "urls": ["http://coffee.test/"] }).to_string();
    let begun = service.post("/v2/batch/scrape", batch).await;
    assert_eq!(begun.status, 200, "{}", begun.body);
    let seen = system(&service).await;
    let batch = seen["crawls"].as_array().unwrap().iter().find(|crawl| crawl["id"] == begun.body["id"]);
    let batch = batch.unwrap_or_else(|| panic!("{seen}"));
    assert_eq!((&batch["job"], &batch["hosts"]), (&json!("batch"), &json!(["coffee.test"])), "{seen}");
    site.succeed(&["teams", "set", "default", "--anon", "forced"]);
    let seen = system(&service).await;
    assert_eq!(seen["crawls"][0]["team"], Value::Null, "an anonymous team is not named: {seen}");
}

#[tokio::test]
async fn sources_cache_and_scanner_are_seen_with_their_figures() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    service.list(&[("brewing", "http://tea.test/")]).await;
    let ask = json!({ "query": "brewing", "scrapeOptions": { "formats": ["markdown"] } });
    for _ in 0..2 {
        assert_eq!(service.search(ask.clone()).await.status, 200);
    }
    let seen = system(&service).await;
    let source = &seen["sources"][0];
    assert!(source["answered"].as_u64().unwrap() >= 2 && source["meanMs"].is_number(), "{seen}");
    assert_eq!((&source["unanswered"], &source["lastFailure"]), (&json!(0), &Value::Null), "{seen}");
    let cache = &seen["cache"];
    assert_eq!(
        (&cache["pages"], &cache["misses"], &cache["hits"]),
        (&json!(1), &json!(1), &json!(1)),
        "{seen}"
    );
    assert!(cache["maxBytes"].as_u64().unwrap() >= cache["bytes"].as_u64().unwrap(), "{seen}");
    assert_eq!((&seen["threat"]["scanner"], &seen["browser"]), (&Value::Null, &Value::Null), "{seen}");
}

#[tokio::test]
async fn progress_is_noted_for_who_may_write_and_nothing_of_whom_nothing_is_kept() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    let word = json!({ "id": "docs", "hosts": ["a.test"], "pages": 3, "waiting": 9 }).to_string();
    let told = async |key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        service.send(Method::POST, "/v2/index/progress", &headers, word.clone()).await
    };
    let reader = site.succeed(&["keys", "create", "--scope", "search"]);
    assert_eq!(told(reader.trim()).await.status, 403);
    site.succeed(&["teams", "set", "quiet", "--zdr", "forced"]);
    let quiet = site.succeed(&["keys", "create", "--team", "quiet"]);
    let answer = told(quiet.trim()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body["warning"].as_str().unwrap().contains("zero data retention"), "{}", answer.body);
    assert_eq!(system(&service).await["crawls"], json!([]));
    site.succeed(&["teams", "set", "unnamed", "--anon", "forced"]);
    let unnamed = site.succeed(&["keys", "create", "--team", "unnamed"]);
    assert_eq!(told(unnamed.trim()).await.body, json!({ "success": true }));
    let crawls = system(&service).await["crawls"].clone();
    assert_eq!((&crawls[0]["team"], &crawls[0]["pages"]), (&Value::Null, &json!(3)), "{crawls}");
}
