//! Admission at moments that the tests choose.

use std::collections::VecDeque;

use http::HeaderValue;
use http::header::RETRY_AFTER;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use websvc_store::{KeyRights, Store, TeamChange};

use super::*;
use crate::response::HttpResponse;

/// A store of teams and keys.
struct Teams {
    _dir: TempDir,
    store: Store,
}

impl Teams {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { store: Store::open(dir.path()).unwrap(), _dir: dir }
    }

    /// Makes a key of a team with bounds of both.
    fn caller(&self, name: &str, of_team: Quota, of_key: Quota) -> Caller {
        let change = TeamChange {
            requests_per_minute: Some(of_team.requests_per_minute),
            concurrency: Some(of_team.concurrency),
            ..TeamChange::default()
        };
        self.store.set_team(name, &change).unwrap();
        let rights = KeyRights {
            requests_per_minute: of_key.requests_per_minute,
            concurrency: of_key.concurrency,
            ..KeyRights::default()
        };
        let key = self.store.create_key_with(name, "", &rights).unwrap();
        self.store.authenticate(key.secret.expose()).unwrap().unwrap()
    }
}

const NONE: Quota = Quota { requests_per_minute: None, concurrency: None };

fn per_minute(requests: u32) -> Quota {
    Quota { requests_per_minute: Some(requests), concurrency: None }
}

fn at_a_time(requests: u32) -> Quota {
    Quota { requests_per_minute: None, concurrency: Some(requests) }
}

fn narrow(total_concurrency: usize, queue: usize) -> Admission {
    Admission::new(AdmissionLimits { total_concurrency, queue, ..AdmissionLimits::default() })
}

async fn admitted(admission: &Admission, caller: &Caller) -> Permit {
    admission.admit(Some(caller)).await.permit.unwrap()
}

async fn refused(admission: &Admission, caller: &Caller) -> HttpResponse {
    refused_at(admission, caller, Instant::now()).await
}

async fn refused_at(admission: &Admission, caller: &Caller, now: Instant) -> HttpResponse {
    admission.admit_at(Some(caller), now).await.permit.unwrap_err().into_response()
}

fn text(reply: &HttpResponse) -> String {
    let body: serde_json::Value = serde_json::from_slice(reply.body().bytes().unwrap()).unwrap();
    body["error"].as_str().unwrap().to_owned()
}

/// Lets every task run as far as it can.
async fn settle() {
    for _turn in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn bodies_of_every_size_are_read() {
    let admission = narrow(1, 0);
    for length in [0, QUICK_BODY_BYTES, QUICK_BODY_BYTES + 1, LARGE_BODY_BYTES + 1] {
        let read = admission.decode_body(vec![b' '; length].into(), |body| Ok(body.len())).await;
        assert_eq!(read.unwrap(), length);
        let refusing =
            |_: &[u8]| -> Result<(), Rejection> { Err(Rejection::Forbidden { message: "no".to_owned() }) };
        let refused = admission.decode_body(vec![b' '; length].into(), refusing).await.unwrap_err();
        assert_eq!(refused.into_response().status(), 403, "{length} bytes");
    }
}

#[tokio::test]
async fn body_with_patterns_is_read_on_another_thread() {
    let admission = narrow(1, 0);
    let here = std::thread::current().id();
    for (body, is_apart) in [
        (r#"{"includePaths": ["x"]}"#, true),
        (r#"{"exclude\u0050aths": ["x"]}"#, true),
        (r#"{"limit": 1}"#, false),
    ] {
        let read = |_: &[u8]| Ok(std::thread::current().id());
        let thread = admission.decode_with_patterns(body.into(), read).await.unwrap();
        assert_eq!(thread != here, is_apart, "{body}");
    }
}

#[tokio::test]
async fn a_request_too_many_is_turned_away_until_another_is_done() {
    let admission = narrow(1, 0);
    let permit = admission.admit(None).await.permit.unwrap();
    let reply = admission.admit(None).await.permit.unwrap_err().into_response();
    assert_eq!((reply.status().as_u16(), &reply.headers()[RETRY_AFTER]), (429, &1.into()));
    drop(permit);
    assert!(admission.admit(None).await.permit.is_ok());
    assert_eq!(admission.figures().in_work, 0);
}

#[tokio::test]
async fn requests_per_minute_are_bounded_by_team_and_by_key() {
    let teams = Teams::new();
    let admission = narrow(100, 0);
    let cases = [(per_minute(3), NONE), (NONE, per_minute(3)), (per_minute(9), per_minute(3))];
    for (number, (of_team, of_key)) in cases.into_iter().enumerate() {
        let caller = teams.caller(&format!("team {number}"), of_team, of_key);
        let start = Instant::now();
        for left in [2, 1, 0] {
            let Admitted { rate, permit } = admission.admit_at(Some(&caller), start).await;
            assert!(permit.is_ok());
            assert_eq!(rate.map(|rate| (rate.limit, rate.remaining)), Some((3, left)));
        }
        let Admitted { rate, permit } = admission.admit_at(Some(&caller), start).await;
        assert_eq!(rate.map(|rate| rate.remaining), Some(0), "refusals carry the headers too");
        let reply = permit.unwrap_err().into_response();
        assert_eq!((reply.status().as_u16(), &reply.headers()[RETRY_AFTER]), (429, &20.into()));
        let text = text(&reply);
        let begin = "Rate limit exceeded: 3 of 3 requests per minute are consumed, 0 remain, retry after 20s, resets at ";
        assert!(text.starts_with(begin), "{text}");
        let almost = refused_at(&admission, &caller, start + Duration::from_millis(19_999)).await;
        assert_eq!(almost.headers()[RETRY_AFTER], HeaderValue::from(1));
        let then = admission.admit_at(Some(&caller), start + Duration::from_secs(20)).await;
        assert!(then.permit.is_ok());
    }
}

#[tokio::test]
async fn a_team_is_bounded_over_all_its_keys_and_others_are_not() {
    let teams = Teams::new();
    let admission = narrow(100, 0);
    let (one, two) = (teams.caller("red", per_minute(2), NONE), teams.caller("red", per_minute(2), NONE));
    drop((admitted(&admission, &one).await, admitted(&admission, &two).await));
    assert_eq!(refused(&admission, &one).await.status(), 429);
    assert_eq!(refused(&admission, &two).await.status(), 429);
    drop(admitted(&admission, &teams.caller("blue", per_minute(2), NONE)).await);
}

#[tokio::test]
async fn what_is_said_of_no_team_is_said_by_the_configuration() {
    let teams = Teams::new();
    let limits =
        AdmissionLimits { requests_per_minute: Some(1), concurrency: Some(1), ..AdmissionLimits::default() };
    let admission = Admission::new(limits);
    let plain = teams.caller("plain", NONE, NONE);
    let permit = admitted(&admission, &plain).await;
    assert!(text(&refused(&admission, &plain).await).contains("requests per minute"));
    let later = Instant::now() + Duration::from_secs(60);
    assert!(text(&refused_at(&admission, &plain, later).await).contains("at one time"));
    drop(permit);
    assert!(admission.admit_at(Some(&plain), later).await.permit.is_ok());
    let own = Quota { requests_per_minute: Some(5), concurrency: Some(2) };
    let rich = teams.caller("rich", own, NONE);
    drop((admitted(&admission, &rich).await, admitted(&admission, &rich).await));
}

#[tokio::test]
async fn requests_at_a_time_are_bounded_by_team_and_by_key() {
    let teams = Teams::new();
    let admission = narrow(100, 0);
    for (of_team, of_key) in [(at_a_time(2), NONE), (NONE, at_a_time(2)), (at_a_time(5), at_a_time(2))] {
        let caller = teams.caller("red", of_team, of_key);
        let (first, _second) = (admitted(&admission, &caller).await, admitted(&admission, &caller).await);
        let reply = refused(&admission, &caller).await;
        assert_eq!((reply.status().as_u16(), &reply.headers()[RETRY_AFTER]), (429, &1.into()));
        let expected =
            "Rate limit exceeded: no more than 2 requests are worked on at one time, retry after 1s";
        assert_eq!(text(&reply), expected);
        drop(first);
        drop(admitted(&admission, &caller).await);
    }
}

#[tokio::test]
async fn a_request_that_is_refused_for_another_reason_costs_no_part_of_its_minute() {
    let teams = Teams::new();
    let admission = narrow(100, 0);
    let bounds = Quota { requests_per_minute: Some(10), concurrency: Some(1) };
    let caller = teams.caller("red", bounds, NONE);
    let _permit = admitted(&admission, &caller).await;
    for _request in 0..20 {
        let Admitted { rate, permit } = admission.admit(Some(&caller)).await;
        assert!(permit.is_err());
        assert_eq!(rate.map(|rate| rate.remaining), Some(9));
    }
}

/// Starts a request of a caller that, when it is let in, stays until it is told to go.
fn start(admission: &Arc<Admission>, caller: &Caller) -> JoinHandle<Result<Permit, u16>> {
    let (admission, caller) = (Arc::clone(admission), caller.clone());
    tokio::spawn(async move {
        let permit = admission.admit(Some(&caller)).await.permit;
        permit.map_err(|refused| refused.into_response().status().as_u16())
    })
}

#[tokio::test]
async fn a_burst_waits_a_little_instead_of_being_refused() {
    let teams = Teams::new();
    let admission = Arc::new(narrow(2, 10));
    let caller = teams.caller("red", NONE, NONE);
    let working = [admitted(&admission, &caller).await, admitted(&admission, &caller).await];
    let waiting: Vec<_> = (0..10).map(|_| start(&admission, &caller)).collect();
    settle().await;
    assert_eq!((admission.figures().in_work, admission.figures().waiting), (2, 10));
    assert_eq!(refused(&admission, &caller).await.status(), 429, "the queue has a bound");
    drop(working);
    for waiting in waiting {
        drop(waiting.await.unwrap().expect("everybody comes to its turn"));
    }
    assert_eq!((admission.figures().in_work, admission.figures().waiting), (0, 0));
}

#[tokio::test]
async fn nobody_waits_longer_than_is_said() {
    let teams = Teams::new();
    let queue_wait = Duration::from_millis(30);
    let limits = AdmissionLimits { total_concurrency: 1, queue_wait, ..AdmissionLimits::default() };
    let admission = Arc::new(Admission::new(limits));
    let caller = teams.caller("red", NONE, NONE);
    let _working = admitted(&admission, &caller).await;
    let started = Instant::now();
    let waiting = start(&admission, &caller);
    assert_eq!(waiting.await.unwrap().unwrap_err(), 429);
    assert!(started.elapsed() >= queue_wait);
    let figures = admission.figures();
    assert_eq!((figures.in_work, figures.waiting, figures.refused_overload), (1, 0, 1));
}

#[tokio::test]
async fn full_queue_makes_room_for_a_team_that_has_less_in_it() {
    let teams = Teams::new();
    let admission = Arc::new(narrow(1, 4));
    let callers = ["many", "few"].map(|name| teams.caller(name, NONE, NONE));
    let working = admitted(&admission, &callers[0]).await;
    let mut many: VecDeque<_> = (0..4).map(|_| start(&admission, &callers[0])).collect();
    settle().await;
    assert_eq!(refused(&admission, &callers[0]).await.status(), 429);
    let few = start(&admission, &callers[1]);
    settle().await;
    assert_eq!(many.pop_back().unwrap().await.unwrap().unwrap_err(), 429, "the last of those who have most");
    assert_eq!((admission.figures().waiting, admission.figures().refused_overload), (4, 2));
    drop(working);
    drop(many.pop_front().unwrap().await.unwrap().unwrap());
    drop(few.await.unwrap().unwrap());
    for waiting in many {
        drop(waiting.await.unwrap().unwrap());
    }
    assert_eq!(admission.figures().in_work, 0);
}

#[tokio::test]
async fn teams_take_turns() {
    let teams = Teams::new();
    let admission = Arc::new(narrow(1, 100));
    let callers = ["many", "some", "few"].map(|name| teams.caller(name, NONE, NONE));
    let working = admitted(&admission, &callers[0]).await;
    let order = Arc::new(Mutex::new(VecDeque::new()));
    let mut tasks = Vec::new();
    for (caller, requests) in callers.iter().zip([6, 3, 1]) {
        for _request in 0..requests {
            let (admission, caller, order) = (Arc::clone(&admission), caller.clone(), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let _permit = admission.admit(Some(&caller)).await.permit.unwrap();
                order.lock().unwrap().push_back(caller.team.name.clone());
            }));
            settle().await;
        }
    }
    drop(working);
    for task in tasks {
        task.await.unwrap();
    }
    let order = order.lock().unwrap().iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    assert_eq!(order, "many some few many some many some many many many");
}

const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts a request that computes until it is told to go.
fn compute(admission: &Arc<Admission>, caller: &Caller) -> JoinHandle<Result<ComputePermit, u16>> {
    let (admission, caller) = (Arc::clone(admission), caller.clone());
    tokio::spawn(async move {
        let turn = admission.acquire_compute(Some(&caller), TIMEOUT, Instant::now()).await;
        turn.map_err(|refused| refused.into_response().status().as_u16())
    })
}

#[tokio::test]
async fn no_more_compute_than_there_are_processors() {
    let teams = Teams::new();
    let admission = Arc::new(Admission::new(AdmissionLimits { processors: 2, ..AdmissionLimits::default() }));
    let caller = teams.caller("red", NONE, NONE);
    let mut tasks: VecDeque<_> = (0..5).map(|_| compute(&admission, &caller)).collect();
    for waiting in [3, 2, 1, 0, 0] {
        settle().await;
        let figures = admission.figures();
        assert_eq!((figures.computing, figures.waiting_to_compute), (tasks.len().min(2), waiting));
        drop(tasks.pop_front().unwrap().await.unwrap().unwrap());
    }
    assert_eq!(admission.figures().computing, 0);
}

#[tokio::test]
async fn a_turn_is_held_to_the_end_or_until_there_is_something_to_wait_for() {
    let admission = Admission::new(AdmissionLimits { processors: 1, ..AdmissionLimits::default() });
    for (held, computing) in [(PermitScope::WholeRequest, 1), (PermitScope::UntilFirstPending, 0)] {
        let work = async {
            assert_eq!(admission.figures().computing, 1);
            tokio::task::yield_now().await;
            admission.figures().computing
        };
        assert_eq!(
            admission.acquire_compute(None, TIMEOUT, Instant::now()).await.unwrap().run(held, work).await,
            computing
        );
        assert_eq!(admission.figures().computing, 0);
    }
}

#[tokio::test]
async fn search_that_is_too_late_for_a_processor_is_rejected_and_one_that_need_not_wait_is_not() {
    let admission = Admission::new(AdmissionLimits { processors: 1, ..AdmissionLimits::default() });
    let long_ago = Instant::now().checked_sub(TIMEOUT).unwrap();
    let computing = admission.acquire_compute(None, TIMEOUT, long_ago).await.expect("nobody is before it");
    let refused = admission.acquire_compute(None, TIMEOUT, long_ago).await.unwrap_err().into_response();
    assert_eq!((refused.status().as_u16(), &refused.headers()[RETRY_AFTER]), (429, &1.into()));
    let figures = admission.figures();
    assert_eq!((figures.computing, figures.waiting_to_compute, figures.refused_overload), (1, 0, 1));
    assert!(figures.is_overloaded);
    drop(computing);
    drop(admission.acquire_compute(None, TIMEOUT, long_ago).await.expect("as soon as there is room"));
}

#[tokio::test]
async fn rejected_client_is_answered_at_once_unless_there_are_many_rejections() {
    let mut admission = narrow(1, 0);
    let _working = admission.admit(None).await.permit.unwrap();
    let started = Instant::now();
    assert!(admission.admit(None).await.permit.is_err());
    admission.rejections = Rejections::with_immediate(0, Instant::now());
    let answer = tokio::time::timeout(Duration::from_millis(20), admission.admit(None)).await;
    assert!(answer.is_err(), "it is delayed");
    assert!(started.elapsed() < Duration::from_secs(1), "the first one was not");
    assert_eq!(admission.figures().in_work, 1, "and has no place meanwhile");
}

#[tokio::test]
async fn whoever_goes_away_leaves_no_trace() {
    let teams = Teams::new();
    let admission = Arc::new(narrow(1, 100));
    let caller = teams.caller("red", at_a_time(50), at_a_time(50));
    let working = admitted(&admission, &caller).await;
    let waiting: Vec<_> = (0..20).map(|_| start(&admission, &caller)).collect();
    settle().await;
    assert_eq!(admission.queued_for(Some(&caller)), 20);
    assert_eq!(admission.queued_for(None), 0, "those of another team do not count");
    for task in waiting.iter().skip(1) {
        task.abort();
    }
    settle().await;
    assert_eq!((admission.figures().waiting, admission.queued_for(Some(&caller))), (1, 1));
    // Let in and gone at the same moment: the place is free again.
    waiting[0].abort();
    drop(working);
    settle().await;
    let figures = admission.figures();
    assert_eq!((figures.in_work, figures.waiting, figures.remembered), (0, 0, 0));
    drop(admitted(&admission, &caller).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_threads_never_exceed_what_is_allowed() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let teams = Teams::new();
    let mut admission = narrow(5, 1_000);
    admission.rejections = Rejections::with_immediate(u32::MAX, Instant::now());
    let admission = Arc::new(admission);
    let callers: Vec<Caller> =
        (0..8).map(|number| teams.caller(&format!("team {number}"), at_a_time(3), NONE)).collect();
    let (in_work, admitted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..64)
        .map(|task| {
            let (admission, caller) = (Arc::clone(&admission), callers[task % 8].clone());
            let (in_work, admitted) = (Arc::clone(&in_work), Arc::clone(&admitted));
            tokio::spawn(async move {
                for _request in 0..200 {
                    let Ok(_permit) = admission.admit(Some(&caller)).await.permit else { continue };
                    assert!(in_work.fetch_add(1, Ordering::SeqCst) < 5);
                    tokio::task::yield_now().await;
                    in_work.fetch_sub(1, Ordering::SeqCst);
                    admitted.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let figures = admission.figures();
    assert_eq!((figures.in_work, figures.waiting, figures.remembered), (0, 0, 0));
    assert_eq!(figures.admitted, admitted.load(Ordering::SeqCst) as u64);
    assert!(figures.admitted > 0 && figures.refused_concurrency > 0, "{figures:?}");
}

#[test]
fn ten_thousand_teams_are_forgotten_when_they_do_nothing() {
    let start = Instant::now();
    let mut gate = AdmissionState::new(AdmissionLimits::default(), start);
    let ask = |gate: &mut AdmissionState, team: &str, now: Instant| {
        let demand = AdmissionRequest { team, of_team: per_minute(60), key: None };
        match gate.enter(&demand, now).1 {
            AdmissionDecision::Admitted { number } => gate.leave(team, None, number, now),
            other => panic!("{other:?}"),
        }
    };
    for team in 0..10_000 {
        ask(&mut gate, &format!("team {team}"), start);
    }
    assert_eq!(gate.figures(start).remembered, 10_000, "what they took is remembered");
    ask(&mut gate, "another", start + Duration::from_secs(61));
    assert_eq!(gate.figures(start).remembered, 1);
}

#[tokio::test]
async fn a_team_without_bounds_is_not_remembered_at_all() {
    let teams = Teams::new();
    let admission = narrow(10, 0);
    let caller = teams.caller("red", NONE, NONE);
    let Admitted { rate, permit } = admission.admit(Some(&caller)).await;
    assert_eq!((rate, admission.figures().remembered), (None, 1));
    drop(permit);
    assert_eq!(admission.figures().remembered, 0);
}
