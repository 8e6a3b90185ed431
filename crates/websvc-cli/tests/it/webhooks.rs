//! Webhooks of jobs: every event arrives, signed, in its order, and nobody waits for a receiver.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use websvc_testkit::{Canary, Page, ReceivedRequest, TestWeb, until};

use crate::batch::{ask_until, ended, start_at};
use crate::harness::{KEY, Service, Site};

const BATCH: &str = "/v2/batch/scrape";
const CRAWL: &str = "/v2/crawl";
const LETTERS: &str = "/v2/webhooks/dead-letters";
const HOOK: &str = "http://hook.test/in";

/// A site of so many pages and a receiver that answers the n-th event by what `answer` says.
async fn world(
    pages: usize,
    answer_time: Duration,
    answer: impl Fn(usize, &ReceivedRequest) -> Page + Send + Sync + 'static,
) -> TestWeb {
    let mut world = TestWeb::builder();
    for number in 0..pages {
        let links: String = (0..pages).map(|other| format!("<a href='/{other}'>x</a>")).collect();
        let page =
            format!("<title>Page {number}</title><main><h1>Page {number}</h1><p>Text.</p>{links}</main>");
        world = world.page(&format!("http://list.test/{number}"), Page::html(page).delay(answer_time));
    }
    let start = "<title>Start</title><main><h1>Start</h1><p>Text.</p><a href='/0'>x</a></main>";
    let world = world.page("http://list.test/", Page::html(start));
    let count = AtomicUsize::new(0);
    world.page_with(HOOK, move |seen| answer(count.fetch_add(1, Ordering::SeqCst), seen)).start().await
}

fn taken(_at: usize, _seen: &ReceivedRequest) -> Page {
    Page::text("")
}

fn urls(pages: usize) -> Vec<String> {
    (0..pages).map(|number| format!("http://list.test/{number}")).collect()
}

/// Returns the command of a service whose pauses between tries are short.
fn quick(site: &Site) -> Command {
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("WEBSVC_API_KEY", KEY)
        .env("WEBSVC__WEBHOOKS__FIRST_PAUSE_MS", "20")
        .env("WEBSVC__WEBHOOKS__ATTEMPTS", "3")
        .env("WEBSVC__WEBHOOKS__TIMEOUT_MS", "1000");
    command
}

/// Returns what the receiver got.
fn received(world: &TestWeb) -> Vec<ReceivedRequest> {
    world.requests().into_iter().filter(|seen| seen.url.starts_with(HOOK)).collect()
}

fn body(seen: &ReceivedRequest) -> Value {
    serde_json::from_slice(&seen.body).unwrap()
}

/// Returns the types of what the receiver got.
fn types(world: &TestWeb) -> Vec<String> {
    received(world).iter().map(|seen| body(seen)["type"].as_str().unwrap().to_owned()).collect()
}

/// HMAC as RFC 2104 has it, with code of its own.
fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = [0_u8; 64];
    if key.len() > block.len() {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |pad: u8, rest: &[u8]| {
        let mut text: Vec<u8> = block.iter().map(|byte| byte ^ pad).collect();
        text.extend_from_slice(rest);
        Sha256::digest(&text).to_vec()
    };
    padded(0x5c, &padded(0x36, message))
}

/// Checks both signatures as a receiver does.
#[track_caller]
fn verify(seen: &ReceivedRequest, secret: &str) {
    let header = |name: &str| seen.header(name).unwrap();
    let hex: String = hmac(secret.as_bytes(), &seen.body).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(header("x-firecrawl-signature"), format!("sha256={hex}"));
    let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mut signed = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).into_bytes();
    signed.extend_from_slice(&seen.body);
    assert_eq!(header("webhook-signature"), format!("v1,{}", BASE64_STANDARD.encode(hmac(&key, &signed))));
    assert_eq!(header("webhook-id"), body(seen)["webhookId"].as_str().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_events_of_a_batch_arrive_whole_signed_and_in_their_order() {
    let world = world(3, Duration::ZERO, taken).await;
    let site = Site::new(&world);
    let service = site.serve();
    let webhook = json!({ "url": format!("{HOOK}?key=1"), "headers": { "X-Mine": "one", "Authorization": "Bearer two" },
        "metadata": { "of": { "a": [1, "ü"] } }, "events": null });
    // A page that is named twice has an event for each.
    let list = [urls(3), urls(1)].concat();
    let path = start_at(&service, BATCH, json!({ "urls": list, "webhook": webhook })).await;
    let status = ended(&service, &path).await;
    until("all events are there", || received(&world).len() >= 6).await;
    let secret = site.succeed(&["teams", "webhook-secret", "default"]).trim().to_owned();
    let events = received(&world);
    let mut documents = Vec::new();
    for (at, seen) in events.iter().enumerate() {
        verify(seen, &secret);
        assert_eq!((seen.method.as_str(), seen.header("content-type")), ("POST", Some("application/json")));
        assert_eq!((seen.header("x-mine"), seen.header("authorization")), (Some("one"), Some("Bearer two")));
        assert_eq!(seen.url, format!("{HOOK}?key=1"));
        let name = ["started", "page", "page", "page", "page", "completed"][at];
        let mut body = body(seen);
        documents.append(body["data"].as_array_mut().unwrap());
        let id = path.rsplit('/').next().unwrap();
        let expected = json!({ "success": true, "type": format!("batch_scrape.{name}"), "id": id,
            "webhookId": body["webhookId"], "data": [], "metadata": { "of": { "a": [1, "ü"] } } });
        assert_eq!(body, expected);
    }
    let sorted =
        |documents: &[Value]| -> BTreeSet<String> { documents.iter().map(Value::to_string).collect() };
    assert_eq!(sorted(&documents), sorted(status["data"].as_array().unwrap()), "as the status has them");
    let ids: BTreeSet<String> =
        events.iter().map(|seen| seen.header("webhook-id").unwrap().to_owned()).collect();
    assert_eq!((ids.len(), events.len()), (6, 6));
    let metrics = service.text("/metrics").await;
    for line in [
        "websvc_webhook_deliveries_total{outcome=\"delivered\"} 6",
        "websvc_webhook_deliveries_total{outcome=\"dead\"} 0",
        "websvc_webhook_events{state=\"waiting\"} 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    let other = site.succeed(&["teams", "webhook-secret", "default", "--rotate"]).trim().to_owned();
    assert!(other.starts_with("whsec_") && other != secret);
    start_at(&service, BATCH, json!({ "urls": urls(1), "webhook": HOOK })).await;
    until("they are signed anew", || received(&world).len() >= 9).await;
    verify(&received(&world)[8], &other);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_events_of_a_crawl_are_those_that_are_wanted() {
    let check = async |events: Value, expected: &[&str]| {
        let world = world(2, Duration::ZERO, taken).await;
        let service = Service::of(&world);
        let webhook = json!({ "url": HOOK, "events": events });
        let path = start_at(
            &service,
            CRAWL,
            json!({ "url": "http://list.test/", "sitemap": "skip", "webhook": webhook }),
        )
        .await;
        assert_eq!(ended(&service, &path).await["status"], "completed");
        until("all events are there", || received(&world).len() >= expected.len()).await;
        assert_eq!(types(&world), expected);
    };
    let all = ["crawl.started", "crawl.page", "crawl.page", "crawl.page", "crawl.completed"];
    check(Value::Null, &all).await;
    check(json!(["crawl.completed", "page"]), &all[1..]).await;
    check(json!(["completed", "failed"]), &all[4..]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_fails_says_why_and_one_that_is_cancelled_says_nothing() {
    let world = world(3, Duration::ZERO, taken).await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--credits", "2"]);
    let service = site.serve();
    let webhook = json!({ "url": HOOK, "events": ["failed", "completed"] });
    start_at(&service, BATCH, json!({ "urls": urls(3), "maxConcurrency": 1, "webhook": webhook })).await;
    until("the event is there", || !received(&world).is_empty()).await;
    let event = body(&received(&world)[0]);
    assert_eq!(
        (&event["type"], &event["success"], &event["data"]),
        (&json!("batch_scrape.failed"), &json!(false), &json!([]))
    );
    assert!(event["error"].as_str().unwrap().starts_with("Insufficient credits"), "{event}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cancels_a_job_is_rid_of_its_events() {
    let world = world(30, Duration::from_millis(50), |_, _| Page::text("").status(503)).await;
    let service = Service::of(&world);
    let path =
        start_at(&service, BATCH, json!({ "urls": urls(30), "maxConcurrency": 1, "webhook": HOOK })).await;
    let waiting = async || {
        let metrics = service.text("/metrics").await;
        let line = metrics.lines().find(|line| line.starts_with("websvc_webhook_events{state=\"waiting\"}"));
        line.and_then(|line| line.rsplit(' ').next()).map(str::to_owned)
    };
    ask_until(&service, &path, |body| body["completed"].as_u64() >= Some(2)).await;
    assert_ne!(waiting().await.as_deref(), Some("0"));
    assert_eq!(service.send(Method::DELETE, &path, &[], "").await.status, 200);
    assert_eq!(waiting().await.as_deref(), Some("0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_not_taken_comes_again_under_the_same_name() {
    let world = world(1, Duration::ZERO, |at, _| Page::text("").status(if at < 2 { 500 } else { 200 })).await;
    let site = Site::new(&world);
    let service = Service::start(&mut quick(&site));
    let webhook = json!({ "url": HOOK, "events": ["page"] });
    start_at(&service, BATCH, json!({ "urls": urls(1), "webhook": webhook })).await;
    until("it was taken", || received(&world).len() >= 3).await;
    let ids: BTreeSet<_> = received(&world).iter().map(|seen| body(seen)["webhookId"].to_string()).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(service.get(LETTERS).await.body, json!({ "success": true, "deadLetters": [], "total": 0 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_delivered_is_a_dead_letter_that_can_be_tried_anew() {
    let is_up = Arc::new(AtomicBool::new(false));
    let up = Arc::clone(&is_up);
    let answer = move |_: usize, _: &ReceivedRequest| {
        Page::text("").status(if up.load(Ordering::SeqCst) { 200 } else { 503 })
    };
    let world = world(2, Duration::ZERO, answer).await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log");
    let mut service = Service::start_logging(quick(&site).env("WEBSVC_LOG", "debug"), &log);
    let webhook = json!({ "url": "http://user:secret-1@hook.test/in?token=secret-2", "headers": { "X-Key": "secret-3" },
        "metadata": { "a": "secret-4" }, "events": ["page"] });
    let path = start_at(&service, BATCH, json!({ "urls": urls(2), "webhook": webhook })).await;
    let letters = ask_until(&service, LETTERS, |body| body["total"] == 2).await;
    let letter = &letters["deadLetters"][0];
    assert_eq!((&letter["attempts"], &letter["lastStatus"]), (&json!(3), &json!(503)), "{letter}");
    assert_eq!((&letter["url"], &letter["type"]), (&json!(HOOK), &json!("batch_scrape.page")));
    assert_eq!(letter["lastError"], "responded with status 503");
    assert_eq!(letter["jobId"], path.rsplit('/').next().unwrap());
    assert_eq!(received(&world).len(), 6, "as often as an event may be tried");
    let one = service.get(&format!("{LETTERS}?skip=1&limit=5")).await.body;
    assert_eq!((one["deadLetters"].as_array().unwrap().len(), &one["total"]), (1, &json!(2)));
    let shown: Value = serde_json::from_str(&site.succeed(&["webhooks", "dead-letters", "--json"])).unwrap();
    assert_eq!(shown[0]["id"], letter["id"]);
    assert_eq!(site.succeed(&["webhooks", "dead-letters", "--json", "--team", "others"]).trim(), "[]");
    // They are those of the team, and of the jobs that the key may begin.
    let retry = format!("{LETTERS}/{}/retry", letter["id"].as_str().unwrap());
    for (team, scope, status, total) in [
        ("others", "batch", 200, 0),
        ("default", "crawl", 200, 0),
        ("default", "batch", 200, 2),
        ("default", "search", 403, 0),
    ] {
        service.key = site.succeed(&["keys", "create", "--team", team, "--scope", scope]).trim().to_owned();
        let answer = service.get(LETTERS).await;
        assert_eq!(answer.status, status, "{team} {scope}");
        if status == 200 {
            assert_eq!(answer.body["total"], total, "{team} {scope}");
        }
        if total == 0 {
            assert!(service.post(&retry, "").await.status.is_client_error(), "{team} {scope}");
        }
    }
    service.key = KEY.to_owned();
    is_up.store(true, Ordering::SeqCst);
    assert_eq!(service.post(&retry, "").await.body, json!({ "success": true, "id": letter["id"] }));
    until("it was taken", || received(&world).len() >= 7).await;
    assert_eq!(body(&received(&world)[6])["webhookId"], letter["id"]);
    assert_eq!(service.post(&retry, "").await.status, 404, "it is none any more");
    assert_eq!(site.succeed(&["webhooks", "retry", "--all"]).trim(), "1 tried anew");
    until("the other one was taken", || received(&world).len() >= 8).await;
    assert_eq!(ask_until(&service, LETTERS, |body| body["total"] == 0).await["success"], true);
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("dead letter") && !log.contains("secret-"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_is_forgotten_when_its_owner_wants_that() {
    let world = world(1, Duration::ZERO, |_, _| Page::text("").status(410)).await;
    let service = Service::of(&world);
    let webhook = json!({ "url": HOOK, "events": ["started"] });
    start_at(&service, BATCH, json!({ "urls": urls(1), "webhook": webhook })).await;
    let letters = ask_until(&service, LETTERS, |body| body["total"] == 1).await;
    assert_eq!(letters["deadLetters"][0]["attempts"], 1, "410 says that it wants no more");
    let path = format!("{LETTERS}/{}", letters["deadLetters"][0]["id"].as_str().unwrap());
    assert_eq!(service.send(Method::DELETE, &path, &[], "").await.status, 200);
    assert_eq!(service.send(Method::DELETE, &path, &[], "").await.status, 404);
    assert_eq!(service.get(LETTERS).await.body["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_killed_loses_no_event() {
    const PAGES: usize = 30;
    let world = world(PAGES, Duration::from_millis(20), taken).await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let path = start_at(&service, BATCH, json!({ "urls": urls(PAGES), "webhook": HOOK })).await;
    for part in 1..=3 {
        ask_until(&service, &path, |body| body["completed"].as_u64() >= Some(part * 7)).await;
        service.kill();
        drop(service);
        service = site.serve();
    }
    ended(&service, &path).await;
    let is_done =
        |events: &[ReceivedRequest]| events.iter().any(|seen| body(seen)["type"] == "batch_scrape.completed");
    until("the last event is there", || is_done(&received(&world))).await;
    let (mut names, mut pages) = (BTreeMap::new(), BTreeMap::<String, BTreeSet<String>>::new());
    for event in received(&world).iter().map(body) {
        *names.entry(event["type"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        if let Some(source) = event["data"][0]["metadata"]["sourceURL"].as_str() {
            pages.entry(source.to_owned()).or_default().insert(event["webhookId"].to_string());
        }
    }
    assert!(pages.keys().eq(urls(PAGES).iter().collect::<BTreeSet<_>>()), "{pages:?}");
    assert!(pages.values().all(|ids| ids.len() == 1), "each has one name: {pages:?}");
    assert!(names["batch_scrape.started"] >= 1 && names["batch_scrape.page"] >= PAGES, "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_a_rule_is_refused_with_all_of_them() {
    let world = world(1, Duration::ZERO, taken).await;
    let service = Service::of(&world);
    let check = async |webhook: Value, expected: &[&str]| {
        let answer = service.post(BATCH, json!({ "urls": urls(1), "webhook": webhook }).to_string()).await;
        assert_eq!(answer.status, 400, "{webhook}: {}", answer.body);
        let paths: Vec<&str> = answer.body["details"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, expected, "{webhook}: {}", answer.body);
    };
    check(json!("ftp://hook.test"), &["/webhook"]).await;
    check(json!(7), &["/webhook"]).await;
    check(json!({}), &["/webhook/url"]).await;
    let headers = json!({ "Host": "x", "content-type": "x", "Webhook-Id": "x", "X-Firecrawl-Signature": "x", "ok": "x" });
    check(
        json!({ "url": "", "headers": headers, "metadata": { "a": "x".repeat(20_000) }, "events": ["page", "gone", "crawl.page"] }),
        &[
            "/webhook/events/1",
            "/webhook/events/2",
            "/webhook/headers/Host",
            "/webhook/headers/content-type",
            "/webhook/headers/webhook-id",
            "/webhook/headers/x-firecrawl-signature",
            "/webhook/metadata",
            "/webhook/url",
        ],
    )
    .await;
    check(json!({ "url": HOOK, "events": [] }), &["/webhook/events"]).await;
    for inside in [
        "127.0.0.1",
        "169.254.169.254",
        "10.1.2.3",
        "[::1]",
        "[::ffff:7f00:1]",
        "0x7f.1",
        "localhost",
        "a.localhost.",
    ] {
        check(json!(format!("http://{inside}:8080/x")), &["/webhook"]).await;
        check(json!({ "url": format!("https://{inside}:8443/") }), &["/webhook/url"]).await;
    }
    let id = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";
    let appended = json!({ "urls": urls(1), "webhook": HOOK, "appendToId": id });
    assert_eq!(service.post(BATCH, appended.to_string()).await.body["details"][0]["path"], "/webhook");
    assert_eq!(received(&world).len(), 0, "nothing was begun");
    let unknown = json!({ "urls": urls(1), "webhook": { "url": HOOK, "retries": 3 } });
    let answer = service.post(BATCH, unknown.to_string()).await;
    assert!(answer.body["warning"].as_str().unwrap().contains("retries"), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_leads_nowhere() {
    let canary = Canary::start().await;
    let inside = format!("http://{}/", canary.addr());
    let world = world(1, Duration::ZERO, move |_, _| Page::redirect(307, &inside)).await;
    let site = Site::new(&world);
    let service = Service::start(&mut quick(&site));
    start_at(&service, BATCH, json!({ "urls": urls(1), "webhook": HOOK })).await;
    let letters = ask_until(&service, LETTERS, |body| body["total"] == 3).await;
    assert_eq!(letters["deadLetters"][0]["lastStatus"], 307, "{letters}");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_a_receiver_that_hangs() {
    let builder = TestWeb::builder().page("http://hang.test/in", Page::silence()).page(HOOK, Page::text(""));
    let builder = (0..12).fold(builder, |world, number| {
        world.page(
            &format!("http://list.test/{number}"),
            Page::html(format!("<title>{number}</title><p>Text.")),
        )
    });
    let world = builder.start().await;
    let service = Service::of(&world);
    let slow = start_at(&service, BATCH, json!({ "urls": urls(12), "webhook": "http://hang.test/in" })).await;
    world.asked("http://hang.test/in").await;
    let quick = start_at(&service, BATCH, json!({ "urls": urls(6), "webhook": HOOK })).await;
    until("the other receiver has its events", || received(&world).len() >= 8).await;
    assert_eq!(ended(&service, &slow).await["status"], "completed", "a job waits for no receiver");
    assert_eq!(ended(&service, &quick).await["status"], "completed");
    assert_eq!(types(&world).last().unwrap(), "batch_scrape.completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_of_a_team_has_the_pages_of_its_jobs() {
    let builder = TestWeb::builder();
    let builder = (0..5)
        .fold(builder, |world, number| world.page(&format!("http://list.test/{number}"), Page::silence()));
    let world = builder.start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let path = start_at(&service, BATCH, json!({ "urls": urls(5) })).await;
    let status = ask_until(&service, "/v2/team/queue-status", |body| body["activeJobsInQueue"] == 2).await;
    assert_eq!((&status["jobsInQueue"], &status["waitingJobsInQueue"]), (&json!(5), &json!(3)), "{status}");
    let metrics = service.text("/metrics").await;
    assert!(metrics.contains("websvc_job_pages{state=\"waiting\"} 3"), "{metrics}");
    service.key = site.succeed(&["keys", "create", "--team", "others"]).trim().to_owned();
    assert_eq!(service.get("/v2/team/queue-status").await.body["jobsInQueue"], 0);
    service.key = KEY.to_owned();
    service.send(Method::DELETE, &path, &[], "").await;
    ask_until(&service, "/v2/team/queue-status", |body| body["jobsInQueue"] == 0).await;
}
