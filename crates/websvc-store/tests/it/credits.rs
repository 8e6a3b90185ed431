//! Budgets: what is held, charged, given back, and what the database says of it.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use websvc_store::{
    Budget, CreditHold, HoldOutcome, Store, Team, TeamChange, Usage, UsageFilter, UsageItem, UsageLimits,
    UsageRetention, UsageStage,
};

use crate::{fresh, sqlite};

/// Gives a team credits, and returns it.
pub(crate) fn give(store: &Store, team: &str, credits: Option<u64>) -> Team {
    store.set_team(team, &TeamChange { credits: Some(credits), ..TeamChange::default() }).unwrap()
}

/// Returns a request of this price.
pub(crate) fn usage(price: u64) -> Usage {
    Usage {
        key: None,
        request: "r".to_owned(),
        operation: "search",
        status: 200,
        took: Duration::from_micros(1500),
        items: vec![UsageItem { item: "page".to_owned(), count: 1, credits: price }],
        stages: vec![UsageStage { stage: "find".to_owned(), took: Duration::from_micros(700) }],
        query: Some("green tea".to_owned()),
        retention: UsageRetention::Whole,
    }
}

#[track_caller]
pub(crate) fn enough(store: &Store, team: &Team, credits: u64) -> CreditHold {
    match store.hold(team, credits).unwrap() {
        HoldOutcome::Granted(hold) => hold,
        HoldOutcome::Insufficient { remaining } => panic!("{credits} of {remaining}"),
    }
}

#[track_caller]
fn short(store: &Store, team: &Team, credits: u64, expected: u64) {
    match store.hold(team, credits).unwrap() {
        HoldOutcome::Granted(hold) => panic!("{credits} are there: {hold:?}"),
        HoldOutcome::Insufficient { remaining } => assert_eq!(remaining, expected),
    }
}

pub(crate) fn remaining(store: &Store, team: &str) -> u64 {
    store.budget(team).unwrap().expect("the team has a budget").remaining
}

/// Proves that every grant adds up, and that the sums of the days are what was spent.
#[track_caller]
pub(crate) fn audit(dir: &Path) {
    let sqlite = sqlite(dir);
    let wrong: i64 = one(
        &sqlite,
        "SELECT count(*) FROM grants WHERE granted <> balance + voided + spent + \
         (SELECT ifnull(sum(rest), 0) FROM leases WHERE grant_id = grants.id) \
         OR min(balance, voided, spent) < 0 OR spent > granted",
    );
    assert_eq!(wrong, 0, "a grant does not add up");
    let wrong: i64 = one(
        &sqlite,
        "SELECT count(*) FROM (SELECT team, sum(spent) AS spent FROM grants GROUP BY team) AS paid \
         WHERE spent <> (SELECT ifnull(sum(credits), 0) FROM usage_daily WHERE team = paid.team)",
    );
    assert_eq!(wrong, 0, "what was spent is not what was used");
}

fn one(sqlite: &Connection, sql: &str) -> i64 {
    sqlite.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn credits_are_held_then_charged_and_the_rest_is_free_again() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(10));
    let first = enough(&store, &team, 6);
    short(&store, &team, 5, 4);
    let second = enough(&store, &team, 4);
    assert_eq!(first.settle(usage(2)), 2);
    let third = enough(&store, &team, 4);
    short(&store, &team, 1, 0);
    drop(second);
    drop(third);
    assert_eq!(remaining(&store, "tea"), 8);
    assert_eq!(enough(&store, &team, 8).settle(usage(8)), 8);
    assert_eq!(remaining(&store, "tea"), 0);
    short(&store, &team, 1, 0);
    audit(dir.path());
}

#[test]
fn what_costs_more_than_was_held_takes_what_is_there_and_never_more() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(3_000));
    let hold = enough(&store, &team, 10);
    assert!(hold.covers(1_000), "the process was lent more");
    assert!(!hold.covers(2_900));
    hold.extend(2_900).unwrap();
    assert!(hold.covers(2_900));
    assert_eq!(hold.settle(usage(2_900)), 2_900);
    let (first, second) = (enough(&store, &team, 40), enough(&store, &team, 50));
    first.extend(500).unwrap();
    assert_eq!(first.settle(usage(500)), 50, "all but what the other request holds");
    assert_eq!(second.settle(usage(50)), 50);
    assert_eq!(remaining(&store, "tea"), 0);
    let log = store.recent_requests(Some("tea"), None, 10).unwrap();
    let charged: Vec<_> = log.iter().map(|line| (line.credits, line.forgiven)).collect();
    assert_eq!(charged, [(50, 0), (50, 450), (2_900, 0)]);
    audit(dir.path());
}

#[test]
fn a_new_grant_takes_the_place_of_what_is_left() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    let old = enough(&store, &team, 60);
    let team = give(&store, "tea", Some(7));
    assert_eq!(remaining(&store, "tea"), 7);
    let new = enough(&store, &team, 7);
    short(&store, &team, 1, 0);
    assert_eq!(old.settle(usage(60)), 60, "it was promised from the grant before");
    assert_eq!(new.settle(usage(1)), 1);
    let budget = store.budget("tea").unwrap().unwrap();
    let Budget { granted, spent, remaining, granted_at_ms } = budget;
    assert_eq!((granted, spent, remaining), (7, 1, 6));
    assert!(granted_at_ms >= team.created_at_ms);
    audit(dir.path());
}

#[test]
fn other_changes_of_a_team_leave_its_budget_alone() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    assert_eq!(enough(&store, &team, 60).settle(usage(60)), 60);
    store.set_team("tea", &TeamChange { audit: Some(true), ..TeamChange::default() }).unwrap();
    give(&store, "coffee", Some(5));
    assert_eq!(remaining(&store, "tea"), 40);
    assert_eq!(enough(&store, &team, 40).settle(usage(40)), 40);
    assert_eq!(remaining(&store, "coffee"), 5);
    audit(dir.path());
}

#[test]
fn a_team_without_a_budget_spends_what_it_wants_and_is_counted() {
    let (_dir, store) = fresh();
    let team = store.set_team("tea", &TeamChange::default()).unwrap();
    let hold = enough(&store, &team, u64::MAX);
    assert_eq!(store.requests_in_work("tea"), 1);
    assert!(hold.covers(u64::MAX));
    assert_eq!(hold.settle(usage(123_456)), 123_456);
    assert_eq!(store.requests_in_work("tea"), 0);
    assert_eq!(store.budget("tea").unwrap(), None);
    let days = store.usage_by_day(UsageFilter::default()).unwrap();
    assert_eq!((days[0].team.as_str(), days[0].requests, days[0].credits), ("tea", 1, 123_456));
}

#[test]
fn what_is_lent_to_a_process_goes_back_when_it_ends() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    drop(enough(&store, &team, 10));
    let other = Store::open(dir.path()).unwrap();
    short(&other, &team, 10, 0);
    drop(store);
    // That there was nothing is believed for a moment.
    let ended = Instant::now();
    let all = loop {
        match other.hold(&team, 100).unwrap() {
            HoldOutcome::Granted(hold) => break hold,
            HoldOutcome::Insufficient { .. } => {
                assert!(ended.elapsed() < Duration::from_secs(1), "it did not come back");
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(all.settle(usage(100)), 100);
    drop(other);
    audit(dir.path());
    assert_eq!(one(&sqlite(dir.path()), "SELECT count(*) FROM spenders"), 0);
    assert_eq!(std::fs::read_dir(dir.path().join("ledger")).unwrap().count(), 0);
}

#[test]
fn leases_whose_journal_is_gone_come_back_as_after_a_backup_is_restored() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    assert_eq!(enough(&store, &team, 10).settle(usage(10)), 10);
    store.flush_credits().unwrap();
    let restored = tempfile::tempdir().unwrap();
    sqlite(dir.path())
        .execute("VACUUM INTO ?1", [restored.path().join("websvc.db").to_str().unwrap()])
        .unwrap();
    let store = Store::open(restored.path()).unwrap();
    assert_eq!(remaining(&store, "tea"), 90);
    assert_eq!(enough(&store, &team, 90).settle(usage(90)), 90);
    assert_eq!(one(&sqlite(restored.path()), "SELECT count(*) FROM spenders"), 1, "only this one");
    audit(restored.path());
}

#[test]
fn nothing_is_left_of_a_deleted_team() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    assert_eq!(enough(&store, &team, 10).settle(usage(10)), 10);
    store.flush_credits().unwrap();
    sqlite(dir.path()).execute("DELETE FROM teams WHERE name = 'tea'", []).unwrap();
    assert_eq!(store.budget("tea").unwrap(), None);
    assert!(store.usage_by_day(UsageFilter::default()).unwrap().is_empty());
    assert!(store.recent_requests(None, None, 10).unwrap().is_empty());
}

#[test]
fn sums_and_lines_say_who_used_what_for_what() {
    let (dir, store) = fresh();
    let key = store.create_key("tea", "laptop").unwrap();
    let team = store.team("tea").unwrap().unwrap();
    let with_key = |price| Usage { key: Some(key.id.clone()), ..usage(price) };
    enough(&store, &team, 0).settle(with_key(3));
    enough(&store, &team, 0).settle(with_key(4));
    enough(&store, &team, 0).settle(Usage { status: 408, ..usage(0) });
    let days = store.usage_by_day(UsageFilter { team: Some("tea"), days: Some(1) }).unwrap();
    let rows: Vec<_> =
        days.iter().map(|day| (day.key.as_deref(), day.requests, day.failed, day.credits)).collect();
    assert_eq!(rows, [(None, 1, 1, 0), (Some(key.id.as_str()), 2, 0, 7)]);
    let other = store.set_team("coffee house", &TeamChange::default()).unwrap();
    enough(&store, &other, 0).settle(usage(5));
    let totals = |team| {
        let totals = store.usage_totals(UsageFilter { team, days: Some(1) }).unwrap();
        assert_eq!((totals.len(), totals[0].operation.as_str()), (1, "search"));
        (totals[0].requests, totals[0].failed, totals[0].credits)
    };
    assert_eq!((totals(Some("tea")), totals(None)), ((3, 1, 7), (4, 1, 12)));
    let months = store.usage_by_month("tea").unwrap();
    assert_eq!((months.len(), months[0].credits, months[0].key.as_deref()), (1, 7, None));
    assert!(months[0].start.ends_with("-01T00:00:00Z") && months[0].end.is_none(), "{months:?}");
    let by_key = store.usage_by_month_and_key("tea").unwrap();
    let credits: Vec<_> = by_key.iter().map(|month| (month.key.as_deref(), month.credits)).collect();
    assert_eq!(credits, [(None, 0), (Some(key.id.as_str()), 7)]);
    sqlite(dir.path()).execute("UPDATE usage_daily SET day = 20455 WHERE key <> ''", []).unwrap();
    let months = store.usage_by_month("tea").unwrap();
    let first = (months[0].start.as_str(), months[0].end.as_deref(), months[0].credits);
    assert_eq!(first, ("2026-01-01T00:00:00Z", Some("2026-02-01T00:00:00Z"), 7));
    assert!(store.last_success_ms("tea").unwrap().is_some());
    assert_eq!(store.last_success_ms("coffee").unwrap(), None);

    let log = store.recent_requests(Some("tea"), None, 2).unwrap();
    assert_eq!((log[0].status, log[1].credits), (408, 4));
    let expected = with_key(4);
    assert_eq!((&log[1].items, &log[1].stages), (&expected.items, &expected.stages));
    assert_eq!((log[1].query.as_deref(), log[1].took_us), (Some("green tea"), 1500));
    let older = store.recent_requests(Some("tea"), Some(log[1].id), 10).unwrap();
    assert_eq!(older.len(), 1);
    assert_eq!(older[0].credits, 3);
    assert!(store.recent_requests(Some("coffee"), None, 10).unwrap().is_empty());
}

#[test]
fn what_may_not_be_kept_is_not_and_is_charged_all_the_same() {
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
    enough(&store, &team, 10).settle(secret(UsageRetention::Anonymous));
    enough(&store, &team, 10).settle(Usage { request: "r".to_owned(), ..secret(UsageRetention::Zero) });
    assert_eq!(remaining(&store, "tea"), 80);
    assert!(store.recent_requests(None, None, 10).unwrap().is_empty());
    let sqlite = sqlite(dir.path());
    let row = |retention: &str| {
        let sql = "SELECT team, key, request, query, credits FROM usage_log WHERE retention = ?1";
        let text = |row: &rusqlite::Row<'_>, at| row.get::<_, Option<String>>(at);
        let read = |row: &rusqlite::Row<'_>| {
            Ok((text(row, 0)?, text(row, 1)?, text(row, 2)?, text(row, 3)?, row.get::<_, i64>(4)?))
        };
        sqlite.query_row(sql, [retention], read).unwrap()
    };
    assert_eq!(row("anonymous"), (None, None, None, None, 10));
    let of_key = Some(key.id.as_str().to_owned());
    assert_eq!(row("zero"), (Some("tea".to_owned()), of_key, Some("r".to_owned()), None, 10));
    let keys: Vec<_> = store.usage_by_day(UsageFilter::default()).unwrap();
    assert_eq!(keys.iter().filter(|day| day.key.is_some()).count(), 1, "{keys:?}");
    drop((sqlite, store));
    for file in ["websvc.db", "websvc.db-wal"] {
        let bytes = std::fs::read(dir.path().join(file)).unwrap_or_default();
        assert!(!bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes()), "{file}");
    }
    audit(dir.path());
}

#[test]
fn the_log_keeps_the_last_requests_and_the_sums_all_of_them() {
    let (_dir, store) = fresh();
    store.limit_usage(UsageLimits { log_rows: 3, ..UsageLimits::default() });
    let team = store.set_team("tea", &TeamChange::default()).unwrap();
    for price in 1..=5 {
        enough(&store, &team, 0).settle(usage(price));
        store.flush_credits().unwrap();
    }
    let log = store.recent_requests(None, None, 10).unwrap();
    assert_eq!(log.iter().map(|line| line.credits).collect::<Vec<_>>(), [5, 4, 3]);
    for price in 6..=15 {
        enough(&store, &team, 0).settle(usage(price));
    }
    let log = store.recent_requests(None, None, 10).unwrap();
    assert_eq!(log.iter().map(|line| line.credits).collect::<Vec<_>>(), [15, 14, 13]);
    assert_eq!(store.usage_by_day(UsageFilter::default()).unwrap()[0].credits, (1..=15).sum::<u64>());
    store.limit_usage(UsageLimits { log_rows: 0, ..UsageLimits::default() });
    enough(&store, &team, 0).settle(usage(16));
    assert_eq!(store.recent_requests(None, None, 10).unwrap().len(), 3, "nothing new came");
}

#[test]
fn a_new_grant_reaches_a_running_process_within_a_second() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(1_000));
    drop(enough(&store, &team, 1));
    let operator = Store::open(dir.path()).unwrap();
    let team = give(&operator, "tea", Some(3));
    let changed = Instant::now();
    while let Some(HoldOutcome::Granted(hold)) = store.try_hold(&team, 4).unwrap() {
        assert!(changed.elapsed() < Duration::from_secs(1), "still as before: {hold:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    short(&store, &team, 4, 3);
    assert_eq!(enough(&store, &team, 3).settle(usage(3)), 3);
    assert_eq!(remaining(&operator, "tea"), 3, "the other process says so within a second");
    store.flush_credits().unwrap();
    assert_eq!(remaining(&operator, "tea"), 0);
    audit(dir.path());
}
