//! Tests of the webhooks of jobs: order, signatures, retries and dead letters.

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

use crate::batch::{poll_until, start_at, wait_for_end};
use crate::harness::{KEY, Service, Site, assert_fields};

const BATCH: &str = "/v2/batch/scrape";
const CRAWL: &str = "/v2/crawl";
const DEAD_LETTERS: &str = "/v2/webhooks/dead-letters";
const HOOK: &str = "http://hook.test/in";

/// Starts a site of `pages` pages, and a webhook receiver that responds to the n-th event with `response(n)`.
async fn world(
    pages: usize,
    response_time: Duration,
    response: impl Fn(usize, &ReceivedRequest) -> Page + Send + Sync + 'static,
) -> TestWeb {
    let mut world = TestWeb::builder();
    for number in 0..pages {
        let links: String = (0..pages).map(|other| format!("<a href='/{other}'>x</a>")).collect();
        let page =
            format!("<title>Page {number}</title><main><h1>Page {number}</h1><p>Text.</p>{links}</main>");
        world = world.page(&format!("http://list.test/{number}"), Page::html(page).delay(response_time));
    }
    let start = "<title>Start</title><main><h1>Start</h1><p>Text.</p><a href='/0'>x</a></main>";
    let world = world.page("http://list.test/", Page::html(start));
    let count = AtomicUsize::new(0);
    world
        .page_with(HOOK, move |request| response(count.fetch_add(1, Ordering::SeqCst), request))
        .start()
        .await
}

fn accept(_index: usize, _request: &ReceivedRequest) -> Page {
    Page::text("")
}

fn urls(pages: usize) -> Vec<String> {
    (0..pages).map(|number| format!("http://list.test/{number}")).collect()
}

/// Returns the command of a service with short delays between webhook retries.
fn serve_with_fast_retries(site: &Site) -> Command {
    let mut command = site.serve_command();
    command
        .env("WEBSVC__WEBHOOKS__INITIAL_BACKOFF_MS", "20")
        .env("WEBSVC__WEBHOOKS__ATTEMPTS", "3")
        .env("WEBSVC__WEBHOOKS__TIMEOUT_MS", "1000");
    command
}

/// Returns the requests that the receiver got.
fn received(world: &TestWeb) -> Vec<ReceivedRequest> {
    world.requests().into_iter().filter(|request| request.url.starts_with(HOOK)).collect()
}

fn body(request: &ReceivedRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// Returns the types of the events that the receiver got.
fn types(world: &TestWeb) -> Vec<String> {
    received(world).iter().map(|request| body(request)["type"].as_str().unwrap().to_owned()).collect()
}

/// Computes an HMAC-SHA256 (RFC 2104) without the code of the service.
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
fn verify(request: &ReceivedRequest, secret: &str) {
    let header = |name: &str| request.header(name).unwrap();
    let hex: String =
        hmac(secret.as_bytes(), &request.body).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(header("x-firecrawl-signature"), format!("sha256={hex}"));
    let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mut signed = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).into_bytes();
    signed.extend_from_slice(&request.body);
    assert_eq!(header("webhook-signature"), format!("v1,{}", BASE64_STANDARD.encode(hmac(&key, &signed))));
    assert_eq!(header("webhook-id"), body(request)["webhookId"].as_str().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_events_arrive_complete_signed_and_in_order() {
    let world = world(3, Duration::ZERO, accept).await;
    let site = Site::new(&world);
    let service = site.serve();
    let webhook = json!({ "url": format!("{HOOK}?key=1"), "headers": { "X-Mine": "one", "Authorization": "Bearer two" },
        "metadata": { "of": { "a": [1, "ü"] } }, "events": null });
    // A repeated URL has an event for each occurrence.
    let list = [urls(3), urls(1)].concat();
    let path = start_at(&service, BATCH, json!({ "urls": list, "webhook": webhook })).await;
    let status = wait_for_end(&service, &path).await;
    until("all events have arrived", || received(&world).len() >= 6).await;
    let secret = site.succeed(&["teams", "webhook-secret", "default"]).trim().to_owned();
    let events = received(&world);
    let mut documents = Vec::new();
    for (index, event) in events.iter().enumerate() {
        verify(event, &secret);
        assert_eq!((event.method.as_str(), event.header("content-type")), ("POST", Some("application/json")));
        assert_eq!(
            (event.header("x-mine"), event.header("authorization")),
            (Some("one"), Some("Bearer two"))
        );
        assert_eq!(event.url, format!("{HOOK}?key=1"));
        let name = ["started", "page", "page", "page", "page", "completed"][index];
        let mut body = body(event);
        documents.append(body["data"].as_array_mut().unwrap());
        let id = path.rsplit('/').next().unwrap();
        let expected = json!({ "success": true, "type": format!("batch_scrape.{name}"), "id": id,
            "webhookId": body["webhookId"], "data": [], "metadata": { "of": { "a": [1, "ü"] } } });
        assert_eq!(body, expected);
    }
    let sorted =
        |documents: &[Value]| -> BTreeSet<String> { documents.iter().map(Value::to_string).collect() };
    assert_eq!(
        sorted(&documents),
        sorted(status["data"].as_array().unwrap()),
        "the events and the status have different documents"
    );
    let ids: BTreeSet<String> =
        events.iter().map(|event| event.header("webhook-id").unwrap().to_owned()).collect();
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
    until("events with the new secret have arrived", || received(&world).len() >= 9).await;
    verify(&received(&world)[8], &other);
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_sends_the_selected_events() {
    let check = async |events: Value, expected: &[&str]| {
        let world = world(2, Duration::ZERO, accept).await;
        let service = Service::for_world(&world);
        let webhook = json!({ "url": HOOK, "events": events });
        let path = start_at(
            &service,
            CRAWL,
            json!({ "url": "http://list.test/", "sitemap": "skip", "webhook": webhook }),
        )
        .await;
        assert_eq!(wait_for_end(&service, &path).await["status"], "completed");
        until("all events have arrived", || received(&world).len() >= expected.len()).await;
        assert_eq!(types(&world), expected);
    };
    let all = ["crawl.started", "crawl.page", "crawl.page", "crawl.page", "crawl.completed"];
    check(Value::Null, &all).await;
    check(json!(["crawl.completed", "page"]), &all[1..]).await;
    check(json!(["completed", "failed"]), &all[4..]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_job_event_has_the_error() {
    let world = world(3, Duration::ZERO, accept).await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--credits", "2"]);
    let service = site.serve();
    let webhook = json!({ "url": HOOK, "events": ["failed", "completed"] });
    start_at(&service, BATCH, json!({ "urls": urls(3), "maxConcurrency": 1, "webhook": webhook })).await;
    until("the event has arrived", || !received(&world).is_empty()).await;
    let event = body(&received(&world)[0]);
    assert_fields(&event, &json!({ "type": "batch_scrape.failed", "success": false, "data": [] }));
    assert!(event["error"].as_str().unwrap().starts_with("Insufficient credits"), "{event}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_job_drops_its_events() {
    let world = world(30, Duration::from_millis(50), |_, _| Page::text("").status(503)).await;
    let service = Service::for_world(&world);
    let path =
        start_at(&service, BATCH, json!({ "urls": urls(30), "maxConcurrency": 1, "webhook": HOOK })).await;
    let queued_events = async || {
        let metrics = service.text("/metrics").await;
        let line = metrics.lines().find(|line| line.starts_with("websvc_webhook_events{state=\"waiting\"}"));
        line.and_then(|line| line.rsplit(' ').next()).map(str::to_owned)
    };
    poll_until(&service, &path, |body| body["completed"].as_u64() >= Some(2)).await;
    assert_ne!(queued_events().await.as_deref(), Some("0"));
    assert_eq!(service.send(Method::DELETE, &path, &[], "").await.status, 200);
    assert_eq!(queued_events().await.as_deref(), Some("0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_event_is_retried_with_the_same_id() {
    let world =
        world(1, Duration::ZERO, |index, _| Page::text("").status(if index < 2 { 500 } else { 200 })).await;
    let site = Site::new(&world);
    let service = Service::start(&mut serve_with_fast_retries(&site));
    let webhook = json!({ "url": HOOK, "events": ["page"] });
    start_at(&service, BATCH, json!({ "urls": urls(1), "webhook": webhook })).await;
    until("the event was accepted", || received(&world).len() >= 3).await;
    let ids: BTreeSet<_> =
        received(&world).iter().map(|request| body(request)["webhookId"].to_string()).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(
        service.get(DEAD_LETTERS).await.body,
        json!({ "success": true, "deadLetters": [], "total": 0 })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn undeliverable_event_is_a_dead_letter_that_can_be_retried() {
    let is_up = Arc::new(AtomicBool::new(false));
    let up = Arc::clone(&is_up);
    let response = move |_: usize, _: &ReceivedRequest| {
        Page::text("").status(if up.load(Ordering::SeqCst) { 200 } else { 503 })
    };
    let world = world(2, Duration::ZERO, response).await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log");
    let mut service = Service::start_logging(serve_with_fast_retries(&site).env("WEBSVC_LOG", "debug"), &log);
    let webhook = json!({ "url": "http://user:secret-1@hook.test/in?token=secret-2", "headers": { "X-Key": "secret-3" },
        "metadata": { "a": "secret-4" }, "events": ["page"] });
    let path = start_at(&service, BATCH, json!({ "urls": urls(2), "webhook": webhook })).await;
    let dead_letters = poll_until(&service, DEAD_LETTERS, |body| body["total"] == 2).await;
    let dead_letter = &dead_letters["deadLetters"][0];
    let expected = json!({
        "attempts": 3, "lastStatus": 503, "url": HOOK, "type": "batch_scrape.page",
        "lastError": "responded with status 503", "jobId": path.rsplit('/').next().unwrap(),
    });
    assert_fields(dead_letter, &expected);
    assert_eq!(received(&world).len(), 6, "each event must be sent three times");
    let page = service.get(&format!("{DEAD_LETTERS}?skip=1&limit=5")).await.body;
    assert_eq!((page["deadLetters"].as_array().unwrap().len(), &page["total"]), (1, &json!(2)));
    let shown: Value = serde_json::from_str(&site.succeed(&["webhooks", "dead-letters", "--json"])).unwrap();
    assert_eq!(shown[0]["id"], dead_letter["id"]);
    assert_eq!(site.succeed(&["webhooks", "dead-letters", "--json", "--team", "others"]).trim(), "[]");
    // A key sees dead letters of its team, and only of jobs that it may start.
    let retry = format!("{DEAD_LETTERS}/{}/retry", dead_letter["id"].as_str().unwrap());
    for (team, scope, status, total) in [
        ("others", "batch", 200, 0),
        ("default", "crawl", 200, 0),
        ("default", "batch", 200, 2),
        ("default", "search", 403, 0),
    ] {
        service.key = site.create_key(&["--team", team, "--scope", scope]);
        let response = service.get(DEAD_LETTERS).await;
        assert_eq!(response.status, status, "{team} {scope}");
        if status == 200 {
            assert_eq!(response.body["total"], total, "{team} {scope}");
        }
        if total == 0 {
            assert!(service.post(&retry, "").await.status.is_client_error(), "{team} {scope}");
        }
    }
    service.key = KEY.to_owned();
    is_up.store(true, Ordering::SeqCst);
    assert_eq!(service.post(&retry, "").await.body, json!({ "success": true, "id": dead_letter["id"] }));
    until("the event was accepted", || received(&world).len() >= 7).await;
    assert_eq!(body(&received(&world)[6])["webhookId"], dead_letter["id"]);
    assert_eq!(service.post(&retry, "").await.status, 404, "the event is still a dead letter");
    assert_eq!(site.succeed(&["webhooks", "retry", "--all"]).trim(), "1 scheduled for retry");
    until("the other event was accepted", || received(&world).len() >= 8).await;
    assert_eq!(poll_until(&service, DEAD_LETTERS, |body| body["total"] == 0).await["success"], true);
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("dead letter") && !log.contains("secret-"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letter_is_deleted_on_request() {
    let world = world(1, Duration::ZERO, |_, _| Page::text("").status(410)).await;
    let service = Service::for_world(&world);
    let webhook = json!({ "url": HOOK, "events": ["started"] });
    start_at(&service, BATCH, json!({ "urls": urls(1), "webhook": webhook })).await;
    let dead_letters = poll_until(&service, DEAD_LETTERS, |body| body["total"] == 1).await;
    assert_eq!(dead_letters["deadLetters"][0]["attempts"], 1, "an event was retried after status 410");
    let path = format!("{DEAD_LETTERS}/{}", dead_letters["deadLetters"][0]["id"].as_str().unwrap());
    assert_eq!(service.send(Method::DELETE, &path, &[], "").await.status, 200);
    assert_eq!(service.send(Method::DELETE, &path, &[], "").await.status, 404);
    assert_eq!(service.get(DEAD_LETTERS).await.body["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_loses_no_event() {
    const PAGES: usize = 30;
    let world = world(PAGES, Duration::from_millis(20), accept).await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let path = start_at(&service, BATCH, json!({ "urls": urls(PAGES), "webhook": HOOK })).await;
    for part in 1..=3 {
        poll_until(&service, &path, |body| body["completed"].as_u64() >= Some(part * 7)).await;
        service.kill();
        drop(service);
        service = site.serve();
    }
    wait_for_end(&service, &path).await;
    let is_done = |events: &[ReceivedRequest]| {
        events.iter().any(|event| body(event)["type"] == "batch_scrape.completed")
    };
    until("the last event has arrived", || is_done(&received(&world))).await;
    let (mut names, mut pages) = (BTreeMap::new(), BTreeMap::<String, BTreeSet<String>>::new());
    for event in received(&world).iter().map(body) {
        *names.entry(event["type"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        if let Some(source) = event["data"][0]["metadata"]["sourceURL"].as_str() {
            pages.entry(source.to_owned()).or_default().insert(event["webhookId"].to_string());
        }
    }
    assert!(pages.keys().eq(urls(PAGES).iter().collect::<BTreeSet<_>>()), "{pages:?}");
    assert!(pages.values().all(|ids| ids.len() == 1), "events of a page have several IDs: {pages:?}");
    assert!(names["batch_scrape.started"] >= 1 && names["batch_scrape.page"] >= PAGES, "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_webhook_is_rejected_with_every_violation() {
    let world = world(1, Duration::ZERO, accept).await;
    let service = Service::for_world(&world);
    let check = async |webhook: Value, expected: &[&str]| {
        let response = service.post(BATCH, json!({ "urls": urls(1), "webhook": webhook }).to_string()).await;
        assert_eq!(response.status, 400, "{webhook}: {}", response.body);
        let paths: Vec<&str> = response.body["details"]
            .as_array()
            .unwrap()
            .iter()
            .map(|detail| detail["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, expected, "{webhook}: {}", response.body);
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
    for internal in [
        "127.0.0.1",
        "169.254.169.254",
        "10.1.2.3",
        "[::1]",
        "[::ffff:7f00:1]",
        "0x7f.1",
        "localhost",
        "a.localhost.",
    ] {
        check(json!(format!("http://{internal}:8080/x")), &["/webhook"]).await;
        check(json!({ "url": format!("https://{internal}:8443/") }), &["/webhook/url"]).await;
    }
    let id = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";
    let appended = json!({ "urls": urls(1), "webhook": HOOK, "appendToId": id });
    assert_eq!(service.post(BATCH, appended.to_string()).await.body["details"][0]["path"], "/webhook");
    assert_eq!(received(&world).len(), 0, "a rejected job was started");
    let unknown = json!({ "urls": urls(1), "webhook": { "url": HOOK, "retries": 3 } });
    let response = service.post(BATCH, unknown.to_string()).await;
    assert!(response.body["warning"].as_str().unwrap().contains("retries"), "{}", response.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_redirect_is_not_followed() {
    let canary = Canary::start().await;
    let internal = format!("http://{}/", canary.addr());
    let world = world(1, Duration::ZERO, move |_, _| Page::redirect(307, &internal)).await;
    let site = Site::new(&world);
    let service = Service::start(&mut serve_with_fast_retries(&site));
    start_at(&service, BATCH, json!({ "urls": urls(1), "webhook": HOOK })).await;
    let dead_letters = poll_until(&service, DEAD_LETTERS, |body| body["total"] == 3).await;
    assert_eq!(dead_letters["deadLetters"][0]["lastStatus"], 307, "{dead_letters}");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_receiver_delays_no_job_or_other_receiver() {
    let builder =
        TestWeb::builder().page("http://hang.test/in", Page::unresponsive()).page(HOOK, Page::text(""));
    let builder = (0..12).fold(builder, |world, number| {
        world.page(
            &format!("http://list.test/{number}"),
            Page::html(format!("<title>{number}</title><p>Text.")),
        )
    });
    let world = builder.start().await;
    let service = Service::for_world(&world);
    let slow = start_at(&service, BATCH, json!({ "urls": urls(12), "webhook": "http://hang.test/in" })).await;
    world.wait_for_request("http://hang.test/in").await;
    let serve_with_fast_retries =
        start_at(&service, BATCH, json!({ "urls": urls(6), "webhook": HOOK })).await;
    until("the other receiver has all events", || received(&world).len() >= 8).await;
    assert_eq!(
        wait_for_end(&service, &slow).await["status"],
        "completed",
        "the job waits for the hanging receiver"
    );
    assert_eq!(wait_for_end(&service, &serve_with_fast_retries).await["status"], "completed");
    assert_eq!(types(&world).last().unwrap(), "batch_scrape.completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn team_queue_status_counts_job_pages() {
    let builder = TestWeb::builder();
    let builder = (0..5).fold(builder, |world, number| {
        world.page(&format!("http://list.test/{number}"), Page::unresponsive())
    });
    let world = builder.start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let path = start_at(&service, BATCH, json!({ "urls": urls(5) })).await;
    let status = poll_until(&service, "/v2/team/queue-status", |body| body["activeJobsInQueue"] == 2).await;
    assert_eq!((&status["jobsInQueue"], &status["waitingJobsInQueue"]), (&json!(5), &json!(3)), "{status}");
    let metrics = service.text("/metrics").await;
    assert!(metrics.contains("websvc_job_pages{state=\"waiting\"} 3"), "{metrics}");
    service.key = site.create_key(&["--team", "others"]);
    assert_eq!(service.get("/v2/team/queue-status").await.body["jobsInQueue"], 0);
    service.key = KEY.to_owned();
    service.send(Method::DELETE, &path, &[], "").await;
    poll_until(&service, "/v2/team/queue-status", |body| body["jobsInQueue"] == 0).await;
}
