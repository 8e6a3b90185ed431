//! Tests of the pages and baselines of monitors, and of the space that they need.

use websvc_store::{
    BaselineChange, CheckPageStatus, CheckRecord, CheckStatus, CheckSummary, MonitorLimits, MonitorRecord,
    NewCheckPage, RecordPagesOutcome, Store,
};

use crate::credits::{audit, give, hold_credits, remaining, usage};
use crate::engine::Rows;
use crate::monitors::{finish, finished, manual, monitor, page, record, replace, start, sweep};
use crate::{fresh, noise};

const DAY_MS: u64 = 86_400_000;

fn baseline(store: &Store, monitor: &MonitorRecord, url: &str) -> Option<(String, bool, u64)> {
    let baseline = store.baseline(monitor.number, "t", url).unwrap()?;
    Some((String::from_utf8(baseline.document).unwrap(), baseline.is_removed, baseline.updated_at_ms))
}

#[test]
fn page_is_recorded_and_charged_once() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(100));
    let monitor = monitor(&store, "m", None);
    let check = start(&store, &manual(&monitor, "a"), 5);
    let charged = |price| NewCheckPage {
        charge: Some((hold_credits(&store, &team, 10), usage(price))),
        ..page("u", CheckPageStatus::New, replace("1"))
    };
    let other_target =
        NewCheckPage { target: "o".to_owned(), ..page("u", CheckPageStatus::Error, BaselineChange::Keep) };
    let pages = vec![charged(4), charged(5), other_target];
    assert_eq!(record(&store, &check, pages, 6), [true, false, true]);
    let again = vec![charged(7), page("v", CheckPageStatus::Same, BaselineChange::Keep)];
    assert_eq!(record(&store, &check, again, 7), [false, true]);
    let now = store.check_by_number(check.number).unwrap().unwrap();
    assert_eq!(now.summary, CheckSummary { total: 3, new: 1, error: 1, same: 1, ..CheckSummary::default() });
    assert_eq!((now.actual_credits, now.updated_at_ms), (4, 7));
    assert_eq!((remaining(&store, "tea"), store.requests_in_flight("tea")), (96, 0));
    store.flush_credits().unwrap();
    audit(dir.path());
    let after = finish(&store, &check, CheckStatus::Partial, 9);
    assert_eq!(after.last_summary, Some(now.summary));
}

#[test]
fn pages_are_read_in_parts_and_by_status() {
    let (_dir, store) = fresh();
    let monitor = monitor(&store, "m", None);
    let check = start(&store, &manual(&monitor, "a"), 5);
    let statuses =
        [CheckPageStatus::New, CheckPageStatus::Same, CheckPageStatus::New, CheckPageStatus::Changed];
    let long = format!("http://a.test/{}", "x".repeat(20_000));
    let urls = ["a", "b", "c", long.as_str()];
    let pages = urls.iter().zip(statuses).map(|(url, status)| page(url, status, replace(url)));
    record(&store, &check, pages.collect(), 6);
    let read = |status, skip, max, max_bytes| {
        let found = store.check_pages(check.number, status, skip, max, max_bytes).unwrap();
        (found.pages.into_iter().map(|page| page.url).collect::<Vec<_>>(), found.has_more)
    };
    let all = u64::MAX;
    let of = |urls: &[&str]| urls.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
    assert_eq!(read(None, 0, all, all), (of(&urls), false));
    assert_eq!(read(None, 1, 2, all), (of(&["b", "c"]), true));
    assert_eq!(read(None, 3, 1, all), (of(&urls[3..]), false));
    assert_eq!(read(None, 4, 1, all), (of(&[]), false));
    assert_eq!(read(None, 0, all, 20), (of(&["a", "b"]), true), "each has 10 bytes");
    assert_eq!(read(None, 3, all, 1), (of(&urls[3..]), false), "the first always counts");
    assert_eq!(read(Some(CheckPageStatus::New), 0, 1, all), (of(&["a"]), true));
    assert_eq!(read(Some(CheckPageStatus::New), 1, 1, all), (of(&["c"]), false));
    assert_eq!(read(Some(CheckPageStatus::Removed), 0, 1, all), (of(&[]), false));
    let first = store.check_pages(check.number, None, 0, 1, all).unwrap().pages.remove(0);
    assert_eq!(
        (first.document.as_slice(), first.created_at_ms, first.id.as_str()),
        (&br#"{"of":"a"}"#[..], 6, "page of a")
    );
    assert_eq!((first.target.as_str(), first.status), ("t", CheckPageStatus::New));
    assert_eq!(baseline(&store, &monitor, &long), Some((long.clone(), false, 6)));
}

#[test]
fn baseline_follows_the_last_good_state_and_outlives_its_check() {
    let (_dir, store) = fresh();
    let monitor = monitor(&store, "m", None);
    let mut runs = 0;
    let mut run = |status, change| {
        runs += 1;
        let now_ms = runs * 10;
        let check = start(&store, &manual(&monitor, &runs.to_string()), now_ms);
        record(&store, &check, vec![page("u", status, change)], now_ms);
        finish(&store, &check, CheckStatus::Completed, now_ms);
        baseline(&store, &monitor, "u")
    };
    let state = |text: &str, is_removed, now_ms| Some((text.to_owned(), is_removed, now_ms));
    assert_eq!(run(CheckPageStatus::Error, BaselineChange::Keep), None);
    assert_eq!(run(CheckPageStatus::New, replace("1")), state("1", false, 20));
    assert_eq!(run(CheckPageStatus::Error, BaselineChange::Keep), state("1", false, 20));
    assert_eq!(run(CheckPageStatus::Changed, replace("2")), state("2", false, 40));
    assert_eq!(run(CheckPageStatus::Removed, BaselineChange::Removed), state("2", true, 50));
    assert_eq!(run(CheckPageStatus::New, replace("3")), state("3", false, 60));
    sweep(&store, &MonitorLimits::default(), 10 * DAY_MS);
    assert_eq!(store.checks(monitor.number, None, 0, 9).unwrap(), []);
    assert_eq!(baseline(&store, &monitor, "u"), state("3", false, 60));
    store.verify().unwrap();
}

#[test]
fn baseline_urls_are_read_in_parts_and_pruned_by_target() {
    let (_dir, store) = fresh();
    let monitor = monitor(&store, "m", None);
    let check = start(&store, &manual(&monitor, "a"), 5);
    let pages = (0..700).map(|number| page(&format!("u{number}"), CheckPageStatus::New, replace("1")));
    record(&store, &check, pages.collect(), 6);
    let other = NewCheckPage { target: "o".to_owned(), ..page("x", CheckPageStatus::New, replace("1")) };
    record(&store, &check, vec![other], 7);
    finish(&store, &check, CheckStatus::Completed, 8);
    let check = start(&store, &manual(&monitor, "b"), 9);
    record(&store, &check, vec![page("u5", CheckPageStatus::Removed, BaselineChange::Removed)], 9);
    let urls = |target: &str| {
        let (mut urls, mut after) = (Vec::new(), None::<String>);
        loop {
            let part = store.baseline_urls(monitor.number, target, after.as_deref(), 300).unwrap();
            let Some((last, _)) = part.last() else { return urls };
            after = Some(last.clone());
            urls.extend(part);
        }
    };
    let mut found = urls("t");
    found.sort();
    assert_eq!(found.len(), 700);
    found.dedup();
    assert_eq!(found.len(), 700, "no URL is returned twice");
    let removed: Vec<_> = found.iter().filter(|(_, is_removed)| *is_removed).collect();
    assert_eq!(removed, [&("u5".to_owned(), true)]);
    store.prune_baselines(monitor.number, &["o".to_owned(), "new".to_owned()]).unwrap();
    assert_eq!((urls("t"), urls("o")), (vec![], vec![("x".to_owned(), false)]));
    store.prune_baselines(monitor.number, &[]).unwrap();
    assert_eq!(urls("o"), []);
    store.verify().unwrap();
}

#[test]
fn full_storage_of_baselines_rejects_only_what_needs_more() {
    let (_dir, store) = fresh();
    let monitor = monitor(&store, "m", None);
    let check = start(&store, &manual(&monitor, "a"), 5);
    let limits = MonitorLimits { max_baseline_bytes: 5_000, ..MonitorLimits::default() };
    let large = |url: &str, seed, length| {
        page(url, CheckPageStatus::New, BaselineChange::Replace(noise(seed, length).to_vec()))
    };
    let record =
        |check: &CheckRecord, pages| store.record_check_pages(check.number, pages, &limits, 6).unwrap();
    assert_eq!(record(&check, vec![large("u", 1, 4_000)]), RecordPagesOutcome::Recorded(vec![true]));
    assert_eq!(record(&check, vec![large("v", 2, 4_000)]), RecordPagesOutcome::StorageFull);
    assert_eq!(store.check_by_number(check.number).unwrap().unwrap().summary.total, 1);
    let same = page("w", CheckPageStatus::Same, BaselineChange::Keep);
    assert_eq!(record(&check, vec![same]), RecordPagesOutcome::Recorded(vec![true]));
    finish(&store, &check, CheckStatus::Completed, 7);
    let check = start(&store, &manual(&monitor, "b"), 8);
    assert_eq!(record(&check, vec![large("u", 3, 3_000)]), RecordPagesOutcome::Recorded(vec![true]));
    store.verify().unwrap();
}

#[test]
fn sweep_deletes_expired_checks_and_the_oldest_beyond_the_storage() {
    let (dir, store) = fresh();
    let monitor = monitor(&store, "m", None);
    for (number, id) in ["a", "b", "c"].iter().enumerate() {
        let check = start(&store, &manual(&monitor, id), 5);
        let mut large = page("u", CheckPageStatus::Same, BaselineChange::Keep);
        large.document = noise(number as u64, 50_000).to_vec();
        let small =
            (0..600).map(|number| page(&format!("{number}"), CheckPageStatus::Same, BaselineChange::Keep));
        record(&store, &check, small.chain([large]).collect(), 6);
        store
            .finish_check(check.number, &finished(CheckStatus::Completed), (number as u64 + 1) * 100, 7)
            .unwrap();
    }
    let open = start(&store, &manual(&monitor, "open"), 8);
    let left = || {
        store
            .checks(monitor.number, None, 0, 9)
            .unwrap()
            .into_iter()
            .map(|check| check.id)
            .collect::<Vec<_>>()
    };
    let limits = MonitorLimits::default();
    sweep(&store, &limits, 99);
    assert_eq!(left(), ["open", "c", "b", "a"]);
    sweep(&store, &limits, 100);
    assert_eq!(left(), ["open", "c", "b"]);
    store.verify().unwrap();
    let stored = Rows::open(dir.path()).number("SELECT sum(check_bytes) FROM monitor_storage");
    sweep(&store, &MonitorLimits { max_check_bytes: stored - 1, ..limits }, 100);
    assert_eq!(left(), ["open", "c"]);
    sweep(&store, &MonitorLimits { max_check_bytes: 0, ..limits }, 100);
    assert_eq!(left(), ["open"], "an unfinished check stays");
    assert_eq!(Rows::open(dir.path()).number("SELECT count(*) FROM monitor_pages"), 0);
    finish(&store, &open, CheckStatus::Completed, 101);
    store.verify().unwrap();
}
