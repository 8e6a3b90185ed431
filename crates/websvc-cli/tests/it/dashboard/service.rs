//! Tests of the requests of the dashboard without a browser: authentication and responses.

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Response, Service, Site, assert_fields, tea_world};

const ADMIN: &str = "the-admin-key-of-these-tests";

fn serve(site: &Site) -> Service {
    site.serve_with(&[("WEBSVC_ADMIN_KEY", ADMIN)])
}

async fn system(service: &Service) -> Value {
    let bearer = format!("Bearer {ADMIN}");
    let headers = [("authorization", bearer.as_str())];
    let response = service.send(Method::GET, "/dashboard/system", &headers, String::new()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    response.body
}

#[tokio::test]
async fn admin_key_variable_grants_admin_and_api_key_does_not() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    let signed_in = service.post("/dashboard/session", json!({ "key": ADMIN }).to_string()).await;
    assert_eq!((signed_in.status.as_u16(), &signed_in.body["team"]), (200, &json!("default")));
    let cookie = signed_in.headers["set-cookie"].to_str().unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Max-Age=43200", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "a browser drops a Secure cookie over http: {cookie}");
    let other = service.get("/dashboard/keys").await;
    assert_eq!(other.status, 403, "{}", other.body);
    assert_eq!(service.get("/v2/index/stats").await.status, 200);
    system(&service).await;
}

#[tokio::test]
async fn guessable_admin_key_ends_the_start() {
    let world = tea_world().await;
    let site = Site::new(&world);
    for (key, rule) in [
        ("short-secret", "shorter than 16"),
        ("fc-YOUR-API-KEY", "placeholder"),
        (crate::harness::KEY, "equals another configured key"),
    ] {
        let mut command = site.serve_command();
        let output = command.env("WEBSVC_ADMIN_KEY", key).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains("WEBSVC_ADMIN_KEY"), "{key}: {stderr}");
        assert!(stderr.contains(rule) && !stderr.contains(key), "{key}: {stderr}");
    }
}

#[tokio::test]
async fn invalid_key_of_the_environment_ends_the_start_before_anything_is_printed_or_created() {
    let world = tea_world().await;
    let site = Site::new(&world);
    for (variable, key, rule) in [
        ("WEBSVC_ADMIN_KEY", "short", "it is shorter than 16 bytes"),
        ("WEBSVC_ADMIN_KEY", "fifteen-letters", "it is shorter than 16 bytes"),
        ("WEBSVC_API_KEY", "short", "it is shorter than 8 bytes"),
        ("WEBSVC_API_KEY", "", "it is empty"),
    ] {
        let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
        let output = command.env(variable, key).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{variable} {key}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, format!("error: {variable}: the configured API key is not valid: {rule}\n"));
        assert_eq!(std::fs::read_dir(site.data_dir()).unwrap().count(), 0, "{variable} {key}");
    }
}

#[tokio::test]
async fn failed_sign_ins_do_not_lock_out_the_administrator() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    let wrong = |number: u32| json!({ "key": format!("fc-wrong-{number}") }).to_string();
    for number in 0..10 {
        assert_eq!(service.post("/dashboard/session", wrong(number)).await.status, 401);
    }
    let rejected = service.post("/dashboard/session", wrong(10)).await;
    assert_eq!(rejected.status, 429, "{}", rejected.body);
    assert!(rejected.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 0);
    let keys = |key: &str| {
        let bearer = format!("Bearer {key}");
        let service = &service;
        async move {
            let headers = [("authorization", bearer.as_str())];
            service.send(Method::GET, "/dashboard/keys", &headers, String::new()).await.status
        }
    };
    assert_eq!(keys("fc-wrong-11").await, 429, "a rejected key is not checked in the header either");
    assert_eq!(keys(ADMIN).await, 200, "a key with another prefix is rejected");
    let signed_in = service.post("/dashboard/session", json!({ "key": ADMIN }).to_string()).await;
    assert!(signed_in.status.is_success(), "{}", signed_in.body);
    assert_eq!(service.get("/v2/index/stats").await.status, 200, "API requests are rejected");
}

#[tokio::test(flavor = "multi_thread")]
async fn system_lists_jobs_among_the_crawls() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    assert_eq!(system(&service).await["crawls"], json!([]));
    let other_site = Site::new(&world);
    let output = other_site
        .command(&["index", "crawl", "http://tea.test/", "--server", &service.address])
        .env("WEBSVC_API_KEY", crate::harness::KEY)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let body = system(&service).await;
    let crawl = &body["crawls"][0];
    assert_eq!((&crawl["hosts"], &crawl["team"]), (&json!(["tea.test"]), &json!("default")), "{body}");
    assert_eq!((&crawl["ended"], &crawl["job"]), (&json!(true), &json!("crawl")), "{body}");
    assert!(crawl["pages"].as_u64().unwrap() >= 2, "{body}");
    service.search_until_found("brewing").await;
    let document_count = system(&service).await["index"]["documents"].as_u64();
    assert!(document_count.is_some_and(|documents| documents >= 1), "{document_count:?}");
    let batch = json!({ "urls": ["http://coffee.test/"] }).to_string();
    let started = service.post("/v2/batch/scrape", batch).await;
    assert_eq!(started.status, 200, "{}", started.body);
    let body = system(&service).await;
    let batch = body["crawls"].as_array().unwrap().iter().find(|crawl| crawl["id"] == started.body["id"]);
    let batch = batch.unwrap_or_else(|| panic!("{body}"));
    assert_eq!((&batch["job"], &batch["hosts"]), (&json!("batch"), &json!(["coffee.test"])), "{body}");
    site.succeed(&["teams", "set", "default", "--anon", "forced"]);
    let body = system(&service).await;
    assert_eq!(body["crawls"][0]["team"], Value::Null, "an anonymous team is not named: {body}");
}

#[tokio::test]
async fn system_shows_metrics_of_sources_cache_and_scanner() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    service.index_pages(&[("brewing", "http://tea.test/")]).await;
    let search = json!({ "query": "brewing", "scrapeOptions": { "formats": ["markdown"] } });
    for _ in 0..2 {
        assert_eq!(service.search(search.clone()).await.status, 200);
    }
    let body = system(&service).await;
    let source = &body["sources"][0];
    assert!(source["answered"].as_u64().unwrap() >= 2 && source["meanMs"].is_number(), "{body}");
    assert_eq!((&source["unanswered"], &source["lastFailure"]), (&json!(0), &Value::Null), "{body}");
    let cache = &body["cache"];
    assert_eq!(
        (&cache["pages"], &cache["misses"], &cache["hits"]),
        (&json!(1), &json!(1), &json!(1)),
        "{body}"
    );
    assert!(cache["maxBytes"].as_u64().unwrap() >= cache["bytes"].as_u64().unwrap(), "{body}");
    assert_eq!((&body["threat"]["scanner"], &body["browser"]), (&Value::Null, &Value::Null), "{body}");
}

async fn post_as_admin(service: &Service, path: &str, body: impl ToString) -> Response {
    let bearer = format!("Bearer {ADMIN}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    service.send(Method::POST, path, &headers, body.to_string()).await
}

#[tokio::test]
async fn monitor_preview_has_next_runs_credits_and_violations_of_the_schedule() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    let path = "/dashboard/monitor/preview";
    let schedule = json!({ "text": "every 30 minutes", "timezone": "Europe/Berlin" });
    let preview = post_as_admin(&service, path, json!({ "schedule": schedule })).await.body;
    assert_eq!(preview["schedule"]["words"], "Every 30 minutes (Europe/Berlin)", "{preview}");
    assert_eq!(preview["schedule"]["nextRuns"].as_array().unwrap().len(), 3, "{preview}");
    assert_eq!((&preview["estimatedCreditsPerMonth"], &preview["errors"]), (&Value::Null, &json!([])));
    let target = json!({ "type": "scrape", "urls": ["http://tea.test/"] });
    let complete = json!({ "name": "Tea", "schedule": schedule, "targets": [target] });
    let preview = post_as_admin(&service, path, complete).await.body;
    assert_fields(&preview, &json!({ "estimatedCreditsPerCheck": 1, "estimatedCreditsPerMonth": 1440 }));
    for (schedule, path_of_error) in [
        (json!({ "text": "every 7 minutes" }), "/schedule/text"),
        (json!({ "cron": "0 9 * * *", "timezone": "Mars/Base" }), "/schedule/timezone"),
        (json!({ "cron": "* * * * *" }), "/schedule"),
        (json!({}), "/schedule"),
    ] {
        let preview = post_as_admin(&service, path, json!({ "schedule": schedule })).await.body;
        assert_eq!(preview["schedule"], Value::Null, "{preview}");
        assert_eq!(preview["errors"][0]["path"], path_of_error, "{preview}");
    }
    assert_eq!(post_as_admin(&service, path, json!({ "schedule": 7 })).await.status, 400);
    assert_eq!(
        service.post(path, json!({ "schedule": {} }).to_string()).await.status,
        403,
        "not an admin key"
    );
}

#[tokio::test]
async fn stored_schedules_are_described_in_words() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    let path = "/dashboard/monitor/schedules";
    let schedule = json!({ "cron": "30 8 * * 1-5", "timezone": "UTC" });
    let unknown = json!({ "cron": "@daily", "timezone": "UTC" });
    let described = post_as_admin(&service, path, json!({ "schedules": [schedule, unknown] })).await.body;
    assert_eq!(
        described["schedules"][0]["words"], "Every weekday (Monday to Friday) at 08:30 (UTC)",
        "{described}"
    );
    assert_eq!(described["schedules"][1], Value::Null, "{described}");
    let schedules = vec![schedule; 101];
    let rejected = post_as_admin(&service, path, json!({ "schedules": schedules })).await;
    assert_eq!(rejected.status, 400);
    assert!(
        rejected.body["error"].as_str().unwrap().contains("at most 100 items, not 101"),
        "{}",
        rejected.body
    );
}

#[tokio::test]
async fn progress_needs_the_index_scope_and_respects_data_retention() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site);
    let progress = json!({ "id": "docs", "hosts": ["a.test"], "pages": 3, "waiting": 9 }).to_string();
    let post_progress = async |key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        service.send(Method::POST, "/v2/index/progress", &headers, progress.clone()).await
    };
    let reader = site.succeed(&["keys", "create", "--scope", "search"]);
    assert_eq!(post_progress(reader.trim()).await.status, 403);
    site.succeed(&["teams", "set", "quiet", "--zdr", "forced"]);
    let quiet = site.succeed(&["keys", "create", "--team", "quiet"]);
    let response = post_progress(quiet.trim()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    assert!(response.body["warning"].as_str().unwrap().contains("zero data retention"), "{}", response.body);
    assert_eq!(system(&service).await["crawls"], json!([]));
    site.succeed(&["teams", "set", "unnamed", "--anon", "forced"]);
    let unnamed = site.succeed(&["keys", "create", "--team", "unnamed"]);
    assert_eq!(post_progress(unnamed.trim()).await.body, json!({ "success": true }));
    let crawls = system(&service).await["crawls"].clone();
    assert_eq!((&crawls[0]["team"], &crawls[0]["pages"]), (&Value::Null, &json!(3)), "{crawls}");
}
