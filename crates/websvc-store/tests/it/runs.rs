//! Tests of runs: owners, threads, events, webhooks, charges, deletion.

use std::time::Duration;

use websvc_store::{
    AddRunEventsOutcome, ApiVersion, CancelRunOutcome, CreateRunOutcome, FinishedRun, JobEvent, NewRun,
    NewRunEvent, NewRunSnapshot, NewWebhook, ReplicaRole, RunEndEvent, RunKind, RunLimits, RunMetrics,
    RunRecord, RunStatus, RunWebhookEvent, Store, TeamChange, ThreadContent,
};

use crate::credits::{hold_credits, usage};
use crate::engine::{Rows, fresh};
use crate::server::{on_server, open_elsewhere};
use crate::webhooks::{next_due, record_attempt};

const LIMITS: RunLimits = RunLimits {
    max_open: 3,
    max_stored: 5,
    max_events: 4,
    max_run_bytes: 10_000,
    max_bytes: 100_000,
    retention: Duration::from_secs(10),
};

fn new(id: &str) -> NewRun {
    NewRun {
        id: id.to_owned(),
        team: "tea".to_owned(),
        key: None,
        kind: RunKind::Agent,
        api_version: ApiVersion::V2,
        thread: None,
        new_thread: format!("thread of {id}"),
        request: r#"{"prompt":"x"}"#.to_owned(),
        max_credits: 7,
        webhook: None,
    }
}

#[track_caller]
fn create(store: &Store, run: &NewRun, now_ms: u64) -> RunRecord {
    match store.create_run(run, &LIMITS, now_ms).unwrap() {
        CreateRunOutcome::Created(record) => *record,
        other => panic!("{other:?}"),
    }
}

fn finished(status: RunStatus) -> FinishedRun {
    FinishedRun {
        status,
        error: (status != RunStatus::Succeeded).then(|| "too slow".to_owned()),
        message: Some("done".to_owned()),
        result: Some(r#"{"data":1}"#.to_owned()),
        charge: None,
        events: vec![event("end")],
        webhook: None,
    }
}

fn event(name: &str) -> NewRunEvent {
    NewRunEvent { content: format!(r#""{name}""#), snapshot: None }
}

fn add(store: &Store, run: &RunRecord, events: Vec<NewRunEvent>) -> AddRunEventsOutcome {
    store.add_run_events(run.number, events, Vec::new(), &LIMITS, 5).unwrap()
}

#[test]
fn run_waits_works_and_ends_once() {
    let (_dir, store) = fresh();
    let run = create(&store, &new("a"), 100);
    assert_eq!((run.status, run.turn, run.thread.as_str()), (RunStatus::Queued, 1, "thread of a"));
    assert_eq!(store.run("coffee", RunKind::Agent, "a", 100).unwrap(), None, "of another team");
    assert_eq!(store.run("tea", RunKind::Extract, "a", 100).unwrap(), None, "of another kind");
    assert!(store.begin_run(run.number, 110).unwrap());
    assert!(!store.begin_run(run.number, 120).unwrap(), "it has begun");
    assert_eq!(store.run_metrics().unwrap(), RunMetrics { queued: 0, running: 1, stored: 1 });
    assert_eq!(store.finish_run(run.number, finished(RunStatus::Failed), &LIMITS, 200).unwrap(), Some(0));
    assert_eq!(store.finish_run(run.number, finished(RunStatus::Succeeded), &LIMITS, 300).unwrap(), None);
    let ended = store.run("tea", RunKind::Agent, "a", 300).unwrap().unwrap();
    assert_eq!((ended.status, ended.error.as_deref()), (RunStatus::Failed, Some("too slow")));
    assert_eq!((run.message, ended.message.as_deref()), (None, Some("done")));
    assert_eq!((ended.started_at_ms, ended.finished_at_ms), (Some(110), Some(200)));
    assert_eq!(store.run_result(run.number).unwrap().unwrap().0, br#"{"data":1}"#);
    assert_eq!(ended.expires_at_ms, Some(10_200));
    assert_eq!(store.run("tea", RunKind::Agent, "a", 10_200).unwrap(), None, "it has expired");
}

#[test]
fn ended_run_contains_no_credentials_and_headers() {
    let (_dir, store) = fresh();
    let request = r#"{"request":{"prompt":"x","urls":["http://user:hunter2@a.test/x"],
        "scrapeOptions":{"headers":{"authorization":"hunter2"}}}}"#;
    let run = create(&store, &NewRun { request: request.to_owned(), ..new("a") }, 100);
    assert_eq!(store.unfinished_run(run.number).unwrap().unwrap().request, request, "the work needs them");
    store.finish_run(run.number, finished(RunStatus::Failed), &LIMITS, 200).unwrap();
    let ended = store.run("tea", RunKind::Agent, "a", 300).unwrap().unwrap();
    assert!(!ended.request.contains("hunter2"), "{}", ended.request);
    assert!(ended.request.contains("http://a.test/x"), "{}", ended.request);
}

#[test]
fn end_of_a_run_charges_its_team_once() {
    let (_dir, store) = fresh();
    let team =
        store.set_team("tea", &TeamChange { credits: Some(Some(50)), ..TeamChange::default() }).unwrap();
    let run = create(&store, &new("a"), 100);
    for (expected, attempt) in [(Some(5), 0), (None, 1)] {
        let hold = hold_credits(&store, &team, 7);
        let end = FinishedRun { charge: Some((hold, usage(5))), ..finished(RunStatus::Succeeded) };
        assert_eq!(store.finish_run(run.number, end, &LIMITS, 200).unwrap(), expected, "attempt {attempt}");
    }
    assert_eq!(store.run("tea", RunKind::Agent, "a", 200).unwrap().unwrap().credits, 5);
    let rest = hold_credits(&store, &team, 45);
    drop(rest);
}

#[test]
fn event_of_an_end_states_the_charged_credits() {
    for (price, charged) in [(10, 10), (12, 10)] {
        let (_dir, store) = fresh();
        store.join_replicas(ReplicaRole::Worker).unwrap();
        let credits = TeamChange { credits: Some(Some(10)), ..TeamChange::default() };
        let team = store.set_team("tea", &credits).unwrap();
        let webhook = NewWebhook { events: vec![JobEvent::RunCompleted], ..webhook() };
        let run = create(&store, &NewRun { webhook: Some(webhook), ..new("a") }, 100);
        let hold = hold_credits(&store, &team, 10);
        let data = Box::new(|credits| format!(r#"{{"creditsUsed":{credits}}}"#));
        let end = FinishedRun {
            charge: Some((hold, usage(price))),
            webhook: Some(RunEndEvent { event: JobEvent::RunCompleted, data }),
            ..finished(RunStatus::Succeeded)
        };
        assert_eq!(store.finish_run(run.number, end, &LIMITS, 120).unwrap(), Some(charged));
        let due = next_due(&store, 1, 200, &[]).unwrap();
        let sent = store.webhook_delivery(due.number).unwrap().unwrap().document.unwrap();
        assert_eq!(String::from_utf8(sent).unwrap(), format!(r#"{{"creditsUsed":{charged}}}"#));
    }
}

fn webhook() -> NewWebhook {
    NewWebhook {
        url: "http://hook.test/".to_owned(),
        host: "hook.test".to_owned(),
        headers: "{}".to_owned(),
        metadata: "{}".to_owned(),
        events: Vec::new(),
    }
}

#[test]
fn lists_have_every_run_once_even_if_several_start_at_the_same_time() {
    let (_dir, store) = fresh();
    for id in ["a", "b", "c"] {
        create(&store, &new(id), 100);
    }
    let list = |before_ms: u64, max: u64, max_bytes: u64| -> (Vec<u64>, bool) {
        let list = store.runs("tea", RunKind::Agent, before_ms, max, max_bytes, 100).unwrap();
        (list.runs.into_iter().map(|run| run.created_at_ms).collect(), list.has_more)
    };
    assert_eq!(list(u64::MAX, 2, u64::MAX), (vec![102, 101], true));
    assert_eq!(list(101, 2, u64::MAX), (vec![100], false));
    assert_eq!(list(100, 2, u64::MAX), (vec![], false));
    assert_eq!(list(u64::MAX, 3, u64::MAX), (vec![102, 101, 100], false));
    let bytes = new("a").request.len() as u64;
    assert_eq!(list(u64::MAX, 3, 2 * bytes), (vec![102, 101], true), "the third is too large");
    assert_eq!(list(u64::MAX, 3, 0), (vec![102], true), "one alone, of any size");
    let outcome = store.create_run(&new("d"), &LIMITS, 100).unwrap();
    assert_eq!(outcome, CreateRunOutcome::TooManyOpen);
    let other = NewRun { team: "coffee".to_owned(), ..new("d") };
    create(&store, &other, 100);
}

#[test]
fn turns_of_a_thread_follow_each_other() {
    let (_dir, store) = fresh();
    let first = create(&store, &new("a"), 100);
    let second = NewRun { thread: Some(first.thread.clone()), ..new("b") };
    assert_eq!(store.create_run(&second, &LIMITS, 101).unwrap(), CreateRunOutcome::ThreadRunning);
    store.finish_run(first.number, finished(RunStatus::Succeeded), &LIMITS, 110).unwrap();
    assert_eq!(create(&store, &second, 120).turn, 2);
    let unknown = NewRun { thread: Some("other".to_owned()), ..new("c") };
    assert_eq!(store.create_run(&unknown, &LIMITS, 130).unwrap(), CreateRunOutcome::ThreadNotFound);
    let foreign = NewRun { team: "coffee".to_owned(), ..second };
    assert_eq!(store.create_run(&foreign, &LIMITS, 130).unwrap(), CreateRunOutcome::ThreadNotFound);
    let turns_of = |content, team: &str, max: u64, max_bytes: u64| -> Vec<String> {
        let runs = store.thread_runs(team, &first.thread, content, max, max_bytes, 130).unwrap();
        runs.into_iter().map(|run| run.id).collect()
    };
    let turns =
        |team: &str, max, max_bytes| turns_of(ThreadContent::RequestsAndResults, team, max, max_bytes);
    assert_eq!(turns("tea", u64::MAX, u64::MAX), ["a", "b"]);
    assert_eq!(turns("coffee", u64::MAX, u64::MAX), [""; 0]);
    assert_eq!(turns("tea", 1, u64::MAX), ["b"], "the last one");
    let size = |run: &RunRecord| run.request.len() as u64;
    let result = store.run_result(first.number).unwrap().map_or(0, |result| result.0.len() as u64);
    let both = 2 * size(&first) + result;
    assert_eq!(turns("tea", 2, both), ["a", "b"]);
    assert_eq!(turns("tea", 2, both - 1), ["b"], "the requests and results are too large together");
    assert_eq!(turns("tea", 2, 0), ["b"], "the last one alone, of any size");
    let without_results = turns_of(ThreadContent::Requests, "tea", 2, 2 * size(&first));
    assert_eq!(without_results, ["a", "b"], "results that are not read do not count");
}

#[test]
fn events_are_limited_but_the_end_is_stored() {
    let (_dir, store) = fresh();
    let run = create(&store, &new("a"), 100);
    let snapshot = NewRunSnapshot { id: "data-1".to_owned(), content: r#"{"tea":1}"#.to_owned() };
    let with_snapshot = NewRunEvent { snapshot: Some(snapshot), ..event("one") };
    assert_eq!(add(&store, &run, vec![with_snapshot]), AddRunEventsOutcome::Added { is_cancelled: false });
    let too_large = NewRunEvent { content: format!("\"{}\"", "x".repeat(10_000)), snapshot: None };
    add(&store, &run, vec![too_large, event("two"), event("three"), event("four"), event("five")]);
    store.finish_run(run.number, finished(RunStatus::Succeeded), &LIMITS, 200).unwrap();
    assert_eq!(add(&store, &run, vec![event("late")]), AddRunEventsOutcome::NotRunning);
    let events = store.run_events(run.number).unwrap();
    assert_eq!(events, [r#""one""#, r#""two""#, r#""three""#, r#""four""#, r#""end""#]);
    assert_eq!(store.run_snapshot(run.number, "data-1").unwrap().unwrap(), br#"{"tea":1}"#);
    assert_eq!(store.run_snapshot(run.number, "data-2").unwrap(), None);
}

#[test]
fn cancellation_is_requested_once_and_seen_by_the_worker() {
    let (_dir, store) = fresh();
    let run = create(&store, &new("a"), 100);
    let cancel = |team: &str| store.request_run_cancel(team, RunKind::Agent, "a", 110).unwrap();
    assert_eq!(cancel("coffee"), CancelRunOutcome::NotFound);
    assert_eq!(cancel("tea"), CancelRunOutcome::Requested);
    assert_eq!(cancel("tea"), CancelRunOutcome::AlreadyRequested);
    assert_eq!(add(&store, &run, vec![event("one")]), AddRunEventsOutcome::Added { is_cancelled: true });
    let other = create(&store, &new("b"), 120);
    store.finish_run(other.number, finished(RunStatus::Succeeded), &LIMITS, 130).unwrap();
    let ended = store.request_run_cancel("tea", RunKind::Agent, "b", 140).unwrap();
    assert_eq!(ended, CancelRunOutcome::AlreadyEnded);
}

#[test]
fn webhook_gets_the_events_in_their_order() {
    let (_dir, store) = fresh();
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let webhook = NewWebhook { events: vec![JobEvent::RunAction, JobEvent::RunFailed], ..webhook() };
    let run = create(&store, &NewRun { webhook: Some(webhook), ..new("a") }, 100);
    let data = |event, data: &str| RunWebhookEvent { event, data: data.to_owned() };
    let events = vec![data(JobEvent::RunStarted, ""), data(JobEvent::RunAction, r#"{"action":"search"}"#)];
    store.add_run_events(run.number, Vec::new(), events, &LIMITS, 110).unwrap();
    let failed =
        RunEndEvent { event: JobEvent::RunFailed, data: Box::new(|_| r#"{"creditsUsed":0}"#.to_owned()) };
    let end = FinishedRun { webhook: Some(failed), ..finished(RunStatus::Failed) };
    store.finish_run(run.number, end, &LIMITS, 120).unwrap();
    let due = next_due(&store, 1, 200, &[]).unwrap();
    assert_eq!(next_due(&store, 1, 200, &[due.number]), None, "the end waits for the action");
    let action = store.webhook_delivery(due.number).unwrap().unwrap();
    assert_eq!(
        (action.event, action.is_success, action.source_id.as_str()),
        (JobEvent::RunAction, true, "a")
    );
    assert_eq!(action.document.unwrap(), br#"{"action":"search"}"#);
    assert!(store.sweep_runs(&LIMITS, 99_999).is_ok_and(|has_more| !has_more), "it has events to deliver");
    record_attempt(&store, due.number, websvc_store::DeliveryOutcome::Delivered, 210);
    let due = next_due(&store, 1, 220, &[]).unwrap();
    let failed = store.webhook_delivery(due.number).unwrap().unwrap();
    assert_eq!((failed.event, failed.is_success), (JobEvent::RunFailed, false));
    assert_eq!((failed.error.as_deref(), failed.source.as_str()), (Some("too slow"), "agent"));
}

#[test]
fn run_of_a_lost_process_is_claimed_by_the_next_one() {
    let (dir, store) = fresh();
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let run = create(&store, &new("a"), 100);
    assert!(store.begin_run(run.number, 110).unwrap());
    create(&store, &new("b"), 120);
    let states = |store: &Store| -> Vec<(String, RunStatus)> {
        store.claim_runs().unwrap().into_iter().map(|run| (run.id, run.status)).collect()
    };
    let both = [("a".to_owned(), RunStatus::Running), ("b".to_owned(), RunStatus::Queued)];
    assert_eq!(states(&store), both);
    drop(store);
    let next = crate::open(dir.path());
    next.join_replicas(ReplicaRole::Worker).unwrap();
    assert_eq!(states(&next), both);
    assert_eq!(next.unfinished_run(run.number).unwrap().unwrap().request, run.request);
    assert!(next.finish_run(run.number, finished(RunStatus::Failed), &LIMITS, 200).unwrap().is_some());
    assert_eq!((states(&next), next.unfinished_run(run.number).unwrap()), (both[1..].to_vec(), None));
}

#[test]
fn leaving_process_hands_over_the_runs_that_have_not_begun() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    store.join_replicas(ReplicaRole::Worker).unwrap();
    other.join_replicas(ReplicaRole::Worker).unwrap();
    let begun = create(&store, &new("begun"), 100);
    assert!(store.begin_run(begun.number, 110).unwrap());
    let queued = create(&store, &new("queued"), 120);
    store.leave_replicas().unwrap();
    assert!(!store.begin_run(queued.number, 130).unwrap());
    create(&store, &new("later"), 130);
    let ids = |store: &Store| -> Vec<String> {
        store.claim_runs().unwrap().into_iter().map(|run| run.id).collect()
    };
    assert_eq!(
        (ids(&other), ids(&store)),
        (vec!["queued".to_owned(), "later".to_owned()], vec!["begun".to_owned()])
    );
    assert!(store.finish_run(begun.number, finished(RunStatus::Succeeded), &LIMITS, 200).unwrap().is_some());
}

#[test]
fn sweep_deletes_expired_runs_and_the_oldest_beyond_the_limit() {
    let (dir, store) = fresh();
    for (id, now_ms) in [("a", 100), ("b", 5_000), ("c", 6_000)] {
        let run = create(&store, &new(id), now_ms);
        add(&store, &run, vec![event("one")]);
        store.finish_run(run.number, finished(RunStatus::Succeeded), &LIMITS, now_ms).unwrap();
    }
    let sweep = |limits: &RunLimits, now_ms: u64| while store.sweep_runs(limits, now_ms).unwrap() {};
    let rows = Rows::open(dir.path());
    sweep(&LIMITS, 10_100);
    assert_eq!(rows.number("SELECT count(*) FROM agent_runs"), 2);
    assert_eq!(rows.number("SELECT count(*) FROM agent_events"), 4, "with their events");
    sweep(&RunLimits { max_bytes: 0, ..LIMITS }, 10_200);
    assert_eq!(rows.number("SELECT count(*) FROM agent_runs"), 0);
    assert_eq!(rows.number("SELECT count(*) FROM agent_messages"), 0);
}

#[test]
fn deleted_team_leaves_no_runs() {
    let (dir, store) = fresh();
    store.set_team("tea", &TeamChange::default()).unwrap();
    let run = create(&store, &new("a"), 100);
    store.delete_team("tea").unwrap();
    assert_eq!(store.run("tea", RunKind::Agent, "a", 200).unwrap(), None);
    assert_eq!(add(&store, &run, vec![event("one")]), AddRunEventsOutcome::NotRunning);
    while store.sweep_runs(&LIMITS, 300).unwrap() {}
    assert_eq!(Rows::open(dir.path()).number("SELECT count(*) FROM agent_runs"), 0);
}
