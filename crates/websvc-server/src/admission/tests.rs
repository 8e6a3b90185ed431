//! Tests of admission at times that the tests choose.

mod fairness;

use std::collections::VecDeque;

use http::HeaderValue;
use http::header::RETRY_AFTER;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use websvc_store::{KeyRights, Store, TeamChange};
use websvc_testkit::until;

use super::*;
use crate::response::HttpResponse;

/// A store with teams and keys.
struct Teams {
    _dir: TempDir,
    store: Store,
}

impl Teams {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { store: Store::open(dir.path()).unwrap(), _dir: dir }
    }

    /// Creates a team and a key with these limits, and returns the caller with the key.
    fn caller(&self, name: &str, team_quota: Quota, key_quota: Quota) -> Caller {
        let change = TeamChange {
            requests_per_minute: Some(team_quota.requests_per_minute),
            concurrency: Some(team_quota.concurrency),
            ..TeamChange::default()
        };
        self.store.set_team(name, &change).unwrap();
        let rights = KeyRights {
            requests_per_minute: key_quota.requests_per_minute,
            concurrency: key_quota.concurrency,
            ..KeyRights::default()
        };
        let key = self.store.create_key_with(name, "", &rights).unwrap();
        self.store.authenticate(key.secret.expose()).unwrap().unwrap()
    }
}

const UNLIMITED: Quota = Quota { requests_per_minute: None, concurrency: None };

fn per_minute(requests: u32) -> Quota {
    Quota { requests_per_minute: Some(requests), concurrency: None }
}

fn concurrent(requests: u32) -> Quota {
    Quota { requests_per_minute: None, concurrency: Some(requests) }
}

fn admission(total_concurrency: usize, queue_len: usize) -> Admission {
    Admission::new(AdmissionLimits { total_concurrency, queue_len, ..AdmissionLimits::default() })
}

async fn admit(admission: &Admission, caller: &Caller) -> Permit {
    admission.admit(Some(caller)).await.permit.unwrap()
}

/// Sends a request that is expected to be rejected, and returns the rejection.
async fn reject(admission: &Admission, caller: &Caller) -> HttpResponse {
    reject_at(admission, caller, Instant::now()).await
}

async fn reject_at(admission: &Admission, caller: &Caller, now: Instant) -> HttpResponse {
    admission.admit_at(Some(caller), now).await.permit.unwrap_err().into_response()
}

fn text(response: &HttpResponse) -> String {
    let body: serde_json::Value = serde_json::from_slice(response.body().bytes().unwrap()).unwrap();
    body["error"].as_str().unwrap().to_owned()
}

/// Waits until this many requests are queued.
async fn until_queued(admission: &Admission, queued: usize) {
    until("the requests are queued", || admission.metrics().queued == queued).await;
}

#[tokio::test]
async fn bodies_of_every_size_are_decoded() {
    let admission = admission(1, 0);
    for length in [0, SMALL_BODY_BYTES, SMALL_BODY_BYTES + 1, LARGE_BODY_BYTES + 1] {
        let decoded = admission.decode_body(vec![b' '; length].into(), |body| Ok(body.len())).await;
        assert_eq!(decoded.unwrap(), length);
        let decode =
            |_: &[u8]| -> Result<(), Rejection> { Err(Rejection::Forbidden { message: "no".to_owned() }) };
        let error = admission.decode_body(vec![b' '; length].into(), decode).await.unwrap_err();
        assert_eq!(error.into_response().status(), 403, "{length} bytes");
    }
}

#[tokio::test]
async fn body_with_patterns_is_decoded_on_another_thread() {
    let admission = admission(1, 0);
    let this_thread = std::thread::current().id();
    for (body, is_other_thread) in [
        (r#"{"includePaths": ["x"]}"#, true),
        (r#"{"exclude\u0050aths": ["x"]}"#, true),
        (r#"{"limit": 1}"#, false),
    ] {
        let decode = |_: &[u8]| Ok(std::thread::current().id());
        let thread = admission.decode_with_patterns(body.into(), decode).await.unwrap();
        assert_eq!(thread != this_thread, is_other_thread, "{body}");
    }
}

#[tokio::test]
async fn request_above_the_total_concurrency_is_rejected_until_another_one_ends() {
    let admission = admission(1, 0);
    let permit = admission.admit(None).await.permit.unwrap();
    let response = admission.admit(None).await.permit.unwrap_err().into_response();
    assert_eq!((response.status().as_u16(), &response.headers()[RETRY_AFTER]), (429, &1.into()));
    assert_eq!(text(&response), "Rate limit exceeded: the server is overloaded, retry after 1s");
    drop(permit);
    assert!(admission.admit(None).await.permit.is_ok());
    assert_eq!(admission.metrics().in_flight, 0);
}

#[tokio::test]
async fn requests_per_minute_are_limited_by_team_and_by_key() {
    let teams = Teams::new();
    let admission = admission(100, 0);
    let cases = [(per_minute(3), UNLIMITED), (UNLIMITED, per_minute(3)), (per_minute(9), per_minute(3))];
    for (number, (team_quota, key_quota)) in cases.into_iter().enumerate() {
        let caller = teams.caller(&format!("team {number}"), team_quota, key_quota);
        let start = Instant::now();
        for remaining in [2, 1, 0] {
            let Admitted { rate, permit } = admission.admit_at(Some(&caller), start).await;
            assert!(permit.is_ok());
            assert_eq!(rate.map(|rate| (rate.limit, rate.remaining)), Some((3, remaining)));
        }
        let Admitted { rate, permit } = admission.admit_at(Some(&caller), start).await;
        assert_eq!(rate.map(|rate| rate.remaining), Some(0), "rejections have the headers, too");
        let response = permit.unwrap_err().into_response();
        assert_eq!((response.status().as_u16(), &response.headers()[RETRY_AFTER]), (429, &20.into()));
        let text = text(&response);
        let prefix = "Rate limit exceeded: 3 of 3 requests per minute are consumed, 0 remain, retry after 20s, resets at ";
        assert!(text.starts_with(prefix), "{text}");
        let almost = reject_at(&admission, &caller, start + Duration::from_millis(19_999)).await;
        assert_eq!(almost.headers()[RETRY_AFTER], HeaderValue::from(1));
        let then = admission.admit_at(Some(&caller), start + Duration::from_secs(20)).await;
        assert!(then.permit.is_ok());
    }
}

#[tokio::test]
async fn keys_of_a_team_share_its_rate_limit_and_other_teams_have_their_own() {
    let teams = Teams::new();
    let admission = admission(100, 0);
    let caller = |team| teams.caller(team, per_minute(2), UNLIMITED);
    let (one, two) = (caller("red"), caller("red"));
    drop((admit(&admission, &one).await, admit(&admission, &two).await));
    assert_eq!(reject(&admission, &one).await.status(), 429);
    assert_eq!(reject(&admission, &two).await.status(), 429);
    drop(admit(&admission, &caller("blue")).await);
}

#[tokio::test]
async fn team_without_limits_has_the_configured_defaults() {
    let teams = Teams::new();
    let limits =
        AdmissionLimits { requests_per_minute: Some(1), concurrency: Some(1), ..AdmissionLimits::default() };
    let admission = Admission::new(limits);
    let plain = teams.caller("plain", UNLIMITED, UNLIMITED);
    let permit = admit(&admission, &plain).await;
    assert!(text(&reject(&admission, &plain).await).contains("requests per minute"));
    let later = Instant::now() + Duration::from_secs(60);
    assert!(text(&reject_at(&admission, &plain, later).await).contains("concurrency limit"));
    drop(permit);
    assert!(admission.admit_at(Some(&plain), later).await.permit.is_ok());
    let quota = Quota { requests_per_minute: Some(5), concurrency: Some(2) };
    let rich = teams.caller("rich", quota, UNLIMITED);
    drop((admit(&admission, &rich).await, admit(&admission, &rich).await));
}

#[tokio::test]
async fn concurrent_requests_are_limited_by_team_and_by_key() {
    let teams = Teams::new();
    let admission = admission(100, 0);
    let cases = [(concurrent(2), UNLIMITED), (UNLIMITED, concurrent(2)), (concurrent(5), concurrent(2))];
    for (team_quota, key_quota) in cases {
        let caller = teams.caller("red", team_quota, key_quota);
        let (first, _second) = (admit(&admission, &caller).await, admit(&admission, &caller).await);
        let response = reject(&admission, &caller).await;
        assert_eq!((response.status().as_u16(), &response.headers()[RETRY_AFTER]), (429, &1.into()));
        assert_eq!(text(&response), "Rate limit exceeded: concurrency limit of 2 reached, retry after 1s");
        drop(first);
        drop(admit(&admission, &caller).await);
    }
}

#[tokio::test]
async fn request_rejected_for_another_reason_does_not_count_for_the_rate_limit() {
    let teams = Teams::new();
    let admission = admission(100, 0);
    let quota = Quota { requests_per_minute: Some(10), concurrency: Some(1) };
    let caller = teams.caller("red", quota, UNLIMITED);
    let _permit = admit(&admission, &caller).await;
    for _request in 0..20 {
        let Admitted { rate, permit } = admission.admit(Some(&caller)).await;
        assert!(permit.is_err());
        assert_eq!(rate.map(|rate| rate.remaining), Some(9));
    }
}

/// Starts a request of a caller, which returns its permit or the status of its rejection.
fn spawn_request(admission: &Arc<Admission>, caller: &Caller) -> JoinHandle<Result<Permit, u16>> {
    let (admission, caller) = (Arc::clone(admission), caller.clone());
    tokio::spawn(async move {
        let permit = admission.admit(Some(&caller)).await.permit;
        permit.map_err(|error| error.into_response().status().as_u16())
    })
}

#[tokio::test]
async fn requests_of_a_burst_are_queued_up_to_the_queue_length() {
    let teams = Teams::new();
    let admission = Arc::new(admission(2, 10));
    let caller = teams.caller("red", UNLIMITED, UNLIMITED);
    let permits = [admit(&admission, &caller).await, admit(&admission, &caller).await];
    let queued: Vec<_> = (0..10).map(|_| spawn_request(&admission, &caller)).collect();
    until_queued(&admission, 10).await;
    assert_eq!(admission.metrics().in_flight, 2);
    assert_eq!(reject(&admission, &caller).await.status(), 429, "the queue is full");
    drop(permits);
    for request in queued {
        drop(request.await.unwrap().expect("every queued request is admitted"));
    }
    assert_eq!((admission.metrics().in_flight, admission.metrics().queued), (0, 0));
}

#[tokio::test]
async fn queued_request_is_rejected_after_queue_wait() {
    let teams = Teams::new();
    let queue_wait = Duration::from_millis(30);
    let limits = AdmissionLimits { total_concurrency: 1, queue_wait, ..AdmissionLimits::default() };
    let admission = Arc::new(Admission::new(limits));
    let caller = teams.caller("red", UNLIMITED, UNLIMITED);
    let _permit = admit(&admission, &caller).await;
    let started = Instant::now();
    let queued = spawn_request(&admission, &caller);
    assert_eq!(queued.await.unwrap().unwrap_err(), 429);
    assert!(started.elapsed() >= queue_wait);
    let metrics = admission.metrics();
    assert_eq!((metrics.in_flight, metrics.queued, metrics.rejected_overload), (1, 0, 1));
}

#[tokio::test]
async fn full_queue_evicts_a_request_for_a_team_with_fewer_queued_requests() {
    let teams = Teams::new();
    let admission = Arc::new(admission(1, 4));
    let callers = ["many", "few"].map(|name| teams.caller(name, UNLIMITED, UNLIMITED));
    let permit = admit(&admission, &callers[0]).await;
    let mut many = VecDeque::new();
    for queued in 1..=4 {
        many.push_back(spawn_request(&admission, &callers[0]));
        until_queued(&admission, queued).await;
    }
    assert_eq!(reject(&admission, &callers[0]).await.status(), 429);
    let few = spawn_request(&admission, &callers[1]);
    assert_eq!(many.pop_back().unwrap().await.unwrap().unwrap_err(), 429, "the last request of the team");
    assert_eq!((admission.metrics().queued, admission.metrics().rejected_overload), (4, 2));
    drop(permit);
    // The team that had the permit goes last.
    drop(few.await.unwrap().unwrap());
    for request in many {
        drop(request.await.unwrap().unwrap());
    }
    assert_eq!(admission.metrics().in_flight, 0);
}

#[tokio::test]
async fn queued_requests_of_teams_are_admitted_round_robin() {
    let teams = Teams::new();
    let admission = Arc::new(admission(1, 100));
    let callers = ["many", "some", "few"].map(|name| teams.caller(name, UNLIMITED, UNLIMITED));
    let permit = admit(&admission, &callers[0]).await;
    let order = Arc::new(Mutex::new(VecDeque::new()));
    let mut tasks = Vec::new();
    for (caller, requests) in callers.iter().zip([6, 3, 1]) {
        for _request in 0..requests {
            let (queue, caller, order) = (Arc::clone(&admission), caller.clone(), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let _permit = queue.admit(Some(&caller)).await.permit.unwrap();
                order.lock().push_back(caller.team.name.clone());
            }));
            until_queued(&admission, tasks.len()).await;
        }
    }
    drop(permit);
    for task in tasks {
        task.await.unwrap();
    }
    let order = order.lock().iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    assert_eq!(order, "some few many some many some many many many many");
}

const TIMEOUT: Duration = Duration::from_secs(60);

fn with_search_concurrency(search_concurrency: usize) -> Admission {
    Admission::new(AdmissionLimits { search_concurrency, ..AdmissionLimits::default() })
}

/// Starts a search, which returns its compute permit or the status of its rejection.
fn spawn_search(admission: &Arc<Admission>, caller: &Caller) -> JoinHandle<Result<ComputePermit, u16>> {
    let (admission, caller) = (Arc::clone(admission), caller.clone());
    tokio::spawn(async move {
        let permit = admission.acquire_compute(Some(&caller), TIMEOUT, Instant::now()).await;
        permit.map_err(|error| error.into_response().status().as_u16())
    })
}

#[tokio::test]
async fn number_of_running_searches_is_limited_by_search_concurrency() {
    let teams = Teams::new();
    let admission = Arc::new(with_search_concurrency(2));
    let caller = teams.caller("red", UNLIMITED, UNLIMITED);
    let mut tasks: VecDeque<_> = (0..5).map(|_| spawn_search(&admission, &caller)).collect();
    for queued in [3, 2, 1, 0, 0] {
        let searches = || (admission.metrics().searches_running, admission.metrics().searches_queued);
        until("the searches run or are queued", || searches() == (tasks.len().min(2), queued)).await;
        drop(tasks.pop_front().unwrap().await.unwrap().unwrap());
    }
    assert_eq!(admission.metrics().searches_running, 0);
}

#[tokio::test]
async fn compute_permit_is_released_at_the_end_or_when_the_search_first_waits() {
    let admission = with_search_concurrency(1);
    for (scope, expected) in [(PermitScope::WholeRequest, 1), (PermitScope::UntilFirstPending, 0)] {
        let search = async {
            assert_eq!(admission.metrics().searches_running, 1);
            tokio::task::yield_now().await;
            admission.metrics().searches_running
        };
        let permit = admission.acquire_compute(None, TIMEOUT, Instant::now()).await.unwrap();
        assert_eq!(permit.run(scope, search).await, expected);
        assert_eq!(admission.metrics().searches_running, 0);
    }
}

#[tokio::test]
async fn late_search_is_rejected_if_it_would_have_to_wait() {
    let admission = with_search_concurrency(1);
    let long_ago = Instant::now().checked_sub(TIMEOUT).unwrap();
    let permit = admission.acquire_compute(None, TIMEOUT, long_ago).await.expect("no search is before it");
    let rejected = admission.acquire_compute(None, TIMEOUT, long_ago).await.unwrap_err().into_response();
    assert_eq!((rejected.status().as_u16(), &rejected.headers()[RETRY_AFTER]), (429, &1.into()));
    let metrics = admission.metrics();
    assert_eq!((metrics.searches_running, metrics.searches_queued, metrics.rejected_overload), (1, 0, 1));
    assert!(metrics.is_overloaded);
    drop(permit);
    drop(admission.acquire_compute(None, TIMEOUT, long_ago).await.expect("the permit is free again"));
}

#[tokio::test]
async fn rejection_is_immediate_unless_there_are_many() {
    let mut admission = admission(1, 0);
    let _permit = admission.admit(None).await.permit.unwrap();
    let started = Instant::now();
    assert!(admission.admit(None).await.permit.is_err());
    admission.rejections = Rejections::with_immediate(0, Instant::now());
    let rejected = tokio::time::timeout(Duration::from_millis(20), admission.admit(None)).await;
    assert!(rejected.is_err(), "the rejection is delayed");
    assert!(started.elapsed() < Duration::from_secs(1), "the first rejection was not delayed");
    assert_eq!(admission.metrics().in_flight, 1, "a delayed rejection has no permit");
}

#[tokio::test]
async fn cancelled_request_leaves_no_state() {
    let teams = Teams::new();
    let admission = Arc::new(admission(1, 100));
    let caller = teams.caller("red", concurrent(50), concurrent(50));
    let permit = admit(&admission, &caller).await;
    let queued: Vec<_> = (0..20).map(|_| spawn_request(&admission, &caller)).collect();
    until_queued(&admission, 20).await;
    assert_eq!(admission.queued_for(Some(&caller)), 20);
    assert_eq!(admission.queued_for(None), 0, "requests of another team do not count");
    for task in queued.iter().skip(1) {
        task.abort();
    }
    until_queued(&admission, 1).await;
    assert_eq!(admission.queued_for(Some(&caller)), 1);
    // The last request is admitted and cancelled at the same moment: its permit is free again.
    queued[0].abort();
    drop(permit);
    let counts = || {
        let metrics = admission.metrics();
        (metrics.in_flight, metrics.queued, metrics.tracked_accounts)
    };
    until("the permit is free", || counts() == (0, 0, 0)).await;
    drop(admit(&admission, &caller).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrency_limits_hold_with_many_threads() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let teams = Teams::new();
    let mut admission = admission(5, 1_000);
    admission.rejections = Rejections::with_immediate(u32::MAX, Instant::now());
    let admission = Arc::new(admission);
    let callers: Vec<Caller> =
        (0..8).map(|number| teams.caller(&format!("team {number}"), concurrent(3), UNLIMITED)).collect();
    let (in_flight, admitted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..64)
        .map(|task| {
            let (admission, caller) = (Arc::clone(&admission), callers[task % 8].clone());
            let (in_flight, admitted) = (Arc::clone(&in_flight), Arc::clone(&admitted));
            tokio::spawn(async move {
                for _request in 0..200 {
                    let Ok(_permit) = admission.admit(Some(&caller)).await.permit else { continue };
                    assert!(in_flight.fetch_add(1, Ordering::SeqCst) < 5);
                    tokio::task::yield_now().await;
                    in_flight.fetch_sub(1, Ordering::SeqCst);
                    admitted.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let metrics = admission.metrics();
    assert_eq!((metrics.in_flight, metrics.queued, metrics.tracked_accounts), (0, 0, 0));
    assert_eq!(metrics.admitted, admitted.load(Ordering::SeqCst) as u64);
    assert!(metrics.admitted > 0 && metrics.rejected_concurrency > 0, "{metrics:?}");
}

#[test]
fn accounts_of_idle_teams_are_removed() {
    let start = Instant::now();
    let mut state = AdmissionState::new(AdmissionLimits::default(), start);
    let request = |state: &mut AdmissionState, team: &str, now: Instant| {
        let request =
            AdmissionRequest { team, team_quota: per_minute(60), key: None, share: ConcurrencyShare::Whole };
        match state.enter(&request, now).1 {
            AdmissionDecision::Admitted { number } => state.leave(team, None, number, now),
            other => panic!("{other:?}"),
        }
    };
    for team in 0..10_000 {
        request(&mut state, &format!("team {team}"), start);
    }
    assert_eq!(state.metrics(start).tracked_accounts, 10_000, "their token buckets are not full");
    request(&mut state, "another", start + Duration::from_secs(61));
    assert_eq!(state.metrics(start).tracked_accounts, 1);
}

#[tokio::test]
async fn account_of_a_team_without_rate_limit_is_removed_with_its_last_request() {
    let teams = Teams::new();
    let admission = admission(10, 0);
    let caller = teams.caller("red", UNLIMITED, UNLIMITED);
    let Admitted { rate, permit } = admission.admit(Some(&caller)).await;
    assert_eq!((rate, admission.metrics().tracked_accounts), (None, 1));
    drop(permit);
    assert_eq!(admission.metrics().tracked_accounts, 0);
}

#[tokio::test]
async fn only_small_bodies_without_schema_are_decoded_on_the_async_thread() {
    let admission = admission(1, 1);
    for (body, is_blocking) in [
        (r#"{"query": "tea"}"#, false),
        (r#"{"query": "\u00e4 \u6f22 \n"}"#, false),
        (r#"{"schema": {}}"#, true),
        (r#"{"s\u0063hema": {}}"#, true),
        (r#"{"schema": {"pattern": "a"}}"#, true),
    ] {
        let caller = std::thread::current().id();
        let decoding = admission.decode_body(body.into(), |_| Ok(std::thread::current().id()));
        let decoder = decoding.await.expect("the body is decoded");
        assert_eq!(decoder != caller, is_blocking, "{body}");
    }
}
