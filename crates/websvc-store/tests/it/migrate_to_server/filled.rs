//! A database file with rows in every table, and the state that the store returns of it.

use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use websvc_store::{
    ArtifactRecord, BaselineChange, CacheLimits, CheckPageStatus, CheckStatus, ConfirmationLimits,
    DeadLetterFilter, DeliveryOutcome, Durability, JobEvent, JobKind, LockProfileOutcome, MessageKind,
    MessageOutcome, MonitorUpdate, NewBrowserSession, NewCheck, NewCheckPage, NewRecipient, OutboxPage,
    PageKey, PageSnapshot, ReplicaRole, SnapshotKey, SnapshotLimits, Store, TeamChange, Usage, UsageFilter,
    UsageRetention,
};

use super::URLS;
use crate::credits::{give, hold_credits, usage};
use crate::feedback::feedback;
use crate::jobs::{complete, create, document, job, lease_urls};
use crate::monitor_events::webhook;
use crate::monitors::{finish, manual, monitor, page as checked_page, record, scheduled, start};
use crate::webhooks::{next_due, record_attempt};
use crate::{noise, page, sqlite};

const TTL: Duration = Duration::from_secs(60);

/// Fills a new database in a directory.
pub(super) fn fill(dir: &TempDir) {
    let store = Store::open(dir.path()).unwrap();
    fill_teams(&store);
    fill_usage(&store);
    fill_pages(&store);
    fill_files(&store);
    fill_jobs(&store, dir);
    fill_monitors(&store);
    fill_sessions(&store);
    fill_outbox(&store);
}

fn fill_sessions(store: &Store) {
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let session = |id: &str| NewBrowserSession {
        id: id.to_owned(),
        team: "tea".to_owned(),
        key: None,
        scrape: Some(format!("scrape of {id}")),
        stream_web_view: false,
        ttl: TTL,
    };
    for id in ["ended", "active"] {
        store.create_browser_session(&session(id), 9, 7).unwrap();
    }
    store.end_browser_session("ended", 8).unwrap();
}

fn fill_outbox(store: &Store) {
    let page = |id: &str| OutboxPage {
        id: id.to_owned(),
        url: format!("http://{id}.test/"),
        version: 5,
        record: "{}".to_owned(),
    };
    store.put_in_outbox("es", &["b", "a"].map(page), Durability::Process, 6).unwrap();
}

fn fill_teams(store: &Store) {
    // The order of these names depends on the collation.
    for team in ["Zebra", "ant"] {
        store.set_team(team, &TeamChange { audit: Some(true), ..TeamChange::default() }).unwrap();
    }
    for (team, label) in [("Zebra", "laptop"), ("ant", "ключ"), ("ant", "")] {
        let key = store.create_key(team, label).unwrap();
        store.authenticate(key.secret.expose()).unwrap().unwrap();
        if label.is_empty() {
            store.revoke_key(key.id.as_str()).unwrap();
        }
    }
    store.set_threat_values("ant", Some(r#"{"blacklist":["b.test"]}"#)).unwrap();
}

fn fill_usage(store: &Store) {
    give(store, "tea", Some(50));
    let team = give(store, "tea", Some(10_000));
    let key = store.list_keys().unwrap().remove(0).id;
    for (query, key) in [("a\0b", None), ("green tea", Some(key))] {
        let result = Some(format!("result of {query}"));
        let usage = Usage { query: Some(query.to_owned()), key, result, ..usage(7) };
        assert_eq!(hold_credits(store, &team, 10).settle(usage), 7);
    }
    let anonymous = Usage { query: None, retention: UsageRetention::Anonymous, ..usage(0) };
    hold_credits(store, &team, 0).settle(anonymous);
    store.flush_credits().unwrap();
    // Old feedback would be deleted together with old usage.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let now_ms = u64::try_from(now.as_millis()).unwrap();
    for id in ["f1", "f2"] {
        store.put_feedback(&feedback(id, "tea", id), 10, now_ms).unwrap();
    }
}

fn fill_pages(store: &Store) {
    let limits = CacheLimits::default();
    for number in 0..20 {
        let url = format!("http://a.test/{number}");
        store.put_page(&page(&url, 1_000 + number, "text ".repeat(50)), &limits).unwrap();
    }
    for number in 0..4 {
        let url = format!("http://large.test/{number}");
        store.put_page(&page(&url, 2_000 + number, noise(number, 100_000)), &limits).unwrap();
    }
}

fn fill_files(store: &Store) {
    store.artifact_secret().unwrap();
    store.webhook_secret("tea").unwrap();
    let artifact = ArtifactRecord {
        id: "0a".to_owned(),
        team: "tea".to_owned(),
        kind: "png".to_owned(),
        bytes: 9,
        created_at_ms: 1,
        expires_at_ms: 2,
    };
    store.reserve_artifact(&artifact, 100).unwrap();
    store.publish_artifact("0a").unwrap();
    for url in ["http://a.test/", "http://b.test/"] {
        let snapshot = PageSnapshot { markdown: "# Tea\0".to_owned(), options: [3; 32], taken_at_ms: 5 };
        store.put_page_snapshot(&snapshot_key(url), &snapshot, &SnapshotLimits::default()).unwrap();
    }
    for name in ["shop", "Bank"] {
        let LockProfileOutcome::Leased(lease) = store.lock_profile("tea", name, 1, TTL).unwrap() else {
            panic!("the profile is new")
        };
        store.save_profile(&lease, &noise(5, 5_000), 2).unwrap();
        if name == "shop" {
            store.release_profile(&lease).unwrap();
        }
    }
}

fn snapshot_key(url: &str) -> SnapshotKey {
    SnapshotKey { team: "tea".to_owned(), url: url.to_owned(), tag: Some("t".to_owned()) }
}

/// Creates a job with documents, failures, leased URLs and events, and one that is deleted again.
fn fill_jobs(store: &Store, dir: &TempDir) {
    let names: Vec<String> = (0..URLS).map(|number| format!("{number}-é")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let webhook = webhook(&[JobEvent::Started, JobEvent::Page]);
    let mut new = job("first", &names);
    (new.webhook, new.idempotency_key) = (Some(webhook), Some("once".to_owned()));
    let number = create(store, &new);
    for lease in lease_urls(store, number, 6).iter().take(4) {
        complete(store, lease, document(&format!("{{\"page\":\"{}\"}}", lease.url.url)));
    }
    let event = next_due(store, number, 1, &[]).unwrap();
    let failed = DeliveryOutcome::Failed {
        status: Some(500),
        error: "no".to_owned(),
        retry_at_ms: None,
        expires_at_ms: 9_000_000_000_000,
    };
    record_attempt(store, event.number, failed, 1);
    create(store, &job("second", &["x"]));
    sqlite(dir.path()).execute("DELETE FROM jobs WHERE id = 'second'", []).unwrap();
}

/// Creates a monitor with a finished check, an unfinished one and baselines, and one that is deleted.
fn fill_monitors(store: &Store) {
    let first = monitor(store, "first", Some(10));
    let check = start(store, &manual(&first, "done"), 1);
    let baseline = || BaselineChange::Replace(noise(3, 3_000).to_vec());
    let pages = ["a", "b", "é"].map(|url| checked_page(url, CheckPageStatus::New, baseline()));
    record(store, &check, pages.into(), 2);
    finish(store, &check, CheckStatus::Completed, 3);
    let webhook = Some(webhook(&[JobEvent::MonitorPage]));
    let check = start(store, &NewCheck { webhook, ..scheduled(&first, "open", 20) }, 11);
    let event = Some(b"{}".to_vec());
    let removed = checked_page("a", CheckPageStatus::Removed, BaselineChange::Removed);
    record(store, &check, vec![NewCheckPage { event, ..removed }], 12);
    monitor(store, "deleted", Some(10));
    store.delete_monitor("tea", "deleted", 4).unwrap();
    fill_messages(store);
}

/// Creates recipients of a monitor, of whom one was asked for a confirmation and one waits for that.
fn fill_messages(store: &Store) {
    let monitor = monitor(store, "mailed", None);
    let recipient = |id: u8, address: &str| NewRecipient {
        id: id.to_string(),
        address: address.to_owned(),
        confirm_hash: [id; 32],
        unsubscribe_hash: [id + 1; 32],
    };
    let update = MonitorUpdate {
        definition: monitor.definition,
        status: monitor.status,
        next_run_ms: monitor.next_run_ms,
        recipients: Some(vec![recipient(1, "ann@a.test"), recipient(3, "bea@a.test")]),
    };
    store.update_monitor(monitor.number, monitor.revision, &update, 5).unwrap();
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let message = store.claim_messages(&[MessageKind::Confirmation], 1, 5).unwrap().remove(0);
    store.permit_confirmation(&message, &[1; 32], &ConfirmationLimits::default(), 5).unwrap();
    store.record_message_outcome(&message, MessageOutcome::Sent, str::to_owned, 6).unwrap();
}

/// Returns what the store says about its state, as texts. NUL in texts is as on a server.
pub(super) fn state_of(store: &Store) -> Vec<String> {
    let pages: Vec<_> = ["http://a.test/0", "http://a.test/19", "http://large.test/3"]
        .map(|url| store.page(&PageKey::new(url, "")).unwrap())
        .into();
    let first = store.job("tea", JobKind::Batch, "first", 0).unwrap();
    let documents = first.as_ref().map(|job| store.job_documents(job.number, 0, 100, 1 << 20).unwrap());
    let monitors = store.monitors("tea", 0, 9).unwrap();
    let checks: Vec<_> =
        monitors.iter().flat_map(|monitor| store.checks(monitor.number, None, 0, 9).unwrap()).collect();
    let pages_of_checks: Vec<_> =
        checks.iter().map(|check| store.check_pages(check.number, None, 0, 9, 1 << 20).unwrap()).collect();
    let baselines: Vec<_> =
        monitors.iter().map(|monitor| store.baseline(monitor.number, "t", "a").unwrap()).collect();
    let dead_letters = store.dead_letters(&DeadLetterFilter::default(), 0, 100).unwrap();
    let texts = [
        format!("{:?}", store.list_teams().unwrap()),
        format!("{:?}", store.list_keys().unwrap()),
        format!("{:?}", ["Zebra", "ant", "tea"].map(|team| store.budget(team).unwrap())),
        format!("{:?}", ["Zebra", "ant", "tea"].map(|team| store.threat_values(team).unwrap())),
        format!("{:?}", store.usage_by_day(UsageFilter::default()).unwrap()),
        format!("{:?}", store.recent_requests(None, None, 100).unwrap()),
        format!("{:?}", store.feedback(None, None, 100).unwrap()),
        format!("{:?}", store.rated_request("tea", "result of green tea").unwrap()),
        format!("{:?}", (store.cache_size().unwrap(), pages)),
        format!("{:?}", (first, documents)),
        format!(
            "{:?}",
            monitors.iter().map(|monitor| store.recipients(monitor.number).unwrap()).collect::<Vec<_>>()
        ),
        format!("{:?}", store.monitor_metrics(0).unwrap()),
        format!("{:?}", (monitors, checks, pages_of_checks, baselines)),
        format!("{dead_letters:?}"),
        format!("{:?}", store.webhook_stats().unwrap()),
        format!("{:?}", store.list_profiles(None).unwrap()),
        format!("{:?}", ["shop", "Bank"].map(|name| store.profile("tea", name).unwrap())),
        format!("{:?}", store.artifact("0a").unwrap()),
        format!("{:?}", store.page_snapshot(&snapshot_key("http://b.test/")).unwrap()),
        format!("{:?}", store.browser_session("ended").unwrap()),
        format!("{:?}", store.outbox_size("es").unwrap()),
    ];
    texts.map(|text| text.replace("\\0", "\u{fffd}")).into()
}
