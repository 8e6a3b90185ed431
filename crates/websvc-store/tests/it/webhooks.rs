//! Tests of webhook events: order, retries, dead letters, expiry.

use std::path::Path;
use std::time::Duration;

use websvc_store::{
    ApiVersion, CancelJobOutcome, DeadLetterFilter, DeliveryOutcome, DueWebhook, JobEvent, JobKind,
    JobLimits, JobState, JobUrl, NewJob, NewWebhook, Store, UrlCompletion, UrlOutcome, WebhookAttempt,
    WebhookDelivery, WebhookQueue, WebhookSource, WebhookStats,
};

use crate::engine::Rows;
use crate::fresh;
use crate::jobs::{complete_url, lease_urls};

const ALL: [JobEvent; 4] = [JobEvent::Started, JobEvent::Page, JobEvent::Completed, JobEvent::Failed];
const DAY_MS: u64 = 86_400_000;

fn job(id: &str, pages: usize, events: &[JobEvent]) -> NewJob {
    let url = |number| JobUrl {
        url: format!("http://a.test/{number}"),
        key: format!("{number}"),
        depth: 0,
        entry: None,
    };
    NewJob {
        id: id.to_owned(),
        team: "tea".to_owned(),
        key: None,
        kind: JobKind::Batch,
        api_version: ApiVersion::V2,
        request: "{}".to_owned(),
        idempotency_key: None,
        page_limit: None,
        urls: (0..pages).map(url).collect(),
        list_len: 0,
        webhook: Some(NewWebhook {
            url: "http://hook.test/x?token=secret".to_owned(),
            host: "hook.test".to_owned(),
            headers: "{}".to_owned(),
            metadata: r#"{"of":"tea"}"#.to_owned(),
            events: events.to_vec(),
        }),
    }
}

fn create(store: &Store, job: &NewJob) -> i64 {
    store.create_job(job, &JobLimits::default(), 0).unwrap();
    store.job(&job.team, job.kind, &job.id, 0).unwrap().unwrap().number
}

/// Completes the next page of a job, with or without a document.
fn complete_page(store: &Store, job: i64, document: Option<&str>) {
    let lease = lease_urls(store, job, 1).remove(0);
    let failed = UrlOutcome::Failed { code: "X".to_owned(), error: "why".to_owned() };
    let outcome = document.map_or(failed, |text| UrlOutcome::Document(text.as_bytes().to_vec()));
    complete_url(store, UrlCompletion::new(lease, outcome), &JobLimits::default(), 0);
}

/// Returns the next event of a webhook that is due.
pub(crate) fn next_due(store: &Store, webhook: i64, now_ms: u64, in_flight: &[i64]) -> Option<DueWebhook> {
    store.due_webhooks(webhook, now_ms, in_flight, 1).unwrap().pop()
}

pub(crate) fn record_attempt(store: &Store, event: i64, outcome: DeliveryOutcome, now_ms: u64) {
    store.record_webhook_attempts(&[WebhookAttempt { event, outcome }], now_ms).unwrap();
}

fn next(store: &Store, job: i64, now_ms: u64, in_flight: &[i64]) -> Option<(i64, WebhookDelivery)> {
    let event = next_due(store, job, now_ms, in_flight)?;
    Some((event.number, store.webhook_delivery(event.number).unwrap().unwrap()))
}

/// Delivers all events that are due, and returns them.
fn deliver(store: &Store, job: i64) -> Vec<WebhookDelivery> {
    let mut delivered = Vec::new();
    while let Some((number, delivery)) = next(store, job, 0, &[]) {
        record_attempt(store, number, DeliveryOutcome::Delivered, 0);
        delivered.push(delivery);
    }
    delivered
}

fn failed(retry_at_ms: Option<u64>) -> DeliveryOutcome {
    let expires_at_ms = 5 * DAY_MS;
    DeliveryOutcome::Failed { status: Some(500), error: "no".to_owned(), retry_at_ms, expires_at_ms }
}

fn events(deliveries: &[WebhookDelivery]) -> Vec<JobEvent> {
    deliveries.iter().map(|delivery| delivery.event).collect()
}

/// Returns the counts of pending events and dead letters.
fn stats(store: &Store) -> (u64, u64) {
    let WebhookStats { pending, dead_letters } = store.webhook_stats().unwrap();
    (pending, dead_letters)
}

#[test]
fn events_of_a_job_are_delivered_in_order_with_documents() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", 3, &ALL));
    complete_page(&store, number, Some("1"));
    complete_page(&store, number, None);
    complete_page(&store, number, Some("22"));
    let queue = WebhookQueue { webhook: number, team: "tea".to_owned(), host: "hook.test".to_owned() };
    assert_eq!(store.webhook_queues(0).unwrap(), [queue]);
    assert_eq!(stats(&store), (4, 0));
    let delivered = deliver(&store, number);
    assert_eq!(
        events(&delivered),
        [JobEvent::Started, JobEvent::Page, JobEvent::Page, JobEvent::Completed],
        "a page without a document has no event"
    );
    let documents: Vec<Option<&[u8]>> = delivered.iter().map(|event| event.document.as_deref()).collect();
    assert_eq!(documents, [None, Some(&b"1"[..]), Some(&b"22"[..]), None]);
    assert!(delivered.iter().all(|event| event.metadata == r#"{"of":"tea"}"# && event.source_id == "j"));
    assert_eq!((stats(&store), store.webhook_queues(0).unwrap()), ((0, 0), Vec::new()));
}

#[test]
fn only_subscribed_events_are_enqueued() {
    let check = |subscribed: &[JobEvent], expected: &[JobEvent]| {
        let (_dir, store) = fresh();
        let number = create(&store, &job("j", 1, subscribed));
        complete_page(&store, number, Some("1"));
        assert_eq!(events(&deliver(&store, number)), expected, "{subscribed:?}");
    };
    check(&[JobEvent::Page], &[JobEvent::Page]);
    check(&[JobEvent::Completed, JobEvent::Failed], &[JobEvent::Completed]);
    check(&[JobEvent::Failed], &[]);
    check(&[JobEvent::Started], &[JobEvent::Started]);
}

#[test]
fn page_events_follow_the_started_event_and_end_events_follow_all_others() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", 2, &ALL));
    complete_page(&store, number, Some("1"));
    complete_page(&store, number, Some("2"));
    let (started, _) = next(&store, number, 0, &[]).unwrap();
    assert_eq!(next(&store, number, 0, &[started]), None, "the started event is in flight");
    record_attempt(&store, started, failed(Some(100)), 0);
    let (first, _) = next(&store, number, 0, &[]).unwrap();
    let (second, delivery) = next(&store, number, 0, &[first]).unwrap();
    assert_eq!(delivery.event, JobEvent::Page);
    assert_eq!(next(&store, number, 0, &[first, second]), None, "page events are in flight");
    record_attempt(&store, second, DeliveryOutcome::Delivered, 0);
    assert_eq!(next(&store, number, 0, &[first]), None);
    record_attempt(&store, first, failed(Some(200)), 0);
    let (end, delivery) = next(&store, number, 0, &[]).unwrap();
    assert_eq!(delivery.event, JobEvent::Completed, "all earlier events were attempted");
    record_attempt(&store, end, DeliveryOutcome::Delivered, 0);
    assert_eq!((next(&store, number, 99, &[]), store.next_webhook_due_ms(0).unwrap()), (None, Some(100)));
    assert_eq!(next(&store, number, 100, &[]).unwrap().0, started);
    assert_eq!(next(&store, number, 200, &[started]).unwrap().0, first);
}

#[test]
fn every_end_of_a_job_is_an_event_except_cancellation() {
    let check = |expected: Option<(JobEvent, Option<&str>)>, end: &dyn Fn(&Store, i64)| {
        let (_dir, store) = fresh();
        let number = create(&store, &job("j", 2, &[JobEvent::Completed, JobEvent::Failed]));
        end(&store, number);
        let delivered = deliver(&store, number);
        let events: Vec<_> = delivered.iter().map(|event| (event.event, event.error.as_deref())).collect();
        assert_eq!(events, Vec::from_iter(expected));
    };
    let limits = JobLimits::default();
    check(Some((JobEvent::Failed, Some("no credits"))), &|store, number| {
        store.fail_job(number, "no credits", &limits, 0).unwrap();
        store.fail_job(number, "again", &limits, 0).unwrap();
    });
    let overdue = "the job ran for more than 86400 seconds, the maximum";
    let (_dir, store) = fresh();
    let number = create(&store, &job("late", 1, &ALL));
    store.sweep_jobs(&limits, DAY_MS).unwrap();
    let (started, _) = next(&store, number, DAY_MS, &[]).unwrap();
    record_attempt(&store, started, DeliveryOutcome::Delivered, DAY_MS);
    let (_, failed) = next(&store, number, DAY_MS, &[]).unwrap();
    assert_eq!((failed.event, failed.error.as_deref()), (JobEvent::Failed, Some(overdue)));
    check(None, &|store, _| {
        let cancelled = store.cancel_job("tea", JobKind::Batch, "j", &limits, 0).unwrap();
        assert_eq!(cancelled, CancelJobOutcome::Cancelled);
    });
    let no_documents = "none of the 2 pages could be scraped; first error: why";
    check(Some((JobEvent::Failed, Some(no_documents))), &|store, number| {
        complete_page(store, number, None);
        complete_page(store, number, None);
    });
    check(Some((JobEvent::Completed, None)), &|store, number| {
        complete_page(store, number, None);
        complete_page(store, number, Some("1"));
        assert_eq!(store.job_by_number(number).unwrap().unwrap().state, JobState::Completed);
    });
}

#[test]
fn dead_letter_can_be_listed_retried_and_deleted_and_keeps_its_job() {
    let (dir, store) = fresh();
    let number = create(&store, &job("j", 1, &[JobEvent::Page]));
    complete_page(&store, number, Some("1"));
    let die = || {
        let (event, delivery) = next(&store, number, 0, &[]).unwrap();
        record_attempt(&store, event, failed(None), 7);
        delivery.id
    };
    let id = die();
    assert_eq!((stats(&store), next(&store, number, u64::MAX >> 1, &[])), ((0, 1), None));
    let all = DeadLetterFilter::default();
    let of = |team: &str, source| DeadLetterFilter {
        team: Some(team.to_owned()),
        sources: Some(vec![source]),
        id: None,
    };
    let letters = store.dead_letters(&of("tea", WebhookSource::Batch), 0, 9).unwrap();
    let letter = &letters.letters[0];
    assert_eq!(
        (letters.total, letter.id.as_str(), letter.attempts, letter.status),
        (1, id.as_str(), 1, Some(500))
    );
    assert_eq!(
        (letter.error.as_str(), letter.last_attempt_at_ms, letter.expires_at_ms),
        ("no", 7, 5 * DAY_MS)
    );
    assert_eq!(store.dead_letters(&of("cup", WebhookSource::Batch), 0, 9).unwrap().total, 0);
    assert_eq!(store.dead_letters(&of("tea", WebhookSource::Crawl), 0, 9).unwrap().total, 0);
    assert_eq!(store.dead_letters(&all, 1, 9).unwrap().letters, []);
    assert_eq!(store.retry_dead_letters(&of("cup", WebhookSource::Batch), 0).unwrap(), 0);
    assert_eq!(store.retry_dead_letters(&all, 0).unwrap(), 1);
    assert_eq!(die(), id, "the identifier stays the same");
    let limits = JobLimits::default();
    while store.sweep_jobs(&limits, 4 * DAY_MS).unwrap() {}
    assert_eq!(store.job("tea", JobKind::Batch, "j", 4 * DAY_MS).unwrap(), None, "the job has expired");
    assert_eq!(store.retry_dead_letters(&all, 0).unwrap(), 1);
    assert_eq!(next(&store, number, 0, &[]).unwrap().1.document.as_deref(), Some(&b"1"[..]));
    die();
    while store.sweep_jobs(&limits, 5 * DAY_MS).unwrap() {}
    let rows = |table: &str| rows(dir.path(), table);
    assert_eq!((rows("jobs"), rows("webhooks"), rows("webhook_events"), rows("job_documents")), (0, 0, 0, 0));
    let number = create(&store, &job("k", 1, &[JobEvent::Started]));
    let (event, _) = next(&store, number, 0, &[]).unwrap();
    record_attempt(&store, event, failed(None), 0);
    assert_eq!((store.delete_dead_letters(&all).unwrap(), stats(&store)), (1, (0, 0)));
}

/// Sweeps all events, and returns the counts of dropped and expired ones.
fn sweep(store: &Store, now_ms: u64) -> (u64, u64) {
    let (mut dropped, mut expired) = (0, 0);
    loop {
        let report = store.sweep_webhooks(Duration::from_millis(3 * DAY_MS), now_ms).unwrap();
        dropped += report.dropped;
        expired += report.expired;
        if !report.has_more() {
            return (dropped, expired);
        }
    }
}

#[test]
fn event_pending_for_too_long_becomes_a_dead_letter() {
    let (dir, store) = fresh();
    let number = create(&store, &job("j", 2, &ALL));
    complete_page(&store, number, Some("1"));
    complete_page(&store, number, Some("2"));
    let (started, _) = next(&store, number, 0, &[]).unwrap();
    record_attempt(&store, started, failed(Some(9 * DAY_MS)), 7);
    assert_eq!(sweep(&store, 3 * DAY_MS - 1), (0, 0));
    assert_eq!(stats(&store), (4, 0));
    assert_eq!(sweep(&store, 3 * DAY_MS), (0, 4));
    assert_eq!((stats(&store), store.webhook_queues(u64::MAX >> 1).unwrap()), ((0, 4), Vec::new()));
    let letters = store.dead_letters(&DeadLetterFilter::default(), 0, 9).unwrap().letters;
    let errors: Vec<_> = letters.iter().map(|letter| (letter.attempts, letter.error.as_str())).collect();
    let expired = (0, "not delivered within 72 hours");
    assert_eq!(errors, [(1, "no"), expired, expired, expired]);
    assert!(letters.iter().all(|letter| letter.expires_at_ms == 6 * DAY_MS));
    // A dead letter that is retried is pending from that time on.
    let one = DeadLetterFilter { id: Some(letters[1].id.clone()), ..DeadLetterFilter::default() };
    assert_eq!(store.retry_dead_letters(&one, 4 * DAY_MS).unwrap(), 1);
    assert_eq!((sweep(&store, 7 * DAY_MS - 1), stats(&store)), ((0, 0), (1, 3)));
    assert_eq!(sweep(&store, 7 * DAY_MS), (0, 1));
    while store.sweep_jobs(&JobLimits::default(), 10 * DAY_MS).unwrap() {}
    assert_eq!((rows(dir.path(), "jobs"), rows(dir.path(), "job_documents")), (0, 0));
}

#[test]
fn pending_events_of_a_cancelled_job_are_dropped_but_not_its_dead_letters() {
    let (dir, store) = fresh();
    let number = create(&store, &job("j", 700, &ALL));
    (0..600).for_each(|_| complete_page(&store, number, Some("1")));
    let (started, delivery) = next(&store, number, 0, &[]).unwrap();
    record_attempt(&store, started, failed(None), 0);
    let other = create(&store, &job("k", 1, &[JobEvent::Started]));
    let due = next_due(&store, number, 0, &[]).unwrap();
    store.cancel_job("tea", JobKind::Batch, "j", &JobLimits::default(), 5).unwrap();
    let queues =
        |now_ms| store.webhook_queues(now_ms).unwrap().iter().map(|queue| queue.webhook).collect::<Vec<_>>();
    assert_eq!((next(&store, number, 5, &[]), queues(5)), (None, vec![other]), "even before the sweep");
    assert_eq!(store.webhook_delivery(due.number).unwrap(), None);
    assert_eq!(sweep(&store, 5), (600, 0));
    assert_eq!((stats(&store), next(&store, number, 5, &[])), ((1, 1), None));
    assert_eq!(store.webhook_queues(5).unwrap()[0].webhook, other);
    // The dead letter of the cancelled job can still be retried.
    assert_eq!(store.retry_dead_letters(&DeadLetterFilter::default(), 6).unwrap(), 1);
    assert_eq!((sweep(&store, 6), next(&store, number, 6, &[]).unwrap().1.id), ((0, 0), delivery.id));
    record_attempt(&store, started, DeliveryOutcome::Delivered, 6);
    while store.sweep_jobs(&JobLimits::default(), 2 * DAY_MS).unwrap() {}
    assert_eq!(rows(dir.path(), "job_documents"), 0, "no event refers to them any more");
}

fn rows(dir: &Path, table: &str) -> u64 {
    Rows::open(dir).number(&format!("SELECT count(*) FROM {table}"))
}

#[test]
fn new_team_with_an_old_name_gets_no_old_events_and_a_new_secret() {
    let (dir, store) = fresh();
    store.set_team("tea", &Default::default()).unwrap();
    create(&store, &job("j", 1, &ALL));
    let secret = store.webhook_secret("tea").unwrap();
    assert_eq!(store.webhook_secret("tea").unwrap(), secret);
    let other = store.rotate_webhook_secret("tea").unwrap();
    assert!(other != secret && store.webhook_secret("tea").unwrap() == other);
    assert_ne!(store.webhook_secret("cup").unwrap(), other);
    store.delete_team("tea").unwrap();
    assert_eq!((rows(dir.path(), "webhook_events"), stats(&store)), (0, (0, 0)));
    assert_ne!(store.webhook_secret("tea").unwrap(), other);
}

#[test]
fn open_page_count_follows_added_and_completed_urls() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", 3, &ALL));
    let open = |team| store.open_job_pages(team).unwrap();
    assert_eq!((open(Some("tea")), open(Some("cup")), open(None)), (3, 0, 3));
    let lease = lease_urls(&store, number, 1).remove(0);
    assert_eq!(open(Some("tea")), 3, "a leased URL is open");
    let found =
        vec![JobUrl { url: "http://a.test/x".to_owned(), key: "x".to_owned(), depth: 1, entry: None }];
    let completion = UrlCompletion { found, ..UrlCompletion::new(lease, UrlOutcome::OutOfScope) };
    complete_url(&store, completion, &JobLimits::default(), 0);
    assert_eq!(open(Some("tea")), 3, "one URL was completed and one found");
    complete_page(&store, number, None);
    assert_eq!(open(None), 2);
    store.cancel_job("tea", JobKind::Batch, "j", &JobLimits::default(), 0).unwrap();
    assert_eq!((open(Some("tea")), open(None)), (0, 0));
}
