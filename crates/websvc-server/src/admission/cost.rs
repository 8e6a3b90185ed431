//! The cost of authentication, admission, the compute permit and accounting for each request.

use std::net::{IpAddr, Ipv4Addr};

use http::HeaderMap;
use http::header::AUTHORIZATION;
use websvc_store::{
    ApiSecret, ApiVersion, HoldOutcome, KeyScope, Store, Usage, UsageItem, UsageRetention, UsageStage,
};

use super::*;
use crate::audit_trail::AuditTrail;
use crate::authenticate::{Authentication, Authenticator, authenticate};
use crate::authorize::authorize;

/// The total time of all requests in each step.
#[derive(Debug, Default)]
struct Times {
    authenticate: Duration,
    admit: Duration,
    compute: Duration,
    account: Duration,
}

/// Takes a search through all steps.
async fn run_search(store: &Store, admission: &Admission, headers: &HeaderMap, times: &mut Times) {
    let mut last = Instant::now();
    let mut lap = |time: &mut Duration| {
        let now = Instant::now();
        *time += now - last;
        last = now;
    };
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let trail = AuditTrail::new(None, Some("search"), "r", Some(address), Instant::now());
    let authenticator = Authenticator { mode: Authentication::Required, store, oidc: None };
    let caller = authenticate(authenticator, headers, address, &trail).await.unwrap();
    authorize(caller.as_ref(), KeyScope::Search).unwrap();
    lap(&mut times.authenticate);
    let permit = admission.admit(caller.as_ref()).await.permit.unwrap();
    lap(&mut times.admit);
    let compute =
        admission.acquire_compute(caller.as_ref(), Duration::from_secs(60), Instant::now()).await.unwrap();
    lap(&mut times.compute);
    let caller = caller.unwrap();
    let outcome = match store.try_hold(&caller.team, 12).unwrap() {
        Some(outcome) => outcome,
        None => store.hold(&caller.team, 12).unwrap(),
    };
    let HoldOutcome::Granted(hold) = outcome else { panic!("{outcome:?}") };
    assert_eq!(hold.settle(usage(&caller)), 2);
    lap(&mut times.account);
    drop(compute);
    lap(&mut times.compute);
    drop(permit);
    lap(&mut times.admit);
}

fn usage(caller: &Caller) -> Usage {
    Usage {
        key: Some(caller.key_id.clone()),
        request: uuid::Uuid::now_v7().to_string(),
        result: None,
        operation: "search",
        api_version: ApiVersion::V2,
        status: 200,
        elapsed: Duration::from_millis(2),
        items: vec![UsageItem { item: "results".to_owned(), count: 1, credits: 2 }],
        stages: vec![UsageStage { stage: "find".to_owned(), elapsed: Duration::from_millis(1) }],
        query: Some("brew green tea".to_owned()),
        retention: UsageRetention::Whole,
    }
}

fn headers(secret: &ApiSecret) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, format!("Bearer {}", secret.expose()).parse().unwrap());
    headers
}

/// Returns the CPU time of all threads of this process; zero on systems without `/proc`.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().skip(11).take(2);
    // Linux counts hundredths of a second on every machine.
    Duration::from_millis(fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10)
}

/// Admits requests of many teams in turn. `cargo xtask bench access` sets `WEBSVC_BENCH_TEAMS` to the number of teams, and
/// uses the release profile: then this test prints the time per request.
#[tokio::test]
async fn requests_of_many_teams_are_all_admitted() {
    let bench_teams: Option<u32> =
        std::env::var("WEBSVC_BENCH_TEAMS").ok().map(|teams| teams.parse().unwrap());
    let (count, rounds) = bench_teams.map_or((20, 2), |count| (count, 20));
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let limits = AdmissionLimits { requests_per_minute: Some(1_000_000), ..AdmissionLimits::default() };
    let admission = Admission::new(limits);
    let teams: Vec<HeaderMap> = (0..count)
        .map(|team| headers(&store.create_key(&format!("team {team}"), "").unwrap().secret))
        .collect();
    for team in &teams {
        run_search(&store, &admission, team, &mut Times::default()).await;
    }
    store.flush_credits().unwrap();
    let mut times = Times::default();
    let (started, cpu) = (Instant::now(), cpu_time());
    for _round in 0..rounds {
        for (index, team) in teams.iter().enumerate() {
            run_search(&store, &admission, team, &mut times).await;
            if index % 1_000 == 999 {
                // Without this, the usage log would have to drop requests at this rate.
                store.flush_credits().unwrap();
            }
        }
    }
    store.flush_credits().unwrap();
    let (elapsed, cpu) = (started.elapsed(), cpu_time().saturating_sub(cpu));
    let metrics = admission.metrics();
    assert_eq!(metrics.admitted, u64::from(count * (rounds + 1)));
    assert_eq!((metrics.in_flight, metrics.searches_running), (0, 0));
    if bench_teams.is_some() {
        let us = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(count * rounds);
        let Times { authenticate, admit, compute, account } = times;
        println!(
            "access, {count} teams in turn: {:.2} us per request (goal: under 20): authentication {:.2}, \
             admission {:.2}, compute permit {:.2}, accounting {:.2}; with the usage log {:.2} us of CPU, {:.2} us in \
             total",
            us(authenticate + admit + compute + account),
            us(authenticate),
            us(admit),
            us(compute),
            us(account),
            us(cpu),
            us(elapsed)
        );
    }
}
