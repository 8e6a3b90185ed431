//! Feedback on results, and the list of recent requests and jobs.

use websvc_store::{
    ActivityCursor, ActivityFilter, ActivityPage, ApiVersion, FeedbackRating, JobKind, JobLimits,
    NewFeedback, NewJob, PutFeedbackOutcome, RatedRequest, Store, TeamChange, Usage, UsageLimits,
    UsageRetention,
};

use crate::credits::{hold_credits, usage};
use crate::engine::{Rows, fresh};
use crate::jobs::job;

/// Logs a request of a team.
fn log(store: &Store, team: &str, usage: Usage) {
    let team = store.set_team(team, &TeamChange::default()).unwrap();
    hold_credits(store, &team, 0).settle(usage);
}

fn rated(result: &str) -> Usage {
    Usage { result: Some(result.to_owned()), request: format!("request-{result}"), ..usage(0) }
}

/// Returns feedback on a search.
pub(crate) fn feedback(id: &str, team: &str, result: &str) -> NewFeedback {
    NewFeedback {
        id: id.to_owned(),
        team: team.to_owned(),
        key: None,
        result: result.to_owned(),
        operation: "search".to_owned(),
        target: Some("green tea".to_owned()),
        rating: FeedbackRating::Partial,
        content: r#"{"note":"<b>"}"#.to_owned(),
    }
}

fn ids(store: &Store, team: Option<&str>) -> Vec<String> {
    store.feedback(team, None, 10).unwrap().into_iter().map(|record| record.id).collect()
}

#[test]
fn rated_request_is_found_by_its_team_and_only_if_it_may_be_stored() {
    let (dir, store) = fresh();
    log(&store, "tea", Usage { status: 408, ..rated("the-result") });
    for retention in [UsageRetention::Zero, UsageRetention::Anonymous] {
        log(&store, "tea", Usage { retention, ..rated("private") });
    }
    let RatedRequest { operation, status, at_ms, target } =
        store.rated_request("tea", "the-result").unwrap().unwrap();
    assert_eq!((operation.as_str(), status, target.as_deref()), ("search", 408, Some("green tea")));
    assert!(at_ms > 0);
    for (team, result) in [("coffee", "the-result"), ("tea", "private"), ("tea", "other")] {
        assert_eq!(store.rated_request(team, result).unwrap(), None, "{team} {result}");
    }
    let stored = Rows::open(dir.path()).query("SELECT result FROM usage_log");
    assert!(!format!("{stored:?}").contains("the-result"), "only a digest is stored");
}

#[test]
fn result_has_one_feedback_of_its_team() {
    let (_dir, store) = fresh();
    store.set_team("tea", &TeamChange::default()).unwrap();
    let put = |feedback: &NewFeedback| store.put_feedback(feedback, 10, 1_000).unwrap();
    assert_eq!(put(&feedback("a", "tea", "r")), PutFeedbackOutcome::Stored);
    assert_eq!(put(&feedback("b", "tea", "r")), PutFeedbackOutcome::AlreadySubmitted { id: "a".to_owned() });
    assert_eq!(put(&feedback("c", "coffee", "r")), PutFeedbackOutcome::Stored);
    assert_eq!(store.feedback_id("tea", "r").unwrap().as_deref(), Some("a"));
    assert_eq!(store.feedback_id("tea", "s").unwrap(), None);
    assert_eq!(
        (ids(&store, None), ids(&store, Some("tea"))),
        (vec!["c".into(), "a".into()], vec!["a".into()])
    );
    let record = store.feedback(Some("tea"), None, 1).unwrap().remove(0);
    assert_eq!((record.rating, record.created_at_ms), (FeedbackRating::Partial, 1_000));
    assert_eq!((record.content.as_str(), record.target.as_deref()), (r#"{"note":"<b>"}"#, Some("green tea")));
    assert_eq!(store.feedback(None, Some(record.number), 9).unwrap(), []);
}

#[test]
fn feedback_is_limited_by_number_and_age_and_deleted_with_its_team() {
    let (dir, store) = fresh();
    let put = |id: &str, team: &str| {
        assert_eq!(
            store.put_feedback(&feedback(id, team, id), 2, 1_000).unwrap(),
            PutFeedbackOutcome::Stored
        );
    };
    store.set_team("tea", &TeamChange::default()).unwrap();
    put("x", "coffee");
    ["a", "b", "c"].into_iter().for_each(|id| put(id, "tea"));
    assert_eq!(ids(&store, None), ["c", "b", "x"], "the limit is that of each team");
    Rows::open(dir.path()).execute("DELETE FROM teams WHERE name = 'tea'");
    assert_eq!(ids(&store, None), ["x"]);
    store.limit_usage(UsageLimits { feedback_days: 1, ..UsageLimits::default() });
    // The trim of old rows runs in the background, after usage was written.
    log(&store, "tea", usage(0));
    crate::server::eventually(|| ids(&store, None).is_empty().then_some(()));
}

/// Returns the filter of all entries in these tests.
fn all_entries() -> ActivityFilter {
    ActivityFilter { operations: vec!["search", "map"], kinds: vec![JobKind::Batch, JobKind::Crawl] }
}

fn page(store: &Store, filter: &ActivityFilter, cursor: ActivityCursor, limit: u32) -> ActivityPage {
    store.activity_log("tea", filter, 0, cursor, limit).unwrap()
}

fn names(page: &ActivityPage) -> Vec<&str> {
    page.records.iter().map(|record| record.id.as_str()).collect()
}

#[test]
fn activity_lists_requests_and_jobs_of_a_team_page_by_page() {
    let (_dir, store) = fresh();
    let create = |id: &str, kind| {
        let new = NewJob { kind, api_version: ApiVersion::V1, ..job(id, &["page"]) };
        store.create_job(&new, &JobLimits::default(), 5_000).unwrap();
    };
    create("job-1", JobKind::Batch);
    create("job-2", JobKind::Crawl);
    for result in ["1", "2", "3"] {
        log(&store, "tea", rated(result));
    }
    log(&store, "tea", Usage { operation: "crawl", ..rated("page of a job") });
    log(&store, "tea", Usage { retention: UsageRetention::Anonymous, ..rated("anonymous") });
    log(
        &store,
        "tea",
        Usage {
            operation: "map",
            api_version: ApiVersion::V1,
            retention: UsageRetention::Zero,
            ..rated("4")
        },
    );
    log(&store, "coffee", rated("of another team"));
    let all = ["request-4", "request-3", "request-2", "request-1", "job-2", "job-1"];
    let whole = page(&store, &all_entries(), ActivityCursor::default(), 6);
    assert_eq!((names(&whole), whole.next), (all.to_vec(), None));
    assert_eq!(
        (whole.records[0].target.as_deref(), whole.records[1].target.as_deref()),
        (None, Some("green tea"))
    );
    assert!(whole.records[5].target.as_deref().is_some_and(|url| url.contains("page")), "{whole:?}");
    let versions: Vec<&str> = whole.records.iter().map(|record| record.api_version.as_str()).collect();
    assert_eq!(versions, ["v1", "v2", "v2", "v2", "v1", "v1"]);
    let (mut found, mut cursor) = (Vec::new(), Some(ActivityCursor::default()));
    while let Some(from) = cursor {
        let next = page(&store, &all_entries(), from, 1);
        found.extend(next.records.iter().map(|record| record.id.clone()));
        assert!(found.len() <= all.len(), "an item is repeated: {found:?}");
        cursor = next.next;
    }
    assert_eq!(found, all);
    let check = |operations, kinds, expected: &[&str]| {
        let filter = ActivityFilter { operations, kinds };
        assert_eq!(names(&page(&store, &filter, ActivityCursor::default(), 10)), expected);
    };
    check(vec!["map"], Vec::new(), &["request-4"]);
    check(vec!["map", "scrape"], vec![JobKind::Crawl], &["request-4", "job-2"]);
    check(vec!["ma", "%"], Vec::new(), &[]);
    check(Vec::new(), Vec::new(), &[]);
    let recent = store.activity_log("tea", &all_entries(), 5_001, ActivityCursor::default(), 10).unwrap();
    assert_eq!(names(&recent), all[..4]);
}

#[test]
fn activity_list_skips_no_request_whose_time_is_earlier_than_that_of_the_request_before() {
    let (dir, store) = fresh();
    store.create_job(&job("job", &["page"]), &JobLimits::default(), 9_998).unwrap();
    for result in ["1", "2", "3", "4"] {
        log(&store, "tea", rated(result));
    }
    let whole = page(&store, &all_entries(), ActivityCursor::default(), 10);
    assert_eq!(names(&whole), ["request-4", "request-3", "request-2", "request-1", "job"]);
    // Another process writes its usage a second later, with the times of its responses.
    Rows::open(dir.path()).execute("UPDATE usage_log SET at = 10000 - id");
    let (mut found, mut cursor) = (Vec::new(), Some(ActivityCursor::default()));
    while let Some(from) = cursor {
        let next = page(&store, &all_entries(), from, 2);
        found.extend(next.records.into_iter().map(|record| record.id));
        cursor = next.next;
    }
    assert_eq!(found.len(), 5, "{found:?}");
    found.sort();
    assert_eq!(found, ["job", "request-1", "request-2", "request-3", "request-4"]);
}
