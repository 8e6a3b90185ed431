//! Tests of the webhook events of checks of monitors.

use std::time::Duration;

use websvc_store::{
    BaselineChange, CheckPageStatus, CheckRecord, CheckStatus, DeadLetterFilter, DeliveryOutcome,
    FinishedCheck, JobEvent, MonitorLimits, NewCheck, NewCheckPage, NewWebhook, Store, WebhookDelivery,
    WebhookSource,
};

use crate::engine::Rows;
use crate::fresh;
use crate::jobs::{create, job};
use crate::monitors::{finish, finished, manual, monitor, page, record, start, sweep};
use crate::webhooks::{next_due, record_attempt};

const DAY_MS: u64 = 86_400_000;
const BOTH: [JobEvent; 2] = [JobEvent::MonitorPage, JobEvent::MonitorCheckCompleted];

pub(crate) fn webhook(events: &[JobEvent]) -> NewWebhook {
    NewWebhook {
        url: "http://hook.test/x?token=secret".to_owned(),
        host: "hook.test".to_owned(),
        headers: "{}".to_owned(),
        metadata: r#"{"of":"tea"}"#.to_owned(),
        events: events.to_vec(),
    }
}

/// Starts a check with a webhook, whose number differs from that of the check.
fn start_with(store: &Store, events: &[JobEvent]) -> CheckRecord {
    let monitor = monitor(store, "m", None);
    finish(store, &start(store, &manual(&monitor, "before"), 1), CheckStatus::Completed, 1);
    start(store, &NewCheck { webhook: Some(webhook(events)), ..manual(&monitor, "c") }, 2)
}

fn page_with_event(url: &str, event_success: bool) -> NewCheckPage {
    let event = Some(format!(r#"{{"url":"{url}"}}"#).into_bytes());
    NewCheckPage { event, event_success, ..page(url, CheckPageStatus::New, BaselineChange::Keep) }
}

fn next(store: &Store, now_ms: u64, in_flight: &[i64]) -> Option<(i64, WebhookDelivery)> {
    let queue = store.webhook_queues(now_ms).unwrap().into_iter().next()?;
    let event = next_due(store, queue.webhook, now_ms, in_flight)?;
    Some((event.number, store.webhook_delivery(event.number).unwrap().unwrap()))
}

/// Delivers all events, and returns type, success, data and error of each.
fn deliver(store: &Store, now_ms: u64) -> Vec<(&'static str, bool, String, Option<String>)> {
    let mut delivered = Vec::new();
    while let Some((number, delivery)) = next(store, now_ms, &[]) {
        record_attempt(store, number, DeliveryOutcome::Delivered, now_ms);
        assert_eq!((delivery.source, delivery.source_id.as_str()), (WebhookSource::Monitor, "c"));
        assert_eq!((delivery.team.as_str(), delivery.metadata.as_str()), ("tea", r#"{"of":"tea"}"#));
        let data = String::from_utf8(delivery.document.unwrap()).unwrap();
        let name = delivery.event.wire_name(delivery.source);
        delivered.push((name, delivery.is_success, data, delivery.error));
    }
    delivered
}

fn failed(retry_at_ms: Option<u64>) -> DeliveryOutcome {
    let expires_at_ms = 5 * DAY_MS;
    DeliveryOutcome::Failed { status: Some(500), error: "no".to_owned(), retry_at_ms, expires_at_ms }
}

#[test]
fn events_of_a_check_are_delivered_in_order_with_their_data() {
    let (_dir, store) = fresh();
    let check = start_with(&store, &BOTH);
    let without = page("w", CheckPageStatus::Same, BaselineChange::Keep);
    let pages = vec![page_with_event("u", true), without, page_with_event("v", false)];
    record(&store, &check, pages, 3);
    record(&store, &check, vec![page_with_event("u", true)], 3);
    let error = Some("too slow".to_owned());
    let end = FinishedCheck { error, ..finished(CheckStatus::Failed) };
    store.finish_check(check.number, &end, DAY_MS, 4).unwrap().unwrap();
    assert_eq!(store.check_deliveries(check.number).unwrap().pending, 3);
    let summary = r#"{"totalPages":3,"same":1,"changed":0,"new":2,"removed":0,"error":0}"#;
    let completed = format!(r#"{{"monitorId":"m","checkId":"c","status":"failed","summary":{summary}}}"#);
    let expected = [
        ("monitor.page", true, r#"{"url":"u"}"#.to_owned(), None),
        ("monitor.page", false, r#"{"url":"v"}"#.to_owned(), None),
        ("monitor.check.completed", false, completed, Some("too slow".to_owned())),
    ];
    assert_eq!(deliver(&store, 4), expected);
    assert_eq!(store.check_deliveries(check.number).unwrap(), Default::default());
}

#[test]
fn end_event_follows_the_first_attempts_of_all_pages() {
    let (_dir, store) = fresh();
    let check = start_with(&store, &BOTH);
    record(&store, &check, vec![page_with_event("u", true), page_with_event("v", true)], 3);
    finish(&store, &check, CheckStatus::Completed, 4);
    let (first, _) = next(&store, 4, &[]).unwrap();
    let (second, delivery) = next(&store, 4, &[first]).unwrap();
    assert_eq!(delivery.event, JobEvent::MonitorPage);
    assert_eq!(next(&store, 4, &[first, second]), None, "page events are in flight");
    record_attempt(&store, first, failed(Some(100)), 4);
    assert_eq!(next(&store, 4, &[second]), None);
    record_attempt(&store, second, DeliveryOutcome::Delivered, 4);
    let (end, delivery) = next(&store, 4, &[]).unwrap();
    assert_eq!((delivery.event, delivery.is_success), (JobEvent::MonitorCheckCompleted, true));
    record_attempt(&store, end, DeliveryOutcome::Delivered, 5);
    assert_eq!(next(&store, 100, &[]).unwrap().0, first);
}

#[test]
fn only_subscribed_events_of_checks_that_ran_are_enqueued() {
    for (subscribed, status, expected) in [
        (&BOTH[..1], CheckStatus::Completed, &["monitor.page"][..]),
        (&BOTH[1..], CheckStatus::Partial, &["monitor.check.completed"]),
        (&BOTH[1..], CheckStatus::SkippedNoCredits, &[]),
        (&[], CheckStatus::Completed, &[]),
    ] {
        let (_dir, store) = fresh();
        let check = start_with(&store, subscribed);
        record(&store, &check, vec![page_with_event("u", true)], 3);
        finish(&store, &check, status, 4);
        let names: Vec<_> = deliver(&store, 4).into_iter().map(|event| event.0).collect();
        assert_eq!(names, expected, "{subscribed:?} {status:?}");
    }
}

#[test]
fn dead_letter_names_its_check_and_keeps_it_stored() {
    let (dir, store) = fresh();
    let check = start_with(&store, &BOTH[..1]);
    record(&store, &check, vec![page_with_event("u", true)], 3);
    finish(&store, &check, CheckStatus::Completed, 4);
    let (event, delivery) = next(&store, 4, &[]).unwrap();
    record_attempt(&store, event, failed(None), 5);
    let of = |sources: &[WebhookSource]| {
        let filter = DeadLetterFilter { sources: Some(sources.to_vec()), ..DeadLetterFilter::default() };
        store.dead_letters(&filter, 0, 9).unwrap().letters
    };
    let letters = of(&WebhookSource::ALL);
    assert_eq!(letters, of(&[WebhookSource::Monitor]));
    assert_eq!((of(&[]), of(&[WebhookSource::Batch, WebhookSource::Crawl])), (vec![], vec![]));
    let letter = &letters[0];
    assert_eq!((letter.id.as_str(), letter.source_id.as_str()), (delivery.id.as_str(), "c"));
    assert_eq!(letter.event.wire_name(letter.source), "monitor.page");
    let deliveries = store.check_deliveries(check.number).unwrap();
    assert_eq!((deliveries.pending, deliveries.dead_letters), (0, 1));
    assert_eq!((deliveries.status, deliveries.error.as_deref()), (Some(500), Some("no")));
    let limits = MonitorLimits { max_check_bytes: 0, ..MonitorLimits::default() };
    sweep(&store, &limits, 4 * DAY_MS);
    assert!(store.check_by_number(check.number).unwrap().is_some());
    assert_eq!(store.retry_dead_letters(&DeadLetterFilter::default(), 6).unwrap(), 1);
    assert_eq!(deliver(&store, 6).len(), 1);
    sweep(&store, &limits, 4 * DAY_MS);
    assert_eq!(Rows::open(dir.path()).number("SELECT count(*) FROM webhooks"), 0);
    assert_eq!(store.check_by_number(check.number).unwrap(), None);
}

#[test]
fn webhook_of_a_check_is_deleted_after_its_last_event() {
    let (dir, store) = fresh();
    let check = start_with(&store, &BOTH);
    let rows = || Rows::open(dir.path()).number("SELECT count(*) FROM webhooks");
    sweep(&store, &MonitorLimits::default(), 3);
    assert_eq!(rows(), 1, "the check has not ended");
    finish(&store, &check, CheckStatus::Completed, 4);
    sweep(&store, &MonitorLimits::default(), 5);
    assert_eq!(rows(), 1, "an event is pending");
    assert_eq!(deliver(&store, 5).len(), 1);
    sweep(&store, &MonitorLimits::default(), 5);
    assert_eq!(rows(), 0);
    assert!(store.check_by_number(check.number).unwrap().is_some());
}

#[test]
fn deleted_monitor_drops_pending_events_but_no_others() {
    let (_dir, store) = fresh();
    let webhook = Some(webhook(&[JobEvent::Started]));
    create(&store, &websvc_store::NewJob { webhook, ..job("j", &["a"]) });
    let check = start_with(&store, &BOTH);
    record(&store, &check, vec![page_with_event("u", true)], 3);
    assert_eq!(store.webhook_queues(4).unwrap().len(), 2);
    store.delete_monitor("tea", "m", 4).unwrap();
    assert_eq!(store.webhook_queues(4).unwrap().len(), 1, "even before the sweep");
    let report = store.sweep_webhooks(Duration::from_millis(DAY_MS), 4).unwrap();
    assert_eq!((report.dropped, report.expired, store.webhook_stats().unwrap().pending), (1, 0, 1));
    let delivery = next(&store, 4, &[]).unwrap().1;
    assert_eq!((delivery.source, delivery.source_id.as_str()), (WebhookSource::Batch, "j"));
    sweep(&store, &MonitorLimits::default(), 5);
    assert_eq!(store.webhook_queues(5).unwrap().len(), 1);
}

#[test]
fn deleted_team_has_no_events_of_its_checks() {
    let (_dir, store) = fresh();
    store.set_team("tea", &Default::default()).unwrap();
    let check = start_with(&store, &BOTH);
    record(&store, &check, vec![page_with_event("u", true)], 3);
    store.delete_team("tea").unwrap();
    assert_eq!((store.webhook_queues(9).unwrap(), store.webhook_stats().unwrap().pending), (vec![], 0));
}
