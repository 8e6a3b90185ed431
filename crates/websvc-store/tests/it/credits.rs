//! Tests of budgets: holds, charges, leases, grants and usage reports.

use std::path::Path;
use std::time::{Duration, Instant};

use websvc_store::{
    ApiVersion, Budget, CreditHold, HoldOutcome, Store, Team, TeamChange, Usage, UsageFilter, UsageItem,
    UsageLimits, UsageRetention, UsageStage,
};

use crate::engine::Rows;
use crate::{fresh, fresh_file, sqlite};

/// Grants credits to a team, and returns the team.
pub(crate) fn give(store: &Store, team: &str, credits: Option<u64>) -> Team {
    store.set_team(team, &TeamChange { credits: Some(credits), ..TeamChange::default() }).unwrap()
}

/// Returns the usage of a request with this price.
pub(crate) fn usage(price: u64) -> Usage {
    Usage {
        key: None,
        request: "r".to_owned(),
        result: None,
        operation: "search",
        api_version: ApiVersion::V2,
        status: 200,
        elapsed: Duration::from_micros(1500),
        items: vec![UsageItem { item: "page".to_owned(), count: 1, credits: price }],
        stages: vec![UsageStage { stage: "find".to_owned(), elapsed: Duration::from_micros(700) }],
        query: Some("green tea".to_owned()),
        retention: UsageRetention::Whole,
    }
}

#[track_caller]
pub(crate) fn hold_credits(store: &Store, team: &Team, credits: u64) -> CreditHold {
    match store.hold(team, credits).unwrap() {
        HoldOutcome::Granted(hold) => hold,
        HoldOutcome::Insufficient { remaining } => panic!("{credits} of {remaining}"),
    }
}

#[track_caller]
fn expect_insufficient(store: &Store, team: &Team, credits: u64, expected: u64) {
    match store.hold(team, credits).unwrap() {
        HoldOutcome::Granted(hold) => panic!("{credits} were granted: {hold:?}"),
        HoldOutcome::Insufficient { remaining } => assert_eq!(remaining, expected),
    }
}

pub(crate) fn remaining(store: &Store, team: &str) -> u64 {
    store.budget(team).unwrap().expect("the team has a budget").remaining
}

/// Checks that every grant adds up, and that the daily sums equal the spent credits.
#[track_caller]
pub(crate) fn audit(dir: &Path) {
    let rows = Rows::open(dir);
    let wrong = rows.number(
        "SELECT count(*) FROM grants WHERE granted <> balance + voided + spent + \
         (SELECT coalesce(sum(rest), 0) FROM leases WHERE grant_id = grants.id) \
         OR balance < 0 OR voided < 0 OR spent < 0 OR spent > granted",
    );
    assert_eq!(wrong, 0, "a grant does not add up");
    let wrong = rows.number(
        "SELECT count(*) FROM (SELECT team, sum(spent) AS spent FROM grants GROUP BY team) AS paid \
         WHERE spent <> (SELECT coalesce(sum(credits), 0) FROM usage_daily WHERE team = paid.team)",
    );
    assert_eq!(wrong, 0, "the spent credits differ from the daily sums");
}

#[test]
fn settled_hold_charges_its_price_and_releases_the_rest() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(10));
    let first = hold_credits(&store, &team, 6);
    expect_insufficient(&store, &team, 5, 4);
    let second = hold_credits(&store, &team, 4);
    assert_eq!(first.settle(usage(2)), 2);
    let third = hold_credits(&store, &team, 4);
    expect_insufficient(&store, &team, 1, 0);
    drop(second);
    drop(third);
    assert_eq!(remaining(&store, "tea"), 8);
    assert_eq!(hold_credits(&store, &team, 8).settle(usage(8)), 8);
    assert_eq!(remaining(&store, "tea"), 0);
    expect_insufficient(&store, &team, 1, 0);
    audit(dir.path());
}

#[test]
fn price_above_the_hold_is_charged_up_to_the_free_credits() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(3_000));
    let hold = hold_credits(&store, &team, 10);
    assert!(hold.covers(180), "the lease has more credits than the hold");
    assert!(!hold.covers(2_900));
    hold.extend(2_900).unwrap();
    assert!(hold.covers(2_900));
    assert_eq!(hold.settle(usage(2_900)), 2_900);
    let (first, second) = (hold_credits(&store, &team, 40), hold_credits(&store, &team, 50));
    first.extend(500).unwrap();
    assert_eq!(first.settle(usage(500)), 50, "all credits that the other request does not hold");
    assert_eq!(second.settle(usage(50)), 50);
    assert_eq!(remaining(&store, "tea"), 0);
    let log = store.recent_requests(Some("tea"), None, 10).unwrap();
    let charged: Vec<_> = log.iter().map(|request| (request.credits, request.forgiven)).collect();
    assert_eq!(charged, [(50, 0), (50, 450), (2_900, 0)]);
    audit(dir.path());
}

#[test]
fn absorbed_hold_is_spent_by_one_charge() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(80));
    let mut hold = hold_credits(&store, &team, 20);
    hold.absorb(hold_credits(&store, &team, 50));
    let other = hold_credits(&store, &team, 10);
    expect_insufficient(&store, &team, 1, 0);
    assert!(hold.covers(70) && !hold.covers(71));
    assert_eq!((hold.credits(), store.hold_unlimited("tea").credits()), (Some(70), None));
    assert_eq!(store.requests_in_flight("tea"), 2, "two holds are one request now");
    assert_eq!(hold.settle(usage(65)), 65);
    drop(other);
    assert_eq!(remaining(&store, "tea"), 15);
    audit(dir.path());
}

#[test]
fn absorbed_hold_of_a_new_grant_is_the_one_that_pays() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(20));
    let mut hold = hold_credits(&store, &team, 20);
    let team = give(&store, "tea", Some(80));
    hold.absorb(hold_credits(&store, &team, 50));
    hold.extend(70).unwrap();
    assert_eq!(hold.settle(usage(70)), 70);
    assert_eq!(remaining(&store, "tea"), 10);
    audit(dir.path());
}

#[test]
fn new_grant_replaces_the_remaining_credits() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    let old = hold_credits(&store, &team, 60);
    let team = give(&store, "tea", Some(7));
    assert_eq!(remaining(&store, "tea"), 7);
    let new = hold_credits(&store, &team, 7);
    expect_insufficient(&store, &team, 1, 0);
    assert_eq!(old.settle(usage(60)), 60, "it holds credits of the previous grant");
    assert_eq!(new.settle(usage(1)), 1);
    let budget = store.budget("tea").unwrap().unwrap();
    let Budget { granted, spent, remaining, granted_at_ms } = budget;
    assert_eq!((granted, spent, remaining), (7, 1, 6));
    assert!(granted_at_ms >= team.created_at_ms);
    audit(dir.path());
}

#[test]
fn other_team_changes_keep_the_budget() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    assert_eq!(hold_credits(&store, &team, 60).settle(usage(60)), 60);
    store.set_team("tea", &TeamChange { audit: Some(true), ..TeamChange::default() }).unwrap();
    give(&store, "coffee", Some(5));
    assert_eq!(remaining(&store, "tea"), 40);
    assert_eq!(hold_credits(&store, &team, 40).settle(usage(40)), 40);
    assert_eq!(remaining(&store, "coffee"), 5);
    audit(dir.path());
}

#[test]
fn team_without_a_budget_is_unlimited_and_counted() {
    let (_dir, store) = fresh();
    let team = store.set_team("tea", &TeamChange::default()).unwrap();
    let hold = hold_credits(&store, &team, u64::MAX);
    assert_eq!(store.requests_in_flight("tea"), 1);
    assert!(hold.covers(u64::MAX));
    assert_eq!(hold.settle(usage(123_456)), 123_456);
    assert_eq!(store.requests_in_flight("tea"), 0);
    assert_eq!(store.budget("tea").unwrap(), None);
    let days = store.usage_by_day(UsageFilter::default()).unwrap();
    assert_eq!((days[0].team.as_str(), days[0].requests, days[0].credits), ("tea", 1, 123_456));
}

#[test]
fn lease_is_returned_when_the_store_closes() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    drop(hold_credits(&store, &team, 10));
    let other = crate::open(dir.path());
    expect_insufficient(&other, &team, 10, 0);
    drop(store);
    // The other handle remembers the shortfall for a moment.
    let closed = Instant::now();
    let all = loop {
        match other.hold(&team, 100).unwrap() {
            HoldOutcome::Granted(hold) => break hold,
            HoldOutcome::Insufficient { .. } => {
                assert!(closed.elapsed() < Duration::from_secs(1), "the lease was not returned");
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(all.settle(usage(100)), 100);
    drop(other);
    audit(dir.path());
    assert_eq!(Rows::open(dir.path()).number("SELECT count(*) FROM spenders"), 0);
    assert_eq!(std::fs::read_dir(dir.path().join("ledger")).unwrap().count(), 0);
}

#[test]
fn leases_without_a_journal_are_recovered_after_a_restored_backup() {
    // A server has no copies of its file. Its restored backups are those of the operator.
    let (dir, store) = fresh_file();
    let team = give(&store, "tea", Some(100));
    assert_eq!(hold_credits(&store, &team, 10).settle(usage(10)), 10);
    store.flush_credits().unwrap();
    let restored = tempfile::tempdir().unwrap();
    sqlite(dir.path())
        .execute("VACUUM INTO ?1", [restored.path().join("websvc.db").to_str().unwrap()])
        .unwrap();
    let store = Store::open(restored.path()).unwrap();
    assert_eq!(remaining(&store, "tea"), 90);
    assert_eq!(hold_credits(&store, &team, 90).settle(usage(90)), 90);
    let spenders: u64 =
        sqlite(restored.path()).query_row("SELECT count(*) FROM spenders", [], |row| row.get(0)).unwrap();
    assert_eq!(spenders, 1, "only this process");
}

#[test]
fn deleted_team_loses_its_budget_and_usage() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    assert_eq!(hold_credits(&store, &team, 10).settle(usage(10)), 10);
    store.flush_credits().unwrap();
    Rows::open(dir.path()).execute("DELETE FROM teams WHERE name = 'tea'");
    assert_eq!(store.budget("tea").unwrap(), None);
    assert!(store.usage_by_day(UsageFilter::default()).unwrap().is_empty());
    assert!(store.recent_requests(None, None, 10).unwrap().is_empty());
}

#[test]
fn usage_is_reported_by_day_month_key_and_request() {
    let (dir, store) = fresh();
    let key = store.create_key("tea", "laptop").unwrap();
    let team = store.team("tea").unwrap().unwrap();
    let with_key = |price| Usage { key: Some(key.id.clone()), ..usage(price) };
    hold_credits(&store, &team, 0).settle(with_key(3));
    hold_credits(&store, &team, 0).settle(with_key(4));
    hold_credits(&store, &team, 0).settle(Usage { status: 408, ..usage(0) });
    let days = store.usage_by_day(UsageFilter { team: Some("tea"), days: Some(1) }).unwrap();
    let rows: Vec<_> =
        days.iter().map(|day| (day.key.as_deref(), day.requests, day.failed, day.credits)).collect();
    assert_eq!(rows, [(None, 1, 1, 0), (Some(key.id.as_str()), 2, 0, 7)]);
    let other = store.set_team("coffee house", &TeamChange::default()).unwrap();
    hold_credits(&store, &other, 0).settle(usage(5));
    let all_teams = store.usage_by_day(UsageFilter { team: None, days: Some(1) }).unwrap();
    assert!(all_teams.iter().all(|day| day.operation == "search"));
    assert_eq!(
        all_teams.iter().map(|day| (day.requests, day.credits)).collect::<Vec<_>>(),
        [(1, 5), (1, 0), (2, 7)]
    );
    let months = store.usage_by_month("tea").unwrap();
    assert_eq!((months.len(), months[0].credits, months[0].key.as_deref()), (1, 7, None));
    assert!(months[0].start.ends_with("-01T00:00:00Z") && months[0].end.is_none(), "{months:?}");
    let by_key = store.usage_by_month_and_key("tea").unwrap();
    let credits: Vec<_> = by_key.iter().map(|month| (month.key.as_deref(), month.credits)).collect();
    assert_eq!(credits, [(None, 0), (Some(key.id.as_str()), 7)]);
    Rows::open(dir.path()).execute("UPDATE usage_daily SET day = 20455 WHERE key <> ''");
    let months = store.usage_by_month("tea").unwrap();
    let first = (months[0].start.as_str(), months[0].end.as_deref(), months[0].credits);
    assert_eq!(first, ("2026-01-01T00:00:00Z", Some("2026-02-01T00:00:00Z"), 7));
    assert!(store.last_success_ms("tea").unwrap().is_some());
    assert_eq!(store.last_success_ms("coffee").unwrap(), None);

    let log = store.recent_requests(Some("tea"), None, 2).unwrap();
    assert_eq!((log[0].status, log[1].credits), (408, 4));
    let expected = with_key(4);
    assert_eq!((&log[1].items, &log[1].stages), (&expected.items, &expected.stages));
    assert_eq!((log[1].query.as_deref(), log[1].elapsed_us), (Some("green tea"), 1500));
    let older = store.recent_requests(Some("tea"), Some(log[1].id), 10).unwrap();
    assert_eq!(older.len(), 1);
    assert_eq!(older[0].credits, 3);
    assert!(store.recent_requests(Some("coffee"), None, 10).unwrap().is_empty());
}

#[test]
fn usage_without_retention_is_charged_but_not_stored() {
    const MARK: &str = "marker-9f2c";
    let (dir, store) = fresh();
    let key = store.create_key("tea", "").unwrap();
    let team = give(&store, "tea", Some(100));
    let secret = |retention| Usage {
        key: Some(key.id.clone()),
        request: format!("request {MARK}"),
        query: Some(MARK.to_owned()),
        retention,
        ..usage(10)
    };
    hold_credits(&store, &team, 10).settle(secret(UsageRetention::Anonymous));
    hold_credits(&store, &team, 10).settle(Usage { request: "r".to_owned(), ..secret(UsageRetention::Zero) });
    assert_eq!(remaining(&store, "tea"), 80);
    assert!(store.recent_requests(None, None, 10).unwrap().is_empty());
    let rows = Rows::open(dir.path());
    let row = |retention: &str| {
        let sql = "SELECT team, key, request, query, credits FROM usage_log";
        rows.query(&format!("{sql} WHERE retention = '{retention}'")).remove(0)
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(row("anonymous"), [None, None, None, None, text("10")]);
    assert_eq!(row("zero"), [text("tea"), text(key.id.as_str()), text("r"), None, text("10")]);
    let keys: Vec<_> = store.usage_by_day(UsageFilter::default()).unwrap();
    assert_eq!(keys.iter().filter(|day| day.key.is_some()).count(), 1, "{keys:?}");
    drop((rows, store));
    for file in ["websvc.db", "websvc.db-wal"] {
        let bytes = std::fs::read(dir.path().join(file)).unwrap_or_default();
        assert!(!bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes()), "{file}");
    }
    audit(dir.path());
}

#[test]
fn log_is_limited_and_sums_count_all_requests() {
    let (_dir, store) = fresh();
    store.limit_usage(UsageLimits { log_rows: 3, ..UsageLimits::default() });
    let team = store.set_team("tea", &TeamChange::default()).unwrap();
    for price in 1..=5 {
        hold_credits(&store, &team, 0).settle(usage(price));
        store.flush_credits().unwrap();
    }
    let log = store.recent_requests(None, None, 10).unwrap();
    assert_eq!(log.iter().map(|request| request.credits).collect::<Vec<_>>(), [5, 4, 3]);
    for price in 6..=15 {
        hold_credits(&store, &team, 0).settle(usage(price));
    }
    let log = store.recent_requests(None, None, 10).unwrap();
    assert_eq!(log.iter().map(|request| request.credits).collect::<Vec<_>>(), [15, 14, 13]);
    assert_eq!(store.usage_by_day(UsageFilter::default()).unwrap()[0].credits, (1..=15).sum::<u64>());
    store.limit_usage(UsageLimits { log_rows: 0, ..UsageLimits::default() });
    hold_credits(&store, &team, 0).settle(usage(16));
    assert_eq!(store.recent_requests(None, None, 10).unwrap().len(), 3, "nothing was added");
}

#[test]
fn new_grant_is_seen_by_a_running_process_within_a_second() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(1_000));
    drop(hold_credits(&store, &team, 1));
    let operator = crate::open(dir.path());
    let team = give(&operator, "tea", Some(3));
    let changed = Instant::now();
    while let Some(HoldOutcome::Granted(hold)) = store.try_hold(&team, 4).unwrap() {
        assert!(changed.elapsed() < Duration::from_secs(1), "the new grant is not seen: {hold:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    expect_insufficient(&store, &team, 4, 3);
    assert_eq!(hold_credits(&store, &team, 3).settle(usage(3)), 3);
    assert_eq!(remaining(&operator, "tea"), 3, "the charge is not flushed yet");
    store.flush_credits().unwrap();
    assert_eq!(remaining(&operator, "tea"), 0);
    audit(dir.path());
}
