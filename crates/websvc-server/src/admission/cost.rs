//! What the door costs a request: authentication, admission, the turn to compute, and accounting.

use std::net::{IpAddr, Ipv4Addr};

use http::HeaderMap;
use http::header::AUTHORIZATION;
use websvc_store::{
    ApiSecret, HoldOutcome as HeldCredits, KeyScope, Store, Usage, UsageItem, UsageRetention, UsageStage,
};

use super::*;
use crate::audit_trail::AuditTrail;
use crate::authenticate::{Authentication, authenticate};
use crate::authorize::authorize;

/// The time of all requests in each part.
#[derive(Debug, Default)]
struct Parts {
    authenticate: Duration,
    admit: Duration,
    turn: Duration,
    account: Duration,
}

/// Passes the door once, in and out, as a search does.
async fn pass(store: &Store, admission: &Admission, headers: &HeaderMap, parts: &mut Parts) {
    let mut last = Instant::now();
    let mut lap = |part: &mut Duration| {
        let now = Instant::now();
        *part += now - last;
        last = now;
    };
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let trail = AuditTrail::new(None, Some("search"), "r", Some(address), Instant::now());
    let caller = authenticate(Authentication::Required, store, headers, address, &trail).unwrap();
    authorize(caller.as_ref(), KeyScope::Search).unwrap();
    lap(&mut parts.authenticate);
    let permit = admission.admit(caller.as_ref()).await.permit.unwrap();
    lap(&mut parts.admit);
    let turn =
        admission.acquire_compute(caller.as_ref(), Duration::from_secs(60), Instant::now()).await.unwrap();
    lap(&mut parts.turn);
    let caller = caller.unwrap();
    let held = match store.try_hold(&caller.team, 12).unwrap() {
        Some(held) => held,
        None => store.hold(&caller.team, 12).unwrap(),
    };
    let HeldCredits::Granted(hold) = held else { panic!("{held:?}") };
    assert_eq!(hold.settle(usage(&caller)), 2);
    lap(&mut parts.account);
    drop(turn);
    lap(&mut parts.turn);
    drop(permit);
    lap(&mut parts.admit);
}

fn usage(caller: &Caller) -> Usage {
    Usage {
        key: Some(caller.key_id.clone()),
        request: uuid::Uuid::now_v7().to_string(),
        operation: "search",
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

/// Returns the CPU time of this process so far, the threads that write included; zero where no file tells it.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().skip(11).take(2);
    // Linux counts in hundredths of a second, whatever the machine.
    Duration::from_millis(fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10)
}

/// With `WEBSVC_BENCH_TEAMS` so many teams ask, and what that takes of a request's time is printed: `cargo xtask bench
/// access` says so, with the release profile.
#[tokio::test]
async fn teams_in_turn_all_pass_the_door() {
    let measured: Option<u32> = std::env::var("WEBSVC_BENCH_TEAMS").ok().map(|teams| teams.parse().unwrap());
    let (count, rounds) = measured.map_or((20, 2), |count| (count, 20));
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let limits = AdmissionLimits { requests_per_minute: Some(1_000_000), ..AdmissionLimits::default() };
    let admission = Admission::new(limits);
    let teams: Vec<HeaderMap> = (0..count)
        .map(|team| headers(&store.create_key(&format!("team {team}"), "").unwrap().secret))
        .collect();
    for team in &teams {
        pass(&store, &admission, team, &mut Parts::default()).await;
    }
    store.flush_credits().unwrap();
    let mut parts = Parts::default();
    let (started, cpu) = (Instant::now(), cpu_time());
    for _round in 0..rounds {
        for (at, team) in teams.iter().enumerate() {
            pass(&store, &admission, team, &mut parts).await;
            if at % 1_000 == 999 {
                // At this rate the log of requests would have to leave some out.
                store.flush_credits().unwrap();
            }
        }
    }
    store.flush_credits().unwrap();
    let (elapsed, cpu) = (started.elapsed(), cpu_time().saturating_sub(cpu));
    let figures = admission.figures();
    assert_eq!(figures.admitted, u64::from(count * (rounds + 1)));
    assert_eq!((figures.in_work, figures.computing), (0, 0));
    if measured.is_some() {
        let us = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(count * rounds);
        let Parts { authenticate, admit, turn, account } = parts;
        println!(
            "the door, {count} teams in turn: {:.2} us per request (goal: under 20): authentication {:.2}, \
             admission {:.2}, turn {:.2}, accounting {:.2}; with the rows of the log {:.2} us of CPU, {:.2} us in all",
            us(authenticate + admit + turn + account),
            us(authenticate),
            us(admit),
            us(turn),
            us(account),
            us(cpu),
            us(elapsed)
        );
    }
}
