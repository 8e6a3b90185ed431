//! Tests of monitors: schedule, checks, deletion.

use websvc_store::{
    BaselineChange, BillingStatus, CheckPageStatus, CheckRecord, CheckStatus, CheckSummary, CheckTrigger,
    CreateMonitorOutcome, FinishedCheck, MonitorLimits, MonitorMetrics, MonitorRecord, MonitorStatus,
    MonitorUpdate, NewCheck, NewCheckPage, NewMonitor, RecordPagesOutcome, StartCheckOutcome, Store,
};

use crate::engine::Rows;
use crate::{fresh, open};

const DAY_MS: u64 = 86_400_000;

/// Creates a monitor of the team `tea`.
#[track_caller]
pub(crate) fn monitor(store: &Store, id: &str, next_run_ms: Option<u64>) -> MonitorRecord {
    monitor_of(store, "tea", id, next_run_ms)
}

#[track_caller]
pub(crate) fn monitor_of(store: &Store, team: &str, id: &str, next_run_ms: Option<u64>) -> MonitorRecord {
    let new = NewMonitor {
        id: id.to_owned(),
        team: team.to_owned(),
        key: None,
        definition: format!(r#"{{"name":"{id}"}}"#),
        next_run_ms,
        status: MonitorStatus::Active,
        recipients: None,
    };
    match store.create_monitor(&new, &MonitorLimits::default(), 1).unwrap() {
        CreateMonitorOutcome::Created(monitor) => monitor,
        CreateMonitorOutcome::TooMany => panic!("the team has no monitors"),
    }
}

pub(crate) fn manual(monitor: &MonitorRecord, id: &str) -> NewCheck {
    NewCheck {
        id: id.to_owned(),
        monitor: monitor.number,
        trigger: CheckTrigger::Manual,
        scheduled_for_ms: None,
        next_run_ms: None,
        estimated_credits: 3,
        billing: BillingStatus::Reserved,
        webhook: None,
        retention_until_ms: 9 * DAY_MS,
    }
}

pub(crate) fn scheduled(monitor: &MonitorRecord, id: &str, next_run_ms: u64) -> NewCheck {
    NewCheck {
        trigger: CheckTrigger::Scheduled,
        scheduled_for_ms: monitor.next_run_ms,
        next_run_ms: Some(next_run_ms),
        ..manual(monitor, id)
    }
}

#[track_caller]
pub(crate) fn start(store: &Store, check: &NewCheck, now_ms: u64) -> CheckRecord {
    match store.start_check(check, now_ms).unwrap() {
        StartCheckOutcome::Started(check) => check,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn page(url: &str, status: CheckPageStatus, baseline: BaselineChange) -> NewCheckPage {
    NewCheckPage {
        baseline_url: None,
        id: format!("page of {url}"),
        target: "t".to_owned(),
        url: url.to_owned(),
        status,
        document: format!(r#"{{"of":"{url}"}}"#).into_bytes(),
        event: None,
        event_success: true,
        baseline,
        charge: None,
    }
}

pub(crate) fn replace(text: &str) -> BaselineChange {
    BaselineChange::Replace(text.as_bytes().to_vec())
}

/// Records pages, and returns which of them were new.
#[track_caller]
pub(crate) fn record(store: &Store, check: &CheckRecord, pages: Vec<NewCheckPage>, now_ms: u64) -> Vec<bool> {
    match store.record_check_pages(check.number, pages, &MonitorLimits::default(), now_ms).unwrap() {
        RecordPagesOutcome::Recorded(recorded) => recorded,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn finished(status: CheckStatus) -> FinishedCheck {
    FinishedCheck {
        status,
        error: None,
        actual_credits: 2,
        billing: BillingStatus::Confirmed,
        notifications: r#"{"webhook":1}"#.to_owned(),
        has_messages: false,
    }
}

#[track_caller]
pub(crate) fn finish(store: &Store, check: &CheckRecord, status: CheckStatus, now_ms: u64) -> MonitorRecord {
    store.finish_check(check.number, &finished(status), now_ms + DAY_MS, now_ms).unwrap().unwrap()
}

fn ids(monitors: &[MonitorRecord]) -> Vec<&str> {
    monitors.iter().map(|monitor| monitor.id.as_str()).collect()
}

/// Sweeps until nothing is left to do.
pub(crate) fn sweep(store: &Store, limits: &MonitorLimits, now_ms: u64) {
    while store.sweep_monitors(limits, now_ms).unwrap() {}
}

#[test]
fn monitors_are_listed_newest_first_and_belong_to_one_team() {
    let (_dir, store) = fresh();
    for id in ["a", "b", "c"] {
        monitor(&store, id, None);
    }
    monitor_of(&store, "cup", "other", None);
    assert_eq!(ids(&store.monitors("tea", 0, 9).unwrap()), ["c", "b", "a"]);
    assert_eq!(ids(&store.monitors("tea", 1, 1).unwrap()), ["b"]);
    let found = store.monitor("tea", "a").unwrap().unwrap();
    assert_eq!((found.revision, found.created_at_ms, found.status), (1, 1, MonitorStatus::Active));
    assert_eq!((found.current_check, found.last_summary, found.last_run_ms), (None, None, None));
    assert_eq!(store.monitor("cup", "a").unwrap(), None);
    let limits = MonitorLimits { max_monitors: 3, ..MonitorLimits::default() };
    let new = |team: &str, id: &str| NewMonitor {
        id: id.to_owned(),
        team: team.to_owned(),
        key: None,
        definition: "{}".to_owned(),
        next_run_ms: None,
        status: MonitorStatus::Paused,
        recipients: None,
    };
    assert_eq!(store.create_monitor(&new("tea", "d"), &limits, 1).unwrap(), CreateMonitorOutcome::TooMany);
    assert!(store.delete_monitor("tea", "b", 2).unwrap());
    let created = store.create_monitor(&new("tea", "d"), &limits, 1).unwrap();
    assert!(matches!(created, CreateMonitorOutcome::Created(_)), "{created:?}");
}

#[test]
fn update_applies_only_to_the_revision_that_was_read() {
    let (_dir, store) = fresh();
    let monitor = monitor(&store, "m", Some(10));
    let update = |definition: &str| MonitorUpdate {
        definition: definition.to_owned(),
        status: MonitorStatus::Paused,
        next_run_ms: None,
        recipients: None,
    };
    let updated = store.update_monitor(monitor.number, 1, &update("[1]"), 5).unwrap().unwrap();
    assert_eq!((updated.revision, updated.definition.as_str(), updated.updated_at_ms), (2, "[1]", 5));
    assert_eq!((updated.status, updated.next_run_ms), (MonitorStatus::Paused, None));
    assert_eq!(store.update_monitor(monitor.number, 1, &update("[2]"), 6).unwrap(), None);
    assert_eq!(store.monitor_by_number(monitor.number).unwrap().unwrap(), updated);
    store.delete_monitor("tea", "m", 7).unwrap();
    assert_eq!(store.update_monitor(monitor.number, 2, &update("[3]"), 8).unwrap(), None);
}

#[test]
fn due_monitors_are_active_and_oldest_first() {
    let (_dir, store) = fresh();
    for (id, next_run_ms) in
        [("late", Some(5)), ("first", Some(1)), ("never", None), ("later", Some(50)), ("also", Some(5))]
    {
        monitor(&store, id, next_run_ms);
    }
    let paused = monitor(&store, "paused", Some(2));
    let update = MonitorUpdate {
        definition: "{}".to_owned(),
        status: MonitorStatus::Paused,
        next_run_ms: paused.next_run_ms,
        recipients: None,
    };
    store.update_monitor(paused.number, 1, &update, 0).unwrap().unwrap();
    monitor(&store, "deleted", Some(3));
    store.delete_monitor("tea", "deleted", 0).unwrap();
    assert_eq!(ids(&store.due_monitors(5, 9).unwrap()), ["first", "late", "also"]);
    assert_eq!(ids(&store.due_monitors(5, 1).unwrap()), ["first"]);
    assert_eq!(store.due_monitors(0, 9).unwrap(), []);
    assert_eq!(store.next_monitor_due_ms(1).unwrap(), Some(5));
    assert_eq!(store.next_monitor_due_ms(5).unwrap(), Some(50));
    assert_eq!(store.next_monitor_due_ms(50).unwrap(), None);
    let metrics = store.monitor_metrics(5).unwrap();
    assert_eq!(metrics, MonitorMetrics { active: 5, paused: 1, due: 3, running: 0, messages: 0 });
}

#[test]
fn scheduled_check_starts_once_of_two_stores() {
    let (dir, store) = fresh();
    let monitor = monitor(&store, "m", Some(10));
    let other = open(dir.path());
    let check = start(&store, &scheduled(&monitor, "a", 20), 12);
    assert_eq!(
        (check.status, check.trigger, check.scheduled_for_ms),
        (CheckStatus::Queued, CheckTrigger::Scheduled, Some(10))
    );
    assert_eq!((check.estimated_credits, check.reserved_credits, check.actual_credits), (3, 3, 0));
    assert_eq!((check.monitor_id.as_str(), check.team.as_str(), check.started_at_ms), ("m", "tea", None));
    assert_eq!(other.start_check(&scheduled(&monitor, "b", 20), 12).unwrap(), StartCheckOutcome::NotFound);
    let now = store.monitor("tea", "m").unwrap().unwrap();
    assert_eq!((now.next_run_ms, now.current_check.as_deref()), (Some(20), Some("a")));
    assert_eq!(other.monitor_metrics(12).unwrap().running, 1);
    assert_eq!(other.checks(monitor.number, None, 0, 9).unwrap(), [check]);
}

#[test]
fn hammer_starts_each_due_check_exactly_once() {
    let (dir, store) = fresh();
    for number in 0..20 {
        monitor(&store, &format!("m{number}"), Some(number));
    }
    let work = |seed: usize| {
        let store = open(dir.path());
        let mut started = 0;
        for monitor in store.due_monitors(100, 100).unwrap() {
            let check = scheduled(&monitor, &format!("{seed} {}", monitor.id), 1_000);
            if matches!(store.start_check(&check, 100).unwrap(), StartCheckOutcome::Started(_)) {
                started += 1;
            }
        }
        started
    };
    let started: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|seed| scope.spawn(move || work(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((started, store.due_monitors(100, 100).unwrap().len()), (20, 0));
    assert_eq!(Rows::open(dir.path()).number("SELECT count(*) FROM monitor_checks"), 20);
}

#[test]
fn overlap_is_recorded_for_a_scheduled_check_only() {
    let (_dir, store) = fresh();
    let monitor = monitor(&store, "m", Some(10));
    let first = start(&store, &manual(&monitor, "a"), 5);
    record(&store, &first, vec![page("u", CheckPageStatus::New, replace("1"))], 6);
    let after_first = finish(&store, &first, CheckStatus::Completed, 7);
    let second = start(&store, &manual(&monitor, "b"), 8);
    let overlap = StartCheckOutcome::Overlap { current: "b".to_owned() };
    assert_eq!(store.start_check(&manual(&monitor, "c"), 9).unwrap(), overlap);
    assert_eq!(store.checks(monitor.number, None, 0, 9).unwrap().len(), 2, "nothing is stored");
    assert_eq!(store.start_check(&scheduled(&monitor, "d", 20), 11).unwrap(), overlap);
    let skipped = store.check(monitor.number, "d").unwrap().unwrap();
    assert_eq!((skipped.status, skipped.finished_at_ms), (CheckStatus::SkippedOverlap, Some(11)));
    assert_eq!(skipped.error.as_deref(), Some("check b had not ended when this one was due"));
    assert_eq!((skipped.billing, skipped.reserved_credits), (BillingStatus::NotApplicable, 0));
    let now = store.monitor("tea", "m").unwrap().unwrap();
    assert_eq!((now.next_run_ms, now.current_check.as_deref()), (Some(20), Some("b")));
    assert_eq!((now.last_summary, now.last_run_ms), (after_first.last_summary, Some(7)));
    let ended = finish(&store, &second, CheckStatus::SkippedNoCredits, 12);
    assert_eq!((ended.last_summary, ended.last_run_ms), (after_first.last_summary, Some(7)));
    let with_status = |status| {
        let checks = store.checks(monitor.number, Some(status), 0, 9).unwrap();
        checks.into_iter().map(|check| check.id).collect::<Vec<_>>()
    };
    assert_eq!(with_status(CheckStatus::SkippedOverlap), ["d"]);
    assert_eq!(with_status(CheckStatus::Completed), ["a"]);
    assert_eq!(with_status(CheckStatus::Partial), Vec::<String>::new());
    let skipped = store.checks(monitor.number, None, 1, 1).unwrap();
    assert_eq!(skipped[0].id, "b", "the newest first");
}

#[test]
fn paused_and_deleted_monitors_start_no_check() {
    let (_dir, store) = fresh();
    let monitor = monitor(&store, "m", Some(10));
    let update = MonitorUpdate {
        definition: "{}".to_owned(),
        status: MonitorStatus::Paused,
        next_run_ms: None,
        recipients: None,
    };
    store.update_monitor(monitor.number, 1, &update, 1).unwrap().unwrap();
    assert_eq!(store.start_check(&manual(&monitor, "a"), 5).unwrap(), StartCheckOutcome::Paused);
    assert_eq!(store.start_check(&scheduled(&monitor, "a", 20), 11).unwrap(), StartCheckOutcome::Paused);
    store.delete_monitor("tea", "m", 2).unwrap();
    assert_eq!(store.start_check(&manual(&monitor, "a"), 5).unwrap(), StartCheckOutcome::NotFound);
}

#[test]
fn check_moves_from_queued_to_running_to_finished() {
    let (_dir, store) = fresh();
    let monitor = monitor(&store, "m", Some(10));
    let check = start(&store, &manual(&monitor, "a"), 5);
    let set =
        |status, progress, now_ms| store.set_check_progress(check.number, status, progress, now_ms).unwrap();
    assert!(set(CheckStatus::Queued, "[0]", 6));
    assert!(set(CheckStatus::Running, "[1]", 7) && set(CheckStatus::Running, "[2]", 8));
    let now = store.check_by_number(check.number).unwrap().unwrap();
    assert_eq!(
        (now.status, now.started_at_ms, now.progress.as_str()),
        (CheckStatus::Running, Some(7), "[2]")
    );
    assert_eq!(store.claim_checks(9).unwrap(), [now], "a process that has not joined sees all");
    let update = MonitorUpdate {
        definition: "[9]".to_owned(),
        status: MonitorStatus::Active,
        next_run_ms: Some(10),
        recipients: None,
    };
    store.update_monitor(monitor.number, 1, &update, 8).unwrap().unwrap();
    let error = Some("too slow".to_owned());
    let failed = FinishedCheck { error, ..finished(CheckStatus::Failed) };
    let after = store.finish_check(check.number, &failed, 99, 9).unwrap().unwrap();
    assert_eq!((after.current_check, after.last_run_ms, after.next_run_ms), (None, Some(9), Some(10)));
    assert_eq!(after.last_summary, Some(CheckSummary::default()));
    let now = store.check(monitor.number, "a").unwrap().unwrap();
    assert_eq!(
        (now.status, now.error.as_deref(), now.actual_credits),
        (CheckStatus::Failed, Some("too slow"), 2)
    );
    assert_eq!((now.billing, now.finished_at_ms), (BillingStatus::Confirmed, Some(9)));
    assert_eq!(now.definition, r#"{"name":"m"}"#, "the definition at the start");
    assert!(!set(CheckStatus::Running, "[3]", 10), "it has ended");
    assert_eq!(store.finish_check(check.number, &failed, 99, 10).unwrap(), None);
    let pages = vec![page("u", CheckPageStatus::Same, BaselineChange::Keep)];
    let late = store.record_check_pages(check.number, pages, &MonitorLimits::default(), 10).unwrap();
    assert_eq!(late, RecordPagesOutcome::NotRunning);
    assert!(store.set_check_notifications(check.number, "[4]", 11).unwrap());
    assert_eq!(store.check_by_number(check.number).unwrap().unwrap().notifications, "[4]");
    assert_eq!(
        (store.claim_checks(9).unwrap(), store.check(monitor.number + 1, "a").unwrap()),
        (vec![], None)
    );
}

#[test]
fn deleted_monitor_is_hidden_at_once_and_swept_in_parts() {
    let (dir, store) = fresh();
    let monitor = monitor(&store, "m", Some(10));
    let check = start(&store, &manual(&monitor, "a"), 5);
    let pages = (0..600).map(|number| page(&format!("u{number}"), CheckPageStatus::New, replace("1")));
    record(&store, &check, pages.collect(), 6);
    assert!(!store.delete_monitor("cup", "m", 7).unwrap());
    assert!(store.delete_monitor("tea", "m", 7).unwrap());
    assert!(!store.delete_monitor("tea", "m", 7).unwrap());
    assert_eq!((store.monitor("tea", "m").unwrap(), store.monitors("tea", 0, 9).unwrap()), (None, vec![]));
    assert_eq!((store.due_monitors(99, 9).unwrap(), store.claim_checks(9).unwrap()), (vec![], vec![]));
    assert_eq!(
        (store.check_by_number(check.number).unwrap(), store.checks(monitor.number, None, 0, 9).unwrap()),
        (None, vec![])
    );
    assert!(!store.set_check_progress(check.number, CheckStatus::Running, "{}", 8).unwrap());
    assert!(!store.set_check_notifications(check.number, "{}", 8).unwrap());
    assert_eq!(store.finish_check(check.number, &finished(CheckStatus::Completed), 99, 8).unwrap(), None);
    assert_eq!(store.monitor_metrics(99).unwrap(), MonitorMetrics::default());
    sweep(&store, &MonitorLimits::default(), 8);
    let rows = Rows::open(dir.path());
    for table in ["monitors", "monitor_checks", "monitor_pages", "monitor_baselines"] {
        assert_eq!(rows.number(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    assert_eq!(rows.number("SELECT sum(baseline_bytes + check_bytes) FROM monitor_storage"), 0);
}

#[test]
fn new_team_with_an_old_name_has_no_old_monitors() {
    let (dir, store) = fresh();
    store.set_team("tea", &Default::default()).unwrap();
    let old = monitor(&store, "m", Some(10));
    monitor_of(&store, "cup", "other", Some(10));
    let check = start(&store, &manual(&old, "a"), 5);
    record(&store, &check, vec![page("u", CheckPageStatus::New, replace("1"))], 6);
    store.delete_team("tea").unwrap();
    store.set_team("tea", &Default::default()).unwrap();
    assert_eq!((store.monitors("tea", 0, 9).unwrap(), store.monitor("tea", "m").unwrap()), (vec![], None));
    assert_eq!(ids(&store.due_monitors(99, 9).unwrap()), ["other"]);
    assert_eq!(
        (store.claim_checks(9).unwrap(), store.monitor_by_number(old.number).unwrap()),
        (vec![], None)
    );
    sweep(&store, &MonitorLimits::default(), 8);
    let rows = Rows::open(dir.path());
    assert_eq!(rows.number("SELECT count(*) FROM monitors"), 1);
    assert_eq!(rows.number("SELECT count(*) FROM monitor_checks"), 0);
}

#[test]
fn unfinished_check_continues_after_the_process_was_killed() {
    let (dir, store) = fresh();
    let monitor = monitor(&store, "m", Some(10));
    let check = start(&store, &scheduled(&monitor, "a", 20), 10);
    store.set_check_progress(check.number, CheckStatus::Running, "[1]", 11).unwrap();
    record(&store, &check, vec![page("u", CheckPageStatus::New, replace("1"))], 12);
    // No destructor runs, as after a kill.
    std::mem::forget(store);
    let store = open(dir.path());
    store.join_replicas(websvc_store::ReplicaRole::Worker).unwrap();
    let continued = store.claim_checks(9).unwrap().remove(0);
    assert_eq!((continued.id.as_str(), continued.progress.as_str()), ("a", "[1]"));
    let pages = ["u", "v"].map(|url| page(url, CheckPageStatus::New, replace("1")));
    assert_eq!(record(&store, &continued, pages.into(), 13), [false, true]);
    assert_eq!(finish(&store, &continued, CheckStatus::Completed, 14).last_summary.unwrap().total, 2);
    assert_eq!(store.claim_checks(9).unwrap(), []);
}

#[test]
fn scheduled_monitors_are_read_in_the_order_of_their_checks_and_moved_once() {
    let (_dir, store) = fresh();
    let due = [("a", Some(30)), ("b", Some(10)), ("c", Some(30)), ("d", None), ("e", Some(20))];
    let [a, b, c, _, e] = due.map(|(id, next_run_ms)| monitor(&store, id, next_run_ms).number);
    let read = |after, max| -> Vec<i64> {
        store.scheduled_monitors(after, max).unwrap().iter().map(|monitor| monitor.number).collect()
    };
    assert_eq!(read((0, 0), 9), [b, e, a, c]);
    assert_eq!((read((10, i64::MAX), 2), read((30, a), 9)), (vec![e, a], vec![c]));
    assert!(store.bring_check_forward(c, 30, 5).unwrap());
    assert!(!store.bring_check_forward(c, 30, 7).unwrap(), "it was moved meanwhile");
    assert_eq!(read((0, 0), 9), [c, b, e, a]);
}
